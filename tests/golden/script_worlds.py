"""Writes tests/golden/script_worlds.txt: steps of the templates of user environments in plain Python.

Usage, with gymnasium and numpy installed: python3 tests/golden/script_worlds.py

Lines of the output, with numbers between spaces:
= NAME            begins a template
attributes        names of the attributes, in alphabetical order
reset ENV EPISODE | state | observation | mask
step ENV EPISODE STEP | state before | action | reward over | state after | observation | mask

STEP counts the steps before this one. After each step, Python's floats are rounded to f32, so that the state before the next step has f32
numbers. A list is written with all its elements.
"""

import importlib
import pathlib
import random
import struct
import sys
import types

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEMPLATES = ROOT / "crates/worlds/src/control/script/templates"
SEED = 7


def load():
    """Loads the module `hothouse.world`, without the compiled part of the package."""
    package = types.ModuleType("hothouse")
    package.__path__ = [str(ROOT / "crates/python/python/hothouse")]
    sys.modules["hothouse"] = package
    # The picture of an environment needs the compiled part; the golden files contain no pictures.
    package._native = types.SimpleNamespace(colours=dict)
    return importlib.import_module("hothouse.world")


def f32(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def rounded(value):
    if isinstance(value, list):
        return [rounded(element) for element in value]
    return f32(value) if isinstance(value, float) else value


def round_state(world):
    for name, value in vars(world).items():
        setattr(world, name, rounded(value))


def flat(value):
    return [number for element in value for number in flat(element)] if isinstance(value, list) else [value]


def text(value):
    if isinstance(value, float):
        value = f32(value)
        for digits in range(1, 10):
            short = f"{value:.{digits}g}"
            if f32(float(short)) == value:
                return short
    return str(int(value))


def line(numbers):
    return " ".join(text(number) for number in numbers)


def state(env):
    attributes = vars(env.world)
    return line(number for name in sorted(attributes) for number in flat(attributes[name]))


def observed(env):
    """Formats observation and mask, in f64."""
    shown = line(float(number) for number in flat(env._closed("observe")))
    mask = line(env.action_masks().tolist()) if hasattr(env, "action_masks") else ""
    return f"{shown} | {mask}"


def episodes(world, name, out, envs, length, records):
    choose = random.Random(name)
    env = world.load(TEMPLATES / f"{name}.py")
    actions, count = env._actions, 0
    out.append(f"= {name}")
    for number in range(envs):
        episode, over, kept = 0, True, 0
        for _ in range(length):
            if over:
                env.reset(seed=SEED, options={"env": number, "episode": episode})
                round_state(env.world)
                if number == 0 and episode == 0:
                    out.append("attributes " + " ".join(sorted(vars(env.world))))
                out.append(f"reset {number} {episode} | {state(env)} | {observed(env)}")
                steps, over = 0, False
            if isinstance(actions, tuple):
                action = [f32(choose.uniform(-1.3, 1.3)) for _ in range(actions.count)]
                given = action
            elif hasattr(env, "action_masks") and choose.random() < 0.8:
                action = choose.choice([k for k, permitted in enumerate(env.action_masks()) if permitted])
                given = [action]
            else:
                action = choose.randrange(actions)
                given = [action]
            before = state(env)
            _, reward, terminated, truncated, _ = env.step(action)
            shown = observed(env)
            round_state(env.world)
            over = terminated or truncated
            interesting = (terminated or abs(reward) >= 0.5) and kept < records and choose.random() < 0.6
            if interesting or choose.random() < records / length:
                kept += 1
                out.append(f"step {number} {episode} {steps} | {before} | {line(given)} | {line([f32(reward), terminated])} | {state(env)} | {shown}")
            steps += 1
            if over:
                episode += 1
                if episode > 3:
                    break


def main():
    world = load()
    out = []
    for path in sorted(TEMPLATES.glob("*.py")):
        episodes(world, path.stem, out, 4, 260, 9)
    (ROOT / "tests/golden/script_worlds.txt").write_text("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
