"""Linear classifiers on the edges of a label tree: time grows with the logarithm of the number of labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..arrays import CSR, Features
from ..errors import DataError, ModelError, ParameterError
from ..params import Check, Choice, Either, Int, Nullable, Real
from ..threads import resolve_threads
from ..trees import LabelTree, complete_tree, interpolated_tree, kmeans_tree
from .plan import LevelPlan, tree_plan
from .ranker import LinearRanker
from .training import Arrays

if TYPE_CHECKING:
    from ..text import TextVectorizer

__all__ = ["LinearTree"]


class _Trees:
    """Accepts None, a LabelTree, or a list of them."""

    def accepts(self, value: Any) -> bool:
        if value is None or isinstance(value, LabelTree):
            return True
        return (
            isinstance(value, list | tuple)
            and len(value) > 0
            and all(isinstance(t, LabelTree) for t in value)
        )

    def __str__(self) -> str:
        return "None, a LabelTree or a list of LabelTrees"


class LinearTree(LinearRanker):
    """One linear classifier per edge of a tree over the labels, trained on the examples that reach the edge's parent;
    ranked by a beam search from the root.

    Args:
        arity: children of an inner node, 2 to 64.
        max_leaf: labels of a leaf at most; inside a leaf each label has a classifier of its own.
        trees: how many trees, built from different seeds; their scores are averaged.
        tree: a ``LabelTree`` (or a list) to use instead of building one over label embeddings.
        tradeoff: λ of ``trees.interpolated_tree`` in (0, 2]: how far frequent labels move towards the root. None or 0
            for balanced k-means. ``tune_tree`` finds a good one.
        gamma: how much the frequencies are smoothed, for a tradeoff.
        heads: how often a label is the first one wanted, for tradeoffs above 1: see ``labels.head_frequencies``.
        normalize: bring every row of features to length 1, in training and in queries (text features are so already).
            Other lengths, such as those of counts, want another C, tol and threshold.
        C: inverse strength of the L2 regularisation.
        loss: "squared_hinge" or "logistic".
        negatives: what a classifier learns against. "teacher": an example is a negative of those siblings of its own
            nodes that it does not reach itself; "matched": also of nodes to which the levels above would send it by
            mistake, which takes about twice the time; "auto": "teacher" for one tree, "matched" for several (who
            trains several wants precision).
        bias: value of a constant feature, which is regularised too; 0 for none.
        tol: the solver stops when the projected gradients span no more than this.
        max_iter: passes over the rows at most.
        threshold: weights of this size or less are dropped.
        weights: how they are stored: "f16" (11 significant bits, whatever the size of a classifier's weights; those
            under a 2^28th of its largest keep fewer), "f32" (all bits), "int8" (127 steps up to its largest).
        beam: tree nodes kept per level in the search.
        node_score: what the margin z of an inner node becomes: "hinge" (exp(-max(0, 1-z)^hinge_power)), "sigmoid" or
            "raw". The score of a label is the product along its path; with "raw" anywhere, the sum of raw margins and
            of logarithms of the rest (one tree only).
        label_score: the same for labels.
        hinge_power: see node_score.
        vectorizer: for texts; a ``TextVectorizer`` with its defaults if None.
        seed: of clustering and solving.
        threads: None for all cores. Results do not depend on it.

    Attributes:
        trees_: the ``LabelTree`` of each tree.
        labels_: the ``LabelSet``, if labels have names.
        search_stats_: how many nodes the last ``predict`` opened for each row.

    >>> import longtail as lt
    >>> model = lt.LinearTree().fit(["a red fox", "a lazy dog", "red dog"], [["fox"], ["dog"], ["dog"]])
    >>> model.predict("the lazy one", k=1).names()
    [['dog']]
    """

    _constraints: ClassVar[Mapping[str, Check]] = {
        **LinearRanker._constraints,
        "arity": Int(2, 64),
        "max_leaf": Int(1, 32768),
        "trees": Int(1, 1000),
        "tree": _Trees(),
        "tradeoff": Nullable(Real(0, 2)),
        "gamma": Real(0, 1e6),
        "heads": Either(Choice("marginal", "greedy"), Real(0, 1)),
        "negatives": Choice("auto", "teacher", "matched"),
        "beam": Int(1, 2**31 - 1),
        "node_score": Choice("hinge", "sigmoid", "raw"),
    }

    trees_: list[LabelTree]

    def __init__(
        self,
        *,
        arity: int = 16,
        max_leaf: int = 100,
        trees: int = 1,
        tree: LabelTree | list[LabelTree] | None = None,
        tradeoff: float | None = None,
        gamma: float = 0.1,
        heads: str | float = "marginal",
        normalize: bool = True,
        C: float = 1.0,
        loss: str = "squared_hinge",
        negatives: str = "auto",
        bias: float = 1.0,
        tol: float = 0.1,
        max_iter: int = 100,
        threshold: float = 0.05,
        weights: str = "f16",
        beam: int = 10,
        node_score: str = "hinge",
        label_score: str = "hinge",
        hinge_power: int = 3,
        vectorizer: TextVectorizer | None = None,
        seed: int = 0,
        threads: int | None = None,
    ):
        self.arity = arity
        self.max_leaf = max_leaf
        self.trees = trees
        self.tree = tree
        self.tradeoff = tradeoff
        self.gamma = gamma
        self.heads = heads
        self.normalize = normalize
        self.C = C
        self.loss = loss
        self.negatives = negatives
        self.bias = bias
        self.tol = tol
        self.max_iter = max_iter
        self.threshold = threshold
        self.weights = weights
        self.beam = beam
        self.node_score = node_score
        self.label_score = label_score
        self.hinge_power = hinge_power
        self.vectorizer = vectorizer
        self.seed = seed
        self.threads = threads

    @classmethod
    def parabel(cls, **params: Any) -> LinearTree:
        """Parabel's setting: three binary trees, leaves of 100 labels, log loss of the squared hinge's power 2."""
        return cls(
            **{"arity": 2, "max_leaf": 100, "trees": 3, "negatives": "teacher", "hinge_power": 2, **params}
        )

    @classmethod
    def xr_linear(cls, **params: Any) -> LinearTree:
        """XR-Linear's setting (PECOS): one tree of arity 16, negatives of the teacher and of the beam."""
        return cls(**{"arity": 16, "max_leaf": 100, "trees": 1, "negatives": "matched", **params})

    def _check_params(self) -> None:
        super()._check_params()
        given = self._given_trees()
        if given is not None and self.trees not in (1, len(given)):
            raise ParameterError(
                f"The 'trees' parameter of LinearTree must be 1 or the number of trees given. Got {self.trees} "
                f"with {len(given)} given."
            )
        if given is not None and self.tradeoff is not None:
            raise ParameterError(
                "The 'tradeoff' parameter of LinearTree is for trees that it builds; 'tree' must be None then. "
                f"Got tradeoff={self.tradeoff!r} with {len(given)} given."
            )
        if self._n_trees() > 1 and "raw" in (self.node_score, self.label_score):
            raise ParameterError("The scores of several trees are averaged, which raw margins do not allow.")

    def _n_trees(self) -> int:
        given = self._given_trees()
        return int(self.trees) if given is None else len(given)

    def _matched(self) -> bool:
        return self.negatives == "matched" or (self.negatives == "auto" and self._n_trees() > 1)

    def _given_trees(self) -> list[LabelTree] | None:
        if self.tree is None:
            return None
        return [self.tree] if isinstance(self.tree, LabelTree) else list(self.tree)

    def _plans(
        self, x: Features, y: CSR, sample_weight: Any, checkpoint: Any
    ) -> tuple[list[list[LevelPlan]], dict[str, Any]]:
        given = self._given_trees()
        if given is None:
            given = self._build_trees(x, y, sample_weight, checkpoint)
        for tree in given:
            if tree.n_labels != y.shape[1]:
                raise DataError(
                    f"The tree has {tree.n_labels} labels and Y has {y.shape[1]}; they must be the same."
                )
        return [tree_plan(tree) for tree in given], {"trees_": given}

    def _build_trees(self, x: Features, y: CSR, sample_weight: Any, checkpoint: Any) -> list[LabelTree]:
        built: list[LabelTree] = []
        builder = None
        for t in range(self.trees):
            step = f"tree{t}-shape"
            if checkpoint is not None and step in checkpoint:
                arrays, facts = checkpoint.get(step)
                built.append(LabelTree.from_state(facts, arrays))
                continue
            if builder is None:
                builder = self._builder(x, y, sample_weight)
            tree = builder((int(self.seed) + t) % 2**63)
            if checkpoint is not None:
                facts, arrays = tree.to_state()
                checkpoint.put(step, arrays, facts)
            built.append(tree)
        return built

    def _builder(self, x: Features, y: CSR, sample_weight: Any) -> Callable[[int], LabelTree]:
        """What makes a tree of a seed."""
        from ..labels import frequencies, head_frequencies, pifa

        shape: dict[str, Any] = {
            "arity": self.arity,
            "max_leaf": self.max_leaf,
            "threads": resolve_threads(self.threads),
        }
        embeddings = pifa(x, y, threads=self.threads)
        if not self.tradeoff:
            return lambda seed: kmeans_tree(embeddings, seed=seed, **shape)
        shape |= {"tradeoff": float(self.tradeoff), "gamma": float(self.gamma)}
        f = frequencies(y, sample_weight)
        f_tilde = head_frequencies(y, self.heads, sample_weight)
        return lambda seed: interpolated_tree(embeddings, f, f_tilde, seed=seed, **shape)

    def _assumed_plans(self, frequency: npt.NDArray[np.int64]) -> list[list[LevelPlan]]:
        given = self._given_trees()
        if given is not None:
            return [tree_plan(tree) for tree in given]
        shape = complete_tree(len(frequency), arity=self.arity, max_leaf=self.max_leaf)
        return [tree_plan(shape)] * self.trees

    def _needs_embeddings(self) -> bool:
        return self.tree is None

    def _parameter_arrays(self) -> list[npt.NDArray[Any]]:
        return [array for tree in self._given_trees() or [] for array in tree.to_parents()]

    def _search_defaults(self) -> tuple[int, str]:
        return self.beam, self.node_score

    # ---- folders: a given tree is a parameter, and all trees are kept

    def _params_to_json(self) -> dict[str, Any]:
        params = super()._params_to_json()
        given = self._given_trees()
        params["tree"] = None if given is None else [tree.to_state()[0] for tree in given]
        return params

    @classmethod
    def _params_from_json(cls, params: dict[str, Any], arrays: Mapping[str, Any]) -> dict[str, Any]:
        params = super()._params_from_json(params, arrays)
        if params.get("tree") is not None:
            if not isinstance(params["tree"], list):
                raise ModelError("the given trees are missing.")
            given = [_tree_of(meta, arrays, t) for t, meta in enumerate(params["tree"])]
            params["tree"] = given[0] if len(given) == 1 else given
        return params

    def _state(self) -> tuple[dict[str, Any], Arrays]:
        facts, arrays = super()._state()
        facts["trees"] = []
        for t, tree in enumerate(self.trees_):
            meta, own = tree.to_state()
            facts["trees"].append(meta)
            arrays.update({f"tree{t}.shape.{name}": array for name, array in own.items()})
        return facts, arrays

    def _restore(self, facts: Mapping[str, Any], arrays: Mapping[str, Any], *, verify: bool) -> None:
        metas = facts["trees"]
        if (
            not isinstance(metas, list)
            or not isinstance(facts["levels"], list)
            or len(metas) != len(facts["levels"])
        ):
            raise ModelError("the trees do not fit their classifiers.")
        self.trees_ = [_tree_of(meta, arrays, t) for t, meta in enumerate(metas)]
        if any(tree.n_labels != self.n_labels_ for tree in self.trees_):
            raise ModelError("the trees do not fit the labels.")
        super()._restore(facts, arrays, verify=verify)


def _tree_of(meta: Any, arrays: Mapping[str, Any], t: int) -> LabelTree:
    prefix = f"tree{t}.shape."
    own = {name[len(prefix) :]: array for name, array in arrays.items() if name.startswith(prefix)}
    return LabelTree.from_state(meta, own)
