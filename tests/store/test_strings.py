from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtail.errors import DataError, ModelError
from longtail.store import LazyStrings, pack_strings, unpack_strings

strings = st.lists(st.one_of(st.text(), st.text(st.characters(categories=["Cs", "Lo", "So", "Ll"]))))


@given(strings)
def test_there_and_back(values: list[str]) -> None:
    blob, offsets = pack_strings(values)
    assert (blob.dtype, offsets.dtype) == (np.uint8, np.int64)
    assert unpack_strings(blob, offsets) == values
    lazy = LazyStrings(blob, offsets)
    assert lazy == values
    assert list(lazy) == values
    assert [lazy[i] for i in range(-len(values), len(values))] == values * 2
    assert lazy[1:3] == values[1:3]
    assert lazy == LazyStrings(*pack_strings(lazy))


def test_lazy_sequence() -> None:
    lazy = LazyStrings(*pack_strings(["eins", "zwei", "drei", "größe"]))
    assert len(lazy) == 4
    assert "drei" in lazy
    assert lazy.index("größe") == 3
    assert lazy[np.int64(1)] == "zwei"
    assert lazy != ["eins"]
    assert lazy != "eins"
    assert repr(lazy) == "LazyStrings(4: 'eins', 'zwei', 'drei', ...)"
    for at in (4, -5):
        with pytest.raises(IndexError):
            lazy[at]


def arrays(data: bytes, offsets: list[int]) -> tuple[np.ndarray, np.ndarray]:
    return np.frombuffer(data, np.uint8), np.array(offsets, np.int64)


@pytest.mark.parametrize(
    ("blob", "offsets", "words"),
    [
        (*arrays(b"ab", [1, 2]), "rise from 0"),
        (*arrays(b"ab", [0, 3]), "rise from 0"),
        (*arrays(b"ab", [0, 1]), "rise from 0"),
        (*arrays(b"ab", [0, 2, 1, 2]), "rise from 0"),
        (*arrays(b"ab", [0, -1, 2]), "rise from 0"),
        (*arrays(b"ab", []), "at least one"),
        (*arrays(b"a\xff", [0, 2]), "UTF-8 at byte 1"),
        (*arrays("ä".encode(), [0, 1, 2]), "inside a character"),
        (np.zeros((2, 2), np.uint8), np.array([0, 4]), "uint8"),
        (np.zeros(2, np.int8), np.array([0, 2]), "uint8"),
        (np.zeros(2, np.uint8), np.array([0, 2], np.int32), "int64"),
        (b"ab", np.array([0, 2]), "uint8"),
    ],
)
def test_damaged(blob: Any, offsets: Any, words: str) -> None:
    for make in (unpack_strings, LazyStrings):
        with pytest.raises(ModelError, match=f"names: .*{words}"):
            make(blob, offsets, "names")


def test_only_strings_are_packed() -> None:
    with pytest.raises(DataError, match="String 1 is a int"):
        pack_strings(["a", 3])  # type: ignore[list-item]


def test_a_million_in_a_second() -> None:
    values = [f"Begriff Nr. {i} ü" for i in range(1_000_000)]
    start = time.process_time()
    blob, offsets = pack_strings(values)
    assert unpack_strings(blob, offsets) == values
    assert time.process_time() - start < 5  # about 0.4 here; generous, as other machines are slower
    start = time.process_time()
    assert LazyStrings(blob, offsets)[999_999] == values[-1]
    assert time.process_time() - start < 1
