"""Layout and numbering of trees against plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longtail import _native


def ints(values):
    return np.asarray(values, dtype=np.int32)


@st.composite
def any_trees(draw):
    """A parent array in random numbering and a node for each label; some nodes may have no label."""
    n = draw(st.integers(1, 30))
    above = [-1] + [draw(st.integers(0, i - 1)) for i in range(1, n)]
    number = draw(st.permutations(range(n)))
    parent = [0] * n
    for i, p in enumerate(above):
        parent[number[i]] = -1 if p < 0 else number[p]
    labels = draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=40))
    return parent, labels


def ancestors(parent, node):
    path = [node]
    while parent[path[-1]] >= 0:
        path.append(parent[path[-1]])
    return path[::-1]


@given(any_trees())
@settings(max_examples=300, deadline=None)
def test_renumbered_paths_are_the_old_paths(tree):
    parent, labels = tree
    new_parent, leaf_of, old_of = _native.trees.renumber(ints(parent), ints(labels), True)
    _native.trees.layout(new_parent, leaf_of)  # is canonical
    kept = {node for label in labels for node in ancestors(parent, label)}
    assert {int(old) for old in old_of if old >= 0} == kept
    inner = {parent[node] for node in kept}
    for label, node in enumerate(labels):
        path = [int(old_of[i]) for i in ancestors(new_parent.tolist(), int(leaf_of[label]))]
        assert path == ancestors(parent, node) + ([-1] if node in inner else [])
    own = [int(leaf_of[label]) for label, node in enumerate(labels) if node in inner]
    assert len(set(own)) == len(own)


@given(any_trees())
@settings(max_examples=200, deadline=None)
def test_layout_follows_from_the_parents(tree):
    parent, leaf_of, _ = _native.trees.renumber(*map(ints, tree), True)
    child_start, begin, end, depth, order = _native.trees.layout(parent, leaf_of)
    n = len(parent)
    assert sorted(order.tolist()) == list(range(len(leaf_of)))
    for node in range(n):
        children = np.flatnonzero(parent == node).tolist()
        assert children == list(range(child_start[node], child_start[node + 1]))
        path = ancestors(parent.tolist(), node)
        assert depth[node] == len(path) - 1
        under = [lb for lb in range(len(leaf_of)) if node in ancestors(parent.tolist(), int(leaf_of[lb]))]
        assert sorted(order[begin[node] : end[node]].tolist()) == under
        if not children:
            assert order[begin[node] : end[node]].tolist() == under


@given(st.lists(st.integers(-3, 9), max_size=8), st.lists(st.integers(-3, 9), max_size=8), st.booleans())
@settings(max_examples=500, deadline=None)
def test_any_arrays_give_a_tree_or_a_value_error(parent, labels, prune):
    try:
        parent, labels, _ = _native.trees.renumber(ints(parent), ints(labels), prune)
    except ValueError:
        pass
    else:
        _native.trees.layout(parent, labels)
    try:
        child_start, *_ = _native.trees.layout(ints(parent), ints(labels))
    except ValueError:
        return
    assert child_start[-1] == len(parent)


@pytest.mark.parametrize(
    ("parent", "leaf_of", "message"),
    [
        ([], [0], "1 to 2"),
        ([-1], [], "labels"),
        ([0], [0], "node 0 is the root"),
        ([-1, 1], [1], r"parent\[1\] is 1, expected 0 to 0"),
        ([-1, -1], [1], r"parent\[1\] is -1"),
        ([-1, 0, 1, 0], [2, 3], r"parent\[3\] falls"),
        ([-1, 0, 0], [1, 3], r"leaf_of\[1\] is 3, expected 0 to 2"),
        ([-1, 0, 0], [1, -1], r"leaf_of\[1\] is -1"),
        ([-1, 0, 0], [0, 1], r"leaf_of\[0\] is 0, which is not a leaf"),
        ([-1, 0, 0], [1], "leaf 2 holds no label"),
    ],
)
def test_layout_says_what_is_wrong(parent, leaf_of, message):
    with pytest.raises(ValueError, match=message):
        _native.trees.layout(ints(parent), ints(leaf_of))


@pytest.mark.parametrize(
    ("parent", "node_of", "message"),
    [
        ([-1, 2, 1], [0], "node 1 does not descend from the root"),
        ([0], [0], "no node is the root"),
        ([-1, -1], [0], "nodes 0 and 1 are both roots"),
        ([-1, 5], [0], r"parent\[1\] is 5, expected -1 to 1"),
        ([-1, 0], [2], "label 0 is at node 2"),
        ([-1, 0, 0], [1], "node 2 has no label"),
    ],
)
def test_renumber_says_what_is_wrong(parent, node_of, message):
    with pytest.raises(ValueError, match=message):
        _native.trees.renumber(ints(parent), ints(node_of), False)


def test_a_chain_of_a_million_nodes():
    n = 1_000_000
    parent, leaf_of, _ = _native.trees.renumber(np.arange(-1, n - 1, dtype=np.int32), ints([n - 1]), False)
    *_, depth, _ = _native.trees.layout(parent, leaf_of)
    assert depth[-1] == n - 1


def test_grown_in_order_refuses_what_is_no_permutation():
    for order in ([0, 0], [0, 2], [-1, 0], []):
        with pytest.raises(ValueError, match="label"):
            _native.trees.grow_keeping_order(ints(order), ints([2]))


def test_shuffle_is_a_permutation_and_stays_the_same():
    assert sorted(_native.trees.shuffle(1000, 7).tolist()) == list(range(1000))
    assert _native.trees.shuffle(8, 0).tolist() == [int(i) for i in _native.trees.shuffle(8, 0)]
    assert _native.trees.shuffle(1000, 7).tolist() != _native.trees.shuffle(1000, 8).tolist()
    with pytest.raises(ValueError, match="shuffle"):
        _native.trees.shuffle(-1, 0)


def test_kept_above():
    assert _native.trees.kept_above(ints([-1, 0, 1, 2]), np.array([1, 0, 0, 1], np.uint8)).tolist() == [
        -1,
        0,
        0,
        0,
    ]
    with pytest.raises(ValueError, match="root"):
        _native.trees.kept_above(ints([-1]), np.array([0], np.uint8))
    with pytest.raises(ValueError, match="length"):
        _native.trees.kept_above(ints([-1]), np.array([1, 1], np.uint8))
    with pytest.raises(ValueError, match="below"):
        _native.trees.kept_above(ints([-1, 1]), np.array([1, 1], np.uint8))
