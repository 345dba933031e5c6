"""A writer killed at any moment, and writers and readers at the same time."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from longtail.errors import ModelError
from longtail.store import Checkpoint, read_folder, write_folder

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")

WRITER = """
import sys, numpy as np
from longtail.store import write_folder
path, first = sys.argv[1], int(sys.argv[2])
print("ready", flush=True)
for i in range(first, first + 10_000):
    arrays = {f"a{j}": np.full(2_000, i, np.int64) for j in range(4)}
    write_folder(path, kind="Counter", params={"i": i}, facts={}, arrays=arrays)
    print(i, flush=True)
"""
PUTTER = """
import sys, numpy as np
from longtail.store import Checkpoint
point = Checkpoint(sys.argv[1], {"seed": 1})
print("ready", flush=True)
for i in range(int(sys.argv[2]), 10**9):
    point.put("level", {"x": np.full(5_000, i, np.int64)}, {"i": i})
    print(i, flush=True)
"""


def run_and_kill(code: str, path: Path, first: int, seconds: float) -> int:
    """The last number that the writer said it had finished before it was killed, or first - 1."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(path), str(first)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    with process.stdout:
        assert process.stdout.readline() == "ready\n"
        time.sleep(seconds)
        process.kill()
        said = process.stdout.read().split("\n")[:-1]
    process.wait()
    return int(said[-1]) if said else first - 1


def test_killed_writer_leaves_the_old_or_the_new(tmp_path: Path) -> None:
    rng = random.Random(0)
    path = tmp_path / "model"
    write_folder(path, kind="Counter", params={"i": 0}, facts={}, arrays={"a0": np.zeros(2_000, np.int64)})
    first = 1
    for _ in range(25):
        done = run_and_kill(WRITER, path, first, rng.uniform(0.0, 0.08))
        folder = read_folder(path)
        i = folder.params["i"]
        assert i in (done, done + 1)
        assert all((array == i).all() for array in folder.arrays.values())
        first = i + 1
    write_folder(path, kind="Counter", params={"i": -1}, facts={}, arrays={})
    assert [p.name for p in tmp_path.iterdir()] == ["model"]


def test_killed_put_leaves_the_old_or_the_new(tmp_path: Path) -> None:
    rng = random.Random(1)
    path = tmp_path / "checkpoint"
    first, kills = 1, 0
    while kills < 15 or (first == 1 and kills < 40):
        # On a busy machine 80 ms may be too short for even one step: the wait grows until one is finished.
        kills += 1
        done = run_and_kill(PUTTER, path, first, rng.uniform(0.0, 0.08 * (1 if first > 1 else kills)))
        point = Checkpoint(path, {"seed": 1})
        if "level" not in point:
            assert done == 0
            continue
        arrays, meta = point.get("level")
        assert meta["i"] in (done, done + 1)
        assert (arrays["x"] == meta["i"]).all()
        first = meta["i"] + 1
    assert first > 1
    Checkpoint(path, {"seed": 1}).clear()
    assert not path.exists()


def test_readers_and_writers_at_the_same_time(tmp_path: Path) -> None:
    path = tmp_path / "model"
    write_folder(path, kind="Counter", params={"i": 0}, facts={}, arrays={"a0": np.zeros(2_000, np.int64)})
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), str(1 + 10_000 * w)], stdout=subprocess.DEVNULL
        )
        for w in range(2)
    ]
    try:
        seen, end = set(), time.monotonic() + 2.5
        while time.monotonic() < end:
            folder = read_folder(path)
            assert all((array == folder.params["i"]).all() for array in folder.arrays.values())
            seen.add(folder.params["i"])
            for writer in writers:
                assert writer.poll() is None
    finally:
        for writer in writers:
            writer.kill()
            writer.wait()
    assert len(seen) > 3
    assert read_folder(path).kind == "Counter"


def test_a_folder_that_is_gone_for_a_moment_is_looked_at_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another writer moves the old folder aside before the new one takes its place."""
    from longtail.store import folder

    looks = []

    class Blinking(folder.Directory):
        def __init__(self, path: Path):
            looks.append(path)
            if len(looks) == 1:
                raise ModelError(f"{path}: there is no such folder.")
            super().__init__(path)

    path = tmp_path / "model"
    write_folder(path, kind="Counter", params={"i": 0}, facts={}, arrays={})
    monkeypatch.setattr(folder, "Directory", Blinking)
    write_folder(path, kind="Counter", params={"i": 1}, facts={}, arrays={})
    assert read_folder(path).params == {"i": 1}
    looks.clear()
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ModelError, match="not overwritten"):
        write_folder(tmp_path / "file", kind="Counter", params={}, facts={}, arrays={})
    assert (tmp_path / "file").read_text() == "mine"


def test_checkpoint_of_another_training(tmp_path: Path) -> None:
    point = Checkpoint(tmp_path / "c", {"params": {"C": 1.0, "seed": 0}, "data": "abc"})
    point.put("level0", {"x": np.ones(3)})
    with pytest.raises(
        ModelError, match=r"another training: data was abc, is abd; params\.C was 1\.0, is 2\.0"
    ):
        Checkpoint(tmp_path / "c", {"params": {"C": 2.0, "seed": 0}, "data": "abd"})
    assert len(Checkpoint(tmp_path / "c", {"params": {"C": 1.0, "seed": 0}, "data": "abc"})) == 1
