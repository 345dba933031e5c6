"""A classifier for every label against all rows: the most precise, for small label sets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..arrays import CSR, Features
from ..params import Check
from .plan import LevelPlan, flat_plan
from .ranker import LinearRanker

if TYPE_CHECKING:
    from ..text import TextVectorizer

__all__ = ["OneVsRest"]


class OneVsRest(LinearRanker):
    """One linear classifier per label, each trained on all rows; every label is scored for every query.

    Time grows with rows × labels, so it is for label sets of up to some ten thousands; `LinearTree` is for more.
    The solver runs longer (``tol``) and more weights are kept (``threshold``) than in a tree, because here nothing but
    the classifiers limits the precision.

    Args:
        normalize: bring every row of features to length 1, in training and in queries (text features are so already).
            Other lengths, such as those of counts, want another C, tol and threshold.
        C: inverse strength of the L2 regularisation.
        loss: "squared_hinge" or "logistic".
        bias: value of a constant feature, which is regularised too; 0 for none.
        tol: the solver stops when the projected gradients span no more than this.
        max_iter: passes over the rows at most.
        threshold: weights of this size or less are dropped.
        weights: how they are stored: "f16" (11 significant bits, whatever the size of a classifier's weights; those
            under a 2^28th of its largest keep fewer), "f32" (all bits), "int8" (127 steps up to its largest).
        label_score: what a margin z becomes: "sigmoid", "raw", or "hinge" (exp(-max(0, 1-z)^hinge_power), in which all
            margins above 1 are equal).
        hinge_power: see label_score.
        vectorizer: for texts; a ``TextVectorizer`` with its defaults if None.
        seed: of the order in which rows are visited.
        threads: None for all cores. Results do not depend on it.

    >>> import longtail as lt
    >>> model = lt.OneVsRest().fit(["a red fox", "a lazy dog", "red dog"], [["fox"], ["dog"], ["dog"]])
    >>> model.predict(["the lazy one"], k=1).names()
    [['dog']]
    """

    _constraints: ClassVar[Mapping[str, Check]] = dict(LinearRanker._constraints)

    def __init__(
        self,
        *,
        normalize: bool = True,
        C: float = 1.0,
        loss: str = "squared_hinge",
        bias: float = 1.0,
        tol: float = 0.03,
        max_iter: int = 100,
        threshold: float = 0.01,
        weights: str = "f16",
        label_score: str = "sigmoid",
        hinge_power: int = 3,
        vectorizer: TextVectorizer | None = None,
        seed: int = 0,
        threads: int | None = None,
    ):
        self.normalize = normalize
        self.C = C
        self.loss = loss
        self.bias = bias
        self.tol = tol
        self.max_iter = max_iter
        self.threshold = threshold
        self.weights = weights
        self.label_score = label_score
        self.hinge_power = hinge_power
        self.vectorizer = vectorizer
        self.seed = seed
        self.threads = threads

    def _plans(
        self, x: Features, y: CSR, sample_weight: Any, checkpoint: Any
    ) -> tuple[list[list[LevelPlan]], dict[str, Any]]:
        return self._assumed_plans(np.bincount(y.indices, minlength=y.shape[1])), {}

    def _assumed_plans(self, frequency: npt.NDArray[np.int64]) -> list[list[LevelPlan]]:
        return [flat_plan(frequency)]
