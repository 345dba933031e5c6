"""``longtail convert``: data from one format to another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from .options import Debug, Json, Quiet
from .screen import Screen

__all__ = ["convert"]


def convert(
    source: Annotated[
        Path, typer.Argument(metavar="IN", help="A file or folder in any known format.", show_default=False)
    ],
    target: Annotated[
        Path,
        typer.Argument(
            metavar="OUT", help="The file or folder to write; its name says the format.", show_default=False
        ),
    ],
    from_: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            "--from", metavar="FORMAT", help="The format of IN, where its name and content do not tell."
        ),
    ] = None,
    to: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--to", metavar="FORMAT", help="The format of OUT, where its name does not tell."),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace OUT if it exists.")] = False,
    quiet: Quiet = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Convert data between formats."""
    from .. import data
    from ..errors import ParameterError
    from .screen import folder_size, human_size
    from .sources import describe_data

    screen = Screen(quiet, json)
    if target.exists() and not overwrite:
        raise ParameterError(f"{target} exists already; --overwrite replaces it.")
    with screen.progress():
        dataset = data.load(source, **({} if from_ is None else {"format": from_}))
        data.save(dataset, target, **({} if to is None else {"format": to}))
    size = folder_size(target)
    screen.say(f"{target}: {dataset.n_rows:,} rows, {human_size(size)}.")
    screen.give({"in": str(source), "out": str(target), "bytes": size, "data": describe_data(dataset)})
