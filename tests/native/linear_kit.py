"""Plain NumPy truth for the kernels of the linear room, and short ways to call them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from longtail import _native
from longtail.linear.plan import LevelPlan, flat_plan, tree_plan
from longtail.trees import LabelTree

SOLVER = {"loss": "squared_hinge", "c": 1.0, "bias": 1.0, "tol": 0.1, "max_iter": 100, "threshold": 0.0}


def features(rng: np.random.Generator, n: int, d: int, density: float = 0.2) -> sp.csr_matrix:
    """Rows of unit length, a few of them empty."""
    x = sp.random(n, d, density, format="csr", dtype=np.float32, random_state=rng)
    x.data = rng.standard_normal(x.nnz).astype(np.float32)
    norm = np.sqrt(np.asarray(x.multiply(x).sum(axis=1)).ravel())
    x = sp.csr_matrix(sp.diags((1 / np.maximum(norm, 1e-12)).astype(np.float32)) @ x, dtype=np.float32)
    x.sort_indices()
    return x


def labels(rng: np.random.Generator, n: int, m: int, per_row: float = 1.5) -> sp.csr_matrix:
    """Skewed labels: some on many rows, some on none."""
    weight = 1 / np.arange(1, m + 1)
    y = rng.random((n, m)) < np.minimum(per_row * weight / weight.sum(), 0.95)
    return sp.csr_matrix(y.astype(np.float32))


@dataclass
class Data:
    """What train_level is told of the examples."""

    x: Any
    y: sp.csr_matrix
    cost: Any = None
    threads: int = 1

    def __post_init__(self) -> None:
        self.parts = (
            (self.x.indptr, self.x.indices, self.x.data) if sp.issparse(self.x) else (None, None, self.x)
        )
        self.norm, self.rank, self.n_internal = _native.linear.survey(
            *self.parts, self.x.shape[1], self.threads
        )
        y = sp.csr_matrix(self.y)
        self.rows_ptr, self.rows = _native.labels.transpose(y.indptr, y.indices, y.shape[1])
        self.frequency = np.bincount(y.indices, minlength=y.shape[1]).astype(np.int64)


def train_level(data: Data, plan: LevelPlan, extra: Any = None, report: Any = None, **options: Any) -> Any:
    """(arrays, facts) of one level."""
    arrays, facts = train_levels(data, [plan], [extra], report, **options)
    return arrays[0], facts[0]


def train_levels(data: Data, plans: list[LevelPlan], extras: Any, report: Any = None, **options: Any) -> Any:
    """(arrays, facts) of levels that are trained side by side."""
    given = {**SOLVER, "weights": "f32", "threads": 1, **options}
    seed = given.pop("seed", 0)
    return _native.linear.train_levels(
        [
            (
                *(plan.child_ptr, plan.child, plan.label_begin, plan.label_end, plan.order, plan.all_rows),
                *((None, None) if extra is None else extra),
                seed,
            )
            for plan, extra in zip(plans, extras, strict=True)
        ],
        rows_ptr=data.rows_ptr,
        rows=data.rows,
        x_indptr=data.parts[0],
        x_indices=data.parts[1],
        x_data=data.parts[2],
        square_norm=data.norm,
        cost=data.cost,
        rank=data.rank,
        n_internal=data.n_internal,
        report=report,
        **given,
    )


def train_flat(data: Data, **options: Any) -> Any:
    """Every label against all rows: (list with the one level, facts)."""
    arrays, facts = train_level(data, flat_plan(data.frequency)[0], **options)
    return [arrays], facts


def train_tree(data: Data, tree: LabelTree, **options: Any) -> list[Any]:
    return [train_level(data, plan, **options)[0] for plan in tree_plan(tree)]


def predictor(trees: list[Any], data: Data, weights: str = "f32", **options: Any) -> Any:
    return _native.linear.Predictor(trees, data.rank, data.n_internal, data.y.shape[1], weights, **options)


def search_options(**options: Any) -> Any:
    given = {
        "k": 5,
        "beam": 10,
        "node_score": "hinge",
        "label_score": "hinge",
        "power": 3,
        "bound": True,
        "per_tree": 100,
        **options,
    }
    return _native.linear.SearchOptions(**given)


def predict(p: Any, x: Any, **options: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    o = search_options(**options)
    if sp.issparse(x):
        return p.predict_sparse(x.indptr, x.indices, x.data, o)
    return p.predict_dense(np.ascontiguousarray(x, dtype=np.float32), o)


# ---- truth


def dense_weights(
    p: Any, data: Data, tree: int, level: int, chunk: int, child: int
) -> tuple[np.ndarray, np.float32]:
    """The weights of one classifier over all features, and its bias."""
    internal, values, bias = p.child_weights(tree, level, chunk, child)
    by_internal = np.zeros(data.n_internal + 1, dtype=np.float32)
    by_internal[internal] = values
    return np.where(data.rank >= 0, by_internal[data.rank], 0).astype(np.float32), np.float32(bias)


def flat_weights(p: Any, data: Data, levels: list[Any]) -> tuple[np.ndarray, np.ndarray]:
    """(labels × features, labels) of a one-vs-rest level."""
    m = data.y.shape[1]
    w = np.zeros((m, data.x.shape[1]), dtype=np.float32)
    b = np.zeros(m, dtype=np.float32)
    child, ptr = levels[0]["child"], levels[0]["child_ptr"]
    for chunk in range(len(ptr) - 1):
        for j in range(ptr[chunk + 1] - ptr[chunk]):
            label = ~child[ptr[chunk] + j]
            w[label], b[label] = dense_weights(p, data, 0, 0, chunk, j)
    return w, b


def loss_of(margins: np.ndarray, sign: np.ndarray, loss: str) -> np.ndarray:
    z = margins * sign
    return np.maximum(0, 1 - z) ** 2 if loss == "squared_hinge" else np.logaddexp(0, -z)


def objective(
    w: np.ndarray, b: float, x: Any, sign: np.ndarray, cost: np.ndarray, loss: str, bias: float
) -> float:
    """½‖w‖² + Σ cost · loss; b is the intercept, which is the weight of the bias feature times its value."""
    w64 = w.astype(np.float64)
    penalty = 0.5 * (w64 @ w64 + (b / bias) ** 2 if bias else w64 @ w64)
    return float(penalty + (cost * loss_of(x.astype(np.float64) @ w64 + b, sign, loss)).sum())


def score_of(margin: np.ndarray, kind: str, power: int) -> np.ndarray:
    """The logarithm of the score of a margin; raw: the margin."""
    z = np.asarray(margin, dtype=np.float64)
    if kind == "hinge":
        return -(np.maximum(0, 1 - z) ** power)
    return -np.logaddexp(0, -z) if kind == "sigmoid" else z


def all_scores(
    p: Any, data: Data, levels: list[Any], x: Any, node: str, label: str, power: int, tree: int = 0
) -> np.ndarray:
    """rows × labels: the sum of scores along every path, by walking the whole tree."""
    dense = np.asarray(x.todense(), dtype=np.float64) if sp.issparse(x) else np.asarray(x, dtype=np.float64)
    out = np.full((dense.shape[0], data.y.shape[1]), np.nan)

    def walk(level: int, chunk: int, above: np.ndarray) -> None:
        ptr, child = levels[level]["child_ptr"], levels[level]["child"]
        for j in range(ptr[chunk + 1] - ptr[chunk]):
            w, b = dense_weights(p, data, tree, level, chunk, j)
            margin = dense @ w.astype(np.float64) + float(b)
            to = child[ptr[chunk] + j]
            score = above + score_of(margin, label if to < 0 else node, power)
            if to < 0:
                assert np.isnan(out[:, ~to]).all()
                out[:, ~to] = score
            else:
                walk(level + 1, to, score)

    for chunk in range(len(levels[0]["child_ptr"]) - 1):
        walk(0, chunk, np.zeros(dense.shape[0]))
    assert not np.isnan(out).any()
    return out


def check_ranking(
    found: tuple[np.ndarray, np.ndarray], truth: np.ndarray, k: int, tolerance: float = 1e-5
) -> None:
    """The k best of each row of `truth` (allowed labels finite), up to swaps of scores that are equal but for
    rounding."""
    ids, scores = found[0], found[1]
    for i, row in enumerate(truth):
        allowed = np.flatnonzero(np.isfinite(row))
        n = min(k, len(allowed))
        assert (ids[i, n:] == -1).all()
        assert (ids[i, :n] >= 0).all()
        assert len(set(ids[i, :n].tolist())) == n
        best = np.sort(row[allowed])[::-1][:n]
        scale = 1 + np.abs(best)
        assert (np.abs(scores[i, :n] - best) <= tolerance * scale).all(), i
        assert (np.abs(row[ids[i, :n]] - scores[i, :n]) <= tolerance * scale).all(), i
        assert (np.diff(scores[i, :n]) <= 0).all()
