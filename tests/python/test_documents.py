"""Python examples: those of the documents, and the files in examples/. The tests of Ray (test_ray.py) run the examples with a cluster."""

import subprocess
import sys

import documents
import hothouse
import pytest


@pytest.mark.parametrize("document, least", documents.WITH_EXAMPLES.items())
def test_examples_of_a_document_run(document, least, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # A replay draws the beginning of its episode.
    monkeypatch.setattr("hothouse._replay._LONGEST", 20)
    found = documents.examples(document)
    assert len(found) >= least
    names = {}
    for text in found:
        if not documents.needs_cluster(text):
            exec(compile(text, document, "exec"), names)


def example(name, *args):
    done = subprocess.run([sys.executable, documents.ROOT / "examples" / name, *args], capture_output=True, text=True, timeout=120)
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
