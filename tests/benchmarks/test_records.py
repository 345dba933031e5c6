"""Medians, ratios within repeats, disturbance, resuming."""

from __future__ import annotations

import sys

import pytest

from benchmarks.side_by_side import machine, records, tables


def record(system, repeat, seconds, others=0.0, part="train"):
    return {
        "part": part,
        "set": "s",
        "system": system,
        "repeat": repeat,
        "seconds": seconds,
        "others": others,
    }


def seconds(r):
    return r["seconds"]


def test_ratios_are_taken_within_a_repeat():
    found = records.latest(
        [
            *(record("a", 0, 2.0), record("b", 0, 1.0), record("a", 1, 30.0), record("b", 1, 10.0)),
            record("a", 2, 100.0),  # has no partner
        ]
    )
    assert records.ratios(found, "train", "s", "a", "b", seconds) == records.Spread(2.5, 2.0, 3.0, 2)


def test_a_later_line_replaces_an_earlier_one(tmp_path):
    file = tmp_path / "deep" / "results.jsonl"
    assert records.read(file) == []
    for value in (5.0, 3.0):
        records.append(file, record("a", 0, value))
    found = records.latest(records.read(file))
    assert [r["seconds"] for r in found.values()] == [3.0]


def test_disturbed_values_count_only_when_there_is_nothing_else():
    assert records.spread([(1.0, False), (9.0, True), (3.0, False)]) == records.Spread(2.0, 1.0, 3.0, 2)
    assert records.spread([(9.0, True), (7.0, True)]) == records.Spread(8.0, 7.0, 9.0, 2, disturbed=2)
    assert records.spread([]) is None


def test_a_ratio_is_disturbed_if_either_side_is():
    found = records.latest([record("a", 0, 2.0), record("b", 0, 1.0, others=1.0)])
    ratio = records.ratios(found, "train", "s", "a", "b", seconds)
    assert ratio is not None
    assert ratio.disturbed == 1


def test_cells_show_median_range_and_disturbance():
    assert tables.cell(records.Spread(2.0, 1.0, 3.0, 3), "{:.1f}") == "2.0 (1.0–3.0)"
    assert tables.cell(records.Spread(2.0, 2.0, 2.0, 1, disturbed=1), "{:.1f}") == "2.0 *"


def test_what_is_not_timed_is_not_disturbed():
    measured = {"P@1": 50.0, "others": 1.0}
    found = {
        ("predict", "a", "longtail", 0): measured,
        ("predict", "a", "longtail", 1): measured | {"P@1": 60.0, "others": 0.0},
    }
    timed, untimed = (
        records.of(found, "predict", "a", "longtail", lambda r: r["P@1"], timed) for timed in (True, False)
    )
    assert (timed.median, timed.n) == (60.0, 1)
    assert (untimed.median, untimed.n, untimed.disturbed) == (55.0, 2, 0)
    assert tables.cell(None, "{:.1f}") == "–"


def test_busy_time_counts_all_but_idling():
    stat = "cpu  100 10 20 4000 500 3 4 5 60 7\ncpu0 1 1 1 1 1 1 1 1 0 0\n"
    # user, nice, system, irq, softirq, steal; a guest's time is in user's already.
    assert machine.busy_seconds(stat, 100) == pytest.approx(1.42)


@pytest.fixture
def kernel(monkeypatch):
    """A machine that reports what the test says: [time of all, own time] before and after."""
    times = {"all": [10.0, 14.0], "own": [1.0, 3.9]}
    clock = iter([0.0, 2.0])
    monkeypatch.setattr(machine, "_all_seconds", lambda: times["all"].pop(0))
    monkeypatch.setattr(machine, "_own_seconds", lambda: times["own"].pop(0))
    monkeypatch.setattr(machine.time, "perf_counter", lambda: next(clock))
    return times


def test_a_meter_tells_own_work_from_that_of_others(kernel):
    with machine.Meter() as meter:
        pass
    assert (meter.wall, meter.cpu) == (2.0, pytest.approx(2.9))
    assert meter.others == pytest.approx(0.55)
    assert records.disturbed({"others": meter.others})


def test_a_meter_on_an_idle_machine(kernel):
    kernel["own"][1] = 4.98
    with machine.Meter() as meter:
        pass
    assert not records.disturbed({"others": meter.others})


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_peak_of_memory_starts_over():
    machine.reset_peak()
    before = machine.peak_bytes()
    block = bytearray(80_000_000)
    block[::4096] = b"x" * len(block[::4096])
    assert machine.peak_bytes() - before > 70_000_000
    del block
    machine.reset_peak()
    assert machine.peak_bytes() - before < 40_000_000
