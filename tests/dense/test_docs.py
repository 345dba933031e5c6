"""The how-to runs from top to bottom."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "multi-instance.md"

pytest.importorskip("torch")


def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(block, str(PAGE), "exec"), names)
    model, X, kind = names["model"], names["X"], names["kind"]
    assert model.loss_ == "share"
    right = [name == [f"kind {own}"] for name, own in zip(model.predict(X, k=1).names(), kind, strict=True)]
    assert sum(right) > 0.8 * len(right)
    assert len(model.predict(X, k=5, groups=names["groups"])) == 50
    assert (tmp_path / "model" / "model.json").exists()
