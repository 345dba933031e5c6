"""How often a label is the first one that is wanted."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _native
from ..params import Choice, Either, Real, check
from ._csr import label_matrix
from .statistics import frequencies, row_weights

__all__ = ["head_frequencies"]

Floats = npt.NDArray[np.float64]


def head_frequencies(Y: Any, how: str | float = "marginal", weights: Any = None) -> Floats:
    """How much of the rows' weight each label answers for, when one right label per row is enough.

    Where two frequent labels always occur together, one of them near the root of a tree will do. So a row
    counts for one of its labels, its head:

    - ``"marginal"``: the label of the row that is most frequent over all.
    - ``"greedy"``: again and again the label that is most frequent among the rows left takes its rows, and they
      are removed.
    - a softness s in [0, 1]: the head as for "marginal", and every other label of the row gets s times the
      row's weight. 0 is "marginal", 1 the plain ``frequencies``.

    Ties go to the lower id. Rows without labels count for nothing.

    Args:
        Y: n × L labels; every entry that is not zero counts the same.
        how: see above.
        weights: how often each row is asked, one number >= 0 per row; 1 if None.

    >>> import scipy.sparse as sp
    >>> Y = sp.csr_matrix([[1, 1, 0], [1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 0, 1]])
    >>> head_frequencies(Y).tolist(), head_frequencies(Y, 0.5).tolist()
    ([3.0, 1.0, 1.0], [3.0, 2.0, 2.0])
    """
    check("head_frequencies", {"how": Either(Choice("marginal", "greedy"), Real(0, 1))}, {"how": how})
    y = label_matrix(Y)
    p = row_weights(weights, y.shape[0])
    if how == "greedy":
        # A power of two changes no digit, and sums stay finite.
        scale = 2.0 ** np.floor(np.log2(p.max())) if p.size and p.max() > 0 else 1.0
        heads: Floats = _native.labels.greedy_heads(y.indptr, y.indices, y.shape[1], p / scale) * scale
        return heads
    every = frequencies(y, p)
    heads = _marginal(y, p, every)
    return heads if isinstance(how, str) else heads + float(how) * (every - heads)


def _marginal(y: Any, p: Floats, f: Floats) -> Floats:
    heads = np.zeros(y.shape[1])
    rows = np.flatnonzero(np.diff(y.indptr))
    if len(rows) == 0:
        return heads
    by_rank = np.lexsort((np.arange(len(f)), -f))
    rank = np.empty(len(f), np.int64)
    rank[by_rank] = np.arange(len(f))
    first = by_rank[np.minimum.reduceat(rank[y.indices], y.indptr[rows])]
    heads += np.bincount(first, weights=p[rows], minlength=y.shape[1])
    return heads
