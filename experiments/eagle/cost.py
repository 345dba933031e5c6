"""What handing out labels costs, beside training on the result.

    python -m experiments.eagle.cost --data /path/to/eurlex-4k
    python -m experiments.eagle.cost --data /path/to/yso-titles-en --rules R-10 --ways contrast --no-training

Times are of the clock and of the processors, in seconds; the memory is the most that the process has had, features and
labels included. Run it on an idle machine: what shares the cores with it shares their caches too.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import longtail as lt
from longtail.groups import merge_labels

from .common import Problem, assign

RULES = ("R-4", "R-10", "C-8")
WAYS = ("EAGLE-0", "EAGLE", "contrast")


def timed(work: Callable[..., Any], *given: Any) -> tuple[Any, float, float]:
    """What the work gives, and its seconds by the clock and by the processors."""
    clock, processors = time.perf_counter(), time.process_time()
    result = work(*given)
    return result, time.perf_counter() - clock, time.process_time() - processors


def peak_gigabytes() -> float:
    """The most memory that this process has had."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e9


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="a folder with splits trn and tst")
    parser.add_argument("--rules", default=",".join(RULES))
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--no-training", action="store_true", help="only hand out the labels")
    args = parser.parse_args()
    problem = Problem(args.data, validation=False)
    print(f"{problem.x.shape[0]:,} samples, {problem.y.shape[1]:,} labels, {peak_gigabytes():.2f} GB before")
    print("| groups | way | clock | processors | training: clock | processors | share of processors | GB |")
    print("|---" * 8 + "|")
    for rule in args.rules.split(","):
        groups = problem.groups(rule, 0)
        known = merge_labels(groups, problem.y)
        for way in args.ways.split(","):
            y, *assigning = timed(assign, way, problem, groups, known)
            cells = [f"{seconds:.2f}" for seconds in assigning]
            if args.no_training:
                cells += [""] * 3
            else:
                _, *training = timed(lt.LinearTree().fit, problem.x, y)
                cells += [f"{seconds:.2f}" for seconds in training]
                cells.append(f"{100 * assigning[1] / training[1]:.0f} %")
            print(f"| {rule} | {way} | {' | '.join(cells)} | {peak_gigabytes():.2f} |", flush=True)


if __name__ == "__main__":
    main()
