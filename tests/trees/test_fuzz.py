"""A short run of tests/fuzz/fuzz_trees.py."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path


def test_random_and_tampered_input_gives_a_tree_or_an_error():
    path = Path(__file__).parents[1] / "fuzz" / "fuzz_trees.py"
    spec = importlib.util.spec_from_file_location("fuzz_trees", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["fuzz_trees"] = module
    spec.loader.exec_module(module)
    counts = module.run(1200, seed=1)
    assert counts["accepted"] > 200
    assert counts["refused"] > 200
