"""The how-to runs from top to bottom."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "groups.md"


def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert len(blocks) == 3
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    assert repr(names["pages"]) == "<Dataset pages.jsonl: 9 rows, texts, 5 groups with 3 labels>"
    said = names["model"].predict(["a piano song", "soup with bread"], k=1).names()
    assert said == [["music"], ["food"]]
    assert names["Y"].sum() == 9
