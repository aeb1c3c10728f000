"""Event files for `hothouse watch FILE`. As in `hothouse train --events FILE`, each line is a JSON object."""

from __future__ import annotations

import json
import math
import os
from typing import Any

from .. import _native
from ..runs import Columns, Run


class EventLog:
    def __init__(self, path: str | os.PathLike[str], run: Run) -> None:
        self._file = _native.Events(os.fspath(path))
        self._write({"kind": "opened", **run._native.backend()})
        place = run.progress
        began = {"config": run.config, "knobs": run.config["knobs"], "progress": place, "solved": run.solved, "marks": [], "room": None}
        history = [row(run.metrics(), i, place) for i in range(run.metrics().rows)]
        tests = [row(run.tests(), i, place) for i in range(run.tests().rows)]
        self._write({"kind": "began", **began, "history": history, "tests": tests})
        self._write({"kind": "running", "running": True})

    def rows(self, kind: str, rows: list[dict[str, Any]]) -> None:
        for one in rows:
            self._write({"kind": kind, **one})

    def end(self, ended_by: str, run: Run, seconds: float) -> None:
        place, metrics, tests = run.progress, run.metrics(), run.tests()
        backend = run._native.backend()
        self._write({
            "kind": "summary", "ended_by": ended_by, "room": run.room, "variant": run.variant, "seed": run.seed, "progress": place,
            "seconds": seconds, "cpu_seconds": 0.0, "per_second": place[run._counter] / max(seconds, 1e-9),
            "metrics": row(metrics, -1, place) if metrics.rows else None, "test": row(tests, -1, place) if tests.rows else None,
            "standing": run.standing, "solved": run.solved, "attempts": run.attempts, "parts_s": {},
            "link": run._native.shared()["address"], "digest": run.digest, "arithmetic": run.arithmetic, "device": None,
            "isa": backend["isa"], "threads": backend["threads"], "file": None, "resume": None,
        })  # fmt: skip
        self._file.close()

    def _write(self, record: dict[str, Any]) -> None:
        self._file.write(json.dumps(record, separators=(",", ":")))


def row(columns: Columns, at: int, place: dict[str, float]) -> dict[str, Any]:
    """The row with index `at` of a table, by column name. `place` contains the names of the progress columns."""
    values = {name: None if math.isnan(value) else value for name, value in ((name, float(column[at])) for name, column in columns.items())}
    progress = {name: values.pop(name) for name in place}
    progress["iteration"] = int(progress["iteration"])
    shares = {name.removeprefix("share_"): values.pop(name) for name in list(values) if name.startswith("share_")}
    return {"progress": progress, **values, **({"shares": shares} if shares else {})}
