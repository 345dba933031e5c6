"""How many threads to use."""

from __future__ import annotations

import os
from pathlib import Path

from .errors import ParameterError

__all__ = ["available_cores", "resolve_threads"]


def available_cores() -> int:
    """The cores this process may use: its CPU affinity and, on Linux, its control group's quota."""
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        if quota != "max":
            cores = min(cores, max(1, round(int(quota) / int(period))))
    except (OSError, ValueError):
        pass  # not Linux, or an older control group: affinity is all that is known
    return max(1, cores)


def resolve_threads(threads: int | None) -> int:
    """None means all available cores; a number means that many."""
    if threads is None:
        return available_cores()
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1 or threads > 4096:
        raise ParameterError(
            f"'threads' must be None or a whole number in [1, 4096]. Got {threads!r} instead."
        )
    return threads
