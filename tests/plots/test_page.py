"""The how-to on interpolated trees runs from top to bottom."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "interpolated-trees.md"


def test_the_page_runs(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    r = np.random.default_rng(0)
    Y = sp.csr_matrix((r.random((200, 30)) < 1 / np.arange(2, 32)).astype(np.float32))
    names = {"X": sp.csr_matrix(Y + 0.1 * (r.random((200, 30)) < 0.1)), "Y": Y}
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert len(blocks) == 3
    for block in blocks:
        exec(compile(block.replace("latency=0.5", "latency=1000"), str(PAGE), "exec"), names)
    assert (tmp_path / "shape.png").stat().st_size > 1000
