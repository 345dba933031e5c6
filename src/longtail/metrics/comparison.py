"""Whether one model is better than another, or was only lucky with the test rows."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..errors import DataError, ParameterError
from ..params import Check, Choice, Int, Real, check
from ..ranking import Ranking
from ..threads import resolve_threads
from .evaluation import inverse_propensities, percentile_interval, resample_sums
from .inputs import excluded, lists, train_frequencies, truth
from .measures import RowMeasure, row_value, split_key
from .tally import tally

__all__ = ["Comparison", "compare"]

_CONSTRAINTS: dict[str, Check] = {
    "a": Real(0),
    "b": Real(0, open_low=True),
    "empty": Choice("zero", "skip"),
    "bootstrap": Int(1, 10_000_000),
    "confidence": Real(0, 1, open_low=True, open_high=True),
    "seed": Int(0, 2**64 - 1),
}


@dataclass(frozen=True)
class Comparison:
    """A measure of two models on the same rows."""

    metric: str
    a: float
    b: float
    difference: float  # a - b
    low: float  # of the interval of the difference
    high: float
    p_value: float  # two-sided: how often resampling turns the difference around
    confidence: float
    n_rows: int
    bootstrap: int
    seed: int

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    def __str__(self) -> str:
        return (
            f"{self.metric}: {100 * self.a:.2f} - {100 * self.b:.2f} = {100 * self.difference:+.2f} "
            f"[{100 * self.low:+.2f}, {100 * self.high:+.2f}] at {100 * self.confidence:g} %, "
            f"p = {self.p_value:.2g} ({self.n_rows:,} rows, {self.bootstrap:,} resamples)"
        )


def compare(
    r_a: Any,
    r_b: Any,
    Y_true: Any,
    metric: str = "P@1",
    *,
    train: Any = None,
    a: float = 0.55,
    b: float = 1.5,
    exclude: Any = None,
    bootstrap: int = 10_000,
    confidence: float = 0.95,
    seed: int = 0,
    empty: str = "zero",
    threads: int | None = None,
) -> Comparison:
    """Compares two models by a paired bootstrap: both are measured on the same resamples of the test rows.

    Args:
        r_a: Lists of the first model, as ``evaluate`` takes them.
        r_b: Lists of the second, for the same rows.
        Y_true: The true labels.
        metric: A mean over rows at k, such as "P@1", "nDCG@5" or "PSP@5".
        train: As for ``evaluate``, like a, b, exclude, seed, empty and threads.
        bootstrap: How many resamples.
        confidence: Of the interval of the difference.

    Example:
        >>> import numpy as np, scipy.sparse as sp
        >>> Y = sp.csr_matrix(np.eye(40, dtype=np.float32))
        >>> good, bad = np.arange(40)[:, None], np.zeros((40, 1), np.int32)
        >>> compare(good, bad, Y).p_value < 0.001
        True
    """
    check("compare", _CONSTRAINTS, locals())
    measure, k = split_key(metric)
    if not isinstance(measure, RowMeasure):
        raise ParameterError(
            f"{measure.name} is not a mean over rows, so it cannot be compared by resampling."
        )
    team = resolve_threads(threads)
    named = [r.label_set for r in (r_a, r_b) if isinstance(r, Ranking) and r.label_set is not None]
    true = truth(Y_true, named[0] if named else None)
    if true.n_rows == 0:
        raise DataError("Y_true has no rows, so there is nothing to measure.")
    known = train_frequencies(train, true.n_labels)
    if measure.best is not None and known is None:
        raise ParameterError(f"{measure.name} weighs labels by their training frequency: it needs 'train'.")
    out = excluded(exclude, true)
    first, second = (
        tally(
            lists(r, true, out, k, team),
            true,
            ks=(k,),
            exclude=out,
            weights=None if measure.best is None or known is None else inverse_propensities(known, a, b),
            skip_empty=empty == "skip",
            wanted=[(part, k) for part in measure.parts],
            threads=team,
        )
        for r in (r_a, r_b)
    )
    if first.n_rows == 0 or first.rows is None or second.rows is None:
        raise DataError("No row has a true label, so there is nothing to measure.")
    rows = first.rows.copy()  # difference of what was got; the best that could be got, if the measure has one
    rows[:, 0] -= second.rows[:, 0]
    sums = resample_sums(rows, bootstrap, seed, team)
    samples = np.asarray(measure.of_sums(sums[:, 0], sums[:, -1], first.n_rows))
    low, high = percentile_interval(samples, confidence)
    turned = min(int(np.count_nonzero(samples <= 0)), int(np.count_nonzero(samples >= 0)))
    value_a, value_b = float(row_value(measure, first)[0]), float(row_value(measure, second)[0])
    return Comparison(
        metric=f"{measure.name}@{k}",
        a=value_a,
        b=value_b,
        difference=value_a - value_b,
        low=low,
        high=high,
        p_value=min(1.0, 2 * (turned + 1) / (bootstrap + 1)),
        confidence=float(confidence),
        n_rows=first.n_rows,
        bootstrap=bootstrap,
        seed=seed,
    )
