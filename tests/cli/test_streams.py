"""Rows from standard input."""

import io
import os
import threading
import time

import numpy as np
import pytest

from longtail.cli.streams import STDIN, Batch, arriving, features
from longtail.errors import DataError


def read(data, **options):
    return list(arriving(io.BytesIO(data), **options))


def lines(data, **options):
    return [line for batch in read(data, **options) for line in batch.lines]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"one", ["one"]),
        (b"one\n", ["one"]),
        (b"one\r\ntwo\r\n", ["one", "two"]),
        (b"one\n\ntwo", ["one", "", "two"]),
        ("\ufeffone\n".encode(), ["one"]),
        ("søren\u2028x\n".encode(), ["søren\u2028x"]),
    ],
)
def test_lines(data, expected):
    assert lines(data) == expected


def test_batches_are_bounded_and_numbered():
    data = b"".join(b"%06d\n" % i for i in range(50_000))
    batches = read(data, most=1000)
    assert [line for batch in batches for line in batch.lines] == [f"{i:06d}" for i in range(50_000)]
    assert len(batches) > 3
    assert [batch.first for batch in batches] == list(np.cumsum([1] + [len(b.lines) for b in batches[:-1]]))


def test_a_line_longer_than_a_chunk():
    long = "x" * 200_000
    assert lines(f"{long}\nshort\n".encode()) == [long, "short"]


def test_wrong_encoding_names_the_line():
    with pytest.raises(DataError, match=rf"^{STDIN}, line 2: not UTF-8 text \(byte 3 of the line\)\.$"):
        read(b"fine\nab\xff\n")


def test_a_pipe_is_answered_as_soon_as_a_line_is_there():
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as source, os.fdopen(writer, "wb", buffering=0) as sink:
        batches = arriving(source)
        got = []

        def converse():
            for text in ("first", "second"):
                sink.write(f"{text}\n".encode())
                got.append(next(batches))  # would wait for ever if batches waited to fill

        thread = threading.Thread(target=converse, daemon=True)
        thread.start()
        thread.join(timeout=10)
        assert got == [Batch(1, ["first"]), Batch(2, ["second"])]


def test_features_with_and_without_labels():
    batch = Batch(1, ["3:1.5 0:2", "7,9 1:1", "", "4", "2:1 # comment"])
    matrix = features(batch, 5)
    expected = [[2, 0, 0, 1.5, 0], [0, 1, 0, 0, 0], [0] * 5, [0] * 5, [0, 0, 1, 0, 0]]
    assert matrix.toarray().tolist() == expected
    assert matrix.dtype == np.float32
    assert matrix.indices.dtype == np.int32


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("1:2 x:1", "expected feature:value. Got 'x:1' instead."),
        ("1:2 3", "expected feature:value. Got '3' instead."),
        ("5:1", "feature 5, expected 0 to 4."),
        ("-1:1", "feature -1, expected 0 to 4."),
        ("1:nan", "is not finite"),
        ("1:inf", "is not finite"),
        ("1:1e39", "is not finite"),
        ("1:1 1:2", "feature 1 occurs twice."),
    ],
)
def test_bad_rows_name_their_line(line, words):
    with pytest.raises(DataError) as caught:
        features(Batch(11, ["0:1", line]), 5)
    assert str(caught.value).startswith(f"{STDIN}, line 12: ")
    assert words in str(caught.value)


def test_the_time_of_a_line_grows_with_its_length_only():
    data = b"x" * 100_000_000 + b"\nshort\n"
    began = time.process_time()
    got = lines(data)
    assert [len(line) for line in got] == [100_000_000, 5]
    assert time.process_time() - began < 3  # joined anew for every chunk it took ten times as long
