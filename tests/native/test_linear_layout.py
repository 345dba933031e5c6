"""How weights are packed: what comes out of a chunk is what NumPy says went in, for every type and form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from linear_kit import Data, dense_weights, features, labels, predict, predictor, train_level

from longtail.linear.plan import LevelPlan

# Children of the one node: one block, a bit more, child numbers of one byte at their limit and of two bytes.
WIDTHS = [1, 3, 16, 17, 100, 256, 257, 300]


def one_node(
    n_children: int, weights: str = "f32", threshold: float = 0.05, dense: bool = False
) -> tuple[Data, Any]:
    """A trained node whose children are the labels. Features differ in size, so that some rows of weights keep
    most children and others a few."""
    rng = np.random.default_rng(n_children)
    x = sp.csr_matrix(features(rng, 200, 150, 0.1) @ sp.diags(np.geomspace(0.05, 2, 150)), dtype=np.float32)
    y = labels(rng, 200, n_children, 3.0)
    data = Data(np.ascontiguousarray(x.toarray()) if dense else x, y)
    order = rng.permutation(n_children).astype(np.int32)
    begin = np.arange(n_children, dtype=np.int64)
    plan = LevelPlan(np.array([0, n_children]), ~order, begin, begin + 1, order, all_rows=True)
    arrays, _ = train_level(data, plan, weights=weights, threshold=threshold)
    return data, arrays


def matrix_of(data: Data, arrays: Any, weights: str) -> tuple[np.ndarray, np.ndarray]:
    """(children × features, children), by child_weights."""
    p = predictor([[arrays]], data, weights)
    got = [dense_weights(p, data, 0, 0, 0, j) for j in range(len(arrays["child"]))]
    return np.array([w for w, _ in got]), np.array([b for _, b in got])


def rounded(w: np.ndarray, weights: str) -> np.ndarray:
    """What a stored weight reads as."""
    if weights == "f16":
        return np.clip(w, -65504, 65504).astype(np.float16).astype(np.float32)
    if weights == "int8":
        scale = (np.abs(w).max(axis=1, keepdims=True) / np.float32(127)).astype(np.float32)
        with np.errstate(invalid="ignore", divide="ignore"):
            steps = np.rint(np.clip(w / scale, -127, 127))
        return np.where(scale > 0, steps * scale, 0).astype(np.float32)
    return w


def row_forms(arrays: Any) -> set[str]:
    """Which forms of rows a chunk of more than 16 children has."""
    if len(arrays["child"]) <= 16:
        return {"narrow"}
    at = 2 * arrays["row_at"][:-1].astype(np.int64)
    headers = arrays["blob"][at] + 256 * arrays["blob"][at + 1].astype(np.int64)
    return {"masks" if h == 0x8000 else "list" for h in headers.tolist()}


@pytest.mark.parametrize("n_children", WIDTHS)
@pytest.mark.parametrize("weights", ["f32", "f16", "int8"])
def test_weights_read_back_as_numpy_rounds_them(n_children: int, weights: str) -> None:
    data, plain = one_node(n_children)
    w, b = matrix_of(data, plain, "f32")
    _, packed = one_node(n_children, weights)
    w_packed, b_packed = matrix_of(data, packed, weights)
    np.testing.assert_array_equal(w_packed, rounded(w, weights))
    np.testing.assert_array_equal(b_packed, b)
    if n_children > 100:
        assert row_forms(packed) == {"masks", "list"}


@pytest.mark.parametrize("n_children", WIDTHS)
@pytest.mark.parametrize("weights", ["f32", "f16", "int8"])
@pytest.mark.parametrize("isa", ["portable", "avx2", "avx512"])
def test_margins_are_sums_in_the_order_of_the_query(
    n_children: int, weights: str, isa: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LONGTAIL_ISA", isa)
    data, arrays = one_node(n_children, weights)
    w, b = matrix_of(data, arrays, weights)
    p = predictor([[arrays]], data, weights)
    ids, scores, _ = predict(p, data.x, k=n_children, label_score="raw", node_score="raw")
    label_of = ~arrays["child"]
    scale = arrays["scale"] if weights == "int8" else np.ones(n_children, dtype=np.float32)
    steps = np.rint(w / np.where(scale > 0, scale, 1)[:, None]).astype(np.float32) if weights == "int8" else w
    for i in range(data.x.shape[0]):
        row = data.x[[i]]
        margin = np.zeros(n_children, dtype=np.float32)
        for f, v in zip(row.indices, row.data, strict=True):
            margin = margin + steps[:, f] * v
        margin = margin * scale + b
        found = np.empty(n_children, dtype=np.float32)
        found[ids[i]] = scores[i]
        np.testing.assert_array_equal(found[label_of], margin)


@pytest.mark.parametrize("n_children", [16, 300])
def test_repacking_is_packing_the_plain_weights(n_children: int) -> None:
    data, plain = one_node(n_children)
    for weights in ("f32", "f16", "int8"):
        _, packed = one_node(n_children, weights)
        again = predictor([[plain]], data).repacked(weights, 2)[0][0]
        for name in packed:
            np.testing.assert_array_equal(packed[name], again[name], err_msg=name)


@pytest.mark.parametrize("n_children", [5, 40])
def test_dense_and_sparse_features_give_the_same_chunk(n_children: int) -> None:
    data, arrays = one_node(n_children)
    _, from_dense = one_node(n_children, dense=True)
    w, _ = matrix_of(data, arrays, "f32")
    w_dense, _ = matrix_of(data, from_dense, "f32")
    np.testing.assert_allclose(w, w_dense, atol=2e-2)  # sums run in another order
    assert (w_dense != 0).sum() > 0


def test_everything_below_the_threshold_leaves_an_empty_chunk() -> None:
    data, arrays = one_node(20, threshold=1e9)
    assert len(arrays["row_at"]) == 1
    ids, scores, _ = predict(predictor([[arrays]], data), data.x, k=20, label_score="raw", node_score="raw")
    assert (ids == ids[0]).all()
    np.testing.assert_array_equal(scores, np.tile(np.sort(arrays["bias"])[::-1], (200, 1)))


def test_huge_weights_stay_finite() -> None:
    """Tiny features want huge weights: beyond half precision they become its largest number."""
    x = sp.csr_matrix(np.array([[1e-6], [2e-6], [-1e-6]], dtype=np.float32))
    y = sp.csr_matrix(np.array([[1, 0], [1, 0], [0, 1]], dtype=np.float32))
    data = Data(x, y)
    order = np.arange(2, dtype=np.int32)
    begin = np.arange(2, dtype=np.int64)
    plan = LevelPlan(np.array([0, 2]), ~order, begin, begin + 1, order, all_rows=True)
    options = {"c": 1e12, "bias": 0.0, "threshold": 0.0, "tol": 1e-6}
    w, _ = matrix_of(data, train_level(data, plan, **options)[0], "f32")
    assert np.abs(w).max() > 65504
    half, _ = matrix_of(data, train_level(data, plan, weights="f16", **options)[0], "f16")
    assert np.abs(half).max() == 65504
    eighth, _ = matrix_of(data, train_level(data, plan, weights="int8", **options)[0], "int8")
    np.testing.assert_allclose(eighth, w, rtol=1e-6)


def test_features_beyond_the_first_bitmap_word() -> None:
    """Thousands of features: the two-level index is more than one word wide, with holes."""
    rng = np.random.default_rng(0)
    x = features(rng, 400, 9000, 0.005)
    y = labels(rng, 400, 20, 3.0)
    data = Data(x, y)
    assert data.n_internal > 3 * 64 * 64 / 2
    order = np.arange(20, dtype=np.int32)
    begin = np.arange(20, dtype=np.int64)
    plan = LevelPlan(np.array([0, 10, 20]), ~order, begin, begin + 1, order)
    arrays, _ = train_level(data, plan, threshold=0.02)
    p = predictor([[arrays]], data)
    w = np.zeros((20, 9000), dtype=np.float32)
    b = np.zeros(20, dtype=np.float32)
    for chunk in range(2):
        for j in range(10):
            w[10 * chunk + j], b[10 * chunk + j] = dense_weights(p, data, 0, 0, chunk, j)
    ids, scores, _ = predict(p, x, k=20, label_score="raw", node_score="raw")
    found = np.empty((400, 20), dtype=np.float32)
    np.put_along_axis(found, ids.astype(np.int64), scores, axis=1)
    np.testing.assert_allclose(found, x @ w.T + b, atol=1e-5)
