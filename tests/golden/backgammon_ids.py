"""GNU Backgammon's ids of positions with stakes, for crates/worlds/tests/worlds/backgammon_ids.rs; and its cube equities, for
crates/worlds/tests/worlds/backgammon_cube.rs.

    apt-get install gnubg         # GNU Backgammon 1.07.001 made the committed file
    cd tests/golden && gnubg -t -q -p backgammon_ids.py < /dev/null        (writes backgammon_ids.txt beside itself)

The lines:

    id XGID GNUID                           an XGID, and GNU Backgammon's ids of it; the player on roll becomes its player 1
    double XGID GNUID                       the same with an offered double
    cube XGID W WG WB L LG LB ND DT         GNU Backgammon's chances of the player on roll at 0 plies, and its equities of no double
                                            and of double and take
"""

import random

import gnubg

COUNT = 120
draw = random.Random(7)
words = [line.split() for line in open("worlds_backgammon.txt")]
ids = [line[0] for line in words if len(line) == 2 and len(line[0]) == 14]


def xg_position(name):
    """Returns the position of an XGID in which the player on roll is the bottom player."""
    theirs, mine = gnubg.positionfromid(name)
    letters = ["-"] * 26
    for place, count in enumerate(mine):
        if count:
            letters[place + 1] = chr(ord("A") + count - 1)
    for place, count in enumerate(theirs):
        if count:
            letters[24 - place] = chr(ord("a") + count - 1)
    return "".join(letters)


def turned(position):
    return "".join(letter.swapcase() for letter in reversed(position))


def situation():
    """Returns the cube, its owner seen by the player on roll, match length, score of that player and of the other, and Crawford flag."""
    length = draw.choice([0, 0, 0, 0, 0, 1, 3, 5, 7, 7, 11, 25])
    mine, theirs = (draw.randrange(max(1, length)) for _ in range(2))
    crawford = length > 1 and length - 1 in (mine, theirs) and mine != theirs and draw.random() < 0.5
    cube = 0 if crawford or length == 1 else draw.choice([0, 0, 0, 1, 1, 2])
    owner = 0 if cube == 0 else draw.choice([1, -1])
    return cube, owner, length, mine, theirs, int(crawford)


def main():
    gnubg.command("set player 0 human")
    gnubg.command("set player 1 human")
    lines, context = [], {"cubeful": 1, "plies": 0, "deterministic": 1, "prune": 0, "noise": 0.0}
    while len(lines) < 3 * COUNT:
        name = draw.choice(ids)
        cube, owner, length, mine, theirs, crawford = situation()
        for turn in (1, -1):
            position = xg_position(name) if turn == 1 else turned(xg_position(name))
            points = (mine, theirs) if turn == 1 else (theirs, mine)
            rest = (cube, owner * turn, turn)
            last = f"{points[0]}:{points[1]}:{crawford}:{length}:10"
            dice = draw.choice(["00", "%d%d" % tuple(sorted((draw.randint(1, 6), draw.randint(1, 6)), reverse=True))])
            xgid = "XGID=%s:%d:%d:%d:%s:%s" % ((position,) + rest + (dice, last))
            gnubg.command("set xgid " + xgid)
            if gnubg.posinfo()["gamestate"] != 1:
                continue
            lines.append(f"id {xgid} {gnubg.gnubgid()}\n")
            if dice == "00" and owner >= 0 and not crawford and length != 1:
                gnubg.command("double")
                if gnubg.posinfo()["doubled"]:
                    lines.append(f"double {xgid.replace(':00:', ':D:')} {gnubg.gnubgid()}\n")
        # Seen by the bottom player, player 1.
        info = gnubg.cubeinfo(1 << cube, {0: -1, 1: 1, -1: 0}[owner], 1, length, (theirs, mine), crawford, 0)
        info["jacoby"] = 0
        board = gnubg.positionfromid(name)
        if any(sum(side) == 0 for side in board):
            continue
        win, gammon, backgammon, lost_gammon, lost_backgammon, _ = gnubg.evaluate(board, gnubg.cubeinfo(1, -1, 1, 0, (0, 0), 0, 0), context)
        six = [win - gammon, gammon - backgammon, backgammon, 1 - win - lost_gammon, lost_gammon - lost_backgammon, lost_backgammon]
        values = gnubg.cfevaluate(board, info, context)
        text = " ".join(f"{max(0.0, chance):.7f}" for chance in six)
        xgid = "XGID=%s:%d:%d:1:00:%d:%d:%d:%d:10" % (xg_position(name), cube, owner, mine, theirs, crawford, length)
        lines.append(f"cube {xgid} {text} {values[1]:.6f} {values[2]:.6f}\n")
    with open("backgammon_ids.txt", "w") as file:
        file.writelines(sorted(lines))


main()
