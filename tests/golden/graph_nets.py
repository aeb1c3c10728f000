"""Losses, gradients and two clipped Adam steps of three small nets in PyTorch, for crates/graph/tests/graph/golden.rs.

    python -m venv venv && venv/bin/pip install torch numpy
    venv/bin/python tests/golden/graph_nets.py

Writes graph_nets.json.
"""

import json
from pathlib import Path

import torch
import torch.nn.functional as F

HERE = Path(__file__).parent
torch.set_num_threads(1)


def linear(p, name, x):
    return F.linear(x, p[f"{name}.weight"], p[f"{name}.bias"])


def norm(p, name, x):
    return F.layer_norm(x, x.shape[1:], p[f"{name}.weight"], p[f"{name}.bias"], 1e-5)


def layer(p, name, inp, out):
    p[f"{name}.weight"] = torch.randn(out, inp) / inp**0.5
    p[f"{name}.bias"] = torch.randn(out) / 4


def norm_layer(p, name, width):
    p[f"{name}.weight"] = 1 + torch.randn(width) / 4
    p[f"{name}.bias"] = torch.randn(width) / 4


def relu_classifier():
    p = {}
    for i, (inp, out) in enumerate([(9, 16), (16, 12), (12, 5)]):
        layer(p, f"net.{i}", inp, out)
    inputs = {"x": torch.randn(20, 9), "index5": torch.randint(5, (20, 1)).float()}

    def loss(p, x, index5):
        x = torch.relu(linear(p, "net.0", x))
        x = torch.relu(linear(p, "net.1", x))
        return {"loss": F.cross_entropy(linear(p, "net.2", x), index5[:, 0].long())}

    return p, inputs, loss


def residual_classifier():
    p = {}
    layer(p, "stem", 10, 16)
    norm_layer(p, "stem.norm", 16)
    for i in range(2):
        for j in range(2):
            layer(p, f"block.{i}.{j}", 16, 16)
            norm_layer(p, f"block.{i}.{j}.norm", 16)
    layer(p, "head", 16, 4)
    inputs = {"x": torch.randn(12, 10), "index4": torch.randint(4, (12, 1)).float()}

    def loss(p, x, index4):
        x = torch.relu(norm(p, "stem.norm", linear(p, "stem", x)))
        for i in range(2):
            y = torch.relu(norm(p, f"block.{i}.0.norm", linear(p, f"block.{i}.0", x)))
            x = torch.relu(norm(p, f"block.{i}.1.norm", linear(p, f"block.{i}.1", y)) + x)
        return {"loss": F.cross_entropy(linear(p, "head", x), index4[:, 0].long())}

    return p, inputs, loss


def ppo():
    rows, p = 40, {}
    for head, out in [("policy", 2), ("value", 1)]:
        for i, (inp, width) in enumerate([(4, 8), (8, 8), (8, out)]):
            layer(p, f"{head}.{i}", inp, width)
    inputs = {
        "obs": torch.randn(rows, 4),
        "index2": torch.randint(2, (rows, 1)).float(),
        "old_log_p": -0.7 + torch.randn(rows, 1) / 4,
        "advantage": torch.randn(rows, 1),
        "return": torch.randn(rows, 1),
        "clip": torch.tensor([[0.2]]),
        "entropy_coef": torch.tensor([[0.01]]),
        "value_coef": torch.tensor([[0.5]]),
    }

    def net(p, name, x):
        x = torch.tanh(linear(p, f"{name}.0", x))
        x = torch.tanh(linear(p, f"{name}.1", x))
        return linear(p, f"{name}.2", x)

    def loss(p, obs, index2, old_log_p, advantage, clip, entropy_coef, value_coef, **rest):
        policy = torch.distributions.Categorical(logits=net(p, "policy", obs))
        log_ratio = policy.log_prob(index2[:, 0].long())[:, None] - old_log_p
        ratio = log_ratio.exp()
        low, high = 1 - clip.item(), 1 + clip.item()
        policy_loss = -torch.min(ratio * advantage, ratio.clamp(low, high) * advantage).mean()
        value_loss = F.mse_loss(net(p, "value", obs), rest["return"])
        entropy = policy.entropy().mean()
        return {
            "loss": policy_loss + value_coef.item() * value_loss - entropy_coef.item() * entropy,
            "policy_loss": policy_loss,
            "value_loss": value_loss,
            "entropy": entropy,
            "approx_kl": ((ratio - 1) - log_ratio).mean(),
            "clip_fraction": ((ratio - 1).abs() > clip.item()).float().mean(),
        }

    return p, inputs, loss


def numbers(tensor):
    return {"shape": list(tensor.shape), "values": [float(f"{v:.9g}") for v in tensor.detach().flatten().tolist()]}


def record(build):
    torch.manual_seed(1)
    p, inputs, loss = build()
    first = {name: value.clone() for name, value in p.items()}
    for value in p.values():
        value.requires_grad_()
    outputs = loss(p, **inputs)
    outputs["loss"].backward()
    gradients = {name: value.grad.clone() for name, value in p.items()}
    adam = torch.optim.Adam(p.values(), lr=0.01, eps=1e-5)
    for _ in range(2):
        adam.zero_grad()
        loss(p, **inputs)["loss"].backward()
        torch.nn.utils.clip_grad_norm_(p.values(), 0.1)
        adam.step()
    return {
        "name": build.__name__,
        "inputs": {name: numbers(value) for name, value in inputs.items()},
        "params": {name: numbers(value) for name, value in first.items()},
        "outputs": {name: value.item() for name, value in outputs.items()},
        "gradients": {name: numbers(value) for name, value in gradients.items()},
        "after_two_steps": {name: numbers(value) for name, value in p.items()},
    }


if __name__ == "__main__":
    nets = [record(build) for build in (relu_classifier, residual_classifier, ppo)]
    data = {"torch": torch.__version__, "nets": nets}
    (HERE / "graph_nets.json").write_text(json.dumps(data) + "\n")
