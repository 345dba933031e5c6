"""Trees over labels: the structure that every tree model works with, and builders of it.

Every builder gives a ``LabelTree``. Balanced builders share one rule of shape (``shape.py``) and one
recursive splitter (``native/trees/grow.hpp``); those that look at embeddings also the way of the work
(``native/trees/descend.hpp``).
"""

from __future__ import annotations

from .given import tree_from_parents, tree_from_taxonomy
from .huffman import huffman_tree
from .interpolated import fano_tree, interpolated_tree, tradeoff_from_ratio
from .kmeans import kmeans_tree
from .ordered import complete_tree, random_tree
from .tree import LabelTree

__all__ = [
    "LabelTree",
    "complete_tree",
    "fano_tree",
    "huffman_tree",
    "interpolated_tree",
    "kmeans_tree",
    "random_tree",
    "tradeoff_from_ratio",
    "tree_from_parents",
    "tree_from_taxonomy",
]
