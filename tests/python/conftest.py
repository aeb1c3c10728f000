"""Settings of pytest: the mark of the tests that only `npm test -- --all` runs (scripts/tiers.mjs), and one thread for NumPy."""

import os

# The matrices of the tests are small. On a busy machine, NumPy's threads would wait for each other at every product.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def pytest_configure(config):
    config.addinivalue_line("markers", "all(cheaper): runs in `npm test -- --all`; the test `cheaper` of `npm test` notices most of the same faults")
