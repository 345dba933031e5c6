"""Trees over labels: the structure that every tree model works with, and builders of it.

Every builder gives a ``LabelTree``. Balanced builders share one rule of shape (``shape.py``) and one
recursive splitter (``native/trees/grow.hpp``).
"""

from __future__ import annotations

from .given import tree_from_parents, tree_from_taxonomy
from .kmeans import kmeans_tree
from .ordered import complete_tree, random_tree
from .tree import LabelTree

__all__ = [
    "LabelTree",
    "complete_tree",
    "kmeans_tree",
    "random_tree",
    "tree_from_parents",
    "tree_from_taxonomy",
]
