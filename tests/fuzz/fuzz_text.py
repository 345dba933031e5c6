"""Random texts, settings and tampered states: each gives a matrix or a LongtailError and never crashes.

Run it alone with: python tests/fuzz/fuzz_text.py [N] [SEED]
"""

import copy
import random
import sys
import warnings
from collections import Counter

import numpy as np

from longtail.errors import LongtailError
from longtail.text import TextVectorizer

PIECES = [
    "a",
    "ab",
    "the",
    "Σ",
    "ΑΣ",
    "İ",
    "é",
    "e\u0301",
    " ",
    "  ",
    "\n\t",
    ".",
    "_",
    "日本",
    "\ud800",
    "𝐀",
    "ß",
    "\0",
]
PATTERNS = [r"(?u)\b\w\w+\b", r"(?u)\b\w+\b", r"\w+", r"[a-z ]+", r"(.)", r"x*", r"(", r"(a)(b)", ""]


def random_text(rng: random.Random) -> str:
    kind = rng.randrange(10)
    if kind == 0:
        return ""
    if kind <= 3:
        return "".join(rng.choices(PIECES, k=rng.randrange(40)))
    if kind <= 5:
        return "".join(chr(rng.randrange(0x110000)) for _ in range(rng.randrange(20)))
    if kind == 6:
        return rng.randbytes(rng.randrange(60)).decode("latin-1")
    if kind == 7:
        return rng.randbytes(rng.randrange(60)).decode(
            "utf-8", rng.choice(["replace", "surrogateescape", "ignore"])
        )
    if kind == 8:
        return rng.choice(PIECES) * rng.randrange(3000)
    return " ".join("".join(rng.choices("abcdef", k=rng.randrange(1, 30))) for _ in range(rng.randrange(50)))


def random_texts(rng: random.Random) -> list[object]:
    texts = [random_text(rng) for _ in range(rng.choice([0, 1, 2, 5, 20, 200]))]
    if texts and rng.random() < 0.05:
        texts[rng.randrange(len(texts))] = rng.choice([None, 3, b"bytes", 1.5, [], ("a",)])
    return texts


def random_params(rng: random.Random) -> dict[str, object]:
    low = rng.randrange(1, 4)
    choices: dict[str, list[object]] = {
        "analyzer": ["word", "char", "char_wb", "nonsense"],
        "ngram_range": [(low, low + rng.randrange(3)), (1, 1), (3, 2), (1, 40), [1, 2]],
        "min_df": [1, 2, 0.0, 0.1, 1.0, 10**9, -1],
        "max_df": [1.0, 0.5, 3, 1, 2.0],
        "max_features": [None, 1, 10, 10**9, 0],
        "lowercase": [True, False],
        "strip_accents": [None, "unicode", "ascii"],
        "stop_words": [None, [], ["a", "the", "\ud800"], [3]],
        "token_pattern": PATTERNS,
        "vocabulary": [None, None, ["a", "ab"], {"a": 0, "a b": 1}, {"a": 1}, ["a", "a"], PIECES, [""], []],
        "norm": ["l1", "l2", None, "l3"],
        "use_idf": [True, False],
        "smooth_idf": [True, False],
        "sublinear_tf": [True, False],
        "binary": [True, False],
        "dtype": [np.float32, np.float64, "float32", np.int8],
        "hashing": [None, 1, 7, 2**31 - 1, 0],
        "alternate_sign": [True, False],
        "threads": [1, 2, 5, 0],
    }
    # A few parameters at a time, mostly good ones, so that most runs come far.
    names = rng.sample(sorted(choices), rng.randrange(6))
    return {name: rng.choice(choices[name][: rng.choice([2, 2, 3, 3, 3, 9])]) for name in names}


def check_matrix(X: object, n_rows: int, n_columns: int) -> None:
    assert X.shape == (n_rows, n_columns)
    X.check_format(full_check=True)
    assert len(X.indptr) == n_rows + 1
    assert np.all(np.isfinite(X.data))
    for i in range(n_rows):
        columns = X.indices[X.indptr[i] : X.indptr[i + 1]]
        assert np.all(columns[1:] > columns[:-1])


def tamper(rng: random.Random, meta: dict, arrays: dict) -> tuple[object, object]:
    meta, arrays = copy.deepcopy(meta), {name: array.copy() for name, array in arrays.items()}
    junk = [None, -1, 0, 5, 1e300, "x", [], {}, True, [1, 2], "\ud800", float("nan"), 2**70]
    for _ in range(rng.randrange(1, 4)):
        kind = rng.randrange(6)
        if kind == 0:
            meta[rng.choice(sorted(meta))] = rng.choice(junk)
        elif kind == 1 and isinstance(meta.get("params"), dict) and meta["params"]:
            meta["params"][rng.choice(sorted(meta["params"]))] = rng.choice(junk)
        elif not arrays:
            continue
        elif kind == 2:
            arrays.pop(rng.choice(sorted(arrays)))
        elif kind == 3:
            name = rng.choice(sorted(arrays))
            arrays[name] = arrays[name][: rng.randrange(len(arrays[name]) + 1)]
        elif kind == 4:
            name = rng.choice(sorted(arrays))
            arrays[name] = rng.choice([np.zeros(3, np.int16), list(arrays[name]), arrays[name][::-1]])
        else:
            array = arrays[rng.choice(sorted(arrays))]
            if isinstance(array, np.ndarray) and array.dtype != np.int16 and len(array):
                array[rng.randrange(len(array))] = rng.choice(
                    [0, 1, 127, 255] if array.dtype == np.uint8 else [-1, 0, 3, 10**9]
                )
    return meta, arrays


def one(rng: random.Random) -> str:
    try:
        texts = random_texts(rng)
        vectorizer = TextVectorizer(**random_params(rng))
        X = vectorizer.fit_transform(texts)
        check_matrix(X, len(texts), vectorizer.n_features_)
        others = [text for text in random_texts(rng) if isinstance(text, str)]
        Z = vectorizer.transform(others)
        check_matrix(Z, len(others), vectorizer.n_features_)
        for i, text in enumerate(others[:5]):
            columns, values = vectorizer.transform_one(text)
            assert np.array_equal(columns, Z.indices[Z.indptr[i] : Z.indptr[i + 1]])
            assert np.array_equal(values, Z.data[Z.indptr[i] : Z.indptr[i + 1]])
        meta, arrays = vectorizer.to_state()
        same = TextVectorizer.from_state(meta, arrays).transform(others)
        assert np.array_equal(same.data, Z.data)
        assert np.array_equal(same.indices, Z.indices)
    except LongtailError:
        return "error"
    try:
        changed = TextVectorizer.from_state(*tamper(rng, meta, arrays))
        check_matrix(changed.transform(others), len(others), changed.n_features_)
    except LongtailError:
        return "told"
    return "matrix"


def run(n: int, seed: int) -> Counter:
    """`n` random cases; counts which ended in a matrix, a refused state, or an error."""
    rng = random.Random(seed)
    outcomes: Counter = Counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("ignore", FutureWarning)
        for _ in range(n):
            case = rng.randrange(2**63)
            try:
                outcomes[one(random.Random(case))] += 1
            except BaseException:
                print(f"case {case} of fuzz_text failed", file=sys.stderr)
                raise
    return outcomes


if __name__ == "__main__":
    print(run(int(sys.argv[1]) if len(sys.argv) > 1 else 10000, int(sys.argv[2]) if len(sys.argv) > 2 else 0))
