"""Which tree: precision against depth and time, measured on rows held out, and a choice among the best."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from ..arrays import as_features
from ..errors import ParameterError
from ..inputs import as_labels, as_texts
from ..linear import LinearTree
from ..params import Check, Choice, Int, Nullable, Real, check
from ..progress import phase
from ..trees import tradeoff_from_ratio
from .measuring import measure_cost, measure_precision

__all__ = ["RATIOS", "TreePoint", "TreeSweep", "tune_tree"]

# λ' from balanced to Fano: dense where precision and depth change most.
RATIOS = (0.0, 0.5, 1.0, 2.0, 6.0, 10.0, 30.0, 100.0)
DEFAULT_LOSS = 0.002


@dataclass(frozen=True)
class TreePoint:
    """One tree: what it is, what it is worth, what it costs.

    Attributes:
        tradeoff, arity: of the tree.
        precision: P@k on the rows held out, by k.
        depth: expected depth@k by k, as ``metrics.expected_depth`` counts it.
        p50, p99: milliseconds of single queries.
        nodes: tree nodes opened per query.
        fit_seconds: what training took.
        bytes: the size of the trained model.
    """

    tradeoff: float
    arity: int
    precision: dict[int, float]
    depth: dict[int, float]
    p50: float
    p99: float
    nodes: float
    fit_seconds: float
    bytes: int

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class TreeSweep:
    """What ``tune_tree`` gives.

    Attributes:
        points: a ``TreePoint`` for each tree that was tried, by arity and tradeoff.
        best: the one that was picked, or None if none is within the latency budget.
        k: the k whose precision counts.
        cost: what counts as cost: "time" (p50), "depth" or "nodes".
    """

    points: list[TreePoint]
    best: TreePoint | None
    k: int
    cost: str
    template: LinearTree

    @property
    def pareto(self) -> list[TreePoint]:
        """The points that no other beats in both cost and precision, by rising cost."""
        front: list[TreePoint] = []
        for point in sorted(self.points, key=lambda p: (self.cost_of(p), -p.precision[self.k])):
            if not front or point.precision[self.k] > front[-1].precision[self.k]:
                front.append(point)
        return front

    def cost_of(self, point: TreePoint) -> float:
        """The cost by which points are compared."""
        return {"time": point.p50, "depth": point.depth[self.k], "nodes": point.nodes}[self.cost]

    def model(self) -> LinearTree:
        """A ``LinearTree`` with the picked parameters, to be trained on all rows."""
        if self.best is None:
            raise ParameterError("No tree is within the latency budget; look at .points.")
        params = self.template.get_params(deep=False)
        return LinearTree(**{**params, "tradeoff": self.best.tradeoff, "arity": self.best.arity})


def tune_tree(
    X: Any,
    Y: Any,
    *,
    precision: float | None = None,
    latency: float | None = None,
    model: LinearTree | None = None,
    tradeoffs: Sequence[float] | None = None,
    arities: Sequence[int] | None = None,
    k: int = 1,
    ks: Sequence[int] = (1, 3, 5),
    cost: str = "time",
    validation: float | int = 0.1,
    n_queries: int = 500,
    search: dict[str, Any] | None = None,
    seed: int = 0,
) -> TreeSweep:
    """Tries trees from balanced to Fano on a slice held out, and picks one.

    Trains a model for every arity and tradeoff, so it takes as many times as long as training one.

    Args:
        X, Y: examples as ``LinearTree.fit`` takes them.
        precision: how much P@k may be lost against the most precise balanced tree, 0.002 for 0.2 points; the
            cheapest tree within that is picked. 0.002 if latency is not given either.
        latency: milliseconds that the median single query may take; the most precise tree within that is
            picked.
        model: the ``LinearTree`` whose other parameters to use; a binary tree if None.
        tradeoffs: λ to try. If None, those of λ' = 0, 0.5, 1, 2, 6, 10, 30 and 100. The balanced tree, 0, is
            always tried.
        arities: arities to try; the model's own if None.
        k: the k whose precision and depth count.
        ks: the k that are measured.
        cost: what makes a tree cheap: "time", "depth" (expected depth@k) or "nodes" opened per query. The last two
            are the same on every machine.
        validation: the share, or number, of rows held out, drawn with the seed.
        n_queries: how many of them are asked one by one, for the time.
        search: options of ``predict``, such as ``{"search": "exact"}``.
        seed: of the split.

    >>> import longtail as lt
    >>> X = [f"the number {i % 7} and {i % 5}" for i in range(300)]
    >>> Y = [[f"seven {i % 7}", f"five {i % 5}"] for i in range(300)]
    >>> sweep = lt.tune_tree(X, Y, model=lt.LinearTree(arity=2, max_leaf=2), tradeoffs=[1.0], cost="depth", ks=(1,))
    >>> [point.tradeoff for point in sweep.points]
    [0.0, 1.0]
    >>> sweep.model().fit(X, Y).predict("the number 6", k=1).names()
    [['seven 6']]
    """
    template = LinearTree(arity=2) if model is None else model
    ks = tuple(sorted({int(n) for n in (*ks, k)}))
    _check_options(locals())
    template._check_params()
    tried = sorted({0.0, *map(float, _ladder() if tradeoffs is None else tradeoffs)})
    shapes = [template.arity] if arities is None else sorted({int(a) for a in arities})
    train, held_out = _split(template, X, Y, validation, seed)
    search = dict(search or {})
    points = []
    with phase("try trees", total=len(tried) * len(shapes), unit="trees") as update:
        for arity in shapes:
            for tradeoff in tried:
                params = {**template.get_params(deep=False), "arity": arity, "tradeoff": tradeoff}
                candidate = LinearTree(**{**params, "vectorizer": None})
                points.append(_point(candidate, train, held_out, ks, k, n_queries, search))
                update(len(points))
    sweep = TreeSweep(points, None, k, cost, template)
    return replace(sweep, best=_pick(sweep, precision, latency))


def _check_options(values: dict[str, Any]) -> None:
    limits: dict[str, Check] = {
        "precision": Nullable(Real(0, 1)),
        "latency": Nullable(Real(0, open_low=True)),
        "k": Int(1),
        "cost": Choice("time", "depth", "nodes"),
        "n_queries": Int(1),
        "seed": Int(0, 2**63 - 1),
    }
    check("tune_tree", limits, values)
    if values["precision"] is not None and values["latency"] is not None:
        raise ParameterError(
            "tune_tree takes 'precision' or 'latency', not both: one is given up for the other."
        )
    template = values["template"]
    if not isinstance(template, LinearTree):
        raise ParameterError(
            f"The 'model' parameter of tune_tree must be None or a LinearTree. Got {template!r} instead."
        )
    if template.tree is not None:
        raise ParameterError("tune_tree builds trees itself; the model's 'tree' must be None.")
    for tradeoff in values["tradeoffs"] or ():
        check("tune_tree", {"tradeoffs": Real(0, 2)}, {"tradeoffs": tradeoff})
    for arity in values["arities"] or ():
        check("tune_tree", {"arities": Int(2, 64)}, {"arities": arity})


def _ladder() -> list[float]:
    return [tradeoff_from_ratio(ratio) for ratio in RATIOS]


def _split(template: LinearTree, X: Any, Y: Any, validation: float | int, seed: int) -> tuple[Any, Any]:
    """((X, Y) to train on, (X, Y) held out) as matrices: texts are made features once, of the first part."""
    from ..data import Dataset

    texts = as_texts(X)
    given = Dataset(texts=texts) if texts is not None else Dataset(X=as_features(X))
    y, _ = as_labels(Y, given.n_rows)
    rest, held_out = replace(given, Y=y).split(validation, seed)
    if texts is None:
        return (rest.X, rest.Y), (held_out.X, held_out.Y)
    vectorizer, features = template._vectorize(list(rest.texts or ()))
    return (features, rest.Y), (vectorizer.transform(held_out.texts or ()), held_out.Y)


def _point(
    candidate: LinearTree,
    train: tuple[Any, Any],
    held_out: tuple[Any, Any],
    ks: Sequence[int],
    k: int,
    n_queries: int,
    search: dict[str, Any],
) -> TreePoint:
    begin = time.perf_counter()
    candidate.fit(*train)
    fit_seconds = time.perf_counter() - begin
    worth = measure_precision(candidate, *held_out, [n for n in ks if n <= candidate.n_labels_], **search)
    cost = measure_cost(candidate, held_out[0], max(ks), n_queries, **search)
    return TreePoint(
        tradeoff=float(candidate.tradeoff or 0.0),
        arity=int(candidate.arity),
        precision={n: worth[f"P@{n}"] for n in ks if n <= candidate.n_labels_},
        depth={n: worth[f"depth@{n}"] for n in ks if n <= candidate.n_labels_},
        **cost.to_dict(),
        fit_seconds=fit_seconds,
        bytes=candidate.forest_.nbytes,
    )


def _pick(sweep: TreeSweep, precision: float | None, latency: float | None) -> TreePoint | None:
    if latency is not None:
        fitting = [point for point in sweep.points if point.p50 <= latency]
        return max(fitting, key=lambda p: (p.precision[sweep.k], -sweep.cost_of(p)), default=None)
    allowed = DEFAULT_LOSS if precision is None else precision
    balanced = max(p.precision[sweep.k] for p in sweep.points if p.tradeoff == 0)
    good = [p for p in sweep.points if p.precision[sweep.k] >= balanced - allowed - 1e-12]
    return min(good, key=lambda p: (sweep.cost_of(p), -p.precision[sweep.k]))
