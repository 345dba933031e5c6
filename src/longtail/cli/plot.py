"""``longtail plot``: pictures of data and models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from ..errors import ParameterError
from .options import Data, Debug, Json, Quiet, Read, Threads
from .screen import Screen

__all__ = ["plot"]

KINDS = ("imbalance", "shape", "reliability")


def plot(
    kind: Annotated[
        str, typer.Argument(metavar="KIND", help="imbalance, shape or reliability.", show_default=False)
    ],
    data: Data,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", help="A .png, .svg or .pdf to write.", show_default=False
        ),
    ],
    model: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--model", "-m", metavar="DIR", help="The model's folder, for shape and reliability."),
    ] = None,
    k: Annotated[int, typer.Option("-k", "--k", metavar="N", help="Reliability: labels a row.")] = 5,
    bins: Annotated[int, typer.Option(metavar="N", help="Reliability: groups of scores.")] = 10,
    threads: Threads = None,
    read: Read = None,
    quiet: Quiet = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Draw a picture.

    imbalance: how few labels of DATA answer how many rows. shape: how deep the labels of DATA lie in a model's
    trees. reliability: how often a model is right on DATA, by score. Precision against depth and time is drawn by
    longtail tree --sweep.
    """
    from .. import plots
    from ..plots.canvas import check_picture

    screen = Screen(quiet, json)
    if kind not in KINDS:
        raise ParameterError(f"KIND must be one of {', '.join(KINDS)}. Got {kind!r} instead.")
    if (model is None) != (kind == "imbalance"):
        raise ParameterError(f"{kind} {'needs' if model is None else 'takes no'} --model.")
    check_picture(output)
    with screen.progress():
        if kind == "imbalance":
            ax, facts = _imbalance(data, read)
        elif kind == "shape":
            ax, facts = _shape(data, read, model)
        else:
            ax, facts = _reliability(data, read, model, k, bins, threads)
        plots.save(ax, output)
    screen.say(f"Drawn to {output}.")
    screen.give({"data": str(data), "kind": kind, "picture": str(output), **facts})


def _imbalance(data: Path, read: Any) -> tuple[Any, dict[str, Any]]:
    import numpy as np

    from .. import plots
    from .sources import load_data, with_labels

    Y = with_labels(load_data(data, read, split="train"), data)
    ax = plots.label_imbalance(Y, title=str(data))
    names: dict[int | None, str] = {1: "1", 3: "3", None: "all"}
    halves = {
        name: int(np.searchsorted(plots.touched_shares(Y, need), 0.5)) / Y.shape[1]
        for need, name in names.items()
    }
    return ax, {"labels_for_half_of_the_rows": halves}


def _shape(data: Path, read: Any, folder: Any) -> tuple[Any, dict[str, Any]]:
    from .. import plots
    from ..labels import frequencies
    from .sources import align, load_data, load_model, with_labels

    trained = load_model(folder)
    trees = getattr(trained, "trees_", None)
    if not trees:
        raise ParameterError(f"{folder} holds a {type(trained).__name__}, which has no tree.")
    dataset = load_data(data, read, split="train", model=trained)
    truth, _ = align(with_labels(dataset, data), dataset.labels, trained.labels_, trained.n_labels_)
    f = frequencies(truth)[: trained.n_labels_]
    named = {f"tree {i}": tree for i, tree in enumerate(trees, 1)}
    ax = plots.tree_shape(trees[0] if len(trees) == 1 else named, f, title=str(folder))
    return ax, {"trees": [tree.describe(f) for tree in trees]}


def _reliability(
    data: Path, read: Any, folder: Any, k: int, bins: int, threads: int | None
) -> tuple[Any, dict[str, Any]]:
    from .. import metrics, plots
    from .sources import align, inputs_for, load_data, load_model, with_labels

    trained = load_model(folder)
    dataset = load_data(data, read, split="test", model=trained)
    truth, _ = align(with_labels(dataset, data), dataset.labels, trained.labels_, trained.n_labels_)
    ranking = trained.predict(inputs_for(trained, dataset, data), k=k, threads=threads)
    curve = metrics.reliability(ranking, truth, bins=bins)
    facts = {"score": curve.score, "right": curve.right, "count": curve.count, "error": curve.error}
    return plots.reliability(curve, title=f"{folder} on {data}"), facts
