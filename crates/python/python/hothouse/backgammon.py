"""Backgammon: positions, all results of a roll, and what a run thinks of positions.

A position is an id as GNU Backgammon writes it. Before a roll it is seen by the player who rolls, after a move by the one who moved.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from . import _native
from .runs import Run


def start() -> str:
    """Where a game begins."""
    return _native.backgammon_start()


def boards(ids: Sequence[str]) -> np.ndarray:
    """Checkers by place, `(n, 2, 25)`: points 1 to 24 and the bar, of the player on roll and of the other, each as that one counts."""
    return _native.backgammon_boards(list(ids))


def ids(boards: Any) -> list[str]:
    """The ids of boards as `boards` gives them."""
    given = np.asarray(boards)
    if given.dtype.kind not in "iu" or (given.size and not (0 <= given.min() and given.max() <= 15)):
        raise ValueError("boards count checkers. Give whole numbers from 0 to 15")
    if given.ndim != 3:
        raise ValueError(f"boards of shape {given.shape} are none. Give an array of shape (n, 2, 25)")
    return _native.backgammon_ids(np.ascontiguousarray(given, np.uint8))


def results(positions: Iterable[str], dice: tuple[int, int]) -> list[list[tuple[str, str]]]:
    """Every distinct result of a roll from each position: its id and the move that leads there, as in `8/5 6/5`."""
    one, other = (die if isinstance(die, int) and 0 <= die <= 255 else 0 for die in dice)
    return _native.backgammon_results(list(positions), (one, other))


def analyse(run: Run, positions: Iterable[str], dice: tuple[int, int] | None = None, *, evals: int = 0) -> list[dict[str, Any]]:
    """What a run thinks of positions: the moves of a roll, best first, or without one what a position is worth before it.

    `evals` boards at most are valued for each decision; 0 means no look-ahead.
    """
    asked = {"dice": None if dice is None else list(dice), "who": {"kind": "now"}, "evals": evals}
    return [run.ask("analyse", request={"id": position, **asked}) for position in positions]
