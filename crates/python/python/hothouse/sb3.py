"""Environments for Stable-Baselines3: `PPO("MlpPolicy", hothouse.sb3.VecEnv("CartPole-v1", 16)).learn(…)`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from stable_baselines3.common.vec_env import VecEnv as Base

from .envs import make_vec


class VecEnv(Base):
    """Environments that reset in the step in which an episode ends, as Stable-Baselines3 expects."""

    def __init__(self, env: str, num_envs: int, *, threads: int | None = None, render_mode: str | None = None) -> None:
        self.envs = make_vec(
            env, num_envs, autoreset_mode=AutoresetMode.SAME_STEP, threads=threads, copy=True, render_mode=render_mode
        )
        self.render_mode = render_mode
        self.metadata = self.envs.metadata
        super().__init__(num_envs, self.envs.single_observation_space, self.envs.single_action_space)

    def reset(self) -> np.ndarray:
        seed = self._seeds[0]
        observations, _ = self.envs.reset(seed=seed)
        self._reset_seeds()
        self._reset_options()
        return observations

    def step_async(self, actions: np.ndarray) -> None:
        self._waiting = actions

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        observations, rewards, terminated, truncated, info = self.envs.step(self._waiting)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        done = terminated | truncated
        for i in np.flatnonzero(done):
            infos[i] = {
                "terminal_observation": info["final_obs"][i],
                "TimeLimit.truncated": bool(truncated[i] and not terminated[i]),
            }
        return observations, rewards, done, infos

    def close(self) -> None:
        self.envs.close()

    def get_images(self) -> Sequence[np.ndarray | None]:
        return self.envs.render() or [None] * self.num_envs

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        return [getattr(self.envs, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        raise AttributeError(f"{attr_name} cannot be set: all environments share it. Create new environments instead")

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        raise AttributeError(f"{method_name} cannot be called on a single environment: all are stepped together")

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        return [False for _ in self._get_indices(indices)]
