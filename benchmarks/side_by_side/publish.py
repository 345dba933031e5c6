"""Keeps results in the repository: ``make bench-publish``.

    python -m benchmarks.side_by_side.publish [--results build/bench/results.jsonl]

Writes benchmarks/results/side-by-side.jsonl (the last line of every measurement), machine.json, the tables and the
pictures, and puts the tables into docs/performance.md, and a few lines of them into README.md, between the lines that
mark their place.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

from . import records, tables
from .run import ROOT, facts_of
from .summary import summary

BEGIN, END = "<!-- side by side: made by make bench-publish -->", "<!-- end of side by side -->"
COMMAND = "```console\n$ make bench && make bench-publish\n```"


def insert(page: str, text: str) -> str:
    """The page with the text between its marks, which are added at its end if they are not there."""
    if BEGIN not in page:
        page = page.rstrip("\n") + f"\n\n{BEGIN}\n{END}\n"
    before, rest = page.split(BEGIN, 1)
    if END not in rest:
        raise ValueError(f"the page has {BEGIN} without {END}")
    return f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.split(END, 1)[1]}"


def main() -> None:
    """Writes all files."""
    from . import pictures

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    work = Path(os.environ.get("LONGTAIL_BENCH_WORK", ROOT / "build" / "bench"))
    parser.add_argument("--results", type=Path, default=work / "results.jsonl")
    args = parser.parse_args()
    found = records.latest(records.read(args.results))
    if not found:
        parser.error(f"{args.results} has no results")
    kept, images = ROOT / "benchmarks" / "results", ROOT / "docs" / "images"
    kept.mkdir(exist_ok=True)
    images.mkdir(exist_ok=True)
    facts = facts_of(args.results)
    (kept / "machine.json").write_text(json.dumps(facts, indent=2) + "\n")
    (kept / "side-by-side.jsonl").write_text("".join(json.dumps(r) + "\n" for r in found.values()))
    text = tables.markdown(found, facts)
    (kept / "side-by-side.md").write_text(f"# Side by side\n\n{COMMAND}\n\n{text}\n")
    pictures.draw(found, images / "side-by-side.png")
    shown = "![Training time, memory, size, speed and precision of the systems](images/side-by-side.png)"
    if any(key[1].startswith("grow-") for key in found):
        pictures.draw_growth(found, images / "growth.png")
        shown += "\n\n![Time and memory of training against the size of the data](images/growth.png)"
    page = ROOT / "docs" / "performance.md"
    page.write_text(insert(page.read_text(), f"## Side by side\n\n{COMMAND}\n\n{shown}\n\n{text}"))
    front = ROOT / "README.md"
    front.write_text(insert(front.read_text(), summary(found)))
    print(f"Kept in {kept}, {images}, {page} and {front}")


if __name__ == "__main__":
    main()
