"""Replays as GIF files: frames, times, pictures, and errors."""

import pathlib
import sys

import numpy as np
import pytest

import hothouse

Image = pytest.importorskip("PIL.Image")

SMALL = {"envs": 64, "rollout_steps": 32, "hidden": 16, "minibatches": 2}
TEMPLATES = pathlib.Path(__file__).parents[2] / "crates/worlds/src/control/script/templates"


@pytest.fixture(scope="module")
def pole():
    """A run that has not trained. Its episodes have about nine steps, so that few pictures are drawn."""
    return hothouse.Run("control", variant="CartPole-v1", knobs=SMALL)


def frames(path):
    """Pictures and durations in milliseconds of a GIF file, and the number of its repetitions (0 for no end)."""
    with Image.open(path) as file:
        pictures, durations = [], []
        for k in range(file.n_frames):
            file.seek(k)
            pictures.append(np.asarray(file.convert("RGB")))
            durations.append(file.info["duration"])
        return pictures, durations, file.info["loop"]


def played(run, seed, steps=1000):
    """Plays an episode with the environments and the policy directly. Returns the sum of the rewards and the number of steps."""
    envs = hothouse.make_vec(run.variant, num_envs=1)
    observations, _ = envs.reset(seed=seed)
    total = 0.0
    for step in range(1, steps + 1):
        observations, rewards, terminated, truncated, _ = envs.step(run.policy()(observations))
        total += float(rewards[0])
        if terminated[0] or truncated[0]:
            break
    return total, step


def test_a_replay_has_a_frame_per_step_at_the_speed_of_the_environment(pole, tmp_path):
    path = tmp_path / "run.gif"
    returns = hothouse.replay(pole, path, seed=3)
    total, steps = played(pole, 3)
    assert returns == [total]
    pictures, durations, loop = frames(path)
    assert len(pictures) == steps + 1
    assert durations == [20] * len(pictures) and loop == 0
    assert {picture.shape for picture in pictures} == {(400, 600, 3)}
    assert all((one != other).any() for one, other in zip(pictures, pictures[1:]))


def test_a_frame_is_the_picture_of_the_environment(pole, tmp_path):
    hothouse.replay(pole, tmp_path / "run.gif", seed=5)
    env = hothouse.make("CartPole-v1", render_mode="rgb_array")
    env.reset(seed=5)
    far = np.abs(frames(tmp_path / "run.gif")[0][0].astype(int) - env.render())
    assert far.max() <= 16 and far.mean() < 2  # a GIF has at most 256 colours


def test_episodes_follow_each_other_and_equal_seeds_give_equal_files(pole, tmp_path):
    one, other, single = (tmp_path / f"{name}.gif" for name in ["one", "other", "single"])
    returns = hothouse.replay(pole, one, episodes=3, seed=7, fps=25)
    assert hothouse.replay(pole.save(), other, episodes=3, seed=7, fps=25) == returns
    assert one.read_bytes() == other.read_bytes()
    assert hothouse.replay(pole, single, seed=7, fps=25) == returns[:1]
    assert len(returns) == 3 and len(set(returns)) > 1
    pictures, durations, _ = frames(one)
    assert len(pictures) == sum(map(int, returns)) + 3  # CartPole's return is the number of steps
    assert durations == [40] * len(pictures)


def test_durations_add_up_to_the_time_for_any_rate(pole, tmp_path):
    hothouse.replay(pole, tmp_path / "run.gif", fps=30)
    _, durations, _ = frames(tmp_path / "run.gif")
    assert set(durations) == {30, 40}
    assert sum(durations) == pytest.approx(1000 * len(durations) / 30, abs=10)


@pytest.mark.parametrize("variant", ["Pendulum-v1", "MountainCarContinuous-v0", "Acrobot-v1"])
def test_environments_with_continuous_and_with_discrete_actions_are_replayed(variant, tmp_path, monkeypatch):
    monkeypatch.setattr("hothouse._replay._LONGEST", 8)
    run = hothouse.Run("control", variant=variant, knobs=SMALL)
    [total] = hothouse.replay(run, tmp_path / "run.gif", seed=2)
    expected, steps = played(run, 2, 8)
    assert total == pytest.approx(expected)
    pictures, durations, _ = frames(tmp_path / "run.gif")
    assert 1 < len(pictures) <= steps + 1  # Pillow joins equal pictures
    assert sum(durations) == pytest.approx(1000 * (steps + 1) * max(run.about["step_s"], 0.02), abs=10)


@pytest.mark.parametrize("name", ["taxi", "snake", "pong"])
def test_an_environment_from_a_file_is_replayed_from_its_checkpoint(name, tmp_path, monkeypatch):
    monkeypatch.setattr("hothouse._replay._LONGEST", 8)
    file = TEMPLATES / f"{name}.py"
    run = hothouse.Run("control", world=file, knobs=SMALL)
    assert run.world == file.read_text()
    checkpoint = tmp_path / "run.safetensors"
    run.save(checkpoint)
    assert len(hothouse.replay(checkpoint, tmp_path / "run.gif")) == 1
    pictures, durations, _ = frames(tmp_path / "run.gif")
    env = hothouse.make(file, render_mode="rgb_array")
    env.reset(seed=1)
    assert pictures[0].shape == env.render().shape
    assert len(pictures) > 1 and sum(durations) >= 10 * len(pictures)


def test_runs_without_a_file_have_no_world(pole):
    assert pole.world is None
    assert hothouse.Run("cube").world is None


def test_a_long_episode_is_shown_up_to_a_limit(tmp_path, monkeypatch):
    monkeypatch.setattr("hothouse._replay._LONGEST", 8)
    run = hothouse.Run("control", variant="Pendulum-v1", knobs=SMALL)
    returns = hothouse.replay(run, tmp_path / "run.gif", episodes=2, seed=4)
    assert returns[0] == pytest.approx(played(run, 4, 8)[0])
    assert len(frames(tmp_path / "run.gif")[0]) == 2 * 9


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"path": "run.mp4"}, ValueError, "ends with .gif"),
        ({"path": "run"}, ValueError, "ends with .gif"),
        ({"episodes": 0}, ValueError, "episodes = 0 is out of range. Choose 1 to 10000"),
        ({"episodes": 10**9}, ValueError, "Choose 1 to 10000"),
        ({"episodes": 1.5}, TypeError, "integer"),
        ({"fps": 0}, ValueError, "at most 50"),
        ({"fps": 51}, ValueError, "at most 50"),
        ({"fps": float("nan")}, ValueError, "at most 50"),
        ({"seed": -1}, ValueError, "seed"),
        ({"path": "absent/run.gif"}, FileNotFoundError, "absent"),
    ],
)
def test_bad_arguments_give_an_error_and_no_file(pole, tmp_path, arguments, error, words):
    given = {"path": "run.gif", **arguments}
    with pytest.raises(error, match=words):
        hothouse.replay(pole, tmp_path / given.pop("path"), **given)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("room", ["backgammon", "cube", "logic", "words"])
def test_a_run_of_another_room_names_the_room_and_the_alternative(room, tmp_path):
    with pytest.raises(ValueError, match=rf"this run is of {room}\. Load the run on the page and record a video"):
        hothouse.replay(hothouse.Run(room), tmp_path / "run.gif")


def test_a_damaged_checkpoint_is_an_error(tmp_path):
    with pytest.raises(hothouse.CheckpointError):
        hothouse.replay(b"no checkpoint", tmp_path / "run.gif")


def test_without_pillow_the_error_names_the_command(pole, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ImportError, match=r"pip install pillow"):
        hothouse.replay(pole, tmp_path / "run.gif")
