"""A Ray cluster of several nodes on one machine. A run has the digest of a single process, even if workers or nodes die."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

import pytest

pytest.importorskip("ray", reason="pip install 'ray[tune]'")

import documents
import hothouse
import ray
import tier
from hothouse.ray import __main__ as program
from hothouse.ray import Trainable, connect, train
from hothouse.ray._sweep import Axis, sweep, table
from ray.cluster_utils import Cluster
from terminal import hothouse as terminal, needed

#: A round takes about ten milliseconds.
SMALL = {"hidden": 32, "games": 64, "batch": 128}
#: The published learner at a similar size; its four actors are shared with the workers.
SMALL_PUBLISHED = {"tables": 4, "games": 2, "batch": 8, "evals": 8, "round_batches": 32, "minibatch": 32, "replay": 256, "generation_rounds": 2, "duel_pairs": 1}


@pytest.fixture(scope="module")
def cluster():
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    cluster.add_node(num_cpus=1)
    yield cluster
    ray.shutdown()
    cluster.shutdown()


def alone(steps, **settings):
    return hothouse.Run("backgammon", seed=3, knobs=SMALL, **settings).advance(steps=steps)


@pytest.fixture(scope="module")
def shared(cluster, tmp_path_factory):
    """A run whose games three workers played, and its event file."""
    events = tmp_path_factory.mktemp("shared") / "run.events"
    return train("backgammon", seed=3, knobs=SMALL, workers=3, address=cluster.address, steps=64 * 12, events=events), events


def test_digest_is_that_of_one_process_for_any_number_of_workers(cluster, shared):
    own = alone(64 * 12)
    # The next test also trains with one worker.
    others = [train("backgammon", seed=3, knobs=SMALL, workers=1, address=cluster.address, steps=64 * 12)] if tier.ALL else []
    for trained in [shared[0], *others]:
        assert trained.run.digest == own.digest and trained.rounds == 12 and trained.deaths == 0
        places = [{name: value for name, value in run.progress.items() if name != "train_s"} for run in (trained.run, own)]
        assert places[0] == places[1]
        # Traffic of a round: the weights to the workers, and about a hundred bytes per board back.
        assert trained.bytes_out > 100_000 and trained.bytes_in > 64 * 50 * 100


def test_the_published_learner_has_the_same_digest_and_resumes(cluster, tmp_path):
    of = {"variant": "published", "seed": 3, "knobs": SMALL_PUBLISHED}
    own = [hothouse.Run("backgammon", **of).advance(steps=steps) for steps in (12, 20)]
    assert own[1].progress["updates"] > 20 and own[1].digest != own[0].digest
    for first, second in [(1, 3), (3, 4)] if tier.ALL else [(1, 3)]:
        saved = tmp_path / f"{first}.safetensors"
        trained = train("backgammon", **of, workers=first, address=cluster.address, steps=12, save=saved)
        assert trained.run.digest == own[0].digest
        trained = train(resume=saved, workers=second, address=cluster.address, steps=20)
        assert trained.run.digest == own[1].digest
        places = [{name: value for name, value in run.progress.items() if name != "train_s"} for run in (trained.run, own[1])]
        assert places[0] == places[1]


def processes(name):
    """Ids of Ray's processes that run the task or actor `name`."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if (folder / "cmdline").read_bytes().startswith(f"ray::{name}".encode()):
                found.append(int(folder.name))
        except OSError:
            pass
    return found


@needed
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the test finds processes in /proc")
def test_a_run_survives_the_death_of_workers_learner_and_node(cluster, tmp_path):
    node = cluster.add_node(num_cpus=1)
    killed = []
    reported = threading.Event()

    def kill(name):
        # Waits for such a process; a task takes only a moment.
        until = time.monotonic() + 60
        while time.monotonic() < until:
            for process in processes(name):
                try:
                    os.kill(process, signal.SIGKILL)
                    killed.append(name)
                    return
                except ProcessLookupError:
                    pass
            time.sleep(0.01)

    def kill_all():
        reported.wait(120)
        kill("_play")
        kill("_Learner")
        kill("_play")
        cluster.remove_node(node)
        killed.append("node")

    killer = threading.Thread(target=kill_all)
    killer.start()
    # Training continues until all kills are done and one more report arrives.
    ended = [0]

    def on_report(state):
        reported.set()
        if not killer.is_alive() and not ended[0]:
            ended[0] = state["progress"]["games"]

    saved = tmp_path / "run.safetensors"
    steps = 64 * 20
    trained = train("backgammon", seed=3, knobs=SMALL, workers=4, address=cluster.address, steps=steps, save=saved, report=on_report)
    while killer.is_alive() or not ended[0]:
        steps += 64 * 20
        trained = train(resume=saved, workers=4, address=cluster.address, steps=steps, save=saved, report=on_report)
    killer.join()
    assert killed == ["_play", "_Learner", "_play", "node"]
    own = alone(steps)
    assert trained.run.digest == own.digest
    # The program can resume the file.
    more = own.advance(steps=64 * 4).progress["games"]
    lines = terminal("resume", saved, "--games", more, "--json", "--save", tmp_path / "on.safetensors")
    assert lines[-1]["digest"] == own.digest


@needed
def test_watch_reads_the_events_of_a_cluster_run(shared):
    trained, events = shared
    # The summary has the fields that the program writes.
    knobs = [word for name, value in SMALL.items() for word in ("--set", f"{name}={value}")]
    own = terminal("train", "backgammon", "--seed", 3, *knobs, "--games", 64, "--json")[-1]
    assert json.loads(events.read_text().splitlines()[-1]).keys() == own.keys()
    text = terminal("watch", events, "--plain", text=True)
    assert trained.run.digest in text and "768 games" in text


def test_invalid_requests_raise_with_the_remedy(cluster, monkeypatch, capsys):
    for room, variant in [("control", None), ("cube", None), ("cube", "2x2x2-dqn")]:
        with pytest.raises(ValueError, match="cannot share its work.*Train it on one machine"):
            train(room, variant, steps=1000, address=cluster.address)

    def trains(*given):
        """Runs `python -m hothouse.ray train` in this process. Returns its exit status and its errors."""
        monkeypatch.setattr(sys, "argv", ["hothouse.ray", "train", *given])
        try:
            status = program.main()
        except SystemExit as error:
            status = error.code
        return status, capsys.readouterr().err

    status, said = trains("cube", "--variant", "3x3x3", "--steps", "1000")
    assert status == 1 and "Train it on one machine" in said, said
    for given, remedy in [(["--workers", "x"], "write a number"), (["--set", "wings=2"], "Try one of: lr"), (["--steps", "0"], "whole number of at least 1")]:
        status, said = trains(*given)
        assert status != 0 and remedy in said, said
    with pytest.raises(ValueError, match="workers = 0"):
        train("backgammon", steps=64, workers=0, address=cluster.address)
    with pytest.raises(TypeError, match="Give steps= or seconds="):
        train("backgammon")
    other = subprocess.run([sys.executable, "-m", "hothouse.ray", "train", "--address", "127.0.0.1:9"], capture_output=True, text=True)
    assert other.returncode == 1 and "no answer from 127.0.0.1:9" in other.stderr and "ray start --head" in other.stderr


def test_examples_of_documents_run_on_a_cluster(cluster, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    connect(cluster.address)
    found = [text for document in documents.WITH_EXAMPLES for text in documents.examples(document) if documents.needs_cluster(text)]
    assert found
    for text in found:
        exec(compile(text, "a document", "exec"), {"hothouse": hothouse})


@pytest.mark.parametrize("variant, knobs", [("strong", SMALL), ("published", SMALL_PUBLISHED)])
def test_work_of_another_build_is_rejected(cluster, variant, knobs):
    run = hothouse.Run("backgammon", variant=variant, seed=3, knobs=knobs)
    run._native.share(True)
    first, end, due = run._native.until_due(1e9, 60.0)
    played = hothouse._native.play(due, first, end, 1)
    old = due.tobytes()
    build = re.search(rb'\\"build\\":\\"([^"\\]*)\\"', old).group(1)
    # The checksum covers the build, so this data counts as damaged. Data from a real other build is rejected by its version.
    import numpy as np

    with pytest.raises(ValueError):
        hothouse._native.play(np.frombuffer(old.replace(build, b"9" * len(build)), np.uint8), first, end, 1)
    with pytest.raises(ValueError, match="in order"):
        run._native.take(hothouse._native.play(due, first + 1, end, 1))
    run._native.take(played)


def test_a_trial_pauses_resumes_and_forks_exactly(tmp_path):
    config = {"room": "control", "variant": "CartPole-v1", "seed": 5, "envs": 64, "hidden": 32, "lr": 3e-3, "steps": 1e9, "each": 0.2}
    trial = Trainable(config)
    trial.train()
    trial.run.advance(steps=1)
    at = trial.run.progress["env_steps"]
    trial.save_checkpoint(str(tmp_path))
    resumed = Trainable(config)
    resumed.load_checkpoint(str(tmp_path))
    forked = Trainable(config | {"lr": 1e-3})
    forked.load_checkpoint(str(tmp_path))
    for one in (trial, resumed, forked):
        one.run.advance(steps=64 * 1024)
    assert trial.run.digest == resumed.run.digest != forked.run.digest
    # A fork equals a restored run with the changed knob.
    plain = hothouse.Run.restore(tmp_path / "run.safetensors").set(lr=1e-3).advance(steps=64 * 1024)
    assert plain.digest == forked.run.digest and forked.run.progress["env_steps"] == trial.run.progress["env_steps"] > at
    other = Trainable(config | {"envs": 128})
    with pytest.raises(ValueError, match="envs cannot change during a run.*Mutate only live knobs"):
        other.load_checkpoint(str(tmp_path))
    result = forked.train()
    assert result["digest"] == forked.run.digest and result["env_steps"] > at and "mean_return" in result


@needed
def test_sweep_syntax_and_table_match_the_program(cluster, tmp_path):
    given = ["--knob", "lr=1e-3..1e-2:log", "--points", "2", "--seeds", "2", "--steps", "1e5", "--set", "envs=64"]
    theirs = terminal("sweep", "control", *given, "--out", tmp_path / "sweep.jsonl", text=True)
    outcomes = sweep("control", "CartPole-v1", axes=[Axis.read("lr=1e-3..1e-2:log")], points=2, seeds=2, steps=1e5, knobs={"envs": 64.0}, address=cluster.address)
    ours = table("control", "CartPole-v1", outcomes)
    assert ours.count("\n") == 3 and ours in theirs, f"{ours}\n{theirs}"

    values = lambda text, count: Axis.read(text).values(count, "control")  # noqa: E731
    assert values("lr=1e-4..1e-2:log", 5) == [1e-4, 3.16228e-4, 1e-3, 3.16228e-3, 1e-2]
    assert values("gamma=0.9..0.98", 3) == [0.9, 0.94, 0.98]
    assert values("hidden=16..64:log", 4) == [16, 25, 40, 64]
    assert values("epochs=1..3", 5) == [1, 2, 3]
    assert values("clip_value=off,on", 9) == [0, 1]
    assert values("lr=3e-3,1e-3,3e-3", 9) == [0.003, 0.001]
    for bad in ["lr", "lr=", "lr=1..", "lr=2..1", "lr=1..1", "lr=0..1:log", "lr=1..2:cubic"]:
        with pytest.raises(ValueError):
            Axis.read(bad)
    for bad in ["lr=a,b", "wings=1,2"]:
        with pytest.raises(ValueError):
            values(bad, 2)
