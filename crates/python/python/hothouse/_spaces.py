"""Spaces and frame rates of environments. Built-in environments have the same ones as in Gymnasium."""

from __future__ import annotations

import math

import numpy as np
from gymnasium import spaces

from . import _native

_INF = math.inf
_TURN = 2 * math.pi

#: Frames per second of an environment from a file.
_FRAMES = 30
#: For each environment: lower and upper bounds of observations, and frames per second.
_SPECS: dict[str, tuple[list[float], list[float], int]] = {
    "CartPole-v1": ([-4.8, -_INF, -_TURN / 15, -_INF], [4.8, _INF, _TURN / 15, _INF], 50),
    "MountainCar-v0": ([-1.2, -0.07], [0.6, 0.07], 30),
    "MountainCarContinuous-v0": ([-1.2, -0.07], [0.6, 0.07], 30),
    "Pendulum-v1": ([-1.0, -1.0, -8.0], [1.0, 1.0, 8.0], 30),
    "Acrobot-v1": ([-1.0, -1.0, -1.0, -1.0, -4 * math.pi, -9 * math.pi], [1.0, 1.0, 1.0, 1.0, 4 * math.pi, 9 * math.pi], 15),
    "LunarLander-v3": (
        [-2.5, -2.5, -10.0, -10.0, -_TURN, -10.0, 0.0, 0.0],
        [2.5, 2.5, 10.0, 10.0, _TURN, 10.0, 1.0, 1.0],
        50,
    ),
}


def observation_space(id: str, native: _native.Envs) -> spaces.Box:
    if id in _SPECS:
        low, high, _ = _SPECS[id]
        return spaces.Box(np.array(low, np.float32), np.array(high, np.float32), dtype=np.float32)
    return spaces.Box(-_INF, _INF, native.observations.shape[2:], np.float32)


def action_space(native: _native.Envs) -> spaces.Discrete | spaces.Box:
    choices, count, low, high = native.actions
    return spaces.Box(low, high, (count,), np.float32) if choices is None else spaces.Discrete(choices)


def frames_per_second(id: str) -> int:
    return _SPECS[id][2] if id in _SPECS else _FRAMES
