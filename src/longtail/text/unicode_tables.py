"""What the running interpreter knows of characters, as tables for the native code.

The native code asks for them the first time it meets a text beyond ASCII, so words and lower case are
always those of this Python's ``re`` and ``str.lower``, whatever its version of Unicode.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from longtail import _native

__all__ = ["install_accents", "install_characters"]

_N = 0x110000
_PAGE = 256
_MANY = 1 << 31
_WORD, _SPACE = 1, 2

CharMap = tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32], npt.NDArray[np.uint32]]


def install_characters() -> None:
    """Gives the native code the letters of words, the white space and the lower case of every code point."""
    _native.text.install_characters(character_flags(), *lower_map())


def install_accents(kind: int) -> None:
    """Gives the native code what ``strip_accents`` makes of every code point (1: unicode, 2: ascii)."""
    _native.text.install_accents(kind, *accent_map(kind))


def all_characters() -> str:
    """Every code point, surrogates included."""
    return np.arange(_N, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")


def character_flags() -> npt.NDArray[np.uint8]:
    """1: ``\\w``; 2: ``\\s``."""
    text = all_characters()
    flags = np.zeros(_N, dtype=np.uint8)
    for pattern, flag in ((r"\w+", _WORD), (r"\s+", _SPACE)):
        for match in re.finditer(pattern, text):
            flags[match.start() : match.end()] |= flag
    return flags


def lower_map() -> CharMap:
    """``str.lower`` of each code point alone (Σ looks around itself; the native code leaves it to Python)."""
    return _map_pages(str.lower, str.lower)


def accent_map(kind: int) -> CharMap:
    """Without accents: decomposed (NFKD), then combining characters (or all but ASCII) left out."""

    def one(char: str) -> str:
        parts = unicodedata.normalize("NFKD", char)
        if kind == 2:
            return parts.encode("ascii", "ignore").decode("ascii")
        return "".join(c for c in parts if not unicodedata.combining(c))

    def page(chars: str) -> str | None:
        if unicodedata.normalize("NFKD", chars) != chars:
            return None
        if kind == 2:  # nothing to decompose and nothing of ASCII: nothing is left
            return None if chars[0].isascii() else ""
        return None if any(map(unicodedata.combining, chars)) else chars

    return _map_pages(one, page)


def _map_pages(one: Callable[[str], str], page: Callable[[str], str | None]) -> CharMap:
    """Maps all code points, by pages where a page's result lines up with it, else one by one."""
    text = all_characters()
    target = np.empty(_N, dtype=np.uint32)
    starts, chars = [0, 0], list[int]()  # entry 0 is "nothing"
    for begin in range(0, _N, _PAGE):
        source = text[begin : begin + _PAGE]
        mapped = page(source)
        if mapped == "":
            target[begin : begin + _PAGE] = _MANY
            continue
        if mapped is not None and len(mapped) == _PAGE:
            target[begin : begin + _PAGE] = np.frombuffer(
                mapped.encode("utf-32-le", "surrogatepass"), dtype="<u4"
            )
            continue
        for code, char in enumerate(source, begin):
            result = one(char)
            if len(result) == 1:
                target[code] = ord(result)
                continue
            target[code] = _MANY | (len(starts) - 1)
            chars.extend(map(ord, result))
            starts.append(len(chars))
    return target, np.array(starts, dtype=np.uint32), np.array(chars, dtype=np.uint32)
