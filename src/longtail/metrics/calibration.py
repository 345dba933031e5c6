"""Whether scores can be read as chances: of the labels with a score of 0.8, are 80 % right?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import DataError
from ..params import Check, Choice, Int, Nullable, check
from ..ranking import Ranking
from ..threads import resolve_threads
from .inputs import lists, truth

__all__ = ["Reliability", "expected_calibration_error", "reliability"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Reliability:
    """The reliability curve: labels of the ranked lists grouped by score.

    Attributes:
        score: the mean score of each group, rising.
        right: the share of each group's labels that are true.
        count: the number of labels of each group; groups without any are left out.
    """

    score: Floats
    right: Floats
    count: npt.NDArray[np.int64]

    @property
    def error(self) -> float:
        """The expected calibration error: how far score and share lie apart, averaged over the labels."""
        if not len(self.count):
            return 0.0
        return float(np.abs(self.score - self.right) @ self.count / self.count.sum())

    @property
    def largest_error(self) -> float:
        """How far they lie apart in the worst group."""
        return float(np.abs(self.score - self.right).max(initial=0.0))

    @property
    def bias(self) -> float:
        """Mean score minus share of true labels: above 0 if the model is too sure."""
        if not len(self.count):
            return 0.0
        return float((self.score - self.right) @ self.count / self.count.sum())


def reliability(
    r: Ranking,
    Y_true: Any,
    k: int | None = None,
    *,
    bins: int = 10,
    strategy: str = "width",
    threads: int | None = None,
) -> Reliability:
    """How often labels are right, by score.

    Scores must be in [0, 1], as those of ``hinge`` and ``sigmoid`` are. For trees, they are products along a path.

    Args:
        r: the ranking.
        Y_true: the truth, as ``evaluate`` takes it.
        k: count the first k labels of each row only; all that are there if None. What lies beyond the list is
            not counted, so ask for as many labels as you use.
        bins: how many groups.
        strategy: "width" for groups of equal width in score, "count" for groups of about equally many labels.
        threads: None for all cores.

    >>> import numpy as np, scipy.sparse as sp
    >>> r = Ranking(np.array([[0, 1], [2, 1]]), np.array([[0.9, 0.2], [0.9, 0.3]]))
    >>> curve = reliability(r, sp.csr_matrix([[1, 0, 0], [0, 1, 0]]), bins=2)
    >>> curve.score.round(3).tolist(), curve.right.tolist(), round(curve.error, 3)
    ([0.25, 0.9], [0.5, 0.5], 0.325)
    """
    limits: dict[str, Check] = {
        "k": Nullable(Int(1)),
        "bins": Int(1, 10_000),
        "strategy": Choice("width", "count"),
    }
    check("reliability", limits, {"k": k, "bins": bins, "strategy": strategy})
    if not isinstance(r, Ranking):
        raise DataError(f"reliability needs a Ranking, which has scores. Got {type(r).__name__} instead.")
    labels, scores = r.labels[:, :k], r.scores[:, :k].astype(np.float64)
    true = truth(Y_true, r.label_set)
    lists(r, true, None, 1, resolve_threads(threads))  # for its checks
    there = labels >= 0
    rows = np.broadcast_to(np.arange(len(labels))[:, None], labels.shape)[there]
    score, right = scores[there], _hits(rows, labels[there], true)
    if score.size and not (score.min() >= 0.0 and score.max() <= 1.0):
        raise DataError(
            f"reliability needs scores in [0, 1]. Got {score.min():.4g} to {score.max():.4g} instead; "
            "raw margins are no chances."
        )
    return _curve(score, right, _groups(score, bins, strategy))


def expected_calibration_error(r: Ranking, Y_true: Any, k: int | None = None, **options: Any) -> float:
    """ECE: how far scores lie from the share of right labels, averaged over the ranked labels; 0 is best.

    Options are those of ``reliability``.
    """
    return reliability(r, Y_true, k, **options).error


def _hits(rows: npt.NDArray[np.int64], labels: npt.NDArray[np.int32], true: Any) -> npt.NDArray[np.bool_]:
    """Whether each (row, label) is true: pairs as numbers, which rise through the rows of the truth."""
    width = np.int64(true.n_labels)
    truths = np.repeat(np.arange(true.n_rows) * width, np.diff(true.indptr)) + true.indices
    wanted = rows * width + labels
    at = np.searchsorted(truths, wanted)
    found = np.zeros(len(wanted), dtype=bool)
    inside = at < len(truths)
    found[inside] = truths[at[inside]] == wanted[inside]
    return found


def _groups(score: Floats, bins: int, strategy: str) -> npt.NDArray[np.int64]:
    """The number of each label's group. Equal scores are always in one group."""
    if strategy == "width":
        return np.minimum((score * bins).astype(np.int64), bins - 1)
    if not score.size:
        return np.zeros(0, np.int64)
    ranked = np.sort(score)
    bounds = ranked[np.arange(1, bins) * len(ranked) // bins]
    return np.searchsorted(bounds, score, side="right").astype(np.int64)


def _curve(score: Floats, right: npt.NDArray[np.bool_], group: npt.NDArray[np.int64]) -> Reliability:
    count = np.bincount(group)
    used = np.flatnonzero(count)
    size = count[used]
    mean = np.bincount(group, weights=score)[used] / size
    share = np.bincount(group, weights=right)[used] / size
    return Reliability(mean, share, size.astype(np.int64))
