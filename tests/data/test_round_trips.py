"""Writing and reading gives the same data set, whatever the format, compression, threads and blocks."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import longtail.data as data
from longtail.data import Dataset
from longtail.errors import DataError
from longtail.labels import LabelSet

FEATURE_FILES = [
    ("a.xmc", "xmc"), ("a.txt.gz", "xmc"), ("a.txt.zst", "xmc"), ("a.svm", None), ("a.svm.gz", None),
    ("folder", "pair"), ("npz", "npz"), ("X.npz", None), ("a.jsonl", None), ("a.jsonl.zst", None),
    ("a.parquet", None), ("both", "folder"),
]  # fmt: skip
TEXT_FILES = ["a.jsonl", "a.jsonl.gz", "a.csv", "a.csv.gz", "a.tsv", "a.tsv.zst", "a.parquet"]


@pytest.mark.parametrize(("name", "format"), FEATURE_FILES)
def test_features(name: str, format: str | None, features: Dataset, same: Any, tmp_path: Path) -> None:
    data.save(features, tmp_path / name, format=format)
    back = data.load(tmp_path / name, n_features=features.n_features, n_labels=features.n_labels)
    same(features, back)
    assert back.repairs == {}
    assert not list(tmp_path.glob("**/*.tmp"))


@pytest.mark.parametrize("name", TEXT_FILES)
def test_named_texts(name: str, named_texts: Dataset, same: Any, tmp_path: Path) -> None:
    data.save(named_texts, tmp_path / name)
    same(named_texts, data.load(tmp_path / name, labels=named_texts.labels))
    found = data.load(tmp_path / name)  # ids by first appearance: the same names per row
    assert found.labels is not None
    assert named_texts.labels is not None
    for i in range(found.n_rows):
        names = {found.labels[j] for j in found.Y[i].indices}
        assert names == {named_texts.labels[j] for j in named_texts.Y[i].indices}


@pytest.mark.parametrize("name", TEXT_FILES)
def test_texts_with_ids(name: str, named_texts: Dataset, same: Any, tmp_path: Path) -> None:
    plain = Dataset(texts=named_texts.texts, Y=named_texts.Y)
    data.save(plain, tmp_path / name)
    same(plain, data.load(tmp_path / name, n_labels=plain.n_labels))


@pytest.mark.parametrize("name", TEXT_FILES)
def test_texts_without_labels(name: str, named_texts: Dataset, same: Any, tmp_path: Path) -> None:
    plain = Dataset(texts=named_texts.texts)
    data.save(plain, tmp_path / name)
    same(plain, data.load(tmp_path / name))


@pytest.mark.parametrize("name", ["a.txt", "folder"])
def test_a_text_may_begin_with_a_byte_order_mark(name: str, same: Any, tmp_path: Path) -> None:
    plain = Dataset(texts=["\ufeffone", "\ufefftwo"])
    data.save(plain, tmp_path / name, format="text" if name == "a.txt" else None)
    same(plain, data.load(tmp_path / name))


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(
    ("name", "where"),
    [(name, where) for name in ("a.jsonl", "a.csv", "a.parquet") for where in ("text", "label")]
    + [("a.txt", "text")],
)
def test_what_is_not_unicode_is_not_written(name: str, where: str, tmp_path: Path) -> None:
    if where == "text":
        bad = Dataset(texts=["fine"] * 20_000 + ["\ud800"])  # seen when much is written already
    else:
        bad = Dataset(texts=["fine"], Y=sp.csr_matrix([[1.0]]), labels=LabelSet(["\udfff"]))
    with pytest.raises(DataError, match=f"{name}: a text cannot be written as UTF-8"):
        data.save(bad, tmp_path / name, format="text" if name == "a.txt" else None)
    assert list(tmp_path.iterdir()) == []


def test_folder_of_texts(make: Any, same: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    texts, labels = make.texts(rng, 50, one_line=True), make.csr(rng, 50, 9, 2, True)
    names = [f"name {i}" for i in range(9)]
    for label_texts in (None, ["same"] * 9):
        whole = Dataset(make.csr(rng, 50, 7, 2, False), texts, labels, LabelSet(names), label_texts)
        folder = tmp_path / str(label_texts is None)
        data.save(whole, folder)
        data.save(whole.take(slice(0, 7)), folder, split="tst")
        same(whole, data.load(folder))
        same(whole.take(range(7)), data.load(folder, split="tst"))


def test_plain_texts(make: Any, same: Any, tmp_path: Path) -> None:
    texts = Dataset(texts=make.texts(np.random.default_rng(0), 50, one_line=True))
    data.save(texts, tmp_path / "a.txt.gz", format="text")
    same(texts, data.load(tmp_path / "a.txt.gz"))


def test_dense_features_stay_dense(same: Any, tmp_path: Path) -> None:
    dense = Dataset(
        X=np.arange(12, dtype=np.float32).reshape(4, 3), Y=sp.eye(4, dtype=np.float32, format="csr")
    )
    data.save(dense, tmp_path / "dense", format="npz")
    back = data.load(tmp_path / "dense")
    assert isinstance(back.X, np.ndarray)
    same(dense, back)


@pytest.mark.parametrize("name", ["a.xmc", "a.svm", "a.jsonl", "folder"])
def test_blocks_and_threads_change_nothing(name: str, features: Dataset, same: Any, tmp_path: Path) -> None:
    data.save(features, tmp_path / name, format="pair" if name == "folder" else None)
    whole = data.load(tmp_path / name)
    for block_bytes in (16, 37, 1000):
        same(whole, data.load(tmp_path / name, block_bytes=block_bytes, threads=2))


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.tsv", "a.csv.gz"])
def test_small_blocks_of_texts(name: str, named_texts: Dataset, same: Any, tmp_path: Path) -> None:
    data.save(named_texts, tmp_path / name)
    whole = data.load(tmp_path / name)
    for block_bytes in (16, 37, 1000):
        same(whole, data.load(tmp_path / name, block_bytes=block_bytes, threads=2))


def test_large_files_in_parallel(make: Any, same: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    named = Dataset(texts=make.texts(rng, 40_000), Y=make.csr(rng, 40_000, 40, 2, True))
    for name in ("a.csv", "a.jsonl"):
        data.save(named, tmp_path / name)
        same(data.load(tmp_path / name, threads=1), data.load(tmp_path / name, threads=2))
    assert (tmp_path / "a.csv").stat().st_size > 1 << 20


values = st.floats(width=32, allow_nan=False, allow_infinity=False).filter(lambda v: v != 0)
rows = st.lists(st.dictionaries(st.integers(0, 11), values, max_size=6), min_size=1, max_size=8)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    x=rows,
    y=st.lists(st.sets(st.integers(0, 6)), min_size=8, max_size=8),
    file=st.sampled_from(FEATURE_FILES),
)
def test_any_features(x: Any, y: Any, file: Any, same: Any, tmp_path_factory: Any) -> None:
    matrix = sp.lil_matrix((len(x), 12), dtype=np.float32)
    labels = sp.lil_matrix((len(x), 7), dtype=np.float32)
    for i, (features, positives) in enumerate(zip(x, y, strict=False)):
        for j, value in features.items():
            matrix[i, j] = value
        for j in positives:
            labels[i, j] = 1
    original = Dataset(X=matrix.tocsr(), Y=labels.tocsr())
    path = tmp_path_factory.mktemp("any") / file[0]
    data.save(original, path, format=file[1])
    options = {"zero_based": False} if "svm" in file[0] else {}
    same(original, data.load(path, n_features=12, n_labels=7, **options))


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=10).filter(
    lambda s: ";" not in s and s == s.strip(" \t") and s
)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.tuples(texts, st.sets(names, max_size=4)), min_size=1, max_size=8),
    file=st.sampled_from(TEXT_FILES),
)
def test_any_texts(rows: Any, file: str, same: Any, tmp_path_factory: Any) -> None:
    known = sorted({name for _, row in rows for name in row} | {"always"})
    labels = sp.lil_matrix((len(rows), len(known)), dtype=np.float32)
    for i, (_, row) in enumerate(rows):
        for name in row:
            labels[i, known.index(name)] = 1
    original = Dataset(texts=[text for text, _ in rows], Y=labels.tocsr(), labels=LabelSet(known))
    path = tmp_path_factory.mktemp("any") / file
    data.save(original, path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same(original, data.load(path, labels=original.labels, block_bytes=64))
