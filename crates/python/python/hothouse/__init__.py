"""Hothouse from Python: environments by the thousand, and runs that learn.

    envs = hothouse.make_vec("CartPole-v1", num_envs=4096)
    run = hothouse.Run("control", variant="CartPole-v1", seed=1).advance(seconds=10)

A run here is the run of the terminal and of the page: the same config and seed give the same digest, and a checkpoint of one goes on
in the others. What needs NumPy or Gymnasium is imported when it is first used. Where Gymnasium is imported before this package it finds the
environments as `hothouse/CartPole-v1`, and else after `hothouse.register()`.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._native import CheckpointError, DivergedError, ForkError, __version__, environments, knobs, rooms
    from ._register import register
    from .envs import Env, VectorEnv, make, make_vec
    from .runs import Columns, Policy, Run

_HOME = {
    **dict.fromkeys(["CheckpointError", "DivergedError", "ForkError", "__version__", "environments", "knobs", "rooms"], "_native"),
    **dict.fromkeys(["Env", "VectorEnv", "make", "make_vec"], "envs"),
    "register": "_register",
    **dict.fromkeys(["Columns", "Policy", "Run"], "runs"),
}

__all__ = [
    "CheckpointError",
    "Columns",
    "DivergedError",
    "Env",
    "ForkError",
    "Policy",
    "Run",
    "VectorEnv",
    "__version__",
    "environments",
    "knobs",
    "make",
    "make_vec",
    "register",
    "rooms",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'hothouse' has no attribute '{name}'")
    value = getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__


if "gymnasium" in sys.modules:
    __getattr__("register")()
