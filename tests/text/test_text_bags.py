"""WordBags against a plain account of what is in a text."""

from __future__ import annotations

import pickle
import re
from collections import Counter
from typing import Any

import numpy as np
import pytest

from longtail.errors import DataError, ModelError, NotFittedError, ParameterError
from longtail.text import WordBags

TEXTS = ["A red fox, a RED fox", "red dog", "", "naïve Ünïcode dög dög", "fox"]


def expected(
    text: str, words: set[str], word_ngrams: int, subwords: Any, pattern: str = r"\w+"
) -> Counter[str]:
    """Words and n-grams of a text, as strings."""
    tokens = [*re.findall(pattern, text.lower()), "</s>"]
    found: Counter[str] = Counter(token for token in tokens if token in words)
    for n in range(2, word_ngrams + 1):
        found.update(" ".join(tokens[i : i + n]) for i in range(len(tokens) - n + 1))
    if subwords is not None:
        for token in tokens[:-1]:
            marked = f"<{token}>"
            for n in range(subwords[0], subwords[1] + 1):
                grams = [marked[i : i + n] for i in range(len(marked) - n + 1)]
                found.update(grams[1:-1] if n == 1 else grams)
    return found


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("subwords", [None, (1, 1), (2, 4)])
@pytest.mark.parametrize("word_ngrams", [1, 2, 3])
def test_rows_hold_words_and_n_grams(word_ngrams: int, subwords: Any, threads: int) -> None:
    bags = WordBags(word_ngrams=word_ngrams, subwords=subwords, min_count=2, buckets=2**20, threads=threads)
    x = bags.fit_transform(TEXTS)
    words = set(bags.words())
    assert words == {"a", "red", "fox", "dög", "</s>"}
    for i, text in enumerate(TEXTS):
        counts = expected(text, words, word_ngrams, subwords)
        total = sum(counts.values())
        names = bags.terms(text)  # with so many buckets hardly two n-grams share one
        row: Counter[str] = Counter()  # a word and an n-gram of one character may be spelt alike
        for column, value in zip(x[i].indices.tolist(), x[i].data.tolist(), strict=True):
            row[names[column]] += value
        assert dict(row) == pytest.approx({name: count / total for name, count in counts.items()})
    assert (bags.transform(TEXTS) != x).nnz == 0
    assert bags.get_feature_names_out()[: len(words)].tolist() == bags.words()
    assert bags.n_features_ == x.shape[1] == len(words) + len(bags.buckets_)


def test_words_and_buckets_are_ordered_by_frequency() -> None:
    bags = WordBags(min_count=1, word_ngrams=1)
    bags.fit(["b a", "a c", "c a"])
    assert bags.words() == ["</s>", "a", "c", "b"]
    assert bags.word_counts_.tolist() == [3, 3, 2, 1]


def test_the_same_for_any_number_of_threads() -> None:
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{j}" for j in rng.zipf(1.5, 8) % 500) for _ in range(3000)]
    one, four = (WordBags(threads=threads, subwords=(3, 4)) for threads in (1, 4))
    a, b = one.fit_transform(texts), four.fit_transform(texts)
    assert (a != b).nnz == 0
    assert one.words() == four.words()
    assert np.array_equal(one.buckets_, four.buckets_)


def test_few_buckets_are_shared() -> None:
    bags = WordBags(buckets=3, min_count=1)
    x = bags.fit_transform(["a b c d e f g h"])
    assert len(bags.buckets_) <= 3
    assert x.sum() == pytest.approx(1)
    assert any(" | " in name for name in bags.terms("a b c d e f g h").values())


def test_spaces_and_case() -> None:
    bags = WordBags(split="spaces", lowercase=False, word_ngrams=1, min_count=1)
    bags.fit(["Red, fox\tred\n x"])
    assert set(bags.words()) == {"Red,", "fox", "red", "x", "</s>"}


def test_unknown_words_leave_their_n_grams_and_parts() -> None:
    bags = WordBags(min_count=2, word_ngrams=2, subwords=(3, 3))
    bags.fit(["running fast", "running slow", "runner"])
    assert "runner" not in bags.words()
    assert "run" in bags.terms("runs").values()
    plain = WordBags(min_count=2, word_ngrams=1)
    plain.fit(["running fast", "running slow"])
    assert plain.transform(["walks"]).indices.tolist() == [plain.words().index("</s>")]


def test_state() -> None:
    bags = WordBags(subwords=(2, 3), buckets=1000)
    x = bags.fit_transform(TEXTS)
    meta, arrays = bags.to_state()
    for again in (WordBags.from_state(meta, arrays), pickle.loads(pickle.dumps(bags))):
        assert (again.transform(TEXTS) != x).nnz == 0
        assert again.get_params()["subwords"] == (2, 3)
    for change in (
        {"format": 2},
        {"params": {}},
        {"params": {**meta["params"], "word_ngrams": 0}},
        {"params": {**meta["params"], "buckets": 1}},
    ):
        with pytest.raises(ModelError):
            WordBags.from_state({**meta, **change}, arrays)
    for name, array in arrays.items():
        damaged = [None, array.astype(np.float32), array[:-1]]
        for bad in damaged if name == "words.counts" else [*damaged, np.zeros_like(array)]:
            with pytest.raises(ModelError):
                WordBags.from_state(meta, {**arrays, name: bad})


def test_wrong_input_is_told() -> None:
    with pytest.raises(NotFittedError):
        WordBags().transform(["a"])
    with pytest.raises(DataError, match="Row 1 is int"):
        WordBags().fit(["a", 1])
    with pytest.raises(DataError, match="one str"):
        WordBags().fit("a")
    with pytest.raises(ParameterError, match="'subwords' parameter of WordBags"):
        WordBags(subwords=(3, 2)).fit(["a"])
