"""Runs on many machines, on a Ray cluster: `pip install 'ray[tune]'`.

For any number of workers, and even if workers fail, a run has the same digest as on one machine.

    from hothouse.ray import train, Trainable

The same from a shell: `python -m hothouse.ray --help`.
"""

from __future__ import annotations

try:
    import ray as _ray  # noqa: F401
except ImportError as error:
    raise ImportError("hothouse.ray needs Ray, which is not installed. Install it with: pip install 'ray[tune]'") from error

from ._cluster import connect
from ._selfplay import Trained, train

__all__ = ["Trainable", "Trained", "connect", "train"]


def __getattr__(name: str) -> object:
    # Importing Tune takes seconds, and self-play does not need it.
    if name == "Trainable":
        from ._tune import Trainable

        return Trainable
    raise AttributeError(f"module 'hothouse.ray' has no attribute '{name}'")
