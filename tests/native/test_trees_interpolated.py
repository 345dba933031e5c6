"""Interpolated trees against the same algorithm in plain NumPy, its linear programme against SciPy's."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog
from test_trees_kmeans import LEVELS, as_nodes, clustered, mix, starting_direction, unit

from longtail import _native
from longtail.trees import LabelTree

UNITS = 2.0**52


def weights_of(f, heads, tradeoff, gamma, midpoint):
    """w of the labels of one node, which sum to 1."""
    n = len(f)
    f, heads = (v / v.sum() if v.sum() > 0 else v for v in (f, heads))
    exponent, coding = min(tradeoff, 1.0), max(tradeoff - 1.0, 0.0)
    if midpoint:
        powers = f**exponent if f.sum() > 0 or exponent == 0 else np.zeros(n)
        w = (2 - tradeoff) * powers + coding * heads + gamma / n
    else:
        w = (1 - tradeoff / 2) / n + tradeoff / 2 * heads + gamma / n
    return np.full(n, 1 / n) if np.ptp(w) == 0 else w / w.sum()


def solve(key, w, share):
    """alpha in [-1, 1] by Lemma 1, for any share of the weight that is to be on the first side: sorted by key, +1
    until the share is reached, one label torn. Exact, in whole units of weight."""
    units = [Fraction(round(v * UNITS)) for v in w]
    wanted, alpha = share * sum(units), [Fraction(-1)] * len(w)
    for i in sorted(range(len(w)), key=lambda i: (-key[i], i)):
        if units[i] > wanted:
            alpha[i] = 2 * wanted / units[i] - 1
            break
        alpha[i], wanted = Fraction(1), wanted - units[i]
    return alpha


def rounded(alpha, key):
    """The sides, with at least one label on each."""
    n = len(alpha)
    first = np.array([a > 0 or (a == 0 and key[i] > 0) for i, a in enumerate(alpha)])
    ranked = sorted(range(n), key=lambda i: (-key[i], i))
    first[ranked[0]], first[ranked[-1]] = True, False
    return first


def split(e, f, heads, knob, parts, seed, rounds, tol, history):
    tradeoff, gamma, midpoint = knob
    w = weights_of(f, heads, tradeoff, gamma, midpoint)
    likeness = (2 - tradeoff) / 2
    coding = max(tradeoff - 1, 0) if midpoint else tradeoff / 2
    share = Fraction((parts + 1) // 2, parts)
    direction, side, best, seen = starting_direction(e, seed), None, -np.inf, []
    for _ in range(rounds if likeness > 0 else 1):
        key = likeness * (e * direction).sum(axis=1) + coding * w if likeness > 0 else coding * w
        new = rounded(solve(key, w, share), key)
        if side is not None and np.array_equal(new, side):
            break
        plus, minus = (w[s] @ e[s] for s in (new, ~new))
        now = likeness * (np.linalg.norm(plus) + np.linalg.norm(minus))
        now += coding / 2 * np.sum(np.where(new, 1, -1) * w**2)
        if now < best - 1e-9:
            break
        seen.append(now)
        side, settled, best = new, now - best < tol, now
        if settled:
            break
        direction = unit(plus) - unit(minus)
    history.append(seen)
    return side


def plain_tree(
    e, f, heads, *, tradeoff, gamma=0.1, midpoint=True, arity=2, max_leaf=5, rounds=5, tol=1e-4, seed=0
):
    """(nodes as (depth, begin, end), order, objective of each round of each split)."""
    e = np.array([unit(row) for row in np.asarray(e, np.float64)]).reshape(len(f), -1)
    nodes, history, order = [], [], np.arange(len(f))

    def grow(begin, ids, parts, depth):
        if parts == 1:
            nodes.append((depth, begin, begin + len(ids)))
            if len(ids) <= max_leaf:
                order[begin : begin + len(ids)] = ids
                return
            parts, depth = min(arity, -(-len(ids) // max_leaf)), depth + 1
        node_seed = mix(mix(mix(seed) ^ begin) ^ len(ids))
        knob = (tradeoff, gamma, midpoint)
        side = split(e[ids], f[ids], heads[ids], knob, parts, node_seed, rounds, tol, history)
        cut = int(side.sum())
        first = min((parts + 1) // 2, -(-cut // max_leaf))
        second = min(parts - first, -(-(len(ids) - cut) // max_leaf))
        grow(begin, ids[side], parts - second, depth)
        grow(begin + cut, ids[~side], second, depth)

    grow(0, order.copy(), 1, 0)
    return sorted(nodes), order, history


def kernel(
    e, f, heads, *, tradeoff, gamma=0.1, midpoint=True, arity=2, max_leaf=5, rounds=5, tol=1e-4, seed=0, threads=1,
    report=None,
):  # fmt: skip
    f, heads = (v / v.sum() if v.sum() > 0 else v * 1.0 for v in (f, heads))
    tail = (f, heads, tradeoff, gamma, midpoint, arity, max_leaf, rounds, tol, seed, threads, report)
    if sp.issparse(e):
        return LabelTree(*_native.trees.interpolated_csr(e.indptr, e.indices, e.data, e.shape[1], *tail))
    return LabelTree(*_native.trees.interpolated_dense(e, *tail))


def zipf(n, seed):
    """Frequencies with a long tail, and those of heads, some of them zero."""
    r = np.random.default_rng(seed)
    f = r.permutation(1000 / np.arange(1, n + 1) ** 1.1).round(3) + r.random(n) * 1e-3
    return f, np.where(r.random(n) < 0.5, 0.0, f * r.random(n))


@pytest.mark.parametrize("tradeoff", [0.0, 0.3, 1.0, 1.5, 1.95, 2.0])
@pytest.mark.parametrize("midpoint", [True, False])
@pytest.mark.parametrize(("arity", "max_leaf", "n"), [(2, 1, 60), (2, 9, 300), (5, 4, 200), (16, 3, 301)])
def test_equals_plain_numpy(tradeoff, midpoint, arity, max_leaf, n):
    e = clustered(n, 60, seed=n + arity)
    f, heads = zipf(n, seed=arity)
    shape = {"arity": arity, "max_leaf": max_leaf}
    options = {"tradeoff": tradeoff, "midpoint": midpoint, **shape, "seed": 4}
    nodes, order, _ = plain_tree(e.toarray(), f, heads, **options)
    for matrix in (e, e.toarray()):
        tree = kernel(matrix, f, heads, **options)
        assert as_nodes(tree) == nodes
        assert tree.order.tolist() == order.tolist()


@pytest.mark.parametrize("gamma", [0.0, 0.01, 5.0])
def test_smoothing_equals_plain_numpy(gamma):
    e = clustered(150, 40, seed=3)
    f, heads = zipf(150, seed=3)
    f[::3] = 0
    for tradeoff in (0.5, 1.2):
        nodes, order, _ = plain_tree(e.toarray(), f, heads, tradeoff=tradeoff, gamma=gamma)
        tree = kernel(e, f, heads, tradeoff=tradeoff, gamma=gamma)
        assert as_nodes(tree) == nodes
        assert tree.order.tolist() == order.tolist()


@pytest.mark.parametrize("parts", [2, 3])
def test_lemma_1_solves_the_linear_programme(parts):
    share = Fraction((parts + 1) // 2, parts)
    for seed in range(40):
        r = np.random.default_rng(seed)
        n = int(r.integers(2, 40))
        key, w = r.normal(size=n), r.random(n) ** 4 + 1e-6
        w /= w.sum()
        beta = key * w
        alpha = np.array([float(a) for a in solve(key, w, share)])
        best = linprog(-beta, A_eq=w[None], b_eq=[float(2 * share - 1)], bounds=[(-1, 1)] * n)
        assert best.status == 0
        assert alpha @ w == pytest.approx(float(2 * share - 1), abs=1e-9)
        assert alpha @ beta == pytest.approx(-best.fun, abs=1e-9)
        assert np.sum(np.abs(alpha) < 1) <= 1


@pytest.mark.parametrize("tradeoff", [0.2, 1.0, 1.6, 1.99])
def test_the_objective_never_falls(tradeoff):
    e = sp.random(400, 80, density=0.1, format="csr", random_state=5, dtype=np.float32)
    f, heads = zipf(400, seed=5)
    options = {"tradeoff": tradeoff, "rounds": 40, "tol": 0, "max_leaf": 10}
    nodes, order, history = plain_tree(e.toarray(), f, heads, **options)
    assert max(len(seen) for seen in history) > 3
    for seen in history:
        assert np.all(np.diff(seen) >= -1e-9)
    tree = kernel(e, f, heads, **options)
    assert as_nodes(tree) == nodes
    assert tree.order.tolist() == order.tolist()


def test_no_tradeoff_is_balanced_two_means():
    e = clustered(700, 90, seed=8)
    f, heads = zipf(700, seed=8)
    arities = np.array([2, 2, 2, 2], np.int32)
    truth = LabelTree(
        *_native.trees.kmeans_csr(e.indptr, e.indices, e.data, e.shape[1], arities, 5, 1e-4, 6, 1, None)
    )
    assert kernel(e, f, heads, tradeoff=0.0, max_leaf=44, seed=6) == truth


@pytest.mark.parametrize("sparse", [True, False])
def test_same_tree_for_any_threads_and_level(sparse, monkeypatch):
    # Enough entries (over 2^20) that the upper splits are worked on by the whole team, and rows are copied.
    e = sp.random(3000, 4000, density=0.2, format="csr", random_state=1, dtype=np.float32)
    e = e if sparse else np.ascontiguousarray(e[:, :800].toarray())
    f, heads = zipf(3000, seed=1)
    options = {"tradeoff": 1.3, "arity": 3, "max_leaf": 20}
    truth = kernel(e, f, heads, **options)
    for level in LEVELS:
        monkeypatch.setenv("LONGTAIL_ISA", level)
        for threads in (1, 2, 7):
            assert kernel(e, f, heads, **options, threads=threads) == truth


def test_team_and_copies_equal_plain_numpy():
    e = sp.random(1500, 1500, density=0.6, format="csr", random_state=4, dtype=np.float32)
    f, heads = zipf(1500, seed=4)
    nodes, order, _ = plain_tree(e.toarray(), f, heads, tradeoff=1.1, max_leaf=60)
    tree = kernel(e, f, heads, tradeoff=1.1, max_leaf=60, threads=2)
    assert as_nodes(tree) == nodes
    assert tree.order.tolist() == order.tolist()


def test_progress_reaches_what_was_announced():
    seen = []
    e = np.random.default_rng(1).random((20_000, 600), dtype=np.float32)
    f, heads = zipf(20_000, seed=1)
    kernel(e, f, heads, tradeoff=1.0, max_leaf=50, rounds=50, tol=0, threads=2, report=seen.append)
    assert seen
    assert seen == sorted(seen)
    assert 0 <= seen[0] <= seen[-1] <= _native.trees.binary_work(20_000, 50)


def test_an_exception_of_the_report_stops_the_work():
    e = np.random.default_rng(1).random((20_000, 600), dtype=np.float32)
    f, heads = zipf(20_000, seed=1)

    def report(done):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        kernel(e, f, heads, tradeoff=1.0, rounds=50, tol=0, threads=2, report=report)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tradeoff": -0.1}, "tradeoff"),
        ({"tradeoff": float("nan")}, "tradeoff"),
        ({"gamma": -1.0}, "gamma"),
        ({"gamma": float("inf")}, "gamma"),
        ({"arity": 1}, "arity"),
        ({"arity": 65}, "arity"),
        ({"max_leaf": 0}, "max_leaf"),
        ({"rounds": 0}, "rounds"),
        ({"tol": float("nan")}, "tol"),
    ],
)
def test_refuses_bad_options(change, message):
    f = np.ones(10)
    for e in (clustered(10, 5, 0), np.ones((10, 5), np.float32)):
        with pytest.raises(ValueError, match=message):
            kernel(e, f, f, **{"tradeoff": 1.0, **change})


@pytest.mark.parametrize("bad", [[0.5, np.nan], [0.5, -0.1], [0.5, 2.0], [0.5], [0.2, 0.3, 0.5]])
def test_refuses_bad_frequencies(bad):
    good, bad = np.array([0.5, 0.5]), np.array(bad)
    tail = (1.0, 0.1, True, 2, 1, 5, 1e-4, 0, 1, None)
    for f, heads in ((good, bad), (bad, good)):
        with pytest.raises(ValueError, match="interpolation: "):
            _native.trees.interpolated_dense(np.ones((2, 3), np.float32), f, heads, *tail)
    with pytest.raises(ValueError, match="huffman: frequencies"):
        _native.trees.huffman(np.array([0.5, np.nan]), 2)
