"""The terminal's `sweep` on a cluster, with the same syntax, runs and table. Each run is a trial of Ray Tune and uses one core."""

from __future__ import annotations

import itertools
import math
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import ray
from ray import tune

from .. import _native
from .._native import Axis
from ..runs import Run
from ._cluster import connect
from ._tune import Trainable, result_column

MOST_RUNS = 100_000


@dataclass
class Result:
    """A finished run."""

    knobs: dict[str, Any]
    seed: int
    result: float | None
    solved_at: float | None
    diverged: bool
    digest: str | None
    seconds: float


def settings(base: dict[str, Any], axes: Sequence[Axis], points: int, room: str, variant: str, seeds: int) -> list[dict[str, Any]]:
    """All combinations of the values of the axes, as settings."""
    lists = []
    for axis in axes:
        if axis.name in base or any(axis.name == name for name, _ in lists):
            raise ValueError(f"{axis.name} is given twice. Give it once with all values")
        lists.append((axis.name, axis.values(points, room, variant)))
    if math.prod([len(values) for _, values in lists]) * seeds > MOST_RUNS:
        raise ValueError(f"more than {MOST_RUNS:,} runs. Choose fewer --points, values or --seeds")
    names = [name for name, _ in lists]
    return [base | dict(zip(names, values)) for values in itertools.product(*(values for _, values in lists))]


class _Trial(Trainable):
    """A trial that ends with a test, as in the terminal. A run that diverges gives a result, not an error."""

    def step(self) -> dict[str, Any]:
        try:
            report = super().step()
            if report["done"]:
                report["result"] = self.run.test()[result_column(self.run.room, self.run.variant)["name"]]
                report["solved_at"] = None if self.run.solved is None else self.run.solved[self.run._counter]
            return report | {"diverged": False}
        except _native.DivergedError:
            return {"done": True, "diverged": True, "result": None, "solved_at": None, "digest": None, "train_s": 0.0}


def sweep(
    room: str = "control",
    variant: str | None = None,
    *,
    axes: Sequence[Axis] = (),
    points: int = 5,
    seeds: int = 5,
    knobs: dict[str, Any] | None = None,
    steps: float | None = None,
    seconds: float | None = None,
    until_solved: bool = False,
    address: str | None = None,
    storage: str | None = None,
    report: Callable[[Result, int, int], None] | None = None,
) -> list[tuple[dict[str, Any], list[Result]]]:
    """Trains with every setting and seed. Returns each setting with its results, in the order of the seeds."""
    about = _native.rooms().get(room)
    if about is None:
        raise ValueError(f"unknown room '{room}'. The rooms are: {', '.join(_native.rooms())}")
    variant = variant or about["variants"][0]["id"]
    declared = next((one["sweep_budget"] for one in about["variants"] if one["id"] == variant), None)
    grid = settings(dict(knobs or {}), axes, points, room, variant, seeds)
    if steps is None and seconds is None:
        steps = declared
    for setting in grid:
        # Invalid settings raise an error before the first run starts.
        Run(room, setting.get("variant", variant), knobs={k: v for k, v in setting.items() if k != "variant"}, threads=1)
    connect(address)
    jobs = [(place, seed) for seed in range(1, seeds + 1) for place in range(len(grid))]
    ends = {"room": room, "steps": steps, "seconds": seconds, "until_solved": until_solved}
    configs = [{"variant": variant, **grid[place], "seed": seed, **ends} for place, seed in jobs]
    results: dict[tuple[int, int], Result] = {}

    def finished(job: tuple[int, int], last: dict[str, Any]) -> None:
        place, seed = job
        results[job] = Result(grid[place], seed, last["result"], last["solved_at"], last["diverged"], last["digest"], last["time_total_s"])
        if report is not None:
            report(results[job], len(results), len(jobs))

    class Reporter(tune.Callback):
        def on_trial_complete(self, iteration: int, trials: list[Any], trial: Any, **info: Any) -> None:
            finished(jobs[trial.config["job"]], trial.last_result)

    class Job(_Trial):
        def setup(self, config: dict[str, Any]) -> None:
            super().setup(configs[config["job"]])

    os.environ.setdefault("RAY_AIR_NEW_OUTPUT", "0")
    with tempfile.TemporaryDirectory() as folder:
        tuner = tune.Tuner(
            tune.with_resources(Job, {"cpu": 1}),
            param_space={"job": tune.grid_search(list(range(len(jobs))))},
            tune_config=tune.TuneConfig(metric=None, reuse_actors=True),
            run_config=tune.RunConfig(
                name="sweep",
                storage_path=storage or folder,
                verbose=0,
                callbacks=[Reporter()],
                failure_config=tune.FailureConfig(max_failures=3),
                checkpoint_config=tune.CheckpointConfig(checkpoint_frequency=10, num_to_keep=1),
            ),
        )
        for trial in tuner.fit():
            if trial.error is not None:
                raise trial.error
    return [(setting, [results[place, seed] for seed in range(1, seeds + 1)]) for place, setting in enumerate(grid)]


def table(room: str, variant: str, outcomes: Sequence[tuple[dict[str, Any], Sequence[Result]]]) -> str:
    """Table with a line per setting: quartiles of the results, and quartiles of the counter at which the goal was reached."""
    column = result_column(room, variant)
    settings = [(setting, [(run.result, run.solved_at, run.diverged) for run in runs]) for setting, runs in outcomes]
    return _native.sweep_table(room, column in _native.rooms()[room]["tests"], column["name"], settings)
