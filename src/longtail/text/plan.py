"""What the parameters of a ``TextVectorizer`` come to: checked, resolved, and ready for the native code."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from longtail import _native
from longtail.errors import ParameterError
from longtail.params import Check, Choice, Flag, Int, Nullable

from .batches import check_strings

__all__ = ["CONSTRAINTS", "DEFAULT_TOKEN_PATTERN", "Blob", "Plan", "make_plan", "pack"]

DEFAULT_TOKEN_PATTERN = r"(?u)\b\w\w+\b"

Blob = tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]

# Patterns that the native code knows: runs of \w of at least so many characters.
_NATIVE_PATTERNS = {
    flag + pattern: least
    for flag in ("", "(?u)")
    for pattern, least in ((r"\b\w\w+\b", 2), (r"\w\w+", 2), (r"\b\w+\b", 1), (r"\w+", 1))
}
_UNITS = {"word": 0, "char": 1, "char_wb": 2}
_ACCENTS = {None: 0, "unicode": 1, "ascii": 2}
_MAX_N = 1000
_MAX_WEIGHED = 1 << 26  # columns that are hashed to and have an idf each: half a gigabyte of frequencies


class _NgramRange:
    def accepts(self, value: Any) -> bool:
        if not isinstance(value, (tuple, list)) or len(value) != 2:
            return False
        return all(Int(1, _MAX_N).accepts(n) for n in value) and bool(value[0] <= value[1])

    def __str__(self) -> str:
        return f"a pair (shortest, longest) of whole numbers, 1 <= shortest <= longest <= {_MAX_N}"


class _Frequency:
    """A number of texts or a fraction of them, told apart as scikit-learn does: 1 is one text, 1.0 is all."""

    def accepts(self, value: Any) -> bool:
        if isinstance(value, (float, np.floating)):
            return bool(0.0 <= value <= 1.0)
        return Int(1, 2**63 - 1).accepts(value)

    def __str__(self) -> str:
        return "a whole number >= 1 (texts) or a float in [0, 1] (fraction of texts)"


class _StopWords:
    def accepts(self, value: Any) -> bool:
        if value is None or isinstance(value, str):
            return value is None or value == "english"
        return isinstance(value, Iterable) and all(isinstance(word, str) for word in value)

    def __str__(self) -> str:
        return "None, 'english' or a list of words"


class _Pattern:
    def accepts(self, value: Any) -> bool:
        if not isinstance(value, str):
            return False
        try:
            return re.compile(value).groups <= 1
        except (re.error, OverflowError, RecursionError):
            return False

    def __str__(self) -> str:
        return "a regular expression with at most one group"


class _Vocabulary:
    def accepts(self, value: Any) -> bool:
        if value is None:
            return True
        return isinstance(value, Iterable) and not isinstance(value, (str, bytes))

    def __str__(self) -> str:
        return "None, a list of terms or a dict of terms and their columns"


class _DType:
    def accepts(self, value: Any) -> bool:
        if isinstance(value, str):  # of all the strings that np.dtype reads
            return value in ("float32", "float64")
        return isinstance(value, (type, np.dtype)) and np.dtype(value) in (np.float32, np.float64)

    def __str__(self) -> str:
        return "float32 or float64"


CONSTRAINTS: Mapping[str, Check] = {
    "analyzer": Choice(*_UNITS),
    "ngram_range": _NgramRange(),
    "min_df": _Frequency(),
    "max_df": _Frequency(),
    "max_features": Nullable(Int(1)),
    "lowercase": Flag(),
    "strip_accents": Nullable(Choice("unicode", "ascii")),
    "stop_words": _StopWords(),
    "token_pattern": _Pattern(),
    "vocabulary": _Vocabulary(),
    "norm": Nullable(Choice("l1", "l2")),
    "use_idf": Flag(),
    "smooth_idf": Flag(),
    "sublinear_tf": Flag(),
    "binary": Flag(),
    "dtype": _DType(),
    "hashing": Nullable(Int(1, 2**31 - 1)),
    "alternate_sign": Flag(),
    "threads": Nullable(Int(1, 4096)),
}


@dataclass(frozen=True)
class Plan:
    """The settings that a fitted vectorizer works by, whatever becomes of its parameters afterwards."""

    analyzer: str
    ngram_range: tuple[int, int]
    lowercase: bool
    strip_accents: str | None
    stop_words: tuple[str, ...]
    token_pattern: str
    norm: str | None
    use_idf: bool
    smooth_idf: bool
    sublinear_tf: bool
    binary: bool
    dtype: str
    hashing: int | None
    alternate_sign: bool

    @property
    def given_tokens(self) -> bool:
        """True when Python's ``re`` cuts the texts, because the native code does not know the pattern."""
        return self.analyzer == "word" and self.token_pattern not in _NATIVE_PATTERNS

    def native_settings(self) -> Any:
        least = _NATIVE_PATTERNS.get(self.token_pattern, 1)
        low, high = self.ngram_range
        accents = _ACCENTS[self.strip_accents]
        return _native.text.TextSettings(
            _UNITS[self.analyzer], self.given_tokens, low, high, self.lowercase, accents, least
        )

    def native_stop_words(self) -> Blob:
        return pack(self.stop_words if self.analyzer == "word" else ())

    def tokens(self, texts: list[str], row: int) -> tuple[list[str], npt.NDArray[np.int64] | None]:
        """What the native code takes: the texts, or all their tokens and where each text's begin."""
        if not self.given_tokens:
            return texts, None
        check_strings(texts, row)
        find = re.compile(self.token_pattern).findall
        tokens: list[str] = []
        starts = [0]
        for text in texts:
            tokens += find(self._prepared(text))
            starts.append(len(tokens))
        return tokens, np.array(starts, dtype=np.int64)

    def _prepared(self, text: str) -> str:
        text = text.lower() if self.lowercase else text
        if self.strip_accents is None or text.isascii():
            return text
        parts = unicodedata.normalize("NFKD", text)
        if self.strip_accents == "ascii":
            return parts.encode("ascii", "ignore").decode("ascii")
        return "".join(c for c in parts if not unicodedata.combining(c))


def make_plan(params: Mapping[str, Any]) -> Plan:
    """The plan of checked parameters; ParameterError where they do not go together."""
    _check_together(params)
    low, high = params["ngram_range"]
    return Plan(
        analyzer=params["analyzer"],
        ngram_range=(int(low), int(high)),
        lowercase=bool(params["lowercase"]),
        strip_accents=params["strip_accents"],
        stop_words=_resolved_stop_words(params["stop_words"]),
        token_pattern=params["token_pattern"],
        norm=params["norm"],
        use_idf=bool(params["use_idf"]),
        smooth_idf=bool(params["smooth_idf"]),
        sublinear_tf=bool(params["sublinear_tf"]),
        binary=bool(params["binary"]),
        dtype=np.dtype(params["dtype"]).name,
        hashing=None if params["hashing"] is None else int(params["hashing"]),
        alternate_sign=bool(params["alternate_sign"]),
    )


def _check_together(params: Mapping[str, Any]) -> None:
    if params["hashing"] is not None:
        for name, neutral in (("min_df", 1), ("max_df", 1.0), ("max_features", None), ("vocabulary", None)):
            value = params[name]
            if value is not neutral and not (type(value) is type(neutral) and value == neutral):
                raise ParameterError(
                    f"The '{name}' parameter of TextVectorizer chooses terms of a vocabulary, and with "
                    f"hashing there is none. Got {value!r}, expected {neutral!r}."
                )
        if params["use_idf"] and params["hashing"] > _MAX_WEIGHED:
            raise ParameterError(
                f"The 'hashing' parameter of TextVectorizer must be at most {_MAX_WEIGHED} with "
                f"use_idf=True, as every column has a weight. Got {params['hashing']} instead."
            )
        if params["sublinear_tf"] and params["alternate_sign"] and not params["binary"]:
            raise ParameterError(
                "The 'sublinear_tf' parameter of TextVectorizer takes logarithms of counts, which hashing "
                "with alternate_sign=True makes negative. Set alternate_sign=False."
            )


def _resolved_stop_words(stop_words: Any) -> tuple[str, ...]:
    if stop_words is None:
        return ()
    if isinstance(stop_words, str):
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        stop_words = ENGLISH_STOP_WORDS
    return tuple(sorted(set(stop_words)))


def pack(strings: Iterable[str]) -> Blob:
    """Strings as one run of UTF-8 (lone surrogates pass) and where each begins and the last ends."""
    encoded = [s.encode("utf-8", "surrogatepass") for s in strings]
    offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum([len(b) for b in encoded], out=offsets[1:])
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), offsets
