"""Environments by name or from a file."""

from __future__ import annotations

import os

from . import _native


def source(env: str | os.PathLike[str]) -> tuple[str, bytes | None]:
    """Returns the name of an environment, and the contents of the file that defines it; `None` for a built-in environment.

    A string that ends with `.py` is the path of a file. A string with a line break is the text of a file.
    """
    if isinstance(env, str) and "\n" in env:
        return "world.py", env.encode()
    if isinstance(env, os.PathLike) or isinstance(env, str) and env.endswith(".py"):
        return _native.read_data(os.fspath(env))
    if not isinstance(env, str):
        raise TypeError(f"{env!r} is not the name of an environment. Choose one of: {', '.join(_native.environments())}, or name a Python file")
    return env, None
