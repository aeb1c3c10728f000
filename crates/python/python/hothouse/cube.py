"""The cube: states, moves, and solutions that a run finds.

A state is a facelet string in URFDLB order. Moves are in Singmaster's notation.
"""

from __future__ import annotations

import time
from typing import Any

from .runs import Run

#: Seconds of search between two status checks.
_LOOK_S = 0.005


def scramble(run: Run, moves: int, seed: int = 1) -> dict[str, Any]:
    """State after `moves` random moves from the solved state."""
    return run.ask("scramble", moves=moves, seed=seed)


def turn(run: Run, facelets: str, moves: str) -> dict[str, Any]:
    """State after `moves`, which are applied to `facelets`."""
    return run.ask("turn", facelets=facelets, moves=moves)


def look(run: Run, facelets: str) -> dict[str, Any]:
    """A run's evaluation of a state, with exact values if they are known."""
    return run.ask("look", facelets=facelets)


def solve(run: Run, facelets: str, *, method: dict[str, Any] | None = None, seconds: float = 60.0) -> dict[str, Any] | None:
    """Solves a state: returns the `moves` and, if all distances are known, the length of the shortest solution as `optimal`.

    Returns `None` if no solution is found in time. `method` is a method of the room; the default is the variant's own. Example:
    `{"search": "beam", "width": 100, "weight": 0.6, "nodes": 100_000}`.
    """
    view = run.ask("solve", facelets=facelets, method=method or run.about["method"])
    end = time.monotonic() + seconds
    while not view["done"] and time.monotonic() < end:
        run._native.meanwhile(_LOOK_S)
        events = [event for event in run._native.room_events() if event.get("number") == view["number"]]
        view = events[-1] if events else view
    run.ask("cancel")
    return view["solution"]
