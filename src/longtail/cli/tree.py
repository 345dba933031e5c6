"""``longtail tree``: build a tree over the labels of a data set and look at it, or find the best one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from ..errors import ParameterError
from .options import Data, Debug, Json, Quiet, Read, Threads
from .screen import Screen, table

if TYPE_CHECKING:
    from ..data import Dataset

__all__ = ["tree"]

BUILDERS = ("kmeans", "interpolated", "fano", "huffman", "complete", "random")


def tree(
    data: Data,
    builder: Annotated[
        str, typer.Option(metavar="NAME", help="kmeans, interpolated, fano, huffman, complete or random.")
    ] = "kmeans",
    arity: Annotated[int, typer.Option(metavar="N", help="Children a node.")] = 16,
    max_leaf: Annotated[int, typer.Option(metavar="N", help="The most labels of a leaf.")] = 100,
    tradeoff: Annotated[
        float, typer.Option(metavar="λ", help="Of interpolated trees, from 0 (balanced) to 2 (Fano).")
    ] = 1.0,
    depth: Annotated[int, typer.Option(metavar="N", help="Draw so many levels.")] = 2,
    children: Annotated[int, typer.Option(metavar="N", help="Draw so many children of a node.")] = 6,
    sweep: Annotated[
        bool, typer.Option("--sweep", help="Train models on trees from balanced to Fano, and pick one.")
    ] = False,
    precision: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option(
            metavar="LOSS", help="Sweep: the cheapest tree that loses no more P@1 (0.002 if not given)."
        ),
    ] = None,
    latency: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option(metavar="MS", help="Sweep: the most precise tree whose median query takes no longer."),
    ] = None,
    cost: Annotated[
        str, typer.Option(metavar="NAME", help="Sweep: what is cheap: little time, depth or nodes.")
    ] = "time",
    tradeoffs: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="λ,λ,…", help="Sweep: tradeoffs to try."),
    ] = None,
    arities: Annotated[str, typer.Option(metavar="N,N,…", help="Sweep: arities to try.")] = "2,16",
    picture: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(metavar="FILE", help="Sweep: draw it, as .png, .svg or .pdf."),
    ] = None,
    set_: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option("--set", "-s", metavar="KEY=VALUE", help="Sweep: a parameter of the model. Repeatable."),
    ] = None,
    threads: Threads = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Makes chance repeatable.")] = 0,
    read: Read = None,
    quiet: Quiet = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Draw a tree over the labels of DATA, or find the best.

    With --sweep, models are trained on several trees, and the best tree is picked.
    """
    from ..labels import frequencies
    from .sources import load_data, with_labels
    from .sweep import Wishes, run_sweep

    screen = Screen(quiet, json)
    if builder not in BUILDERS:
        raise ParameterError(f"--builder must be one of {', '.join(BUILDERS)}. Got {builder!r} instead.")
    if sweep:
        wishes = Wishes(precision, latency, cost, tradeoffs, arities, picture)
        return run_sweep(screen, data, read, wishes, set_ or [], max_leaf, threads, seed)
    for name, value in (("precision", precision), ("latency", latency), ("picture", picture), ("set", set_)):
        if value is not None:
            raise ParameterError(f"--{name} is for --sweep.")
    with screen.progress():
        dataset = load_data(data, read, split="train")
        counts = frequencies(with_labels(dataset, data))
        built = _build(dataset, builder, arity, max_leaf, tradeoff, seed, threads)
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
    dataset: Dataset,
    builder: str,
    arity: int,
    max_leaf: int,
    tradeoff: float,
    seed: int,
    threads: int | None,
) -> Any:
    from .. import trees
    from ..labels import frequencies, head_frequencies, pifa

    if builder == "complete":
        return trees.complete_tree(dataset.n_labels, arity=arity, max_leaf=max_leaf)
    if builder == "random":
        return trees.random_tree(dataset.n_labels, arity=arity, max_leaf=max_leaf, seed=seed)
    if builder == "huffman":
        return trees.huffman_tree(head_frequencies(dataset.Y), arity=arity)
    if builder == "fano":
        return trees.fano_tree(head_frequencies(dataset.Y), arity=arity, max_leaf=max_leaf)
    E = pifa(features_of(dataset, threads), dataset.Y, threads=threads)
    if builder == "kmeans":
        return trees.kmeans_tree(E, arity=arity, max_leaf=max_leaf, seed=seed, threads=threads)
    return trees.interpolated_tree(
        E,
        frequencies(dataset.Y),
        head_frequencies(dataset.Y),
        tradeoff=tradeoff,
        arity=arity,
        max_leaf=max_leaf,
        seed=seed,
        threads=threads,
    )


def features_of(dataset: Dataset, threads: int | None) -> Any:
    """The features of a data set, made of its texts if it has texts."""
    if dataset.texts is None:
        return dataset.X
    from ..text import TextVectorizer

    return TextVectorizer(threads=threads).fit_transform(dataset.texts)
