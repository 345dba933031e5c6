"""Rows of features brought to one length, so that long documents do not outweigh short ones."""

from __future__ import annotations

from .. import _native
from ..arrays import Features, is_sparse

__all__ = ["unit_rows"]


def unit_rows(x: Features, threads: int) -> Features:
    """Checked features with every row at length 1; ``x`` itself if they are so already. Rows of zeros stay.

    A row that is within 1e-5 of length 1 is left alone, whatever the other rows are: what comes from a
    ``TextVectorizer`` is not copied, and a row is the same alone and in a batch.
    """
    if not is_sparse(x):
        values = _native.linear.unit_rows(None, None, x, x.shape[1], threads)
        return x if values is None else values
    values = _native.linear.unit_rows(x.indptr, x.indices, x.data, x.shape[1], threads)
    if values is None:
        return x
    unit = type(x)(x.shape, dtype=values.dtype)
    unit.data, unit.indices, unit.indptr = values, x.indices, x.indptr
    return unit
