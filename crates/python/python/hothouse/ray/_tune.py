"""Runs as trials of Ray Tune. A trial saves the checkpoint of its run, so it resumes exactly, and another trial can continue the run."""

from __future__ import annotations

import os
from typing import Any

from ray import tune

from .. import _native
from ..runs import Run, _value

#: Config entries that are not knobs.
_OWN = ("room", "variant", "seed", "steps", "seconds", "until_solved", "each")
_FILE = "run.safetensors"


class Trainable(tune.Trainable):
    """A run of any room as a trial.

    Config: `room`, `variant` and `seed` as in `hothouse.Run`; the limits `steps`, `seconds` and `until_solved`; and `each`, the seconds
    of training between two results (default 1). The trial ends at the first limit that it reaches. All other entries are knobs. A result
    contains the latest metrics and tests by name, `result` (the value of the goal's column), `solved_at`, and `digest`.

    A trial can load another trial's checkpoint, as population-based training requires. It then continues the other run, but with the
    live knobs of its own config. All other knobs are those of the checkpoint and cannot be mutated.
    """

    def setup(self, config: dict[str, Any]) -> None:
        self._split_config(config)
        self.run = Run(self._start["room"], self._start["variant"], seed=self._start["seed"], knobs=self._knobs, threads=1)

    def _split_config(self, config: dict[str, Any]) -> None:
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
                raise ValueError(f"{name} cannot change during a run, so a fork keeps its parent's value. Mutate only live knobs: {live}")

    def reset_config(self, new_config: dict[str, Any]) -> bool:
        self.setup(new_config)
        return True


def report(run: Run, done: bool) -> dict[str, Any]:
    """Latest values of all metrics and tests."""
    progress, metrics, tests = run.progress, run.metrics(), run.tests()
    result: dict[str, Any] = {"done": done, **progress, "digest": run.digest, "arithmetic": run.arithmetic}
    for columns in (metrics, tests):
        if columns.rows:
            result |= {name: float(column[-1]) for name, column in columns.items() if name not in progress}
    solved = run.solved
    result["solved_at"] = None if solved is None else solved[run._counter]
    result["result"] = result.get(result_column(run.room, run.variant)["name"])
    return result


def result_column(room: str, variant: str) -> dict[str, Any]:
    """Column by which runs are compared: the goal's column, else the first test column, else the first metric."""
    about = _native.rooms()[room]
    goal = next(one["goal"] for one in about["variants"] if one["id"] == variant)
    named = [column for column in about["tests"] if goal and column["name"] == goal["column"]]
    return (named or about["tests"] or about["metrics"])[0]
