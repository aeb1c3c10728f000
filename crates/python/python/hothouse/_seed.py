"""Seeds of environments."""

from __future__ import annotations

import operator
import os
from typing import Any


def checked_seed(seed: Any) -> int:
    """Returns the seed as an integer; for `None`, a random seed."""
    if seed is None:
        return int.from_bytes(os.urandom(4), "little")
    try:
        value = operator.index(seed)
    except TypeError:
        raise TypeError(f"seed = {seed!r} must be a single whole number; each environment derives its own from it") from None
    if not 0 <= value < 2**32:
        raise ValueError(f"seed = {value} is out of range. Choose 0 to {2**32 - 1}")
    return value
