"""``longtail evaluate``: how good a model's rankings are on data with labels."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from ..errors import ParameterError
from .options import Data, Debug, Json, Model, Quiet, Read, Threads
from .screen import Screen

__all__ = ["evaluate"]


def evaluate(
    data: Data,
    model: Model,
    k: Annotated[str, typer.Option("-k", "--k", metavar="N,N,…", help="Places to measure at.")] = "1,3,5",
    beam: Annotated[Optional[int], typer.Option(metavar="N", help="Width of the search.")] = None,  # noqa: UP045
    propensity: Annotated[
        str, typer.Option(metavar="A,B", help="Of the measures that weigh rare labels.")
    ] = "0.55,1.5",
    save: Annotated[
        Optional[bool],  # noqa: UP045
        typer.Option(
            "--save/--no-save", help="Keep the result in the model's folder (by default, if it can)."
        ),
    ] = None,
    threads: Threads = None,
    read: Read = None,
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
    a, b = _parse_propensity(propensity)
    trained = load_model(model)
    with screen.progress():
        dataset = load_data(data, read, split="test", model=trained)
        truth, unknown = align(with_labels(dataset, data), dataset.labels, trained.labels_, trained.n_labels_)
        if unknown:
            screen.say(f"{unknown:,} labels of {data} are not known to the model; they count as missed.")
        inputs = inputs_for(trained, dataset, data)
        began = time.perf_counter()
        ranking = trained.predict(inputs, k=ks[-1], beam=beam, threads=threads)
        seconds = time.perf_counter() - began
        known = _frequencies(trained, truth.shape[1])
        report = metrics.evaluate(ranking, truth, k=ks, train=known, a=a, b=b, threads=threads)
    if save is not False:
        _keep(model, {"data": data.name or str(data), **report.to_dict()}, save is True, screen)
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
        **report.to_dict(),
    }
    screen.give(result)


def _keep(model: Path, evaluation: dict[str, Any], insist: bool, screen: Screen) -> None:
    """Puts the measures into the model's folder. Measuring a model that nobody may write to is no error."""
    from ..errors import ModelError
    from ..store import update_evaluation

    try:
        update_evaluation(model, evaluation)
    except (ModelError, OSError) as error:
        if insist:
            raise
        screen.say(f"The result is not kept with the model: {error}")


def _frequencies(model: Any, n_labels: int) -> tuple[Any, int]:
    """How often each label occurred in training, and the rows. Labels unknown to the model never did."""
    import numpy as np

    counts = np.zeros(n_labels, np.int64)
    counts[: model.n_labels_] = model.label_frequencies_
    return counts, model.n_rows_


def _parse_propensity(text: str) -> tuple[float, float]:
    try:
        a, b = map(float, text.split(","))
    except ValueError:
        raise ParameterError(
            f"--propensity must be two numbers, such as 0.55,1.5. Got {text!r} instead."
        ) from None
    return a, b
