"""Benchmarks of the package, and of installed rivals in the same rounds: `python -m hothouse.bench --json`. Each figure is the median of
sustained rounds, with its quartiles."""

from __future__ import annotations

import argparse
import json
import pathlib
import time
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import version

import gymnasium
import numpy as np

from . import Run, make_vec, world

#: Number of rounds.
_ROUNDS = 15
#: Seconds per round.
_ROUND_S = 0.1
#: Number of rounds of the cluster benchmark, each of about ten seconds.
_PAIRS = 5

#: Name of a figure, its value in each round, and its unit. A count has a single number instead of values per round.
_Row = tuple[str, "list[float] | float", str]


def quartiles(samples: list[float]) -> list[float]:
    """Lower quartile, median and upper quartile, with linear interpolation as in the Rust module `math::rounds`."""
    return [float(x) for x in np.percentile(samples, [25, 50, 75])]


def _rates(ways: dict[str, Callable[[], int]]) -> dict[str, list[float]]:
    """Work per second of each function, in rounds that alternate between the functions. A function returns the amount of its work."""
    rates: dict[str, list[float]] = {name: [] for name in ways}
    for work in ways.values():
        work()
    for _ in range(_ROUNDS):
        for name, work in ways.items():
            done, began = 0, time.perf_counter()
            while (took := time.perf_counter() - began) < _ROUND_S:
                done += work()
            rates[name].append(done / took)
    return rates


def _ratio(rates: dict[str, list[float]], ours: str, rivals: Iterable[str]) -> tuple[list[float], str]:
    """Ratio of our speed to that of the rival with the highest median, for each round. Also returns the text of the unit."""
    best = max(rivals, key=lambda name: quartiles(rates[name])[1])
    return [a / b for a, b in zip(rates[ours], rates[best], strict=True)], f"times as fast as {best}"


def _stepper(envs: gymnasium.vector.VectorEnv, steps: int) -> Callable[[], int]:
    envs.reset(seed=1)
    rng = np.random.default_rng(1)
    actions = [rng.integers(envs.single_action_space.n, size=envs.num_envs) for _ in range(8)]

    def work() -> int:
        for i in range(steps):
            envs.step(actions[i % 8])
        return steps * envs.num_envs

    return work


def _writer(count: int, steps: int) -> Callable[[], int]:
    """Returns a function that only copies the arrays that steps of CartPole access. Its speed is an upper limit for the speed of steps."""
    shapes = [((count, 4), np.float32), (count, np.float32), ((3, count), np.bool_)]
    pairs = [(np.zeros(shape, dtype), np.zeros(shape, dtype)) for shape, dtype in shapes]
    actions, read = [np.zeros(count, np.int64) for _ in range(8)], np.zeros(count, np.float32)

    def work() -> int:
        for i in range(steps):
            for to, values in pairs:
                np.copyto(to, values)
            np.copyto(read, actions[i % 8], casting="unsafe")
        return steps * count

    return work


def _rivals(name: str, count: int, steps: int) -> dict[str, Callable[[], int]]:
    """Functions that step the installed rivals, by the rival's name. Slow rivals perform fewer steps, so that a call fits into a round."""
    found = {}
    if name == "CartPole-v1":
        found["gymnasium"] = _stepper(gymnasium.make_vec(name, count, vectorization_mode="vector_entry_point"), max(steps // 8, 1))
    else:
        try:
            found["gymnasium"] = _stepper(gymnasium.make_vec(name, 16, vectorization_mode="sync"), 8)
        except gymnasium.error.DependencyNotInstalled:
            pass
    try:
        import envpool

        found["envpool"] = _stepper(envpool.make_gymnasium(name, num_envs=count, num_threads=1), max(steps // 8, 1))
    except ImportError:
        pass
    return found


def _unit(way: str) -> str:
    """Unit of a speed: `steps/s`, with name and version for a rival."""
    return f"steps/s, {way} {version(way)}" if way in ("gymnasium", "envpool") else "steps/s"


def figures() -> Iterator[_Row]:
    """Yields all figures."""
    for count in (4096, 65536):
        steps = max(1 << 18, count) // count
        ways = {
            mode: _stepper(make_vec("CartPole-v1", count, autoreset_mode=mode, threads=1), steps) for mode in ("SameStep", "NextStep")
        }
        rivals = _rivals("CartPole-v1", count, steps)
        rates = _rates(ways | rivals | {"arrays_alone": _writer(count, steps)})
        for name, rate in rates.items():
            yield f"python.cartpole.steps_per_s.{count}.{name}", rate, _unit(name)
        yield f"python.cartpole.ratio.{count}", *_ratio(rates, "SameStep", rivals)
    rivals = _rivals("LunarLander-v3", 1024, 8)
    rates = _rates({"SameStep": _stepper(make_vec("LunarLander-v3", 1024, autoreset_mode="SameStep", threads=1), 8)} | rivals)
    for name, rate in rates.items():
        yield f"python.lunarlander.steps_per_s.{name}", rate, _unit(name)
    if rivals:
        yield "python.lunarlander.ratio", *_ratio(rates, "SameStep", rivals)
    policy = Run("control", variant="CartPole-v1", knobs={"hidden": 64}, threads=1).policy()
    states = np.random.default_rng(1).normal(size=(1024, 4)).astype(np.float32)

    def act() -> int:
        policy(states)
        return len(states)

    def native() -> int:
        policy._native.act_repeatedly(states, 16)
        return 16 * len(states)

    rates = _rates({"policy": act, "native": native})
    yield "python.policy.states_per_s_core", rates["policy"], "states/s"
    yield "python.policy.native.states_per_s_core", rates["native"], "states/s"
    yield "python.policy.ratio", *_ratio(rates, "policy", ["native"])
    yield from _cluster()


def world_figures(file: str) -> Iterator[_Row]:
    """Yields the speeds of an environment from a file: compiled, and in plain Python under Gymnasium's `SyncVectorEnv`."""
    ours = make_vec(file, 4096, autoreset_mode="SameStep", threads=1)
    plain = gymnasium.vector.SyncVectorEnv([lambda: world.load(file)] * 16)
    rates = _rates({"compiled": _stepper(ours, 8), "plain": _stepper(plain, 8)})
    for name, rate in rates.items():
        yield f"python.world.{pathlib.Path(file).stem}.steps_per_s.{name}", rate, "steps/s"
    yield f"python.world.{pathlib.Path(file).stem}.ratio", *_ratio(rates, "compiled", ["plain"])


def _cluster() -> Iterator[_Row]:
    """Compares the time of rounds on a cluster with the time of the same rounds in one process. Also counts the bytes per round."""
    try:
        import ray

        from .ray import train
    except ImportError:
        return
    knobs, rounds = {"games": 512}, 8
    ray.init("local", num_cpus=1, include_dashboard=False, log_to_driver=False)
    try:
        alone = Run("backgammon", knobs=knobs, threads=1)
        # Both runs start after games have reached their usual length.
        checkpoint = alone.advance(steps=8 * knobs["games"]).save()
        ratios = []
        for _ in range(_PAIRS):
            done = Run.restore(checkpoint, threads=1)
            end = done.progress["games"] + rounds * knobs["games"]
            began = time.perf_counter()
            done.advance(steps=rounds * knobs["games"])
            own_s = time.perf_counter() - began
            shared = train(resume=checkpoint, workers=1, steps=end)
            assert shared.run.digest == done.digest
            ratios.append(shared.round_s * rounds / own_s - 1)
        yield "ray.backgammon.overhead", ratios, "of the time of one process"
        yield "ray.backgammon.bytes_out", shared.bytes_out, "bytes/round"
        yield "ray.backgammon.bytes_in", shared.bytes_in, "bytes/round"
    finally:
        ray.shutdown()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m hothouse.bench", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one line of JSON per figure")
    parser.add_argument("--world", metavar="FILE", help="measure only the environment that this Python file defines, with discrete actions")
    args = parser.parse_args()
    for name, rounds, unit in world_figures(args.world) if args.world else figures():
        row = {"name": name, "value": rounds, "unit": unit}
        if isinstance(rounds, list):
            lower, value, upper = quartiles(rounds)
            row = {"name": name, "value": value, "lower": lower, "upper": upper, "rounds": len(rounds), "unit": unit}
        spread = f"({row['lower']:.4g} to {row['upper']:.4g}) " if "lower" in row else ""
        print(json.dumps(row) if args.json else f"{name:48} {row['value']:>14.4g} {spread}{unit}", flush=True)


if __name__ == "__main__":
    main()
