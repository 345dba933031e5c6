"""From checked arrays and planned levels to trained trees, with checkpoints at the end of each level."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from .. import _native
from ..arrays import CSR, Features, is_sparse
from ..progress import phase
from .plan import LevelPlan

__all__ = ["Examples", "Forest", "SolverSettings", "Steps", "train_levels"]

Arrays = dict[str, npt.NDArray[Any]]


class Steps(Protocol):
    """Where finished levels are kept, as ``store.Checkpoint`` does."""

    def __contains__(self, name: object) -> bool: ...

    def get(self, name: str) -> tuple[Arrays, dict[str, Any]]: ...

    def put(self, name: str, arrays: Arrays, meta: dict[str, Any]) -> None: ...


@dataclass(frozen=True)
class SolverSettings:
    """What the solver needs to know, in its own words."""

    loss: str
    c: float
    bias: float
    tol: float
    max_iter: int
    threshold: float
    weights: str
    beam: int
    node_score: str
    power: int
    matched: bool
    threads: int


@dataclass
class Examples:
    """The training data as the kernels take it, with the facts of X that are needed at every level."""

    x: Features
    y: CSR
    cost: npt.NDArray[np.float32] | None
    threads: int
    square_norm: npt.NDArray[np.float32] = field(init=False)
    rank: npt.NDArray[np.int32] = field(init=False)
    n_internal: int = field(init=False)
    rows_of_label: tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]] = field(init=False)
    frequency: npt.NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        self.square_norm, self.rank, self.n_internal = _native.linear.survey(
            *self.parts, self.x.shape[1], self.threads
        )
        self.rows_of_label = _native.labels.transpose(self.y.indptr, self.y.indices, self.y.shape[1])
        self.frequency = np.diff(self.rows_of_label[0])

    @property
    def parts(self) -> tuple[Any, Any, Any]:
        """indptr, indices, data of CSR; None, None and the matrix of a dense one."""
        if is_sparse(self.x):
            return self.x.indptr, self.x.indices, self.x.data
        return None, None, self.x


@dataclass
class Forest:
    """Trained trees: for each, the arrays of its levels; and the internal numbers of features."""

    trees: list[list[Arrays]]
    rank: npt.NDArray[np.int32]
    n_internal: int
    n_labels: int
    weights: str

    def predictor(self, *, deep: bool, threads: int = 1) -> Any:
        """The native object that answers queries. Raises ValueError if the arrays do not fit each other."""
        return _native.linear.Predictor(
            self.trees, self.rank, self.n_internal, self.n_labels, self.weights, deep=deep, threads=threads
        )

    def arrays(self) -> Iterator[tuple[str, npt.NDArray[Any]]]:
        """Everything by the name it is stored under."""
        yield "features.rank", self.rank
        for t, levels in enumerate(self.trees):
            for d, level in enumerate(levels):
                for name, array in level.items():
                    yield f"tree{t}.level{d}.{name}", array

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for _, array in self.arrays())


def train_levels(
    name: str,
    plans: list[LevelPlan],
    data: Examples,
    settings: SolverSettings,
    seed: int,
    checkpoint: Steps | None = None,
) -> tuple[list[Arrays], dict[str, int]]:
    """Trains one tree level by level; levels that the checkpoint has are taken from it."""
    levels: list[Arrays] = []
    stats = {"passes": 0, "blocks": 0, "unfinished": 0}
    for first, last in _groups(plans, settings):
        steps = [f"{name}-level{depth}" for depth in range(first, last)]
        if checkpoint is not None and all(step in checkpoint for step in steps):
            found = [checkpoint.get(step) for step in steps]
            arrays, facts = [part for part, _ in found], [fact for _, fact in found]
        else:
            extra = _matched_rows(levels, data, settings) if settings.matched and first > 0 else None
            depths = f"{first + 1}" if last == first + 1 else f"{first + 1} to {last}"
            title = f"train {name}, level {depths} of {len(plans)}"
            arrays, facts = _train(title, plans[first:last], data, settings, seed + first, extra)
            if checkpoint is not None:
                for step, part, fact in zip(steps, arrays, facts, strict=True):
                    checkpoint.put(step, part, fact)
        levels.extend(arrays)
        for key in stats:
            stats[key] += sum(int(fact[key]) for fact in facts)
    return levels, stats


def _groups(plans: list[LevelPlan], settings: SolverSettings) -> Iterator[tuple[int, int]]:
    """Which levels are trained together: those near the root, with too few nodes to keep all threads busy, go with the
    ones below. Matched negatives need the level above first."""
    first = 0
    for depth, plan in enumerate(plans):
        small = plan.n_chunks < settings.threads
        if small and not settings.matched and depth + 1 < len(plans):
            continue
        yield first, depth + 1
        first = depth + 1


def _train(
    title: str,
    plans: list[LevelPlan],
    data: Examples,
    settings: SolverSettings,
    seed: int,
    extra: tuple[Any, Any] | None,
) -> tuple[list[Arrays], list[dict[str, int]]]:
    indptr, indices, values = data.parts
    total = sum(int(plan.sizes(data.frequency, data.x.shape[0]).sum()) for plan in plans)
    none = (None, None)
    levels = [
        (
            *(plan.child_ptr, plan.child, plan.label_begin, plan.label_end, plan.order, plan.all_rows),
            *(none if extra is None else extra),
            (seed + depth) % 2**64,
        )
        for depth, plan in enumerate(plans)
    ]
    with phase(title, total=total, unit="examples") as update:
        arrays, facts = _native.linear.train_levels(
            levels,
            rows_ptr=data.rows_of_label[0],
            rows=data.rows_of_label[1],
            x_indptr=indptr,
            x_indices=indices,
            x_data=values,
            square_norm=data.square_norm,
            cost=data.cost,
            rank=data.rank,
            n_internal=data.n_internal,
            loss=settings.loss,
            c=settings.c,
            bias=settings.bias,
            tol=settings.tol,
            max_iter=settings.max_iter,
            threshold=settings.threshold,
            weights=settings.weights,
            threads=settings.threads,
            report=update,
        )
    return arrays, facts


def _matched_rows(levels: list[Arrays], data: Examples, settings: SolverSettings) -> tuple[Any, Any]:
    """The rows that the levels trained so far send to each chunk of the next: (pointers by chunk, rows)."""
    n_next = int(levels[-1]["child"].max()) + 1
    predictor = _native.linear.Predictor(
        [levels], data.rank, data.n_internal, data.y.shape[1], settings.weights, deep=False, partial=True
    )
    with phase("match negatives", total=data.x.shape[0], unit="rows") as update:
        options = _native.linear.SearchOptions(
            k=1,
            beam=settings.beam,
            node_score=settings.node_score,
            label_score=settings.node_score,
            power=settings.power,
            bound=False,
            per_tree=1,
            threads=settings.threads,
            report=update,
        )
        if is_sparse(data.x):
            indptr, chunks = predictor.frontier_sparse(data.x.indptr, data.x.indices, data.x.data, options)
        else:
            indptr, chunks = predictor.frontier_dense(data.x, options)
    pointers, rows = _native.labels.transpose(indptr, chunks, n_next)
    return pointers, rows
