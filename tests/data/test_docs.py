"""The how-to runs from top to bottom."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import pytest

import longtail.data as data

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "formats.md"


def test_formats_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert len(blocks) > 12
    names: dict[str, object] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", data.RepairWarning)
        for block in blocks:
            exec(compile(block, str(PAGE), "exec"), names)
    assert (
        "broken.txt, line 3: label 9 is out of range, expected 0 to 3 (by the header)."
        in capsys.readouterr().out
    )
    assert "papers" in names


def test_every_format_is_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for name in data.FORMATS:
        assert f"'{name}'" in page
