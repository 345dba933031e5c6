from __future__ import annotations

import importlib.util
from pathlib import Path


def test_damaged_folders() -> None:
    path = Path(__file__).parents[1] / "fuzz" / "fuzz_store.py"
    spec = importlib.util.spec_from_file_location("fuzz_store", path)
    assert spec is not None
    assert spec.loader is not None
    fuzz = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(fuzz)
    counts = fuzz.run(400, seed=1)
    assert counts["read"] > 20
    assert counts["refused"] > 100
