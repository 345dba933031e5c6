"""Made-up sets with the shape of real ones: a power law over labels, labels that mean something, noise.

    python -m benchmarks.side_by_side.synthetic synthetic-30k FOLDER

Labels belong to topics. A label has prototype features, some of its topic and some of its own; a row has labels mostly
of one topic and features of four kinds: prototypes of its labels, others of the topic, and words that mean nothing,
drawn by Zipf's law. Values are tf-idf, rows have length 1. Everything follows from a seed; rows are made in parts, so
the largest set takes little memory beyond itself.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

__all__ = ["ALL_SHAPES", "GROWN", "GROWTH", "SHAPES", "Shape", "make", "write"]

PROTOTYPES = 24  # features of a label
OF_TOPIC = 9  # of which so many are of its topic
TOPIC_WORDS = 60
TOPIC_LABELS = 40
PART = 50_000  # rows made at a time


@dataclass(frozen=True)
class Shape:
    """How large a set is, and how clear.

    Args:
        meaning: the share of a row's draws of features that come from its labels; the rest is noise.
        mistaken: the share of a row's labels in whose place another of the topic speaks, which the row does not have.
        topical: the share of draws that come from the words of the topic.
        strays: the share of labels that go to rows of any topic.
    """

    labels: int
    rows: int
    features: int
    test_rows: int = 10_000
    labels_per_row: float = 4.5
    draws: float = 84.0
    meaning: float = 0.2
    mistaken: float = 0.5
    topical: float = 0.05
    strays: float = 0.6
    seed: int = 0


SHAPES = {
    "synthetic-30k": Shape(labels=30_000, rows=80_000, features=100_000),
    "synthetic-131k": Shape(labels=131_000, rows=300_000, features=130_000),
    "synthetic-670k": Shape(labels=670_000, rows=500_000, features=136_000),
}
_MIDDLE = Shape(labels=16_000, rows=60_000, features=100_000)
# Sets that differ in one thing: its name → (size, shape).
GROWTH = {
    "labels": [(n, replace(_MIDDLE, labels=n)) for n in (4_000, 8_000, 16_000, 32_000, 64_000, 128_000)],
    "rows": [(n, replace(_MIDDLE, rows=n)) for n in (7_500, 15_000, 30_000, 60_000, 120_000, 240_000)],
    "draws": [(n, replace(_MIDDLE, draws=float(n))) for n in (21, 42, 84, 168, 336)],
}
GROWN = {f"grow-{what}-{n}": shape for what, line in GROWTH.items() for n, shape in line}
ALL_SHAPES = SHAPES | GROWN


def make(shape: Shape) -> tuple[sp.csr_matrix, sp.csr_matrix, sp.csr_matrix, sp.csr_matrix]:
    """Training features and labels, test features and labels."""
    rng = np.random.default_rng([shape.seed, 1])
    world = _World.make(shape, rng)
    total = int(shape.rows * shape.labels_per_row)
    times = np.maximum(1, np.rint(world.share * total)).astype(np.int64)
    y = _draw_labels(world, times, shape.rows, shape.strays, rng)
    expected = world.share * shape.test_rows * shape.labels_per_row
    # A count that is not whole is rounded up or down by chance: rare labels appear in the test set too.
    in_test = np.floor(expected + rng.random(shape.labels)).astype(np.int64)
    y_test = _draw_labels(world, in_test, shape.test_rows, shape.strays, rng)
    counts = _draw_features(world, shape, y, "train")
    counts_test = _draw_features(world, shape, y_test, "test")
    idf = np.log(shape.rows / np.maximum(1, np.bincount(counts.indices, minlength=shape.features)))
    for matrix in (counts, counts_test):
        _weigh(matrix, np.maximum(idf, 0.1).astype(np.float32))
    return counts, y, counts_test, y_test


@dataclass(frozen=True)
class _World:
    """What labels are: shares of all pairs, topics, prototype features."""

    share: Any  # (labels,) adding up to 1
    topic: Any  # (labels,)
    by_topic: Any  # labels in the order of topics
    topic_begin: Any  # (topics + 1,) places in by_topic
    topic_words: Any  # (topics, TOPIC_WORDS)
    prototypes: Any  # (labels, PROTOTYPES)
    zipf: Any  # (features,) cumulative chances of words that mean nothing

    @classmethod
    def make(cls, shape: Shape, rng: np.random.Generator) -> _World:
        share = 1.0 / (rng.permutation(shape.labels) + 15.0) ** 0.95
        share /= share.sum()
        n_topics = max(1, shape.labels // TOPIC_LABELS)
        topic = rng.integers(0, n_topics, shape.labels, dtype=np.int32)
        # Words that mean something are of middle and low frequency, hence the power.
        topic_words = _words(rng, (n_topics, TOPIC_WORDS), shape.features, 1.7)
        prototypes = _words(rng, (shape.labels, PROTOTYPES), shape.features, 1.7)
        of_topic = rng.integers(0, TOPIC_WORDS, (shape.labels, OF_TOPIC))
        prototypes[:, 1 : 1 + OF_TOPIC] = topic_words[topic[:, None], of_topic]
        zipf = np.cumsum(1.0 / (np.arange(shape.features) + 20.0))
        by_topic = np.argsort(topic, kind="stable").astype(np.int32)
        topic_begin = np.searchsorted(topic[by_topic], np.arange(n_topics + 1))
        return cls(share, topic, by_topic, topic_begin, topic_words, prototypes, zipf / zipf[-1])


def _words(rng: np.random.Generator, size: tuple[int, int], n: int, power: float) -> Any:
    return (rng.random(size) ** power * n).astype(np.int32)


def _draw_labels(
    world: _World, times: Any, rows: int, strays: float, rng: np.random.Generator
) -> sp.csr_matrix:
    """Every label as often as told, in rows that are mostly of one topic: the pairs are put in an order by topic, some
    of them are shuffled, and each row takes the next few."""
    pairs = np.repeat(np.arange(len(times), dtype=np.int32), times)
    place = rng.permutation(int(world.topic.max()) + 1)[world.topic[pairs]]
    pairs = pairs[np.lexsort((rng.random(len(pairs)), place))]
    moved = np.flatnonzero(rng.random(len(pairs)) < strays)
    pairs[moved] = pairs[rng.permutation(moved)]
    wanted = rng.gamma(3.0, 1.0, rows) + 0.2  # sizes of rows, not all alike
    ends = np.cumsum(wanted)
    ends = np.maximum(np.rint(ends / ends[-1] * len(pairs)).astype(np.int64), np.arange(1, rows + 1))
    ends = np.minimum(ends, len(pairs))
    ends[-1] = len(pairs)
    row = np.repeat(rng.permutation(rows), np.diff(ends, prepend=0))
    y = sp.csr_matrix((np.ones(len(pairs), np.float32), (row, pairs)), shape=(rows, len(times)))
    y.sum_duplicates()
    y.data[:] = 1
    return y


def _draw_features(world: _World, shape: Shape, y: sp.csr_matrix, split: str) -> sp.csr_matrix:
    """How often each feature was drawn for each row."""
    parts = []
    for part, begin in enumerate(range(0, y.shape[0], PART)):
        rng = np.random.default_rng([shape.seed, 2 if split == "train" else 3, part])
        parts.append(_part(world, shape, y[begin : begin + PART], rng))
    return sp.vstack(parts, format="csr", dtype=np.float32)


def _part(world: _World, shape: Shape, y: sp.csr_matrix, rng: np.random.Generator) -> sp.csr_matrix:
    rows, size = y.shape[0], np.diff(y.indptr)
    length = np.exp(0.35 * rng.standard_normal(rows))
    draws = np.maximum(4, shape.draws * length).astype(np.int64)
    row = np.repeat(np.arange(rows), draws)
    kind = rng.random(len(row))
    feature = np.searchsorted(world.zipf, rng.random(len(row))).astype(np.int64)
    # Each pair of a row and a label has a weight of its own: some labels hardly show.
    pair_ends = np.cumsum(rng.standard_exponential(y.nnz) + 0.1)
    before = np.concatenate([[0.0], pair_ends])[y.indptr]  # (rows + 1)
    told = np.flatnonzero((kind < shape.meaning) & (size[row] > 0))
    of = row[told]
    at = before[of] + rng.random(len(told)) * (before[of + 1] - before[of])
    pair = np.searchsorted(pair_ends, at, side="right")
    label = _speakers(world, shape, y, rng)[np.clip(pair, y.indptr[of], y.indptr[of + 1] - 1)]
    which = (rng.random(len(told)) ** 1.4 * PROTOTYPES).astype(np.int64)
    feature[told] = world.prototypes[label, which]
    loose = np.flatnonzero((kind >= shape.meaning) & (kind < shape.meaning + shape.topical) & (size[row] > 0))
    topic = world.topic[y.indices[y.indptr[row[loose]]]]
    feature[loose] = world.topic_words[topic, rng.integers(0, TOPIC_WORDS, len(loose))]
    ones = np.ones(len(row), np.float32)
    counts = sp.csr_matrix((ones, (row, feature)), shape=(rows, shape.features))
    counts.sum_duplicates()
    return counts


def _speakers(world: _World, shape: Shape, y: sp.csr_matrix, rng: np.random.Generator) -> Any:
    """For each pair of a row and a label the label whose features show."""
    topic = world.topic[y.indices]
    begin, end = world.topic_begin[topic], world.topic_begin[topic + 1]
    other = world.by_topic[begin + (rng.random(y.nnz) * (end - begin)).astype(np.int64)]
    return np.where(rng.random(y.nnz) < shape.mistaken, other, y.indices)


def _weigh(counts: sp.csr_matrix, idf: Any) -> None:
    """tf-idf in place, rows of length 1."""
    counts.data = (1 + np.log(counts.data)) * idf[counts.indices]
    squares = np.add.reduceat(counts.data.astype(np.float64) ** 2, counts.indptr[:-1])
    counts.data /= np.repeat(np.sqrt(squares), np.diff(counts.indptr)).astype(np.float32)
    counts.sort_indices()


def write(shape: Shape, folder: Path, say: Callable[[str], None] = print) -> None:
    """Makes a set and writes trn_X.npz, trn_Y.npz, tst_X.npz, tst_Y.npz, uncompressed."""
    folder.mkdir(parents=True, exist_ok=True)
    x, y, x_test, y_test = make(shape)
    for name, matrix in (("trn_X", x), ("trn_Y", y), ("tst_X", x_test), ("tst_Y", y_test)):
        sp.save_npz(folder / f"{name}.npz", matrix, compressed=False)
    frequency = np.bincount(y.indices, minlength=y.shape[1])
    say(
        f"{x.shape[0]:,} rows, {x.shape[1]:,} features, {x.nnz / x.shape[0]:.1f} a row; {y.shape[1]:,} labels, "
        f"{y.nnz / y.shape[0]:.2f} a row, the commonest {frequency.max():,} times, half of them at most "
        f"{int(np.median(frequency))} times"
    )


def main() -> None:
    """Writes one set."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", choices=ALL_SHAPES)
    parser.add_argument("folder", type=Path)
    args = parser.parse_args()
    write(ALL_SHAPES[args.name], args.folder)


if __name__ == "__main__":
    main()
