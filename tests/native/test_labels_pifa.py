"""PIFA kernels against plain NumPy in double."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from longtail import _native

LEVELS = ["portable", "avx2", "avx512"]


def plain_pifa(x, y, weights=None):
    """The definition, dense, in double."""
    x = np.asarray(x, dtype=np.float64)
    norms = np.linalg.norm(x, axis=1, keepdims=True)
    x = np.divide(x, norms, out=np.zeros_like(x), where=norms > 0)
    if weights is not None:
        x = x * np.asarray(weights, dtype=np.float64)[:, None]
    e = (np.asarray(y) != 0).T.astype(np.float64) @ x
    norms = np.linalg.norm(e, axis=1, keepdims=True)
    return np.divide(e, norms, out=np.zeros_like(e), where=norms > 0)


def example(n=200, d=5000, n_labels=60, seed=0):
    r = np.random.default_rng(seed)
    x = sp.random(n, d, density=0.01, format="csr", random_state=seed, dtype=np.float32)
    x.data = r.standard_normal(x.nnz).astype(np.float32)
    y = sp.csr_matrix((r.random((n, n_labels)) < 0.05).astype(np.float32))
    return x, y, r.random(n).astype(np.float32)


def csr_kernel(x, y, weights=None, threads=1):
    indptr, indices, data = _native.labels.pifa_csr(
        x.indptr, x.indices, x.data, x.shape[1], y.indptr, y.indices, y.shape[1], weights, threads, None
    )
    return sp.csr_matrix((data, indices, indptr), shape=(y.shape[1], x.shape[1]))


@pytest.mark.parametrize("weighted", [False, True])
def test_sparse_and_dense_equal_the_definition(weighted):
    x, y, weights = example()
    weights = weights if weighted else None
    truth = plain_pifa(x.toarray(), y.toarray(), weights)
    sparse = csr_kernel(x, y, weights)
    np.testing.assert_allclose(sparse.toarray(), truth, atol=1e-7)
    assert sparse.nnz == np.count_nonzero(truth)
    dense = _native.labels.pifa_dense(x.toarray(), y.indptr, y.indices, y.shape[1], weights, 1, None)
    np.testing.assert_allclose(dense, truth, atol=1e-7)


def test_ids_rise_within_rows():
    x, y, _ = example()
    e = csr_kernel(x, y)
    for i in range(e.shape[0]):
        ids = e.indices[e.indptr[i] : e.indptr[i + 1]]
        assert np.all(np.diff(ids) > 0)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_same_bits_for_any_threads_and_level(level, threads, monkeypatch):
    x, y, weights = example(n=400, n_labels=9000)
    truth = csr_kernel(x, y, weights)
    monkeypatch.setenv("LONGTAIL_ISA", level)
    e = csr_kernel(x, y, weights, threads)
    for name in ("indptr", "indices", "data"):
        assert getattr(e, name).tobytes() == getattr(truth, name).tobytes()
    dense = [
        _native.labels.pifa_dense(
            x[:, :50].toarray(), y.indptr, y.indices, y.shape[1], weights, t, None
        ).tobytes()
        for t in (1, threads)
    ]
    assert dense[0] == dense[1]


def test_empty_rows_empty_labels_and_cancelling_sums():
    x = sp.csr_matrix(np.array([[1, 0, 0], [0, 0, 0], [-1, 0, 0], [0, 3, 4]], np.float32))
    y = sp.csr_matrix(np.array([[1, 0, 0, 0], [0, 0, 1, 0], [1, 0, 0, 0], [0, 0, 0, 1]], np.float32))
    e = csr_kernel(x, y)
    assert np.diff(e.indptr).tolist() == [0, 0, 0, 2]
    np.testing.assert_allclose(e[3].toarray()[0], [0, 0.6, 0.8], rtol=1e-6)


@pytest.mark.parametrize("scale", [1e-38, 1e38])
def test_extreme_values_stay_finite(scale):
    x = sp.csr_matrix(np.array([[scale, scale], [scale, 0]], np.float32))
    y = sp.csr_matrix(np.ones((2, 1), np.float32))
    np.testing.assert_allclose(csr_kernel(x, y).toarray(), plain_pifa(x.toarray(), y.toarray()), rtol=1e-5)


def test_refuses_what_does_not_fit():
    x, y, _ = example()
    with pytest.raises(ValueError, match="differ in rows"):
        csr_kernel(x[:10], y)
    with pytest.raises(ValueError, match="one weight per row"):
        csr_kernel(x, y, np.ones(3, np.float32))
    with pytest.raises(ValueError, match="differ in rows"):
        _native.labels.pifa_dense(
            np.zeros((3, 2), np.float32), y.indptr, y.indices, y.shape[1], None, 1, None
        )
