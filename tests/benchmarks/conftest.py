"""Lets tests import the benchmarks, which are not a part of the package (nor of the source distribution)."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
if (ROOT / "benchmarks").is_dir():
    sys.path.insert(0, str(ROOT))
else:
    collect_ignore_glob = ["test_*.py"]
