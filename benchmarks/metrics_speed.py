"""How long all measures take: ``python benchmarks/metrics_speed.py --rows 1000000 --k 10``."""

from __future__ import annotations

import argparse
import time

import numpy as np
import scipy.sparse as sp

from longtail.metrics import Counts, compare, evaluate


def example(
    rows: int, labels: int, k: int, per_row: float, seed: int = 0
) -> tuple[np.ndarray, sp.csr_matrix]:
    """Lists and truth with skewed labels, about a third of the places hits."""
    rng = np.random.default_rng(seed)
    counts = np.clip(rng.poisson(per_row, rows), 1, k)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    skewed = (rng.random(indptr[-1]) ** 3 * labels).astype(np.int32)
    truth = sp.csr_matrix((np.ones(len(skewed), np.float32), skewed, indptr), shape=(rows, labels))
    truth.sum_duplicates()
    truth.data[:] = 1
    # Labels at distinct distances are distinct; then true labels are put in where they do not repeat one.
    lists = ((rng.random((rows, 1)) ** 3 * labels).astype(np.int64) + np.arange(k) * 7919) % labels
    place = rng.integers(0, k, rows)
    first = truth.indices[truth.indptr[:-1]]
    fresh = ~(lists == first[:, None]).any(axis=1)
    lists[np.flatnonzero(fresh), place[fresh]] = first[fresh]
    return lists.astype(np.int32), truth


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--labels", type=int, default=500_000)
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--per-row", type=float, default=5.0)
    args = parser.parse_args()
    lists, truth = example(args.rows, args.labels, args.k, args.per_row)
    train = (np.asarray(truth.sum(axis=0)).ravel(), args.rows)
    every_k = tuple(range(1, args.k + 1))
    jobs = {
        f"all measures, k = 1..{args.k}": lambda threads: evaluate(
            lists, truth, k=every_k, train=train, metrics="all", threads=threads
        ),
        "usual measures, k = 1, 3, 5": lambda threads: evaluate(lists, truth, train=train, threads=threads),
        "the same in three slices": lambda threads: evaluate(
            lists, truth, train=train, slices=Counts(5, 50), threads=threads
        ),
        "P, R, nDCG with 100 resamples": lambda threads: evaluate(
            lists, truth, metrics=["P", "R", "nDCG"], bootstrap=100, threads=threads
        ),
        "compare P@1, 100 resamples": lambda threads: compare(
            lists, lists[:, ::-1].copy(), truth, bootstrap=100, threads=threads
        ),
    }
    print(f"{args.rows:,} rows × top {args.k}, {args.labels:,} labels, {truth.nnz:,} true pairs")
    for name, job in jobs.items():
        for threads in (1, None):
            start = time.perf_counter()
            job(threads)
            shown = "all cores" if threads is None else "1 thread"
            print(f"{name:32} {shown:>10} {time.perf_counter() - start:7.2f} s")


if __name__ == "__main__":
    main()
