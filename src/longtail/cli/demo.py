"""``longtail demo``: the whole way from texts to named predictions, on data that ship with the package."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from .options import Debug, Json, Quiet, Threads
from .screen import Screen, table

if TYPE_CHECKING:
    from ..demo import Outcome

__all__ = ["demo"]

ROWS_SHOWN = 5
LABELS_SHOWN = 5
TEXT_WIDTH = 96


def demo(
    interactive: Annotated[
        bool, typer.Option("--interactive", "-i", help="Then type definitions and get concepts.")
    ] = False,
    model: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--model", "-m", metavar="DIR", help="Also save the trained model to a folder."),
    ] = None,
    threads: Threads = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Makes chance repeatable.")] = 0,
    quiet: Quiet = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Go the whole way on data that ship with the package.

    Trains, evaluates, and shows predictions. The data: definitions from WordNet, labelled with all their
    broader concepts.
    """
    from .. import demo as package

    screen = Screen(quiet, json)
    screen.say(
        "Type a definition, get concepts: WordNet 3.0 definitions with their broader concepts as labels."
    )
    with screen.progress():
        outcome = package.train_and_evaluate(threads, seed)
        if model is not None:
            outcome.model.save(model)
    screen.show(_summary(outcome))
    screen.show(_predictions(outcome, package.DEFINITIONS))
    screen.give(_result(outcome, package.DEFINITIONS, model))
    if model is not None:
        screen.say(f'Saved to {model}. Try: echo "a tool for digging" | longtail predict --model {model} -')
    if interactive:
        _converse(outcome.model, screen)


def _summary(outcome: Outcome) -> str:
    train, test, seconds = outcome.train, outcome.test, outcome.seconds
    steps = [
        ("read the data", seconds["load"], ""),
        ("train", seconds["train"], f"{train.n_rows / seconds['train']:,.0f} rows/s"),
        ("predict", seconds["predict"], f"{test.n_rows / seconds['predict']:,.0f} rows/s"),
        ("evaluate", seconds["evaluate"], ""),
    ]
    lines = [(name, f"{took:.2f} s", pace) for name, took, pace in steps]
    return "\n".join(
        [
            f"{train.n_rows:,} rows to train on, {test.n_rows:,} to test on, {train.n_labels:,} labels.",
            "",
            f"On the test rows, {outcome.model!r} has",
            "",
            str(outcome.report),
            "",
            "Time",
            table(lines),
        ]
    )


def _predictions(outcome: Outcome, definitions: tuple[str, ...]) -> str:
    texts = outcome.test.texts or []
    truth: Any = outcome.test.Y
    step = max(1, len(texts) // ROWS_SHOWN)
    rows = range(step // 2, len(texts), step)[:ROWS_SHOWN]
    lines = ["", f"Test rows, and the {LABELS_SHOWN} concepts ranked first (* is right)"]
    for row in rows:
        true = set(truth[row].indices.tolist())
        marks = [int(label) in true for label in outcome.ranking.labels[row]]
        lines += _block(texts[row], outcome.ranking[row], marks)
    lines += ["", "Typed by hand"]
    ranking = outcome.model.predict(list(definitions), k=LABELS_SHOWN)
    for i, text in enumerate(definitions):
        lines += _block(text, ranking[i], None)
    return "\n".join(lines)


def _block(text: str, ranked: list[tuple[Any, float]], marks: list[bool] | None) -> list[str]:
    short = text if len(text) <= TEXT_WIDTH else text[: TEXT_WIDTH - 1].rstrip() + "…"
    lines = ["", f"  {short}"]
    for i, (name, score) in enumerate(ranked[:LABELS_SHOWN]):
        mark = "*" if marks is not None and marks[i] else " "
        lines.append(f"    {score:5.2f} {mark} {name}")
    return lines


def _result(outcome: Outcome, definitions: tuple[str, ...], model: Path | None) -> dict[str, Any]:
    ranking = outcome.model.predict(list(definitions), k=LABELS_SHOWN)
    return {
        "rows": {"train": outcome.train.n_rows, "test": outcome.test.n_rows},
        "labels": outcome.train.n_labels,
        "seconds": outcome.seconds,
        **outcome.report.to_dict(),
        "model": None if model is None else str(model),
        "predictions": [
            {"text": text, "labels": [name for name, _ in row], "scores": [score for _, score in row]}
            for text, row in zip(definitions, ranking, strict=True)
        ],
    }


def _converse(model: Any, screen: Screen) -> None:
    """A line in, concepts out, until the input ends."""
    from .streams import arriving

    if sys.stdin.isatty():
        screen.say("\nType a definition and press Enter; Ctrl-D ends.")
    for batch in arriving(sys.stdin.buffer):
        texts = [line for line in batch.lines if line.strip()]
        if not texts:
            continue
        for text, ranked in zip(texts, model.predict(texts, k=LABELS_SHOWN), strict=True):
            print("\n".join(_block(text, ranked, None)), flush=True)
