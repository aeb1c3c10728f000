"""Random programs of the language give the same results compiled and in plain Python."""

import os

import list_programs
import numpy as np
import programs
import tier

import hothouse

#: Number of programs; the environment variable `PROGRAMS` overrides it.
COUNT = int(os.environ.get("PROGRAMS", "200" if tier.ALL else "50"))
#: Number of programs about lists.
LISTS = int(os.environ.get("PROGRAMS", "3000" if tier.ALL else "100"))
ENVS = 3


def compare(text, seed, steps):
    """Steps a program in both forms with random actions. Every number must be equal."""
    envs = hothouse.make_vec(text, ENVS, autoreset_mode="SameStep", threads=1)
    plain = [hothouse.world.load(text) for _ in range(ENVS)]
    observations, _ = envs.reset(seed=seed)
    expected = [env.reset(seed=seed, options={"env": i})[0] for i, env in enumerate(plain)]
    np.testing.assert_array_equal(observations, expected)
    rng = np.random.default_rng(seed)
    for _ in range(steps):
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
            compare(text, seed, 30)
        except Exception as error:
            raise AssertionError(f"program {seed}: {error}\n{text}") from error


def test_random_programs_about_lists_give_equal_results_or_are_refused():
    refused = 0
    for seed in range(LISTS):
        text = list_programs.program(seed)
        try:
            compare(text, seed, 8)
        except Exception as error:
            if not any(part in str(error) for part in list_programs.REFUSALS):
                raise AssertionError(f"program {seed}: {error}\n{text}") from error
            refused += 1
    print(f"{LISTS} programs, {refused} refused")
    assert refused < LISTS / 2
