"""Trees between balanced 2-means and Fano, on any data set: precision against expected depth, four ways of weighing,
and what a query takes.

    python experiments/label_trees/run.py DATA --out results/NAME
    python experiments/label_trees/run.py DATA --out results/NAME --stages train,report   # no timing
    python experiments/label_trees/run.py DATA --out results/NAME --stages time,report    # timing alone

DATA is a folder with a training and a test split. Every point is written when it is done, so the same command goes on
where it was stopped; --stages time needs the models, which are kept in --models (a folder of their own; they can be
deleted afterwards). Written are points/*.json, times/*.json, table.md, and pictures as .svg.

Feature sets are L2-normalised, texts go through TextVectorizer(sublinear_tf=True), as in benchmarks/precision.py.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from report import write_report

import longtail as lt
from longtail.labels import frequencies, head_frequencies, pifa
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
SEARCHES: dict[str, dict[str, Any]] = {"beam": {"search": "beam"}, "best-first": {"search": "exact"}}


@dataclass(frozen=True)
class Point:
    """One tree: a curve and a λ'."""

    curve: str
    ratio: float

    @property
    def name(self) -> str:
        """For files. All curves begin at the balanced tree."""
        curve = TIMED if self.ratio == 0 else self.curve
        return f"{curve.replace(', ', '-')}-{self.ratio:g}"


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--models", type=Path, help="where models are kept; OUT/models if not given")
    parser.add_argument("--ratios", default=RATIOS, help="the λ' to try")
    parser.add_argument("--curves", default=";".join(CURVES), help="with semicolons between")
    parser.add_argument("--stages", default="train,time,report")
    parser.add_argument("--arity", type=int, default=2)
    parser.add_argument("--max-leaf", type=int, default=100)
    parser.add_argument("--queries", type=int, default=1000, help="single queries that are timed")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    unknown = set(args.curves.split(";")) - CURVES.keys() | set(args.stages.split(",")) - {
        "train",
        "time",
        "report",
    }
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    args.models = args.models or args.out / "models"
    return args


def main() -> None:
    args = parse()
    points = [
        Point(curve, float(ratio)) for curve in args.curves.split(";") for ratio in args.ratios.split(",")
    ]
    args.out.mkdir(parents=True, exist_ok=True)
    _keep_settings(args)
    stages = args.stages.split(",")
    if "train" in stages or "time" in stages:
        data = features(args.data)
        if "train" in stages:
            train_all(args, points, data)
        if "time" in stages:
            time_all(args, [point for point in points if point.curve == TIMED], data)
    if "report" in stages:
        write_report(args.out, args.models, args.data, points, SEARCHES)


def train_all(args: argparse.Namespace, points: list[Point], data: Any) -> None:
    """Builds, trains and measures the points that have not been."""
    x, y, x_test, y_test = data
    wanted = [point for point in points if not (args.out / "points" / f"{point.name}.json").exists()]
    if not wanted:
        return
    begin = time.perf_counter()
    e, f = pifa(x, y), frequencies(y)
    heads = {how: head_frequencies(y, how) for how in {CURVES[point.curve][0] for point in wanted}}
    print(f"{len(f):,} labels embedded in {time.perf_counter() - begin:.1f} s", flush=True)
    for point in wanted:
        file = args.out / "points" / f"{point.name}.json"
        if file.exists():  # the balanced tree, of another curve
            continue
        how, midpoint = CURVES[point.curve]
        shape = {"arity": args.arity, "max_leaf": args.max_leaf, "seed": args.seed}
        begin = time.perf_counter()
        tradeoff = tradeoff_from_ratio(point.ratio)
        tree = interpolated_tree(e, f, heads[how], tradeoff=tradeoff, midpoint=midpoint, **shape)
        built = time.perf_counter()
        model = lt.LinearTree(tree=tree, arity=args.arity, seed=args.seed).fit(x, y)
        fitted = time.perf_counter()
        result = {
            "ratio": point.ratio,
            "tradeoff": tradeoff,
            "nodes": tree.n_nodes,
            "height": tree.height,
            "build_seconds": built - begin,
            "fit_seconds": fitted - built,
            "bytes": model.forest_.nbytes,
            **measure_precision(model, x_test, y_test, KS),
        }
        if point.curve == TIMED or point.ratio == 0:
            model.save(args.models / point.name)
        _write(file, result)
        print(f"{point.name}: P@1 {result['P@1']:.4f}, depth@1 {result['depth@1']:.2f}", flush=True)


def time_all(args: argparse.Namespace, points: list[Point], data: Any) -> None:
    """Asks the kept models one query at a time."""
    _, _, x_test, y_test = data
    for point in points:
        file = args.out / "times" / f"{point.name}.json"
        if file.exists():
            continue
        model = lt.load(args.models / point.name)
        result: dict[str, Any] = {"ratio": point.ratio, "queries": min(args.queries, x_test.shape[0])}
        for name, options in SEARCHES.items():
            cost = measure_cost(model, x_test, max(KS), args.queries, args.seed, **options)
            worth = measure_precision(model, x_test, y_test, KS, **options)
            result[name] = {**cost.to_dict(), **worth}
        _write(file, result)
        told = ", ".join(f"{name} {result[name]['p50']:.3f} ms" for name in SEARCHES)
        print(f"{point.name}: {told}", flush=True)


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
    _write(file, settings)


def _write(file: Path, result: Any) -> None:
    """Under its name when it is complete."""
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_suffix(".partial")
    partial.write_text(json.dumps(result, indent=1) + "\n")
    partial.replace(file)


if __name__ == "__main__":
    main()
