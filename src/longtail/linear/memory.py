"""How much memory a training needs, said before it starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Features, is_sparse
from ..errors import DataError
from ..memory import MemoryWarning, free_memory, human_bytes
from .plan import LANES, LevelPlan

__all__ = ["MemoryEstimate", "MemoryWarning", "check_room", "estimate", "free_memory", "human_bytes"]


# Measured: see tests/linear/test_memory_estimate.py.
EMBEDDING_BYTES = 16  # of one entry: made, scaled, and copied for the nodes that are being split
MATCHED_BYTES = 16  # of one matched row
MATCHED_SHARE = 4
MATCHED_WEIGHTS = 1.2  # against those of teacher forcing


@dataclass(frozen=True)
class MemoryEstimate:
    """Bytes, by what they are for. ``peak`` is what a training is expected to hold beyond X and Y themselves.

    Attributes:
        labels: the rows of each label.
        features: X with its rows at unit length, if it has to be copied for that.
        embeddings: of labels, while the trees are built; gone before classifiers are trained.
        negatives: the rows that each node is matched with.
        node: the rows under way, copied with feature numbers of their own.
        solver: its state for them.
        weights: what is learnt.
        free: what the system has left, if that is known.
    """

    labels: int
    features: int
    embeddings: int
    negatives: int
    node: int
    solver: int
    weights: int
    free: int | None

    @property
    def peak(self) -> int:
        training = self.negatives + self.node + self.solver + self.weights
        return self.labels + self.features + max(self.embeddings, training)

    def __str__(self) -> str:
        free = "unknown" if self.free is None else human_bytes(self.free)
        return f"about {human_bytes(self.peak)} beyond the data ({free} free)"


def check_room(n_labels: int, n_features: int, threads: int) -> None:
    """A DataError when not even what any training holds of every label and every feature fits into memory.

    That is the offsets of each label's rows and embedding, its place in the tree, its count and its rank (at least 32
    bytes), and a number per feature in each thread. Files that promise billions of labels get here.
    """
    least, free = 32 * n_labels + 4 * n_features * threads, free_memory()
    if free is not None and least > free:
        raise DataError(
            f"Training with {n_labels:,} labels and {n_features:,} features needs {human_bytes(least)} at the very "
            f"least, and {human_bytes(free)} are free."
        )


def estimate(
    plans: list[list[LevelPlan]],
    x: Features,
    frequency: npt.NDArray[Any],
    threads: int,
    weight_bytes: int,
    *,
    scaled: bool = False,
    embedded: bool = False,
    beam: int = 0,
) -> MemoryEstimate:
    """An upper estimate from the sizes of the data and the shape of the trees.

    The rows of a node are copied with feature numbers of their own (8 bytes an entry), the solver keeps 96 bytes a row
    and 96 bytes a feature, and each thread has one node under way. Of the weights, a classifier keeps about one for
    every other entry of its positive rows, and never more than there are features.

    Args:
        plans: the levels of each tree.
        x: features.
        frequency: rows of each label.
        threads: how many train at once.
        weight_bytes: of one weight.
        scaled: X is copied to bring its rows to unit length.
        embedded: trees are built from label embeddings.
        beam: nodes that each row is matched with at each level; 0 without matched negatives.
    """
    n_rows, n_features = x.shape
    nnz = x.nnz if is_sparse(x) else n_rows * n_features
    per_row = nnz / max(n_rows, 1)
    node = solver = 0
    kept = 0.0
    largest_level = 0.0
    for levels in plans:
        for plan in levels:
            size = plan.sizes(frequency, n_rows)
            blocks = -(-np.diff(plan.child_ptr) // LANES)
            # Of matched rows the most popular nodes of a level get several times their share.
            matched = MATCHED_SHARE * n_rows * beam // plan.n_chunks
            rows = np.minimum(size // blocks + matched, n_rows)
            largest = np.sort(rows)[::-1][:threads]
            node = max(node, int((largest * (per_row * 8 + 16)).sum()))
            features = np.minimum(largest * per_row, n_features)
            solver = max(solver, int((largest * 96 + features * 96).sum()))
            before = np.concatenate([[0], np.cumsum(frequency[plan.order], dtype=np.int64)])
            positives = before[plan.label_end] - before[plan.label_begin]
            level = float(np.minimum(0.5 * positives * per_row, n_features).sum()) * (weight_bytes + 3)
            largest_level = max(largest_level, level)
            kept += level
    # While a level is put together its parts and the whole exist side by side.
    entries = float(np.minimum(frequency * per_row, n_features).sum())
    if beam:
        widest = max((plan.n_chunks for levels in plans for plan in levels[1:]), default=0)
        per_query = min(beam, widest)
        kept *= MATCHED_WEIGHTS
    return MemoryEstimate(
        labels=int(frequency.sum()) * 4 + len(frequency) * 8,
        features=nnz * 4 if scaled else 0,
        embeddings=int(entries * EMBEDDING_BYTES) if embedded else 0,
        # By row and by node, and what the search hands over.
        negatives=n_rows * (per_query * MATCHED_BYTES + 16) if beam else 0,
        node=node + n_rows * 8,
        solver=solver,
        weights=int(kept + largest_level),
        free=free_memory(),
    )
