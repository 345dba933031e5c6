"""The one pass over the rows: sums of what each row contributes, counts by label, and rows one by one where
intervals need them. What the numbers mean is in ``measures``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .. import _native
from .inputs import Pattern

__all__ = ["ALL_ROW_VALUES", "PLAIN_ROW_VALUES", "Tally", "tally"]

# In the order of RowValue in native/metrics/measure.hpp.
PLAIN_ROW_VALUES = ("precision", "recall", "ndcg", "hit", "reciprocal", "average")
ALL_ROW_VALUES = (
    *PLAIN_ROW_VALUES,
    *("psp_got", "psp_best", "psndcg_got", "psndcg_best", "psr_got", "psr_best"),
)

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Tally:
    """What one pass found. A label counts at k when it is among the first k of a list."""

    ks: tuple[int, ...]
    n_rows: int  # rows that means are taken over
    n_empty: int  # rows without a true label
    sums: dict[str, Floats]  # by row value: a number per k
    rows: Floats | None  # n_rows × wanted
    hits: Counts | None  # ks × labels: rows where the label was predicted rightly
    predicted: Counts | None  # ks × labels: rows where it was predicted
    truths: Counts | None  # labels: rows where it is true


def tally(
    labels: npt.NDArray[np.int32],
    true: Pattern,
    *,
    ks: tuple[int, ...],
    exclude: Pattern | None = None,
    weights: Floats | None = None,
    skip_empty: bool = False,
    wanted: Sequence[tuple[str, int]] = (),
    count: bool = False,
    threads: int = 1,
) -> Tally:
    """One pass.

    Args:
        labels: n×k label ids, -1 pads at the end.
        true: The true labels.
        ks: Rising.
        exclude: Labels taken out of lists and truth.
        weights: The inverse propensity of each label, for the propensity-scored values.
        skip_empty: Leave rows without true labels out of everything.
        wanted: (row value, k) pairs that are wanted row by row.
        count: Count by label.
        threads: How many.
    """
    names = PLAIN_ROW_VALUES if weights is None else ALL_ROW_VALUES
    n, n_ks = true.n_rows, len(ks)
    columns = np.array([names.index(name) * n_ks + ks.index(k) for name, k in wanted], np.int32)
    sums = np.zeros((len(names), n_ks))
    n_true = np.zeros(n, np.int32)
    rows = np.empty((n, len(columns))) if len(columns) else None
    hits = np.empty((n_ks, true.n_labels), np.int32) if count else None
    predicted = np.empty((n_ks, true.n_labels), np.int32) if count else None
    truths = np.empty(true.n_labels, np.int32) if count else None
    _native.metrics.measure(
        labels,
        true.indptr,
        true.indices,
        true.n_labels,
        None if exclude is None else exclude.indptr,
        None if exclude is None else exclude.indices,
        weights,
        np.array(ks, np.int32),
        columns,
        skip_empty,
        threads,
        sums,
        n_true,
        rows,
        hits,
        predicted,
        truths,
    )
    empty = n_true == 0
    n_empty = int(np.count_nonzero(empty))
    if skip_empty and n_empty and rows is not None:
        rows = np.ascontiguousarray(rows[~empty])
    return Tally(
        ks=ks,
        n_rows=n - n_empty if skip_empty else n,
        n_empty=n_empty,
        sums=dict(zip(names, sums, strict=True)),
        rows=rows,
        hits=hits,
        predicted=predicted,
        truths=truths,
    )
