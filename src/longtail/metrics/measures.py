"""The measures by name: which row values each is made of, or how it follows from counts by label."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import ParameterError
from .tally import Counts, Floats, Tally

__all__ = [
    "DEFAULT",
    "MEASURES",
    "LabelMeasure",
    "RowMeasure",
    "choose",
    "key",
    "label_value",
    "row_value",
    "split_key",
]


@dataclass(frozen=True)
class RowMeasure:
    """The mean of ``got`` over rows; with ``best``, the sum of ``got`` divided by the sum of ``best``."""

    name: str
    got: str
    best: str | None = None

    @property
    def parts(self) -> tuple[str, ...]:
        return (self.got,) if self.best is None else (self.got, self.best)

    def of_sums(self, got: Any, best: Any, n_rows: int) -> Any:
        """The measure of sums over rows, which may be arrays; 0 where nothing can be reached."""
        if self.best is None:
            return got / n_rows
        reachable = np.asarray(best) > 0
        return np.where(reachable, got / np.where(reachable, best, 1.0), 0.0)


@dataclass(frozen=True)
class LabelMeasure:
    """A function of (hits, predicted, true) counts of the labels that are true in some row."""

    name: str
    of_counts: Callable[[Counts, Counts, Counts], float]


def _mean(values: npt.NDArray[Any]) -> float:
    return float(values.mean()) if values.size else 0.0


def _ratio(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> Floats:
    quotient: Floats = np.divide(a, b, out=np.zeros(len(a)), where=b > 0)
    return quotient


_ROW = (
    RowMeasure("P", "precision"),
    RowMeasure("R", "recall"),
    RowMeasure("nDCG", "ndcg"),
    RowMeasure("PSP", "psp_got", "psp_best"),
    RowMeasure("PSnDCG", "psndcg_got", "psndcg_best"),
    RowMeasure("PSR", "psr_got", "psr_best"),
    RowMeasure("hit", "hit"),
    RowMeasure("MRR", "reciprocal"),
    RowMeasure("MAP", "average"),
)
_LABEL = (
    LabelMeasure("coverage", lambda hits, predicted, true: _mean(hits > 0)),
    LabelMeasure("macroP", lambda hits, predicted, true: _mean(_ratio(hits, predicted))),
    LabelMeasure("macroR", lambda hits, predicted, true: _mean(_ratio(hits, true))),
    LabelMeasure(
        "macroF1",
        lambda hits, predicted, true: _mean(
            _ratio(2 * hits.astype(np.int64), predicted.astype(np.int64) + true)
        ),
    ),
    LabelMeasure("balanced_error", lambda hits, predicted, true: 1.0 - _mean(_ratio(hits, true))),
)
MEASURES: dict[str, RowMeasure | LabelMeasure] = {m.name: m for m in (*_ROW, *_LABEL)}
DEFAULT = ("P", "R", "nDCG", "PSP", "PSnDCG", "PSR", "coverage", "macroF1")


def choose(metrics: Any, with_train: bool) -> list[RowMeasure | LabelMeasure]:
    """The measures asked for: None for the usual ones, "all", or a list of names in any case. Without
    training frequencies the propensity-scored ones are left out, unless asked for by name, which is an
    error."""
    if metrics is None or metrics == "all":
        names: Iterable[str] = DEFAULT if metrics is None else MEASURES
        chosen = [MEASURES[name] for name in names]
        return [m for m in chosen if with_train or not _needs_train(m)]
    if isinstance(metrics, str) or not isinstance(metrics, Iterable):
        raise ParameterError(
            f"The 'metrics' parameter must be None, 'all' or a list of names. Got {metrics!r} instead."
        )
    chosen = []
    for name in metrics:
        measure = _find(name)
        if _needs_train(measure) and not with_train:
            raise ParameterError(
                f"{measure.name} weighs labels by their training frequency: it needs 'train'."
            )
        if measure not in chosen:
            chosen.append(measure)
    if not chosen:
        raise ParameterError("The 'metrics' parameter must have at least one name.")
    return chosen


def key(measure: RowMeasure | LabelMeasure, k: int) -> str:
    """The name of a measure at k, such as P@1."""
    return f"{measure.name}@{k}"


def split_key(name: Any) -> tuple[RowMeasure | LabelMeasure, int]:
    """(measure, k) of a name such as P@1."""
    measure, at, k = str(name).partition("@")
    if not at or not k.isdecimal() or len(k) > 7 or int(k) < 1:
        raise ParameterError(f"A measure at k is named as in 'P@5'. Got {name!r} instead.")
    return _find(measure), int(k)


def row_value(measure: RowMeasure, found: Tally) -> Floats:
    """A row measure at each k."""
    best = 0.0 if measure.best is None else found.sums[measure.best]
    return np.asarray(measure.of_sums(found.sums[measure.got], best, found.n_rows))


def label_value(measure: LabelMeasure, found: Tally, labels: npt.NDArray[np.bool_] | None = None) -> Floats:
    """A label measure at each k, over the labels (of a mask) that are true in some row."""
    assert found.hits is not None
    assert found.predicted is not None
    assert found.truths is not None
    chosen = found.truths > 0
    if labels is not None:
        chosen &= labels
    true = found.truths[chosen]
    pairs = zip(found.hits[:, chosen], found.predicted[:, chosen], strict=True)
    return np.array([measure.of_counts(hits, predicted, true) for hits, predicted in pairs])


def _needs_train(measure: RowMeasure | LabelMeasure) -> bool:
    return isinstance(measure, RowMeasure) and measure.best is not None


def _find(name: Any) -> RowMeasure | LabelMeasure:
    for known, measure in MEASURES.items():
        if isinstance(name, str) and known.lower() == name.lower():
            return measure
    raise ParameterError(f"There is no measure {name!r}. There are: {', '.join(MEASURES)}.")
