"""Expected depth@k."""

import numpy as np
import pytest

import longtail as lt
from longtail.errors import DataError, ParameterError
from longtail.ranking import Ranking
from longtail.trees import LabelTree, random_tree, tree_from_parents


def plain(ids: np.ndarray, tree: LabelTree, k: int) -> float:
    """By walking from each label to the root."""
    parents, leaf_of = tree.to_parents()
    deepest = []
    for row in ids.tolist():
        depths = []
        for label in row[:k]:
            if label < 0:
                continue
            node, steps = leaf_of[label], 0
            while parents[node] >= 0:
                node, steps = parents[node], steps + 1
            depths.append(steps)
        if depths:
            deepest.append(max(depths))
    return sum(deepest) / len(deepest)


@pytest.mark.parametrize("k", [1, 2, 5, 9])
def test_it_is_that_of_walking_up(k: int) -> None:
    rng = np.random.default_rng(0)
    for seed in range(4):
        tree = random_tree(50, arity=3, max_leaf=3, seed=seed)
        ids = np.array([rng.permutation(50)[:6] for _ in range(40)], np.int32)
        ids[np.arange(6)[None] >= rng.integers(0, 7, 40)[:, None]] = -1
        assert lt.metrics.expected_depth(ids, tree, k) == pytest.approx(plain(ids, tree, k))


def test_rankings_are_taken_and_pads_do_not_count() -> None:
    tree = tree_from_parents([-1, 0, 0, 2, 2], [1, 3, 4])
    r = Ranking(np.array([[0, 2], [0, -1], [-1, -1]], np.int32), np.zeros((3, 2), np.float32))
    assert lt.metrics.expected_depth(r, tree) == 1.0
    assert lt.metrics.expected_depth(r, tree, k=2) == 1.5
    assert lt.metrics.expected_depth(np.full((4, 3), -1), tree) == 0.0
    assert lt.metrics.expected_depth(np.empty((0, 3), int), tree) == 0.0


def test_what_is_wrong_is_told() -> None:
    tree = tree_from_parents([-1, 0, 0], [1, 2])
    with pytest.raises(ParameterError, match="'k' parameter of expected_depth"):
        lt.metrics.expected_depth([[0]], tree, k=0)
    with pytest.raises(DataError, match="has labels from 0 to 2, but the tree has 2"):
        lt.metrics.expected_depth([[0, 2]], tree)
    with pytest.raises(DataError, match="matrix of label ids"):
        lt.metrics.expected_depth([0, 1], tree)
    with pytest.raises(DataError, match="matrix of label ids"):
        lt.metrics.expected_depth([[0.5]], tree)
