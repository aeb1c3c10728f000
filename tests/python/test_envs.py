"""Environments compared with Gymnasium's: steps, autoreset, spaces, checkers, pictures, and errors."""

import multiprocessing
import os
import subprocess
import sys
import warnings

import gymnasium
import numpy as np
import pytest
import tier
from colours import colours
from gymnasium.vector import AutoresetMode

import hothouse

ALL = hothouse.environments()
#: Environments that Gymnasium has too.
THEIRS = [name for name in ALL if name in gymnasium.registry]


def sample(envs, rng):
    if isinstance(envs.single_action_space, gymnasium.spaces.Discrete):
        return rng.integers(envs.single_action_space.n, size=envs.num_envs)
    space = envs.single_action_space
    return rng.uniform(space.low, space.high, (envs.num_envs, 1)).astype(np.float32)


@pytest.mark.parametrize("name", [name for name in THEIRS if name != "LunarLander-v3"])
def test_single_steps_match_gymnasium(name):
    """From states of many episodes, one step leads to the same result as in Gymnasium."""
    theirs = gymnasium.make(name, disable_env_checker=True).unwrapped
    ours = hothouse.make_vec(name, 64, autoreset_mode="SameStep", copy=True)
    ours.reset(seed=3)
    rng = np.random.default_rng(7)
    theirs.reset(seed=0)
    ends = {"terminated": 0, "continued": 0}
    for _ in range(150 if tier.ALL else 50):
        states = [ours.state(i)[0].astype(np.float64) for i in range(64)]
        actions = sample(ours, rng)
        observations, rewards, terminated, truncated, info = ours.step(actions)
        for i, state in enumerate(states):
            theirs.state = np.array(state)
            if name == "CartPole-v1":
                theirs.steps_beyond_terminated = None
            observed, reward, ended, _, _ = theirs.step(actions[i])
            over = terminated[i] or truncated[i]
            shown = info["final_obs"][i] if over else observations[i]
            np.testing.assert_allclose(shown, observed, rtol=2e-5, atol=2e-5, err_msg=f"{name} {state}")
            assert rewards[i] == pytest.approx(reward, rel=1e-5, abs=1e-5)
            assert bool(terminated[i]) == bool(ended)
            ends["terminated" if ended else "continued"] += 1
    assert ends["continued"] > 1000
    if name == "CartPole-v1":
        assert ends["terminated"] > 100


def test_episodes_end_at_the_same_step_as_in_gymnasium():
    """Equal initial states and actions give equal flags at every step."""
    theirs = gymnasium.make("CartPole-v1")
    ours = hothouse.make_vec("CartPole-v1", 1, copy=True)
    ours.reset(seed=0)
    rng = np.random.default_rng(0)
    for seed in range(20):
        first, _ = theirs.reset(seed=seed)
        ours.set_state(0, first)
        over = False
        while not over:
            action = int(rng.integers(2))
            x, _, ended, cut, _ = theirs.step(action)
            observed, _, terminated, truncated, _ = ours.step(np.array([action]))
            np.testing.assert_allclose(observed[0], x, atol=1e-3)
            assert (bool(terminated[0]), bool(truncated[0])) == (ended, cut)
            over = ended or cut
        ours.step(np.array([0]))


@pytest.mark.parametrize("name", [name for name in THEIRS if name != "LunarLander-v3"])
def test_step_limit_matches_gymnasium(name):
    limit = gymnasium.spec(name).max_episode_steps
    envs = hothouse.make_vec(name, 1)
    envs.reset(seed=1)
    state, _ = envs.state(0)
    idle = np.ones(1, np.int64) if name != "CartPole-v1" and not name.startswith(("Pendulum", "MountainCarC")) else None
    for steps, cut in [(limit - 2, False), (limit - 1, True)]:
        envs.reset(seed=1)
        envs.set_state(0, state, steps)
        action = idle if idle is not None else sample(envs, np.random.default_rng(0))
        _, _, terminated, truncated, _ = envs.step(action)
        assert (bool(terminated[0]), bool(truncated[0])) == (False, cut)


def test_lander_returns_match_gymnasium():
    """The mean return of one pilot matches that in Gymnasium (needs Box2D)."""
    pytest.importorskip("Box2D", reason="Gymnasium's LunarLander needs Box2D")
    from gymnasium.envs.box2d.lunar_lander import heuristic

    theirs = gymnasium.make("LunarLander-v3")
    their_returns = []
    for seed in range(40):
        x, _ = theirs.reset(seed=seed)
        total, over = 0.0, False
        while not over:
            x, reward, ended, cut, _ = theirs.step(heuristic(theirs.unwrapped, x))
            total, over = total + reward, ended or cut
        their_returns.append(total)
    envs = hothouse.make_vec("LunarLander-v3", 256, autoreset_mode="SameStep")
    x, _ = envs.reset(seed=1)
    totals, first = np.zeros(256), np.full(256, np.nan)
    for _ in range(1000):
        # Only the first episode of each environment counts.
        actions = np.array([heuristic(theirs.unwrapped, row) if runs else 0 for row, runs in zip(x, np.isnan(first))])
        x, rewards, terminated, truncated, _ = envs.step(actions)
        totals += np.where(np.isnan(first), rewards, 0)
        first = np.where(np.isnan(first) & (terminated | truncated), totals, first)
        if not np.isnan(first).any():
            break
    spread = np.std(their_returns) / len(their_returns) ** 0.5 + np.std(first) / 16
    assert abs(np.mean(their_returns) - first.mean()) < 4 * spread


@pytest.mark.parametrize("name", THEIRS)
def test_spaces_and_metadata_match_gymnasium(name):
    ours = hothouse.make_vec(name, 3, render_mode="rgb_array")
    if name == "LunarLander-v3":
        pytest.importorskip("Box2D", reason="Gymnasium's LunarLander needs Box2D")
    theirs = gymnasium.make(name)
    assert ours.single_action_space == theirs.action_space
    space = theirs.observation_space
    assert ours.single_observation_space.shape == space.shape and ours.single_observation_space.dtype == space.dtype
    np.testing.assert_allclose(ours.single_observation_space.low, space.low, rtol=1e-6)
    np.testing.assert_allclose(ours.single_observation_space.high, space.high, rtol=1e-6)
    assert ours.metadata["render_fps"] == theirs.metadata["render_fps"]
    assert ours.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP


@pytest.mark.parametrize("name", ALL)
def test_gymnasiums_checker_passes(name):
    from gymnasium.utils.env_checker import check_env

    env = gymnasium.make(f"hothouse/{name}", render_mode="rgb_array")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # These warnings come from Gymnasium's own spaces and metadata.
        warnings.filterwarnings("ignore", message=".*(infinity|render_modes|not within|alternative|symmetric).*")
        check_env(env.unwrapped)


@pytest.mark.parametrize("name", ALL)
def test_observations_stay_within_the_space(name):
    envs = hothouse.make_vec(name, 32, copy=True)
    observations, info = envs.reset(seed=5)
    assert envs.observation_space.contains(observations) and info == {}
    rng = np.random.default_rng(0)
    for _ in range(50):
        observations, rewards, terminated, truncated, _ = envs.step(sample(envs, rng))
        assert observations.dtype == rewards.dtype == np.float32
        assert terminated.dtype == truncated.dtype == np.bool_
        assert observations.shape == envs.observation_space.shape and np.isfinite(observations).all()


def test_gymnasium_make_vec_returns_our_environments():
    envs = gymnasium.make_vec("hothouse/CartPole-v1", num_envs=4)
    assert isinstance(envs, hothouse.VectorEnv) and envs.spec.id == "hothouse/CartPole-v1" and envs.copy
    envs = gymnasium.wrappers.vector.RecordEpisodeStatistics(envs)
    envs.reset(seed=1)
    returns = []
    for _ in range(300):
        *_, info = envs.step(np.ones(4, np.int64))
        if "episode" in info:
            returns.extend(info["episode"]["r"][info["_episode"]])
    # Constant pushes in one direction end an episode after 8 to 10 steps.
    assert returns and 8 <= min(returns) and max(returns) <= 11


@pytest.mark.parametrize(
    "imports, name",
    [
        ("import gymnasium, hothouse", "hothouse/Pendulum-v1"),
        ("import hothouse, gymnasium; hothouse.register()", "hothouse/Pendulum-v1"),
        ("import gymnasium", "hothouse.envs:hothouse/Pendulum-v1"),
    ],
)
def test_gymnasium_finds_registered_names(imports, name):
    code = f"{imports}; print(type(gymnasium.make_vec('{name}', num_envs=2)).__module__)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert out.stdout.strip() == "hothouse.envs", out.stderr


def test_import_is_fast_and_loads_no_numpy():
    code = (
        "import time, sys; began = time.perf_counter(); import hothouse; took = time.perf_counter() - began\n"
        "assert 'numpy' not in sys.modules and 'gymnasium' not in sys.modules, sorted(sys.modules)\n"
        "print(took)"
    )
    out = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True) for _ in range(5)]
    assert min(float(one.stdout) for one in out) < 0.05, out


def episodes(mode, name="CartPole-v1", steps=400, **kwargs):
    """Create 40 environments in an autoreset mode; return them with the observations of the reset."""
    envs = hothouse.make_vec(name, 40, autoreset_mode=mode, copy=True, **kwargs)
    first, _ = envs.reset(seed=9)
    return envs, first


def test_next_step_autoreset():
    envs, shown = episodes(AutoresetMode.NEXT_STEP)
    rng = np.random.default_rng(1)
    over = np.zeros(40, bool)
    began = 0
    for _ in range(400):
        before = [envs.state(i) for i in np.flatnonzero(over)]
        observations, rewards, terminated, truncated, info = envs.step(rng.integers(2, size=40))
        assert info == {}
        # After the end of an episode, a step returns the initial observation of the next one and ignores the action.
        assert (rewards[over] == 0).all() and not (terminated | truncated)[over].any()
        assert (np.abs(observations[over]) <= 0.05).all()
        for i, (state, steps) in zip(np.flatnonzero(over), before):
            assert steps == 0
            np.testing.assert_array_equal(envs.state(i)[0], state)
        assert (rewards[~over] == 1).all()
        # The last observation of an episode is returned unchanged.
        gone = np.abs(observations[:, 2]) > 0.2095
        assert (terminated[gone]).all()
        over = terminated | truncated
        began += over.sum()
    assert began > 400


def test_same_step_autoreset():
    envs, _ = episodes(AutoresetMode.SAME_STEP)
    rng = np.random.default_rng(1)
    ends = 0
    for _ in range(400):
        observations, rewards, terminated, truncated, info = envs.step(rng.integers(2, size=40))
        over = terminated | truncated
        assert (rewards == 1).all()
        assert ("final_obs" in info) == over.any()
        if over.any():
            np.testing.assert_array_equal(info["_final_obs"], over)
            last = info["final_obs"][over]
            assert (np.abs(observations[over]) <= 0.05).all()
            assert ((np.abs(last[:, 2]) > 0.2094) | (np.abs(last[:, 0]) > 2.399)).all()
        ends += over.sum()
    assert ends > 400


def test_disabled_autoreset():
    envs, _ = episodes(AutoresetMode.DISABLED)
    rng = np.random.default_rng(1)
    resets = 0
    for _ in range(200):
        observations, _, terminated, truncated, _ = envs.step(rng.integers(2, size=40))
        over = terminated | truncated
        if over.any():
            with pytest.raises(gymnasium.error.ResetNeeded, match="reset_mask"):
                envs.step(rng.integers(2, size=40))
            fresh, _ = envs.reset(options={"reset_mask": over})
            assert (np.abs(fresh[over]) <= 0.05).all()
            np.testing.assert_array_equal(fresh[~over], observations[~over])
            resets += over.sum()
    assert resets > 100
    # A mask also resets episodes that have not ended.
    mask = np.arange(40) < 20
    before, _ = envs.step(np.ones(40, np.int64))[0], None
    fresh, _ = envs.reset(options={"reset_mask": mask})
    assert (np.abs(fresh[mask]) <= 0.05).all()
    np.testing.assert_array_equal(fresh[~mask], before[~mask])


def test_episodes_are_equal_in_all_autoreset_modes():
    """The first episodes of a seed are equal in all modes."""
    rng = np.random.default_rng(4)
    actions = rng.integers(2, size=(60, 40))

    def first_episodes(mode):
        envs, shown = episodes(mode)
        rows = [[row] for row in shown]
        counts, number = np.zeros(40, int), np.zeros(40, int)
        for _ in range(60):
            given = np.array([actions[counts[i], i] if counts[i] < 60 else 0 for i in range(40)])
            shown, _, terminated, truncated, info = envs.step(given)
            for i in range(40):
                if number[i] > 0 or counts[i] >= 60:
                    continue
                over = terminated[i] or truncated[i]
                rows[i].append(info["final_obs"][i] if over and info else shown[i])
                counts[i] += 1
                number[i] += over
            if mode == "Disabled" and (terminated | truncated).any():
                envs.reset(options={"reset_mask": terminated | truncated})
        return [np.array(row) for row in rows]

    same, next_, disabled = (first_episodes(mode) for mode in ["SameStep", "NextStep", "Disabled"])
    for a, b, c in zip(same, next_, disabled):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(a, c)


@pytest.mark.parametrize("name", ALL)
def test_results_depend_on_the_seed_and_not_on_threads(name):
    def play(seed, threads, count=1200):
        envs = hothouse.make_vec(name, count, threads=threads)
        envs.reset(seed=seed)
        rng = np.random.default_rng(0)
        for _ in range(40):
            observations, *_ = envs.step(sample(envs, rng))
        return observations.copy()

    one = play(1, 1)
    np.testing.assert_array_equal(one, play(1, 4))
    assert not np.array_equal(one, play(2, 1))


def test_a_second_reset_starts_other_episodes():
    envs = hothouse.make_vec("CartPole-v1", 50, copy=True)
    first, _ = envs.reset(seed=1)
    second, _ = envs.reset()
    assert not np.array_equal(first, second)
    again, _ = envs.reset(seed=1)
    np.testing.assert_array_equal(first, again)


def test_arrays_are_reused_unless_copy_is_set():
    envs = hothouse.make_vec("CartPole-v1", 8)
    first, _ = envs.reset(seed=1)
    kept = first.copy()
    second, *_ = envs.step(np.ones(8, np.int64))
    assert second is first and not np.array_equal(kept, first)
    envs = hothouse.make_vec("CartPole-v1", 8, copy=True)
    first, _ = envs.reset(seed=1)
    second, *_ = envs.step(np.ones(8, np.int64))
    np.testing.assert_array_equal(first, kept)
    assert second is not first


@pytest.mark.parametrize("name", ALL)
def test_pictures_depend_on_the_state(name):
    envs = hothouse.make_vec(name, 2, render_mode="rgb_array")
    envs.reset(seed=1)
    rng = np.random.default_rng(0)
    frames = []
    for _ in range(3):
        frames.append(envs.render())
        for _ in range(8):
            envs.step(sample(envs, rng))
    for frame in (frame for pair in frames for frame in pair):
        assert frame.shape == (400, 600, 3) and frame.dtype == np.uint8
        assert colours(frame) > 4
    assert not np.array_equal(frames[0][0], frames[1][0]) and not np.array_equal(frames[0][0], frames[0][1])


def test_the_drawn_pole_follows_the_state():
    envs = hothouse.make_vec("CartPole-v1", 1, render_mode="rgb_array")
    envs.reset(seed=1)
    pole = np.array([214, 122, 62])

    def middle(state):
        envs.set_state(0, state)
        rows, columns = np.nonzero(np.abs(envs.render()[0].astype(int) - pole).sum(2) < 30)
        return columns[rows < 250].mean()

    upright = middle([0, 0, 0, 0])
    assert middle([0, 0, 0.2, 0]) > upright + 5 and middle([0, 0, -0.2, 0]) < upright - 5
    assert middle([1.0, 0, 0, 0]) > upright + 90


INVALID = [
    (lambda: hothouse.make_vec("CartPole-v9"), ValueError, "Choose one of: CartPole-v1"),
    (lambda: hothouse.make_vec(7), TypeError, "Choose one of"),
    (lambda: hothouse.make_vec("CartPole-v1", 0), ValueError, "Choose 1 to"),
    (lambda: hothouse.make_vec("CartPole-v1", 10**9), ValueError, "Choose 1 to"),
    (lambda: hothouse.make_vec("CartPole-v1", -1), ValueError, "num_envs = -1 is out of range. Choose 1 to"),
    (lambda: hothouse.make_vec("CartPole-v1", 1.5), TypeError, "num_envs = 1.5 is not a whole number"),
    (lambda: hothouse.make_vec(LARGE, 2**24), MemoryError, r"num_envs = 16777216 needs \d+ MB, but only .* Choose at most \d+"),
    (lambda: hothouse.make_vec("CartPole-v1", 4, threads=0), ValueError, "Choose 1 to"),
    (lambda: hothouse.make_vec("CartPole-v1", 4, autoreset_mode="Never"), ValueError, "Never"),
    (lambda: hothouse.make_vec("CartPole-v1", 4, render_mode="human"), ValueError, "rgb_array"),
    (lambda: hothouse.make_vec("CartPole-v1", 4).step(np.zeros(4, int)), gymnasium.error.ResetNeeded, "reset"),
    (lambda: started().step(np.zeros(3, int)), ValueError, "Give one action for each"),
    (lambda: started().step(np.zeros((4, 1), int)), ValueError, r"Give \(4,\)"),
    (lambda: started().step(np.zeros(4)), TypeError, "whole numbers"),
    (lambda: started().step(np.array(["a"] * 4)), TypeError, "whole numbers"),
    (lambda: started().step(np.full(4, 2)), ValueError, "0 to 1"),
    (lambda: started().step(np.full(4, -1)), ValueError, "0 to 1"),
    (lambda: started().step(np.full(4, 2**32)), ValueError, "0 to 1"),
    (lambda: started().step(np.full(4, 2**64 - 1, np.uint64)), ValueError, "0 to 1"),
    (lambda: started("Pendulum-v1").step(np.zeros(4, np.float32)), ValueError, r"Give \(4, 1\)"),
    (lambda: started("Pendulum-v1").step(np.full((4, 1), np.nan, np.float32)), ValueError, "finite"),
    (lambda: started("Pendulum-v1").step(np.full((4, 1), np.inf)), ValueError, "finite"),
    (lambda: started().reset(seed=-1), ValueError, "seed"),
    (lambda: started().reset(seed=[1, 2, 3, 4]), TypeError, "single whole number"),
    (lambda: started().reset(options={"reset_mask": [True] * 4}), TypeError, "reset_mask"),
    (lambda: started().reset(options={"reset_mask": np.zeros(4, bool)}), ValueError, "reset_mask"),
    (lambda: started().state(4), IndexError, "0 to 3"),
    (lambda: started().set_state(0, [9, 0, 0, 0]), ValueError, "bounds"),
    (lambda: started().set_state(0, [0, 0]), ValueError, "bounds"),
]


#: An environment with a large state.
LARGE = """
class World:
    actions = 2

    def reset(self):
        self.cells = [0.0] * 4096

    def step(self, action):
        return float(action), False

    def observe(self):
        return [self.cells[0]]
"""


def unaligned(values):
    """Copy of an array whose first byte is not at a multiple of the element's size."""
    room = np.zeros(values.nbytes + 1, np.uint8)
    copy = room[1:].view(values.dtype)[:values.size].reshape(values.shape)
    copy[...] = values
    assert not copy.flags.aligned
    return copy


class Subclass(np.ndarray):
    pass


def test_arrays_in_any_layout_give_the_same_steps():
    """Environments and policies convert arrays that the native module does not accept."""
    steps = {"Choices": ("CartPole-v1", np.array([0, 1, 1, 0])), "Numbers": ("Pendulum-v1", np.array([[0.5], [-1.0], [0.25], [2.0]], np.float32))}
    for name, actions in steps.values():
        expected = started(name).step(actions)[0].copy()
        frozen = actions.copy()
        frozen.flags.writeable = False
        swapped = actions.astype(actions.dtype.newbyteorder())
        layouts = [unaligned(actions), swapped, unaligned(swapped), np.repeat(actions, 2, axis=0)[::2], frozen, actions.view(Subclass), actions.tolist()]
        for given in layouts:
            np.testing.assert_array_equal(started(name).step(given)[0], expected)
    policy = hothouse.Run("control", knobs={"envs": 64}).policy()
    observations = np.random.default_rng(1).normal(size=(8, 4)).astype(np.float32)
    expected = policy(observations)
    for given in [unaligned(observations), observations.astype(">f4"), np.asfortranarray(observations), observations.view(Subclass)]:
        np.testing.assert_array_equal(policy(given), expected)


def test_the_native_module_names_the_fault_of_an_array():
    native = started()._native
    good = np.zeros(4, np.int64)
    frozen = np.zeros(4, np.int64)
    frozen.flags.writeable = False
    for accepted in [good, frozen, good.view(Subclass)]:
        native.step(accepted)
    call = r'\. Use numpy\.require\(actions, numpy\.int64, "CA"\)'
    for given, fault in [
        (unaligned(good), "actions is not aligned in memory"),
        (good.astype(">i8"), r"actions is in another byte order \(>i8\)"),
        (np.zeros(8, np.int64)[::2], r"actions is not contiguous: its strides are \[16\] bytes"),
        (good[::-1], r"actions is not contiguous: its strides are \[-8\] bytes"),
        (good.astype(np.int32), "actions is of type int32, not int64"),
        (good.astype(float), "actions is of type float64, not int64"),
        (np.zeros(4, "M8[s]"), "actions is of type datetime64"),
        ([0, 0, 0, 0], "actions must be a NumPy array of int64, not list"),
    ]:
        with pytest.raises(TypeError, match=f"^{fault}{call}$" if "datetime" not in fault else fault):
            native.step(given)
    for given in [np.array(1), np.zeros((4, 1), np.int64)]:
        with pytest.raises(TypeError, match=f"actions must have 1 dimensions, not {given.ndim}. Change its shape"):
            native.step(given)
    with pytest.raises(ValueError, match="0 actions do not match 4 environments"):
        native.step(np.zeros(0, np.int64))
    policy = hothouse.Run("control", knobs={"envs": 64}).policy()._native
    rows = np.zeros((3, 4), np.float32)
    for given, fault in [(np.asfortranarray(rows), "not contiguous"), (unaligned(rows), "not aligned"), (rows.astype(">f4"), "in another byte order")]:
        with pytest.raises(TypeError, match=f'observations is {fault}.* Use numpy.require\\(observations, numpy.float32, "CA"\\)'):
            policy.act(given)


def started(name="CartPole-v1"):
    envs = hothouse.make_vec(name, 4)
    envs.reset(seed=1)
    return envs


@pytest.mark.parametrize("call, error, message", INVALID)
def test_invalid_arguments_raise(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_an_invalid_step_changes_nothing():
    envs = started()
    before = envs.step(np.zeros(4, int))[0].copy()
    states = [envs.state(i)[0] for i in range(4)]
    with pytest.raises(ValueError):
        envs.step(np.array([0, 0, 0, 5]))
    np.testing.assert_array_equal([envs.state(i)[0] for i in range(4)], states)
    np.testing.assert_array_equal(envs.step(np.zeros(4, int))[0].shape, before.shape)


def test_a_second_close_is_allowed_and_later_steps_raise():
    envs = started()
    envs.close()
    envs.close()
    with pytest.raises(gymnasium.error.ClosedEnvironmentError, match="closed"):
        envs.step(np.zeros(4, int))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_environments_raise_in_a_forked_process():
    envs = hothouse.make_vec("CartPole-v1", 4096, threads=2)
    envs.reset(seed=1)
    envs.step(np.zeros(4096, int))
    here, there = multiprocessing.Pipe()

    def child(end):
        try:
            envs.step(np.zeros(4096, int))
            end.send("stepped")
        except hothouse.ForkError as error:
            # Environments created in the child process work.
            other = hothouse.make_vec("CartPole-v1", 4096, threads=2)
            other.reset(seed=1)
            other.step(np.zeros(4096, int))
            end.send(str(error))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        process = multiprocessing.get_context("fork").Process(target=child, args=(there,))
        process.start()
    assert here.poll(60) and "spawn" in here.recv()
    process.join(60)
    assert process.exitcode == 0
    envs.step(np.zeros(4096, int))
