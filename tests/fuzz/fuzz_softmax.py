"""Softmax models from damaged folders, random arrays for fit and predict, and tampered arrays for the kernels behind
them: each must give an answer or a LongtailError (the kernels: an exception that says what is wrong).

    python tests/fuzz/fuzz_softmax.py 20000 1
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from fuzz_linear import Folders, change_array, odd_labels, odd_matrix, odd_values, problem, with_error

import longtail as lt
from longtail import _native
from longtail.errors import LongtailError
from longtail.softmax.decisions import decisions_of

QUICK: dict[str, Any] = {"dim": 5, "epochs": 2, "min_count": 1, "buckets": 50, "threads": 1}


def small_models() -> list[Any]:
    """Binary and wide trees, all kinds of vectors, features, words, parts of words, and tf-idf."""
    x, y = problem(np.random.default_rng(0))
    texts = [" ".join(f"w{i}" for i in row.indices) for row in x]
    names = [f"name{i}" for i in range(y.shape[1])]
    wide = lt.trees.random_tree(y.shape[1], arity=4, max_leaf=3)
    return [
        lt.HierarchicalSoftmax(**QUICK).fit(x, y),
        lt.HierarchicalSoftmax(tree=wide, weights="f16", **QUICK).fit(x, y, labels=names),
        lt.HierarchicalSoftmax(weights="int8", tradeoff=1.0, **QUICK).fit(texts, y),
        lt.HierarchicalSoftmax(subwords=(2, 3), **QUICK).fit(texts, y, labels=names),
        lt.HierarchicalSoftmax(vectorizer=lt.TextVectorizer(), **{**QUICK, "dim": 16}).fit(texts, y),
    ]


def odd_params(rng: random.Random) -> dict[str, Any]:
    params = {**QUICK, "threads": rng.choice([1, 2])}
    for name, values in (
        ("dim", [1, 15, 16, 17, 100, 0, 2**40, 1.5]),
        ("epochs", [1, 3, 0, None]),
        ("lr", [0.5, 1e-30, 50.0, 1e6, 0, -1, float("nan"), float("inf")]),
        ("tree", [None, lt.trees.complete_tree(5), lt.trees.random_tree(40, max_leaf=7), 3]),
        ("tradeoff", [None, 0.0, 0.7, 2.0, 3]),
        ("weights", ["f32", "f16", "int8", "f64"]),
        ("seed", [0, 7, -1, 2**63]),
        ("deterministic", [True, False, 1]),
    ):
        if rng.random() < 0.3:
            params[name] = rng.choice(values)
    return params


def odd_options(rng: random.Random, n: int, m: int) -> dict[str, Any]:
    lists: list[Any] = [
        [],
        [0],
        [0, 0, 1],
        [m],
        [-1],
        [[0]] * n,
        [[0], [1]],
        3,
        None,
        [None],
        np.array([0, 1]),
    ]
    options: dict[str, Any] = {"k": rng.choice([1, 5, m, 5, m, 10**9, 2**40, 0, None, 1.5])}
    for name, values in (
        ("search", ["beam", "exact", "budget", "x"]),
        ("beam", [1, 3, 2**31, 2**70, 0, None]),
        ("budget", [1, 3, 2**31, 2**70, 0, None]),
        ("time_budget", [0.01, 5, 1e9, 1e300, 0, None]),
        ("slack", [0, 0.5, 80, 1e300, -1]),
        ("only", lists),
        ("exclude", lists),
        ("threads", [1, 2, 0, None]),
    ):
        if rng.random() < 0.2:
            options[name] = rng.choice(values)
    return options


def fit_and_predict(rng: random.Random, models: list[Any]) -> str:
    """Odd arrays into training and queries."""
    n, d, m = rng.choice((1, 2, 7, 20)), rng.choice((1, 3, 30)), rng.choice((1, 2, 5, 40))
    if rng.random() < 0.5:
        model = rng.choice(models)
    else:
        model = lt.HierarchicalSoftmax(**odd_params(rng))
        extra: dict[str, Any] = {}
        if rng.random() < 0.3:
            extra["sample_weight"] = rng.choice([odd_values(rng, n), np.ones(n + 1), "a", np.zeros(n)])
        try:
            model.fit(odd_matrix(rng, n, d), odd_labels(rng, n, m), **extra)
        except LongtailError:
            assert not hasattr(model, "n_labels_")
            return "refused"
    queries = odd_matrix(rng, n, model.n_features_in_)
    return with_error(lambda: model.predict(queries, **odd_options(rng, n, model.n_labels_)))


def kernels(rng: random.Random) -> str:
    """A decision tree, vectors and examples, some of them tampered with, into training and the predictor."""
    m, d, n = rng.choice((1, 2, 9)), 6, 5
    tree = lt.trees.random_tree(
        m, arity=rng.choice((2, 3, 20)), max_leaf=rng.choice((1, 4)), seed=rng.randrange(9)
    )
    decisions = decisions_of(tree)
    x, y = problem(np.random.default_rng(rng.randrange(99)), n, d, m)
    arrays: dict[str, Any] = {
        "child_ptr": decisions.child_ptr,
        "child": decisions.child,
        "input": np.ones((d, 16), np.float32),
        "output": np.ones((decisions.n_vectors, 16), np.float32),
        "x_indptr": x.indptr,
        "x_indices": x.indices,
        "x_data": x.data,
        "y_indptr": y.indptr,
        "y_indices": y.indices,
    }
    for _ in range(rng.choice((0, 1, 1, 2))):
        change_array(rng, arrays)
    shape = {
        "child_ptr": arrays["child_ptr"],
        "child": arrays["child"],
        "n_labels": rng.choice((m, m, m, m + 1, 0)),
    }
    try:
        predictor = _native.softmax.Predictor(
            **shape,
            input=arrays["input"],
            input_scale=None,
            output=arrays["output"],
            output_scale=None,
            type="f32",
        )
        rows = (arrays["x_indptr"], arrays["x_indices"], arrays["x_data"])
        search = rng.choice(["exact", "beam", "budget"])
        query = _native.softmax.Query(
            search=search, k=1, beam=2, max_nodes=3, max_ns=10**6, slack=0.0, threads=2
        )
        predictor.predict(*rows, query)
        predictor.hidden(*rows, 2)
        _native.softmax.train_epoch(
            **arrays,
            n_labels=shape["n_labels"],
            weight=None,
            rate_begin=rng.choice((0.5, 1e38)),
            rate_end=0.0,
            seed=rng.randrange(2**64),
            threads=2,
            report=None,
        )
    except (ValueError, TypeError):
        return "refused"
    except RuntimeError as error:
        if "bad_cast" not in str(error):  # an array of another type
            raise
        return "refused"
    return "answered"


def run(n: int, seed: int) -> Counter[str]:
    """n cases of three kinds; counts how they ended, raises at the first surprise, with its number."""
    outcomes: Counter[str] = Counter()
    memory = Path("/dev/shm")
    where = memory if os.access(memory, os.W_OK) else None  # no waiting for a disk
    with tempfile.TemporaryDirectory(prefix="fuzz-softmax-", dir=where) as base, warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)
        folders = Folders(Path(base), small_models())
        for i in range(n):
            rng = random.Random(f"{seed}/{i}")
            try:
                if i % 3 == 0:
                    outcomes["folder " + folders.one(rng)] += 1
                elif i % 3 == 1:
                    outcomes["arrays " + fit_and_predict(rng, folders.models)] += 1
                else:
                    outcomes["kernels " + kernels(rng)] += 1
            except Exception as error:
                raise AssertionError(f"case {i} of seed {seed} of fuzz_softmax: {error!r}") from error
    return outcomes


if __name__ == "__main__":
    print(run(int(sys.argv[1]) if len(sys.argv) > 1 else 2000, int(sys.argv[2]) if len(sys.argv) > 2 else 0))
