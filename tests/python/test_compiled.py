"""Environments from files, compiled: episodes, spaces, masks, pictures, runs, and errors."""

import pathlib

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import hothouse
import terminal

TEMPLATES = pathlib.Path(__file__).parents[2] / "crates/worlds/src/control/script/templates"
SMALL = {"envs": 64, "rollout_steps": 32, "hidden": 16, "minibatches": 2}


def template(name):
    return TEMPLATES / f"{name}.py"


# These templates compute with integers, so plain Python and the compiled form stay equal for whole episodes.
@pytest.mark.parametrize("name", ["breakout", "catch", "maze", "snake", "taxi"])
def test_episodes_equal_those_of_plain_python(name):
    count = 3
    envs = hothouse.make_vec(template(name), count, autoreset_mode="SameStep", render_mode="rgb_array")
    plain = [hothouse.world.load(template(name), render_mode="rgb_array") for _ in range(count)]
    observations, _ = envs.reset(seed=7)
    for i, env in enumerate(plain):
        np.testing.assert_allclose(observations[i], env.reset(seed=7, options={"env": i})[0], atol=1e-6)
    rng, ended = np.random.default_rng(1), 0
    for step in range(300):
        masks = envs.action_masks()
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])
        for i, env in enumerate(plain):
            if hasattr(env, "action_masks"):
                np.testing.assert_array_equal(masks[i], env.action_masks())
        observations, rewards, terminated, truncated, info = envs.step(actions)
        for i, env in enumerate(plain):
            shown, reward, over, limit, _ = env.step(actions[i])
            assert (reward, over) == (pytest.approx(rewards[i], abs=1e-6), terminated[i]), (name, step, i)
            if over or limit:
                np.testing.assert_allclose(info["final_obs"][i], shown, atol=1e-6)
                shown, _ = env.reset()
                ended += 1
            np.testing.assert_allclose(observations[i], shown, atol=1e-6)
        if step % 100 == 0:
            np.testing.assert_array_equal(envs.picture(1), plain[1].render())
    assert ended > 0 or name in ("maze", "taxi")


def test_spaces_are_those_of_the_file():
    racer = hothouse.make_vec(template("racer"), 4)
    assert racer.single_action_space == gymnasium.spaces.Box(-1.0, 1.0, (2,), np.float32)
    racer.reset(seed=1)
    observations, *_ = racer.step(np.zeros((4, 2), np.float32))
    assert observations.shape == (4, *racer.single_observation_space.shape)
    with pytest.raises(ValueError, match=r"\(4, 2\)"):
        racer.step(np.zeros(4, np.float32))
    with pytest.raises(TypeError, match="discrete"):
        racer.action_masks()
    assert hothouse.make_vec(template("snake"), 4).single_action_space == gymnasium.spaces.Discrete(3)


@pytest.mark.parametrize("name", sorted(path.stem for path in TEMPLATES.glob("*.py")))
def test_the_checker_passes(name):
    check_env(hothouse.make(template(name), render_mode="rgb_array"), skip_render_check=False)


def test_a_file_without_masks_permits_all_actions():
    envs = hothouse.make_vec("CartPole-v1", 2)
    envs.reset(seed=1)
    np.testing.assert_array_equal(envs.action_masks(), np.ones((2, 2), np.bool_))


def test_the_text_of_a_file_is_accepted():
    text = template("catch").read_text(encoding="utf-8")
    ours, theirs = hothouse.make_vec(text, 5), hothouse.make_vec(template("catch"), 5)
    np.testing.assert_array_equal(ours.reset(seed=3)[0], theirs.reset(seed=3)[0])
    assert ours.env_id == "world.py" and theirs.env_id == "catch.py"


@terminal.needed
def test_a_run_has_one_digest_in_python_and_in_the_terminal(tmp_path):
    steps = 10 * SMALL["envs"] * SMALL["rollout_steps"]
    knobs = [word for name, value in SMALL.items() for word in ("--set", f"{name}={value}")]
    file = tmp_path / "run.safetensors"
    theirs = terminal.hothouse(
        "train", "control", "--world", template("snake"), "--seed", 5, "--steps", steps, "--device", "cpu", "--json", "--save", file, *knobs
    )[-1]
    runs = [hothouse.Run("control", world=template("snake"), seed=5, knobs=SMALL, threads=n) for n in (1, 2, 3)]
    assert {run.advance(steps=steps).digest for run in runs} == {theirs["digest"]}
    assert runs[0].about["choices"] == ["turn left", "straight on", "turn right"]
    # The checkpoint contains the file.
    again = hothouse.Run.restore(file)
    assert again.digest == theirs["digest"]
    again.advance(steps=steps)
    assert again.digest == runs[0].advance(steps=steps).digest


DIVIDES = """
class World:
    actions = 2

    def reset(self):
        self.left = 3

    def step(self, action):
        self.left -= 1
        return (1 + action) / self.left, False

    def observe(self):
        return [float(self.left)]
"""


def test_errors_have_their_line():
    with pytest.raises(ValueError, match="line 3"):
        hothouse.make_vec("class World:\n    def reset(self):\n        self.x = 1 +\n")
    with pytest.raises(ValueError, match="line 3"):
        hothouse.Run("control", world="class World:\n    def reset(self):\n        self.x = 1 +\n")
    envs = hothouse.make_vec(DIVIDES, 2)
    envs.reset(seed=1)
    for _ in range(2):
        envs.step(np.zeros(2, np.int64))
    with pytest.raises(RuntimeError, match="step 3 of episode 0, line 10: .*division"):
        envs.step(np.zeros(2, np.int64))
    with pytest.raises(ValueError, match="not a Python file"):
        hothouse.Run("control", world="CartPole-v1")
    with pytest.raises(ValueError, match="Or name a Python file"):
        hothouse.make_vec("Catch")
    with pytest.raises(OSError, match="none.py"):
        hothouse.make_vec("none.py")
