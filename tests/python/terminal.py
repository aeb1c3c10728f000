"""The native program, for comparison with the package."""

import json
import os
import subprocess

import pytest

#: Time limit of a command, in seconds.
LIMIT_S = 300
PROGRAM = os.environ.get("HOTHOUSE", "")
needed = pytest.mark.skipif(not PROGRAM, reason="HOTHOUSE is not set to the program; npm test -- --only python sets it")


def hothouse(*args, text=False):
    """Run the program; return its output as parsed JSON lines, or as text."""
    out = subprocess.run([PROGRAM, *map(str, args)], capture_output=True, text=True, timeout=LIMIT_S)
    assert out.returncode == 0, out.stderr
    return out.stdout if text else [json.loads(line) for line in out.stdout.splitlines()]
