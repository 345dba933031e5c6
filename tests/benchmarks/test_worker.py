"""The way of a measurement, with longtail as the system, in this process."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks.side_by_side import records, run, sets, synthetic, tables, worker

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.fixture
def measured(tmp_path, monkeypatch):
    """A tiny set prepared as the real ones are, trained on and ranked; (folder, train result, predict result)."""
    shape = synthetic.Shape(labels=300, rows=900, features=2000, test_rows=120)
    monkeypatch.setitem(sets.ALL_SHAPES, "tiny", shape)
    monkeypatch.setattr(worker, "BATCH_SECONDS", 0.01)
    folder = sets.prepare("tiny", tmp_path, None)
    assert sets.prepare("tiny", tmp_path, None) == folder
    model = tmp_path / "model"
    trained = worker.train("longtail", folder, model, 2, seed=0)
    predicted = worker.predict("longtail", folder, model, tmp_path / "lists.npz")
    return folder, trained, predicted


def test_what_is_measured(measured, tmp_path):
    folder, trained, predicted = measured
    assert set(trained["phases"]) == {"embed labels", "cluster labels", "solve"}
    assert 0 < sum(trained["phases"].values()) <= trained["seconds"]
    files = [file for file in (tmp_path / "model").rglob("*") if file.is_file()]
    assert trained["model_bytes"] == sum(file.stat().st_size for file in files)
    assert trained["peak_bytes"] - trained["data_bytes"] == trained["extra_bytes"] >= 0
    assert 0 < predicted["p50"] <= predicted["p99"]
    lists = np.load(tmp_path / "lists.npz")
    assert lists["labels"].shape == lists["scores"].shape == (120, 10)
    precision = run.precision(folder, tmp_path / "lists.npz")
    y = sp.load_npz(folder / "tst_Y.npz").toarray()
    assert precision["P@1"] == pytest.approx(100 * y[np.arange(120), lists["labels"][:, 0]].mean())


def test_the_text_file_holds_the_same_data(measured):
    import longtail as lt

    folder = measured[0]
    read, kept = lt.data.load(folder / "train.txt"), sets.load(folder)
    assert np.array_equal(read.X.indices, kept.x.indices)
    assert np.array_equal(read.X.data, kept.x.data)
    assert (kept.y != read.Y).nnz == 0


def test_tables_show_what_was_measured(measured):
    _, trained, predicted = measured
    common = {"set": "tiny", "system": "longtail", "repeat": 0}
    rows = [{**trained, **common, "part": "train"}, {**predicted, **common, "part": "predict"}]
    rows[1] |= {"P@1": 50.0, "P@3": 40.0, "P@5": 30.0, "PSP@5": 20.0}
    slower = [{**row, "system": "pecos"} for row in rows]
    slower[0]["seconds"] *= 2
    rows = json.loads(json.dumps([{**row, "others": 0.0} for row in rows + slower]))
    assert all("longtail" in tables.line(row) for row in rows[:2])
    text = tables.markdown(records.latest(rows), {"cores": 2})
    assert "| training | 2.00 |" in text
    assert "| P@1 | 50.00 | 50.00 |" in text
    assert "*" not in text.replace("A star", "")


def test_real_sets_are_skipped_where_they_are_missing(tmp_path):
    assert sets.prepare("eurlex-4k", tmp_path, None) is None
    assert sets.prepare("eurlex-4k", tmp_path, tmp_path) is None
