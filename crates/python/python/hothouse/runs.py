"""Runs of any room: the run of the terminal and of the page, a while at a time."""

from __future__ import annotations

import html
import json
import math
import os
import time
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from . import _native

#: Types of tensors, as the file of a checkpoint names them.
_DTYPES = {"F32": np.float32, "F64": np.float64, "U32": np.uint32, "U64": np.uint64, "U8": np.uint8}

#: Seconds after which a run in training looks whether somebody wants something of it.
_LOOK_S = 0.05

#: Seconds that a run which is to end has to reach the end of its iteration, after which it ends wherever it can be saved.
_LATE_S = 1.0


def _data(data: Any) -> tuple[str, bytes] | None:
    """A file's name and bytes, from its path or from both."""
    if data is None:
        return None
    if isinstance(data, tuple):
        name, content = data
        return str(name), bytes(content)
    return _native.read_data(os.fspath(data))


class Columns(Mapping[str, np.ndarray]):
    """A table: NumPy arrays by name, of equal length. What is not known is NaN."""

    def __init__(self, columns: dict[str, np.ndarray]) -> None:
        self._columns = columns

    def __getitem__(self, name: str) -> np.ndarray:
        try:
            return self._columns[name]
        except KeyError:
            raise KeyError(f"there is no column '{name}'. Try one of: {', '.join(self._columns)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    @property
    def rows(self) -> int:
        """How many rows there are."""
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


class Policy:
    """What a run had learned when it was asked for, acting on batches of observations."""

    def __init__(self, native: _native.Policy, discrete: bool) -> None:
        self._native, self._discrete = native, discrete

    def _rows(self, observations: Any) -> np.ndarray:
        rows = np.ascontiguousarray(observations, np.float32)
        if rows.ndim != 2:
            raise ValueError(f"observations of shape {rows.shape} are no batch. Give an array of shape (n, {self._native.observation_len})")
        return rows

    def act(self, observations: Any) -> np.ndarray:
        """The best action in each state, as the environments take them."""
        actions = self._native.act(self._rows(observations))
        return actions.astype(np.int64) if self._discrete else actions[:, None]

    __call__ = act

    def predict(self, observations: Any) -> tuple[np.ndarray, np.ndarray]:
        """The probability of every choice, or the mean action and its spread, in each state; and what the state is worth."""
        return self._native.predict(self._rows(observations))


class Run:
    """A run of any room, from its beginning.

    Args:
        room: One of `hothouse.rooms()`.
        variant: One of the room's; its first by itself.
        seed: With the same config and seed a run has the same digest, whatever machine and number of threads.
        knobs: Settings by name, as `hothouse.knobs(room, variant)` tells them.
        data: The file that a run learns from, where the room takes one: a path, or `(name, bytes)`.
        threads: How many train it; by itself one for each core.
    """

    def __init__(
        self,
        room: str,
        variant: str | None = None,
        *,
        seed: int = 1,
        knobs: Mapping[str, float | int | bool | str] | None = None,
        data: Any = None,
        threads: int | None = None,
    ) -> None:
        if not 0 <= seed < 2**32:
            raise ValueError(f"seed = {seed} is out of range. Choose 0 to {2**32 - 1}")
        values = {name: _value(value) for name, value in (knobs or {}).items()}
        self._begin(_native.Run.begin((room, variant, seed), values, _data(data), threads))

    def _begin(self, native: _native.Run) -> None:
        self._native = native
        self._config = native.config()
        self._room = _native.rooms()[self._config["room"]]
        self._tell()

    @classmethod
    def restore(cls, checkpoint: str | os.PathLike[str] | bytes, *, data: Any = None, threads: int | None = None) -> Run:
        """A run that was saved, here or by the terminal or by the page: from a file, or from its bytes."""
        content = bytes(checkpoint) if isinstance(checkpoint, (bytes, bytearray, memoryview)) else _native.read_checkpoint(os.fspath(checkpoint))
        run = cls.__new__(cls)
        run._begin(_native.Run.restore(content, _data(data), threads))
        return run

    def advance(self, *, seconds: float | None = None, steps: float | None = None, progress: bool = False) -> Run:
        """Trains for so long, or for so many more of the room's first counter, whichever ends first, and to the end of the iteration.

        Ctrl-C ends it at the end of the iteration too. Where the iteration goes on for a second longer than `seconds` or than Ctrl-C,
        the run ends within it, where it can be saved; it goes on from there as if it had not ended. With `progress` it is shown: by tqdm where that is installed, and in a notebook
        as a curve.
        """
        if seconds is None and steps is None:
            raise TypeError("advance() needs an end. Give seconds= or steps=")
        for name, given in [("seconds", seconds), ("steps", steps)]:
            if given is not None and not given >= 0:
                raise ValueError(f"{name} = {given} is no amount. Give 0 or more")
        began = time.monotonic()
        done = self.progress[self._counter]
        target = math.inf if steps is None else done + steps
        shown = _Shown(self, done, target, seconds) if progress else None
        try:
            while True:
                left = math.inf if seconds is None else seconds - (time.monotonic() - began)
                for_s = min(_LOOK_S, left) if left > 0 else _LOOK_S
                if self._native.work(target, for_s, left <= 0, left <= -_LATE_S):
                    break
                if shown:
                    shown.look()
        except KeyboardInterrupt:
            self._end()
            raise
        finally:
            if shown:
                shown.end()
            self._tell()
        return self

    def _end(self) -> None:
        """Trains to the end of the iteration or, where that is far, to where the run can be saved."""
        if not self._native.work(math.inf, _LATE_S, True, False):
            self._native.work(math.inf, math.inf, True, True)

    @property
    def _counter(self) -> str:
        return self._room["counters"][0]["name"]

    def _tell(self) -> None:
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
        """What starts the same run elsewhere."""
        return self._config

    @property
    def progress(self) -> dict[str, float]:
        """The iteration, the room's counters and the seconds of training so far."""
        progress = self._native.progress()
        counts = {column["name"]: count for column, count in zip(self._room["counters"], progress["counts"])}
        return {"iteration": progress["iteration"], **counts, "train_s": progress["train_s"]}

    @property
    def about(self) -> Any:
        """What the room tells of the variant."""
        return next(one["about"] for one in self._room["variants"] if one["id"] == self.variant)

    @property
    def solved(self) -> dict[str, Any] | None:
        """Where it was first confirmed to reach the variant's goal, if it was."""
        return self._native.solved()

    @property
    def attempts(self) -> int:
        """How many tests reached the variant's goal and were not confirmed."""
        return self._native.attempts()

    @property
    def digest(self) -> str:
        """A hash of all weights: equal for equal runs of the same arithmetic."""
        return self._native.digest()["weights"]

    @property
    def arithmetic(self) -> str:
        """Whose digests this one can be compared with: `fused`, `unfused`, `bf16` or `amx`; `partial` within an iteration."""
        return self._native.digest()["arithmetic"]

    @property
    def link(self) -> str:
        """The run as an address of the page, without its host."""
        return self._native.shared()["link"]

    @property
    def command(self) -> str:
        """The run as a command of the terminal."""
        return self._native.shared()["command"]

    def metrics(self) -> Columns:
        """A row an iteration: its place in the run, the room's numbers, and the shares of time."""
        return Columns(self._native.metrics())

    def tests(self) -> Columns:
        """A row a test of what was learned."""
        return Columns(self._native.tests())

    def test(self) -> dict[str, float | None]:
        """Tests what is learned by now. It leaves no trace in the training."""
        names = [column["name"] for column in self._room["tests"]]
        return dict(zip(names, self._native.test()))

    def set(self, **knobs: float | int | bool | str) -> Run:
        """Changes knobs that can change while a run goes on, from its next iteration."""
        for name, value in knobs.items():
            self._native.set(name, _value(value))
        return self

    def ask(self, question: str, **fields: Any) -> Any:
        """A question of the room's, by name: plain data."""
        return self._native.ask({"ask": question, **fields})

    def policy(self) -> Policy:
        """A copy of what is learned by now, where it acts on observations."""
        return Policy(self._native.policy(), bool(self.about["choices"]))

    def save(self, path: str | os.PathLike[str] | None = None) -> bytes:
        """The whole run as a checkpoint that the terminal and the page open too, once the iteration in progress is done where that is short.

        A file is written whole or left as it was, and only a checkpoint is written over.
        """
        content = self._native.save()
        if path is not None:
            _native.write_checkpoint(os.fspath(path), content)
        return content

    def tensors(self) -> dict[str, np.ndarray]:
        """Copies of all that the learner keeps, by name: weights, moments of the optimiser, states.

        They share one buffer of their own, and other libraries take them over without another copy: `torch.from_dlpack(tensor)`.
        """
        content = self._native.save_array()
        head = 8 + int.from_bytes(content[:8].tobytes(), "little")
        header = json.loads(content[8:head].tobytes())
        tensors = {}
        for name, about in header.items():
            # What begins so is the run's own: its history, and the data that it was given.
            if name != "__metadata__" and not name.startswith("run."):
                first, end = (head + offset for offset in about["data_offsets"])
                tensors[name] = content[first:end].view(_DTYPES[about["dtype"]]).reshape(about["shape"])
        return tensors

    def __repr__(self) -> str:
        done = ", ".join(f"{name} {value:,.0f}" for name, value in self.progress.items() if name != "train_s")
        return f"Run({self.room!r}, {self.variant!r}, seed={self.seed}: {done}, digest {self.digest})"

    def _curve(self) -> tuple[str, str, np.ndarray, np.ndarray]:
        """What is worth looking at first: the goal's column of the tests, or the first metric that is charted."""
        variant = next(one for one in self._room["variants"] if one["id"] == self.variant)
        goal, tests = variant["goal"], self.tests()
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
        """Draws columns of the metrics (or the curve that counts) with matplotlib, and gives the axes."""
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


def _value(value: Any) -> float | str:
    """Knobs are numbers or texts; a switch is 0 or 1."""
    if isinstance(value, str):
        return value
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{value!r} is no value of a knob. Give a number, a switch or a text") from None


class _Shown:
    """How far a run has come, while it trains."""

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
