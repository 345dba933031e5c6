"""Takes the score of one label for one row apart, classifier by classifier."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Features, is_sparse
from ..explanation import Step
from .training import Forest

__all__ = ["Explainer", "ScoreKinds"]

# Where a path forks: the level, the chunk in it, and the child of the chunk.
Place = tuple[int, int, int]


@dataclass(frozen=True)
class ScoreKinds:
    """What margins become, on the way and at the label: see ``LinearTree``."""

    node: str
    label: str
    power: int

    def log_score(self, margin: float, is_label: bool) -> float:
        """What a margin adds to the score of its path."""
        kind = self.label if is_label else self.node
        if kind == "raw":
            return margin
        if kind == "sigmoid":
            return min(margin, 0.0) - math.log1p(math.exp(-abs(margin)))
        return -(max(0.0, 1.0 - margin) ** self.power)

    def probability(self, margin: float, is_label: bool) -> float:
        """The score of one step by itself; a raw one is its margin."""
        score = self.log_score(margin, is_label)
        return score if (self.label if is_label else self.node) == "raw" else math.exp(score)

    @property
    def raw(self) -> bool:
        return "raw" in (self.node, self.label)


class Explainer:
    """Explains the scores of trained trees."""

    def __init__(self, forest: Forest, predictor: Any, kinds: ScoreKinds):
        self.forest, self.predictor, self.kinds = forest, predictor, kinds
        used = np.flatnonzero(forest.rank >= 0)
        self.feature_of = np.full(forest.n_internal, -1, dtype=np.int64)
        self.feature_of[forest.rank[used]] = used

    def explain(self, row: Features, label: int, top: int, names: Any) -> tuple[list[list[Step]], float]:
        """(the steps of each tree, the score of the label)."""
        value_of = _row_values(row)
        paths, scores = [], []
        for t in range(len(self.forest.trees)):
            places = self.predictor.path(t, label)
            path = [self._step(t, place, value_of, top, names) for place in places]
            total = sum(self.kinds.log_score(step.margin, step is path[-1]) for step in path)
            paths.append(path)
            scores.append(total if self.kinds.raw else math.exp(total))
        return paths, sum(scores) / len(scores)

    def _step(self, t: int, place: Place, value_of: dict[int, float], top: int, names: Any) -> Step:
        internal, weights, bias = self.predictor.child_weights(t, *place)
        features = self.feature_of[internal].tolist()
        parts = [(f, float(w) * value_of[f]) for f, w in zip(features, weights, strict=True) if f in value_of]
        margin = bias + sum(part for _, part in parts)
        n_labels = self._labels_under(t, place)
        is_label = self._child(t, place) < 0
        parts.sort(key=lambda part: -abs(part[1]))
        return Step(
            depth=place[0],
            n_labels=n_labels,
            margin=margin,
            probability=self.kinds.probability(margin, is_label),
            bias=float(bias),
            contributions=[(str(f) if names is None else str(names[f]), part) for f, part in parts[:top]],
        )

    def _child(self, t: int, place: Place) -> int:
        level, chunk, child = place
        arrays = self.forest.trees[t][level]
        return int(arrays["child"][arrays["child_ptr"][chunk] + child])

    def _labels_under(self, t: int, place: Place) -> int:
        children = np.array([self._child(t, place)])
        n = 0
        for following in [*self.forest.trees[t][place[0] + 1 :], None]:
            n += int((children < 0).sum())
            inner = children[children >= 0]
            if len(inner) == 0 or following is None:
                break
            ptr = following["child_ptr"]
            children = np.concatenate([following["child"][ptr[c] : ptr[c + 1]] for c in inner])
        return n


def _row_values(row: Features) -> dict[int, float]:
    if is_sparse(row):
        return dict(zip(row.indices.tolist(), row.data.tolist(), strict=True))
    return {f: float(v) for f, v in enumerate(row[0]) if v != 0}
