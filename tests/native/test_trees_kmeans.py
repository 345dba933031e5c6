"""Hierarchical balanced k-means against the same algorithm in plain NumPy and double."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from longtail import _native
from longtail.trees import LabelTree
from longtail.trees.shape import level_arities

LEVELS = ["portable", "avx2", "avx512"]
MASK = 2**64 - 1


def mix(x):
    """SplitMix64."""
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def unit(v):
    norm = np.linalg.norm(v)
    return v / norm if norm > 0 else v


def starting_direction(e, seed):
    alive = np.flatnonzero(np.any(e != 0, axis=1))
    if len(alive) < 2:
        return np.zeros(e.shape[1])
    n = len(alive)
    first = mix(seed) % n
    second = (first + 1 + mix((seed + 1) & MASK) % (n - 1)) % n
    return e[alive[first]] - e[alive[second]]


def split(e, first_parts, second_parts, seed, rounds, tol, history):
    """Which rows are on the first side."""
    n = len(e)
    parts = first_parts + second_parts
    either = first_parts == second_parts and n % 2 == 1
    size = (
        n // 2 if first_parts == second_parts else n // parts * first_parts + n % parts * first_parts // parts
    )
    direction, side, cosine, seen = starting_direction(e, seed), None, -np.inf, []
    for _ in range(rounds):
        scores = (e * direction).sum(axis=1)  # equal rows get equal scores, which BLAS does not promise
        ranked = np.lexsort((np.arange(n), -scores))
        new = np.zeros(n, dtype=bool)
        new[ranked[: size + (either and scores[ranked[size]] > 0)]] = True
        if side is not None and np.array_equal(new, side):
            break
        side = new
        plus, minus = e[side].sum(axis=0), e[~side].sum(axis=0)
        now = (np.linalg.norm(plus) + np.linalg.norm(minus)) / n
        seen.append(now)
        settled, cosine = now - cosine < tol, now
        if settled:
            break
        direction = unit(plus) - unit(minus)
    history.append(seen)
    return side


def plain_kmeans(e, arities, rounds=5, tol=1e-4, seed=0):
    """(nodes as (depth, begin, end), order, objective of each round of each split)."""
    e = np.asarray(e, dtype=np.float64)
    e = np.array([unit(row) for row in e]).reshape(e.shape)
    nodes, history = [], []
    order = np.arange(len(e))

    def grow(begin, ids, parts, depth):
        if parts == 1:
            nodes.append((depth, begin, begin + len(ids)))
            if depth == len(arities) or len(ids) == 1:
                order[begin : begin + len(ids)] = ids
                return
            parts, depth = min(int(arities[depth]), len(ids)), depth + 1
        node_seed = mix(mix(mix(seed) ^ begin) ^ len(ids))
        first = (parts + 1) // 2
        side = split(e[ids], first, parts - first, node_seed, rounds, tol, history)
        cut = int(side.sum())
        grow(begin, ids[side], first, depth)
        grow(begin + cut, ids[~side], parts - first, depth)

    grow(0, order.copy(), 1, 0)
    return sorted(nodes), order, history


def as_nodes(tree):
    return sorted(
        zip(tree.node_depth.tolist(), tree.label_begin.tolist(), tree.label_end.tolist(), strict=True)
    )


def kernel(e, arities, rounds=5, tol=1e-4, seed=0, threads=1, report=None):
    arities = np.asarray(arities, np.int32)
    if sp.issparse(e):
        result = _native.trees.kmeans_csr(
            e.indptr, e.indices, e.data, e.shape[1], arities, rounds, tol, seed, threads, report
        )
    else:
        result = _native.trees.kmeans_dense(e, arities, rounds, tol, seed, threads, report)
    return LabelTree(*result)


def clustered(n, d, seed, density=0.1):
    """Sparse rows around a few centres."""
    r = np.random.default_rng(seed)
    centres = r.random((8, d)) * (r.random((8, d)) < density)
    rows = centres[r.integers(0, 8, n)] + r.random((n, d)) * (r.random((n, d)) < density / 2)
    return sp.csr_matrix(rows.astype(np.float32))


@pytest.mark.parametrize("arity", [2, 3, 5, 16])
@pytest.mark.parametrize(("n", "max_leaf"), [(7, 1), (100, 7), (301, 10)])
@pytest.mark.parametrize("rounds", [1, 5])
def test_equals_plain_numpy(arity, n, max_leaf, rounds):
    e = clustered(n, 60, seed=arity * n)
    arities = level_arities(n, arity, max_leaf)
    nodes, order, _ = plain_kmeans(e.toarray(), arities, rounds=rounds, seed=3)
    for matrix in (e, e.toarray()):
        tree = kernel(matrix, arities, rounds=rounds, seed=3)
        assert as_nodes(tree) == nodes
        assert tree.order.tolist() == order.tolist()


def test_the_objective_never_falls():
    e = sp.random(400, 80, density=0.1, format="csr", random_state=5, dtype=np.float32)
    arities = level_arities(400, 2, 10)
    nodes, order, history = plain_kmeans(e.toarray(), arities, rounds=30, tol=0)
    assert max(len(seen) for seen in history) > 3
    for seen in history:
        assert np.all(np.diff(seen) >= -1e-12)
    assert as_nodes(kernel(e, arities, rounds=30, tol=0)) == nodes
    assert kernel(e, arities, rounds=30, tol=0).order.tolist() == order.tolist()


def mean_cosine(e, tree):
    """Of all labels to the centre of their leaf."""
    e = e.multiply(1 / np.maximum(1e-30, sp.linalg.norm(e, axis=1))[:, None]).tocsr()
    sums = [np.linalg.norm(e[tree.labels_under(i)].sum(axis=0)) for i in np.flatnonzero(tree.is_leaf)]
    return sum(sums) / e.shape[0]


def test_more_rounds_and_no_noise_find_the_clusters():
    r = np.random.default_rng(0)
    group = r.permutation(np.repeat(np.arange(8), 25))
    e = sp.csr_matrix((np.eye(8)[group] + 0.01 * r.random((200, 8))).astype(np.float32))
    tree = kernel(e, [8])
    for leaf in tree.children(0):
        assert len(set(group[tree.labels_under(leaf)])) == 1
    e = clustered(500, 200, seed=2)
    assert mean_cosine(e, kernel(e, [5, 5], rounds=5)) > mean_cosine(e, kernel(e, [5, 5], rounds=1))


@pytest.mark.parametrize("sparse", [True, False])
def test_same_tree_for_any_threads_and_level(sparse, monkeypatch):
    # Enough entries (over 2^20) that the upper splits are worked on by the whole team, and rows are copied.
    e = sp.random(3000, 4000, density=0.2, format="csr", random_state=1, dtype=np.float32)
    e = e if sparse else np.ascontiguousarray(e[:, :800].toarray())
    truth = kernel(e, [2, 16, 4])
    for level in LEVELS:
        monkeypatch.setenv("LONGTAIL_ISA", level)
        for threads in (1, 2, 7):
            assert kernel(e, [2, 16, 4], threads=threads) == truth


def test_team_and_copies_equal_plain_numpy():
    """Larger than what one worker takes: the same splits as the small path's."""
    e = sp.random(1500, 1500, density=0.6, format="csr", random_state=4, dtype=np.float32)
    nodes, order, _ = plain_kmeans(e.toarray(), [4, 4])
    tree = kernel(e, [4, 4], threads=2)
    assert as_nodes(tree) == nodes
    assert tree.order.tolist() == order.tolist()


@pytest.mark.parametrize("n", [1, 2, 3, 50])
@pytest.mark.parametrize("value", [0.0, 1.0])
@pytest.mark.parametrize("stored", [True, False])
def test_equal_embeddings_are_shared_out_by_id(n, value, stored):
    e = sp.csr_matrix((n, 3), dtype=np.float32)
    if stored:
        e = sp.csr_matrix(
            (np.full(n, value, np.float32), np.zeros(n, np.int32), np.arange(n + 1)), shape=(n, 3)
        )
    tree = kernel(e, [2, 2])
    assert tree.order.tolist() == list(range(n))
    assert kernel(e.toarray(), [2, 2]) == tree


@pytest.mark.parametrize("scale", [1e-44, 1e-30, 1e30, 3e38])
def test_rows_of_any_length_give_the_tree_of_their_directions(scale):
    e = clustered(60, 30, seed=9)
    e.data = np.where(e.data > 0.3, np.float32(1), np.float32(0)).astype(np.float32)
    e.eliminate_zeros()
    big = e.copy()
    big.data = np.full_like(e.data, scale)
    assert kernel(big, [4, 3]) == kernel(e, [4, 3])


def test_progress_rises_and_stays_within_labels_times_levels():
    seen = []
    e = np.random.default_rng(1).random((20_000, 600), dtype=np.float32)
    kernel(e, [16, 16], rounds=50, tol=0, threads=2, report=seen.append)
    assert seen
    assert seen == sorted(seen)
    assert 0 <= seen[0] <= seen[-1] <= 20_000 * 8


def test_an_exception_of_the_report_stops_the_work():
    e = np.random.default_rng(1).random((20_000, 600), dtype=np.float32)

    def report(done):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        kernel(e, [16, 16], rounds=50, tol=0, threads=2, report=report)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"arities": [1]}, "arities"),
        ({"arities": [-5]}, "arities"),
        ({"arities": [2] * 65}, "levels"),
        ({"rounds": 0}, "rounds"),
        ({"tol": -1.0}, "tol"),
        ({"tol": float("nan")}, "tol"),
    ],
)
def test_refuses_bad_options(change, message):
    options = {"arities": [2], **change}
    for e in (clustered(10, 5, 0), np.ones((10, 5), np.float32)):
        with pytest.raises(ValueError, match=message):
            kernel(e, **options)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_refuses_values_that_are_not_finite(value):
    e = np.ones((5, 2), np.float32)
    e[3, 1] = value
    for matrix in (e, sp.csr_matrix(e)):
        with pytest.raises(ValueError, match="row 3 has a value that is not finite"):
            kernel(matrix, [2])


def test_refuses_no_rows():
    with pytest.raises(ValueError, match="rows"):
        kernel(np.zeros((0, 3), np.float32), [2])
