"""``longtail predict``: rows in, ranked labels out, as they come."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional, TextIO

import typer

from ..errors import ParameterError
from .options import Debug, Model, Quiet, Read, Threads
from .screen import Screen

if TYPE_CHECKING:
    from ..ranking import Ranking

__all__ = ["predict"]

ROWS_AT_ONCE = 8192


def predict(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA|-",
            help="A file or folder in any known format; - reads texts or svmlight rows from standard input.",
            show_default=False,
        ),
    ],
    model: Model,
    k: Annotated[int, typer.Option("-k", "--k", metavar="N", help="Labels a row.")] = 5,
    beam: Annotated[Optional[int], typer.Option(metavar="N", help="Width of the search.")] = None,  # noqa: UP045
    search: Annotated[
        str, typer.Option(metavar="KIND", help="beam, exact (as if all labels were scored) or budget.")
    ] = "beam",
    slack: Annotated[
        float, typer.Option(metavar="S", help="Stop earlier: scores are within a factor of exp(S).")
    ] = 0.0,
    budget: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(metavar="N", help="Tree nodes a row may open, with --search budget."),
    ] = None,
    time_budget: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option(metavar="US", help="Microseconds a row may take, with --search budget."),
    ] = None,
    only: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(metavar="FILE", help="Rank only the labels in this file, a name or id a line."),
    ] = None,
    exclude: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(metavar="FILE", help="Never rank the labels in this file, even if --only has them."),
    ] = None,
    format: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            "--format", "-f", metavar="NAME", help="names, ids, json (one object a row), csv or tsv."
        ),
    ] = None,
    output: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--output", "-o", metavar="FILE", help="Write to a file, not to standard output."),
    ] = None,
    threads: Threads = None,
    read: Read = None,
    quiet: Quiet = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per row on standard output, for programs.")
    ] = False,
    debug: Debug = False,
) -> None:
    """Rank labels for every row of DATA.

    From standard input, answers come as soon as the rows do.
    """
    from .rankings import writer_for
    from .sources import load_model, read_label_file

    screen = Screen(quiet, json)
    chosen = format or ("json" if json else "names")
    if k < 1:
        raise ParameterError(f"-k must be a whole number > 0. Got {k} instead.")
    write = writer_for(chosen)
    trained = load_model(model)
    options: dict[str, Any] = {
        "k": k,
        "beam": beam,
        "search": search,
        "slack": slack,
        "budget": budget,
        "time_budget": time_budget,
        "threads": threads,
    }
    for name, path in (("only", only), ("exclude", exclude)):
        if path is not None:
            options[name] = read_label_file(path, trained.labels_, trained.n_labels_)

    job = _Job(trained, options, read, screen)
    with _target(output) as out:
        write.start(out)
        row = 0
        # Bars and results would overwrite each other on a terminal.
        for ranking in job.stdin() if data == "-" else job.data(Path(data), bars=not out.isatty()):
            write.rows(out, ranking, row)
            out.flush()
            row += len(ranking)
    if output is not None:
        screen.say(f"{row:,} rows written to {output}.")


@dataclass(frozen=True)
class _Job:
    """What all rows have in common; its methods give their rankings, batch by batch."""

    model: Any
    options: dict[str, Any]
    read: list[str] | None
    screen: Screen

    def data(self, path: Path, bars: bool) -> Iterator[Ranking]:
        from ..progress import phase
        from .sources import inputs_for, load_data

        with self.screen.progress(visible=bars):
            dataset = load_data(path, self.read, split="test", model=self.model)
            inputs = inputs_for(self.model, dataset, path)
            with phase("predict", dataset.n_rows, "rows") as update:
                for begin in range(0, dataset.n_rows, ROWS_AT_ONCE):
                    yield self.model.predict(inputs[begin : begin + ROWS_AT_ONCE], **self.options)
                    update(min(dataset.n_rows, begin + ROWS_AT_ONCE))

    def stdin(self) -> Iterator[Ranking]:
        from .sources import read_options, takes_texts
        from .streams import arriving, features

        texts = takes_texts(self.model)
        base = 0 if read_options(self.read).get("zero_based", True) is True else 1
        if sys.stdin.isatty():
            what = "a text" if texts else "a row (feature:value …)"
            self.screen.say(f"Type {what} and press Enter; Ctrl-D ends.")
        for batch in arriving(sys.stdin.buffer):
            inputs = batch.lines if texts else features(batch, self.model.n_features_in_, base)
            yield self.model.predict(inputs, **self.options)


@contextmanager
def _target(path: Path | None) -> Iterator[TextIO]:
    """Standard output, or a file that appears under its name when it is complete."""
    if path is None:
        yield sys.stdout
        return
    path = Path(os.path.realpath(path))
    if path.is_dir() or not path.parent.is_dir():
        what = "is a folder" if path.is_dir() else f"the folder {path.parent} does not exist"
        raise ParameterError(f"--output {path}: {what}.")
    if path.exists() and not path.is_file():  # a device or a pipe: it cannot be replaced, only written to
        with path.open("w", encoding="utf-8", newline="") as out:
            yield out
        return
    unfinished = path.with_name(path.name + ".partial")
    try:
        with unfinished.open("w", encoding="utf-8", newline="") as out:
            yield out
        unfinished.replace(path)
    except OSError as error:
        if error.filename is None:  # a full disk does not say which
            error.filename = str(path)
        raise
    finally:
        unfinished.unlink(missing_ok=True)
