"""A few hundred cases of every room, and what the runner does when one fails."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOMS = sorted(path.stem.removeprefix("fuzz_") for path in HERE.glob("fuzz_*.py"))


def run(runner: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(runner), *options], capture_output=True, text=True, timeout=300
    )


@pytest.mark.parametrize("room", ROOMS)
def test_room(room: str) -> None:
    done = run(HERE / "run.py", "--only", room, "--cases", "300", "--jobs", "1", "--seed", "11")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "300 cases without a failure in" in done.stdout


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """The runner beside rooms that fail."""
    (tmp_path / "run.py").write_text((HERE / "run.py").read_text())
    rooms = {
        "good": "def run(n, seed): return n",
        "raises": "def run(n, seed): raise AssertionError(f'case 3 of seed {seed}')",
        "crashes": "import ctypes\ndef run(n, seed): ctypes.string_at(0)",
        "hangs": "import time\ndef run(n, seed): time.sleep(1000)",
    }
    for name, code in rooms.items():
        (tmp_path / f"fuzz_{name}.py").write_text(code)
    return tmp_path / "run.py"


def test_failures_are_told(other: Path) -> None:
    good = run(other, "--only", "good", "--cases", "1200", "--jobs", "2")
    assert good.returncode == 0
    assert "1,200 cases without a failure in" in good.stdout
    assert "good 1,200" in good.stdout
    done = run(other, "--cases", "8", "--patience", "3", "--seed", "5", "--jobs", "4")
    assert done.returncode == 1
    assert "FAILED: raises, 2 cases of seed 5000000: ended with exit code 1" in done.stdout
    assert "case 3 of seed 5000000" in done.stdout
    assert "FAILED: hangs, 2 cases of seed 5000000: did not end within 3 s" in done.stdout
    assert "time.sleep" in done.stdout or "in run" in done.stdout
    assert "FAILED: crashes" in done.stdout
    assert f"repeat it with: {sys.executable} {other} --lot raises 2 5000000" in done.stdout
    assert "2 cases without a failure" in done.stdout
    assert "3 lots FAILED (seed 5)" in done.stdout


def test_unknown_rooms_are_refused(other: Path) -> None:
    done = run(other, "--only", "good,bad")
    assert done.returncode == 2
    assert "no fuzz_bad.py; there are: crashes, good, hangs, raises" in done.stderr
