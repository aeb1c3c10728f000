"""Features of single rooms: the rules and the analysis of backgammon, solutions of the cube."""

import pathlib

import numpy as np
import pytest

import hothouse
from hothouse import backgammon, cube

GOLDEN = pathlib.Path(__file__).parents[1] / "golden"


def test_boards_and_ids_round_trip():
    start = backgammon.start()
    assert start == "4HPwATDgc/ABMA"
    boards = backgammon.boards([start])
    assert boards.shape == (1, 2, 25) and boards.dtype == np.uint8
    np.testing.assert_array_equal(np.flatnonzero(boards[0, 0]), [5, 7, 12, 23])
    np.testing.assert_array_equal(boards[0, 0], boards[0, 1])
    assert boards.sum() == 30 and backgammon.ids(boards) == [start]


def test_results_of_rolls():
    start = backgammon.start()
    [results] = backgammon.results([start], (3, 1))
    # OpenSpiel has 16 distinct results of 3-1 from the start too.
    assert len(results) == len({to for to, _ in results}) == 16
    moves = dict((move, to) for to, move in results)
    assert "8/5 6/5" in moves
    before, after = backgammon.boards([start, moves["8/5 6/5"]])
    moved = after[0].astype(int) - before[0]
    assert {i + 1: int(n) for i, n in enumerate(moved) if n} == {5: 2, 6: -1, 8: -1}
    np.testing.assert_array_equal(after[1], before[1])
    batch = backgammon.results([start, moves["8/5 6/5"]], (6, 6))
    assert len(batch) == 2 and all(batch)


def test_analysis_ranks_all_moves():
    run = hothouse.Run("backgammon", seed=1).advance(seconds=1)
    start = backgammon.start()
    [analysis] = backgammon.analyse(run, [start], (3, 1))
    assert {one["id"] for one in analysis["candidates"]} == {to for to, _ in backgammon.results([start], (3, 1))[0]}
    equities = [one["equity"] for one in analysis["candidates"]]
    assert equities == sorted(equities, reverse=True)
    outlooks = backgammon.analyse(run, [start, start])
    assert outlooks[0]["outlook"] == outlooks[1]["outlook"] is not None


def test_a_run_solves_the_cube():
    run = hothouse.Run("cube", seed=1)
    scrambled = cube.scramble(run, 3, seed=5)
    method = {"search": "exact", "width": 1, "weight": 1.0, "nodes": 1000}
    solution = cube.solve(run, scrambled["facelets"], method=method)
    assert len(solution["moves"]) == solution["optimal"] == scrambled["distance"] <= 3
    after = cube.turn(run, scrambled["facelets"], " ".join(solution["moves"]))
    assert cube.look(run, after["facelets"])["solved"]


INVALID = [
    (lambda: backgammon.results([backgammon.start()], (0, 7)), "1 to 6"),
    (lambda: backgammon.results(["nonsense"], (1, 2)), "id"),
    (lambda: backgammon.boards(["nonsense"]), "id"),
    (lambda: backgammon.ids(np.zeros((1, 2, 9), int)), r"\(n, 2, 25\)"),
    (lambda: backgammon.ids(np.zeros(25, int)), r"\(n, 2, 25\)"),
    (lambda: backgammon.ids(np.full((1, 2, 25), 300)), "0 to 15"),
    (lambda: backgammon.ids(np.full((1, 2, 25), 2)), "checkers|point"),
    (lambda: cube.look(hothouse.Run("cube"), "UUUU"), "."),
]


@pytest.mark.parametrize("call, message", INVALID)
def test_invalid_arguments_raise(call, message):
    with pytest.raises(ValueError, match=message):
        call()
