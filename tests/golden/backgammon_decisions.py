"""Backgammon decisions evaluated by GNU Backgammon at 2 plies, for crates/run/tests/run/players.rs and for
`hothouse eval backgammon --decisions FILE`, which measures the loss of a player's choices.

    apt-get install gnubg         # GNU Backgammon 1.07.001 made the committed file
    cargo build --release -p cli
    cd tests/golden
    python backgammon_decisions.py ../../target/release/hothouse 260 1 backgammon_decisions.jsonl backgammon_gnubg.txt

The positions are from money games that GNU Backgammon plays against itself at 0 plies; one in eight of the rolls with a choice is
kept. The results of a roll are those of `hothouse moves`, which another test compares with OpenSpiel's. Each result is evaluated
at 2 plies without a cube, noise, pruning nets and the Jacoby rule; a finished game has its points. A line of the file:

    {"id":ID,"dice":[D1,D2],"moves":[[ID,EQUITY],...]}     best first, in points per game of the mover

The last file, which is optional, contains the moves in these positions from the external-player socket at 0 plies:

    ID D1 D2 ID|QUESTION|ANSWER     before and after the move
"""

import base64
import json
import random
import socket
import subprocess
import sys
import time

START = "4HPwATDgc/ABMA"
KEPT = 1 / 8


def decoded(name):
    """Returns the checker counts of the player on roll and of the other player, each 25: points 1 to 24 and the bar."""
    key = int.from_bytes(base64.b64decode(name + "=="), "little")
    sides = [[0] * 25, [0] * 25]
    for side in sides:
        for place in range(25):
            while key & 1:
                side[place] += 1
                key >>= 1
            key >>= 1
    return sides[1], sides[0]


def encoded(mine, theirs):
    bits = "".join("1" * count + "0" for count in theirs + mine)
    return base64.b64encode(int(bits[::-1], 2).to_bytes(10, "little")).decode()[:14]


def turned(name):
    mine, theirs = decoded(name)
    return encoded(theirs, mine)


def line_of(name, dice=(0, 0)):
    """Returns a FIBS board; the player on roll moves down from 24."""
    mine, theirs = decoded(name)
    points = [mine[p] - theirs[23 - p] for p in range(24)]
    off = [15 - sum(mine), 15 - sum(theirs)]
    numbers = [9999, 0, 0, -theirs[24], *points, mine[24], 1, *dice, 0, 0, 1, 1, 1, 0, 1, -1, 0, 25, *off]
    return "board:mover:other:" + ":".join(map(str, [*numbers, mine[24], theirs[24], 0, 0, 0, 0]))


class Gnubg:
    def __init__(self):
        free = socket.socket()
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        # Debian installs it in a folder that is not in every PATH.
        program = ["env", "PATH=/usr/games:/usr/local/bin:/usr/bin:/bin", "gnubg", "--tty", "--quiet", "--no-rc"]
        self.program = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        chequer = "set evaluation chequerplay evaluation"
        commands = ["set jacoby off", "set threads 1", "set evaluation sameasanalysis off", f"{chequer} plies 0"]
        commands += [f"{chequer} cubeful off", f"{chequer} prune off", f"external 127.0.0.1:{port}"]
        self.program.stdin.write(("\n".join(commands) + "\n").encode())
        self.program.stdin.flush()
        for _ in range(500):
            try:
                self.lines = socket.create_connection(("127.0.0.1", port)).makefile("rw")
                return
            except OSError:
                time.sleep(0.02)
        sys.exit("gnubg does not listen")

    def ask(self, line):
        self.lines.write(line + "\n")
        self.lines.flush()
        return self.lines.readline().strip()

    def equity(self, name):
        """Returns the equity of the player on roll, before the roll."""
        answer = self.ask(f"evaluation fibsboard {line_of(name)} plies 2 cubeless prune off")
        win, gammon, backgammon, lost_gammon, lost_backgammon, _ = map(float, answer.split())
        return 2 * win - 1 + gammon + backgammon - lost_gammon - lost_backgammon


class Rules:
    def __init__(self, hothouse):
        command = [hothouse, "moves", "backgammon", "--stdio"]
        self.program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, line):
        self.program.stdin.write(line + "\n")
        self.program.stdin.flush()
        answer = self.program.stdout.readline().strip()
        assert not answer.startswith("error"), (line, answer)
        return answer

    def results(self, name, dice):
        return self.ask(f"{name} {dice[0]} {dice[1]}").split()

    def points(self, name):
        return int(self.ask(f"points {name}"))


def over(name):
    return sum(decoded(name)[0]) == 0


def played(name, text):
    """Returns the position after a move in GNU Backgammon's single steps, seen by the mover."""
    mine, theirs = decoded(name)
    for step in text.replace("*", "").split():
        start, end = ({"bar": 25, "off": 0}.get(word) if word.isalpha() else int(word) for word in step.split("/"))
        mine[start - 1] -= 1
        if end > 0:
            mine[end - 1] += 1
            theirs[24] += theirs[24 - end]
            theirs[24 - end] = 0
    return encoded(mine, theirs)


def main():
    hothouse, count, seed, path, *spoken = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:]
    gnubg, rules, draw = Gnubg(), Rules(hothouse), random.Random(seed)
    met, name, opening = set(), START, True
    exchanges = []
    with open(path, "w") as file:
        while len(met) < count:
            dice = (draw.randint(1, 6), draw.randint(1, 6))
            if opening and dice[0] == dice[1]:
                continue
            opening = False
            results = rules.results(name, dice)
            key = (name, max(dice), min(dice))
            keep = len(results) > 1 and draw.random() < KEPT and key not in met
            if keep:
                met.add(key)
                equities = [(r, rules.points(r) if over(r) else -gnubg.equity(turned(r))) for r in results]
                moves = sorted(([r, round(equity, 4)] for r, equity in equities), key=lambda m: (-m[1], m[0]))
                line = json.dumps({"id": name, "dice": dice, "moves": moves}, separators=(",", ":"))
                file.write(line + "\n")
                file.flush()
            after = results[0]
            if len(results) > 1:
                question = line_of(name, dice)
                answer = gnubg.ask(question)
                after = played(name, answer)
                assert after in results, (name, dice, after)
                if keep:
                    exchanges.append(f"{name} {dice[0]} {dice[1]} {after}|{question}|{answer}\n")
            name = turned(after)
            if over(after):
                name, opening = START, True
    for name in spoken:
        with open(name, "w") as file:
            file.writelines(exchanges)
    gnubg.program.kill()
    rules.program.kill()


if __name__ == "__main__":
    main()
