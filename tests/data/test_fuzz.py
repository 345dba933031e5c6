"""A few thousand mutated files; more with `python tests/fuzz/fuzz_data.py 100000 1`."""

from __future__ import annotations

import importlib.util
from pathlib import Path


def test_mutated_files_are_read_or_refused() -> None:
    path = Path(__file__).parents[1] / "fuzz" / "fuzz_data.py"
    spec = importlib.util.spec_from_file_location("fuzz_data", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    outcomes = module.run(3000, seed=7)
    assert outcomes["read"] > 300
    assert outcomes["refused"] > 300
