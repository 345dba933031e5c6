"""Exit codes, and how an error becomes one line and a code.

0    done (also when the reader of a pipe went away, as in ``longtail predict … | head``)
1    something unexpected, such as a full disk or a fault of longtail; ``--debug`` shows where
2    usage: unknown options, wrong parameters, a package that is not installed
3    data: a file that is missing or not what it must be
4    model: a folder that cannot be read or written, or a model that is not trained
130  stopped with Ctrl-C
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any, TypeVar

import typer

from ..errors import DataError, LongtailError, ModelError, NotFittedError

__all__ = [
    "DATA",
    "INTERRUPTED",
    "MODEL",
    "OK",
    "UNEXPECTED",
    "USAGE",
    "code_of",
    "guarded",
    "silence_stdout",
]

OK = 0
UNEXPECTED = 1
USAGE = 2
DATA = 3
MODEL = 4
INTERRUPTED = 130

Verb = TypeVar("Verb", bound=Callable[..., None])


def code_of(error: BaseException) -> int:
    """The exit code for an error."""
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    if isinstance(error, DataError):
        return DATA
    if isinstance(error, (ModelError, NotFittedError)):
        return MODEL
    if isinstance(error, LongtailError):
        return USAGE
    return UNEXPECTED


def guarded(verb: Verb) -> Verb:
    """Runs a verb; turns what it raises into one line on standard error and an exit code."""

    @functools.wraps(verb)
    def run(*args: Any, **kwargs: Any) -> None:
        debug = bool(kwargs.get("debug")) or os.environ.get("LONGTAIL_DEBUG", "") not in ("", "0")
        try:
            verb(*args, **kwargs)
            sys.stdout.flush()
        except (typer.Exit, typer.Abort):
            raise
        except BrokenPipeError:
            silence_stdout()
            raise typer.Exit(OK) from None
        except (Exception, KeyboardInterrupt) as error:
            if debug:
                traceback.print_exc()
            _print_line(_line_for(error, debug))
            _give_up_unwritable_output()
            raise typer.Exit(code_of(error)) from None

    return run  # type: ignore[return-value]


def silence_stdout() -> None:
    """After its reader went away: what standard output still holds goes nowhere, without a complaint."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
    except (OSError, ValueError):
        pass  # standard output is no file, as under a test runner


def _give_up_unwritable_output() -> None:
    """What a full disk did not take would be tried again at the end of the process, and would change its exit code."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        silence_stdout()


def _line_for(error: BaseException, debug: bool) -> str:
    if isinstance(error, KeyboardInterrupt):
        # Whoever stops cleanly says what was kept as the interrupt's argument.
        return f"Stopped. {error}" if error.args else "Stopped."
    if isinstance(error, LongtailError):
        return f"Error: {error}"
    if isinstance(error, MemoryError):
        return "Error: not enough memory." + (f" {error}" if str(error) else "")
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename is not None else ""
        return f"Error: {where}{error.strerror}."
    hint = "" if debug else " (--debug shows where)"
    return f"Unexpected error: {type(error).__name__}: {error}{hint}"


def _print_line(line: str) -> None:
    with contextlib.suppress(OSError, ValueError):  # if nobody reads it, the exit code has to do
        print(" ".join(line.splitlines()), file=sys.stderr, flush=True)
