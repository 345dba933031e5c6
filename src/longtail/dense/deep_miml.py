"""``DeepMIML``: a network that learns from labels of groups, with co-attention between samples and labels."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ..arrays import CSR, Features, as_sparse, is_sparse
from ..errors import DataError, ModelError
from ..explanation import Explanation, Step
from ..groups.statistics import row_scales
from ..inputs import as_groups, as_label_lists
from ..labels import pifa
from ..labels._csr import make_csr
from ..memory import MemoryWarning, free_memory, human_bytes
from ..model import Arrays, Model, VectorizerCheck
from ..params import Check, Choice, Flag, Int, Nullable, Real, check
from ..progress import message
from ..threads import resolve_threads
from .asking import Network, allowed_labels, stored_scores
from .bags import Bags, chosen_loss
from .embeddings import as_directions, from_arrays, kind_of, to_arrays
from .layers import Layers, Shape
from .training import Settings, require_torch, train

if TYPE_CHECKING:
    from ..groups import Eagle
    from ..labels import LabelSet
    from ..ranking import Ranking
    from ..text import TextVectorizer

__all__ = ["DeepMIML"]

_PREDICT_CONSTRAINTS: dict[str, Check] = {
    "k": Int(1),
    "search": Choice("exact"),
    "threads": Nullable(Int(1, 4096)),
}


class DeepMIML(Model):
    """A multi-instance network: it learns from groups of samples whose labels are known only together, and ranks labels
    for single samples and for groups.

    Each sample goes through an optional hidden layer (ReLU) to `concepts` values for every label, of which the largest
    counts; a group has, for each label, the largest value of its samples. With `tau` above 0 the values of a group's
    samples are first multiplied by a mask, g · softmax(tau · cosines) over the g samples of the group, where the
    cosines are those of samples with the label embeddings of ``lt.Eagle`` (``fit(..., eagle=)``): a label then looks
    for its sample where EAGLE would put it. ``tau=0`` is plain Deep-MIML.

    Groups may have any size. Samples of a batch stand one after the other, without padding. ``fit(X, Y)`` means
    groups of one.

    Training needs PyTorch (``pip install 'longtail[dense]'``), ``predict`` and ``longtail.load`` do not. It runs on one
    thread, so the same seed gives the same model whatever ``threads`` is; another version of PyTorch, or a processor
    with other instructions, may give slightly different weights.

    Args:
        hidden: places of the hidden layer; None for none.
        concepts: values per label.
        tau: how hard the mask is; 0 for no mask.
        loss: "binary": whether a group has a label (logistic, for each label); "share": how the labels of a group are
            shared out (cross-entropy of a softmax with the shares of counts); "auto": "share" if there are counts
            above 1 and most labels are in most groups, so that presence says little; else "binary".
        epochs: passes over the groups, at most.
        batch_size: groups per step.
        lr: length of a step (AdamW). `sample_weight` lengthens it; a group weighs what its samples do in the mean.
        weight_decay: how much weights shrink by, as a part of `lr`, per step.
        validation: the part of the groups that is held out to find the best epoch; 0 for none, and then the last
            epoch's weights are kept.
        patience: stop after so many epochs without a smaller loss on the groups held out.
        normalize: bring the rows of X to unit length.
        vectorizer: a ``TextVectorizer`` for texts.
        weights: how weights are stored when trained: "f32" or "f16".
        seed: of the first weights, the order of groups and the choice of those held out.
        threads: for everything but the steps of training; None for all cores.

    Attributes:
        labels_: the ``LabelSet``, if labels have names.
        loss_: the loss that was used: "binary" or "share".
        label_embeddings_: labels × features, of the mask; None with ``tau=0``.
        training_stats_: losses of all epochs on the groups to train on and on those held out; the epoch kept.
    """

    _constraints: ClassVar[Mapping[str, Check]] = {
        "hidden": Nullable(Int(1, 65536)),
        "concepts": Int(1, 1024),
        "tau": Real(0, 1e6),
        "loss": Choice("auto", "binary", "share"),
        "epochs": Int(1, 1_000_000),
        "batch_size": Int(1, 1_000_000),
        "lr": Real(0, 1e6, open_low=True),
        "weight_decay": Real(0, 1e6),
        "validation": Real(0, 1, open_high=True),
        "patience": Int(1, 1_000_000),
        "normalize": Flag(),
        "vectorizer": Nullable(VectorizerCheck()),
        "weights": Choice("f32", "f16"),
        "seed": Int(0, 2**63 - 1),
        "threads": Nullable(Int(1, 4096)),
    }

    loss_: str
    label_embeddings_: Features | None
    training_stats_: dict[str, Any]
    weights_: str
    _network: Network
    # What fit(groups=...) was given, until training begins: samples × groups, groups × labels, label embeddings.
    _given: tuple[CSR, CSR, Features | None] | None = None

    def __init__(
        self,
        *,
        hidden: int | None = 128,
        concepts: int = 4,
        tau: float = 1.0,
        loss: str = "auto",
        epochs: int = 100,
        batch_size: int = 32,
        lr: float = 0.001,
        weight_decay: float = 0.01,
        validation: float = 0.1,
        patience: int = 10,
        normalize: bool = True,
        vectorizer: TextVectorizer | None = None,
        weights: str = "f32",
        seed: int = 0,
        threads: int | None = None,
    ):
        self.hidden = hidden
        self.concepts = concepts
        self.tau = tau
        self.loss = loss
        self.epochs = epochs
        self.batch_size = batch_size
        self.lr = lr
        self.weight_decay = weight_decay
        self.validation = validation
        self.patience = patience
        self.normalize = normalize
        self.vectorizer = vectorizer
        self.weights = weights
        self.seed = seed
        self.threads = threads

    # ---- learning

    def _labels(
        self, x: Features, Y: Any, groups: Any, group_labels: Any, eagle: Eagle | None, labels: Any
    ) -> tuple[CSR, LabelSet | None]:
        self._given = None
        return super()._labels(x, Y, groups, group_labels, eagle, labels)

    def _hand_out(self, eagle: Eagle, x: Features, y1: CSR, y2: CSR) -> CSR:
        y, directions = eagle._assign(x, y1, y2, embeddings=self.tau > 0)
        self._given = (y1, y2, directions if self.tau > 0 else None)
        return y

    def _begin(self, vectorizer: Any, rows: npt.NDArray[np.int64] | None) -> None:
        if self._given is not None and rows is not None:
            y1, y2, directions = self._given
            self._given = (y1[rows], y2, directions)

    def _fit(
        self, x: Features, y: CSR, sample_weight: npt.NDArray[np.float32] | None, checkpoint: Any
    ) -> None:
        require_torch()
        point = None if checkpoint is None else self._open_checkpoint(checkpoint, x, y, sample_weight)
        given, self._given = self._given, None
        if given is None:
            bags = Bags.of_samples(y, sample_weight)
            embeddings = pifa(x, y, threads=self.threads) if self.tau > 0 else None
        else:
            bags = Bags.of_groups(given[0], given[1], sample_weight)
            embeddings = given[2]
        loss = chosen_loss(self.loss, bags)
        if loss == "share":
            bags = bags.with_labels()
        settings = self._settings(
            Shape(x.shape[1], int(self.hidden or 0), int(self.concepts), y.shape[1]), loss
        )
        self._report_memory(settings.shape, bags)
        directions = as_directions(embeddings)
        trained = train(self._scaled(x), bags, directions, settings, point)
        # Only now does the model change: one whose training was stopped is as it was.
        layers = Layers.of(settings.shape, trained.kept, self.weights)
        self._take(Network(layers, directions, float(self.tau), loss), embeddings)
        self.weights_ = self.weights
        self.training_stats_ = {
            "losses": trained.losses,
            "held_out": trained.held_out,
            "best_epoch": trained.best_epoch,
        }

    def _parameter_arrays(self) -> list[npt.NDArray[Any]]:
        if self._given is None:
            return []
        y1, y2, directions = self._given
        arrays = [part for m in (y1, y2) for part in (m.indptr, m.indices, m.data)]
        return [*arrays, *to_arrays(directions).values()]

    def _settings(self, shape: Shape, loss: str) -> Settings:
        return Settings(
            shape=shape,
            loss=loss,
            tau=float(self.tau),
            epochs=int(self.epochs),
            batch_size=int(self.batch_size),
            rate=float(self.lr),
            decay=float(self.weight_decay),
            validation=float(self.validation),
            patience=int(self.patience),
            seed=int(self.seed),
        )

    def _report_memory(self, shape: Shape, bags: Bags) -> None:
        """Weights, their gradients, moments and the best of them; what a batch of the largest groups takes."""
        batch = int(np.sort(bags.sizes)[-int(self.batch_size) :].sum())
        columns = shape.labels * (3 * shape.concepts + 6) + 3 * shape.hidden
        peak, free = 6 * 4 * shape.n_numbers + 4 * batch * columns, free_memory()
        told = "unknown" if free is None else human_bytes(free)
        message(f"memory: about {human_bytes(peak)} beyond the data ({told} free)")
        if free is not None and peak > free:
            warnings.warn(
                f"Training needs about {human_bytes(peak)} beyond the data ({told} free). Use a smaller hidden layer, "
                "fewer concepts or a smaller batch_size.",
                MemoryWarning,
                stacklevel=4,
            )

    def _take(self, network: Network, embeddings: Features | None) -> None:
        self._network, self.label_embeddings_, self.loss_ = network, embeddings, network.loss

    def _scaled(self, x: Features) -> Features:
        if not self.normalize:
            return x
        scale = row_scales(x).astype(np.float32)
        if not is_sparse(x):
            return x * scale[:, None]
        values = x.data * np.repeat(scale, np.diff(x.indptr))
        return make_csr(x.indptr, x.indices, values, x.shape[1])

    def _features(self, X: Any) -> CSR:
        return self._scaled(as_sparse(super()._features(X)))

    # ---- ranking

    def predict(
        self,
        X: Any,
        k: int = 5,
        *,
        groups: Any = None,
        search: str = "exact",
        only: Any = None,
        exclude: Any = None,
        threads: int | None = None,
    ) -> Ranking:
        """Ranks the labels for each row of X, or for each group of rows.

        Args:
            X: texts if the model was trained on texts, else features; one string or one row is fine.
            k: how many labels; capped at the number of labels there are.
            groups: rank for groups, not for rows: which groups each row is in (CSR, rows × groups, or one group number
                per row). A group without rows has no labels.
            search: "exact": all labels are scored.
            only: labels that may be returned: a list of names or ids for all rows (or groups), a list of such lists,
                or a sparse matrix with a row for each.
            exclude: labels that may not be returned, in the same forms.
            threads: None for the model's own setting.

        Returns:
            A ``Ranking`` with scores in [0, 1]: for "binary" the probability of each label, for "share" its share.
        """
        self._check_fitted()
        check("predict", _PREDICT_CONSTRAINTS, {"k": k, "search": search, "threads": threads})
        check(type(self).__name__, self._constraints, {"threads": self.threads})
        x = self._features(X)
        members = None
        if groups is not None:
            members = sp.csr_matrix(as_groups(groups, x.shape[0]).T)
            members.sort_indices()
        n_rows = x.shape[0] if members is None else members.shape[0]
        wanted, unwanted = (
            as_label_lists(value, name, n_rows, self.n_labels_, self.labels_)
            for value, name in ((only, "only"), (exclude, "exclude"))
        )
        from ..ranking import Ranking

        k = min(int(k), self.n_labels_)
        team = resolve_threads(threads or self.threads)
        parts = [Ranking(np.empty((0, k), np.int32), np.empty((0, k), np.float32), self.labels_)]
        for begin, scores in self._network.scores(x, members):
            allowed = allowed_labels(~np.isnan(scores), begin, wanted, unwanted)
            parts.append(Ranking.from_csr(stored_scores(scores, allowed), k, self.labels_, threads=team))
        return Ranking.concatenate(parts)

    # ---- looking inside

    def explain(self, x: Any, label: str | int, top: int = 10) -> Explanation:
        """What of a sample spoke for and against a label: the gradient of its logit times each feature.

        Args:
            x: one text or one row of features.
            label: a name or an id.
            top: how many features to name.
        """
        row = self._features(x)
        if row.shape[0] != 1:
            raise DataError(f"explain takes one row. Got {row.shape[0]}.")
        check("explain", {"top": Int(1)}, {"top": top})
        wanted = self._label_id(label)
        parts, logit = self._network.layers.contributions(row, wanted)
        score = self._network.score(row, wanted)
        order = np.argsort(-np.abs(parts), kind="stable")[:top]
        names = None if self.vectorizer_ is None else self.vectorizer_.get_feature_names_out()
        ids = row.indices[order].tolist()
        step = Step(
            depth=0,
            n_labels=1,
            margin=logit,
            probability=score,
            bias=logit - float(parts.sum()),
            contributions=[
                (str(i) if names is None else str(names[i]), float(part))
                for i, part in zip(ids, parts[order], strict=True)
                if part != 0
            ],
        )
        return Explanation(self._label_name(wanted), score, [[step]])

    def to_weights(self, weights: str) -> DeepMIML:
        """The same model with weights stored as "f32" or "f16"."""
        check("to_weights", {"weights": self._constraints["weights"]}, {"weights": weights})
        self._check_fitted()
        other: DeepMIML = self._like_this(weights=weights)
        own = self._network
        layers = Layers.of(own.layers.shape, own.layers.numbers, weights)
        other._take(Network(layers, own.directions, own.tau, own.loss), self.label_embeddings_)
        other.weights_ = weights
        return other

    def describe(self) -> dict[str, Any]:
        """Facts about the trained model: sizes, counts, what training took."""
        self._check_fitted()
        shape = self._network.layers.shape
        return {
            "kind": type(self).__name__,
            "n_labels": self.n_labels_,
            "n_features": self.n_features_in_,
            "n_rows": self.n_rows_,
            "hidden": shape.hidden,
            "concepts": shape.concepts,
            "loss": self.loss_,
            "tau": self._network.tau,
            "weights": self.weights_,
            "bytes": self._network.layers.nbytes
            + sum(a.nbytes for a in to_arrays(self.label_embeddings_).values()),
            "text": self.vectorizer_ is not None,
            "named_labels": self.labels_ is not None,
            "training": dict(self.training_stats_),
        }

    # ---- folders

    def _state(self) -> tuple[dict[str, Any], Arrays]:
        network, held = self._network, self.label_embeddings_
        shape = network.layers.shape
        facts = {
            "hidden": shape.hidden,
            "concepts": shape.concepts,
            "loss": network.loss,
            "mask": {"tau": network.tau, "embeddings": kind_of(held)},
            "weights": self.weights_,
            "training": self.training_stats_,
        }
        return facts, {**network.layers.stored, **to_arrays(held)}

    def _restore(self, facts: Mapping[str, Any], arrays: Mapping[str, Any], *, verify: bool) -> None:
        stats, mask, loss = (facts[name] for name in ("training", "mask", "loss"))
        if not isinstance(stats, dict) or not isinstance(mask, dict):
            raise ModelError("the training statistics or the facts of the mask are missing.")
        tau, kind = mask["tau"], mask["embeddings"]
        if loss not in ("binary", "share"):
            raise ModelError("the loss is not known.")
        if type(tau) is not float or not self._constraints["tau"].accepts(tau):
            raise ModelError("tau is not a number >= 0.")
        hidden, concepts = facts["hidden"], facts["concepts"]
        if any(type(n) is not int or not least <= n < 2**31 for n, least in ((hidden, 0), (concepts, 1))):
            raise ModelError("the sizes of the layers are damaged.")
        shape = Shape(self.n_features_in_, hidden, concepts, self.n_labels_)
        layers = Layers.from_arrays(shape, arrays, facts["weights"], verify=verify)
        embeddings = from_arrays(arrays, kind, (self.n_labels_, self.n_features_in_))
        if (embeddings is None) != (tau == 0):
            raise ModelError("the label embeddings do not fit tau.")
        self.weights_, self.training_stats_ = facts["weights"], stats
        directions = as_directions(embeddings)
        self._take(Network(layers, directions, tau, loss), embeddings)
