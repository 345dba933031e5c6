"""The kernels of the hierarchical softmax against plain NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from longtail import _native
from longtail.softmax.decisions import Decisions, decisions_of
from longtail.softmax.vectors import Vectors, padded
from longtail.trees import LabelTree, complete_tree, random_tree

# Root with three children: a label, a leaf of three labels, and a pair of a label and a node with a single child.
MIXED = LabelTree([-1, 0, 0, 0, 3, 3, 5], [1, 2, 2, 2, 4, 6])
TREES = {
    "binary": complete_tree(23, arity=2, max_leaf=1),
    "wide": complete_tree(40, arity=5, max_leaf=4),
    "mixed": MIXED,
    "one label": LabelTree([-1], [0]),
}


def log_probabilities(decisions: Decisions, output: Any, hidden: Any) -> Any:
    """Of every label: the product of a logistic or a softmax at each decision, written out."""
    n_labels = int((decisions.child < 0).sum())
    log_p = np.zeros(n_labels)
    at = {0: 0.0}
    for d in range(len(decisions.child_ptr) - 1):
        slots = range(decisions.child_ptr[d], decisions.child_ptr[d + 1])
        z = output[decisions.first_vector[d] : decisions.first_vector[d + 1]] @ hidden
        if len(slots) == 1:
            steps = np.zeros(1)
        elif len(slots) == 2:
            steps = -np.logaddexp(0, [z[0], -z[0]])
        else:
            steps = z - np.logaddexp.reduce(z)
        for slot, step in zip(slots, steps, strict=True):
            child = int(decisions.child[slot])
            if child >= 0:
                at[child] = at[d] + step
            else:
                log_p[~child] = at[d] + step
    return log_p


class Problem:
    """Random vectors and one example."""

    def __init__(self, tree: LabelTree, dim: int, seed: int = 0):
        rng = np.random.default_rng(seed)
        self.decisions = decisions_of(tree)
        self.n_labels = tree.n_labels
        places = padded(dim)
        self.input = np.zeros((9, places), dtype=np.float32)
        self.output = np.zeros((self.decisions.n_vectors, places), dtype=np.float32)
        self.input[:, :dim] = rng.standard_normal((9, dim))
        self.output[:, :dim] = rng.standard_normal((self.decisions.n_vectors, dim))
        self.columns = np.array([1, 4, 7], dtype=np.int32)
        self.values = np.array([0.5, -2.0, 1.0], dtype=np.float32)

    def hidden(self, rows: Any) -> Any:
        return self.values @ rows[self.columns] / np.abs(self.values).sum()

    def loss(self, rows: Any, output: Any, label: int) -> float:
        return float(-log_probabilities(self.decisions, output, self.hidden(rows))[label])

    def step(self, label: int, rate: float, weight: Any = None) -> tuple[Any, Any, float]:
        """What the kernel makes of one example in one epoch with a constant rate."""
        rows, output = self.input.copy(), self.output.copy()
        loss, steps = _native.softmax.train_epoch(
            input=rows,
            output=output,
            child_ptr=self.decisions.child_ptr,
            child=self.decisions.child,
            n_labels=self.n_labels,
            x_indptr=np.array([0, 3]),
            x_indices=self.columns,
            x_data=self.values,
            y_indptr=np.array([0, 1]),
            y_indices=np.array([label], dtype=np.int32),
            weight=weight,
            rate_begin=rate,
            rate_end=rate,
            seed=0,
            threads=1,
            report=None,
        )
        assert steps == 1
        return rows, output, loss


def numeric_gradient(f: Callable[[Any], float], at: Any, dim: int) -> Any:
    gradient = np.zeros_like(at)
    for i in np.ndindex(len(at), dim):
        up, down = at.copy(), at.copy()
        up[i] += 1e-5
        down[i] -= 1e-5
        gradient[i] = (f(up) - f(down)) / 2e-5
    return gradient


@pytest.mark.parametrize("isa", ["portable", "avx2", "avx512"])
@pytest.mark.parametrize("name", TREES)
def test_a_step_follows_the_gradient(name: str, isa: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LONGTAIL_ISA", isa)
    dim = 3
    problem = Problem(TREES[name], dim)
    for label in {0, problem.n_labels // 2, problem.n_labels - 1}:
        rows, output, loss = problem.step(label, rate=0.3)
        wide_in, wide_out = problem.input.astype(np.float64), problem.output.astype(np.float64)
        assert loss == pytest.approx(problem.loss(wide_in, wide_out, label), rel=1e-5, abs=1e-6)
        of_input = numeric_gradient(lambda v, w=wide_out, t=label: problem.loss(v, w, t), wide_in, dim)
        of_output = numeric_gradient(lambda v, w=wide_in, t=label: problem.loss(w, v, t), wide_out, dim)
        assert np.allclose(rows, wide_in - 0.3 * of_input, atol=2e-5)
        assert np.allclose(output, wide_out - 0.3 * of_output, atol=2e-5)
        assert not rows[:, dim:].any()
        assert not output[:, dim:].any()


def test_levels_of_instructions_agree_bit_for_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    for dim in (3, 16, 40, 128, 200):
        for tree in TREES.values():
            results = []
            for isa in ("portable", "avx2", "avx512"):
                monkeypatch.setenv("LONGTAIL_ISA", isa)
                results.append(Problem(tree, dim).step(0, 0.5))
            for rows, output, loss in results[1:]:
                assert rows.tobytes() == results[0][0].tobytes()
                assert output.tobytes() == results[0][1].tobytes()
                assert loss == results[0][2]


def test_a_weight_multiplies_the_rate() -> None:
    problem = Problem(TREES["binary"], dim=8)
    heavy = problem.step(3, 0.25, np.array([2.0], dtype=np.float32))
    fast = problem.step(3, 0.5)
    assert np.array_equal(heavy[0], fast[0])
    assert np.array_equal(heavy[1], fast[1])


def test_the_rate_falls_linearly_and_labels_are_drawn_at_random() -> None:
    """Examples that share nothing: each has its own features, and the tree one decision, so steps can be told apart."""
    n, tree = 2000, decisions_of(LabelTree([-1, 0, 0], [1, 2]))
    rows = np.zeros((n, 16), dtype=np.float32)
    output = np.full(
        (1, 16), 1e-20, dtype=np.float32
    )  # the margin is 0 throughout: every step is half the rate
    _native.softmax.train_epoch(
        input=rows, output=output, child_ptr=tree.child_ptr, child=tree.child, n_labels=2,
        x_indptr=np.arange(n + 1), x_indices=np.arange(n, dtype=np.int32), x_data=np.ones(n, np.float32),
        y_indptr=np.arange(n + 1) * 2, y_indices=np.tile(np.array([0, 1], np.int32), n), weight=None,
        rate_begin=1.0, rate_end=0.5, seed=7, threads=1, report=None,
    )  # fmt: skip
    steps = rows[:, 0] / 1e-20
    assert np.allclose(np.sort(np.abs(steps)), np.linspace(0.25, 0.5, n), atol=1e-3)
    assert 0.45 < (steps > 0).mean() < 0.55
    assert abs(np.corrcoef(np.arange(n), np.abs(steps))[0, 1]) < 0.1  # the order is shuffled


def test_rows_without_features_or_labels_take_no_step() -> None:
    problem = Problem(TREES["binary"], dim=8)
    rows, output = problem.input.copy(), problem.output.copy()
    loss, steps = _native.softmax.train_epoch(
        input=rows, output=output, child_ptr=problem.decisions.child_ptr, child=problem.decisions.child,
        n_labels=23, x_indptr=np.array([0, 0, 2, 3]), x_indices=np.array([1, 2, 3], np.int32),
        x_data=np.array([1, 1, 0], np.float32), y_indptr=np.array([0, 1, 1, 2]),
        y_indices=np.array([4, 5], np.int32), weight=None, rate_begin=1.0, rate_end=0.5, seed=7, threads=1, report=None,
    )  # fmt: skip
    assert (loss, steps) == (0.0, 0)
    assert np.array_equal(rows, problem.input)
    assert np.array_equal(output, problem.output)


def predictor(problem: Problem, kind: str = "f32") -> tuple[Any, Vectors, Vectors]:
    rows, output = Vectors.stored(problem.input, kind), Vectors.stored(problem.output, kind)
    return (
        _native.softmax.Predictor(
            problem.decisions.child_ptr, problem.decisions.child, problem.n_labels,
            rows.data, rows.scale, output.data, output.scale, kind,
        ),
        rows,
        output,
    )  # fmt: skip


def ask(native: Any, x: Any, **options: Any) -> tuple[Any, Any, Any]:
    given = {
        "search": "exact",
        "k": 5,
        "beam": 10,
        "max_nodes": 0,
        "max_ns": 0,
        "slack": 0.0,
        "threads": 2,
        **options,
    }
    return native.predict(x.indptr, x.indices, x.data, _native.softmax.Query(**given))


def queries(n: int = 150, seed: int = 3) -> Any:
    x = sp.random(n, 9, 0.4, format="csr", dtype=np.float32, random_state=seed)
    x.data -= 0.3
    return x


@pytest.mark.parametrize("kind", ["f32", "f16", "int8"])
@pytest.mark.parametrize("name", TREES)
def test_exact_search_is_exhaustive_scoring(name: str, kind: str) -> None:
    problem = Problem(TREES[name], dim=24)
    native, rows, output = predictor(problem, kind)
    x = queries()
    k = min(6, problem.n_labels)
    labels, scores, opened = ask(native, x, k=k)
    hidden = native.hidden(x.indptr, x.indices, x.data, 2)
    for i in range(x.shape[0]):
        values = x[i].data.astype(np.float64)
        mean = values @ rows.rows(x[i].indices) / max(np.abs(values).sum(), 1e-30)
        assert np.allclose(hidden[i], mean, atol=1e-5)
        truth = np.exp(log_probabilities(problem.decisions, output.rows().astype(np.float64), mean))
        assert truth.sum() == pytest.approx(1)
        assert np.allclose(scores[i], np.sort(truth)[::-1][:k], rtol=1e-4, atol=1e-7)
        assert np.allclose(truth[labels[i]], scores[i], rtol=1e-4, atol=1e-7)
        assert len(set(labels[i].tolist())) == k
    assert (opened <= len(problem.decisions.child_ptr) - 1).all()


def test_levels_of_instructions_answer_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    x = queries()
    for kind in ("f32", "f16", "int8"):
        native = predictor(Problem(TREES["wide"], dim=40), kind)[0]
        found = []
        for isa in ("portable", "avx2", "avx512"):
            monkeypatch.setenv("LONGTAIL_ISA", isa)
            found.append(ask(native, x, k=7))
        for labels, scores, opened in found[1:]:
            assert labels.tobytes() == found[0][0].tobytes()
            assert scores.tobytes() == found[0][1].tobytes()
            assert np.array_equal(opened, found[0][2])


def test_searches_keep_what_they_promise() -> None:
    problem = Problem(random_tree(300, arity=2, max_leaf=1, seed=1), dim=16)
    native = predictor(problem)[0]
    x = queries(80)
    full = ask(native, x, k=300)
    exact = ask(native, x)
    assert np.array_equal(exact[0], full[0][:, :5])
    assert np.array_equal(exact[1], full[1][:, :5])
    assert exact[2].mean() < 0.7 * full[2].mean()  # the bound leaves nodes out
    assert np.array_equal(ask(native, x, search="beam", beam=300)[0], exact[0])
    beam = ask(native, x, search="beam", beam=3)
    assert (beam[2] <= 3 * 11).all()
    assert (beam[1][:, 0] <= exact[1][:, 0]).all()
    for budget in (1, 10, 40, 1000):
        labels, scores, opened = ask(native, x, search="budget", max_nodes=budget)
        assert (opened <= budget).all()
        assert (np.where(labels >= 0, scores, 0) <= exact[1]).all()
    assert np.array_equal(labels, exact[0])  # budget enough
    for slack in (0.1, 1.0):
        labels, scores, opened = ask(native, x, slack=slack)
        assert (opened <= exact[2]).all()
        assert (exact[1] <= scores[:, -1:] * np.exp(slack) * (1 + 1e-5) + (exact[1] <= scores)).all()
    assert opened.sum() < exact[2].sum()


def test_ties_go_to_the_smaller_label() -> None:
    problem = Problem(complete_tree(16, arity=2, max_leaf=1), dim=16)
    problem.output[:] = 0
    labels, scores, _ = ask(predictor(problem)[0], queries(4), k=3)
    assert labels.tolist() == [[0, 1, 2]] * 4
    assert np.allclose(scores, 1 / 16)


def test_vectors_that_are_no_numbers_harm_nobody() -> None:
    for bad in (np.nan, np.inf, -np.inf, 3e38):
        problem = Problem(TREES["wide"], dim=16)
        problem.output[::2] = bad
        labels, scores, _ = ask(predictor(problem)[0], queries(), k=40)
        assert ((labels >= -1) & (labels < 40)).all()
        assert not np.isnan(scores).any()


@pytest.mark.parametrize(
    ("child_ptr", "child", "n_labels"),
    [
        ([0, 2], [~0, ~0], 2),
        ([0, 2], [~0, ~2], 2),
        ([0, 2], [~0, 0], 1),
        ([0, 2], [~0, 1], 1),
        ([0, 2, 4], [1, 1, ~0, ~1], 2),
        ([0, 2, 4], [~0, ~1, ~2, ~3], 4),
        ([0, 2, 2], [1, ~0], 1),
        ([0, 1], [~0], 2),
        ([1, 2], [~0, ~1], 2),
        ([0, 3], [~0, ~1], 2),
    ],
)  # fmt: skip
def test_damaged_trees_are_refused(child_ptr: Any, child: Any, n_labels: int) -> None:
    vectors = np.zeros((3, 16), np.float32)
    with pytest.raises(ValueError, match="damaged"):
        _native.softmax.Predictor(
            np.array(child_ptr), np.array(child, np.int32), n_labels, vectors, None, vectors, None, "f32"
        )


def test_stored_vectors() -> None:
    rows = np.random.default_rng(0).standard_normal((70, 32)).astype(np.float32)
    rows[3] = 0
    assert np.array_equal(Vectors.stored(rows, "f32").rows(), rows)
    assert np.allclose(Vectors.stored(rows, "f16").rows(), rows, rtol=1e-3, atol=1e-6)
    int8 = Vectors.stored(rows, "int8")
    assert (np.abs(int8.rows() - rows) <= np.abs(rows).max(axis=1, keepdims=True) / 254 + 1e-7).all()
    assert np.array_equal(int8.rows(np.array([5, 3])), int8.rows()[[5, 3]])
    assert int8.nbytes < 0.3 * rows.nbytes
