"""What tests of data share."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from longtail.data import Dataset
from longtail.labels import LabelSet


def same(a: Dataset, b: Dataset) -> None:
    """Asserts that two data sets are equal in all parts, bit for bit."""
    for name in ("X", "Y"):
        same_matrix(getattr(a, name), getattr(b, name))
    assert a.texts == b.texts
    assert (a.labels is None) == (b.labels is None)
    assert a.labels is None or a.labels.names == b.labels.names
    assert a.label_texts == b.label_texts


def same_matrix(a: Any, b: Any) -> None:
    assert (a is None) == (b is None)
    if a is None:
        return
    assert a.shape == b.shape
    if not sp.issparse(a):
        np.testing.assert_array_equal(a, b)
        return
    np.testing.assert_array_equal(a.indptr, b.indptr)
    np.testing.assert_array_equal(a.indices, b.indices)
    np.testing.assert_array_equal(a.data, b.data)


def random_csr(rng: np.random.Generator, n_rows: int, n_cols: int, per_row: float, binary: bool) -> Any:
    mask = rng.random((n_rows, n_cols)) < per_row / max(n_cols, 1)
    values = (
        np.ones(mask.shape)
        if binary
        else rng.standard_normal(mask.shape) * 10.0 ** rng.integers(-6, 6, mask.shape)
    )
    return sp.csr_matrix((mask * values).astype(np.float32))


WORDS = [
    "red",
    "Größe",
    "中文",
    "a,b",
    'quoted "word"',
    "tab\there",
    "😀",
    "x" * 50,
    "new\nline",
    "\u2028",
    "'",
    "\\n",
    "end\r\nof",
]


def random_texts(rng: np.random.Generator, n: int, one_line: bool = False) -> list[str]:
    texts = [" ".join(rng.choice(WORDS, rng.integers(0, 8))) for _ in range(n)]
    return [" ".join(t.split()) for t in texts] if one_line else texts


@pytest.fixture
def features() -> Dataset:
    rng = np.random.default_rng(3)
    return Dataset(X=random_csr(rng, 400, 60, 5, False), Y=random_csr(rng, 400, 30, 2, True))


@pytest.fixture
def named_texts() -> Dataset:
    rng = np.random.default_rng(4)
    names = [f"label {i} é" for i in range(30)]
    return Dataset(texts=random_texts(rng, 300), Y=random_csr(rng, 300, 30, 2, True), labels=LabelSet(names))


@pytest.fixture
def shared() -> Path:
    folder = Path(__file__).resolve().parents[2].parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("needs ../shared/data")
    return folder


@pytest.fixture(name="same")
def same_fixture() -> Any:
    """A function that asserts that two data sets are equal."""
    return same


@pytest.fixture
def make() -> Any:
    """Functions that make random matrices and texts."""
    return SimpleNamespace(csr=random_csr, texts=random_texts)
