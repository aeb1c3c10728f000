"""Exported models: onnxruntime, compiled C and Node compute what Hothouse computes."""

import ctypes
import functools
import json
import pathlib
import re
import shutil
import subprocess

import numpy as np
import pytest

import hothouse
import terminal
import tier

TEMPLATES = pathlib.Path(__file__).parents[2] / "crates/worlds/src/control/script/templates"
#: Number of inputs per model. A window of words counts as one input per token.
ITEMS = 1000 if tier.ALL else 250
DOCUMENT = (pathlib.Path(__file__).parents[2] / "docs/export.md").read_text()

CONTROL = {"envs": 64, "rollout_steps": 32, "hidden": 16, "minibatches": 2}
CUBE = {"hidden": "32-16", "batch": 64}
WALKS = {**CUBE, "walk": 8, "updates": 4}
DQN = {**CUBE, "updates": 8, "replay": 512, "warmup": 64, "envs": 8, "window": 10, "target_every": 10}
PUBLISHED = {"tables": 2, "games": 4, "batch": 16, "evals": 8, "round_batches": 40, "minibatch": 32, "replay": 1024, "width": 32, "blocks": 1}
WORDS = {"width": 32, "layers": 2, "heads": 2, "context": 32, "batch": 4, "micro": 2, "steps": 2, "warmup": 2, "characters": 20_000}

#: Name, room, variant (or file of an environment), knobs.
NEW = [
    ("choices", "control", "CartPole-v1", CONTROL),
    ("choices of one trunk", "control", "LunarLander-v3", {**CONTROL, "normalize_observation": True, "tanh": True, "shared": True}),
    ("clamped numbers", "control", "Pendulum-v1", {**CONTROL, "normalize_observation": True}),
    ("squashed numbers", "control", "MountainCarContinuous-v0", {**CONTROL, "squash": True, "tanh": True}),
    ("several numbers", "control", TEMPLATES / "racer.py", {**CONTROL, "normalize_observation": True}),
    ("masked choices", "control", TEMPLATES / "taxi.py", {**CONTROL, "normalize_observation": True}),
    ("strong", "backgammon", "strong", {"hidden": 16, "games": 24, "batch": 128}),
    ("published", "backgammon", "published", PUBLISHED),
    ("values", "cube", "2x2x2", {**WALKS, "norm": True}),
    ("values of stickers", "cube", "3x3x3", {**WALKS, "inputs": "stickers", "blocks": 2}),
    ("policy", "cube", "2x2x2-last", {**WALKS, "inputs": "folded", "metric": "htm"}),
    ("dueling", "cube", "2x2x2-dqn", DQN),
    ("discounted", "cube", "2x2x2-dqn", {**DQN, "dueling": False, "norm": True, "gamma": 0.9, "inputs": "cubies"}),
    ("rotary", "words", "char", WORDS),
    ("learned places", "words", "char", {**WORDS, "norm": "layer", "positions": "learned", "mlp": "gelu", "bias": True, "tied": False}),
    ("layer norm without biases", "words", "char", {**WORDS, "norm": "layer"}),
]
#: Models that train for long. Their weights and results are large, and so are the differences of rounding. The number of iterations is last.
LONG = [("long rotary", "words", "char", {**WORDS, "steps": 32, "lr": 0.02, "decay_steps": 4000}, 125 if tier.ALL else 16)]
if tier.ALL:
    LONG += [
        ("long choices", "control", "LunarLander-v3", {**CONTROL, "normalize_observation": True}, 400),
        ("long numbers", "control", "Pendulum-v1", {**CONTROL, "normalize_observation": True}, 400),
        ("long strong", "backgammon", "strong", {"hidden": 16, "games": 24, "batch": 128}, 400),
        ("long published", "backgammon", "published", PUBLISHED, 100),
        ("long values", "cube", "2x2x2", WALKS, 400),
        ("long dueling", "cube", "2x2x2-dqn", DQN, 400),
    ]
MODELS = [(*model, 4) for model in NEW] + LONG


@functools.lru_cache(maxsize=None)
def trained(name):
    """Returns a run whose weights differ from the initial weights, inputs of its model, and the model's outputs for these inputs."""
    [(_, room, variant, knobs, iterations)] = [model for model in MODELS if model[0] == name]
    what = {"world": variant} if isinstance(variant, pathlib.Path) else {"variant": variant}
    run = hothouse.Run(room, **what, seed=3, knobs=knobs)
    digest = run.digest
    # The amount of training does not depend on the speed of the machine.
    while run.digest == digest or run.progress["iteration"] < iterations:
        run.advance(steps=1)
    count = -(-ITEMS // WORDS["context"]) if run.room == "words" else ITEMS
    return run, *run.examples(count, seed=5)


def bound(run):
    """Bound of the differences that the model card states."""
    return float(re.search(r"by less than (\S+) of the largest number of an output", run.export("c").card)[1])


def difference(found, expected):
    """Largest difference, relative to the largest number of the output of an item, or to 1 if that is larger."""
    found, expected = (values.reshape(len(values), -1) for values in (found, expected))
    return (np.abs(found - expected).max(1) / np.maximum(1, np.abs(expected).max(1))).max()


def compare(name, run, found, expected):
    assert found.shape == expected.shape, name
    assert difference(found, expected) < bound(run), (name, difference(found, expected))


def each(inputs):
    """Returns the inputs of each item."""
    count = len(next(iter(inputs.values())))
    return [{name: values[i] for name, values in inputs.items()} for i in range(count)]


def in_onnxruntime(run, inputs, folder):
    runtime = pytest.importorskip("onnxruntime", reason="there is no onnxruntime for this system; install it to run the exported models")
    path = folder / "model.onnx"
    model = run.export("onnx", path).model
    assert path.read_bytes() == model
    session = runtime.InferenceSession(model, providers=["CPUExecutionProvider"])
    assert [one.name for one in session.get_inputs()] == list(inputs)
    names = [one.name for one in session.get_outputs()]
    if run.room == "words":
        # The model takes one window at a time.
        windows = [session.run(None, window) for window in each(inputs)]
        return {name: np.stack(values) for name, values in zip(names, zip(*windows))}
    assert session.get_inputs()[0].shape[0] == "batch"
    return dict(zip(names, session.run(None, inputs)))


def in_c(run, inputs, folder, outputs):
    compiler = next(filter(None, map(shutil.which, ["cc", "gcc", "clang"])), None)
    if compiler is None:
        pytest.skip("there is no C compiler; install gcc or clang")
    source, library = folder / "model.c", folder / "model.so"
    run.export("c", source)
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-O2", "-shared", "-fPIC"]
    subprocess.run([compiler, *flags, "-o", library, source, "-lm"], check=True)
    predict = ctypes.CDLL(str(library)).hothouse_predict
    predict.restype = None
    pointer = {True: ctypes.POINTER(ctypes.c_int32), False: ctypes.POINTER(ctypes.c_float)}
    typed = {True: np.int32, False: np.float32}

    def whole(values):
        return np.issubdtype(values.dtype, np.integer)

    given = {name: np.ascontiguousarray(values, typed[whole(values)]) for name, values in inputs.items()}
    results = {name: np.zeros(values.shape, typed[whole(values)]) for name, values in outputs.items()}
    for i in range(len(next(iter(given.values())))):
        arrays = [values[i : i + 1] for values in [*given.values(), *results.values()]]
        predict(*(array.ctypes.data_as(pointer[whole(array)]) for array in arrays))
    return results


PROGRAM = """
import { readFileSync } from "node:fs";
const { predict, inputs, outputs } = await import(process.argv[2]);
const items = JSON.parse(readFileSync(0, "utf8"));
const plain = (value) => (typeof value === "number" ? value : Array.from(value));
const results = items.map((item) => Object.fromEntries(Object.entries(predict(item)).map(([name, value]) => [name, plain(value)])));
let refusal = "none";
try { predict({ [Object.keys(inputs)[0]]: [1] }); } catch (error) { refusal = error.message; }
console.log(JSON.stringify({ results, inputs, outputs, refusal }));
"""


def in_node(run, inputs, folder, outputs, change=lambda source: source):
    if shutil.which("node") is None:
        pytest.skip("there is no Node; install it")
    module, program = folder / "model.mjs", folder / "program.mjs"
    run.export("js", module)
    module.write_text(change(module.read_text()))
    program.write_text(PROGRAM)
    items = json.dumps([{name: values.ravel().tolist() for name, values in item.items()} for item in each(inputs)])
    printed = subprocess.run(["node", program, module], input=items, capture_output=True, text=True, check=True).stdout
    answer = json.loads(printed)
    assert answer["inputs"] == {name: list(values.shape[1:]) for name, values in inputs.items()}
    assert answer["outputs"] == {name: list(values.shape[1:]) for name, values in outputs.items()}
    if np.prod(next(iter(inputs.values())).shape[1:]) > 1:
        assert "has 1 numbers; give" in answer["refusal"]
    found = {name: np.array([result[name] for result in answer["results"]]) for name in outputs}
    return {name: values.reshape(outputs[name].shape) for name, values in found.items()}


@pytest.mark.parametrize("name", [model[0] for model in MODELS])
@pytest.mark.parametrize("program", ["onnxruntime", "C", "Node"])
def test_programs_agree(program, name, tmp_path):
    run, inputs, outputs = trained(name)
    if program == "onnxruntime":
        found = in_onnxruntime(run, inputs, tmp_path)
    else:
        found = (in_c if program == "C" else in_node)(run, inputs, tmp_path, outputs)
    assert list(found) == list(outputs)
    scores = next(iter(outputs.values()))
    for output, expected in outputs.items():
        if np.issubdtype(expected.dtype, np.integer):
            # Of equally good actions, a program may choose another one.
            found[output], expected = (np.take_along_axis(scores, chosen[:, None], 1) for chosen in (found[output], expected))
        # A model of constants would fail here.
        assert expected.std() > 0
        compare(f"{output} of {name}", run, found[output], expected)


def test_a_model_without_normalisation_fails(tmp_path):
    """Control of the comparison: the first two arrays of weights are means and scales of the observation."""
    run, inputs, outputs = trained("choices of one trunk")

    def without(source):
        assert "\n\nfunction" in source
        return source.replace("\n\nfunction", "\nw0.fill(0);\nw1.fill(1);\n\nfunction", 1)

    found = in_node(run, inputs, tmp_path, outputs, without)
    with pytest.raises(AssertionError, match="probabilities"):
        compare("probabilities", run, found["probabilities"], outputs["probabilities"])


def test_products_in_bf16_differ_as_the_document_states(tmp_path):
    """Compares a module with products in bf16, because a run with such products needs a processor that has them."""
    run, inputs, outputs = trained("long rotary")

    def rounded(source):
        product = "sum += x[r * inputs + i] * w[o * inputs + i]"
        rounding = "const one = new Float32Array(1), bits = new Uint32Array(one.buffer);\nfunction bf16(x) {\n  one[0] = x;\n"
        rounding += "  bits[0] = (bits[0] + 0x7fff + ((bits[0] >> 16) & 1)) & 0xffff0000;\n  return one[0];\n}\n"
        assert product in source
        return rounding + source.replace(product, "sum += bf16(x[r * inputs + i]) * bf16(w[o * inputs + i])")

    found = in_node(run, inputs, tmp_path, outputs, rounded)
    stated = float(re.search(r"\| in bf16 or AMX.*\| below (\S+) \|", DOCUMENT)[1])
    assert 100 * bound(run) < difference(found["logits"], outputs["logits"]) < stated


@pytest.mark.parametrize("name", ["choices of one trunk", "clamped numbers"])
def test_examples_are_those_of_the_policy(name):
    run, inputs, outputs = trained(name)
    policy, _ = run.policy().predict(inputs["observation"])
    first = next(iter(outputs.values()))
    compare(name, run, policy[:, : first.shape[1]], first)
    # Normalisation is inside the model: it changes the results.
    assert inputs["observation"].std(axis=0).max() > 2 * inputs["observation"].std(axis=0).min()


@terminal.needed
@pytest.mark.parametrize("name", ["squashed numbers", "strong", "policy", "rotary"])
def test_the_terminal_writes_the_same_files(name, tmp_path):
    run = trained(name)[0]
    checkpoint, model = tmp_path / "run.safetensors", tmp_path / "model.c"
    run.save(checkpoint)
    said = terminal.hothouse("export", run.room, checkpoint, "--format", "c", "--out", model, text=True)
    assert "model.c" in said and "model.md" in said
    exported = run.export("c")
    assert model.read_bytes() == exported.model and (tmp_path / "model.md").read_text() == exported.card


def test_files_are_written_with_their_card(tmp_path):
    run = trained("choices")[0]
    path = tmp_path / "policy.onnx"
    exported = run.export("onnx", path)
    card = (tmp_path / "policy.md").read_text()
    assert card == exported.card and run.digest in card and "observation" in card
    run.export("onnx", path)
    with pytest.raises(FileExistsError, match="not a model"):
        run.export("c", path)
    (tmp_path / "other.md").write_text("notes\n")
    with pytest.raises(FileExistsError, match="model card"):
        run.export("onnx", tmp_path / "other.onnx")
    assert not (tmp_path / "other.onnx").exists()
    with pytest.raises(OSError, match="model card"):
        run.export("js", tmp_path / "policy.md")
    with pytest.raises(ValueError, match="onnx, c, js"):
        run.export("pt")
    with pytest.raises(ValueError, match="hothouse export logic"):
        hothouse.Run("logic").export("onnx")
