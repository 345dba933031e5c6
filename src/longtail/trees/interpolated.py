"""Trees that weigh how alike labels are against how often they are wanted."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _native
from ..arrays import as_features, is_sparse
from ..errors import DataError
from ..params import Check, Flag, Int, Real, check
from ..progress import phase
from ..threads import resolve_threads
from .kmeans import kmeans_tree
from .shape import check_shape
from .tree import LabelTree

__all__ = ["fano_tree", "interpolated_tree", "tradeoff_from_ratio"]

Floats = npt.NDArray[np.float64]


def interpolated_tree(
    E: Any,
    f: Any,
    f_tilde: Any = None,
    *,
    tradeoff: float = 1.0,
    gamma: float = 0.1,
    midpoint: bool = True,
    arity: int = 2,
    max_leaf: int = 100,
    n_iter: int = 20,
    tol: float = 0.0,
    seed: int = 0,
    threads: int | None = None,
) -> LabelTree:
    """A tree that keeps labels with similar embeddings together and lets frequent ones sit near the root.

    With λ = ``tradeoff`` = 0 it is the balanced tree of ``kmeans_tree``, with λ = 1 one whose sides have equal
    frequency instead of equal size, and with λ = 2 a Fano tree, which looks at frequency alone. In between it
    is in between: a node of n labels, with f and f̃ brought to sum 1 there, gives label l the weight

        w_l ∝ (2-λ) · f_l^min(λ,1) + max(λ-1, 0) · f̃_l + γ/n

    and is split so that both sides have about the same weight, labels are close to the weighted centre of
    their side, and, the more the further λ is above 1, heavy labels are together. Centres and sides are found
    in turns, as by ``kmeans_tree`` and as quickly. A node of more than ``max_leaf`` labels gets ``arity``
    children by splits in two, or as few as could hold its labels.

    The tree is the same for any number of threads and every instruction set. Ties go by label id, so every
    input gives a tree: equal embeddings, labels never seen (which have none, and no frequency), one label.

    Args:
        E: L × D label embeddings, sparse or dense, such as ``longtail.labels.pifa`` gives. None if tradeoff is
            2, which does not look at them.
        f: how often each label is wanted: one number >= 0 per label, on any scale, such as
            ``longtail.labels.frequencies`` gives.
        f_tilde: how often each label is the first that is wanted, such as ``longtail.labels.head_frequencies``
            gives; f if None. It matters for tradeoffs above 1 and without midpoint.
        tradeoff: λ in [0, 2]; ``tradeoff_from_ratio`` converts from the scale λ' = λ / (2 - λ).
        gamma: how much frequencies are smoothed: the share of weight that is the same for all labels.
        midpoint: False to go from λ = 0 to λ = 2 directly, not over frequency-weighted 2-means: the weights are
            then w_l ∝ (1 - λ/2)/n + λ/2 · f̃_l + γ/n.
        arity: children per node, 2 to 64.
        max_leaf: the most labels of a leaf.
        n_iter: the most assignments per split.
        tol: a split ends when its objective, which is the mean cosine for λ = 0, rises by less.
        seed: of the random starts.
        threads: None for all cores.

    >>> import numpy as np
    >>> E = np.array([[1, 0], [0.9, 0.1], [0, 1], [0.1, 0.9], [0.2, 0.8]])
    >>> f = [90, 1, 4, 3, 2]
    >>> interpolated_tree(E, f, tradeoff=1, max_leaf=1).depth.tolist()
    [1, 4, 2, 3, 4]
    """
    limits: dict[str, Check] = {
        "tradeoff": Real(0, 2),
        "gamma": Real(0, 1e6),
        "midpoint": Flag(),
        "n_iter": Int(1, 10_000),
        "tol": Real(0),
    }
    check_shape("interpolated_tree", arity=arity, max_leaf=max_leaf, seed=seed)
    check("interpolated_tree", limits, locals())
    if E is None and tradeoff == 2:
        E = np.zeros((np.size(f), 0), np.float32)
    rows = as_features(E, "E")
    n = rows.shape[0]
    if n == 0:
        raise DataError("A label tree needs at least one label. Got none.")
    shares = label_shares(f, n, "f")
    heads = shares if f_tilde is None else label_shares(f_tilde, n, "f_tilde")
    if tradeoff == 0:
        return kmeans_tree(rows, arity, max_leaf, n_iter, tol, seed, threads)
    max_leaf = min(max_leaf, 2**31 - 1)
    knob = (float(tradeoff), float(gamma), bool(midpoint), int(arity), int(max_leaf))
    tail = (shares, heads, *knob, int(n_iter), float(tol), int(seed), resolve_threads(threads))
    work = _native.trees.binary_work(n, max_leaf)
    with phase("cluster labels", total=work, unit="labels × levels") as update:
        if is_sparse(rows):
            parent, leaf_of = _native.trees.interpolated_csr(
                rows.indptr, rows.indices, rows.data, rows.shape[1], *tail, update
            )
        else:
            parent, leaf_of = _native.trees.interpolated_dense(rows, *tail, update)
    return LabelTree(parent, leaf_of)


def fano_tree(f: Any, arity: int = 2, max_leaf: int = 1, gamma: float = 0.0) -> LabelTree:
    """The tree of Fano's code: labels by falling frequency, halved where both halves are about equally frequent.

    A label drawn by its frequency lies at most one level deeper on average than the entropy of f in bits (for
    arity 2, one label per leaf and no smoothing). ``huffman_tree`` gives the least possible depth, but no order:
    Fano's leaves hold labels of similar frequency, also several (``max_leaf``).

    >>> fano_tree([8, 4, 2, 1, 1]).depth.tolist()
    [1, 2, 3, 4, 4]
    """
    return interpolated_tree(None, f, tradeoff=2, gamma=gamma, arity=arity, max_leaf=max_leaf)


def tradeoff_from_ratio(ratio: float) -> float:
    """λ = 2λ' / (1 + λ') for a λ' in [0, ∞]: a scale on which the interesting values are spread more evenly.

    >>> [tradeoff_from_ratio(r) for r in (0, 1, 3, float("inf"))]
    [0.0, 1.0, 1.5, 2.0]
    """
    if ratio == math.inf:
        return 2.0
    check("tradeoff_from_ratio", {"ratio": Real(0)}, {"ratio": ratio})
    return 2.0 * float(ratio) / (1.0 + float(ratio))


def label_shares(frequencies: Any, n_labels: int, name: str) -> Floats:
    """Frequencies that sum to 1 (or are all 0), after a check."""
    try:
        f = np.array(frequencies, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise DataError(f"{name} must be numbers. Got {type(frequencies).__name__} instead.") from None
    if f.shape != (n_labels,):
        raise DataError(f"{name} must be one number per label ({n_labels}). Got shape {f.shape} instead.")
    if not np.all(np.isfinite(f)) or np.any(f < 0):
        raise DataError(f"{name} must be finite and >= 0.")
    if n_labels and f.max() > 0:
        f /= f.max()
        f /= f.sum()
    return f
