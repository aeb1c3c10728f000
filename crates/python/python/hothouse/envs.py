"""Environments of control as Gymnasium's, stepped thousands at a time."""

from __future__ import annotations

import operator
import os
from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from . import _native, _spaces
from ._register import register

register()

_INT64, _FLOAT32 = np.dtype(np.int64), np.dtype(np.float32)


def _seed(seed: Any) -> int:
    if seed is None:
        return int.from_bytes(os.urandom(4), "little")
    try:
        value = operator.index(seed)
    except TypeError:
        raise TypeError(f"seed = {seed!r} is not one whole number, from which every environment has its own. Give one") from None
    if not 0 <= value < 2**32:
        raise ValueError(f"seed = {value} is out of range. Choose 0 to {2**32 - 1}")
    return value


class VectorEnv(gymnasium.vector.VectorEnv):
    """Many environments of one kind.

    Observations, rewards and flags lie in the same arrays at every step, and the next step writes over them: keep copies, or ask for
    `copy=True`. Environment `i` of a seed begins its episodes in the same places whatever `num_envs` and `threads` are.
    """

    def __init__(
        self,
        env: str,
        num_envs: int = 1,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        threads: int | None = None,
        copy: bool = False,
        render_mode: str | None = None,
    ) -> None:
        mode = AutoresetMode(autoreset_mode)
        if render_mode not in (None, "rgb_array"):
            raise ValueError(f"there is no render mode {render_mode!r}. Choose 'rgb_array', or None")
        if not isinstance(env, str):
            raise TypeError(f"{env!r} is no name of an environment. Choose one of: {', '.join(_native.environments())}")
        self._native: _native.Envs | None = _native.Envs(env, operator.index(num_envs), mode.value, threads)
        self.env_id, self.num_envs, self.render_mode, self.copy = env, num_envs, render_mode, copy
        self.metadata = {
            "render_modes": ["rgb_array"],
            "render_fps": _spaces.frames_per_second(env),
            "autoreset_mode": mode,
        }
        self.single_observation_space = _spaces.observation_space(env)
        self.single_action_space = _spaces.action_space(env)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._discrete = isinstance(self.single_action_space, gymnasium.spaces.Discrete)
        self._disabled, self._same_step = mode is AutoresetMode.DISABLED, mode is AutoresetMode.SAME_STEP
        self._begun = False
        native = self._native
        observations, flags = native.observations, native.flags
        self._out = (observations[0], native.rewards, flags[0], flags[1])
        if self._same_step:
            self._last, self._done = observations[1], flags[2]
        #: The newest action of each environment, for its picture.
        self._actions: np.ndarray | None = None

    @property
    def threads(self) -> int:
        """How many threads step the environments."""
        return self._open().threads

    def _open(self) -> _native.Envs:
        if self._native is None:
            raise gymnasium.error.ClosedEnvironmentError("these environments were closed. Make them anew")
        return self._native

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        """Begins new episodes: of all environments, or of those in `options["reset_mask"]`.

        With a seed as its environments anew; without one each goes on to its next episode.
        """
        native = self._open()
        mask = (options or {}).get("reset_mask")
        if mask is not None:
            mask = self._mask(mask)
            if seed is not None:
                raise ValueError("a seed is for all environments. Leave it out where reset_mask is given")
            self._ready()
            native.begin(mask)
        elif seed is not None or not self._begun:
            drawn = _seed(seed)
            super().reset(seed=None if seed is None else drawn)
            native.reset(drawn)
            self._begun = True
        else:
            native.begin(None)
        begun = slice(None) if mask is None else mask
        self._out[2][begun] = self._out[3][begun] = False
        self._actions = None
        observations = self._out[0]
        return (observations.copy() if self.copy else observations), {}

    def _ready(self) -> None:
        if not self._begun:
            raise ResetNeeded("the environments have not begun. Call reset() first")

    def _mask(self, mask: Any) -> np.ndarray:
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
            raise TypeError("options['reset_mask'] is no NumPy array of bool. Give terminations | truncations")
        if mask.shape != (self.num_envs,) or not mask.any():
            raise ValueError(f"options['reset_mask'] has no flag for each of {self.num_envs} environments, or none is set")
        return np.ascontiguousarray(mask)

    def step(self, actions: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """One step of every environment."""
        native = self._native or self._open()
        if not self._begun:
            self._ready()
        # As Gymnasium's spaces sample them, they go on as they are.
        if not (
            self._discrete
            and type(actions) is np.ndarray
            and actions.dtype is _INT64
            and actions.ndim == 1
            and actions.flags.c_contiguous
        ):
            actions = self._given(actions)
        if self.render_mode is not None:
            self._actions = actions.copy()
        if self._disabled and native.over:
            raise ResetNeeded(
                f"the episodes of {native.over} environments have ended. Call reset(options={{'reset_mask': terminations | truncations}}) before the next step"
            )
        ended = native.step(actions)
        info: dict[str, Any] = {}
        if ended and self._same_step:
            done = self._done.copy() if self.copy else self._done
            last = self._last.copy() if self.copy else self._last
            info = {"final_obs": last, "_final_obs": done, "final_info": {}, "_final_info": done}
        if self.copy:
            observations, rewards, terminated, truncated = self._out
            return observations.copy(), rewards.copy(), terminated.copy(), truncated.copy(), info
        return (*self._out, info)

    def _given(self, actions: Any) -> np.ndarray:
        """Actions in the type and shape that the native step takes."""
        given = np.asarray(actions)
        shape = (self.num_envs,) if self._discrete else (self.num_envs, 1)
        if self._discrete:
            if given.dtype.kind not in "iu":
                raise TypeError(f"actions are of type {given.dtype}. Give whole numbers, as in envs.action_space.sample()")
            wanted = _INT64
        else:
            if given.dtype.kind not in "fiu":
                raise TypeError(f"actions are of type {given.dtype}. Give numbers, as in envs.action_space.sample()")
            wanted = _FLOAT32
        if given.shape != shape:
            raise ValueError(f"actions have the shape {given.shape}. Give {shape}")
        if given.dtype == np.uint64 and self._discrete and given.size and given.max() > 2**62:
            raise ValueError(f"an action is none of 0 to {self.single_action_space.n - 1}. Choose one of them")
        return np.ascontiguousarray(given, wanted).reshape(-1)

    def render(self) -> tuple[np.ndarray, ...] | None:
        """A picture of every environment: `(400, 600, 3)` bytes."""
        if self.render_mode is None:
            gymnasium.logger.warn("there is nothing to render: make the environments with render_mode='rgb_array'")
            return None
        self._ready()
        return tuple(self.picture(i) for i in range(self.num_envs))

    def picture(self, index: int) -> np.ndarray:
        """A picture of one environment."""
        from .render import draw

        state, _ = self.state(index)
        action = None if self._actions is None else self._actions[index]
        return draw(self.env_id, state, action)

    def state(self, index: int) -> tuple[np.ndarray, int]:
        """The numbers of Gymnasium's internal state of one environment, and the steps of its episode so far."""
        state, steps = self._open().state(operator.index(index))
        return np.array(state, np.float32), steps

    def set_state(self, index: int, state: Any, steps: int = 0) -> np.ndarray:
        """Puts one environment into a state, so many steps into an episode, and gives what it observes."""
        self._ready()
        self._open().set_state(operator.index(index), [float(x) for x in state], steps)
        self._out[2][index] = self._out[3][index] = False
        return self._out[0][index].copy()

    def close_extras(self, **_: Any) -> None:
        """Lets the environments and their threads go."""
        self._native = None


class Env(gymnasium.Env):
    """One environment. A vector of one is behind it: whoever wants speed makes more of them."""

    def __init__(self, env: str, *, render_mode: str | None = None) -> None:
        self._envs = VectorEnv(env, 1, autoreset_mode=AutoresetMode.DISABLED, copy=True, render_mode=render_mode)
        self.metadata = {key: value for key, value in self._envs.metadata.items() if key != "autoreset_mode"}
        self.observation_space = self._envs.single_observation_space
        self.action_space = self._envs.single_action_space
        self.render_mode = render_mode

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        if seed is not None:
            super().reset(seed=_seed(seed))
        observations, info = self._envs.reset(seed=seed)
        return observations[0], info

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        if not self.action_space.contains(action) and not np.isscalar(action):
            action = np.asarray(action)
        observations, rewards, terminated, truncated, info = self._envs.step(np.asarray(action)[None])
        return observations[0], float(rewards[0]), bool(terminated[0]), bool(truncated[0]), info

    def render(self) -> np.ndarray | None:
        frames = self._envs.render()
        return None if frames is None else frames[0]

    def close(self) -> None:
        self._envs.close()


def make_vec(
    env: str,
    num_envs: int = 1,
    *,
    autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    threads: int | None = None,
    copy: bool = False,
    render_mode: str | None = None,
) -> VectorEnv:
    """Many environments of one kind, as a `gymnasium.vector.VectorEnv`.

    Args:
        env: One of `hothouse.environments()`.
        num_envs: How many.
        autoreset_mode: When the next episode begins: as Gymnasium defines `NEXT_STEP` (its default), `SAME_STEP` (the fastest here,
            with the last observations in `info["final_obs"]`) and `DISABLED`.
        threads: How many step them; by itself as many as are worth waking. Results are the same for any number.
        copy: Give fresh arrays at each step, instead of the same that the next step writes over.
        render_mode: `"rgb_array"` for pictures.
    """
    return VectorEnv(env, num_envs, autoreset_mode=autoreset_mode, threads=threads, copy=copy, render_mode=render_mode)


def _registered(**kwargs: Any) -> VectorEnv:
    """What `gymnasium.make_vec` makes: with arrays that stay as they are, like those of Gymnasium's own."""
    return make_vec(**{"copy": True, **kwargs})


def make(env: str, *, render_mode: str | None = None) -> Env:
    """One environment, as a `gymnasium.Env`."""
    return Env(env, render_mode=render_mode)
