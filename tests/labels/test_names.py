"""Names, ids and label lists."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtail.errors import DataError, ModelError
from longtail.labels import LabelSet, encode

names = st.lists(st.text(max_size=6), unique=True, max_size=20)


def test_names_and_ids():
    labels = LabelSet(["cat", "dog", "fox"])
    assert len(labels) == 3
    assert labels[1] == "dog"
    assert labels[-1] == "fox"
    assert labels[np.int32(0)] == "cat"
    assert labels[:2] == ["cat", "dog"]
    assert labels.names == list(labels) == ["cat", "dog", "fox"]
    assert labels.index == {"cat": 0, "dog": 1, "fox": 2}
    assert "dog" in labels
    assert "emu" not in labels
    assert 3 not in labels
    ids = labels.ids(["fox", "cat"])
    assert ids.dtype == np.int32
    assert ids.tolist() == [2, 0]
    assert labels == LabelSet(["cat", "dog", "fox"])
    assert hash(labels) == hash(LabelSet(["cat", "dog", "fox"]))
    assert labels != LabelSet(["dog", "cat", "fox"])
    assert labels != ["cat", "dog", "fox"]
    assert repr(labels) == "LabelSet(3 labels: 'cat', 'dog', 'fox')"
    assert repr(LabelSet("abcde"[i] for i in range(5))) == "LabelSet(5 labels: 'a', 'b', 'c', 'd', …)"
    assert pickle.loads(pickle.dumps(labels)) == labels
    assert LabelSet([]).ids([]).shape == (0,)


@pytest.mark.parametrize(
    ("bad", "message"),
    [(["a", "b", "a"], "'a' occurs more than once"), ([1], "must be strings"), ("abc", "Got one string")],
)
def test_bad_names(bad, message):
    with pytest.raises(DataError, match=message):
        LabelSet(bad)


def test_unknown_names():
    labels = LabelSet(["a"])
    with pytest.raises(DataError, match="Unknown label 'z'; 1 labels are known"):
        labels.ids(["a", "z"])
    with pytest.raises(DataError, match="Got one string"):
        labels.ids("a")
    with pytest.raises(DataError, match="list of strings"):
        labels.ids([["a"]])


@given(names)
def test_state_round_trip(some):
    labels = LabelSet(some)
    assert LabelSet.from_state(*labels.to_state()) == labels


@pytest.mark.parametrize(
    "change",
    [
        lambda m, a: m.pop("n_labels"),
        lambda m, a: a.pop("names"),
        lambda m, a: m.update(n_labels=3),
        lambda m, a: m.update(n_labels="2"),
        lambda m, a: a.update(offsets=np.array([0, 2, 1])),
        lambda m, a: a.update(offsets=np.array([0, 9, 4])),
        lambda m, a: a.update(offsets=np.array([0.0, 2.0, 4.0])),
        lambda m, a: a.update(names=np.array([0xFF, 97, 0xC3, 98], np.uint8)),
        lambda m, a: a.update(names=np.array([97, 98, 97, 98], np.uint8)),
        lambda m, a: a.update(names=np.zeros((2, 2), np.uint8)),
    ],
)
def test_tampered_state(change):
    meta, arrays = LabelSet(["ab", "cd"]).to_state()
    change(meta, arrays)
    with pytest.raises(ModelError):
        LabelSet.from_state(meta, arrays)


@given(st.lists(st.lists(st.sampled_from("abcdef"), max_size=5), max_size=12))
def test_encode_names(lists):
    y, labels = encode(lists)
    assert labels.names == sorted({name for row in lists for name in row})
    assert y.shape == (len(lists), len(labels))
    assert y.dtype == np.float32
    assert y.has_canonical_format
    for row, wanted in zip(y.toarray(), lists, strict=True):
        assert {labels[i] for i in np.flatnonzero(row)} == set(wanted)
        assert set(row.tolist()) <= {0.0, 1.0}


def test_encode_ids():
    y, labels = encode([[2, 0], [], np.array([2, 2])])
    assert y.toarray().tolist() == [[1, 0, 1], [0, 0, 0], [0, 0, 1]]
    assert labels.names == ["0", "1", "2"]
    y, same = encode([[1]], LabelSet(["a", "b", "c"]))
    assert y.shape == (1, 3)
    assert same.names == ["a", "b", "c"]


def test_encode_nothing():
    y, labels = encode([])
    assert y.shape == (0, 0)
    assert len(labels) == 0
    assert encode([[], []])[0].shape == (2, 0)


@pytest.mark.parametrize(
    ("lists", "labels", "message"),
    [
        ([["a"], ["z"]], LabelSet(["a"]), "Row 1 has the unknown label 'z'"),
        ([[0], [4]], LabelSet(["a"]), "Row 1 has label 4, expected 0 to 0"),
        ([[-1]], None, "Row 0 has label -1"),
        ([["a", 1]], None, "names or ids, not both"),
        (["abc"], None, "Row 0 must be a list of labels"),
        ([[1.5]], None, "must hold label names or ids"),
        ([[True]], None, "must hold label names or ids"),
        ([3], None, "Row 0 must be a list of labels"),
        ([[2**31]], None, "below 2"),
    ],
)
def test_encode_errors(lists, labels, message):
    with pytest.raises(DataError, match=message):
        encode(lists, labels)
