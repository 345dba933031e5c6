"""What LinearTree and OneVsRest share: everything but the shape of the tree."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..arrays import CSR, Features, as_features
from ..errors import DataError, ModelError
from ..explanation import Explanation
from ..inputs import as_labels, as_texts
from ..model import VectorizerCheck
from ..params import Check, Choice, Flag, Int, Nullable, Real, check
from ..progress import message
from ..threads import resolve_threads
from .explaining import Explainer, ScoreKinds
from .memory import MemoryEstimate, MemoryWarning, check_room, estimate
from .plan import LevelPlan
from .searchable import Searchable
from .training import Arrays, Examples, Forest, SolverSettings, train_levels

__all__ = ["WEIGHT_BYTES", "LinearRanker"]

WEIGHT_BYTES = {"f32": 4, "f16": 2, "int8": 1}
_LEVEL_ARRAYS = (
    "child_ptr",
    "child",
    "bias",
    "scale",
    "tops",
    "word_ptr",
    "words",
    "blob_ptr",
    "blob",
)


class LinearRanker(Searchable):
    """Linear classifiers in native memory, searched by a beam."""

    _constraints: ClassVar[Mapping[str, Check]] = {
        "normalize": Flag(),
        "loss": Choice("squared_hinge", "logistic"),
        "C": Real(0, 1e6, open_low=True),
        "bias": Real(0, 1e6),
        "tol": Real(0, open_low=True),
        "max_iter": Int(1, 1_000_000),
        "threshold": Real(0),
        "weights": Choice("f32", "f16", "int8"),
        "label_score": Choice("hinge", "sigmoid", "raw"),
        "hinge_power": Int(1, 8),
        "vectorizer": Nullable(VectorizerCheck()),
        "seed": Int(0, 2**63 - 1),
        "threads": Nullable(Int(1, 4096)),
    }

    normalize: bool
    loss: str
    C: float
    bias: float
    tol: float
    max_iter: int
    threshold: float
    weights: str
    label_score: str
    hinge_power: int
    seed: int
    threads: int | None

    forest_: Forest
    training_stats_: dict[str, int]

    # ---- what LinearTree and OneVsRest say differently

    @abstractmethod
    def _plans(
        self, x: Features, y: CSR, sample_weight: Any, checkpoint: Any
    ) -> tuple[list[list[LevelPlan]], dict[str, Any]]:
        """The levels of each tree to train, and the attributes to set when they are trained."""

    def _matched(self) -> bool:
        """Whether classifiers also learn from the rows that the levels above send them by mistake."""
        return False

    # ---- learning

    def _settings(self, threads: int) -> SolverSettings:
        beam, node_score = self._search_defaults()
        return SolverSettings(
            loss=self.loss,
            c=float(self.C),
            bias=float(self.bias),
            tol=float(self.tol),
            max_iter=int(self.max_iter),
            threshold=float(self.threshold),
            weights=self.weights,
            beam=beam,
            node_score=node_score,
            power=int(self.hinge_power),
            matched=self._matched(),
            threads=threads,
        )

    def _fit(
        self, x: Features, y: CSR, sample_weight: npt.NDArray[np.float32] | None, checkpoint: Any
    ) -> None:
        threads = resolve_threads(self.threads)
        check_room(y.shape[1], x.shape[1], threads)
        point = None if checkpoint is None else self._open_checkpoint(checkpoint, x, y, sample_weight)
        scaled = self._scaled(x)
        self._report_memory(self._estimate(x, y, scaled is not x))
        x = scaled
        plans, learnt = self._plans(x, y, sample_weight, point)
        data = Examples(x, y, sample_weight, threads)
        settings = self._settings(threads)
        trees: list[list[Arrays]] = []
        total = {"passes": 0, "blocks": 0, "unfinished": 0}
        for t, levels in enumerate(plans):
            name = "tree" if len(plans) == 1 else f"tree {t + 1}/{len(plans)}"
            arrays, stats = train_levels(
                name,
                levels,
                data,
                settings,
                _tree_seed(int(self.seed), t),
                None if point is None else _Steps(point, t),
            )
            trees.append(arrays)
            total = {key: total[key] + stats[key] for key in total}
        # Only now does the model change: one whose training was stopped is as it was.
        self._take(Forest(trees, data.rank, data.n_internal, y.shape[1], self.weights), deep=False)
        self.training_stats_ = total
        for name, value in learnt.items():
            setattr(self, name, value)

    def _take(self, forest: Forest, *, deep: bool) -> None:
        self._known_options = {}
        self._predictor = forest.predictor(deep=deep, threads=resolve_threads(self.threads))
        self.forest_ = forest

    def _report_memory(self, memory: MemoryEstimate) -> None:
        message(f"memory: {memory}")
        if memory.free is not None and memory.peak > memory.free:
            warnings.warn(
                f"Training needs {memory}. Use fewer threads, a higher threshold, smaller weights (f16, int8), or a "
                "smaller max_leaf.",
                MemoryWarning,
                stacklevel=4,
            )

    def memory_estimate(self, X: Any, Y: Any) -> MemoryEstimate:
        """How much memory ``fit`` is expected to need beyond X and Y, as it says itself before it begins. Trees are not
        built for it: balanced ones are assumed. Texts are made into features, whose own size does not count."""
        self._check_params()
        texts = as_texts(X)
        x = self._vectorize(texts)[1] if texts is not None else as_features(X)
        y, _ = as_labels(Y, x.shape[0])
        return self._estimate(x, y, self._scaled(x) is not x)

    def _estimate(self, x: Features, y: CSR, scaled: bool) -> MemoryEstimate:
        frequency = np.bincount(y.indices, minlength=y.shape[1]).astype(np.int64)
        threads = resolve_threads(self.threads)
        settings = self._settings(threads)
        return estimate(
            self._assumed_plans(frequency),
            x,
            frequency,
            threads,
            WEIGHT_BYTES[self.weights],
            scaled=scaled,
            embedded=self._needs_embeddings(),
            beam=settings.beam if settings.matched else 0,
        )

    def _needs_embeddings(self) -> bool:
        """Whether trees are built from label embeddings."""
        return False

    @abstractmethod
    def _assumed_plans(self, frequency: npt.NDArray[np.int64]) -> list[list[LevelPlan]]:
        """Plans like those of training, without looking at X."""

    # ---- looking inside

    def explain(self, x: Any, label: str | int, top: int = 10) -> Explanation:
        """What on the path to a label spoke for and against it.

        Args:
            x: one text or one row of features.
            label: a name or an id.
            top: how many features to name per step.
        """
        features = self._features(x)
        if features.shape[0] != 1:
            raise DataError(f"explain takes one row. Got {features.shape[0]}.")
        check("explain", {"top": Int(1)}, {"top": top})
        wanted = self._label_id(label)
        names = None if self.vectorizer_ is None else self.vectorizer_.get_feature_names_out()
        kinds = ScoreKinds(self._search_defaults()[1], self.label_score, int(self.hinge_power))
        paths, score = Explainer(self.forest_, self._predictor, kinds).explain(features, wanted, top, names)
        return Explanation(self._label_name(wanted), score, paths)

    def to_weights(self, weights: str) -> Any:
        """The same model with weights stored as "f32", "f16" or "int8"."""
        check("to_weights", {"weights": Choice("f32", "f16", "int8")}, {"weights": weights})
        self._check_fitted()
        other = self._like_this(weights=weights)
        trees = self._predictor.repacked(weights, resolve_threads(self.threads))
        old = self.forest_
        other._take(Forest(trees, old.rank, old.n_internal, old.n_labels, weights), deep=False)
        return other

    def describe(self) -> dict[str, Any]:
        """Facts about the trained model: sizes, counts, what training took."""
        self._check_fitted()
        levels = [
            {
                "nodes": len(level["child_ptr"]) - 1,
                "children": len(level["child"]),
                "bytes": int(sum(array.nbytes for array in level.values())),
            }
            for level in self.forest_.trees[0]
        ]
        return {
            "kind": type(self).__name__,
            "n_labels": self.n_labels_,
            "n_features": self.n_features_in_,
            "n_features_used": self.forest_.n_internal,
            "n_rows": self.n_rows_,
            "n_trees": len(self.forest_.trees),
            "weights": self.forest_.weights,
            "bytes": self.forest_.nbytes,
            "levels": levels,
            "text": self.vectorizer_ is not None,
            "named_labels": self.labels_ is not None,
            "training": dict(self.training_stats_),
        }

    # ---- folders

    def _state(self) -> tuple[dict[str, Any], Arrays]:
        forest = self.forest_
        facts = {
            "n_internal": forest.n_internal,
            "levels": [len(levels) for levels in forest.trees],
            "weights": forest.weights,
            "training": self.training_stats_,
        }
        return facts, dict(forest.arrays())

    def _restore(self, facts: Mapping[str, Any], arrays: Mapping[str, Any], *, verify: bool) -> None:
        counts = facts["levels"]
        if (
            not isinstance(counts, list)
            or not counts
            or not all(type(n) is int and 0 < n < 10_000 for n in counts)
        ):
            raise ModelError("the number of levels of each tree is missing.")
        trees = [
            [{name: arrays[f"tree{t}.level{d}.{name}"] for name in _LEVEL_ARRAYS} for d in range(n)]
            for t, n in enumerate(counts)
        ]
        rank = arrays["features.rank"]
        if rank.shape != (self.n_features_in_,) or rank.dtype != np.int32:
            raise ModelError("the feature numbers do not fit the features.")
        stats = facts.get("training")
        if not isinstance(stats, dict):
            raise ModelError("the training statistics are missing.")
        self.training_stats_ = stats
        self._take(Forest(trees, rank, facts["n_internal"], self.n_labels_, facts["weights"]), deep=verify)


class _Steps:
    """The part of a checkpoint that belongs to one tree."""

    def __init__(self, point: Any, tree: int):
        self._point, self._tree = point, tree

    def _name(self, step: str) -> str:
        return f"tree{self._tree}-{step.rsplit('-', 1)[1]}"

    def __contains__(self, name: object) -> bool:
        return self._name(str(name)) in self._point

    def get(self, name: str) -> tuple[Arrays, dict[str, Any]]:
        arrays, facts = self._point.get(self._name(name))
        return arrays, facts

    def put(self, name: str, arrays: Arrays, meta: dict[str, Any]) -> None:
        self._point.put(self._name(name), arrays, meta)


def _tree_seed(seed: int, tree: int) -> int:
    # Levels add their depth: trees stay clear of each other's seeds.
    return seed + tree * 1_000_003
