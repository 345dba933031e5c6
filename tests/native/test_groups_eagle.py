"""The kernels that hand labels of groups to samples, against plain NumPy in double."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import longtail as lt
from longtail import _native
from longtail.groups.statistics import contrast_statistics, row_scales

LEVELS = ["portable", "avx2", "avx512"]


def unit(v: Any) -> Any:
    length = np.linalg.norm(v)
    return v / length if length > 0 else v


def unit_rows(x: Any) -> Any:
    return np.array([unit(row) for row in np.asarray(x.todense() if sp.issparse(x) else x, dtype=np.float64)])


def plain_eagle(x: Any, y1: Any, y2: Any, steps: int, rate: float) -> tuple[Any, Any]:
    """The published algorithm, word for word: labels × features and samples × labels."""
    x = unit_rows(x)
    y1, y2 = y1.toarray() != 0, y2.toarray()
    e = np.zeros((y2.shape[1], x.shape[1]))
    y = np.zeros((x.shape[0], y2.shape[1]))
    for label in range(y2.shape[1]):
        groups = [np.flatnonzero(y1[:, j]) for j in np.flatnonzero(y2[:, label])]
        counts = y2[y2[:, label] > 0, label]
        e[label] = unit(sum((x[g].sum(axis=0) for g in groups), np.zeros(x.shape[1])))
        for _ in range(steps):
            nearest = np.zeros(x.shape[1])
            for g in groups:
                v = x[g] @ e[label]
                nearest += x[g[v >= v.max(initial=-np.inf) - 1e-10]].sum(axis=0)
            e[label] = unit(e[label] + rate * unit(nearest))
        for g, count in zip(groups, counts, strict=True):
            best = np.argsort(-np.round(x[g] @ e[label], 9), kind="stable")
            y[g[best[: int(count)]], label] = 1
    return e, y


def plain_contrast(x: Any, y1: Any, y2: Any) -> Any:
    """Samples × labels by the contrast of groups; all groups count by how often they have the label."""
    x = unit_rows(x)
    y1, y2 = (y1.toarray() != 0).astype(float), y2.toarray()
    often = y1.sum(axis=1) / y1.sum()
    mean = often @ x
    deviation = np.sqrt(often @ x**2 - mean**2)
    weights = 1 / (deviation + np.median(deviation[deviation > 0]))
    y = np.zeros((x.shape[0], y2.shape[1]))
    for label in range(y2.shape[1]):
        share = y1 @ y2[:, label]
        if not share.any():
            continue
        v = x @ (weights * (share @ x / share.sum() - mean))
        for j in np.flatnonzero(y2[:, label]):
            g = np.flatnonzero(y1[:, j])
            best = np.argsort(-v[g], kind="stable")
            y[g[best[: int(y2[j, label])]], label] = 1
    return y


def example(
    seed: int = 0, *, n: int = 150, d: int = 40, m: int = 40, n_labels: int = 20, signed: bool = False
) -> Any:
    """Overlapping groups, empty ones, samples in none, labels without groups, rows of zeros, counts up to 3."""
    r = np.random.default_rng(seed)
    x = sp.random(n, d, density=0.2, format="csr", random_state=seed, dtype=np.float32)
    if signed:
        x.data = r.standard_normal(x.nnz).astype(np.float32)
    y1 = sp.csr_matrix((r.random((n, m)) < 1.3 / m).astype(np.float32))
    y2 = sp.csr_matrix((r.integers(1, 4, (m, n_labels)) * (r.random((m, n_labels)) < 0.1)).astype(np.float32))
    return x, y1, y2


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("steps", [0, 1, 7, 20])
def test_steps(steps: int, signed: bool) -> None:
    for seed in range(4):
        x, y1, y2 = example(seed, signed=signed)
        e, y = plain_eagle(x, y1, y2, steps, 0.1)
        for features in (x, x.toarray()):
            eagle = lt.Eagle(T=steps, rate=0.1)
            got = eagle.assign(features, y1, y2)
            embeddings = eagle.label_embeddings_
            assert sp.issparse(embeddings) == sp.issparse(features)
            embeddings = embeddings.toarray() if sp.issparse(embeddings) else embeddings
            np.testing.assert_allclose(embeddings, e, atol=1e-6)
            np.testing.assert_array_equal(got.toarray(), y)


@pytest.mark.parametrize("steps", [0, 20])
def test_large_groups_of_like_samples_with_counts(steps: int) -> None:
    """Scores lie close together, so that estimates of them decide little; equal samples stay equal."""
    r = np.random.default_rng(7)
    kinds = (r.random((12, 60)) * (r.random((12, 60)) < 0.3)).astype(np.float32)
    rows = kinds[r.integers(0, 12, 600)] + 0.02 * (r.random((600, 60)) < 0.1)
    rows[::50] = rows[1::50]
    x = sp.csr_matrix(rows.astype(np.float32))
    y1 = lt.groups.random_groups(600, 25, seed=2)
    y2 = sp.csr_matrix((r.integers(1, 9, (24, 10)) * (r.random((24, 10)) < 0.7)).astype(np.float32))
    e, y = plain_eagle(x, y1, y2, steps, 0.1)
    for features in (x, x.toarray()):
        eagle = lt.Eagle(T=steps)
        np.testing.assert_array_equal(eagle.assign(features, y1, y2).toarray(), y)
        embeddings = eagle.label_embeddings_
        embeddings = embeddings.toarray() if sp.issparse(embeddings) else embeddings
        np.testing.assert_allclose(embeddings, e, atol=1e-6)


@pytest.mark.parametrize(("steps", "rate"), [(20, 0.01), (20, 0.5), (20, 10.0), (60, 1e6), (1500, 0.5)])
def test_rates(steps: int, rate: float) -> None:
    x, y1, y2 = example(5)
    e, y = plain_eagle(x, y1, y2, steps, rate)
    eagle = lt.Eagle(steps, rate)
    np.testing.assert_array_equal(eagle.assign(x, y1, y2).toarray(), y)
    np.testing.assert_allclose(eagle.label_embeddings_.toarray(), e, atol=1e-6)


@pytest.mark.parametrize("signed", [False, True])
def test_contrast(signed: bool) -> None:
    for seed in range(6):
        x, y1, y2 = example(seed, signed=signed)
        y = plain_contrast(x, y1, y2)
        for features in (x, x.toarray()):
            np.testing.assert_array_equal(lt.Eagle().assign(features, y1, y2).toarray(), y)


def test_the_same_bits_for_any_threads_and_level(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y1, y2 = example(3, n=900, d=300, m=200, n_labels=120, signed=True)
    for steps in (None, 0, 20):
        results = []
        for level in LEVELS:
            monkeypatch.setenv("LONGTAIL_ISA", level)
            for threads in (1, 2, 5):
                eagle = lt.Eagle(steps, threads=threads)
                y = eagle.assign(x, y1, y2)
                e = eagle.label_embeddings_
                results.append([a.tobytes() for a in (y.indptr, y.indices, e.indptr, e.indices, e.data)])
        assert all(result == results[0] for result in results)


def test_wide_features_are_scattered() -> None:
    """Far more features than entries: the directions are kept by the features they touch."""
    r = np.random.default_rng(0)
    x = sp.random(60, 100_000, density=2e-4, format="csr", random_state=1, dtype=np.float32)
    y1 = lt.groups.random_groups(60, 4)
    y2 = sp.csr_matrix((r.random((15, 10)) < 0.3).astype(np.float32))
    narrow = sp.csr_matrix(x[:, np.unique(x.indices)])
    for steps in (None, 0, 20):
        wide, small = lt.Eagle(steps), lt.Eagle(steps)
        a, b = wide.assign(x, y1, y2), small.assign(narrow, y1, y2)
        assert (a != b).nnz == 0
        np.testing.assert_allclose(
            wide.label_embeddings_[:, np.unique(x.indices)].toarray(),
            small.label_embeddings_.toarray(),
            atol=1e-6,
        )


def kernel_arguments() -> dict[str, Any]:
    x, y1, y2 = example(0)
    members, bearers = y1.T.tocsr(), y2.T.tocsr()
    n_labels = bearers.shape[0]
    weights, background = contrast_statistics(x, y1, row_scales(x))
    return {
        "x_indptr": x.indptr,
        "x_indices": x.indices,
        "x_data": x.data,
        "n_features": x.shape[1],
        "scale": row_scales(x),
        "group_indptr": members.indptr,
        "samples": members.indices,
        "label_indptr": bearers.indptr,
        "groups": bearers.indices,
        "counts": bearers.data.astype(np.int32),
        "family_indptr": np.arange(n_labels + 1),
        "members": np.arange(n_labels, dtype=np.int32),
        "everywhere": np.zeros(n_labels, np.uint8),
        "steps": 3,
        "rate": 0.1,
        "feature_weights": weights,
        "background": background,
        "embeddings": True,
        "threads": 1,
        "report": None,
    }


def test_arguments_that_do_not_fit_are_refused() -> None:
    good = kernel_arguments()
    _native.groups.assign_csr(**good)
    one = np.zeros(1, np.int32)
    for name, value in (
        ("scale", good["scale"][1:]),
        ("samples", good["samples"] + 1000),
        ("groups", good["groups"] + 1000),
        ("groups", good["groups"] - 1000),
        ("counts", good["counts"][1:]),
        ("counts", good["counts"] * 0),
        ("members", one),
        ("members", good["members"] * 0),
        ("members", good["members"] + 1),
        ("family_indptr", good["family_indptr"][1:]),
        ("family_indptr", good["family_indptr"][::-1].copy()),
        ("everywhere", one.astype(np.uint8)),
        ("steps", -1),
        ("feature_weights", None),
        ("feature_weights", good["background"]),
        ("background", good["background"][1:]),
        ("x_indices", good["x_indices"] + 1000),
    ):
        with pytest.raises(ValueError, match=r".+"):
            _native.groups.assign_csr(**{**good, name: value})
    two_families = {"family_indptr": np.array([0, len(good["members"])]), "everywhere": one.astype(np.uint8)}
    with pytest.raises(ValueError, match="same groups"):
        _native.groups.assign_csr(**{**good, **two_families})
