"""Unbalanced trees, the sweep over them, and pictures, from the command line."""

import json

import pytest

import longtail as lt


@pytest.mark.parametrize("builder", ["interpolated", "fano", "huffman"])
def test_unbalanced_trees(run, texts, builder):
    args = (
        "tree",
        texts / "train.jsonl",
        "--builder",
        builder,
        "--arity",
        2,
        "--max-leaf",
        1,
        "--tradeoff",
        2,
    )
    told = json.loads(run(*args, "--json").stdout)
    assert told["tree"]["n_leaves"] == 10
    assert told["tree"]["depth"]["min"] < told["tree"]["depth"]["max"]


def test_tree_sweep(run, texts, tmp_path):
    pytest.importorskip("matplotlib")
    args = (
        "tree",
        texts / "train.jsonl",
        "--sweep",
        "--tradeoffs",
        "1,1.8",
        "--arities",
        "2,4",
        "--max-leaf",
        2,
    )
    options = ("--cost", "depth", "--precision", 0.5, "--set", "C=2", "--set", "text.min_df=2")
    result = run(*args, *options, "--picture", tmp_path / "sweep.svg")
    assert result.exit_code == 0, result.stderr
    assert "Picked: --set tradeoff=" in result.stdout
    assert len([line for line in result.stdout.splitlines() if "1.800" in line]) >= 2
    assert (tmp_path / "sweep.svg").read_text().startswith("<?xml")
    told = json.loads(run(*args, *options, "--json", "-q").stdout)
    assert [(p["arity"], p["tradeoff"]) for p in told["points"]] == [
        (a, t) for a in (2, 4) for t in (0, 1, 1.8)
    ]
    assert told["best"]["depth"]["1"] == min(p["depth"]["1"] for p in told["points"])


def test_tree_sweep_with_a_budget_that_nothing_meets(run, texts):
    args = (
        "tree",
        texts / "train.jsonl",
        "--sweep",
        "--tradeoffs",
        "1",
        "--arities",
        "2",
        "--latency",
        "0.000001",
    )
    result = run(*args, "-q")
    assert result.exit_code == 0
    assert "No tree takes 1e-06 ms or less" in result.stdout


@pytest.mark.parametrize(
    "args",
    [
        ["--latency", "1"],
        ["--sweep", "--latency", "1", "--precision", "0.1"],
        ["--sweep", "--tradeoffs", "a"],
        ["--sweep", "--tradeoffs", "3"],
        ["--sweep", "--arities", "1"],
        ["--sweep", "--cost", "money"],
        ["--sweep", "--set", "nonsense=1"],
        ["--tradeoff", "3", "--builder", "interpolated"],
    ],
)
def test_bad_sweeps(run, texts, args):
    assert run("tree", texts / "train.jsonl", *args).exit_code == 2
    wrong_picture = run("tree", texts / "train.jsonl", "--sweep", "--picture", texts / "x.docx")
    assert wrong_picture.exit_code == 3


def test_plots(run, texts, tmp_path):
    pytest.importorskip("matplotlib")
    for kind, model in (
        ("imbalance", []),
        ("shape", ["-m", texts / "model"]),
        ("reliability", ["-m", texts / "model"]),
    ):
        result = run("plot", kind, texts / "test.jsonl", "-o", tmp_path / f"{kind}.png", "--json", *model)
        assert result.exit_code == 0, result.stderr
        assert (tmp_path / f"{kind}.png").read_bytes()[:4] == b"\x89PNG"
        assert json.loads(result.stdout)["kind"] == kind


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["moon", "-o", "a.png"], 2),
        (["shape", "-o", "a.png"], 2),
        (["imbalance", "-o", "a.docx"], 3),
        (["imbalance"], 2),
    ],
)
def test_bad_plots(run, texts, args, code):
    assert run("plot", args[0], texts / "test.jsonl", *args[1:]).exit_code == code


def test_training_with_a_tradeoff(run, texts, tmp_path):
    args = (
        "train",
        texts / "train.jsonl",
        "--model",
        tmp_path / "m",
        "-q",
        "--set",
        "max_leaf=1",
        "--set",
        "arity=2",
    )
    assert run(*args, "--set", "tradeoff=1.9", "--set", "heads=greedy", "--set", "gamma=0").exit_code == 0
    model = lt.load(tmp_path / "m")
    assert (model.tradeoff, model.heads, model.gamma) == (1.9, "greedy", 0)
    assert len(set(model.trees_[0].depth.tolist())) > 1
    result = run("predict", texts / "test.jsonl", "--model", tmp_path / "m", "-q")
    assert result.exit_code == 0
