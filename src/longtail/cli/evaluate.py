"""``longtail evaluate``: how good a model's rankings are on data with labels."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from .options import Data, Debug, Json, Model, Quiet, Threads
from .screen import Screen

__all__ = ["evaluate"]


def evaluate(
    data: Data,
    model: Model,
    k: Annotated[str, typer.Option("-k", "--k", metavar="N,N,…", help="Places to measure at.")] = "1,3,5",
    beam: Annotated[Optional[int], typer.Option(metavar="N", help="Width of the search.")] = None,  # noqa: UP045
    train: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            metavar="DATA",
            help="The training data, for measures that weigh rare labels (PSP), if the model has none.",
        ),
    ] = None,
    save: Annotated[bool, typer.Option("--save", help="Write the result into the model's folder.")] = False,
    threads: Threads = None,
    quiet: Quiet = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Measure a model's rankings on DATA.

    Of a folder with several splits, the test split is used.
    """
    from .. import metrics
    from .progress_display import duration, number
    from .sources import align, inputs_for, load_data, load_model, parse_ks, with_labels

    screen = Screen(quiet, json)
    ks = parse_ks(k)
    trained = load_model(model)
    with screen.progress():
        dataset = load_data(data, split="test")
        truth, unknown = align(with_labels(dataset, data), dataset.labels, trained.labels_, trained.n_labels_)
        if unknown:
            screen.say(f"{unknown:,} labels of {data} are not known to the model; they count as missed.")
        inputs = inputs_for(trained, dataset, data)
        began = time.perf_counter()
        ranking = trained.predict(
            inputs, k=max(ks), threads=threads, **({} if beam is None else {"beam": beam})
        )
        seconds = time.perf_counter() - began
        report = metrics.evaluate(ranking, truth, k=ks, train=_train_labels(train, trained))
    if save:
        trained.evaluation_ = report.to_dict()
        trained.save(model)
    screen.show(str(report))
    screen.say(
        f"{dataset.n_rows:,} rows ranked in {duration(seconds)}, {number(dataset.n_rows / seconds)} rows/s."
    )
    result: dict[str, Any] = {
        "model": str(model),
        "data": str(data),
        "rows": dataset.n_rows,
        "unknown_labels": unknown,
        "seconds": seconds,
        "metrics": report.to_dict(),
    }
    screen.give(result)


def _train_labels(path: Path | None, model: Any) -> Any:
    from .sources import align, load_data, with_labels

    if path is None:
        return None
    dataset = load_data(path, split="train")
    return align(with_labels(dataset, path), dataset.labels, model.labels_, model.n_labels_)[0]
