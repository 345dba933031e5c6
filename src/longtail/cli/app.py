"""The verbs put together. Only the verb that runs imports the library: ``longtail --help`` stays quick."""

from __future__ import annotations

from typing import Annotated

import typer

from .convert import convert
from .demo import demo
from .evaluate import evaluate
from .exits import guarded
from .inspect import inspect
from .plot import plot
from .predict import predict
from .train import train
from .tree import tree

__all__ = ["app"]

EPILOG = (
    "Exit codes: 0 done, 1 unexpected, 2 usage or parameters, 3 data, 4 model, 130 stopped with Ctrl-C. "
    "Shell completion: longtail --install-completion."
)

app = typer.Typer(
    name="longtail",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"longtail {version('longtail')}")
        raise typer.Exit


@app.callback()
def longtail(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and stop.")
    ] = False,
) -> None:
    """Rank a short list out of very many labels, most of them rare.

    Start with: longtail demo
    """


for _verb in (train, predict, evaluate, inspect, convert, tree, plot, demo):
    app.command()(guarded(_verb))
