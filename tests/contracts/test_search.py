"""What ``predict`` promises of every kind of search, through Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from problems import matrix_problem, same

import longtail as lt

MODELS: dict[str, dict[str, Any]] = {
    "one tree": {},
    "binary": {"arity": 2, "max_leaf": 1},
    "three trees": {"trees": 3},
    "sigmoid": {"node_score": "sigmoid", "label_score": "sigmoid"},
    "raw": {"node_score": "raw", "label_score": "raw"},
}


@pytest.fixture(scope="module", params=MODELS)
def model(request: pytest.FixtureRequest) -> Any:
    x, y, _ = matrix_problem()
    return lt.LinearTree(**{"arity": 3, "max_leaf": 4, **MODELS[request.param]}).fit(x, y)


QUERIES = matrix_problem()[2]


def test_exact_is_a_beam_of_everything_with_all_labels_in_the_list(model: Any) -> None:
    for options in ({}, {"only": [1, 4, 9, 20]}, {"exclude": [0, 3]}):
        found = model.predict(QUERIES, k=5, search="exact", **options)
        every = model.predict(QUERIES, k=24, beam=10**9, **options)
        assert np.array_equal(found.labels, every.labels[:, :5])
        assert np.array_equal(found.scores, every.scores[:, :5])


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"beam": 2},
        {"search": "exact"},
        {"search": "budget", "budget": 4},
        {"search": "exact", "slack": 0.3},
    ],
)
def test_one_row_is_a_row_of_many(model: Any, options: dict[str, Any]) -> None:
    if options.get("slack") and model.label_score == "raw":
        pytest.skip("raw scores have no slack")
    many = model.predict(QUERIES, k=4, **options)
    opened = model.search_stats_["nodes_opened"]
    for form in (
        sp.csr_matrix,
        sp.csr_array,
        lambda row: row.toarray(),
        lambda row: sp.csr_matrix(row, dtype=float),
    ):
        for i in range(0, QUERIES.shape[0], 7):
            one = model.predict(form(QUERIES[i]), k=4, **options)
            assert np.array_equal(one.labels[0], many.labels[i])
            assert np.array_equal(one.scores[0], many.scores[i])
            assert model.search_stats_["nodes_opened"].tolist() == [opened[i]]
            assert not one.labels.flags.writeable


def test_one_row_that_is_wrong_is_told_like_many(model: Any) -> None:
    row = QUERIES[0]
    with pytest.raises(lt.DataError, match="has 39 columns, expected 40"):
        model.predict(row[:, :39])
    bad = row.copy()
    bad.data = bad.data.copy()
    bad.data[0] = np.nan
    with pytest.raises(lt.DataError, match="not finite"):
        model.predict(bad)
    twice = sp.csr_matrix((np.ones(3, np.float32), np.array([7, 2, 7]), np.array([0, 3])), shape=(1, 40))
    summed = sp.csr_matrix(([1, 2], ([0, 0], [2, 7])), shape=(1, 40))
    same(model.predict(twice), model.predict(summed))


def test_settings_changed_between_single_queries_count(model: Any) -> None:
    row, fresh = QUERIES[3], lt.LinearTree(**{**model.get_params(deep=False)})
    fresh.fit(*matrix_problem()[:2])
    before = fresh.predict(row, k=24)
    if "raw" not in (model.label_score,):
        fresh.set_params(hinge_power=1) if model.label_score == "hinge" else fresh.set_params(
            label_score="hinge"
        )
        assert not np.array_equal(fresh.predict(row, k=24).scores, before.scores)
    fresh.set_params(beam=0)
    with pytest.raises(lt.ParameterError, match="'beam' parameter of LinearTree"):
        fresh.predict(row, k=24)


def test_budgets(model: Any) -> None:
    exact = model.predict(QUERIES, k=5, search="exact")
    same(model.predict(QUERIES, k=5, search="budget", budget=10**6), exact)
    same(model.predict(QUERIES, k=5, search="budget", time_budget=1e8), exact)
    model.predict(QUERIES, k=5, search="budget", budget=3, time_budget=1e6)
    assert model.search_stats_["nodes_opened"].max() <= 3


@pytest.mark.parametrize("rows", [1, 5])
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"search": "fast"}, "'search' parameter of predict must be one of 'beam', 'exact', 'budget'"),
        ({"search": "budget"}, "needs 'budget'"),
        ({"budget": 5}, "go with search='budget' only"),
        ({"search": "exact", "time_budget": 5}, "go with search='budget' only"),
        (
            {"search": "budget", "budget": 0},
            "'budget' parameter of predict must be None or a whole number in",
        ),
        (
            {"search": "budget", "time_budget": 0},
            "'time_budget' parameter of predict must be None or a number in",
        ),
        ({"slack": -1}, "'slack' parameter of predict must be a number in"),
        ({"slack": "much"}, "'slack' parameter of predict must be a number in"),
        ({"beam": [3]}, "'beam' parameter of predict must be None or a whole number"),
        ({"k": 0}, "'k' parameter of predict must be a whole number >= 1"),
        ({"k": True}, "'k' parameter of predict must be a whole number >= 1"),
    ],
)
def test_wrong_arguments(model: Any, rows: int, options: dict[str, Any], words: str) -> None:
    model.predict(QUERIES[0], k=1)  # what was asked before must not let a wrong one through
    with pytest.raises(lt.ParameterError, match=words):
        model.predict(QUERIES[:rows], **options)


def test_slack_needs_bounded_scores() -> None:
    x, y, _ = matrix_problem()
    raw = lt.LinearTree(arity=3, max_leaf=4, label_score="raw").fit(x, y)
    with pytest.raises(lt.ParameterError, match="'slack' parameter of predict must be 0 for raw scores"):
        raw.predict(QUERIES, slack=0.1)


def test_one_text_is_one_of_many() -> None:
    texts = ["a red fox", "a lazy dog", "red dog", "a fox and a dog", "zebra"]
    model = lt.LinearTree(max_leaf=1, arity=2).fit(texts[:3], [["fox"], ["dog"], ["dog", "red"]])
    many = model.predict(texts, k=3)
    for i, text in enumerate(texts):
        for form in (text, [text], (text,)):
            one = model.predict(form, k=3)
            assert one.names() == [many.names()[i]]
            assert np.array_equal(one.scores[0], many.scores[i])
    assert model.predict("", k=3).labels.shape == (1, 3)
    with pytest.raises(lt.DataError, match="trained on features"):
        lt.LinearTree().fit(*matrix_problem()[:2]).predict("a text")
