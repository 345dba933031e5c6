"""Conversion row by row gives what loading and saving gives."""

from __future__ import annotations

import io
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import longtail.data as data
from longtail.data import Dataset, LossWarning
from longtail.errors import DataError, ParameterError

FEATURES = ["a.xmc", "a.svm", "pair", "npz", "a.jsonl", "a.parquet", "a.svm.gz"]
TEXTS = ["a.jsonl", "a.csv", "a.tsv", "a.parquet"]


def format_of(name: str) -> str | None:
    return name if name in ("pair", "npz") else None


@pytest.mark.parametrize(
    ("source", "target"), [p for p in itertools.product(FEATURES, FEATURES) if p[0] != p[1]]
)
def test_features(source: str, target: str, features: Dataset, same: Any, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    data.save(features, tmp_path / "in" / source, format=format_of(source))
    facts = data.convert(
        tmp_path / "in" / source, tmp_path / "out" / target, to=format_of(target), block_bytes=500
    )
    assert (facts.n_rows, facts.n_features, facts.n_labels) == (400, features.n_features, features.n_labels)
    options = {"n_features": 60, "n_labels": 30} if "svm" in target else {}
    same(features, data.load(tmp_path / "out" / target, **options))


@pytest.mark.parametrize(("source", "target"), [p for p in itertools.product(TEXTS, TEXTS) if p[0] != p[1]])
def test_texts(source: str, target: str, named_texts: Dataset, same: Any, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    data.save(named_texts, tmp_path / "in" / source)
    data.convert(tmp_path / "in" / source, tmp_path / target)
    same(named_texts, data.load(tmp_path / target, labels=named_texts.labels))


def test_a_folder_to_lines_and_back(make: Any, same: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    texts = Dataset(
        texts=make.texts(rng, 200, one_line=True), Y=make.csr(rng, 200, 9, 2, True), label_texts=["x"] * 9
    )
    data.save(texts, tmp_path / "folder")
    with pytest.warns(LossWarning, match="does not hold label texts"):
        data.convert(tmp_path / "folder", tmp_path / "a.jsonl.gz", block_bytes=300)
    data.convert(tmp_path / "a.jsonl.gz", tmp_path / "again", n_labels=9)
    back = data.load(tmp_path / "again")
    assert back.texts == texts.texts
    np.testing.assert_array_equal(back.Y.toarray(), texts.Y.toarray())


def test_losses(named_texts: Dataset, features: Dataset, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"svmlight format holds features, and this data set has .*texts"):
        data.save(named_texts, tmp_path / "a.svm")
    with pytest.raises(DataError, match="csv format holds texts"):
        data.save(features, tmp_path / "a.csv")
    both = Dataset(X=features.X, texts=["t"] * 400, Y=features.Y * 0.5)
    with pytest.warns(LossWarning, match="does not hold label values, texts"):
        data.save(both, tmp_path / "a.svm")
    with pytest.raises(DataError, match="holds a line end"):
        data.save(Dataset(texts=["a\nb"]), tmp_path / "t.txt", format="text")
    assert [p.name for p in tmp_path.iterdir()] == ["a.svm"]


def test_what_cannot_be_written(features: Dataset, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="cannot be told from the name"):
        data.save(features, tmp_path / "a.unknown")
    with pytest.raises(ParameterError, match="no option 'base'"):
        data.save(features, tmp_path / "a.svm", base=1)
    with pytest.raises(DataError, match="does not exist"):
        data.save(features, tmp_path / "none" / "a.svm")
    with pytest.raises(DataError, match="twice"):
        data.convert(io.BytesIO(b"1 1:1\n"), tmp_path / "a.xmc", format="svmlight")


def test_options_of_writing(features: Dataset, named_texts: Dataset, same: Any, tmp_path: Path) -> None:
    data.save(features, tmp_path / "a.svm", zero_based=True)
    same(features, data.load(tmp_path / "a.svm", zero_based=True, n_features=60, n_labels=30))
    data.save(features, tmp_path / "f.txt", format="pair", label_file=tmp_path / "l.txt")
    same(features, data.load(tmp_path / "f.txt", label_file=tmp_path / "l.txt"))
    data.save(
        named_texts,
        tmp_path / "a.csv",
        text_field="body",
        label_field="tags",
        label_separator="|",
        delimiter=";",
    )
    options = {"text_field": "body", "label_field": "tags", "label_separator": "|", "delimiter": ";"}
    same(named_texts, data.load(tmp_path / "a.csv", labels=named_texts.labels, **options))
    data.save(named_texts, tmp_path / "a.jsonl", text_field="body", label_field="tags")
    same(
        named_texts,
        data.load(tmp_path / "a.jsonl", labels=named_texts.labels, text_field="body", label_field="tags"),
    )


def test_a_stream_is_converted_once_when_all_is_known(tmp_path: Path) -> None:
    data.convert(io.BytesIO(b"1 1:1 3:2\n"), tmp_path / "a.jsonl", format="svmlight", zero_based=False)
    assert (tmp_path / "a.jsonl").read_text() == '{"labels": [1], "features": {"0": 1, "2": 2}}\n'


def test_an_error_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_bytes(b'{"text": "a", "labels": [1]}\n' * 1000 + b"broken\n")
    (tmp_path / "out.csv").write_text("kept")
    with pytest.raises(DataError, match="line 1001"):
        data.convert(tmp_path / "in.jsonl", tmp_path / "out.csv", block_bytes=200)
    assert (tmp_path / "out.csv").read_text() == "kept"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.jsonl", "out.csv"]
