"""The compiled functions themselves, with odd arguments: an answer or an exception, never a crash.

    python tests/fuzz/fuzz_native.py 20000 1

The library is used once in many ways while every call of a compiled function is written down. A case takes such a
call, changes one to three of its arguments (arrays in values, length, shape, type, order in memory; numbers; words)
and makes it again. What the Python above would have refused reaches the bindings here, so their own checks are tried.
"""

from __future__ import annotations

import io
import random
import sys
import tempfile
import types
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import longtail as lt
from longtail import _native

Call = tuple[str, Callable[..., Any], tuple[Any, ...], dict[str, Any]]

ODD_INTEGERS = [
    0,
    1,
    2,
    3,
    7,
    63,
    64,
    65,
    300,
    -1,
    -2,
    2**15,
    2**31 - 1,
    2**31,
    2**62,
    -(2**63),
    2**63,
    2**64,
    10**30,
]
ODD_OBJECTS = [
    None,
    "",
    "x",
    "f16",
    "int8",
    "raw",
    b"bytes",
    1.5,
    float("nan"),
    -1e300,
    [],
    {},
    (),
    [None],
    object(),
]
SMALL = 2**12  # numbers up to here may say how much is allocated


class Recorder:
    """Stands for a compiled object and writes down the calls of its methods."""

    def __init__(self, name: str, real: Any, calls: list[Call]):
        self.__dict__.update(_name=name, _real=real, _calls=calls)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._real, name)
        return wrapped(f"{self._name}.{name}", value, self._calls) if callable(value) else value

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._real, name, value)

    def __len__(self) -> int:
        return len(self._real)


def real(value: Any) -> Any:
    """What a recorder stands for; also inside lists and tuples."""
    if isinstance(value, Recorder):
        return value._real
    if type(value) in (list, tuple):
        return type(value)(real(v) for v in value)
    return value


def kept(value: Any) -> Any:
    """A copy that later writing into arrays does not change; compiled objects stay themselves."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if type(value) in (list, tuple):
        return type(value)(kept(v) for v in value)
    return value


def wrapped(name: str, function: Any, calls: list[Call]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = real(args), {k: real(v) for k, v in kwargs.items()}
        calls.append((name, function, kept(args), {k: kept(v) for k, v in kwargs.items()}))
        out = function(*args, **kwargs)
        compiled = type(out).__module__.startswith("longtail._native")
        return Recorder(name, out, calls) if compiled else out

    return call


def recorded() -> list[Call]:
    """Calls of every compiled function that the library makes, none twice with much the same arguments."""
    calls: list[Call] = []
    undo: list[tuple[Any, str, Any]] = []
    rooms = [r for r in vars(_native).values() if isinstance(r, types.ModuleType)]
    try:
        for module in [_native, *rooms]:
            for name, value in list(vars(module).items()):
                if callable(value) and not name.startswith("_") and name not in ("active_isa", "machine_isa"):
                    undo.append((module, name, value))
                    setattr(
                        module, name, wrapped(f"{module.__name__.rpartition('.')[2]}.{name}", value, calls)
                    )
        use_everything()
    finally:
        for module, name, value in undo:
            setattr(module, name, value)
    few: dict[str, list[Call]] = {}
    for call in calls:
        few.setdefault(call[0], []).append(call)
    return [call for group in few.values() for call in group[:: max(1, len(group) // 12)]]


def use_everything() -> None:
    """Small data through all rooms."""
    rng = np.random.default_rng(0)
    x = sp.random(30, 40, 0.2, format="csr", dtype=np.float32, random_state=0)
    y = sp.csr_matrix((rng.random((30, 20)) < 0.2).astype(np.float32))
    texts = [" ".join(f"w{i}" for i in row.indices) + " é" for row in x]
    quick: dict[str, Any] = {"max_iter": 3, "threads": 2}
    models = [
        lt.LinearTree(arity=3, max_leaf=4, **quick).fit(x, y),
        lt.LinearTree(arity=2, max_leaf=4, trees=2, weights="int8", negatives="matched", **quick).fit(x, y),
        lt.OneVsRest(weights="f16", loss="logistic", **quick).fit(x.toarray(), y, sample_weight=np.ones(30)),
        lt.LinearTree(vectorizer=lt.TextVectorizer(ngram_range=(1, 2)), **quick).fit(texts, y),
    ]
    for model in models:
        queries: Any = texts[:3] if model.vectorizer_ is not None else x[:3]
        ranking = model.predict(queries, k=4)
        model.predict(queries, k=20, search="exact", only=[1, 2, 5], exclude=[2])
        model.explain(queries[:1], 1)
        model.to_weights("f32")
        truth = y[:3]
        lt.metrics.evaluate(
            ranking, truth, k=(1, 3), train=y, exclude=sp.csr_matrix(truth.shape, dtype=np.float32)
        )
        lt.metrics.compare(ranking, ranking, truth)
    with tempfile.TemporaryDirectory() as folder:
        models[0].save(Path(folder) / "model")
        lt.load(Path(folder) / "model").predict(x[:1].toarray())
    for options in (
        {"strip_accents": "unicode", "dtype": np.float64},
        {},
        {"analyzer": "char_wb", "ngram_range": (2, 3)},
        {"hashing": 64},
        {"token_pattern": r"\w+"},
    ):
        vectorizer = lt.TextVectorizer(min_df=1, max_features=None if "hashing" in options else 30, **options)
        vectorizer.fit_transform(texts)
        vectorizer.transform(texts)
        vectorizer.transform_one(texts[0])
    lt.labels.pifa(x, y, weights=np.ones(30, np.float32))
    lt.labels.pifa(x.toarray(), y)
    tree = lt.trees.kmeans_tree(lt.labels.pifa(x, y), arity=4, max_leaf=2)
    lt.trees.kmeans_tree(x.toarray())
    lt.trees.random_tree(9, max_leaf=2).simplify()
    lt.trees.tree_from_parents([-1, 0, 0, 1, 1], [2, 3, 4]).collapse(1)
    tree.validate()
    for format, content in (
        ("xmc", b"2 4 3\n0,2 1:0.5 3:2\n 0:1\n"), ("svmlight", b"1 2:1 qid:3 # c\n"),
        ("jsonl", b'{"text": "a", "labels": ["b"], "features": {"1": 2}}\n'), ("csv", b'text,labels\n"a",b;c\n'),
        ("text", b"a\nb\n"),
    ):  # fmt: skip
        read = lt.data.load(io.BytesIO(content), format)
        if read.X is not None and read.Y is not None:
            with tempfile.TemporaryDirectory() as folder:
                lt.data.save(lt.data.Dataset(X=read.X, Y=read.Y), Path(folder) / "a.svm")
                lt.data.save(lt.data.Dataset(X=read.X, Y=read.Y), Path(folder) / "pair", format="pair")
    lt.data.load(io.BytesIO(b"text,labels\nx,a;c\n"), "csv", labels=["a", "b"], unknown_labels="drop")
    _native.data.read_number("-1.5e3")
    _native.data.write_number(0.1)
    lt.Ranking.from_csr(x, 3)


# ---- changes


def odd_array(rng: random.Random, a: np.ndarray) -> Any:
    a = a.copy()
    kind = rng.randrange(12)
    if kind <= 4 and a.size and a.dtype.kind in "iufb":
        for _ in range(rng.choice((1, 1, 3))):
            if a.dtype.kind == "f":
                value: Any = rng.choice([0, -1, np.nan, np.inf, -np.inf, 3e38, 1e-45, rng.gauss(0, 1)])
            else:
                info = np.iinfo(a.dtype) if a.dtype.kind in "iu" else None
                edges = [
                    0,
                    1,
                    2,
                    15,
                    16,
                    40,
                    255,
                    2**31 - 1,
                    -1,
                    -(2**31),
                    2**62,
                    int(a.max()) + 1,
                    int(a.size),
                ]
                value = rng.choice(edges) if info is None else min(max(rng.choice(edges), info.min), info.max)
            a.flat[rng.randrange(a.size)] = value
    elif kind == 5:
        a = a[: rng.randrange(len(a) + 1)] if a.ndim else a
    elif kind == 6 and a.ndim:
        a = np.concatenate([a, a[: rng.randrange(1, 9)]])
    elif kind == 7:
        a = a.astype(
            rng.choice(["i1", "u1", "i4", "i8", "u4", "f4", "f8", "f2", "?", ">i4", "c8"]), casting="unsafe"
        )
    elif kind == 8:
        a = np.repeat(a, 2, axis=-1)[..., ::2] if a.ndim else a
    elif kind == 9:
        a = (
            a.reshape(-1)
            if a.ndim == 2
            else a.reshape(*a.shape, 1)
            if rng.random() < 0.5
            else a.reshape(1, *a.shape)
        )
    elif kind == 10:
        a = a[::-1] if a.ndim else a
    elif a.size:
        bits = np.random.default_rng(rng.randrange(2**32)).bytes(a.nbytes)
        a = np.frombuffer(bits, dtype=a.dtype).reshape(a.shape)  # also not writable
    return a


def odd(rng: random.Random, value: Any) -> Any:
    """The value, changed, mostly within its kind."""
    if rng.random() < 0.08:
        return rng.choice(ODD_OBJECTS)
    if isinstance(value, np.ndarray):
        return odd_array(rng, value)
    if type(value) in (list, tuple) and len(value):
        at = rng.randrange(len(value))
        changed = [*value[:at], odd(rng, value[at]), *value[at + 1 :]]
        cut = rng.random()
        if cut < 0.1:
            changed = changed[:at]
        elif cut < 0.2:
            changed = changed + changed[:1]
        return type(value)(changed)
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        near = [value + 1, value - 1, 2 * value]
        return rng.choice([n for n in near if abs(n) <= SMALL] + ODD_INTEGERS)
    if isinstance(value, float):
        return rng.choice([0.0, -1.0, float("nan"), float("inf"), 1e300, 1e-300])
    if isinstance(value, str):
        return rng.choice(["", value + "x", "\0", "é", value * 2])
    return rng.choice([value, value, *ODD_OBJECTS])


def harmless(value: Any) -> bool:
    """Whether a number does not ask for so much memory or time that the machine is what is tested."""
    return not isinstance(value, int) or isinstance(value, bool) or not SMALL < value < 2**62


def one(rng: random.Random, calls: list[Call]) -> str:
    _, function, args, kwargs = rng.choice(calls)
    args, kwargs = kept(args), {k: kept(v) for k, v in kwargs.items()}
    places: list[int | str] = [*range(len(args)), *kwargs]
    if not places:
        return "answered"
    for place in rng.sample(places, min(len(places), rng.choice((1, 1, 2, 3)))):
        value = odd(rng, args[place] if isinstance(place, int) else kwargs[place])
        if not harmless(value):
            return "not tried"
        if isinstance(place, int):
            args = (*args[:place], value, *args[place + 1 :])
        else:
            kwargs = {**kwargs, place: value}
    try:
        function(*args, **kwargs)
    except (TypeError, ValueError, OverflowError, MemoryError, RuntimeError, IndexError, lt.LongtailError):
        return "refused"
    return "answered"


def run(n: int, seed: int) -> Counter[str]:
    """n calls; counts how they ended. Exceptions of other kinds are a surprise that is raised, with its number."""
    outcomes: Counter[str] = Counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        calls = recorded()
        for i in range(n):
            rng = random.Random(f"{seed}/{i}")
            try:
                outcomes[one(rng, calls)] += 1
            except Exception as error:
                raise AssertionError(f"case {i} of seed {seed} of fuzz_native: {error!r}") from error
    return outcomes


if __name__ == "__main__":
    print(run(int(sys.argv[1]) if len(sys.argv) > 1 else 2000, int(sys.argv[2]) if len(sys.argv) > 2 else 0))
