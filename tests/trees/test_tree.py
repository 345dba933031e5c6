"""LabelTree: structure, immutability, state, collapse, figures and drawing."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from longtail.errors import DataError, LongtailError, ModelError, ParameterError
from longtail.labels import LabelSet
from longtail.trees import LabelTree, complete_tree, random_tree, tree_from_parents


@pytest.fixture
def tree():
    """Root → leaf 1 (labels 1, 3), node 2 → leaf 3 (label 2), leaf 4 (label 0)."""
    return LabelTree([-1, 0, 0, 2, 2], [4, 1, 3, 1])


def test_arrays(tree):
    assert tree.parent.tolist() == [-1, 0, 0, 2, 2]
    assert tree.leaf_of.tolist() == [4, 1, 3, 1]
    assert tree.child_start.tolist() == [1, 3, 3, 5, 5, 5]
    assert tree.n_children.tolist() == [2, 0, 2, 0, 0]
    assert tree.order.tolist() == [1, 3, 2, 0]
    assert tree.label_begin.tolist() == [0, 0, 2, 2, 3]
    assert tree.label_end.tolist() == [4, 2, 4, 3, 4]
    assert tree.node_depth.tolist() == [0, 1, 1, 2, 2]
    assert tree.depth.tolist() == [2, 1, 2, 1]
    assert tree.is_leaf.tolist() == [False, True, False, True, True]
    assert (tree.n_nodes, tree.n_labels, tree.n_leaves, tree.height) == (5, 4, 3, 2)
    int_arrays = "parent leaf_of child_start n_children order label_begin label_end node_depth depth"
    assert {getattr(tree, name).dtype for name in int_arrays.split()} == {np.dtype(np.int32)}
    assert repr(tree) == "LabelTree(4 labels, 3 leaves, 5 nodes, height 2)"


def test_walks(tree):
    assert list(tree.children(0)) == [1, 2]
    assert list(tree.children(1)) == []
    assert tree.labels_under(2).tolist() == [2, 0]
    assert tree.path(0) == [0, 2, 4]
    assert [list(tree.level(d)) for d in range(4)] == [[0], [1, 2], [3, 4], []]
    for call in (lambda: tree.children(5), lambda: tree.labels_under(-1), lambda: tree.path(4)):
        with pytest.raises(ParameterError):
            call()


def test_nothing_can_be_changed(tree):
    for name in LabelTree.__slots__:
        with pytest.raises(AttributeError):
            setattr(tree, name, 0)
        with pytest.raises(AttributeError):
            delattr(tree, name)
        value = getattr(tree, name)
        if isinstance(value, np.ndarray):
            with pytest.raises(ValueError, match="read-only"):
                value[0] = 0
    with pytest.raises(AttributeError):
        tree.anything = 1


def test_the_callers_arrays_are_copied():
    parent, leaf_of = np.array([-1, 0, 0], np.int32), np.array([1, 2], np.int32)
    tree = LabelTree(parent, leaf_of)
    parent[:] = leaf_of[:] = 0
    assert tree == LabelTree([-1, 0, 0], [1, 2])
    tree.validate()


def test_equality_hash_and_copies(tree):
    same = LabelTree(*tree.to_parents())
    assert same == tree
    assert hash(same) == hash(tree)
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert copy.deepcopy(tree) == tree
    assert tree != LabelTree([-1, 0, 0, 2, 2], [4, 1, 3, 3])
    assert tree != "tree"
    assert tree_from_parents(*tree.to_parents()) == tree


@pytest.mark.parametrize(
    ("parent", "leaf_of"),
    [
        ([], []),
        ([-1], []),
        ([-1, 0], [0]),
        ([-1, 0, 0], [1]),
        ([-1, 2, 0], [1, 2]),
        ([[-1]], [0]),
        ([-1.0], [0]),
        ("ab", [0]),
        ([-1, [0]], [0]),
        ([-1], [2**31]),
    ],
)
def test_what_is_no_tree(parent, leaf_of):
    with pytest.raises(ParameterError):
        LabelTree(parent, leaf_of)


def test_state_round_trip(tree):
    for some in (tree, complete_tree(1000), random_tree(77, 2, 1), LabelTree([-1], [0, 0])):
        meta, arrays = some.to_state()
        again = LabelTree.from_state(meta, arrays)
        assert again == some
        assert again.order.tolist() == some.order.tolist()


@pytest.mark.parametrize(
    "change",
    [
        lambda m, a: a.pop("parent"),
        lambda m, a: m.pop("n_labels"),
        lambda m, a: m.update(n_nodes=6),
        lambda m, a: m.update(n_labels="4"),
        lambda m, a: a.update(parent=a["parent"].astype(np.int64)),
        lambda m, a: a.update(parent=a["parent"][::-1].copy()),
        lambda m, a: a.update(leaf_of=a["leaf_of"].reshape(2, 2)),
        lambda m, a: a.update(leaf_of=np.full(4, 2**31 - 1, np.int32)),
        lambda m, a: a.update(leaf_of=np.full(4, -1, np.int32)),
        lambda m, a: a.update(leaf_of=np.array([4, 1, 4, 1], np.int32)),
    ],
)
def test_tampered_state(tree, change):
    meta, arrays = tree.to_state()
    change(meta, arrays)
    with pytest.raises(ModelError):
        LabelTree.from_state(meta, arrays)


def test_state_that_is_no_mapping(tree):
    with pytest.raises(ModelError):
        LabelTree.from_state({}, None)


def test_strided_state_arrays(tree):
    meta, arrays = tree.to_state()
    wide = {name: np.repeat(array, 2)[::2] for name, array in arrays.items()}
    assert LabelTree.from_state(meta, wide) == tree


def test_collapse_a_layer():
    binary = complete_tree(16, arity=2, max_leaf=1)
    flat = binary.collapse([1, 3])
    assert flat.describe()["nodes_per_level"] == [1, 4, 16]
    assert flat.order.tolist() == binary.order.tolist()
    assert binary.collapse([1, 2, 3]).describe()["nodes_per_level"] == [1, 16]
    assert binary.collapse([]) is binary
    assert binary.collapse(9) is binary


def test_collapse_keeps_leaves_and_their_places(tree):
    flat = tree.collapse(1)
    assert flat.parent.tolist() == [-1, 0, 0, 0]
    assert flat.order.tolist() == tree.order.tolist()


def test_collapse_refuses_the_root(tree):
    for levels in (0, [0, 1], [-1], [0.5], "x"):
        with pytest.raises(ParameterError, match="depths >= 1"):
            tree.collapse(levels)


def test_simplify_drops_chains():
    chain = tree_from_parents([-1, 0, 1, 2, 2, 0])
    assert chain.simplify().parent.tolist() == [-1, 0, 0, 1, 1]
    assert tree_from_parents([-1, 0, 1]).simplify() == LabelTree([-1, 0], [1])


def test_describe(tree):
    facts = tree.describe(frequencies=[1, 0, 0, 3])
    assert facts == {
        "n_labels": 4,
        "n_nodes": 5,
        "n_leaves": 3,
        "height": 2,
        "nodes_per_level": [1, 2, 2],
        "arities": {2: 2},
        "leaf_size": {"min": 1, "median": 1.0, "mean": 4 / 3, "max": 2},
        "depth": {"min": 1, "median": 1.5, "mean": 1.5, "max": 2},
        "expected_depth": 1.25,
    }
    assert tree.describe([0, 0, 0, 0])["expected_depth"] == 1.5
    assert "expected_depth" not in tree.describe()
    for bad in ([1, 2], [1, 2, 3, -1], [1, 2, 3, np.nan], ["a"] * 4):
        with pytest.raises(DataError, match="frequencies"):
            tree.describe(bad)


def test_draw(tree):
    assert tree.draw().splitlines() == [
        "0: 2 children, 4 labels (1, 3, 2, …)",
        "├─ 1: leaf, 2 labels (1, 3)",
        "└─ 2: 2 children, 2 labels (2, 0)",
        "   ├─ 3: leaf, 1 label (2)",
        "   └─ 4: leaf, 1 label (0)",
    ]
    names = LabelSet(["ant", "bee\nline", "cat", "a name that is far too long to be drawn"])
    assert tree.draw(names, max_depth=1, max_children=1, frequencies=[0, 1, 2, 9]).splitlines() == [
        "0: 2 children, 4 labels (a name that is far too long…, cat, bee line, …)",
        "├─ 1: leaf, 2 labels (a name that is far too long…, bee line)",
        "└─ … 1 more child with 2 labels",
    ]
    assert tree.draw(max_depth=0) == "0: 2 children, 4 labels (1, 3, 2, …)"
    assert len(complete_tree(100_000, 2, 1).draw(max_depth=5, max_children=2).splitlines()) == 63


def test_draw_errors(tree):
    with pytest.raises(DataError, match="2 names, the tree has 4"):
        tree.draw(["a", "b"])
    for bad in ({"max_depth": -1}, {"max_children": 0}, {"frequencies": [1]}):
        with pytest.raises(LongtailError):
            tree.draw(**bad)
