"""What goes in: features, labels, weights and texts in all their forms, and the wrong ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from contract_base import Base
from problems import matrix_problem, same, text_problem

import longtail as lt


class Inputs(Base):
    """What goes in: features, labels, weights and texts in all their forms, and the wrong ones."""

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
