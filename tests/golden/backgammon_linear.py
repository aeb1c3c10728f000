"""Scores of Tesauro's public evaluation (pubeval), from its published C code, for crates/learn/tests/learn/backgammon/arena.rs.

    python tests/golden/backgammon_linear.py pubeval.c
    (writes backgammon_linear.txt beside itself)

pubeval.c is OpenBSD's games/backgammon/backgammon/pubeval.c, revision 1.1, in the public domain. A C compiler builds it with
substitutes for its two headers. The positions are those of worlds_backgammon.txt with their counts. Each is evaluated as the
result of a move, seen by the mover. The lines of the file:

    ID RACE SCORE    a position id, whether the weights for races are used (0 or 1), and the score
"""

import ctypes
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
HEADERS = {"back.h": "extern int cturn, board[26], *offptr, *offopp;", "backlocal.h": "void setx(void);"}


def built(source):
    folder = pathlib.Path(tempfile.mkdtemp())
    for name, text in HEADERS.items():
        (folder / name).write_text(text)
    (folder / "globals.c").write_text("int cturn, board[26], mine, theirs, *offptr = &mine, *offopp = &theirs;")
    library = folder / "pubeval.so"
    sources = [source, folder / "globals.c"]
    subprocess.run(["cc", "-O0", "-shared", "-fPIC", f"-I{folder}", "-o", library, *sources], check=True)
    return ctypes.CDLL(str(library))


def main():
    library = built(sys.argv[1])
    library.pubeval.restype = ctypes.c_float
    board = (ctypes.c_int * 26).in_dll(library, "board")
    # White: its checkers are negative on the board and move down from 24.
    ctypes.c_int.in_dll(library, "cturn").value = -1
    off = ctypes.c_int.in_dll(library, "mine")
    lines = []
    for line in (HERE / "worlds_backgammon.txt").read_text().splitlines():
        if not line.startswith("id "):
            continue
        _, name, *sides = line.split()
        mine, theirs = ([int(count) for count in side.split(",")] for side in sides)
        for place in range(26):
            board[place] = 0
        for point in range(1, 25):
            board[point] = theirs[24 - point] - mine[point - 1]
        board[25], board[0] = -mine[24], theirs[24]
        off.value = 15 - sum(mine)
        for race in (0, 1):
            lines.append(f"{name} {race} {library.pubeval(race):.5f}\n")
    # Every fourth position is sufficient.
    pairs = [lines[i : i + 2] for i in range(0, len(lines), 2)]
    (HERE / "backgammon_linear.txt").write_text("".join("".join(pair) for pair in pairs[::4]))


main()
