"""Best-first search against scoring every label, on trees of every shape, alone and averaged."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from linear_kit import Data, check_ranking, features, labels, predict, predictor, train_tree
from test_linear_search import DATA, EVERYTHING, LEVELS, PREDICTORS, TREES, M, X, lists, lumpy, truth

from longtail.trees import complete_tree


def exhaustive(p: Any, x: Any, k: int, score: str = "hinge", **options: Any) -> list[np.ndarray]:
    """The k best of all labels scored: no bound, no beam, every label in the list before it is cut."""
    every = predict(
        p,
        x,
        k=M,
        beam=EVERYTHING,
        bound=False,
        per_tree=M,
        node_score=score,
        label_score=score,
        **options,
    )
    return [a[:, :k] for a in every[:2]]


def best_first(p: Any, x: Any, k: int, score: str = "hinge", **options: Any) -> tuple[np.ndarray, ...]:
    return predict(p, x, k=k, node_score=score, label_score=score, kind="best_first", **options)


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("score", ["hinge", "sigmoid"])
def test_the_list_is_that_of_scoring_all_labels(name: str, score: str) -> None:
    p = PREDICTORS[name]
    for k in (1, 3, 10, M):
        found = best_first(p, X, k, score)
        for a, b in zip(found, exhaustive(p, X, k, score), strict=False):
            np.testing.assert_array_equal(a, b)
    check_ranking(best_first(p, X, 5, score), np.exp(truth(name, score, score)), 5)
    if name in ("balanced", "binary", "random", "chain"):
        assert (found[2] >= best_first(p, X, 1, score)[2]).all()
        assert best_first(p, X, 1, score)[2].sum() < found[2].sum()


@pytest.mark.parametrize("score", ["hinge", "sigmoid"])
@pytest.mark.parametrize(
    "names", [["balanced", "lumpy", "binary"], ["chain", "random"], ["binary", "binary"]]
)
def test_averages_are_those_of_scoring_all_labels(names: list[str], score: str) -> None:
    p = predictor([LEVELS[name] for name in names], DATA)
    n_nodes = sum(len(level["child_ptr"]) - 1 for name in names for level in LEVELS[name])
    for k in (1, 5, M):
        found = best_first(p, X, k, score)
        for a, b in zip(found, exhaustive(p, X, k, score), strict=False):
            np.testing.assert_array_equal(a, b)
        assert (found[2] <= n_nodes).all()
    assert best_first(p, X, 1, score)[2].mean() < 0.8 * n_nodes


@pytest.mark.parametrize("names", [["lumpy"], ["binary"], ["balanced", "chain"]])
@pytest.mark.parametrize("each", [False, True])
def test_only_and_exclude(names: list[str], each: bool) -> None:
    rng = np.random.default_rng(2)
    n = X.shape[0] if each else 1
    p = predictor([LEVELS[name] for name in names], DATA)
    for with_only in (False, True):
        only = [sorted(rng.choice(M, int(rng.integers(0, 12)), replace=False).tolist()) for _ in range(n)]
        without = [sorted(rng.choice(M, int(rng.integers(0, 30)), replace=False).tolist()) for _ in range(n)]
        options: dict[str, Any] = {"exclude_ptr": lists(without)[0], "exclude": lists(without)[1]}
        if with_only:
            options.update(only_ptr=lists(only)[0], only=lists(only)[1])
        for k in (1, 8):
            found = best_first(p, X, k, **options)
            for a, b in zip(found, exhaustive(p, X, k, **options), strict=False):
                np.testing.assert_array_equal(a, b)


def test_ties_in_the_shown_score_are_ordered_by_label() -> None:
    """Margins above 1 all score 1, and hopeless ones all score 0: most of every list is ties."""
    rng = np.random.default_rng(4)
    x = features(rng, 60, 30, 0.3)
    data = Data(x, labels(rng, 60, M, 2.0))
    strong = sp.csr_matrix(x * 40)
    for trees in ([complete_tree(M, arity=3, max_leaf=2)], [lumpy(M), complete_tree(M, arity=2, max_leaf=7)]):
        p = predictor([train_tree(data, tree, threshold=0.0) for tree in trees], data)
        zeros = ones = 0
        for k in (1, 5, 30, M):
            ids, scores, _ = best_first(p, strong, k)
            expected = exhaustive(p, strong, k)
            np.testing.assert_array_equal(ids, expected[0])
            np.testing.assert_array_equal(scores, expected[1])
            zeros += int((scores == 0).sum())
            ones += int((scores == 1).sum())
        assert zeros > 100
        assert ones > 10 or len(trees) > 1


def test_raw_scores_have_no_bound_but_an_order() -> None:
    p = PREDICTORS["lumpy"]
    found = best_first(p, X, 6, "raw")
    for a, b in zip(found, exhaustive(p, X, 6, "raw"), strict=False):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("names", [["binary"], ["chain"], ["balanced", "random"]])
@pytest.mark.parametrize("slack", [0.05, 0.5, 3.0])
@pytest.mark.parametrize("kind", ["best_first", "beam"])
def test_slack_keeps_its_promise(names: list[str], slack: float, kind: str) -> None:
    if kind == "beam" and len(names) > 1:
        pytest.skip("trees are searched one by one: the promise holds for each")
    p = predictor([LEVELS[name] for name in names], DATA)
    saved = 0
    for k in (1, 4, 10):
        options = {"k": k, "kind": kind, "beam": 4}
        sure = predict(p, X, **options)
        quick = predict(p, X, **options, slack=slack)
        factor = np.exp(slack) * (1 + 1e-5)
        assert (sure[1] <= quick[1] * factor).all()
        for i in range(X.shape[0]):
            missed = ~np.isin(sure[0][i], quick[0][i])
            assert (sure[1][i][missed] <= quick[1][i, -1] * factor).all()
        assert (quick[2] <= sure[2]).all()
        saved += int((sure[2] - quick[2]).sum())
    assert saved > 0 or slack < 3.0


@pytest.mark.parametrize(
    "names", [["binary"], ["lumpy"], ["balanced", "random"], ["binary", "lumpy", "chain"]]
)
def test_a_budget_is_kept_and_buys_quality(names: list[str]) -> None:
    p = predictor([LEVELS[name] for name in names], DATA)
    exact = best_first(p, X, 5)
    before = np.full(X.shape[0], -1.0)
    for budget in (1, 2, 4, 8, 16, 10_000):
        ids, scores, opened = best_first(p, X, 5, max_nodes=budget)
        assert (opened <= budget).all()
        found = np.where(ids >= 0, scores, 0).sum(axis=1)
        if (
            len(names) == 1
        ):  # a label of several trees may be scored in one only, and then count less than it is worth
            assert (found >= before).all()
        before = found
        done = opened < budget
        if budget >= 4:
            np.testing.assert_array_equal(
                ids[done & (exact[2] <= budget)], exact[0][done & (exact[2] <= budget)]
            )
    np.testing.assert_array_equal(ids, exact[0])
    np.testing.assert_array_equal(scores, exact[1])


def test_time_runs_out() -> None:
    p = PREDICTORS["chain"]
    assert (best_first(p, X, M, max_ns=1)[2] < best_first(p, X, M)[2]).all()
    for a, b in zip(best_first(p, X, 3, max_ns=10**12), best_first(p, X, 3), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("kind", ["beam", "best_first"])
def test_threads_levels_and_batches_answer_with_the_same_bits(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = sp.vstack([X] * 4).tocsr()
    for names in (["balanced"], ["lumpy"], ["chain"], ["balanced", "lumpy"]):
        reference: Any = None
        for isa in ("portable", "avx2", "avx512"):
            monkeypatch.setenv("LONGTAIL_ISA", isa)
            p = predictor([LEVELS[name] for name in names], DATA)
            rows = [predict(p, x[i], k=7, beam=4, kind=kind) for i in range(x.shape[0])]
            one_by_one = [np.concatenate([row[part] for row in rows]) for part in range(3)]
            for found in (one_by_one, *(predict(p, x, k=7, beam=4, kind=kind, threads=t) for t in (1, 3))):
                reference = found if reference is None else reference
                for a, b in zip(reference, found, strict=True):
                    assert a.tobytes() == b.tobytes(), (names, isa)


@pytest.mark.parametrize("k", [1, 7])
def test_one_row_without_setting_up(k: int) -> None:
    from linear_kit import search_options

    p = PREDICTORS["balanced"]
    whole = predict(p, X, k=k)
    options = search_options(k=k)
    out = np.empty((1, k), np.int32), np.empty((1, k), np.float32), np.empty(1, np.int32)
    for i in range(X.shape[0]):
        row = X[i]
        assert p.predict_row(row.indices, row.data, False, options, *out)
        for a, b in zip(out, whole, strict=True):
            np.testing.assert_array_equal(a[0], b[i])


@pytest.mark.parametrize(
    ("columns", "values"),
    [
        ([3, 1], [1, 1]),
        ([1, 1], [1, 1]),
        ([-1], [1]),
        ([80], [1]),
        ([1], [np.nan]),
        ([1, 2], [1, -np.inf]),
        ([1, 2], [1]),
    ],
)
def test_a_row_that_is_not_right_is_left_alone(columns: list[int], values: list[float]) -> None:
    from linear_kit import search_options

    out = np.full((1, 2), 9, np.int32), np.full((1, 2), 9, np.float32), np.full(1, 9, np.int32)
    row = np.array(columns, np.int32), np.array(values, np.float32)
    assert not PREDICTORS["balanced"].predict_row(*row, False, search_options(k=2), *out)
    assert all((a == 9).all() for a in out)


def test_the_answer_of_one_row_has_to_fit() -> None:
    from linear_kit import search_options

    row = X[0]
    good = [np.empty((1, 3), np.int32), np.empty((1, 3), np.float32), np.empty(1, np.int32)]
    for part, bad in enumerate(
        [np.empty((1, 2), np.int32), np.empty((2, 3), np.float32), np.empty(2, np.int32)]
    ):
        out = [*good[:part], bad, *good[part + 1 :]]
        with pytest.raises(ValueError, match="do not fit one row of k labels"):
            PREDICTORS["balanced"].predict_row(row.indices, row.data, False, search_options(k=3), *out)
    with pytest.raises(TypeError):
        PREDICTORS["balanced"].predict_row(
            row.indices.astype(np.int64), row.data, False, search_options(k=3), *good
        )


@pytest.mark.parametrize("wrong", [{"kind": "random"}, {"slack": -1.0}, {"max_nodes": -1}, {"max_ns": -1}])
def test_options_are_checked(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"beam or best_first|must not be negative"):
        predict(PREDICTORS["flat"], X, **wrong)
