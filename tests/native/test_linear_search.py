"""The search against scoring every label by NumPy, on trees of many shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from linear_kit import (
    Data,
    all_scores,
    check_ranking,
    features,
    labels,
    predict,
    predictor,
    score_of,
    train_flat,
    train_tree,
)

from longtail.errors import ParameterError
from longtail.trees import LabelTree, complete_tree, random_tree, tree_from_parents

EVERYTHING = 2**31 - 1
M = 60


def chain(m: int) -> LabelTree:
    """The most unbalanced tree: at every inner node one label and the rest of the tree."""
    parents, of_label = [-1], []
    inner = 0
    for label in range(m - 1):
        parents.append(inner)
        of_label.append(len(parents) - 1)
        if label < m - 2:
            parents.append(inner)
            inner = len(parents) - 1
        else:
            parents.append(inner)
            of_label.append(len(parents) - 1)
    return tree_from_parents(parents, of_label)


def lumpy(m: int) -> LabelTree:
    """A leaf of many labels, a leaf of one, an only child, and labels beside inner nodes."""
    parents = [-1, 0, 0, 0, 3, 3, 5, 6, 6, 4]
    leaves = [1, 2, 7, 8, 9]
    sizes = [1, 25, 1, 3, m - 30]
    return tree_from_parents(parents, np.repeat(leaves, sizes))


TREES = {
    "balanced": complete_tree(M, arity=4, max_leaf=5),
    "binary": complete_tree(M, arity=2, max_leaf=1),
    "random": random_tree(M, arity=3, max_leaf=4, seed=1),
    "flat": complete_tree(M, arity=2, max_leaf=M),
    "chain": chain(M),
    "lumpy": lumpy(M),
}


def problem(dense: bool = False) -> Data:
    rng = np.random.default_rng(0)
    x = features(rng, 150, 80, 0.12)
    return Data(np.ascontiguousarray(x.toarray()) if dense else x, labels(rng, 150, M, 3.0))


DATA = problem()
LEVELS = {name: train_tree(DATA, tree, threshold=0.02) for name, tree in TREES.items()}
PREDICTORS = {name: predictor([levels], DATA) for name, levels in LEVELS.items()}
X = features(np.random.default_rng(1), 90, 80, 0.12)


def truth(name: str, node: str = "hinge", label: str = "hinge", power: int = 3) -> np.ndarray:
    return all_scores(PREDICTORS[name], DATA, LEVELS[name], X, node, label, power)


def shown(scores: np.ndarray, *kinds: str) -> np.ndarray:
    return scores if "raw" in kinds else np.exp(scores)


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize(
    ("node", "label", "power"),
    [
        ("hinge", "hinge", 3),
        ("hinge", "hinge", 1),
        ("hinge", "hinge", 2),
        ("sigmoid", "sigmoid", 1),
        ("hinge", "sigmoid", 3),
        ("raw", "raw", 1),
        ("raw", "sigmoid", 1),
        ("hinge", "raw", 3),
    ],
)
def test_a_beam_of_everything_is_exhaustive(name: str, node: str, label: str, power: int) -> None:
    expected = shown(truth(name, node, label, power), node, label)
    for k in (1, 5, M, 2 * M):
        found = predict(
            PREDICTORS[name], X, k=k, beam=EVERYTHING, node_score=node, label_score=label, power=power
        )
        check_ranking(found, expected, k)


def test_hinge_powers_are_all_there() -> None:
    for power in range(1, 9):
        found = predict(PREDICTORS["balanced"], X, k=3, beam=EVERYTHING, power=power)
        check_ranking(found, np.exp(truth("balanced", power=power)), 3)


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("score", ["hinge", "sigmoid"])
@pytest.mark.parametrize("beam", [1, 3, 10, EVERYTHING])
def test_the_bound_changes_nothing_but_the_work(name: str, score: str, beam: int) -> None:
    for k in (1, 4, 10):
        options = {"k": k, "beam": beam, "node_score": score, "label_score": score}
        with_bound = predict(PREDICTORS[name], X, bound=True, **options)
        without = predict(PREDICTORS[name], X, bound=False, **options)
        np.testing.assert_array_equal(with_bound[0], without[0])
        np.testing.assert_array_equal(with_bound[1], without[1])
        assert (with_bound[2] <= without[2]).all()
    if name in ("binary", "balanced", "random") and beam == EVERYTHING:
        assert with_bound[2].sum() < without[2].sum()


@pytest.mark.parametrize("name", ["balanced", "binary", "lumpy"])
@pytest.mark.parametrize("beam", [1, 2, 5])
def test_the_beam_is_that_of_plain_python(name: str, beam: int) -> None:
    levels, k = LEVELS[name], 4
    p = PREDICTORS[name]
    ids, scores, opened = predict(p, X, k=k, beam=beam, bound=False)
    dense = X.toarray().astype(np.float64)
    margins = [
        [chunk_margins(p, level, chunk, dense) for chunk in range(len(levels[level]["child_ptr"]) - 1)]
        for level in range(len(levels))
    ]
    for i in range(X.shape[0]):
        frontier, found, n_opened = [(0.0, 0)], [], 0
        for level, arrays in enumerate(levels):
            following = []
            for above, chunk in frontier:
                n_opened += 1
                first = arrays["child_ptr"][chunk]
                for j, z in enumerate(margins[level][chunk][i]):
                    score = above + float(score_of(z, "hinge", 3))
                    to = int(arrays["child"][first + j])
                    (found if to < 0 else following).append((score, ~to if to < 0 else to))
            frontier = sorted(following, key=lambda pair: (-pair[0], pair[1]))[:beam]
        best = sorted(found, key=lambda pair: (-pair[0], pair[1]))[:k]
        assert opened[i] == n_opened
        np.testing.assert_allclose(scores[i, : len(best)], np.exp([s for s, _ in best]), rtol=1e-4)
        assert (ids[i, len(best) :] == -1).all()


def chunk_margins(p: Any, level: int, chunk: int, dense: np.ndarray) -> np.ndarray:
    from linear_kit import dense_weights

    name = next(name for name, other in PREDICTORS.items() if other is p)
    ptr = LEVELS[name][level]["child_ptr"]
    pairs = [dense_weights(p, DATA, 0, level, chunk, j) for j in range(ptr[chunk + 1] - ptr[chunk])]
    return dense @ np.array([w for w, _ in pairs], dtype=np.float64).T + np.array([b for _, b in pairs])


def lists(rows: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    return np.cumsum([0, *map(len, rows)]).astype(np.int64), np.array(
        [i for row in rows for i in row], np.int32
    )


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("each", [False, True])
@pytest.mark.parametrize("excluding", [False, True])
def test_only_and_exclude(name: str, each: bool, excluding: bool) -> None:
    rng = np.random.default_rng(2)
    n = X.shape[0] if each else 1
    only = [sorted(rng.choice(M, int(rng.integers(0, 12)), replace=False).tolist()) for _ in range(n)]
    exclude = [sorted(rng.choice(M, int(rng.integers(0, 30)), replace=False).tolist()) for _ in range(n)]
    expected = np.exp(truth(name))
    options: dict[str, Any] = {"only_ptr": lists(only)[0], "only": lists(only)[1]}
    if excluding:
        options.update(exclude_ptr=lists(exclude)[0], exclude=lists(exclude)[1])
    for i in range(X.shape[0]):
        allowed = np.zeros(M, dtype=bool)
        allowed[only[i if each else 0]] = True
        if excluding:
            allowed[exclude[i if each else 0]] = False
        expected[i, ~allowed] = -np.inf
    # Allowed labels are all scored, even with the narrowest beam.
    check_ranking(predict(PREDICTORS[name], X, k=8, beam=1, **options), expected, 8)


@pytest.mark.parametrize("name", TREES)
def test_exclude_alone(name: str) -> None:
    excluded = list(range(0, M, 2))
    ptr, ids = lists([excluded])
    expected = np.exp(truth(name))
    expected[:, excluded] = -np.inf
    check_ranking(
        predict(PREDICTORS[name], X, k=M, beam=EVERYTHING, exclude_ptr=ptr, exclude=ids), expected, M
    )


@pytest.mark.parametrize("score", ["hinge", "sigmoid"])
@pytest.mark.parametrize("per_tree", [1, 5, M])
def test_trees_are_averaged(score: str, per_tree: int) -> None:
    """Each tree hands its best `per_tree` (or k) labels over; what it did not hand over counts 0 there."""
    names = ["balanced", "lumpy", "binary"]
    p = predictor([LEVELS[name] for name in names], DATA)
    for k in (1, 3, M):
        total = np.zeros((X.shape[0], M))
        handed = np.zeros((X.shape[0], M), dtype=bool)
        for name in names:
            scores = np.exp(truth(name, score, score))
            keep = np.argsort(-scores, axis=1, kind="stable")[:, : max(k, per_tree)]
            np.put_along_axis(handed, keep, True, axis=1)
            np.put_along_axis(total, keep, np.take_along_axis(total + scores, keep, axis=1), axis=1)
        expected = np.where(handed, total / 3, -np.inf)
        found = predict(p, X, k=k, beam=EVERYTHING, node_score=score, label_score=score, per_tree=per_tree)
        check_ranking(found, expected, k, tolerance=1e-4)


def test_trees_are_averaged_under_only_and_exclude() -> None:
    names = ["balanced", "lumpy", "binary"]
    p = predictor([LEVELS[name] for name in names], DATA)
    only, exclude = [[3, 7, 9, 20, 41]], [[7]]
    expected = np.mean([np.exp(truth(name)) for name in names], axis=0)
    expected[:, np.setdiff1d(np.arange(M), [3, 9, 20, 41])] = -np.inf
    found = predict(
        p,
        X,
        k=5,
        only_ptr=lists(only)[0],
        only=lists(only)[1],
        exclude_ptr=lists(exclude)[0],
        exclude=lists(exclude)[1],
    )
    check_ranking(found, expected, 5)


def test_equal_scores_come_by_rising_label() -> None:
    """Labels without any example have the same classifier: nothing but their number orders them."""
    x = features(np.random.default_rng(3), 40, 20, 0.3)
    y = sp.csr_matrix((np.ones(40, np.float32), (np.arange(40), np.full(40, 7))), shape=(40, 20))
    data = Data(x, y)
    levels, _ = train_flat(data)
    p = predictor([levels], data)
    for score in ("sigmoid", "hinge", "raw"):
        ids, scores, _ = predict(p, x, k=20, label_score=score, node_score=score)
        rest = ids[ids != 7].reshape(40, 19)
        assert (rest == np.delete(np.arange(20), 7)).all()
        for k in (1, 5, 13):
            fewer = predict(p, x, k=k, label_score=score, node_score=score)
            np.testing.assert_array_equal(fewer[0], ids[:, :k])
            np.testing.assert_array_equal(fewer[1], scores[:, :k])


@pytest.mark.parametrize("weights", ["f32", "f16", "int8"])
def test_levels_and_threads_answer_with_the_same_bits(weights: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x = sp.vstack([X] * 3).tocsr()  # more rows than one task has
    names = ["balanced", "lumpy", "flat"]
    reference: Any = None
    for isa in ("portable", "avx2", "avx512"):
        monkeypatch.setenv("LONGTAIL_ISA", isa)
        for threads in (1, 2, 3):
            trees = predictor([LEVELS[name] for name in names], DATA).repacked(weights, threads)
            p = predictor(trees, DATA, weights, threads=threads)
            found = [
                a
                for score in ("hinge", "sigmoid")
                for rows in (x, x.toarray())
                for a in predict(p, rows, k=7, beam=4, node_score=score, label_score=score, threads=threads)
            ]
            if reference is None:
                reference = found
            for a, b in zip(reference, found, strict=True):
                assert a.tobytes() == b.tobytes(), (isa, threads)


def test_dense_queries_are_sparse_queries() -> None:
    for name in TREES:
        for a, b in zip(predict(PREDICTORS[name], X), predict(PREDICTORS[name], X.toarray()), strict=True):
            np.testing.assert_array_equal(a, b)


def test_frontier_is_the_beam_of_the_next_level() -> None:
    levels = LEVELS["binary"]
    part = predictor([levels[:3]], DATA, partial=True)
    indptr, chunks = part.frontier_sparse(X.indptr, X.indices, X.data, _options(k=1, beam=3, bound=False))
    dense_ptr, dense_chunks = part.frontier_dense(X.toarray(), _options(k=1, beam=3, bound=False))
    np.testing.assert_array_equal(indptr, dense_ptr)
    np.testing.assert_array_equal(chunks, dense_chunks)
    full = predict(PREDICTORS["binary"], X, k=1, beam=3, bound=False)[2]
    assert (np.diff(indptr) == 3).all()
    assert (full >= 3).all()
    for i in range(X.shape[0]):
        row = chunks[indptr[i] : indptr[i + 1]]
        assert (np.diff(row) > 0).all()


def _options(**given: Any) -> Any:
    from linear_kit import search_options

    return search_options(**given)


def test_path_leads_to_every_label() -> None:
    for name, tree in TREES.items():
        levels, p = LEVELS[name], PREDICTORS[name]
        for label in range(M):
            steps = p.path(0, label)
            assert [step[0] for step in steps] == list(range(len(steps)))
            level, chunk, child = steps[-1]
            assert levels[level]["child"][levels[level]["child_ptr"][chunk] + child] == ~label
            assert len(steps) in (tree.depth[label], tree.depth[label] + 1)


@pytest.mark.parametrize("arguments", [(1, 0), (-1, 0), (0, -1), (0, M)])
def test_a_path_that_does_not_exist(arguments: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="no such"):
        PREDICTORS["lumpy"].path(*arguments)


@pytest.mark.parametrize(
    "arguments",
    [(1, 0, 0, 0), (0, 9, 0, 0), (0, 0, 1, 0), (0, 0, 0, 99), (0, -1, 0, 0), (0, 0, -1, 0), (0, 0, 0, -1)],
)
def test_weights_of_a_child_that_does_not_exist(arguments: tuple[int, int, int, int]) -> None:
    with pytest.raises(ValueError, match="no such"):
        PREDICTORS["lumpy"].child_weights(*arguments)


@pytest.mark.parametrize(
    "wrong", [{"k": 0}, {"beam": 0}, {"power": 0}, {"per_tree": 0}, {"node_score": "softmax"}]
)
def test_search_options_are_checked(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"positive|hinge, sigmoid or raw"):
        _options(**wrong)


def test_unknown_instruction_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LONGTAIL_ISA", "sse9")
    with pytest.raises(ParameterError, match=r"portable, avx2, avx512\. Got 'sse9' instead"):
        predict(predictor([LEVELS["flat"]], DATA), X)


def test_progress_of_a_batch_and_an_exception_in_it() -> None:
    x = sp.vstack([X] * 400).tocsr()

    def stop(done: int) -> None:
        raise KeyboardInterrupt

    o = _options(k=M, beam=EVERYTHING, bound=False, report=stop)
    with pytest.raises(KeyboardInterrupt):
        PREDICTORS["chain"].predict_sparse(x.indptr, x.indices, x.data, o)


def test_labels_out_of_range_are_refused() -> None:
    for name in ("only", "exclude"):
        for bad in (-1, M):
            with pytest.raises(ValueError, match="CSR"):
                predict(
                    PREDICTORS["flat"],
                    X,
                    **{f"{name}_ptr": np.array([0, 1]), name: np.array([bad], np.int32)},
                )
        with pytest.raises(ValueError, match="one row, or one for each"):
            predict(
                PREDICTORS["flat"], X, **{f"{name}_ptr": np.array([0, 0, 0]), name: np.array([], np.int32)}
            )


@pytest.mark.parametrize("names", [["balanced"], ["balanced", "lumpy"], ["binary", "lumpy", "flat"]])
@pytest.mark.parametrize(
    "options", [{"k": 7}, {"k": 5, "beam": 2, "per_tree": 3}, {"k": 45, "node_score": "sigmoid"}]
)
def test_many_rows_are_answered_as_one_by_one(names: list[str], options: dict[str, Any]) -> None:
    """Many rows go through the trees node by node; few go row by row."""
    x = sp.vstack([X] * 3).tocsr()
    p = predictor([LEVELS[name] for name in names], DATA)
    alone = [predict(p, x[i], **options) for i in range(x.shape[0])]
    for threads in (1, 2):
        together = predict(p, x, threads=threads, **options)
        for part in range(3):
            assert np.concatenate([answer[part] for answer in alone]).tobytes() == together[part].tobytes()
