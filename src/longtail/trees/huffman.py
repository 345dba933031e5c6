"""The tree of least expected depth."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _native
from ..errors import DataError
from .interpolated import label_shares
from .shape import check_shape
from .tree import LabelTree

__all__ = ["huffman_tree"]


def huffman_tree(f: Any, arity: int = 2) -> LabelTree:
    """The tree with one label per leaf in which a label drawn by its frequency lies least deep.

    It looks at frequencies alone; among trees of the same expected depth it is one of the flattest. Every inner
    node has ``arity`` children, except one of the deepest where the numbers do not work out.

    Args:
        f: how often each label is wanted: one number >= 0 per label, on any scale.
        arity: children per node, 2 to 64.

    >>> huffman_tree([8, 4, 2, 1, 1]).depth.tolist()
    [1, 2, 3, 4, 4]
    """
    check_shape("huffman_tree", arity=arity)
    n = np.size(f)
    if n == 0:
        raise DataError("A label tree needs at least one label. Got none.")
    parents = _native.trees.huffman(label_shares(f, n, "f"), int(arity))
    parent, leaf_of, _ = _native.trees.renumber(parents, np.arange(n, dtype=np.int32), False)
    return LabelTree(parent, leaf_of)
