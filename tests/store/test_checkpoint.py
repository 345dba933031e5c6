from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from longtail.errors import ModelError, ParameterError
from longtail.store import Checkpoint, fingerprint_arrays

PRINT = {"params": {"C": 1.0, "depth": None}, "data": "abc"}


def test_put_get_and_go_on(tmp_path: Path) -> None:
    point = Checkpoint(tmp_path / "c", PRINT)
    assert (len(point), list(point), "level0" in point) == (0, [], False)
    point.put("level1", {"w": np.arange(3)}, {"n": 1})
    point.put("level0", {})
    point.put("level1", {"w": np.arange(4)}, {"n": 2})
    again = Checkpoint(tmp_path / "c", PRINT)
    assert again.names() == list(again) == ["level0", "level1"]
    arrays, meta = again.get("level1")
    assert arrays["w"].tolist() == [0, 1, 2, 3]
    assert meta == {"n": 2}
    assert again.get("level0") == ({}, {})
    again.remove("level0")
    again.remove("level0")
    assert point.names() == ["level1"]
    assert "1 steps" in repr(point)
    with pytest.raises(ModelError, match=r"no step 'level0'\. There are: level1"):
        point.get("level0")
    again.clear()
    assert not (tmp_path / "c").exists()
    assert len(Checkpoint(tmp_path / "c", PRINT)) == 0


def test_other_fingerprints(tmp_path: Path) -> None:
    point = Checkpoint(tmp_path / "c", PRINT)
    point.put("level0", {"w": np.arange(3)})
    assert Checkpoint.differences(tmp_path / "c", PRINT) == []
    assert Checkpoint.differences(tmp_path / "absent", PRINT) == []
    other = {"params": {"C": 2.0, "new": 1}, "data": "abc"}
    assert Checkpoint.differences(tmp_path / "c", other) == [
        "params.C was 1.0, is 2.0",
        "params.depth was None, is not set",
        "params.new was not set, is 1",
    ]
    with pytest.raises(ModelError, match=r"params\.C was 1\.0, is 2\.0"):
        Checkpoint(tmp_path / "c", other)
    assert point.names() == ["level0"]
    started = Checkpoint(tmp_path / "c", other, on_mismatch="restart")
    assert started.names() == []
    assert Checkpoint.differences(tmp_path / "c", other) == []
    started.put("level0", {})
    with pytest.raises(ModelError, match="another training"):
        point.get("level0")


def test_damage(tmp_path: Path) -> None:
    point = Checkpoint(tmp_path / "c", PRINT)
    point.put("level0", {"w": np.arange(100)})
    file = tmp_path / "c" / "done.level0" / "w.npy"
    file.write_bytes(file.read_bytes()[:-1] + b"\1")
    with pytest.raises(ModelError, match="was changed"):
        point.get("level0")
    (tmp_path / "c" / "start" / "model.json").write_text("{")
    with pytest.raises(ModelError, match="not valid"):
        Checkpoint(tmp_path / "c", PRINT)
    assert len(Checkpoint(tmp_path / "c", PRINT, on_mismatch="restart")) == 0


def test_steps_without_a_start_are_not_trusted(tmp_path: Path) -> None:
    point = Checkpoint(tmp_path / "c", PRINT)
    point.put("level0", {})
    for file in (tmp_path / "c" / "start").iterdir():
        file.unlink()
    (tmp_path / "c" / "start").rmdir()
    assert len(Checkpoint(tmp_path / "c", PRINT)) == 0


def test_foreign_folders_are_not_touched(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    for mode in ("error", "restart"):
        with pytest.raises(ModelError, match=r"holds 'thesis.txt', so it is not a checkpoint"):
            Checkpoint(tmp_path, PRINT, on_mismatch=mode)
    with pytest.raises(ModelError):
        Checkpoint(tmp_path / "thesis.txt", PRINT)
    assert (tmp_path / "thesis.txt").read_text() == "mine"


def test_parameters(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="on_mismatch"):
        Checkpoint(tmp_path / "c", PRINT, on_mismatch="ask")
    with pytest.raises(ModelError, match=r"fingerprint\.x"):
        Checkpoint(tmp_path / "c", {"x": object()})
    point = Checkpoint(tmp_path / "c", PRINT)
    for name in ("", "../x", "a.b", "a" * 81, 3):
        with pytest.raises(ParameterError):
            point.put(name, {})  # type: ignore[arg-type]
    assert 3 not in point


def test_fingerprint_of_arrays() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.random(5_000_000), np.arange(10, dtype=np.int32)  # more than one piece
    one = fingerprint_arrays(a, b, threads=1)
    assert one == fingerprint_arrays(a.copy(), b, threads=2)
    assert len(one) == 64
    changed = a.copy()
    changed[3_000_000] = np.nextafter(changed[3_000_000], 2)
    others = [
        fingerprint_arrays(changed, b),
        fingerprint_arrays(b, a),
        fingerprint_arrays(a),
        fingerprint_arrays(a.reshape(2, -1), b),
        fingerprint_arrays(a.view(np.int64), b),
        fingerprint_arrays(),
        fingerprint_arrays(np.zeros(0), np.zeros(0)),
        fingerprint_arrays(np.zeros(0)),
        fingerprint_arrays(np.array(1.0)),
    ]
    assert len({one, *others}) == 1 + len(others)
    columns = np.asfortranarray(rng.random((3, 4)))
    assert fingerprint_arrays(columns) == fingerprint_arrays(np.ascontiguousarray(columns))
    with pytest.raises(ParameterError, match="Python objects"):
        fingerprint_arrays(np.array([{}]))
