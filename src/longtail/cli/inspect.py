"""``longtail inspect``: what is in a model folder, or in a data set."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .options import Debug, Json, Quiet
from .screen import Screen, human_size, table

__all__ = ["inspect"]

BIGGEST = 5
LABELS_NAMED = 3


def inspect(
    path: Annotated[
        Path, typer.Argument(metavar="DIR", help="A model's folder, or data.", show_default=False)
    ],
    quiet: Quiet = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Show what is in a model: sizes, tree, labels, parameters, last evaluation. Of data: the facts."""
    screen = Screen(quiet, json)
    if (path / "model.json").is_file():
        _inspect_model(path, screen)
    else:
        _inspect_data(path, screen)


def _inspect_data(path: Path, screen: Screen) -> None:
    from .sources import describe_data, load_data

    with screen.progress():
        facts = describe_data(load_data(path))
    screen.show(f"{path} holds data.\n\n{table(_flat(facts))}")
    screen.give({"path": str(path), "kind": "data", "facts": facts})


def _inspect_model(path: Path, screen: Screen) -> None:
    from ..store import read_folder
    from .sources import load_model

    with screen.progress():
        folder = read_folder(path)
        model = load_model(path)
    sizes = dict(sorted(folder.sizes.items(), key=lambda item: -item[1]))
    trees = [_tree_facts(tree, model) for tree in getattr(model, "trees_", None) or []]
    labels = _label_facts(model)

    screen.show(
        f"{path} holds a {folder.kind}, {human_size(folder.nbytes)}, made by longtail {folder.longtail_version}."
    )
    _section(screen, "Parameters", table(_flat(folder.params)))
    _section(screen, "Data and training", table(_flat(folder.facts)))
    _section(screen, "Labels", table(_flat(labels)))
    for i, facts in enumerate(trees):
        from .tree import shape

        _section(screen, f"Tree {i + 1} of {len(trees)}" if len(trees) > 1 else "Tree", shape(facts["shape"]))
        _section(screen, "Its biggest nodes", _biggest_table(facts["biggest_nodes"]))
    _section(screen, "On disk", table([(name, human_size(size)) for name, size in sizes.items()]))
    _section(
        screen,
        "Last evaluation",
        table(_flat(folder.evaluation))
        if folder.evaluation
        else "  none (longtail evaluate --save keeps one)",
    )
    screen.give(
        {
            "path": str(path),
            "kind": folder.kind,
            "longtail_version": folder.longtail_version,
            "bytes": folder.nbytes,
            "arrays": sizes,
            "params": folder.params,
            "facts": folder.facts,
            "labels": labels,
            "trees": trees,
            "evaluation": folder.evaluation,
        }
    )
