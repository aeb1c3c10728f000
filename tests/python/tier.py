"""The tier of tests that runs. Loops over seeds and sizes read it."""

import os

#: True in `npm test -- --all`.
ALL = os.environ.get("HOTHOUSE_TESTS") == "all"
