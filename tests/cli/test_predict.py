"""longtail predict."""

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import longtail as lt

QUERIES = ["a bird that hunts mice by night", "", "digging in the garden"]


def test_texts_from_standard_input(run, texts):
    result = run("predict", "-", "--model", texts / "model", "-k", "2", stdin="\n".join(QUERIES) + "\n")
    assert result.exit_code == 0, result.stderr
    rows = [[cell.rpartition(":")[0] for cell in line.split("\t")] for line in result.stdout.splitlines()]
    assert rows == lt.load(texts / "model").predict(QUERIES, k=2).names()
    assert set(rows[0]) == {"owl", "bird"}
    assert result.stderr == ""


def test_json_has_what_python_has(run, texts):
    result = run("predict", "-", "-m", texts / "model", "--json", stdin="\n".join(QUERIES))
    ranking = lt.load(texts / "model").predict(QUERIES)
    for i, line in enumerate(result.stdout.splitlines()):
        row = json.loads(line)
        assert row["row"] == i
        assert row["labels"] == ranking.names()[i]
        assert row["ids"] == ranking.labels[i].tolist()
        assert row["scores"] == ranking.scores[i].tolist()
    assert i == 2


def test_a_file_gives_what_standard_input_gives(run, texts, examples):
    queries = "\n".join(text for text, _ in examples(60, seed=1))
    from_file = run("predict", texts / "test.jsonl", "-m", texts / "model", "-q")
    from_stdin = run("predict", "-", "-m", texts / "model", stdin=queries)
    assert from_file.exit_code == from_stdin.exit_code == 0
    assert from_file.stdout == from_stdin.stdout


def test_output_to_a_file(run, texts, tmp_path):
    result = run(
        "predict", texts / "test.jsonl", "-m", texts / "model", "-f", "csv", "-o", tmp_path / "o.csv", "-k", 1
    )
    assert result.exit_code == 0
    assert result.stdout == ""
    assert "60 rows written" in result.stderr
    rows = list(csv.DictReader(io.StringIO((tmp_path / "o.csv").read_text())))
    assert [int(row["row"]) for row in rows] == list(range(60))
    assert list(tmp_path.iterdir()) == [tmp_path / "o.csv"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_a_device_or_pipe_is_written_to_and_not_replaced(run, texts, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE, text=True)
    result = run("predict", texts / "test.jsonl", "-m", texts / "model", "-o", pipe, "-q")
    out, _ = reader.communicate(timeout=30)
    assert result.exit_code == 0
    assert out.count("\n") == 60
    assert pipe.is_fifo()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_full_disk_is_an_error(texts):
    with open("/dev/full", "w") as full:
        result = subprocess.run(
            command("predict", texts / "test.jsonl", "-m", texts / "model", "-q"),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
        )
    assert result.returncode == 1
    assert result.stderr == "Error: No space left on device.\n"


@pytest.mark.parametrize(("name", "words"), [("no/where.txt", "does not exist"), (".", "is a folder")])
def test_output_to_where_there_is_no_file(run, texts, tmp_path, name, words):
    result = run("predict", texts / "test.jsonl", "-m", texts / "model", "-o", tmp_path / name)
    assert result.exit_code == 2
    assert words in result.stderr


def test_a_failure_leaves_no_output(run, texts, tmp_path):
    (tmp_path / "bad.jsonl").write_text("{oops\n")
    result = run("predict", tmp_path / "bad.jsonl", "-m", texts / "model", "-o", tmp_path / "o.txt")
    assert result.exit_code == 3
    assert not (tmp_path / "o.txt").exists()
    assert not (tmp_path / "o.txt.partial").exists()


def test_only_and_exclude(run, texts, tmp_path):
    chosen = tmp_path / "labels.txt"
    chosen.write_text("tool\n\nbird\n")
    only = run("predict", "-", "-m", texts / "model", "--only", chosen, "--json", stdin="hunts mice\n")
    assert set(json.loads(only.stdout)["labels"]) == {"tool", "bird"}
    without = run("predict", "-", "-m", texts / "model", "--exclude", chosen, "--json", stdin="hunts mice\n")
    assert not {"tool", "bird"} & set(json.loads(without.stdout)["labels"])
    assert len(json.loads(without.stdout)["labels"]) == 5
    excluded = tmp_path / "excluded.txt"
    excluded.write_text("bird\nanimal\n")
    both = ("--only", chosen, "--exclude", excluded, "--json")
    rest = run("predict", "-", "-m", texts / "model", *both, stdin="hunts mice\n")
    assert json.loads(rest.stdout)["labels"] == ["tool"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("tool\nham\n", "line 2: 'ham' is none of the model's 10 labels. Did you mean 'hammer'?"),
        ("", "lists no labels"),
        (None, "No such file"),
    ],
)
def test_bad_label_files(run, texts, tmp_path, content, words):
    path = tmp_path / "labels.txt"
    if content is not None:
        path.write_text(content)
    result = run("predict", "-", "-m", texts / "model", "--only", path, stdin="x\n")
    assert result.exit_code == 3
    assert words in result.stderr


def test_svmlight_rows_from_standard_input(run, vectors):
    lines = (vectors / "test.svm").read_text()
    from_stdin = run("predict", "-", "-m", vectors / "model", "-f", "ids", stdin=lines)
    from_file = run("predict", vectors / "test.svm", "-m", vectors / "model", "-f", "ids", "-q")
    assert from_stdin.exit_code == from_file.exit_code == 0, from_file.stderr
    assert from_stdin.stdout == from_file.stdout


def test_features_counted_from_one(run, vectors):
    zero = run("predict", "-", "-m", vectors / "model", "-f", "ids", stdin="2:1\n")
    one = run(
        "predict", "-", "-m", vectors / "model", "-f", "ids", "--read", "zero_based=false", stdin="3:1\n"
    )
    assert zero.stdout == one.stdout != ""


def test_bad_rows_on_standard_input_name_their_line(run, vectors):
    result = run("predict", "-", "-m", vectors / "model", stdin="1:1\n99:1\n")
    assert result.exit_code == 3
    assert result.stderr == "Error: standard input, line 2: feature 99, expected 0 to 11.\n"


def test_texts_for_a_model_of_features(run, texts, vectors):
    result = run("predict", texts / "test.jsonl", "-m", vectors / "model")
    assert result.exit_code == 3
    assert "has texts, but the model was trained on features" in result.stderr
    result = run("predict", vectors / "test.svm", "-m", texts / "model")
    assert result.exit_code == 3
    assert "has features, but the model was trained on texts" in result.stderr


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["-k", "0"], "-k must be a whole number > 0"),
        (["--format", "xml"], "--format must be one of names"),
        (["--beam", "0"], "'beam' parameter of predict"),
        (["--threads", "-1"], "'threads' parameter of predict"),
    ],
)
def test_wrong_arguments(run, texts, args, words):
    result = run("predict", "-", "-m", texts / "model", *args, stdin="x\n")
    assert result.exit_code == 2
    assert words in result.stderr
    assert result.stderr.count("\n") == 1


def test_models_that_are_none(run, texts, tmp_path):
    (tmp_path / "empty").mkdir()
    for name in ("nowhere", "empty"):
        result = run("predict", "-", "-m", tmp_path / name, stdin="x\n")
        assert result.exit_code == 4
        assert result.stderr.startswith("Error: ")


def test_a_damaged_model(run, texts, tmp_path):
    import shutil

    shutil.copytree(texts / "model", tmp_path / "m")
    biggest = max((tmp_path / "m").glob("*.npy"), key=lambda path: path.stat().st_size)
    data = bytearray(biggest.read_bytes())
    data[-1] ^= 1
    biggest.write_bytes(bytes(data))
    result = run("predict", "-", "-m", tmp_path / "m", stdin="x\n")
    assert result.exit_code == 4
    assert result.stderr.count("\n") == 1


def command(*args):
    return [sys.executable, "-m", "longtail", *map(str, args)]


def test_a_conversation_through_pipes(texts):
    process = subprocess.Popen(
        command("predict", "-", "-m", texts / "model", "-k", "1"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    )
    for query, answer in (("digging in the garden", "spade"), ("purrs furry", "cat")):
        process.stdin.write(query + "\n")
        process.stdin.flush()
        assert process.stdout.readline().startswith((answer, "tool", "animal"))  # before the next is asked
    process.stdin.close()
    assert process.wait(timeout=30) == 0
    process.stdout.close()


@pytest.mark.skipif(os.name == "nt", reason="a POSIX shell")
def test_a_reader_that_goes_away_is_no_error(texts, tmp_path):
    (tmp_path / "many.txt").write_text("a tool for wood\n" * 50_000)
    line = " ".join(command("predict", "-", "-m", texts / "model"))
    script = f"{line} < {tmp_path / 'many.txt'} | head -1; exit ${{PIPESTATUS[0]}}"
    result = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60)
    assert result.returncode == 0
    assert result.stderr == ""
    assert result.stdout.count("\n") == 1


def test_names_of_any_script_reach_a_pipe(tmp_path):
    lt.LinearTree().fit(["eins zwei", "drei vier"], [["größe"], ["日本"]]).save(tmp_path / "m")
    result = subprocess.run(
        command("predict", "-", "-m", tmp_path / "m"),
        input=b"drei\n",
        capture_output=True,
        env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        timeout=60,
        check=True,
    )
    assert "日本" in result.stdout.decode("utf-8")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_named(run, texts, tmp_path, monkeypatch):
    # What is written to the unfinished file goes where there is no room.
    opened = Path.open
    monkeypatch.setattr(
        Path,
        "open",
        lambda self, *a, **k: opened(Path("/dev/full") if self.suffix == ".partial" else self, *a, **k),
    )
    out = tmp_path / "out.txt"
    result = run("predict", "--model", texts / "model", texts / "test.jsonl", "--output", out, "-q")
    assert result.exit_code == 1
    assert f"{out}: No space left on device." in result.stderr
    assert not out.exists()


def test_kinds_of_search(run, texts):
    model = lt.load(texts / "model")
    for options, given in (
        (["--search", "exact"], {"search": "exact"}),
        (["--search", "exact", "--slack", "0.5"], {"search": "exact", "slack": 0.5}),
        (["--search", "budget", "--budget", "2"], {"search": "budget", "budget": 2}),
        (["--search", "budget", "--time-budget", "1e7"], {"search": "budget", "time_budget": 1e7}),
    ):
        result = run("predict", "-", "-m", texts / "model", "--json", *options, stdin="\n".join(QUERIES))
        assert result.exit_code == 0, result.stderr
        rows = [json.loads(line) for line in result.stdout.splitlines()]
        expected = model.predict(QUERIES, **given)
        assert [row["labels"] for row in rows] == expected.names()
        assert [row["scores"] for row in rows] == [d["scores"] for d in expected.to_dicts()]


def test_a_budget_without_its_search(run, texts):
    result = run("predict", "-", "-m", texts / "model", "--budget", 3, stdin="\n".join(QUERIES))
    assert result.exit_code == 2
    assert "search='budget'" in result.stderr
