"""Trees between balanced 2-means and Fano, on any data set: precision against expected depth, four ways of weighing,
what a query takes, other arities, and hierarchical softmax.

    python experiments/label_trees/run.py DATA --out results/NAME
    python experiments/label_trees/run.py DATA --out results/NAME --stages train,check,report   # no timing
    python experiments/label_trees/run.py DATA --out results/NAME --stages time,report          # timing alone

DATA is a folder with a training and a test split. Stages:

    train     linear trees of all curves and tradeoffs
    arities   linear trees of other arities, and the same arity with small leaves
    check     best-first search beside the scoring of all labels, on every row of the test split
    softmax   hierarchical softmax with Huffman's tree and interpolated ones (text or features); with --fasttext PYTHON
              also the official fastText, PYTHON being an interpreter that has the package
    time      single queries of the trees of train and arities
    report    tables and pictures of what is there

Every point is written when it is done, so the same command goes on where it was stopped; check and time need the
models, which are kept in --models (a folder of their own; they can be deleted afterwards).

Feature sets are L2-normalised, texts go through TextVectorizer(sublinear_tf=True), as in benchmarks/precision.py.
"""

from __future__ import annotations

import argparse
import functools
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from report import write_report
from softmax import SOFTMAX_RATIOS, train_softmax, write

import longtail as lt
from longtail.labels import frequencies, head_frequencies, pifa
from longtail.linear.searching import EVERYTHING, native_options
from longtail.trees import interpolated_tree, tradeoff_from_ratio
from longtail.tuning import measure_cost, measure_precision

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
from precision import features

RATIOS = "0,0.5,1,2,6,10,30,100,300,1000,100000"
KS = (1, 3, 5)
# By name: how heads are found, and whether the way leads over weighted 2-means.
CURVES = {
    "marginal": ("marginal", True),
    "greedy": ("greedy", True),
    "marginal, direct": ("marginal", False),
    "greedy, direct": ("greedy", False),
}
TIMED = "marginal"
TIMED_KS = (5, 1)
STAGES = ("train", "arities", "check", "softmax", "time", "report")
# Other shapes: arity and the most labels of a leaf, and the tradeoffs that are tried for each.
SHAPES = ((16, 100), (32, 100), (8, 100), (4, 100), (16, 20), (2, 20))
SHAPE_RATIOS = (0.0, 0.5, 1.0, 2.0)


@dataclass(frozen=True)
class Point:
    """One tree: a curve, a λ', a shape."""

    curve: str
    ratio: float
    arity: int
    max_leaf: int
    shaped: bool = False  # one of SHAPES

    @property
    def name(self) -> str:
        """For files. All curves begin at the balanced tree."""
        curve = TIMED if self.ratio == 0 else self.curve
        shape = f"arity{self.arity}-leaf{self.max_leaf}-" if self.shaped else ""
        return f"{shape}{curve.replace(', ', '-')}-{self.ratio:g}"


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--models", type=Path, help="where models are kept; OUT/models if not given")
    parser.add_argument("--ratios", default=RATIOS, help="the λ' to try")
    parser.add_argument("--curves", default=";".join(CURVES), help="with semicolons between")
    parser.add_argument("--stages", default=",".join(STAGES))
    parser.add_argument("--arity", type=int, default=2)
    parser.add_argument("--max-leaf", type=int, default=100)
    parser.add_argument("--queries", type=int, default=1000, help="single queries that are timed")
    parser.add_argument("--checked-rows", type=int, help="rows of the test split for check; all if not given")
    parser.add_argument(
        "--softmax-ratios", default=SOFTMAX_RATIOS, help="the λ' to try with hierarchical softmax"
    )
    parser.add_argument("--softmax-similarities", default="features,labels", help="what makes labels alike")
    parser.add_argument("--softmax-epochs", type=int, default=25)
    parser.add_argument("--softmax-seeds", type=int, default=3, help="trainings of each tree")
    parser.add_argument("--fasttext", metavar="PYTHON", help="an interpreter that has the package fasttext")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    unknown = set(args.curves.split(";")) - CURVES.keys() | set(args.stages.split(",")) - set(STAGES)
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    args.models = args.models or args.out / "models"
    return args


def main() -> None:
    args = parse()
    points = [
        Point(curve, float(ratio), args.arity, args.max_leaf)
        for curve in args.curves.split(";")
        for ratio in args.ratios.split(",")
    ]
    shapes = [
        Point(TIMED, ratio, arity, max_leaf, shaped=True)
        for arity, max_leaf in SHAPES
        for ratio in SHAPE_RATIOS
    ]
    args.out.mkdir(parents=True, exist_ok=True)
    _keep_settings(args)
    stages = args.stages.split(",")
    if {"train", "arities", "check", "time"} & set(stages):
        data = features(args.data)
        if "train" in stages:
            train_all(args, points, data)
        if "arities" in stages:
            train_all(args, shapes, data)
        kept = [p for p in [*points, *shapes] if p.curve == TIMED and (args.models / p.name).exists()]
        if "check" in stages:
            check_all(args, kept, data)
        if "time" in stages:
            time_all(args, kept, data)
    if "softmax" in stages:
        train_softmax(args)
    if "report" in stages:
        write_report(args.out, args.models, args.data, points, shapes)


def train_all(args: argparse.Namespace, points: list[Point], data: Any) -> None:
    """Builds, trains and measures the points that have not been."""
    x, y, x_test, y_test = data
    wanted = [point for point in points if not _file(args, "points", point).exists()]
    if not wanted:
        return
    begin = time.perf_counter()
    e, f = pifa(x, y), frequencies(y)
    heads = {how: head_frequencies(y, how) for how in {CURVES[point.curve][0] for point in wanted}}
    print(f"{len(f):,} labels embedded in {time.perf_counter() - begin:.1f} s", flush=True)
    for point in wanted:
        file = _file(args, "points", point)
        if file.exists():  # the balanced tree, of another curve
            continue
        how, midpoint = CURVES[point.curve]
        shape = {"arity": point.arity, "max_leaf": point.max_leaf, "seed": args.seed}
        begin = time.perf_counter()
        tradeoff = tradeoff_from_ratio(point.ratio)
        tree = interpolated_tree(e, f, heads[how], tradeoff=tradeoff, midpoint=midpoint, **shape)
        built = time.perf_counter()
        model = lt.LinearTree(tree=tree, arity=point.arity, seed=args.seed).fit(x, y)
        fitted = time.perf_counter()
        result = {
            "ratio": point.ratio,
            "tradeoff": tradeoff,
            "arity": point.arity,
            "max_leaf": point.max_leaf,
            "nodes": tree.n_nodes,
            "height": tree.height,
            "build_seconds": built - begin,
            "fit_seconds": fitted - built,
            "bytes": model.forest_.nbytes,
            **measure_precision(model, x_test, y_test, KS),
            **_steps(model, x_test),
            "revision": _revision(),
        }
        if point.curve == TIMED or point.ratio == 0:
            model.save(args.models / point.name)
        write(file, result)
        print(f"{point.name}: P@1 {result['P@1']:.4f}, steps@1 {result['steps@1']:.2f}", flush=True)


def check_all(args: argparse.Namespace, points: list[Point], data: Any) -> None:
    """Whether best-first search gives what scoring all labels gives, row by row, and how precise that is."""
    _, _, x_test, y_test = data
    x, y = x_test[: args.checked_rows], y_test[: args.checked_rows]
    for point in points:
        file = _file(args, "checks", point)
        if file.exists():
            continue
        model = lt.load(args.models / point.name)
        found = model.predict(x, k=max(KS), search="exact")
        with every_node_of_the_beam(model):
            every = model.predict(x, k=max(KS), beam=EVERYTHING)
        opened = model.search_stats_["nodes_opened"]
        differ = int(((found.labels != every.labels) | (found.scores != every.scores)).any(axis=1).sum())
        result = {
            "ratio": point.ratio,
            "rows": x.shape[0],
            "rows_that_differ": differ,
            "nodes_of_exhaustive": float(opened.mean()),
            **measure_precision(model, x, y, KS, search="exact"),
            "revision": _revision(),
        }
        write(file, result)
        print(f"{point.name}: {differ} of {x.shape[0]:,} rows differ from scoring all labels", flush=True)


def time_all(args: argparse.Namespace, points: list[Point], data: Any) -> None:
    """Asks the kept models one query at a time."""
    _, _, x_test, _ = data
    for point in points:
        file = _file(args, "times", point)
        if file.exists():
            continue
        model = lt.load(args.models / point.name)
        result: dict[str, Any] = {"ratio": point.ratio, "queries": min(args.queries, x_test.shape[0])}
        for k in TIMED_KS:
            ask = functools.partial(measure_cost, model, x_test, k, args.queries, args.seed)
            with every_node_of_the_beam(model):
                costs = {"plain beam": ask().to_dict()}
            costs["beam"] = ask().to_dict()
            costs["best-first"] = ask(search="exact").to_dict()
            result[f"k={k}"] = costs
        result["revision"] = _revision()
        write(file, result)
        told = ", ".join(f"{name} {1000 * cost['p50']:.0f} µs" for name, cost in costs.items())
        print(f"{point.name}: {told}", flush=True)


@contextmanager
def every_node_of_the_beam(model: Any) -> Iterator[None]:
    """Within it the model's beam opens all of its nodes, also those that cannot change the list any more. The lists are
    the same; only the work differs."""
    model._known_options = {}
    try:
        with mock.patch(
            "longtail.linear.searchable.native_options", functools.partial(native_options, bound=False)
        ):
            yield
    finally:
        model._known_options = {}


def _steps(model: Any, x: Any) -> dict[str, float]:
    """Expected steps@k: the most decisions on the way to one of the first k labels. That is the depth of its leaf, and
    one more if the leaf has several labels, which a classifier each tells apart."""
    tree, labels = model.trees_[0], model.predict(x, k=max(KS)).labels
    steps = tree.depth + (np.bincount(tree.leaf_of, minlength=tree.n_nodes)[tree.leaf_of] > 1)
    of = np.where(labels >= 0, steps[np.maximum(labels, 0)], 0)
    return {f"steps@{k}": float(of[:, :k].max(axis=1).mean()) for k in KS}


def _file(args: argparse.Namespace, kind: str, point: Point) -> Path:
    return Path(args.out / kind / f"{point.name}.json")


@functools.cache
def _revision() -> str:
    """The commit whose code is measured."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or f"longtail {lt.__version__}"


def _keep_settings(args: argparse.Namespace) -> None:
    """Points of different settings must not be mixed."""
    settings = {
        "data": args.data.resolve().name,
        "arity": args.arity,
        "max_leaf": args.max_leaf,
        "seed": args.seed,
    }
    file = args.out / "settings.json"
    if file.exists() and json.loads(file.read_text()) != settings:
        sys.exit(
            f"{args.out} has points of other settings: {file.read_text().strip()}. Choose another --out."
        )
    write(file, settings)


if __name__ == "__main__":
    main()
