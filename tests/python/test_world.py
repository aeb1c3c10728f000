"""Files of the language for environments, run in plain Python: random numbers, spaces, templates, pictures, and errors."""

import math
import pathlib
import re
import warnings

import gymnasium
import numpy as np
import pytest
from colours import colours
from gymnasium.utils.env_checker import check_env

import hothouse
from hothouse._picture import PALETTE
from hothouse._random import Random, threefry

TEMPLATES = pathlib.Path(__file__).parents[2] / "crates/worlds/src/control/script/templates"
ALL = sorted(path.stem for path in TEMPLATES.glob("*.py"))

COUNTER = """
'''Counts.'''
from math import sqrt, pi

width, height = 4, 2

class World:
    actions = Box(2, -1.0, 1.0)
    limit = 3

    def reset(self):
        self.count = 0
        self.drawn = [uniform(-1.0, 1.0) for i in range(6)]
        self.given = [0.0, 0.0]

    def step(self, action):
        self.count += 1
        self.given = action[:]
        self.drawn[0] = uniform(0.0, 1.0)
        return sqrt(4.0), False

    def observe(self):
        return self.drawn + self.given
"""


def load(name, **kwargs):
    return hothouse.world.load(TEMPLATES / f"{name}.py", **kwargs)


def changed(old, new):
    """The file `COUNTER` with one text replaced."""
    assert COUNTER.count(old) == 1
    return COUNTER.replace(old, new)


def test_random_words_match_known_answers():
    """Counter, key and answer as in Random123 1.14 (`tests/kat_vectors`), for 13 rounds."""
    most = 0xFFFFFFFF
    assert threefry([0] * 4, [0] * 4) == [0x531C7E4F, 0x39491EE5, 0x2C855A92, 0x3D6ABF9A]
    assert threefry([most] * 4, [most] * 4) == [0xC4189358, 0x1C9CC83A, 0xD5881C67, 0x6A0A89E0]
    key = [0xA4093822, 0x299F31D0, 0x082EFA98, 0xEC4E6C89]
    counter = [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344]
    assert threefry(key, counter) == [0x4AA71D8F, 0x734738C2, 0x431FC6A8, 0xAE6DEBF1]


def words(seed, env, episode, step, count):
    """Random words that a call of a method draws."""
    key = [seed, 0x53435250, 0, 0]
    return [threefry(key, [env, episode, step, k // 4])[k % 4] for k in range(count)]


def test_numbers_depend_on_seed_environment_episode_and_step():
    env = hothouse.world.load(COUNTER)

    def uniforms(*place):
        return np.array([np.float32(-1) + np.float32(2) * np.float32((word >> 8) / 2**24) for word in words(*place, 6)])

    shown, _ = env.reset(seed=7)
    np.testing.assert_array_equal(shown[:6], uniforms(7, 0, 0, 0))
    for step in (1, 2):
        shown, *_ = env.step([0, 0])
        assert shown[0] == np.float32((words(7, 0, 0, step, 1)[0] >> 8) / 2**24)
    shown, _ = env.reset()
    np.testing.assert_array_equal(shown[:6], uniforms(7, 0, 1, 0))
    shown, _ = env.reset(seed=9, options={"env": 3, "episode": 2})
    np.testing.assert_array_equal(shown[:6], uniforms(9, 3, 2, 0))
    shown, _ = env.reset()
    np.testing.assert_array_equal(shown[:6], uniforms(9, 3, 3, 0))


def test_random_numbers_have_their_distributions():
    random = Random()
    random.begin(1, 0, 0, 0)
    normals = np.array([random.normal(3.0, 2.0) for _ in range(4000)])
    assert abs(normals.mean() - 3.0) < 0.1 and abs(normals.std() - 2.0) < 0.1
    random.begin(1, 0, 0, 0)
    first, second = ((word >> 8) / 2**24 for word in words(1, 0, 0, 0, 2))
    exact = 3.0 + 2.0 * math.sqrt(-2.0 * math.log(1.0 - first)) * math.cos(math.tau * second)
    assert random.normal(3.0, 2.0) == pytest.approx(exact, rel=1e-5)
    integers = np.array([random.randint(-2, 3) for _ in range(4000)])
    counts = np.bincount(integers + 2)
    assert len(counts) == 5 and counts.min() > 700
    with pytest.raises(ValueError, match="larger"):
        random.randint(3, 3)


def test_spaces_limit_and_actions():
    env = hothouse.world.load(COUNTER)
    assert env.action_space == gymnasium.spaces.Box(-1, 1, (2,), np.float32)
    assert env.observation_space == gymnasium.spaces.Box(-np.inf, np.inf, (8,), np.float32)
    assert (env.limit, env.size, env.solved, env.doc) == (3, (4, 2), None, "Counts.")
    env.reset(seed=1)
    shown, reward, terminated, truncated, _ = env.step(np.array([0.5, 3.0], np.float32))
    np.testing.assert_array_equal(shown[6:], [0.5, 1.0])
    assert (reward, terminated, truncated, env.world.count) == (2.0, False, False, 1)
    assert env.step([0, 0])[3] is False
    assert env.step([0, 0])[2:4] == (False, True)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step([0, 0])
    env.reset()
    assert env.world.count == 0


def test_debuggers_find_the_lines_of_a_text():
    with pytest.raises(ZeroDivisionError) as caught:
        hothouse.world.load(changed("self.count = 0", "self.count = 1 // 0"))
    assert "self.count = 1 // 0" in str(caught.traceback[-1].statement)


def test_all_templates_are_there():
    names = "breakout cartpole catch double_pendulum flappy maze mountain_car pong predator racer rocket snake taxi"
    assert ALL == names.split()


@pytest.mark.parametrize("name", ALL)
def test_templates_pass_gymnasiums_checker(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_env(load(name, render_mode="rgb_array"), skip_render_check=False)


@pytest.mark.parametrize("name", ALL)
def test_templates_describe_themselves(name):
    text = (TEMPLATES / f"{name}.py").read_text(encoding="utf-8")
    assert 20 <= len(text.splitlines()) <= 80 and max(map(len, text.splitlines())) <= 140
    env = load(name)
    first = env.doc.split("\n")[0]
    assert first.count(". First, change `") == 1 and first.endswith(".")
    assert first.split("`")[1] in text.split('"""')[2]
    assert env.solved is not None and env.keys
    for action in env.keys.values():
        assert env.action_space.contains(np.array(action, env.action_space.dtype).reshape(env.action_space.shape)[()])
    if isinstance(env.action_space, gymnasium.spaces.Discrete):
        assert len(env.names) == env.action_space.n


def masked_action(env, rng):
    if hasattr(env, "action_masks"):
        return rng.choice(np.flatnonzero(env.action_masks()))
    space = env.action_space
    return rng.integers(space.n) if isinstance(space, gymnasium.spaces.Discrete) else rng.uniform(space.low, space.high)


def episodes(name, seed, steps):
    """Observations, rewards and flags of random actions, and the first and the last picture."""
    env = load(name, render_mode="rgb_array")
    rng = np.random.default_rng(5)
    rows = [env.reset(seed=seed)[0]]
    pictures = [env.render()]
    for _ in range(steps):
        shown, reward, terminated, truncated, _ = env.step(masked_action(env, rng))
        rows.append([*shown, reward, terminated, truncated])
        if terminated or truncated:
            rows.append(env.reset()[0])
    return np.concatenate(rows), [*pictures, env.render()]


@pytest.mark.parametrize("name", ALL)
def test_templates_are_repeatable_and_have_pictures(name):
    one, pictures = episodes(name, 1, 100)
    again, _ = episodes(name, 1, 100)
    np.testing.assert_array_equal(one, again)
    other, _ = episodes(name, 2, 100)
    assert not np.array_equal(one, other)
    # Observations and rewards are about as large as 1.
    assert np.abs(one).max() <= 20 and np.mean(np.abs(one) <= 1.0) > 0.8
    for picture in pictures:
        assert picture.dtype == np.uint8 and picture.shape[0] <= 400 and picture.shape[1] <= 600
        assert colours(picture) > 3
    assert not np.array_equal(*pictures)


@pytest.mark.parametrize("name, gym_name", [("cartpole", "CartPole-v1"), ("mountain_car", "MountainCar-v0")])
def test_templates_match_gymnasium(name, gym_name):
    """One step leads to the same result as in Gymnasium. After each step, the states are equal."""
    names = {"cartpole": ["x", "speed", "angle", "spin"], "mountain_car": ["position", "velocity"]}[name]
    ours, theirs = load(name), gymnasium.make(gym_name, disable_env_checker=True).unwrapped
    assert ours.action_space.n == theirs.action_space.n
    assert (ours.limit, ours.solved) == (gymnasium.spec(gym_name).max_episode_steps, gymnasium.spec(gym_name).reward_threshold)
    rng = np.random.default_rng(1)
    ends = steps = 0
    for episode in range(40):
        ours.reset(seed=episode)
        theirs.reset(seed=episode)
        # Some episodes of the car begin near the flag.
        if name == "mountain_car" and episode % 2:
            theirs.state = np.array([rng.uniform(0.3, 0.5), rng.uniform(0.0, 0.06)])
        over = False
        while not over:
            for attribute, value in zip(names, theirs.state):
                setattr(ours.world, attribute, float(value))
            action = int(rng.integers(ours.action_space.n))
            shown, reward, terminated, truncated, _ = ours.step(action)
            observed, their_reward, their_end, _, _ = theirs.step(action)
            np.testing.assert_allclose([getattr(ours.world, attribute) for attribute in names], theirs.state, rtol=0, atol=1e-14)
            np.testing.assert_allclose(shown, observed, rtol=0, atol=1e-6)
            assert (reward, terminated) == (their_reward, their_end)
            steps += 1
            ends += terminated
            over = terminated or truncated
    assert ends >= 10 and steps > 600


def test_the_taxi_masks_impossible_actions():
    env = load("taxi")
    env.reset(seed=1)
    env.world.x, env.world.y, env.world.passenger, env.world.goal = 0, 0, 0, 3
    assert env.action_masks().tolist() == [True, False, True, False, True, False]
    assert env.step(4)[1] == -1.0 and env.world.passenger == 4
    env.world.x, env.world.y = 3, 4
    assert env.action_masks().tolist() == [False, True, True, False, False, True]
    assert env.step(5)[1:3] == (20.0, True)
    assert not hasattr(load("snake"), "action_masks")


def test_a_snake_keeps_its_length():
    env = load("snake")
    env.reset(seed=1)
    world = env.world

    def cells():
        return sum(world.blocked(x, y) for x in range(10) for y in range(10))

    world.apple_x, world.apple_y = 6, 5
    assert cells() == 3
    assert env.step(1)[1] == 1.0 and cells() == 4
    world.apple_x, world.apple_y = 0, 0
    for _ in range(3):
        env.step(1)
        assert cells() == 4
    # The next cell is a wall.
    assert env.step(1)[1:3] == (-1.0, True)


SHAPES = changed(
    "    def observe",
    """    def draw(self):
        rect(0, 0, 1, 1, "red")
        circle(3.5, 0.5, 0.4, "blue")
        line(0, 1.5, 4, 1.5, "green")
        polygon([2.0, 0.0, 3.0, 1.0, 2.0, 1.0], "yellow")
        text(3.5, 1.75, 10, "black")

    def observe""",
)


def test_pictures_have_each_shape_in_its_place():
    env = hothouse.world.load(SHAPES, render_mode="rgb_array")
    env.reset(seed=1)
    picture = env.render()
    assert picture.shape == (300, 600, 3)
    paper, red, blue = [250, 250, 247], [200, 70, 60], [64, 118, 164]
    assert picture[75, 75].tolist() == red and picture[149, 149].tolist() == red and picture[149, 151].tolist() == paper
    assert picture[75, 525].tolist() == blue and picture[10, 455].tolist() == paper
    assert picture[225, 300].tolist() == [74, 140, 90]
    assert picture[130, 310].tolist() == [242, 190, 84] and picture[20, 440].tolist() == paper
    dark = (picture == [46, 52, 60]).all(2)
    rows, columns = np.nonzero(dark)
    assert dark.sum() > 50 and abs(rows.mean() - 262) < 5 and abs(columns.mean() - 525) < 8


def drawing(shape):
    env = hothouse.world.load(SHAPES.replace('rect(0, 0, 1, 1, "red")', shape), render_mode="rgb_array")
    env.reset(seed=1)
    return env.render()


INVALID = [
    (lambda: hothouse.world.load("none.py"), FileNotFoundError, "none.py"),
    (lambda: hothouse.world.load("x = 1\n"), ValueError, "0 classes"),
    (lambda: hothouse.world.load(COUNTER + "\nclass Other:\n    pass\n"), ValueError, "2 classes"),
    (lambda: hothouse.world.load(COUNTER, render_mode="human"), ValueError, "rgb_array"),
    (lambda: hothouse.world.load(changed("observe", "look")), ValueError, "no method `observe`"),
    (lambda: hothouse.world.load(changed("Box(2, -1.0, 1.0)", "0")), ValueError, "actions = 0"),
    (lambda: hothouse.world.load(changed("    actions = Box(2, -1.0, 1.0)\n", "")), ValueError, "no attribute `actions`"),
    (lambda: hothouse.world.load(changed("limit = 3", "limit = 0")), ValueError, "limit = 0"),
    (lambda: hothouse.world.load(changed("limit = 3", "max_episode_steps = 3")), ValueError, "Write `limit = 500`"),
    (lambda: hothouse.world.load(changed("limit = 3", "metadata = {'render_modes': []}")), ValueError, "Delete the line"),
    (lambda: hothouse.world.load(changed("self.count = 0", "self.count = 0\n        return 3")), TypeError, "reset returned 3"),
    (lambda: hothouse.world.load(changed("return self.drawn", "return uniform(0, 1) + self.drawn")), RuntimeError, "in observe"),
    (lambda: hothouse.world.load(changed("self.count = 0", "rect(0, 0, 1, 1, 'red')")), RuntimeError, "method `draw` only"),
    (lambda: hothouse.world.load(changed("width, height = 4, 2", "width = randint(0, 9)")), RuntimeError, "top level"),
    (lambda: hothouse.world.load(changed("return self.drawn + self.given", "return 1.0")), TypeError, "Return a list"),
    (lambda: hothouse.world.load(COUNTER).step([0, 0]), gymnasium.error.ResetNeeded, "reset"),
    (lambda: started().step([0, 0, 0]), ValueError, "2 finite numbers"),
    (lambda: started().step([0, math.nan]), ValueError, "2 finite numbers"),
    (lambda: started(changed("sqrt(4.0), False", "1.0")).step([0, 0]), TypeError, "Return the reward"),
    (lambda: started(changed("sqrt(4.0)", "1e999")).step([0, 0]), ValueError, "reward of step 1"),
    (lambda: started(changed("self.drawn[0] = uniform(0.0, 1.0)", "self.drawn = [1.0]")).step([0, 0]), ValueError, "one length"),
    (lambda: started(changed("self.drawn[0] = uniform(0.0, 1.0)", "self.drawn[0] = 1e999")).step([0, 0]), ValueError, "finite"),
    (lambda: started().reset(seed=-1), ValueError, "seed"),
    (lambda: started().reset(options={"env": -1}), ValueError, "env"),
    (lambda: drawing("rect(0, 0, 1, 1, 'puce')"), ValueError, "Choose one of: black"),
    (lambda: drawing("circle(1e999, 0, 1, 'red')"), ValueError, "not finite"),
    (lambda: drawing("polygon([1, 2, 3, 4], 'red')"), ValueError, "three corners"),
]


def started(text=COUNTER):
    env = hothouse.world.load(text)
    env.reset(seed=1)
    return env


@pytest.mark.parametrize("call, error, message", INVALID)
def test_invalid_files_and_arguments_raise(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_discrete_actions_are_checked():
    env = load("catch")
    env.reset(seed=1)
    with pytest.raises(ValueError, match="0 to 2"):
        env.step(3)
    with pytest.raises(TypeError, match="whole number"):
        env.step(0.5)
    assert env.step(np.int64(2))[1] == 0.0


def test_examples_of_the_document_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    document = (TEMPLATES.parents[5] / "docs/worlds.md").read_text(encoding="utf-8")
    world, compiled, plain = re.findall(r"```python\n(.*?)```", document, re.S)
    pathlib.Path("catch.py").write_text(world, encoding="utf-8")
    names = {}
    exec(compile(compiled, "docs/worlds.md", "exec"), names)
    assert names["picture"].shape == (400, 333, 3) and names["observations"].shape == (4096, 3)
    assert names["run"].progress["env_steps"] >= 20_000
    exec(compile(plain, "docs/worlds.md", "exec"), names)
    assert names["picture"].shape == (400, 333, 3) and names["observation"].shape == (3,)


def test_the_document_names_every_function_colour_and_template():
    document = (TEMPLATES.parents[5] / "docs/worlds.md").read_text(encoding="utf-8")
    words = set(re.findall(r"\w+", document))
    assert set(hothouse.world._BUILT_IN) <= words and set(PALETTE) <= words and set(ALL) <= words
