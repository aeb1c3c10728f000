"""Replays of runs as animated pictures, which need Pillow."""

from __future__ import annotations

import io
import operator
import os
import pathlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium.spaces import Discrete

from .envs import Env, make
from .runs import Policy, Run

if TYPE_CHECKING:
    from types import ModuleType

#: Maximum number of frames per second that viewers of GIF files show.
_FASTEST = 50
#: Maximum number of steps of an episode that a replay shows.
_LONGEST = 1000
#: Maximum number of frames, which are all in memory.
_MOST_FRAMES = 10_000
#: Unit of the durations in a GIF file, in milliseconds.
_UNIT_MS = 10


def replay(
    run: Run | str | os.PathLike[str] | bytes,
    path: str | os.PathLike[str],
    *,
    episodes: int = 1,
    fps: float | None = None,
    seed: int = 1,
) -> list[float]:
    """Plays the policy of a run in its environment and writes an animated GIF. Returns the return of each episode.

    Each step is a frame. An episode is shown up to its step 1,000. Needs Pillow.

    Args:
        run: A run of the room control, or the path or the bytes of its checkpoint. A file may define the environment.
        path: The file to write. Its name ends with .gif.
        episodes: Number of episodes, one after the other.
        fps: Frames per second, at most 50. The default is the rate of the environment's steps in its own time, but at most 50.
        seed: Seed of the initial states. Equal weights and seeds give equal replays.
    """
    images = _images()
    file = pathlib.Path(path)
    if file.suffix.lower() != ".gif":
        raise ValueError(f"path = {str(file)!r} is not the name of a GIF file. Choose a name that ends with .gif")
    if not 1 <= operator.index(episodes) <= _MOST_FRAMES:
        raise ValueError(f"episodes = {episodes} is out of range. Choose 1 to {_MOST_FRAMES}")
    if fps is not None and not 0 < fps <= _FASTEST:
        raise ValueError(f"fps = {fps} is out of range. Choose more than 0 and at most {_FASTEST}")
    if not isinstance(run, Run):
        run = Run.restore(run)
    if run.room != "control":
        raise ValueError(
            f"a replay needs a run of the room control, and this run is of {run.room}. "
            "Load the run on the page and record a video there: tab Share, section Pictures"
        )
    returns: list[float] = []
    frames = []
    for frame in _frames(run, episodes, seed, returns):
        if len(frames) == _MOST_FRAMES:
            raise ValueError(f"{episodes} episodes have more than {_MOST_FRAMES} frames. Choose fewer episodes")
        frames.append(images.fromarray(frame).quantize(method=images.Quantize.FASTOCTREE, dither=images.Dither.NONE))
    content = io.BytesIO()
    durations = _durations(len(frames), fps or min(_FASTEST, 1 / run.about["step_s"]))
    frames[0].save(content, "GIF", save_all=True, append_images=frames[1:], duration=durations, loop=0)
    file.write_bytes(content.getvalue())
    return returns


def _images() -> ModuleType:
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError("hothouse.replay needs Pillow, which is not installed. Install it with: pip install pillow") from error
    return Image


def _frames(run: Run, episodes: int, seed: int, returns: list[float]) -> Iterator[np.ndarray]:
    """Pictures of episodes: the initial state, and the state after each step. Appends the return of each episode to `returns`."""
    policy, world = run.policy(), run.world
    env = make(run.variant if world is None else world, render_mode="rgb_array")
    for episode in range(episodes):
        observation, _ = env.reset(seed=seed if episode == 0 else None)
        yield env.render()
        returns.append(0.0)
        for _ in range(_LONGEST):
            observation, reward, terminated, truncated, _ = env.step(_action(policy, env, observation))
            returns[-1] += reward
            yield env.render()
            if terminated or truncated:
                break
    env.close()


def _action(policy: Policy, env: Env, observation: np.ndarray) -> Any:
    """Best permitted action."""
    if not isinstance(env.action_space, Discrete):
        return policy(observation[None])[0]
    chances, _ = policy.predict(observation[None])
    return int(np.argmax(np.where(env.action_masks(), chances[0], -1)))


def _durations(count: int, fps: float) -> list[int]:
    """Durations of frames in milliseconds, as multiples of `_UNIT_MS`. Each frame starts less than a unit from its exact time."""
    ends = [round(1000 * k / fps / _UNIT_MS) * _UNIT_MS for k in range(count + 1)]
    return [max(_UNIT_MS, end - begin) for begin, end in zip(ends, ends[1:])]
