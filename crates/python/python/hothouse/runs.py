"""Runs of any room, as in the terminal and on the page."""

from __future__ import annotations

import html
import json
import math
import os
import time
import warnings
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from . import _native
from ._arrays import plain
from ._source import source
from .page import Frame, frame

#: NumPy types of tensors, by their names in a checkpoint.
_DTYPES = {"F32": np.float32, "F64": np.float64, "U32": np.uint32, "U64": np.uint64, "U8": np.uint8}

#: Seconds of training between checks for interrupts and progress output.
_LOOK_S = 0.05

#: Seconds to wait for the end of an iteration. After this time, training stops at any point at which the run can be saved.
_LATE_S = 1.0


def _data(data: Any) -> tuple[str, bytes] | None:
    """Name and contents of training data. `data` is a path, a pair of name and contents, or `None`."""
    if data is None:
        return None
    if isinstance(data, tuple):
        name, content = data
        return str(name), bytes(content)
    return _native.read_data(os.fspath(data))


def _world(world: str | os.PathLike[str]) -> tuple[str, bytes]:
    """Name and contents of the file of an environment."""
    name, content = source(world)
    if content is None:
        raise ValueError(f"{name!r} is not a Python file. Name a file that ends with .py, or choose a built-in environment with variant=")
    return name, content


class Columns(Mapping[str, np.ndarray]):
    """A table: NumPy arrays of equal length, by column name. Missing values are NaN."""

    def __init__(self, columns: dict[str, np.ndarray]) -> None:
        self._columns = columns

    def __getitem__(self, name: str) -> np.ndarray:
        try:
            return self._columns[name]
        except KeyError:
            raise KeyError(f"no column '{name}'. Choose one of: {', '.join(self._columns)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self._columns.values())))

    def pandas(self) -> Any:
        """The table as a pandas `DataFrame`."""
        import pandas

        return pandas.DataFrame(self._columns)

    def arrow(self) -> Any:
        """The table as a PyArrow `Table`."""
        import pyarrow

        return pyarrow.table(self._columns)

    def __repr__(self) -> str:
        return f"Columns({self.rows} rows of {', '.join(self._columns)})"


class Exported(NamedTuple):
    """An exported model and its model card."""

    model: bytes
    card: str


class Policy:
    """Copy of a run's policy, which is applied to batches of observations."""

    def __init__(self, native: _native.Policy, discrete: bool) -> None:
        self._native, self._discrete = native, discrete

    def _rows(self, observations: Any) -> np.ndarray:
        rows = plain(observations, np.float32)
        if rows.ndim != 2:
            raise ValueError(f"observations must have shape (n, {self._native.observation_len}), not {rows.shape}")
        return rows

    def act(self, observations: Any) -> np.ndarray:
        """Best action in each state, in the format that the environments expect."""
        actions = self._native.act(self._rows(observations))
        return actions[:, 0].astype(np.int64) if self._discrete else actions

    __call__ = act

    def predict(self, observations: Any) -> tuple[np.ndarray, np.ndarray]:
        """Policy and value of each state.

        A discrete policy is the probability of each action. A continuous policy is the mean of the action and its standard deviation.
        """
        return self._native.predict(self._rows(observations))


class Run:
    """A new run of any room.

    Args:
        room: One of `hothouse.rooms()`.
        variant: One of the room's variants; the default is its first.
        seed: Equal config and seed give an equal digest on any machine and with any number of threads.
        knobs: Settings by name; see `hothouse.knobs(room, variant)`.
        data: Training data for rooms that accept it: a path, or `(name, bytes)`.
        world: For the room control: the path or the text of a Python file that defines the environment (docs/worlds.md).
        threads: Number of training threads; the default is one per core.
    """

    def __init__(
        self,
        room: str,
        variant: str | None = None,
        *,
        seed: int = 1,
        knobs: Mapping[str, float | int | bool | str] | None = None,
        data: Any = None,
        world: str | os.PathLike[str] | None = None,
        threads: int | None = None,
    ) -> None:
        values = {name: _value(value) for name, value in (knobs or {}).items()}
        self._begin(_native.Run.begin((room, variant, seed), values, _data(data) if world is None else _world(world), threads))

    def _begin(self, native: _native.Run) -> None:
        self._native = native
        #: Versions of the files from which this run was restored, or to which it was saved, by their real paths.
        self._versions: dict[str, str | None] = {}
        self._config = native.config()
        self._room = _native.rooms()[self._config["room"]]
        self._warn_notices()

    @classmethod
    def restore(cls, checkpoint: str | os.PathLike[str] | bytes, *, data: Any = None, threads: int | None = None) -> Run:
        """Restores a run from a checkpoint file or from the file's bytes. Python, the terminal and the page write the same checkpoints."""
        versions: dict[str, str | None] = {}
        if isinstance(checkpoint, (bytes, bytearray, memoryview)):
            content = bytes(checkpoint)
        else:
            path = os.fspath(checkpoint)
            versions[os.path.realpath(path)] = _native.file_version(path)
            content = _native.read_checkpoint(path)
        run = cls.__new__(cls)
        run._begin(_native.Run.restore(content, _data(data), threads))
        run._versions = versions
        return run

    def advance(self, *, seconds: float | None = None, steps: float | None = None, progress: bool = False) -> Run:
        """Trains for `seconds` or for `steps` more steps of the room's first counter, whichever ends first.

        Training then continues to the end of the iteration, also after Ctrl-C. If this takes more than a second, training stops within
        the iteration, at a point at which the run can be saved. This does not change later results. `progress` shows a tqdm bar if tqdm
        is installed, and a curve in a notebook.
        """
        if seconds is None and steps is None:
            raise TypeError("advance() needs a limit. Give seconds= or steps=")
        for name, given in [("seconds", seconds), ("steps", steps)]:
            if given is not None and not given >= 0:
                raise ValueError(f"{name} = {given} is invalid. Give 0 or more")
        began = time.monotonic()
        done = self.progress[self._counter]
        target = math.inf if steps is None else done + steps
        display = _ProgressDisplay(self, done, target, seconds) if progress else None
        try:
            while True:
                left = math.inf if seconds is None else seconds - (time.monotonic() - began)
                for_s = min(_LOOK_S, left) if left > 0 else _LOOK_S
                if self._native.work(target, for_s, left <= 0, left <= -_LATE_S):
                    break
                if display:
                    display.look()
        except KeyboardInterrupt:
            self._end()
            raise
        finally:
            if display:
                display.end()
            self._warn_notices()
        return self

    def _end(self) -> None:
        """Trains to the end of the iteration. If this takes too long, trains to a point at which the run can be saved."""
        if not self._native.work(math.inf, _LATE_S, True, False):
            self._native.work(math.inf, math.inf, True, True)

    @property
    def _counter(self) -> str:
        return self._room["counters"][0]["name"]

    def _warn_notices(self) -> None:
        for level, text in self._native.notices():
            if level != "info":
                warnings.warn(text, RuntimeWarning, stacklevel=3)

    @property
    def room(self) -> str:
        return self._config["room"]

    @property
    def variant(self) -> str:
        return self._config["variant"]

    @property
    def seed(self) -> int:
        return self._config["seed"]

    @property
    def config(self) -> dict[str, Any]:
        """Config from which the terminal and the page start the same run."""
        return self._config

    @property
    def progress(self) -> dict[str, float]:
        """Iteration, the room's counters, and seconds of training."""
        return self._named(self._native.progress())

    def _named(self, progress: dict[str, Any]) -> dict[str, float]:
        """`progress` with the names of the room's counters."""
        counts = {column["name"]: count for column, count in zip(self._room["counters"], progress["counts"])}
        return {"iteration": progress["iteration"], **counts, "train_s": progress["train_s"]}

    @property
    def about(self) -> Any:
        """The room's description of the variant."""
        return self._native.variant()["about"]

    @property
    def solved(self) -> dict[str, float] | None:
        """Progress at the first confirmed solution; `None` if the run is not solved."""
        solved = self._native.solved()
        return solved and self._named(solved)

    @property
    def standing(self) -> dict[str, Any]:
        """Headline of the run in the words of the terminal and the page: one leading number with its name, and one state.

        The number is `value`, `number` (as text) and `name`. The state is `state` (`learning`, `solved`, `still_solved`, `lost_again` or
        `failed`), `words`, and `since`, the progress at its beginning. Both depend on the latest test, also on one by `test()`.
        """
        standing = self._native.standing()
        since = standing["since"]
        return {**standing, "progress": self._named(standing["progress"]), "since": since and self._named(since)}

    @property
    def attempts(self) -> int:
        """Number of tests that reached the goal and were not confirmed."""
        return self._native.attempts()

    @property
    def digest(self) -> str:
        """Hash of all weights. Equal runs with the same arithmetic have equal hashes."""
        return self._native.digest()["weights"]

    @property
    def arithmetic(self) -> str:
        """Kind of arithmetic of the digest. Digests of different kinds are not comparable.

        The kinds are `fused`, `unfused`, `bf16` and `amx`. `partial` marks a digest within an iteration.
        """
        return self._native.digest()["arithmetic"]

    @property
    def link(self) -> str:
        """Link that starts this run on the page, without the page's host."""
        return self._native.shared()["link"]

    @property
    def command(self) -> str:
        """Terminal command that starts this run."""
        return self._native.shared()["command"]

    def metrics(self) -> Columns:
        """Table with a row per iteration: progress, metrics, and shares of time."""
        return Columns(self._native.metrics())

    def tests(self) -> Columns:
        """Table with a row per test."""
        return Columns(self._native.tests())

    def test(self) -> dict[str, float | None]:
        """Tests the current policy or model. Training is not affected."""
        names = [column["name"] for column in self._room["tests"]]
        while (values := self._native.test(_LOOK_S)) is None:
            pass
        return dict(zip(names, values))

    def set(self, **knobs: float | int | bool | str) -> Run:
        """Changes live knobs. The changes take effect at the next iteration."""
        for name, value in knobs.items():
            self._native.set(name, _value(value))
        return self

    def ask(self, question: str, **fields: Any) -> Any:
        """Asks a question of the room, or a question that every room answers, such as `tensors`; returns plain data."""
        return self._native.ask({"ask": question, **fields})

    def policy(self) -> Policy:
        """Copy of the current policy, for rooms whose learner acts on observations."""
        return Policy(self._native.policy(), bool(self.about["choices"]))

    def save(self, path: str | os.PathLike[str] | None = None) -> bytes:
        """Saves the run as a checkpoint, which the terminal and the page can open. A short iteration in progress is completed first.

        The file is written completely or not at all. Only checkpoints are overwritten. A file to which another process saves, or has saved
        since this run was restored from it or saved to it, raises an `OSError`.
        """
        content = self._native.save()
        if path is not None:
            real = os.path.realpath(path)
            self._versions[real] = _native.write_checkpoint(os.fspath(path), content, self._versions.get(real))
        return content

    def export(self, format: str, path: str | os.PathLike[str] | None = None) -> Exported:
        """Exports the model as `"onnx"`, `"c"` or `"js"`, with its model card; docs/export.md describes inputs and outputs.

        With `path`, the model is written there, and the card beside it with the extension `.md`. Only files of the same kind are
        overwritten.
        """
        return Exported(*self._native.export(format, None if path is None else os.fspath(path)))

    def examples(self, count: int = 1000, *, seed: int = 1) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Inputs for a check of the exported model, and the outputs that Hothouse's own code computes for these inputs."""
        return self._native.examples(count, seed)

    def tensors(self) -> dict[str, np.ndarray]:
        """Copies of the learner's tensors by name: weights, optimiser moments, states.

        All tensors share one new buffer. Other libraries can use a tensor without another copy, as in `torch.from_dlpack(tensor)`.
        """
        # Tensors with this prefix are not the learner's: they hold the run's history and data.
        return {name: tensor for name, tensor in self._saved() if not name.startswith("run.")}

    def _saved(self) -> Iterator[tuple[str, np.ndarray]]:
        """Names and tensors of a checkpoint."""
        content = self._native.save_array()
        head = 8 + int.from_bytes(content[:8].tobytes(), "little")
        for name, about in json.loads(content[8:head].tobytes()).items():
            if name != "__metadata__":
                first, end = (head + offset for offset in about["data_offsets"])
                yield name, content[first:end].view(_DTYPES[about["dtype"]]).reshape(about["shape"])

    @property
    def world(self) -> str | None:
        """Text of the Python file that defines the run's environment; `None` for a run without such a file."""
        if self.room != "control" or "data" not in self.config:
            return None
        return dict(self._saved())["run.data"].tobytes().decode()

    def __repr__(self) -> str:
        done = ", ".join(f"{name} {value:,.0f}" for name, value in self.progress.items() if name != "train_s")
        standing = self.standing
        headline = f"{standing['words']}; {standing['name']}: {standing['number']}"
        return f"Run({self.room!r}, {self.variant!r}, seed={self.seed}: {headline}; {done}, digest {self.digest})"

    def _curve(self) -> tuple[str, str, np.ndarray, np.ndarray]:
        """Default curve: the goal's column of the tests, or the first metric that has a chart."""
        goal, tests = self._native.variant()["goal"], self.tests()
        if goal and tests.rows > 1:
            columns, name, label = tests, goal["column"], "tests"
        else:
            columns = self.metrics()
            charted = [column for column in self._room["metrics"] if column["chart"]]
            name, label = charted[0]["name"], "training"
        x, y = columns[self._counter], columns[name]
        known = np.isfinite(y)
        return f"{name} ({label})", self._counter, x[known], y[known]

    def _repr_html_(self) -> str:
        name, counter, x, y = self._curve()
        line, width, height = "", 480, 160
        if len(x) > 1:
            keep = np.unique(np.linspace(0, len(x) - 1, 400).astype(int))
            low, high = float(y.min()), float(y.max())
            across = (x[keep] - x[0]) / max(x[-1] - x[0], 1e-12) * width
            up = height - (y[keep] - low) / max(high - low, 1e-12) * height
            points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(across, up))
            line = (
                f'<svg viewBox="-4 -4 {width + 8} {height + 8}" width="{width}" role="img" aria-label="{html.escape(name)}">'
                f'<polyline points="{points}" fill="none" stroke="#4076a4" stroke-width="2"/></svg>'
                f"<div>{html.escape(name)}: {float(y[-1]):.5g} at {float(x[-1]):,.0f} {html.escape(counter)}, from {low:.5g} to {high:.5g}</div>"
            )
        return f"<div><code>{html.escape(repr(self))}</code></div>{line}"

    def plot(self, *names: str, axes: Any = None) -> Any:
        """Plots the columns `names` of the metrics with matplotlib; without names, the default curve. Returns the axes."""
        import matplotlib.pyplot as pyplot

        axes = pyplot.gca() if axes is None else axes
        if names:
            metrics = self.metrics()
            for name in names:
                axes.plot(metrics[self._counter], metrics[name], label=name)
        else:
            name, _, x, y = self._curve()
            axes.plot(x, y, label=name)
        axes.set_xlabel(self._counter)
        axes.legend()
        return axes

    def show(
        self,
        page: str | os.PathLike[str] | None = None,
        *,
        controls: str = "all",
        theme: str = "auto",
        width: int | str = "100%",
        height: int | str = 480,
    ) -> Frame:
        """Frame for a notebook. In the frame, the page starts the run of `link` from its beginning.

        `page` is the address of a built page, or a folder with a built page, which is then served on this machine. The default is the value
        of the environment variable `HOTHOUSE_PAGE`. `controls` is `all`, `play`, `knobs` or `none`; `theme` is `auto`, `light` or `dark`.
        """
        return frame(self.link, f"Hothouse: {self.variant}", page, controls, theme, (width, height))


def _value(value: Any) -> float | str:
    """Converts a knob's value to a number or text. A switch becomes 0 or 1."""
    if isinstance(value, str):
        return value
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{value!r} is not a knob value. Give a number, a switch or a text") from None


class _ProgressDisplay:
    """Progress display during training."""

    def __init__(self, run: Run, done: float, target: float, seconds: float | None) -> None:
        self.run, self.first, self.target, self.seconds = run, done, target, seconds
        self.began = self.drawn = time.monotonic()
        self.bar = self.display = None
        self.by_steps = math.isfinite(target)
        try:
            from tqdm.auto import tqdm

            if self.by_steps:
                self.bar = tqdm(total=target - done, unit=f" {run._counter}", unit_scale=True)
            else:
                self.bar = tqdm(total=seconds, unit="s", bar_format="{l_bar}{bar}| {n:.0f}/{total:.0f} s")
        except ImportError:
            pass
        try:
            from IPython import get_ipython
            from IPython.display import display

            if getattr(get_ipython(), "kernel", None) is not None:
                self.display = display(run, display_id=True)
        except ImportError:
            pass

    def look(self) -> None:
        now = time.monotonic()
        if self.bar is not None:
            done = self.run.progress[self.run._counter] - self.first if self.by_steps else now - self.began
            self.bar.update(min(done, self.bar.total) - self.bar.n)
        if self.display is not None and now - self.drawn > 1:
            self.drawn = now
            self.display.update(self.run)

    def end(self) -> None:
        self.look()
        if self.bar is not None:
            self.bar.close()
        if self.display is not None:
            self.display.update(self.run)
