"""The terminal's `sweep` on a cluster: its grammar, its runs, its table. Trials are Tune's, one core each."""

from __future__ import annotations

import itertools
import math
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import ray
from ray import tune

from .. import _native
from ..runs import Run
from ._cluster import connect
from ._tune import Trainable, result_column

MOST_RUNS = 100_000


def number(text: str) -> float:
    """As people write it: `2000000`, `2_000_000`, `2e6`."""
    try:
        if all(text.split("_")) and math.isfinite(value := float(text.replace("_", ""))):
            return value
    except ValueError:
        pass
    raise ValueError("write a number, as in 2e6 or 2_000_000")


@dataclass
class Axis:
    """A knob with its values: `lr=1e-4..1e-2:log`, `gamma=0.9..0.99` or `hidden=32,64,128`."""

    name: str
    texts: list[str] | None
    ends: tuple[float, float] | None = None
    log: bool = False

    @classmethod
    def read(cls, text: str) -> Axis:
        form = "write it as KNOB=FROM..TO, KNOB=FROM..TO:log or KNOB=A,B,C"
        name, equals, points = text.partition("=")
        if not equals or not points:
            raise ValueError(form)
        first, dots, last = points.partition("..")
        if not dots:
            return cls(name, points.split(","))
        last, colon, scale = last.partition(":")
        if colon and scale != "log":
            raise ValueError(form)
        low, high = number(first), number(last)
        if low >= high:
            raise ValueError("write the smaller end of the range first")
        if colon and low <= 0:
            raise ValueError("a logarithmic range begins above 0")
        return cls(name, None, (low, high), bool(colon))

    def values(self, count: int, knobs: Sequence[dict[str, Any]]) -> list[Any]:
        """Each once, in the order in which they were written."""
        knob = next((knob for knob in knobs if knob["name"] == self.name), None)
        if knob is None and self.name != "variant":
            raise ValueError(f"there is no knob called '{self.name}'. Try one of: {', '.join(knob['name'] for knob in knobs)}")
        if self.texts is not None:
            return list(dict.fromkeys(knob_value(knob, text) for text in self.texts))
        low, high = self.ends
        values = []
        for i in range(count):
            at = i / (count - 1)
            if at in (0.0, 1.0):
                value = high if at else low
            else:
                between = math.exp(math.log(low) * (1 - at) + math.log(high) * at) if self.log else low * (1 - at) + high * at
                value = float(f"{between:.5e}")
            values.append(value if knob and knob["kind"].get("kind") == "float" else float(_round(value)))
        return list(dict.fromkeys(values))


def _round(value: float) -> float:
    """Halves away from zero."""
    return math.copysign(math.floor(abs(value) + 0.5), value)


def knob_value(knob: dict[str, Any] | None, text: str) -> Any:
    """What somebody wrote, as the knob takes it."""
    kind = "choice" if knob is None else knob["kind"].get("kind")
    if kind in ("choice", "text"):
        return text
    if kind == "bool":
        switches = {"on": 1.0, "yes": 1.0, "true": 1.0, "1": 1.0, "off": 0.0, "no": 0.0, "false": 0.0, "0": 0.0}
        if text not in switches:
            raise ValueError(f"{knob['name']} = {text} is of the wrong kind. Choose on or off")
        return switches[text]
    return number(text)


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


def settings(base: dict[str, Any], axes: Sequence[Axis], points: int, knobs: Sequence[dict[str, Any]], seeds: int) -> list[dict[str, Any]]:
    """The grid, in the order of the axes."""
    lists = []
    for axis in axes:
        if axis.name in base or any(axis.name == name for name, _ in lists):
            raise ValueError(f"{axis.name} is given twice. Name it once, with all its values")
        lists.append((axis.name, axis.values(points, knobs)))
    if math.prod([len(values) for _, values in lists]) * seeds > MOST_RUNS:
        raise ValueError(f"that is more than {MOST_RUNS:,} runs. Ask for fewer --points, values or --seeds")
    names = [name for name, _ in lists]
    return [base | dict(zip(names, values)) for values in itertools.product(*(values for _, values in lists))]


class _Trial(Trainable):
    """One that ends with a test, as the terminal's runs do, and whose divergence is a result."""

    def step(self) -> dict[str, Any]:
        try:
            told = super().step()
            if told["done"]:
                told["result"] = self.run.test()[result_column(self.run.room, self.run.variant)["name"]]
                told["solved_at"] = None if self.run.solved is None else self.run.solved["counts"][0]
            return told | {"diverged": False}
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
    told: Callable[[Result, int, int], None] | None = None,
) -> list[tuple[dict[str, Any], list[Result]]]:
    """Trains under every setting with every seed, and gives the results of each setting, seed by seed."""
    about = _native.rooms().get(room)
    if about is None:
        raise ValueError(f"there is no room called '{room}'. The rooms are: {', '.join(_native.rooms())}")
    variant = variant or about["variants"][0]["id"]
    declared = next((one["sweep_budget"] for one in about["variants"] if one["id"] == variant), None)
    grid = settings(dict(knobs or {}), axes, points, _native.knobs(room, variant), seeds)
    if steps is None and seconds is None:
        steps = declared
    for setting in grid:
        # Whatever no run can start from is known before the first one does.
        Run(room, setting.get("variant", variant), knobs={k: v for k, v in setting.items() if k != "variant"}, threads=1)
    connect(address)
    jobs = [(place, seed) for seed in range(1, seeds + 1) for place in range(len(grid))]
    ends = {"room": room, "steps": steps, "seconds": seconds, "until_solved": until_solved}
    configs = [{"variant": variant, **grid[place], "seed": seed, **ends} for place, seed in jobs]
    results: dict[tuple[int, int], Result] = {}

    def finished(job: tuple[int, int], last: dict[str, Any]) -> None:
        place, seed = job
        results[job] = Result(grid[place], seed, last["result"], last["solved_at"], last["diverged"], last["digest"], last["time_total_s"])
        if told is not None:
            told(results[job], len(results), len(jobs))

    class Told(tune.Callback):
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
                callbacks=[Told()],
                failure_config=tune.FailureConfig(max_failures=3),
                checkpoint_config=tune.CheckpointConfig(checkpoint_frequency=10, num_to_keep=1),
            ),
        )
        for trial in tuner.fit():
            if trial.error is not None:
                raise trial.error
    return [(setting, [results[place, seed] for seed in range(1, seeds + 1)]) for place, setting in enumerate(grid)]


def quartiles(values: Sequence[float]) -> list[float | None]:
    """Median, lower and upper quartile, by linear interpolation; infinite is none."""
    ordered = sorted(values)

    def at(share: float) -> float | None:
        place = share * (len(ordered) - 1)
        low, high = ordered[math.floor(place)], ordered[math.ceil(place)]
        value = low if low == high else low + (high - low) * (place % 1)
        return value if math.isfinite(value) else None

    return [at(0.5), at(0.25), at(0.75)] if ordered else [None] * 3


def short(x: float) -> str:
    """Three figures and the prefix engineers use."""
    for least, scale, prefix in [(999.5e9, 1e12, " T"), (999.5e6, 1e9, " G"), (999.5e3, 1e6, " M"), (9995.0, 1e3, " k"), (0.0, 1.0, "")]:
        if abs(x) >= least:
            break
    scaled = x / scale
    decimals = 0 if (not prefix and x % 1 == 0) or abs(scaled) >= 99.95 else 1 if abs(scaled) >= 9.995 else 2
    return f"{scaled:.{decimals}f}{prefix}"


def figure(x: float) -> str:
    """In at most seven places."""
    size = abs(x)
    if size == 0:
        return "0"
    if not math.isfinite(x):
        return str(x)
    if size < 1e-3:
        mantissa, exponent = f"{x:.1e}".split("e")
        return f"{mantissa}e{int(exponent)}"
    return f"{x:.4f}" if size < 1 else f"{x:.2f}" if size < 100 else short(x)


def shown(column: dict[str, Any], value: float | None) -> str:
    """A column's number, as the terminal has it."""
    if value is None:
        return "-"
    if column["share"]:
        return f"{100 * value:.0f}%"
    if 1.0 <= abs(value) < 9995.0 and column["rate"] is None:
        return f"{value:.1f}"
    return figure(value)


def knob_text(value: Any) -> str:
    """A knob's value as it can be typed again."""
    if isinstance(value, str):
        return value if len(value) <= 40 else value[:39].rstrip() + "…"
    return np.format_float_positional(float(value), trim="-")


def named(setting: dict[str, Any]) -> str:
    return " ".join(f"{name}={knob_text(value)}" for name, value in sorted(setting.items())) or "all defaults"


def table(room: str, variant: str, outcomes: Sequence[tuple[dict[str, Any], Sequence[Result]]]) -> str:
    """For every setting the quartiles of the last test's result, and of what was done until the goal was reached."""
    result, unit = result_column(room, variant), _native.rooms()[room]["counters"][0]["unit"]
    names = sorted(outcomes[0][0]) if outcomes else []
    rows = [[*names, "solved", result["brief"], "25 %", "75 %", f"{unit} to solved", "25 %", "75 %"]]
    for setting, runs in outcomes:
        results = quartiles([-math.inf if run.result is None else run.result for run in runs])
        solved_at = quartiles([math.inf if run.solved_at is None else run.solved_at for run in runs])
        diverged = sum(run.diverged for run in runs)
        solved = f"{sum(run.solved_at is not None for run in runs)} of {len(runs)}" + (f", {diverged} diverged" if diverged else "")
        counts = ["-" if count is None else f"{int(_round(count)):,}" for count in solved_at]
        rows.append([*(knob_text(setting[name]) for name in names), solved, *(shown(result, value) for value in results), *counts])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths)) + "\n" for row in rows)
