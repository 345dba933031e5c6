"""The kernels of the metrics room against plain NumPy, and with arrays that must be refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from longtail import _native

kernels = _native.metrics


def random_lists(rng: np.random.Generator, n: int, k: int, n_labels: int) -> tuple[np.ndarray, np.ndarray]:
    """Correct lists with ties and pads."""
    labels = np.full((n, k), -1, np.int32)
    scores = np.full((n, k), -np.inf, np.float32)
    for i in range(n):
        length = rng.integers(0, min(k, n_labels) + 1)
        ids = rng.permutation(n_labels)[:length]
        values = rng.integers(0, 4, length).astype(np.float32)
        order = np.lexsort((ids, -values))
        labels[i, :length], scores[i, :length] = ids[order], values[order]
    return labels, scores


def plain_fault(labels: np.ndarray, scores: np.ndarray, n_labels: int) -> tuple[int, int, int]:
    """The first fault, by the rules of metrics/lists.hpp."""
    for i, row in enumerate(labels):
        length = next((j for j, label in enumerate(row) if label < 0), len(row))
        for j, label in enumerate(row):
            for fault, wrong in ((1, label < -1), (2, label >= n_labels), (3, j > length and label >= 0)):
                if wrong:
                    return fault, i, j
        for j in range(length):
            if not np.isfinite(scores[i, j]):
                return 4, i, j
        for j in range(1, length):
            if scores[i, j] > scores[i, j - 1]:
                return 5, i, j
            if scores[i, j] == scores[i, j - 1] and row[j] < row[j - 1]:
                return 6, i, j
        for j in range(length):
            if row[j] in row[:j]:
                return 7, i, j
    return 0, -1, -1


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 6), st.sampled_from([1, 3, 40]))
def test_check_lists(seed: int, n: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    labels, scores = random_lists(rng, n, k, 60)
    assert kernels.check_lists(labels, scores, 60, 2) == (0, -1, -1)
    for _ in range(3):  # and now something is changed
        i, j = rng.integers(n), rng.integers(k)
        if rng.random() < 0.6:
            labels[i, j] = rng.choice([-2, -1, 0, 5, 59, 60, 2**31 - 1])
        else:
            scores[i, j] = rng.choice([np.nan, np.inf, -np.inf, 0, 2, 9])
        fault, row, column = kernels.check_lists(labels, scores, 60, 2)
        expected = plain_fault(labels, scores, 60)
        if fault == 7 and k > 24:  # long lists are sorted to find a label that is there twice
            assert expected[:2] == (7, row)
            assert labels[row, column] in labels[row, :column]
        else:
            assert (fault, row, column) == expected


def test_check_lists_of_many_rows_finds_the_first() -> None:
    labels = np.tile(np.arange(3, dtype=np.int32), (20_000, 1))
    labels[[9_000, 5_000, 15_000], 1] = 0
    assert kernels.check_lists(labels, None, 3, 2) == kernels.check_lists(labels, None, 3, 1) == (7, 5_000, 1)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 7), st.integers(1, 9), st.integers(1, 12))
def test_top_k(seed: int, n: int, n_labels: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    dense = rng.integers(-2, 3, (n, n_labels)) * (rng.random((n, n_labels)) < 0.7)
    m = sp.csr_matrix(dense.astype(np.float32))
    labels, scores = np.empty((n, k), np.int32), np.empty((n, k), np.float32)
    kernels.top_k(m.indptr, m.indices, m.data, n_labels, labels, scores, 2)
    for i in range(n):
        stored = sorted((-dense[i, j], j) for j in np.flatnonzero(dense[i]))[:k]
        padded = [j for _, j in stored] + [-1] * (k - len(stored))
        assert labels[i].tolist() == padded
        assert scores[i, : len(stored)].tolist() == [-s for s, _ in stored]
        assert np.isneginf(scores[i, len(stored) :]).all()


def arguments(**change: Any) -> list[Any]:
    """Arguments of ``measure`` that are right, but for a change."""
    n_labels, rows, n_ks = 4, 2, 2
    args: dict[str, Any] = {
        "labels": np.array([[0, 1], [2, -1]], np.int32),
        "indptr": np.array([0, 2, 3], np.int64),
        "indices": np.array([0, 3, 2], np.int32),
        "n_labels": n_labels,
        "exclude_indptr": None,
        "exclude_indices": None,
        "weights": np.ones(n_labels),
        "ks": np.array([1, 2], np.int32),
        "wanted": np.array([0, 23], np.int32),
        "skip_empty": False,
        "threads": 2,
        "sums": np.zeros((12, n_ks)),
        "n_true": np.zeros(rows, np.int32),
        "row_values": np.zeros((rows, 2)),
        "hits": np.zeros((n_ks, n_labels), np.int32),
        "predicted": np.zeros((n_ks, n_labels), np.int32),
        "truths": np.zeros(n_labels, np.int32),
    }
    assert set(change) <= set(args)
    return list((args | change).values())


def test_measure_gives_rows_and_counts() -> None:
    args = arguments()
    kernels.measure(*args)
    sums, n_true, rows, hits, predicted, truths = args[-6:]
    assert sums[0].tolist() == [2.0, 1.0]  # precision at 1 and 2, summed
    assert n_true.tolist() == [2, 1]
    assert rows[:, 0].tolist() == [1.0, 1.0]
    assert rows[:, 1].tolist() == [1.0, 1.0]  # the best of PSR at 2
    assert hits.tolist() == [[1, 0, 1, 0], [1, 0, 1, 0]]
    assert predicted.tolist() == [[1, 0, 1, 0], [1, 1, 1, 0]]
    assert truths.tolist() == [1, 0, 1, 1]


@pytest.mark.parametrize(
    "change",
    [
        {"labels": np.array([[0, 4], [2, -1]], np.int32)},
        {"labels": np.array([[0, 1]], np.int32)},
        {"indptr": np.array([0, 2], np.int64)},
        {"indptr": np.array([0, 4, 3], np.int64)},
        {"indptr": np.array([1, 2, 3], np.int64)},
        {"indptr": np.array([], np.int64)},
        {"indices": np.array([0, 4, 2], np.int32)},
        {"indices": np.array([0, -1, 2], np.int32)},
        {"indices": np.array([3, 0, 2], np.int32)},
        {"indices": np.array([0, 0, 2], np.int32)},
        {"n_labels": -1},
        {"n_labels": 5},
        {"exclude_indptr": np.array([0, 1], np.int64), "exclude_indices": np.array([1], np.int32)},
        {"exclude_indptr": np.array([0, 2, 2], np.int64), "exclude_indices": np.array([1, 0], np.int32)},
        {"exclude_indptr": None, "exclude_indices": np.array([1], np.int32)},
        {"weights": np.ones(3)},
        {"weights": None},
        {"ks": np.array([], np.int32)},
        {"ks": np.array([0, 1], np.int32)},
        {"ks": np.array([2, 1], np.int32)},
        {"ks": np.array([1, 2**30], np.int32)},
        {"ks": np.array([1], np.int32)},
        {"wanted": np.array([0, 24], np.int32)},
        {"wanted": np.array([-1, 0], np.int32)},
        {"wanted": np.array([0], np.int32)},
        {"sums": np.zeros((6, 2))},
        {"n_true": np.zeros(1, np.int32)},
        {"row_values": np.zeros((1, 2))},
        {"hits": np.zeros((2, 3), np.int32)},
        {"predicted": None},
        {"truths": np.zeros(3, np.int32)},
        {"labels": np.array([[0, 1], [2, -1]], np.int64)},
        {"weights": np.ones(4, np.float32)},
    ],
)
def test_measure_refuses(change: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        kernels.measure(*arguments(**change))


def test_bootstrap_sums_are_sums_of_resamples() -> None:
    rng = np.random.default_rng(0)
    values = np.column_stack([np.ones(50), rng.random(50), np.eye(50)])
    sums = np.zeros((301, values.shape[1]))
    kernels.bootstrap_sums(values, 7, sums, 2)
    counts = sums[:, 2:]
    assert np.array_equal(sums[:, 0], np.full(301, 50.0))
    assert np.array_equal(counts, counts.astype(int))
    assert np.allclose(sums[:, 1], counts @ values[:, 1])
    assert counts.mean() == 1
    assert counts.var() == pytest.approx(1, abs=0.1)  # of a binomial of 50 draws at 1/50
    assert len({row.tobytes() for row in sums}) == 301
    one = np.zeros_like(sums)
    kernels.bootstrap_sums(values, 7, one, 1)
    assert np.array_equal(one, sums)
    fewer = np.zeros((5, values.shape[1]))  # a resample depends on its number, not on how many there are
    kernels.bootstrap_sums(values, 7, fewer, 1)
    assert np.array_equal(fewer, sums[:5])
    with pytest.raises(ValueError, match="rows"):
        kernels.bootstrap_sums(np.zeros((0, 2)), 7, np.zeros((3, 2)), 1)
    with pytest.raises(ValueError, match="columns"):
        kernels.bootstrap_sums(np.zeros((4, 2)), 7, np.zeros((3, 1)), 1)


@pytest.mark.parametrize("isa", ["portable", "avx2", "avx512"])
def test_every_level_gives_the_same(isa: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    values = rng.random((100, 3))
    expected, got = np.zeros((20, 3)), np.zeros((20, 3))
    kernels.bootstrap_sums(values, 1, expected, 1)
    first, second = arguments(), arguments()
    kernels.measure(*first)
    monkeypatch.setenv("LONGTAIL_ISA", isa)
    kernels.bootstrap_sums(values, 1, got, 2)
    kernels.measure(*second)
    assert np.array_equal(got, expected)
    assert all(np.array_equal(a, b) for a, b in zip(first[-6:], second[-6:], strict=True))
