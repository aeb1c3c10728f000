"""Hothouse for Python: fast vectorised environments, and runs that learn.

    envs = hothouse.make_vec("CartPole-v1", num_envs=4096)
    run = hothouse.Run("control", variant="CartPole-v1", seed=1).advance(seconds=10)
    env = hothouse.world.load("my_world.py")

Runs are the same as in the terminal and on the page. Equal configs and seeds give equal digests, and checkpoints are
interchangeable. Modules that need NumPy or Gymnasium are imported at first use. If Gymnasium was imported before this package, the
environments are registered as `hothouse/CartPole-v1`; otherwise call `hothouse.register()`.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import world
    from ._native import CheckpointError, DivergedError, ForkError, __version__, environments, knobs, rooms
    from ._register import register
    from ._replay import replay
    from .envs import Env, VectorEnv, make, make_vec
    from .runs import Columns, Policy, Run

_MODULES = {
    **dict.fromkeys(["CheckpointError", "DivergedError", "ForkError", "__version__", "environments", "knobs", "rooms"], "_native"),
    **dict.fromkeys(["Env", "VectorEnv", "make", "make_vec"], "envs"),
    "register": "_register",
    "replay": "_replay",
    "world": "world",
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
    "replay",
    "rooms",
    "world",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'hothouse' has no attribute '{name}'")
    module = importlib.import_module(f".{_MODULES[name]}", __name__)
    value = module if _MODULES[name] == name else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__


if "gymnasium" in sys.modules:
    __getattr__("register")()
