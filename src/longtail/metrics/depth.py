"""How deep in its tree a search has to go for a list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import DataError, ParameterError
from ..params import Int

if TYPE_CHECKING:
    from ..trees import LabelTree

__all__ = ["expected_depth"]


def expected_depth(ranking: Any, tree: LabelTree, k: int = 1) -> float:
    """Expected depth@k: the depth of the deepest of the first k labels of a row, averaged over rows.

    The depth of a label is that of its leaf: the number of edges from the root. Rows without any label are left out;
    0.0 if there is no other row.

    Args:
        ranking: a ``Ranking``, or an array of label ids (-1 where there is none).
        tree: the tree over the labels, such as ``model.trees_[0]``.
        k: how many labels of each row count.

    >>> from longtail.trees import tree_from_parents
    >>> tree = tree_from_parents([-1, 0, 0, 2, 2], [1, 3, 4])  # label 0 lies at depth 1, the others at depth 2
    >>> expected_depth([[0, 1], [0, -1]], tree, k=1), expected_depth([[0, 1], [0, -1]], tree, k=2)
    (1.0, 1.5)
    """
    if not Int(1).accepts(k):
        raise ParameterError(f"The 'k' parameter of expected_depth must be {Int(1)}. Got {k!r} instead.")
    ids = np.asarray(getattr(ranking, "labels", ranking))
    if ids.ndim != 2 or ids.dtype.kind not in "iu":
        raise DataError(
            f"The ranking must be a Ranking or a matrix of label ids. Got shape {ids.shape} and dtype {ids.dtype}."
        )
    if ids.size and not (ids.min() >= -1 and ids.max() < tree.n_labels):
        raise DataError(
            f"The ranking has labels from {ids.min()} to {ids.max()}, but the tree has {tree.n_labels} labels."
        )
    top = ids[:, : int(k)]
    depth = np.asarray(tree.depth)
    deepest = np.where(top >= 0, depth[np.maximum(top, 0)], -1).max(axis=1, initial=-1)
    reached = deepest[deepest >= 0]
    return float(reached.mean()) if len(reached) else 0.0
