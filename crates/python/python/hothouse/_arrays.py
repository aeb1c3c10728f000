"""Arrays for the native module."""

from __future__ import annotations

from typing import Any

import numpy as np


def plain(values: Any, dtype: Any) -> np.ndarray:
    """Returns the values as an array of this type whose rows are consecutive and aligned in memory. Copies them only if necessary."""
    array = np.ascontiguousarray(values, dtype)
    return array if array.flags.aligned else array.copy()
