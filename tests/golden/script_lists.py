"""Writes tests/golden/script_lists.txt: random programs about lists, from tests/python/list_programs.py. `tests/python/test_programs.py`
compares such programs with plain Python. The tests of the crates `worlds` and `gpu` compare instruction sets and devices.

Usage: python3 tests/golden/script_lists.py
"""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "python"))
import list_programs  # noqa: E402

COUNT = 40
#: Maximum number of characters of a program without its common part. Longer programs compile slowly on a software adapter.
LONGEST = 2500

texts = (list_programs.program(seed).removeprefix(list_programs.START) for seed in range(10 * COUNT))
short = [text for text in texts if len(text) <= LONGEST][:COUNT]
out = "\n= \n".join([list_programs.START, *short])
(HERE / "script_lists.txt").write_text(out)
