"""``longtail inspect``: what is in a model folder, or in a data set."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from .options import Debug, Json, Quiet, Read
from .screen import Screen, human_size, table

__all__ = ["inspect"]

BIGGEST = 5
LABELS_NAMED = 3
WIDTH = 60


def inspect(
    path: Annotated[
        Path, typer.Argument(metavar="DIR", help="A model's folder, or data.", show_default=False)
    ],
    read: Read = None,
    quiet: Quiet = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Show what is in a model, or in data.

    Of a model: sizes, tree, labels, parameters, last evaluation. Of data: rows, labels, features.
    """
    screen = Screen(quiet, json)
    if (path / "model.json").is_file():
        _inspect_model(path, screen)
    else:
        _inspect_data(path, read, screen)


def _inspect_data(path: Path, read: list[str] | None, screen: Screen) -> None:
    from .sources import describe_data, load_data

    with screen.progress():
        facts = describe_data(load_data(path, read, split="train"))
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
        f"{path} holds a {folder.kind} of {human_size(folder.nbytes)}, by longtail {folder.longtail_version}."
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


def _section(screen: Screen, title: str, body: str) -> None:
    if body:
        screen.show(f"\n{title}\n{body}")


def _flat(values: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    """Nested facts as rows; what is not set is left out."""
    rows: list[tuple[str, str]] = []
    for key, value in values.items():
        if isinstance(value, Mapping):
            rows += _flat(value, f"{prefix}{key}.")
        elif value is not None:
            rows.append((f"{prefix}{key}".replace("_", " "), _words(value)))
    return rows


def _words(value: Any) -> str:
    if isinstance(value, (bool, str)):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.4g}"
    if isinstance(value, (list, tuple)):
        return " ".join(map(_words, value))
    return str(value)


def _label_facts(model: Any) -> dict[str, Any]:
    """How many labels there are, and how often they occurred in training, where the model knows it."""
    import numpy as np

    facts: dict[str, Any] = {"labels": int(model.n_labels_), "named": model.labels_ is not None}
    counts = getattr(model, "label_frequencies_", None)
    if counts is not None and len(counts):
        counts = np.asarray(counts)
        facts |= {
            "never seen": int(np.count_nonzero(counts == 0)),
            "seen once": int(np.count_nonzero(counts == 1)),
            "median rows": float(np.median(counts)),
            "most rows": int(counts.max()),
            "most frequent": ", ".join(_names(model, np.argsort(-counts, kind="stable")[:LABELS_NAMED])),
        }
    return facts


def _tree_facts(tree: Any, model: Any) -> dict[str, Any]:
    """The shape of a tree, and at each level the nodes with the most labels."""
    import numpy as np

    n_under = tree.label_end - tree.label_begin
    biggest = []
    for depth in range(1, tree.height + 1):
        level = np.array(tree.level(depth))
        first = level[np.argsort(-n_under[level], kind="stable")[:BIGGEST]]
        biggest += [_node_facts(tree, node, model) for node in first.tolist()]
    return {"shape": tree.describe(getattr(model, "label_frequencies_", None)), "biggest_nodes": biggest}


def _node_facts(tree: Any, node: int, model: Any) -> dict[str, Any]:
    labels = tree.labels_under(node)
    return {
        "node": node,
        "depth": int(tree.node_depth[node]),
        "children": int(tree.n_children[node]),
        "labels": len(labels),
        "such_as": _names(model, labels[:LABELS_NAMED]),
    }


def _names(model: Any, labels: Any) -> list[str]:
    return [str(i) if model.labels_ is None else model.labels_[i] for i in labels.tolist()]


def _biggest_table(nodes: list[dict[str, Any]]) -> str:
    rows = [
        (n["node"], n["depth"], n["children"], n["labels"], ", ".join(n["such_as"])[:WIDTH]) for n in nodes
    ]
    return table(rows, ("node", "depth", "children", "labels", "such as")) if rows else ""
