"""How linear models are asked: many rows at once, or one without any setting up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ..arrays import Features, is_sparse
from ..errors import ParameterError
from ..inputs import as_label_lists
from ..model import Model
from ..params import check
from ..ranking import Ranking
from ..threads import resolve_threads
from .searching import Search, native_options
from .training import Forest
from .unit import unit_rows

if TYPE_CHECKING:
    from ..text import TextVectorizer

__all__ = ["Searchable"]

_SEARCH_PARAMS = ("normalize", "beam", "node_score", "label_score", "hinge_power", "threads")
ROWS_WITHOUT_THREADS = 64  # as in native/linear/predictor.cpp


class Searchable(Model):
    """A model whose classifiers are in native memory. A subclass sets ``forest_``, ``_predictor`` and, with them, empty
    ``_known_options``."""

    normalize: bool
    label_score: str
    hinge_power: int
    threads: int | None

    vectorizer_: TextVectorizer | None
    forest_: Forest
    search_stats_: dict[str, npt.NDArray[np.int32]]
    _predictor: Any
    _known_options: dict[Search, tuple[Any, int]]

    def _search_defaults(self) -> tuple[int, str]:
        """Beam and score of inner nodes."""
        return 1, self.label_score

    def _scaled(self, x: Features) -> Features:
        return unit_rows(x, resolve_threads(self.threads)) if self.normalize else x

    def _features(self, X: Any) -> Features:
        x = super()._features(X)
        self._check_search_params()
        return self._scaled(x)

    def predict(
        self,
        X: Any,
        k: int = 5,
        *,
        beam: int | None = None,
        search: str = "beam",
        slack: float = 0.0,
        budget: int | None = None,
        time_budget: float | None = None,
        only: Any = None,
        exclude: Any = None,
        threads: int | None = None,
    ) -> Ranking:
        """Ranks the labels for each row of X.

        Args:
            X: texts if the model was trained on texts, else features; one string or one row is fine.
            k: how many labels; capped at the number of labels there are.
            beam: tree nodes kept per level; the model's own by default.
            search: "beam"; "exact": the best node there is gets opened until none could change the list, so the result
                is that of scoring all labels; "budget": the same, but a query also stops when its budget is used up,
                with the best labels found so far.
            slack: stop earlier: a label that the list misses for it scores at most exp(slack) times the last label of
                the list, and so does the j-th score of the list without slack to the j-th of this one.
            budget: with search="budget", how many tree nodes a query may open.
            time_budget: with search="budget", how many microseconds a query may take. Results then depend on the clock.
            only: labels that may be returned: a list of names or ids for all rows, a list of such lists, or a sparse
                matrix with a row per query. The beam leaves none of them out.
            exclude: labels that may not be returned, in the same forms.
            threads: None for the model's own setting.

        Returns:
            A ``Ranking``; ``search_stats_["nodes_opened"]`` says how many tree nodes each row took.
        """
        self._check_fitted()
        own_beam, node_score = self._search_defaults()
        asked = Search(
            k,
            beam,
            search,
            slack,
            budget,
            time_budget,
            own_beam,
            node_score,
            self.label_score,
            self.hinge_power,
            self.n_labels_,
        )
        if only is None and exclude is None and threads is None and type(k) is int:
            answer = self._answer_one(X, asked)
            if answer is not None:
                return answer
        asked.check(threads)
        x = self._features(X)
        n_rows = x.shape[0]
        only_ptr, only_ids = as_label_lists(only, "only", n_rows, self.n_labels_, self.labels_)
        exclude_ptr, exclude_ids = as_label_lists(exclude, "exclude", n_rows, self.n_labels_, self.labels_)
        options = native_options(
            asked,
            threads=1 if n_rows <= ROWS_WITHOUT_THREADS else resolve_threads(threads or self.threads),
            only_ptr=only_ptr,
            only=only_ids,
            exclude_ptr=exclude_ptr,
            exclude=exclude_ids,
        )
        if is_sparse(x):
            labels, scores, opened = self._predictor.predict_sparse(x.indptr, x.indices, x.data, options)
        else:
            labels, scores, opened = self._predictor.predict_dense(x, options)
        self.search_stats_ = {"nodes_opened": opened}
        return self._ranking(labels, scores)

    def _answer_one(self, X: Any, asked: Search) -> Ranking | None:
        """One text or one sparse row without any setting up; None for whatever is not plainly that, or not right: the
        long way handles it, or says what is wrong."""
        kind = type(X)
        if kind is str or (kind is list and len(X) == 1 and type(X[0]) is str):
            if self.vectorizer_ is None:
                return None
            indices, values = self.vectorizer_.transform_one(X if kind is str else X[0])
        elif kind is sp.csr_matrix or kind is sp.csr_array:
            if X.shape != (1, self.n_features_in_):
                return None
            indices, values, ends = X.indices, X.data, X.indptr
            if len(ends) != 2 or ends[0] != 0 or ends[1] != len(indices):
                return None
        else:
            return None
        try:
            options, width = self._known_options[asked]
        except (KeyError, TypeError):
            asked.check()
            self._check_search_params()
            options, width = native_options(asked), min(asked.k, self.n_labels_)
            # A handful: few programs ask in more ways, and settings changed for each query must not pile up.
            kept = self._known_options if len(self._known_options) < 32 else {}
            self._known_options = {**kept, asked: (options, width)}
        labels = np.empty((1, width), np.int32)
        scores = np.empty((1, width), np.float32)
        opened = np.empty(1, np.int32)
        try:
            if not self._predictor.predict_row(
                indices, values, self.normalize, options, labels, scores, opened
            ):
                return None
        except TypeError:  # other types of columns or values
            return None
        self.search_stats_ = {"nodes_opened": opened}
        return Ranking._of(labels, scores, self.labels_)

    def _check_search_params(self) -> None:
        """What ``set_params`` may have changed since training."""
        names = [name for name in _SEARCH_PARAMS if name in self._constraints]
        check(type(self).__name__, self._constraints, {name: getattr(self, name) for name in names})
        if len(self.forest_.trees) > 1 and "raw" in (self._search_defaults()[1], self.label_score):
            raise ParameterError("The scores of several trees are averaged, which raw margins do not allow.")
