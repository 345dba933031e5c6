"""What every model promises. A new model gets all of these tests by one subclass:

    class TestMyModel(Contract):
        def make(self, **params):
            return lt.MyModel(**params)

Everything here goes through the public surface: fit, predict, save, load, explain, describe.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import scipy.sparse as sp

import longtail as lt
from longtail import progress, store

WORDS = ["red", "green", "blue", "round", "square", "fast", "slow", "old", "new", "warm", "cold", "dark"]


def matrix_problem(seed: int = 0, n: int = 120, d: int = 40, m: int = 24) -> tuple[Any, Any, Any]:
    """Features, labels that depend on them, and other rows to ask for. The last label is on no row."""
    rng = np.random.default_rng(seed)
    topics = rng.standard_normal((m, d)) * (rng.random((m, d)) < 0.2)
    label = rng.integers(0, m - 1, (n, 2))
    rows = topics[label].sum(axis=1) * (rng.random((n, d)) < 0.7)
    x = sp.csr_matrix(rows, dtype=np.float32)
    y = sp.csr_matrix((np.ones(2 * n, np.float32), (np.repeat(np.arange(n), 2), label.ravel())), shape=(n, m))
    y.data[:] = 1
    return x, y, sp.csr_matrix(topics[rng.integers(0, m, 70)] * (rng.random((70, d)) < 0.6), dtype=np.float32)


def text_problem() -> tuple[list[str], list[list[str]]]:
    """Texts whose words are their labels, among noise."""
    rng = np.random.default_rng(1)
    texts, labels = [], []
    for _ in range(80):
        own = rng.choice(len(WORDS), 2, replace=False)
        texts.append(" ".join([WORDS[i] for i in own] + [f"noise{j}" for j in rng.integers(0, 9, 3)]))
        labels.append([WORDS[i].upper() for i in own])
    return texts, labels


def same(a: Any, b: Any) -> None:
    """Two rankings, bit for bit."""
    assert a.labels.tobytes() == b.labels.tobytes()
    assert a.scores.tobytes() == b.scores.tobytes()


def same_model(a: Any, b: Any, tmp_path: Path) -> None:
    """Two models, array for array."""
    for name, model in (("a", a), ("b", b)):
        model.save(tmp_path / name)
    left, right = (store.read_folder(tmp_path / name) for name in ("a", "b"))
    assert left.arrays.keys() == right.arrays.keys()
    for name, array in left.arrays.items():
        assert np.array_equal(array, right.arrays[name]), name
    assert left.facts == right.facts


class Stop:
    """A reporter that notes phases and raises at the given call of update or begin."""

    def __init__(self, error: type[BaseException] | None = None, at_phase: int = 0, on_update: bool = False):
        self.error, self.at_phase, self.on_update = error, at_phase, on_update
        self.begun: list[tuple[str, int | None, str]] = []
        self.ended: list[bool] = []
        self.updates: list[tuple[int, int]] = []
        self.messages: list[str] = []

    def begin(self, name: str, total: int | None, unit: str) -> int:
        self.begun.append((name, total, unit))
        if self.error is not None and not self.on_update and len(self.begun) > self.at_phase:
            raise self.error
        return len(self.begun) - 1

    def update(self, handle: int, done: int) -> None:
        self.updates.append((handle, done))
        if self.error is not None and self.on_update:
            raise self.error

    def end(self, handle: int, ok: bool) -> None:
        self.ended.append(ok)

    def message(self, text: str) -> None:
        self.messages.append(text)


class Contract:
    """The mixin. ``make`` gives a model with small, quick settings."""

    # Variants of parameters that storage has to survive.
    storage: tuple[dict[str, Any], ...] = ({"weights": "f32"}, {"weights": "f16"}, {"weights": "int8"})
    # A parameter with a wrong value, and the words that follow "The '…' parameter of Model must be".
    wrong: tuple[tuple[str, Any, str], ...] = (
        ("C", -1, "a number in (0, 1000000.0]"),
        ("C", float("nan"), "a number in (0, 1000000.0]"),
        ("C", "1", "a number in (0, 1000000.0]"),
        ("loss", "hinge", "one of 'squared_hinge', 'logistic'"),
        ("threads", 0, "None or a whole number in [1, 4096]"),
        ("threads", 1.5, "None or a whole number in [1, 4096]"),
        ("seed", -1, "a whole number in [0, 9223372036854775807]"),
        ("weights", "f8", "one of 'f32', 'f16', 'int8'"),
        ("vectorizer", "tfidf", "None or a TextVectorizer"),
        ("max_iter", True, "a whole number in [1, 1000000]"),
    )
    probability = True  # scores are in [0, 1]
    # A number among the parameters, and three values of it: the default, its double, another.
    number: tuple[str, float, float, float] = ("C", 1.0, 2.0, 3.5)
    # A parameter that predict uses, with a wrong value.
    wrong_later: tuple[str, Any] = ("hinge_power", 0)
    # Sets of parameters that training has to be repeatable with.
    variants: tuple[dict[str, Any], ...] = ({}, {"loss": "logistic"})
    # What makes the training of ``test_killed_and_resumed`` take a while, and that of ``big`` never end.
    slow: ClassVar[dict[str, Any]] = {"tol": 1e-3, "max_iter": 300}
    endless: ClassVar[dict[str, Any]] = {"tol": 1e-9, "max_iter": 1_000_000}

    def make(self, **params: Any) -> Any:
        raise NotImplementedError

    def fitted(self, **params: Any) -> Any:
        x, y, _ = matrix_problem()
        return self.make(**params).fit(x, y)

    # ---- parameters

    def test_clone_and_params(self) -> None:
        from sklearn.base import clone

        model = self.make()
        copy = clone(model)
        assert copy is not model
        assert copy.get_params() == model.get_params()
        name, _, _, other = self.number
        assert model.set_params(**{name: other}) is model
        assert model.get_params()[name] == other
        assert copy.get_params()[name] != other
        assert f"{name}={other}" in repr(model)
        assert repr(type(model)()) == f"{type(model).__name__}()"
        assert eval(repr(model), {type(model).__name__: type(model)}).get_params() == model.get_params()

    def test_clone_of_a_fitted_model_is_not_fitted(self) -> None:
        from sklearn.base import clone

        with pytest.raises(lt.NotFittedError):
            clone(self.fitted()).predict(matrix_problem()[2])

    def test_nested_parameters(self) -> None:
        model = self.make(vectorizer=lt.TextVectorizer(min_df=2))
        assert model.get_params()["vectorizer__min_df"] == 2
        model.set_params(vectorizer__min_df=3)
        assert model.vectorizer.min_df == 3
        assert "vectorizer__min_df" not in model.get_params(deep=False)

    def test_unknown_parameters(self) -> None:
        with pytest.raises(lt.ParameterError, match=r"no parameter 'cc'\. It has: .*seed"):
            self.make().set_params(cc=1)
        with pytest.raises(lt.ParameterError, match="no parameters of its own"):
            self.make().set_params(**{f"{self.number[0]}__x": 1})
        with pytest.raises(TypeError):
            self.make(cc=1)

    def test_wrong_values_are_named(self) -> None:
        x, y, _ = matrix_problem()
        for name, value, words in self.wrong:
            model = self.make(**{name: value})  # the constructor only stores
            with pytest.raises(lt.ParameterError) as caught:
                model.fit(x, y)
            owner = type(model).__name__
            expected = f"The '{name}' parameter of {owner} must be {words}. Got {value!r} instead."
            assert str(caught.value) == expected

    def test_wrong_values_after_training(self) -> None:
        name, value = self.wrong_later
        model = self.fitted().set_params(**{name: value})
        with pytest.raises(lt.ParameterError, match=name):
            model.predict(matrix_problem()[2])

    def test_numpy_numbers_are_numbers(self) -> None:
        x, y, queries = matrix_problem()
        number = self.number[0]
        plain = self.make(**{number: 0.5}, seed=3, threads=1).fit(x, y)
        given = self.make(**{number: np.float32(0.5)}, seed=np.int64(3), threads=np.int32(1)).fit(x, y)
        same(plain.predict(queries, k=np.int64(3)), given.predict(queries, k=3))
        for seed in (0, 2**63 - 1, np.int64(2**63 - 1)):
            self.make(seed=seed).fit(x, y)

    # ---- before training

    def test_unfitted(self, tmp_path: Path) -> None:
        from sklearn.exceptions import NotFittedError
        from sklearn.utils.validation import check_is_fitted

        model = self.make()
        x = matrix_problem()[2]
        for ask in (
            lambda: model.predict(x),
            lambda: model.explain(x[0], 0),
            lambda: model.describe(),
            lambda: model.save(tmp_path / "m"),
            lambda: model.to_weights("f16"),
        ):
            with pytest.raises(lt.NotFittedError, match=f"This {type(model).__name__} is not trained yet"):
                ask()
        assert not (tmp_path / "m").exists()
        with pytest.raises(NotFittedError):
            check_is_fitted(model)
        check_is_fitted(self.fitted())

    # ---- what goes in

    def test_all_forms_of_features_are_equal(self) -> None:
        x, y, queries = matrix_problem()
        expected = self.fitted().predict(queries)
        shuffled = x.copy()
        for i in range(x.shape[0]):  # unsorted ids
            part = slice(x.indptr[i], x.indptr[i + 1])
            shuffled.indices[part] = x.indices[part][::-1]
            shuffled.data[part] = x.data[part][::-1]
        shuffled.has_sorted_indices = False
        coo = x.tocoo()
        halves = sp.coo_matrix(
            (np.tile(coo.data / 2, 2), (np.tile(coo.row, 2), np.tile(coo.col, 2))), shape=x.shape
        )
        before = shuffled.indices.copy()
        forms = [x.tocsc(), coo, x.astype(np.float64), sp.csr_array(x), halves, shuffled, x.tolil()]
        wide = x.copy()
        wide.indptr, wide.indices = wide.indptr.astype(np.int64), wide.indices.astype(np.int64)
        for form in [*forms, wide]:
            same(self.make().fit(form, y).predict(queries), expected)
        assert np.array_equal(shuffled.indices, before)  # nobody changes what they are given
        dense = self.make().fit(x.toarray(), y)
        for form in (
            x.toarray(),
            x.toarray().astype(np.float64),
            np.asfortranarray(x.toarray()),
            x.toarray().tolist(),
            np.repeat(x.toarray(), 2, axis=1)[:, ::2],
        ):
            same(self.make().fit(form, y).predict(queries), dense.predict(queries))
        for form in (queries.tocsc(), queries.tocoo(), queries.toarray(), queries.toarray().tolist()):
            same(self.fitted().predict(form), expected)

    def test_whole_numbers_and_flags_are_features(self) -> None:
        x, y, _ = matrix_problem()
        counts = sp.csr_matrix((np.abs(x.data * 4).astype(np.int64), x.indices, x.indptr), shape=x.shape)
        a = self.make().fit(counts, y)
        b = self.make().fit(counts.astype(np.float32), y)
        same(a.predict(counts), b.predict(counts.astype(np.float32)))
        flags = self.make().fit(counts.astype(bool), y)
        same(flags.predict(counts.astype(bool)), flags.predict(counts.astype(bool).astype(np.float32)))

    def test_all_forms_of_labels_are_equal(self) -> None:
        x, y, queries = matrix_problem()
        expected = self.fitted().predict(queries)
        stored_zeros = y.copy().tolil().tocsr()
        stored_zeros = sp.csr_matrix(
            (
                np.append(stored_zeros.data, 0),
                np.append(stored_zeros.indices, 23),
                [*y.indptr[:-1], y.nnz + 1],
            ),
            shape=y.shape,
        )
        for form in (
            y.tocsc(),
            y.tocoo(),
            y.toarray(),
            y.astype(bool),
            y.astype(int) * 7,
            sp.csr_array(y),
            stored_zeros,
        ):
            same(self.make().fit(x, form).predict(queries), expected)
        ids = [y[i].indices.tolist() for i in range(y.shape[0])]
        with_ids = self.make().fit(x, ids)
        assert with_ids.labels_ is None
        assert with_ids.n_labels_ == 23  # the largest id there is
        names = [f"name{i:02d}" for i in range(24)]
        named = self.make().fit(x, y, labels=names)
        same(named.predict(queries), expected)
        assert named.predict(queries).names()[0] == [names[i] for i in expected.labels[0] if i >= 0]
        lists = self.make().fit(x, [[names[i] for i in row] for row in ids], labels=names)
        same(lists.predict(queries), expected)
        arrays = self.make().fit(x, [np.array(row) for row in ids], labels=names)
        same(arrays.predict(queries), expected)

    def test_texts(self) -> None:
        texts, labels = text_problem()
        model = self.make().fit(texts, labels)
        assert model.predict(["a red thing, and so cold"], k=2).names()[0] in (
            ["RED", "COLD"],
            ["COLD", "RED"],
        )
        one = model.predict("a red thing, and so cold", k=2)
        assert len(one) == 1
        same(one, model.predict(("a red thing, and so cold",), k=2))
        same(model.predict(texts), model.predict(np.array(texts)))
        same(model.predict(texts), model.predict(np.array(texts, dtype=object)))
        assert len(model.predict([])) == 0
        assert (model.predict(["", "words that nobody knows"], k=3).labels >= 0).all()
        with pytest.raises(lt.DataError, match="Row 1 is a int"):
            model.predict(["a", 1])
        with pytest.raises(lt.DataError, match="has 3 columns"):
            model.predict(np.ones((1, 3)))

    def test_one_label_per_text(self) -> None:
        texts, labels = text_problem()
        model = self.make().fit(texts, [row[0] for row in labels])
        assert set(model.labels_.names) == {row[0] for row in labels}

    def test_texts_for_a_model_of_features(self) -> None:
        with pytest.raises(lt.DataError, match="trained on features"):
            self.fitted().predict(["some text"])

    def test_a_given_vectorizer_is_not_changed(self) -> None:
        texts, labels = text_problem()
        vectorizer = lt.TextVectorizer(analyzer="char", ngram_range=(2, 3))
        model = self.make(vectorizer=vectorizer).fit(texts, labels)
        assert not hasattr(vectorizer, "idf_")
        assert model.vectorizer_.get_params()["ngram_range"] == (2, 3)

    def test_pipelines(self) -> None:
        from sklearn.base import clone
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.pipeline import make_pipeline

        texts, labels = text_problem()
        direct = self.make(vectorizer=lt.TextVectorizer()).fit(texts, labels).predict(texts)
        pipeline = make_pipeline(lt.TextVectorizer(), self.make()).fit(texts, labels)
        assert pipeline.predict(texts).names() == direct.names()
        pipeline = clone(make_pipeline(TfidfVectorizer(dtype=np.float32), self.make())).fit(texts, labels)
        found = pipeline.predict(texts)
        assert np.mean([set(own) == set(r[:2]) for own, r in zip(labels, found.names(), strict=True)]) > 0.9
        repr(pipeline)

    @pytest.mark.parametrize(
        ("x", "y", "words"),
        [
            (np.ones((3, 2)), np.ones((2, 2)), "X has 3 rows and Y has 2"),
            (np.ones((0, 2)), np.ones((0, 2)), "X has no rows"),
            (np.ones((2, 0)), np.ones((2, 2)), "X has no features"),
            (np.ones((2, 2)), np.ones((2, 0)), "Y has no labels"),
            (np.ones((2, 2)), np.zeros((2, 2)), "nothing to learn"),
            (np.array([[1, np.nan]]), np.ones((1, 2)), r"X has a value that is not finite \(nan\) at entry 0, 1"),
            (np.array([[np.inf, 1]]), np.ones((1, 2)), "not finite"),
            (np.array([[1e300, 1]]), np.ones((1, 2)), "not finite"),
            (sp.csr_matrix(np.array([[1e300, 1]])), np.ones((1, 2)), "not finite"),
            (sp.csr_matrix([[np.nan, 1]]), np.ones((1, 2)), "not finite"),
            (np.ones((1, 2)), np.array([[-1.0, 1]]), "negative"),
            (np.ones((1, 2)), np.array([[np.nan, 1]]), "not finite"),
            (np.ones((1, 2), dtype=complex), np.ones((1, 2)), "X must hold numbers. Got dtype complex128"),
            (np.ones((1, 2)), np.array([["a", "b"]]), "Y must hold numbers"),
            (np.ones(3), np.ones((3, 2)), "two dimensions"),
            (np.ones((1, 2, 2)), np.ones((1, 2)), "two dimensions"),
            (None, np.ones((1, 2)), "two dimensions"),
            ([[1, 2], [3]], np.ones((2, 2)), "matrix of numbers"),
            (np.array([["a", "b"]]), np.ones((1, 2)), "must hold numbers"),
            (["a", None], np.ones((2, 2)), "Row 1 is a NoneType"),
            (np.ones((2, 2)), None, "Y must be a SciPy sparse matrix"),
            (np.ones((2, 2)), 3, "Y must be"),
            (np.ones((2, 2)), [1, 2], "Row 0 must be a list of labels. Got int"),
            (np.ones((2, 2)), np.array([1, 2]), "Row 0 must be a list of labels. Got int"),
            (np.ones((2, 2)), [["a"], [2]], "names or ids, not both"),
            (np.ones((2, 2)), [[-1], [2]], "Row 0 has label -1"),
            (np.ones((2, 2)), [[0.5], [2]], "Row 0 must hold label names or ids"),
            (np.ones((2, 2)), [["a"]], "X has 2 rows and Y has 1"),
        ],
    )  # fmt: skip
    def test_wrong_data_is_told(self, x: Any, y: Any, words: str) -> None:
        model = self.make()
        with pytest.raises(lt.DataError, match=words):
            model.fit(x, y)
        with pytest.raises(lt.NotFittedError):
            model.predict(np.ones((1, 2)))

    def test_wrong_label_names_are_told(self) -> None:
        x, y, _ = matrix_problem()
        with pytest.raises(lt.DataError, match="24 columns and there are 2 label names"):
            self.make().fit(x, y, labels=["a", "b"])
        with pytest.raises(lt.DataError, match="unique"):
            self.make().fit(x, y, labels=["a"] * 24)
        with pytest.raises(lt.DataError, match="unknown label 'c'"):
            self.make().fit(np.ones((2, 2)), [["a"], ["c"]], labels=["a", "b"])

    def test_wrong_queries_are_told(self) -> None:
        model = self.fitted()
        for x, words in (
            (np.ones((2, 39)), "X has 39 columns, expected 40"),
            (sp.csr_matrix((2, 41)), "X has 41 columns, expected 40"),
            (np.ones(40), "two dimensions"),
            (np.full((1, 40), np.nan), "not finite"),
            (None, "X must be texts"),
            (3, "X must be texts"),
            (np.full((1, 40), "a"), "must hold numbers"),
        ):
            with pytest.raises(lt.DataError, match=words):
                model.predict(x)
        for k in (0, -1, 1.5, None, "5", True):
            with pytest.raises(
                lt.ParameterError, match="'k' parameter of predict must be a whole number >= 1"
            ):
                model.predict(np.ones((1, 40)), k=k)

    @pytest.mark.parametrize(
        ("weight", "words"),
        [
            (np.ones(3), "one number for each of the 120 rows"),
            (np.full(120, -1.0), "finite and >= 0"),
            (np.full(120, np.nan), "finite and >= 0"),
            (np.full(120, 1e300), "finite and >= 0"),
            (np.zeros(120), "0 for every row"),
            (["a"] * 120, "must be numbers"),
            (1.0, "one number for each"),
        ],
    )
    def test_wrong_weights_are_told(self, weight: Any, words: str) -> None:
        x, y, _ = matrix_problem()
        with pytest.raises(lt.DataError, match=words):
            self.make().fit(x, y, sample_weight=weight)

    # ---- small problems

    def test_one_label(self) -> None:
        model = self.make().fit(np.eye(3), np.ones((3, 1)))
        ranking = model.predict(np.eye(3), k=5)
        assert ranking.labels.tolist() == [[0]] * 3

    def test_one_row(self, tmp_path: Path) -> None:
        model = self.make().fit(np.ones((1, 2)), np.array([[1, 0, 1]]))
        ranking = model.predict(np.ones((1, 2)), k=3)
        assert set(ranking.labels[0, :2].tolist()) == {0, 2}
        model.save(tmp_path / "m")
        same(lt.load(tmp_path / "m").predict(np.ones((1, 2)), k=3), ranking)

    def test_a_label_never_seen(self) -> None:
        x, y, queries = matrix_problem()
        model = self.make().fit(x, y)
        assert model.label_frequencies_[23] == 0
        every = model.predict(queries, k=24, search="exact")
        assert (np.sort(every.labels, axis=1) == np.arange(24)).all()
        assert not (model.predict(x, k=1).labels == 23).any()

    def test_rows_without_labels_and_without_features(self) -> None:
        x, y, queries = matrix_problem()
        x, y = x.tolil(), y.tolil()
        x[5], y[9] = 0, 0
        model = self.make().fit(x, y)
        assert (model.predict(queries, k=3).labels >= 0).all()
        assert (model.predict(sp.csr_matrix((2, 40)), k=3).labels >= 0).all()
        assert model.predict(sp.csr_matrix((0, 40)), k=3).labels.shape == (0, 3)

    # ---- what comes out

    def test_rankings(self) -> None:
        queries = matrix_problem()[2]
        model = self.fitted()
        full = model.predict(queries, k=24, search="exact")
        for k in (1, 3, 10, 24, 1000):
            r = model.predict(queries, k=k, search="exact")
            assert r.labels.shape == r.scores.shape == (70, min(k, 24))
            assert r.labels.dtype == np.int32
            assert r.scores.dtype == np.float32
            assert (np.diff(r.scores, axis=1) <= 0).all()
            assert all(len(set(row)) == len(row) for row in r.labels.tolist())
            lt.Ranking(r.labels, r.scores)  # checks it, ties by rising label included
            assert np.array_equal(r.scores, full.scores[:, :k])
            last = full.scores[:, min(k, 24) - 1 : min(k, 24)]
            assert np.array_equal((r.labels * (r.scores > last)), (full.labels * (full.scores > last))[:, :k])
        if self.probability:
            assert full.scores.min() >= 0
            assert full.scores.max() <= 1

    def test_a_batch_is_its_rows(self) -> None:
        queries = matrix_problem()[2]
        model = self.fitted()
        batch = model.predict(queries, k=4)
        for i in range(queries.shape[0]):
            one = model.predict(queries[[i]], k=4)
            assert one.labels.tobytes() == batch.labels[i].tobytes()
            assert one.scores.tobytes() == batch.scores[i].tobytes()

    def test_it_learns(self) -> None:
        x, y, _ = matrix_problem()
        ranking = self.fitted().predict(x, k=2)
        hits = np.mean([y[i, label] for i, row in enumerate(ranking.labels) for label in row])
        assert hits > 0.7
        texts, labels = text_problem()
        assert lt.metrics.evaluate(
            self.make().fit(texts, labels).predict(texts), lt.labels.encode(labels)[0], k=(1,)
        )["P@1"] > 0.9  # fmt: skip

    def test_only_and_exclude(self) -> None:
        queries = matrix_problem()[2]
        names = [f"name{i:02d}" for i in range(24)]
        x, y, _ = matrix_problem()
        model = self.make().fit(x, y, labels=names)
        every = model.predict(queries, k=24, search="exact")
        chosen = [3, 8, 1, 20]
        per_row = sp.csr_matrix((np.ones(70), (np.arange(70), np.arange(70) % 24)), shape=(70, 24))

        def expected(allowed: Any) -> list[list[int]]:
            return [[i for i in row if i in set(allowed(q))] for q, row in enumerate(every.labels.tolist())]

        def got(**options: Any) -> list[list[int]]:
            ranking = model.predict(queries, k=24, **options)
            return [[i for i in row if i >= 0] for row in ranking.labels.tolist()]

        assert got(only=chosen) == expected(lambda q: chosen)
        assert got(only=np.array(chosen)) == expected(lambda q: chosen)
        assert got(only=tuple(names[i] for i in chosen)) == expected(lambda q: chosen)
        assert got(only=[[i % 24, 3] for i in range(70)]) == expected(lambda q: [q % 24, 3])
        assert got(only=[[names[i % 24], names[3]] for i in range(70)]) == expected(lambda q: [q % 24, 3])
        assert got(only=per_row) == expected(lambda q: [q % 24])
        assert got(only=names[5]) == got(only=5) == expected(lambda q: [5])
        assert got(only=[]) == [[]] * 70
        rest = [i for i in range(24) if i not in chosen]
        assert got(exclude=chosen, search="exact") == expected(lambda q: rest)
        assert got(exclude=[names[i] for i in chosen], search="exact") == expected(lambda q: rest)
        assert got(exclude=per_row, search="exact") == expected(
            lambda q: [i for i in range(24) if i != q % 24]
        )
        assert got(exclude=list(range(24))) == [[]] * 70
        assert got(only=chosen, exclude=[3, 20]) == expected(lambda q: [8, 1])

    def test_wrong_only_and_exclude(self) -> None:
        queries = matrix_problem()[2]
        model = self.fitted()
        for option in ("only", "exclude"):
            for value, words in (
                ([24], f"{option}: Row 0 has label 24, expected 0 to 23"),
                ([-1], f"{option}: Row 0 has label -1"),
                (["a"], f"{option} has label names, but the model was trained without names"),
                (
                    [[1], [2]],
                    f"{option} must have one list for all queries, or one for each of the 70. Got 2",
                ),
                (sp.csr_matrix((70, 23)), f"{option} has 23 columns"),
                ([1.5], option),
                (1.5, option),
                ([[1], 2], option),
                ([None], option),
            ):
                with pytest.raises(lt.DataError, match=words):
                    model.predict(queries, **{option: value})

    def test_unknown_names_in_only(self) -> None:
        texts, labels = text_problem()
        model = self.make().fit(texts, labels)
        with pytest.raises(lt.DataError, match=r"only.*'PURPLE'"):
            model.predict(texts, only=["RED", "PURPLE"])
        assert model.predict(texts[:1], only="RED").names() == [["RED"]]

    # ---- the same, always

    def test_deterministic_and_the_same_for_any_threads(self, tmp_path: Path) -> None:
        x, y, queries = matrix_problem()
        for params in self.variants:
            one = self.make(threads=1, seed=5, **params).fit(x, y)
            two = self.make(threads=2, seed=5, **params).fit(x, y)
            same_model(one, two, tmp_path)
            same_model(one, self.make(threads=3, seed=5, **params).fit(x, y), tmp_path)
        many = sp.vstack([queries] * 3).tocsr()
        same(one.predict(many, threads=1), one.predict(many, threads=3))

    def test_instruction_sets_give_the_same_model(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        x, y, queries = matrix_problem()
        monkeypatch.setenv("LONGTAIL_ISA", "portable")
        portable = self.make().fit(x, y)
        expected = portable.predict(sp.vstack([queries] * 2).tocsr())
        for isa in ("avx2", "avx512"):
            monkeypatch.setenv("LONGTAIL_ISA", isa)
            other = self.make().fit(x, y)
            same_model(portable, other, tmp_path)
            same(other.predict(sp.vstack([queries] * 2).tocsr()), expected)

    def test_predict_from_many_threads_at_once(self) -> None:
        queries = matrix_problem()[2]
        model = self.fitted()
        expected = model.predict(queries, k=4)
        wrong: list[Any] = []

        def ask(t: int) -> None:
            try:
                for i in range(60):
                    if i % 3 == 0:
                        same(model.predict(queries, k=4), expected)
                    else:
                        row, k = (7 * t + i) % 70, 1 + i % 4
                        one = model.predict(queries[[row]], k=k)
                        assert one.labels[0].tolist() == expected.labels[row, :k].tolist()
            except BaseException as error:
                wrong.append(error)

        team = [threading.Thread(target=ask, args=(t,)) for t in range(4)]
        for thread in team:
            thread.start()
        for thread in team:
            thread.join()
        assert wrong == []

    def test_sample_weight(self, tmp_path: Path) -> None:
        x, y, _ = matrix_problem()
        weight = np.ones(120)
        weight[::3] = 0
        kept = np.flatnonzero(weight)
        # Left out, but the labels stay those of Y.
        same_model(self.make().fit(x, y, sample_weight=weight), self.make().fit(x[kept], y[kept]), tmp_path)
        same_model(self.make().fit(x, y, sample_weight=np.ones(120)), self.make().fit(x, y), tmp_path)
        name, one, two, _ = self.number
        weighted = self.make(**{name: one}).fit(x, y, sample_weight=np.full(120, 2.0))
        same_model(weighted, self.make(**{name: two}).fit(x, y), tmp_path)
        same_model(
            self.make().fit(x, y, sample_weight=[2] * 120),
            self.make().fit(x, y, sample_weight=np.full(120, 2, dtype=np.int8)),
            tmp_path,
        )

    def test_refit_forgets(self, tmp_path: Path) -> None:
        x, y, _ = matrix_problem()
        texts, labels = text_problem()
        model = self.make().fit(texts, labels)
        model.fit(x, y)
        assert model.labels_ is None
        assert model.vectorizer_ is None
        same_model(model, self.make().fit(x, y), tmp_path)

    # ---- folders

    def test_save_and_load(self, tmp_path: Path) -> None:
        x, y, queries = matrix_problem()
        for i, params in enumerate(self.storage):
            model = self.make(**params).fit(x, y)
            path = tmp_path / f"m{i}"
            model.save(path)
            loaded = lt.load(path)
            assert type(loaded) is type(model)
            assert loaded.get_params() == model.get_params()
            assert loaded.describe() == model.describe()
            for options in ({}, {"k": 24, "search": "exact"}, {"k": 3, "only": [1, 2, 3]}):
                same(loaded.predict(queries, **options), model.predict(queries, **options))
            assert loaded.explain(queries[[0]], 3) == model.explain(queries[[0]], 3)
            same(lt.load(path, verify=False).predict(queries), model.predict(queries))
            loaded.save(tmp_path / "again")
            again = lt.load(tmp_path / "again")
            same(again.predict(queries), model.predict(queries))
            loaded.save(path)  # over the files that it is mapped from
            same(loaded.predict(queries), model.predict(queries))
            same(lt.load(path).predict(queries), model.predict(queries))

    def test_save_and_load_texts_and_names(self, tmp_path: Path) -> None:
        texts, labels = text_problem()
        model = self.make(vectorizer=lt.TextVectorizer(ngram_range=(1, 2))).fit(texts, labels)
        model.save(tmp_path / "m", evaluation={"P@1": 0.5})
        loaded = lt.load(tmp_path / "m")
        same(loaded.predict(texts), model.predict(texts))
        assert loaded.predict(texts).names() == model.predict(texts).names()
        assert loaded.evaluation_ == {"P@1": 0.5}
        assert loaded.labels_ == model.labels_
        assert loaded.get_params(deep=False)["vectorizer"].get_params() == model.vectorizer.get_params()
        assert loaded.explain(texts[0], "RED") == model.explain(texts[0], "RED")

    def test_load_in_a_new_process(self, tmp_path: Path) -> None:
        texts, labels = text_problem()
        model = self.make().fit(texts, labels)
        model.save(tmp_path / "m")
        code = (
            "import sys, json, longtail as lt\n"
            "r = lt.load(sys.argv[1]).predict(json.load(sys.stdin), k=3)\n"
            "print(json.dumps([r.names(), r.scores.tobytes().hex()]))\n"
        )
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code, str(tmp_path / "m")],
            input=json.dumps(texts),
            capture_output=True,
            text=True,
            check=True,
        )
        expected = model.predict(texts, k=3)
        assert json.loads(done.stdout) == [expected.names(), expected.scores.tobytes().hex()]

    def test_damaged_folders_are_refused(self, tmp_path: Path) -> None:
        model = self.fitted()
        path = tmp_path / "m"
        model.save(path)
        good = store.read_folder(path)

        def rewritten(**changes: Any) -> Path:
            parts = {
                "kind": good.kind,
                "params": good.params,
                "facts": good.facts,
                "arrays": dict(good.arrays),
                **changes,
            }
            store.write_folder(tmp_path / "bad", **parts)
            return tmp_path / "bad"

        changes: list[dict[str, Any]] = [
            {"kind": "Checkpoint"},
            {"kind": "Model"},
            {"facts": {}},
            {"arrays": {}},
        ]
        changes += [{"arrays": {n: a for n, a in good.arrays.items() if n != name}} for name in good.arrays]
        changes += [{"facts": {n: v for n, v in good.facts.items() if n != name}} for name in good.facts]
        changes += [
            {"facts": {**good.facts, name: value}}
            for name in good.facts
            for value in (None, -1, 2**40, "x", [], 1.5)
        ]
        changes += [
            {"params": {**good.params, name: {"no": "such"}}} for name in good.params if name != "tree"
        ]
        changes += [{"params": {**good.params, "unknown": 1}}]
        for change in changes:
            with pytest.raises(lt.ModelError) as caught:
                lt.load(rewritten(**change))
            assert str(tmp_path / "bad") in str(caught.value), change
        for file in sorted(path.glob("*.npy")):
            data = file.read_bytes()
            file.write_bytes(data[:-1])
            with pytest.raises(lt.ModelError):
                lt.load(path)
            if len(data) > 128:  # behind the header
                file.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
                with pytest.raises(lt.ModelError, match=file.stem):
                    lt.load(path)
            file.write_bytes(data)
        lt.load(path)

    def test_no_folder(self, tmp_path: Path) -> None:
        with pytest.raises(lt.ModelError, match="nothing"):
            lt.load(tmp_path / "nothing")
        (tmp_path / "file").write_text("x")
        with pytest.raises(lt.ModelError):
            lt.load(tmp_path / "file")
        with pytest.raises(lt.ModelError):
            self.fitted().save(tmp_path / "file")

    # ---- labels of groups

    def test_labels_of_groups(self, tmp_path: Path) -> None:
        """The same as training on what Eagle hands to the samples; also by way of a checkpoint."""
        x, y, queries = matrix_problem()
        groups = lt.groups.random_groups(120, 3, seed=2)
        known = lt.groups.merge_labels(groups, y)
        model = self.make().fit(x, groups=groups, group_labels=known, checkpoint=tmp_path / "point")
        expected = self.make().fit(x, lt.Eagle().assign(x, groups, known))
        same_model(model, expected, tmp_path)
        plain = self.make().fit(x, groups=groups, group_labels=known, eagle=lt.Eagle(T=20))
        same(
            plain.predict(queries),
            self.make().fit(x, lt.Eagle(T=20).assign(x, groups, known)).predict(queries),
        )
        texts, labels = text_problem()
        pairs = [labels[i] + labels[i + 1] for i in range(0, 80, 2)]
        named = self.make().fit(texts, groups=np.arange(80) // 2, group_labels=pairs)
        right = sum(a[0] in b for a, b in zip(named.predict(texts, k=1).names(), labels, strict=True))
        assert right > 0.9 * len(texts)

    # ---- looking inside

    def test_explain_adds_up(self) -> None:
        x, y, queries = matrix_problem()
        model = self.make().fit(x, y)
        every = model.predict(queries, k=24, search="exact")
        for i in range(5):
            row = queries[[i]]
            for label, score in zip(every.labels[i].tolist(), every.scores[i].tolist(), strict=True):
                told = model.explain(row, label, top=1000)
                assert told.label == str(label)
                assert told.score == pytest.approx(score, rel=1e-3, abs=1e-6)
                for path in told.paths:
                    assert path[-1].n_labels == 1
                    assert [step.depth for step in path] == list(range(len(path)))
                    counts = [step.n_labels for step in path]
                    assert counts == sorted(counts, reverse=True)
                    for step in path:
                        total = step.bias + sum(part for _, part in step.contributions)
                        assert step.margin == pytest.approx(total, abs=1e-5)
                        sizes = [abs(part) for _, part in step.contributions]
                        assert sizes == sorted(sizes, reverse=True)
                        ids = {int(name) for name, _ in step.contributions}
                        assert ids <= set(row.indices.tolist())
                json.dumps(told.to_dict())
                assert f"{label}  score" in str(told)
        same_dense = model.explain(queries[[0]].toarray(), 2)
        assert same_dense.score == pytest.approx(model.explain(queries[[0]], 2).score, abs=1e-6)

    def test_explain_names_words(self) -> None:
        texts, labels = text_problem()
        told = self.make().fit(texts, labels).explain("red and noise1", "RED", top=3)
        assert told.label == "RED"
        assert any(name == "red" and part > 0 for name, part in told.paths[0][-1].contributions)
        assert "red +" in str(told)

    def test_wrong_explanations(self) -> None:
        model = self.fitted()
        queries = matrix_problem()[2]
        for x, label, words in (
            (queries, 0, "one row. Got 70"),
            (queries[[0]], 24, "from 0 to 23. Got 24"),
            (queries[[0]], -1, "from 0 to 23"),
            (queries[[0]], 1.5, "name or an id"),
            (queries[[0]], True, "name or an id"),
            (queries[[0]], "a", "trained without label names"),
        ):
            with pytest.raises(lt.DataError, match=words):
                model.explain(x, label)
        with pytest.raises(lt.ParameterError, match="'top' parameter of explain"):
            model.explain(queries[[0]], 0, top=0)

    def test_describe(self) -> None:
        facts = self.fitted().describe()
        json.dumps(facts)
        assert facts["kind"] == type(self.make()).__name__
        assert (facts["n_labels"], facts["n_features"], facts["n_rows"]) == (24, 40, 120)
        assert facts["bytes"] > 0
        assert facts["text"] is False
        assert facts["named_labels"] is False

    # ---- progress, stops, checkpoints

    def test_progress_is_reported(self) -> None:
        x, y, _ = matrix_problem()
        with progress.use(heard := Stop()):
            self.make().fit(x, y)
        assert heard.begun
        assert heard.ended == [True] * len(heard.begun)
        assert all(isinstance(total, int) and total >= 0 for _, total, _ in heard.begun)
        assert any(text.startswith("memory: about ") for text in heard.messages)
        for handle, done in heard.updates:
            assert 0 <= done <= heard.begun[handle][1]

    def test_silence_by_default(self, capfd: pytest.CaptureFixture[str]) -> None:
        x, y, queries = matrix_problem()
        self.make().fit(x, y).predict(queries)
        assert capfd.readouterr() == ("", "")

    def test_a_stop_leaves_the_model_as_it_was(self, tmp_path: Path) -> None:
        x, y, queries = matrix_problem()
        with progress.use(heard := Stop()):
            old = self.make().fit(x, y)
        expected = old.predict(queries)
        other_x, other_y, _ = matrix_problem(9, n=200, d=50, m=30)
        for at in range(len(heard.begun)):
            for error in (KeyboardInterrupt, RuntimeError):
                fresh = self.make()
                with progress.use(Stop(error, at_phase=at)), pytest.raises(error):
                    fresh.fit(x, y)
                with pytest.raises(lt.NotFittedError):
                    fresh.predict(queries)
                with progress.use(Stop(error, at_phase=at)), pytest.raises(error):
                    old.fit(other_x, other_y)
                same(old.predict(queries), expected)
                old.save(tmp_path / "m")
                same(lt.load(tmp_path / "m").predict(queries), expected)

    def big(self) -> tuple[Any, Any, Any]:
        """A model and data that take seconds, so that there is a middle to stop in."""
        x, y, _ = matrix_problem(3, n=4000, d=800, m=64)
        return self.make(**self.endless, threads=2), x, y

    @pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
    def test_a_stop_in_the_middle_is_quick(self, error: type[BaseException]) -> None:
        model, x, y = self.big()
        begin = time.monotonic()
        with progress.use(Stop(error, on_update=True)), pytest.raises(error):
            model.fit(x, y)
        assert time.monotonic() - begin < 5
        with pytest.raises(lt.NotFittedError):
            model.predict(x)

    def test_resume_gives_the_same_model(self, tmp_path: Path) -> None:
        x, y, queries = matrix_problem()
        with progress.use(heard := Stop()):
            expected = self.make().fit(x, y)
        for at in range(len(heard.begun) + 1):
            model = self.make()
            point = tmp_path / f"point{at}"
            if at < len(heard.begun):
                with progress.use(Stop(KeyboardInterrupt, at_phase=at)), pytest.raises(KeyboardInterrupt):
                    model.fit(x, y, checkpoint=point)
            with progress.use(second := Stop()):
                model.fit(x, y, checkpoint=point)
            same_model(model, expected, tmp_path)
            same(model.predict(queries), expected.predict(queries))
            with progress.use(third := Stop()):
                model.fit(x, y, checkpoint=point)
            same_model(model, expected, tmp_path)
            assert len(third.begun) <= len(second.begun)
            assert not any("train" in name for name, _, _ in third.begun)

    def test_a_checkpoint_of_something_else_is_refused(self, tmp_path: Path) -> None:
        x, y, _ = matrix_problem()
        point = tmp_path / "point"
        self.make().fit(x, y, checkpoint=point)
        other_x, other_y, _ = matrix_problem(8)
        weight = np.ones(120)
        weight[3] = 2
        number, default = self.number[0], self.make().get_params()[self.number[0]]
        for model, a, b, options, words in (
            (self.make(), other_x, other_y, {}, "data was"),
            (self.make(), x, other_y, {}, "data was"),
            (self.make(), x, y, {"sample_weight": weight}, "data was"),
            (self.make(**{number: 7.0}), x, y, {}, f"params.{number} was {default}, is 7.0"),
            (self.make(seed=7), x, y, {}, "params.seed was 0, is 7"),
        ):
            with pytest.raises(lt.ModelError, match="checkpoint of another training: .*" + words):
                model.fit(a, b, checkpoint=point, **options)
        self.make(threads=1).fit(x, y, checkpoint=point)  # threads make no difference
        (tmp_path / "foreign").mkdir()
        (tmp_path / "foreign" / "thesis.txt").write_text("x")
        with pytest.raises(lt.ModelError, match=r"thesis\.txt"):
            self.make().fit(x, y, checkpoint=tmp_path / "foreign")

    def test_killed_and_resumed(self, tmp_path: Path) -> None:
        """SIGKILL at several moments of a training in another process; the rest is done here."""
        x, y, _ = matrix_problem(4, n=1500, d=300, m=64)
        sp.save_npz(tmp_path / "x.npz", x)
        sp.save_npz(tmp_path / "y.npz", y)
        params = self.slow
        expected = self.make(**params).fit(x, y)
        code = (
            "import sys, scipy.sparse as sp, longtail as lt\n"
            "x, y = sp.load_npz(sys.argv[1] + '/x.npz'), sp.load_npz(sys.argv[1] + '/y.npz')\n"
            "model = getattr(lt, sys.argv[2])(**eval(sys.argv[3]))\n"
            "print('go', flush=True)\n"
            "model.fit(x, y, checkpoint=sys.argv[4])\n"
            "print('done', flush=True)\n"
        )
        point = tmp_path / "point"
        own = self.make(**params).get_params(deep=False)
        for wait in (0.0, 0.03, 0.1):
            with subprocess.Popen(
                [sys.executable, "-c", code, str(tmp_path), type(expected).__name__, repr(own), str(point)],
                stdout=subprocess.PIPE,
                text=True,
            ) as child:
                assert child.stdout is not None
                assert child.stdout.readline() == "go\n"
                time.sleep(wait)
                child.kill()
        model = self.make(**params).fit(x, y, checkpoint=point)
        same_model(model, expected, tmp_path)
        left = [name for name in os.listdir(point) if name.startswith(".")]
        assert left == []
