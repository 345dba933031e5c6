"""Bad input gets one clear error with file and line; what the format allows is put right and told."""

# ruff: noqa: E501 (tables of cases)

from __future__ import annotations

import gzip
import io
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import longtail.data as data
from longtail.data import RepairWarning
from longtail.errors import DataError, ParameterError

LINES = [
    # format, content, options, line, words
    ("xmc", b"", {}, 1, "empty"),
    ("xmc", b"\n", {}, 1, "header of 3 whole numbers"),
    ("xmc", b"1 2\n0 0:1\n", {}, 1, "header of 3 whole numbers"),
    ("xmc", b"a b c\n", {}, 1, "got 'a b c'"),
    ("xmc", b"-1 2 3\n", {}, 1, "header"),
    ("xmc", b"3 2 2\n0 0:1\n1 1:1\n", {}, 3, "promises 3 rows, but the file ends after 2"),
    ("xmc", b"1 2 2\n0 0:1\n1 1:1\n", {}, 3, "promises 1 rows, but there are more"),
    ("xmc", b"1000000000000000000 2 2\n0 0:1\n", {}, 2, "1,000,000,000,000,000,000 rows"),
    ("xmc", b"1 9999999999 2\n0 0:1\n", {}, 1, "at most 2,147,483,647"),
    ("xmc", b"2 2 2\n0 0:1\n0 2:1\n", {}, 3, r"feature 2 is out of range, expected 0 to 1 \(by the header\)"),
    ("xmc", b"2 2 2\n2 0:1\n0 1:1\n", {}, 2, "label 2 is out of range"),
    ("xmc", b"1 2 0\n0 0:1\n", {}, 2, "label 0 is out of range, there are none"),
    ("xmc", b"1 2 2\n-1 0:1\n", {}, 2, "label '-1' is negative"),
    ("xmc", b"1 2 2\n0 -1:1\n", {}, 2, "feature '-1:1' is negative"),
    ("xmc", b"1 2 2\n0 0:nan\n", {}, 2, "not finite"),
    ("xmc", b"1 2 2\n0 0:-Inf\n", {}, 2, "not finite"),
    ("xmc", b"1 2 2\n0 0:1e39\n", {}, 2, "too large for a float32"),
    ("xmc", b"1 2 2\n0 0:abc\n", {}, 2, "'0:abc' is not a number"),
    ("xmc", b"1 2 2\n0 0:\n", {}, 2, "is not a number"),
    ("xmc", b"1 2 2\n0 word\n", {}, 2, "expected feature:value such as '12:0.5', got 'word'"),
    ("xmc", b"1 2 2\nlabel 0:1\n", {}, 2, "expected label ids"),
    ("xmc", b"1 2 2\n0 99999999999999999999999:1\n", {}, 2, "expected feature:value"),
    ("xmc", b"1 2 2\n0 0:3e38 0:3e38\n", {}, 2, "sum to more than a float32"),
    ("xmc", b"1 5 5\n0 0:1\n", {"n_features": 4}, 1, "only 4 were asked for"),
    ("xmc", b"1 9 9\n0 " + b"0:1 " * 50 + b"\n", {"max_line": 64, "block_bytes": 16}, 2, "longer than 64 bytes"),
    ("svmlight", b"", {}, 1, "empty"),
    ("svmlight", b"0 1:1\n0 1:x # c\n", {}, 2, "not a number"),
    ("svmlight", b"0.5 1:1\n", {}, 1, "expected label ids"),
    ("svmlight", b"-1 1:1\n", {}, 1, "negative"),
    ("svmlight", b"7 1:1\n", {"n_labels": 7}, 1, "label 7 is out of range, expected 0 to 6"),
    ("svmlight", b"1 0:1\n", {"zero_based": False}, None, "id 0"),
    ("svmlight", b"1 1:1 5:1\n", {"n_features": 4, "zero_based": False}, 1, "feature 5 is out of range"),
    ("jsonl", b"", {}, 1, "empty"),
    ("jsonl", b"\n\n", {}, 1, "empty"),
    ("jsonl", b'{"text": "a"}\n["text"]\n', {}, 2, "expected a JSON object"),
    ("jsonl", b'{"text": "a"\n', {}, 1, "line ends where"),
    ("jsonl", b'{"text": "a}\n', {}, 1, "a string has no end"),
    ("jsonl", b'{"text": "a"} x\n', {}, 1, "expected the end of the line at column 15, got 'x'"),
    ("jsonl", b'{"text": "a\tb"}\n', {}, 1, "control character"),
    ("jsonl", b'{"text": "\\q"}\n', {}, 1, "unknown escape"),
    ("jsonl", b'{"text": "\\u12"}\n', {}, 1, "four hexadecimal"),
    ("jsonl", b'{"text": 5}\n', {}, 1, "expected a text"),
    ("jsonl", b'{"text": "a", "text": "b"}\n', {}, 1, "appears twice"),
    ("jsonl", b'{"text": "a"}\n{"labels": []}\n', {}, 2, "has no field 'text'"),
    ("jsonl", b'{"labels": []}\n', {}, 1, "neither"),
    ("jsonl", b'{"text": "a", "labels": ["x", 3]}\n', {}, 1, "not both"),
    ("jsonl", b'{"text": "a", "labels": ["x"]}\n{"text": "a", "labels": [1]}\n', {}, 2, "not both"),
    ("jsonl", b'{"text": "a", "labels": [-1]}\n', {}, 1, "negative"),
    ("jsonl", b'{"text": "a", "labels": [1.5]}\n', {}, 1, "expected a label name or a whole number"),
    ("jsonl", b'{"text": "a", "labels": [9]}\n', {"n_labels": 9}, 1, "out of range"),
    ("jsonl", b'{"text": "a", "labels": {"x": 1}}\n', {}, 1, "expected a label"),
    ("jsonl", b'{"text": "\xff"}\n', {}, 1, "byte 11 is not valid UTF-8"),
    ("jsonl", b'{"text": "a", "x": ' + b"[" * 100_000 + b"\n", {}, 1, "nested deeper than 1000"),
    ("jsonl", b'{"text": "a", "x": NaN}\n', {}, 1, "not finite"),
    ("jsonl", b'{"features": {"a": 1}}\n', {}, 1, "feature 'a' is not an id"),
    ("jsonl", b'{"features": {"1": "b"}}\n', {}, 1, "expected a number"),
    ("jsonl", b'{"features": {"1": 1e60}}\n', {}, 1, "too large"),
    ("jsonl", b'{"features": {"7": 1}}\n', {"n_features": 7}, 1, "out of range"),
    ("jsonl", b'{"text": "a", "labels": ["z"]}\n', {"labels": ["a"]}, 1, "'z' is not one of the 1 known labels"),
    ("csv", b"", {}, 1, "empty"),
    ("csv", b"a,b\nc,d\n", {}, 1, "no column 'text'. The columns are 'a', 'b'"),
    ("csv", b"text,text\n", {}, 1, "twice"),
    ("csv", b"text,labels\na,b\nc\n", {}, 3, "expected 2 columns, got 1"),
    ("csv", b"text,labels\na,b\nc,d,e\n", {}, 3, "expected 2 columns, got 3"),
    ("csv", b'text,labels\n"a\nb",x\n"c,d\n', {}, 4, "never closed"),
    ("csv", b'text,labels\n"a" b,c\n', {}, 2, "text after its closing quote"),
    ("csv", b'"text,labels\n', {}, 1, "never closed"),
    ("csv", b"text,label_ids\na,x\n", {}, 2, "expected label ids"),
    ("csv", b"text,label_ids\na,-4\n", {}, 2, "negative"),
    ("csv", b"text,label_ids\na,4\n", {"n_labels": 4}, 2, "out of range"),
    ("csv", b"text,labels\na,\xe9\n", {}, 2, "not valid UTF-8"),
    ("csv", b"te\xe9t,labels\n", {}, 1, "not valid UTF-8"),
    ("csv", b'text,labels\n"' + b"a\n" * 200, {"max_line": 64, "block_bytes": 16}, 2, "longer than 64"),
    ("tsv", b"text\tlabels\na\tb\tc\n", {}, 2, "expected 2 columns"),
    ("csv", b"text,labels\ra,b\rc,d\r", {}, 1, "bare carriage return"),
    ("csv", b"text,labels\ra,b\rc,d\r\n", {}, 1, "bare carriage return"),
    ("tsv", b"text\rone\rtwo", {}, 1, "bare carriage return"),
    ("jsonl", b"\x1f\x8b", {}, 1, "truncated"),
    ("text", b"fine\nbad \xff\n", {}, 2, "not valid UTF-8"),
    ("text", b"\xff\xfea\x00\n\x00", {}, 1, 'encoding="utf-16"'),
]  # fmt: skip


@pytest.mark.parametrize(("format", "content", "options", "line", "words"), LINES)
@pytest.mark.parametrize("threads", [1, 2])
def test_errors_say_where(
    format: str, content: bytes, options: Any, line: Any, words: str, threads: int, tmp_path: Path
) -> None:
    path = tmp_path / "bad"
    path.write_bytes(content)
    with pytest.raises(DataError, match=words) as caught:
        data.load(path, format=format, threads=threads, **options)
    assert caught.value.path == str(path)
    assert caught.value.line == line
    assert len(str(caught.value)) < 400


def test_line_numbers_count_over_blocks(tmp_path: Path) -> None:
    path = tmp_path / "long.svm"
    path.write_bytes(b"1 1:1\n" * 5000 + b"1 1:?\n" + b"1 1:1\n" * 5000)
    for block_bytes in (64, 1000, 1 << 20):
        with pytest.raises(DataError, match="line 5001"):
            data.load(path, block_bytes=block_bytes)


def test_pairs(tmp_path: Path) -> None:
    (tmp_path / "X.txt").write_bytes(b"2 3\n0:1\n1:2\n")
    for content, line, words in (
        (b"3 2\n0:1\n\n\n", 1, "promises 3 rows, but"),
        (b"2 2\n0:1\n2:1\n", 3, "label 2 is out of range"),
        (b"2 2\n0:-1\n\n", 2, "negative"),
        (b"2 2\n0:1\n", 2, "ends after 1"),
    ):
        (tmp_path / "Y.txt").write_bytes(content)
        with pytest.raises(DataError, match=words) as caught:
            data.load(tmp_path)
        assert (caught.value.path, caught.value.line) == (str(tmp_path / "Y.txt"), line)


@pytest.mark.parametrize("packing", [".gz", ".zst"])
def test_truncated_and_broken_compression(packing: str, tmp_path: Path) -> None:
    content = b"".join(b"%d 1:%d\n" % (i % 9, i + 1) for i in range(50_000))
    if packing == ".gz":
        packed = gzip.compress(content)
    else:
        zstandard = pytest.importorskip("zstandard")
        packed = zstandard.ZstdCompressor(write_checksum=True).compress(content)
    path = tmp_path / f"a.svm{packing}"
    path.write_bytes(packed)
    assert data.load(path).n_rows == 50_000
    path.write_bytes(packed + packed)  # two members, one after the other
    assert data.load(path).n_rows == 100_000
    path.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(DataError, match="truncated") as caught:
        data.load(path, block_bytes=1 << 16)
    assert caught.value.path == str(path)
    assert caught.value.line is not None
    assert 1 < caught.value.line <= 50_001
    broken = bytearray(packed)
    broken[len(broken) // 2] ^= 0x55
    path.write_bytes(bytes(broken))
    with pytest.raises(DataError, match=r"cannot be read|not a number|expected"):
        data.load(path)


def test_repairs_are_told_once(tmp_path: Path) -> None:
    path = tmp_path / "a.xmc"
    path.write_bytes(b"\xef\xbb\xbf4 9 5\r\n1,1,0 3:1 2:1\r\n 4:1 4:2 4:0.5\n\n2, 1:0 5:1\n\n\n")
    with pytest.warns(RepairWarning) as caught:
        dataset = data.load(path)
    assert len(caught) == 1
    message = str(caught[0].message)
    assert f"1 rows with unsorted features (first: {path}, line 2)" in message
    assert f"2 duplicate features summed (first: {path}, line 3)" in message
    assert caught[0].filename == __file__
    assert dataset.repairs == {
        "lines ending in CR LF": 1,
        "duplicate labels merged": 1,
        "rows with unsorted features": 1,
        "duplicate features summed": 2,
    }
    np.testing.assert_array_equal(
        dataset.X.toarray(),
        [[0, 0, 1, 1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 3.5, 0, 0, 0, 0], [0] * 9, [0, 0, 0, 0, 0, 1, 0, 0, 0]],
    )
    np.testing.assert_array_equal(dataset.Y.toarray(), [[1, 1, 0, 0, 0], [0] * 5, [0] * 5, [0, 0, 1, 0, 0]])


@pytest.mark.parametrize(
    ("format", "content", "repairs"),
    [
        ("svmlight", b"1 qid:4 1:1\n\n# only a comment\n0 1:2\n", {"query ids ignored": 1, "blank lines skipped": 1}),
        ("jsonl", b'{"text": "\\ud800x", "labels": ["a", "a"]}\n\n{"text": ""}\n',
         {"unpaired surrogates replaced": 1, "duplicate labels merged": 1, "blank lines skipped": 1, "rows without a label field": 1}),
        ("jsonl", b'{"features": {"3": 1, "3": 2}}\n', {"duplicate features summed": 1}),
        ("csv", b"text,labels\r\n\r\na,x;x\r\n", {"blank lines skipped": 1, "duplicate labels merged": 1}),
    ],
)  # fmt: skip
def test_repairs_by_format(format: str, content: bytes, repairs: dict[str, int]) -> None:
    with pytest.warns(RepairWarning):
        assert data.load(io.BytesIO(content), format).repairs == repairs


def test_repaired_surrogates_and_pairs() -> None:
    content = b'{"text": "\\ud83d\\ude00 \\ud83d \\ude00"}\n'
    with pytest.warns(RepairWarning, match="2 unpaired surrogates"):
        assert data.load(io.BytesIO(content), "jsonl").texts == ["😀 \ufffd \ufffd"]


def test_unknown_labels_can_be_dropped() -> None:
    for format, content in (
        ("jsonl", b'{"text": "t", "labels": ["b", "zz"]}\n'),
        ("csv", b"text,labels\nt,zz;b\n"),
    ):
        with pytest.warns(RepairWarning, match="1 unknown labels dropped"):
            read = data.load(io.BytesIO(content), format, labels=["a", "b"], unknown_labels="drop")
        assert read.Y.toarray().tolist() == [[0, 1]]


def test_encodings() -> None:
    text = "café\nGröße\n"
    for encoding in ("latin-1", "utf-16", "utf-8-sig"):
        assert data.load(io.BytesIO(text.encode(encoding)), "text", encoding=encoding).texts == [
            "café",
            "Größe",
        ]
    with pytest.warns(RepairWarning, match="1 undecodable bytes replaced"):
        assert data.load(io.BytesIO(b"caf\xe9\n"), "text", errors="replace").texts == ["caf\ufffd"]
    assert data.load(io.BytesIO(b"caf\xe9\n"), "text", errors="ignore").texts == ["caf"]
    with pytest.raises(DataError, match="not valid ascii"):
        data.load(io.BytesIO(b"caf\xe9\n"), "text", encoding="ascii")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_pipes_are_read_once(tmp_path: Path) -> None:
    content = b'{"text": "a", "labels": ["b"]}\n' * 3

    def pipe(name: str) -> Path:
        os.mkfifo(tmp_path / name)
        threading.Thread(target=(tmp_path / name).write_bytes, args=(content,), daemon=True).start()
        return tmp_path / name

    assert data.load(pipe("a.jsonl")).n_rows == 3
    assert data.load(pipe("b"), format="jsonl").n_rows == 3
    os.mkfifo(tmp_path / "c")
    with pytest.raises(ParameterError, match=r"'format' parameter must be given for .*no regular file"):
        data.load(tmp_path / "c")
    with pytest.raises(DataError, match="twice, which needs a regular file"):
        data.convert(pipe("d"), tmp_path / "out.csv", format="jsonl")
    assert not (tmp_path / "out.csv").exists()


def test_missing_files_and_formats(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        data.load(tmp_path / "none.svm")
    with pytest.raises(DataError, match="folder holds no data"):
        data.load(tmp_path)
    (tmp_path / "what.dat").write_text("hello there\n")
    with pytest.raises(DataError, match="cannot be told"):
        data.load(tmp_path / "what.dat")
    with pytest.raises(ParameterError, match="'format' parameter must be one of 'xmc'"):
        data.load(tmp_path / "what.dat", format="arff")
    with pytest.raises(ParameterError, match="no parameter 'sep'"):
        data.load(tmp_path / "what.dat", sep=",")
    with pytest.raises(ParameterError, match="'format' parameter must be given"):
        data.load(io.BytesIO(b"1 1 1\n"))


@pytest.mark.parametrize(
    "options",
    [
        {"n_features": -1}, {"n_labels": 1.5}, {"zero_based": "maybe"}, {"errors": "loud"}, {"encoding": "klingon"},
        {"delimiter": ";;"}, {"quote": "é"}, {"label_separator": ""}, {"text_field": []}, {"text_field": ["a", "a"]},
        {"max_line": 1}, {"labels": ["a"], "n_labels": 2}, {"unknown_labels": "keep"},
    ],
)  # fmt: skip
def test_parameters_are_checked(options: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=f"'{list(options)[-1]}' parameter of load"):
        data.load(io.BytesIO(b"text\na\n"), "csv", **options)


def _repacked(matrix: Any, **changes: Any) -> io.BytesIO:
    buffer = io.BytesIO()
    sp.save_npz(buffer, matrix)
    arrays = dict(np.load(io.BytesIO(buffer.getvalue())))
    arrays.update(changes)
    out = io.BytesIO()
    np.savez(out, **{k: v for k, v in arrays.items() if v is not None})
    out.seek(0)
    return out


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"indices": np.array([0, 9, 1], np.int32)}, "holds 9 at 1, expected 0 to 2"),
        ({"indices": np.array([0, -1, 1], np.int32)}, "holds -1"),
        ({"indices": np.array([0, 1], np.int32)}, "does not fit"),
        ({"indptr": np.array([0, 2, 1, 3], np.int32)}, "does not fit"),
        ({"indptr": np.array([0, 3], np.int32)}, "does not fit"),
        ({"data": np.array([1, np.nan, 1], np.float32)}, "finite"),
        ({"data": np.array([1, 1e300, 1])}, "finite"),
        ({"data": np.array(["a", "b", "c"])}, "vector of numbers"),
        ({"shape": np.array([3, 3, 3])}, "two whole numbers"),
        ({"shape": np.array([10**18, 3])}, "does not fit|promises"),
        ({"shape": np.array([3, 2**40])}, "at most"),
        ({"format": np.array(b"bsr")}, "expected csr, csc or coo"),
        ({"indices": None}, "'indices' is missing"),
        ({"data": np.array([1, None, 1], dtype=object)}, "no readable header"),
    ],
)
def test_npz(changes: dict[str, Any], words: str) -> None:
    matrix = sp.csr_matrix(np.eye(3, dtype=np.float32))
    for form in ("csr", "csc"):
        with pytest.raises(DataError, match=words):
            data.load(
                _repacked(matrix.asformat(form), **{"format": np.array(form.encode()), **changes}), "npz"
            )


def test_npz_of_other_kinds(tmp_path: Path, same: Any) -> None:
    matrix = sp.csr_matrix(np.array([[0, 1.5, 0], [2, 0, 0.25]], dtype=np.float32))
    for form in ("csr", "csc", "coo"):
        for dtype in (np.float32, np.float64, np.int64):
            sp.save_npz(tmp_path / "m.npz", matrix.astype(dtype).asformat(form))
            read = data.load(tmp_path / "m.npz").X
            np.testing.assert_array_equal(read.toarray(), matrix.astype(dtype).toarray())
    huge = {
        "row": np.array([0]),
        "col": np.array([0]),
        "data": np.ones(1),
        "shape": np.array([10**15, 3]),
        "format": np.array(b"coo"),
    }
    np.savez(tmp_path / "huge.npz", **huge)
    with pytest.raises(DataError, match="promises 1,000,000,000,000,000 rows"):
        data.load(tmp_path / "huge.npz")
    duplicates = sp.coo_matrix((np.ones(3), ([0, 0, 1], [2, 2, 0])), shape=(2, 3))
    sp.save_npz(tmp_path / "X.npz", duplicates)
    sp.save_npz(tmp_path / "Y.npz", duplicates)
    with pytest.warns(RepairWarning, match="1 duplicate features summed.*1 duplicate labels merged"):
        read_back = data.load(tmp_path / "X.npz")
    np.testing.assert_array_equal(read_back.X.toarray(), [[0, 0, 2], [1, 0, 0]])
    np.testing.assert_array_equal(read_back.Y.toarray(), [[0, 0, 1], [1, 0, 0]])


def test_lines_and_matrices_of_a_folder_must_agree(tmp_path: Path) -> None:
    sp.save_npz(tmp_path / "trn_Y.npz", sp.csr_matrix(np.eye(3, dtype=np.float32)))
    for texts, words in (
        ("a\nb\n", "has 2 lines, but its matrices have 3 rows"),
        ("a\nb\nc\nd\n", "more lines than the 3 rows"),
    ):
        (tmp_path / "trn.txt").write_text(texts)
        with pytest.raises(DataError, match=words):
            data.load(tmp_path)
    (tmp_path / "trn.txt").write_text("a\nb\nc\n")
    (tmp_path / "lbl.txt").write_text("one\n")
    with pytest.raises(DataError, match="has 1 lines, but there are 3 labels"):
        data.load(tmp_path)
    with pytest.raises(DataError, match="no split 'tst'"):
        data.load(tmp_path, split="tst")
