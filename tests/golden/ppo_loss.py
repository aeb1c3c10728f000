"""PPO's loss and its gradient with respect to every parameter, in PyTorch with f64, for crates/learn/tests/learn/control/nets.rs; and
generalised advantages of interrupted episodes, in NumPy, for crates/learn/tests/learn/control/advantages.rs.

    python -m venv venv && venv/bin/pip install torch numpy
    venv/bin/python tests/golden/ppo_loss.py

Writes ppo_loss.json. Policies are those of torch.distributions. All inputs are exactly representable in f32.
"""

import json
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch.distributions import Categorical, Normal, TransformedDistribution
from torch.distributions.transforms import TanhTransform

HERE = Path(__file__).parent
ROWS, FEATURES, HIDDEN = 24, 3, 6
CLIP, ENTROPY_COEF, VALUE_COEF = 0.2, 0.01, 0.5
torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)


def held(tensor):
    """Returns the number rounded to f32."""
    return tensor.float().double()


def layers(case):
    trunks = ["trunk"] if case["shared"] else ["policy", "critic"]
    for trunk in trunks:
        yield f"{trunk}.0", FEATURES, HIDDEN
        yield f"{trunk}.1", HIDDEN, HIDDEN
    yield "policy.2", HIDDEN, case["choices"] or 1
    yield "critic.2", HIDDEN, 1


def first_parameters(case):
    p = {}
    for name, inp, out in layers(case):
        p[f"{name}.weight"] = held(torch.randn(out, inp) / inp**0.5)
        p[f"{name}.bias"] = held(torch.randn(out) / 4)
    if not case["choices"]:
        p["policy.spread"] = held(torch.tensor([-0.6]))
    return p


def networks(p, case, observation):
    bend = torch.tanh if case["tanh"] else torch.relu

    def hidden(name):
        x = observation
        for i in range(2):
            x = bend(F.linear(x, p[f"{name}.{i}.weight"], p[f"{name}.{i}.bias"]))
        return x

    def head(name, x):
        return F.linear(x, p[f"{name}.2.weight"], p[f"{name}.2.bias"])

    policy, critic = ("trunk", "trunk") if case["shared"] else ("policy", "critic")
    return head("policy", hidden(policy)), head("critic", hidden(critic))[:, 0]


def policy_of(p, case, outputs):
    if case["choices"]:
        return Categorical(logits=outputs)
    normal = Normal(outputs[:, 0], p["policy.spread"].exp())
    return TransformedDistribution(normal, [TanhTransform()]) if case["squash"] else normal


def entropy_of(p, case, outputs, drawn):
    if case["choices"]:
        return Categorical(logits=outputs).entropy().mean()
    normal = Normal(outputs[:, 0], p["policy.spread"].exp())
    if not case["squash"]:
        return normal.entropy().mean()
    # Reparameterization with the noise of the sample: E[ln |d tanh(u)/du|] is the mean over this noise.
    noise = ((drawn - normal.mean) / normal.stddev).detach()
    again = normal.mean + normal.stddev * noise
    return (normal.entropy() + TanhTransform().log_abs_det_jacobian(again, again.tanh())).mean()


def loss(p, case, batch):
    outputs, value = networks(p, case, batch["observation"])
    policy = policy_of(p, case, outputs)
    action = batch["action"]
    log_prob = policy.log_prob(action.tanh() if case["squash"] else action)
    old_log_prob = batch["old_log_prob"]
    if case["squash"]:
        # The old log probability is that of the number before tanh.
        old_log_prob = old_log_prob - TanhTransform().log_abs_det_jacobian(action, action.tanh())
    log_ratio = log_prob - old_log_prob
    ratio = log_ratio.exp()
    advantage = batch["advantage"]
    surrogate = torch.min(ratio * advantage, ratio.clamp(1 - CLIP, 1 + CLIP) * advantage)
    target, old_value = batch["return"], batch["old_value"]
    square = (value - target) ** 2
    change = value - old_value
    if case["clip_value"]:
        square = torch.max(square, (old_value + change.clamp(-CLIP, CLIP) - target) ** 2)
        # No sample is so near a clipping edge that rounding decides its side.
        assert ((change.abs() - CLIP).abs() > 1e-3).all() and (change.abs() > CLIP).any()
    assert (((ratio - 1).abs() - CLIP).abs() > 1e-3).all()
    assert (ratio > 1 + CLIP).any() and (ratio < 1 - CLIP).any()
    outputs = {
        "policy_loss": -surrogate.mean(),
        "value_loss": 0.5 * square.mean(),
        "entropy": entropy_of(p, case, outputs, action),
        "approx_kl": (ratio - 1 - log_ratio).mean(),
        "clip_fraction": ((ratio - 1).abs() > CLIP).double().mean(),
    }
    whole = outputs["policy_loss"] + VALUE_COEF * outputs["value_loss"] - ENTROPY_COEF * outputs["entropy"]
    return whole, outputs


def batch_of(p, case):
    observation = held(torch.randn(ROWS, FEATURES))
    with torch.no_grad():
        outputs, value = networks(p, case, observation)
        normal = Categorical(logits=outputs) if case["choices"] else Normal(outputs[:, 0], p["policy.spread"].exp())
        action = held(normal.sample())
        return {
            "observation": observation,
            "action": action,
            "old_log_prob": held(normal.log_prob(action) + 0.3 * torch.randn(ROWS)),
            "advantage": held(torch.randn(ROWS)),
            "return": held(value + torch.randn(ROWS)),
            "old_value": held(value + 0.4 * torch.randn(ROWS)),
        }


def numbers(tensor):
    return [float(f"{v:.9g}") for v in tensor.detach().flatten().tolist()]


def record(seed, name, choices=0, squash=False, shared=False, tanh=False, clip_value=False):
    torch.manual_seed(seed)
    case = {
        "name": name,
        "choices": choices,
        "squash": squash,
        "shared": shared,
        "tanh": tanh,
        "clip_value": clip_value,
    }
    p = first_parameters(case)
    batch = batch_of(p, case)
    for value in p.values():
        value.requires_grad_()
    whole, outputs = loss(p, case, batch)
    whole.backward()
    return case | {
        "batch": {name: numbers(value) for name, value in batch.items()},
        "parameters": {name: numbers(value) for name, value in p.items()},
        "outputs": {name: value.item() for name, value in outputs.items()},
        "gradients": {name: numbers(value.grad) for name, value in p.items()},
    }


def advantages(steps, gamma, gae_lambda):
    """Computes GAE by its definition (Schulman et al. 2016, equation 16): for each step, the sum of (γλ)ˡ δ until the episode's end.
    Flags: 0 continues, 1 terminated, 2 truncated. The state reached by a truncated episode keeps its value."""
    rng = np.random.default_rng(3)
    rewards, values = rng.normal(size=steps), rng.normal(size=steps + 1)
    ends = rng.choice(3, size=steps, p=[0.85, 0.08, 0.07])
    reached = np.where(ends == 2, rng.normal(size=steps), 0)
    rewards, values, reached = (x.astype(np.float32).astype(float) for x in (rewards, values, reached))
    after = np.where(ends == 0, values[1:], reached)
    delta = rewards + gamma * after - values[:-1]
    found = []
    for t in range(steps):
        last = next((k for k in range(t, steps) if ends[k]), steps - 1)
        found.append(sum((gamma * gae_lambda) ** (k - t) * delta[k] for k in range(t, last + 1)))
    rounded = {"rewards": rewards, "values": values, "reached": reached, "advantages": np.array(found)}
    lists = {name: [float(f"{v:.9g}") for v in array] for name, array in rounded.items()}
    return {"gamma": gamma, "lambda": gae_lambda, "ends": ends.tolist()} | lists


if __name__ == "__main__":
    data = {
        "torch": torch.__version__.split("+")[0],
        "clip": CLIP,
        "entropy_coef": ENTROPY_COEF,
        "value_coef": VALUE_COEF,
        "cases": [
            record(1, "two choices", choices=2),
            record(12, "four choices, clipped values", choices=4, tanh=True, clip_value=True),
            record(3, "numbers", tanh=True),
            record(4, "numbers, clipped values", clip_value=True),
            record(5, "squashed numbers", squash=True),
            record(6, "three choices, shared trunk", choices=3, shared=True, tanh=True),
            record(7, "squashed numbers, shared trunk, clipped values", 0, True, True, True, True),
        ],
        "advantages": advantages(80, 0.98, 0.9),
    }
    (HERE / "ppo_loss.json").write_text(json.dumps(data) + "\n")
