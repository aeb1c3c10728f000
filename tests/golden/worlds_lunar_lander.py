"""Records LunarLander-v3 from Gymnasium to worlds_lunar_lander.json beside this file.

pip install "gymnasium[box2d]==1.4.0" numpy && python3 worlds_lunar_lander.py

A state contains all inputs of the next step, read from Box2D: bodies, impulses of hinges and touches, the ground, the order of
neighbours, and the random offsets of the engines, which are drawn from a copy of the generator.
    flights     from the initial state until the first touch: {"kind": …, "state": […], "scatter": [[…, …] × steps],
                "actions": […], "rewards": […], "observations": [[…] × steps]}
    touches     steps on the ground, with every state: {"kind": …, "elapsed": n, "states": [[…] × (steps + 1)],
                "actions": […], "rewards": […], "terminated": "00…1"}
    statistics  for each pilot, statistics of many episodes: returns, lengths, and kinds of ends
Numbers are f32, as in Box2D. After the first state, an entry of "states" contains only the numbers that changed, as
{"index": number}.
"""

import copy
import json
import pathlib

import gymnasium
import numpy as np
from gymnasium.envs.box2d.lunar_lander import heuristic

NAME = "LunarLander-v3"
STEP = 50.0
PIECE = 2.0


def example(env, seen, rng):
    return int(heuristic(env, seen))


def nothing(env, seen, rng):
    return 0


def any_engine(env, seen, rng):
    return int(rng.integers(4))


def main_engine(env, seen, rng):
    return 2


def mostly_example(env, seen, rng):
    return example(env, seen, rng) if rng.random() < 0.7 else any_engine(env, seen, rng)


PILOTS = [example, nothing, any_engine, main_engine, mostly_example]


def neighbours(leg):
    """Returns the pieces of ground near a leg, the latest first: piece, two features, impulses along normal and ground."""
    found = []
    for edge in reversed(leg.contacts):
        contact = edge.contact
        (x, _), (next_x, _) = contact.fixtureA.shape.vertices
        if abs(next_x - x - PIECE) > 0.01:
            continue  # the floor below everything
        feature, normal, along = [-1, -1], [0.0, 0.0], [0.0, 0.0]
        manifold = contact.manifold
        for i in range(manifold.pointCount if contact.touching else 0):
            point = manifold.points[i]
            name = point.id.cf
            if manifold.type_ == 1:  # a face of the ground: a corner of the leg, or an end of the ground
                feature[i] = name.indexB if name.typeA == 1 else 8 + name.indexA
            else:  # a face of the leg
                feature[i] = 16 + 8 * name.indexA + name.indexB
            normal[i], along[i] = point.normalImpulse, point.tangentImpulse
        found.append([round(x / PIECE), *feature, *normal, *along])
    none = [-1, -1, -1, 0.0, 0.0, 0.0, 0.0]
    assert len(found) <= 2
    found += [none] * (2 - len(found))
    return found[0] + found[1]


def body(b):
    return [*b.worldCenter, b.angle, *b.linearVelocity, b.angularVelocity]


def still(b):
    return abs(b.angularVelocity) <= np.pi / 90 and b.linearVelocity.lengthSquared <= 1e-4


class Recorder:
    def __init__(self, pilot, seed):
        self.pilot, self.rng = pilot, np.random.default_rng(seed)
        self.env = gymnasium.make(NAME)
        self.seen, _ = self.env.reset(seed=seed)
        self.inside = self.env.unwrapped
        self.rested, self.fired = 0, 0
        self.states, self.actions, self.rewards, self.observations = [self.state()], [], [], []
        self.ends = ""
        while True:
            self.fired = self.pilot(self.env, self.seen, self.rng)
            self.seen, reward, terminated, truncated, _ = self.env.step(self.fired)
            u = self.inside
            self.rested = self.rested + 1 if all(still(b) for b in [u.lander, *u.legs]) else 0
            self.states.append(self.state())
            self.actions.append(self.fired)
            self.rewards.append(float(reward))
            self.observations.append([float(x) for x in self.seen])
            self.ends += str(int(terminated))
            if terminated or truncated:
                break

    def scatter(self):
        numbers = copy.deepcopy(self.inside.np_random)
        return [numbers.uniform(-1.0, 1.0) / 30.0 for _ in range(2)]

    def state(self):
        u = self.inside
        state = [*body(u.lander), *body(u.legs[0]), *body(u.legs[1])]
        for leg in u.legs:
            force = leg.joint.GetReactionForce(STEP)
            turns = [leg.joint.GetReactionTorque(STEP), leg.joint.GetMotorTorque(STEP)]
            state += [x / STEP for x in [*force, *turns]]
        state += [float(leg.ground_contact) for leg in u.legs]
        side = self.fired - 2 if self.fired in (1, 3) else 0
        state += [self.rested, u.prev_shaping, float(self.fired == 2), side]
        state += [piece[0][1] for piece in u.sky_polys] + [u.sky_polys[-1][1][1]]
        for leg in u.legs:
            state += neighbours(leg)
        state += [*self.scatter(), 0]
        return [short(x) for x in state]

    def first_touch(self):
        on_ground = (t for t, seen in enumerate(self.observations) if seen[6] or seen[7] or self.ends[t] == "1")
        return next(on_ground)


def short(x):
    x = float(np.float32(x))
    return int(x) if x.is_integer() else float(f"{x:.9g}")


def flight(pilot, seed):
    r = Recorder(pilot, seed)
    n = r.first_touch()
    return {
        "kind": pilot.__name__,
        "state": r.states[0],
        "scatter": [state[71:73] for state in r.states[:n]],
        "actions": r.actions[:n],
        "rewards": [float(f"{x:.7g}") for x in r.rewards[:n]],
        "observations": [[float(f"{x:.7g}") for x in seen] for seen in r.observations[:n]],
    }


def touch(pilot, seed, most, late=False):
    r = Recorder(pilot, seed)
    start = max(r.first_touch() - 2, 0)
    if late:
        start = max(start, len(r.actions) - most)
    end = min(start + most, len(r.actions))
    states = [r.states[start]]
    for before, after in zip(r.states[start:], r.states[start + 1 : end + 1]):
        states.append({i: x for i, x in enumerate(after) if x != before[i]})
    return {
        "kind": pilot.__name__,
        "elapsed": start,
        "states": states,
        "actions": r.actions[start:end],
        "rewards": [float(f"{x:.9g}") for x in r.rewards[start:end]],
        "terminated": r.ends[start:end],
    }


def statistics(pilot, episodes):
    env = gymnasium.make(NAME)
    rng = np.random.default_rng(1)
    returns, lengths, ends = [], [], {"crashed": 0, "lost": 0, "landed": 0}
    for seed in range(episodes):
        seen, _ = env.reset(seed=10_000 + seed)
        total, length, over = 0.0, 0, False
        while not over:
            seen, reward, terminated, truncated, _ = env.step(pilot(env, seen, rng))
            total, length, over = total + float(reward), length + 1, terminated or truncated
        returns.append(total)
        lengths.append(length)
        if terminated:
            ends["landed" if reward > 0 else "lost" if abs(seen[0]) >= 1 else "crashed"] += 1
    return {
        "episodes": episodes,
        "mean": np.mean(returns),
        "deviation": np.std(returns),
        "quantiles": [float(f"{q:.6g}") for q in np.quantile(returns, [0.05, 0.25, 0.5, 0.75, 0.95])],
        "length": np.mean(lengths),
        "length_deviation": np.std(lengths),
        **{name: count / episodes for name, count in ends.items()},
    }


flights = [flight(example, 1), flight(main_engine, 2), flight(any_engine, 3), flight(mostly_example, 4), flight(nothing, 5)]
touches = [
    touch(example, 102, 40),
    touch(example, 125, 30),
    touch(example, 101, 30, late=True),
    touch(nothing, 102, 40),
    touch(any_engine, 103, 40),
    touch(mostly_example, 108, 30),
    touch(mostly_example, 110, 60),
    touch(main_engine, 101, 40),
]
for t in touches:
    print(t["kind"], t["elapsed"], len(t["actions"]), t["terminated"][-1], t["rewards"][-1])
out = {
    "made_by": f"gymnasium {gymnasium.__version__}, numpy {np.__version__}, Box2D 2.3.10",
    "flights": flights,
    "touches": touches,
    "statistics": {pilot.__name__: statistics(pilot, 2000) for pilot in PILOTS},
}
path = pathlib.Path(__file__).with_suffix(".json")
text = json.dumps(out, separators=(",", ":"))
path.write_text(text.replace('{"kind"', '\n{"kind"').replace('"statistics"', '\n"statistics"') + "\n")
print(path.name, path.stat().st_size, "bytes")
