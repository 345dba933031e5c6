"""Trees that the user has: a parent array, or a taxonomy of names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _native
from ..errors import DataError, ParameterError
from ..params import Choice, check
from .tree import LabelTree

__all__ = ["tree_from_parents", "tree_from_taxonomy"]


def tree_from_parents(parents: Any, labels: Any = None) -> LabelTree:
    """A tree from the parent of each node, in any numbering.

    Args:
        parents: the parent's number per node, -1 for the one root.
        labels: the node of each label; several labels may share a leaf, and a label at an inner node gets a
            leaf of its own below it. None: the nodes without children are labels 0, 1, … in the order of
            their numbers.

    Nodes are numbered anew, breadth-first; children keep their order. Every leaf must hold a label.

    >>> tree = tree_from_parents([4, 4, 3, -1, 3])        # 3 → (2, 4 → (0, 1))
    >>> tree.parent.tolist(), tree.depth.tolist()
    ([-1, 0, 0, 2, 2], [2, 2, 1])
    """
    parent = _whole_numbers(parents, "parents")
    if labels is None:
        inner = np.zeros(len(parent), dtype=bool)
        inner[parent[(parent >= 0) & (parent < len(parent))]] = True
        node_of = np.flatnonzero(~inner).astype(np.int32)
    else:
        node_of = _whole_numbers(labels, "labels")
    return _renumbered("tree_from_parents", parent, node_of, prune=False)


def tree_from_taxonomy(
    taxonomy: Mapping[str, str | None] | Iterable[tuple[str, str]],
    labels: Sequence[str] | Any,
    missing: str = "error",
) -> LabelTree:
    """A tree from named categories.

    Args:
        taxonomy: the parent's name of each name (None for a top category), or pairs (parent, child).
        labels: the names of the labels by id: a list or a ``LabelSet``. They may be inner nodes of the
            taxonomy: such a label gets a leaf of its own below its node. Categories without any label below
            them are left out.
        missing: what to do with a label that the taxonomy lacks: "error", or "root" to hang it directly
            below the root.

    Several top categories are joined under one root. A name with two parents is an error: a tree has one
    path to a label.

    >>> taxonomy = {"animal": None, "dog": "animal", "cat": "animal"}
    >>> tree = tree_from_taxonomy(taxonomy, ["cat", "dog", "animal"])
    >>> tree.depth.tolist(), tree.n_nodes
    ([1, 1, 1], 4)
    """
    check("tree_from_taxonomy", {"missing": Choice("error", "root")}, {"missing": missing})
    parent_of = _parents_by_name(taxonomy)
    number: dict[str, int] = {}
    for child, parent in parent_of.items():
        for name in (parent, child):
            if name is not None:
                number.setdefault(name, len(number))
    names = list(labels)
    for name in names:
        if not isinstance(name, str):
            raise DataError(f"labels must be names. Got {type(name).__name__} instead.")
        if name not in number and missing == "error":
            raise DataError(
                f"Label {name!r} is not in the taxonomy. missing='root' puts such labels below the root."
            )
        number.setdefault(name, len(number))
    if not names:
        raise DataError("A label tree needs at least one label. Got none.")
    parents = np.full(len(number) + 1, len(number), dtype=np.int32)  # the last node is the root of all
    for child, parent in parent_of.items():
        if parent is not None:
            parents[number[child]] = number[parent]
    tops = np.flatnonzero(parents[:-1] == len(number))
    if len(tops) == 1:  # the one top category is the root
        parents = parents[:-1]
        parents[tops[0]] = -1
    else:
        parents[-1] = -1
    _refuse_circles(parents, list(number))
    node_of = np.array([number[name] for name in names], dtype=np.int32)
    return _renumbered("tree_from_taxonomy", parents, node_of, prune=True)


def _parents_by_name(taxonomy: Mapping[str, str | None] | Iterable[tuple[str, str]]) -> dict[str, str | None]:
    if isinstance(taxonomy, Mapping):
        pairs: Iterable[Any] = ((parent, child) for child, parent in taxonomy.items())
    else:
        pairs = taxonomy
    parent_of: dict[str, str | None] = {}
    for pair in pairs:
        if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
            raise DataError(
                f"A taxonomy is a mapping child → parent or pairs (parent, child). Got {pair!r} instead."
            )
        parent, child = pair
        if not isinstance(child, str) or not (parent is None or isinstance(parent, str)):
            raise DataError(f"A taxonomy holds names. Got {pair!r} instead.")
        if child in parent_of and parent_of[child] != parent:
            raise DataError(
                f"{child!r} has two parents, {parent_of[child]!r} and {parent!r}; a tree has one."
            )
        parent_of[child] = parent
    return parent_of


def _refuse_circles(parents: npt.NDArray[np.int32], names: list[str]) -> None:
    """Says which names run in a circle, where the kernel would know numbers only."""
    state = bytearray(len(parents))  # 0 new, 1 on the way now, 2 leads to the root
    for start in range(len(parents)):
        way, node = [], start
        while node >= 0 and state[node] == 0:
            state[node] = 1
            way.append(node)
            node = int(parents[node])
        if node >= 0 and state[node] == 1:
            circle = way[way.index(node) :]
            raise DataError(
                "The taxonomy runs in a circle: " + " → ".join(names[i] for i in [*circle, node][:10])
            )
        for i in way:
            state[i] = 2


def _whole_numbers(values: Any, name: str) -> npt.NDArray[np.int32]:
    try:
        array = np.asarray(values)
    except ValueError:
        raise ParameterError(f"'{name}' must be a vector of whole numbers.") from None
    if array.size == 0:
        raise DataError(f"A label tree needs at least one node and one label. '{name}' is empty.")
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ParameterError(
            f"'{name}' must be a vector of whole numbers. Got {array.dtype}, shape {array.shape} instead."
        )
    if array.max() >= 2**31 or array.min() < -(2**31):
        raise ParameterError(f"'{name}' must fit 32 bits.")
    return np.ascontiguousarray(array, dtype=np.int32)


def _renumbered(
    owner: str, parent: npt.NDArray[np.int32], node_of: npt.NDArray[np.int32], prune: bool
) -> LabelTree:
    try:
        new_parent, leaf_of, _ = _native.trees.renumber(parent, node_of, prune)
    except ValueError as error:
        raise ParameterError(f"{owner}: {error}.") from None
    return LabelTree(new_parent, leaf_of)
