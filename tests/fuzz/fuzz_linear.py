"""Models from damaged folders, and random arrays for fit and predict: each must give an answer or a LongtailError.

    python tests/fuzz/fuzz_linear.py 20000 1

Folders are damaged *inside*: the checksums are made anew, as somebody would who wants the reader to believe them.
"""

from __future__ import annotations

import copy
import itertools
import json
import os
import random
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import longtail as lt
from longtail import store
from longtail.errors import LongtailError, ModelError

N, D, M = 40, 150, 45


def problem(rng: np.random.Generator, n: int = N, d: int = D, m: int = M) -> tuple[Any, Any]:
    x = sp.random(n, d, 0.1, format="csr", dtype=np.float32, random_state=rng)
    y = rng.random((n, m)) < 0.08
    y[0, 0] = True
    return x, sp.csr_matrix(y.astype(np.float32))


def small_models() -> list[Any]:
    """One of each layout: narrow and wide nodes, several trees, all weight types, texts and names."""
    x, y = problem(np.random.default_rng(0))
    quick = {"max_iter": 2, "threads": 1}
    texts = [" ".join(f"w{i}" for i in row.indices) for row in x]
    names = [f"name{i}" for i in range(M)]
    return [
        lt.LinearTree(arity=3, max_leaf=5, weights="f32", **quick).fit(x, y),
        lt.LinearTree(arity=2, max_leaf=20, trees=2, weights="int8", **quick).fit(x, y, labels=names),
        lt.OneVsRest(weights="f16", threshold=0.3, **quick).fit(x, y),
        lt.OneVsRest(weights="int8", **quick).fit(x.toarray(), y),
        lt.LinearTree(arity=4, max_leaf=3, **quick).fit(texts, y, labels=names),
        lt.LinearTree(tree=lt.trees.random_tree(M, max_leaf=4), vectorizer=lt.TextVectorizer(), **quick).fit(texts, y),
    ]  # fmt: skip


# ---- damaged folders


def odd_number(rng: random.Random, dtype: np.dtype[Any]) -> Any:
    if dtype.kind == "f":
        return rng.choice([0.0, -1.0, np.nan, np.inf, -np.inf, 1e38, 1e-45, rng.gauss(0, 1)])
    info = np.iinfo(dtype)
    edges = [0, 1, 2, 16, 255, 256, 32768, -1, -2, info.min, info.max, info.max // 2, rng.randrange(70)]
    return min(max(rng.choice(edges), info.min), info.max)


def as_type(value: Any, dtype: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.asarray(value).astype(dtype)


def change_array(rng: random.Random, arrays: dict[str, Any]) -> None:
    """One array becomes another: wrong in values, length, order, type, or altogether."""
    name = rng.choice(sorted(arrays))
    a = np.array(arrays[name])
    kind = rng.randrange(11)
    if kind <= 3 and a.size:  # a few entries
        for _ in range(rng.choice((1, 1, 2, 5))):
            a.flat[rng.randrange(a.size)] = as_type(odd_number(rng, a.dtype), a.dtype)
    elif kind == 4 and a.size:  # a bit
        raw = a.reshape(-1).view(np.uint8)
        raw[rng.randrange(raw.size)] ^= 1 << rng.randrange(8)
    elif kind == 5:
        a = a[: rng.randrange(len(a) + 1)]
    elif kind == 6:
        a = np.concatenate([a, a[: rng.randrange(1, 70)]])
    elif kind == 7:
        a = a[np.random.default_rng(rng.randrange(2**32)).permutation(len(a))]
    elif kind == 8:
        with np.errstate(all="ignore"):
            a = a.astype(
                rng.choice(["i1", "u1", "<i4", "<i8", "<u4", "<u8", "<f4", "<f8", "<f2"]), copy=False
            )
    elif kind == 9:
        other = rng.choice(sorted(arrays))
        arrays[other], a = a, np.array(arrays[other])
    elif len(a):
        bits = np.random.default_rng(rng.randrange(2**32)).bytes(a.nbytes)
        a = np.frombuffer(bits, dtype=a.dtype).copy().reshape(a.shape)
    arrays[name] = a


def change_json(rng: random.Random, value: Any) -> Any:
    """The value, somewhere inside of it changed."""
    odd = [
        None,
        True,
        0,
        -1,
        1,
        2**31,
        2**40,
        2**63 - 1,
        0.5,
        -1e300,
        "",
        "x",
        "f32",
        "raw",
        [],
        {},
        [0],
        {"a": 1},
    ]
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice(sorted(value))
        if rng.random() < 0.1:
            return {k: v for k, v in value.items() if k != key}
        return {**value, key: change_json(rng, value[key])}
    if isinstance(value, list) and value and rng.random() < 0.9:
        at = rng.randrange(len(value))
        if rng.random() < 0.2:
            return value[:at] + value[at + 1 :]
        return [*value[:at], change_json(rng, value[at]), *value[at + 1 :]]
    if type(value) is int and rng.random() < 0.3:
        return value + rng.choice([-1, 1, 64])
    return copy.deepcopy(rng.choice(odd))


class Folders:
    """Small models as folders, to be damaged one after the other."""

    def __init__(self, base: Path, models: list[Any]):
        self.base = base
        self.good: list[dict[str, Any]] = []
        self.models = models
        for i, model in enumerate(self.models):
            model.save(base / f"good{i}")
            folder = store.read_folder(base / f"good{i}")
            self.good.append(
                {
                    "kind": folder.kind,
                    "params": folder.params,
                    "facts": folder.facts,
                    "arrays": dict(folder.arrays),
                }
            )
        self.kinds = [*sorted({type(model).__name__ for model in models}), "Model", "checkpoint"]
        self.x, _ = problem(np.random.default_rng(5), 4)
        self.texts = ["w1 w2 w3", "", "w9 unknown w9"]

    def one(self, rng: random.Random) -> str:
        which = rng.randrange(len(self.good))
        parts = dict(self.good[which])
        parts["arrays"] = dict(parts["arrays"])
        for _ in range(rng.choice((1, 1, 1, 2, 4))):
            roll = rng.random()
            if roll < 0.7:
                change_array(rng, parts["arrays"])
            elif roll < 0.8:
                parts["params"] = change_json(rng, parts["params"])
            elif roll < 0.95:
                parts["facts"] = change_json(rng, parts["facts"])
            elif roll < 0.97:
                parts["kind"] = rng.choice(self.kinds)
            else:
                parts["arrays"].pop(rng.choice(sorted(parts["arrays"])))
        if not isinstance(parts["params"], dict) or not isinstance(parts["facts"], dict):
            return "not JSON objects"
        path = self.base / "bad"
        store.write_folder(path, **parts, threads=1)
        try:
            model = lt.load(path)
        except ModelError as error:
            return "refused" if str(path) in str(error) else surprise(error)
        self.use(model)
        return "loaded"

    def use(self, model: Any) -> None:
        """Whatever a loaded model says, it says it without a crash."""
        model.threads = 1
        queries = self.texts if model.vectorizer_ is not None else self.x[:, : model.n_features_in_]
        if model.vectorizer_ is None and queries.shape[1] < model.n_features_in_:
            queries = sp.csr_matrix(
                (queries.data, queries.indices, queries.indptr), (4, model.n_features_in_)
            )
        for options in ({"k": 3}, {"k": 60, "search": "exact"}, {"k": 4, "only": [0, 1], "exclude": [1]}):
            with suppress(LongtailError):
                ranking = model.predict(queries, **options)
                assert ((ranking.labels >= -1) & (ranking.labels < model.n_labels_)).all()
                if model.labels_ is not None:
                    ranking.names()
        for label in (0, model.n_labels_ - 1):
            with suppress(LongtailError):
                str(model.explain(queries[:1] if isinstance(queries, list) else queries[[0]], label))
        json.dumps(model.describe())
        if len(model.label_frequencies_):
            with_error(lambda: model.to_weights("f32").predict(queries))


def surprise(error: Exception) -> str:
    raise AssertionError(f"an error that does not say where: {error}")


def with_error(call: Callable[[], Any]) -> str:
    try:
        call()
    except LongtailError:
        return "refused"
    return "answered"


# ---- odd arrays


def odd_values(rng: random.Random, n: int) -> np.ndarray:
    """Numbers of a kind: ordinary, huge, tiny, or not numbers at all."""
    r = np.random.default_rng(rng.randrange(2**32))
    values = r.standard_normal(n)
    kind = rng.randrange(9)
    if kind == 0:
        values *= 1e38
    elif kind == 1:
        values *= 1e-42
    elif kind == 2:
        values[r.random(n) < 0.05] = rng.choice([np.nan, np.inf, -np.inf, 1e300, 3e38, -3e38, 1e19])
    elif kind == 3:
        values = np.exp(r.standard_normal(n) * 40)
    elif kind == 4:
        values[:] = 0
    elif kind == 5:
        values = np.rint(values)
    return values


def odd_matrix(rng: random.Random, n: int, d: int) -> Any:
    """A matrix in any clothes, sound or not."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dense = odd_values(rng, n * d).reshape(n, d) * (
            np.random.default_rng(rng.randrange(99)).random((n, d)) < 0.3
        )
        if rng.random() < 0.4:  # only the values are odd, if anything
            sound = np.clip(np.nan_to_num(dense), -3e38, 3e38).astype(np.float32)
            return sound if rng.random() < 0.5 else sp.csr_matrix(sound)
        dtype = rng.choice(["f4", "f4", "f8", "f2", "i8", "i4", "u1", "?", "c8", "O", ">f4", "U3", "g"])
        kind = rng.randrange(16)
        typed = dense.astype(dtype) if kind < 12 else dense.astype("f4")
        if kind == 0:
            return np.asfortranarray(typed)
        if kind == 1:
            return np.repeat(typed, 2, axis=1)[:, ::2]
        if kind == 2:
            return typed[::-1]
        if kind == 3:
            return typed.tolist()
        if kind == 4:
            return typed.reshape(-1) if rng.random() < 0.5 else typed.reshape(1, n, d)
        if kind == 5:
            return rng.choice(
                [None, 3, "text", b"bytes", {}, {"a": 1}, np.array(1.0), np.array(None), object(), [], [[]]]
            )
        if kind == 6:
            return [[1.0] * rng.randrange(1, 4) for _ in range(n)]
        if kind == 7:
            return [rng.choice(["a", "b c", None, 3, "", "é\ud800"]) for _ in range(n)]
        if kind < 12:
            return typed
        csr = sp.csr_matrix(typed)
        return (
            damaged_sparse(rng, csr)
            if kind < 15
            else rng.choice([csr.tocsc, csr.tocoo, csr.tolil, csr.todok])()
        )


def damaged_sparse(rng: random.Random, csr: Any) -> Any:
    """A sparse matrix whose parts were meddled with behind SciPy's back."""
    csr = csr.asformat(rng.choice(["csr", "csr", "csc", "coo", "bsr"]))
    for _ in range(rng.choice((0, 1, 1, 2))):
        part = rng.choice(["row", "col", "data"] if csr.format == "coo" else ["indices", "indptr", "data"])
        a = getattr(csr, part).copy()
        kind = rng.randrange(7)
        if kind == 0 and a.size:
            a.flat[rng.randrange(a.size)] = as_type(odd_number(rng, a.dtype), a.dtype)
        elif kind == 1:
            a = a[: rng.randrange(len(a) + 1)]
        elif kind == 2:
            a = a[::-1]
        elif kind == 3:
            a = a.astype(rng.choice(["<i8", "<i4", "<f8", "<u4", "<f4"]))
        elif kind == 4:
            a = np.repeat(a, 2)[::2]
        elif kind == 5 and len(a):
            a[rng.randrange(len(a)) :] = a[-1]
        else:
            a = np.concatenate([a, a[:3]])
        setattr(csr, part, a)
    return csr


def odd_labels(rng: random.Random, n: int, m: int) -> Any:
    kind = rng.randrange(16)
    if kind < 2:
        return odd_matrix(rng, n, m)
    if kind == 3:
        items = rng.choice(
            [["a", "b", "c"], [0, 1, 5], ["a", 1], [None, "a"], [-1, 0], [2**40, 1], [True, False], [0.5]]
        )
        return [[rng.choice(items) for _ in range(rng.randrange(3))] for _ in range(n)]
    if kind == 4:
        return rng.choice(
            [None, 1, "a", [], [1] * n, ["a"] * n, [[]] * n, np.arange(n), np.array(["a"] * n), [["a"]] * n]
        )
    y = np.random.default_rng(rng.randrange(2**32)).random((n, m)) < 0.3
    return sp.csr_matrix(y.astype(np.float32)) if kind < 11 else y


def odd_params(rng: random.Random, kind: type) -> dict[str, Any]:
    params: dict[str, Any] = {"max_iter": rng.choice([1, 3, 30]), "threads": rng.choice([1, 2])}
    choices = {
        "C": [1.0, 1e-300, 1e-30, 1e6, -1, np.nan, np.inf, "1"],
        "loss": ["logistic", "squared_hinge", "x"],
        "bias": [0, 1.0, 1e6, 1e-30, np.inf],
        "tol": [0.1, 1e-300, 1e300, 0],
        "threshold": [0, 0.1, 1e300, -1],
        "weights": ["f32", "f16", "int8", 3],
        "label_score": ["hinge", "sigmoid", "raw"],
        "hinge_power": [1, 8, 9, 0],
        "seed": [0, 2**63 - 1, 2**63, -1],
        "arity": [2, 3, 64, 65, 1],
        "max_leaf": [1, 4, 32768, 0],
        "trees": [1, 2, 0],
        "beam": [1, 2**31 - 1, 0],
        "negatives": ["auto", "teacher", "matched"],
        "node_score": ["hinge", "sigmoid", "raw"],
    }
    known = kind()._param_names()
    for _ in range(rng.choice((0, 0, 1, 1, 2, 4))):
        name = rng.choice(sorted(set(choices) & set(known)))
        params[name] = rng.choice(choices[name])
    return params


def odd_query_options(rng: random.Random, n: int, m: int) -> dict[str, Any]:
    lists = [
        [], [0], [0, 0, 1], [m], [-1], ["a"], [[0]] * n, [[0], [1]], 3, "a", None, 1.5, [None], [[None]], [2**40],
        np.array([0, 1]), np.array([[0], [1]]), np.array([0.5]), sp.csr_matrix((n, m)), sp.csr_matrix((1, m)), {0: 1},
        [True], b"ab", range(2), {0, 1}, np.int64(1), [[0], 1],
    ]  # fmt: skip
    options: dict[str, Any] = {"k": rng.choice([1, 5, m, 5, m, 10**9, 2**40, 0, None, 1.5])}
    for name, values in (
        ("beam", [1, 3, 2**31, 2**70, 0, None]),
        ("search", ["beam", "exact", "x"]),
        ("only", lists),
        ("exclude", lists),
        ("threads", [1, 2, 0, None]),
    ):
        if rng.random() < 0.15:
            options[name] = rng.choice(values)
    return options


def fit_and_predict(rng: random.Random, models: list[Any]) -> str:
    """Odd arrays into training and queries."""
    n, d, m = rng.choice((0, 1, 2, 7, 20)), rng.choice((0, 1, 3, 30)), rng.choice((0, 1, 2, 5, 40))
    sound = rng.random() < 0.5
    if sound:
        model = rng.choice(models)
        d = model.n_features_in_
    else:
        kind = rng.choice([lt.LinearTree, lt.OneVsRest])
        model = kind(**odd_params(rng, kind))
        extra: dict[str, Any] = {}
        if rng.random() < 0.3:
            weights = [
                odd_values(rng, n),
                np.ones(n + 1),
                None,
                1.0,
                "a",
                [1] * n,
                np.zeros(n),
                np.ones((n, 1)),
            ]
            extra["sample_weight"] = rng.choice(weights)
        if rng.random() < 0.2:
            extra["labels"] = rng.choice([["a"], [f"l{i}" for i in range(m)], "abc", [1], ["a", "a"]])
        x, y = odd_matrix(rng, max(n, 1), max(d, 1)), odd_labels(rng, max(n, 1), max(m, 1))
        try:
            model.fit(x, y, **extra)
        except LongtailError:
            assert not hasattr(model, "n_labels_")
            return "refused"
        d = model.n_features_in_
    queries = odd_matrix(rng, max(n, 1), d)
    return with_error(lambda: model.predict(queries, **odd_query_options(rng, max(n, 1), model.n_labels_)))


def run(n: int, seed: int) -> Counter[str]:
    """n cases, half of them folders; counts how they ended, raises at the first surprise, with its number."""
    outcomes: Counter[str] = Counter()
    memory = Path("/dev/shm")
    where = memory if os.access(memory, os.W_OK) else None  # no waiting for a disk
    with tempfile.TemporaryDirectory(prefix="fuzz-linear-", dir=where) as base, warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)
        folders = Folders(Path(base), small_models())
        for i in itertools.islice(itertools.count(), n):
            rng = random.Random(f"{seed}/{i}")
            try:
                if i % 2:
                    outcomes["arrays " + fit_and_predict(rng, folders.models)] += 1
                else:
                    outcomes["folder " + folders.one(rng)] += 1
            except Exception as error:
                raise AssertionError(f"case {i} of seed {seed} of fuzz_linear: {error!r}") from error
    return outcomes


if __name__ == "__main__":
    print(run(int(sys.argv[1]) if len(sys.argv) > 1 else 2000, int(sys.argv[2]) if len(sys.argv) > 2 else 0))
