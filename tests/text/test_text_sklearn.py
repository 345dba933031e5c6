"""The same matrices as scikit-learn's vectorizers for the same settings."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer, TfidfVectorizer

from longtail.text import TextVectorizer

TEXTS = [
    "The quick brown fox jumped over the lazy dog.",
    "the the the fox; a fox, an OX and the dog_house 42",
    "",
    "   \t\n ",
    "Ça coûte 12€ à l'Île-de-France, ﬁn",
    "Ὀδυσσεύς ΟΔΥΣΣΕΥΣ ΑΣ ΑΣΑ 𝐀𝐁𝐂 ٣٤٥ naïve naive",
    "日本語 テキスト  日本語\u3000テ",
    "İstanbul ISTANBUL ıstanbul e\u0301te\u0301 été",
    "internationalization-of-everything internationalizations internationalizationofeverything",
    "a b c d e f g a b c d e f g",
    "one",
    "\ud800 lone \udfff surrogate\ud83d",
    "zero\x00byte \x1c\x85 word\xa0word",
    "fox dog fox dog fox",
]


def random_texts(n, seed, n_words=60):
    rng = random.Random(seed)
    words = ["".join(rng.choices("abcdefghijéß", k=rng.randint(1, 20))) for _ in range(n_words)]
    return [" ".join(rng.choices(words, k=rng.randint(0, 30))) for _ in range(n)]


def assert_same(ours, theirs, exact=True):
    theirs = theirs.copy()
    theirs.sort_indices()
    assert ours.shape == theirs.shape
    assert ours.dtype == theirs.dtype
    assert ours.has_sorted_indices
    np.testing.assert_array_equal(ours.indptr, theirs.indptr)
    np.testing.assert_array_equal(ours.indices, theirs.indices)
    if exact:
        np.testing.assert_array_equal(ours.data, theirs.data)
    else:  # scikit-learn sums the norm in another order of columns when it fits
        np.testing.assert_allclose(ours.data, theirs.data, rtol=4 * np.finfo(ours.dtype).eps)


def compare(texts, held_out=None, dtype=np.float32, **params):
    theirs = TfidfVectorizer(dtype=dtype, **params)
    expected = theirs.fit_transform(texts)
    for threads in (1, 2):
        ours = TextVectorizer(dtype=dtype, threads=threads, **params)
        assert_same(ours.fit_transform(texts), expected, exact=False)
        assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
        assert ours.vocabulary_ == theirs.vocabulary_
        if params.get("use_idf", True):
            np.testing.assert_array_equal(ours.idf_, theirs.idf_)
        new = texts if held_out is None else held_out
        assert_same(ours.transform(new), theirs.transform(new))
        again = TextVectorizer(dtype=dtype, threads=threads, **params).fit(texts)
        assert_same(again.transform(new), theirs.transform(new))


ANALYZERS = [
    {"analyzer": "word", "ngram_range": (1, 1)},
    {"analyzer": "word", "ngram_range": (1, 2)},
    {"analyzer": "word", "ngram_range": (2, 4)},
    {"analyzer": "word", "ngram_range": (3, 3), "token_pattern": r"(?u)\b\w+\b"},
    {"analyzer": "word", "ngram_range": (1, 2), "stop_words": ["the", "fox", "été"]},
    {"analyzer": "word", "ngram_range": (1, 3), "stop_words": "english"},
    {"analyzer": "word", "ngram_range": (1, 2), "token_pattern": r"[a-z]+ ?[a-z]"},
    {
        "analyzer": "word",
        "ngram_range": (1, 2),
        "token_pattern": r"(?u)\b(\w)\w+\b",
        "stop_words": ["t", "q"],
    },
    {"analyzer": "char", "ngram_range": (1, 1)},
    {"analyzer": "char", "ngram_range": (2, 5)},
    {"analyzer": "char", "ngram_range": (14, 18)},
    {"analyzer": "char_wb", "ngram_range": (1, 1)},
    {"analyzer": "char_wb", "ngram_range": (2, 4)},
    {"analyzer": "char_wb", "ngram_range": (6, 20)},
]


@pytest.mark.parametrize("analyzer", ANALYZERS, ids=str)
@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("strip_accents", [None, "unicode", "ascii"])
def test_analyzers(analyzer, lowercase, strip_accents):
    compare(TEXTS, lowercase=lowercase, strip_accents=strip_accents, **analyzer)


@pytest.mark.parametrize("norm", ["l2", "l1", None])
@pytest.mark.parametrize("weights", [(True, True), (True, False), (False, True)])
@pytest.mark.parametrize("sublinear_tf", [True, False])
@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_weights(norm, weights, sublinear_tf, binary, dtype):
    use_idf, smooth_idf = weights
    compare(
        TEXTS,
        held_out=[*random_texts(5, 3), TEXTS[0]],
        dtype=dtype,
        norm=norm,
        use_idf=use_idf,
        smooth_idf=smooth_idf,
        sublinear_tf=sublinear_tf,
        binary=binary,
    )


@pytest.mark.parametrize("bounds", [(2, 1.0), (0.1, 0.5), (1, 7), (3, 0.9), (0.0, 1.0), (1, 1)])
@pytest.mark.parametrize("max_features", [None, 1, 7, 50, 10**6])
@pytest.mark.parametrize(
    "ngrams", [{"ngram_range": (1, 3)}, {"analyzer": "char_wb", "ngram_range": (2, 3)}], ids=str
)
def test_choice_of_terms(bounds, max_features, ngrams):
    min_df, max_df = bounds
    texts = TEXTS + random_texts(300, 5)
    for binary in (False, True):
        params = {"min_df": min_df, "max_df": max_df, "max_features": max_features, "binary": binary}
        compare(texts, held_out=random_texts(20, 6) + TEXTS, **params, **ngrams)


@pytest.mark.parametrize(
    "vocabulary",
    [
        ["fox", "dog", "the"],
        {"dog": 1, "fox": 0, "lazy dog": 2},
        {"fox", "brown fox", "ox"},
        ["a  b", " fox", "fox ", "fox", "", "fox dog"],
    ],
    ids=str,
)
@pytest.mark.parametrize("ngram_range", [(1, 1), (1, 2), (2, 2)])
@pytest.mark.parametrize("use_idf", [True, False])
def test_given_vocabulary(vocabulary, ngram_range, use_idf):
    compare(TEXTS, vocabulary=vocabulary, ngram_range=ngram_range, use_idf=use_idf)


@pytest.mark.parametrize("n_features", [1, 7, 1024, 2**20, 2**31 - 1])
@pytest.mark.parametrize("alternate_sign", [True, False])
@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("analyzer", [ANALYZERS[i] for i in (0, 1, 6, 9, 12)], ids=str)
def test_hashing(n_features, alternate_sign, binary, analyzer):
    texts = [t for t in TEXTS if t.isprintable() and t]
    params = dict(alternate_sign=alternate_sign, binary=binary, **analyzer)
    for norm in ("l2", "l1", None):
        theirs = HashingVectorizer(n_features=n_features, dtype=np.float32, norm=norm, **params)
        for threads in (1, 2):
            ours = TextVectorizer(hashing=n_features, norm=norm, use_idf=False, threads=threads, **params)
            assert_same(ours.transform(texts), theirs.transform(texts))
            assert_same(ours.fit_transform(texts), theirs.transform(texts))


def test_hashing_with_idf():
    texts = random_texts(200, 8)
    counts = HashingVectorizer(n_features=512, norm=None, alternate_sign=False, dtype=np.float32)
    theirs = TfidfTransformer(sublinear_tf=True)
    expected = theirs.fit_transform(counts.transform(texts))
    ours = TextVectorizer(hashing=512, alternate_sign=False, sublinear_tf=True)
    assert_same(ours.fit_transform(texts), expected)
    assert_same(ours.transform(texts[:9]), theirs.transform(counts.transform(texts[:9])))
    np.testing.assert_array_equal(ours.idf_, theirs.idf_)


def test_many_texts_and_threads():
    """Several blocks per thread, tables of many sizes, long words, counts above a thousand."""
    texts = random_texts(5000, 11, n_words=3000)
    texts[17] = "ab " * 3000 + "x" * 5000
    for params in (
        {"ngram_range": (1, 3)},
        {"analyzer": "char", "ngram_range": (1, 3)},
        {"sublinear_tf": True},
    ):
        compare(texts, held_out=texts[:500] + TEXTS, **params)


texts_of_anything = st.lists(st.text(st.characters(), max_size=40), min_size=1, max_size=6)
texts_of_pieces = st.lists(
    st.lists(
        st.sampled_from(
            ["a", "ab", "Σ", "ΑΣ", "İ", "é", "e\u0301", " ", "  ", "\n", ".", "_", "日本", "\ud800", "𝐀", "ß"]
        )
    ).map("".join),
    min_size=1,
    max_size=6,
)


@settings(max_examples=300, deadline=None)
@given(
    texts=st.one_of(texts_of_anything, texts_of_pieces),
    analyzer=st.sampled_from(["word", "char", "char_wb"]),
    low=st.integers(1, 3),
    more=st.integers(0, 2),
    lowercase=st.booleans(),
    strip_accents=st.sampled_from([None, "unicode", "ascii"]),
    pattern=st.sampled_from([r"(?u)\b\w\w+\b", r"(?u)\b\w+\b", r"\w\w+", r"\w+"]),
)
def test_any_text(texts, analyzer, low, more, lowercase, strip_accents, pattern):
    params = {
        "analyzer": analyzer,
        "ngram_range": (low, low + more),
        "lowercase": lowercase,
        "strip_accents": strip_accents,
    }
    if analyzer == "word":
        params["token_pattern"] = pattern
    theirs = TfidfVectorizer(dtype=np.float32, **params)
    try:
        expected = theirs.fit_transform(texts)
    except ValueError:  # "empty vocabulary"
        with pytest.raises(ValueError, match="no terms"):
            TextVectorizer(threads=1, **params).fit(texts)
        return
    ours = TextVectorizer(threads=1, **params)
    assert_same(ours.fit_transform(texts), expected, exact=False)
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
    assert_same(ours.transform(texts), theirs.transform(texts))
    for i, text in enumerate(texts):
        columns, values = ours.transform_one(text)
        row = ours.transform(texts)[i]
        np.testing.assert_array_equal(columns, row.indices)
        np.testing.assert_array_equal(values, row.data)
