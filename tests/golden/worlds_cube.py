"""Writes cube states and solutions of other software to worlds_cube.json beside this file, for crates/worlds/tests/worlds/cube.rs.

pip install RubikTwoPhase==1.1.1 kociemba==1.2.1 magiccube==1.2.0 && python3 worlds_cube.py

    three    moves from the solved 3x3x3 and the facelets after them, equal in RubikTwoPhase and magiccube
    two      the same for the 2x2x2 by magiccube, with turns of all six faces and rotations of the whole cube (x y z), in the
             letters W R G Y O B
    solved   facelets and a solution by kociemba
    broken   facelets and the error that RubikTwoPhase reports: one error each, or two exchanged stickers

Facelets are in the order U R F D L B. Stickers of U and D are not exchanged with each other, since RubikTwoPhase identifies a
corner by its other two colours.
"""

import importlib.metadata
import json
import pathlib
import random

import kociemba
import magiccube
from twophase.cubie import CubieCube, moveCube
from twophase.enums import Color
from twophase.face import FaceCube

PACKAGES = ["RubikTwoPhase", "kociemba", "magiccube"]
MOVES = [face + turn for face in "URFDLB" for turn in ["", "2", "'"]]
draw = random.Random(12)


def moves(count, extra=()):
    return [draw.choice(MOVES + list(extra)) for _ in range(count)]


def by_two_phase(sequence):
    cube = CubieCube()
    for move in sequence:
        cube.multiply(moveCube[MOVES.index(move)])
    return cube


def by_magiccube(size, sequence):
    cube = magiccube.Cube(size, hist=False)
    if sequence:
        cube.rotate(" ".join(sequence))
    return cube


def three():
    for sequence in [[], *([move] for move in MOVES), *(moves(count) for count in range(2, 30))]:
        facelets = by_two_phase(sequence).to_facelet_cube().to_string()
        assert facelets == by_magiccube(3, sequence).get_kociemba_facelet_positions(), sequence
        yield {"moves": " ".join(sequence), "facelets": facelets}


def two():
    turns = [axis + turn for axis in "xyz" for turn in ["", "'"]]
    plain = [[], *([move] for move in MOVES), *(moves(count) for count in range(2, 20))]
    for sequence in plain + [moves(count, turns * 3) for count in range(2, 20)]:
        yield {"moves": " ".join(sequence), "facelets": by_magiccube(2, sequence).get_kociemba_facelet_colors()}


def solved():
    for _ in range(12):
        facelets = by_two_phase(moves(40)).to_facelet_cube().to_string()
        yield {"facelets": facelets, "moves": kociemba.solve(facelets)}


def verdict(facelets):
    cube = FaceCube()
    assert cube.from_string(facelets) is True
    said = cube.to_cubie_cube().verify()
    return said if isinstance(said, str) else "ok"


def broken():
    def with_fault(fault):
        cube = by_two_phase(moves(40))
        fault(cube)
        return cube.to_facelet_cube().to_string()

    def twist(by):
        def fault(cube):
            place = draw.randrange(8)
            cube.co[place] = (cube.co[place] + by) % 3

        return fault

    def flip(cube):
        cube.eo[draw.randrange(12)] ^= 1

    def exchange(which):
        def fault(cube):
            pieces = getattr(cube, which)
            a, b = draw.sample(range(len(pieces)), 2)
            pieces[a], pieces[b] = pieces[b], pieces[a]

        return fault

    def both(cube):
        exchange("cp")(cube)
        exchange("ep")(cube)

    for fault in [twist(1), twist(2), flip, exchange("cp"), exchange("ep"), both] * 3:
        facelets = with_fault(fault)
        yield {"facelets": facelets, "verdict": verdict(facelets)}
    while True:
        facelets = list(with_fault(lambda cube: None))
        a, b = draw.sample([i for i in range(54) if i % 9 != 4], 2)
        if facelets[a] == facelets[b] or {facelets[a], facelets[b]} == {"U", "D"}:
            continue
        facelets[a], facelets[b] = facelets[b], facelets[a]
        facelets = "".join(facelets)
        yield {"facelets": facelets, "verdict": verdict(facelets)}


def main():
    faults = broken()
    out = {
        "made_by": ", ".join(f"{name} {importlib.metadata.version(name)}" for name in PACKAGES),
        "three": list(three()),
        "two": list(two()),
        "solved": list(solved()),
        "broken": [next(faults) for _ in range(60)],
    }
    assert [face.name for face in Color] == list("URFDLB")
    path = pathlib.Path(__file__).with_name("worlds_cube.json")
    path.write_text(json.dumps(out, separators=(",", ":")).replace('{"moves"', '\n{"moves"').replace('{"facelets"', '\n{"facelets"') + "\n")
    print(path.name, path.stat().st_size, "bytes")
    for said in sorted({fault["verdict"] for fault in out["broken"]}):
        print(" ", sum(fault["verdict"] == said for fault in out["broken"]), said)


main()
