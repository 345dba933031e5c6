"""Trees by hierarchical balanced spherical k-means."""

from __future__ import annotations

from typing import Any

from .. import _native
from ..arrays import as_features, is_sparse
from ..params import Int, Real, check
from ..progress import phase
from ..threads import resolve_threads
from .shape import check_shape, level_arities
from .tree import LabelTree

__all__ = ["kmeans_tree"]


def kmeans_tree(
    E: Any,
    arity: int = 16,
    max_leaf: int = 100,
    n_iter: int = 20,
    tol: float = 0.0,
    seed: int = 0,
    threads: int | None = None,
) -> LabelTree:
    """A balanced tree that keeps labels with similar embeddings together.

    Every node is split into its children by splits in two, for arity 16 four levels of them. A split is an
    exact balanced spherical 2-means. It starts from two labels, drawn at random. Then the labels with the
    largest x·(μ₊ - μ₋) become the first side, and μ± the mean directions of the sides, until nobody moves,
    the mean cosine of labels to their side's centre rises by less than ``tol``, or after ``n_iter``
    assignments (5 halve the time and cost no precision on small sets, but up to two points on sets of tens
    of thousands of labels, whose upper splits settle slowly). Where an odd number of labels is halved, the
    middle one goes to the side it favours. Ties go by label id, so equal embeddings and those of labels
    never seen in training, which are empty, are shared out in the order of their ids.

    The tree has the shape that ``shape.py`` describes: full arity below the root, leaves of nearly equal
    size and at most ``max_leaf`` labels. It is the same for any number of threads and every instruction set.

    Args:
        E: L × D label embeddings, sparse or dense, such as ``longtail.labels.pifa`` gives; rows are
            L2-normalised if they are not.
        arity: children per node, 2 to 64.
        max_leaf: the most labels of a leaf.
        n_iter: the most assignments per split.
        tol: a split ends when the mean cosine rises by less.
        seed: of the random starts.
        threads: None for all cores.

    >>> import numpy as np
    >>> E = np.array([[1, 0], [0, 1], [0.9, 0.1], [0.1, 0.9]])
    >>> tree = kmeans_tree(E, arity=2, max_leaf=2)
    >>> sorted(tree.labels_under(node).tolist() for node in tree.children(0))
    [[0, 2], [1, 3]]
    """
    check_shape("kmeans_tree", arity=arity, max_leaf=max_leaf, seed=seed)
    check("kmeans_tree", {"n_iter": Int(1, 10_000), "tol": Real(0)}, {"n_iter": n_iter, "tol": tol})
    rows = as_features(E, "E")
    team = resolve_threads(threads)
    arities = level_arities(rows.shape[0], arity, max_leaf)
    halvings = sum(int(k - 1).bit_length() for k in arities)
    tail = (arities, n_iter, float(tol), int(seed), team)
    with phase("cluster labels", total=rows.shape[0] * halvings, unit="labels × levels") as update:
        if is_sparse(rows):
            parent, leaf_of = _native.trees.kmeans_csr(
                rows.indptr, rows.indices, rows.data, rows.shape[1], *tail, update
            )
        else:
            parent, leaf_of = _native.trees.kmeans_dense(rows, *tail, update)
    return LabelTree(parent, leaf_of)
