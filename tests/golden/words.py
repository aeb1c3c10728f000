"""Gradients of small transformers and the losses of 200 steps of AdamW, in PyTorch, for crates/learn/tests/learn/words.rs.

    python -m venv venv && venv/bin/pip install torch numpy
    venv/bin/python tests/golden/words.py

Writes words.json. Weights and tokens are from a random generator that the tests implement too, so the file contains only results:
gradients in f64, losses in f32.
"""

import json
import math
import sys
from pathlib import Path

import torch

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent.parent / "crates/cli/src/rooms/words"))
from pytorch import Gpt  # noqa: E402

torch.set_num_threads(1)

CASES = [
    dict(name="gpt", layers=2, rms=False, rotary=False, swiglu=False, tied=True, bias=True),
    dict(name="llama", layers=1, rms=True, rotary=True, swiglu=True, tied=False, bias=False),
    dict(name="rotary", layers=1, rms=False, rotary=True, swiglu=False, tied=True, bias=False),
    dict(name="swiglu", layers=1, rms=True, rotary=False, swiglu=True, tied=False, bias=True),
]
SMALL = dict(vocabulary=20, width=16, heads=2, context=6)
BATCH = 3
LEARNED = dict(vocabulary=24, width=32, layers=2, heads=4, context=16)
STEPS, LEARNED_BATCH, LR, MIN_LR, WARMUP = 200, 8, 3e-3, 3e-4, 20


class Numbers:
    """A 32-bit linear congruential generator (Numerical Recipes)."""

    def __init__(self, seed):
        self.state = seed

    def word(self):
        self.state = (1664525 * self.state + 1013904223) % 2**32
        return self.state >> 8

    def even(self):
        """Returns a number in -1..1, rounded to f32."""
        return self.word() / 2**23 - 1

    def below(self, n):
        return self.word() * n >> 24


def fill(model, scale):
    """Fills each parameter from a separate generator; its seed is the sum of the bytes of the parameter's name."""
    for name, p in model.named_parameters():
        numbers = Numbers(sum(name.encode()))
        first = 1.0 if ".ln_" in name and name.endswith("weight") else 0.0
        values = [first + scale * numbers.even() for _ in range(p.numel())]
        p.data = torch.tensor(values, dtype=torch.float32).to(p.dtype).view(p.shape)


def gradients(case):
    options = {k: v for k, v in case.items() if k != "name"}
    model = Gpt(**SMALL, **options).double()
    fill(model, 0.25)
    numbers = Numbers(7)
    tokens = torch.tensor([[numbers.below(SMALL["vocabulary"]) for _ in range(SMALL["context"] + 1)] for _ in range(BATCH)])
    # The model casts to float for the loss; this makes the loss f64 too.
    torch.Tensor.float, plain = torch.Tensor.double, torch.Tensor.float
    loss = model(tokens[:, :-1], tokens[:, 1:])
    torch.Tensor.float = plain
    loss.backward()
    grads = {name: [float(f"{x:.5g}") for x in p.grad.flatten().tolist()] for name, p in model.named_parameters()}
    return case | {"loss": loss.item(), "gradients": grads}


def text(numbers, vocabulary):
    """Returns a learnable text: most tokens are a function of the token before."""
    tokens = [0]
    while len(tokens) < 2000:
        guess = (5 * tokens[-1] + 3) % vocabulary
        tokens.append(guess if numbers.below(4) else numbers.below(vocabulary))
    return tokens


def losses():
    model = Gpt(**LEARNED)
    fill(model, 0.05)
    optimizer = model.optimizer(LR, 0.1, (0.9, 0.99))
    numbers = Numbers(11)
    corpus, context = torch.tensor(text(numbers, LEARNED["vocabulary"])), LEARNED["context"]
    told = []
    for step in range(STEPS):
        starts = [numbers.below(len(corpus) - context) for _ in range(LEARNED_BATCH)]
        tokens = torch.stack([corpus[s : s + context + 1] for s in starts])
        warm = LR * (step + 1) / WARMUP
        along = math.pi * (step - WARMUP) / (STEPS - WARMUP)
        lr = warm if step < WARMUP else MIN_LR + (LR - MIN_LR) * (1 + math.cos(along)) / 2
        for group in optimizer.param_groups:
            group["lr"] = lr
        optimizer.zero_grad()
        loss = model(tokens[:, :-1], tokens[:, 1:])
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        told.append([round(loss.item(), 6), round(norm.item(), 5)])
    return told


def main():
    golden = {"cases": [gradients(case) for case in CASES], "losses": losses()}
    with open(HERE / "words.json", "w") as file:
        json.dump(golden, file, separators=(",", ":"))
        file.write("\n")


main()
