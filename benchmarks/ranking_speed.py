"""How fast a saved model ranks, to compare two builds: run it in both, in turns.

    python benchmarks/ranking_speed.py MODEL ROWS.npz [--k 10] [--batches 6] [--single 2000]

Prints rows a second of one batch on one thread (the best of several), the nodes opened for a row, percentiles of
single rows for the beam and the exact search, and a fingerprint of all lists and scores: builds that should rank alike
print the same.
"""

from __future__ import annotations

import argparse
import hashlib
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import longtail as lt

WARM_UP = 50


def batch(model: Any, rows: Any, k: int, times: int) -> tuple[float, Any]:
    """Rows a second, and the lists."""
    best, ranking = float("inf"), None
    for _ in range(times):
        began = time.perf_counter()
        ranking = model.predict(rows, k=k, threads=1)
        best = min(best, time.perf_counter() - began)
    return rows.shape[0] / best, ranking


def single(model: Any, queries: list[Any], k: int, search: str) -> tuple[float, float]:
    """p50 and p99 in µs."""
    times = []
    for query in queries:
        began = time.perf_counter_ns()
        model.predict(query, k=k, search=search)
        times.append(time.perf_counter_ns() - began)
    p50, p99 = np.percentile(np.array(times[WARM_UP:]) / 1e3, [50, 99])
    return float(p50), float(p99)


def main() -> None:
    """Measures, prints a line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", type=Path)
    parser.add_argument("rows", type=Path)
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--batches", type=int, default=6)
    parser.add_argument("--single", type=int, default=2000)
    args = parser.parse_args()
    model, rows = lt.load(args.model), sp.load_npz(args.rows)
    speed, ranking = batch(model, rows, args.k, args.batches)
    opened = model.search_stats_["nodes_opened"].mean()
    order = np.random.default_rng(0).permutation(rows.shape[0])[: args.single + WARM_UP]
    queries = [rows[int(at)] for at in order]
    told = [
        f"{search} p50 {p50:.1f} p99 {p99:.1f} µs"
        for search in ("beam", "exact")
        for p50, p99 in [single(model, queries, args.k, search)]
    ]
    lists = np.asarray(ranking.labels).tobytes() + np.asarray(ranking.scores).tobytes()
    fingerprint = hashlib.sha256(lists).hexdigest()[:8]
    print(f"batch {speed:,.0f} rows/s, {opened:.1f} nodes a row; {'; '.join(told)}; lists {fingerprint}")


if __name__ == "__main__":
    main()
