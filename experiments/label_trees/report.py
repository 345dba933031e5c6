"""Tables and pictures of the points that are there."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import longtail as lt
from longtail import plots
from longtail.labels import frequencies
from longtail.tuning import TreePoint

__all__ = ["write_report"]

KS = (1, 3, 5)


def write_report(
    out: Path, kept: Path, data: Path, points: Sequence[Any], searches: Mapping[str, Any]
) -> None:
    """OUT/table.md and OUT/*.svg. `kept` is where models are."""
    found = {
        (point.curve, point.ratio): json.loads(file.read_text())
        for point in points
        if (file := out / "points" / f"{point.name}.json").exists()
    }
    times = {
        point.ratio: json.loads(file.read_text())
        for point in points
        if (file := out / "times" / f"{point.name}.json").exists()
    }
    curves = list(dict.fromkeys(point.curve for point in points))
    parts = [f"# Interpolated trees on {data.resolve().name}", _facts(out), _depth_gains(found)]
    parts += [_table(curve, found) for curve in curves]
    if times:
        parts.append(_time_table(times, searches))
    (out / "table.md").write_text("\n\n".join(part for part in parts if part) + "\n")
    _pictures(out, kept, data, curves, found, times, searches)
    print(f"written: {out / 'table.md'}")


def _facts(out: Path) -> str:
    settings = json.loads((out / "settings.json").read_text())
    return ", ".join(f"{name} {value}" for name, value in settings.items()) + "."


def _table(curve: str, found: Mapping[Any, Any]) -> str:
    header = ["λ'", "λ", *(f"P@{k}" for k in KS), *(f"depth@{k}" for k in KS), "height", "build s", "fit s"]
    rows = [
        [
            f"{ratio:g}",
            f"{p['tradeoff']:.4f}",
            *(f"{100 * p[f'P@{k}']:.2f}" for k in KS),
            *(f"{p[f'depth@{k}']:.2f}" for k in KS),
            str(p["height"]),
            f"{p['build_seconds']:.2f}",
            f"{p['fit_seconds']:.1f}",
        ]
        for (name, ratio), p in found.items()
        if name == curve
    ]
    return f"## Heads {curve}\n\n" + _markdown(header, rows) if rows else ""


def _depth_gains(found: Mapping[Any, Any]) -> str:
    """The shallowest tree of each curve whose P@1 is at most 0.2 points below that of the balanced one."""
    lines = []
    for curve in dict.fromkeys(name for name, _ in found):
        balanced = found.get((curve, 0.0))
        if balanced is None:
            continue
        for k in (1, 3):
            good = [
                (p[f"depth@{k}"], ratio, p)
                for (name, ratio), p in found.items()
                if name == curve and p[f"P@{k}"] >= balanced[f"P@{k}"] - 0.002
            ]
            depth, ratio, p = min(good, key=lambda item: item[:2])
            saved = 100 * (1 - depth / balanced[f"depth@{k}"])
            gain = 100 * (p[f"P@{k}"] - balanced[f"P@{k}"])
            lines.append(
                f"- {curve}: depth@{k} {balanced[f'depth@{k}']:.2f} → {depth:.2f} (-{saved:.0f} %) at λ' = {ratio:g}, "
                f"P@{k} {gain:+.2f} points"
            )
    return "Shallowest trees that lose at most 0.2 points:\n\n" + "\n".join(lines) if lines else ""


def _time_table(times: Mapping[float, Any], searches: Mapping[str, Any]) -> str:
    header = ["λ'", "search", "p50 ms", "p99 ms", "nodes opened", "P@1", "P@3"]
    rows = [
        [
            f"{ratio:g}",
            name,
            f"{t[name]['p50']:.3f}",
            f"{t[name]['p99']:.3f}",
            f"{t[name]['nodes']:.1f}",
            f"{100 * t[name]['P@1']:.2f}",
            f"{100 * t[name]['P@3']:.2f}",
        ]
        for name in searches
        for ratio, t in sorted(times.items())
        if name in t
    ]
    count = next(iter(times.values()))["queries"]
    return f"## Single queries ({count:,} of the test split, five labels each)\n\n" + _markdown(header, rows)


def _markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---:"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _pictures(
    out: Path,
    kept: Path,
    data: Path,
    curves: Sequence[str],
    found: Mapping[Any, Any],
    times: Mapping[float, Any],
    searches: Mapping[str, Any],
) -> None:
    name = data.resolve().name
    lines = {curve: [_point(p) for (of, _), p in found.items() if of == curve] for curve in curves}
    lines = {curve: points for curve, points in lines.items() if points}
    for k in (1, 3):
        if lines:
            ax = plots.precision_against_depth(lines, k, title=name)
            plots.save(ax, out / f"precision{k}-depth.svg")
    if times:
        for k in (1, 3):
            timed = {
                search: [
                    _point(found[curves[0], r], t[search]) for r, t in sorted(times.items()) if search in t
                ]
                for search in searches
            }
            plots.save(plots.precision_against_time(timed, k, title=name), out / f"precision{k}-time.svg")
    Y = lt.data.load(data, split="trn").Y
    plots.save(plots.label_imbalance(Y, title=f"{name}, training split"), out / "imbalance.svg")
    models = {r: kept / f"{curves[0].replace(', ', '-')}-{r:g}" for r in (0, 1, 2, 10, 30)}
    trees = {f"λ' = {r:g}": lt.load(m).trees_[0] for r, m in models.items() if m.exists()}
    if trees:
        ax = plots.tree_shape(trees, frequencies(Y), title=name)
        plots.save(ax, out / "shape.svg")


def _point(p: Mapping[str, Any], cost: Mapping[str, Any] | None = None) -> TreePoint:
    worth = p if cost is None else cost
    return TreePoint(
        tradeoff=p["tradeoff"],
        arity=2,
        precision={k: worth[f"P@{k}"] for k in KS},
        depth={k: worth[f"depth@{k}"] for k in KS},
        p50=0.0 if cost is None else cost["p50"],
        p99=0.0 if cost is None else cost["p99"],
        nodes=0.0 if cost is None else cost["nodes"],
        fit_seconds=p["fit_seconds"],
        bytes=p["bytes"],
    )
