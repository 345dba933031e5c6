"""LinearTree keeps the contract of models; and what only it promises."""

from __future__ import annotations

from typing import Any

import pytest
from contract import Contract, matrix_problem, same

import longtail as lt


class TestLinearTree(Contract):
    wrong = (
        *Contract.wrong,
        ("arity", 1, "a whole number in [2, 64]"),
        ("max_leaf", 0, "a whole number in [1, 32768]"),
        ("beam", 0, "a whole number in [1, 2147483647]"),
        ("negatives", "hard", "one of 'teacher', 'matched'"),
        ("tree", 3, "None, a LabelTree or a list of LabelTrees"),
        ("tree", [], "None, a LabelTree or a list of LabelTrees"),
    )

    def make(self, **params: Any) -> Any:
        return lt.LinearTree(**{"arity": 3, "max_leaf": 4, **params})


class TestSeveralTrees(Contract):
    def make(self, **params: Any) -> Any:
        return lt.LinearTree(**{"arity": 2, "max_leaf": 7, "trees": 3, **params})


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
