"""What the measures take, in the shape that the kernel takes: lists, truth, excluded labels, training
frequencies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .. import _native
from ..arrays import CSR, as_csr
from ..errors import DataError, ParameterError
from ..ranking import Ranking

__all__ = ["Pattern", "check_ks", "excluded", "lists", "train_frequencies", "truth"]

MAX_K = 2**20


@dataclass(frozen=True)
class Pattern:
    """The labels of each row: where a sparse matrix has entries other than 0."""

    indptr: npt.NDArray[np.int64]
    indices: npt.NDArray[np.int32]
    n_labels: int

    @property
    def n_rows(self) -> int:
        return len(self.indptr) - 1

    def only(self, labels: npt.NDArray[np.bool_]) -> Pattern:
        """With the labels of a mask only."""
        kept = labels[self.indices]
        before = np.concatenate([[0], np.cumsum(kept)])
        return Pattern(before[self.indptr], self.indices[kept], self.n_labels)

    def widened(self, n_labels: int) -> Pattern:
        """With room for more labels."""
        return Pattern(self.indptr, self.indices, max(self.n_labels, n_labels))


def check_ks(k: Any, owner: str = "evaluate") -> tuple[int, ...]:
    """The different k in rising order."""
    ks = (k,) if isinstance(k, int | np.integer) else k
    ok = isinstance(ks, Sequence | np.ndarray | range | set) and len(ks) > 0
    if not ok or not all(
        isinstance(n, int | np.integer) and not isinstance(n, bool) and 1 <= n <= MAX_K for n in ks
    ):
        raise ParameterError(
            f"The 'k' parameter of {owner} must be a whole number in [1, {MAX_K}] or a list of them. "
            f"Got {k!r} instead."
        )
    return tuple(sorted({int(n) for n in ks}))


def truth(Y: Any, names: Any = None) -> Pattern:
    """The true labels: a sparse or dense n×L matrix, or a list of the labels (ids, or names) of each row.

    A name that the label set has not is a true label that cannot be predicted: it still counts in recall.
    """
    if sp.issparse(Y):
        return _pattern(as_csr(Y, "Y_true"))
    if isinstance(Y, np.ndarray) and Y.dtype.kind in "fiub":
        if Y.ndim != 2:
            raise DataError(f"Y_true must have two dimensions (rows, labels). Got {Y.ndim} instead.")
        if not Y.dtype.isnative or Y.dtype == np.float16:
            Y = Y.astype(np.float64)  # SciPy takes neither of them
        return _pattern(as_csr(sp.csr_matrix(Y), "Y_true"))
    if isinstance(Y, Sequence) and not isinstance(Y, str):
        return _of_lists(Y, names)
    raise DataError(
        "Y_true must be a sparse matrix, an array of numbers or a list of lists of labels. "
        f"Got {type(Y).__name__} instead."
    )


def excluded(exclude: Any, like: Pattern) -> Pattern | None:
    """The labels that are taken out of each row, or None."""
    if exclude is None:
        return None
    if not sp.issparse(exclude):
        raise DataError(f"exclude must be a SciPy sparse matrix. Got {type(exclude).__name__} instead.")
    matrix = as_csr(exclude, "exclude")
    if matrix.shape[0] != like.n_rows or matrix.shape[1] > like.n_labels:
        raise DataError(
            f"exclude has shape {matrix.shape}, expected {(like.n_rows, like.n_labels)} as Y_true."
        )
    return _pattern(matrix).widened(like.n_labels)


def lists(r: Any, true: Pattern, out: Pattern | None, max_k: int, threads: int) -> npt.NDArray[np.int32]:
    """The labels of each row, best first, -1 pads at the end."""
    if isinstance(r, Ranking):
        labels, complete = np.ascontiguousarray(r.labels), False
    elif sp.issparse(r):
        width = max_k + (0 if out is None else int(np.diff(out.indptr).max(initial=0)))
        labels, complete = Ranking.from_csr(r, max(1, min(width, r.shape[1])), threads=threads).labels, True
    elif isinstance(r, np.ndarray) and r.ndim == 2 and r.dtype.kind in "iu":
        labels, complete = np.ascontiguousarray(r, np.int32), False
        if not np.array_equal(labels, r):
            raise DataError("The ranking has ids that do not fit in 32 bits.")
    else:
        got = f"an array of {r.dtype}, {r.ndim} dimensions" if isinstance(r, np.ndarray) else type(r).__name__
        raise DataError(
            "The ranking must be a Ranking, an n×k array of label ids or a sparse score matrix. "
            f"Got {got} instead."
        )
    if len(labels) != true.n_rows:
        raise DataError(f"The ranking has {len(labels)} rows, Y_true has {true.n_rows}.")
    if not complete and labels.shape[1] < min(max_k, true.n_labels):
        raise ParameterError(
            f"k = {max_k} needs lists of {max_k} labels, but the ranking has {labels.shape[1]} per row. "
            "Predict more, or ask for a smaller k."
        )
    _check_labels(labels, true.n_labels, threads)
    return labels


def train_frequencies(train: Any, n_labels: int) -> tuple[npt.NDArray[np.float64], int] | None:
    """(how many training rows carry each label, how many rows there are) of a training matrix or of such a
    pair."""
    if train is None:
        return None
    if sp.issparse(train):
        pattern = _pattern(as_csr(train, "train"))
        counts: Any = np.bincount(pattern.indices, minlength=pattern.n_labels)
        n_rows: Any = pattern.n_rows
    elif isinstance(train, tuple) and len(train) == 2:
        counts, n_rows = np.asarray(train[0]), train[1]
    else:
        raise DataError(
            "train must be the sparse label matrix of the training rows, or a pair (frequencies, number of "
            f"rows). Got {type(train).__name__} instead."
        )
    if isinstance(n_rows, bool) or not isinstance(n_rows, int | np.integer) or n_rows < 1:
        raise DataError(f"train must have at least one row. Got {n_rows!r} instead.")
    if counts.ndim != 1 or counts.dtype.kind not in "iuf" or len(counts) > n_labels:
        raise DataError(
            f"train has {np.shape(counts)} label frequencies, expected {n_labels} as Y_true has labels."
        )
    counts = counts.astype(np.float64)
    if not np.all((counts >= 0) & (counts <= n_rows)):
        raise DataError(f"train has label frequencies that are not in [0, {n_rows}], the number of its rows.")
    return np.pad(counts, (0, n_labels - len(counts))), int(n_rows)


def _pattern(matrix: CSR) -> Pattern:
    if np.any(matrix.data == 0):
        matrix = matrix.copy()
        matrix.eliminate_zeros()
    if not matrix.has_sorted_indices:
        matrix = matrix.sorted_indices()
    return Pattern(matrix.indptr.astype(np.int64, copy=False), matrix.indices, int(matrix.shape[1]))


def _of_lists(rows: Sequence[Any], names: Any) -> Pattern:
    index: dict[str, int] = {}
    if names is not None:
        known: Mapping[str, int] | None = getattr(names, "index", None)
        index = dict(known) if isinstance(known, Mapping) else {name: i for i, name in enumerate(names)}
    ids: list[list[int]] = []
    for at, row in enumerate(rows):
        if isinstance(row, str) or not isinstance(row, Sequence | np.ndarray | set | frozenset):
            raise DataError(
                f"Y_true must be a list of lists of labels. Got {type(row).__name__} in row {at}."
            )
        ids.append(sorted({_id(label, index, names is not None, at) for label in row}))
    indptr = np.zeros(len(ids) + 1, np.int64)
    np.cumsum([len(row) for row in ids], out=indptr[1:])
    flat = np.fromiter((i for row in ids for i in row), np.int32, int(indptr[-1]))
    least = len(index) if names is not None else 0
    return Pattern(indptr, flat, max(least, int(flat.max(initial=-1)) + 1))


def _id(label: Any, index: dict[str, int], named: bool, row: int) -> int:
    if isinstance(label, str):
        if not named:
            raise DataError(
                f"Y_true has the name {label[:80]!r} in row {row}, but the ranking has no label names."
            )
        return index.setdefault(label, len(index))
    if isinstance(label, bool) or not isinstance(label, int | np.integer) or not 0 <= label < 2**31 - 1:
        raise DataError(f"Y_true has the label {label!r} in row {row}, expected a name or an id from 0.")
    return int(label)


def _check_labels(labels: npt.NDArray[np.int32], n_labels: int, threads: int) -> None:
    fault, row, column = _native.metrics.check_lists(labels, None, n_labels, threads)
    if not fault:
        return
    what = {
        2: f"but Y_true has {n_labels} labels",
        3: "after a pad (-1), which belongs at the end of a row",
        7: "which is there already",
    }.get(fault, "expected -1 (no label) or an id from 0")
    raise DataError(f"The ranking has at row {row}, place {column} the label {labels[row, column]}, {what}.")
