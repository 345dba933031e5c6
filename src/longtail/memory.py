"""How much memory is free, and the warning that it will not do."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["MemoryWarning", "free_memory", "human_bytes"]


class MemoryWarning(UserWarning):
    """A training is expected to need more memory than is free."""


def human_bytes(n: int) -> str:
    """1536 → '1.5 kB'; in powers of 1000."""
    size = float(n)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"


def free_memory() -> int | None:
    """Bytes that this process can still take: what the system says is available, within the control group's limit."""
    free: int | None = None
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                free = int(line.split()[1]) * 1024
        limit = Path("/sys/fs/cgroup/memory.max").read_text().strip()
        if limit != "max":
            room = int(limit) - int(Path("/sys/fs/cgroup/memory.current").read_text())
            free = room if free is None else min(free, room)
    except (OSError, ValueError):
        pass  # not Linux, or without control groups
    if free is None and hasattr(os, "sysconf") and "SC_AVPHYS_PAGES" in os.sysconf_names:
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return free
