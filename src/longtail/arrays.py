"""Arrays as kernels want them: checked once, converted at most once.

Every matrix of features is float32, CSR with int32 column ids, sorted and without duplicates, all values finite; or a
C-contiguous float32 array. Every matrix of labels is such a CSR matrix. What is already so passes without a copy.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from . import _native
from .errors import DataError

__all__ = ["CSR", "Dense", "Features", "as_csr", "as_features", "as_sparse", "is_sparse"]

CSR: TypeAlias = Any  # scipy.sparse.csr_matrix or csr_array; SciPy has no types of its own
Dense: TypeAlias = npt.NDArray[np.float32]
Features: TypeAlias = Any  # CSR or Dense

_MAX_COLUMNS = 2**31 - 1


def is_sparse(x: Any) -> bool:
    """True for any SciPy sparse matrix or array."""
    return bool(sp.issparse(x))


def as_sparse(x: Features) -> CSR:
    """Features as CSR, however they were given."""
    return x if is_sparse(x) else sp.csr_matrix(x)


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
    csr = x if x.format == "csr" else _converted(x, name)
    if len(csr.indptr) and len(csr.indices) > csr.indptr[-1] >= 0:  # SciPy allows room behind the last entry
        nnz = int(csr.indptr[-1])
        csr = _rebuilt(csr, csr.indptr, csr.indices[:nnz], csr.data[:nnz])
    data = _as_float32(csr.data)
    indices = _as_int32(csr, name)
    indptr = np.ascontiguousarray(csr.indptr)
    flaws = _flaws(indptr, indices, data, csr.shape, name)
    if flaws & 4:
        _check_finite(data, name)
    if data is not csr.data or indices is not csr.indices or indptr is not csr.indptr:
        csr = _rebuilt(csr, indptr, indices, data)
    if flaws & 3:
        csr = csr.copy() if csr is x else csr
        csr.has_canonical_format = False
        csr.has_sorted_indices = False
        csr.sum_duplicates()
        _check_finite(csr.data, name)
    return csr


def _converted(x: Any, name: str) -> CSR:
    """CSR of another format. SciPy's conversions trust their input and would write anywhere: it is checked before."""
    if x.format in ("csc", "bsr"):
        dimensions = 1 if x.format == "csc" else 3
        if x.data.ndim != dimensions or (dimensions == 3 and 0 in x.data.shape[1:]):
            raise DataError(f"{name}: the {x.format} matrix has values of shape {x.data.shape}.")
        lines, across = (1, 0) if x.format == "csc" else (0, 1)
        block = x.blocksize if x.format == "bsr" else (1, 1)
        _check_compressed(x, x.shape[lines] // block[lines], x.shape[across] // block[across], name)
    elif x.format == "coo":
        for ids, size, what in zip((x.row, x.col), x.shape, ("row", "column"), strict=True):
            if len(ids) != len(x.data):
                raise DataError(f"{name} has {len(ids)} {what} ids, but {len(x.data)} values.")
            _check_ids(ids, size, f"{name} has {what}")
    try:
        return x.tocsr()
    except (ValueError, TypeError, IndexError, OverflowError) as error:
        raise DataError(f"{name} is not a sound {x.format} matrix: {error}.") from None


def _check_compressed(x: Any, n_lines: int, n_ids: int, name: str) -> None:
    """The parts of a CSC or BSR matrix of so many columns or block rows, whose ids are below n_ids."""
    starts = x.indptr
    if starts.dtype.kind not in "iu":
        raise DataError(
            f"{name}: the {x.format} matrix has an indptr of {starts.dtype}, expected whole numbers."
        )
    if len(starts) != n_lines + 1 or starts[0] != 0 or (starts[1:] < starts[:-1]).any():
        raise DataError(
            f"{name}: the indptr of the {x.format} matrix does not rise from 0 in {n_lines + 1} steps."
        )
    stored = min(len(x.indices), len(x.data))
    if starts[-1] > stored:
        raise DataError(
            f"{name}: the {x.format} matrix has {stored} entries, its indptr promises {starts[-1]}."
        )
    _check_ids(x.indices[: starts[-1]], n_ids, f"{name}: the {x.format} matrix has index")


def _check_ids(ids: npt.NDArray[Any], size: int, what: str) -> None:
    if ids.dtype.kind not in "iu":
        raise DataError(f"{what} numbers of {ids.dtype}, expected whole numbers.")
    if len(ids) and (ids.min() < 0 or ids.max() >= size):
        at = int(np.flatnonzero((ids < 0) | (ids >= size))[0])
        raise DataError(f"{what} {ids[at]}, expected 0 to {size - 1}.")


def _as_int32(csr: CSR, name: str) -> npt.NDArray[np.int32]:
    """Column ids, checked before they could wrap around."""
    ids = csr.indices
    if ids.dtype == np.int32:
        return np.ascontiguousarray(ids)
    if len(ids) and (ids.min() < 0 or ids.max() >= csr.shape[1]):
        at = int(np.flatnonzero((ids < 0) | (ids >= csr.shape[1]))[0])
        row = int(np.searchsorted(csr.indptr, at, side="right")) - 1
        raise DataError(f"{name} has column {ids[at]} in row {row}, expected 0 to {csr.shape[1] - 1}.")
    narrow: npt.NDArray[np.int32] = ids.astype(np.int32)
    return narrow


def _flaws(
    indptr: Any, indices: npt.NDArray[np.int32], data: npt.NDArray[np.float32], shape: Any, name: str
) -> int:
    if len(indptr) != shape[0] + 1:
        raise DataError(f"{name} has {len(indptr)} row pointers, expected {shape[0] + 1}.")
    try:
        return _native.csr_flaws(indptr, indices, data, shape[1])
    except (ValueError, TypeError) as error:
        raise DataError(f"{name}: {error}") from None


def _rebuilt(csr: CSR, indptr: Any, indices: npt.NDArray[np.int32], data: npt.NDArray[np.float32]) -> CSR:
    out = type(csr)(csr.shape, dtype=np.float32)
    out.data, out.indices, out.indptr = data, indices, indptr
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
    dense = _as_float32(array)
    _check_finite(dense, name)
    return dense


def _as_float32(values: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    # What is too large becomes infinite, and is refused as such.
    with np.errstate(over="ignore", under="ignore"):
        return np.ascontiguousarray(values, dtype=np.float32)


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
