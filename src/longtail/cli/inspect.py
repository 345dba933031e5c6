"""``longtail inspect``: what is in a model folder, or in a data set."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from .options import Debug, Json, Quiet, Read
from .screen import Screen, human_size, table

__all__ = ["inspect"]

ARRAYS_SHOWN = 12


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
    from .model_facts import label_facts, tree_facts
    from .sources import load_model

    with screen.progress():
        folder = read_folder(path)
        model = load_model(path)
    params = dict(folder.params)
    text = params.pop("vectorizer", None) or (model.vectorizer_ and model.vectorizer_.get_params())
    params.pop("tree", None)
    sizes = dict(sorted(folder.sizes.items(), key=lambda item: -item[1]))
    trees = tree_facts(model)
    labels = label_facts(model)
    data = {"rows": model.n_rows_, "features": model.n_features_in_, "input": "texts" if text else "features"}

    screen.show(
        f"{path} holds a {folder.kind} of {human_size(folder.nbytes)}, by longtail {folder.longtail_version}."
    )
    _section(screen, "Parameters", table(_flat(params)))
    _section(screen, "Text", table(_flat(text or {})))
    _section(screen, "Trained on", table(_flat(data)))
    _section(screen, "Labels", table(_flat(labels)))
    _show_trees(screen, trees)
    _section(screen, "On disk", _sizes(sizes))
    _section(screen, "Last evaluation", _evaluation(folder.evaluation))
    screen.give(
        {
            "path": str(path),
            "kind": folder.kind,
            "longtail_version": folder.longtail_version,
            "bytes": folder.nbytes,
            "arrays": sizes,
            "params": folder.params,
            "data": data,
            "facts": folder.facts,
            "labels": labels,
            "trees": trees,
            "evaluation": folder.evaluation,
        }
    )


def _show_trees(screen: Screen, trees: list[dict[str, Any]]) -> None:
    from .tree import shape

    for i, facts in enumerate(trees):
        title = "Tree" if len(trees) == 1 else f"Tree {i + 1} of {len(trees)}"
        _section(screen, title, shape(facts["shape"]))
        rows = [
            (n["node"], n["depth"], n["children"], n["labels"], n["uses"], ", ".join(n["such_as"]))
            for n in facts["biggest_nodes"]
        ]
        heads = ("node", "depth", "children", "labels", "uses", "such as")
        _section(screen, "Its biggest nodes, by the uses of their labels in training", table(rows, heads))


def _section(screen: Screen, title: str, body: str) -> None:
    if body:
        screen.show(f"\n{title}\n{body}")


def _sizes(sizes: Mapping[str, int]) -> str:
    """The biggest arrays by name, the rest as a sum."""
    rows = [(name, human_size(size)) for name, size in list(sizes.items())[:ARRAYS_SHOWN]]
    rest = list(sizes.values())[ARRAYS_SHOWN:]
    if rest:
        rows.append((f"{len(rest)} smaller arrays", human_size(sum(rest))))
    rows.append(("all", human_size(sum(sizes.values()))))
    return table(rows)


def _evaluation(stored: Mapping[str, Any] | None) -> str:
    """As ``evaluate`` prints it: a line a measure, a column a place."""
    if not stored:
        return "  none (longtail evaluate keeps one)"
    measures = stored.get("metrics")
    if not isinstance(measures, Mapping):
        return table(_flat(stored))
    places = sorted({int(name.rpartition("@")[2]) for name in measures if _at(name)})
    names = dict.fromkeys(name.rpartition("@")[0] for name in measures if _at(name))
    rows = [(name, *(_percent(measures.get(f"{name}@{k}")) for k in places)) for name in names]
    rest = {key: value for key, value in stored.items() if key != "metrics"}
    rest |= {name: value for name, value in measures.items() if not _at(name)}
    return "\n".join([table(rows, ("percent", *(f"@{k}" for k in places))), table(_flat(rest))])


def _at(name: str) -> bool:
    return name.rpartition("@")[2].isdigit() and "@" in name


def _percent(value: Any) -> str:
    return f"{100 * value:6.2f}" if isinstance(value, (int, float)) else ""


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
