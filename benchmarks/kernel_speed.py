"""How far each kernel is from what the machine can do.

    python benchmarks/kernel_speed.py [--only solve parse ...] [--scale 1.0] [--markdown]

First the machine's limits are measured, on one core: bytes a second from memory, bytes a second from the second-level
cache, and single-precision multiply-adds a second (a matrix product). Then every kernel runs on one thread. Of each is
known how many bytes it must move from memory, how many 64-byte lines it must take from cache, and how many
multiply-adds it must do, if nothing is done twice; the slowest of the three is its bound, and "times bound" is how much
longer it took. Parsing and text are bound by neither: instructions per byte limit them.

Times are processor seconds, the best of several runs.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

import longtail as lt
from longtail import _native

LINE = 64


@dataclass(frozen=True)
class Limits:
    """Of one core, per second."""

    memory: float  # bytes
    cache: float  # bytes
    multiply_adds: float

    def bound(self, work: Work) -> tuple[float, str]:
        """The least seconds that some work can take, and what sets them."""
        needs = {
            "memory": work.bytes / self.memory,
            "cache": work.lines * LINE / self.cache,
            "arithmetic": work.multiply_adds / self.multiply_adds,
        }
        limit = max(needs, key=lambda name: needs[name])
        return needs[limit], limit


@dataclass(frozen=True)
class Work:
    """What a kernel has to do at least."""

    what: str  # one unit of it, in words
    units: float
    bytes: float
    lines: float = 0.0
    multiply_adds: float = 0.0


def best(call: Callable[[], Any], least: float = 0.6) -> float:
    """Processor seconds of the fastest of several runs, which together take a while."""
    fastest, spent = float("inf"), 0.0
    while spent < least:
        began = time.process_time()
        call()
        took = time.process_time() - began
        fastest, spent = min(fastest, took), spent + max(took, 1e-6)
    return fastest


def measure_limits() -> Limits:
    """By NumPy's copy, scalar product and matrix product."""
    big, other = np.ones(2**25, np.float32), np.empty(2**25, np.float32)  # 128 MiB each
    small = np.ones(2**15, np.float32), np.ones(2**15, np.float32)  # 128 KiB each: in the second level
    memory = 2 * big.nbytes / best(lambda: np.copyto(other, big))

    def read() -> None:
        for _ in range(1000):
            np.dot(*small)

    cache = 1000 * 2 * small[0].nbytes / best(read)
    n = 1024
    a, b, c = (np.ones((n, n), np.float32) for _ in range(3))
    return Limits(memory, cache, n**3 / best(lambda: np.matmul(a, b, out=c)))


def rows_and_labels(n: int, d: int, labels: int, scale: float) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """Rows of about 75 features, labels of which each row has four, both by a power law."""
    rng, n = np.random.default_rng(0), int(n * scale)
    columns = (rng.random((n, 80)) ** 3 * d).astype(np.int32)
    values = rng.random(columns.size, dtype=np.float32)
    x = sp.csr_matrix((values, (np.repeat(np.arange(n), 80), columns.ravel())), shape=(n, d))
    x.sum_duplicates()
    x.data /= np.repeat(np.sqrt(np.asarray(x.multiply(x).sum(axis=1)).ravel()), np.diff(x.indptr))
    of = (rng.random((n, 4)) ** 3 * labels).astype(np.int32)
    ones = np.ones(of.size, np.float32)
    y = sp.csr_matrix((ones, (np.repeat(np.arange(n), 4), of.ravel())), shape=(n, labels))
    y.sum_duplicates()
    y.data[:] = 1
    return x.astype(np.float32), y


Job = tuple[Callable[[], Any], Callable[[Any], Work]]


def solve_sparse(scale: float) -> Job:
    """Sixteen labels against all rows."""
    x, y = rows_and_labels(40_000, 30_000, 16, scale)
    return _solve(x, y, x.nnz, 8 * x.nnz)


def solve_dense(scale: float) -> Job:
    """The same with dense rows."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((int(20_000 * scale), 256), dtype=np.float32)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    y = rows_and_labels(20_000, 1000, 16, scale)[1]
    return _solve(x, y, x.size, x.nbytes)


def _solve(x: Any, y: Any, entries: int, nbytes: int) -> Job:
    model = lt.OneVsRest(tol=1e-6, max_iter=10, threads=1)

    def work(fitted: Any) -> Work:
        passes = fitted.training_stats_["passes"]
        # Per entry and pass: sixteen weights are read for the margins, and read and written for the step.
        return Work(
            "entry × 16 labels × pass",
            entries * passes,
            nbytes * passes,
            3 * entries * passes,
            32 * entries * passes,
        )

    return lambda: model.fit(x, y), work


def embed_labels(scale: float) -> Job:
    """PIFA: the rows of every label added up."""
    x, y = rows_and_labels(40_000, 50_000, 10_000, scale)
    entries = float(np.diff(x.indptr)[np.repeat(np.arange(x.shape[0]), np.diff(y.indptr))].sum())
    return (
        lambda: lt.labels.pifa(x, y, threads=1),
        lambda e: Work("entry of a label's rows", entries, 8 * entries + 8 * e.nnz, 0, entries),
    )


def cluster(scale: float) -> Job:
    """Balanced k-means of label embeddings down to leaves of 100."""
    e = lt.labels.pifa(*rows_and_labels(40_000, 50_000, 10_000, scale))
    levels = int(np.ceil(np.log2(e.shape[0] / 100)))
    # The similarities of all labels and the new centres, five times a level: two readings and two sums each.
    touched = float(e.nnz) * levels * 5
    return (
        lambda: lt.trees.kmeans_tree(e, threads=1),
        lambda _: Work("entry × level × round", touched, 8 * 2 * touched, 0, 2 * touched),
    )


def search(scale: float) -> Job:
    """Batch prediction: beam 10, 10 labels."""
    x, y = rows_and_labels(40_000, 50_000, 10_000, scale)
    model = lt.LinearTree(threshold=0.1, max_iter=5).fit(x, y)
    asked = x[:5000]

    def work(_: Any) -> Work:
        # Every feature of a query is looked up once in every chunk that is opened: one line if it is there or not.
        opened = model.search_stats_["nodes_opened"].astype(np.float64)
        looked = float((opened * np.diff(asked.indptr)).sum())
        return Work("feature × opened chunk", looked, 0, looked, 0)

    return lambda: model.predict(asked, k=10, threads=1), work


def repack(scale: float) -> Job:
    """Weights from f32 to f16."""
    model = lt.LinearTree(weights="f32", threshold=0.05, max_iter=5).fit(
        *rows_and_labels(20_000, 50_000, 5_000, scale)
    )
    model.set_params(threads=1)
    before = model.describe()["bytes"]
    return (
        lambda: model.to_weights("f16"),
        lambda other: Work("byte of weights", before, before + other.describe()["bytes"]),
    )


def parse(scale: float) -> Job:
    """The format of the Extreme Classification Repository, from a file that is in memory."""
    x, y = rows_and_labels(20_000, 50_000, 10_000, scale)
    folder = tempfile.mkdtemp(prefix="longtail-kernels-")
    file = Path(folder) / "data.txt"
    lt.data.save(lt.data.Dataset(X=x, Y=y), file, format="xmc")
    size = file.stat().st_size
    return lambda: lt.data.load(file, threads=1), lambda _: Work(
        "byte of text", size, size + 8 * (x.nnz + y.nnz)
    )


def texts(scale: float) -> Job:
    """Texts to tf-idf features with a vocabulary that is known."""
    rng = np.random.default_rng(0)
    words = np.array(["".join(rng.choice(list("etaoinshrdlu"), rng.integers(2, 10))) for _ in range(20_000)])
    picks = (rng.random((int(20_000 * scale), 40)) ** 3 * len(words)).astype(int)
    documents = [" ".join(words[row]) for row in picks]
    size = sum(map(len, documents))
    vectorizer = lt.TextVectorizer(sublinear_tf=True, threads=1).fit(documents)
    return lambda: vectorizer.transform(documents), lambda x: Work("byte of text", size, size + 8 * x.nnz)


def measures(scale: float) -> Job:
    """P, nDCG and PSP of lists of ten."""
    n, labels = int(300_000 * scale), 50_000
    rng = np.random.default_rng(0)
    lists = ((rng.random((n, 1)) * labels).astype(np.int64) + np.arange(10) * 7919) % labels
    y = rows_and_labels(300_000, 1, labels, scale)[1]
    lists = lists.astype(np.int32)
    return (
        lambda: lt.metrics.evaluate(lists, y, train=y, threads=1),
        lambda _: Work("row", n, lists.nbytes + 4 * y.nnz + 8 * n),
    )


JOBS: dict[str, Callable[[float], Job]] = {
    "solve, sparse": solve_sparse,
    "solve, dense": solve_dense,
    "PIFA": embed_labels,
    "clustering": cluster,
    "search": search,
    "repack": repack,
    "parse": parse,
    "vectorize": texts,
    "metrics": measures,
}


def run(names: list[str], limits: Limits, scale: float) -> Iterator[list[str]]:
    """A row of the table per kernel."""
    for name in names:
        call, count = JOBS[name](scale)
        work = count(call())
        seconds = best(call)
        bound, limit = limits.bound(work)
        per_unit = seconds / work.units * 1e9
        yield [
            name,
            work.what,
            f"{per_unit:.3f}",
            f"{seconds:.3f}",
            f"{bound:.3f}",
            limit,
            f"{seconds / bound:.1f}",
        ]


def main() -> None:
    """Prints limits, then kernels."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", choices=JOBS, default=list(JOBS))
    parser.add_argument("--scale", type=float, default=1.0, help="of the sizes")
    parser.add_argument("--markdown", action="store_true")
    args = parser.parse_args()
    with threadpool_limits(1):
        limits = measure_limits()
    print(
        f"One core, {_native.active_isa()}: {limits.memory / 1e9:.1f} GB/s from memory, {limits.cache / 1e9:.1f} GB/s "
        f"from cache, {limits.multiply_adds / 1e9:.1f} thousand million multiply-adds a second\n"
    )
    heads = ["kernel", "unit", "ns a unit", "s", "bound, s", "set by", "times bound"]
    form = "| {:14} | {:26} | {:>9} | {:>7} | {:>8} | {:10} | {:>11} |"
    print(form.format(*heads))
    print("|---|---|---:|---:|---:|---|---:|" if args.markdown else "")
    for row in run(args.only, limits, args.scale):
        print(form.format(*row), flush=True)


if __name__ == "__main__":
    main()
