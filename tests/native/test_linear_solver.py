"""The dual coordinate descent of train_level against scikit-learn, SciPy and plain NumPy."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from linear_kit import (
    Data,
    dense_weights,
    features,
    flat_weights,
    labels,
    objective,
    predictor,
    train_flat,
    train_level,
    train_tree,
)
from scipy.optimize import minimize

from longtail.linear.plan import tree_plan
from longtail.trees import complete_tree, tree_from_parents

TIGHT = {"tol": 1e-4, "max_iter": 3000, "threshold": 0.0}


@pytest.fixture(autouse=True)
def level(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LONGTAIL_ISA", raising=False)


def small(seed: int, n: int = 120, d: int = 40, m: int = 20) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """Skewed labels with one that nobody has, one that all have, and empty rows of features."""
    rng = np.random.default_rng(seed)
    x = features(rng, n, d, 0.15).tolil()
    x[3], x[n - 1] = 0, 0
    y = labels(rng, n, m, 3.0).tolil()
    y[:, 5] = 0
    y[:, 6] = 1
    return x.tocsr(), y.tocsr()


def best_hinge(x: Any, sign: np.ndarray, cost: np.ndarray, bias: float) -> float:
    """What LinearSVC reaches; with one class only, which it refuses, L-BFGS on the primal."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import LinearSVC

    if len(set(sign)) < 2:
        return best_smooth(x, sign, cost, bias, "squared_hinge")
    svc = LinearSVC(
        loss="squared_hinge",
        dual=True,
        C=1.0,
        fit_intercept=bias > 0,
        intercept_scaling=bias or 1.0,
        tol=1e-8,
        max_iter=200_000,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        svc.fit(x.astype(np.float64).toarray(), sign, sample_weight=cost)
    b = float(svc.intercept_[0]) if bias else 0.0
    return objective(svc.coef_[0], b, x, sign, cost, "squared_hinge", bias)


def best_smooth(x: Any, sign: np.ndarray, cost: np.ndarray, bias: float, loss: str) -> float:
    wide = np.hstack([x.toarray(), np.full((x.shape[0], 1), bias)]).astype(np.float64)

    def value(w: np.ndarray) -> tuple[float, np.ndarray]:
        z = sign * (wide @ w)
        if loss == "logistic":
            losses, slope = np.logaddexp(0, -z), -1 / (1 + np.exp(np.minimum(z, 700)))
        else:
            gap = np.maximum(0, 1 - z)
            losses, slope = gap**2, -2 * gap
        return 0.5 * w @ w + cost @ losses, w + wide.T @ (cost * slope * sign)

    found = minimize(
        value, np.zeros(wide.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 5000, "ftol": 1e-14}
    )
    return float(found.fun)


@pytest.mark.parametrize("c", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
def test_objective_is_that_of_exact_solvers(loss: str, weighted: bool, c: float) -> None:
    x, y = small(1)
    rng = np.random.default_rng(2)
    cost = rng.uniform(0.2, 3, x.shape[0]).astype(np.float32) if weighted else None
    bias = 1.5 if c == 1.0 else 1.0
    ours = []
    for held in (x, np.ascontiguousarray(x.toarray())):
        data = Data(held, y, cost)
        levels, facts = train_flat(data, loss=loss, c=c, bias=bias, **TIGHT)
        assert facts["unfinished"] == 0
        ours.append(flat_weights(predictor([levels], data), data, levels))
    costs = c * (np.ones(x.shape[0]) if cost is None else cost.astype(np.float64))
    for label in range(y.shape[1]):
        sign = np.where(y[:, [label]].toarray().ravel() > 0, 1.0, -1.0)
        best = (
            best_hinge(x, sign, costs, bias)
            if loss == "squared_hinge"
            else best_smooth(x, sign, costs, bias, loss)
        )
        for w, b in ours:
            reached = objective(w[label], float(b[label]), x, sign, costs, loss, bias)
            assert reached == pytest.approx(best, rel=1e-3, abs=1e-9), label


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
def test_without_a_bias_feature(loss: str) -> None:
    x, y = small(3, m=17)
    data = Data(x, y)
    levels, _ = train_flat(data, loss=loss, bias=0.0, **TIGHT)
    w, b = flat_weights(predictor([levels], data), data, levels)
    assert not b.any()
    cost = np.ones(x.shape[0])
    for label in range(y.shape[1]):
        sign = np.where(y[:, [label]].toarray().ravel() > 0, 1.0, -1.0)
        assert objective(w[label], 0.0, x, sign, cost, loss, 0.0) == pytest.approx(
            best_smooth(x, sign, cost, 0.0, loss), rel=1e-3
        )


def test_logistic_is_that_of_scikit_learn() -> None:
    from sklearn.linear_model import LogisticRegression

    x, y = small(4, m=16)
    data = Data(x, y)
    levels, _ = train_flat(data, loss="logistic", c=2.0, **TIGHT)
    w, b = flat_weights(predictor([levels], data), data, levels)
    for label in (0, 1, 2):
        sign = np.where(y[:, [label]].toarray().ravel() > 0, 1, -1)
        model = LogisticRegression(
            C=2.0, solver="liblinear", intercept_scaling=1.0, tol=1e-8, max_iter=10_000
        )
        model.fit(x.astype(np.float64), sign)
        np.testing.assert_allclose(w[label], model.coef_[0], atol=5e-3)
        assert b[label] == pytest.approx(model.intercept_[0], abs=5e-3)


@pytest.mark.parametrize("extra_rows", [False, True])
def test_tree_nodes_learn_from_the_rows_that_reach_them(extra_rows: bool) -> None:
    """Teacher forcing: rows with a label under the node; and the further negatives that are given."""
    rng = np.random.default_rng(5)
    x, y = features(rng, 150, 30, 0.3), labels(rng, 150, 24, 2.0)
    tree = complete_tree(24, arity=3, max_leaf=4)
    data = Data(x, y)
    plans = tree_plan(tree)
    plan = plans[1]
    extra = None
    if extra_rows:
        chosen = [np.sort(rng.choice(150, 20, replace=False)).astype(np.int32) for _ in range(plan.n_chunks)]
        extra = (np.arange(plan.n_chunks + 1, dtype=np.int64) * 20, np.concatenate(chosen))
    arrays, _ = train_level(data, plan, extra=extra, **TIGHT)
    p = predictor([[arrays]], data, partial=True)
    truth = y.toarray() > 0
    for chunk in range(plan.n_chunks):
        children = range(plan.child_ptr[chunk], plan.child_ptr[chunk + 1])
        under = [plan.order[plan.label_begin[j] : plan.label_end[j]] for j in children]
        rows = truth[:, np.concatenate(under)].any(axis=1)
        if extra_rows:
            rows[chosen[chunk]] = True
        for j, own in enumerate(under):
            sign = np.where(truth[:, own].any(axis=1), 1.0, -1.0)[rows]
            w, b = dense_weights(p, data, 0, 0, chunk, j)
            best = best_smooth(x[rows], sign, np.ones(rows.sum()), 1.0, "squared_hinge")
            ours = objective(w, float(b), x[rows], sign, np.ones(rows.sum()), "squared_hinge", 1.0)
            assert ours == pytest.approx(best, rel=1e-3)


def test_a_weight_of_two_is_a_row_twice() -> None:
    x, y = small(6, n=60)
    twice = np.arange(60) % 3 == 0
    rows = np.concatenate([np.arange(60), np.flatnonzero(twice)])
    weighted = Data(x, y, np.where(twice, 2, 1).astype(np.float32))
    doubled = Data(sp.csr_matrix(x[rows]), sp.csr_matrix(y[rows]))
    w1, b1 = flat_weights(predictor([a := train_flat(weighted, **TIGHT)[0]], weighted), weighted, a)
    w2, b2 = flat_weights(predictor([a := train_flat(doubled, **TIGHT)[0]], doubled), doubled, a)
    np.testing.assert_allclose(w1, w2, atol=2e-3)
    np.testing.assert_allclose(b1, b2, atol=2e-3)


@pytest.mark.parametrize("dense", [False, True])
def test_threshold_drops_small_weights_and_nothing_else(dense: bool) -> None:
    x, y = small(7)
    data = Data(np.ascontiguousarray(x.toarray()) if dense else x, y)
    full, _ = train_flat(data)
    cut, _ = train_flat(data, threshold=0.1)
    w, b = flat_weights(predictor([full], data), data, full)
    w_cut, b_cut = flat_weights(predictor([cut], data), data, cut)
    np.testing.assert_array_equal(w_cut, np.where(np.abs(w) > 0.1, w, 0))
    np.testing.assert_array_equal(b, b_cut)
    assert (w_cut == 0).sum() > (w == 0).sum()


def test_max_iter_stops_and_says_so() -> None:
    x, y = small(8)
    _, facts = train_flat(Data(x, y), tol=1e-7, max_iter=2)
    assert facts == {"passes": 4, "blocks": 2, "unfinished": 2}


def test_progress_counts_to_the_announced_total() -> None:
    x, y = small(9, n=3000, d=400, m=40)
    data = Data(x, y)
    seen: list[int] = []
    plan = tree_plan(complete_tree(40, arity=4, max_leaf=8))[0]
    train_level(data, plan, report=seen.append, tol=1e-6, max_iter=300)
    assert seen == sorted(seen)
    assert all(0 <= done <= plan.sizes(data.frequency, 3000).sum() for done in seen)


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("weights", ["f32", "f16", "int8"])
def test_levels_and_threads_give_the_same_bits(
    loss: str, dense: bool, weights: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(10)
    x, y = features(rng, 150, 60, 0.2), labels(rng, 150, 45, 3.0)
    held = Data(np.ascontiguousarray(x.toarray()) if dense else x, y)
    # 0 → (1 → (3, 4), 2 → 17 labels): nodes of one block and of two, labels beside nodes.
    tree = tree_from_parents([-1, 0, 0, 1, 1], [3] * 20 + [4] * 5 + [2] * 20)
    reference: Any = None
    for isa in ("portable", "avx2", "avx512"):
        monkeypatch.setenv("LONGTAIL_ISA", isa)
        for threads in (1, 2, 3):
            options = {"loss": loss, "weights": weights, "threads": threads, "seed": 3, "threshold": 0.01}
            result = [*train_flat(held, **options)[0], *train_tree(held, tree, **options)]
            if reference is None:
                reference = result
                continue
            for a, b in zip(reference, result, strict=True):
                assert a.keys() == b.keys()
                for name in a:
                    assert a[name].tobytes() == b[name].tobytes(), (isa, threads, name)


@pytest.mark.parametrize("level", ["portable", "avx2", "avx512"])
@pytest.mark.parametrize("dense", [False, True])
def test_a_label_is_solved_alike_in_blocks_of_every_width(
    level: str, dense: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Few labels, and the last ones of a block that are still at work, are solved in eight or four lanes."""
    monkeypatch.setenv("LONGTAIL_ISA", level)
    rng = np.random.default_rng(12)
    x, y = features(rng, 200, 80, 0.2), labels(rng, 200, 16, 3.0).tocsc()
    if dense:
        x = np.ascontiguousarray(x.toarray())
    frequent_first = np.argsort(-np.diff(y.indptr), kind="stable")
    for tol, max_iter in ((0.01, 1000), (1e-6, 7)):  # lanes end one by one; none is done when passes run out
        found = []
        for m in (16, 9, 8, 5, 4, 1):
            data = Data(x, y[:, frequent_first[:m]].tocsr())
            levels, facts = train_flat(data, tol=tol, max_iter=max_iter, threshold=0.0, seed=5)
            assert facts["unfinished"] == (max_iter == 7)
            found.append(flat_weights(predictor([levels], data), data, levels))
        for w, b in found[1:]:
            assert w.tobytes() == found[0][0][: len(w)].tobytes()
            assert b.tobytes() == found[0][1][: len(b)].tobytes()


def test_seeds_visit_rows_in_another_order() -> None:
    x, y = small(11)
    data = Data(x, y)
    a, b = (train_flat(data, seed=seed, max_iter=1)[0][0]["bias"] for seed in (1, 2))
    assert not np.array_equal(a, b)


def test_survey_ranks_features_by_the_rows_that_have_them() -> None:
    x = sp.csr_matrix(np.array([[0, 1, 0, 2, 0], [0, 3, 0, 0, 0], [1, 1, 0, 1, 0]], dtype=np.float32))
    for given in (x, np.ascontiguousarray(x.toarray())):
        data = Data(given, sp.csr_matrix(np.ones((3, 1), dtype=np.float32)))
        assert data.rank.tolist() == [2, 0, -1, 1, -1]
        assert data.n_internal == 3
        assert data.norm.tolist() == [5, 9, 3]


def test_no_features_at_all_leaves_the_bias() -> None:
    x = sp.csr_matrix((4, 3), dtype=np.float32)
    y = sp.csr_matrix(np.array([[1, 0], [1, 0], [1, 0], [0, 1]], dtype=np.float32))
    data = Data(x, y)
    assert data.n_internal == 0
    levels, _ = train_flat(data, **TIGHT)
    w, b = flat_weights(predictor([levels], data), data, levels)
    assert not w.any()
    assert b[0] > 0 > b[1]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"loss": "hinge"}, "unknown loss"),
        ({"weights": "f8"}, "f32, f16 or int8"),
    ],
)
def test_wrong_options_are_refused(change: dict[str, str], words: str) -> None:
    x, y = small(12)
    with pytest.raises(ValueError, match=words):
        train_flat(Data(x, y), **change)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("rank", np.full(40, 40, dtype=np.int32)),
        ("rank", np.full(40, -2, dtype=np.int32)),
        ("n_internal", 2**55),
        ("n_internal", -1),
        ("rows", None),
        ("norm", np.zeros(3, dtype=np.float32)),
        ("cost", np.zeros(3, dtype=np.float32)),
    ],
)
def test_arrays_that_do_not_fit_are_refused(name: str, value: Any) -> None:
    x, y = small(13)
    data = Data(x, y)
    setattr(data, name, np.full_like(data.rows, 120) if value is None else value)
    with pytest.raises(ValueError, match=r"range|fit|one value per row|CSR"):
        train_flat(data)
