"""Arrays as kernels want them: checked once, converted at most once.

Every matrix of features is float32, CSR with int32 column ids, sorted and without duplicates, all values finite; or a
C-contiguous float32 array. Every matrix of labels is such a CSR matrix. What is already so passes without a copy.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .errors import DataError

__all__ = ["CSR", "Dense", "Features", "as_csr", "as_features", "is_sparse"]

CSR: TypeAlias = Any  # scipy.sparse.csr_matrix or csr_array; SciPy has no types of its own
Dense: TypeAlias = npt.NDArray[np.float32]
Features: TypeAlias = Any  # CSR or Dense

_MAX_COLUMNS = 2**31 - 1


def is_sparse(x: Any) -> bool:
    """True for any SciPy sparse matrix or array."""
    return bool(sp.issparse(x))


def as_csr(x: Any, name: str, *, n_cols: int | None = None) -> CSR:
    """A SciPy sparse matrix as checked float32 CSR with int32 column ids. `name` is what errors call it.

    The input is never changed: a matrix that has to be sorted or converted is copied first.
    """
    if not sp.issparse(x):
        raise DataError(f"{name} must be a SciPy sparse matrix. Got {type(x).__name__} instead.")
    if x.ndim != 2:
        raise DataError(f"{name} must have two dimensions. Got {x.ndim} instead.")
    if x.shape[1] > _MAX_COLUMNS:
        raise DataError(f"{name} has {x.shape[1]} columns, at most {_MAX_COLUMNS} are supported.")
    if n_cols is not None and x.shape[1] != n_cols:
        raise DataError(f"{name} has {x.shape[1]} columns, expected {n_cols}.")
    kind = np.dtype(x.dtype).kind
    if kind not in "fiub":
        raise DataError(f"{name} must hold numbers. Got dtype {x.dtype} instead.")
    csr = x if x.format == "csr" else x.tocsr()
    _check_structure(csr, name)
    if not csr.has_canonical_format:
        csr = csr.copy() if csr is x else csr
        csr.sum_duplicates()
    data = np.ascontiguousarray(csr.data, dtype=np.float32)
    indices = np.ascontiguousarray(csr.indices, dtype=np.int32)
    _check_finite(data, name)
    if data is csr.data and indices is csr.indices:
        return csr
    indptr = csr.indptr
    out = type(csr)((csr.shape[0], csr.shape[1]), dtype=np.float32)
    out.data, out.indices, out.indptr = data, indices, indptr
    out.has_canonical_format = True
    return out


def as_features(x: Any, name: str = "X", *, n_cols: int | None = None) -> Features:
    """Features as checked CSR or as a checked, contiguous float32 array."""
    if sp.issparse(x):
        return as_csr(x, name, n_cols=n_cols)
    try:
        array = np.asarray(x)
    except ValueError as error:
        raise DataError(f"{name} must be a matrix of numbers: {error}.") from None
    if array.ndim != 2:
        raise DataError(f"{name} must have two dimensions (rows, features). Got {array.ndim} instead.")
    if array.dtype.kind not in "fiub":
        raise DataError(f"{name} must hold numbers. Got dtype {array.dtype} instead.")
    if n_cols is not None and array.shape[1] != n_cols:
        raise DataError(f"{name} has {array.shape[1]} columns, expected {n_cols}.")
    dense = np.ascontiguousarray(array, dtype=np.float32)
    _check_finite(dense, name)
    return dense


def _check_structure(csr: CSR, name: str) -> None:
    """What SciPy does not check of arrays that were put together by hand."""
    indptr, indices = csr.indptr, csr.indices
    if len(indptr) != csr.shape[0] + 1 or indptr[0] != 0 or indptr[-1] > len(indices):
        raise DataError(f"{name} has row pointers that do not fit its {csr.shape[0]} rows and {len(indices)} entries.")
    if len(indices) != len(csr.data) or indptr[-1] != len(indices):
        raise DataError(f"{name} has {len(indices)} column ids, {len(csr.data)} values and row pointers to {indptr[-1]}.")
    if np.any(indptr[1:] < indptr[:-1]):
        row = int(np.flatnonzero(indptr[1:] < indptr[:-1])[0])
        raise DataError(f"{name} has row pointers that fall at row {row}.")
    if len(indices) and (indices.min() < 0 or indices.max() >= csr.shape[1]):
        at = int(np.flatnonzero((indices < 0) | (indices >= csr.shape[1]))[0])
        row = int(np.searchsorted(indptr, at, side="right")) - 1
        raise DataError(f"{name} has column {indices[at]} in row {row}, expected 0 to {csr.shape[1] - 1}.")


def _check_finite(values: npt.NDArray[np.float32], name: str) -> None:
    # A sum is finite when all values are, at the price of one pass; only a suspicious sum is looked at closely.
    with np.errstate(over="ignore", invalid="ignore"):
        total = values.sum(dtype=np.float64) if values.size else 0.0
    if np.isfinite(total):
        return
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        where = "entry " + ", ".join(map(str, bad[0].tolist()))
        raise DataError(f"{name} has a value that is not finite ({values[tuple(bad[0])]}) at {where}.")
