"""What is special about HierarchicalSoftmax; what it shares with all models is in tests/contracts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import longtail as lt
from longtail.softmax.decisions import decisions_of
from longtail.softmax.vectors import Vectors

TEXTS = ["red fox", "red dog", "lazy dog", "lazy cat", "blue bird", "red bird"] * 6
LABELS = [["fox"], ["dog"], ["dog"], ["cat"], ["bird"], ["bird", "fox"]] * 6
N_LABELS = 4


def fitted(**params: Any) -> Any:
    own = {"dim": 16, "epochs": 40, "min_count": 1, "deterministic": True}
    return lt.HierarchicalSoftmax(**{**own, **params}).fit(TEXTS, LABELS)


def test_probabilities_of_all_labels_sum_to_one() -> None:
    n = N_LABELS
    trees = (
        None,
        lt.trees.complete_tree(n, arity=3, max_leaf=1),
        lt.trees.complete_tree(n, arity=2, max_leaf=3),
    )
    for tree in trees:
        model = fitted(tree=tree)
        every = model.predict(TEXTS[:6], k=n)
        assert np.allclose(every.scores.sum(axis=1), 1, atol=1e-5)
        assert every.names()[0][0] == "fox"
        assert (model.search_stats_["nodes_opened"] >= 1).all()


def test_any_tree_survives_a_folder(tmp_path: Path) -> None:
    n = N_LABELS
    for i, tree in enumerate((None, lt.trees.complete_tree(n, arity=3, max_leaf=2))):
        model = fitted(tree=tree)
        model.save(tmp_path / str(i))
        loaded = lt.load(tmp_path / str(i))
        assert loaded.tree == tree
        assert loaded.trees_[0] == model.trees_[0]
        assert loaded.predict(TEXTS).scores.tobytes() == model.predict(TEXTS).scores.tobytes()


def test_the_tradeoff_chooses_the_tree(tmp_path: Path) -> None:
    shallow = fitted(tradeoff=2.0)
    near = fitted(tradeoff=0.0)
    counts = shallow.label_frequencies_
    expected = [(model.trees_[0].depth * counts).sum() for model in (fitted(), shallow, near)]
    assert expected[0] <= expected[1] <= expected[2]
    for model in (shallow, near):
        assert model.trees_[0].n_leaves == N_LABELS
        model.save(tmp_path / "m")
        loaded = lt.load(tmp_path / "m")
        assert loaded.tradeoff == model.tradeoff
        assert loaded.predict(TEXTS).scores.tobytes() == model.predict(TEXTS).scores.tobytes()


def test_similar_labels_share_a_side_of_the_tree() -> None:
    """Words pair labels in one way, rows in another: each side of the root has the pairs of one of them."""
    texts = [f"{'warm' if i % 4 < 2 else 'cold'} w{i}" for i in range(80)]
    labels = [
        [f"{'red' if i % 2 else 'blue'}{i % 4}", f"{'red' if i % 2 else 'blue'}{(i + 2) % 4}"]
        for i in range(80)
    ]
    for similarity, pairs in (("features", {0, 1}), ("labels", {0, 2})):
        y = [[int(name[-1]) for name in row[: 1 if similarity == "features" else 2]] for row in labels]
        model = lt.HierarchicalSoftmax(dim=4, epochs=1, tradeoff=0.0, similarity=similarity).fit(texts, y)
        parent = model.trees_[0].parent[model.trees_[0].leaf_of]
        assert {label for label in range(4) if parent[label] == parent[0]} == pairs


def test_a_tree_of_other_labels_is_refused() -> None:
    with pytest.raises(lt.DataError, match="The tree has 3 labels and Y has 4"):
        fitted(tree=lt.trees.complete_tree(3))


def test_a_tree_that_is_given_is_not_built() -> None:
    with pytest.raises(
        lt.ParameterError, match="'tradeoff' parameter of HierarchicalSoftmax is for a tree that it builds"
    ):
        fitted(tree=lt.trees.complete_tree(N_LABELS), tradeoff=1.0)


def test_the_default_tree_has_frequent_labels_high() -> None:
    y = sp.csr_matrix(np.eye(8)[[0] * 20 + [1] * 10 + list(range(2, 8))])
    model = lt.HierarchicalSoftmax(dim=4, epochs=1).fit(y, y)
    depth = model.trees_[0].depth
    assert depth[0] == 1
    assert depth[1] == 2
    assert depth[2:].min() > 2


def test_embeddings_are_averages() -> None:
    model = fitted(word_ngrams=1)
    one, two, both = model.embed(["red", "dog", "red dog"])
    end = model.embed([""])[0]
    assert model.embed(TEXTS).shape == (36, 16)
    assert np.allclose(both, (2 * one - end + 2 * two - end + end) / 3, atol=1e-5)


def test_odd_texts_are_answered() -> None:
    model = fitted()
    for text in ("", " ", "words nobody knows", "red " * 5000, "\x00", "\ud800 red"):
        ranking = model.predict(text, k=4)
        assert (ranking.labels >= 0).all()
        assert np.isfinite(ranking.scores).all()


def test_pretrained_vectors_are_where_training_begins(tmp_path: Path) -> None:
    path = tmp_path / "own.vec"
    path.write_text("3 16\nred " + "0.5 " * 16 + "\nnobody " + "9 " * 16 + "\ndog " + "-0.25 " * 15 + "1\n")
    model = fitted(pretrained=path, epochs=1, lr=1e-12, word_ngrams=1)
    words = model.vectorizer_.words()
    rows = model._inputs.rows()
    assert np.allclose(rows[words.index("red")], 0.5)
    assert np.allclose(rows[words.index("dog")], [-0.25] * 15 + [1])
    assert np.abs(rows[words.index("fox")]).max() <= 1 / 16
    headless = tmp_path / "headless.vec"
    headless.write_text("red " + "0.5 " * 16 + "\n")
    assert np.allclose(
        fitted(pretrained=headless, epochs=1, lr=1e-12)._inputs.rows()[words.index("red")], 0.5
    )
    model.save(tmp_path / "m")
    assert lt.load(tmp_path / "m").pretrained == str(path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("3 17\nred 1\n", "vectors of 17 places, the model has dim=16"),
        ("red 1 2\n", "line 1 must have 16 finite numbers. Got 2"),
        ("red " + "x " * 16, "line 1 holds something that is no number"),
        ("red " + "nan " * 16, "line 1 must have 16 finite numbers"),
        ("nobody " + "1 " * 16, "has none of the words"),
    ],
)
def test_wrong_vectors_are_told(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "bad.vec"
    path.write_text(content)
    with pytest.raises(lt.DataError, match=words):
        fitted(pretrained=path)


def test_vectors_need_words(tmp_path: Path) -> None:
    with pytest.raises(lt.DataError, match="No such file"):
        fitted(pretrained=tmp_path / "nothing.vec")
    with pytest.raises(lt.ParameterError, match="'pretrained' parameter of HierarchicalSoftmax"):
        lt.HierarchicalSoftmax(pretrained="some.vec").fit(np.eye(3), np.eye(3))


def test_a_rate_that_is_too_large_is_told() -> None:
    with pytest.raises(lt.ParameterError, match="'lr' parameter of HierarchicalSoftmax is too large"):
        fitted(lr=1e6)


def test_stored_small() -> None:
    model = fitted()
    for kind, share in (("f16", 0.51), ("int8", 0.52)):
        small = model.to_weights(kind)
        assert small.describe()["bytes"] < share * model.describe()["bytes"]
        assert small.weights_ == kind
        assert small.predict(TEXTS, k=1).names() == model.predict(TEXTS, k=1).names()
        same = fitted(weights=kind)
        assert same.predict(TEXTS).scores.tobytes() == small.predict(TEXTS).scores.tobytes()


def test_vectors_that_are_no_finite_numbers_are_refused(tmp_path: Path) -> None:
    for kind in ("f32", "f16", "int8"):
        model = fitted(weights=kind)
        rows = model._outputs.data if model._outputs.scale is None else model._outputs.scale
        rows.reshape(-1)[0] = 0x7C00 if kind == "f16" else np.inf
        model.save(tmp_path / kind)
        with pytest.raises(lt.ModelError, match="the output vectors have values that are no finite numbers"):
            lt.load(tmp_path / kind)


def test_tiny_vectors_become_zeros() -> None:
    rows = np.array([[1e-45] * 16, [1.0] * 16, [0.0] * 16], np.float32)
    stored = Vectors.stored(rows, "int8")
    assert np.array_equal(stored.rows(), np.where(rows == 1, np.float32(1), 0))


def test_searches() -> None:
    model = fitted()
    exact = model.predict(TEXTS, k=2)
    assert np.array_equal(model.predict(TEXTS, k=2, search="exact").labels, exact.labels)
    assert np.array_equal(model.predict(TEXTS, k=2, beam=100).labels, exact.labels)
    assert np.array_equal(model.predict(TEXTS, k=2, search="budget", budget=100).labels, exact.labels)
    model.predict(TEXTS, k=2, budget=1)
    assert (model.search_stats_["nodes_opened"] == 1).all()
    assert np.array_equal(model.predict(TEXTS, k=2, time_budget=1e9).labels, exact.labels)
    model.predict(TEXTS, k=2, search="budget", budget=2, time_budget=1e9)
    assert model.search_stats_["nodes_opened"].max() == 2
    model.predict(
        TEXTS, k=N_LABELS, time_budget=1e-3
    )  # over before it begins: the root is opened all the same
    assert (model.search_stats_["nodes_opened"] >= 1).all()
    assert model.search_stats_["nodes_opened"].sum() < len(TEXTS) * (N_LABELS - 1)
    for options, words in (
        ({"search": "exact", "beam": 3}, "'beam' parameter of predict belongs to search='beam', not 'exact'"),
        ({"search": "beam", "budget": 3}, "'budget' parameter of predict belongs to search='budget'"),
        ({"search": "budget"}, "needs the 'budget' parameter"),
        (
            {"search": "exact", "time_budget": 3},
            "'time_budget' parameter of predict belongs to search='budget'",
        ),
        ({"time_budget": 0}, "'time_budget' parameter of predict"),
        ({"search": "widest"}, "one of 'exact', 'beam', 'budget'"),
        ({"slack": -1}, "'slack' parameter of predict"),
    ):
        with pytest.raises(lt.ParameterError, match=words):
            model.predict(TEXTS, **options)


def test_explanations_name_n_grams_and_add_up() -> None:
    for subwords in (None, (3, 4)):
        model = fitted(subwords=subwords)
        told = model.explain("a lazy dog", "dog", top=100)
        assert told.score == pytest.approx(model.predict("a lazy dog", only="dog").scores[0, 0], rel=1e-4)
        names = {name for step in told.paths[0] for name, _ in step.contributions}
        assert {"dog", "lazy dog", "</s>"} <= names
        assert ("laz" in names) == (subwords is not None)
        for step in told.paths[0]:
            assert step.margin == pytest.approx(sum(part for _, part in step.contributions), abs=1e-6)


def test_memory_is_estimated() -> None:
    estimate = lt.HierarchicalSoftmax(dim=100, min_count=1).memory_estimate(TEXTS, LABELS)
    model = fitted(dim=100, epochs=1)
    rows = model.n_features_in_ + decisions_of(model.trees_[0]).n_vectors
    assert estimate.vectors == rows * 112 * 4
    assert estimate.peak >= estimate.vectors
    assert str(estimate).startswith("about ")


def test_losses_fall() -> None:
    losses = fitted(epochs=20).training_stats_["losses"]
    assert len(losses) == 20
    assert losses[-1] < 0.5 * losses[0]
