"""Runs as trials of Ray Tune: exact pause and resume, and forks that go on with other knobs, through the run's own checkpoint."""

from __future__ import annotations

import os
from typing import Any

from ray import tune

from .. import _native
from ..runs import Run, _value

#: What a config says beside knobs.
_OWN = ("room", "variant", "seed", "steps", "seconds", "until_solved", "each")
_FILE = "run.safetensors"


class Trainable(tune.Trainable):
    """A run of any room as a trial.

    Its config: `room`, `variant` and `seed` as of `hothouse.Run`; `steps`, `seconds` and `until_solved`, of which the first that holds
    ends it; `each`, the seconds of training between two results (1). All else are knobs. What it reports are the newest values of the
    room's metrics and tests, by name, with `result` (the number that the goal is about), `solved_at`, and `digest`.

    A trial that goes on from another's checkpoint takes over the run and then its own live knobs, as population-based training wants
    it. Knobs that are no live ones are those of the checkpoint's run, so they cannot be mutated.
    """

    def setup(self, config: dict[str, Any]) -> None:
        self._apart(config)
        self.run = Run(self._start["room"], self._start["variant"], seed=self._start["seed"], knobs=self._knobs, threads=1)

    def _apart(self, config: dict[str, Any]) -> None:
        given = dict(config)
        self._start = {"room": given.pop("room", "control"), "variant": given.pop("variant", None), "seed": int(given.pop("seed", 1))}
        self._ends = {name: given.pop(name, None) for name in ("steps", "seconds", "until_solved")}
        self._each = float(given.pop("each", 1.0))
        self._knobs = {name: value for name, value in given.items() if name not in _OWN}

    def step(self) -> dict[str, Any]:
        run, steps, seconds = self.run, self._ends["steps"], self._ends["seconds"]
        left = {} if steps is None else {"steps": max(0.0, steps - run.progress[run._counter])}
        run.advance(seconds=self._each, **left)
        done = steps is not None and run.progress[run._counter] >= steps
        done |= seconds is not None and run.progress["train_s"] >= seconds
        done |= bool(self._ends["until_solved"]) and run.solved is not None
        return report(run, done)

    def save_checkpoint(self, checkpoint_dir: str) -> None:
        self.run.save(os.path.join(checkpoint_dir, _FILE))

    def load_checkpoint(self, checkpoint: str) -> None:
        self.run = Run.restore(os.path.join(checkpoint, _FILE), threads=1)
        known = {knob["name"]: knob for knob in _native.knobs(self.run.room, self.run.variant)}
        for name, value in self._knobs.items():
            if name in known and known[name]["live"]:
                self.run.set(**{name: value})
            elif name in known and _value(value) != self.run.config["knobs"].get(name, known[name]["default"]):
                live = ", ".join(name for name, knob in known.items() if knob["live"])
                raise ValueError(f"{name} cannot change while a run goes on, so a fork has its parent's. Mutate live knobs alone: {live}")

    def reset_config(self, new_config: dict[str, Any]) -> bool:
        self.setup(new_config)
        return True


def report(run: Run, done: bool) -> dict[str, Any]:
    """The newest of all that a run tells."""
    progress, metrics, tests = run.progress, run.metrics(), run.tests()
    told: dict[str, Any] = {"done": done, **progress, "digest": run.digest, "arithmetic": run.arithmetic}
    for columns in (metrics, tests):
        if columns.rows:
            told |= {name: float(column[-1]) for name, column in columns.items() if name not in progress}
    solved = run.solved
    told["solved_at"] = None if solved is None else solved["counts"][0]
    told["result"] = told.get(result_column(run.room, run.variant)["name"])
    return told


def result_column(room: str, variant: str) -> dict[str, Any]:
    """The number that runs are compared by: the goal's, or else the first of a test, or of the metrics."""
    about = _native.rooms()[room]
    goal = next(one["goal"] for one in about["variants"] if one["id"] == variant)
    named = [column for column in about["tests"] if goal and column["name"] == goal["column"]]
    return (named or about["tests"] or about["metrics"])[0]
