"""Python examples: those of the documents, and the files in examples/."""

import importlib.util
import pathlib
import re
import subprocess
import sys

import hothouse
import pytest

ROOT = pathlib.Path(__file__).parents[2]


@pytest.mark.parametrize("document, least", [("README.md", 1), ("docs/python.md", 4), ("crates/python/README.md", 1)])
def test_examples_of_a_document_run(document, least, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / document).read_text(encoding="utf-8"), re.S)
    assert len(blocks) >= least
    names = {}
    for block in blocks:
        if "hothouse.ray" in block and importlib.util.find_spec("ray") is None:
            continue
        exec(compile(block, document, "exec"), names)


def example(name, *args):
    done = subprocess.run([sys.executable, ROOT / "examples" / name, *args], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_environment_example_runs():
    out = example("environment.py")
    assert "steps per second" in out and "(400, 600, 3)" in out


def test_policy_example_loads_a_checkpoint(tmp_path):
    file = tmp_path / "run.safetensors"
    hothouse.Run("control", variant="CartPole-v1", knobs={"envs": 64}).advance(steps=20_000).save(file)
    out = example("policy.py", file)
    assert out.startswith("CartPole-v1, seed 1, iteration ") and "mean return" in out
