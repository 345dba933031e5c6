"""Huffman trees: as shallow as any tree can be."""

from __future__ import annotations

import heapq
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longtail.errors import DataError, ParameterError
from longtail.trees import huffman_tree

counts = st.lists(st.integers(0, 50), min_size=1, max_size=80)


def least_cost(f, arity):
    """Sum of frequency × depth of the best code: lightest nodes joined, after filling up with empty labels."""
    heap = [int(v) for v in f]
    while (len(heap) - 1) % (arity - 1):
        heap.append(0)
    heapq.heapify(heap)
    cost = 0
    while len(heap) > 1:
        joined = sum(heapq.heappop(heap) for _ in range(arity))
        cost += joined
        heapq.heappush(heap, joined)
    return cost


def least_cost_of_all_trees(f, arity):
    """The same by trying all sets of children, of every set of labels."""
    n = len(f)

    @cache
    def weight(labels):
        return sum(f[i] for i in range(n) if labels >> i & 1)

    @cache
    def forest(labels, trees):
        """The least cost of splitting `labels` into at most so many trees; their roots count nothing."""
        if labels == 0:
            return 0
        if trees == 0:
            return 10**9
        lowest = labels & -labels
        best, part = 10**9, labels
        while part:
            if part & lowest:
                best = min(best, tree(part) + forest(labels & ~part, trees - 1))
            part = (part - 1) & labels
        return best

    @cache
    def tree(labels):
        if labels & (labels - 1) == 0:
            return 0
        lowest = labels & -labels
        best, part = 10**9, (labels - 1) & labels
        while part:
            if part & lowest:
                best = min(best, tree(part) + forest(labels & ~part, arity - 1))
            part = (part - 1) & labels
        return best + weight(labels)

    return tree((1 << n) - 1)


@given(f=counts, arity=st.integers(2, 20))
@settings(max_examples=200, deadline=None)
def test_no_tree_is_better(f, arity):
    f = np.array(f)
    tree = huffman_tree(f, arity)
    tree.validate()
    assert tree.n_leaves == len(f)
    assert int(f @ tree.depth) == least_cost(f, arity)
    assert sum(float(arity) ** -int(d) for d in tree.depth) <= 1 + 1e-9  # Kraft
    assert tree.n_children.max() <= arity
    assert 1 not in tree.n_children
    assert huffman_tree(f, arity) == tree


@pytest.mark.parametrize("arity", [2, 3, 4])
def test_no_tree_at_all_is_better(arity):
    for seed in range(12):
        r = np.random.default_rng([arity, seed])
        f = tuple(int(v) for v in r.integers(0, 30, int(r.integers(1, 8))))
        assert int(np.array(f) @ huffman_tree(f, arity).depth) == least_cost_of_all_trees(f, arity)


@pytest.mark.parametrize("arity", [2, 3, 16])
def test_expected_depth_is_within_one_of_the_entropy(arity):
    f = 1.0 / np.arange(1, 3001)
    p = f / f.sum()
    entropy = -(p * np.log(p)).sum() / np.log(arity)
    assert entropy <= huffman_tree(f, arity).describe(f)["expected_depth"] <= entropy + 1


def test_labels_never_seen_are_kept_flat():
    assert huffman_tree(np.zeros(16)).depth.tolist() == [4] * 16
    assert huffman_tree([5.0] + [0.0] * 8).height == 4
    assert huffman_tree([3.0]).n_nodes == 1


def test_bad_input():
    for bad in ([], [[1, 2]], [-1, 2], [np.nan, 1], ["a"], None):
        with pytest.raises(DataError):
            huffman_tree(bad)
    for arity in (1, 65, 2.0):
        with pytest.raises(ParameterError, match="arity"):
            huffman_tree([1, 2], arity)
