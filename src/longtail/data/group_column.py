"""A column that says which group a row is in: for tables, Parquet and JSON lines."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..arrays import CSR
from ..errors import DataError
from .chunk import SparseRows, join_sparse
from .groups import Groups

__all__ = ["GroupColumn", "group_names_of", "groups_of_rows", "labels_by_row"]


class GroupColumn:
    """Names of groups to numbers, in order of first appearance. An empty name means no group."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}

    @property
    def names(self) -> list[str]:
        """All names so far."""
        return list(self._ids)

    def rows(self, names: list[str]) -> SparseRows:
        """The group of each row."""
        ids = self._ids
        found = [ids.setdefault(name, len(ids)) for name in names if name]
        counts = np.fromiter((1 if name else 0 for name in names), np.int32, len(names))
        return SparseRows(counts, np.array(found, np.int32), np.zeros(0, np.float32))


def groups_of_rows(pieces: list[SparseRows], y: CSR | None, names: list[str]) -> Groups:
    """Groups from rows that each name theirs; a group has the labels that some row of it has, once."""
    samples = join_sparse(pieces, len(names))
    if y is None:
        raise DataError("rows name their groups, but none has labels.")
    labels = (samples.T @ y).tocsr()
    labels.sort_indices()
    labels.data[:] = 1
    return Groups(samples, labels, names)


def labels_by_row(groups: Groups, path: Any) -> CSR:
    """For writing: the labels of each row's group."""
    if (np.diff(groups.samples.indptr) > 1).any():
        raise DataError("a column holds one group per row; npz holds rows in several groups.", path=path)
    y = sp.csr_matrix(groups.samples @ groups.labels)
    y.sort_indices()
    y.data[:] = 1
    return y


def group_names_of(rows: SparseRows, groups: Groups | None) -> list[str]:
    """For writing: the name of each row's group, its number if it has none, "" for no group."""
    assert groups is not None
    ids = iter(rows.ids.tolist())
    names = groups.names
    own = ((str(i) if names is None else names[i]) for i in ids)
    return [next(own) if count else "" for count in rows.counts.tolist()]
