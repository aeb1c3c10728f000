"""Backgammon: positions, all results of a roll, and analysis by a run.

A position is a GNU Backgammon id. Before a roll, it is from the point of view of the player on roll; after a move, from that of the
player who moved.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from . import _native
from .runs import Run


def start() -> str:
    """Id of the start position."""
    return _native.backgammon_start()


def boards(ids: Sequence[str]) -> np.ndarray:
    """Number of checkers at each place, `(n, 2, 25)`.

    The places are points 1 to 24 and the bar, first of the player on roll, then of the opponent. Each side has its own numbering.
    """
    return _native.backgammon_boards(list(ids))


def ids(boards: Any) -> list[str]:
    """Ids of boards in the format of `boards`."""
    given = np.asarray(boards)
    if given.dtype.kind not in "iu" or (given.size and not (0 <= given.min() and given.max() <= 15)):
        raise ValueError("boards must contain whole numbers from 0 to 15")
    if given.ndim != 3:
        raise ValueError(f"boards must have shape (n, 2, 25), not {given.shape}")
    return _native.backgammon_ids(np.ascontiguousarray(given, np.uint8))


def results(positions: Iterable[str], dice: tuple[int, int]) -> list[list[tuple[str, str]]]:
    """All distinct results of a roll from each position, as pairs of the new position's id and the move, such as `8/5 6/5`."""
    one, other = (die if isinstance(die, int) and 0 <= die <= 255 else 0 for die in dice)
    return _native.backgammon_results(list(positions), (one, other))


def analyse(run: Run, positions: Iterable[str], dice: tuple[int, int] | None = None, *, evals: int = 0) -> list[dict[str, Any]]:
    """Analyses positions. With `dice`, returns the moves of this roll, best first; else the value of the position before a roll.

    `evals` is the maximum number of evaluations per decision; 0 disables look-ahead.
    """
    query = {"dice": None if dice is None else list(dice), "who": {"kind": "now"}, "evals": evals}
    return [run.ask("analyse", request={"id": position, **query}) for position in positions]
