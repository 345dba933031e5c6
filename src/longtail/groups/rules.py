"""Groups made of samples whose labels are known, to measure what is lost; and the baseline without assignment."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..arrays import CSR, Features, as_features, is_sparse
from ..errors import DataError
from ..inputs import as_group_labels, as_groups
from ..labels._csr import label_matrix, make_csr
from ..params import Check, Choice, Int, Real, check
from ..trees import kmeans_tree

__all__ = ["cluster_groups", "everyone", "merge_labels", "random_groups"]

_NOISE_FEATURES = 64


def random_groups(n_samples: int, size: int, seed: int = 0) -> CSR:
    """Every sample in one group, drawn at random: samples × groups. All groups have `size`, the last may have fewer.

    >>> random_groups(5, 2, seed=1).sum(axis=0).tolist()
    [[2.0, 2.0, 1.0]]
    """
    constraints: dict[str, Check] = {"n_samples": Int(1), "size": Int(1), "seed": Int(0)}
    check("random_groups", constraints, {"n_samples": n_samples, "size": size, "seed": seed})
    order = np.random.Generator(np.random.PCG64(seed)).permutation(n_samples)
    group = np.empty(n_samples, np.int32)
    group[order] = np.arange(n_samples) // size
    return _one_group_each(group, -(-n_samples // size))


def cluster_groups(
    X: Any, depth: int, *, noise: float = 0.0, seed: int = 0, threads: int | None = None
) -> CSR:
    """Groups of similar samples: hierarchical balanced 2-means, `depth` halvings (2^depth groups).

    `noise` is the length of a random vector that is added to every unit row before clustering: 0 keeps similar samples
    together, and the more, the nearer the groups come to random ones. In sparse rows it has 64 entries.
    """
    constraints: dict[str, Check] = {"depth": Int(0, 30), "noise": Real(0), "seed": Int(0)}
    check("cluster_groups", constraints, {"depth": depth, "noise": noise, "seed": seed})
    x = as_features(X)
    n = x.shape[0]
    if n < 2**depth:
        raise DataError(f"X has {n} rows, which is too few for 2^{depth} groups.")
    if noise > 0:
        x = _with_noise(x, noise, np.random.Generator(np.random.PCG64(seed)))
    tree = kmeans_tree(x, arity=2, max_leaf=-(-n // 2**depth), seed=seed, threads=threads)
    _, group = np.unique(tree.leaf_of, return_inverse=True)
    return _one_group_each(group.astype(np.int32), int(group.max()) + 1)


def merge_labels(groups: Any, Y: Any, how: str = "list") -> CSR:
    """What is known of groups when the labels of their samples are merged: groups × labels.

    "list" keeps how many samples of the group have a label, "set" only that some have it.

    >>> merge_labels([0, 0, 1], sp.csr_matrix([[1, 0], [1, 1], [0, 1]])).toarray().tolist()
    [[2.0, 1.0], [0.0, 1.0]]
    """
    check("merge_labels", {"how": Choice("list", "set")}, {"how": how})
    y = label_matrix(Y).copy()
    y.data[:] = 1
    merged = (as_groups(groups, y.shape[0]).T @ y).tocsr()
    merged.sort_indices()
    if how == "set":
        merged.data[:] = 1
    return merged


def everyone(groups: Any, group_labels: Any, n_samples: int | None = None) -> CSR:
    """The baseline without assignment: every sample gets every label of its groups.

    >>> everyone([0, 0, 1], [["a"], ["b"]]).toarray().tolist()
    [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    """
    y1 = as_groups(groups, n_samples, group_labels)
    y2, _ = as_group_labels(group_labels, y1.shape[1])
    Y = (y1 @ y2).tocsr()
    Y.sort_indices()
    Y.data[:] = 1
    return Y


def _one_group_each(group: Any, n_groups: int) -> CSR:
    n = len(group)
    return make_csr(np.arange(n + 1, dtype=np.int64), group, np.ones(n, np.float32), n_groups)


def _with_noise(x: Features, noise: float, random: np.random.Generator) -> Features:
    """Unit rows, each with a random vector of length `noise` added."""
    n, d = x.shape
    if not is_sparse(x):
        lengths = np.linalg.norm(x, axis=1, keepdims=True)
        vectors = random.standard_normal((n, d), dtype=np.float32)
        vectors *= noise / np.linalg.norm(vectors, axis=1, keepdims=True)
        return x / np.where(lengths > 0, lengths, 1) + vectors
    lengths = np.sqrt(np.asarray(x.multiply(x).sum(axis=1)).ravel())
    unit = sp.diags_array(1 / np.where(lengths > 0, lengths, 1)) @ x
    entries = min(d, _NOISE_FEATURES)
    values = random.standard_normal((n, entries))
    values *= noise / np.linalg.norm(values, axis=1, keepdims=True)
    columns = random.integers(0, d, (n, entries))
    added = sp.csr_matrix(
        (values.ravel(), columns.ravel(), np.arange(0, n * entries + 1, entries)), shape=(n, d)
    )
    return (unit + added).tocsr()
