"""The options that several verbs share, with their words."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

__all__ = ["Data", "Debug", "Json", "Model", "Quiet", "Read", "Seed", "Threads"]

Data = Annotated[
    Path, typer.Argument(metavar="DATA", help="A file or folder in any known format.", show_default=False)
]
Model = Annotated[
    Path, typer.Option("--model", "-m", metavar="DIR", help="The model's folder.", show_default=False)
]
Threads = Annotated[
    Optional[int], typer.Option("--threads", metavar="N", help="Threads to use; all cores if not given.")  # noqa: UP045
]
Seed = Annotated[
    Optional[int], typer.Option("--seed", metavar="N", help="Makes chance repeatable.")  # noqa: UP045
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print results and errors only.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output, for programs.")]
Read = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option(
        "--read", metavar="KEY=VALUE", help="How to read DATA, such as text_field=title or format=xmc."
    ),
]
Debug = Annotated[bool, typer.Option("--debug", help="Show where an error happened.", rich_help_panel=None)]
