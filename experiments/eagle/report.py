"""Tables of what has been measured, beside what was published."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from .common import RESULTS, WAYS, Points

# P@1, P@3, P@5 on EURLex-4K as published, by rule and way; the oracle has no rule.
PUBLISHED = {
    ("R-1", "oracle"): (82.71, 69.42, 58.14),
    ("R-2", "baseline"): (79.90, 66.59, 55.16),
    ("R-2", "EAGLE-0"): (81.94, 68.10, 56.37),
    ("R-2", "EAGLE"): (82.00, 68.52, 56.63),
    ("R-4", "baseline"): (76.58, 61.36, 49.50),
    ("R-4", "EAGLE-0"): (80.16, 63.49, 51.01),
    ("R-4", "EAGLE"): (80.87, 65.33, 52.88),
    ("R-6", "baseline"): (72.31, 56.66, 44.94),
    ("R-6", "EAGLE-0"): (75.06, 57.31, 44.63),
    ("R-6", "EAGLE"): (77.80, 60.20, 47.57),
    ("R-8", "baseline"): (67.71, 51.66, 41.07),
    ("R-8", "EAGLE-0"): (69.54, 50.76, 38.57),
    ("R-8", "EAGLE"): (73.02, 54.11, 41.53),
    ("R-10", "baseline"): (62.95, 47.72, 37.59),
    ("R-10", "EAGLE-0"): (62.58, 44.07, 33.25),
    ("R-10", "EAGLE"): (67.56, 48.03, 35.91),
    ("C-8", "baseline"): (17.94, 16.27, 14.83),
    ("C-8", "EAGLE-0"): (39.11, 28.02, 22.46),
    ("C-8", "EAGLE"): (43.11, 30.08, 23.78),
    ("C-9", "baseline"): (34.43, 30.50, 27.29),
    ("C-9", "EAGLE-0"): (52.22, 37.63, 30.07),
    ("C-9", "EAGLE"): (56.70, 39.92, 31.83),
    ("C-10", "baseline"): (49.45, 43.17, 37.55),
    ("C-10", "EAGLE-0"): (61.92, 46.99, 38.06),
    ("C-10", "EAGLE"): (63.50, 48.06, 38.83),
    ("C-11", "baseline"): (62.32, 52.90, 44.87),
    ("C-11", "EAGLE-0"): (67.64, 54.34, 44.68),
    ("C-11", "EAGLE"): (68.80, 54.79, 45.00),
    ("C-12", "baseline"): (72.07, 60.19, 50.66),
    ("C-12", "EAGLE-0"): (73.76, 60.61, 50.43),
    ("C-12", "EAGLE"): (74.36, 60.98, 50.81),
}


def _rule_order(rule: str) -> tuple[Any, ...]:
    kind, _, rest = rule.partition("-")
    depth, _, noise = rest.partition("+")
    return (kind != "R", int(depth), float(noise or 0))


def _table(name: str) -> list[str]:
    cells: dict[tuple[str, str, str, str], list[dict[str, float]]] = defaultdict(list)
    oracle: dict[tuple[str, int], dict[str, float]] = {}
    for record in Points(name):
        point = record["point"]
        cell = cells[point["model"], point["rule"], point["merge"], point["way"]]
        cell.append({**record["result"], "seed": point["seed"]})
        if point["way"] == "oracle":
            oracle[point["model"], point["seed"]] = record["result"]
    lines = [
        f"### {name}",
        "",
        "| model | groups | way | recall of labels | precision of labels | P@1 | P@3 | P@5 "
        "| % of the oracle's P@1 | % of its P@5 | seeds | published |",
    ]
    lines.append("|---" * 12 + "|")
    order = {way: i for i, way in enumerate(dict.fromkeys((*WAYS, *(cell[3] for cell in cells))))}
    for model, rule, merge, way in sorted(cells, key=lambda c: (c[0], _rule_order(c[1]), c[2], order[c[3]])):
        found = cells[model, rule, merge, way]
        measures = [_mean([result[f"P@{k}"] for result in found]) for k in (1, 3, 5)]
        right = " | ".join(
            f"{100 * np.mean([r[kind] for r in found]):.1f}" for kind in ("recall", "precision")
        )
        shares = [_share(found, oracle, model, f"P@{k}") for k in (1, 5)]
        published = PUBLISHED.get((rule, way)) if name == "eurlex-4k" and merge == "list" else None
        told = "" if published is None else " / ".join(f"{value:.2f}" for value in published)
        shown = "" if rule == "R-1" else rule + ("" if merge == "list" else " (set)")
        lines.append(
            f"| {model} | {shown} | {way} | {right} | {' | '.join((*measures, *shares))} | {len(found)} | {told} |"
        )
    return [*lines, ""]


def _share(
    found: list[dict[str, float]], oracle: dict[Any, dict[str, float]], model: str, measure: str
) -> str:
    """What part of the oracle's precision is kept, seed by seed."""
    parts = [
        100 * r[measure] / oracle[model, int(r["seed"])][measure]
        for r in found
        if (model, r["seed"]) in oracle
    ]
    return _mean(parts, 1) if parts else ""


def _simulations() -> list[str]:
    lines: list[str] = []
    for name in ("regression", "classification"):
        by_sigma: dict[float, list[dict[str, float]]] = defaultdict(list)
        for record in Points("simulations"):
            if record["point"]["simulation"] == name:
                by_sigma[record["point"]["sigma"]].append(record["result"])
        if not by_sigma:
            continue
        columns = list(next(iter(by_sigma.values()))[0])
        lines += [
            f"### simulation: {name}",
            "",
            f"| sigma | {' | '.join(columns)} |",
            "|---" * (len(columns) + 1) + "|",
        ]
        for sigma, found in sorted(by_sigma.items()):
            means = [_mean([result[column] for result in found], 4) for column in columns]
            lines.append(f"| {sigma:g} | {' | '.join(means)} |")
        lines.append("")
    return lines


def _networks() -> list[str]:
    cells: dict[tuple[str, int, str], list[float]] = defaultdict(list)
    for record in Points("networks"):
        point = record["point"]
        cells[point["network"], point["size"], point["way"]].append(record["result"]["accuracy"])
    lines = ["### networks", "", "| data | groups of | way | accuracy | seeds |", "|---" * 5 + "|"]
    for (data, size, way), found in sorted(cells.items()):
        lines.append(f"| {data} | {size or 'all sentences'} | {way} | {_mean(found)} | {len(found)} |")
    return [*lines, ""]


def _mean(values: list[float], digits: int = 2) -> str:
    spread = f" ± {np.std(values, ddof=1):.{digits}f}" if len(values) > 1 else ""
    return f"{np.mean(values):.{digits}f}{spread}"


def write() -> None:
    """Writes results/README.md from all points."""
    lines = [
        "# Results",
        "",
        "Made by `python -m experiments.eagle.run report`. Means and standard deviations over seeds.",
        "",
    ]
    special = {"simulations": _simulations, "networks": _networks}
    for path in sorted(RESULTS.glob("*.jsonl")):
        lines += special[path.stem]() if path.stem in special else _table(path.stem)
    (RESULTS / "README.md").write_text("\n".join(lines))
    print("\n".join(lines))
