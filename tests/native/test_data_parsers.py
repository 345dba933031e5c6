"""The native parsers: arguments are checked, and blocks cut anywhere give the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from longtail import _native

native = _native.data


def block(data: bytes) -> Any:
    return np.frombuffer(data, dtype=np.uint8)


def sparse(data: bytes, threads: int = 1, **changes: Any) -> dict[str, Any]:
    arguments = {
        "labels_first": True, "svmlight": False, "matrix_of_labels": False,
        "n_features": 1000, "n_labels": 100, "limits_from": "",
    }  # fmt: skip
    arguments.update(changes)
    result: dict[str, Any] = native.parse_sparse(block(data), threads=threads, **arguments)
    return result


def test_a_block_must_end_with_a_line_end() -> None:
    for data in (b"", b"0 1:1"):
        with pytest.raises(ValueError, match="line end"):
            sparse(data)
        with pytest.raises(ValueError, match="line end"):
            native.parse_texts(block(data), 1)


def test_arguments_are_checked() -> None:
    data = b"a\n"
    with pytest.raises(ValueError, match="threads"):
        sparse(data, threads=0)
    with pytest.raises(ValueError, match="n_labels"):
        sparse(data, n_labels=2**31)
    table = native.LabelTable()
    good = {
        "delimiter": ",", "quote": '"', "text_columns": [0], "label_column": -1, "n_columns": 1,
        "label_separator": ";", "label_ids": False, "n_labels": 5, "threads": 1,
    }  # fmt: skip
    native.parse_table(block(data), table, **good)
    for bad in (
        {"delimiter": "\n"}, {"delimiter": ""}, {"delimiter": "é"}, {"quote": ","}, {"text_columns": [1]},
        {"label_column": 1}, {"n_columns": 0}, {"label_separator": ""}, {"n_labels": -1},
    ):  # fmt: skip
        with pytest.raises(ValueError, match=next(iter(bad))):
            native.parse_table(block(data), table, **{**good, **bad})
    with pytest.raises(ValueError, match="unique"):
        table.fix(["a", "a"], False)


def test_parts_are_joined_in_order() -> None:
    rng = np.random.default_rng(0)
    lines = []
    for _ in range(30_000):
        ids = np.sort(rng.choice(1000, rng.integers(0, 12), replace=False))
        labels = ",".join(map(str, np.sort(rng.choice(100, rng.integers(0, 4), replace=False))))
        lines.append(labels + "".join(f" {i}:{rng.random():.4g}" for i in ids) if len(ids) or labels else " ")
    data = ("\n".join(lines) + "\n").encode()
    one, many = sparse(data), sparse(data, threads=4)
    assert len(data) > 1 << 20
    for name in ("x_counts", "x_ids", "x_values", "y_counts", "y_ids"):
        np.testing.assert_array_equal(one[name], many[name])
    assert one["rows"] == many["rows"] == 30_000
    flat = [
        float(np.float32(token.split(":")[1])) for line in lines for token in line.split() if ":" in token
    ]
    np.testing.assert_array_equal(one["x_values"], np.array([v for v in flat if v], dtype=np.float32))


def test_the_first_error_of_a_block_is_told_whatever_the_threads() -> None:
    lines = [b"1 2:3"] * 100_000
    lines[40_000] = b"1 2:x"
    lines[90_000] = b"1 -2:3"
    data = b"\n".join(lines) + b"\n"
    assert (
        sparse(data)["error"]
        == sparse(data, threads=4)["error"]
        == (40_000, "the value of '2:x' is not a number")
    )


def test_tables_in_parts_with_quotes_anywhere() -> None:
    """Cuts fall into quoted fields with line ends; stray quotes make a block be read from front to back."""
    rng = np.random.default_rng(1)
    for stray in (False, True):
        rows = []
        for i in range(20_000):
            text = (
                "word " * int(rng.integers(1, 8))
                + ("\n" * int(rng.integers(0, 3)))
                + ('""' if i % 7 == 0 else "")
            )
            rows.append(f'"{text}",a{i % 5};b{i % 3}' if i % 3 else f"plain {i},c")
            if stray and i == 15_000:
                rows[-1] = '5" disk,c'
        data = ("\n".join(rows) + "\n").encode()
        results = []
        for threads in (1, 4):
            table = native.LabelTable()
            results.append(
                native.parse_table(block(data), table, ",", '"', [0], 1, 2, ";", False, 100, threads)
            )
            assert results[-1]["error"] is None
            assert results[-1]["consumed"] == len(data)
            assert table.to_list()[:4] == ["c", "a1", "b1", "a2"]
        assert results[0]["texts"] == results[1]["texts"]
        assert len(results[0]["texts"]) == 20_000
        np.testing.assert_array_equal(results[0]["y_ids"], results[1]["y_ids"])


def test_writers_check_their_arrays() -> None:
    pointers, ids, values = np.array([0, 1], np.int64), np.array([3], np.int32), np.array([1.5], np.float32)
    assert native.write_matrix(pointers, ids, values, 4, 1) == b"3:1.5\n"
    with pytest.raises(ValueError, match="column 3"):
        native.write_matrix(pointers, ids, values, 3, 1)
    with pytest.raises(ValueError, match="finite"):
        native.write_matrix(pointers, ids, np.array([np.inf], np.float32), 4, 1)
    with pytest.raises(ValueError, match="rows"):
        native.write_labelled(
            np.array([0, 0, 0], np.int64), ids[:0], 4, pointers, ids, values, 4, False, 0, 1
        )


def test_names_keep_their_order() -> None:
    names = [f"name {i}" for i in range(5000)] + ["", "é"]
    table = native.LabelTable()
    table.fix(names, False)
    assert table.to_list() == names
    assert len(table) == len(names)
