"""Random programs of the language give the same results compiled and in plain Python."""

import os

import numpy as np
import programs
import tier

import hothouse

#: Number of programs; the environment variable `PROGRAMS` overrides it.
COUNT = int(os.environ.get("PROGRAMS", "200" if tier.ALL else "50"))
ENVS, STEPS = 3, 30


def compare(text, seed):
    """Steps a program in both forms with random actions. Every number must be equal."""
    envs = hothouse.make_vec(text, ENVS, autoreset_mode="SameStep", threads=1)
    plain = [hothouse.world.load(text) for _ in range(ENVS)]
    observations, _ = envs.reset(seed=seed)
    expected = [env.reset(seed=seed, options={"env": i})[0] for i, env in enumerate(plain)]
    np.testing.assert_array_equal(observations, expected)
    rng = np.random.default_rng(seed)
    for _ in range(STEPS):
        actions = rng.integers(3, size=ENVS)
        observations, rewards, terminated, truncated, _ = envs.step(actions)
        for i, env in enumerate(plain):
            shown, reward, over, limit, _ = env.step(actions[i])
            assert (rewards[i], terminated[i], truncated[i]) == (reward, over, limit)
            np.testing.assert_array_equal(observations[i], env.reset()[0] if over or limit else shown)


def test_random_programs_give_equal_results():
    for seed in range(COUNT):
        text = programs.program(seed)
        try:
            compare(text, seed)
        except Exception as error:
            raise AssertionError(f"program {seed}: {error}\n{text}") from error
