"""Odd rankings and odd truths: measures that are numbers in their bounds, or a LongtailError.

python tests/fuzz/fuzz_metrics.py 20000 1
"""

from __future__ import annotations

import math
import random
import sys
import warnings
from collections import Counter
from typing import Any

import numpy as np
import scipy.sparse as sp

import longtail as lt
from longtail.errors import LongtailError

ODD_IDS = [-(2**31), -2, -1, -1, 0, 1, 2, 5, 30, 2**31 - 1]
ODD_SCORES = [0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf, 3e38, 1e-45]


def tampered(rng: random.Random, array: np.ndarray) -> Any:
    """The array with something wrong, or by chance nothing."""
    a = array.copy()
    kind = rng.randrange(20)
    if kind <= 3 and a.size:
        odd = ODD_SCORES if a.dtype.kind == "f" else ODD_IDS
        for _ in range(rng.choice((1, 1, 2))):
            a.flat[rng.randrange(a.size)] = rng.choice(odd)
    elif kind == 4:
        with np.errstate(all="ignore"):
            a = a.astype(rng.choice(["i8", "i2", "u4", "f8", "f2", "?", "O", "U3", "c8", ">i4"]))
    elif kind == 5:
        a = a[: rng.randrange(len(a) + 1)]
    elif kind == 6:
        a = a.reshape(-1) if rng.random() < 0.5 else a[None]
    elif kind == 7:
        a = np.asfortranarray(a) if rng.random() < 0.5 else a[::-1]
    elif kind == 8:
        return rng.choice([None, [], a.tolist(), "text", 3, {}, [[]], object()])
    return a


def sparse(rng: random.Random, n: int, m: int, values: bool = False) -> Any:
    """A label matrix, of which something may be wrong behind SciPy's back."""
    r = np.random.default_rng(rng.randrange(2**32))
    dense = (r.random((n, m)) < 0.3) * (r.standard_normal((n, m)) if values else 1.0)
    matrix = rng.choice([sp.csr_matrix, sp.csr_array, sp.csc_matrix, sp.coo_matrix])(
        dense.astype(rng.choice(["f4", "f4", "f8", "i4"]))
    )
    if rng.random() < 0.3:
        part = rng.choice(["row", "col", "data"] if matrix.format == "coo" else ["indices", "indptr", "data"])
        changed = tampered(rng, getattr(matrix, part))
        if isinstance(changed, np.ndarray) and changed.dtype.kind in "iuf" and changed.ndim == 1:
            setattr(matrix, part, changed)
    return matrix


def truth(rng: random.Random, n: int, m: int) -> Any:
    kind = rng.randrange(8)
    if kind == 0:
        return [
            [rng.choice([0, 1, m - 1, "a", -1, 2**40, True, None][: rng.choice((3, 3, 8))])] for _ in range(n)
        ]
    if kind == 1:
        return tampered(
            rng,
            np.random.default_rng(rng.randrange(99))
            .integers(0, 2, (n, m))
            .astype(rng.choice(["f4", "i8", "?"])),
        )
    if kind == 2:
        return rng.choice(
            [None, "ab", [], [1] * n, sp.csr_matrix((n, m)), sp.csr_matrix((n + 1, m)), np.zeros((n, m))]
        )
    return sparse(rng, n, m)


def ranking(rng: random.Random, n: int, m: int, k: int) -> Any:
    """A Ranking, or the arrays of one, sound or not."""
    r = np.random.default_rng(rng.randrange(2**32))
    labels = np.array([r.permutation(max(m, k))[:k] for _ in range(n)], np.int32).reshape(n, k)
    labels[labels >= m] = -1
    labels = np.sort(labels, axis=1)[:, ::-1].copy() if rng.random() < 0.3 else labels
    scores = -np.sort(-r.standard_normal((n, k)).astype(np.float32), axis=1)
    kind = rng.randrange(7)
    if kind == 0:
        return tampered(rng, labels)
    if kind == 1:
        return lt.Ranking(tampered(rng, labels), scores)
    if kind == 2:
        return lt.Ranking(labels, tampered(rng, scores))
    if kind == 3:
        return lt.Ranking.from_csr(
            sparse(rng, n, m, True), rng.choice([1, k, m, 0, 99]), threads=rng.choice([1, 2])
        )
    if kind == 4:
        return sparse(rng, n, m, True)
    if kind == 5:
        return lt.Ranking.from_unsorted(tampered(rng, labels), tampered(rng, scores))
    return np.sort(labels, axis=1)[:, ::-1].copy()


def options(rng: random.Random, n: int, m: int) -> dict[str, Any]:
    choices: dict[str, list[Any]] = {
        "k": [1, (1, 2), [3, 1], 0, (), 2**20, 2**21, "1", 1.5],
        "train": [None, (np.arange(m), 10 * m + 1), (np.full(m, np.nan), 3), (np.ones(m + 1), 3), 5, ([], 0)],
        "a": [0.55, 0, 1e308, -1, np.nan],
        "b": [1.5, 0, 1e308, -1, np.inf],
        "metrics": [None, "P", ["P", "R", "nDCG"], ["PSP"], "x", [], 3],
        "slices": [
            None,
            lt.metrics.Quantiles(0.5, 0.9),
            lt.metrics.Counts(2, 5),
            "x",
            {"a": np.ones(m, bool)},
        ],
        "bootstrap": [None, 1, 20, 0, -1],
        "seed": [0, 2**63, -1, None],
        "threads": [1, 2, 0, 5000],
        "empty": ["zero", "skip", "x"],
        "confidence": [0.95, 0, 1, np.nan],
    }
    chosen = rng.sample(sorted(choices), rng.choice((0, 1, 1, 2, 3)))
    out = {name: rng.choice(choices[name][: rng.choice((2, 3, 9))]) for name in chosen}
    if rng.random() < 0.2:
        out["train"] = sparse(rng, 3 * n + 1, m)
    if rng.random() < 0.2:
        out["exclude"] = rng.choice([sparse(rng, n, m), sparse(rng, n, m), "x", np.zeros((n, m))])
    return out


def use(r: lt.Ranking) -> None:
    """What can be asked of any ranking that could be made."""
    assert np.isfinite(r.scores[r.labels >= 0]).all()
    assert r.labels.min(initial=0) >= -1
    assert lt.Ranking(r.labels, r.scores) == r
    if r.labels.max(initial=0) < 2**20:
        r.to_csr()
    r.names()
    r.top(1)
    assert len(r[: len(r) // 2]) == len(r) // 2


def one(rng: random.Random) -> str:
    n, m, k = rng.choice((0, 1, 2, 9, 70)), rng.choice((1, 2, 6, 40)), rng.choice((1, 2, 5, 7))
    try:
        r = ranking(rng, n, m, k)
        if isinstance(r, lt.Ranking):
            use(r)
        given = {"k": tuple(range(1, min(k, m) + 1)), **options(rng, n, m)}
        if rng.random() < 0.15:
            kept = {
                name: given[name]
                for name in ("train", "exclude", "seed", "threads", "empty")
                if name in given
            }
            result = lt.metrics.compare(
                r, r, truth(rng, n, m), rng.choice(["P@1", "nDCG@1", "x", "P@99"]), bootstrap=20, **kept
            )
            str(result), result.to_dict()
            return "compared"
        report = lt.metrics.evaluate(r, truth(rng, n, m), **given)
    except LongtailError:
        return "refused"
    str(report)
    for name in report:
        value = report[name]
        assert isinstance(value, float), name
        assert math.isnan(value) or -1e-9 <= value <= 1 + 1e-9, f"{name} = {value}"
    return "measured"


def numbered(i: int, seed: int) -> str:
    try:
        return one(random.Random(f"{seed}/{i}"))
    except Exception as error:
        raise AssertionError(f"case {i} of seed {seed} of fuzz_metrics: {error!r}") from error


def run(n: int, seed: int) -> Counter[str]:
    """n cases; counts how they ended, raises at the first surprise, with its number."""
    outcomes: Counter[str] = Counter()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)
        warnings.filterwarnings("ignore", module="scipy")
        for i in range(n):
            outcomes[numbered(i, seed)] += 1
    return outcomes


if __name__ == "__main__":
    print(run(int(sys.argv[1]) if len(sys.argv) > 1 else 2000, int(sys.argv[2]) if len(sys.argv) > 2 else 0))
