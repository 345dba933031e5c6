"""Made-up sets: the shape asked for, deterministic, learnable."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import longtail as lt
from benchmarks.side_by_side.synthetic import SHAPES, Shape, make

SMALL = Shape(labels=400, rows=1500, features=3000, test_rows=300, meaning=0.4, mistaken=0.2, strays=0.2)


@pytest.fixture(scope="module")
def small():
    return make(SMALL)


def test_shapes_and_forms(small):
    x, y, x_test, y_test = small
    assert x.shape == (1500, 3000)
    assert y.shape == (1500, 400)
    assert x_test.shape == (300, 3000)
    assert y_test.shape == (300, 400)
    for matrix in small:
        assert matrix.dtype == np.float32
        matrix.check_format()
        assert matrix.has_sorted_indices
        assert matrix.has_canonical_format
    for features in (x, x_test):
        assert np.allclose(np.asarray(features.multiply(features).sum(axis=1)).ravel(), 1, atol=1e-5)


def test_every_label_is_seen_and_frequencies_fall_off(small):
    frequency = np.sort(np.bincount(small[1].indices, minlength=400))[::-1]
    assert frequency[-1] >= 1
    assert frequency[0] > 8 * np.median(frequency)


def test_the_same_for_a_seed_and_another_for_another(small):
    again, other = make(SMALL), make(dataclasses.replace(SMALL, seed=1))
    for a, b in zip(small, again, strict=True):
        assert np.array_equal(a.indptr, b.indptr)
        assert np.array_equal(a.indices, b.indices)
        assert np.array_equal(a.data, b.data)
    assert not np.array_equal(small[0].indices, other[0].indices)


def test_training_and_test_rows_differ(small):
    """The test set must not be a copy of what was trained on."""
    similarity = (small[2] @ small[0].T).max(axis=1).toarray()
    assert similarity.max() < 0.99


def test_labels_can_be_learnt_from_features(small):
    x, y, x_test, y_test = small
    ranking = lt.LinearTree(max_leaf=20).fit(x, y).predict(x_test, k=1)
    learnt = lt.metrics.evaluate(ranking, y_test, k=1)["P@1"]
    commonest = np.asarray(y.sum(axis=0)).argmax()
    assert learnt > 0.4 > 2 * y_test[:, commonest].mean()


def test_named_shapes_are_those_of_the_comparison():
    sizes = {name: (shape.labels, shape.rows) for name, shape in SHAPES.items()}
    assert sizes == {
        "synthetic-30k": (30_000, 80_000),
        "synthetic-131k": (131_000, 300_000),
        "synthetic-670k": (670_000, 500_000),
    }
