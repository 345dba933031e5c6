"""``longtail convert``: data from one format to another."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Optional

import typer

from .options import Debug, Json, Quiet, Read
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
    read: Read = None,
    write: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option("--write", metavar="KEY=VALUE", help="How to write OUT, such as delimiter=|."),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace OUT if it exists.")] = False,
    quiet: Quiet = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Convert data between formats."""
    from .. import data
    from ..errors import ParameterError
    from .progress_display import number
    from .screen import folder_size, human_size
    from .sources import read_options

    screen = Screen(quiet, json)
    if target.exists() and not overwrite:
        raise ParameterError(f"{target} exists already; --overwrite replaces it.")
    if target.exists() and not target.is_file() and not target.is_dir():
        raise ParameterError(
            f"{target} is a device or a pipe, which cannot be replaced. Choose another name."
        )
    options = read_options(read)
    began = time.perf_counter()
    with screen.progress():
        facts = data.convert(
            source,
            target,
            from_ or options.pop("format", None),
            to,
            write=read_options(write, "--write"),
            **options,
        )
    seconds = time.perf_counter() - began
    size = folder_size(target)
    pace = number(facts.n_rows / seconds)
    screen.say(f"{target}: {facts.n_rows:,} rows, {human_size(size)}, {pace} rows/s.")
    screen.give(
        {
            "in": str(source),
            "out": str(target),
            "bytes": size,
            "rows": facts.n_rows,
            "features": facts.n_features,
            "labels": facts.n_labels,
            "seconds": seconds,
        }
    )
