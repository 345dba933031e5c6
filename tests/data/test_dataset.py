"""The data set itself: checks, rows, splits, facts."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from longtail.data import Dataset
from longtail.errors import DataError, ParameterError
from longtail.labels import LabelSet


def test_sizes() -> None:
    whole = Dataset(X=sp.eye(4, 6, format="csr"), texts=list("abcd"), Y=sp.eye(4, 3, format="csr"))
    assert (whole.n_rows, whole.n_features, whole.n_labels, len(whole)) == (4, 6, 3, 4)
    assert whole.inputs == list("abcd")
    assert whole.X.dtype == whole.Y.dtype == np.float32
    assert Dataset(X=sp.eye(4, 6, format="csr")).inputs.shape == (4, 6)
    assert repr(whole) == "<Dataset 4 rows, texts, 6 features, 3 labels>"
    with pytest.raises(dataclasses.FrozenInstanceError):
        whole.name = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({}, "needs features"),
        ({"texts": ["a"], "Y": sp.eye(2, format="csr")}, "texts has 1, Y has 2"),
        ({"X": sp.eye(3, format="csr"), "texts": ["a"]}, "number of rows"),
        ({"Y": sp.eye(2, format="csr"), "labels": LabelSet(["a"])}, "number of labels"),
        ({"Y": sp.eye(2, format="csr"), "label_texts": ["a"]}, "number of labels"),
        ({"texts": "abc"}, "list of strings"),
        ({"texts": ["a", 3]}, "Got int at 1"),
        ({"X": np.array([[np.nan]])}, "finite"),
        ({"Y": sp.csr_matrix([[1.0, -2.0]])}, "negative value -2.0 in row 0"),
    ],
)
def test_parts_must_fit(parts: dict[str, Any], words: str) -> None:
    with pytest.raises(DataError, match=words):
        Dataset(**parts)


def test_zeros_are_no_labels() -> None:
    labels = sp.csr_matrix((np.array([1.0, 0.0]), ([0, 0], [0, 1])), shape=(1, 2))
    assert Dataset(Y=labels).Y.nnz == 1
    assert labels.nnz == 2


def test_take() -> None:
    whole = Dataset(texts=list("abcd"), Y=sp.eye(4, format="csr"), labels=LabelSet(list("wxyz")))
    for rows in ([2, 0], np.array([2, 0])):
        part = whole.take(rows)
        assert part.texts == ["c", "a"]
        assert part.Y.toarray().tolist() == [[0, 0, 1, 0], [1, 0, 0, 0]]
        assert part.labels is whole.labels
    assert whole.take(slice(1, 3)).texts == ["b", "c"]
    assert whole.take(np.array([True, False, False, True])).texts == ["a", "d"]
    assert whole.take([]).n_rows == 0
    for wrong in ([4], [-1], np.array([True]), [0.5], np.eye(2)):
        with pytest.raises(DataError, match="take needs"):
            whole.take(wrong)


def test_split() -> None:
    whole = Dataset(texts=[str(i) for i in range(100)])
    rest, held_out = whole.split(0.2, seed=3)
    assert (len(rest), len(held_out)) == (80, 20)
    assert sorted(rest.texts + held_out.texts, key=int) == whole.texts
    assert rest.texts == sorted(rest.texts, key=int)
    assert held_out.texts == whole.split(20, seed=3)[1].texts != whole.split(20, seed=4)[1].texts
    for wrong in (0, 100, 1.0, -0.5, True, "half"):
        with pytest.raises(ParameterError, match="'held_out' parameter of split"):
            whole.split(wrong)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="'seed'"):
        whole.split(0.5, seed=-1)


def test_describe() -> None:
    whole = Dataset(
        X=sp.eye(4, 6, format="csr"),
        texts=["ab", "", "c", "d"],
        Y=sp.csr_matrix([[1, 1, 0], [1, 0, 0], [0] * 3, [0] * 3]),
    )
    facts = json.loads(json.dumps(whole.describe()))
    assert facts["rows"] == 4
    assert facts["features_per_row"] == 1
    assert facts["characters_per_text"] == 1
    assert facts["empty_texts"] == 1
    assert facts["labels_per_row"] == 0.75
    assert facts["rows_without_labels"] == 2
    assert facts["labels_without_rows"] == 1
    assert facts["most_frequent_label_rows"] == 2
    assert Dataset(Y=sp.csr_matrix((0, 0))).describe()["rows"] == 0
