"""Rows of other lengths than 1: what ``normalize`` does with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import longtail as lt
from longtail.linear.unit import unit_rows


def problem() -> tuple[Any, Any, Any]:
    """Counts of words, with documents from short to very long, their labels, and how long each is."""
    rng = np.random.default_rng(0)
    topics = rng.random((30, 200)) ** 8
    of_row = rng.integers(0, 30, 600)
    length = 10 ** rng.uniform(0, 4, 600)
    counts = rng.poisson(topics[of_row] / topics[of_row].sum(1, keepdims=True) * (20 + length)[:, None])
    y = sp.csr_matrix((np.ones(600, np.float32), (np.arange(600), of_row)), shape=(600, 30))
    return sp.csr_matrix(counts, dtype=np.float32), y, of_row


def unit(x: Any) -> Any:
    norms = np.sqrt(np.asarray(x.multiply(x).sum(axis=1)).ravel())
    return sp.csr_matrix(sp.diags(1 / np.maximum(norms, 1e-30)) @ x, dtype=np.float32)


@pytest.mark.parametrize("model", [lt.LinearTree(arity=4, max_leaf=4), lt.OneVsRest()])
def test_counts_are_learnt_as_well_as_unit_rows(model: Any) -> None:
    x, y, of_row = problem()
    model.fit(x[:500], y[:500])
    right = (model.predict(x[500:], k=1).labels[:, 0] == of_row[500:]).mean()
    assert right > 0.9
    raw = type(model)(**model.get_params() | {"normalize": False}).fit(x[:500], y[:500])
    assert right >= (raw.predict(x[500:], k=1).labels[:, 0] == of_row[500:]).mean()


@pytest.mark.parametrize("dense", [False, True])
def test_it_is_what_scaling_by_hand_gives(dense: bool) -> None:
    x, y, _ = problem()
    rows, scaled = (x.toarray(), unit(x).toarray()) if dense else (x, unit(x))
    a = lt.LinearTree(arity=4, max_leaf=4, weights="f32").fit(rows, y)
    b = lt.LinearTree(arity=4, max_leaf=4, weights="f32", normalize=False).fit(scaled, y)
    ranked, expected = a.predict(rows, k=5), b.predict(scaled, k=5)
    assert np.array_equal(ranked.labels, expected.labels)
    np.testing.assert_allclose(ranked.scores, expected.scores, rtol=1e-4, atol=1e-6)
    told, wanted = a.explain(rows[[3]], 7).paths[0], b.explain(scaled[[3]], 7).paths[0]
    for step, other in zip(told, wanted, strict=True):
        assert step.margin == pytest.approx(other.margin, abs=1e-5)


def test_the_length_of_a_query_does_not_matter() -> None:
    x, y, _ = problem()
    model = lt.LinearTree(arity=4, max_leaf=4).fit(x, y)
    for factor in (1e-20, 0.5, 3.0, 1e18):
        scaled = model.predict(x * np.float32(factor), k=3)
        assert np.array_equal(scaled.labels, model.predict(x, k=3).labels)
    raw = lt.LinearTree(arity=4, max_leaf=4, normalize=False).fit(x, y)
    assert not np.array_equal(raw.predict(x * 0.01, k=3).scores, raw.predict(x, k=3).scores)


@pytest.mark.parametrize("threads", [1, 2])
def test_unit_rows_are_left_alone_each_by_itself(threads: int) -> None:
    x = unit(problem()[0])
    assert unit_rows(x, threads) is x
    dense = x.toarray()
    assert unit_rows(dense, threads) is dense
    mixed = x.copy()
    mixed.data[mixed.indptr[5] : mixed.indptr[6]] *= 7
    got = unit_rows(mixed, threads)
    keep = np.r_[0:5, 6 : x.shape[0]]
    assert np.array_equal(got[keep].data, x[keep].data)
    np.testing.assert_allclose(got[5].toarray(), x[5].toarray(), rtol=1e-6)
    np.testing.assert_array_equal(unit_rows(mixed.toarray(), threads), got.toarray())


def test_rows_of_zeros_stay() -> None:
    x = sp.csr_matrix(np.array([[0, 0], [3, 4]], dtype=np.float32))
    np.testing.assert_allclose(unit_rows(x, 1).toarray(), [[0, 0], [0.6, 0.8]], rtol=1e-6)
    np.testing.assert_allclose(unit_rows(x.toarray(), 1), [[0, 0], [0.6, 0.8]], rtol=1e-6)


def test_a_row_is_the_same_alone_and_in_a_batch() -> None:
    x, y, _ = problem()
    almost = unit(x)
    almost.data[: almost.indptr[300]] *= np.float32(1 + 5e-6)  # so near to 1 that they are not scaled
    mixed = sp.vstack([almost[:300], x[300:]]).tocsr()
    model = lt.LinearTree(arity=4, max_leaf=4).fit(x, y)
    batch = model.predict(mixed, k=4)
    for i in range(0, 600, 50):
        alone = model.predict(mixed[[i]], k=4)
        assert np.array_equal(alone.labels[0], batch.labels[i])
        assert alone.scores[0].tobytes() == batch.scores[i].tobytes()


def test_what_is_given_is_not_changed() -> None:
    x, y, _ = problem()
    before = x.data.copy()
    lt.LinearTree(max_leaf=10).fit(x, y).predict(x, k=1)
    assert np.array_equal(x.data, before)


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3, 1e7])
@pytest.mark.parametrize("spread", [1.0, 1e3])
def test_half_precision_is_good_for_features_of_any_size(size: float, spread: float) -> None:
    """Tiny features want huge weights, huge ones tiny weights, and some of both may share a classifier: what is stored
    in half precision ranks as what is stored with all bits does."""
    x, y, _ = problem()
    units = np.geomspace(1 / spread, spread, x.shape[1])[np.random.default_rng(1).permutation(x.shape[1])]
    rows = sp.csr_matrix(unit(x) @ sp.diags(units * size), dtype=np.float32)
    settings: dict[str, Any] = {"normalize": False, "threshold": 0.0, "C": min(1e6, (spread * size) ** -2)}
    whole = lt.LinearTree(arity=4, max_leaf=4, weights="f32", **settings).fit(rows[:500], y[:500])
    half = lt.LinearTree(arity=4, max_leaf=4, **settings).fit(rows[:500], y[:500])
    assert half.weights == "f16"
    step = whole._predictor.child_weights(0, 0, 0, 0)
    stored = half._predictor.child_weights(0, 0, 0, 0)
    np.testing.assert_array_equal(step[0], stored[0])
    np.testing.assert_allclose(stored[1], step[1], rtol=2**-11, atol=np.abs(step[1]).max() * 2**-38)
    a, b = whole.predict(rows[500:], k=5), half.predict(rows[500:], k=5)
    np.testing.assert_allclose(b.scores, a.scores, rtol=0.02, atol=1e-4)
    assert (a.labels[:, 0] == b.labels[:, 0]).mean() >= 0.99
