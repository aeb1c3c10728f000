"""Control environments with Gymnasium's interface. One call steps thousands of environments."""

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
from ._arrays import plain
from ._picture import painted
from ._register import register
from ._seed import checked_seed
from ._source import source

register()

_INT64, _FLOAT32 = np.dtype(np.int64), np.dtype(np.float32)


class VectorEnv(gymnasium.vector.VectorEnv):
    """Many environments of one kind.

    Every step writes observations, rewards and flags to the same arrays. Keep copies of these arrays, or set `copy=True`.
    For a given seed, environment `i` has the same initial states for any `num_envs` and `threads`.
    """

    def __init__(
        self,
        env: str | os.PathLike[str],
        num_envs: int = 1,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        threads: int | None = None,
        copy: bool = False,
        render_mode: str | None = None,
    ) -> None:
        mode = AutoresetMode(autoreset_mode)
        if render_mode not in (None, "rgb_array"):
            raise ValueError(f"unknown render mode {render_mode!r}. Choose 'rgb_array' or None")
        name, file = source(env)
        self._native: _native.Envs | None = _native.Envs(name, file, num_envs, mode.value, threads)
        self.env_id, self.num_envs, self.render_mode, self.copy = name, num_envs, render_mode, copy
        #: True if a file defines the environments.
        self._has_file = file is not None
        self.metadata = {
            "render_modes": ["rgb_array"],
            "render_fps": _spaces.frames_per_second(name),
            "autoreset_mode": mode,
        }
        self.single_observation_space = _spaces.observation_space(name, self._native)
        self.single_action_space = _spaces.action_space(self._native)
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
        #: Latest action of each environment, for rendering.
        self._actions: np.ndarray | None = None

    @property
    def threads(self) -> int:
        """Number of threads that step the environments."""
        return self._open().threads

    def _open(self) -> _native.Envs:
        if self._native is None:
            raise gymnasium.error.ClosedEnvironmentError("these environments are closed. Create new ones")
        return self._native

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        """Starts new episodes of all environments, or of the environments in `options["reset_mask"]`.

        With a seed, all environments start their first episode for this seed. Without a seed, each environment starts its next episode.
        """
        native = self._open()
        mask = (options or {}).get("reset_mask")
        if mask is not None:
            mask = self._mask(mask)
            if seed is not None:
                raise ValueError("a seed applies to all environments. Omit it if reset_mask is given")
            self._ready()
            native.begin(mask)
        elif seed is not None or not self._begun:
            drawn = checked_seed(seed)
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
            raise ResetNeeded("the environments were not reset. Call reset() first")

    def _mask(self, mask: Any) -> np.ndarray:
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
            raise TypeError("options['reset_mask'] must be a NumPy array of bool, such as terminations | truncations")
        if mask.shape != (self.num_envs,) or not mask.any():
            raise ValueError(f"options['reset_mask'] must have {self.num_envs} flags, with at least one set")
        return np.ascontiguousarray(mask)

    def step(self, actions: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Steps every environment once."""
        native = self._native or self._open()
        if not self._begun:
            self._ready()
        # Actions that Gymnasium's action spaces sample need no conversion.
        if not (
            self._discrete
            and type(actions) is np.ndarray
            and actions.dtype is _INT64
            and actions.ndim == 1
            and actions.flags.c_contiguous
            and actions.flags.aligned
        ):
            actions = self._convert(actions)
        if self.render_mode is not None:
            self._actions = actions.copy()
        if self._disabled and native.over:
            raise ResetNeeded(
                f"{native.over} episodes have ended. Call reset(options={{'reset_mask': terminations | truncations}}) before the next step"
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

    def _convert(self, actions: Any) -> np.ndarray:
        """Converts actions to the type and shape that the native step expects."""
        given = np.asarray(actions)
        shape = (self.num_envs, *self.single_action_space.shape)
        if self._discrete:
            if given.dtype.kind not in "iu":
                raise TypeError(f"actions have type {given.dtype}. Give whole numbers, as envs.action_space.sample() does")
            wanted = _INT64
        else:
            if given.dtype.kind not in "fiu":
                raise TypeError(f"actions have type {given.dtype}. Give numbers, as envs.action_space.sample() does")
            wanted = _FLOAT32
        if given.shape != shape:
            raise ValueError(f"actions have the shape {given.shape}. Give {shape}")
        if given.dtype == np.uint64 and self._discrete and given.size and given.max() > 2**62:
            raise ValueError(f"an action is not in the range 0 to {self.single_action_space.n - 1}. Choose one in the range")
        return plain(given, wanted).reshape(-1)

    def render(self) -> tuple[np.ndarray, ...] | None:
        """Images of all environments. Each image is an array `(height, width, 3)` of bytes."""
        if self.render_mode is None:
            gymnasium.logger.warn("rendering is off: create the environments with render_mode='rgb_array'")
            return None
        self._ready()
        return tuple(self.picture(i) for i in range(self.num_envs))

    def picture(self, index: int) -> np.ndarray:
        """Image of one environment."""
        if self._has_file:
            return painted(*self._open().draw(operator.index(index)))
        from .render import draw

        state, _ = self.state(index)
        action = None if self._actions is None else self._actions[index]
        return draw(self.env_id, state, action)

    def action_masks(self) -> np.ndarray:
        """Permitted actions: an array of bool with a row per environment and a column per action."""
        self._ready()
        if not self._discrete:
            raise TypeError("masks exist for discrete actions only")
        masks = self._open().masks()
        return np.ones((self.num_envs, self.single_action_space.n), np.bool_) if masks is None else masks.copy()

    def state(self, index: int) -> tuple[np.ndarray, int]:
        """State values of one environment, and the number of steps in its current episode.

        The state is Gymnasium's internal state. For an environment from a file, the state consists of the values that checkpoints save.
        """
        state, steps = self._open().state(operator.index(index))
        return np.array(state, np.float32), steps

    def set_state(self, index: int, state: Any, steps: int = 0) -> np.ndarray:
        """Sets the state of one environment and the number of steps in its episode; returns its observation."""
        self._ready()
        self._open().set_state(operator.index(index), [float(x) for x in state], steps)
        self._out[2][index] = self._out[3][index] = False
        return self._out[0][index].copy()

    def close_extras(self, **_: Any) -> None:
        """Releases the environments and their threads."""
        self._native = None


class Env(gymnasium.Env):
    """A single environment, implemented as a vector of one environment. `VectorEnv` is faster for many environments."""

    def __init__(self, env: str | os.PathLike[str], *, render_mode: str | None = None) -> None:
        self._envs = VectorEnv(env, 1, autoreset_mode=AutoresetMode.DISABLED, copy=True, render_mode=render_mode)
        self.metadata = {key: value for key, value in self._envs.metadata.items() if key != "autoreset_mode"}
        self.observation_space = self._envs.single_observation_space
        self.action_space = self._envs.single_action_space
        self.render_mode = render_mode

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        if seed is not None:
            super().reset(seed=checked_seed(seed))
        observations, info = self._envs.reset(seed=seed)
        return observations[0], info

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        if not self.action_space.contains(action) and not np.isscalar(action):
            action = np.asarray(action)
        observations, rewards, terminated, truncated, info = self._envs.step(np.asarray(action)[None])
        return observations[0], float(rewards[0]), bool(terminated[0]), bool(truncated[0]), info

    def action_masks(self) -> np.ndarray:
        """Permitted actions, as an array of bool. MaskablePPO of Stable-Baselines3 calls this method."""
        return self._envs.action_masks()[0]

    def render(self) -> np.ndarray | None:
        frames = self._envs.render()
        return None if frames is None else frames[0]

    def close(self) -> None:
        self._envs.close()


def make_vec(
    env: str | os.PathLike[str],
    num_envs: int = 1,
    *,
    autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    threads: int | None = None,
    copy: bool = False,
    render_mode: str | None = None,
) -> VectorEnv:
    """Creates many environments of one kind, as a `gymnasium.vector.VectorEnv`.

    Args:
        env: One of `hothouse.environments()`, or the path or the text of a Python file that defines an environment (docs/worlds.md).
        num_envs: Number of environments.
        autoreset_mode: Start of the next episode, as Gymnasium defines `NEXT_STEP` (its default), `SAME_STEP` (the fastest here, with the
            last observations in `info["final_obs"]`) and `DISABLED`.
        threads: Number of threads; the default depends on the amount of work. Results are the same for any number.
        copy: Return new arrays at each step, instead of arrays that the next step overwrites.
        render_mode: `"rgb_array"` for images.
    """
    return VectorEnv(env, num_envs, autoreset_mode=autoreset_mode, threads=threads, copy=copy, render_mode=render_mode)


def _registered(**kwargs: Any) -> VectorEnv:
    """Entry point of `gymnasium.make_vec`: copies arrays by default, as Gymnasium's own environments do."""
    return make_vec(**{"copy": True, **kwargs})


def make(env: str | os.PathLike[str], *, render_mode: str | None = None) -> Env:
    """Creates one environment, as a `gymnasium.Env`."""
    return Env(env, render_mode=render_mode)
