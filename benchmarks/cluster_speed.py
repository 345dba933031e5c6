"""Time and quality of clustering labels, beside PECOS's hierarchical k-means where that is installed.

    python benchmarks/cluster_speed.py                                # a made-up set of 30,000 labels
    python benchmarks/cluster_speed.py --labels 131000 --entries 300  # a larger one
    python benchmarks/cluster_speed.py --x trn_X.npz --y trn_Y.npz    # real data: PIFA embeddings of it
    python benchmarks/cluster_speed.py --pecos ENV/bin/python         # with PECOS 1.2.8, from an environment
                                                                      # of its own

Quality is the mean cosine of labels to the centre of their leaf; it grows with the number of leaves, so
compare it between trees of about the same number only. Times are the best of --repeat runs in seconds: wall
clock, and processor time of all threads, which says more on a busy machine.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp

PECOS = """
import json, sys, time
import numpy as np, scipy.sparse as sp
from pecos.xmc.base import HierarchicalKMeans as K
E = sp.load_npz(sys.argv[1]).astype(np.float32).tocsr()
for rounds in (5, 20):
    for threads in map(int, sys.argv[2].split(",")):
        sizes = dict(nr_splits=16, max_leaf_size=int(sys.argv[3]))
        p = K.TrainParams(kmeans_max_iter=rounds, threads=threads, **sizes)
        wall = cpu = float("inf")
        for _ in range(int(sys.argv[4])):
            begin = time.perf_counter(), time.process_time()
            chain = K.gen(E, train_params=p)
            wall = min(wall, time.perf_counter() - begin[0])
            cpu = min(cpu, time.process_time() - begin[1])
        leaf = chain[-1].tocsr()
        sums = (leaf.T.tocsr() @ E.astype(np.float64)).tocsr()
        cosine = np.sqrt(np.asarray(sums.multiply(sums).sum(axis=1))).sum() / E.shape[0]
        print(json.dumps([rounds, threads, wall, cpu, leaf.shape[1], float(cosine)]))
"""


def made_up_embeddings(n_labels: int, n_features: int, entries: int, seed: int = 0) -> sp.csr_matrix:
    """Labels of topics: half of a label's features are drawn by Zipf's law, half from 200 of its topic."""
    r = np.random.default_rng(seed)
    p = np.cumsum(1 / np.arange(1, n_features + 1) ** 0.9)
    p /= p[-1]
    n_topics = max(n_labels // 50, 1)
    topic_shift = r.integers(0, n_features, n_topics)[r.integers(0, n_topics, n_labels)]
    parts = []
    for rows in np.array_split(np.arange(n_labels), max(1, n_labels * entries // 10_000_000)):
        features = np.searchsorted(p, r.random((len(rows), entries))).astype(np.int64)
        features[:, ::2] = (features[:, ::2] % 200 * 7919 + topic_shift[rows, None]) % n_features
        values = r.random(features.size, dtype=np.float32)
        part = sp.csr_matrix(
            (values, features.ravel().astype(np.int32), np.arange(0, features.size + 1, entries)),
            shape=(len(rows), n_features),
        )
        part.sum_duplicates()
        parts.append(part)
    e = sp.vstack(parts, format="csr")
    norms = np.sqrt(np.asarray(e.multiply(e).sum(axis=1)).ravel())
    e.data /= np.repeat(norms, np.diff(e.indptr)).astype(np.float32)
    return e


def mean_cosine(e: sp.csr_matrix, leaf_of: np.ndarray) -> float:
    """Of labels to the centre of their leaf."""
    leaf = np.unique(leaf_of, return_inverse=True)[1]
    members = sp.csr_matrix((np.ones(len(leaf)), (leaf, np.arange(len(leaf)))))
    sums = (members @ e.astype(np.float64)).tocsr()
    return float(np.sqrt(np.asarray(sums.multiply(sums).sum(axis=1))).sum() / len(leaf))


def measure_ours(e: sp.csr_matrix, threads: list[int], max_leaf: int, repeat: int) -> None:
    from longtail import _native
    from longtail.trees import interpolated_tree, kmeans_tree, random_tree

    print(f"longtail ({_native.active_isa()})")
    for rounds in (5, 20):
        for team in threads:
            wall = cpu = float("inf")
            for _ in range(repeat):
                begin = time.perf_counter(), time.process_time()
                tree = kmeans_tree(e, arity=16, max_leaf=max_leaf, n_iter=rounds, threads=team)
                wall = min(wall, time.perf_counter() - begin[0])
                cpu = min(cpu, time.process_time() - begin[1])
            show(rounds, team, wall, cpu, tree.n_leaves, mean_cosine(e, tree.leaf_of))
    print("longtail, interpolated, binary, 20 rounds; 0 is balanced")
    f = np.random.default_rng(0).permutation(1 / np.arange(1, e.shape[0] + 1))
    for tradeoff in (0.0, 0.5, 1.0, 1.5, 2.0):
        for team in threads:
            wall = cpu = float("inf")
            for _ in range(repeat):
                begin = time.perf_counter(), time.process_time()
                tree = interpolated_tree(e, f, tradeoff=tradeoff, max_leaf=max_leaf, threads=team)
                wall = min(wall, time.perf_counter() - begin[0])
                cpu = min(cpu, time.process_time() - begin[1])
            depth = tree.describe(f)["expected_depth"]
            print(
                f"  λ {tradeoff}  {team} threads  wall {wall:.3f} s  processor {cpu:.3f} s  expected depth {depth:.2f}"
            )
    tree = random_tree(e.shape[0], max_leaf=max_leaf)
    print(f"  a random tree: {tree.n_leaves} leaves, cosine {mean_cosine(e, tree.leaf_of):.4f}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # Linux counts in kB
    print(f"  peak memory {peak:,.0f} MB, matrix and measure included")


def measure_pecos(python: str, e: sp.csr_matrix, threads: list[int], max_leaf: int, repeat: int) -> None:
    print("PECOS, hierarchical k-means")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "e.npz"
        sp.save_npz(path, e, compressed=False)
        teams = ",".join(map(str, threads))
        command = [python, "-c", PECOS, str(path), teams, str(max_leaf), str(repeat)]
        for line in subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines():
            show(*json.loads(line))


def show(rounds: int, threads: int, wall: float, cpu: float, leaves: int, cosine: float) -> None:
    times = f"wall {wall:7.3f} s  processor {cpu:7.3f} s"
    print(
        f"  rounds {rounds:2d}  threads {threads}  {times}  {leaves} leaves  cosine {cosine:.4f}", flush=True
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--labels", type=int, default=30_000)
    parser.add_argument("--features", type=int, default=200_000)
    parser.add_argument("--entries", type=int, default=600, help="per label, before duplicates are joined")
    parser.add_argument("--x", help="features as SciPy .npz")
    parser.add_argument("--y", help="labels as SciPy .npz")
    parser.add_argument("--max-leaf", type=int, default=100)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--pecos", help="the Python of an environment that has libpecos")
    args = parser.parse_args()
    if bool(args.x) != bool(args.y):
        parser.error("--x and --y go together")
    if args.x:
        from longtail.labels import pifa

        x, y = sp.load_npz(args.x).tocsr(), sp.load_npz(args.y).tocsr()
        for team in args.threads:
            begin = time.perf_counter()
            e = pifa(x, y, threads=team)
            print(f"PIFA  threads {team}  {time.perf_counter() - begin:.3f} s")
    else:
        e = made_up_embeddings(args.labels, args.features, args.entries)
    print(f"{e.shape[0]:,} labels × {e.shape[1]:,} features, {e.nnz / e.shape[0]:.0f} entries per label")
    measure_ours(e, args.threads, args.max_leaf, args.repeat)
    if args.pecos:
        measure_pecos(args.pecos, e, args.threads, args.max_leaf, args.repeat)


if __name__ == "__main__":
    main()
