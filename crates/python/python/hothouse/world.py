"""Environments that users write, in plain Python.

    env = hothouse.world.load("snake.py")
    observation, info = env.reset(seed=7)

`load` runs a file of the language in `docs/worlds.md` in CPython, so Python's debuggers and profilers work on it. A random number depends
only on the seed, the number of the environment, the episode, the step, and the number of draws before it in the same call.
"""

from __future__ import annotations

import ast
import itertools
import linecache
import math
import operator
import os
from collections.abc import Callable
from types import CodeType
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded

from . import _native
from ._picture import Picture
from ._random import Random
from ._seed import checked_seed

#: Maximum length of an observation.
_LONGEST = 1024
_LIMIT, _LARGEST_LIMIT = 1000, 1_000_000
_SHAPES = ("rect", "circle", "line", "polygon", "text")
_NUMBERS = ("uniform", "randint", "normal")
_MATH = ("sqrt", "exp", "log", "sin", "cos", "tan", "tanh", "atan2", "floor", "ceil", "pi", "tau")
_PYTHON = ("min", "max", "abs", "sum", "any", "all", "len", "int", "float", "bool", "round", "range", "enumerate")
_BUILT_IN = {*_SHAPES, *_NUMBERS, *_MATH, *_PYTHON, "clip", "Box"}
#: Class attributes that Gymnasium reads and a file does not need, with the code to write instead.
_UNUSED = {
    "max_episode_steps": "Write `limit = 500`",
    "reward_threshold": "Write `solved = 400.0`",
    "action_space": "Write `actions = 3`, or `actions = Box(2, -1.0, 1.0)` for 2 numbers from -1 to 1",
    "observation_space": "Delete the line",
    "metadata": "Delete the line",
}
_count = itertools.count(1)


class Box(NamedTuple):
    """Actions that are `count` numbers, each from `low` to `high`."""

    count: int
    low: float
    high: float


def clip(x: Any, low: Any, high: Any) -> Any:
    """Returns the number `x`, limited to the range from `low` to `high`."""
    return min(max(x, low), high)


class Env(gymnasium.Env):
    """One environment that a file defines. `world` is the object of the file's class; its attributes can be read and set."""

    def __init__(self, file: _File, *, render_mode: str | None = None) -> None:
        if render_mode not in (None, "rgb_array"):
            raise ValueError(f"unknown render mode {render_mode!r}. Choose 'rgb_array' or None")
        self.render_mode = render_mode
        self.metadata = {"render_modes": ["rgb_array"], "render_fps": 30}
        self._random = Random()
        self._picture: Picture | None = None
        names = self._built_in()
        exec(file.code, names)
        self._class: type = names[file.class_name]
        #: The file's docstring.
        self.doc: str = names.get("__doc__") or ""
        self._declare(names)
        self._at = [0, 0, 0]  # seed, environment, episode
        self._steps = 0
        self._begun = self._over = False
        self._length = 0
        self._begin()
        self._length = len(self._observe())
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (self._length,), np.float32)

    def _built_in(self) -> dict[str, Any]:
        """Returns the names that the language has in addition to Python's own."""
        names: dict[str, Any] = {name: getattr(math, name) for name in _MATH}
        names |= {name: getattr(self._random, name) for name in _NUMBERS}
        names |= {name: self._painter(name) for name in _SHAPES}
        return names | {"clip": clip, "Box": Box, "__name__": "world"}

    def _painter(self, shape: str) -> Callable[..., None]:
        def paint(*arguments: Any) -> None:
            if self._picture is None:
                raise RuntimeError(f"{shape} was called outside of `draw`. Call it in the method `draw` only")
            getattr(self._picture, shape)(*arguments)

        return paint

    def _declare(self, names: dict[str, Any]) -> None:
        """Reads the attributes of the class."""
        given = self._class.__dict__
        for method in ("reset", "step", "observe"):
            if not callable(given.get(method)):
                raise ValueError(f"the class has no method `{method}`. Write `def {method}(self{', action' * (method == 'step')}):`")
        for name, advice in _UNUSED.items():
            if name in given:
                raise ValueError(f"the class attribute `{name}` has no effect. {advice}")
        if "actions" not in given:
            raise ValueError("the class has no attribute `actions`. Write `actions = 3` or `actions = Box(2, -1.0, 1.0)`")
        self._actions = given["actions"]
        self.action_space = _action_space(self._actions)
        #: Number of steps after which an episode is truncated.
        self.limit: int = given.get("limit", _LIMIT)
        if type(self.limit) is not int or not 1 <= self.limit <= _LARGEST_LIMIT:
            raise ValueError(f"limit = {self.limit!r} is not a number of steps. Choose 1 to {_LARGEST_LIMIT}")
        #: Mean return at which the environment counts as solved, or `None`.
        self.solved: float | None = given.get("solved")
        #: Action of each key, and names of the discrete actions.
        self.keys: dict[str, Any] = given.get("keys", {})
        self.names: list[str] = given.get("names", [])
        sides = (names["width"], names["height"]) if {"width", "height"} <= names.keys() else (10, 10)
        #: Width and height of the picture, in the units of `draw`.
        self.size: tuple[float, float] = given.get("size", sides)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        """Begins an episode.

        With a seed, it is episode 0 of environment 0 of this seed. Without a seed, it is the environment's next episode. `options["env"]`
        and `options["episode"]` select another environment and another episode.
        """
        options = options or {}
        if seed is not None or not self._begun:
            drawn = checked_seed(seed)
            super().reset(seed=None if seed is None else drawn)
            self._at = [drawn, 0, 0]
        else:
            self._at[2] = (self._at[2] + 1) % 2**32
        for i, name in ((1, "env"), (2, "episode")):
            if name in options:
                self._at[i] = _option(name, options[name])
        self._begin()
        self._begun = True
        return self._observe(), {}

    def _begin(self) -> None:
        self.world: Any = self._class()
        self._steps, self._over = 0, False
        self._random.begin(*self._at, 0)
        result = self.world.reset()
        if result is not None:
            raise TypeError(f"reset returned {result!r}. Delete the value, and return the observation from `observe`")

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        if not self._begun or self._over:
            raise ResetNeeded("the episode has ended or has not begun. Call reset() first")
        given = self._given(action)
        self._steps += 1
        self._random.begin(*self._at, self._steps)
        result = self.world.step(given)
        if not isinstance(result, tuple) or len(result) != 2:
            raise TypeError(f"step returned {result!r}. Return the reward and whether the episode is over, such as `return 1.0, False`")
        reward, over = float(result[0]), bool(result[1])
        if not math.isfinite(reward):
            raise ValueError(f"the reward of step {self._steps} is {reward}. It must be finite")
        truncated = self._steps >= self.limit
        self._over = over or truncated
        return self._observe(), reward, over, truncated, {}

    def _given(self, action: Any) -> int | float | list[float]:
        """Converts an action to the type that the file's `step` expects."""
        if not isinstance(self._actions, Box):
            count = int(self._actions)
            try:
                choice = operator.index(action)
            except TypeError:
                raise TypeError(f"the action {action!r} is not a whole number. Choose one from 0 to {count - 1}") from None
            if not 0 <= choice < count:
                raise ValueError(f"the action {choice} is not in the range 0 to {count - 1}. Choose one in the range")
            return choice
        numbers = np.asarray(action, np.float64).reshape(-1)
        if numbers.shape != (self._actions.count,) or not np.isfinite(numbers).all():
            raise ValueError(f"the action {action!r} is not possible. Give {self._actions.count} finite numbers")
        clipped = [float(number) for number in numbers.clip(self._actions.low, self._actions.high)]
        return clipped if self._actions.count > 1 else clipped[0]

    def _closed(self, method: str) -> Any:
        """Calls a method of the file that must not draw random numbers."""
        self._random.closed = method
        return getattr(self.world, method)()

    def _observe(self) -> np.ndarray:
        shown = self._closed("observe")
        if not isinstance(shown, list) or not 1 <= len(shown) <= _LONGEST:
            raise TypeError(f"observe returned {shown!r}. Return a list of 1 to {_LONGEST} numbers")
        if self._length and len(shown) != self._length:
            raise ValueError(f"observe returned {len(shown)} numbers, and {self._length} before. Return a list that always has one length")
        values = [float(number) for number in shown]
        for i, value in enumerate(values):
            if not math.isfinite(value):
                raise ValueError(f"number {i} of the observation is {value}. All numbers must be finite")
        return np.array(values, np.float32)

    def render(self) -> np.ndarray | None:
        """Returns an image of the current state as an array (height, width, 3) of bytes, at most 600 pixels wide and 400 high."""
        if self.render_mode is None:
            gymnasium.logger.warn("rendering is off: load the file with render_mode='rgb_array'")
            return None
        if not self._begun:
            raise ResetNeeded("the environment was not reset. Call reset() first")
        self._picture = picture = Picture(self.size)
        try:
            if "draw" in self._class.__dict__:
                self._closed("draw")
        finally:
            self._picture = None
        return picture.bytes()


class MaskedEnv(Env):
    """An environment whose file has a method `mask`."""

    def action_masks(self) -> np.ndarray:
        """Returns an array of bool: True for each action that is permitted now. MaskablePPO of Stable-Baselines3 calls this method."""
        masks = self._closed("mask")
        if not isinstance(masks, list) or len(masks) != self._actions:
            raise TypeError(f"mask returned {masks!r}. Return a list of {self._actions} bools")
        return np.array(masks, np.bool_)


def _action_space(actions: Any) -> gymnasium.spaces.Discrete | gymnasium.spaces.Box:
    if type(actions) is int and actions >= 1:
        return gymnasium.spaces.Discrete(actions)
    if isinstance(actions, Box) and type(actions.count) is int and actions.count >= 1 and actions.low < actions.high:
        return gymnasium.spaces.Box(actions.low, actions.high, (actions.count,), np.float32)
    raise ValueError(f"actions = {actions!r} is not possible. Write `actions = 3` or `actions = Box(2, -1.0, 1.0)`")


def _option(name: str, value: Any) -> int:
    number = operator.index(value)
    if not 0 <= number < 2**32:
        raise ValueError(f"options[{name!r}] = {number} is out of range. Choose 0 to {2**32 - 1}")
    return number


class _File(NamedTuple):
    """A file, compiled."""

    code: CodeType
    class_name: str
    methods: set[str]


def _compiled(text: str, name: str) -> _File:
    tree = ast.parse(text, name)
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    if len(classes) != 1:
        raise ValueError(f"the file has {len(classes)} classes. Write one class with the methods reset, step and observe")
    tree.body = [node for node in tree.body if not _is_known(node)]
    methods = {node.name for node in classes[0].body if isinstance(node, ast.FunctionDef)}
    return _File(compile(tree, name, "exec"), classes[0].name, methods)


def _is_known(node: ast.stmt) -> bool:
    """Returns True if a statement imports only names that the language provides, such as `from math import sqrt`."""
    if not isinstance(node, ast.ImportFrom) or node.module not in ("math", "random", "hothouse.world"):
        return False
    return all(alias.name in _BUILT_IN | {"*"} and alias.asname is None for alias in node.names)


def load(source: str | os.PathLike[str], *, render_mode: str | None = None) -> Env:
    """Loads an environment that a user wrote, as a `gymnasium.Env`.

    Args:
        source: Path of the file, or its text. A string with a line break is a text.
        render_mode: `"rgb_array"` for pictures.
    """
    if isinstance(source, str) and "\n" in source:
        text, name = source, f"<world {next(_count)}>"
        # Tracebacks and debuggers show lines of the text.
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    else:
        name = os.fspath(source)
        text = _native.read_data(name)[1].decode()
    file = _compiled(text, name)
    return (MaskedEnv if "mask" in file.methods else Env)(file, render_mode=render_mode)
