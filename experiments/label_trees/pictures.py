"""Pictures of the points that are there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import longtail as lt
from longtail import plots
from longtail.labels import frequencies
from longtail.tuning import TreePoint

__all__ = ["draw"]

KS = (1, 3, 5)
SHAPES_OF = (0, 1, 2, 10, 30)  # λ'


def draw(
    out: Path,
    kept: Path,
    data: Path,
    curves: Sequence[str],
    points: Sequence[Any],
    found: Mapping[Any, Any],
    times: Mapping[Any, Any],
    softmax: Sequence[Mapping[str, Any]],
) -> None:
    """OUT/*.svg."""
    name = data.resolve().name
    lines = {curve: [_point(found[p]) for p in points if p.curve == curve and p in found] for curve in curves}
    lines = {curve: own for curve, own in lines.items() if own}
    for k in (1, 3):
        if lines:
            ax = plots.precision_against_depth(lines, k, title=name)
            plots.save(ax, out / f"precision{k}-steps.svg")
    timed = [p for p in points if p.curve == curves[0] and p in found and p in times]
    if timed:
        for k in (1, 3):
            costs = {
                search: [_point(found[p], times[p]["k=5"][search]) for p in timed]
                for search in ("plain beam", "beam", "best-first")
            }
            plots.save(plots.precision_against_time(costs, k, title=name), out / f"precision{k}-time.svg")
    Y = lt.data.load(data, split="trn").Y
    plots.save(plots.label_imbalance(Y, title=f"{name}, training split"), out / "imbalance.svg")
    models = {r: kept / f"{curves[0].replace(', ', '-')}-{r:g}" for r in SHAPES_OF}
    trees = {f"λ' = {r:g}": lt.load(m).trees_[0] for r, m in models.items() if m.exists()}
    if trees:
        plots.save(plots.tree_shape(trees, frequencies(Y), title=name), out / "shape.svg")
    _draw_softmax(out, name, softmax)


def _draw_softmax(out: Path, name: str, softmax: Sequence[Mapping[str, Any]]) -> None:
    for epochs in sorted({p["epochs"] for p in softmax if "runs" in p}):
        lines: dict[str, list[TreePoint]] = {}
        for p in sorted(
            (p for p in softmax if p["epochs"] == epochs and "runs" in p), key=lambda p: p["ratio"] or 0
        ):
            line = "Huffman" if p["ratio"] is None else f"alike by {p['similarity']}"
            worth = {
                f"{what}@{k}": mean(run[f"{what}@{k}"] for run in p["runs"])
                for what in ("P", "depth")
                for k in KS
            }
            facts = {"tradeoff": p["tradeoff"] or 0.0, "bytes": 0, "fit_seconds": 0.0}
            steps = {f"steps@{k}": worth[f"depth@{k}"] for k in KS}
            lines.setdefault(line, []).append(_point({**facts, **worth, **steps}))
        for k in (1, 3):
            ax = plots.precision_against_depth(
                lines, k, title=f"{name}, hierarchical softmax, {epochs} epochs"
            )
            plots.save(ax, out / f"softmax{k}-{epochs}-epochs.svg")


def _point(p: Mapping[str, Any], cost: Mapping[str, float] | None = None) -> TreePoint:
    return TreePoint(
        tradeoff=p["tradeoff"],
        arity=2,
        precision={k: p[f"P@{k}"] for k in KS},
        depth={k: p[f"steps@{k}"] for k in KS},
        p50=0.0 if cost is None else cost["p50"],
        p99=0.0 if cost is None else cost["p99"],
        nodes=0.0 if cost is None else cost["nodes"],
        fit_seconds=p["fit_seconds"],
        bytes=p["bytes"],
    )
