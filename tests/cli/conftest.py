"""Small data sets as files, and a runner."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from longtail.cli.app import app

ANIMALS = {
    "cat": "a small furry animal that purrs and catches mice",
    "dog": "a loyal animal that barks and guards the house",
    "owl": "a bird of the night with large eyes that hunts mice",
    "eagle": "a large bird that flies high and hunts by day",
    "hammer": "a tool with a heavy head that drives nails",
    "saw": "a tool with teeth that cuts wood",
    "spade": "a tool for digging in the garden",
}
KINDS = {"owl": ["bird"], "eagle": ["bird"], "hammer": ["tool"], "saw": ["tool"], "spade": ["tool"]}


def examples(n=300, seed=0):
    """Shuffled words of the definitions, labelled with the thing and its kind."""
    rng = np.random.default_rng(seed)
    names = sorted(ANIMALS)
    rows = []
    for _ in range(n):
        name = names[rng.integers(len(names))]
        words = ANIMALS[name].split()
        rows.append((" ".join(rng.permutation(words)[:6]), [name, *KINDS.get(name, ["animal"])]))
    return rows


def write_jsonl(path, rows):
    lines = [json.dumps({"text": text, "labels": labels}) for text, labels in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_svmlight(path, n=200, n_features=12, n_labels=6, seed=0):
    rng = np.random.default_rng(seed)
    lines = []
    for i in range(n):
        label = int(rng.integers(n_labels)) if i else n_labels - 1
        other = (label + 1) % n_labels
        noise = int(rng.integers(n_labels, n_features)) if i else n_features - 1
        labels = ",".join(map(str, sorted({label, other})))
        lines.append(f"{labels} {label}:1.0 {noise}:0.3")
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="session")
def texts(tmp_path_factory):
    """A folder with train.jsonl and test.jsonl, and a model trained on it."""
    folder = tmp_path_factory.mktemp("texts")
    write_jsonl(folder / "train.jsonl", examples(300, seed=0))
    write_jsonl(folder / "test.jsonl", examples(60, seed=1))
    result = run("train", folder / "train.jsonl", "--model", folder / "model", "--quiet")
    assert result.exit_code == 0, result.stderr
    return folder


@pytest.fixture(scope="session")
def vectors(tmp_path_factory):
    """A folder with train.svm and test.svm, and a model trained on it."""
    folder = tmp_path_factory.mktemp("vectors")
    write_svmlight(folder / "train.svm", seed=0)
    write_svmlight(folder / "test.svm", seed=1)
    result = run("train", folder / "train.svm", "--model", folder / "model", "--quiet")
    assert result.exit_code == 0, result.stderr
    return folder


def run(*args, stdin=None):
    """The command with these arguments, in this process."""
    return CliRunner().invoke(app, [str(arg) for arg in args], prog_name="longtail", input=stdin)


@pytest.fixture(name="run")
def run_fixture():
    return run


@pytest.fixture(name="examples")
def examples_fixture():
    return examples


@pytest.fixture(name="write_jsonl")
def write_jsonl_fixture():
    return write_jsonl
