"""Runs the comparison: ``python -m benchmarks.side_by_side.run`` (or ``make bench``).

Repeats go round by round: in a round every system has its turn on every set, so that what drifts on the machine drifts
for all. Every measurement is a process and a line in the results file; ``--only-missing`` goes on where a run was
stopped. Examples:

    python -m benchmarks.side_by_side.run --sets synthetic-30k --systems longtail pecos --repeats 5
    python -m benchmarks.side_by_side.run --sets synthetic-131k --systems longtail --parts predict
    python -m benchmarks.side_by_side.run --show
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import machine, records, sets, systems, tables
from .environments import python_of
from .same_weights import compare
from .synthetic import GROWN

PARTS = ("train", "predict", "text")
ROOT = Path(__file__).resolve().parents[2]


def measure(part: str, name: str, system: str, repeat: int, folder: Path, args: Any) -> bool:
    """One measurement: a process, then a line in the results file. Gives whether it was disturbed."""
    model = args.work / "models" / name / system
    result = args.work / "last" / f"{part}-{name}-{system}.json"
    record: records.Record = {"part": part, "set": name, "system": system, "repeat": repeat}
    record |= {"threads": args.threads, "time": time.strftime("%Y-%m-%dT%H:%M:%S"), "source": args.source}
    if part == "predict" and system == "pecos-same":
        # longtail's model of the set as it is now; this takes no part in any measurement.
        work("export", system, folder, model, result.with_suffix(".export"), "longtail", repeat, args)
    elif part == "predict" and not model.exists():
        print(f"{name:15} {system:10} has no model: train it first", flush=True)
        return False
    code = work(part, system, folder, model, result, systems.ENVIRONMENT[system], repeat, args)
    if code == 0:
        record |= json.loads(result.read_text())
        if part == "predict":
            record |= precision(folder, result.with_suffix(".npz"))
        if system == "pecos-same":
            ours = result.with_name(f"predict-{name}-longtail.npz")
            record |= {"same": compare(ours, result.with_suffix(".npz")) if ours.exists() else None}
    else:
        record |= {"failed": code}
    records.append(args.results, record)
    print(tables.line(record), flush=True)
    return records.disturbed(record)


def work(
    part: str, system: str, folder: Path, model: Path, result: Path, home: str, seed: int, args: Any
) -> int:
    """Runs the worker in an environment; gives its exit code."""
    result.parent.mkdir(parents=True, exist_ok=True)
    result.unlink(missing_ok=True)
    python = python_of(home, args.work, args.python)
    command = [
        python,
        "-m",
        "benchmarks.side_by_side.worker",
        part,
        system,
        str(folder),
        str(model),
        str(result),
    ]
    command = [*shlex.split(args.under), *command, "--threads", str(args.threads), "--seed", str(seed)]
    return subprocess.run(command, cwd=ROOT).returncode


def wanted(part: str, system: str, folder: Path) -> bool:
    """Whether there is anything to measure."""
    if part == "text":
        return system in systems.TEXT_SYSTEMS and sets.texts(folder, "tst") is not None
    return part == "predict" or system != "pecos-same"


def precision(folder: Path, lists: Path) -> dict[str, float]:
    """P@1, P@3, P@5 and PSP@5 of the lists that a system gave, measured the same for all."""
    from longtail.metrics import evaluate

    y, y_test = (sp.load_npz(folder / f"{name}.npz") for name in ("trn_Y", "tst_Y"))
    report = evaluate(np.load(lists)["labels"], y_test, k=(1, 3, 5), train=y, metrics=["P", "PSP"])
    return {name: 100 * report[name] for name in ("P@1", "P@3", "P@5", "PSP@5")}


def source() -> str:
    """The revision of the sources, if they are in a git repository."""
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=10"]
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def arguments() -> argparse.ArgumentParser:
    """The options."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    data, work = os.environ.get("LONGTAIL_BENCH_DATA"), os.environ.get("LONGTAIL_BENCH_WORK", "build/bench")
    parser.add_argument("--sets", nargs="+", choices=sets.KNOWN, metavar="SET", default=list(sets.SETS))
    parser.add_argument("--systems", nargs="+", choices=systems.SYSTEMS, default=list(systems.SYSTEMS))
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--first", type=int, default=0, help="number of the first repeat")
    parser.add_argument("--only-missing", action="store_true", help="skip what the results file has")
    parser.add_argument(
        "--tries", type=int, default=1, help="measure again, so often in all, what was disturbed"
    )
    parser.add_argument("--threads", type=int, default=2, help="in training")
    parser.add_argument(
        "--data", type=Path, default=data and Path(data), help="folder of the real sets (LONGTAIL_BENCH_DATA)"
    )
    parser.add_argument(
        "--work", type=Path, default=Path(work), help="environments, sets and models (LONGTAIL_BENCH_WORK)"
    )
    parser.add_argument("--results", type=Path, help="results file (WORK/results.jsonl)")
    parser.add_argument("--python", default=sys.executable, help="interpreter for the peers' environments")
    parser.add_argument("--under", default="", help="command that each measurement is run under, as nice")
    parser.add_argument(
        "--growth", action="store_true", help="training of longtail and PECOS on sets that grow in one thing"
    )
    parser.add_argument("--show", action="store_true", help="only show the tables")
    return parser


def main() -> None:
    """Runs what is asked for, prints the tables."""
    args = arguments().parse_args()
    args.work = args.work.absolute()
    args.results = args.results or args.work / "results.jsonl"
    args.source = source()
    if args.growth:
        args.sets, args.parts = list(GROWN), ["train"]
        args.systems = [system for system in args.systems if system in ("longtail", "pecos")]
    if not args.show:
        run(args)
    print(tables.markdown(records.latest(records.read(args.results)), facts_of(args.results)))


def facts_of(results: Path) -> dict[str, Any]:
    """The machine on which results were measured, kept beside them."""
    file = results.with_name("machine.json")
    return json.loads(file.read_text()) if file.exists() else machine.describe()


def run(args: Any) -> None:
    """All rounds."""
    args.results.parent.mkdir(parents=True, exist_ok=True)
    args.results.with_name("machine.json").write_text(json.dumps(machine.describe(), indent=2) + "\n")
    folders = {}
    for name in args.sets:
        folders[name] = sets.prepare(name, args.work, args.data)
        if folders[name] is None:
            print(f"{name}: skipped, not found in the folder of real sets ({args.data or 'none given'})")
    known = records.latest(records.read(args.results))
    for repeat in range(args.first, args.first + args.repeats):
        for name, folder in folders.items():
            for system in args.systems:
                for part in args.parts:
                    there = (part, name, system, repeat) in known
                    if folder is None or not wanted(part, system, folder):
                        continue
                    if there and args.only_missing:
                        continue
                    for _ in range(args.tries):
                        if not measure(part, name, system, repeat, folder, args):
                            break


if __name__ == "__main__":
    main()
