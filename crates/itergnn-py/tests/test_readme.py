"""The Python programs of the READMEs, run as they stand."""

import pathlib
import re
import subprocess
import sys

import pytest

pytest.importorskip("networkx")

PACKAGE = pathlib.Path(__file__).parents[1]
ROOT = PACKAGE.parents[1]


def programs(file: pathlib.Path) -> list:
    return re.findall(r"^```python\n(.*?)^```", file.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def run(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_six_lines():
    (program,) = programs(PACKAGE / "README.md")
    assert len(program.splitlines()) == 6
    path, error = run(program).splitlines()
    assert path == "['home', 'park', 'work']" and 0 <= float(error) < 1
    # The repository's own README says the same.
    for other in programs(ROOT / "README.md"):
        if other != program:
            run(other)
