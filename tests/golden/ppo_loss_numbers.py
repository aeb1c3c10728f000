"""PPO's loss with actions of several numbers and with masks of choices, in NumPy with f64, for crates/learn/tests/learn/control/nets.rs.

    python -m venv venv && venv/bin/pip install numpy
    venv/bin/python tests/golden/ppo_loss_numbers.py

Writes ppo_loss_numbers.json, in the format of ppo_loss.json. Gradients are central differences. Before it writes, the script computes the
cases of ppo_loss.json, which PyTorch differentiated, and compares its results with them. All inputs are exactly representable in f32.
"""

import json
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
ROWS, FEATURES, HIDDEN = 24, 3, 6
TORCH = json.loads((HERE / "ppo_loss.json").read_text())
CLIP, ENTROPY_COEF, VALUE_COEF = (TORCH[name] for name in ("clip", "entropy_coef", "value_coef"))
#: Half of the distance between the two points of a central difference.
STEP = 1e-5
LN_TAU = np.log(2 * np.pi)


def held(array):
    """Returns the numbers rounded to f32."""
    return np.asarray(array, np.float32).astype(float)


def layers(case):
    for trunk in ["trunk"] if case["shared"] else ["policy", "critic"]:
        yield f"{trunk}.0", FEATURES, HIDDEN
        yield f"{trunk}.1", HIDDEN, HIDDEN
    yield "policy.2", HIDDEN, case["choices"] or case["numbers"]
    yield "critic.2", HIDDEN, 1


def first_parameters(rng, case):
    p = {}
    for name, inp, out in layers(case):
        p[f"{name}.weight"] = held(rng.normal(size=(out, inp)) / inp**0.5)
        p[f"{name}.bias"] = held(rng.normal(size=out) / 4)
    if not case["choices"]:
        p["policy.spread"] = held([-0.6, 0.2, -1.1][: case["numbers"]])
    return p


def networks(p, case, observation):
    def layer(name, x):
        return x @ p[f"{name}.weight"].T + p[f"{name}.bias"]

    def hidden(name):
        x = observation
        for i in range(2):
            x = layer(f"{name}.{i}", x)
            x = np.tanh(x) if case["tanh"] else np.maximum(x, 0)
        return x

    policy, critic = ("trunk", "trunk") if case["shared"] else ("policy", "critic")
    return layer("policy.2", hidden(policy)), layer("critic.2", hidden(critic))[:, 0]


def log_probabilities(outputs, mask):
    """Returns the logarithms of the probabilities. A choice whose mask is 0 has the probability 0."""
    logits = outputs if mask is None else np.where(mask == 0, -np.inf, outputs)
    logits = logits - logits.max(1, keepdims=True)
    return logits - np.log(np.exp(logits).sum(1, keepdims=True))


def policy_of(p, case, outputs, batch, noise):
    """Returns the log-probability of the actions and the mean entropy. `noise` is the standardised distance of each sample from its mean,
    a constant of the entropy's gradient."""
    if case["choices"]:
        logs = log_probabilities(outputs, batch.get("mask"))
        terms = np.where(np.isinf(logs), 0, np.exp(logs) * np.where(np.isinf(logs), 0, logs))
        return logs[np.arange(ROWS), batch["action"].astype(int)], -terms.sum(1).mean()
    log_spread = p["policy.spread"]
    drawn = batch["action"].reshape(ROWS, case["numbers"])
    log_prob = -0.5 * ((drawn - outputs) / np.exp(log_spread)) ** 2 - log_spread - 0.5 * LN_TAU
    entropy = (0.5 + 0.5 * LN_TAU + log_spread).sum()
    if case["squash"]:
        # The change of the log-probability by tanh is the same for both policies and is left out.
        entropy += np.log(1 - np.tanh(outputs + np.exp(log_spread) * noise) ** 2).sum(1).mean()
    return log_prob.sum(1), entropy


def loss(p, case, batch, noise):
    outputs, value = networks(p, case, batch["observation"])
    log_prob, entropy = policy_of(p, case, outputs, batch, noise)
    log_ratio = log_prob - batch["old_log_prob"]
    ratio = np.exp(log_ratio)
    advantage = batch["advantage"]
    surrogate = np.minimum(ratio * advantage, np.clip(ratio, 1 - CLIP, 1 + CLIP) * advantage)
    square = (value - batch["return"]) ** 2
    change = value - batch["old_value"]
    if case["clip_value"]:
        square = np.maximum(square, (batch["old_value"] + np.clip(change, -CLIP, CLIP) - batch["return"]) ** 2)
        # No sample is so near a clipping edge that a central difference crosses it.
        assert (np.abs(np.abs(change) - CLIP) > 1e-3).all() and (np.abs(change) > CLIP).any()
    assert (np.abs(np.abs(ratio - 1) - CLIP) > 1e-3).all()
    assert (ratio > 1 + CLIP).any() and (ratio < 1 - CLIP).any()
    found = {
        "policy_loss": -surrogate.mean(),
        "value_loss": 0.5 * square.mean(),
        "entropy": entropy,
        "approx_kl": (ratio - 1 - log_ratio).mean(),
        "clip_fraction": (np.abs(ratio - 1) > CLIP).mean(),
    }
    return found["policy_loss"] + VALUE_COEF * found["value_loss"] - ENTROPY_COEF * entropy, found


def evaluated(p, case, batch):
    """Returns the outputs of the loss, and its central differences with respect to every parameter."""
    noise = None
    if not case["choices"]:
        outputs, _ = networks(p, case, batch["observation"])
        noise = (batch["action"].reshape(ROWS, -1) - outputs) / np.exp(p["policy.spread"])

    def at(name, i, by):
        moved = p[name].copy()
        moved.flat[i] += by
        return loss(p | {name: moved}, case, batch, noise)[0]

    slope = {name: np.array([(at(name, i, STEP) - at(name, i, -STEP)) / (2 * STEP) for i in range(x.size)]) for name, x in p.items()}
    return loss(p, case, batch, noise)[1], slope


def mask_of(rng, case):
    """Returns a mask that permits at least one choice of every row, one choice of some rows, and all choices of the first row."""
    mask = (rng.random((ROWS, case["choices"])) < 0.4).astype(float)
    mask[np.arange(ROWS), rng.integers(case["choices"], size=ROWS)] = 1
    mask[0] = 1
    assert (mask.sum(1) == 1).any()
    return mask


def batch_of(rng, p, case):
    batch = {"mask": mask_of(rng, case)} if case["masked"] else {}
    batch["observation"] = held(rng.normal(size=(ROWS, FEATURES)))
    outputs, value = networks(p, case, batch["observation"])
    if case["choices"]:
        odds = np.exp(log_probabilities(outputs, batch.get("mask")))
        batch["action"] = np.array([rng.choice(case["choices"], p=row) for row in odds]).astype(float)
    else:
        batch["action"] = held(outputs + np.exp(p["policy.spread"]) * rng.normal(size=outputs.shape))
    log_prob, _ = policy_of(p, case | {"squash": False}, outputs, batch, None)
    return batch | {
        "old_log_prob": held(log_prob + 0.3 * rng.normal(size=ROWS)),
        "advantage": held(rng.normal(size=ROWS)),
        "return": held(value + rng.normal(size=ROWS)),
        "old_value": held(value + 0.4 * rng.normal(size=ROWS)),
    }


def numbers(array):
    return [float(f"{v:.9g}") for v in np.asarray(array).flatten()]


def record(seed, name, choices=0, count=1, masked=False, squash=False, shared=False, tanh=False, clip_value=False):
    rng = np.random.default_rng(seed)
    case = {"name": name, "choices": choices, "numbers": count, "masked": masked, "squash": squash, "shared": shared}
    case |= {"tanh": tanh, "clip_value": clip_value}
    p = first_parameters(rng, case)
    batch = batch_of(rng, p, case)
    outputs, slope = evaluated(p, case, batch)
    return case | {
        "batch": {name: numbers(value) for name, value in batch.items()},
        "parameters": {name: numbers(value) for name, value in p.items()},
        "outputs": {name: float(value) for name, value in outputs.items()},
        "gradients": {name: numbers(value) for name, value in slope.items()},
    }


def check_against_torch():
    """Computes the cases that PyTorch recorded. The recorded numbers have nine digits."""
    for recorded in TORCH["cases"]:
        case = recorded | {"numbers": 1, "masked": False}
        shapes = {f"{name}.weight": (out, inp) for name, inp, out in layers(case)}
        p = {name: np.array(x).reshape(shapes.get(name, -1)) for name, x in recorded["parameters"].items()}
        batch = {name: np.array(x) for name, x in recorded["batch"].items()}
        batch["observation"] = batch["observation"].reshape(ROWS, FEATURES)
        outputs, slope = evaluated(p, case, batch)
        for name, value in recorded["outputs"].items():
            assert abs(outputs[name] - value) < 1e-8, (recorded["name"], name, outputs[name], value)
        for name, value in recorded["gradients"].items():
            assert np.abs(slope[name] - value).max() < 1e-7, (recorded["name"], name, np.abs(slope[name] - value).max())


if __name__ == "__main__":
    check_against_torch()
    data = {
        "numpy": np.__version__,
        "cases": [
            record(1, "two numbers an action", count=2, tanh=True),
            record(2, "three squashed numbers, clipped values", count=3, squash=True, clip_value=True),
            record(3, "two squashed numbers, shared trunk", count=2, squash=True, shared=True, tanh=True),
            record(4, "five masked choices", choices=5, masked=True, tanh=True),
            record(6, "three masked choices, shared trunk", choices=3, masked=True, shared=True),
        ],
    }
    (HERE / "ppo_loss_numbers.json").write_text(json.dumps(data) + "\n")
