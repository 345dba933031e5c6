"""What negatives="auto" stands for."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

import longtail as lt


def problem() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    x = sp.random(400, 60, density=0.2, format="csr", random_state=1, dtype=np.float32)
    y = sp.csr_matrix((rng.random((400, 40)) < 0.06).astype(np.float32))
    return x, y


def same(a: Any, b: Any) -> bool:
    x, _ = problem()
    left, right = a.predict(x, k=40), b.predict(x, k=40)
    return np.array_equal(left.labels, right.labels) and np.array_equal(left.scores, right.scores)


def test_auto_is_teacher_for_one_tree_and_matched_for_several() -> None:
    x, y = problem()

    def fitted(**params: Any) -> Any:
        return lt.LinearTree(**{"arity": 4, "max_leaf": 4, "beam": 3, **params}).fit(x, y)

    assert not same(fitted(negatives="teacher"), fitted(negatives="matched"))
    assert same(fitted(), fitted(negatives="teacher"))
    assert same(fitted(trees=2), fitted(trees=2, negatives="matched"))
    assert not same(fitted(trees=2), fitted(trees=2, negatives="teacher"))
    given = [lt.trees.random_tree(40, arity=4, max_leaf=4, seed=seed) for seed in range(2)]
    assert same(fitted(tree=given), fitted(tree=given, negatives="matched"))
    assert same(fitted(tree=given[0]), fitted(tree=given[0], negatives="teacher"))


def test_parabel_learns_from_the_teacher() -> None:
    assert lt.LinearTree.parabel().get_params()["negatives"] == "teacher"
    assert lt.LinearTree.xr_linear().get_params()["negatives"] == "matched"
