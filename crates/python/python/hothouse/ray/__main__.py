"""`python -m hothouse.ray`: `train` and `sweep` of the terminal on a Ray cluster."""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from typing import Any

from .. import _native

EXAMPLES = """\
examples:
  python -m hothouse.ray train backgammon --workers 64 --address auto --save run.safetensors
  python -m hothouse.ray resume run.safetensors --workers 64 --address auto --games 1e6
  python -m hothouse.ray train backgammon --variant published --set tables=32 --workers 32 --address auto --games 1e4
  python -m hothouse.ray sweep control --knob lr=1e-4..1e-2:log --seeds 5 --address auto

Without --address, only this machine is used. To start a cluster, run `ray start --head` on one machine, and on the others the
command that it prints. All machines need the same version of Hothouse.

`train` distributes the games of backgammon's learners: single games for `strong`, and the games of an actor for `published`, where `tables`
limits the number of workers. Other learners cannot be distributed; `sweep` trains any learner, one run per core.
"""


def _number(text: str) -> float:
    try:
        return _native.number(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _seconds(text: str) -> float:
    value = _number(text)
    if value <= 0:
        raise argparse.ArgumentTypeError("give a number of seconds above 0, such as 90 or 0.5")
    return value


def _count(text: str) -> float:
    value = _number(text)
    if value < 1 or value % 1:
        raise argparse.ArgumentTypeError("give a whole number of at least 1, such as 2e6 or 2_000_000")
    return value


def _whole(text: str) -> int:
    return int(_count(text))


def _axis(text: str) -> Any:
    try:
        return _native.Axis.read(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _assignment(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError("give KNOB=VALUE, such as lr=0.003")
    return name, value


def _parser() -> argparse.ArgumentParser:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("python -m hothouse.ray", description="Hothouse on a Ray cluster.", epilog=EXAMPLES, formatter_class=raw)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="train | resume | sweep")

    def verb(name: str, what: str) -> argparse.ArgumentParser:
        one = verbs.add_parser(name, help=what, description=what, epilog=EXAMPLES, formatter_class=raw)
        one.add_argument("--address", help="address of a Ray cluster: HOST:PORT, or auto for the one on this machine [default: this machine only]")
        one.add_argument("--steps", "--games", type=_count, metavar="N", help="stop when the room's first counter reaches N")
        one.add_argument("--seconds", type=_seconds, metavar="S", help="stop after S seconds")
        one.add_argument("--json", action="store_true", help="print one JSON object per line")
        return one

    def fresh(one: argparse.ArgumentParser, room: str) -> None:
        one.add_argument("room", nargs="?", default=room, help=f"room to train in [default: {room}]")
        one.add_argument("--variant", "--env", "--learner", "--preset", metavar="NAME", help="variant of the room [default: its first]")
        one.add_argument("--set", type=_assignment, action="append", default=[], metavar="KNOB=VALUE", help="set a knob; can be repeated")

    train = verb("train", "Train one backgammon run with games played by many workers. The digest equals that of `hothouse train`.")
    fresh(train, "backgammon")
    train.add_argument("--seed", type=int, default=1, metavar="N", help="seed of the run [default: 1]")
    resume = verb("resume", "Continue a run saved here, in the terminal or on the page.")
    resume.add_argument("file", help="checkpoint; the run is saved to the same file unless --save is given")
    for one in (train, resume):
        one.add_argument("--workers", type=_whole, metavar="N", help="number of parallel tasks, for `published` at most `tables` [default: the cluster's cores]")
        one.add_argument("--save", metavar="FILE", help="file for the checkpoint, updated during training")
        one.add_argument("--events", metavar="FILE", help="also write all events to this file, for `hothouse watch FILE`")
    sweep = verb("sweep", "Train with many settings and seeds, one core per run, with the grid and the table of `hothouse sweep`.")
    fresh(sweep, "control")
    sweep.add_argument("--knob", type=_axis, action="append", default=[], metavar="KNOB=VALUES", help="FROM..TO, FROM..TO:log, or A,B,C; repeat for a grid")
    sweep.add_argument("--points", type=_whole, default=5, metavar="N", help="number of points in a range, including both ends [default: 5]")
    sweep.add_argument("--seeds", type=_whole, default=5, metavar="N", help="runs per setting, with seeds 1 to N [default: 5]")
    sweep.add_argument("--until-solved", action="store_true", help="stop each run when it is solved: a test reaches the goal and is confirmed")
    return parser


def _train(args: argparse.Namespace) -> int:
    from . import train

    resumed = getattr(args, "file", None)
    save = args.save or resumed
    about: dict[str, Any] = {}
    began, printed_at = time.monotonic(), -math.inf

    def line(state: dict[str, Any]) -> None:
        nonlocal printed_at
        passed = time.monotonic() - began
        for level, text in state.get("notices", []):
            if level != "info" and not args.json:
                print(f"{level}: {text}", file=sys.stderr)
        if args.json:
            for row in state["rows"]:
                print(json.dumps({"kind": "metrics", **row}), flush=True)
        elif state["rows"] and (passed - printed_at >= min(10.0, max(0.5, passed / 5)) or state["done"]):
            printed_at = passed
            row = state["rows"][-1]
            briefs = [f"{column['brief']} {_native.figure(room, False, column['name'], row[column['name']])}" for column in about["metrics"] if column["brief"]]
            counter = about["counters"][0]
            print(f"{_native.clock(passed):>8}  {int(row['progress'][counter['name']]):>14,} {counter['unit']}  {'  '.join(briefs)}", flush=True)

    if resumed:
        from ..runs import Run

        start: dict[str, Any] = {"resume": resumed}
        room = Run.restore(resumed).room
    else:
        room = args.room
        start = {"room": room, "variant": args.variant, "seed": args.seed, "knobs": _native.typed_knobs(room, args.variant, args.set)}
    about |= _native.rooms()[room]
    steps = math.inf if args.steps is None and args.seconds is None else args.steps
    try:
        trained = train(**start, workers=args.workers, address=args.address, steps=steps, seconds=args.seconds, save=save, events=args.events, report=line)
    except KeyboardInterrupt:
        where = f" The run is saved in {save}; continue with: python -m hothouse.ray resume {save}" if save else " The run was not saved; use --save to choose a file."
        print(f"stopped.{where}", file=sys.stderr)
        return 130
    run = trained.run
    share = trained.waited_s / max(trained.round_s, 1e-9)
    if args.json:
        print(json.dumps({"kind": "summary", "progress": run.progress, "digest": run.digest, "arithmetic": run.arithmetic, "rounds": trained.rounds, "seconds": trained.seconds, "round_s": trained.round_s, "waited_s": trained.waited_s, "bytes_out": trained.bytes_out, "bytes_in": trained.bytes_in, "deaths": trained.deaths}))
        return 0
    print(f"\n{run.room} / {run.variant}, seed {run.seed}: done.")
    print(f"  trained     {trained.rounds:,} rounds in {_native.clock(trained.seconds)}, {trained.round_s:.3f} s per round, {100 * share:.0f}% of it waiting for games")
    print(f"  per round   {trained.bytes_out:,} bytes to each node, {trained.bytes_in:,} bytes from all workers")
    if trained.deaths:
        print(f"  restarted   {trained.deaths} times after learner failures")
    print(f"  digest      {run.digest} ({run.arithmetic})")
    if save:
        print(f"  saved       {save}\n  continue    python -m hothouse.ray resume {save}")
    return 0


def _sweep(args: argparse.Namespace) -> int:
    from ._sweep import result_column, sweep, table

    variant = args.variant or _native.rooms().get(args.room, {"variants": [{"id": None}]})["variants"][0]["id"]
    knobs = _native.typed_knobs(args.room, variant, args.set)

    def line(run: Any, done: int, total: int) -> None:
        if args.json:
            print(json.dumps({"kind": "sweep_run", **vars(run)}), flush=True)
            return
        column, counter = result_column(args.room, variant), _native.rooms()[args.room]["counters"][0]
        end = "diverged" if run.diverged else "not solved" if run.solved_at is None else f"solved after {int(run.solved_at):,} {counter['unit']}"
        is_test = column in _native.rooms()[args.room]["tests"]
        result = f"{column['label'].lower()} {_native.figure(args.room, is_test, column['name'], run.result)}"
        print(f"[{done:>{len(str(total))}}/{total}] {_native.named_knobs(run.knobs)} seed {run.seed}: {result}, {end}, {_native.clock(run.seconds)}", flush=True)

    outcomes = sweep(
        args.room, variant, axes=args.knob, points=args.points, seeds=args.seeds, knobs=knobs,
        steps=args.steps, seconds=args.seconds, until_solved=args.until_solved, address=args.address, report=line,
    )  # fmt: skip
    if args.json:
        return 0
    print(f"\n{table(args.room, variant, outcomes)}")
    return 0


def main() -> int:
    args = _parser().parse_args()
    try:
        return _sweep(args) if args.verb == "sweep" else _train(args)
    except (ValueError, TypeError, MemoryError, OSError, ImportError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
