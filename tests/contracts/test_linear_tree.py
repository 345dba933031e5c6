"""LinearTree keeps the contract of models; and what only it promises."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from contract import Contract
from problems import matrix_problem, same

import longtail as lt
from longtail.labels import frequencies, head_frequencies, pifa
from longtail.trees import complete_tree, interpolated_tree


class TestLinearTree(Contract):
    wrong = (
        *Contract.wrong,
        ("arity", 1, "a whole number in [2, 64]"),
        ("max_leaf", 0, "a whole number in [1, 32768]"),
        ("beam", 0, "a whole number in [1, 2147483647]"),
        ("negatives", "hard", "one of 'auto', 'teacher', 'matched'"),
        ("tree", 3, "None, a LabelTree or a list of LabelTrees"),
        ("tree", [], "None, a LabelTree or a list of LabelTrees"),
        ("tradeoff", 2.5, "None or a number in [0, 2]"),
        ("gamma", -1, "a number in [0, 1000000.0]"),
        ("heads", "softened", "one of 'marginal', 'greedy' or a number in [0, 1]"),
    )

    def make(self, **params: Any) -> Any:
        return lt.LinearTree(**{"arity": 3, "max_leaf": 4, **params})


class TestSeveralTrees(Contract):
    def make(self, **params: Any) -> Any:
        return lt.LinearTree(**{"arity": 2, "max_leaf": 7, "trees": 3, **params})


class TestInterpolatedTree(Contract):
    def make(self, **params: Any) -> Any:
        return lt.LinearTree(**{"arity": 2, "max_leaf": 2, "tradeoff": 1.3, **params})


class TestSeveralInterpolatedTrees(Contract):
    def make(self, **params: Any) -> Any:
        knob = {"tradeoff": 1.9, "gamma": 0.0, "heads": 0.5}
        return lt.LinearTree(
            **{"arity": 4, "max_leaf": 3, "trees": 2, "negatives": "matched", **knob, **params}
        )


class TestMatchedNegatives(Contract):
    def make(self, **params: Any) -> Any:
        return lt.LinearTree(**{"arity": 3, "max_leaf": 4, "beam": 3, "negatives": "matched", **params})


class TestSigmoidScores(Contract):
    def make(self, **params: Any) -> Any:
        scores = {"node_score": "sigmoid", "label_score": "sigmoid"}
        return lt.LinearTree(**{"arity": 4, "max_leaf": 3, **scores, **params})


class TestRawScores(Contract):
    probability = False

    def make(self, **params: Any) -> Any:
        return lt.LinearTree(
            **{"arity": 4, "max_leaf": 3, "node_score": "raw", "label_score": "raw", **params}
        )


def test_raw_scores_of_several_trees_are_refused() -> None:
    x, y, _ = matrix_problem()
    with pytest.raises(lt.ParameterError, match="averaged"):
        lt.LinearTree(trees=2, label_score="raw").fit(x, y)
    model = lt.LinearTree(trees=2, max_leaf=5).fit(x, y).set_params(label_score="raw")
    with pytest.raises(lt.ParameterError, match="averaged"):
        model.predict(x)


def test_the_beam_can_be_changed_after_training() -> None:
    x, y, queries = matrix_problem()
    model = lt.LinearTree(arity=2, max_leaf=2).fit(x, y)
    same(model.predict(queries, beam=2), model.set_params(beam=2).predict(queries))
    model.set_params(beam=0)
    with pytest.raises(lt.ParameterError, match="beam"):
        model.predict(queries)


def test_the_tradeoff_makes_the_tree_that_its_builder_makes() -> None:
    x, y, _ = matrix_problem()
    e, f = pifa(x, y), frequencies(y)
    balanced = lt.LinearTree(arity=2, max_leaf=2, seed=3).fit(x, y)
    assert lt.LinearTree(arity=2, max_leaf=2, seed=3, tradeoff=0).fit(x, y).trees_ == balanced.trees_
    for heads in ("marginal", "greedy", 0.3):
        model = lt.LinearTree(
            arity=2, max_leaf=2, trees=2, seed=3, tradeoff=1.6, gamma=0.5, heads=heads, threads=1
        ).fit(x, y)
        shape = {"tradeoff": 1.6, "gamma": 0.5, "arity": 2, "max_leaf": 2}
        g = head_frequencies(y, heads)
        assert model.trees_ == [interpolated_tree(e, f, g, seed=seed, **shape) for seed in (3, 4)]
    assert len(set(model.trees_[0].depth.tolist())) > 1
    assert model.trees_ != balanced.trees_


def test_weights_of_rows_move_labels_in_interpolated_trees() -> None:
    x, y, _ = matrix_problem()
    weight = np.linspace(0.5, 3.0, x.shape[0], dtype=np.float32)
    model = lt.LinearTree(arity=2, max_leaf=2, tradeoff=1.0).fit(x, y, sample_weight=weight)
    assert model.trees_ == [
        interpolated_tree(
            pifa(x, y), frequencies(y, weight), head_frequencies(y, weights=weight), tradeoff=1.0, max_leaf=2
        )
    ]


def test_exact_search_of_unbalanced_trees_scores_every_label() -> None:
    x, y, queries = matrix_problem()
    model = lt.LinearTree(arity=2, max_leaf=1, tradeoff=1.8, gamma=0.0).fit(x, y)
    n = y.shape[1]
    every = model.predict(queries, k=n, only=sp.csr_matrix(np.ones((queries.shape[0], n))))
    same(model.predict(queries, k=n, search="exact"), every)
    same(model.predict(queries, k=n, beam=n), every)


def test_a_tradeoff_for_a_given_tree_is_refused() -> None:
    x, y, _ = matrix_problem()
    with pytest.raises(lt.ParameterError, match=r"'tradeoff' parameter of LinearTree .* 'tree' must be None"):
        lt.LinearTree(tree=complete_tree(y.shape[1]), tradeoff=1.0).fit(x, y)
