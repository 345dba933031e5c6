"""Tables of the points that are there."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from pictures import draw

import longtail as lt
from longtail.plots.imbalance import touched_shares

__all__ = ["write_report"]

KS = (1, 3, 5)
ALLOWED = 0.002  # points of precision that may be lost
Found = Mapping[Any, Mapping[str, Any]]


def write_report(out: Path, kept: Path, data: Path, points: Sequence[Any], shapes: Sequence[Any]) -> None:
    """OUT/table.md and OUT/*.svg. `kept` is where models are."""
    every = [*points, *shapes]
    found, checks, times = (_read(out / kind, every) for kind in ("points", "checks", "times"))
    softmax = [json.loads(file.read_text()) for file in sorted((out / "softmax").glob("*-epochs-*.json"))]
    official = [json.loads(file.read_text()) for file in sorted((out / "softmax").glob("official-*.json"))]
    curves = list(dict.fromkeys(point.curve for point in points))
    parts = [
        f"# Interpolated trees on {data.resolve().name}",
        _facts(out, found, times),
        _imbalance(data),
        _depth_gains(curves, points, found),
    ]
    parts += [_table(curve, points, found) for curve in curves]
    parts += [_time_table(points, found, checks, times), _check_table(every, checks)]
    parts += [_shape_table(every, found, checks, times), _softmax_table(softmax, official)]
    (out / "table.md").write_text("\n\n".join(part for part in parts if part) + "\n")
    draw(out, kept, data, curves, points, found, times, softmax)
    print(f"written: {out / 'table.md'}")


def _read(folder: Path, points: Iterable[Any]) -> dict[Any, Any]:
    files = {point: folder / f"{point.name}.json" for point in points}
    return {point: json.loads(file.read_text()) for point, file in files.items() if file.exists()}


def _facts(out: Path, found: Found, times: Found) -> str:
    settings = json.loads((out / "settings.json").read_text())
    told = ", ".join(f"{name} {value}" for name, value in settings.items())
    for what, results in (("trained", found), ("timed", times)):
        revisions = sorted({r.get("revision", "") for r in results.values()} - {""})
        if revisions:
            told += f"; {what} at {', '.join(revisions)}"
    return told + "."


def _imbalance(data: Path) -> str:
    shares = touched_shares(lt.data.load(data, split="trn").Y)
    n = len(shares) - 1
    half = next(i for i, share in enumerate(shares) if share >= 0.5)
    return (
        f"The most frequent percent of the labels answers {100 * shares[round(n / 100)]:.1f} % of the training rows; "
        f"the most frequent {100 * half / n:.2f} % answer half of them."
    )


def _depth_gains(curves: Sequence[str], points: Sequence[Any], found: Found) -> str:
    """The shallowest tree of each curve whose P@k is at most 0.2 points below that of the balanced one."""
    lines = []
    for curve in curves:
        own = [found[point] for point in points if point.curve == curve and point in found]
        balanced = next((p for p in own if p["ratio"] == 0), None)
        if balanced is None or len(own) < 2:
            continue
        for k in (1, 3):
            p = min((p for p in own if _as_good(p, balanced, [k])), key=lambda p: p[f"steps@{k}"])
            steps, before = p[f"steps@{k}"], balanced[f"steps@{k}"]
            lines.append(
                f"- {curve}: {before:.2f} → {steps:.2f} steps@{k} ({100 * (steps / before - 1):+.0f} %) at λ' = "
                f"{p['ratio']:g}, P@{k} {100 * (p[f'P@{k}'] - balanced[f'P@{k}']):+.2f} points"
            )
    return "Shallowest trees that lose at most 0.2 points of P@k:\n\n" + "\n".join(lines) if lines else ""


def _as_good(p: Mapping[str, Any], other: Mapping[str, Any], ks: Sequence[int]) -> bool:
    return all(p[f"P@{k}"] >= other[f"P@{k}"] - ALLOWED for k in ks)


def _table(curve: str, points: Sequence[Any], found: Found) -> str:
    header = ["λ'", "λ", *(f"P@{k}" for k in KS), *(f"steps@{k}" for k in KS), "height"]
    rows = [
        [
            f"{p['ratio']:g}",
            f"{p['tradeoff']:.4f}",
            *(f"{100 * p[f'P@{k}']:.2f}" for k in KS),
            *(f"{p[f'steps@{k}']:.2f}" for k in KS),
            str(p["height"]),
        ]
        for point, p in found.items()
        if point.curve == curve and point in set(points)
    ]
    return f"## Heads {curve}\n\n" + markdown(header, rows) if rows else ""


def _time_table(points: Sequence[Any], found: Found, checks: Found, times: Found) -> str:
    rows = []
    for k in ("k=5", "k=1"):
        for search in ("plain beam", "beam", "best-first"):
            for point in (point for point in points if point in times and point in found):
                cost = times[point][k][search]
                worth = _worth(point, search, found, checks)
                precision = ["" if worth is None else f"{100 * worth[f'P@{n}']:.2f}" for n in (1, 3)]
                rows.append([f"{point.ratio:g}", search, k[2:], *_cost(cost), *precision])
    rows = list(dict.fromkeys(map(tuple, rows)))
    if not rows:
        return ""
    count = next(iter(times.values()))["queries"]
    header = ["λ'", "search", "labels", "p50 µs", "p99 µs", "nodes opened", "P@1", "P@3"]
    return f"## Single queries ({count:,} of the test split)\n\n" + markdown(header, rows)


def _cost(cost: Mapping[str, float]) -> list[str]:
    return [f"{1000 * cost['p50']:.0f}", f"{1000 * cost['p99']:.0f}", f"{cost['nodes']:.1f}"]


def _worth(point: Any, search: str, found: Found, checks: Found) -> Mapping[str, Any] | None:
    """A beam gives the same list with and without the stopping rule."""
    return checks.get(point) if search == "best-first" else found.get(point)


def _check_table(points: Sequence[Any], checks: Found) -> str:
    rows = [
        [
            point.name,
            f"{checks[point]['rows']:,}",
            str(checks[point]["rows_that_differ"]),
            f"{checks[point]['nodes_of_exhaustive']:.0f}",
        ]
        for point in points
        if point in checks
    ]
    header = ["tree", "rows of the test split", "rows that differ", "nodes opened to score all labels"]
    rows = [list(row) for row in dict.fromkeys(map(tuple, rows))]
    return "## Best-first search beside scoring all labels\n\n" + markdown(header, rows) if rows else ""


def _shape_table(points: Sequence[Any], found: Found, checks: Found, times: Found) -> str:
    """The quickest way to ask each tree, and the quickest of all with λ' = 0 and above."""
    ways = []
    for point in points:
        if point.curve != "marginal" or point not in found or point not in times:
            continue
        for search in ("plain beam", "beam", "best-first"):
            worth = _worth(point, search, found, checks) or found[point]
            ways.append(
                {
                    "point": point,
                    "search": search,
                    "P@1": worth["P@1"],
                    "P@3": worth["P@3"],
                    **times[point]["k=5"][search],
                }
            )
    if not any(way["point"].shaped for way in ways):
        return ""
    rows, told = [], []
    for arity, leaf in dict.fromkeys((way["point"].arity, way["point"].max_leaf) for way in ways):
        own = [w for w in ways if (w["point"].arity, w["point"].max_leaf) == (arity, leaf)]
        for ratio in dict.fromkeys(w["point"].ratio for w in own):
            w = min((w for w in own if w["point"].ratio == ratio), key=lambda w: w["p50"])
            worth = [f"{100 * w['P@1']:.2f}", f"{100 * w['P@3']:.2f}"]
            rows.append([str(arity), str(leaf), f"{ratio:g}", w["search"], *_cost(w), *worth])
    balanced = min((w for w in ways if w["point"].ratio == 0), key=lambda w: w["p50"])
    plain = min(
        (w for w in ways if w["point"].ratio == 0 and w["search"] == "plain beam"), key=lambda w: w["p50"]
    )
    for name, other in (("with early stopping too", balanced), ("with a plain beam", plain)):
        good = [w for w in ways if w["point"].ratio > 0 and _as_good(w, other, [1])]
        told.append(f"- The quickest tree with λ' = 0, {name}: {_way(other)}.")
        if good:
            best = min(good, key=lambda w: w["p50"])
            told.append(
                f"  The quickest with λ' > 0 at that P@1 or at most 0.2 points below: {_way(best)}, "
                f"{100 * (best['p50'] / other['p50'] - 1):+.0f} %."
            )
    header = ["arity", "leaf", "λ'", "quickest search", "p50 µs", "p99 µs", "nodes opened", "P@1", "P@3"]
    return "## Arities (five labels)\n\n" + "\n".join(told) + "\n\n" + markdown(header, rows)


def _way(w: Mapping[str, Any]) -> str:
    p = w["point"]
    return (
        f"arity {p.arity}, leaves of {p.max_leaf}, λ' = {p.ratio:g}, {w['search']}, "
        f"{1000 * w['p50']:.0f} µs, P@1 {100 * w['P@1']:.2f}"
    )


def _softmax_table(softmax: Sequence[Mapping[str, Any]], official: Sequence[Mapping[str, Any]]) -> str:
    trees = sorted(
        (p for p in softmax if "runs" in p),
        key=lambda p: (p["epochs"], p["ratio"] is not None, p["similarity"], p["ratio"] or 0),
    )
    rows = [
        [
            str(p["epochs"]),
            "Huffman" if p["ratio"] is None else f"λ' = {p['ratio']:g}, alike by {p['similarity']}",
            str(len(p["runs"])),
            *(_spread([run[f"P@{k}"] for run in p["runs"]]) for k in KS),
            f"{mean(run['depth@1'] for run in p['runs']):.2f}",
            f"{mean(run['nodes'] for run in p['runs']):.0f}",
        ]
        for p in trees
    ]
    if not rows:
        return ""
    header = ["epochs", "tree", "seeds", *(f"P@{k}" for k in KS), "depth@1", "nodes opened"]
    told = [
        f"Official {p['version']}, {p['epochs']} epochs, one thread, texts cut at white space: "
        f"{_worth_of(p['fastText'])}; "
        f"HierarchicalSoftmax with Huffman's tree on the same input: {_worth_of(p['longtail'])}."
        for p in official
    ]
    return "\n\n".join(["## Hierarchical softmax", *told, markdown(header, rows)])


def _worth_of(side: Mapping[str, float]) -> str:
    return f"P@1 {100 * side['P@1']:.2f} in {side['cpu_seconds']:.1f} s"


def _spread(values: Sequence[float]) -> str:
    if len(values) < 2:
        return f"{100 * values[0]:.2f}"
    return f"{100 * mean(values):.2f} ± {100 * stdev(values):.2f}"


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table."""
    lines = [header, ["---:"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
