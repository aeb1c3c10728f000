"""The cube: states as facelet strings in the order URFDLB, moves in Singmaster's notation, and solutions that a run finds."""

from __future__ import annotations

import time
from typing import Any

from .runs import Run

#: Seconds after which a run that searches is asked how it stands.
_LOOK_S = 0.005


def scramble(run: Run, moves: int, seed: int = 1) -> dict[str, Any]:
    """Where so many random moves lead from the solved state."""
    return run.ask("scramble", moves=moves, seed=seed)


def turn(run: Run, facelets: str, moves: str) -> dict[str, Any]:
    """Where moves lead from a state."""
    return run.ask("turn", facelets=facelets, moves=moves)


def look(run: Run, facelets: str) -> dict[str, Any]:
    """What a run thinks of a state, and what is known of it."""
    return run.ask("look", facelets=facelets)


def solve(run: Run, facelets: str, *, method: dict[str, Any] | None = None, seconds: float = 60.0) -> dict[str, Any] | None:
    """How a run solves a state: `moves`, and in `optimal` the length of the shortest solution where all distances are known.

    `None` where it finds none in the time there is. `method` is the room's: `{"search": "beam", "width": 100, "weight": 0.6,
    "nodes": 100_000}`; by itself the variant's own.
    """
    view = run.ask("solve", facelets=facelets, method=method or run.about["method"])
    end = time.monotonic() + seconds
    while not view["done"] and time.monotonic() < end:
        run._native.meanwhile(_LOOK_S)
        told = [event for event in run._native.told() if event.get("number") == view["number"]]
        view = told[-1] if told else view
    run.ask("cancel")
    return view["solution"]
