"""Data, groups and ways that the experiments share; results as points that are computed once."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import longtail as lt
from longtail.groups import cluster_groups, everyone, merge_labels, random_groups

RESULTS = Path(__file__).parent / "results"
WAYS = ("oracle", "baseline", "EAGLE-0", "EAGLE", "contrast")
MODELS = {
    "tree": lambda seed: lt.LinearTree(seed=seed),
    "binary": lambda seed: lt.LinearTree(arity=2, seed=seed),
    "C-0.3": lambda seed: lt.LinearTree(C=0.3, seed=seed),
    "C-0.1": lambda seed: lt.LinearTree(C=0.1, seed=seed),
    "parabel-1": lambda seed: lt.LinearTree.parabel(trees=1, seed=seed),
    "parabel-3": lambda seed: lt.LinearTree.parabel(seed=seed),
}


class Points:
    """A file of JSON lines: what has been computed is not computed again, so a run that was stopped goes on."""

    def __init__(self, name: str):
        self.path = RESULTS / f"{name}.jsonl"
        self.done: dict[str, dict[str, Any]] = {}
        if self.path.exists():
            for line in self.path.read_text().splitlines():
                point = json.loads(line)
                self.done[_key(point["point"])] = point

    def get(self, point: dict[str, Any]) -> dict[str, Any] | None:
        return self.done.get(_key(point))

    def put(self, point: dict[str, Any], result: dict[str, Any]) -> None:
        record = {"point": point, "result": result, "commit": _commit()}
        self.done[_key(point)] = record
        RESULTS.mkdir(exist_ok=True)
        with open(self.path, "a") as file:
            file.write(json.dumps(record) + "\n")
        print(json.dumps(record), flush=True)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.done.values())


def _commit() -> str:
    """What the library was when a point was computed."""
    told = subprocess.run(
        ["git", "describe", "--always", "--dirty"], capture_output=True, text=True, cwd=RESULTS.parent
    )
    return told.stdout.strip()


def _key(point: dict[str, Any]) -> str:
    return json.dumps(point, sort_keys=True)


class Problem:
    """Features of unit length and labels of the two parts of a data set; the test part may be held out of training."""

    def __init__(self, folder: Path, validation: bool):
        train, test = (lt.data.load(folder, split=_split(folder, which)) for which in ("trn", "tst"))
        if validation:
            train, test = train.split(0.15, seed=0)
        if train.texts is None:
            self.x, self.x_test = unit(train.X), unit(test.X)
        else:
            vectorizer = lt.TextVectorizer()
            self.x, self.x_test = vectorizer.fit_transform(train.texts), vectorizer.transform(test.texts)
        self.y, self.y_test = train.Y, test.Y

    def groups(self, rule: str, seed: int) -> Any:
        """R-4: random groups of 4; C-8: 2^8 clusters; C-8+0.5: with noise of that length."""
        kind, _, rest = rule.partition("-")
        if kind == "R":
            return random_groups(self.x.shape[0], int(rest), seed=seed)
        depth, _, noise = rest.partition("+")
        return cluster_groups(self.x, int(depth), noise=float(noise or 0), seed=seed)


def unit(x: Any) -> Any:
    lengths = np.sqrt(np.asarray(x.multiply(x).sum(axis=1)).ravel())
    return sp.csr_matrix(sp.diags_array(1 / np.where(lengths > 0, lengths, 1)) @ x, dtype=np.float32)


def _split(folder: Path, which: str) -> str:
    names = os.listdir(folder)
    return next(
        name
        for name in (which, {"trn": "train", "tst": "test"}[which])
        if any(n.startswith(name) for n in names)
    )


def assign(way: str, problem: Problem, groups: Any, known: Any) -> Any:
    """Labels of samples by one of the ways."""
    if way == "oracle":
        return problem.y
    if way == "baseline":
        return everyone(groups, known)
    eagle = {"EAGLE-0": lt.Eagle(T=0), "EAGLE": lt.Eagle(T=20, rate=0.1), "contrast": lt.Eagle()}[way]
    return eagle.assign(problem.x, groups, known)


def measure(problem: Problem, y: Any, model: str, seed: int) -> dict[str, float]:
    """Trains and ranks the test rows."""
    trained = MODELS[model](seed).fit(problem.x, y)
    report = lt.metrics.evaluate(trained.predict(problem.x_test, k=5), problem.y_test, k=(1, 3, 5))
    return {f"P@{k}": round(100 * report.to_dict()["metrics"][f"P@{k}"], 2) for k in (1, 3, 5)}


def run_point(points: Points, problem: Problem, point: dict[str, Any]) -> None:
    """One training, if it has not been done: point = rule, merge, way, model, seed."""
    if points.get(point) is not None:
        return
    groups = problem.groups(point["rule"], point["seed"])
    known = merge_labels(groups, problem.y, point["merge"])
    y = assign(point["way"], problem, groups, known)
    right = float(y.multiply(problem.y).sum())
    result: dict[str, Any] = {
        "recall": round(right / problem.y.nnz, 4),
        "precision": round(right / max(y.nnz, 1), 4),
    }
    points.put(point, {**result, **measure(problem, y, point["model"], point["seed"])})
