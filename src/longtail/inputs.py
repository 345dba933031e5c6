"""What a model is given: texts or features, and labels as a matrix or as lists of names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy.sparse as sp

from .arrays import CSR, as_features
from .errors import DataError

if TYPE_CHECKING:
    from .labels import LabelSet

__all__ = ["as_group_labels", "as_groups", "as_label_lists", "as_labels", "as_texts"]


def as_texts(x: Any) -> list[str] | None:
    """A list of strings if x is texts (a string, a list, an array or a column of them), else None."""
    if isinstance(x, str):
        return [x]
    if sp.issparse(x):
        return None
    if isinstance(x, np.ndarray):
        if x.dtype.kind == "U" and x.ndim == 1:
            return [str(text) for text in x]
        if x.dtype.kind != "O" or x.ndim != 1:
            return None
        x = x.tolist()
    elif not isinstance(x, list | tuple) and hasattr(x, "tolist"):  # a column of a data frame
        x = x.tolist()
    if isinstance(x, list | tuple) and len(x) and any(isinstance(text, str) for text in x[:8]):
        for row, text in enumerate(x):
            if not isinstance(text, str):
                raise DataError(f"X must hold texts only. Row {row} is a {type(text).__name__}.")
        return x if isinstance(x, list) else list(x)
    return None


def as_labels(
    y: Any, n_rows: int, names: Any = None, *, name: str = "Y", of: str = "X has {} rows"
) -> tuple[CSR, LabelSet | None]:
    """The label matrix of n rows (every stored entry is a label), and the names of its columns if there are any.

    Errors call it `name`, and say where the number of rows comes from with `of`.
    """
    from .labels import LabelSet, encode
    from .labels._csr import label_matrix

    labels = names if names is None or isinstance(names, LabelSet) else LabelSet(names)
    if sp.issparse(y):
        matrix = label_matrix(y, name)
    elif isinstance(y, np.ndarray) and y.ndim == 2:
        if y.dtype.kind not in "fiub":
            raise DataError(f"{name} must hold numbers. Got dtype {y.dtype} instead.")
        matrix = label_matrix(sp.csr_matrix(as_features(y, name)), name)
    elif isinstance(y, list | tuple) or hasattr(y, "tolist"):
        rows = y if isinstance(y, list | tuple) else y.tolist()
        if not isinstance(rows, list | tuple):
            raise DataError(f"{name} must be a list of lists of label names. Got {type(y).__name__} instead.")
        if any(isinstance(row, str) for row in rows):
            rows = [[row] if isinstance(row, str) else row for row in rows]  # one label per row, unwrapped
        by_name = _has_names(rows)
        matrix, found = encode(rows, labels)
        labels = found if by_name or labels is not None else None
    else:
        raise DataError(
            f"{name} must be a SciPy sparse matrix, a 0/1 array or a list of lists of label names. "
            f"Got {type(y).__name__} instead."
        )
    if matrix.shape[0] != n_rows:
        raise DataError(f"{of.format(n_rows)} and {name} has {matrix.shape[0]} rows; they must be the same.")
    if matrix.shape[1] == 0:
        raise DataError(f"{name} has no labels (columns).")
    if matrix.nnz and matrix.data.min() < 0:
        raise DataError(f"{name} has negative values; a label is a value above 0.")
    if labels is not None and len(labels) != matrix.shape[1]:
        raise DataError(f"{name} has {matrix.shape[1]} columns and there are {len(labels)} label names.")
    return matrix, labels


def as_groups(groups: Any, n_rows: int | None = None, group_labels: Any = None) -> CSR:
    """Which groups each sample is in: samples × groups, from such a matrix or from one group number per sample.

    Numbers do not tell of groups without samples that come last; their labels do.
    """
    from .labels._csr import label_matrix, make_csr

    if sp.issparse(groups):
        matrix = label_matrix(groups, "groups")
    else:
        ids = np.asarray(groups)
        if ids.ndim != 1 or (ids.dtype.kind not in "iu" and ids.size):
            raise DataError(
                "groups must be a SciPy sparse matrix (samples × groups) or one whole number per sample."
            )
        ids = ids.astype(np.int64)
        if ids.size and not 0 <= ids.min() <= ids.max() < 2**31 - 1:
            raise DataError(f"groups must have numbers from 0 to 2^31 - 2. Got {ids.min()} to {ids.max()}.")
        n_groups = max(int(ids.max(initial=-1)) + 1, _length(group_labels))
        ones = np.ones(len(ids), np.float32)
        matrix = make_csr(np.arange(len(ids) + 1), ids.astype(np.int32), ones, n_groups)
    if n_rows is not None and matrix.shape[0] != n_rows:
        raise DataError(f"X has {n_rows} rows and groups has {matrix.shape[0]}; they must be the same.")
    if matrix.nnz and matrix.data.min() < 0:
        raise DataError("groups has negative values; a sample is in a group or it is not.")
    return matrix


def as_group_labels(labels: Any, n_groups: int, names: Any = None) -> tuple[CSR, LabelSet | None]:
    """How often each group has a label (groups × labels, whole numbers), and the names of the columns if any."""
    matrix, known = as_labels(labels, n_groups, names, name="group_labels", of="there are {} groups")
    if not sp.issparse(labels) and not isinstance(labels, np.ndarray):
        _count_repeats(matrix, labels, {} if known is None else known.index)
    if matrix.nnz and (matrix.data != np.floor(matrix.data)).any():
        raise DataError(
            "group_labels must be counts: how often a group has a label. Got a value that is not whole."
        )
    if matrix.nnz and matrix.data.max() >= 2**31:
        raise DataError("group_labels has counts of 2^31 or more.")
    return matrix, known


def _length(labels: Any) -> int:
    """The number of rows of what may be a matrix or a list."""
    if hasattr(labels, "shape") and len(labels.shape):
        return int(labels.shape[0])
    return len(labels) if isinstance(labels, list | tuple) else 0


def _count_repeats(matrix: CSR, lists: Any, index: dict[str, int]) -> None:
    """Sets how often each label occurs in each list."""
    rows = [[row] if isinstance(row, str) else list(row) for row in lists]
    for i, row in enumerate(rows):
        if len(row) > matrix.indptr[i + 1] - matrix.indptr[i]:
            ids = [index[item] if isinstance(item, str) else int(item) for item in row]
            _, counts = np.unique(ids, return_counts=True)
            matrix.data[matrix.indptr[i] : matrix.indptr[i + 1]] = counts


def as_label_lists(value: Any, name: str, n_rows: int, n_labels: int, labels: LabelSet | None) -> Any:
    """Labels that queries allow or forbid, as (indptr, indices): one row for all queries, or one for each.

    Takes a list of names or ids (for all queries), a list of such lists, or a sparse matrix with a row per query.
    """
    if value is None:
        return None, None
    from .labels import encode
    from .labels._csr import label_matrix

    if sp.issparse(value):
        matrix = label_matrix(value, name)
        if matrix.shape[1] != n_labels:
            raise DataError(
                f"{name} has {matrix.shape[1]} columns, expected one for each of the {n_labels} labels."
            )
    else:
        if isinstance(value, np.ndarray):
            value = value.tolist()
        if isinstance(value, str | int | np.integer):
            value = [value]
        if not isinstance(value, Iterable):
            raise DataError(
                f"{name} must be labels: a list, or a list of lists. Got {type(value).__name__} instead."
            )
        rows = list(value)
        if not rows or isinstance(rows[0], str | int | np.integer):
            rows = [rows]
        if labels is None and _has_names(rows):
            raise DataError(f"{name} has label names, but the model was trained without names. Use ids.")
        known: Any = _Ids(n_labels) if labels is None else labels
        try:
            matrix, _ = encode(rows, known)
        except DataError as error:
            raise DataError(f"{name}: {error}") from None
    if matrix.shape[0] not in (1, n_rows):
        raise DataError(
            f"{name} must have one list for all queries, or one for each of the {n_rows}. Got {matrix.shape[0]} lists."
        )
    return matrix.indptr, matrix.indices


def _has_names(rows: Any) -> bool:
    """Whether label lists hold names. A row that is no list is left for ``encode`` to complain about."""
    return any(isinstance(item, str) for row in rows if isinstance(row, Iterable) for item in row)


class _Ids:
    """Stands for n nameless labels."""

    index: ClassVar[dict[str, int]] = {}

    def __init__(self, n: int):
        self.n = n

    def __len__(self) -> int:
        return self.n
