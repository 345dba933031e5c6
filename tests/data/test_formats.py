"""Each format against its other readers, and how a format is recognised."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

import longtail.data as data
from longtail import progress
from longtail.data import Dataset


def test_svmlight_as_scikit_learn_reads_it(features: Dataset, tmp_path: Path) -> None:
    path = str(tmp_path / "a.svm")
    data.save(features, path)
    X, y = load_svmlight_file(path, multilabel=True, n_features=60, dtype=np.float32)
    np.testing.assert_array_equal(X.toarray(), features.X.toarray())
    assert [tuple(map(int, row)) for row in y] == [tuple(features.Y[i].indices) for i in range(400)]


@pytest.mark.parametrize("zero_based", [True, False])
def test_svmlight_as_scikit_learn_writes_it(zero_based: bool, features: Dataset, tmp_path: Path) -> None:
    path = str(tmp_path / "a.svm")
    dump_svmlight_file(
        features.X, features.Y, path, multilabel=True, zero_based=zero_based, comment="made by a test"
    )
    read = data.load(path, zero_based="auto", n_labels=30)
    ours, theirs = read.X, load_svmlight_file(path, multilabel=True, zero_based="auto", dtype=np.float32)[0]
    assert ours.shape == theirs.shape
    np.testing.assert_array_equal(ours.toarray(), theirs.toarray())
    np.testing.assert_array_equal(read.Y.toarray(), features.Y.toarray())


def test_csv_as_python_reads_and_writes_it(named_texts: Dataset, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    data.save(named_texts, path)
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["text"] for row in rows] == named_texts.texts
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)  # its line ends are CR LF
        writer.writerows(
            [["id", "text", "labels"], *([i, t, ""] for i, t in enumerate(named_texts.texts or []))]
        )
    assert data.load(path).texts == named_texts.texts


def test_quotes_inside_plain_fields_are_plain() -> None:
    content = b'text,labels\n5" disk,a\n"6"" disk",b\n'
    assert data.load(io.BytesIO(content), "csv").texts == ['5" disk', '6" disk']
    assert data.load(io.BytesIO(b'text\n"raw"\n'), "csv", quote=None).texts == ['"raw"']


def test_json_as_python_writes_it(named_texts: Dataset) -> None:
    texts = [*(named_texts.texts or []), "\x00\x01\x1f\x7f", "\u2028\ud7ff\ue000\U0010ffff"]
    extra = {"other": [1, -2.5e-3, True, None, {"deep": [[], {}]}], "": ""}
    for ascii_only in (True, False):
        lines = [
            json.dumps({**extra, "text": text, "labels": ["é", "b"]}, ensure_ascii=ascii_only)
            for text in texts
        ]
        read = data.load(io.BytesIO("\n".join(lines).encode()), "jsonl")
        assert read.texts == texts
        assert read.labels is not None
        assert read.labels.names == ["é", "b"]


def test_several_text_fields_are_joined() -> None:
    content = b'{"content": "words", "title": "A title", "target_ind": [4, 2]}\n'
    content += b'{"title": "Only", "target_ind": []}\n'
    read = data.load(io.BytesIO(content), "jsonl", text_field=["title", "content"], label_field="target_ind")
    assert read.texts == ["A title words", "Only"]
    assert read.Y.shape == (2, 5)
    table = b"content,title\nwords,A title\n"
    assert data.load(io.BytesIO(table), "csv", text_field=["title", "content"]).texts == ["A title words"]


def test_json_values_that_other_parsers_take_too() -> None:
    good = [
        "0",
        "-0",
        "1.5",
        "1e5",
        "1E+5",
        "1e-5",
        '""',
        "[]",
        "{}",
        "[1, [2, {}]]",
        "true",
        "false",
        "null",
        '"\\u0041\\/"',
    ]
    bad = [
        "01",
        "1.",
        ".5",
        "+1",
        "1e",
        "--1",
        "tru",
        "nul",
        "[1,]",
        "{,}",
        '{"a"}',
        '{"a":}',
        "[1 2]",
        "'a'",
        "",
        "Infinity",
        "]",
        "\x0b1",
    ]
    for value in good:
        json.loads(value)
        assert data.load(io.BytesIO(b'{"x": ' + value.encode() + b', "text": "t"}\n'), "jsonl").texts == ["t"]
    for value in bad:
        with pytest.raises(data.io.DataError if hasattr(data, "io") else ValueError):
            data.load(io.BytesIO(b'{"x": ' + value.encode() + b', "text": "t"}\n'), "jsonl")


def test_one_label_needs_no_list_and_null_is_none() -> None:
    content = b'{"text": "a", "labels": "x"}\n{"text": "b", "labels": null}\n{"text": "c", "labels": []}\n'
    read = data.load(io.BytesIO(content), "jsonl")
    assert read.Y.toarray().tolist() == [[1], [0], [0]]


def test_formats_are_recognised(features: Dataset, tmp_path: Path) -> None:
    data.save(features, tmp_path / "plain.txt", format="xmc")
    data.save(features, tmp_path / "packed.txt.gz", format="xmc")
    data.save(features, tmp_path / "svm.txt", format="svmlight")
    data.save(features, tmp_path / "lines.txt", format="jsonl")
    data.save(features, tmp_path / "trn_X_Xf.txt", format="pair", label_file=tmp_path / "trn_X_Y.txt")
    (tmp_path / "words.txt").write_text("some words\nand more\n")
    for name in ("plain.txt", "packed.txt.gz", "svm.txt", "lines.txt", "trn_X_Xf.txt"):
        assert data.load(tmp_path / name).Y.nnz == features.Y.nnz, name
    assert data.load(tmp_path / "words.txt").texts == ["some words", "and more"]
    assert data.load(tmp_path).n_rows == 400  # the pair of the folder


def test_names_for_formats_with_ids(features: Dataset, tmp_path: Path) -> None:
    data.save(features, tmp_path / "a.xmc")
    (tmp_path / "names.txt").write_text("".join(f"name {i}\n" for i in range(30)))
    read = data.load(tmp_path / "a.xmc", labels=tmp_path / "names.txt")
    assert read.labels is not None
    assert read.labels[7] == "name 7"


def test_sizes_can_be_widened(features: Dataset, tmp_path: Path) -> None:
    for name, format in (("a.xmc", None), ("pair", "pair"), ("npz", "npz"), ("a.svm", None)):
        data.save(features, tmp_path / name, format=format)
        assert data.load(tmp_path / name, n_features=99, n_labels=77).X.shape == (400, 99)
        assert data.load(tmp_path / name, n_features=99, n_labels=77).n_labels == 77


def test_standard_input_and_open_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    content = b'{"text": "from a pipe"}\n'
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert data.load("-", format="jsonl").texts == ["from a pipe"]
    (tmp_path / "a").write_bytes(content)
    with (tmp_path / "a").open("rb") as file:
        assert data.load(file, format="jsonl").texts == ["from a pipe"]
        assert not file.closed


def test_progress_is_told_in_bytes(tmp_path: Path) -> None:
    heard: list[Any] = []

    class Reporter(progress.Silent):
        def begin(self, name: str, total: int | None, unit: str) -> int:
            heard.append((name, total, unit))
            return 1

        def update(self, handle: int, done: int) -> None:
            heard.append(done)

    path = tmp_path / "a.svm"
    path.write_bytes(b"1 1:1\n" * 10_000)
    with progress.use(Reporter()):
        data.load(path, block_bytes=10_000)
    assert heard[0] == ("read", 60_000, "B")
    assert heard[1:] == sorted(heard[1:])
    assert heard[-1] == 60_000
    assert len(heard) > 5


def test_interrupts_stop_reading(tmp_path: Path) -> None:
    class Reporter(progress.Silent):
        def update(self, handle: int, done: int) -> None:
            raise KeyboardInterrupt

    path = tmp_path / "a.svm"
    path.write_bytes(b"1 1:1\n" * 10_000)
    with progress.use(Reporter()), pytest.raises(KeyboardInterrupt):
        data.load(path, block_bytes=1000)


def test_shared_data_sets(shared: Path, same: Any, tmp_path: Path) -> None:
    eurlex = data.load(shared / "eurlex-4k")
    assert (eurlex.n_rows, eurlex.n_features, eurlex.n_labels) == (15539, 5000, 3993)
    reference = sp.load_npz(shared / "eurlex-4k" / "trn_X.npz")
    assert abs(eurlex.X - reference).nnz == 0
    data.save(eurlex, tmp_path / "eurlex.txt.gz", format="xmc")
    same(eurlex, data.load(tmp_path / "eurlex.txt.gz"))
    test = data.load(shared / "wordnet-hypernyms", split="tst")
    assert (test.n_rows, test.n_labels) == (18946, 12290)
    assert test.labels is not None
    assert test.label_texts is not None
    assert (
        test.texts == (shared / "wordnet-hypernyms" / "tst.txt").read_text(encoding="utf-8").split("\n")[:-1]
    )
    subjects = data.load(shared / "yso-titles-en", split="tst")
    assert subjects.labels is not None
    assert subjects.labels[0].startswith("http://")  # lbl.txt has duplicates, so ids name the labels
