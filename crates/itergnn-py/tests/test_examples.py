"""The example scripts run, in small."""

import pathlib
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).parents[1] / "examples"


def run(name: str, *arguments: str) -> str:
    command = [sys.executable, str(EXAMPLES / name), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_train_small_and_solve_large(tmp_path):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "result.png"
    printed = run("small_to_large.py", "--out", str(picture), "--epochs", "1", "--samples", "64", "--sizes", "8", "16",
                  "--count", "4")
    assert "size 16: relative error" in printed and picture.stat().st_size > 1000


def test_pacman_in_gymnasium():
    pytest.importorskip("gymnasium")
    assert "the trained agent" in run("pacman_dqn.py", "--steps", "1200", "--size", "4", "--dots", "2")


def test_own_dataset():
    assert "off by" in run("own_dataset.py", "--count", "16", "--epochs", "1")
