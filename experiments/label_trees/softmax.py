"""Hierarchical softmax with Huffman's tree and with interpolated ones: the same parameters, other trees."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import longtail as lt
from longtail.trees import tradeoff_from_ratio

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
from softmax_speed import PARAMS, measure, precision, write_examples

SOFTMAX_RATIOS = "0,0.25,0.5,0.75,1,2,4,16,64,256,100000"
KS = (1, 3, 5)


def train_softmax(args: argparse.Namespace) -> None:
    """OUT/softmax/*.json: one file for each tree, with a list of what each seed gave."""
    train, test = lt.data.load(args.data, split="trn"), lt.data.load(args.data, split="tst")
    x, queries = _inputs(train, test)
    trees: list[tuple[str, float | None]] = [("features", None)]
    for similarity in args.softmax_similarities.split(","):
        trees += [(similarity, float(ratio)) for ratio in args.softmax_ratios.split(",")]
    for similarity, ratio in trees:
        name = "huffman" if ratio is None else f"{similarity}-{ratio:g}"
        file = args.out / "softmax" / f"{args.softmax_epochs}-epochs-{name}.json"
        runs = json.loads(file.read_text())["runs"] if file.exists() else []
        for seed in range(len(runs), args.softmax_seeds):
            tradeoff = None if ratio is None else tradeoff_from_ratio(ratio)
            model = lt.HierarchicalSoftmax(
                dim=PARAMS["dim"],
                lr=PARAMS["lr"],
                epochs=args.softmax_epochs,
                tradeoff=tradeoff,
                similarity=similarity,
                seed=seed,
            )
            begin = time.perf_counter()
            model.fit(x, train.Y)
            seconds = time.perf_counter() - begin
            ranking = model.predict(queries, k=max(KS))
            report = lt.metrics.evaluate(ranking, test.Y, k=KS, metrics=["P"])
            tree = model.trees_[0]
            runs.append(
                {
                    "seed": seed,
                    **{f"P@{k}": float(report[f"P@{k}"]) for k in KS},
                    **{f"depth@{k}": float(lt.metrics.expected_depth(ranking, tree, k)) for k in KS},
                    "nodes": float(np.mean(model.search_stats_["nodes_opened"])),
                    "loss": model.training_stats_["losses"][-1],
                    "fit_seconds": seconds,
                }
            )
            facts = {
                "ratio": ratio,
                "tradeoff": tradeoff,
                "similarity": similarity,
                "epochs": args.softmax_epochs,
            }
            write(file, {**facts, "runs": runs})
            print(f"softmax {name}, seed {seed}: P@1 {runs[-1]['P@1']:.4f}", flush=True)
    if args.fasttext:
        _official(args)


def _inputs(train: Any, test: Any) -> tuple[Any, Any]:
    """Texts, or features, made bags once."""
    if train.texts is None:
        return train.X, test.X
    bags = lt.text.WordBags(
        word_ngrams=PARAMS["word_ngrams"], min_count=PARAMS["min_count"], buckets=PARAMS["buckets"]
    )
    return bags.fit_transform(train.texts), bags.transform(test.texts)


def _official(args: argparse.Namespace) -> None:
    """The official fastText, which has Huffman's tree, with the same parameters; and HierarchicalSoftmax on exactly its
    input (texts cut at white space), a thread each."""
    file = args.out / "softmax" / f"official-{args.softmax_epochs}-epochs.json"
    if file.exists():
        return
    with tempfile.TemporaryDirectory() as path:
        write_examples(args.data, Path(path))
        result = {"epochs": args.softmax_epochs}
        for side in ("fastText", "longtail"):
            found = measure(side, Path(path), args.softmax_epochs, 1, args.fasttext)
            result[side] = {"P@1": precision(found["found"], args.data) / 100, "cpu_seconds": found["cpu"]}
            print(f"{side}: P@1 {result[side]['P@1']:.4f}", flush=True)
    result["version"] = _version(args.fasttext)
    write(file, result)


def _version(python: str) -> str:
    """Of the package, whichever of its two names it goes by."""
    command = (
        "from importlib.metadata import distributions\n"
        "print(*(f'{d.name} {d.version}' for d in distributions() if d.name.startswith('fasttext')))"
    )
    done = subprocess.run([python, "-c", command], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def write(file: Path, result: Any) -> None:
    """Under its name when it is complete."""
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_suffix(".partial")
    partial.write_text(json.dumps(result, indent=1) + "\n")
    partial.replace(file)
