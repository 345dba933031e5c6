"""Balanced trees that look at no data: leaves cut a given or random order of the labels in equal pieces."""

from __future__ import annotations

import numpy as np

from .. import _native
from ..params import Int, check
from .shape import check_shape, level_arities
from .tree import LabelTree

__all__ = ["complete_tree", "random_tree"]


def complete_tree(n_labels: int, arity: int = 16, max_leaf: int = 100) -> LabelTree:
    """The balanced tree over labels in the order of their ids: neighbours by id share leaves.

    >>> complete_tree(6, arity=4, max_leaf=2).leaf_of.tolist()
    [1, 1, 2, 2, 3, 3]
    """
    check_shape("complete_tree", arity=arity, max_leaf=max_leaf)
    check("complete_tree", {"n_labels": Int(1, 2**31 - 1)}, {"n_labels": n_labels})
    arities = level_arities(n_labels, arity, max_leaf)
    return LabelTree(*_native.trees.grow_keeping_order(np.arange(n_labels, dtype=np.int32), arities))


def random_tree(n_labels: int, arity: int = 16, max_leaf: int = 100, seed: int = 0) -> LabelTree:
    """The balanced tree over labels in random order: what a tree is worth that knows nothing.

    >>> random_tree(1000, seed=1) == random_tree(1000, seed=1)
    True
    """
    check_shape("random_tree", arity=arity, max_leaf=max_leaf, seed=seed)
    check("random_tree", {"n_labels": Int(1, 2**31 - 1)}, {"n_labels": n_labels})
    arities = level_arities(n_labels, arity, max_leaf)
    return LabelTree(*_native.trees.grow_keeping_order(_native.trees.shuffle(n_labels, seed), arities))
