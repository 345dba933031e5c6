"""How long work says how far it is. Libraries stay silent; a front end (the command line) installs a reporter.

    with phase("solve", total=n_rows, unit="rows") as update:
        kernel(..., update)        # update(done) with the absolute number done so far

A reporter is anything with the methods of ``Reporter``. ``use(reporter)`` installs one for a block of code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

__all__ = ["Reporter", "Silent", "current", "message", "phase", "use"]

Update = Callable[[int], None]


class Reporter(Protocol):
    """Hears of phases: each begins, is updated with the absolute amount done, and ends. Phases may nest."""

    def begin(self, name: str, total: int | None, unit: str) -> int:
        """A phase begins; gives a handle for the other calls."""
        ...

    def update(self, handle: int, done: int) -> None: ...

    def end(self, handle: int, ok: bool) -> None: ...

    def message(self, text: str) -> None:
        """One line for the person in front of the screen, such as an estimate of memory."""
        ...


class Silent:
    """The default reporter."""

    def begin(self, name: str, total: int | None, unit: str) -> int:
        return 0

    def update(self, handle: int, done: int) -> None: ...

    def end(self, handle: int, ok: bool) -> None: ...

    def message(self, text: str) -> None: ...


_reporter: ContextVar[Reporter] = ContextVar("longtail_reporter", default=Silent())  # noqa: B039 (has no state)


def current() -> Reporter:
    """The reporter in force."""
    return _reporter.get()


@contextmanager
def use(reporter: Reporter) -> Iterator[Reporter]:
    """Installs a reporter for the block."""
    token = _reporter.set(reporter)
    try:
        yield reporter
    finally:
        _reporter.reset(token)


@contextmanager
def phase(name: str, total: int | None = None, unit: str = "") -> Iterator[Update]:
    """Reports a phase; yields ``update(done)``."""
    reporter = current()
    handle = reporter.begin(name, total, unit)
    ok = False
    try:
        yield lambda done: reporter.update(handle, done)
        ok = True
    finally:
        reporter.end(handle, ok)


def message(text: str) -> None:
    """Tells the reporter one line."""
    current().message(text)
