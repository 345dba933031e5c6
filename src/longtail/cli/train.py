"""``longtail train``: data in, a model folder out."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from ..errors import ModelError, ParameterError
from .options import Data, Debug, Json, Quiet, Read, Seed, Threads
from .screen import Screen

if TYPE_CHECKING:
    from ..data import Dataset

__all__ = ["train"]

VALIDATION_KS = (1, 3, 5)


def train(
    data: Data,
    model: Annotated[
        Path, typer.Option("--model", "-m", metavar="DIR", help="The folder to write.", show_default=False)
    ],
    params: Annotated[
        Optional[Path],  # noqa: UP045 (older typers cannot read the newer form)
        typer.Option("--params", "-p", metavar="FILE", help="Parameters as TOML: tables [model] and [text]."),
    ] = None,
    set_: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option("--set", "-s", metavar="KEY=VALUE", help="One parameter, such as C=2 or text.min_df=2."),
    ] = None,
    class_: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            "--class",
            "-c",
            metavar="NAME",
            help="LinearTree (default), OneVsRest, parabel, xr-linear, HierarchicalSoftmax or DeepMIML.",
        ),
    ] = None,
    threads: Threads = None,
    seed: Seed = None,
    validation: Annotated[
        float,
        typer.Option(
            metavar="FRACTION", help="Hold out so much of the data and evaluate on it, such as 0.1."
        ),
    ] = 0.0,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with an interrupted training; it must exist.")
    ] = False,
    restart: Annotated[bool, typer.Option("--restart", help="Forget an interrupted training.")] = False,
    read: Read = None,
    quiet: Quiet = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Train a model on DATA and save it to a folder.

    An interrupted training goes on where its last finished part ended when the same command runs again.
    """
    from .estimators import build, check
    from .settings import read_settings
    from .sources import load_data, with_labels

    screen = Screen(quiet, json)
    settings = read_settings(params, set_ or [])
    for name, value in (("threads", threads), ("seed", seed)):
        if value is not None:
            settings.put("model", name, value, f"--{name}")
    check(class_, settings)  # before anything is read: a wrong parameter should not cost a minute
    if not 0.0 <= validation < 1.0:
        raise ParameterError(f"--validation must be a number in [0, 1). Got {validation} instead.")
    checkpoint = _prepare(model, resume, restart, screen)

    began = time.perf_counter()
    with screen.progress():
        dataset = load_data(data, read, split="train")
        if dataset.groups is None:
            with_labels(dataset, data)
        held_out = None
        if validation:
            _check_can_validate(dataset, data)
            dataset, held_out = dataset.split(validation, seed=seed or 0)
        loaded = time.perf_counter()
        estimator = build(class_, settings, dataset.texts is not None, data)
        screen.say(f"Training {estimator!r} on {_facts(dataset)}.")
        _fit(estimator, dataset, checkpoint)
        fitted = time.perf_counter()
        report = None if held_out is None else _evaluate(estimator, held_out, dataset, VALIDATION_KS)
        estimator.save(model, evaluation=None if report is None else _of_held_out(report, data, validation))
    _forget(checkpoint)

    seconds = {"load": loaded - began, "fit": fitted - loaded, "total": time.perf_counter() - began}
    _report(screen, model, estimator, dataset, report, seconds)


def _report(
    screen: Screen, model: Path, estimator: Any, dataset: Dataset, report: Any, seconds: dict[str, float]
) -> None:
    from .progress_display import duration
    from .screen import folder_size, human_size

    size = folder_size(model)
    if report is not None and not screen.quiet:
        screen.show(f"On the rows held out:\n{report}")
    screen.say(f"Trained in {duration(seconds['fit'])}. {model} has {human_size(size)}.")
    screen.give(
        {
            "model": str(model),
            "class": type(estimator).__name__,
            "params": {
                k: v for k, v in estimator.get_params(deep=False).items() if k not in ("vectorizer", "tree")
            },
            "rows": dataset.n_rows,
            "labels": dataset.n_labels,
            "bytes": size,
            "seconds": seconds,
            "validation": None if report is None else report.to_dict(),
        }
    )


def _prepare(model: Path, resume: bool, restart: bool, screen: Screen) -> Path:
    """Looks at what is there already; gives the folder for the checkpoint."""
    from ..store import Checkpoint, is_model_folder

    checkpoint = Path(f"{model}.partial")
    if resume and restart:
        raise ParameterError("--resume and --restart exclude each other.")
    if resume and not checkpoint.exists():
        raise ParameterError(f"--resume: there is no interrupted training in {checkpoint}.")
    if model.exists() and not (model.is_dir() and not any(model.iterdir())):
        if not is_model_folder(model):
            raise ParameterError(f"--model {model}: exists and is no model. Choose another name.")
        screen.say(f"{model} will be replaced when the training is done.")
    if restart:
        _forget(checkpoint)
    elif checkpoint.exists():
        Checkpoint.check(checkpoint)
        screen.say(f"Going on with the interrupted training in {checkpoint} (--restart begins anew).")
    try:
        model.absolute().parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ModelError(f"--model {model}: its folder cannot be made: {error}.") from None
    return checkpoint


def _fit(estimator: Any, dataset: Dataset, checkpoint: Path) -> None:
    interrupted = checkpoint.exists()
    try:
        given: dict[str, Any] = {"Y": dataset.Y}
        if dataset.groups is not None:
            given = {"groups": dataset.groups.samples, "group_labels": dataset.groups.labels}
        estimator.fit(dataset.inputs, **given, labels=dataset.labels, checkpoint=checkpoint)
    except ModelError as error:
        # A checkpoint that cannot be written will not be writable after a restart either.
        helps = interrupted and not isinstance(error.__cause__, OSError)
        raise ModelError(f"{error} (--restart begins anew.)" if helps else str(error)) from None
    except KeyboardInterrupt:
        if checkpoint.exists():
            raise KeyboardInterrupt(
                f"What is finished is kept in {checkpoint}: the same command goes on from there, "
                "with --restart it begins anew."
            ) from None
        raise KeyboardInterrupt("Nothing was finished yet.") from None


def _check_can_validate(dataset: Dataset, data: Path) -> None:
    if dataset.Y is None:
        raise ParameterError(
            f"--validation needs labels of single rows, and {data} has only labels of groups. "
            "Evaluate on data whose rows have labels."
        )


def _evaluate(estimator: Any, held_out: Dataset, dataset: Dataset, ks: tuple[int, ...]) -> Any:
    from ..metrics import evaluate

    return evaluate(
        estimator.predict(held_out.inputs, k=max(ks)), held_out.Y, k=ks, train=_frequencies(estimator)
    )


def _of_held_out(report: Any, data: Path, share: float) -> dict[str, Any]:
    """What the model's folder keeps of a validation: the measures, and that they are of rows held out."""
    return {"data": f"{share:.4g} of {data.name}, held out", **report.to_dict()}


def _frequencies(estimator: Any) -> tuple[Any, int]:
    """How often labels occurred in training, and the rows: for data in groups, as they were handed out."""
    return estimator.label_frequencies_, estimator.n_rows_


def _facts(dataset: Dataset) -> str:
    what = "texts" if dataset.texts is not None else f"rows of {dataset.n_features:,} features"
    groups = "" if dataset.groups is None else f" in {dataset.groups.n_groups:,} groups"
    return f"{dataset.n_rows:,} {what}{groups} with {dataset.n_labels:,} labels"


def _forget(checkpoint: Path) -> None:
    """Removes a checkpoint; anything else of that name is an error and stays."""
    from ..store import Checkpoint

    if checkpoint.exists():
        Checkpoint(checkpoint, {}, on_mismatch="restart").clear()
