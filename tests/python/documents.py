"""The Python examples in the documents."""

import pathlib
import re

ROOT = pathlib.Path(__file__).parents[2]

#: The documents with examples, and the least number of their examples.
WITH_EXAMPLES = {"README.md": 1, "docs/python.md": 4, "crates/python/README.md": 1}


def examples(document):
    """Returns the texts of a document's examples in Python."""
    return re.findall(r"```python\n(.*?)```", (ROOT / document).read_text(encoding="utf-8"), re.S)


def needs_cluster(text):
    """Returns whether an example trains on a Ray cluster."""
    return "hothouse.ray" in text
