"""The packaged data and the job on them."""

import json

import pytest
from typer.testing import CliRunner

from longtail import demo
from longtail.cli.app import app


def test_the_data():
    train, test = demo.load()
    assert (train.n_rows, test.n_rows, train.n_labels) == (39_964, 7_988, 8_661)
    assert train.labels == test.labels
    assert train.Y.sum(axis=0).min() >= 2  # every label can be learnt
    assert len(set(train.labels.names)) == train.n_labels
    assert not set(train.texts) & set(test.texts)


def test_the_licence_is_there():
    text = (demo.path("train").parent / "WORDNET-LICENSE.txt").read_text(encoding="utf-8")
    assert "WordNet 3.0 Copyright 2006 by Princeton University.  All rights reserved." in text
    assert "THIS SOFTWARE AND DATABASE IS PROVIDED" in text


@pytest.fixture(scope="module")
def outcome():
    return demo.train_and_evaluate(threads=2)


def test_it_learns(outcome):
    assert outcome.report["P@1"] > 0.74
    assert outcome.report["P@5"] > 0.56
    assert set(outcome.seconds) == {"load", "train", "predict", "evaluate"}
    assert outcome.seconds["train"] < 60  # loose: about 3 s


def test_hand_typed_definitions_get_sensible_concepts(outcome):
    cat, cobbler = outcome.model.predict(list(demo.DEFINITIONS), k=5).names()
    assert "animal" in cat
    assert "person" in cobbler


@pytest.fixture
def trained(outcome, monkeypatch):
    """The command gets what was trained above."""
    monkeypatch.setattr(demo, "train_and_evaluate", lambda threads, seed: outcome)


def run(*args, stdin=""):
    result = CliRunner().invoke(app, ["demo", *args], input=stdin)
    assert result.exit_code == 0, result.stderr
    return result


def test_the_command_prints_metrics_timings_and_named_predictions(trained, tmp_path):
    result = run("--model", str(tmp_path / "m"))
    for words in ("8,661 labels", "nDCG", "rows/s", "  train ", " * ", "shoes", "  person"):
        assert words in result.stdout
    assert "Saved to" in result.stderr
    assert (tmp_path / "m" / "model.json").is_file()


def test_interactive_answers_each_line(trained):
    result = run("--interactive", "--quiet", stdin="a small yellow fruit\n\na tool for digging\n")
    answers = result.stdout.split("Typed by hand")[1]
    assert "a small yellow fruit" in answers
    assert "  tool\n" in answers.split("a tool for digging")[1]


def test_json_is_one_object(trained):
    told = json.loads(run("--json").stdout)
    assert told["labels"] == 8_661
    assert told["metrics"]["P@1"] > 0.74
    assert len(told["predictions"]) == len(demo.DEFINITIONS)
