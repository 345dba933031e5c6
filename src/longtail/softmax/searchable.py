"""How a trained hierarchical softmax is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .. import _native
from ..arrays import as_sparse
from ..errors import ParameterError
from ..inputs import as_label_lists
from ..model import Model
from ..params import Check, Choice, Int, Nullable, Real, check
from ..threads import resolve_threads
from ..trees import LabelTree
from .decisions import Decisions
from .vectors import Vectors

if TYPE_CHECKING:
    from ..ranking import Ranking

__all__ = ["Searchable"]

ROWS_WITHOUT_THREADS = 64  # as in native/softmax/predictor.cpp
BEAM = 10
_LARGEST = 2**62
_CONSTRAINTS: dict[str, Check] = {
    "k": Int(1),
    "beam": Nullable(Int(1)),
    "search": Nullable(Choice("exact", "beam", "budget")),
    "budget": Nullable(Int(1)),
    "time_budget": Nullable(Real(0, 1e9, open_low=True)),
    "slack": Real(0, 80),
    "threads": Nullable(Int(1, 4096)),
}


class Searchable(Model):
    """A model whose tree and vectors are in native memory: ``_take`` puts them there."""

    dim: int
    threads: int | None

    trees_: list[LabelTree]
    search_stats_: dict[str, npt.NDArray[np.int32]]
    weights_: str
    _predictor: Any
    _decisions: Decisions
    _inputs: Vectors
    _outputs: Vectors

    def _take(self, tree: LabelTree, decisions: Decisions, inputs: Vectors, outputs: Vectors) -> None:
        self._predictor = _native.softmax.Predictor(
            child_ptr=decisions.child_ptr,
            child=decisions.child,
            n_labels=tree.n_labels,
            input=inputs.data,
            input_scale=inputs.scale,
            output=outputs.data,
            output_scale=outputs.scale,
            type=inputs.kind,
        )
        self.trees_ = [tree]
        self._decisions, self._inputs, self._outputs = decisions, inputs, outputs
        self.weights_ = inputs.kind

    def predict(
        self,
        X: Any,
        k: int = 5,
        *,
        beam: int | None = None,
        search: str | None = None,
        budget: int | None = None,
        time_budget: float | None = None,
        slack: float = 0.0,
        only: Any = None,
        exclude: Any = None,
        threads: int | None = None,
    ) -> Ranking:
        """Ranks the labels for each row of X by their probabilities.

        Args:
            X: texts if the model was trained on texts, else features; one string or one row is fine.
            k: how many labels; capped at the number of labels there are.
            beam: tree nodes kept per level; asks for search="beam".
            search: "exact" (the default): the best node is opened first, until none can hold one of the k best labels,
                so the result is that of scoring all labels; "budget": the same, but a row also stops when its budget
                is used up, with the best labels found so far, which may be fewer than k; "beam": level by level, the
                best nodes of each.
            budget: how many nodes a row may open; asks for search="budget".
            time_budget: how many microseconds a row may take; asks for search="budget". Results then depend on the
                clock.
            slack: stop earlier: a label that is missed for this is at most exp(slack) times as probable as the last one
                in the list.
            only: labels that may be returned: a list of names or ids for all rows, a list of such lists, or a sparse
                matrix with a row per query. All of them are scored, whatever the search.
            exclude: labels that may not be returned, in the same forms.
            threads: None for the model's own setting.

        Returns:
            A ``Ranking``; ``search_stats_["nodes_opened"]`` says how many tree nodes each row took.
        """
        self._check_fitted()
        given = {"k": k, "beam": beam, "search": search, "budget": budget, "time_budget": time_budget}
        check("predict", _CONSTRAINTS, {**given, "slack": slack, "threads": threads})
        check(type(self).__name__, self._constraints, {"threads": self.threads})
        mode = _mode(search, beam, budget, time_budget)
        x = as_sparse(self._features(X))
        n_rows = x.shape[0]
        only_ptr, only_ids = as_label_lists(only, "only", n_rows, self.n_labels_, self.labels_)
        exclude_ptr, exclude_ids = as_label_lists(exclude, "exclude", n_rows, self.n_labels_, self.labels_)
        query = _native.softmax.Query(
            search=mode,
            k=min(int(k), self.n_labels_),
            beam=min(int(beam or BEAM), _LARGEST),
            max_nodes=min(int(budget or 0), _LARGEST),
            max_ns=max(1, round(1000 * time_budget)) if time_budget else 0,
            slack=float(slack),
            only_ptr=only_ptr,
            only=only_ids,
            exclude_ptr=exclude_ptr,
            exclude=exclude_ids,
            threads=1 if n_rows <= ROWS_WITHOUT_THREADS else resolve_threads(threads or self.threads),
        )
        labels, scores, opened = self._predictor.predict(x.indptr, x.indices, x.data, query)
        self.search_stats_ = {"nodes_opened": opened}
        return self._ranking(labels, scores)

    def embed(self, X: Any) -> npt.NDArray[np.float32]:
        """The average embedding of each row of X: (rows, dim)."""
        x = as_sparse(self._features(X))
        hidden = self._predictor.hidden(x.indptr, x.indices, x.data, resolve_threads(self.threads))
        return np.ascontiguousarray(hidden[:, : int(self.dim)])


def _mode(search: str | None, beam: int | None, budget: int | None, time_budget: float | None) -> str:
    """The search that is meant; an error where parameters contradict each other."""
    has_budget = budget is not None or time_budget is not None
    mode = search or ("beam" if beam is not None else "budget" if has_budget else "exact")
    for name, value, owner in (
        ("beam", beam, "beam"),
        ("budget", budget, "budget"),
        ("time_budget", time_budget, "budget"),
    ):
        if value is not None and mode != owner:
            raise ParameterError(
                f"The '{name}' parameter of predict belongs to search='{owner}', not '{mode}'."
            )
    if mode == "budget" and not has_budget:
        raise ParameterError(
            "search='budget' needs the 'budget' parameter (nodes a row may open) or 'time_budget' (microseconds a row)."
        )
    return mode
