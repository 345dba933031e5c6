"""Labels of groups handed to samples: what users see."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import longtail as lt
from longtail import progress
from longtail.groups import everyone
from longtail.labels import pifa

X = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0.2, 0], [0, 1, 0.2], [1, 0, 0.1]], dtype=np.float32)
WAYS = [lt.Eagle(), lt.Eagle(T=0), lt.Eagle(T=20, rate=0.1)]
ways = pytest.mark.parametrize("eagle", WAYS, ids=repr)


@ways
def test_a_label_finds_its_samples(eagle: Any) -> None:
    y = eagle.assign(X, [0, 0, 0, 1, 1, 2], [["a", "b", "c"], ["a", "b"], ["a"]])
    assert np.flatnonzero(y.toarray()[:, 0]).tolist() == [0, 3, 5]
    if eagle.T is None:  # in so few groups only the contrast sets b and c apart from their company
        assert np.flatnonzero(y.toarray()[:, 1]).tolist() == [1, 4]
        assert np.flatnonzero(y.toarray()[:, 2]).tolist() == [2]
    assert y.format == "csr"
    assert y.dtype == np.float32
    assert y.has_canonical_format


@ways
def test_the_forms_of_groups_and_labels_are_equal(eagle: Any) -> None:
    lists = [["a", "b", "c"], ["b", "a", "a"], [], ["c"]]
    groups = [0, 0, 0, 1, 1, 2]  # the last group has no samples
    counts = sp.csr_matrix([[1, 1, 1], [2, 1, 0], [0, 0, 0], [0, 0, 1]], dtype=np.float32)
    matrix = sp.csr_matrix((np.ones(6), (range(6), groups)), shape=(6, 4))
    expected = eagle.assign(sp.csr_matrix(X), matrix, counts)
    ids = [[0, 1, 2], [1, 0, 0], [], [2]]
    for x in (X, X.astype(np.float64), sp.csc_matrix(X)):
        for y1 in (groups, np.array(groups), matrix.tocoo()):
            for y2 in (lists, ids, counts.toarray(), counts.tocsc()):
                assert (eagle.assign(x, y1, y2) != expected).nnz == 0


@ways
def test_counts_hand_a_label_to_more_samples(eagle: Any) -> None:
    for count, wanted in ((1, 1), (2, 2), (3, 3), (5, 3)):
        y = eagle.assign(X[:3], [0, 0, 0], sp.csr_matrix([[count, 1.0]]))
        assert y.toarray().sum(axis=0).tolist() == [wanted, 1]


@ways
def test_empty_groups_and_labels_without_groups(eagle: Any) -> None:
    y1 = sp.csr_matrix(([1, 1, 1, 1], ([0, 1, 3, 4], [1, 1, 2, 2])), shape=(6, 4))  # groups 0 and 3 are empty
    y2 = sp.csr_matrix(([1, 1, 1, 1, 1], ([0, 1, 1, 2, 3], [0, 1, 2, 1, 3])), shape=(4, 5))
    y = eagle.assign(X, y1, y2)
    assert y.shape == (6, 5)
    assert y.toarray().sum(axis=0).tolist() == [0, 2, 1, 0, 0]  # labels 0 and 3 are only in empty groups
    assert y.toarray().sum(axis=1)[[2, 5]].tolist() == [0, 0]  # in no group
    e = eagle.label_embeddings_
    assert np.linalg.norm(e, axis=1).round(6).tolist() == [0, 1, 1, 0, 0]


@ways
def test_overlapping_groups(eagle: Any) -> None:
    """A sample in two groups gets a label once, though both hand it over."""
    y1 = sp.csr_matrix([[1, 1], [1, 0], [0, 1]])
    y = eagle.assign(X[[0, 1, 2]], y1, [["a"], ["a"]])
    assert y.toarray().ravel().tolist() == [1, 0, 0]


@ways
def test_ties_go_to_the_first_sample(eagle: Any) -> None:
    x = np.array([[1, 0], [0, 1], [2, 0], [0, 3]], dtype=np.float32)
    for order in ([0, 1, 2, 3], [3, 1, 2, 0]):
        assert eagle.assign(x[order], [0, 0, 0, 0], [["a"]]).indices.tolist() == [0]
        found = eagle.assign(x[order], [0, 0, 0, 0], [["a", "a"]])
        assert np.flatnonzero(found.toarray().ravel()).tolist() == [0, 1]


def test_ties_all_count_for_the_direction() -> None:
    """Equal samples are taken together in a step, also when they differ only in length."""
    x = np.array([[1, 0], [3, 0], [0, 1], [0.3, 1]], dtype=np.float32)
    eagle = lt.Eagle(T=1, rate=1.0)
    eagle.assign(x, [0, 0, 0, 1], [["a"], ["a"]])
    start = np.array([2, 1]) + x[3] / np.linalg.norm(x[3])
    nearest = np.array([2, 0]) + x[3] / np.linalg.norm(x[3])
    e = start / np.linalg.norm(start) + nearest / np.linalg.norm(nearest)
    np.testing.assert_allclose(eagle.label_embeddings_[0], e / np.linalg.norm(e), atol=1e-6)


@ways
@pytest.mark.parametrize("n_labels", [2, 5])
def test_labels_of_the_same_groups_start_apart(eagle: Any, n_labels: int) -> None:
    """x and -x in every group, all labels on every group: the sum of all samples is zero."""
    r = np.random.default_rng(0)
    for noise in (0.0, 0.05):
        x = r.standard_normal(16)
        sides = np.concatenate([r.permutation([1, -1]) for _ in range(30)])
        rows = sides[:, None] * x + noise * r.standard_normal((60, 16))
        y = eagle.assign(rows, np.arange(60) // 2, [[f"l{i}" for i in range(n_labels)]] * 30).toarray()
        steps = 20 if eagle.T is None else eagle.T
        for label in range(n_labels):
            own = sides[y[:, label] > 0]
            assert len(own) == 30
            if noise == 0.0 or steps > 0:
                assert len(set(own.tolist())) == 1  # every group agrees
        first, second = (sides[y[:, label] > 0][0] for label in (0, 1))
        if noise == 0.0 or steps > 0:
            assert first != second


def test_the_two_label_toy() -> None:
    x = np.array([[0.6, 0.8], [-0.6, -0.8]] * 3)
    eagle = lt.Eagle(T=20, rate=0.1)
    y = eagle.assign(x, [0, 0, 1, 1, 2, 2], [["a", "b"]] * 3)
    assert y.toarray().T.tolist() == [[1, 0] * 3, [0, 1] * 3]
    np.testing.assert_allclose(eagle.label_embeddings_, [[0.6, 0.8], [-0.6, -0.8]], atol=1e-6)


@ways
def test_groups_of_one_are_plain_labels(eagle: Any) -> None:
    r = np.random.default_rng(3)
    x = sp.random(80, 50, density=0.2, format="csr", random_state=3, dtype=np.float32)
    y = sp.csr_matrix((r.random((80, 12)) < 0.1).astype(np.float32))
    assert (eagle.assign(x, np.arange(80), y) != y).nnz == 0
    np.testing.assert_allclose(eagle.label_embeddings_.toarray(), pifa(x, y).toarray(), atol=1e-6)


@ways
def test_rows_of_zeros(eagle: Any) -> None:
    y = eagle.assign(np.zeros((4, 3)), [0, 0, 1, 1], [["a"], ["a", "b"]])
    assert y.toarray().sum(axis=0).tolist() == [2, 1]
    assert not np.any(eagle.label_embeddings_)


problems = st.tuples(
    st.integers(1, 30), st.integers(1, 12), st.integers(1, 8), st.integers(1, 6), st.integers(0, 2**32 - 1)
)


@settings(max_examples=60, deadline=None)
@given(problems, st.sampled_from([None, 0, 3, 20]))
def test_every_label_of_a_group_is_handed_out_within_it(sizes: Any, steps: int | None) -> None:
    n, d, m, n_labels, seed = sizes
    r = np.random.default_rng(seed)
    x = r.integers(-2, 3, (n, d)).astype(np.float32)  # many ties, rows of zeros, sums of zero
    y1 = sp.csr_matrix(r.random((n, m)) < 0.3)
    y2 = sp.csr_matrix(r.integers(0, 4, (m, n_labels)) * (r.random((m, n_labels)) < 0.5))
    eagle = lt.Eagle(steps)
    y = eagle.assign(x, y1, y2)
    assert (y > everyone(y1, y2)).nnz == 0
    for j, label in zip(*y2.nonzero(), strict=True):
        group = np.flatnonzero(y1[:, [j]].toarray())
        assert y[group][:, [label]].sum() >= min(y2[j, label], len(group))
    lengths = np.linalg.norm(eagle.label_embeddings_, axis=1)
    assert (np.isclose(lengths, 1, atol=1e-5) | (lengths == 0)).all()
    again = lt.Eagle(steps, threads=3).assign(sp.csr_matrix(x), y1, y2)
    assert (again != y).nnz == 0


@settings(max_examples=30, deadline=None)
@given(problems, st.sampled_from([None, 20]))
def test_the_order_of_groups_and_labels_makes_no_difference(sizes: Any, steps: int | None) -> None:
    n, d, m, n_labels, seed = sizes
    r = np.random.default_rng(seed)
    x = r.standard_normal((n, d + 1)).astype(np.float32)
    y1 = sp.csr_matrix(r.random((n, m)) < 0.3)
    y2 = sp.csr_matrix(r.random((m, n_labels)) < 0.5)
    groups, labels = r.permutation(m), r.permutation(n_labels)
    y = lt.Eagle(steps).assign(x, y1, y2).toarray()
    other = lt.Eagle(steps).assign(x, y1[:, groups], y2[groups][:, labels]).toarray()
    apart = np.flatnonzero((y2.toarray() != 0).all(axis=0))  # these start apart by the order of their columns
    kept = ~np.isin(labels, apart)
    np.testing.assert_array_equal(other[:, kept], y[:, labels][:, kept])


def test_what_is_common_to_all_labels_cancels_out() -> None:
    """Groups drawn at random: the company that a label has drowns EAGLE's mean, not the contrast."""
    r = np.random.default_rng(0)
    topics = r.random((40, 60)) * (r.random((40, 60)) < 0.2)
    truth = sp.csr_matrix((np.ones(2000), (np.arange(2000), r.integers(0, 40, 2000))), shape=(2000, 40))
    x = sp.csr_matrix((truth @ topics + r.random(60) + 0.3 * r.random((2000, 60))).astype(np.float32))
    groups = lt.groups.random_groups(2000, 10, seed=1)
    known = lt.groups.merge_labels(groups, truth)
    right = {T: lt.Eagle(T).assign(x, groups, known).multiply(truth).sum() / 2000 for T in (None, 0, 20)}
    assert right[None] > 0.9
    assert right[None] > max(right[0], right[20]) + 0.2


# ---- models


def test_fit_with_groups_is_assign_and_fit() -> None:
    r = np.random.default_rng(0)
    texts = [
        f"{w} {w} n{r.integers(0, 5)} m{i % 3}" for i, w in enumerate(r.choice(["red", "green", "blue"], 90))
    ]
    groups = np.arange(90) // 3
    names = [sorted({text.split()[0].upper() for text in texts[3 * j : 3 * j + 3]}) for j in range(30)]
    model = lt.LinearTree().fit(texts, groups=groups, group_labels=names)
    vectorizer = lt.TextVectorizer()
    y = lt.Eagle().assign(vectorizer.fit_transform(texts), groups, names)
    same = lt.LinearTree().fit(texts, y, labels=["BLUE", "GREEN", "RED"])
    for k in (1, 3):
        assert model.predict(texts, k=k).scores.tobytes() == same.predict(texts, k=k).scores.tobytes()
    assert model.predict(["red", "blue"], k=1).names() == [["RED"], ["BLUE"]]
    assert model.label_frequencies_.sum() == y.nnz
    plain = lt.OneVsRest().fit(texts, groups=groups, group_labels=names, eagle=lt.Eagle(T=20))
    assert plain.predict(["green"], k=1).names() == [["GREEN"]]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "Y must be"),
        ({"groups": [0, 0]}, "these two together"),
        ({"group_labels": [["a"]]}, "these two together"),
        ({"Y": [["a"], ["b"]], "groups": [0, 0], "group_labels": [["a"]]}, "either Y"),
        ({"groups": [0], "group_labels": [["a"]]}, "X has 2 rows and groups has 1"),
        ({"groups": [0, 1], "group_labels": [["a"]]}, "there are 2 groups and group_labels has 1 rows"),
        ({"groups": [0, -1], "group_labels": [["a"]]}, "from 0 to"),
        ({"groups": [0.5, 1], "group_labels": [["a"]]}, "whole number per sample"),
        ({"groups": [0, 0], "group_labels": np.array([[0.5]])}, "counts"),
        ({"groups": [0, 0], "group_labels": np.array([[-1]])}, "negative"),
        ({"groups": [0, 0], "group_labels": [[]]}, "no labels"),
        ({"groups": sp.csr_matrix((2, 1)), "group_labels": [["a"]]}, "no group with samples has a label"),
    ],
)
def test_wrong_groups(given: dict[str, Any], words: str) -> None:
    with pytest.raises(lt.DataError, match=words):
        lt.LinearTree().fit(np.eye(2), **given)


def test_wrong_parameters() -> None:
    for params, words in (
        ({"T": -1}, "'T' parameter of Eagle must be None or a whole number in"),
        ({"T": 1.5}, "'T' parameter"),
        ({"rate": 0}, "'rate' parameter of Eagle must be a number in"),
        ({"threads": 0}, "'threads' parameter"),
    ):
        with pytest.raises(lt.ParameterError, match=words):
            lt.Eagle(**params).assign(X, [0] * 6, [["a"]])
    with pytest.raises(lt.ParameterError, match="'eagle' parameter of fit"):
        lt.LinearTree().fit(np.eye(2), groups=[0, 0], group_labels=[["a"]], eagle=20)
    with pytest.raises(lt.ParameterError, match="needs groups"):
        lt.LinearTree().fit(np.eye(2), [["a"], ["b"]], eagle=lt.Eagle())


class Stop(progress.Silent):
    def update(self, handle: int, done: int) -> None:
        raise KeyboardInterrupt


def test_it_can_be_stopped() -> None:
    x = sp.random(4000, 3000, density=0.05, format="csr", random_state=0, dtype=np.float32)
    y = sp.random(4000, 400, density=0.02, format="csr", random_state=1)
    y.data[:] = 1
    groups = lt.groups.random_groups(4000, 50)
    with progress.use(Stop()), pytest.raises(KeyboardInterrupt):
        lt.Eagle(T=100_000).assign(x, groups, lt.groups.merge_labels(groups, y))
