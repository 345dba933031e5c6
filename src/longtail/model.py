"""What every model shares: texts or features in, a folder out.

A model is a class derived from ``Model`` that says in ``_fit`` how it learns from a checked matrix and in ``predict``
how it ranks. This module gives it texts (through a vectorizer that is saved with it), label names, ``save`` and
``load``. How to add a model is told in docs/how-to/add-a-model.md.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from .arrays import CSR, Features, as_features, is_sparse
from .errors import DataError, LongtailError, ModelError, NotFittedError, ParameterError
from .inputs import as_group_labels, as_groups, as_labels, as_texts
from .params import Parametrized

if TYPE_CHECKING:
    from .groups import Eagle
    from .labels import LabelSet
    from .ranking import Ranking
    from .text import TextVectorizer, WordBags

__all__ = ["Model", "VectorizerCheck", "load"]

# Where the classes of saved models live. Only these are ever made from a folder.
_KINDS = {
    "DeepMIML": "longtail.dense",
    "HierarchicalSoftmax": "longtail.softmax",
    "LinearTree": "longtail.linear",
    "OneVsRest": "longtail.linear",
}

Arrays = dict[str, npt.NDArray[Any]]


class VectorizerCheck:
    """Accepts a TextVectorizer without importing it; a constraint of parameters."""

    def accepts(self, value: Any) -> bool:
        return type(value).__name__ == "TextVectorizer" and hasattr(value, "fit_transform")

    def __str__(self) -> str:
        return "a TextVectorizer"


class Model(Parametrized, ABC):
    """The base of all models. See the module's text for what a subclass has to give."""

    _estimator_type: ClassVar[str] = "classifier"

    vectorizer: TextVectorizer | None
    vectorizer_: TextVectorizer | WordBags | None
    labels_: LabelSet | None
    n_labels_: int
    n_features_in_: int
    label_frequencies_: npt.NDArray[np.int64]
    n_rows_: int
    evaluation_: dict[str, Any] | None

    # ---- what a subclass gives

    @abstractmethod
    def _fit(
        self, x: Features, y: CSR, sample_weight: npt.NDArray[np.float32] | None, checkpoint: Any
    ) -> None:
        """Learns from checked data."""

    @abstractmethod
    def predict(self, X: Any, k: int = 5) -> Ranking:
        """The k best labels for each row of X; a subclass may take more options."""

    @abstractmethod
    def _state(self) -> tuple[dict[str, Any], Arrays]:
        """Facts and arrays to save."""

    @abstractmethod
    def _restore(self, facts: Mapping[str, Any], arrays: Mapping[str, Any], *, verify: bool) -> None:
        """The inverse of ``_state``; a ModelError (or ValueError) if the arrays do not fit."""

    # ---- learning

    def fit(
        self,
        X: Any,
        Y: Any = None,
        *,
        groups: Any = None,
        group_labels: Any = None,
        eagle: Eagle | None = None,
        labels: Any = None,
        sample_weight: Any = None,
        checkpoint: str | PathLike[str] | None = None,
    ) -> Any:
        """Learns from examples.

        Args:
            X: texts (a list of strings), or features (CSR or a 2-d array), one row an example.
            Y: labels of the examples: CSR with a column per label, or a list of lists of label names.
            groups: instead of Y, where labels are known only of groups of examples: which groups each example is in
                (CSR, examples × groups, or one group number per example).
            group_labels: how often each group has a label: CSR, groups × labels, or a list of label names per group.
            eagle: how the labels of groups are handed to their examples; ``Eagle()`` if None.
            labels: names of the columns of Y or of group_labels, if it is a matrix.
            sample_weight: a number >= 0 per example.
            checkpoint: a folder that keeps what has been finished. If training is stopped, calling ``fit`` with the
                same data, parameters and folder goes on from there. It is left in place: ``longtail train`` deletes
                it when the model is saved, and so can you.
        """
        self._check_params()
        texts = as_texts(X)
        vectorizer = None
        if texts is not None:
            vectorizer, x = self._vectorize(texts)
        else:
            x = as_features(X)
        if x.shape[0] == 0:
            raise DataError("X has no rows.")
        if x.shape[1] == 0:
            raise DataError("X has no features (columns).")
        y, names = self._labels(x, Y, groups, group_labels, eagle, labels)
        if y.nnz == 0:
            what = "Y has no label for any row" if groups is None else "no group with samples has a label"
            raise DataError(f"{what}, so there is nothing to learn.")
        weight = _checked_weight(sample_weight, x.shape[0])
        rows = None
        if weight is not None and not weight.all():
            rows = np.flatnonzero(weight)
            if len(rows) == 0:
                raise DataError("sample_weight is 0 for every row.")
            x, y, weight = x[rows], y[rows], weight[rows]
        self._begin(vectorizer, rows)
        self._fit(x, y, weight, checkpoint)
        frequencies = np.bincount(y.indices, minlength=y.shape[1]).astype(np.int64)
        self.vectorizer_ = vectorizer
        self.labels_ = names
        self.n_labels_ = y.shape[1]
        self.n_features_in_ = x.shape[1]
        self.n_rows_ = x.shape[0]
        self.label_frequencies_ = frequencies
        self.evaluation_ = None
        return self

    def _labels(
        self, x: Features, Y: Any, groups: Any, group_labels: Any, eagle: Eagle | None, labels: Any
    ) -> tuple[CSR, LabelSet | None]:
        """The labels of the examples, as given or by way of their groups; and the names of the columns."""
        if groups is None and group_labels is None:
            if eagle is not None:
                raise ParameterError("The 'eagle' parameter of fit needs groups and group_labels.")
            return as_labels(Y, x.shape[0], labels)
        if Y is not None or groups is None or group_labels is None:
            raise DataError("fit takes either Y, or groups and group_labels, and these two together.")
        from .groups import Eagle

        eagle = Eagle(threads=getattr(self, "threads", None)) if eagle is None else eagle
        if not isinstance(eagle, Eagle):
            raise ParameterError(
                f"The 'eagle' parameter of fit must be None or an Eagle. Got {eagle!r:.60} instead."
            )
        y1 = as_groups(groups, x.shape[0], group_labels)
        y2, names = as_group_labels(group_labels, y1.shape[1], labels)
        return self._hand_out(eagle, x, y1, y2), names

    def _hand_out(self, eagle: Eagle, x: Features, y1: CSR, y2: CSR) -> CSR:
        """The labels of the examples, from samples × groups and groups × labels."""
        y, _ = eagle._assign(x, y1, y2, embeddings=False)
        return y

    def _vectorize(self, texts: list[str]) -> tuple[TextVectorizer | WordBags, Features]:
        from .text import TextVectorizer

        vectorizer = TextVectorizer() if self.vectorizer is None else self.vectorizer
        fresh = type(vectorizer)(**vectorizer.get_params(deep=False))
        if fresh.threads is None:
            fresh.set_params(threads=getattr(self, "threads", None))
        return fresh, fresh.fit_transform(texts)

    def _begin(
        self, vectorizer: TextVectorizer | WordBags | None, rows: npt.NDArray[np.int64] | None
    ) -> None:
        """Hears, before ``_fit``, what made features of texts (None if X was features), and the rows that have weight
        (None for all)."""

    def _open_checkpoint(self, path: Any, x: Features, y: CSR, weight: Any) -> Any:
        from .store import Checkpoint, fingerprint_arrays

        parts = [x.indptr, x.indices, x.data] if is_sparse(x) else [x]
        parts += [y.indptr, y.indices, *([] if weight is None else [weight]), *self._parameter_arrays()]
        data = fingerprint_arrays(*parts)
        params = self._params_to_json()
        for name in ("threads", "vectorizer"):  # do not change what is learnt from the same X
            params.pop(name, None)
        return Checkpoint(
            path, {"kind": type(self).__name__, "params": params, "shape": list(x.shape), "data": data}
        )

    def _parameter_arrays(self) -> list[npt.NDArray[Any]]:
        """Arrays inside parameters: what a checkpoint depends on beside ``_params_to_json``."""
        return []

    # ---- ranking

    def _features(self, X: Any) -> Features:
        """X as the model's features: texts go through the vectorizer it was trained with."""
        self._check_fitted()
        texts = as_texts(X)
        if texts is None and isinstance(X, list | tuple) and len(X) == 0:
            texts = [] if self.vectorizer_ is not None else None
        if texts is None:
            if is_sparse(X) or hasattr(X, "shape") or isinstance(X, list | tuple):
                return as_features(X, n_cols=self.n_features_in_)
            raise DataError(
                f"X must be texts, a sparse matrix or a 2-d array. Got {type(X).__name__} instead."
            )
        if self.vectorizer_ is None:
            raise DataError(
                "X is text, but the model was trained on features. Give features, or train it on texts."
            )
        return self.vectorizer_.transform(texts)

    def _check_fitted(self) -> None:
        if not hasattr(self, "n_labels_"):
            raise NotFittedError(
                f"This {type(self).__name__} is not trained yet. Call fit first, or longtail.load."
            )

    def _like_this(self, **params: Any) -> Any:
        """A model with other parameters that knows what this one learned, but for the kind's own parts of it."""
        other = type(self)(**{**self.get_params(deep=False), **params})
        for name, value in vars(self).items():
            if name.endswith("_") and not name.startswith("_"):
                setattr(other, name, value)
        return other

    def _ranking(self, labels: Any, scores: Any) -> Ranking:
        from .ranking import Ranking

        return Ranking._of(labels, scores, self.labels_)

    def _label_id(self, label: str | int) -> int:
        if isinstance(label, str):
            if self.labels_ is None:
                raise DataError("The model was trained without label names. Give the id of the label.")
            return int(self.labels_.ids([label])[0])
        if (
            isinstance(label, bool)
            or not isinstance(label, int | np.integer)
            or not 0 <= label < self.n_labels_
        ):
            raise DataError(
                f"label must be a name or an id from 0 to {self.n_labels_ - 1}. Got {label!r} instead."
            )
        return int(label)

    def _label_name(self, label: int) -> str:
        """The name of a label, or its id in words."""
        return str(label) if self.labels_ is None else str(self.labels_[label])

    # ---- scikit-learn

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True, multi_output=True, single_output=False),
            transformer_tags=None,
            regressor_tags=None,
            classifier_tags=ClassifierTags(multi_class=False, multi_label=True),
            input_tags=InputTags(sparse=True, string=True),
        )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_labels_")

    # ---- folders

    def save(self, path: str | PathLike[str], *, evaluation: Mapping[str, Any] | None = None) -> None:
        """Writes the model as a folder, all at once: a crash leaves the old one or the new one.

        Args:
            path: the folder. A model that is there already is replaced; anything else is left alone (ModelError).
            evaluation: measures to keep beside the model, such as ``evaluate(...).to_dict()``.
        """
        from .store import write_folder

        self._check_fitted()
        facts, arrays = self._state()
        facts["n_labels"], facts["n_features"], facts["n_rows"] = (
            self.n_labels_,
            self.n_features_in_,
            self.n_rows_,
        )
        arrays["label_frequencies"] = self.label_frequencies_
        for part in ("labels", "vectorizer"):
            held = getattr(self, f"{part}_")
            if held is not None:
                facts[part], part_arrays = held.to_state()
                arrays.update({f"{part}.{name}": array for name, array in part_arrays.items()})
        if evaluation is not None:
            self.evaluation_ = dict(evaluation)
        write_folder(
            path,
            kind=type(self).__name__,
            params=self._params_to_json(),
            facts=facts,
            arrays=arrays,
            evaluation=self.evaluation_,
        )

    def _params_to_json(self) -> dict[str, Any]:
        params = self.get_params(deep=False)
        if params.get("vectorizer") is not None:
            given = params["vectorizer"].get_params(deep=False)
            given["dtype"] = np.dtype(given["dtype"]).name
            if isinstance(given["stop_words"], set | frozenset):
                given["stop_words"] = sorted(given["stop_words"])
            params["vectorizer"] = given
        return params

    @classmethod
    def _params_from_json(cls, params: dict[str, Any], arrays: Mapping[str, Any]) -> dict[str, Any]:
        if params.get("vectorizer") is not None:
            from .text import TextVectorizer

            given = dict(params["vectorizer"])
            if isinstance(given.get("ngram_range"), list):
                given["ngram_range"] = tuple(given["ngram_range"])
            if given.get("dtype") in ("float32", "float64"):
                given["dtype"] = np.dtype(given["dtype"]).type
            params["vectorizer"] = TextVectorizer(**given)
        return params

    @classmethod
    def _from_folder(cls, folder: Any, *, verify: bool) -> Any:
        facts, arrays = folder.facts, folder.arrays
        try:
            model = cls(**cls._params_from_json(dict(folder.params), arrays))
            model._check_params()
            model.n_labels_ = _count(facts, "n_labels")
            model.n_features_in_ = _count(facts, "n_features")
            model.n_rows_ = _count(facts, "n_rows")
            frequencies = arrays["label_frequencies"]
            if frequencies.shape != (model.n_labels_,) or frequencies.dtype != np.int64:
                raise ModelError("label_frequencies does not fit the labels.")
            model.label_frequencies_ = frequencies
            model.labels_ = _part(facts, arrays, "labels")
            model.vectorizer_ = _part(facts, arrays, "vectorizer")
            if model.labels_ is not None and len(model.labels_) != model.n_labels_:
                raise ModelError("the label names do not fit the labels.")
            if model.vectorizer_ is not None and model.vectorizer_.n_features_ != model.n_features_in_:
                raise ModelError("the vectorizer does not fit the features.")
            model.evaluation_ = folder.evaluation
            model._restore(facts, arrays, verify=verify)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            words = f"lacks {error}" if isinstance(error, KeyError) else str(error)
            raise ModelError(f"{folder.path}: {words}") from error
        return model


def load(path: str | PathLike[str], *, verify: bool = True) -> Any:
    """The model that a folder holds; the same predictions as before it was saved, bit for bit.

    Args:
        path: a folder written by ``model.save``.
        verify: compare all checksums and walk all classifiers, which reads the whole folder. Without it, only a folder
            that you trust is safe to use; its arrays are read when they are needed.
    """
    from .store import read_folder

    folder = read_folder(path, verify=verify)
    home = _KINDS.get(folder.kind)
    if home is None:
        raise ModelError(
            f"{folder.path}: holds a '{folder.kind}', which is none of: {', '.join(sorted(_KINDS))}."
        )
    kind = getattr(import_module(home), folder.kind)
    try:
        return kind._from_folder(folder, verify=verify)
    except LongtailError as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"{folder.path}: {error}") from error


def _count(facts: Mapping[str, Any], name: str) -> int:
    value = facts[name]
    if type(value) is not int or not 0 < value < 2**31:
        raise ModelError(f"{name} must be a count. Got {value!r:.40} instead.")
    return value


def _part(facts: Mapping[str, Any], arrays: Mapping[str, Any], part: str) -> Any:
    if part not in facts:
        return None
    own = {name[len(part) + 1 :]: array for name, array in arrays.items() if name.startswith(part + ".")}
    if part == "labels":
        from .labels import LabelSet

        return LabelSet.from_state(facts[part], own)
    from .text import TextVectorizer, WordBags

    bags = isinstance(facts[part], Mapping) and facts[part].get("kind") == "WordBags"
    return (WordBags if bags else TextVectorizer).from_state(facts[part], own)


def _checked_weight(weight: Any, n_rows: int) -> npt.NDArray[np.float32] | None:
    if weight is None:
        return None
    try:
        with np.errstate(over="ignore"):
            w = np.ascontiguousarray(weight, dtype=np.float32)
    except (ValueError, TypeError) as error:
        raise DataError(f"sample_weight must be numbers: {error}.") from None
    if w.shape != (n_rows,):
        raise DataError(
            f"sample_weight must have one number for each of the {n_rows} rows. Got shape {w.shape} instead."
        )
    if not np.isfinite(w).all() or (w < 0).any():
        raise DataError("sample_weight must be finite and >= 0.")
    return w
