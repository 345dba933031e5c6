"""Learning from labels of groups: every table and figure, one command each.

    python -m experiments.eagle.run table --data /path/to/eurlex-4k
    python -m experiments.eagle.run sizes|depths|noise --data /path/to/eurlex-4k
    python -m experiments.eagle.run simulations
    python -m experiments.eagle.run networks [--data /path/to/debian-depends]
    python -m experiments.eagle.run pictures
    python -m experiments.eagle.run report

What has been computed is in results/ and is not computed again. `--validation` measures on a part of the training data.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from . import networks, pictures, report, simulations
from .common import MODELS, WAYS, Points, Problem, run_point

RULES = {
    "table": ("R-4", "R-10", "C-8"),
    "sizes": ("R-2", "R-4", "R-6", "R-8", "R-10"),
    "depths": ("C-8", "C-9", "C-10", "C-11", "C-12"),
    "noise": ("C-8", "C-8+0.5", "C-8+1", "C-8+2", "C-8+4"),
}


def main() -> None:
    """Parses the command line and runs one experiment."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=[*RULES, "simulations", "networks", "pictures", "report"])
    parser.add_argument("--data", type=Path, help="a folder with splits trn and tst")
    parser.add_argument("--model", choices=list(MODELS), default="tree")
    parser.add_argument("--ways", default=",".join(WAYS), help="divided by commas; those of networks by +")
    parser.add_argument("--rules", help="other rules, such as R-4,C-16")
    parser.add_argument("--merge", choices=("list", "set"), default="list")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--validation", action="store_true")
    args = parser.parse_args()
    if args.what in RULES:
        if args.data is None:
            parser.error("--data is needed")
        suffix = "-validation" if args.validation else ""
        points, problem = Points(args.data.name + suffix), Problem(args.data, args.validation)
        rules = args.rules.split(",") if args.rules else RULES[args.what]
        for seed in range(args.seeds):
            for way in args.ways.split(","):
                for rule in rules[:1] if way == "oracle" else rules:
                    point = {"rule": rule, "merge": args.merge, "way": way, "model": args.model, "seed": seed}
                    if way == "oracle":
                        point.update(rule="R-1", merge="list")
                    run_point(points, problem, point)
    elif args.what == "simulations":
        simulations.run(args.seeds)
    elif args.what == "networks":
        given = args.ways.split("+") if args.ways != ",".join(WAYS) else list(networks.WAYS)
        networks.run(args.seeds, args.data, given)
    elif args.what == "pictures":
        pictures.run()
    else:
        report.write()


if __name__ == "__main__":
    main()
