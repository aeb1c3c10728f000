"""Records complete CartPole-v1 episodes from Gymnasium to worlds_cartpole.json.

pip install gymnasium==1.4.0 numpy && python3 worlds_cartpole.py

Every step contains Gymnasium's internal f64 state (the observation is this state rounded to f32), the action, the reward and both
flags. An episode is
    {"kind": …, "first_step": n, "states": [[x, v, theta, w] × (steps + 1)],
     "actions": "0110…", "rewards": "111…", "terminated": "00…1", "truncated": "00…0"}
with one character per step in the strings. `first_step` is the number of steps that the step limit had already counted at the
start of the recording. It is 0 except for the last episodes, in which termination and truncation fall on the same step.
"""

import json
import pathlib

import gymnasium
import numpy as np


def balance(state, rng):
    x, v, theta, w = state
    return int(0.1 * x + 0.3 * v + 3.0 * theta + 0.6 * w > 0)


def balance_badly(state, rng):
    return balance(state, rng) if rng.random() < 0.35 else int(rng.integers(2))


def drift(state, rng):
    """Balances the pole but lets the cart leave the track."""
    _, _, theta, w = state
    return int(theta + 0.3 * w + 0.05 > 0)


POLICIES = {
    "random": lambda state, rng: int(rng.integers(2)),
    "left": lambda state, rng: 0,
    "right": lambda state, rng: 1,
    "balance": balance,
    "balance_badly": balance_badly,
    "drift": drift,
}


def record(kind, seed, start=None, first_step=0):
    env = gymnasium.make("CartPole-v1")
    env.reset(seed=seed)
    if start is not None:
        env.unwrapped.state = np.array(start, dtype=np.float64)
    limit = env
    while not isinstance(limit, gymnasium.wrappers.TimeLimit):
        limit = limit.env
    limit._elapsed_steps = first_step
    rng = np.random.default_rng(seed)
    states = [[float(s) for s in env.unwrapped.state]]
    actions, rewards, ends, cuts = "", "", "", ""
    while True:
        action = POLICIES[kind](states[-1], rng)
        observation, reward, terminated, truncated, _ = env.step(action)
        state = env.unwrapped.state
        assert np.array_equal(observation, np.array(state, dtype=np.float32))
        states.append([float(s) for s in state])
        actions += str(action)
        rewards += str(int(reward))
        ends += str(int(terminated))
        cuts += str(int(truncated))
        if terminated or truncated:
            return {
                "kind": kind,
                "first_step": first_step,
                "states": states,
                "actions": actions,
                "rewards": rewards,
                "terminated": ends,
                "truncated": cuts,
            }


episodes = [record("random", seed) for seed in range(12)]
episodes += [record("left", 100), record("right", 101)]
episodes += [record("balance", 200)]
episodes += [record("balance_badly", 300 + seed) for seed in range(4)]
episodes += [record("drift", 400 + seed) for seed in range(2)]
# Episodes at the step limit: the pole or the cart leaves its range exactly then, or stays within it.
episodes += [
    record("right", 500, [0.0, 0.0, -0.2, -1.0], 499),
    record("left", 501, [2.39, 1.0, 0.0, 0.0], 499),
    record("balance", 502, [0.0, 0.0, 0.01, 0.0], 498),
]

out = {
    "made_by": f"gymnasium {gymnasium.__version__}, numpy {np.__version__}",
    "episodes": episodes,
}
path = pathlib.Path(__file__).with_suffix(".json")
path.write_text(json.dumps(out, separators=(",", ":")).replace('{"kind"', '\n{"kind"') + "\n")
for e in episodes:
    print(e["kind"], e["first_step"], len(e["actions"]), e["terminated"][-1], e["truncated"][-1], e["states"][-1])
print(path.stat().st_size, "bytes")
