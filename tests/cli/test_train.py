"""longtail train."""

import errno
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import longtail as lt


def test_trains_saves_and_reports(run, texts, tmp_path):
    result = run("train", texts / "train.jsonl", "-m", tmp_path / "m", "--validation", "0.2", "--json")
    assert result.exit_code == 0, result.stderr
    told = json.loads(result.stdout)
    assert told["class"] == "LinearTree"
    assert told["rows"] == 240
    assert told["validation"]["metrics"]["P@1"] > 0.9
    assert told["seconds"]["fit"] > 0
    assert "Training LinearTree()" in result.stderr
    model = lt.load(tmp_path / "m")
    assert "hammer" in model.labels_.names
    assert not (tmp_path / "m.partial").exists()


def test_validation_is_kept_with_the_model(run, texts, tmp_path):
    result = run("train", texts / "train.jsonl", "-m", tmp_path / "m", "--validation", "0.2", "--json")
    kept = json.loads((tmp_path / "m" / "model.json").read_text())["evaluation"]
    assert kept["metrics"] == json.loads(result.stdout)["validation"]["metrics"]
    assert kept["data"] == "0.2 of train.jsonl, held out"
    assert "0.2 of train.jsonl, held out" in (tmp_path / "m" / "README.md").read_text()
    assert "nDCG" in run("inspect", tmp_path / "m").stdout


def test_human_output_shows_the_held_out_rows(run, texts, tmp_path):
    result = run("train", texts / "train.jsonl", "-m", tmp_path / "m", "--validation", "0.2")
    assert "On the rows held out" in result.stdout
    assert "nDCG" in result.stdout


def test_quiet_is_silent(run, texts, tmp_path):
    result = run("train", texts / "train.jsonl", "-m", tmp_path / "m", "-q")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")


@pytest.mark.parametrize("name", ["LinearTree", "OneVsRest", "parabel", "xr-linear", "HierarchicalSoftmax"])
def test_classes(run, texts, tmp_path, name):
    result = run("train", texts / "train.jsonl", "-m", tmp_path / "m", "--class", name, "-q")
    assert result.exit_code == 0, result.stderr
    model = lt.load(tmp_path / "m")
    assert type(model).__name__ == (name if name in ("OneVsRest", "HierarchicalSoftmax") else "LinearTree")
    assert model.get_params().get("trees", 1) == (3 if name == "parabel" else 1)


def test_parameters_from_file_and_command_line(run, texts, tmp_path):
    toml = tmp_path / "p.toml"
    toml.write_text('[model]\nclass = "xr-linear"\nC = 3.0\narity = 4\n[text]\nngram_range = [1, 2]\n')
    result = run(
        *("train", texts / "train.jsonl", "-m", tmp_path / "m", "-p", toml, "-q"),
        *("--set", "C=0.5", "-s", "text.sublinear_tf=true", "--seed", "7", "--threads", "1"),
    )
    assert result.exit_code == 0, result.stderr
    params = lt.load(tmp_path / "m").get_params()
    assert (params["C"], params["arity"], params["negatives"], params["seed"]) == (0.5, 4, "matched", 7)
    text = params["vectorizer"].get_params()
    assert (tuple(text["ngram_range"]), text["sublinear_tf"]) == ((1, 2), True)


def test_threads_change_nothing(run, texts, tmp_path):
    for n in (1, 2):
        assert (
            run("train", texts / "train.jsonl", "-m", tmp_path / f"m{n}", "--threads", n, "-q").exit_code == 0
        )
    queries = ["a bird that hunts", "a tool"]
    one, two = (lt.load(tmp_path / f"m{n}").predict(queries) for n in (1, 2))
    assert np.array_equal(one.labels, two.labels)
    assert np.array_equal(one.scores, two.scores)


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["--set", "arrity=2"], 2, "--set arrity=2: unknown key 'arrity' in [model]. Did you mean 'arity'?"),
        (["--set", "text.mindf=2"], 2, "unknown key 'mindf' in [text]. Did you mean 'min_df'?"),
        (["--set", "C=-1"], 2, "The 'C' parameter of LinearTree must be a number in (0"),
        (["--set", "C"], 2, "expected key=value"),
        (["--class", "Tree"], 2, "--class: unknown class 'Tree'. Known classes: LinearTree, OneVsRest"),
        (["--class", "OneVsRest", "--set", "arity=2"], 2, "unknown key 'arity' in [model]"),
        (["--threads", "0"], 2, "The 'threads' parameter of LinearTree"),
        (["--validation", "1"], 2, "--validation must be a number in [0, 1). Got 1.0"),
        (["--resume"], 2, "there is no interrupted training"),
        (["--resume", "--restart"], 2, "exclude each other"),
        (["--params", "nowhere.toml"], 2, "nowhere.toml: No such file"),
        (["--read", "formatt=csv"], 2, "no parameter 'formatt'"),
        (["--read", "csv"], 2, "--read csv: expected key=value"),
    ],
)
def test_wrong_arguments_are_one_line(run, texts, tmp_path, args, code, words):
    result = run("train", texts / "train.jsonl", "--model", tmp_path / "m", *args)
    assert result.exit_code == code
    assert words in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""
    assert not (tmp_path / "m").exists()


def test_data_that_is_missing_or_bad(run, tmp_path):
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"text": "fine", "labels": ["a"]}\n{"text": "cut off\n')
    for path, words in ((tmp_path / "nowhere.jsonl", "no such file"), (bad, "line 2")):
        result = run("train", path, "--model", tmp_path / "m")
        assert result.exit_code == 3
        assert words in result.stderr
        assert "Traceback" not in result.stderr


def test_data_without_labels(run, tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"text": "one"}\n{"text": "two"}\n')
    result = run("train", path, "--model", tmp_path / "m")
    assert result.exit_code == 3
    assert "has no labels" in result.stderr


def test_text_parameters_need_texts(run, vectors, tmp_path):
    result = run("train", vectors / "train.svm", "--model", tmp_path / "m", "--set", "text.min_df=2")
    assert result.exit_code == 2
    assert "has features, not texts" in result.stderr


def test_a_foreign_folder_is_left_alone(run, texts, tmp_path):
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "thesis.txt").write_text("words")
    result = run("train", texts / "train.jsonl", "--model", precious)
    assert result.exit_code == 2
    assert "exists and is no model" in result.stderr
    assert (precious / "thesis.txt").read_text() == "words"


def test_a_foreign_checkpoint_is_left_alone(run, texts, tmp_path):
    (tmp_path / "m.partial").mkdir()
    (tmp_path / "m.partial" / "thesis.txt").write_text("words")
    for args in ([], ["--restart"]):
        result = run("train", texts / "train.jsonl", "--model", tmp_path / "m", *args)
        assert result.exit_code == 4, result.stderr
        assert result.stderr.endswith("holds 'thesis.txt', so it is not a checkpoint, and is not touched.\n")
        assert (tmp_path / "m.partial" / "thesis.txt").read_text() == "words"


def test_a_folder_that_cannot_be_made(run, texts, tmp_path):
    (tmp_path / "file").write_text("words")
    result = run("train", texts / "train.jsonl", "--model", tmp_path / "file" / "m")
    assert result.exit_code == 4
    assert f"--model {tmp_path / 'file' / 'm'}: its folder cannot be made" in result.stderr


def test_a_checkpoint_that_cannot_be_written(run, texts, tmp_path, monkeypatch):
    """A restart would not help, so it is not offered."""
    with monkeypatch.context() as patch:
        interrupt_after_first_level(patch)
        assert run("train", texts / "train.jsonl", "--model", tmp_path / "m", "-q").exit_code == 130
    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full)
        result = run("train", texts / "train.jsonl", "--model", tmp_path / "m", "-q")
    assert result.exit_code == 4, result.stderr
    assert "cannot be written: [Errno 28] No space left on device" in result.stderr
    assert "--restart" not in result.stderr


def full(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_model_is_replaced(run, texts, tmp_path):
    for c in ("1", "2"):
        result = run("train", texts / "train.jsonl", "--model", tmp_path / "m", "--set", f"C={c}")
        assert result.exit_code == 0
    assert "will be replaced" in result.stderr
    assert lt.load(tmp_path / "m").C == 2


def interrupt_after_first_level(monkeypatch):
    """Ctrl-C, as soon as the checkpoint has something to keep."""
    from longtail.store import Checkpoint

    put = Checkpoint.put

    def put_and_stop(self, *args, **kwargs):
        put(self, *args, **kwargs)
        raise KeyboardInterrupt

    monkeypatch.setattr(Checkpoint, "put", put_and_stop)


def test_ctrl_c_keeps_what_is_finished(run, texts, tmp_path, monkeypatch):
    model = tmp_path / "m"
    with monkeypatch.context() as patch:
        interrupt_after_first_level(patch)
        result = run("train", texts / "train.jsonl", "--model", model, "-q")
    assert result.exit_code == 130
    assert result.stderr.startswith(f"Stopped. What is finished is kept in {model}.partial")
    assert not model.exists()

    other = run("train", texts / "train.jsonl", "--model", model, "--set", "C=2", "-q")
    assert other.exit_code == 4
    assert "C was 1.0, is 2" in other.stderr
    assert other.stderr.endswith("(--restart begins anew.)\n")

    result = run("train", texts / "train.jsonl", "--model", model, "--resume")
    assert result.exit_code == 0, result.stderr
    assert "Going on with the interrupted training" in result.stderr
    assert not (tmp_path / "m.partial").exists()
    straight, resumed = lt.load(texts / "model"), lt.load(model)
    queries = ["a bird that hunts", "a tool for wood"]
    assert straight.predict(queries) == resumed.predict(queries)


def test_restart_forgets(run, texts, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        interrupt_after_first_level(patch)
        assert run("train", texts / "train.jsonl", "--model", tmp_path / "m", "-q").exit_code == 130
    result = run("train", texts / "train.jsonl", "-m", tmp_path / "m", "--restart", "--set", "C=2", "-q")
    assert result.exit_code == 0, result.stderr
    assert not (tmp_path / "m.partial").exists()


@pytest.mark.skipif(os.name == "nt", reason="signals are different there")
def test_a_real_ctrl_c(tmp_path):
    from longtail import demo

    args = [
        sys.executable,
        "-m",
        "longtail",
        "train",
        str(demo.path("train")),
        "--model",
        str(tmp_path / "m"),
    ]
    process = subprocess.Popen(
        [*args, "--class", "OneVsRest", "--set", "tol=1e-9", "--threads", "1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Jobs that a shell runs in the background ignore Ctrl-C, and what they start does too.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    for line in process.stderr:
        if line.startswith("memory:"):
            break
    time.sleep(0.3)
    began = time.perf_counter()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert time.perf_counter() - began < 10
    assert process.returncode == 130, err
    assert out == ""
    assert err.splitlines()[-1].startswith("Stopped.")
    assert "Traceback" not in err


def test_data_in_groups(run, texts, tmp_path):
    rows = lt.data.load(texts / "train.jsonl")
    groups = lt.groups.random_groups(rows.n_rows, 3, seed=0)
    grouped = lt.data.Dataset(
        texts=rows.texts,
        groups=lt.data.Groups(groups, lt.groups.merge_labels(groups, rows.Y)),
        labels=rows.labels,
    )
    lt.data.save(grouped, tmp_path / "pages.jsonl")
    result = run("train", tmp_path / "pages.jsonl", "-m", tmp_path / "m", "--json")
    assert result.exit_code == 0, result.stderr
    assert "in 100 groups" in result.stderr
    assert json.loads(result.stdout)["labels"] == rows.n_labels
    result = run("evaluate", texts / "test.jsonl", "-m", tmp_path / "m", "--json")
    assert json.loads(result.stdout)["metrics"]["P@1"] > 0.9
    result = run("train", tmp_path / "pages.jsonl", "-m", tmp_path / "m2", "--validation", "0.2")
    assert result.exit_code != 0
    assert "only labels of groups" in result.stderr
