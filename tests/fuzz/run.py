"""Runs all fuzz_*.py beside it: random and damaged input for every room.

    python tests/fuzz/run.py --cases 100000 [--seed 0] [--only data,text,store,trees,linear] [--jobs 2]

Each room runs in a process of its own, in lots. A lot that raises, crashes or does not end in time is a failure: its
seed and how to repeat it are printed, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
LOT = 500  # cases per process
PATIENCE = 300.0  # seconds that a lot may take
TELL_EVERY = 5.0


@dataclass
class Lot:
    """Some cases of one room, in a process of their own."""

    room: str
    cases: int
    seed: int
    log: Any = field(default_factory=lambda: tempfile.TemporaryFile("w+"))  # noqa: SIM115
    process: subprocess.Popen[bytes] | None = None
    begun: float = 0.0

    @property
    def command(self) -> list[str]:
        return [sys.executable, str(HERE / "run.py"), "--lot", self.room, str(self.cases), str(self.seed)]

    def start(self) -> None:
        self.begun = time.monotonic()
        self.process = subprocess.Popen(
            [self.command[0], "-X", "faulthandler", *self.command[1:]],
            stdout=self.log,
            stderr=subprocess.STDOUT,
        )

    def failure(self, patience: float) -> str | None:
        """What went wrong so far, in words."""
        assert self.process is not None
        code = self.process.poll()
        if code is None:
            if time.monotonic() - self.begun <= patience:
                return None
            self.process.send_signal(signal.SIGABRT)  # faulthandler tells where it hangs
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            return f"did not end within {patience:.0f} s"
        return (
            None
            if code == 0
            else f"ended with {signal.Signals(-code).name if code < 0 else f'exit code {code}'}"
        )

    def report(self, what: str) -> None:
        self.log.seek(0)
        lines = self.log.read().splitlines()
        print(f"\nFAILED: {self.room}, {self.cases} cases of seed {self.seed}: {what}")
        print("\n".join("    " + line for line in lines[-60:]))
        print("repeat it with: " + " ".join(self.command), flush=True)


def rooms() -> list[str]:
    return sorted(path.stem.removeprefix("fuzz_") for path in HERE.glob("fuzz_*.py"))


def run_lot(room: str, cases: int, seed: int) -> None:
    path = HERE / f"fuzz_{room}.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    print(module.run(cases, seed))


def lots_of(names: list[str], cases: int, seed: int) -> list[Lot]:
    """The cases divided over the rooms, the rooms taking turns, every lot with a seed of its own."""
    share = {room: cases // len(names) + (i < cases % len(names)) for i, room in enumerate(names)}
    lots = []
    turn = 0
    while any(share.values()):
        for room in names:
            size = min(LOT, share[room])
            if size:
                lots.append(Lot(room, size, seed * 1_000_000 + turn))
                share[room] -= size
        turn += 1
    return lots


def run_all(lots: list[Lot], jobs: int, patience: float) -> int:
    """Runs the lots, some at a time; gives the number of failures."""
    waiting, running = list(reversed(lots)), list[Lot]()
    total = sum(lot.cases for lot in lots)
    done: dict[str, int] = dict.fromkeys([lot.room for lot in lots], 0)
    begun = told = time.monotonic()
    failures = 0
    while waiting or running:
        while waiting and len(running) < jobs:
            running.append(waiting.pop())
            running[-1].start()
        time.sleep(0.02)
        for lot in list(running):
            what = lot.failure(patience)
            assert lot.process is not None
            if what is not None:
                failures += 1
                lot.report(what)
            elif lot.process.poll() is None:
                continue
            else:
                done[lot.room] += lot.cases
            lot.log.close()
            running.remove(lot)
        if time.monotonic() - told > TELL_EVERY:
            told = time.monotonic()
            finished = sum(done.values())
            print(f"{finished:,} of {total:,} cases, {finished / (told - begun):.0f} a second", flush=True)
    counts = ", ".join(f"{room} {n:,}" for room, n in done.items())
    print(f"{sum(done.values()):,} cases without a failure in {time.monotonic() - begun:.0f} s: {counts}")
    return failures


def main() -> int:
    parser = argparse.ArgumentParser(description="Fuzzes every room of longtail.")
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="rooms, separated by commas")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time")
    parser.add_argument("--patience", type=float, default=PATIENCE, help=f"seconds for {LOT} cases")
    parser.add_argument("--lot", nargs=3, metavar=("ROOM", "CASES", "SEED"), help="one lot, in this process")
    given = parser.parse_args()
    if given.lot:
        run_lot(given.lot[0], int(given.lot[1]), int(given.lot[2]))
        return 0
    names = rooms()
    if given.only:
        chosen = [name for name in given.only.split(",") if name]
        unknown = sorted(set(chosen) - set(names))
        if unknown or not chosen:
            parser.error(
                f"there is no fuzz_{unknown[0] if unknown else ''}.py; there are: {', '.join(names)}"
            )
        names = chosen
    if given.cases < 1 or given.jobs < 1:
        parser.error("--cases and --jobs must be at least 1")
    failures = run_all(lots_of(names, given.cases, given.seed), given.jobs, given.patience)
    if failures:
        print(f"{failures} lots FAILED (seed {given.seed})")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
