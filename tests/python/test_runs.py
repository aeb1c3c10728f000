"""Runs: digests and checkpoints shared with the terminal, columns, policies, Ctrl-C, and errors."""

import json
import os
import pathlib
import signal
import stat
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import hothouse
from hothouse import _native

SMALL = {"envs": 64, "rollout_steps": 32, "hidden": 16, "minibatches": 2}
HOTHOUSE = os.environ.get("HOTHOUSE", "")
terminal = pytest.mark.skipif(not HOTHOUSE, reason="HOTHOUSE is not set to the program; npm test -- --only python sets it")


def train(*args, set=SMALL):
    """Run the program; return its last JSON line."""
    knobs = [word for name, value in set.items() for word in ("--set", f"{name}={value}")]
    out = subprocess.run([HOTHOUSE, *map(str, args), "--json", "--device", "cpu", *knobs], capture_output=True, text=True)
    assert out.returncode == 0, out.stderr
    return [json.loads(line) for line in out.stdout.splitlines() if line.startswith("{")][-1]


@terminal
@pytest.mark.parametrize("variant", ["CartPole-v1", "Pendulum-v1"])
def test_digest_equals_that_of_the_program(variant):
    steps = 20 * SMALL["envs"] * SMALL["rollout_steps"]
    theirs = train("train", "control", "--variant", variant, "--seed", 7, "--steps", steps)
    digests = set()
    for threads in [1, 2]:
        run = hothouse.Run("control", variant=variant, seed=7, knobs=SMALL, threads=threads).advance(steps=steps)
        assert run.progress["iteration"] == 20
        digests.add(run.digest)
    assert digests == {theirs["digest"]}


@terminal
def test_checkpoints_are_shared_with_the_program(tmp_path):
    steps = SMALL["envs"] * SMALL["rollout_steps"]
    file = tmp_path / "run.safetensors"
    train("train", "control", "--seed", 3, "--steps", 5 * steps, "--save", file)
    run = hothouse.Run.restore(file)
    assert run.progress["iteration"] == 5 and run.seed == 3 and run.metrics().rows == 5
    run.advance(steps=4 * steps)
    here = tmp_path / "python.safetensors"
    run.save(here)
    theirs = train("resume", here, "--steps", 14 * steps, set={})
    run.advance(steps=5 * steps)
    assert theirs["digest"] == run.digest
    whole = hothouse.Run("control", seed=3, knobs=SMALL).advance(steps=14 * steps)
    assert whole.digest == run.digest


#: Knobs of the rooms whose iterations are long by default.
SHORT = {
    "backgammon": {"hidden": 16, "games": 24, "batch": 128},
    "words": {"width": 32, "layers": 1, "heads": 2, "context": 32, "batch": 4, "micro": 2, "steps": 2},
}


@pytest.mark.parametrize("room", list(hothouse.rooms()))
def test_every_room_trains_saves_and_restores(room):
    run = hothouse.Run(room, seed=2, knobs=SHORT.get(room)).advance(seconds=0.2)
    while run.progress["iteration"] == 0:
        run.advance(seconds=0.2)
    run.advance(steps=1)  # a limit of seconds may have left a long iteration before its end
    again = hothouse.Run.restore(run.save())
    assert again.digest == run.digest and again.room == room
    metrics, counter = run.metrics(), hothouse.rooms()[room]["counters"][0]["name"]
    assert metrics.rows == run.progress["iteration"] == metrics["iteration"][-1]
    assert metrics[counter][-1] == run.progress[counter] > 0
    np.testing.assert_array_equal(again.metrics()["train_s"], metrics["train_s"])
    standing = run.standing
    assert standing["progress"].keys() == run.progress.keys()
    headline = f": {standing['words']}; {standing['name']}: {standing['number']};"
    assert headline in repr(run) and "digest" in repr(run) and room in run._repr_html_()
    assert " train " in run.command and room in run.link


def test_advance_counts_steps_from_the_present_progress():
    steps = SMALL["envs"] * SMALL["rollout_steps"]
    run = hothouse.Run("control", knobs=SMALL)
    assert run.advance(steps=0).progress["iteration"] == 0
    assert run.advance(steps=1).progress["iteration"] == 1
    assert run.advance(steps=2 * steps).progress["iteration"] == 3
    assert run.advance(seconds=0).progress["iteration"] == 3


def test_columns():
    run = hothouse.Run("control", knobs=SMALL).advance(steps=10_000)
    metrics = run.metrics()
    assert {"iteration", "env_steps", "train_s", "mean_return", "entropy", "share_gradient"} <= set(metrics)
    assert all(column.dtype == np.float64 and len(column) == metrics.rows for column in metrics.values())
    frame = pytest.importorskip("pandas") and metrics.pandas()
    assert list(frame.columns) == list(metrics) and len(frame) == metrics.rows
    table = pytest.importorskip("pyarrow") and metrics.arrow()
    assert table.num_rows == metrics.rows
    with pytest.raises(KeyError, match="mean_return"):
        metrics["mean"]


def test_tests_and_the_curve():
    run = hothouse.Run("control", seed=1, knobs=SMALL).advance(steps=60_000)
    tests = run.tests()
    assert tests.rows > 1 and (tests["mean_return"] >= 8).all()
    assert run.test()["mean_return"] >= 8
    assert "<svg" in run._repr_html_() and "mean_return" in run._repr_html_()
    pytest.importorskip("matplotlib")
    assert len(run.plot("entropy").lines) == 1


def test_progress_is_shown(capsys):
    pytest.importorskip("tqdm")
    hothouse.Run("control", knobs=SMALL).advance(steps=20_000, progress=True)
    assert "env_steps" in capsys.readouterr().err


def test_a_policy_is_a_snapshot_of_the_run():
    run = hothouse.Run("control", seed=1).advance(steps=400_000)
    policy = run.policy()
    envs = hothouse.make_vec("CartPole-v1", 100, autoreset_mode="SameStep")
    observations, _ = envs.reset(seed=5)
    odds, values = policy.predict(observations)
    assert odds.shape == (100, 2) and values.shape == (100,)
    np.testing.assert_allclose(odds.sum(1), 1, rtol=1e-5)
    np.testing.assert_array_equal(policy(observations), odds.argmax(1))
    lengths, alive = np.zeros(100), np.ones(100, bool)
    for _ in range(500):
        observations, rewards, terminated, truncated, _ = envs.step(policy(observations))
        lengths += alive
        alive &= ~(terminated | truncated)
    # The policy is as good as the run's own test, and further training does not change it.
    assert lengths.mean() == pytest.approx(run.test()["mean_return"], rel=0.15) and lengths.mean() > 100
    before = policy.predict(observations)[1].copy()
    run.advance(steps=100_000)
    np.testing.assert_array_equal(policy.predict(observations)[1], before)


def test_a_policy_with_continuous_actions():
    run = hothouse.Run("control", variant="Pendulum-v1", knobs=SMALL).advance(steps=5000)
    policy = run.policy()
    observations = np.random.default_rng(0).normal(size=(1000, 3))
    actions = policy(observations)
    assert actions.shape == (1000, 1) and actions.dtype == np.float32 and (np.abs(actions) <= 2).all()
    np.testing.assert_array_equal(actions[:, 0], policy.predict(observations)[0][:, 0])


def test_questions_and_live_knobs():
    run = hothouse.Run("control", knobs=SMALL)
    plan = run.ask("plan")
    assert plan["parameters"] > 0 and plan["nodes"]
    frame = run.advance(steps=10_000).ask("frame")
    observations = np.frombuffer(frame["observations"], "<f4")
    assert frame["features"] == 4 and observations.size >= frame["steps"] * frame["shown"] * 4
    run.set(lr=1e-4).advance(steps=10_000)
    assert run.metrics()["lr"][-1] == pytest.approx(1e-4, rel=0.1)


def test_ctrl_c_stops_after_the_iteration():
    run = hothouse.Run("control", seed=4, knobs=SMALL)
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        run.advance(seconds=60)
    done = run.progress["iteration"]
    assert done >= 1 and run.metrics().rows == done
    # The run is between two iterations and equals an uninterrupted one.
    whole = hothouse.Run("control", seed=4, knobs=SMALL)
    whole.advance(steps=done * SMALL["envs"] * SMALL["rollout_steps"])
    assert whole.digest == run.digest


#: One iteration takes hours.
LONG = {"width": 32, "layers": 1, "heads": 2, "context": 32, "micro": 8, "batch": 256, "steps": 10000}


def test_a_long_iteration_can_be_stopped_and_saved():
    run = hothouse.Run("words", seed=4, knobs=LONG)
    began = time.monotonic()
    run.advance(seconds=0.3)
    assert time.monotonic() - began < 6
    tokens = run.progress["tokens"]
    assert run.progress["iteration"] == 0 and tokens > 0 and run.arithmetic == "partial"
    again = hothouse.Run.restore(run.save())
    assert again.progress["tokens"] == tokens and again.digest == run.digest
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run.advance(seconds=600)
    # A moment until the signal, and about a second until training stops within the iteration.
    assert time.monotonic() - began < 6
    assert run.progress["iteration"] == 0 and run.progress["tokens"] > tokens


def test_training_releases_the_interpreter_lock():
    run = hothouse.Run("control", threads=1)
    worker = threading.Thread(target=lambda: run.advance(seconds=0.5))
    began = time.monotonic()
    worker.start()
    turns = 0
    while worker.is_alive():
        time.sleep(0.001)
        turns += 1
    assert turns > 20 and time.monotonic() - began >= 0.5


def in_threads(count, work):
    """Start `work` in `count` threads; return the threads and a list that collects their exceptions."""
    wrong = []

    def guarded():
        try:
            work()
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=guarded) for _ in range(count)]
    for thread in threads:
        thread.start()
    return threads, wrong


def test_threads_can_share_a_run():
    each = SMALL["envs"] * SMALL["rollout_steps"]
    run = hothouse.Run("control", seed=6, knobs=SMALL, threads=1)
    finished = threading.Event()

    def train():
        while not finished.is_set():
            run.advance(steps=20 * each)

    threads, wrong = in_threads(3, train)
    try:
        waits, rows = [], 0
        for _ in range(5):
            began = time.monotonic()
            # Regression: each of these calls raised "Already borrowed" while another thread trained.
            assert run.metrics().rows >= rows and len(run.digest) == 16
            rows = run.metrics().rows
            run.save()
            waits.append(time.monotonic() - began)
    finally:
        finished.set()
        for thread in threads:
            thread.join()
    assert not wrong, wrong
    assert max(waits) < 5, waits
    assert run.progress["iteration"] >= 20
    alone = hothouse.Run("control", seed=6, knobs=SMALL).advance(steps=run.progress["iteration"] * each)
    assert run.digest == alone.digest


def test_threads_can_share_a_policy_and_environments():
    policy = hothouse.Run("control", knobs=SMALL).advance(steps=1).policy()
    seen = np.random.default_rng(1).normal(size=(20_000, 4)).astype(np.float32)
    expected = policy(seen)
    threads, wrong = in_threads(3, lambda: [np.testing.assert_array_equal(policy(seen), expected) for _ in range(20)])
    envs = hothouse.make_vec("CartPole-v1", 20_000, autoreset_mode="SameStep", threads=2)
    envs.reset(seed=1)
    actions = np.zeros(20_000, np.int64)
    more, also_wrong = in_threads(3, lambda: [envs.step(actions) for _ in range(50)])
    for thread in threads + more:
        thread.join()
    assert not wrong and not also_wrong, (wrong, also_wrong)


def test_a_policy_can_read_arrays_that_other_threads_step():
    policy = hothouse.Run("control", knobs=SMALL).advance(steps=1).policy()
    envs = hothouse.make_vec("CartPole-v1", 20_000, autoreset_mode="SameStep", threads=2)
    observations, _ = envs.reset(seed=1)
    assert np.shares_memory(observations, policy._rows(observations))
    actions = np.zeros(20_000, np.int64)
    reads, wrong = in_threads(2, lambda: [policy(observations) for _ in range(50)])
    steps, also_wrong = in_threads(2, lambda: [envs.step(actions) for _ in range(200)])
    predictions, wrong_too = in_threads(1, lambda: [policy.predict(observations) for _ in range(50)])
    for thread in reads + steps + predictions:
        thread.join(120)
        assert not thread.is_alive()
    assert not wrong and not also_wrong and not wrong_too, (wrong, also_wrong, wrong_too)


def test_actions_can_be_the_reward_array():
    from hothouse import _native

    envs = _native.Envs("Pendulum-v1", None, 64, "NextStep", 1)
    envs.reset(1)
    # The actions are zeros at first, then the rewards of the step before.
    for _ in range(2):
        envs.step(envs.rewards)
    assert (envs.rewards < 0).any()


def test_event_files_are_locked_and_replace_no_other_file(tmp_path):
    from hothouse import _native

    path = tmp_path / "run.jsonl"
    events = _native.Events(str(path))
    events.write('{"kind":"opened"}')
    with pytest.raises(OSError, match="another run is writing"):
        _native.Events(str(path))
    events.close()
    with pytest.raises(ValueError, match="closed"):
        events.write("{}")
    assert path.read_text() == '{"kind":"opened"}\n'
    again = _native.Events(str(path))
    assert path.read_text() == ""
    again.close()
    notes = tmp_path / "notes.txt"
    notes.write_text("these are notes")
    with pytest.raises(FileExistsError, match="would be lost. Name another file with events="):
        _native.Events(str(notes))
    assert notes.read_text() == "these are notes"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_events_reject_pipes_and_devices(tmp_path):
    from hothouse import _native

    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in [pipe, "/dev/null"]:
        with pytest.raises(OSError, match="is a device or a pipe"):
            _native.Events(str(path))


def test_tensors_are_shared_with_other_libraries_without_copies():
    run = hothouse.Run("control", seed=2, knobs=SMALL).advance(steps=10_000)
    tensors = run.tensors()
    assert any(tensor.dtype == np.float32 and tensor.ndim == 2 for tensor in tensors.values()), tensors.keys()
    assert not any(name.startswith("run.") for name in tensors)
    for name, tensor in tensors.items():
        assert tensor.flags.c_contiguous and tensor.flags.aligned and tensor.flags.writeable, name
        other = np.from_dlpack(tensor)
        assert other.shape == tensor.shape and (other.size == 0 or np.shares_memory(other, tensor)), name
        np.testing.assert_array_equal(other, tensor)
    # The tensors are copies: changes do not affect the run.
    name, weights = next((name, tensor) for name, tensor in tensors.items() if tensor.dtype == np.float32 and tensor.size > 10)
    before = run.digest
    weights[...] = 7
    assert run.digest == before and not (run.tensors()[name] == 7).all()
    envs = hothouse.make_vec("CartPole-v1", 64, autoreset_mode="SameStep")
    observations, _ = envs.reset(seed=1)
    shared = np.from_dlpack(observations)
    first = shared.copy()
    stepped, rewards, *_ = envs.step(np.ones(64, np.int64))
    # Every step writes to the same arrays, so shared views change too.
    np.testing.assert_array_equal(shared, stepped)
    assert not (shared == first).all() and np.shares_memory(np.from_dlpack(rewards), rewards)


def test_torch_shares_tensors_and_observations():
    torch = pytest.importorskip("torch")
    for tensor in hothouse.Run("control", knobs=SMALL).tensors().values():
        if tensor.dtype in (np.float32, np.float64, np.uint8):
            assert torch.from_dlpack(tensor).data_ptr() == tensor.ctypes.data
    observations, _ = hothouse.make_vec("CartPole-v1", 8).reset(seed=1)
    assert torch.from_dlpack(observations).data_ptr() == observations.ctypes.data


def test_save_replaces_only_checkpoints(tmp_path):
    run = hothouse.Run("control", knobs=SMALL)
    thesis = tmp_path / "thesis.txt"
    thesis.write_text("a thesis")
    with pytest.raises(FileExistsError, match="would be lost. Name another file"):
        run.save(thesis)
    assert thesis.read_text() == "a thesis"
    with pytest.raises(IsADirectoryError, match="is a folder"):
        run.save(tmp_path)
    with pytest.raises(FileNotFoundError):
        run.save(tmp_path / "nowhere" / "run.safetensors")
    link = tmp_path / "link.safetensors"
    try:
        link.symlink_to("run.safetensors")
    except OSError:
        return  # this system does not allow links
    for _ in range(2):
        run.save(link)
        assert link.is_symlink() and hothouse.Run.restore(tmp_path / "run.safetensors").digest == run.digest
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.safetensors", "run.safetensors", "thesis.txt"]


def test_a_file_of_another_run_is_not_overwritten(tmp_path):
    file, other = tmp_path / "run.safetensors", tmp_path / "other.safetensors"
    first = hothouse.Run("control", knobs=SMALL)
    first.save(file)
    second = hothouse.Run.restore(file)
    first.advance(steps=1).save(file)
    with pytest.raises(OSError, match="another process has written .*run.safetensors since this run was read or saved. Name another file"):
        second.save(file)
    second.save(other)
    # A run may replace a file that it has never read, and a file that was removed.
    hothouse.Run("control", knobs=SMALL).save(file)
    with pytest.raises(OSError, match="another process has written"):
        first.save(file)
    file.unlink()
    first.save(file)


def test_a_claimed_file_belongs_to_one_process(tmp_path):
    file = tmp_path / "run.safetensors"
    run = hothouse.Run("control", knobs=SMALL)
    claim = _native.Claim(str(file))
    for save in (lambda: run.save(file), lambda: _native.Claim(str(file))):
        with pytest.raises(OSError, match="another run is writing to .*run.safetensors. Wait until it ends. Name another file"):
            save()
    claim.write(run.save())
    claim.close()
    with pytest.raises(ValueError, match="the claim is closed"):
        claim.write(run.save())
    run.save(file)
    assert os.listdir(tmp_path) == ["run.safetensors"]


@terminal
def test_a_file_of_a_live_program_is_not_overwritten(tmp_path):
    file = tmp_path / "run.safetensors"
    knobs = [word for name, value in SMALL.items() for word in ("--set", f"{name}={value}")]
    command = [HOTHOUSE, "train", "--json", "--device", "cpu", "--steps", "1e12", "--save", str(file), *knobs]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        while '"kind":"metrics"' not in program.stdout.readline():
            pass
        with pytest.raises(OSError, match="another run is writing to"):
            hothouse.Run("control", knobs=SMALL).save(file)
        program.kill()
    hothouse.Run("control", knobs=SMALL).save(file)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit of file sizes")
def test_a_limit_of_file_sizes_is_an_error(tmp_path):
    script = """
import resource, sys
import hothouse
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
run = hothouse.Run("control")
for write in (lambda: run.save(sys.argv[1]), lambda: run.export("onnx", sys.argv[2])):
    try:
        write()
    except OSError as error:
        print(error)
"""
    out = subprocess.run([sys.executable, "-c", script, tmp_path / "run.safetensors", tmp_path / "model.onnx"], capture_output=True, text=True)
    assert out.returncode == 0 and out.stdout.count("File too large") == 2, out
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_save_does_not_replace_pipes(tmp_path):
    run = hothouse.Run("control", knobs=SMALL)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(FileExistsError, match="not a regular file"):
        run.save(pipe)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_devices_are_not_read_or_replaced(tmp_path):
    zero = tmp_path / "zero"
    try:
        os.mknod(zero, stat.S_IFCHR | 0o666, os.makedev(1, 5))
    except (AttributeError, OSError):
        pytest.skip("this user cannot create devices here")
    for read in [lambda: hothouse.Run.restore(zero), lambda: hothouse.Run("words", data=zero)]:
        with pytest.raises(OSError, match="is a device, not a file"):
            read()
    with pytest.raises(FileExistsError, match="not a regular file"):
        hothouse.Run("control", knobs=SMALL).save(zero)
    assert stat.S_ISCHR(zero.stat().st_mode)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_pipes_and_folders_are_refused(tmp_path):
    """A program in native code that waits for a pipe could not be interrupted."""
    pipe = tmp_path / "world.py"
    os.mkfifo(pipe)
    reads = [hothouse.Run.restore, lambda path: hothouse.Run("words", data=path), hothouse.world.load, lambda path: hothouse.make_vec(path)]
    for read in reads:
        with pytest.raises(OSError, match="is a pipe, and a regular file is needed"):
            read(pipe)
        with pytest.raises(IsADirectoryError, match="is a folder"):
            read(tmp_path)


INVALID = [
    (lambda: hothouse.Run("gambling"), ValueError, "The rooms are: control"),
    (lambda: hothouse.Run("control", variant="Pong"), ValueError, "Choose one of: CartPole-v1"),
    (lambda: hothouse.Run("control", knobs={"speed": 1}), ValueError, "Try one of: "),
    (lambda: hothouse.Run("control", knobs={"lr": -1}), ValueError, "Choose "),
    (lambda: hothouse.Run("control", knobs={"lr": "fast"}), TypeError, "Choose "),
    (lambda: hothouse.Run("control", knobs={"lr": [1]}), TypeError, "Give a number"),
    (lambda: hothouse.Run("control", seed=-1), ValueError, "Choose 0 to"),
    (lambda: hothouse.Run("control", seed=2**32), ValueError, "seed = 4294967296 is out of range. Choose 0 to 4294967295"),
    (lambda: hothouse.Run("control", seed=1.5), TypeError, "seed = 1.5 is not a whole number. Choose 0 to"),
    (lambda: hothouse.Run("control", threads=0), ValueError, "Choose 1 to"),
    (lambda: hothouse.Run("control", threads=-1), ValueError, "threads = -1 is out of range. Choose 1 to 1024"),
    (lambda: hothouse.Run("control", threads=10**9), ValueError, "Choose 1 to 1024"),
    (lambda: hothouse.Run("control", threads="two"), TypeError, "threads = 'two' is not a whole number"),
    (lambda: hothouse.Run("control").examples(10**9), ValueError, "count = 1000000000 is out of range. Choose 1 to 2396745"),
    (lambda: hothouse.Run("control").examples(0), ValueError, "Choose 1 to"),
    (lambda: hothouse.Run("control").examples(-1), ValueError, "count = -1 is out of range. Choose 1 to"),
    (lambda: hothouse.Run("control").examples(10**5000), ValueError, "is out of range. Choose 1 to"),
    (lambda: hothouse.Run("control").examples(2.5), TypeError, "count = 2.5 is not a whole number"),
    (lambda: hothouse.Run("control").examples(1, seed=-1), ValueError, "Choose 0 to"),
    (lambda: hothouse._native.Axis.read("lr=0.1..0.2").values(2**32 - 1, "control"), ValueError, "Choose 2 to 1000"),
    (lambda: hothouse._native.Axis.read("lr=0.1..0.2").values(1, "control"), ValueError, "points = 1 is out of range. Choose 2 to 1000"),
    (lambda: hothouse.Run("cube").ask("scramble", moves=10**9, seed=1), ValueError, "Choose 0 to 1000"),
    (lambda: hothouse.Run("cube", data=("a.txt", b"x")), ValueError, "takes no data"),
    (lambda: hothouse.Run("control").advance(), TypeError, "Give seconds= or steps="),
    (lambda: hothouse.Run("control").advance(steps=-1), ValueError, "0 or more"),
    (lambda: hothouse.Run("control").advance(seconds=float("nan")), ValueError, "0 or more"),
    (lambda: hothouse.Run("control").set(envs=128), ValueError, "another run"),
    (lambda: hothouse.Run("control").ask("weather"), ValueError, "cannot be asked"),
    (lambda: hothouse.Run("cube").policy(), ValueError, "does not act on observations"),
    (lambda: hothouse.Run("control").policy()(np.zeros((3, 5))), ValueError, r"\(n, 4\)"),
    (lambda: hothouse.Run("control").policy()(np.zeros(4)), ValueError, r"\(n, 4\)"),
    (lambda: hothouse.Run.restore(b"no checkpoint"), hothouse.CheckpointError, "Hothouse"),
    (lambda: hothouse.Run.restore("/nowhere/run.safetensors"), FileNotFoundError, "nowhere"),
    (lambda: hothouse.nothing, AttributeError, "nothing"),
]


@pytest.mark.parametrize("call, error, message", INVALID)
def test_invalid_arguments_raise(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_damaged_checkpoints_and_other_formats_raise():
    whole = hothouse.Run("control", knobs=SMALL).save()
    for damaged in [whole[:-40], whole[: len(whole) // 2], whole.replace(b'"seed\\":1', b'"seed\\":2')]:
        with pytest.raises(hothouse.CheckpointError, match="[Cc]opy it again|Choose a"):
            hothouse.Run.restore(damaged)
    for version, says in [(b"1", "does not know"), (b"9", "newer Hothouse")]:
        other = whole.replace(b'"version\\":2', b'"version\\":' + version)
        with pytest.raises(hothouse.CheckpointError, match=says):
            hothouse.Run.restore(other)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_runs_raise_in_a_forked_process():
    code = (
        "import hothouse, os, sys\n"
        "run = hothouse.Run('control', threads=2).advance(steps=1)\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    try: run.advance(steps=1)\n"
        "    except hothouse.ForkError: os._exit(7)\n"
        "    os._exit(1)\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7\n"
        "run.advance(steps=1)\n"
    )
    out = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=120)
    assert out.returncode == 0, out.stderr
