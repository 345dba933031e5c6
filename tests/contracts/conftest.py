"""Lets the contract classes import what stands beside them, and keeps their many folders off the disk."""

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
# So that a failing assert there shows its values, as in any test.
pytest.register_assert_rewrite(
    "problems", *(file.stem for file in Path(__file__).parent.glob("contract*.py"))
)


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A folder in memory where there is one: models are synced to the disk as they are saved, which is slow."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as path:
        yield Path(path).resolve()
