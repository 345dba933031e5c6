"""Interpolated and Fano trees from outside: the ends of the scale, degenerate input, bad parameters."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from longtail.errors import DataError, ParameterError
from longtail.trees import fano_tree, interpolated_tree, kmeans_tree, tradeoff_from_ratio


def entropy(f):
    p = f[f > 0] / f.sum()
    return float(-(p * np.log2(p)).sum())


def check_tree(tree, n, arity, max_leaf):
    tree.validate()
    assert sorted(tree.order.tolist()) == list(range(n))
    assert (tree.label_end - tree.label_begin)[tree.is_leaf].max() <= max_leaf
    assert tree.n_children.max() <= arity
    assert 1 not in tree.n_children
    # Nothing is split that fits a leaf.
    assert np.all((tree.label_end - tree.label_begin)[~tree.is_leaf] > max_leaf)


@given(
    n=st.integers(1, 400),
    arity=st.integers(2, 64),
    max_leaf=st.integers(1, 60),
    tradeoff=st.floats(0, 2),
    gamma=st.sampled_from([0.0, 0.1, 3.0]),
    kind=st.sampled_from(["zeros", "equal", "zipf", "geometric", "one"]),
    density=st.sampled_from([0.0, 0.02, 0.3]),
    midpoint=st.booleans(),
    seed=st.integers(0, 2**63 - 1),
)
@settings(max_examples=150, deadline=None)
def test_any_input_gives_a_tree(n, arity, max_leaf, tradeoff, gamma, kind, density, midpoint, seed):
    ranks = np.random.default_rng(n).permutation(n)
    f = {
        "zeros": np.zeros(n),
        "equal": np.ones(n),
        "zipf": 1 / (1.0 + ranks),
        "geometric": 0.5 ** np.minimum(ranks, 1000.0),
        "one": (ranks == 0) * 1.0,
    }[kind]
    e = sp.random(n, 20, density=density, format="csr", random_state=n)
    shape = {"arity": arity, "max_leaf": max_leaf, "seed": seed}
    options = {"tradeoff": tradeoff, "gamma": gamma, "midpoint": midpoint, **shape}
    tree = interpolated_tree(e, f, f[::-1], **options, threads=1)
    if tradeoff > 0:
        check_tree(tree, n, arity, max_leaf)
    assert interpolated_tree(e, f, f[::-1], **options, threads=2) == tree


def test_no_tradeoff_is_the_balanced_tree():
    e = sp.random(500, 40, density=0.2, format="csr", random_state=0)
    f = 1.0 / np.arange(1, 501)
    for arity in (2, 16):
        tree = interpolated_tree(e, f, tradeoff=0, arity=arity, max_leaf=9, seed=5)
        assert tree == kmeans_tree(e, arity=arity, max_leaf=9, seed=5)


def fano_depths(f):
    """By the book: sort, cut where the halves are most alike, recurse."""
    depth = np.zeros(len(f), int)

    def cut(ids):
        if len(ids) == 1:
            return
        depth[ids] += 1
        sums = np.cumsum(f[ids])
        size = int(np.argmin(np.abs(2 * sums[:-1] - sums[-1]))) + 1
        cut(ids[:size])
        cut(ids[size:])

    cut(np.lexsort((np.arange(len(f)), -f)))
    return depth


def test_the_far_end_is_fano():
    for seed in range(30):
        r = np.random.default_rng(seed)
        f = r.random(int(r.integers(2, 200))) ** 6
        e = sp.random(len(f), 10, density=0.3, format="csr", random_state=seed)
        tree = interpolated_tree(e, f, tradeoff=2, gamma=0, max_leaf=1, seed=seed)
        assert tree.depth.tolist() == fano_depths(f).tolist()
        assert tree == fano_tree(f)
        assert entropy(f) <= tree.describe(f)["expected_depth"] <= entropy(f) + 1


@pytest.mark.parametrize("power", [0.3, 1.0, 2.0])
@pytest.mark.parametrize("gamma", [0.0, 0.1])
def test_expected_depth_of_fano_is_near_the_entropy(power, gamma):
    f = 1.0 / np.arange(1, 5001) ** power
    tree = fano_tree(f, gamma=gamma)
    assert entropy(f) <= tree.describe(f)["expected_depth"] <= entropy(f) + 1


def test_the_knob_lifts_frequent_labels():
    r = np.random.default_rng(0)
    e = sp.random(3000, 60, density=0.1, format="csr", random_state=0)
    f = r.permutation(1.0 / np.arange(1, 3001))
    depths = [
        interpolated_tree(e, f, tradeoff=t, max_leaf=10).describe(f)["expected_depth"] for t in (0, 1, 1.9, 2)
    ]
    assert depths == sorted(depths, reverse=True)
    assert depths[-1] < 0.7 * depths[0]


def test_heads_count_above_one_only():
    e = sp.random(300, 30, density=0.2, format="csr", random_state=1)
    f, g = np.arange(1.0, 301), np.arange(300.0, 0, -1)
    for t, same in ((0.5, True), (1.0, True), (1.5, False), (2.0, False)):
        one = interpolated_tree(e, f, f, tradeoff=t, max_leaf=3)
        assert (interpolated_tree(e, f, g, tradeoff=t, max_leaf=3) == one) is same
        assert interpolated_tree(e, f, tradeoff=t, max_leaf=3) == one
        assert interpolated_tree(e, f * 1e300, g / 1e300, tradeoff=t, max_leaf=3) == interpolated_tree(
            e, f, g, tradeoff=t, max_leaf=3
        )
        direct = interpolated_tree(e, f, g, tradeoff=t, max_leaf=3, midpoint=False)
        assert (direct == interpolated_tree(e, g, g, tradeoff=t, max_leaf=3, midpoint=False)) is True


def test_likeness_decides_among_labels_of_equal_frequency():
    r = np.random.default_rng(0)
    group = r.permutation(np.repeat(np.arange(8), 25))
    e = sp.csr_matrix((np.eye(8)[group] + 0.01 * r.random((200, 8))).astype(np.float32))
    tree = interpolated_tree(e, np.ones(200), tradeoff=1, max_leaf=25)
    for leaf in np.flatnonzero(tree.is_leaf):
        assert len(set(group[tree.labels_under(int(leaf))])) == 1


def test_a_frequent_label_gets_a_leaf_and_the_others_the_rest_of_the_children():
    e = sp.random(100, 20, density=0.3, format="csr", random_state=2)
    f = np.where(np.arange(100) == 7, 1000.0, 1.0)
    tree = interpolated_tree(e, f, tradeoff=1, arity=8, max_leaf=10)
    assert tree.depth[7] == 1
    assert tree.n_children[0] == 8


def test_dense_and_sparse_embeddings_give_the_same_tree():
    e = sp.random(300, 30, density=0.3, format="csr", random_state=3, dtype=np.float32)
    f = 1.0 / np.arange(1, 301)
    assert interpolated_tree(e, f, max_leaf=5) == interpolated_tree(e.toarray(), f, max_leaf=5)


@pytest.mark.parametrize(
    "options",
    [
        {"tradeoff": -0.1},
        {"tradeoff": 2.1},
        {"tradeoff": float("nan")},
        {"tradeoff": None},
        {"gamma": -1},
        {"midpoint": 1},
        {"arity": 1},
        {"arity": 65},
        {"max_leaf": 0},
        {"n_iter": 0},
        {"tol": -1},
        {"seed": -1},
        {"threads": 0},
    ],
)
def test_bad_parameters(options):
    (name,) = options
    with pytest.raises(ParameterError, match=name):
        interpolated_tree(np.eye(3), np.ones(3), **options)


@pytest.mark.parametrize(
    "f", [np.ones(4), -np.ones(3), [1, np.nan, 1], [1, np.inf, 1], ["a"] * 3, None, np.eye(3)]
)
def test_bad_frequencies(f):
    with pytest.raises(DataError, match=r"^f "):
        interpolated_tree(np.eye(3), f)
    with pytest.raises(DataError, match=r"^f_tilde |^f "):
        interpolated_tree(np.eye(3), np.ones(3), np.ones(2) if f is None else f)


def test_bad_embeddings():
    for e in (np.full((3, 2), np.nan), np.zeros(3), None):
        with pytest.raises(DataError):
            interpolated_tree(e, np.ones(3))
    with pytest.raises(DataError, match="at least one label"):
        interpolated_tree(np.zeros((0, 3)), [])
    with pytest.raises(DataError, match="at least one label"):
        fano_tree([])


def test_ratios():
    assert [tradeoff_from_ratio(r) for r in (0, 0.5, 1, 100_000)] == [0, 2 / 3, 1, 200_000 / 100_001]
    for bad in (-1, float("nan"), "1"):
        with pytest.raises(ParameterError, match="ratio"):
            tradeoff_from_ratio(bad)
