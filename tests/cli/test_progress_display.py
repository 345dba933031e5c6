"""Bars on a terminal, lines in a log, nothing when quiet."""

import io
from types import SimpleNamespace

import pytest

from longtail import progress
from longtail.cli.progress_display import Bars, Lines, duration, number, rate, reporting, time_left


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


class Terminal(io.StringIO):
    def isatty(self):
        return True


def lines_of(stream):
    return stream.getvalue().splitlines()


def test_a_line_every_few_seconds():
    clock, stream = Clock(), io.StringIO()
    with progress.use(Lines(stream, every=5.0, clock=clock)), progress.phase("solve", 1000, "rows") as update:
        for done in range(0, 1001, 100):
            update(done)
            clock.now += 2.0
    assert lines_of(stream) == [
        "solve: 30% (300 of 1,000 rows), 50 rows/s, 14 s left",
        "solve: 60% (600 of 1,000 rows), 50 rows/s, 8.0 s left",
        "solve: 90% (900 of 1,000 rows), 50 rows/s, 2.0 s left",
        "solve: 1,000 rows in 22 s",
    ]


def test_unknown_total_has_no_time_left():
    clock, stream = Clock(), io.StringIO()
    with progress.use(Lines(stream, every=5.0, clock=clock)), progress.phase("read", None, "lines") as update:
        clock.now += 6.0
        update(120_000)
    assert lines_of(stream) == ["read: 120,000 lines, 20k lines/s", "read: 120,000 lines in 6.0 s"]


def test_short_phases_and_failed_phases_say_nothing():
    clock, stream = Clock(), io.StringIO()
    with progress.use(Lines(stream, clock=clock)):
        with progress.phase("quick", 10):
            clock.now += 0.1
        with pytest.raises(ZeroDivisionError), progress.phase("broken", 10):
            clock.now += 3.0 / 0
    assert stream.getvalue() == ""


def test_inner_phases_end_silently_unless_they_were_shown():
    clock, stream = Clock(), io.StringIO()
    with progress.use(Lines(stream, every=5.0, clock=clock)), progress.phase("train", 2, "levels") as outer:
        for level in (1, 2):
            with progress.phase(f"level {level}", 10, "nodes"):
                clock.now += 1.0
            outer(level)
    assert lines_of(stream) == ["train: 2 levels in 2.0 s"]


def test_many_phases_do_not_flood_a_log():
    clock, stream = Clock(), io.StringIO()
    with progress.use(Lines(stream, every=5.0, clock=clock)):
        for tree in range(300):
            with progress.phase(f"tree {tree}", 10, "nodes") as update:
                clock.now += 1.0
                update(10)
    told = lines_of(stream)
    assert told[:2] == ["tree 0: 10 nodes in 1.0 s", "tree 1: 10 nodes in 1.0 s"]
    assert 60 <= len(told) <= 130  # 300 seconds


@pytest.mark.parametrize("reporter", [Lines, Bars])
def test_a_phase_that_ended_well_did_everything(reporter, monkeypatch):
    clock, stream = Clock(), Terminal()
    monkeypatch.setattr("longtail.cli.progress_display.time", SimpleNamespace(monotonic=clock))
    display = Lines(stream, clock=clock) if reporter is Lines else Bars(stream)
    with progress.use(display), progress.phase("solve", 1000, "rows") as update:
        update(700)  # kernels report from time to time, not at the end
        clock.now += 2.0
    assert "solve: 1,000 rows in 2.0 s" in stream.getvalue()


def test_messages_are_lines():
    stream = io.StringIO()
    with reporting(stream=stream):
        progress.message("needs 2.1 GB")
    assert lines_of(stream) == ["needs 2.1 GB"]


def test_quiet_is_silent():
    stream = Terminal()
    with reporting(quiet=True, stream=stream), progress.phase("solve", 10) as update:
        update(5)
        progress.message("hello")
    assert stream.getvalue() == ""


def test_bars_on_a_terminal_show_rate_and_leave_nothing_behind():
    stream = Terminal()
    with reporting(stream=stream) as reporter:
        assert isinstance(reporter, Bars)
        with progress.phase("solve [bold]", 100, "rows") as update:
            with progress.phase("inner", None, "things") as inner:
                inner(3)
            update(50)
            progress.message("half [way]")
            reporter._progress.refresh()
    shown = stream.getvalue()
    assert "solve [bold]" in shown
    assert "inner" in shown
    assert "half [way]\n" in shown
    assert "rows/s" in shown
    assert (
        shown.rstrip().endswith("\x1b[?25h") or "\x1b[2K" in shown
    )  # the bar was erased, the cursor is back


def test_a_stream_that_goes_away_does_not_stop_the_work():
    stream = io.StringIO()
    reporter = Lines(stream)
    stream.close()
    reporter.message("nobody hears this")


def test_updates_after_the_end_are_ignored():
    stream = io.StringIO()
    reporter = Lines(stream, every=0.0)
    handle = reporter.begin("x", 1, "")
    reporter.end(handle, True)
    reporter.update(handle, 1)
    reporter.end(handle, True)
    assert stream.getvalue() == ""


@pytest.mark.parametrize(
    ("n", "text"),
    [
        (0, "0"),
        (7, "7"),
        (0.25, "0.25"),
        (9999, "9,999"),
        (12_345, "12.3k"),
        (1_234_567, "1.23M"),
        (2e9, "2G"),
    ],
)
def test_number(n, text):
    assert number(n) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.04, "0.0 s"),
        (9.94, "9.9 s"),
        (12.4, "12 s"),
        (59.9, "1 min 00 s"),
        (75, "1 min 15 s"),
        (3599.9, "1 h 00 min"),
        (7300, "2 h 01 min"),
    ],
)
def test_duration(seconds, text):
    assert duration(seconds) == text


def test_nothing_is_claimed_before_anything_is_known():
    assert rate(0, 5.0, "rows") == ""
    assert time_left(0, 100, 5.0) == ""
    assert time_left(50, None, 5.0) == ""
    assert time_left(100, 100, 5.0) == ""
