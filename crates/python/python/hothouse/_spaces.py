"""Gymnasium's specification of each environment: observation bounds, actions, and frame rate."""

from __future__ import annotations

import math

import numpy as np
from gymnasium import spaces

_INF = math.inf
_TURN = 2 * math.pi

#: For each environment: lower and upper bounds of observations, actions, and frames per second. An integer is the number of
#: discrete actions; a float is the maximum absolute value of a continuous action.
_SPECS: dict[str, tuple[list[float], list[float], int | float, int]] = {
    "CartPole-v1": ([-4.8, -_INF, -_TURN / 15, -_INF], [4.8, _INF, _TURN / 15, _INF], 2, 50),
    "MountainCar-v0": ([-1.2, -0.07], [0.6, 0.07], 3, 30),
    "MountainCarContinuous-v0": ([-1.2, -0.07], [0.6, 0.07], 1.0, 30),
    "Pendulum-v1": ([-1.0, -1.0, -8.0], [1.0, 1.0, 8.0], 2.0, 30),
    "Acrobot-v1": (
        [-1.0, -1.0, -1.0, -1.0, -4 * math.pi, -9 * math.pi],
        [1.0, 1.0, 1.0, 1.0, 4 * math.pi, 9 * math.pi],
        3,
        15,
    ),
    "LunarLander-v3": (
        [-2.5, -2.5, -10.0, -10.0, -_TURN, -10.0, 0.0, 0.0],
        [2.5, 2.5, 10.0, 10.0, _TURN, 10.0, 1.0, 1.0],
        4,
        50,
    ),
}


def observation_space(id: str) -> spaces.Box:
    low, high, _, _ = _SPECS[id]
    return spaces.Box(np.array(low, np.float32), np.array(high, np.float32), dtype=np.float32)


def action_space(id: str) -> spaces.Discrete | spaces.Box:
    actions = _SPECS[id][2]
    if isinstance(actions, int):
        return spaces.Discrete(actions)
    return spaces.Box(-actions, actions, (1,), np.float32)


def frames_per_second(id: str) -> int:
    return _SPECS[id][3]
