"""How TextVectorizer behaves: conventions, inputs, errors, threads, progress."""

import copy
import pickle
import signal
import threading

import numpy as np
import pytest

from longtail import progress
from longtail.errors import DataError, NotFittedError, ParameterError
from longtail.text import TextVectorizer

TEXTS = ["the cat sat", "the cat ran", "a dog ran", "", "the naïve cat"]


def same(a, b):
    assert a.shape == b.shape
    for x, y in ((a.indptr, b.indptr), (a.indices, b.indices), (a.data, b.data)):
        assert x.dtype == y.dtype
        np.testing.assert_array_equal(x, y)


def test_the_matrix_is_fit_for_use():
    X = TextVectorizer().fit_transform(TEXTS)
    assert X.format == "csr"
    assert X.dtype == np.float32
    assert X.indices.dtype == X.indptr.dtype == np.int32
    assert X.has_canonical_format
    X.check_format(full_check=True)
    assert X[3].nnz == 0
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1))).ravel()
    np.testing.assert_allclose(norms[[0, 1, 2, 4]], 1, rtol=1e-6)


def test_any_iterable_of_str():
    expected = TextVectorizer().fit_transform(TEXTS)
    for texts in (
        tuple(TEXTS),
        (t for t in TEXTS),
        np.array(TEXTS),
        np.array(TEXTS, dtype=object),
        dict.fromkeys(TEXTS),
    ):
        same(TextVectorizer().fit_transform(texts), expected)
    vectorizer = TextVectorizer().fit(iter(TEXTS))
    same(vectorizer.transform(iter(TEXTS)), expected)
    assert vectorizer.transform([]).shape == (0, vectorizer.n_features_)
    assert vectorizer.transform(iter([])).shape == (0, vectorizer.n_features_)


def test_texts_longer_than_a_chunk_of_the_iterator():
    texts = [f"w{i % 977} v{i % 31}" for i in range(70000)]
    whole = TextVectorizer(threads=1)
    X = whole.fit_transform(texts)
    assert X.shape == (70000, 977 + 31)
    same(TextVectorizer(threads=2).fit_transform(iter(texts)), X)
    same(whole.transform(texts), X)
    with pytest.raises(DataError, match=r"Row 69999 is int"):
        whole.transform([*texts[:-1], 3])


@pytest.mark.parametrize("threads", [2, 3, 8])
@pytest.mark.parametrize(
    "params",
    [
        {"ngram_range": (1, 3), "min_df": 2},
        {"ngram_range": (2, 2), "max_features": 300},
        {"analyzer": "char", "ngram_range": (1, 4)},
        {"analyzer": "char_wb", "ngram_range": (2, 4), "sublinear_tf": True},
        {"token_pattern": r"[a-z]+", "ngram_range": (1, 2)},
        {"hashing": 1000},
        {"vocabulary": ["w1", "w2 w3", "w3"], "ngram_range": (1, 2)},
    ],
    ids=str,
)
def test_threads_do_not_matter(threads, params):
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{w}" for w in rng.zipf(1.3, 12) % 400) for _ in range(1500)]
    one = TextVectorizer(threads=1, **params)
    many = TextVectorizer(threads=threads, **params)
    same(many.fit_transform(texts), one.fit_transform(texts))
    same(many.transform(texts[:200]), one.transform(texts[:200]))
    (meta, arrays), (meta_many, arrays_many) = one.to_state(), many.to_state()
    assert meta == meta_many
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, arrays_many[name])


@pytest.mark.parametrize("bad", [None, 3, 1.5, b"bytes", ["nested"], np.nan])
@pytest.mark.parametrize("params", [{}, {"token_pattern": "x+"}, {"hashing": 5, "use_idf": False}], ids=str)
def test_rows_that_are_no_str(bad, params):
    for method in ("fit", "fit_transform"):
        with pytest.raises(DataError, match=f"Row 2 is {type(bad).__name__} instead"):
            getattr(TextVectorizer(**params), method)(["xx yy", "xx", bad])
    vectorizer = TextVectorizer(**params).fit(["xx yy"])
    with pytest.raises(DataError, match="Row 1 is"):
        vectorizer.transform(["xx", bad])
    with pytest.raises(DataError, match="Row 0 is"):
        vectorizer.transform_one(bad)


@pytest.mark.parametrize("texts", ["one string", b"bytes", None, 7])
def test_what_is_not_many_texts(texts):
    vectorizer = TextVectorizer().fit(TEXTS)
    for method in ("fit", "transform", "fit_transform"):
        with pytest.raises(DataError, match="list"):
            getattr(vectorizer, method)(texts)


def test_str_subclasses_and_interned_strings():
    class Text(str):
        def lower(self):
            raise AssertionError("the text itself is read, not what a subclass says")

    same(TextVectorizer().fit_transform([Text("AB ΑΣ cd")]), TextVectorizer().fit_transform(["AB ΑΣ cd"]))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("analyzer", "words"),
        ("ngram_range", (0, 1)),
        ("ngram_range", (2, 1)),
        ("ngram_range", 2),
        ("ngram_range", (1, 1001)),
        ("min_df", 0),
        ("min_df", 1.5),
        ("max_df", -0.1),
        ("max_df", True),
        ("max_features", 0),
        ("lowercase", "yes"),
        ("strip_accents", True),
        ("stop_words", "german"),
        ("stop_words", [1]),
        ("token_pattern", "("),
        ("token_pattern", "(a)(b)"),
        ("token_pattern", None),
        ("vocabulary", "abc"),
        ("vocabulary", 5),
        ("norm", "max"),
        ("use_idf", None),
        ("dtype", np.int32),
        ("dtype", "no such thing"),
        ("dtype", None),
        ("dtype", "f4,f4"),
        ("dtype", object()),
        ("dtype", dict),
        ("hashing", 0),
        ("hashing", 2**31),
        ("threads", 0),
    ],
)
def test_parameters_are_checked(name, value):
    with pytest.raises(ParameterError, match=f"'{name}' parameter of TextVectorizer must be"):
        TextVectorizer(**{name: value}).fit(TEXTS)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"hashing": 8, "min_df": 2}, "'min_df'"),
        ({"hashing": 8, "max_df": 0.5}, "'max_df'"),
        ({"hashing": 8, "vocabulary": ["a"]}, "'vocabulary'"),
        ({"hashing": 8, "sublinear_tf": True}, "alternate_sign=False"),
        ({"hashing": 2**31 - 1}, "use_idf=True"),
        ({"vocabulary": []}, "must not be empty"),
        ({"vocabulary": ["a", "a"]}, "'a' twice"),
        ({"vocabulary": {"a": 0, "b": 2}}, "without gaps"),
        ({"vocabulary": {"a": 0, "b": 0}}, "without gaps"),
        ({"vocabulary": {"a": "0"}}, "without gaps"),
        ({"vocabulary": [1]}, "must hold str"),
        ({"min_df": 3, "max_df": 2}, "fewer texts"),
        ({"min_df": 1.0, "max_df": 0.1}, "fewer texts"),
    ],
)
def test_parameters_that_do_not_go_together(params, message):
    with pytest.raises(ParameterError, match=message):
        TextVectorizer(**params).fit(TEXTS)


@pytest.mark.parametrize(
    ("texts", "params", "message"),
    [
        ([], {}, "no terms"),
        (["", " "], {}, "no terms"),
        (["the of"], {"stop_words": "english"}, "no terms"),
        (["ab cd"], {"min_df": 2, "max_df": 5}, "No term is left"),
        (["ab"], {"vocabulary": ["ab", "zz"], "smooth_idf": False}, "column 1 stands in no text"),
    ],
)
def test_nothing_to_learn(texts, params, message):
    with pytest.raises(DataError, match=message):
        TextVectorizer(**params).fit(texts)


def test_a_failed_fit_leaves_what_was_learned():
    vectorizer = TextVectorizer().fit(TEXTS)
    expected = vectorizer.transform(TEXTS)
    with pytest.raises(DataError):
        vectorizer.fit([""])
    same(vectorizer.transform(TEXTS), expected)


def test_not_fitted():
    for call in (
        lambda v: v.transform(TEXTS),
        lambda v: v.transform_one("a"),
        lambda v: v.vocabulary_,
        lambda v: v.idf_,
        lambda v: v.get_feature_names_out(),
        lambda v: v.to_state(),
    ):
        with pytest.raises(NotFittedError, match="not fitted"):
            call(TextVectorizer())
    hashed = TextVectorizer(hashing=16, use_idf=False)
    assert hashed.transform_one("some text")[0].dtype == np.int32  # there is nothing to fit
    with pytest.raises(NotFittedError, match="hashing"):
        hashed.get_feature_names_out()
    with pytest.raises(NotFittedError, match="use_idf"):
        _ = hashed.idf_
    known = TextVectorizer(vocabulary=["cat"], use_idf=False, norm=None)
    assert known.transform(["cat cat"]).toarray().tolist() == [[2.0]]


def test_warnings_say_what_has_no_effect():
    with pytest.warns(UserWarning, match="stop_words"):
        TextVectorizer(analyzer="char", stop_words=["a"]).fit(TEXTS)
    with pytest.warns(UserWarning, match="upper case"):
        TextVectorizer(vocabulary=["Cat"], smooth_idf=True).fit(TEXTS)


def test_transform_one():
    for params in (
        {},
        {"analyzer": "char_wb", "ngram_range": (2, 3)},
        {"dtype": np.float64},
        {"token_pattern": "[a-z]+"},
    ):
        vectorizer = TextVectorizer(sublinear_tf=True, **params).fit(TEXTS)
        for text in [*TEXTS, "cat " * 5000, "nothing known 123", "\ud800", "x" * 3_000_000, "a cat"]:
            columns, values = vectorizer.transform_one(text)
            row = vectorizer.transform([text])
            assert columns.dtype == np.int32
            assert values.dtype == row.dtype
            np.testing.assert_array_equal(columns, row.indices)
            np.testing.assert_array_equal(values, row.data)


def test_results_are_the_callers():
    vectorizer = TextVectorizer().fit(TEXTS)
    columns, values = vectorizer.transform_one("cat ran")
    before = columns.copy(), values.copy()
    vectorizer.transform_one("the dog sat")
    del vectorizer
    np.testing.assert_array_equal(columns, before[0])
    np.testing.assert_array_equal(values, before[1])
    values[:] = 0


def test_scikit_learn_conventions():
    from sklearn.base import clone
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.utils.validation import check_is_fitted

    vectorizer = TextVectorizer(ngram_range=(1, 2), stop_words=["the"], vocabulary=None, threads=1)
    twin = clone(vectorizer)
    assert twin is not vectorizer
    assert twin.get_params() == vectorizer.get_params()
    assert twin.set_params(min_df=2) is twin
    pipeline = make_pipeline(vectorizer, LogisticRegression())
    pipeline.fit(TEXTS, [0, 0, 1, 1, 0])
    assert pipeline.predict(["a dog"]).shape == (1,)
    assert pipeline[:-1].get_feature_names_out().tolist() == vectorizer.get_feature_names_out().tolist()
    check_is_fitted(vectorizer)
    again = pickle.loads(pickle.dumps(pipeline))
    np.testing.assert_array_equal(again.predict_proba(TEXTS), pipeline.predict_proba(TEXTS))
    same(copy.deepcopy(vectorizer).transform(TEXTS), vectorizer.transform(TEXTS))
    pickle.loads(pickle.dumps(TextVectorizer())).fit(TEXTS)


def test_parameters_changed_after_fit_wait_for_the_next_fit():
    vectorizer = TextVectorizer().fit(TEXTS)
    expected = vectorizer.transform(TEXTS)
    vectorizer.set_params(norm=None, lowercase=False, analyzer="char")
    same(vectorizer.transform(TEXTS), expected)


def test_one_vectorizer_in_many_threads():
    vectorizer = TextVectorizer(ngram_range=(1, 2)).fit(TEXTS)
    texts = TEXTS * 400
    expected = TextVectorizer(ngram_range=(1, 2)).fit(TEXTS).transform(texts)
    results, failures = [], []

    def work():
        try:
            results.append(vectorizer.transform(texts))
            for text in TEXTS:
                vectorizer.transform_one(text)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    for result in results:
        same(result, expected)


def test_a_list_that_changes_meanwhile():
    texts = ["some words here " * 20] * 20000
    stop = threading.Event()

    def churn():
        while not stop.is_set():
            texts[::7] = [f"other words {len(texts)}"] * len(texts[::7])

    thread = threading.Thread(target=churn)
    thread.start()
    try:
        for _ in range(5):
            assert TextVectorizer(threads=2).fit_transform(texts).shape[0] == 20000
    finally:
        stop.set()
        thread.join()


class Recorder(progress.Silent):
    def __init__(self):
        self.phases, self.updates = [], []

    def begin(self, name, total, unit):
        self.phases.append((name, total, unit))
        return len(self.phases) - 1

    def update(self, handle, done):
        self.updates.append((handle, done))


def test_progress_is_reported():
    texts = [f"many different words {i} {i * 7} " * 20 for i in range(60000)]
    with progress.use(Recorder()) as recorder:
        TextVectorizer(threads=1, ngram_range=(1, 2)).fit_transform(texts)
    assert recorder.phases[0] == ("read texts", 60000, "texts")
    assert ("count terms", 60000, "texts") in recorder.phases
    first = [done for handle, done in recorder.updates if handle == 0]
    assert first == sorted(first)
    assert first[-1] <= 60000
    assert first[-1] > 32768  # the second part goes on from the first


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs an interval timer")
@pytest.mark.parametrize("what", ["fit", "transform"])
def test_ctrl_c_stops_soon(what):
    texts = ["one very long text " * 2000] * 5000
    vectorizer = TextVectorizer(threads=1, analyzer="char", ngram_range=(3, 7))
    if what == "transform":
        vectorizer.fit(texts[:1])

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(KeyboardInterrupt):
            getattr(vectorizer, what)(texts)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
