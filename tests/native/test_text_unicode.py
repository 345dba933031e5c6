"""The native code's characters are those of the running interpreter, all 1,114,112 of them."""

import re
import unicodedata

import numpy as np
import pytest

from longtail import _native
from longtail.text.plan import pack
from longtail.text.unicode_tables import accent_map, character_flags, lower_map

EVERY = [chr(c) for c in range(0x110000)]
NO_STOPS = pack(())
WORD, CHAR, CHAR_WB = 0, 1, 2


def terms(texts, unit=CHAR, n=1, lowercase=False, accents=0, least=1):
    settings = _native.text.TextSettings(unit, False, n, n, lowercase, accents, least)
    return _native.text.analyze(settings, *NO_STOPS, texts, None)


def entries(table, code):
    target, starts, chars = table
    t = int(target[code])
    if t < 1 << 31:
        return chr(t)
    entry = t & ~(1 << 31)
    return "".join(map(chr, chars[starts[entry] : starts[entry + 1]].tolist()))


def test_lower_case_of_every_character():
    got = terms(EVERY, lowercase=True)
    expected = [list(c.lower()) for c in EVERY]
    wrong = [hex(i) for i in range(len(EVERY)) if got[i] != expected[i]]
    assert wrong == []


def test_word_characters_of_every_character():
    got = terms(EVERY, unit=WORD)
    word = re.compile(r"\w")
    wrong = [hex(i) for i, c in enumerate(EVERY) if (got[i] == [c]) != (word.match(c) is not None)]
    assert wrong == []


def test_white_space_of_every_character():
    got = terms([f"x{c}{c}y" for c in EVERY], n=3)
    wrong = [hex(i) for i, c in enumerate(EVERY) if (got[i] == ["x y"]) != (re.match(r"\s", c) is not None)]
    assert wrong == []
    got = terms([f"x{c}y" for c in EVERY], unit=CHAR_WB, n=9)
    wrong = [hex(i) for i, c in enumerate(EVERY) if got[i] != [f" {w} " for w in f"x{c}y".split()]]
    assert wrong == []


@pytest.mark.parametrize("kind", [1, 2])
def test_accents_of_every_character(kind):
    from sklearn.feature_extraction.text import strip_accents_ascii, strip_accents_unicode

    strip = {1: strip_accents_unicode, 2: strip_accents_ascii}[kind]
    got = terms(EVERY, accents=kind)
    wrong = [hex(i) for i, c in enumerate(EVERY) if "".join(got[i]) != strip(c)]
    # White space that stripping makes of one character ("¨" → " " + mark) is squeezed by the char analyzer.
    squeezed = [c for c in wrong if re.sub(r"\s\s+", " ", strip(chr(int(c, 16)))) != "".join(got[int(c, 16)])]
    assert squeezed == []


def test_tables_line_up():
    lower, accents = lower_map(), accent_map(1)
    for code in (0x41, 0x130, 0x1E9E, 0x3A3, 0xD800, 0xAC00, 0xFDFA, 0x1D15E, 0x10FFFF):
        assert entries(lower, code) == chr(code).lower()
        parts = unicodedata.normalize("NFKD", chr(code))
        assert entries(accents, code) == "".join(c for c in parts if not unicodedata.combining(c))
    flags = character_flags()
    assert flags[ord("_")] == 1
    assert flags[0x3000] == 2
    assert flags[0x301] == 0


def test_tables_that_lead_out_of_bounds_are_refused():
    n = 0x110000
    flags, target = np.zeros(n, np.uint8), np.arange(n, dtype=np.uint32)
    starts, chars = np.array([0, 1], np.uint32), np.array([65], np.uint32)
    bad = target.copy()
    bad[5] = (1 << 31) | 1
    beyond = target.copy()
    beyond[5] = n
    for arrays in (
        (flags[:-1], target, starts, chars),
        (flags, target[:-1], starts, chars),
        (flags, bad, starts, chars),
        (flags, beyond, starts, chars),
        (flags, target, np.array([0, 2], np.uint32), chars),
        (flags, target, starts, np.array([n], np.uint32)),
    ):
        with pytest.raises(ValueError, match="character"):
            _native.text.install_characters(*arrays)


@pytest.mark.parametrize(
    "text",
    ["ΟΔΥΣΣΕΥΣ", "ΑΣ ΑΣ, Σ ΣΑ", "AΣ'", "AΣ'b", "A.Σ", "Σ", "İstanbul", "ﬁSH", "𝐀𐐀ΑΣ", "\ud800Σ", "ÀÉÎ", "ẞ"],
)
def test_lower_case_in_context(text):
    assert "".join(terms([text], lowercase=True)[0]) == text.lower()


def test_given_tokens_must_fit():
    settings = _native.text.TextSettings(WORD, True, 1, 1, False, 0, 1)
    for starts in ([], [1, 2], [0, 3], [0, 2, 1, 2], [0, -1, 2]):
        with pytest.raises(ValueError, match="starts"):
            _native.text.analyze(settings, *NO_STOPS, ["a", "b"], np.array(starts, np.int64))
    with pytest.raises(ValueError, match="starts"):
        _native.text.analyze(settings, *NO_STOPS, ["a", "b"], None)
    with pytest.raises(ValueError, match="bounds"):
        _native.text.TextSettings(3, False, 1, 1, False, 0, 1)


def test_murmur_is_scikit_learns():
    from sklearn.utils.murmurhash import murmurhash3_32

    settings = _native.text.TextSettings(CHAR_WB, False, 60, 60, False, 0, 1)
    words = ["", "a", "ab", "abc", "abcd", "abcde", "naïve", "日本語", "𝒳" * 7, "x" * 31]
    index = _native.text.TermIndex(settings, *NO_STOPS, False, 2**31 - 1, True)
    for word in words[1:]:
        columns, values = index.one(word)
        expected = murmurhash3_32(f" {word} ".encode(), seed=0)
        assert columns.tolist() == [abs(expected) % (2**31 - 1)]
        assert values.tolist() == [1.0 if expected >= 0 else -1.0]
