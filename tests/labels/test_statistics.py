"""Frequencies, propensities and the Python side of PIFA."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from longtail.errors import DataError, ParameterError
from longtail.labels import frequencies, pifa, propensities


def test_frequencies_count_rows_not_values():
    y = sp.csr_matrix(np.array([[2.0, 0, 0], [0.5, 0, 1]]))
    y.data[0] = 0.0  # stored, but no label
    f = frequencies(y)
    assert f.dtype == np.int64
    assert f.tolist() == [1, 0, 1]
    assert y.nnz == 3
    assert frequencies(sp.csr_array((4, 2))).tolist() == [0, 0]


def test_propensities_are_the_formula():
    counts, n = np.array([0, 1, 7, 5000]), 12_345
    for a, b in ((0.55, 1.5), (0.5, 0.4), (0.6, 2.6)):
        c = (np.log(n) - 1) * (b + 1) ** a
        truth = 1 / (1 + c * np.exp(-a * np.log(counts + b)))
        np.testing.assert_allclose(propensities(counts, n, a=a, b=b), truth, rtol=1e-14)
    assert propensities([0, 3], n_rows=2).tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("frequencies", "options", "error"),
    [
        ([1], {"n_rows": -1}, ParameterError),
        ([1], {"n_rows": 10, "b": 0}, ParameterError),
        ([1], {"n_rows": 10, "a": float("nan")}, ParameterError),
        ([-1], {"n_rows": 10}, DataError),
        ([np.nan], {"n_rows": 10}, DataError),
        ([[1]], {"n_rows": 10}, DataError),
        (["a"], {"n_rows": 10}, DataError),
    ],
)
def test_propensities_errors(frequencies, options, error):
    with pytest.raises(error):
        propensities(frequencies, **options)


def test_pifa_of_sparse_equals_pifa_of_dense():
    x = sp.random(80, 30, density=0.2, format="csr", random_state=1)
    y = sp.random(80, 25, density=0.1, format="csr", random_state=2)
    weights = np.linspace(0, 2, 80)
    sparse, dense = pifa(x, y, threads=2, weights=weights), pifa(x.toarray(), y, weights=weights)
    assert sparse.shape == dense.shape == (25, 30)
    assert sparse.dtype == dense.dtype == np.float32
    assert sparse.indices.dtype == np.int32
    assert sparse.has_canonical_format
    np.testing.assert_allclose(sparse.toarray(), dense, atol=1e-7)
    seen = frequencies(y) > 0
    np.testing.assert_allclose(np.linalg.norm(dense, axis=1), seen, atol=1e-6)


def test_a_label_never_seen_is_empty():
    e = pifa(sp.eye(3, format="csr"), sp.csr_matrix(([1.0], ([0], [2])), shape=(3, 4)))
    assert np.diff(e.indptr).tolist() == [0, 0, 1, 0]


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_pifa_of_nothing(shape):
    x = sp.csr_matrix(shape, dtype=np.float32)
    assert pifa(x, sp.csr_matrix((shape[0], 2))).shape == (2, shape[1])
    assert pifa(x, sp.csr_matrix((shape[0], 0))).shape == (0, shape[1])
    assert pifa(np.zeros(shape), sp.csr_matrix((shape[0], 2))).shape == (2, shape[1])


@pytest.mark.parametrize(
    ("x", "y", "weights", "message"),
    [
        (np.zeros((2, 2)), sp.csr_matrix((3, 2)), None, "X has 2 rows and Y has 3"),
        (np.zeros((2, 2)), np.zeros((2, 2)), None, "Y must be a SciPy sparse matrix"),
        (np.full((2, 2), np.nan), sp.csr_matrix((2, 2)), None, "not finite"),
        (np.zeros((2, 2)), sp.csr_matrix((2, 2)), [1.0], "one number per row"),
        (np.zeros((2, 2)), sp.csr_matrix((2, 2)), [1.0, -1.0], "finite and >= 0"),
        (np.zeros((2, 2)), sp.csr_matrix((2, 2)), [1.0, np.inf], "finite and >= 0"),
        (np.zeros((2, 2)), sp.csr_matrix((2, 2)), ["a", "b"], "must be numbers"),
    ],
)
def test_pifa_errors(x, y, weights, message):
    with pytest.raises(DataError, match=message):
        pifa(x, y, weights=weights)


def test_pifa_threads_are_checked():
    with pytest.raises(ParameterError, match="threads"):
        pifa(np.zeros((2, 2)), sp.csr_matrix((2, 2)), threads=0)
