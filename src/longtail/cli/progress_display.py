"""How far long work is: bars on a terminal, now and then a line in a log, nothing when quiet.

Everything goes to standard error: standard output is for results.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO

from .. import progress

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn, Task, TaskID
    from rich.text import Text

__all__ = ["Bars", "Lines", "duration", "number", "reporting"]

LINE_EVERY = 5.0  # seconds between lines in a log
LINES_TO_BEGIN_WITH = 12  # of phases that end sooner
BARS_PER_SECOND = 8


@contextmanager
def reporting(quiet: bool = False, stream: TextIO | None = None) -> Iterator[progress.Reporter]:
    """Installs the reporter that suits the stream (standard error) for a block of code."""
    stream = sys.stderr if stream is None else stream
    if quiet:
        with progress.use(progress.Silent()) as silent:
            yield silent
    elif stream.isatty():
        with Bars(stream) as bars, progress.use(bars):
            yield bars
    else:
        with progress.use(Lines(stream)) as lines:
            yield lines


def number(n: float) -> str:
    """1234567 as 1.23M: at most three digits and a letter."""
    for limit, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(n) >= limit:
            return f"{n / (1e3 if letter == 'k' else limit):.3g}{letter}"
    return f"{n:.3g}" if 0 < abs(n) < 100 and n != int(n) else f"{n:,.0f}"


def duration(seconds: float) -> str:
    """Seconds as people say them."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    if seconds < 59.5:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min"


def rate(done: float, seconds: float, unit: str) -> str:
    """How fast, or nothing while it cannot be told."""
    if done <= 0 or seconds <= 0:
        return ""
    return f"{number(done / seconds)} {unit or 'steps'}/s"


def time_left(done: float, total: float | None, seconds: float) -> str:
    """How long still at the average rate so far, or nothing while it cannot be told."""
    if not total or done <= 0 or done >= total or seconds <= 0:
        return ""
    return f"{duration(seconds * (total - done) / done)} left"


@dataclass
class _Phase:
    name: str
    total: int | None
    unit: str
    depth: int
    began: float
    done: int = 0
    lines: int = 0


def _end_of(phase: _Phase, took: float) -> str:
    """What is said of a phase that ended well. It did all there was to do, whatever it said last."""
    done = phase.total or phase.done
    amount = f"{done:,} {phase.unit}".strip() + " in " if done and phase.unit else ""
    return f"{phase.name}: {amount}{duration(took)}"


@dataclass
class Lines:
    """For logs: a line every few seconds, and one when an outermost phase that took a moment ends.

    Of many such phases one after the other, as those of many trees, only so many are told as lines every few seconds
    would be, and some at the start: the log is not flooded.
    """

    stream: TextIO
    every: float = LINE_EVERY
    clock: Callable[[], float] = time.monotonic
    _open: dict[int, _Phase] = field(default_factory=dict)
    _next: int = 0
    _last_line: float | None = None
    _began: float | None = None
    _ends: int = 0  # lines of phases that ended and had none before

    def begin(self, name: str, total: int | None, unit: str) -> int:
        self._next += 1
        now = self.clock()
        if self._last_line is None:
            self._last_line = self._began = now
        self._open[self._next] = _Phase(name, total, unit, len(self._open), now)
        return self._next

    def update(self, handle: int, done: int) -> None:
        phase = self._open.get(handle)
        if phase is None:
            return
        phase.done = done
        now = self.clock()
        if self._last_line is None or now - self._last_line >= self.every:
            phase.lines += 1
            self._write(self._text(phase, now), now)

    def end(self, handle: int, ok: bool) -> None:
        phase = self._open.pop(handle, None)
        if phase is None or not ok:
            return
        now = self.clock()
        took = now - phase.began
        if phase.lines or (phase.depth == 0 and took >= 0.5 and self._spares(now)):
            self._write(_end_of(phase, took), now)

    def message(self, text: str) -> None:
        self._write(text, self._last_line)

    def _spares(self, now: float) -> bool:
        """Whether there is a line to spare: one for each few seconds since the work began, and some at the start."""
        if self._began is None or self._ends >= LINES_TO_BEGIN_WITH + (now - self._began) / self.every:
            return False
        self._ends += 1
        return True

    def _text(self, phase: _Phase, now: float) -> str:
        seconds = now - phase.began
        amount = f"{phase.done:,} {phase.unit}".strip()
        if phase.total:
            amount = f"{100 * phase.done / phase.total:.0f}% ({phase.done:,} of "
            amount += f"{phase.total:,} {phase.unit}".strip() + ")"
        parts = [amount, rate(phase.done, seconds, phase.unit), time_left(phase.done, phase.total, seconds)]
        return f"{phase.name}: " + ", ".join(part for part in parts if part)

    def _write(self, line: str, now: float | None) -> None:
        self._last_line = now
        try:
            self.stream.write(line + "\n")
            self.stream.flush()
        except (OSError, ValueError):
            pass  # a log that went away must not stop the work


class Bars:
    """For a terminal: a bar for each open phase; a phase that ends leaves a line if it took a moment."""

    def __init__(self, stream: TextIO):
        self._stream = stream
        self._progress: Progress | None = None
        self._tasks: dict[int, tuple[TaskID, _Phase]] = {}
        self._next = 0

    def __enter__(self) -> Bars:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def begin(self, name: str, total: int | None, unit: str) -> int:
        bars = self._start()
        self._next += 1
        phase = _Phase(name, total, unit, len(self._tasks), time.monotonic())
        task = bars.add_task("  " * phase.depth + name, total=total, unit=unit)
        self._tasks[self._next] = task, phase
        return self._next

    def update(self, handle: int, done: int) -> None:
        if handle in self._tasks and self._progress is not None:
            task, phase = self._tasks[handle]
            phase.done = done
            self._progress.update(task, completed=done)

    def end(self, handle: int, ok: bool) -> None:
        if handle not in self._tasks or self._progress is None:
            return
        task, phase = self._tasks.pop(handle)
        self._progress.remove_task(task)
        took = time.monotonic() - phase.began
        if ok and phase.depth == 0 and took >= 0.5:
            self.message(_end_of(phase, took))
        if not self._tasks:
            self._stop()

    def message(self, text: str) -> None:
        if self._progress is not None:
            self._progress.console.print(text, markup=False, highlight=False, soft_wrap=True)
        else:
            print(text, file=self._stream, flush=True)

    def _start(self) -> Progress:
        if self._progress is None:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

            console = Console(file=self._stream, stderr=True)
            self._progress = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(bar_width=30),
                TaskProgressColumn(),
                _pace_column(),
                console=console,
                transient=True,
                refresh_per_second=BARS_PER_SECOND,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._progress.start()
        return self._progress

    def _stop(self) -> None:
        if self._progress is not None:
            self._progress.stop()
            self._progress = None
            self._tasks.clear()


def _pace_column() -> ProgressColumn:
    from rich.progress import ProgressColumn as Column
    from rich.text import Text as RichText

    class Pace(Column):
        """Rate and time left."""

        def render(self, task: Task) -> Text:
            seconds = task.elapsed or 0.0
            unit = str(task.fields.get("unit") or "")
            parts = [rate(task.completed, seconds, unit), time_left(task.completed, task.total, seconds)]
            return RichText(", ".join(part for part in parts if part), style="dim")

    return Pace()
