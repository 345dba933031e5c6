"""What comes out: rankings, explanations, descriptions."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from contract_base import Base
from problems import matrix_problem, text_problem

import longtail as lt


class Rankings(Base):
    """What comes out: rankings, explanations, descriptions."""

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
