"""The tree of a hierarchical softmax that was given none."""

from __future__ import annotations

import numpy as np

from ..arrays import CSR
from ..labels import head_frequencies, pifa
from ..trees import LabelTree, huffman_tree, interpolated_tree

__all__ = ["label_tree"]


def label_tree(x: CSR, y: CSR, tradeoff: float | None, similarity: str, seed: int, threads: int) -> LabelTree:
    """A binary tree with one label a leaf: Huffman's, or one that also keeps similar labels together: those of rows
    with similar features, or those that go with similar labels."""
    frequencies = np.bincount(y.indices, minlength=y.shape[1])
    if tradeoff is None:
        return huffman_tree(frequencies)
    return interpolated_tree(
        pifa(_by_rarity(x if similarity == "features" else y), y, threads=threads),
        frequencies,
        head_frequencies(y) if tradeoff > 1 else None,
        tradeoff=float(tradeoff),
        arity=2,
        max_leaf=1,
        seed=seed,
        threads=threads,
    )


def _by_rarity(x: CSR) -> CSR:
    """Columns weighted by inverse document frequency, so that words of all texts say nothing of similarity;
    columns of a single row, which relate nothing, are left empty."""
    rows = np.bincount(x.indices, minlength=x.shape[1])
    rarity = np.where(rows > 1, np.log((1 + x.shape[0]) / (1 + rows)) + 1, 0).astype(np.float32)
    weighted = x.copy()
    weighted.data = x.data * rarity[x.indices]
    weighted.eliminate_zeros()
    return weighted
