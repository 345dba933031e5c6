"""Groups of samples in data sets: checks, splits, and every format that holds them."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import longtail as lt
from longtail.data import Dataset, Groups, LossWarning, convert, load, save

TEXTS = ["red", "green, blue", "", "中文", 'a "b"', "last"]
LISTS = [["a", "b", "a"], ["b"], ["c"]]


def same_matrix(a: Any, b: Any) -> None:
    assert a.shape == b.shape
    assert sp.issparse(a) == sp.issparse(b)
    left, right = ((m.indptr, m.indices, m.data) if sp.issparse(m) else (m,) for m in (a, b))
    for x, y in zip(left, right, strict=True):
        np.testing.assert_array_equal(x, y)


def groups(names: list[str] | None = None) -> Groups:
    return Groups([0, 0, 1, 1, 1, 2], LISTS, names)


def texts(names: list[str] | None = None) -> Dataset:
    return Dataset(texts=TEXTS, groups=groups(names), labels=lt.LabelSet(["a", "b", "c"]))


def features(dense: bool = False) -> Dataset:
    x = sp.random(6, 9, density=0.4, format="csr", random_state=0, dtype=np.float32)
    overlapping = sp.csr_matrix(([1] * 7, ([0, 0, 1, 2, 3, 4, 5], [0, 1, 0, 1, 1, 1, 3])), shape=(6, 4))
    return Dataset(X=x.toarray() if dense else x, groups=Groups(overlapping, sp.csr_matrix(np.eye(4, 3) * 2)))


def same_groups(a: Groups | None, b: Groups | None, counts: bool = True) -> None:
    assert a is not None
    assert b is not None
    same_matrix(a.samples, b.samples)
    left, right = a.labels.copy(), b.labels.copy()
    if not counts:
        left.data[:] = right.data[:] = 1
    same_matrix(left, right)


def test_facts() -> None:
    data = texts()
    assert (data.n_rows, data.n_labels, data.Y) == (6, 3, None)
    assert repr(data) == "<Dataset 6 rows, texts, 3 groups with 3 labels>"
    facts = data.describe()
    assert facts["samples_per_group"] == 2
    assert facts["labels_per_group"] == round(5 / 3, 4)
    assert facts["repeated_labels_of_groups"] == 1
    facts = features().describe()
    assert facts["empty_groups"] == 1
    assert facts["samples_in_several_groups"] == 1
    assert facts["samples_in_no_group"] == 0
    json.dumps(facts)


@pytest.mark.parametrize(
    ("samples", "labels", "names", "words"),
    [
        ([0, 1], [["a"]], None, "there are 2 groups and group_labels has 1"),
        ([0, -1], [["a"]], None, "from 0 to"),
        ([[0]], [["a"]], None, "whole number per sample"),
        ([0], [["a"]], ["x", "y"], "1 groups and 2 names"),
        ([0], sp.csr_matrix([[0.5]]), None, "counts"),
        (sp.csr_matrix([[-1]]), [["a"]], None, "negative"),
    ],
)
def test_wrong_groups(samples: Any, labels: Any, names: Any, words: str) -> None:
    with pytest.raises(lt.DataError, match=words):
        Groups(samples, labels, names)


def test_the_last_groups_may_be_empty() -> None:
    assert Groups([0, 0], [["a"], ["b"]]).samples.shape == (2, 2)


def test_groups_must_fit_the_data_set() -> None:
    for parts, words in (
        ({"texts": ["a"]}, "rows"),
        ({"texts": TEXTS, "Y": sp.csr_matrix((6, 4))}, "labels"),
        ({"texts": TEXTS, "labels": lt.LabelSet(["a"])}, "labels"),
    ):
        with pytest.raises(lt.DataError, match=f"agree in the number of {words}"):
            Dataset(**parts, groups=groups())
    with pytest.raises(lt.DataError, match="groups must be Groups"):
        Dataset(texts=TEXTS, groups=[0] * 6)  # type: ignore[arg-type]


def test_take_keeps_the_groups_of_the_rows() -> None:
    data = texts(["x", "y", "z"]).take([5, 2, 0])
    assert data.groups is not None
    assert data.groups.names == ["x", "y", "z"]
    assert data.groups.samples.indices.tolist() == [2, 1, 0]
    data = texts(["x", "y", "z"]).take([5, 3])
    assert data.groups is not None
    assert data.groups.names == ["y", "z"]
    assert data.groups.labels.toarray().tolist() == [[0, 1, 0], [0, 0, 1]]


def test_splits_keep_groups_whole() -> None:
    r = np.random.default_rng(0)
    y1 = sp.csr_matrix(r.random((400, 120)) < 0.003)  # overlapping: chains of groups hang together
    data = Dataset(X=r.random((400, 3)), groups=Groups(y1, sp.csr_matrix(r.random((120, 5)) < 0.3)))
    for seed in range(5):
        rest, out = data.split(0.25, seed=seed)
        assert len(rest) + len(out) == 400
        assert 100 <= len(out) < 160
        assert rest.groups is not None
        assert out.groups is not None
        used = len(np.unique(y1.indices))
        assert rest.groups.n_groups + out.groups.n_groups == used  # none is in both
    assert data.split(0.25, seed=3)[1].X.tobytes() == data.split(0.25, seed=3)[1].X.tobytes()
    one = Dataset(texts=["a", "b"], groups=Groups([0, 0], [["a"]]))
    with pytest.raises(lt.DataError, match="All rows are in one group"):
        one.split(1)


# ---- formats


def test_nested_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    save(texts(), path)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert lines[0] == {"labels": ["a", "a", "b"], "samples": [{"text": "red"}, {"text": "green, blue"}]}
    data = load(path)
    assert data.texts == TEXTS
    assert data.Y is None
    assert data.labels is not None
    assert data.labels.names == ["a", "b", "c"]
    same_groups(data.groups, groups())
    small = load(path, block_bytes=16)
    same_groups(small.groups, groups())
    assert small.texts == TEXTS
    with open(path, "rb") as file:
        same_groups(load(file, format="jsonl").groups, groups())


def test_nested_json_lines_of_features(tmp_path: Path) -> None:
    x = sp.random(6, 9, density=0.4, format="csr", random_state=0, dtype=np.float32)
    data = Dataset(X=x, groups=groups())
    save(data, tmp_path / "a.jsonl.gz")
    read = load(tmp_path / "a.jsonl.gz", n_features=9)
    same_matrix(read.X, x)
    same_groups(read.groups, groups())
    assert read.labels is None


def test_nested_forms(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"samples": ["one", {"title": "two", "body": "2"}], "tags": "x"}\n\n'
        '{"tags": null, "samples": [], "other": [1]}\n{"samples": [{"title": "three"}]}\n'
    )
    data = load(path, text_field=["title", "body"], label_field="tags")
    assert data.texts == ["one", "two 2", "three"]
    assert data.groups is not None
    assert data.groups.samples.indices.tolist() == [0, 0, 2]
    assert data.groups.labels.toarray().tolist() == [[1], [0], [0]]
    path.write_text('{"of": [{"text": "one"}], "labels": [3, 3, 0]}\n')
    data = load(path, samples_field="of")
    assert data.groups is not None
    assert data.groups.labels.toarray().tolist() == [[1, 0, 0, 2]]
    path.write_text('{"samples": ["one"], "labels": ["b", "z"]}\n')
    with pytest.warns(lt.data.RepairWarning, match="unknown labels"):
        data = load(path, labels=["a", "b"], unknown_labels="drop")
    assert data.groups is not None
    assert data.groups.labels.toarray().tolist() == [[0, 1]]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"labels": ["a"]}', "no list 'samples'"),
        ('{"samples": [1], "labels": []}', "an object or a text"),
        ('{"samples": [{}]}', "neither 'text' nor 'features'"),
        ('{"samples": [{"text": 1}]}', "must be a text"),
        ('{"samples": [{"features": {"0": 1}}]}', "has features, where others have text"),
        ('{"samples": ["a"], "labels": [1]}', "not both"),
        ('{"samples": ["a"], "labels": [true]}', "names or whole numbers"),
        ('{"samples": ["a"]', "not valid JSON"),
        ("[]", "expected a JSON object"),
        ('{"samples": [NaN]}', "NaN is not a number"),
    ],
)
def test_bad_nested_lines(tmp_path: Path, line: str, words: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"samples": ["first"], "labels": ["a"]}\n\n' + line + "\n")
    with pytest.raises(lt.DataError, match=words) as caught:
        load(path)
    assert caught.value.line == 3
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("features", "words"),
    [
        ('{"a": 1}', "not an id"),
        ('{"-1": 1}', "not an id"),
        ('{"9": 1}', "out of range, expected 0 to 8"),
        ('{"1": "x"}', "not a number"),
        ('{"1": 1e400}', "too large"),
        ('{"1": 1e39}', "too large"),
        ('{"1": 1, "01": 2}', "twice"),
    ],
)
def test_bad_nested_features(tmp_path: Path, features: str, words: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"labels": [0], "samples": [{"features": ' + features + "}]}\n")
    with pytest.raises(lt.DataError, match=words):
        load(path, n_features=9)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"samples": ["a"]}\n{"samples": ["\xff"]}\n')
    with pytest.raises(lt.DataError, match="UTF-8") as caught:
        load(path)
    assert caught.value.line == 2


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.csv.gz", "a.parquet"])
@pytest.mark.parametrize("names", [None, ["x", "y z", "ü"]])
def test_a_group_column(tmp_path: Path, name: str, names: list[str] | None) -> None:
    if "parquet" in name:
        pytest.importorskip("pyarrow")
    path = tmp_path / name
    with pytest.warns(LossWarning, match="counts of groups' labels"):
        save(texts(names), path)
    data = load(path, group_field="group")
    assert data.texts == TEXTS
    same_groups(data.groups, groups(), counts=False)
    assert data.groups is not None
    assert data.groups.names == (names or ["0", "1", "2"])
    assert data.Y is None
    if "parquet" not in name:
        same_groups(load(path, group_field="group", block_bytes=16).groups, groups(), counts=False)
    with pytest.raises(lt.DataError, match="no column 'brand'"):
        load(path, group_field="brand")


def test_rows_of_a_group_add_up_their_labels(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text,brand,labels\none,acme,a;b\ntwo,acme,b\nthree,,c\nfour, zeta ,\n")
    data = load(path, group_field="brand")
    assert data.groups is not None
    assert data.groups.names == ["acme", "zeta"]
    assert data.groups.labels.toarray().tolist() == [[1, 1, 0], [0, 0, 0]]
    assert np.diff(data.groups.samples.indptr).tolist() == [1, 1, 0, 1]
    path.write_text("text,brand\none,acme\n")
    with pytest.raises(lt.DataError, match="none has labels"):
        load(path, group_field="brand")


def test_a_group_field_of_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"text": "one", "page": "p", "labels": ["a"]}\n{"page": "q", "text": "two", "labels": ["b"]}\n'
        '{"text": "three", "labels": ["a"]}\n{"text": "four", "page": "p", "labels": []}\n'
    )
    data = load(path, group_field="page")
    assert data.groups is not None
    assert data.groups.names == ["p", "q"]
    assert data.groups.samples.toarray().tolist() == [[1, 0], [0, 1], [0, 0], [1, 0]]
    path.write_text('{"text": "one", "page": 3, "labels": ["a"]}\n')
    with pytest.raises(lt.DataError, match="text"):
        load(path, group_field="page")


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("name", ["folder", "X.npz", "trn_X.npz"])
def test_a_pair_of_matrices(tmp_path: Path, name: str, dense: bool) -> None:
    data = features(dense)
    if dense and name != "folder":
        pytest.skip("a dense matrix is written as .npy")
    save(data, tmp_path / name)
    read = load(tmp_path / name)
    same_matrix(read.X, data.X)
    same_groups(read.groups, data.groups)
    assert read.Y is None
    both = Dataset(X=data.X, groups=data.groups, Y=sp.csr_matrix(np.eye(6, 3, dtype=np.float32)))
    save(both, tmp_path / name)
    read = load(tmp_path / name)
    same_matrix(read.Y, both.Y)
    same_groups(read.groups, data.groups)


def test_a_folder_of_texts(tmp_path: Path) -> None:
    save(texts(), tmp_path / "folder")
    read = load(tmp_path / "folder")
    assert read.texts == TEXTS
    assert read.labels is not None
    assert read.labels.names == ["a", "b", "c"]
    same_groups(read.groups, groups())
    (tmp_path / "folder" / "trn_groups.npz").unlink()
    with pytest.raises(lt.DataError, match="is missing"):
        load(tmp_path / "folder")
    sp.save_npz(tmp_path / "folder" / "trn_groups.npz", sp.csr_matrix((6, 7)))
    with pytest.raises(lt.DataError, match=r"has 3 rows, but trn_groups\.npz has 7 groups"):
        load(tmp_path / "folder")


def test_what_formats_cannot_hold(tmp_path: Path) -> None:
    with pytest.raises(lt.DataError, match="exactly one group"):
        save(features(), tmp_path / "a.jsonl")
    pytest.importorskip("pyarrow")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LossWarning)
        with pytest.raises(lt.DataError, match="one group per row"):
            save(features(), tmp_path / "a.parquet")
    with pytest.warns(LossWarning, match="groups"):
        save(features(), tmp_path / "a.svm")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.svm"]


def test_convert(tmp_path: Path) -> None:
    save(texts(), tmp_path / "a.jsonl")
    facts = convert(tmp_path / "a.jsonl", tmp_path / "folder")
    assert (facts.n_rows, facts.n_labels) == (6, 3)
    same_groups(load(tmp_path / "folder").groups, groups())
    convert(tmp_path / "folder", tmp_path / "b.jsonl")
    assert (tmp_path / "b.jsonl").read_bytes() == (tmp_path / "a.jsonl").read_bytes()
    with pytest.warns(LossWarning):
        convert(tmp_path / "a.jsonl", tmp_path / "b.csv")
    convert(tmp_path / "b.csv", tmp_path / "c.jsonl", group_field="group")
    same_groups(load(tmp_path / "c.jsonl").groups, groups(), counts=False)
