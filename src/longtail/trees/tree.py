"""The structure of a label tree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _native
from ..errors import ModelError, ParameterError
from .drawing import describe_tree, draw_tree

__all__ = ["LabelTree"]

Ints = npt.NDArray[np.int32]


class LabelTree:
    """A rooted tree whose leaves partition the labels. Immutable; any arity, balanced or not, leaves of 1 to
    m labels.

    Nodes are numbered breadth-first: node 0 is the root, parents come before children, the children of one
    node are contiguous, and so is every level. Two arrays say everything; builders make them, and the others
    follow from them:

    Args:
        parent: int32 per node: the parent's number, -1 for the root. Never falls.
        leaf_of: int32 per label: the number of its leaf.

    Attributes:
        parent, leaf_of: as given.
        child_start: int32, n_nodes + 1: the children of i are the nodes child_start[i] to child_start[i + 1]
            - 1.
        n_children: int32 per node; 0 for a leaf.
        order: int32 per label: all labels, leaves from left to right, rising ids within a leaf.
        label_begin, label_end: int32 per node: the labels under i are order[label_begin[i]:label_end[i]].
        node_depth: int32 per node; the root has 0.
        depth: int32 per label: the depth of its leaf.
        is_leaf: bool per node.
        n_nodes, n_labels, n_leaves, height: whole numbers; height is the depth of the deepest leaf.

    All arrays are read-only.

    >>> tree = LabelTree([-1, 0, 0, 2, 2], [4, 1, 3, 1])
    >>> tree.order.tolist(), tree.depth.tolist(), tree.labels_under(2).tolist()
    ([1, 3, 2, 0], [2, 1, 2, 1], [2, 0])
    """

    __slots__ = (
        "child_start",
        "depth",
        "height",
        "is_leaf",
        "label_begin",
        "label_end",
        "leaf_of",
        "n_children",
        "n_labels",
        "n_leaves",
        "n_nodes",
        "node_depth",
        "order",
        "parent",
    )

    parent: Ints
    leaf_of: Ints
    child_start: Ints
    n_children: Ints
    order: Ints
    label_begin: Ints
    label_end: Ints
    node_depth: Ints
    depth: Ints
    is_leaf: npt.NDArray[np.bool_]
    n_nodes: int
    n_labels: int
    n_leaves: int
    height: int

    def __init__(self, parent: Any, leaf_of: Any):
        arrays: dict[str, Any] = {"parent": _int32(parent, "parent"), "leaf_of": _int32(leaf_of, "leaf_of")}
        try:
            layout = _native.trees.layout(arrays["parent"], arrays["leaf_of"])
        except ValueError as error:
            raise ParameterError(f"Not a label tree: {error}.") from None
        arrays.update(
            zip(("child_start", "label_begin", "label_end", "node_depth", "order"), layout, strict=True)
        )
        arrays["n_children"] = np.diff(arrays["child_start"])
        arrays["is_leaf"] = arrays["n_children"] == 0
        arrays["depth"] = arrays["node_depth"][arrays["leaf_of"]]
        for name, array in arrays.items():
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        object.__setattr__(self, "n_nodes", len(self.parent))
        object.__setattr__(self, "n_labels", len(self.leaf_of))
        object.__setattr__(self, "n_leaves", int(np.count_nonzero(self.is_leaf)))
        object.__setattr__(self, "height", int(self.node_depth[-1]))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"A LabelTree cannot be changed ('{name}').")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"A LabelTree cannot be changed ('{name}').")

    def validate(self) -> None:
        """Raises ParameterError unless the arrays are a tree. The constructor has done so; this is for the
        doubtful."""
        again = LabelTree(self.parent, self.leaf_of)
        for name in ("child_start", "label_begin", "label_end", "node_depth", "order", "depth"):
            if not np.array_equal(getattr(self, name), getattr(again, name)):
                raise ParameterError(f"Not a label tree: {name} does not follow from parent and leaf_of.")

    def children(self, node: int) -> range:
        """The numbers of a node's children."""
        node = self._node(node)
        return range(int(self.child_start[node]), int(self.child_start[node + 1]))

    def labels_under(self, node: int) -> Ints:
        """The labels of all leaves under a node."""
        node = self._node(node)
        return self.order[self.label_begin[node] : self.label_end[node]]

    def path(self, label: int) -> list[int]:
        """The nodes from the root to a label's leaf."""
        if not 0 <= label < self.n_labels:
            raise ParameterError(f"'label' must be in [0, {self.n_labels - 1}]. Got {label} instead.")
        nodes = [int(self.leaf_of[label])]
        while nodes[-1] != 0:
            nodes.append(int(self.parent[nodes[-1]]))
        return nodes[::-1]

    def level(self, depth: int) -> range:
        """The numbers of the nodes at a depth; empty below the deepest."""
        begin, end = np.searchsorted(self.node_depth, [depth, depth + 1])
        return range(int(begin), int(end))

    def collapse(self, levels: int | Iterable[int]) -> LabelTree:
        """The tree without the inner nodes at these depths: their children hang where they hung. Shallow and
        wide trees, as Bonsai's, come from deep ones this way. Leaves stay, and so does the root.

        >>> complete = LabelTree([-1, 0, 0, 1, 1, 2, 2], [3, 4, 5, 6])
        >>> complete.collapse(1).parent.tolist()
        [-1, 0, 0, 0, 0]
        """
        chosen = np.unique(np.asarray([levels] if isinstance(levels, int) else list(levels)))
        if chosen.size and (chosen.dtype.kind not in "iu" or chosen.min() < 1):
            raise ParameterError(f"'levels' must be depths >= 1. Got {levels!r} instead.")
        return self._without(np.isin(self.node_depth, chosen) & ~self.is_leaf)

    def simplify(self) -> LabelTree:
        """The tree without nodes that have a single child, the root aside."""
        return self._without(self.n_children == 1)

    def _without(self, removed: npt.NDArray[np.bool_]) -> LabelTree:
        keep = ~removed
        keep[0] = True
        if keep.all():
            return self
        kept = np.flatnonzero(keep)
        kept = kept[np.lexsort((kept, self.label_begin[kept]))]  # parents first, then from left to right
        number = np.full(self.n_nodes, -1, dtype=np.int32)
        number[kept] = np.arange(len(kept), dtype=np.int32)
        above = _native.trees.kept_above(self.parent, keep.view(np.uint8))[kept]
        parent = np.where(above >= 0, number[above], -1).astype(np.int32)
        parent, leaf_of, _ = _native.trees.renumber(parent, number[self.leaf_of], False)
        return LabelTree(parent, leaf_of)

    def describe(self, frequencies: Any = None) -> dict[str, Any]:
        """Figures as plain numbers: nodes per level, arities, leaf sizes, depths; with the labels'
        ``frequencies`` also the depth expected of a label drawn by them."""
        return describe_tree(self, frequencies)

    def draw(
        self, label_set: Any = None, max_depth: int = 3, max_children: int = 6, frequencies: Any = None
    ) -> str:
        """The upper part of the tree as text, with examples of the labels under each node (the most frequent
        ones if ``frequencies`` are given)."""
        return draw_tree(self, label_set, max_depth, max_children, frequencies)

    def to_parents(self) -> tuple[Ints, Ints]:
        """Copies of (parent, leaf_of): ``LabelTree(*tree.to_parents()) == tree``, and so with
        tree_from_parents."""
        return self.parent.copy(), self.leaf_of.copy()

    def to_state(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """What a model folder keeps."""
        return (
            {"n_nodes": self.n_nodes, "n_labels": self.n_labels},
            {"parent": self.parent, "leaf_of": self.leaf_of},
        )

    @classmethod
    def from_state(cls, meta: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> LabelTree:
        """The inverse of ``to_state``; anything that is not a tree is a ModelError."""
        try:
            parent, leaf_of = np.asarray(arrays["parent"]), np.asarray(arrays["leaf_of"])
            expected = {"parent": meta["n_nodes"], "leaf_of": meta["n_labels"]}
        except (KeyError, TypeError) as error:
            raise ModelError(f"The stored label tree lacks {error}.") from None
        for name, array in (("parent", parent), ("leaf_of", leaf_of)):
            if array.dtype != np.int32 or array.ndim != 1 or len(array) != expected[name]:
                raise ModelError(
                    f"The stored label tree must have {name} as {expected[name]} int32. "
                    f"Got {array.dtype}, shape {array.shape} instead."
                )
        try:
            return cls(parent, leaf_of)
        except ParameterError as error:
            raise ModelError(f"The stored label tree is damaged. {error}") from None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LabelTree):
            return NotImplemented
        return np.array_equal(self.parent, other.parent) and np.array_equal(self.leaf_of, other.leaf_of)

    def __hash__(self) -> int:
        return hash((self.n_nodes, self.n_labels, self.order[:16].tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        return (LabelTree, (self.parent, self.leaf_of))

    def __repr__(self) -> str:
        size = f"{self.n_labels} labels, {self.n_leaves} leaves, {self.n_nodes} nodes"
        return f"LabelTree({size}, height {self.height})"

    def _node(self, node: int) -> int:
        if not 0 <= node < self.n_nodes:
            raise ParameterError(f"'node' must be in [0, {self.n_nodes - 1}]. Got {node} instead.")
        return int(node)


def _int32(values: Any, name: str) -> Ints:
    """A private int32 copy, so that nobody can change the tree from outside."""
    try:
        array = np.asarray(values)
    except ValueError:
        raise ParameterError(
            f"The '{name}' parameter of LabelTree must be a vector of whole numbers."
        ) from None
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise ParameterError(
            f"The '{name}' parameter of LabelTree must be a vector of whole numbers. "
            f"Got dtype {array.dtype}, shape {array.shape} instead."
        )
    if array.size and (array.max() >= 2**31 or array.min() < -(2**31)):
        raise ParameterError(f"The '{name}' parameter of LabelTree must fit 32 bits.")
    return np.array(array, dtype=np.int32, order="C")
