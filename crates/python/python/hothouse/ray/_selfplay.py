"""Self-play of one run on many machines.

The learner is a Ray actor. At the start of a round, it puts the data for the games into the object store. Ray tasks play ranges of
games, and the learner consumes the results in order. Meanwhile the learner does work that does not need the results. The result of a
game depends only on the game's number and the state at the start of the round. (If searches are batched, the unit is not a game but
all games of one of the run's actors.) If a worker dies, its range is played again. If the learner dies, it restarts from the latest
checkpoint of the driver. These failures do not affect the digest.
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

#: Seconds between status checks by the driver.
LOOK_S = 0.5
#: Seconds between checkpoints that the learner sends to the driver.
KEEP_S = 10.0
#: Seconds of learning between checks for results.
MEANWHILE_S = 0.05
#: Number of ranges of games per worker and round. There are several, so that a slow worker does not delay the other workers.
STRETCHES = 2
#: Maximum number of consecutive learner failures without progress.
MOST_DEATHS = 5
#: Maximum number of parallel tasks.
MOST_WORKERS = 10_000


@dataclass
class Trained:
    """Result of training on a cluster."""

    #: The trained run, which can continue without the cluster.
    run: Run
    #: Number of rounds, and their total seconds.
    rounds: int
    seconds: float
    #: Mean seconds per round, and the part spent waiting for games; without the first round, in which workers start.
    round_s: float
    waited_s: float
    #: Bytes sent to each node and received from all workers in the latest round.
    bytes_out: int
    bytes_in: int
    #: Number of learner failures.
    deaths: int


@ray.remote(num_cpus=1, max_retries=-1)
def _play(due: np.ndarray, first: int, end: int) -> np.ndarray:
    return _native.play(due, first, end, 1)


class _Learner:
    """The learner, in a separate process on any node."""

    def __init__(self, checkpoint: bytes, threads: int, workers: int) -> None:
        self.run = Run.restore(checkpoint, threads=threads)
        self.run._native.share(True)
        self.workers = workers
        self.waits_s = self.rounds_s = 0.0
        self.rounds = -1
        self.ended = time.monotonic()
        self.bytes = (0, 0)
        self.kept = time.monotonic()
        self.reported = [self.run.metrics().rows, self.run.tests().rows]

    def pid(self) -> int:
        return os.getpid()

    def work(self, target: float, seconds: float) -> dict[str, Any]:
        """Trains until the run's first counter reaches `target` or about `seconds` seconds have passed. Returns a status report."""
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
                # Meanwhile runs tests, and training steps that do not need these games.
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
        rows, tests = ([row(table, at, place) for at in range(first, table.rows)] for table, first in zip(tables, self.reported))
        self.reported = [table.rows for table in tables]
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
    report: Callable[[dict[str, Any]], None] | None = None,
) -> Trained:
    """Trains a run whose games are played by a cluster. The result is bit-identical to `hothouse train`.

    Args:
        room, variant, seed, knobs: As in `hothouse.Run`. Only backgammon's learners can share games: `strong` one game at a time, and
            `published` all games of an actor together (the knob `tables` sets the number of actors).
        resume: A checkpoint from which the run continues. It replaces the four arguments above.
        workers: Number of parallel tasks, at most 10,000; the default is the number of cores in the cluster, minus one for the learner.
        address: Address of a Ray cluster; the default is this machine.
        steps: Value of the room's first counter at which training ends, like `--steps` of the terminal. Work before a resumption counts.
        seconds: Time limit. Ctrl-C also stops training and saves the run.
        save: A file for the checkpoint, updated during training.
        events: An event file for `hothouse watch`.
        report: Callback for regular status reports.

    Raises:
        ConnectionError: The address does not answer.
        ValueError: The learner's games cannot be shared, or a worker has another build of Hothouse.
    """
    if steps is None and seconds is None:
        raise TypeError("train() needs a limit. Give steps= or seconds=")
    if workers is not None and not 1 <= workers <= MOST_WORKERS:
        raise ValueError(f"workers = {workers} is out of range. Choose 1 to {MOST_WORKERS}")
    # The file is claimed before it is read, so that no other process saves to it in between.
    claim = None if save is None else _native.Claim(os.fspath(save))
    begun = Run.restore(resume) if resume is not None else Run(room, variant, seed=seed, knobs=knobs)
    # Raises an error before any work is started if the run cannot be shared.
    begun._native.share(True)
    begun._native.share(False)
    checkpoint = begun.save()
    connect(address)
    log = None if events is None else EventLog(events, begun)
    if workers is None:
        workers = max(1, int(ray.cluster_resources().get("CPU", 2)) - 1)
    # The learner mostly waits for results, so it reserves no core.
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
                # A target of 0 ends the run at the next boundary.
                state = ray.get(learner.work.remote(0.0 if ended else target, LOOK_S if not ended else math.inf))
                in_a_row = 0
            except RayActorError as error:
                if "No module named 'hothouse'" in str(error):
                    raise ImportError("a machine of the cluster lacks Hothouse. Install this version on all machines with pip") from error
                deaths, in_a_row = deaths + 1, in_a_row + 1
                if in_a_row > MOST_DEATHS:
                    raise RuntimeError(f"the learner failed {in_a_row} times in a row ({error}). Check the logs of the cluster") from error
                learner = None
                continue
            except RayTaskError as error:
                raise error.cause if isinstance(error.cause, (ValueError, RuntimeError)) else error
            except KeyboardInterrupt:
                interrupted = True
                continue
            if state["checkpoint"] is not None:
                checkpoint = state["checkpoint"]
                if claim is not None:
                    claim.write(checkpoint)
            if log is not None:
                log.rows("metrics", state["rows"])
                log.rows("test", state["tests"])
            if report is not None:
                report(state)
            if state["done"]:
                break
    finally:
        if learner is not None:
            ray.kill(learner)
        if claim is not None:
            claim.close()
    run = Run.restore(checkpoint)
    out, back = state["bytes"]
    rounds = int(run.progress["iteration"] - first)
    trained = Trained(run, rounds, time.monotonic() - began, state["round_s"], state["waited_s"], out, back, deaths)
    if log is not None:
        log.end("interrupt" if interrupted else "steps" if run.progress[run._counter] >= target else "seconds", run, trained.seconds)
    if interrupted:
        raise KeyboardInterrupt
    return trained
