"""longtail evaluate, inspect, convert, tree."""

import json
import os

import numpy as np
import pytest
import scipy.sparse as sp

import longtail as lt


def test_evaluate_agrees_with_python(run, texts):
    result = run("evaluate", texts / "test.jsonl", "--model", texts / "model", "--json", "-k", "3,1")
    assert result.exit_code == 0, result.stderr
    told = json.loads(result.stdout)
    model = lt.load(texts / "model")
    train = lt.data.load(texts / "train.jsonl", labels=model.labels_)
    test = lt.data.load(texts / "test.jsonl", labels=model.labels_)
    report = lt.metrics.evaluate(model.predict(test.texts, k=3), test.Y, k=(1, 3), train=train.Y)
    assert told["metrics"] == pytest.approx(dict(report))
    assert told["metrics"]["P@1"] > 0.9
    assert (told["rows"], told["unknown_labels"]) == (60, 0)
    assert "rows/s" in result.stderr


def test_evaluate_prints_the_table(run, texts):
    result = run("evaluate", texts / "test.jsonl", "--model", texts / "model", "-q")
    assert "PSP" in result.stdout
    assert result.stderr == ""


def test_labels_that_the_model_does_not_know_count_as_missed(run, texts, tmp_path, write_jsonl, examples):
    rows = [(text, ["unheard of"]) for text, _ in examples(20, seed=3)]
    known = write_jsonl(tmp_path / "known.jsonl", examples(20, seed=3) + rows)
    told = json.loads(run("evaluate", known, "-m", texts / "model", "--json", "-k", "1").stdout)
    assert told["unknown_labels"] == 1
    assert told["metrics"]["P@1"] == pytest.approx(0.5, abs=0.06)


def test_the_evaluation_is_kept(run, texts, tmp_path):
    import shutil

    from longtail.store import update_evaluation

    shutil.copytree(texts / "model", tmp_path / "m")
    update_evaluation(tmp_path / "m", None)
    before = run("predict", texts / "test.jsonl", "-m", tmp_path / "m", "-q").stdout
    run("evaluate", texts / "test.jsonl", "-m", tmp_path / "m", "--no-save", "-q")
    assert "none (longtail evaluate keeps one)" in run("inspect", tmp_path / "m").stdout
    result = run("evaluate", texts / "test.jsonl", "-m", tmp_path / "m", "--json")
    kept = json.loads(run("inspect", tmp_path / "m", "--json").stdout)["evaluation"]
    assert kept["metrics"] == json.loads(result.stdout)["metrics"]
    assert kept["data"] == "test.jsonl"
    assert "nDCG" in run("inspect", tmp_path / "m").stdout
    assert run("predict", texts / "test.jsonl", "-m", tmp_path / "m", "-q").stdout == before


def test_an_evaluation_that_cannot_be_kept(run, texts, tmp_path, monkeypatch):
    import longtail.store

    def refuse(*_):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(longtail.store, "update_evaluation", refuse)
    result = run("evaluate", texts / "test.jsonl", "-m", texts / "model", "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["metrics"]["P@1"] > 0
    assert "not kept with the model" in run("evaluate", texts / "test.jsonl", "-m", texts / "model").stderr
    assert run("evaluate", texts / "test.jsonl", "-m", texts / "model", "--save").exit_code != 0


@pytest.mark.parametrize("k", ["", "0", "1,x", "1;3", "-1"])
def test_bad_places(run, texts, k):
    result = run("evaluate", texts / "test.jsonl", "-m", texts / "model", "--k", k)
    assert result.exit_code == 2
    assert "--k must be whole numbers > 0" in result.stderr


def test_bad_propensity(run, texts):
    result = run("evaluate", texts / "test.jsonl", "-m", texts / "model", "--propensity", "0.5")
    assert result.exit_code == 2
    assert "--propensity must be two numbers" in result.stderr


def test_evaluate_vectors(run, vectors):
    told = json.loads(run("evaluate", vectors / "test.svm", "-m", vectors / "model", "--json").stdout)
    assert told["metrics"]["P@1"] > 0.95


def folder_with_splits(path, splits):
    """A folder of matrices, as benchmarks have them."""
    path.mkdir()
    for split, n in splits.items():
        X = sp.random(n, 8, 0.5, "csr", dtype=np.float32, random_state=n)
        sp.save_npz(path / f"{split}_X.npz", X)
        labels = np.arange(n) % 4
        sp.save_npz(path / f"{split}_Y.npz", sp.csr_matrix((np.ones(n), (np.arange(n), labels)), (n, 4)))
    return path


def test_each_verb_takes_its_split(run, tmp_path):
    data = folder_with_splits(tmp_path / "d", {"trn": 40, "tst": 12})
    told = json.loads(run("train", data, "-m", tmp_path / "m", "--json").stdout)
    assert told["rows"] == 40
    assert json.loads(run("evaluate", data, "-m", tmp_path / "m", "--json").stdout)["rows"] == 12
    assert len(run("predict", data, "-m", tmp_path / "m", "-q").stdout.splitlines()) == 12
    other = run("evaluate", data, "-m", tmp_path / "m", "--json", "--read", "split=trn")
    assert json.loads(other.stdout)["rows"] == 40


def test_the_training_split_never_stands_in_for_the_test_split(run, tmp_path):
    data = folder_with_splits(tmp_path / "d", {"trn": 40})
    assert run("train", data, "-m", tmp_path / "m", "-q").exit_code == 0
    result = run("evaluate", data, "-m", tmp_path / "m")
    assert result.exit_code == 3
    assert "no test split" in result.stderr


def test_inspect_model(run, texts):
    told = json.loads(run("inspect", texts / "model", "--json").stdout)
    assert told["kind"] == "LinearTree"
    assert told["data"] == {"rows": 300, "features": told["data"]["features"], "input": "texts"}
    assert told["labels"]["labels"] == 10
    assert told["labels"]["most_frequent"].startswith("tool")
    assert sum(told["arrays"].values()) == told["bytes"]
    assert told["trees"][0]["shape"]["n_labels"] == 10
    shown = run("inspect", texts / "model").stdout
    for words in ("Parameters", "Text", "Labels", "Tree", "On disk", "Last evaluation", "tool"):
        assert words in shown


def test_inspect_names_the_biggest_nodes(run, texts, tmp_path):
    args = ("train", texts / "train.jsonl", "-m", tmp_path / "m", "-q", "-s", "arity=2", "-s", "max_leaf=2")
    assert run(*args).exit_code == 0
    nodes = json.loads(run("inspect", tmp_path / "m", "--json").stdout)["trees"][0]["biggest_nodes"]
    first = [node for node in nodes if node["depth"] == 1]
    assert sum(node["labels"] for node in first) == 10
    assert first[0]["uses"] >= first[1]["uses"]
    assert sum(node["uses"] for node in first) == 600  # two labels a row
    assert "tool" in first[0]["such_as"] + first[1]["such_as"]
    assert "biggest nodes" in run("inspect", tmp_path / "m").stdout


def test_inspect_model_of_vectors_without_tree(run, vectors, tmp_path):
    assert run("train", vectors / "train.svm", "-m", tmp_path / "m", "-c", "OneVsRest", "-q").exit_code == 0
    result = run("inspect", tmp_path / "m")
    assert result.exit_code == 0, result.stderr
    assert "holds a OneVsRest" in result.stdout
    assert "\nTree" not in result.stdout


def test_inspect_data(run, texts):
    told = json.loads(run("inspect", texts / "train.jsonl", "--json").stdout)
    assert told["kind"] == "data"
    assert (told["facts"]["rows"], told["facts"]["labels"]) == (300, 10)
    assert "300" in run("inspect", texts / "train.jsonl").stdout


def test_inspect_what_is_nothing(run, tmp_path):
    assert run("inspect", tmp_path / "nowhere").exit_code == 3
    assert run("inspect", tmp_path).exit_code == 3


def test_convert_there_and_back(run, texts, tmp_path):
    for source, target in ((texts / "train.jsonl", "t.csv"), (tmp_path / "t.csv", "t.jsonl.gz")):
        result = run("convert", source, tmp_path / target)
        assert result.exit_code == 0, result.stderr
        assert "300 rows" in result.stderr
    first, last = lt.data.load(texts / "train.jsonl"), lt.data.load(tmp_path / "t.jsonl.gz")
    assert first.texts == last.texts
    assert first.labels == last.labels
    assert (first.Y != last.Y).nnz == 0


def test_convert_refuses_to_overwrite(run, texts, tmp_path):
    (tmp_path / "t.csv").write_text("precious")
    result = run("convert", texts / "train.jsonl", tmp_path / "t.csv")
    assert result.exit_code == 2
    assert (tmp_path / "t.csv").read_text() == "precious"
    result = run("convert", texts / "train.jsonl", tmp_path / "t.csv", "--overwrite", "--json", "-q")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["rows"] == 300


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_convert_does_not_replace_devices(run, texts, tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    result = run("convert", texts / "train.jsonl", tmp_path / "pipe.csv", "--overwrite")
    assert result.exit_code == 2
    assert (tmp_path / "pipe.csv").is_fifo()


def test_convert_says_what_it_reads_and_writes(run, tmp_path):
    (tmp_path / "a.txt").write_text("headline|tags\nbig news|x,y\nold news|y\n")
    result = run(
        *("convert", tmp_path / "a.txt", tmp_path / "a.out", "--from", "csv", "--to", "jsonl"),
        *("--read", "delimiter=|", "--read", "text_field=headline", "--read", "label_field=tags"),
        *("--read", "label_separator=,", "--write", "text_field=title"),
    )
    assert result.exit_code == 0, result.stderr
    rows = [json.loads(line) for line in (tmp_path / "a.out").read_text().splitlines()]
    assert rows[0] == {"title": "big news", "labels": ["x", "y"]}


def test_convert_to_an_unknown_format(run, texts, tmp_path):
    assert run("convert", texts / "train.jsonl", tmp_path / "x.docx").exit_code == 2
    assert run("convert", texts / "train.jsonl", tmp_path / "x", "--to", "docx").exit_code == 2


@pytest.mark.parametrize("builder", ["kmeans", "complete", "random"])
def test_tree(run, texts, builder):
    args = ("tree", texts / "train.jsonl", "--builder", builder, "--arity", 2, "--max-leaf", 2, "--depth", 4)
    result = run(*args, "-q")
    assert result.exit_code == 0, result.stderr
    assert "└─" in result.stdout
    assert "hammer" in result.stdout
    told = json.loads(run(*args, "--json").stdout)
    assert told["tree"]["n_labels"] == 10
    assert told["tree"]["leaf_size"]["max"] <= 2


def test_tree_of_vectors(run, vectors):
    assert run("tree", vectors / "train.svm", "-q").exit_code == 0


@pytest.mark.parametrize(
    "args", [["--builder", "huff"], ["--arity", "1"], ["--max-leaf", "0"], ["--depth", "-1"]]
)
def test_bad_trees(run, texts, args):
    assert run("tree", texts / "train.jsonl", *args).exit_code == 2


def test_models_and_data_taken_for_each_other(run, texts, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "trn.txt").write_text("a b\n")
    for verb in ("predict", "evaluate"):
        result = run(verb, "--model", tmp_path / "data", texts / "test.jsonl")
        assert result.exit_code == 4
        assert "data: is no model: it has no model.json." in result.stderr
        result = run(verb, "--model", texts / "model", texts / "model")
        assert result.exit_code == 3
        assert "model: is a model, not data." in result.stderr
    result = run("train", texts / "model", "--model", tmp_path / "m")
    assert result.exit_code == 3
    assert "model: is a model, not data." in result.stderr


def test_unknown_formats_say_which_option_helps(run, texts, tmp_path):
    (tmp_path / "odd").write_text("\x01\x02")
    assert "--read format=" in run("inspect", tmp_path / "odd").stderr
    assert "--to" in run("convert", texts / "train.jsonl", tmp_path / "x.docx").stderr
