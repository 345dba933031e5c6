"""Trees that the user has."""

from __future__ import annotations

import numpy as np
import pytest

from longtail.errors import DataError, ParameterError
from longtail.labels import LabelSet
from longtail.trees import tree_from_parents, tree_from_taxonomy

ANIMALS = {
    "animal": None,
    "dog": "animal",
    "cat": "animal",
    "poodle": "dog",
    "pug": "dog",
    "plant": None,
    "fern": "plant",
}


def test_from_parents_without_labels():
    tree = tree_from_parents([4, 4, 3, -1, 3])
    assert tree.parent.tolist() == [-1, 0, 0, 2, 2]
    assert tree.leaf_of.tolist() == [3, 4, 1]


def test_labels_at_inner_nodes_get_leaves_of_their_own():
    tree = tree_from_parents(np.array([-1, 0, 0]), labels=[0, 1, 1, 2, 0])
    assert tree.parent.tolist() == [-1, 0, 0, 0, 0]
    assert tree.leaf_of.tolist() == [3, 1, 1, 2, 4]


def test_one_node():
    assert tree_from_parents([-1]).n_labels == 1
    assert tree_from_parents([-1], labels=[0, 0, 0]).depth.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("parents", "labels", "message"),
    [
        ([-1, 2, 1], None, "circle"),
        ([0], [0], "root"),
        ([-1, -1], None, "both roots"),
        ([-1, 7], None, "expected -1 to 1"),
        ([-1, 0, 0], [1], "node 2 has no label"),
        ([-1, 0], [5], "label 0 is at node 5"),
        ([-1.0, 0.0], None, "whole numbers"),
        ([-1, 2**40], None, "32 bits"),
        ([-1, [0]], None, "whole numbers"),
        ([[-1]], None, "whole numbers"),
    ],
)
def test_bad_parents(parents, labels, message):
    with pytest.raises(ParameterError, match=message):
        tree_from_parents(parents, labels)


def test_no_nodes_and_no_labels():
    with pytest.raises(DataError, match="'parents' is empty"):
        tree_from_parents([])
    with pytest.raises(DataError, match="'labels' is empty"):
        tree_from_parents([-1], labels=[])


def test_taxonomy():
    labels = LabelSet(["pug", "poodle", "dog", "cat", "fern"])
    tree = tree_from_taxonomy(ANIMALS, labels)
    assert tree.depth.tolist() == [3, 3, 3, 2, 2]
    dogs = set(tree.path(0)) & set(tree.path(1)) & set(tree.path(2))
    assert len(dogs) == 3  # the root, animal and dog
    pairs = [(parent, child) for child, parent in ANIMALS.items() if parent is not None]
    assert tree_from_taxonomy(pairs, labels).depth.tolist() == tree.depth.tolist()


def test_one_top_category_is_the_root_and_others_are_left_out():
    tree = tree_from_taxonomy({"dog": "animal", "cat": "animal", "pug": "dog"}, ["dog", "cat"])
    assert tree.depth.tolist() == [1, 1]  # dog has no label below it: it is a leaf itself
    assert tree.n_nodes == 3


def test_labels_that_the_taxonomy_lacks():
    with pytest.raises(DataError, match="'emu' is not in the taxonomy"):
        tree_from_taxonomy(ANIMALS, ["dog", "emu"])
    tree = tree_from_taxonomy(ANIMALS, ["dog", "emu"], missing="root")
    assert tree.depth.tolist() == [2, 1]


@pytest.mark.parametrize(
    ("taxonomy", "labels", "message"),
    [
        ({"a": "b", "b": "c", "c": "a", "x": None}, ["a"], "circle: a → b → c → a|circle: b → c → a → b"),
        ({"a": "a"}, ["a"], "circle: a → a"),
        ([("a", "b"), ("c", "b")], ["b"], "'b' has two parents, 'a' and 'c'"),
        ([("a", "b", "c")], ["b"], "pairs"),
        (["ab"], ["b"], "pairs"),
        ({"a": 1}, ["a"], "holds names"),
        ({"a": None}, [1], "must be names"),
        ({"a": None}, [], "at least one label"),
    ],
)
def test_bad_taxonomies(taxonomy, labels, message):
    with pytest.raises(DataError, match=message):
        tree_from_taxonomy(taxonomy, labels)


def test_bad_missing():
    with pytest.raises(ParameterError, match="missing"):
        tree_from_taxonomy(ANIMALS, ["dog"], missing="ignore")


def test_a_deep_taxonomy():
    n = 100_000
    tree = tree_from_taxonomy({str(i): str(i - 1) for i in range(1, n)}, [str(n - 1), "5"])
    assert tree.depth.tolist() == [n - 1, 6]
