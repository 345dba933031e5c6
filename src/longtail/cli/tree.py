"""``longtail tree``: build a tree over the labels of a data set and look at it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import ParameterError
from .options import Data, Debug, Json, Quiet, Read, Threads
from .screen import Screen, table

if TYPE_CHECKING:
    from pathlib import Path

    from ..data import Dataset

__all__ = ["tree"]

BUILDERS = ("kmeans", "complete", "random")


def tree(
    data: Data,
    builder: Annotated[str, typer.Option(metavar="NAME", help="kmeans, complete or random.")] = "kmeans",
    arity: Annotated[int, typer.Option(metavar="N", help="Children a node.")] = 16,
    max_leaf: Annotated[int, typer.Option(metavar="N", help="The most labels of a leaf.")] = 100,
    depth: Annotated[int, typer.Option(metavar="N", help="Draw so many levels.")] = 2,
    children: Annotated[int, typer.Option(metavar="N", help="Draw so many children of a node.")] = 6,
    threads: Threads = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Makes chance repeatable.")] = 0,
    read: Read = None,
    quiet: Quiet = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Build a tree over the labels of DATA and draw it."""
    from ..labels import frequencies
    from .sources import load_data, with_labels

    screen = Screen(quiet, json)
    if builder not in BUILDERS:
        raise ParameterError(f"--builder must be one of {', '.join(BUILDERS)}. Got {builder!r} instead.")
    with screen.progress():
        dataset = load_data(data, read, split="train")
        counts = frequencies(with_labels(dataset, data))
        built = _build(dataset, data, builder, arity, max_leaf, seed, threads)
    facts = built.describe(counts)
    screen.show(shape(facts))
    screen.show("\n" + built.draw(dataset.labels, depth, children, counts))
    screen.give({"data": str(data), "builder": builder, "tree": facts})


def shape(facts: dict[str, Any]) -> str:
    """What ``LabelTree.describe`` gives, for people."""
    leaf, depth = facts["leaf_size"], facts["depth"]
    rows: list[tuple[str, str]] = [
        ("labels", f"{facts['n_labels']:,}"),
        ("nodes", f"{facts['n_nodes']:,}, of which {facts['n_leaves']:,} leaves"),
        ("nodes per level", " ".join(f"{n:,}" for n in facts["nodes_per_level"])),
        ("children", ", ".join(f"{k} (nodes: {n:,})" for k, n in facts["arities"].items()) or "none"),
        ("labels a leaf", f"{leaf['min']} to {leaf['max']}, mean {leaf['mean']:.1f}"),
        ("depth of a label", f"{depth['min']} to {depth['max']}, mean {depth['mean']:.2f}"),
    ]
    if "expected_depth" in facts:
        rows.append(("weighted by use", f"{facts['expected_depth']:.2f}"))
    return table(rows)


def _build(
    dataset: Dataset, data: Path, builder: str, arity: int, max_leaf: int, seed: int, threads: int | None
) -> Any:
    from .. import trees

    if builder == "complete":
        return trees.complete_tree(dataset.n_labels, arity=arity, max_leaf=max_leaf)
    if builder == "random":
        return trees.random_tree(dataset.n_labels, arity=arity, max_leaf=max_leaf, seed=seed)
    from ..labels import pifa

    E = pifa(_features(dataset, threads), dataset.Y, threads=threads)
    return trees.kmeans_tree(E, arity=arity, max_leaf=max_leaf, seed=seed, threads=threads)


def _features(dataset: Dataset, threads: int | None) -> Any:
    if dataset.texts is None:
        return dataset.X
    from ..text import TextVectorizer

    return TextVectorizer(threads=threads).fit_transform(dataset.texts)
