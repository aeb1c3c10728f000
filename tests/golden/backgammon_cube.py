"""Match-winning chances and cube decisions of GNU Backgammon, for crates/worlds/tests/worlds/backgammon_cube.rs.

    apt-get install gnubg         # GNU Backgammon 1.07.001 made the committed file
    cargo build --release -p cli
    cd tests/golden && python backgammon_cube.py ../../target/release/hothouse      (writes backgammon_cube.txt beside itself)

The chances are those of GNU Backgammon's default match equity table (N. Kazaross, XG2). The positions are from money games that it
plays against itself at 0 plies, before a roll, if the player on roll wins 55% to 95%. They are evaluated at 2 plies without the
cube; the cube decisions are at 2 plies with the cube. The Jacoby rule is off. The lines:

    before N C C ...        a player who needs N points wins against one who needs 1, 2, ... 14, before the Crawford game
    past C C ...            a player who needs 1, 2, ... 14 wins against one who needs 1, after the Crawford game
    CUBE ID W WG WB L LG LB DOUBLE ANSWER    owner of the cube (nobody, mine), the six chances of the player on roll, the
                                             decision (double, roll) and the answer (take, drop)
"""

import random
import re
import subprocess
import sys

from backgammon_decisions import START, Gnubg, Rules, line_of, over, played, turned

COUNT = 240


def chances():
    program = ["env", "PATH=/usr/games:/usr/local/bin:/usr/bin:/bin", "gnubg", "--tty", "--quiet", "--no-rc"]
    asked = subprocess.run(program, input="show matchequitytable 14\n", capture_output=True, text=True)
    rows = [re.findall(r"\d+\.\d{4}", line) for line in asked.stdout.splitlines() if re.match(r"\s*\d+-away +\d+\.\d", line)]
    for need, row in enumerate(rows[:14], 1):
        yield f"before {need} " + " ".join(row) + "\n"
    yield "past " + " ".join(rows[-1]) + "\n"


def main():
    gnubg, rules, draw = Gnubg(), Rules(sys.argv[1]), random.Random(5)
    lines, name, opening = list(chances()), START, True
    heads = len(lines)
    while len(lines) < heads + COUNT:
        dice = (draw.randint(1, 6), draw.randint(1, 6))
        if opening and dice[0] == dice[1]:
            continue
        if not opening and draw.random() < 1 / 5:
            answer = gnubg.ask(f"evaluation fibsboard {line_of(name)} plies 2 cubeless prune off")
            win, gammon, backgammon, lost_gammon, lost_backgammon, _ = map(float, answer.split())
            six = [win - gammon, gammon - backgammon, backgammon]
            six += [1 - win - lost_gammon, lost_gammon - lost_backgammon, lost_backgammon]
            whose = draw.choice(["nobody", "mine"])
            fields = line_of(name).split(":")
            # After names, length, score, points, turn and dice follow the cube, the players who may double, and the doubled flag.
            fields[37:40] = {"nobody": ["1", "1", "1"], "mine": ["2", "1", "0"]}[whose]
            if 0.55 <= win <= 0.95:
                double = gnubg.ask(":".join(fields))
                fields[40] = "1"
                accept = gnubg.ask(":".join(fields))
                text = " ".join(f"{chance:.6f}" for chance in six)
                lines.append(f"{whose} {name} {text} {double} {accept}\n")
        opening = False
        results = rules.results(name, dice)
        after = results[0] if len(results) == 1 else played(name, gnubg.ask(line_of(name, dice)))
        name, opening = (START, True) if over(after) else (turned(after), False)
    with open("backgammon_cube.txt", "w") as file:
        file.writelines(lines)
    gnubg.program.kill()
    rules.program.kill()


main()
