"""What has to be trained at each level of a tree.

A *chunk* is the set of classifiers of one tree node, one for each of its children. Chunks of one depth form a level and
are trained together; a child is a chunk of the next level or a label.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import ParameterError

if TYPE_CHECKING:
    from ..trees import LabelTree

__all__ = ["MAX_CHILDREN", "LevelPlan", "flat_plan", "tree_plan"]

MAX_CHILDREN = 32768  # of one chunk; a limit of the layout in native/linear/layout.hpp
LANES = 16
FLAT_CHUNK = 1024

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class LevelPlan:
    """The chunks of one level.

    Attributes:
        child_ptr: where the children of each chunk begin.
        child: >= 0: number of the chunk in the next level; < 0: ~label.
        label_begin, label_end: the labels under each child are order[begin:end].
        order: label ids.
        all_rows: every row is an example for every chunk, not only those with a label under it.
    """

    child_ptr: Ints
    child: npt.NDArray[np.int32]
    label_begin: Ints
    label_end: Ints
    order: npt.NDArray[np.int32]
    all_rows: bool = False

    @property
    def n_chunks(self) -> int:
        return len(self.child_ptr) - 1

    def sizes(self, frequency: npt.NDArray[Any], n_rows: int) -> Ints:
        """What the kernel counts for each chunk when it reports progress."""
        before = np.concatenate([[0], np.cumsum(frequency[self.order], dtype=np.int64)])
        per_child = before[self.label_end] - before[self.label_begin]
        per_chunk = np.add.reduceat(per_child, self.child_ptr[:-1])
        blocks = -(-np.diff(self.child_ptr) // LANES)
        sizes: Ints = (per_chunk + (n_rows if self.all_rows else 1)) * blocks
        return sizes


def tree_plan(tree: LabelTree) -> list[LevelPlan]:
    """The levels of a label tree, from the root down. A leaf of one label is a child of its parent's chunk."""
    is_leaf = np.asarray(tree.is_leaf)
    label_begin = np.asarray(tree.label_begin, dtype=np.int64)
    label_end = np.asarray(tree.label_end, dtype=np.int64)
    child_start = np.asarray(tree.child_start, dtype=np.int64)
    n_children = np.asarray(tree.n_children, dtype=np.int64)
    order = np.ascontiguousarray(tree.order, dtype=np.int32)
    n_labels_under = label_end - label_begin
    has_chunk = ~is_leaf | (n_labels_under > 1)
    has_chunk[0] = True
    node_depth = np.asarray(tree.node_depth)
    number = np.zeros(len(is_leaf), dtype=np.int64)  # of each node's chunk within its level
    per_level = [np.flatnonzero(has_chunk & (node_depth == d)) for d in range(int(node_depth.max()) + 1)]
    for nodes in per_level:
        number[nodes] = np.arange(len(nodes))

    plans = []
    for nodes in per_level:
        if len(nodes) == 0:
            continue
        count = np.where(is_leaf[nodes], n_labels_under[nodes], n_children[nodes])
        if count.max() > MAX_CHILDREN:
            raise ParameterError(
                f"A node of the tree has {count.max()} children, at most {MAX_CHILDREN} are supported. "
                "Use a deeper tree."
            )
        child_ptr = np.concatenate([[0], np.cumsum(count)]).astype(np.int64)
        within = np.arange(child_ptr[-1]) - np.repeat(child_ptr[:-1], count)
        from_leaf = np.repeat(is_leaf[nodes], count)
        # Of a leaf the children are its labels; of an inner node they are nodes.
        position = np.repeat(label_begin[nodes], count) + within
        node = np.where(from_leaf, 0, np.repeat(child_start[nodes], count) + within)
        begin = np.where(from_leaf, position, label_begin[node])
        end = np.where(from_leaf, position + 1, label_end[node])
        is_label = from_leaf | ~has_chunk[node]
        child = np.where(is_label, ~order[begin].astype(np.int64), number[node])
        plans.append(LevelPlan(child_ptr, child.astype(np.int32), begin, end, order))
    return plans


def flat_plan(frequency: npt.NDArray[Any]) -> list[LevelPlan]:
    """One level in which every label has a classifier against all rows. Labels of similar frequency are solved
    together, as they take similarly long."""
    order = np.argsort(-np.asarray(frequency, dtype=np.int64), kind="stable").astype(np.int32)
    n = len(order)
    child_ptr = np.append(np.arange(0, n, FLAT_CHUNK), n).astype(np.int64)
    begin = np.arange(n, dtype=np.int64)
    return [LevelPlan(child_ptr, ~order, begin, begin + 1, order, all_rows=True)]
