"""Pictures are drawn of whatever results there are (where matplotlib is installed)."""

from __future__ import annotations

import pytest

from benchmarks.side_by_side import records
from benchmarks.side_by_side.synthetic import GROWTH

pytest.importorskip("matplotlib")


def test_pictures_of_some_systems_and_sets(tmp_path):
    from benchmarks.side_by_side import pictures

    trained = {"part": "train", "seconds": 2.0, "extra_bytes": 1e6, "model_bytes": 1e6}
    ranked = {"part": "predict", "batch_1": 10.0, "p50": 5.0, "p99": 9.0, "P@1": 50.0}
    size = GROWTH["rows"][0][0]
    found = records.latest(
        {**values, "set": name, "system": system, "repeat": repeat}
        for values in (trained, ranked)
        for name in ("eurlex-4k", "synthetic-30k", f"grow-rows-{size}")
        for system in ("longtail", "pecos")
        for repeat in range(2)
    )
    del found["predict", "eurlex-4k", "pecos", 0], found["predict", "eurlex-4k", "pecos", 1]
    found["train", "eurlex-4k", "omikuji", 0] = {"failed": 1}
    for draw in (pictures.draw, pictures.draw_growth):
        draw(found, tmp_path / "picture.png")
        assert (tmp_path / "picture.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
        (tmp_path / "picture.png").unlink()
