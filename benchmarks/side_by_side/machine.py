"""What the machine is, what it did during a measurement, and how much memory a process takes (Linux)."""

from __future__ import annotations

import os
import platform
import resource
import time
from pathlib import Path
from typing import Any

__all__ = ["DISTURBED", "Meter", "describe", "peak_bytes", "reset_peak", "resident_bytes"]

DISTURBED = 0.05  # cores that others kept busy, on average: above it, a measurement counts as disturbed
_BUSY = (0, 1, 2, 5, 6, 7)  # of the fields of /proc/stat: user, nice, system, irq, softirq, steal


def busy_seconds(stat: str, hertz: int) -> float:
    """Processor time spent by anyone since the machine started, also what its host took away (steal)."""
    fields = stat.split("\n", 1)[0].split()[1:]
    return sum(int(fields[at]) for at in _BUSY if at < len(fields)) / hertz


def _own_seconds() -> float:
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def _all_seconds() -> float:
    return busy_seconds(Path("/proc/stat").read_text(), os.sysconf("SC_CLK_TCK"))


class Meter:
    """Times a block: ``wall`` and ``cpu`` seconds of this process, and ``others``: cores that other processes used."""

    wall = cpu = others = 0.0

    def __enter__(self) -> Meter:
        self._all, self._own, self._wall = _all_seconds(), _own_seconds(), time.perf_counter()
        return self

    def __exit__(self, *_: Any) -> None:
        self.wall = time.perf_counter() - self._wall
        self.cpu = _own_seconds() - self._own
        # The kernel counts in hundredths of a second: nothing can be said of very short blocks.
        foreign = _all_seconds() - self._all - self.cpu
        self.others = max(0.0, foreign) / self.wall if self.wall >= 0.2 else 0.0


def _status(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise OSError(f"/proc/self/status has no {field}")


def resident_bytes() -> int:
    """What the process holds in memory now."""
    return _status("VmRSS")


def peak_bytes() -> int:
    """The most it held since ``reset_peak``."""
    return _status("VmHWM")


def reset_peak() -> None:
    """The peak counts from now on."""
    Path("/proc/self/clear_refs").write_text("5")


def describe() -> dict[str, Any]:
    """The facts of the machine that a reader needs to place the figures."""
    cpuinfo = Path("/proc/cpuinfo").read_text().splitlines()
    facts = {line.split(":")[0].strip(): line.split(":", 1)[1].strip() for line in cpuinfo if ":" in line}
    memory = Path("/proc/meminfo").read_text().split("\n", 1)[0].split()[1]
    caches = {}
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        kind = (index / "type").read_text().strip()
        if kind != "Instruction":
            caches[f"L{(index / 'level').read_text().strip()}"] = (index / "size").read_text().strip()
    vector = [name for name in ("avx2", "avx512f") if name in facts.get("flags", "").split()]
    return {
        "processor": facts.get("model name", platform.processor()),
        "cores": len(os.sched_getaffinity(0)),
        "vector instructions": ", ".join(vector) or "none beyond the base set",
        "caches": ", ".join(f"{level} {size}" for level, size in caches.items()),
        "memory": f"{int(memory) / 2**20:.0f} GiB",
        "system": f"{platform.system()} {platform.release().split('-')[0]}, {platform.machine()}",
        "python": platform.python_version(),
    }
