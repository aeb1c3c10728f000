"""Writes results of differentiable logic automata from JAX and Optax to logic_layers.json beside this file.

pip install jax==0.10.2 optax==0.2.8 numpy && python3 logic_layers.py

Wires and logits are random. A case contains them, the start and target grids, and the results of JAX: the loss, its gradient with
respect to the logits, and the losses and some logits of AdamW steps with elementwise gradient clipping.
"""

import json
import pathlib

import jax
import jax.numpy as jnp
import numpy as np
import optax

# The outputs of an operation for (0, 0), (0, 1), (1, 0) and (1, 1) are the bits of its number, highest first.
TRUTH = np.array([[(op >> (3 - v)) & 1 for v in range(4)] for op in range(16)], np.float32)


def gate(logits, a, b):
    """Returns the mixture of all operations, each as a sum over the four corners."""
    corners = jnp.stack([(1 - a) * (1 - b), (1 - a) * b, a * (1 - b), a * b], axis=-1)
    operations = corners @ TRUTH.T
    return (operations * jax.nn.softmax(logits, axis=-1)).sum(axis=-1)


def step(case, logits, grid):
    """Returns the next grid. The shape of a grid is [channel, height, width]."""
    channels, kernels = case["channels"], case["kernels"]
    padded = jnp.pad(grid, ((0, 0), (1, 1), (1, 1)), mode="wrap" if case["periodic"] else "constant")
    height, width = grid.shape[1:]
    cells = [padded[:, y : y + height, x : x + width] for y in range(3) for x in range(3)]
    # [height, width, channel, kernel, input]
    x = jnp.transpose(jnp.stack(cells), (2, 3, 1, 0))[:, :, :, None, :].repeat(kernels, axis=3)
    for wires, layer in zip(case["perception"], logits["perception"]):
        x = gate(layer, x[..., np.array(wires[0])], x[..., np.array(wires[1])])
    # [channel, output, kernel], after the cell's own channels
    said = jnp.transpose(x, (0, 1, 2, 4, 3)).reshape(height, width, -1)
    x = jnp.concatenate([jnp.transpose(grid, (1, 2, 0)), said], axis=-1)
    for wires, layer in zip(case["update"], logits["update"]):
        x = gate(layer, x[..., np.array(wires[0])], x[..., np.array(wires[1])])
    return jnp.transpose(x, (2, 0, 1))


def loss(case, logits):
    def of(start, target):
        grid = start
        for _ in range(case["steps"]):
            grid = step(case, logits, grid)
        return ((grid[: target.shape[0]] - target) ** 2).sum()

    return jax.vmap(of)(jnp.array(case["start"], jnp.float32), jnp.array(case["target"], jnp.float32)).sum()


def flat(tree):
    return jnp.concatenate([x.reshape(-1) for x in tree["perception"] + tree["update"]])


def make(seed, channels, kernels, perception, update, shape, periodic, steps, batch, loss_channels, updates):
    rng = np.random.default_rng(seed)
    case = dict(channels=channels, kernels=kernels, periodic=periodic, steps=steps, perception=[], update=[])
    logits = {"perception": [], "update": []}

    def wire(inputs, gates):
        ends = np.concatenate([rng.permutation(inputs) for _ in range(2 * gates // inputs + 1)])[: 2 * gates]
        return [ends[::2].tolist(), ends[1::2].tolist()]

    inputs = 9
    for layer, gates in enumerate(perception):
        others = rng.permutation([0, 1, 2, 3, 5, 6, 7, 8]).tolist()
        case["perception"].append([others, [4] * 8] if layer == 0 else wire(inputs, gates))
        logits["perception"].append(rng.integers(-20, 21, (kernels, gates, 16)) / 10)
        inputs = gates
    inputs = channels * (1 + kernels * inputs)
    for gates in update:
        case["update"].append(wire(inputs, gates))
        logits["update"].append(rng.integers(-20, 21, (gates, 16)) / 10)
        inputs = gates
    case["start"] = rng.integers(0, 2, (batch, channels, *shape)).tolist()
    case["target"] = rng.integers(0, 2, (batch, loss_channels, *shape)).tolist()
    logits = jax.tree.map(lambda x: jnp.array(x, jnp.float32), logits)
    tenths = (np.asarray(flat(logits), np.float64) * 10).round().astype(int).tolist()
    value, gradient = jax.value_and_grad(lambda x: loss(case, x))(logits)
    case |= dict(layers=[perception, update], logits_in_tenths=tenths, loss=float(value))
    case["gradient"] = [float(f"{x:.6g}") for x in np.asarray(flat(gradient), np.float64)]
    # A clipping threshold that some elements exceed.
    clip = float(np.quantile(np.abs(case["gradient"]), 0.95))
    optimiser = optax.chain(optax.clip(clip), optax.adamw(0.05, b1=0.9, b2=0.99, weight_decay=1e-2))
    state, losses = optimiser.init(logits), []
    for _ in range(updates):
        value, gradient = jax.value_and_grad(lambda x: loss(case, x))(logits)
        losses.append(float(value))
        change, state = optimiser.update(gradient, state, logits)
        logits = optax.apply_updates(logits, change)
    case |= dict(clip=clip, losses=losses)
    case["logits_after"] = [round(float(x), 6) for x in flat(logits)[::5]]
    return case


jax.config.update("jax_default_matmul_precision", "highest")
cases = [
    make(1, 1, 9, [8, 4, 2, 1], [10, 6, 3, 2, 1], (3, 3), True, 1, 4, 1, 5),
    make(2, 2, 3, [8, 4, 2], [14, 8, 4, 2], (5, 7), False, 3, 2, 1, 5),
    make(3, 3, 2, [8, 4, 2], [16, 9, 5, 3], (6, 4), True, 2, 1, 2, 5),
]
path = pathlib.Path(__file__).with_suffix(".json")
path.write_text("[\n" + ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases) + "\n]\n")
