"""Ranked lists and true labels in, a report out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _native
from ..errors import DataError
from ..params import Check, Choice, Int, Nullable, Real, check
from ..ranking import Ranking
from ..threads import resolve_threads
from .inputs import Pattern, check_ks, excluded, lists, train_frequencies, truth
from .measures import LabelMeasure, RowMeasure, choose, key, label_value, row_value
from .report import Interval, Report, Slice
from .slices import label_slices
from .tally import Floats, Tally, tally

__all__ = ["evaluate", "inverse_propensities", "percentile_interval", "resample_sums"]

_CONSTRAINTS: dict[str, Check] = {
    "a": Real(0),
    "b": Real(0, open_low=True),
    "empty": Choice("zero", "skip"),
    "bootstrap": Nullable(Int(1, 10_000_000)),
    "confidence": Real(0, 1, open_low=True, open_high=True),
    "seed": Int(0, 2**64 - 1),
}


def evaluate(
    r: Any,
    Y_true: Any,
    k: int | Sequence[int] = (1, 3, 5),
    train: Any = None,
    a: float = 0.55,
    b: float = 1.5,
    metrics: Sequence[str] | str | None = None,
    exclude: Any = None,
    slices: Any = None,
    bootstrap: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    *,
    empty: str = "zero",
    confidence: float = 0.95,
) -> Report:
    """Measures of ranked lists against true labels.

    Args:
        r: A Ranking; or an n×k array of label ids, best first, -1 pads at the end; or a sparse n×L score
            matrix, of which the best stored entries of each row are taken, equal scores by rising id.
        Y_true: The true labels: an n×L matrix, sparse or dense, whose entries other than 0 are labels; or a
            list of the labels of each row, ids or names.
        k: How long the lists are, one number or several.
        train: The label matrix of the training rows, or (frequency of each label, number of rows). The
            propensity-scored measures and slices by frequency need it.
        a: Of the propensities: 0.55, or 0.5 for Wikipedia-like and 0.6 for Amazon-like data.
        b: Likewise: 1.5, or 0.4 and 2.6.
        metrics: Names out of ``MEASURES``, "all", or None for the usual ones.
        exclude: A sparse n×L matrix of labels that are taken out of the lists, where later labels move up,
            and out of the truth; such as a query's own id. Predict more than k, so that the lists stay long
            enough.
        slices: Report some labels by themselves too: "quantiles" (thirds by training frequency), ``Counts(20,
            100)``, ``Quantiles(0.5, 0.9)``, or a mapping of names to label ids or masks. In a slice, only its
            labels count as true; lists stay as they are; rows without a true label in it are left out.
        bootstrap: How many resamples of the rows to take for confidence intervals of the means over rows;
            None for no intervals. Measures by label (coverage, macro averages) have none.
        seed: Of the resamples.
        threads: How many; all cores by default. The numbers do not depend on it.
        empty: Rows without any true label: "zero" keeps them in means, where they count as 0, as the scripts
            of the Extreme Classification Repository do; "skip" leaves them out.
        confidence: Of the intervals.

    Example:
        >>> import numpy as np, scipy.sparse as sp
        >>> Y = sp.csr_matrix(np.array([[1, 0, 1], [0, 1, 0]]))
        >>> print(evaluate(np.array([[0, 1], [2, 1]]), Y, k=(1, 2), metrics=["P", "R"]))
        percent over 2 rows
              @1     @2
        P  50.00  50.00
        R  25.00  75.00
    """
    check("evaluate", _CONSTRAINTS, locals())
    ks, team = check_ks(k), resolve_threads(threads)
    true = truth(Y_true, r.label_set if isinstance(r, Ranking) else None)
    if true.n_rows == 0:
        raise DataError("Y_true has no rows, so there is nothing to measure.")
    out = excluded(exclude, true)
    labels = lists(r, true, out, ks[-1], team)
    known = train_frequencies(train, true.n_labels)
    chosen = choose(metrics, known is not None)
    row_measures = [m for m in chosen if isinstance(m, RowMeasure)]
    weighted = known is not None and any(m.best is not None for m in row_measures)
    weights = inverse_propensities(known, a, b) if known is not None and weighted else None
    masks = {} if slices is None else label_slices(slices, None if known is None else known[0], true.n_labels)

    def over(pattern: Pattern, skip: bool, count: bool) -> Tally:
        wanted = [(part, n) for m in row_measures for part in m.parts for n in ks]
        return tally(
            labels,
            pattern,
            ks=ks,
            exclude=out,
            weights=weights,
            skip_empty=skip,
            wanted=[] if bootstrap is None else wanted,
            count=count,
            threads=team,
        )

    found = over(true, empty == "skip", bool(masks) or any(isinstance(m, LabelMeasure) for m in chosen))
    if found.n_rows == 0:
        raise DataError("No row has a true label, so there is nothing to measure.")
    values, intervals = _measured(chosen, found, found, None, bootstrap, seed, confidence, team)
    parts: dict[str, Slice] = {}
    for name, mask in masks.items():
        within = over(true.only(mask), True, False)
        parts[name] = _slice(chosen, within, found, mask, (bootstrap, seed, confidence, team))
    return Report(
        metrics=values,
        n_rows=found.n_rows,
        n_empty=found.n_empty,
        n_labels=true.n_labels,
        empty=empty,
        propensity={"a": float(a), "b": float(b)} if weighted else None,
        intervals=intervals,
        bootstrap=bootstrap,
        confidence=None if bootstrap is None else float(confidence),
        seed=None if bootstrap is None else seed,
        slices=parts,
    )


def inverse_propensities(known: tuple[npt.NDArray[np.float64], int], a: float, b: float) -> Floats:
    """What a hit on each label weighs: one by the chance that a true label is observed."""
    from ..labels import propensities

    return np.ascontiguousarray(1.0 / propensities(known[0], known[1], a, b), np.float64)


def resample_sums(rows: Floats, resamples: int, seed: int, threads: int) -> Floats:
    """The column sums of each resample of rows: n of n, with replacement; resamples × columns."""
    sums = np.zeros((resamples, rows.shape[1]))
    _native.metrics.bootstrap_sums(np.ascontiguousarray(rows), seed, sums, threads)
    return sums


def percentile_interval(samples: Floats, confidence: float) -> Interval:
    """The middle part of the samples."""
    tail = (1.0 - confidence) / 2
    low, high = np.quantile(samples, [tail, 1.0 - tail])
    return float(low), float(high)


def _measured(
    chosen: list[RowMeasure | LabelMeasure],
    rows: Tally,
    counts: Tally,
    mask: npt.NDArray[np.bool_] | None,
    resamples: int | None,
    seed: int,
    confidence: float,
    threads: int,
) -> tuple[dict[str, float], dict[str, Interval]]:
    """The measures at each k: row measures and their intervals of one tally, label measures of the other."""
    by_measure = {
        m.name: row_value(m, rows) if isinstance(m, RowMeasure) else label_value(m, counts, mask)
        for m in chosen
    }
    values = {key(m, k): float(by_measure[m.name][i]) for m in chosen for i, k in enumerate(rows.ks)}
    intervals: dict[str, Interval] = {}
    if resamples is not None and rows.rows is not None:
        sums = iter(resample_sums(rows.rows, resamples, seed, threads).T)
        for measure in chosen:
            if isinstance(measure, RowMeasure):
                parts = [[next(sums) for _ in rows.ks] for _ in measure.parts]
                for i, k in enumerate(rows.ks):
                    samples = measure.of_sums(parts[0][i], parts[-1][i], rows.n_rows)
                    intervals[key(measure, k)] = percentile_interval(samples, confidence)
    return values, intervals


def _slice(
    chosen: list[RowMeasure | LabelMeasure],
    within: Tally,
    counts: Tally,
    mask: npt.NDArray[np.bool_],
    sampling: tuple[int | None, int, float, int],
) -> Slice:
    """The measures of one slice; none where no row has a true label in it."""
    assert counts.truths is not None
    n_true = int(counts.truths[mask].sum())
    if within.n_rows == 0:
        return Slice(int(mask.sum()), 0, n_true, {})
    values, intervals = _measured(chosen, within, counts, mask, *sampling)
    return Slice(int(mask.sum()), within.n_rows, n_true, values, intervals)
