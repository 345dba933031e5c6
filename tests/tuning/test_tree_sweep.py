"""What a tree costs and is worth, and the choice among several."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import longtail as lt
from longtail.metrics import precision
from longtail.trees import fano_tree
from longtail.tuning import TreePoint, TreeSweep, measure_cost, measure_precision, tune_tree
from longtail.tuning.tree_sweep import _pick


def problem(n=600, n_labels=60, seed=0):
    """Rows of a few features each, labelled with the features that they have, the first ones often."""
    r = np.random.default_rng(seed)
    p = 1 / np.arange(1, n_labels + 1)
    rows = [r.choice(n_labels, 3, replace=False, p=p / p.sum()) for _ in range(n)]
    y = sp.csr_matrix((np.ones(3 * n, np.float32), (np.repeat(np.arange(n), 3), np.concatenate(rows))))
    y.resize(n, n_labels)
    return sp.csr_matrix(
        y + 0.2 * sp.random(n, n_labels, density=0.05, random_state=seed), dtype=np.float32
    ), y


def test_measured_precision_is_that_of_the_measures():
    x, y = problem()
    model = lt.LinearTree(arity=2, max_leaf=4).fit(x, y)
    told = measure_precision(model, x, y, (1, 3), search="exact")
    ranking = model.predict(x, k=3, search="exact")
    assert told["P@3"] == precision(ranking, y, 3)
    assert told["depth@1"] == pytest.approx(model.trees_[0].depth[ranking.labels[:, 0]].mean())


def test_cost_is_measured_on_rows_of_the_data():
    x, y = problem()
    for matrix in (x, x.toarray()):
        model = lt.LinearTree(arity=2, max_leaf=4).fit(matrix, y)
        cost = measure_cost(model, matrix, k=3, n_queries=50)
        assert 0 < cost.p50 <= cost.p99
        model.predict(matrix, k=3)
        seen = model.search_stats_["nodes_opened"]
        assert seen.min() <= cost.nodes <= seen.max()


def point(tradeoff, precision_, p50, depth=1.0, arity=2):
    return TreePoint(tradeoff, arity, {1: precision_}, {1: depth}, p50, p50, depth * 10, 1.0, 1)


SWEEP = TreeSweep(
    [
        point(0.0, 0.800, 3.0, 8),
        point(0.5, 0.805, 2.5, 7),
        point(1.0, 0.797, 2.0, 6.0),
        point(1.5, 0.700, 1.0, 6.5),
        point(0.0, 0.790, 2.2, 2, arity=16),
    ],
    None,
    1,
    "time",
    lt.LinearTree(),
)


@pytest.mark.parametrize(
    ("precision_", "latency", "best"),
    [
        (None, None, 1),
        (0.0, None, 1),
        (0.005, None, 2),
        (0.2, None, 3),
        (None, 2.3, 2),
        (None, 9, 1),
        (None, 0.5, None),
    ],
)
def test_the_cheapest_or_the_most_precise_is_picked(precision_, latency, best):
    picked = _pick(SWEEP, precision_, latency)
    assert picked is (None if best is None else SWEEP.points[best])


def test_pareto_set_by_each_cost():
    for cost, front in (("time", [3, 2, 1]), ("depth", [4, 2, 1]), ("nodes", [4, 2, 1])):
        sweep = replace(SWEEP, cost=cost)
        assert [sweep.points.index(p) for p in sweep.pareto] == front
        for p in sweep.points:  # by definition
            beaten = any(
                sweep.cost_of(q) <= sweep.cost_of(p)
                and q.precision[1] >= p.precision[1]
                and (sweep.cost_of(q), q.precision[1]) != (sweep.cost_of(p), p.precision[1])
                for q in sweep.points
            )
            assert beaten is (p not in sweep.pareto)


def test_a_sweep_end_to_end():
    x, y = problem()
    template = lt.LinearTree(max_leaf=3, C=2.0, trees=2)
    options = {"tradeoffs": [1.0, 1.7], "arities": [4, 2], "ks": (1, 3), "cost": "depth", "n_queries": 20}
    sweep = tune_tree(x, y, model=template, precision=0.05, **options)
    assert [(p.arity, p.tradeoff) for p in sweep.points] == [(a, t) for a in (2, 4) for t in (0.0, 1.0, 1.7)]
    assert all(set(p.precision) == set(p.depth) == {1, 3} for p in sweep.points)
    assert sweep.points[0].depth[1] > sweep.points[1].depth[1]  # the knob lifts what is asked for
    model = sweep.model()
    assert (model.C, model.trees, model.max_leaf) == (2.0, 2, 3)
    assert (model.tradeoff, model.arity) == (sweep.best.tradeoff, sweep.best.arity)
    again = tune_tree(x, y, model=template, precision=0.05, **options)
    assert [(p.precision, p.depth, p.nodes) for p in again.points] == [
        (p.precision, p.depth, p.nodes) for p in sweep.points
    ]
    # What a point says is what a model trained on the same rows gives.
    train, held_out = lt.Dataset(X=x, Y=y).split(0.1, 0)
    one = lt.LinearTree(max_leaf=3, C=2.0, trees=2, arity=2, tradeoff=1.7).fit(train.X, train.Y)
    assert sweep.points[2].precision[3] == precision(one.predict(held_out.X, k=3), held_out.Y, 3)


def test_texts_and_names():
    x = [f"the number {i % 7} and {i % 5}" for i in range(300)]
    y = [[f"seven {i % 7}", f"five {i % 5}"] for i in range(300)]
    vectorizer = lt.TextVectorizer(min_df=2)
    sweep = tune_tree(
        *(x, y),
        model=lt.LinearTree(max_leaf=2, arity=2, vectorizer=vectorizer),
        tradeoffs=[1.0],
        ks=[1, 20],
        latency=1000.0,
        n_queries=5,
    )
    assert list(sweep.points[0].precision) == [1]  # there are no 20 labels
    assert sweep.model().vectorizer is vectorizer
    assert sweep.best is not None
    with pytest.raises(lt.ParameterError, match="No tree is within"):
        replace(sweep, best=None).model()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"precision": 0.1, "latency": 1.0}, "not both"),
        ({"precision": -0.1}, "'precision'"),
        ({"latency": 0}, "'latency'"),
        ({"cost": "money"}, "'cost'"),
        ({"k": 0}, "'k'"),
        ({"n_queries": 0}, "'n_queries'"),
        ({"tradeoffs": [3.0]}, "'tradeoffs'"),
        ({"arities": [1]}, "'arities'"),
        ({"validation": 0.0}, "held_out"),
        ({"seed": -1}, "'seed'"),
        ({"model": lt.OneVsRest()}, "'model'"),
        ({"model": lt.LinearTree(tree=fano_tree([1, 2]))}, "'tree' must be None"),
        ({"model": lt.LinearTree(C=-1)}, "'C'"),
        ({"search": {"search": "wild"}, "tradeoffs": []}, "'search'"),
    ],
)
def test_bad_options(options, message):
    x, y = problem(40)
    with pytest.raises(lt.ParameterError, match=message):
        tune_tree(x, y, **options)
