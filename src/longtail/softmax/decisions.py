"""A label tree as the decisions that a hierarchical softmax takes on its way down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from ..trees import LabelTree

__all__ = ["Decisions", "decisions_of"]


@dataclass(frozen=True)
class Decisions:
    """The nodes of a tree at which something is decided, parents first.

    Attributes:
        child_ptr: int64: the children of decision d are the slots child_ptr[d] to child_ptr[d + 1] - 1.
        child: int32 per slot: >= 0: a later decision; < 0: ~label.
        n_under: int64 per slot: how many labels lie under the child.
        first_vector: int64: the vectors of decision d are first_vector[d] to first_vector[d + 1] - 1: one for two
            children (a logistic), one a child for more (a softmax), none for a single child.
    """

    child_ptr: npt.NDArray[np.int64]
    child: npt.NDArray[np.int32]
    n_under: npt.NDArray[np.int64]
    first_vector: npt.NDArray[np.int64]

    @property
    def n_vectors(self) -> int:
        return int(self.first_vector[-1])

    def path(self, label: int) -> list[tuple[int, int]]:
        """(decision, which child) from the root to a label."""
        slot = int(np.flatnonzero(self.child == ~np.int32(label))[0])
        steps: list[tuple[int, int]] = []
        while True:
            decision = int(np.searchsorted(self.child_ptr, slot, side="right")) - 1
            steps.append((decision, slot - int(self.child_ptr[decision])))
            if decision == 0:
                return steps[::-1]
            slot = int(np.flatnonzero(self.child == decision)[0])


def decisions_of(tree: LabelTree) -> Decisions:
    """The decisions of a label tree: at every inner node between its children, and at every leaf of several labels
    between these."""
    is_leaf = np.asarray(tree.is_leaf)
    begin = np.asarray(tree.label_begin, dtype=np.int64)
    n_labels = np.asarray(tree.label_end, dtype=np.int64) - begin
    decides = ~is_leaf | (n_labels > 1)
    decides[0] = True
    number = np.cumsum(decides) - 1  # breadth-first, as nodes are: parents before children
    nodes = np.flatnonzero(decides)
    from_leaf = is_leaf[nodes]
    count = np.where(from_leaf, n_labels[nodes], np.asarray(tree.n_children, dtype=np.int64)[nodes])
    child_ptr = np.concatenate([[0], np.cumsum(count)]).astype(np.int64)
    within = np.arange(child_ptr[-1]) - np.repeat(child_ptr[:-1], count)
    of_leaf = np.repeat(from_leaf, count)
    first_child = np.asarray(tree.child_start, dtype=np.int64)[nodes]
    node = np.where(of_leaf, 0, np.repeat(first_child, count) + within)
    is_label = of_leaf | ~decides[node]
    position = np.where(of_leaf, np.repeat(begin[nodes], count) + within, begin[node])
    label = np.asarray(tree.order, dtype=np.int64)[np.where(is_label, position, 0)]
    child = np.where(is_label, ~label, number[node]).astype(np.int32)
    n_under = np.where(is_label, 1, n_labels[node]).astype(np.int64)
    n_vectors = np.where(count == 2, 1, np.where(count == 1, 0, count))
    first_vector = np.concatenate([[0], np.cumsum(n_vectors)]).astype(np.int64)
    return Decisions(child_ptr, child, n_under, first_vector)
