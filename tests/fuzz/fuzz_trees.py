"""Random and tampered input for the label and tree rooms: a tree or a LongtailError, never anything else."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from longtail.errors import LongtailError
from longtail.labels import LabelSet, frequencies, head_frequencies, pifa
from longtail.trees import (
    LabelTree,
    huffman_tree,
    interpolated_tree,
    kmeans_tree,
    random_tree,
    tree_from_parents,
    tree_from_taxonomy,
)

ODD_VALUES = [-(2**31), -2, -1, 0, 1, 2, 2**30, 2**31 - 1]


def tampered(array, r):
    """A copy with something wrong, or by chance nothing."""
    out = np.array(array)
    what = r.integers(0, 8)
    if what <= 2 and out.size:
        out.reshape(-1)[r.integers(out.size)] = r.choice(ODD_VALUES)
    elif what == 3:
        out = out[: r.integers(0, out.size + 1)]
    elif what == 4:
        out = out.astype(r.choice(["int64", "float32", "uint8", "bool", "U3"]))
    elif what == 5:
        out = r.permutation(out)
    elif what == 6:
        out = np.stack([out, out])
    else:
        out = np.repeat(out, 2)[::2]
    return out


def fuzz_state(r):
    n = int(r.integers(1, 60))
    meta, arrays = random_tree(
        n, int(r.integers(2, 6)), int(r.integers(1, 9)), seed=int(r.integers(99))
    ).to_state()
    meta = {k: v if r.random() < 0.7 else [v, v + 1, -1, None, "x"][r.integers(5)] for k, v in meta.items()}
    arrays = {k: v if r.random() < 0.4 else tampered(v, r) for k, v in arrays.items() if r.random() < 0.97}
    check_tree(LabelTree.from_state(meta, arrays))


def fuzz_names(r):
    meta, arrays = LabelSet([f"é{i}" for i in range(r.integers(0, 6))]).to_state()
    arrays = {k: tampered(v, r) for k, v in arrays.items()}
    assert isinstance(LabelSet.from_state(meta, arrays), LabelSet)


def fuzz_parents(r):
    n = int(r.integers(0, 12))
    parents = r.integers(-2 if r.random() < 0.2 else 0, n + 1, size=n)
    if n and r.random() < 0.9:
        parents[1:] = [r.integers(0, i) for i in range(1, n)]
        parents[0] = -1
    if r.random() < 0.3:
        parents = tampered(parents, r)
    labels = (
        None if r.random() < 0.4 else r.integers(-1 if r.random() < 0.2 else 0, n + 1, size=r.integers(0, 20))
    )
    check_tree(tree_from_parents(parents, labels))


def fuzz_taxonomy(r):
    names = list("abcdefgh")
    pairs = [(str(r.choice(names)), str(r.choice(names))) for _ in range(r.integers(0, 9))]
    labels = r.permutation(names)[: r.integers(0, 5)].tolist()
    check_tree(tree_from_taxonomy(pairs, labels, missing=str(r.choice(["root", "error"]))))


def fuzz_embeddings(r):
    n, d = int(r.integers(0, 40)), int(r.integers(0, 12))
    e = r.choice([0, 0, 0, 1, -1, 0.5, 1e-44, 3e38, -3e38], size=(n, d)).astype(np.float32)
    if r.random() < 0.1 and e.size:
        e.reshape(-1)[r.integers(e.size)] = r.choice([np.nan, np.inf])
    matrix = e if r.random() < 0.4 else sp.csr_matrix(e)
    if sp.issparse(matrix) and r.random() < 0.3 and matrix.nnz:
        where = r.choice(["indices", "indptr"])
        getattr(matrix, where)[r.integers(len(getattr(matrix, where)))] = r.choice(ODD_VALUES)
    options = {
        "arity": int(r.integers(1, 9)),
        "max_leaf": int(r.integers(0, 9)),
        "n_iter": int(r.integers(0, 9)),
    }
    tree = kmeans_tree(matrix, seed=int(r.integers(99)), threads=int(r.integers(1, 4)), **options)
    check_tree(tree)
    assert tree.n_labels == n


def fuzz_frequencies(r):
    n, d = int(r.integers(0, 40)), int(r.integers(0, 12))
    e = r.choice([0, 0, 0, 1, -1, 0.5, 1e-44, 3e38, -3e38], size=(n, d)).astype(np.float32)
    f, g = (r.choice([0, 0, 1, 2, 1e-320, 1e308, 1e-10], size=n) for _ in range(2))
    if r.random() < 0.1 and n:
        f[r.integers(n)] = r.choice([np.nan, np.inf, -1])
    options = {
        "tradeoff": float(r.choice([0, 1e-9, 0.5, 1, 1.5, 1.999999, 2, 2.1])),
        "gamma": float(r.choice([0, 1e-12, 0.1, 1e6])),
        "midpoint": bool(r.integers(2)),
        "arity": int(r.integers(1, 9)),
        "max_leaf": int(r.integers(0, 9)),
    }
    tree = interpolated_tree(e if r.random() < 0.4 else sp.csr_matrix(e), f, g, **options)
    check_tree(tree)
    assert tree.n_labels == n
    check_tree(huffman_tree(f, options["arity"]))
    y = sp.csr_matrix((r.random((d, n)) < 0.3).astype(np.float32))
    if y.nnz and r.random() < 0.3:
        where = r.choice(["indices", "indptr"])
        getattr(y, where)[r.integers(len(getattr(y, where)))] = r.choice(ODD_VALUES)
    assert np.all(head_frequencies(y, str(r.choice(["greedy", "marginal"]))) >= 0)


def fuzz_pifa(r):
    n, d, n_labels = (int(v) for v in r.integers(0, 20, size=3))
    x = r.choice([0, 0, 1, -1, 1e-44, 3e38], size=(n, d)).astype(np.float32)
    y = sp.csr_matrix((r.random((n, n_labels)) < 0.2).astype(np.float32))
    if y.nnz and r.random() < 0.3:
        where = r.choice(["indices", "indptr"])
        getattr(y, where)[r.integers(len(getattr(y, where)))] = r.choice(ODD_VALUES)
    e = pifa(sp.csr_matrix(x) if r.random() < 0.5 else x, y, threads=int(r.integers(1, 4)))
    values = e.data if sp.issparse(e) else e
    assert e.shape == (n_labels, d)
    assert np.all(np.isfinite(values))
    assert len(frequencies(y)) == n_labels


def check_tree(tree):
    """What can be asked of any tree."""
    tree.validate()
    tree.describe()
    tree.draw(max_depth=int(tree.height % 4))
    assert sorted(tree.order.tolist()) == list(range(tree.n_labels))
    assert LabelTree.from_state(*tree.to_state()) == tree
    assert tree.collapse(1).n_labels == tree.n_labels
    assert not np.any(tree.simplify().n_children[1:] == 1)


TARGETS = [fuzz_state, fuzz_names, fuzz_parents, fuzz_taxonomy, fuzz_embeddings, fuzz_frequencies, fuzz_pifa]


def run(n: int, seed: int) -> dict[str, int]:
    """n inputs; how many were accepted and how many refused."""
    counts = {"accepted": 0, "refused": 0}
    for i in range(n):
        r = np.random.default_rng([seed, i])
        try:
            TARGETS[i % len(TARGETS)](r)
            counts["accepted"] += 1
        except LongtailError:
            counts["refused"] += 1
    return counts


if __name__ == "__main__":
    import sys

    print(
        run(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000, int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    )
