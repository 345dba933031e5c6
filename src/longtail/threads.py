"""How many threads to use."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from .errors import ParameterError
from .params import Int

__all__ = ["available_cores", "resolve_threads"]

_MANY = 4096


def available_cores() -> int:
    """The cores this process may use: its CPU affinity and, on Linux, its control group's quota."""
    cores = os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    return max(1, min(cores, _quota()))


@cache
def _quota() -> int:
    """The cores that the control group grants; read once, as a file is slow beside a single query."""
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return _MANY if quota == "max" else max(1, round(int(quota) / int(period)))
    except (OSError, ValueError):
        return _MANY  # not Linux, or an older control group: affinity is all that is known


def resolve_threads(threads: int | None) -> int:
    """None means all available cores; a number means that many."""
    if threads is None:
        return available_cores()
    if not Int(1, _MANY).accepts(threads):
        raise ParameterError(
            f"'threads' must be None or a whole number in [1, {_MANY}]. Got {threads!r} instead."
        )
    return int(threads)
