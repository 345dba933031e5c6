"""How weights are packed: what comes out of a chunk is what NumPy says went in, for every type and form."""

from __future__ import annotations

from dataclasses import dataclass
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


def half_scale(w: np.ndarray) -> np.ndarray:
    """The power of two of each child that brings its largest weight to [2^14, 2^15)."""
    largest = np.abs(w).max(axis=1, keepdims=True)
    exponent = np.maximum(np.frexp(largest)[1] - 15, -126)
    return np.where(largest > 0, np.ldexp(np.float32(1), exponent), 1).astype(np.float32)


def rounded(w: np.ndarray, weights: str) -> np.ndarray:
    """What a stored weight reads as."""
    if weights == "f16":
        scale = half_scale(w)
        return (w / scale).astype(np.float16).astype(np.float32) * scale
    if weights == "int8":
        scale = (np.abs(w).max(axis=1, keepdims=True) / np.float32(127)).astype(np.float32)
        with np.errstate(invalid="ignore", divide="ignore"):
            steps = np.rint(np.clip(w / scale, -127, 127))
        return np.where(scale > 0, steps * scale, 0).astype(np.float32)
    return w


@dataclass
class Row:
    """A row of the only chunk, read as native/linear/layout.hpp describes it."""

    feature: int  # internal number
    width: int  # bytes of each end of its group
    form: str
    children: list[int]
    values: np.ndarray


def rows_of(arrays: Any, weights: str) -> list[Row]:
    """All rows of a level of one chunk, by feature."""
    kind = {"f32": np.float32, "f16": np.float16, "int8": np.int8}[weights]
    size, n_children = np.dtype(kind).itemsize, len(arrays["child"])
    n_blocks = -(-n_children // 16)
    number = np.uint8 if n_children <= 256 else np.uint16
    blob, words = arrays["blob"].tobytes(), arrays["words"].reshape(-1, 3)[:-1]
    found = []
    at = 0
    for top, (bits, before) in enumerate(arrays["tops"].reshape(-1, 2).tolist()):
        assert before == at
        for word in (w for w in range(64) if bits >> w & 1):
            low, high, place = map(int, words[at])
            at += 1
            width, place = 1 << (place & 3), place & ~3
            features = [f for f in range(64) if (low | high << 32) >> f & 1]
            assert features
            begin = 0
            for rank, feature in enumerate(features):
                low_end = place - (rank + 1) * width
                end = int.from_bytes(blob[low_end : low_end + width], "little")
                row = blob[place + begin : place + end]
                begin = end
                number_bytes = np.dtype(number).itemsize
                n = len(row) // (number_bytes + size)
                if n_blocks > 1 and n * number_bytes < 2 * n_blocks and n * (number_bytes + size) == len(row):
                    form, children = "list", np.frombuffer(row[: n * number_bytes], number).tolist()
                else:
                    masks = np.frombuffer(row[: 2 * n_blocks], np.uint16).tolist()
                    children = [16 * b + j for b, m in enumerate(masks) for j in range(16) if m >> j & 1]
                    form = "masks"
                values = np.frombuffer(row[len(row) - len(children) * size :], kind)
                found.append(Row((top * 64 + word) * 64 + feature, width, form, children, values))
    assert at == len(words)
    return found


@pytest.mark.parametrize("n_children", WIDTHS)
@pytest.mark.parametrize("weights", ["f32", "f16", "int8"])
def test_weights_read_back_as_numpy_rounds_them(n_children: int, weights: str) -> None:
    data, plain = one_node(n_children)
    w, b = matrix_of(data, plain, "f32")
    _, packed = one_node(n_children, weights)
    w_packed, b_packed = matrix_of(data, packed, weights)
    np.testing.assert_array_equal(w_packed, rounded(w, weights))
    np.testing.assert_array_equal(b_packed, b)


@pytest.mark.parametrize("n_children", WIDTHS)
@pytest.mark.parametrize("weights", ["f32", "f16", "int8"])
def test_the_bytes_are_as_described(n_children: int, weights: str) -> None:
    """Read by NumPy alone, with both forms of rows where there are many children."""
    data, packed = one_node(n_children, weights)
    w, _ = matrix_of(data, packed, weights)
    scale = np.ones(n_children, np.float32) if weights == "f32" else packed["scale"]
    rows = rows_of(packed, weights)
    got = np.zeros((n_children, data.n_internal), np.float32)
    for row in rows:
        assert row.children == sorted(set(row.children))
        assert len(row.children) == len(row.values) > 0
        got[row.children, row.feature] = row.values.astype(np.float32) * scale[row.children]
        number = 1 if n_children <= 256 else 2
        shorter = n_children > 16 and len(row.children) * number < 2 * -(-n_children // 16)
        assert row.form == ("list" if shorter else "masks")
    np.testing.assert_array_equal(got[:, data.rank], w)
    assert (np.diff([row.feature for row in rows]) > 0).all()
    if n_children > 100:
        assert {row.form for row in rows} == {"masks", "list"}


def test_ends_are_as_wide_as_they_have_to_be() -> None:
    widths = set()
    for n_children in (1, 100, 2000):
        _, packed = one_node(n_children, threshold=0.0)
        for row in rows_of(packed, "f32"):
            widths.add(row.width)
    assert widths == {1, 2, 4}


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
    scale = np.ones(n_children, dtype=np.float32) if weights == "f32" else arrays["scale"]
    steps = (w / np.where(scale > 0, scale, 1)[:, None]).astype(np.float32)
    if weights == "int8":
        steps = np.rint(steps)
    # Up to 8 blocks of 16 have rows of masks summed up in registers, and apart from them those that list children.
    plain_data, plain = one_node(n_children)
    n_values = np.count_nonzero(matrix_of(plain_data, plain, "f32")[0], axis=0)
    blocks = -(-n_children // 16)
    apart = (n_values < 2 * blocks) & (1 < blocks <= 8)
    for i in range(data.x.shape[0]):
        row = data.x[[i]]
        sums = np.zeros((2, n_children), dtype=np.float32)
        for f, v in zip(row.indices, row.data, strict=True):
            sums[int(apart[f])] += steps[:, f] * v
        margin = (sums[0] + sums[1]) * scale + b
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
    assert len(arrays["words"]) == 3
    ids, scores, _ = predict(predictor([[arrays]], data), data.x, k=20, label_score="raw", node_score="raw")
    assert (ids == ids[0]).all()
    np.testing.assert_array_equal(scores, np.tile(np.sort(arrays["bias"])[::-1], (200, 1)))


@pytest.mark.parametrize("size", [1e-6, 1e-3, 1.0, 1e3, 1e6])
def test_weights_of_any_size_keep_their_bits(size: float) -> None:
    """Tiny features want huge weights, and the other way round: what is lost is relative to the weights there are."""
    x = sp.csr_matrix(np.array([[1, 1.5], [2, 0.5], [-1, 1]], dtype=np.float32) * np.float32(size))
    y = sp.csr_matrix(np.array([[1, 0], [1, 0], [0, 1]], dtype=np.float32))
    data = Data(x, y)
    order = np.arange(2, dtype=np.int32)
    begin = np.arange(2, dtype=np.int64)
    plan = LevelPlan(np.array([0, 2]), ~order, begin, begin + 1, order, all_rows=True)
    options = {"c": 1 / size**2, "bias": 0.0, "threshold": 0.0, "tol": 1e-6}
    w, _ = matrix_of(data, train_level(data, plan, **options)[0], "f32")
    assert np.abs(w).min() * size > 0.01
    half, _ = matrix_of(data, train_level(data, plan, weights="f16", **options)[0], "f16")
    np.testing.assert_allclose(half, w, rtol=2**-11)
    eighth, _ = matrix_of(data, train_level(data, plan, weights="int8", **options)[0], "int8")
    np.testing.assert_allclose(eighth, w, atol=np.abs(w).max() / 254 * 1.001)


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
