"""The native program, to hold the package against."""

import json
import os
import subprocess

import pytest

PROGRAM = os.environ.get("HOTHOUSE", "")
needed = pytest.mark.skipif(not PROGRAM, reason="HOTHOUSE names no program; npm test -- --only python does")


def hothouse(*args, text=False):
    """What it prints: lines of JSON, or the text."""
    out = subprocess.run([PROGRAM, *map(str, args)], capture_output=True, text=True)
    assert out.returncode == 0, out.stderr
    return out.stdout if text else [json.loads(line) for line in out.stdout.splitlines()]
