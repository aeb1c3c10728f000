"""Figures of the package: the median of sustained rounds, with quartiles, as in all other figures."""

import itertools
import pathlib

import pytest

from hothouse import bench

GOLDEN = pathlib.Path(__file__).parents[1] / "golden/quartiles.txt"
CASES = [line.split("->") for line in GOLDEN.read_text().splitlines() if not line.startswith("#")]


@pytest.mark.parametrize(("samples", "expected"), CASES)
def test_quartiles(samples, expected):
    assert bench.quartiles([float(x) for x in samples.split()]) == [float(x) for x in expected.split()]


def test_unit_contains_the_version_of_a_rival():
    assert bench._unit("SameStep") == "steps/s"
    name, number = bench._unit("gymnasium").removeprefix("steps/s, ").split()
    assert name == "gymnasium" and number[0].isdigit()


def test_rate_is_the_mean_of_a_round(monkeypatch):
    """A call takes 1 ms, every tenth call 11 ms, so 2 units per call are 1000 units/s on average."""
    clock_s, calls = 0.0, itertools.count(1)

    def work():
        nonlocal clock_s
        clock_s += 0.011 if next(calls) % 10 == 0 else 0.001
        return 2

    monkeypatch.setattr(bench.time, "perf_counter", lambda: clock_s)
    rounds = bench._rates({"work": work})["work"]
    assert len(rounds) == bench._ROUNDS
    assert bench.quartiles(rounds)[1] == pytest.approx(1000, rel=0.1)


def test_ratio_is_to_the_rival_with_the_fastest_median():
    # The fastest single round does not matter. Each round is compared with the rival's round of the same index.
    rates = {"ours": [20.0, 24.0, 28.0], "steady": [10.0, 12.0, 14.0], "lucky": [1.0, 2.0, 50.0]}
    assert bench._ratio(rates, "ours", ["steady", "lucky"]) == ([2.0, 2.0, 2.0], "times as fast as steady")


def test_a_file_is_measured_compiled_and_in_plain_python(monkeypatch):
    monkeypatch.setattr(bench, "_ROUNDS", 2)
    monkeypatch.setattr(bench, "_ROUND_S", 0.01)
    file = pathlib.Path(__file__).parents[2] / "crates/worlds/src/control/script/templates/catch.py"
    rows = {name: values for name, values, _ in bench.world_figures(str(file))}
    assert list(rows) == ["python.world.catch.steps_per_s.compiled", "python.world.catch.steps_per_s.plain", "python.world.catch.ratio"]
    assert all(len(values) == 2 and min(values) > 0 for values in rows.values())
