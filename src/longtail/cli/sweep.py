"""``longtail tree DATA --sweep``: which tree, by precision and cost on rows held out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ParameterError
from .screen import Screen, table

if TYPE_CHECKING:
    from ..tuning import TreePoint, TreeSweep

__all__ = ["Wishes", "draw_sweep", "run_sweep"]


@dataclass(frozen=True)
class Wishes:
    """What was asked for on the command line."""

    precision: float | None
    latency: float | None
    cost: str
    tradeoffs: str | None
    arities: str
    picture: Path | None


def run_sweep(
    screen: Screen,
    data: Path,
    read: list[str] | None,
    wishes: Wishes,
    assignments: list[str],
    max_leaf: int,
    threads: int | None,
    seed: int,
) -> None:
    """Trains, prints a table, draws a picture if asked to."""
    from ..linear import LinearTree
    from ..tuning import tune_tree
    from .estimators import build, check
    from .settings import read_settings
    from .sources import load_data, with_labels

    settings = read_settings(None, assignments)
    known: dict[str, Any] = {"max_leaf": max_leaf, "threads": threads, "seed": seed}
    for name, value in known.items():
        if value is not None and ("model", name) not in settings.origins:
            settings.put("model", name, value, f"--{name.replace('_', '-')}")
    check("LinearTree", settings)
    tradeoffs = None if wishes.tradeoffs is None else _numbers("--tradeoffs", wishes.tradeoffs, float)
    arities = _numbers("--arities", wishes.arities, int)
    if wishes.picture is not None:
        from ..plots.canvas import axes_for, check_picture

        check_picture(wishes.picture)  # before minutes are spent
        axes_for(None, None, "", "")
    with screen.progress():
        dataset = load_data(data, read, split="train")
        Y = with_labels(dataset, data)
        model = build("LinearTree", settings, dataset.texts is not None, data)
        assert isinstance(model, LinearTree)
        sweep = tune_tree(
            dataset.inputs,
            Y,
            precision=wishes.precision,
            latency=wishes.latency,
            model=model,
            tradeoffs=tradeoffs,
            arities=arities,
            cost=wishes.cost,
            seed=seed,
        )
    screen.show(table_of(sweep))
    screen.show(_conclusion(sweep, wishes))
    if wishes.picture is not None:
        draw_sweep(sweep, wishes.picture, str(data))
        screen.say(f"Drawn to {wishes.picture}.")
    screen.give(
        {
            "data": str(data),
            "cost": sweep.cost,
            "points": [_facts(point, sweep) for point in sweep.points],
            "best": None if sweep.best is None else _facts(sweep.best, sweep),
        }
    )


def table_of(sweep: TreeSweep) -> str:
    """A line for each tree; a star where none is both cheaper and better."""
    front = {id(point) for point in sweep.pareto}
    ks = list(sweep.points[0].precision)
    header = [
        "",
        "arity",
        "λ",
        *(f"P@{k} %" for k in ks),
        *(f"depth@{k}" for k in ks),
        "p50 ms",
        "p99 ms",
        "nodes",
    ]
    rows = [
        [
            "picked" if point is sweep.best else "*" if id(point) in front else "",
            point.arity,
            f"{point.tradeoff:.3f}",
            *(f"{100 * point.precision[k]:.2f}" for k in ks),
            *(f"{point.depth[k]:.2f}" for k in ks),
            f"{point.p50:.3f}",
            f"{point.p99:.3f}",
            f"{point.nodes:.1f}",
        ]
        for point in sweep.points
    ]
    return table(rows, header)


def draw_sweep(sweep: TreeSweep, path: Path, title: str) -> None:
    """Precision against depth on the left, against time on the right."""
    from .. import plots

    left = plots.precision_against_depth(sweep, sweep.k, title=title)
    figure = left.figure
    figure.set_size_inches(11, 4.6)
    left.set_subplotspec(figure.add_gridspec(1, 2)[0])
    plots.precision_against_time(sweep, sweep.k, ax=figure.add_subplot(1, 2, 2, sharey=left))
    plots.save(left, path)


def _conclusion(sweep: TreeSweep, wishes: Wishes) -> str:
    if sweep.best is None:
        quickest = min(sweep.points, key=lambda point: point.p50)
        return (
            f"\nNo tree takes {wishes.latency:g} ms or less; the quickest has λ {quickest.tradeoff:.3f}, "
            f"arity {quickest.arity}, and takes {quickest.p50:.3f} ms."
        )
    best = sweep.best
    return (
        f"\nPicked: --set tradeoff={best.tradeoff:.6g} --set arity={best.arity}. "
        "A star marks trees that no other beats in both P and cost."
    )


def _facts(point: TreePoint, sweep: TreeSweep) -> dict[str, Any]:
    return {**point.to_dict(), "pareto": any(point is other for other in sweep.pareto)}


def _numbers(option: str, text: str, kind: type) -> list[Any]:
    try:
        return [kind(part) for part in text.split(",")]
    except ValueError:
        words = "whole numbers" if kind is int else "numbers"
        raise ParameterError(f"{option} must be {words} with commas between. Got {text!r} instead.") from None
