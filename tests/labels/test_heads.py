"""Frequencies of heads against plain Python that does what the words say."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from longtail.errors import DataError, ParameterError
from longtail.labels import frequencies, head_frequencies


def plain_greedy(rows, n_labels, weights):
    heads, left = np.zeros(n_labels), dict(enumerate(rows))
    while True:
        f = [sum(weights[i] for i, row in left.items() if label in row) for label in range(n_labels)]
        if max(f, default=0) <= 0:
            return heads
        best = f.index(max(f))
        heads[best] = f[best]
        left = {i: row for i, row in left.items() if best not in row}


def plain_marginal(rows, n_labels, weights, softness=0.0):
    f = [sum(w for row, w in zip(rows, weights, strict=True) if label in row) for label in range(n_labels)]
    heads = np.zeros(n_labels)
    for row, w in zip(rows, weights, strict=True):
        if row:
            head = min(row, key=lambda label: (-f[label], label))
            for label in row:
                heads[label] += w if label == head else softness * w
    return heads


def problem(seed, n=120, n_labels=40):
    r = np.random.default_rng(seed)
    p = 1 / np.arange(1, n_labels + 1)
    dense = r.random((n, n_labels)) < np.minimum(3 * p, 0.6) * r.integers(0, 2, (n, 1))
    y = sp.csr_matrix(dense.astype(np.float32))
    return y, [np.flatnonzero(row).tolist() for row in dense], r


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("weighted", [False, True])
def test_equal_plain_python(seed, weighted):
    y, rows, r = problem(seed)
    # Whole numbers, many of them 0, so that there are ties and sums are exact in any order.
    weights = r.integers(0, 4, y.shape[0]).astype(float) if weighted else np.ones(y.shape[0])
    given = weights if weighted else None
    assert head_frequencies(y, "greedy", given).tolist() == plain_greedy(rows, 40, weights).tolist()
    assert head_frequencies(y, weights=given).tolist() == plain_marginal(rows, 40, weights).tolist()
    assert head_frequencies(y, 0.25, given).tolist() == plain_marginal(rows, 40, weights, 0.25).tolist()
    assert head_frequencies(y, 0.0, given).tolist() == plain_marginal(rows, 40, weights).tolist()
    assert head_frequencies(y, 1.0, given).tolist() == frequencies(y, given).tolist()


@pytest.mark.parametrize("how", ["greedy", "marginal"])
def test_every_row_with_labels_counts_once(how):
    y, rows, r = problem(3, n=500)
    weights = r.random(500)
    total = sum(w for row, w in zip(rows, weights, strict=True) if row)
    heads = head_frequencies(y, how, weights)
    assert heads.sum() == pytest.approx(total)
    assert np.all(heads <= frequencies(y, weights) + 1e-12)


def test_random_weights_equal_plain_python():
    y, rows, r = problem(5, n=300)
    weights = r.random(300)
    np.testing.assert_allclose(
        head_frequencies(y, "greedy", weights), plain_greedy(rows, 40, weights), rtol=1e-12
    )
    np.testing.assert_allclose(
        head_frequencies(y, weights=weights), plain_marginal(rows, 40, weights), rtol=1e-12
    )


def test_empty_and_huge():
    for how in ("greedy", "marginal", 0.5):
        assert head_frequencies(sp.csr_matrix((4, 3)), how).tolist() == [0, 0, 0]
        assert head_frequencies(sp.csr_matrix((0, 3)), how).tolist() == [0, 0, 0]
    y = sp.csr_matrix([[1, 1, 0], [1, 0, 1]])
    assert head_frequencies(y, "greedy", [1e300, 3e300]).tolist() == [4e300, 0, 0]
    assert head_frequencies(y, "greedy", [0, 0]).tolist() == [0, 0, 0]


def test_bad_parameters():
    y = sp.csr_matrix([[1, 1, 0], [1, 0, 1]])
    for how in ("softened", -0.1, 1.5, None, True):
        with pytest.raises(ParameterError, match="how"):
            head_frequencies(y, how)
    for weights in ([1], [1, -1], [1, np.nan], "ab", np.ones((2, 1))):
        with pytest.raises(DataError, match="weights"):
            head_frequencies(y, "greedy", weights)
        with pytest.raises(DataError, match="weights"):
            frequencies(y, weights)
