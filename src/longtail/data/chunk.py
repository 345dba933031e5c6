"""Rows on their way: readers yield chunks, writers take them, and a data set is chunks put together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ..arrays import CSR

__all__ = ["Chunk", "SparseRows", "chunks_of_csr", "join_sparse"]

Ints = npt.NDArray[np.int32]


@dataclass
class SparseRows:
    """Sparse rows without a number of columns: entries per row, column ids (rising in each row), values.

    `values` is empty when all of them are one.
    """

    counts: Ints
    ids: Ints
    values: npt.NDArray[np.float32]

    def indptr(self) -> npt.NDArray[np.int64]:
        """Row pointers from 0."""
        out = np.zeros(len(self.counts) + 1, dtype=np.int64)
        np.cumsum(self.counts, out=out[1:])
        return out

    def filled(self) -> npt.NDArray[np.float32]:
        """The values, written out when all are one."""
        return self.values if len(self.values) else np.ones(len(self.ids), dtype=np.float32)

    def part(self, begin: int, end: int) -> SparseRows:
        """Rows [begin, end)."""
        low = int(self.counts[:begin].sum(dtype=np.int64))
        high = low + int(self.counts[begin:end].sum(dtype=np.int64))
        return SparseRows(self.counts[begin:end], self.ids[low:high], self.values[low:high])

    @classmethod
    def empty(cls, n_rows: int) -> SparseRows:
        """Rows without entries."""
        return cls(np.zeros(n_rows, np.int32), np.zeros(0, np.int32), np.zeros(0, np.float32))

    @classmethod
    def of_csr(cls, matrix: CSR, begin: int = 0, end: int | None = None) -> SparseRows:
        """Rows [begin, end) of a checked CSR matrix, without copying entries."""
        end = matrix.shape[0] if end is None else end
        indptr = matrix.indptr[begin : end + 1]
        counts = np.diff(indptr).astype(np.int32)
        low, high = int(indptr[0]), int(indptr[-1])
        return cls(counts, matrix.indices[low:high], matrix.data[low:high])


@dataclass
class Chunk:
    """Some rows. Parts that the source does not have are None."""

    n_rows: int
    texts: list[str] | None = None
    x: SparseRows | None = None
    y: SparseRows | None = None
    groups: SparseRows | None = None  # which groups each row is in


def join_sparse(pieces: list[SparseRows], n_cols: int) -> CSR:
    """One CSR matrix of all rows. Empties the list, so that pieces go as they are copied."""
    counts = np.concatenate([p.counts for p in pieces]) if pieces else np.zeros(0, np.int32)
    indptr = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=indptr[1:])
    nnz = int(indptr[-1])
    ids = np.empty(nnz, dtype=np.int32)
    values = np.empty(nnz, dtype=np.float32)
    at = 0
    pieces.reverse()
    while pieces:
        piece = pieces.pop()
        end = at + len(piece.ids)
        ids[at:end] = piece.ids
        values[at:end] = piece.values if len(piece.values) else 1.0
        at = end
    out: Any = sp.csr_matrix((len(counts), n_cols), dtype=np.float32)
    # Set, not passed to the constructor, which would widen the column ids together with long row pointers.
    out.indptr = indptr.astype(np.int32) if nnz < 2**31 else indptr
    out.indices, out.data = ids, values
    out.has_sorted_indices = True
    out.has_canonical_format = True
    return out


def chunks_of_csr(
    n_rows: int,
    texts: list[str] | None,
    x: CSR | None,
    y: CSR | None,
    rows_per_chunk: int,
    groups: CSR | None = None,
) -> Iterator[Chunk]:
    """Cuts matrices and texts into chunks of some rows; at least one chunk, even of no rows."""
    for begin in range(0, max(n_rows, 1), rows_per_chunk):
        end = min(n_rows, begin + rows_per_chunk)
        yield Chunk(
            end - begin,
            None if texts is None else texts[begin:end],
            None if x is None else SparseRows.of_csr(x, begin, end),
            None if y is None else SparseRows.of_csr(y, begin, end),
            None if groups is None else SparseRows.of_csr(groups, begin, end),
        )
