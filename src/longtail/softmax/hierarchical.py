"""``HierarchicalSoftmax``: the text classifier of fastText, on any label tree."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..arrays import CSR, Features, as_features, as_sparse
from ..errors import DataError, ModelError, ParameterError
from ..explanation import Explanation
from ..inputs import as_labels, as_texts
from ..memory import MemoryWarning
from ..model import Arrays, VectorizerCheck
from ..params import Check, Choice, Flag, Instance, Int, Nullable, Real, check
from ..progress import message, phase
from ..text.bags import BAG_CONSTRAINTS, WordBags
from ..threads import resolve_threads
from ..trees import LabelTree
from .decisions import Decisions, decisions_of
from .explaining import explain_path
from .searchable import Searchable
from .training import SgdSettings, SoftmaxMemory, start_vectors, train
from .tree_choice import label_tree
from .vectors import Vectors, read_vectors

if TYPE_CHECKING:
    from ..text import TextVectorizer

__all__ = ["HierarchicalSoftmax"]

_BAG_PARAMS = ("word_ngrams", "min_count", "buckets", "subwords", "split", "lowercase")


class HierarchicalSoftmax(Searchable):
    """Averages embeddings of the words and n-grams of a text, and walks from that average down a label tree: at every
    node a logistic says how likely each side is. With a Huffman tree this is fastText's classifier with its
    hierarchical softmax.

    A step of training takes one example and one of its labels, chosen at random. With more than one thread the threads
    step on the same vectors without locks: quick, and slightly different from run to run. With ``threads=1`` or
    ``deterministic=True`` the same seed gives the same model, bit for bit.

    Args:
        dim: places of an embedding.
        epochs: passes over the examples.
        lr: the learning rate at the beginning; it falls linearly to 0.
        tree: a ``LabelTree``; None for the one that ``tradeoff`` says. At nodes of more than two children, and in
            leaves of several labels, a softmax takes the place of the logistic.
        tradeoff: None for the Huffman tree of the labels' frequencies; a number from 0 to 2 for an interpolated tree,
            from one that keeps similar labels together (0) to one that looks at frequencies alone (2).
        similarity: which labels an interpolated tree takes for similar: those of rows with similar "features", or those
            that go together with similar other "labels", for rows with several of them.
        word_ngrams, min_count, buckets, subwords, split, lowercase: how texts become bags of words and n-grams, see
            ``WordBags``.
        pretrained: a ``.vec`` file with embeddings of words to begin with.
        vectorizer: a ``TextVectorizer`` to use instead of ``WordBags``: its features are averaged by their weights.
        weights: how vectors are stored when trained: "f32", "f16", "int8".
        deterministic: train on one thread, whatever ``threads`` is.
        seed: of initial embeddings, the order of examples and the choice of labels.
        threads: None for all cores.

    Attributes:
        trees_: a list of the one ``LabelTree``.
        labels_: the ``LabelSet``, if labels have names.
        search_stats_: how many nodes the last ``predict`` opened for each row.
        training_stats_: the mean loss of each epoch.

    >>> model = HierarchicalSoftmax(min_count=1, epochs=50, threads=1)
    >>> model.fit(["a red fox", "a lazy dog", "red dog"], [["fox"], ["dog"], ["dog"]]).predict("lazy", k=1).names()
    [['dog']]
    """

    _constraints: ClassVar[Mapping[str, Check]] = {
        "dim": Int(1, 65536),
        "epochs": Int(1, 1_000_000),
        "lr": Real(0, 1e6, open_low=True),
        "tree": Nullable(Instance("a LabelTree", LabelTree)),
        "tradeoff": Nullable(Real(0, 2)),
        "similarity": Choice("features", "labels"),
        **{name: BAG_CONSTRAINTS[name] for name in _BAG_PARAMS},
        "pretrained": Nullable(Instance("a path", str, Path)),
        "vectorizer": Nullable(VectorizerCheck()),
        "weights": Choice("f32", "f16", "int8"),
        "deterministic": Flag(),
        "seed": Int(0, 2**63 - 1),
        "threads": Nullable(Int(1, 4096)),
    }

    training_stats_: dict[str, Any]

    def __init__(
        self,
        *,
        dim: int = 128,
        epochs: int = 5,
        lr: float = 0.5,
        tree: LabelTree | None = None,
        tradeoff: float | None = None,
        similarity: str = "features",
        word_ngrams: int = 2,
        min_count: int = 2,
        buckets: int = 2_000_000,
        subwords: tuple[int, int] | None = None,
        split: str = "words",
        lowercase: bool = True,
        pretrained: str | Path | None = None,
        vectorizer: TextVectorizer | None = None,
        weights: str = "f32",
        deterministic: bool = False,
        seed: int = 0,
        threads: int | None = None,
    ):
        self.dim = dim
        self.epochs = epochs
        self.lr = lr
        self.tree = tree
        self.tradeoff = tradeoff
        self.similarity = similarity
        self.word_ngrams = word_ngrams
        self.min_count = min_count
        self.buckets = buckets
        self.subwords = subwords
        self.split = split
        self.lowercase = lowercase
        self.pretrained = pretrained
        self.vectorizer = vectorizer
        self.weights = weights
        self.deterministic = deterministic
        self.seed = seed
        self.threads = threads

    # ---- learning

    def _vectorize(self, texts: list[str]) -> tuple[TextVectorizer | WordBags, Features]:
        if self.vectorizer is not None:
            return super()._vectorize(texts)
        bags = WordBags(**{name: getattr(self, name) for name in _BAG_PARAMS}, threads=self.threads)
        return bags, bags.fit_transform(texts)

    def _begin(
        self, vectorizer: TextVectorizer | WordBags | None, rows: npt.NDArray[np.int64] | None
    ) -> None:
        self._words_from = vectorizer

    def _fit(
        self, x: Features, y: CSR, sample_weight: npt.NDArray[np.float32] | None, checkpoint: Any
    ) -> None:
        x = as_sparse(x)
        settings = self._settings()
        point = None if checkpoint is None else self._open_checkpoint(checkpoint, x, y, sample_weight)
        tree = self._tree(x, y)
        decisions = decisions_of(tree)
        self._report_memory(self._memory(x, y, tree, decisions))
        start = start_vectors(x.shape[1], decisions, settings)
        if self.pretrained is not None:
            self._read_pretrained(start.input)
        trained = train(start, x, y, sample_weight, decisions, settings, point)
        # Only now does the model change: one whose training was stopped is as it was.
        self._take(
            tree,
            decisions,
            Vectors.stored(trained.input, self.weights),
            Vectors.stored(trained.output, self.weights),
        )
        self.training_stats_ = {"losses": trained.losses}

    def _check_params(self) -> None:
        super()._check_params()
        if self.tree is not None and self.tradeoff is not None:
            raise ParameterError(
                "The 'tradeoff' parameter of HierarchicalSoftmax is for a tree that it builds; 'tree' must be None "
                f"then. Got tradeoff={self.tradeoff!r} with a tree."
            )

    def _settings(self) -> SgdSettings:
        return SgdSettings(
            dim=int(self.dim),
            epochs=int(self.epochs),
            rate=float(self.lr),
            seed=int(self.seed),
            threads=1 if self.deterministic else resolve_threads(self.threads),
        )

    def _tree(self, x: CSR, y: CSR) -> LabelTree:
        if self.tree is None:
            threads = resolve_threads(self.threads)
            return label_tree(x, y, self.tradeoff, self.similarity, int(self.seed), threads)
        if self.tree.n_labels != y.shape[1]:
            raise DataError(
                f"The tree has {self.tree.n_labels} labels and Y has {y.shape[1]}; they must be the same."
            )
        return self.tree

    def _read_pretrained(self, rows: npt.NDArray[np.float32]) -> None:
        if self._words_from is None:
            raise ParameterError(
                "The 'pretrained' parameter of HierarchicalSoftmax has vectors of words, and X has no words. "
                "Give texts, or leave it out."
            )
        source = self._words_from
        words = source.words() if isinstance(source, WordBags) else source.get_feature_names_out().tolist()
        assert self.pretrained is not None
        with phase("read vectors"):
            found = read_vectors(
                Path(self.pretrained), {w: i for i, w in enumerate(words)}, int(self.dim), rows
            )
        message(f"vectors: {found:,} of {len(words):,} words are in {self.pretrained}")
        if found == 0:
            raise DataError(f"{self.pretrained}: has none of the words of the texts.")

    def _memory(self, x: CSR, y: CSR, tree: LabelTree, decisions: Decisions) -> SoftmaxMemory:
        steps = int(tree.depth.sum(dtype=np.int64)) + tree.n_labels
        memory: SoftmaxMemory = SoftmaxMemory.estimate(
            x.shape[0], x.shape[1], decisions, steps, int(self.dim), self.weights
        )
        return memory

    def _report_memory(self, memory: SoftmaxMemory) -> None:
        message(f"memory: {memory}")
        if memory.free is not None and memory.peak > memory.free:
            warnings.warn(
                f"Training needs {memory}. Use a smaller dim, fewer buckets or a higher min_count.",
                MemoryWarning,
                stacklevel=4,
            )

    def memory_estimate(self, X: Any, Y: Any) -> SoftmaxMemory:
        """How much memory ``fit`` is expected to need beyond X and Y, without training."""
        self._check_params()
        texts = as_texts(X)
        x = as_sparse(as_features(X) if texts is None else self._vectorize(texts)[1])
        y, _ = as_labels(Y, x.shape[0])
        tree = self._tree(x, y)
        return self._memory(x, y, tree, decisions_of(tree))

    # ---- looking inside

    def explain(self, x: Any, label: str | int, top: int = 10) -> Explanation:
        """What on the path to a label spoke for and against it.

        Args:
            x: one text or one row of features.
            label: a name or an id.
            top: how many words, n-grams or features to name per step.
        """
        row = as_sparse(self._features(x))
        if row.shape[0] != 1:
            raise DataError(f"explain takes one row. Got {row.shape[0]}.")
        check("explain", {"top": Int(1)}, {"top": top})
        wanted = self._label_id(label)
        steps, score = explain_path(
            row, wanted, self._decisions, self._inputs, self._outputs, int(top), self._feature_names(x)
        )
        return Explanation(self._label_name(wanted), score, [steps])

    def _feature_names(self, x: Any) -> Any:
        if self.vectorizer_ is None:
            return str
        if isinstance(self.vectorizer_, WordBags):
            texts = as_texts(x)
            assert texts is not None
            terms = self.vectorizer_.terms(texts[0])
            return lambda feature: terms[feature]
        names = self.vectorizer_.get_feature_names_out()
        return lambda feature: str(names[feature])

    def to_weights(self, weights: str) -> HierarchicalSoftmax:
        """The same model with vectors stored as "f32", "f16" or "int8"."""
        check("to_weights", {"weights": Choice("f32", "f16", "int8")}, {"weights": weights})
        self._check_fitted()
        other: HierarchicalSoftmax = self._like_this(weights=weights)
        inputs, outputs = (Vectors.stored(v.rows(), weights) for v in (self._inputs, self._outputs))
        other._take(self.trees_[0], self._decisions, inputs, outputs)
        return other

    def describe(self) -> dict[str, Any]:
        """Facts about the trained model: sizes, counts, what training took."""
        self._check_fitted()
        tree = self.trees_[0]
        return {
            "kind": type(self).__name__,
            "n_labels": self.n_labels_,
            "n_features": self.n_features_in_,
            "n_words": self.vectorizer_.n_words_ if isinstance(self.vectorizer_, WordBags) else None,
            "n_rows": self.n_rows_,
            "n_decisions": len(self._decisions.child_ptr) - 1,
            "depth": int(tree.height),
            "dim": int(self.dim),
            "weights": self.weights_,
            "bytes": self._inputs.nbytes + self._outputs.nbytes,
            "text": self.vectorizer_ is not None,
            "named_labels": self.labels_ is not None,
            "training": dict(self.training_stats_),
        }

    # ---- folders

    def _params_to_json(self) -> dict[str, Any]:
        params = super()._params_to_json()
        params["tree"] = self.tree is not None
        params["subwords"] = None if self.subwords is None else [int(n) for n in self.subwords]
        params["pretrained"] = None if self.pretrained is None else str(self.pretrained)
        return params

    @classmethod
    def _params_from_json(cls, params: dict[str, Any], arrays: Mapping[str, Any]) -> dict[str, Any]:
        params = super()._params_from_json(params, arrays)
        if isinstance(params.get("subwords"), list):
            params["subwords"] = tuple(params["subwords"])
        if params.get("tree") not in (True, False):
            raise ModelError("it is not said whether the tree was given.")
        params["tree"] = _tree_from(arrays) if params["tree"] else None
        return params

    def _parameter_arrays(self) -> list[npt.NDArray[Any]]:
        return [] if self.tree is None else list(self.tree.to_parents())

    def _state(self) -> tuple[dict[str, Any], Arrays]:
        _, shape = self.trees_[0].to_state()
        arrays: Arrays = {f"tree.{name}": array for name, array in shape.items()}
        arrays.update(self._inputs.to_arrays("input"))
        arrays.update(self._outputs.to_arrays("output"))
        return {"weights": self.weights_, "training": self.training_stats_}, arrays

    def _restore(self, facts: Mapping[str, Any], arrays: Mapping[str, Any], *, verify: bool) -> None:
        tree = _tree_from(arrays)
        if tree.n_labels != self.n_labels_:
            raise ModelError("the tree does not fit the labels.")
        stats = facts["training"]
        if not isinstance(stats, dict):
            raise ModelError("the training statistics are missing.")
        decisions = decisions_of(tree)
        kind, dim = facts["weights"], int(self.dim)
        inputs = Vectors.from_arrays(arrays, "input", kind, self.n_features_in_, dim, verify=verify)
        outputs = Vectors.from_arrays(arrays, "output", kind, decisions.n_vectors, dim, verify=verify)
        self.training_stats_ = stats
        self._take(tree, decisions, inputs, outputs)


def _tree_from(arrays: Mapping[str, Any]) -> LabelTree:
    parts = {name: arrays[f"tree.{name}"] for name in ("parent", "leaf_of")}
    meta = {"n_nodes": len(parts["parent"]), "n_labels": len(parts["leaf_of"])}
    return LabelTree.from_state(meta, parts)
