"""Records complete episodes of four environments from Gymnasium to worlds_<name>.json beside this file.

pip install gymnasium==1.4.0 numpy && python3 worlds_classic.py

Every step contains Gymnasium's internal state, the action, the reward and both flags. An episode is
    {"kind": …, "first_step": n, "states": [[…] × (steps + 1)], "actions": […], "rewards": […],
     "terminated": "00…1", "truncated": "00…0", "observation": […]}
with one character per step in the strings. `observation` is Gymnasium's observation after the last step, which is rounded to f32.
Actions of the continuous environments are passed to Gymnasium as f32, as its action spaces require, except in episodes whose kind
ends in "f64". `first_step` is the number of steps that the step limit had already counted at the start of the recording; it is
above 0 for episodes near the limit.
"""

import json
import math
import pathlib

import gymnasium
import numpy as np


def record(env_id, policy, seed, kind=None, start=None, first_step=0, width=np.float32, most=10_000):
    env = gymnasium.make(env_id, disable_env_checker=True)
    env.reset(seed=seed)
    if start is not None:
        env.unwrapped.state = np.array(start, dtype=np.float64)
    limit = env
    while not isinstance(limit, gymnasium.wrappers.TimeLimit):
        limit = limit.env
    limit._elapsed_steps = first_step
    rng = np.random.default_rng(seed)
    states = [[float(s) for s in env.unwrapped.state]]
    actions, rewards, ends, cuts = [], [], "", ""
    while True:
        action = policy(states[-1], rng)
        if isinstance(env.action_space, gymnasium.spaces.Box):
            given = np.array([action], dtype=width)
            action = float(given[0])
        else:
            given = action
        observation, reward, terminated, truncated, _ = env.step(given)
        states.append([float(s) for s in env.unwrapped.state])
        actions.append(action)
        rewards.append(int(reward) if float(reward).is_integer() else float(reward))
        ends += str(int(terminated))
        cuts += str(int(truncated))
        if terminated or truncated or len(actions) == most:
            return {
                "kind": kind or policy.__name__,
                "first_step": first_step,
                "states": states,
                "actions": actions,
                "rewards": rewards,
                "terminated": ends,
                "truncated": cuts,
                "observation": [float(o) for o in observation],
            }


def random(state, rng):
    return int(rng.integers(3))


def back(state, rng):
    return 0


def forward(state, rng):
    return 2


def with_speed(state, rng):
    """Solves MountainCar: pushes in the direction of motion."""
    return 2 if state[1] >= 0 else 0


def mostly_with_speed(state, rng):
    return with_speed(state, rng) if rng.random() < 0.8 else int(rng.integers(3))


def mountain_car():
    name = "MountainCar-v0"
    return [
        *(record(name, random, seed) for seed in range(3)),
        record(name, back, 10),
        *(record(name, with_speed, 20 + seed) for seed in range(4)),
        *(record(name, mostly_with_speed, 30 + seed) for seed in range(3)),
        # Passing the flag exactly at the step limit, and hitting the wall at full speed.
        record(name, forward, 40, "at the limit", [0.49, 0.03], 199),
        record(name, back, 41, "wall", [-1.15, -0.07], 195),
        record(name, forward, 42, "fast", [0.3, 0.07], 10),
    ]


def any_throttle(state, rng):
    """Returns a random action, which may be outside the range."""
    return rng.uniform(-1.5, 1.5)


def full_with_speed(state, rng):
    return 1.0 if state[1] >= 0 else -1.0


def some_with_speed(state, rng):
    return math.copysign(rng.uniform(0.6, 1.2), state[1])


def full_back(state, rng):
    return -1.0


def mountain_car_continuous():
    name = "MountainCarContinuous-v0"
    return [
        record(name, any_throttle, 0),
        *(record(name, full_with_speed, 10 + seed) for seed in range(2)),
        *(record(name, some_with_speed, 20 + seed) for seed in range(2)),
        record(name, any_throttle, 30, "any_throttle f64", width=np.float64, most=100),
        record(name, some_with_speed, 31, "some_with_speed f64", width=np.float64),
        record(name, some_with_speed, 40, "at the limit", [0.44, 0.03], 998),
        record(name, full_back, 41, "wall", [-1.15, -0.07], 990),
        record(name, some_with_speed, 42, "fast", [0.2, 0.07], 10),
        record(name, full_with_speed, 43, "halfway", [-0.5, 0.0], 0, most=50),
    ]


def any_torque(state, rng):
    """Returns a random action, which may be outside the range."""
    return rng.uniform(-3.0, 3.0)


def pump(state, rng):
    """Swings up by energy control, then balances."""
    theta, speed = state
    lean = (theta + math.pi) % (2 * math.pi) - math.pi
    if abs(lean) < 0.3:
        return -12 * lean - 3 * speed
    return math.copysign(2.0 if math.cos(theta) + speed**2 / 30 < 1 else 0.0, speed)


def one_way(state, rng):
    return 2.0


def pendulum():
    name = "Pendulum-v1"
    return [
        *(record(name, any_torque, seed) for seed in range(2)),
        *(record(name, pump, 10 + seed) for seed in range(2)),
        record(name, one_way, 20),
        record(name, any_torque, 30, "any_torque f64", width=np.float64),
        record(name, any_torque, 31, "turns", [40.0, 8.0], 150),
        record(name, any_torque, 32, "turns back", [-40.0, -8.0], 150),
    ]


def swing(state, rng):
    """Pumps energy into the elbow."""
    return 2 if state[3] > 0 else 0


def mostly_swing(state, rng):
    return swing(state, rng) if rng.random() < 0.7 else int(rng.integers(3))


def acrobot():
    name = "Acrobot-v1"
    return [
        record(name, random, 0),
        *(record(name, swing, 10 + seed) for seed in range(2)),
        *(record(name, mostly_swing, 20 + seed) for seed in range(2)),
        # Near the line at the step limit; full turns; speeds above the limit.
        record(name, random, 30, "at the limit", [1.9, 0.2, 2.0, 1.0], 499),
        record(name, random, 31, "over", [0.0, 3.0, 0.5, 25.0], 480),
        record(name, random, 32, "fast", [0.5, -3.1, -12.0, -28.0], 490),
    ]


for make in [mountain_car, mountain_car_continuous, pendulum, acrobot]:
    episodes = make()
    out = {"made_by": f"gymnasium {gymnasium.__version__}, numpy {np.__version__}", "episodes": episodes}
    path = pathlib.Path(__file__).with_name(f"worlds_{make.__name__}.json")
    path.write_text(json.dumps(out, separators=(",", ":")).replace('{"kind"', '\n{"kind"') + "\n")
    print(path.name, path.stat().st_size, "bytes")
    for e in episodes:
        print(" ", e["kind"], e["first_step"], len(e["actions"]), e["terminated"][-1], e["truncated"][-1], e["states"][-1])
