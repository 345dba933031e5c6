"""An error becomes one line on standard error and an exit code."""

import errno

import pytest
import typer

from longtail.cli.exits import guarded
from longtail.errors import DataError, MissingExtraError, ModelError, NotFittedError, ParameterError


def outcome(error, capsys, **kwargs):
    def verb(debug=False):
        raise error

    with pytest.raises(typer.Exit) as caught:
        guarded(verb)(**kwargs)
    streams = capsys.readouterr()
    assert streams.out == ""
    return caught.value.exit_code, streams.err


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (ParameterError("The 'C' parameter is wrong."), 2, "Error: The 'C' parameter is wrong.\n"),
        (MissingExtraError("Parquet", "parquet"), 2, "Error: Parquet needs an optional package."),
        (DataError("bad.", path="x.txt", line=3), 3, "Error: x.txt, line 3: bad.\n"),
        (ModelError("m: damaged."), 4, "Error: m: damaged.\n"),
        (NotFittedError("not trained."), 4, "Error: not trained.\n"),
        (KeyboardInterrupt(), 130, "Stopped.\n"),
        (KeyboardInterrupt("Go on with --resume."), 130, "Stopped. Go on with --resume.\n"),
        (MemoryError(), 1, "Error: not enough memory.\n"),
        (OSError(errno.ENOSPC, "No space left on device", "m"), 1, "Error: m: No space left on device.\n"),
        (ZeroDivisionError("a\nb"), 1, "Unexpected error: ZeroDivisionError: a b (--debug shows where)\n"),
        (BrokenPipeError(), 0, ""),
    ],
)
def test_codes_and_lines(error, code, line, capsys):
    got, said = outcome(error, capsys)
    assert got == code
    assert said.startswith(line)
    assert said.count("\n") == (1 if line else 0)


def test_debug_shows_where(capsys, monkeypatch):
    code, said = outcome(DataError("bad."), capsys, debug=True)
    assert code == 3
    assert "Traceback" in said
    assert said.endswith("Error: bad.\n")
    monkeypatch.setenv("LONGTAIL_DEBUG", "1")
    assert "Traceback" in outcome(DataError("bad."), capsys)[1]


def test_exits_on_purpose_pass():
    def verb():
        raise typer.Exit(7)

    with pytest.raises(typer.Exit) as caught:
        guarded(verb)()
    assert caught.value.exit_code == 7
