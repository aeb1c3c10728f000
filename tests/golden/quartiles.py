"""Writes quartiles.txt: NumPy's quartiles of some samples. The tests in Rust, in the scripts and in Python compare with them."""

import pathlib

import numpy as np

CASES = [[7, 1, 4, 2], [5], [3, 1], [2, 9, 4, 4, 4], [1.5, -2.25, 8, 0.5, 3, 6], [10, 20, 30, 40, 50, 60, 70]]

lines = ["# samples -> lower quartile, median and upper quartile by numpy.percentile"]
for samples in CASES:
    quartiles = np.percentile(samples, [25, 50, 75])
    lines.append(" ".join(f"{x:g}" for x in samples) + " -> " + " ".join(f"{q:.17g}" for q in quartiles))
pathlib.Path(__file__).with_suffix(".txt").write_text("\n".join(lines) + "\n")
