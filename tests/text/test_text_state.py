"""A fitted TextVectorizer goes to plain data and comes back; data that was tampered with is told."""

import copy
import json

import numpy as np
import pytest

from longtail.errors import LongtailError, ModelError
from longtail.text import TextVectorizer

TEXTS = ["The cat sat on", "the cat ran é", "a dog ran", "", "ΑΣ naïve cat 𝐀𝐁 \ud800x"]

SETTINGS = [
    {},
    {"ngram_range": (1, 3), "stop_words": ["the"], "min_df": 1, "max_df": 0.9, "max_features": 9},
    {"analyzer": "char", "ngram_range": (1, 3), "dtype": np.float64, "lowercase": False},
    {"analyzer": "char_wb", "ngram_range": (2, 4), "strip_accents": "unicode", "sublinear_tf": True},
    {"token_pattern": r"[a-z]+", "norm": None, "binary": True},
    {"vocabulary": ["ran", "cat", "the cat", "cat  sat"], "ngram_range": (1, 2)},
    {"vocabulary": ["ran", "cat"], "use_idf": False, "norm": "l1"},
    {"hashing": 64},
    {"hashing": 64, "use_idf": False, "alternate_sign": False},
    {"max_features": np.int64(3), "min_df": np.float64(0.1)},
    {"stop_words": "english"},
]


def through_json(meta):
    return json.loads(json.dumps(meta))


@pytest.mark.parametrize("params", SETTINGS, ids=str)
def test_round_trip(params):
    vectorizer = TextVectorizer(**params).fit(TEXTS)
    meta, arrays = vectorizer.to_state()
    back = TextVectorizer.from_state(through_json(meta), {k: v.copy() for k, v in arrays.items()})
    a, b = vectorizer.transform(TEXTS), back.transform(TEXTS)
    assert a.shape == b.shape
    assert a.dtype == b.dtype
    np.testing.assert_array_equal(a.indptr, b.indptr)
    np.testing.assert_array_equal(a.indices, b.indices)
    np.testing.assert_array_equal(a.data, b.data)
    assert back.n_features_ == vectorizer.n_features_
    if "hashing" not in params:
        assert back.vocabulary_ == vectorizer.vocabulary_
    again_meta, again = back.to_state()
    assert again_meta == meta
    assert set(again) == set(arrays)
    for name, array in arrays.items():
        np.testing.assert_array_equal(again[name], array)
    # It can be fitted anew with the parameters it had.
    c, d = back.fit_transform(TEXTS), vectorizer.fit_transform(TEXTS)
    np.testing.assert_array_equal(c.indices, d.indices)
    np.testing.assert_array_equal(c.data, d.data)


def test_state_holds_no_objects():
    meta, arrays = TextVectorizer().fit(TEXTS).to_state()
    assert {name: array.dtype.kind for name, array in arrays.items()} == {
        "terms": "u",
        "terms.offsets": "i",
        "idf": "f",
    }
    assert "cat" not in json.dumps(meta)


def tampered(change, params=None):
    meta, arrays = TextVectorizer(**(params or {})).fit(TEXTS).to_state()
    meta, arrays = copy.deepcopy(meta), {k: v.copy() for k, v in arrays.items()}
    change(meta, arrays)
    return meta, arrays


def set_param(name, value):
    return lambda meta, arrays: meta["params"].__setitem__(name, value)


def set_array(name, value):
    return lambda meta, arrays: arrays.__setitem__(name, value)


def twice(meta, arrays):
    arrays["terms"] = np.frombuffer(b"catcat", np.uint8)
    arrays["terms.offsets"] = np.array([0, 3, 6])
    arrays["idf"] = np.ones(2, np.float32)
    meta["n_features"] = 2


def split_character(meta, arrays):
    arrays["terms"] = np.frombuffer("é".encode(), np.uint8)
    arrays["terms.offsets"] = np.array([0, 1, 2])
    arrays["idf"] = np.ones(2, np.float32)
    meta["n_features"] = 2


CHANGES = {
    "format": lambda m, a: m.update(format=2),
    "no format": lambda m, a: m.pop("format"),
    "no params": lambda m, a: m.pop("params"),
    "params list": lambda m, a: m.update(params=[]),
    "missing param": lambda m, a: m["params"].pop("norm"),
    "further param": set_param("more", 1),
    "bad param": set_param("norm", "max"),
    "bad pattern": set_param("token_pattern", "("),
    "ngram dict": set_param("ngram_range", {"1": 2}),
    "ngram order": set_param("ngram_range", [3, 1]),
    "stop word number": set_param("stop_words", [1]),
    "stop words str": set_param("stop_words", "english"),
    "hashing": set_param("hashing", 5),
    "other dtype": set_param("dtype", "float64"),
    "object dtype": set_param("dtype", "O"),
    "n_features": lambda m, a: m.update(n_features=m["n_features"] + 1),
    "n_features str": lambda m, a: m.update(n_features="7"),
    "n_features bool": lambda m, a: m.update(n_features=True),
    "given": lambda m, a: m.update(given_vocabulary=1),
    "no terms": lambda m, a: a.pop("terms"),
    "no idf": lambda m, a: a.pop("idf"),
    "short idf": lambda m, a: a.update(idf=a["idf"][:-1]),
    "idf nan": lambda m, a: a["idf"].__setitem__(0, np.nan),
    "idf matrix": lambda m, a: a.update(idf=a["idf"][None]),
    "idf list": lambda m, a: a.update(idf=a["idf"].tolist()),
    "terms dtype": lambda m, a: a.update(terms=a["terms"].astype(np.int8)),
    "terms short": lambda m, a: a.update(terms=a["terms"][:-1]),
    "offsets fall": lambda m, a: a["terms.offsets"].__setitem__(2, 10**6),
    "offsets negative": lambda m, a: a["terms.offsets"].__setitem__(1, -5),
    "offsets start": lambda m, a: a["terms.offsets"].__setitem__(0, 1),
    "offsets int32": lambda m, a: a.update({"terms.offsets": a["terms.offsets"].astype(np.int32)}),
    "not utf-8": lambda m, a: a["terms"].__setitem__(0, 0xFF),
    "split character": split_character,
    "term twice": twice,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_tampered_state(change):
    meta, arrays = tampered(change)
    with pytest.raises(ModelError):
        TextVectorizer.from_state(meta, arrays)


@pytest.mark.parametrize("meta", [None, [], "x", {}])
def test_no_state_at_all(meta):
    with pytest.raises(ModelError):
        TextVectorizer.from_state(meta, {})


def test_fuzz_finds_nothing():
    import importlib.util
    from pathlib import Path

    path = Path(__file__).parents[1] / "fuzz" / "fuzz_text.py"
    spec = importlib.util.spec_from_file_location("fuzz_text", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    outcomes = module.run(400, seed=1)
    assert outcomes["matrix"] > 5
    assert outcomes["told"] > 100
    assert outcomes["error"] > 20
    assert issubclass(ModelError, LongtailError)
