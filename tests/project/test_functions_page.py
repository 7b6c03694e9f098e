"""The page of supported functions says what the rule table says."""

import os
import pathlib
import subprocess
import sys

DOCS = pathlib.Path(__file__).parents[2] / "docs"


def test_page_is_up_to_date():
    code = "import functions; print(functions.page(), end='')"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=DOCS,
        env=os.environ | {"PYTHONPATH": str(DOCS.parent)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (DOCS / "functions.md").read_text(encoding="utf-8") == done.stdout, "run python docs/functions.py"
