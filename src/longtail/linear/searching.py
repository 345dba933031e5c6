"""What ``predict`` is asked for, checked and in the native form."""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import _native
from ..errors import ParameterError
from ..params import Check, Choice, Int, Nullable, Real, check

__all__ = ["EVERYTHING", "Search", "native_options"]

# What each of several trees hands to the average: its best labels, at least this many.
PER_TREE = 100
EVERYTHING = 2**31 - 1

_CONSTRAINTS: dict[str, Check] = {
    "k": Int(1),
    "beam": Nullable(Int(1)),
    "search": Choice("beam", "exact", "budget"),
    "slack": Real(0, 80),
    "budget": Nullable(Int(1, 2**62)),
    "time_budget": Nullable(Real(0, 1e9, open_low=True)),
    "threads": Nullable(Int(1, 4096)),
}


class Search(NamedTuple):
    """The arguments of one ``predict`` and what the model itself says: together they are the key of native options."""

    k: int
    beam: int | None
    search: str
    slack: float
    budget: int | None
    time_budget: float | None
    own_beam: int
    node_score: str
    label_score: str
    power: int
    n_labels: int

    def check(self, threads: int | None = None) -> None:
        """Raises ParameterError at the first argument that is wrong, or does not go with the others."""
        check("predict", _CONSTRAINTS, {**self._asdict(), "threads": threads})
        has_budget = self.budget is not None or self.time_budget is not None
        if self.search == "budget" and not has_budget:
            raise ParameterError(
                "predict(search='budget') needs 'budget' (tree nodes a query) or 'time_budget' (microseconds a query)."
            )
        if self.search != "budget" and has_budget:
            raise ParameterError(
                "The 'budget' and 'time_budget' parameters of predict go with search='budget' only. "
                f"Got search={self.search!r}."
            )
        if self.slack and self.is_raw:
            raise ParameterError(
                "The 'slack' parameter of predict must be 0 for raw scores: raw margins set no bound to what is below."
            )

    @property
    def is_raw(self) -> bool:
        return "raw" in (self.node_score, self.label_score)


def native_options(search: Search, *, threads: int = 1, bound: bool = True, **lists: Any) -> Any:
    """The native form. ``lists``: only_ptr, only, exclude_ptr, exclude. Without the bound a beam opens all of its
    nodes, also those that cannot change the list: there to measure what the bound is worth."""
    everything = search.search == "exact" and search.is_raw  # without a bound all there is gets opened anyway
    return _native.linear.SearchOptions(
        k=min(int(search.k), search.n_labels),
        beam=EVERYTHING if everything else min(int(search.beam or search.own_beam), EVERYTHING),
        node_score=search.node_score,
        label_score=search.label_score,
        power=int(search.power),
        bound=bound,
        per_tree=PER_TREE,
        kind="beam" if search.search == "beam" or everything else "best_first",
        slack=float(search.slack),
        max_nodes=int(search.budget or 0),
        max_ns=max(1, round(1000 * search.time_budget)) if search.time_budget else 0,
        threads=threads,
        **lists,
    )
