"""What a tree model costs and what it is worth, on one page of numbers."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..arrays import is_sparse
from ..metrics import evaluate, expected_depth

__all__ = ["Cost", "measure_cost", "measure_precision"]


@dataclass(frozen=True)
class Cost:
    """Single queries, one after another on one thread.

    Attributes:
        p50, p99: milliseconds that half, and 99 of 100 queries stay below.
        nodes: tree nodes opened per query, on average.
    """

    p50: float
    p99: float
    nodes: float

    def to_dict(self) -> dict[str, float]:
        return asdict(self)


def measure_precision(model: Any, X: Any, Y: Any, ks: Sequence[int], **search: Any) -> dict[str, float]:
    """P@k and expected depth@k (averaged over the trees) for all k, by one batch prediction."""
    ranking = model.predict(X, k=max(ks), **search)
    report = evaluate(ranking, Y, k=tuple(ks), metrics=["P"])
    out = {f"P@{k}": float(report[f"P@{k}"]) for k in ks}
    for k in ks:
        out[f"depth@{k}"] = float(np.mean([expected_depth(ranking, tree, k) for tree in model.trees_]))
    return out


def measure_cost(
    model: Any, X: Any, k: int, n_queries: int, seed: int = 0, **search: Mapping[str, Any]
) -> Cost:
    """Times ``model.predict`` row by row, on rows of X drawn with the seed (all if there are fewer).

    Every row is asked twice and the faster time counts, which takes out most of what other programs do to the clock.
    """
    rows = np.random.default_rng(seed).permutation(X.shape[0])[:n_queries]
    queries = [X[i] if is_sparse(X) else X[i : i + 1] for i in rows.tolist()]
    for query in queries[:20]:
        model.predict(query, k=k, **search)
    seconds, nodes = np.full(len(queries), np.inf), np.zeros(len(queries))
    for _ in range(2):
        for i, query in enumerate(queries):
            begin = time.perf_counter()
            model.predict(query, k=k, **search)
            seconds[i] = min(seconds[i], time.perf_counter() - begin)
            nodes[i] = model.search_stats_["nodes_opened"].mean()
    p50, p99 = np.percentile(seconds, [50, 99]) * 1000
    return Cost(float(p50), float(p99), float(nodes.mean()))
