"""Builders: the shape of balanced trees, determinism, degenerate input."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from longtail.errors import DataError, ParameterError
from longtail.progress import Silent, use
from longtail.trees import complete_tree, kmeans_tree, random_tree
from longtail.trees.shape import level_arities

shapes = {"n": st.integers(1, 600), "arity": st.integers(2, 64), "max_leaf": st.integers(1, 120)}


def check_balanced(tree, n, arity, max_leaf):
    tree.validate()
    assert sorted(tree.order.tolist()) == list(range(n))
    sizes = (tree.label_end - tree.label_begin)[tree.is_leaf]
    assert sizes.max() <= max_leaf
    assert tree.n_children.max() <= arity
    for depth in range(tree.height + 1):
        level = tree.level(depth)
        counts = (tree.label_end - tree.label_begin)[level.start : level.stop]
        assert counts.max() - counts.min() <= 1
    # No chains, and leaves above the lowest level only where one label is left.
    assert 1 not in tree.n_children
    assert np.all(sizes[tree.node_depth[tree.is_leaf] < tree.height] == 1)
    if tree.height > 1 and sizes.min() > 1:
        assert set(tree.n_children[1:][~tree.is_leaf[1:]].tolist()) == {arity}
    fewest = -(-n // max_leaf)
    assert arity ** max(tree.height - 1, 0) < max(fewest, 2)


@given(**shapes)
@settings(max_examples=150, deadline=None)
def test_shape_of_balanced_trees(n, arity, max_leaf):
    tree = complete_tree(n, arity, max_leaf)
    check_balanced(tree, n, arity, max_leaf)
    assert tree.order.tolist() == list(range(n))
    check_balanced(random_tree(n, arity, max_leaf, seed=n), n, arity, max_leaf)


@given(**shapes, seed=st.integers(0, 2**63 - 1), density=st.sampled_from([0.0, 0.02, 0.3]))
@settings(max_examples=100, deadline=None)
def test_kmeans_trees_are_balanced_and_repeatable(n, arity, max_leaf, seed, density):
    e = sp.random(n, 20, density=density, format="csr", random_state=n)
    tree = kmeans_tree(e, arity, max_leaf, seed=seed, threads=1)
    check_balanced(tree, n, arity, max_leaf)
    assert kmeans_tree(e, arity, max_leaf, seed=seed, threads=2) == tree


@pytest.mark.parametrize(
    ("n", "arity", "max_leaf", "arities"),
    [
        (1, 16, 100, []),
        (100, 16, 100, []),
        (101, 16, 100, [2]),
        (1600, 16, 100, [16]),
        (1601, 16, 100, [2, 16]),
        (3993, 16, 100, [4, 16]),
        (14_546, 16, 100, [15, 16]),
        (23_389, 16, 100, [16, 16]),
        (30_000, 16, 100, [2, 16, 16]),
        (131_000, 16, 100, [8, 16, 16]),
        (670_000, 16, 100, [3, 16, 16, 16]),
        (8, 2, 1, [2, 2, 2]),
        (9, 2, 1, [2, 2, 2, 2]),
        (2**31 - 1, 2, 1, [2] * 31),
    ],
)
def test_level_arities(n, arity, max_leaf, arities):
    assert level_arities(n, arity, max_leaf).tolist() == arities


def test_seeds_matter_and_arguments_are_not_changed():
    e = sp.random(300, 50, density=0.1, format="csr", random_state=0)
    before = e.data.copy()
    assert kmeans_tree(e, 4, 10, seed=1) != kmeans_tree(e, 4, 10, seed=2)
    assert random_tree(300, 4, 10, seed=1) != random_tree(300, 4, 10, seed=2)
    assert np.array_equal(e.data, before)


def test_all_the_same_and_nothing_at_all():
    for e in (
        np.ones((50, 3)),
        np.zeros((50, 3)),
        sp.csr_matrix((50, 3)),
        np.zeros((50, 0)),
        sp.csr_matrix((50, 0)),
    ):
        check_balanced(kmeans_tree(e, 4, 3), 50, 4, 3)
    assert kmeans_tree(np.ones((1, 3)), 2, 1).n_nodes == 1


def test_labels_without_embedding_among_others():
    e = np.zeros((40, 2))
    e[10:20, 0] = e[30:, 1] = 1
    check_balanced(kmeans_tree(e, 2, 5), 40, 2, 5)


def test_no_labels():
    for build in (lambda: kmeans_tree(np.zeros((0, 3))), lambda: kmeans_tree(sp.csr_matrix((0, 3)))):
        with pytest.raises(DataError, match="at least one label"):
            build()
    for simple in (complete_tree, random_tree):
        with pytest.raises(ParameterError, match="n_labels"):
            simple(0)


@pytest.mark.parametrize(
    "options",
    [
        {"arity": 1},
        {"arity": 65},
        {"arity": 2.0},
        {"max_leaf": 0},
        {"n_iter": 0},
        {"tol": -1},
        {"tol": float("nan")},
        {"seed": -1},
        {"seed": 2**63},
        {"threads": 0},
        {"threads": True},
    ],
)
def test_bad_parameters(options):
    (name,) = options
    with pytest.raises(ParameterError, match=name):
        kmeans_tree(np.eye(3), **options)
    if name in ("arity", "max_leaf", "seed"):
        with pytest.raises(ParameterError, match=name):
            random_tree(3, **options)


@pytest.mark.parametrize("e", [np.full((3, 2), np.nan), np.full((3, 2), np.inf), np.zeros(3), [["a"]], None])
def test_bad_embeddings(e):
    with pytest.raises(DataError):
        kmeans_tree(e)


def test_progress_is_reported():
    class Listener(Silent):
        heard = ()

        def begin(self, name, total, unit):
            self.heard = (name, total, unit)
            return 1

    with use(Listener()) as listener:
        kmeans_tree(np.eye(300), arity=16, max_leaf=10)
    assert listener.heard == ("cluster labels", 300 * (1 + 4), "labels × levels")
