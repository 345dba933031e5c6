"""PIFA: a label lies where the rows that carry it lie."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _native
from ..arrays import Features, as_features, is_sparse
from ..errors import DataError
from ..progress import phase
from ..threads import resolve_threads
from ._csr import label_matrix, make_csr

__all__ = ["pifa"]


def pifa(X: Any, Y: Any, threads: int | None = None, weights: Any = None) -> Features:
    """Label embeddings by positive instance feature aggregation.

    The embedding of a label is the sum of the L2-normalised rows of X that carry it, then L2-normalised.
    Exact and the same bits for any number of threads. A label that no row carries has an empty embedding.

    Args:
        X: n × D features, sparse or dense.
        Y: n × L labels; every entry that is not zero counts the same.
        threads: None for all cores.
        weights: one number >= 0 per row, which its normalised features are multiplied with.

    Returns:
        L × D: float32 CSR with sorted ids for sparse X, a float32 array for dense X.

    >>> import numpy as np, scipy.sparse as sp
    >>> pifa(np.array([[2.0, 0.0], [0.0, 1.0]]), sp.csr_matrix([[1, 1, 0], [0, 1, 0]])).round(2).tolist()
    [[1.0, 0.0], [0.7099999785423279, 0.7099999785423279], [0.0, 0.0]]
    """
    x, y = as_features(X), label_matrix(Y)
    if x.shape[0] != y.shape[0]:
        raise DataError(f"X has {x.shape[0]} rows and Y has {y.shape[0]}; they must be the same.")
    team = resolve_threads(threads)
    w = None if weights is None else _checked_weights(weights, x.shape[0])
    n_labels = y.shape[1]
    with phase("embed labels", total=n_labels, unit="labels") as update:
        if not is_sparse(x):
            return _native.labels.pifa_dense(x, y.indptr, y.indices, n_labels, w, team, update)
        indptr, indices, data = _native.labels.pifa_csr(
            x.indptr, x.indices, x.data, x.shape[1], y.indptr, y.indices, n_labels, w, team, update
        )
    return make_csr(indptr, indices, data, x.shape[1])


def _checked_weights(weights: Any, n_rows: int) -> Any:
    try:
        w = np.ascontiguousarray(weights, dtype=np.float32)
    except (TypeError, ValueError):
        raise DataError(f"weights must be numbers. Got {type(weights).__name__} instead.") from None
    if w.shape != (n_rows,):
        raise DataError(f"weights must be one number per row of X ({n_rows}). Got shape {w.shape} instead.")
    if not np.all(np.isfinite(w)) or np.any(w < 0):
        raise DataError("weights must be finite and >= 0.")
    return w
