from __future__ import annotations

import json
import pickle
import sys
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from longtail.errors import DataError, MissingExtraError, ParameterError
from longtail.ranking import Ranking


class Names(list[str]):
    """A label set, as far as a ranking looks at it."""


NAMES = Names(["ant", "bee", "cat", "dog"])


def example(names: Names | None = None) -> Ranking:
    labels = np.array([[2, 0, 1], [3, -1, -1], [-1, -1, -1]], np.int32)
    scores = np.array([[0.75, 0.5, 0.5], [-1, 0, 7], [1, 2, 3]], np.float32)
    return Ranking(labels, scores, names)


def test_rows_names_and_scores() -> None:
    r = example(NAMES)
    assert (len(r), r.k, r.lengths.tolist()) == (3, 3, [3, 1, 0])
    assert r.names() == [["cat", "ant", "bee"], ["dog"], []]
    assert example().names() == [["2", "0", "1"], ["3"], []]
    assert r[0] == [("cat", 0.75), ("ant", 0.5), ("bee", 0.5)]
    assert example()[1] == example()[-2] == [(3, -1.0)]
    assert list(r) == [r[0], r[1], r[2]]
    assert np.isneginf(r.scores[1, 1:]).all()
    with pytest.raises(IndexError):
        r[3]


def test_cannot_be_changed() -> None:
    labels, scores = np.array([[1, 0]], np.int32), np.array([[2, 1]], np.float32)
    r = Ranking(labels, scores)
    labels[0, 0], scores[0, 0] = 7, 7
    assert r[0] == [(1, 2.0), (0, 1.0)]
    assert labels.flags.writeable
    for array in (r.labels, r.scores, r[:1].labels, r.top(1).scores):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(AttributeError):
        r.labels = labels  # type: ignore[misc]


def test_parts() -> None:
    r = example(NAMES)
    assert r[1:].names() == [["dog"], []]
    assert r[[2, 0]].names() == [[], ["cat", "ant", "bee"]]
    assert r[np.array([True, False, False])].names() == [["cat", "ant", "bee"]]
    assert len(r[[]]) == 0
    assert r.top(1).names() == [["cat"], ["dog"], []]
    assert r.top(9) == r
    assert r.top(0).names() == [[], [], []]
    for bad in ("a", 1.5, [0.5], [[0]]):
        with pytest.raises(TypeError):
            r[bad]  # type: ignore[call-overload]
    with pytest.raises(ParameterError):
        r.top(-1)


def test_csr_and_back() -> None:
    r = example(NAMES)
    m = r.to_csr()
    assert m.shape == (3, 4)
    assert m.has_sorted_indices
    assert m.toarray().tolist() == [[0.5, 0.5, 0.75, 0], [0, 0, 0, -1], [0, 0, 0, 0]]
    assert m.nnz == 4
    assert Ranking.from_csr(m, 3, NAMES) == r
    assert Ranking.from_csr(m, 3, NAMES, threads=1) == r
    assert example().to_csr().shape == (3, 4)
    assert example().to_csr(10).shape == (3, 10)
    with pytest.raises(ParameterError, match="> 3"):
        example().to_csr(3)
    with pytest.raises(ParameterError, match="'k'"):
        Ranking.from_csr(m, 0)
    with pytest.raises(DataError, match="only 2 labels"):
        Ranking.from_csr(m, 1, Names(["a", "b"]))
    with pytest.raises(DataError, match="not finite"):
        Ranking.from_csr(sp.csr_matrix(np.array([[np.nan]])), 1)


def test_from_unsorted() -> None:
    r = Ranking.from_unsorted([[0, -1, 5, 3], [1, 2, -1, -1]], [[1, 9, 2, 2], [0.5, 0.5, 0, 0]])
    assert r.labels.tolist() == [[3, 5, 0, -1], [1, 2, -1, -1]]
    assert r.scores[0, :3].tolist() == [2, 2, 1]
    with pytest.raises(DataError, match="row 1"):
        Ranking.from_unsorted([[0], [1]], [[0], [np.nan]])
    with pytest.raises(DataError, match="twice"):
        Ranking.from_unsorted([[0, 0]], [[1, 2]])


def test_concatenate() -> None:
    r = example(NAMES)
    assert Ranking.concatenate([r[:1], r[1:]]) == r
    wide = Ranking.concatenate([r.top(1), r])
    assert wide.names() == [["cat"], ["dog"], [], *r.names()]
    with pytest.raises(DataError, match="different label names"):
        Ranking.concatenate([r, example()])
    with pytest.raises(DataError, match="no ranking"):
        Ranking.concatenate([])


def test_json_equality_pickle_and_repr() -> None:
    r = example(NAMES)
    assert json.loads(json.dumps(r.to_dicts()))[1] == {"labels": ["dog"], "scores": [-1.0]}
    assert example().to_dicts()[0]["labels"] == [2, 0, 1]
    assert r == example(NAMES)
    assert r != example()
    assert r != r.top(2)
    assert r != "r"
    assert pickle.loads(pickle.dumps(r)) == r
    assert repr(r) == (
        "Ranking(3 rows, up to 3 labels)\n  0: cat 0.75 | ant 0.5 | bee 0.5\n  1: dog -1\n  2: (none)"
    )
    long = repr(Ranking.concatenate([r, r]))
    assert long.endswith("\n  ...")
    with pytest.raises(TypeError):
        hash(r)


def test_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    pandas = pytest.importorskip("pandas")
    frame = example(NAMES).to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert frame.to_dict("list") == {
        "row": [0, 0, 0, 1],
        "rank": [1, 2, 3, 1],
        "label": [2, 0, 1, 3],
        "name": ["cat", "ant", "bee", "dog"],
        "score": [0.75, 0.5, 0.5, -1.0],
    }


def test_frame_without_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r"longtail\[frames\]"):
        example().to_frame()


@pytest.mark.parametrize(
    ("labels", "scores", "words"),
    [
        ([[-2]], [[1]], "row 0 .* label -2"),
        ([[0], [9]], [[1], [1]], "row 1 .* only 4 labels"),
        ([[-1, 0]], [[1, 1]], "after a pad"),
        ([[0]], [[np.nan]], "not finite"),
        ([[0]], [[np.inf]], "not finite"),
        ([[0]], [[-np.inf]], "not finite"),
        ([[0]], [[1e300]], "not finite"),
        ([[0, 1]], [[1, 2]], "scores must fall"),
        ([[1, 0]], [[1, 1]], "rising label id"),
        ([[0, 1, 0]], [[3, 2, 1]], "label 0 twice"),
        ([0], [1], "two dimensions"),
        ([[0]], [[1, 2]], "shape"),
        ([[0.5]], [[1]], "whole numbers"),
        ([[0]], [["a"]], "numbers"),
        ([[2**31]], [[1]], "32 bits"),
    ],
)
def test_errors(labels: Any, scores: Any, words: str) -> None:
    with pytest.raises(DataError, match=words):
        Ranking(labels, scores, NAMES)


def test_nothing() -> None:
    for shape in ((0, 5), (3, 0), (0, 0)):
        r = Ranking(np.empty(shape, np.int32), np.empty(shape, np.float32))
        assert (len(r), r.k) == shape
        assert r.names() == r.to_dicts() == [[]] * 0 if shape[0] == 0 else r.names() == [[]] * 3
        assert r.to_csr().shape == (shape[0], 0)
        assert "Ranking(" in repr(r)
