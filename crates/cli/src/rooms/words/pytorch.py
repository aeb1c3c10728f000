"""The transformer of the words room in PyTorch. It is the reference for tests (tests/golden/words.py) and for timings
(`hothouse bench words --versus pytorch`, which runs this file).

    python3 pytorch.py VOCABULARY WIDTH LAYERS HEADS CONTEXT BATCH THREADS SECONDS MODE

When the script is ready, it prints the version of PyTorch as a line of JSON. Each input line starts a round. At the end of the
round, the script prints a line of JSON with the tokens per second of whole training steps (forward, backward, clip, AdamW). A round
lasts at least SECONDS and counts all of its steps, like the benchmark of Hothouse. MODE is `fp32` or `bf16`; the suffix
`-compile` compiles the model.
"""

import json
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn


class Norm(nn.Module):
    def __init__(self, width, rms, bias):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width)) if bias and not rms else None
        self.rms = rms

    def forward(self, x):
        if self.rms:
            return F.rms_norm(x, x.shape[-1:], self.weight, 1e-5)
        return F.layer_norm(x, x.shape[-1:], self.weight, self.bias, 1e-5)


def turned(x):
    """Applies rotary positions (Su et al. 2021) to x, of shape [batch, head, time, size]. The elements of a pair are half a head apart."""
    half = x.shape[-1] // 2
    place = torch.arange(x.shape[-2], dtype=x.dtype)[:, None]
    angle = place * 10000.0 ** (-torch.arange(half, dtype=x.dtype) / half)
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], -1)


class Attention(nn.Module):
    def __init__(self, width, heads, rotary, bias):
        super().__init__()
        self.c_attn = nn.Linear(width, 3 * width, bias=bias)
        self.c_proj = nn.Linear(width, width, bias=bias)
        self.heads, self.rotary = heads, rotary

    def forward(self, x):
        batch, time_, width = x.shape
        q, k, v = (
            part.view(batch, time_, self.heads, width // self.heads).transpose(1, 2)
            for part in self.c_attn(x).split(width, 2)
        )
        if self.rotary:
            q, k = turned(q), turned(k)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.c_proj(y.transpose(1, 2).reshape(batch, time_, width))


class Mlp(nn.Module):
    def __init__(self, width, hidden, swiglu, bias):
        super().__init__()
        if swiglu:
            self.c_gate = nn.Linear(width, hidden, bias=bias)
        self.c_fc = nn.Linear(width, hidden, bias=bias)
        self.c_proj = nn.Linear(hidden, width, bias=bias)
        self.swiglu = swiglu

    def forward(self, x):
        if self.swiglu:
            return self.c_proj(F.silu(self.c_gate(x)) * self.c_fc(x))
        return self.c_proj(F.gelu(self.c_fc(x), approximate="tanh"))


class Block(nn.Module):
    def __init__(self, width, heads, hidden, rms, rotary, swiglu, bias):
        super().__init__()
        self.ln_1, self.ln_2 = Norm(width, rms, bias), Norm(width, rms, bias)
        self.attn = Attention(width, heads, rotary, bias)
        self.mlp = Mlp(width, hidden, swiglu, bias)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class Gpt(nn.Module):
    def __init__(
        self, vocabulary, width, layers, heads, context, rms=False, rotary=False, swiglu=False, tied=True, bias=True
    ):
        super().__init__()
        # SwiGLU has three matrices instead of two. A hidden size of 8/3 widths, rounded up to a multiple of 32, gives about as many
        # parameters as two matrices with a hidden size of 4 widths.
        hidden = -(-8 * width // 3 // 32) * 32 if swiglu else 4 * width
        self.transformer = nn.ModuleDict({"wte": nn.Embedding(vocabulary, width)})
        if not rotary:
            self.transformer["wpe"] = nn.Embedding(context, width)
        blocks = (Block(width, heads, hidden, rms, rotary, swiglu, bias) for _ in range(layers))
        self.transformer["h"] = nn.ModuleList(blocks)
        self.transformer["ln_f"] = Norm(width, rms, bias)
        self.lm_head = nn.Linear(width, vocabulary, bias=False)
        if tied:
            self.lm_head.weight = self.transformer["wte"].weight

    def forward(self, tokens, targets):
        x = self.transformer["wte"](tokens)
        if "wpe" in self.transformer:
            x = x + self.transformer["wpe"].weight[: tokens.shape[1]]
        for block in self.transformer["h"]:
            x = block(x)
        logits = self.lm_head(self.transformer["ln_f"](x))
        return F.cross_entropy(logits.view(-1, logits.shape[-1]).float(), targets.reshape(-1))

    def optimizer(self, lr, weight_decay, betas, **more):
        """Returns an AdamW optimizer that applies weight decay to matrices only."""
        params = list(self.parameters())
        groups = [
            {"params": [p for p in params if p.dim() >= 2], "weight_decay": weight_decay},
            {"params": [p for p in params if p.dim() < 2], "weight_decay": 0.0},
        ]
        return torch.optim.AdamW(groups, lr=lr, betas=betas, eps=1e-8, **more)


def training(shape, batch, mode):
    """Returns a function that performs one training step."""
    vocabulary, _, _, _, context = shape
    torch.manual_seed(1)
    model = Gpt(*shape)
    for p in model.parameters():
        if p.dim() >= 2:
            nn.init.normal_(p, std=0.02)
    optimizer = model.optimizer(1e-3, 0.1, (0.9, 0.99), fused=True)
    run = torch.compile(model) if mode.endswith("-compile") else model
    text = torch.randint(vocabulary, (1 << 16,))

    def step():
        starts = torch.randint(len(text) - context - 1, (batch,))
        tokens = torch.stack([text[s : s + context + 1] for s in starts])
        with torch.autocast("cpu", torch.bfloat16, enabled=mode.startswith("bf16")):
            loss = run(tokens[:, :-1], tokens[:, 1:])
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss.item()

    return step


def tokens_per_s(step, tokens, seconds):
    steps, began = 0, time.perf_counter()
    while True:
        step()
        steps += 1
        took = time.perf_counter() - began
        if took >= seconds:
            return tokens * steps / took


def main():
    *shape, batch, threads = map(int, sys.argv[1:8])
    seconds, mode = float(sys.argv[8]), sys.argv[9]
    torch.set_num_threads(threads)
    step = training(shape, batch, mode)
    for _ in range(3):
        step()
    print(json.dumps({"torch": torch.__version__}), flush=True)
    for _ in sys.stdin:
        print(json.dumps({"tokens_per_s": tokens_per_s(step, batch * shape[4], seconds)}), flush=True)


if __name__ == "__main__":
    main()
