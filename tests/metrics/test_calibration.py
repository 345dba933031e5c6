"""The reliability curve against counting by hand and against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.calibration import calibration_curve

from longtail import DataError, ParameterError, Ranking
from longtail.metrics import expected_calibration_error, reliability


def problem(seed, n=200, n_labels=30, k=7):
    r = np.random.default_rng(seed)
    labels = np.array([r.permutation(n_labels)[:k] for _ in range(n)], np.int32)
    labels[r.random(labels.shape) < 0.1] = -1
    scores = r.integers(0, 101, labels.shape) / 100  # ties, and both ends
    y = sp.csr_matrix((r.random((n, n_labels)) < 0.2).astype(np.float32))
    return Ranking.from_unsorted(labels, scores), y


def by_hand(r, y, bins, k=None):
    """(score, share, count) per group of equal width."""
    groups = [[] for _ in range(bins)]
    truth = y.toarray() != 0
    for i in range(len(r.labels)):
        for label, score in zip(r.labels[i, :k], r.scores[i, :k].astype(float), strict=True):
            if label >= 0:
                groups[min(int(score * bins), bins - 1)].append((score, truth[i, label]))
    full = [np.array(group, float) for group in groups if group]
    return [(g[:, 0].mean(), g[:, 1].mean(), len(g)) for g in full]


@pytest.mark.parametrize("bins", [1, 5, 10, 64])
@pytest.mark.parametrize("k", [None, 1, 3])
def test_equals_counting_by_hand(bins, k):
    r, y = problem(bins)
    curve = reliability(r, y, k, bins=bins)
    truth = by_hand(r, y, bins, k)
    assert curve.count.tolist() == [t[2] for t in truth]
    np.testing.assert_allclose(curve.score, [t[0] for t in truth])
    np.testing.assert_allclose(curve.right, [t[1] for t in truth])
    gaps = np.array([abs(a - b) for a, b, _ in truth])
    assert curve.error == pytest.approx(gaps @ curve.count / curve.count.sum())
    assert curve.largest_error == pytest.approx(gaps.max())
    assert expected_calibration_error(r, y, k, bins=bins) == curve.error


def test_equals_scikit_learn():
    r, y = problem(1, n=500)
    there = r.labels >= 0
    rows = np.broadcast_to(np.arange(500)[:, None], r.labels.shape)[there]
    score = r.scores[there].astype(float)
    true = np.asarray(y[rows, r.labels[there]]).ravel() > 0
    share, mean = calibration_curve(true, score, n_bins=7)
    curve = reliability(r, y, bins=7)
    np.testing.assert_allclose(curve.right, share)
    np.testing.assert_allclose(curve.score, mean)


def test_groups_of_equal_count():
    r, y = problem(2, n=1000)
    curve = reliability(r, y, bins=8, strategy="count")
    assert curve.count.sum() == (r.labels >= 0).sum()
    assert np.all(np.diff(curve.score) > 0)
    assert curve.count.max() < 1.3 * curve.count.min()  # ties are not torn
    same = Ranking(np.array([[0], [1], [2]]), np.full((3, 1), 0.5))
    assert reliability(same, sp.csr_matrix(np.eye(3)), bins=5, strategy="count").count.tolist() == [3]


def test_scores_that_are_chances_have_no_error():
    r = np.random.default_rng(0)
    n = 200_000
    chance = r.random((n, 1))
    y = sp.csr_matrix((r.random((n, 1)) < chance).astype(np.float32))
    curve = reliability(Ranking(np.zeros((n, 1), np.int32), chance), y)
    assert curve.error < 0.005
    assert abs(curve.bias) < 0.005
    sure = reliability(Ranking(np.zeros((n, 1), np.int32), np.sqrt(chance)), y)
    assert sure.bias == pytest.approx(2 / 3 - 1 / 2, abs=0.01)
    assert sure.error == pytest.approx(sure.bias, abs=1e-6)


def test_nothing_ranked():
    curve = reliability(Ranking(np.full((2, 3), -1), np.zeros((2, 3))), sp.csr_matrix((2, 4)))
    assert len(curve.count) == 0
    assert (curve.error, curve.bias, curve.largest_error) == (0, 0, 0)


def test_bad_input():
    r, y = problem(3)
    for scores in ([[1.5, 0.5]], [[0.5, -0.5]]):
        with pytest.raises(DataError, match=r"scores in \[0, 1\]"):
            reliability(Ranking(np.array([[0, 1]]), np.array(scores)), y[:1])
    with pytest.raises(DataError, match="needs a Ranking"):
        reliability(r.labels, y)
    with pytest.raises(DataError, match="200 rows"):
        reliability(r, y[:5])
    for options in ({"bins": 0}, {"k": 0}, {"strategy": "x"}):
        with pytest.raises(ParameterError, match=next(iter(options))):
            reliability(r, y, **options)
