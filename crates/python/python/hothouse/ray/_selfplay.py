"""Games of one run, played on many machines.

The learner is an actor. At the beginning of a round it puts what the round's games are played with into the object store, has
stretches of them played by tasks, and learns from what comes back, in the games' order: what a game brings depends on nothing but
its number and how the round began (where games are searched in batches, an actor's together: that is the piece then). What it can
learn without them it learns meanwhile. A stretch whose worker died is played again, and a learner that died goes on from the newest
checkpoint that the driver holds, so neither changes the run.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import ray
from ray.exceptions import RayActorError, RayTaskError

from .. import _native
from ..runs import Run
from ._cluster import connect
from ._events import EventLog, row

#: Seconds between two looks of the driver at the learner, and between two checkpoints that it gets.
LOOK_S = 0.5
KEEP_S = 10.0
#: Seconds for which the learner learns on before it looks whether games have come.
MEANWHILE_S = 0.05
#: Stretches that each of several workers has of a round, so that one that is slow does not hold up the others.
STRETCHES = 2
#: Learners that die in a row without getting any further.
MOST_DEATHS = 5


@dataclass
class Trained:
    """What came of a run that was trained on a cluster."""

    #: Where it stands: it goes on by itself.
    run: Run
    #: Rounds done here, and the seconds that they took.
    rounds: int
    seconds: float
    #: Seconds of a round, and of these waiting for games; without the first, whose workers had to start.
    round_s: float
    waited_s: float
    #: Bytes of a round to the workers (once to each node) and from them all, the newest.
    bytes_out: int
    bytes_in: int
    #: Times that a learner died.
    deaths: int


@ray.remote(num_cpus=1, max_retries=-1)
def _play(due: np.ndarray, first: int, end: int) -> np.ndarray:
    return _native.play(due, first, end, 1)


class _Learner:
    """In a process of its own, wherever there is a core."""

    def __init__(self, checkpoint: bytes, threads: int, workers: int) -> None:
        self.run = Run.restore(checkpoint, threads=threads)
        self.run._native.share(True)
        self.workers = workers
        self.waits_s = self.rounds_s = 0.0
        self.rounds = -1
        self.ended = time.monotonic()
        self.bytes = (0, 0)
        self.kept = time.monotonic()
        self.told = [self.run.metrics().rows, self.run.tests().rows]

    def pid(self) -> int:
        return os.getpid()

    def work(self, target: float, seconds: float) -> dict[str, Any]:
        """Rounds until the run's first counter is at `target`, or for about so long."""
        began = time.monotonic()
        native = self.run._native
        done = False
        while not done and time.monotonic() - began < seconds:
            due = native.until_due(target, LOOK_S)
            if due is None:
                done = native.is_done(target)
                continue
            first, end, content = due
            sent = ray.put(content)
            stretches = self.workers * STRETCHES if self.workers > 1 else 1
            length = max(1, math.ceil((end - first) / stretches))
            playing = [_play.remote(sent, start, min(start + length, end)) for start in range(first, end, length)]
            arrived, waited_s, busy = 0, 0.0, True
            for stretch in playing:
                # Tests, and steps that do not wait for these games.
                while busy and not ray.wait([stretch], timeout=0)[0]:
                    busy = native.meanwhile(MEANWHILE_S)
                waits = time.monotonic()
                games = ray.get(stretch)
                waited_s += time.monotonic() - waits
                native.take(games)
                arrived += games.nbytes
            self.bytes = (content.nbytes, arrived)
            self.rounds, before, self.ended = self.rounds + 1, self.ended, time.monotonic()
            if self.rounds > 0:
                self.rounds_s += self.ended - before
                self.waits_s += waited_s
        keep = done or time.monotonic() - self.kept >= KEEP_S
        checkpoint = None
        if keep:
            self.kept = time.monotonic()
            checkpoint = native.save()
        place, tables = self.run.progress, [self.run.metrics(), self.run.tests()]
        rows, tests = ([row(table, at, place) for at in range(first, table.rows)] for table, first in zip(tables, self.told))
        self.told = [table.rows for table in tables]
        return {
            "done": done,
            "checkpoint": checkpoint,
            "progress": place,
            "rows": rows,
            "tests": tests,
            "round_s": self.rounds_s / max(self.rounds, 1),
            "waited_s": self.waits_s / max(self.rounds, 1),
            "bytes": self.bytes,
            "notices": native.notices(),
        }


def train(
    room: str = "backgammon",
    variant: str | None = None,
    *,
    seed: int = 1,
    knobs: Mapping[str, float | int | bool | str] | None = None,
    resume: str | os.PathLike[str] | bytes | None = None,
    workers: int | None = None,
    address: str | None = None,
    steps: float | None = None,
    seconds: float | None = None,
    save: str | os.PathLike[str] | None = None,
    events: str | os.PathLike[str] | None = None,
    told: Callable[[dict[str, Any]], None] | None = None,
) -> Trained:
    """Trains a run whose games a cluster plays. It is the run of `hothouse train`, to the bit.

    Args:
        room, variant, seed, knobs: As of `hothouse.Run`. Backgammon's learners share their games, `strong` one by one and `published`
            an actor's together (the knob `tables` says how many there are); no other learner does.
        resume: A checkpoint to go on from, in place of those.
        workers: Stretches of games that are played at once; by itself one for each core of the cluster but the learner's.
        address: Of a Ray cluster; by itself this machine.
        steps: Where the room's first counter ends, as `--steps` of the terminal: what was done before counts.
        seconds: Ends after so long. Ctrl-C ends it too; what was done is saved.
        save: A file for the checkpoint, written as the run goes on.
        events: A file of events, which `hothouse watch` follows.
        told: Called with where it stands, every now and then.

    Raises:
        ConnectionError: The address does not answer.
        ValueError: The learner's games cannot be shared, or a worker has another build of Hothouse.
    """
    if steps is None and seconds is None:
        raise TypeError("train() needs an end. Give steps= or seconds=")
    if workers is not None and workers < 1:
        raise ValueError(f"workers = {workers} is out of range. Choose 1 or more")
    if save is not None:
        _native.check_checkpoint(os.fspath(save))
    begun = Run.restore(resume) if resume is not None else Run(room, variant, seed=seed, knobs=knobs)
    # Refused before anything is started.
    begun._native.share(True)
    begun._native.share(False)
    checkpoint = begun.save()
    connect(address)
    log = None if events is None else EventLog(events, begun)
    if workers is None:
        workers = max(1, int(ray.cluster_resources().get("CPU", 2)) - 1)
    # The learner mostly waits while others play, so it takes no core from them.
    actor = ray.remote(num_cpus=0)(_Learner)
    began = time.monotonic()
    first = begun.progress["iteration"]
    target = math.inf if steps is None else float(steps)
    deaths = in_a_row = 0
    state: dict[str, Any] = {"round_s": 0.0, "waited_s": 0.0, "bytes": (0, 0), "progress": begun.progress}
    learner = None
    interrupted = False
    try:
        while True:
            if learner is None:
                learner = actor.remote(checkpoint, 1, workers)
            ended = interrupted or seconds is not None and time.monotonic() - began >= seconds
            try:
                # A target that is behind it ends it at the next boundary.
                state = ray.get(learner.work.remote(0.0 if ended else target, LOOK_S if not ended else math.inf))
                in_a_row = 0
            except RayActorError as error:
                if "No module named 'hothouse'" in str(error):
                    raise ImportError("a machine of the cluster has no Hothouse. Install this version on all of them, with pip") from error
                deaths, in_a_row = deaths + 1, in_a_row + 1
                if in_a_row > MOST_DEATHS:
                    raise RuntimeError(f"the learner died {in_a_row} times in a row ({error}). See the logs of the cluster") from error
                learner = None
                continue
            except RayTaskError as error:
                raise error.cause if isinstance(error.cause, (ValueError, RuntimeError)) else error
            except KeyboardInterrupt:
                interrupted = True
                continue
            if state["checkpoint"] is not None:
                checkpoint = state["checkpoint"]
                if save is not None:
                    _native.write_checkpoint(os.fspath(save), checkpoint)
            if log is not None:
                log.rows("metrics", state["rows"])
                log.rows("test", state["tests"])
            if told is not None:
                told(state)
            if state["done"]:
                break
    finally:
        if learner is not None:
            ray.kill(learner)
    run = Run.restore(checkpoint)
    out, back = state["bytes"]
    rounds = int(run.progress["iteration"] - first)
    trained = Trained(run, rounds, time.monotonic() - began, state["round_s"], state["waited_s"], out, back, deaths)
    if log is not None:
        log.end("interrupt" if interrupted else "steps" if run.progress[run._counter] >= target else "seconds", run, trained.seconds)
    if interrupted:
        raise KeyboardInterrupt
    return trained
