"""What training says of memory before it begins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import longtail as lt
from longtail.errors import DataError
from longtail.linear import memory, ranker


def one_entry(n_columns: int) -> Any:
    """A row with a 1 in the first of so many columns."""
    matrix = sp.csr_matrix((1, n_columns), dtype=np.float32)
    matrix.data, matrix.indices = np.ones(1, np.float32), np.zeros(1, np.int32)
    matrix.indptr = np.array([0, 1], np.int32)
    return matrix


@pytest.mark.parametrize("model", [lt.LinearTree(threads=1), lt.OneVsRest(threads=1)])
def test_sizes_that_no_memory_holds_are_refused_at_once(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "free_memory", lambda: 10**9)
    words = r"2,000,000,000 labels and 3 features needs 64.0 GB at the very least, and 1.0 GB are free"
    with pytest.raises(DataError, match=words):
        model.fit(one_entry(3), one_entry(2_000_000_000))
    with pytest.raises(DataError, match=r"needs 8.0 GB at the very least"):
        model.fit(one_entry(2_000_000_000), one_entry(3))
    assert not hasattr(model, "n_labels_")


def test_too_little_memory_is_told_and_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "free_memory", lambda: 500)
    x = sp.random(20, 30, 0.5, format="csr", dtype=np.float32, random_state=0)
    y = sp.csr_matrix(np.eye(20, 5, dtype=np.float32))
    with pytest.warns(ranker.MemoryWarning, match=r"Training needs about .* beyond the data \(500 B free\)"):
        model = lt.LinearTree(threads=1).fit(x, y)
    assert model.n_labels_ == 5
