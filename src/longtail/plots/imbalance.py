"""How few labels answer how many rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import DataError, ParameterError
from .canvas import COLORS, INK, axes_for, legend_below

__all__ = ["label_imbalance", "touched_shares"]

Floats = npt.NDArray[np.float64]


def touched_shares(Y: Any, need: int | None = 1) -> Floats:
    """The share of rows answered by the most frequent 0, 1, 2, …, L labels.

    Args:
        Y: n × L labels.
        need: how many of its labels a row needs to be answered (all, if it has fewer); None for all of them.

    Rows without labels are left out.

    >>> import scipy.sparse as sp
    >>> Y = sp.csr_matrix([[1, 1, 0], [1, 0, 0], [1, 0, 1], [0, 1, 0]])
    >>> touched_shares(Y).tolist(), touched_shares(Y, need=None).tolist()
    ([0.0, 0.75, 1.0, 1.0], [0.0, 0.25, 0.75, 1.0])
    """
    from ..labels import frequencies
    from ..labels._csr import label_matrix

    if need is not None and (isinstance(need, bool) or not isinstance(need, int | np.integer) or need < 1):
        raise ParameterError(
            f"The 'need' parameter of touched_shares must be None or a whole number >= 1. Got {need!r} instead."
        )
    y = label_matrix(Y)
    rows = np.flatnonzero(np.diff(y.indptr))
    if not len(rows):
        raise DataError("Y has no labels.")
    f = frequencies(y)
    rank = np.empty(len(f), np.int64)
    rank[np.lexsort((np.arange(len(f)), -f))] = np.arange(len(f))
    # The ranks of each row's labels in rising order, side by side: the need-th says when the row is answered.
    counts = np.diff(y.indptr)
    order = np.lexsort((rank[y.indices], np.repeat(np.arange(y.shape[0]), counts)))
    ranks = rank[y.indices][order]
    last = counts[rows] if need is None else np.minimum(counts[rows], need)
    answered = ranks[y.indptr[rows] + last - 1]
    shares: Floats = np.cumsum(np.bincount(answered + 1, minlength=len(f) + 1)) / len(rows)
    return shares


def label_imbalance(
    Y: Any,
    needs: Sequence[int | None] = (1, 3, None),
    *,
    log: bool = True,
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """A curve for each need: the share of rows that the most frequent x % of the labels answer.

    Args:
        Y: n × L labels.
        needs: how many of its labels a row needs; None for all.
        log: a logarithmic scale of labels, on which the head can be seen.
        title: above the picture.
        ax: Matplotlib axes to draw on.
    """
    shares = {need: touched_shares(Y, need) for need in needs}
    ax = axes_for(ax, title, "most frequent labels, % of all", "rows answered, %")
    for color, (need, share) in zip(COLORS, shares.items(), strict=False):
        n = len(share) - 1
        name = "all labels" if need is None else "1 label" if need == 1 else f"{need} labels"
        half = int(np.searchsorted(share, 0.5))
        x = np.arange(n + 1) / n * 100
        start = 1 if log else 0
        ax.plot(x[start:], share[start:] * 100, color=color, label=f"{name} ({x[half]:.2g} %)")
        ax.plot([x[half]], [share[half] * 100], "o", color=color, markersize=4)
    ax.axhline(50, color=INK, linewidth=0.6, linestyle=":")
    if log:
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter(_percent)
    ax.set_ylim(0, 101)
    legend_below(ax, title="needed of a row (• half of the rows)")
    return ax


def _percent(value: float, _position: int) -> str:
    return f"{value:g}"
