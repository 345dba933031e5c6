"""``WordBags``: texts → bags of words and hashed n-grams, each row an average."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from longtail import _native
from longtail.errors import LongtailError, ModelError, NotFittedError, ParameterError
from longtail.params import Check, Choice, Flag, Int, Nullable, Parametrized
from longtail.progress import phase
from longtail.threads import resolve_threads

from .batches import check_texts, chunks, moved, size_of
from .terms import unpack

if TYPE_CHECKING:
    from longtail.arrays import CSR

__all__ = ["BAG_CONSTRAINTS", "WordBags"]

_FORMAT = 1
_L1 = 1
_KEPT = ("word_ngrams", "min_count", "buckets", "subwords", "split", "lowercase")


class _Subwords:
    """A pair (shortest, longest)."""

    def accepts(self, value: Any) -> bool:
        if not isinstance(value, tuple | list) or len(value) != 2:
            return False
        return all(Int(1, 100).accepts(n) for n in value) and bool(value[0] <= value[1])

    def __str__(self) -> str:
        return "a pair (shortest, longest) of whole numbers, 1 <= shortest <= longest <= 100"


BAG_CONSTRAINTS: Mapping[str, Check] = {
    "word_ngrams": Int(1, 100),
    "min_count": Int(1, 2**31 - 1),
    "buckets": Int(1, 2**31 - 1),
    "subwords": Nullable(_Subwords()),
    "split": Choice("words", "spaces"),
    "lowercase": Flag(),
    "threads": Nullable(Int(1, 4096)),
}


class WordBags(Parametrized):
    """Texts → the words in them and the n-grams of these, as rows that sum to 1: what fastText feeds its embeddings.

    Words that occur often enough have a column each. N-grams are not kept: they are hashed to one of many buckets, and
    the buckets that the training texts use have a column each. Every text ends in one further word, ``</s>``.

    Args:
        word_ngrams: the longest n-gram of words.
        min_count: words that occur less often have no column; their n-grams have.
        buckets: how many there are.
        subwords: None, or (shortest, longest) n-gram of the characters of a word, which are hashed too. Then a word
            that nobody has seen before still has parts that are known.
        split: "words": runs of letters, digits and underscores; "spaces": whatever white space separates.
        lowercase: as ``str.lower``.
        threads: None means all cores. Results do not depend on it.

    >>> bags = WordBags(min_count=1)
    >>> bags.fit_transform(["a red fox", "red dog"]).toarray().sum(axis=1).tolist()
    [1.0, 1.0]
    """

    _constraints = BAG_CONSTRAINTS

    n_features_: int
    n_words_: int
    word_counts_: npt.NDArray[np.int64]
    buckets_: npt.NDArray[np.uint32]

    def __init__(
        self,
        *,
        word_ngrams: int = 2,
        min_count: int = 2,
        buckets: int = 2_000_000,
        subwords: tuple[int, int] | None = None,
        split: str = "words",
        lowercase: bool = True,
        threads: int | None = None,
    ):
        self.word_ngrams = word_ngrams
        self.min_count = min_count
        self.buckets = buckets
        self.subwords = subwords
        self.split = split
        self.lowercase = lowercase
        self.threads = threads

    def fit(self, texts: Iterable[str], y: Any = None) -> WordBags:
        """Learns words and buckets. ``texts`` may be any iterable of str; ``y`` is ignored."""
        self.fit_transform(texts)
        return self

    def fit_transform(self, texts: Iterable[str], y: Any = None) -> CSR:
        """``fit`` and ``transform`` in one pass over the texts."""
        self._check_params()
        check_texts(texts)
        learner = _native.text.BagLearner(self._settings(), resolve_threads(self.threads))
        with phase("read texts", size_of(texts), "texts") as update:
            for row, chunk in chunks(texts):
                learner.add(chunk, moved(update, row))
        with phase("hash n-grams", learner.n_rows, "texts") as update:
            blob, offsets, counts, buckets, rows = learner.finish(int(self.min_count), 1, update)
        self._become(blob, offsets, counts, buckets)
        return self._weighed(rows)

    def transform(self, texts: Iterable[str]) -> CSR:
        """The matrix of texts: CSR, columns sorted in every row. A text of which nothing is known has an empty row."""
        index = self._ready_index()
        check_texts(texts)
        size = size_of(texts)
        threads = 1 if size == 1 else resolve_threads(self.threads)
        rows = None
        with phase("read texts", size, "texts") as update:
            for row, chunk in chunks(texts):
                part = index.counts(chunk, row, threads, moved(update, row))
                if rows is None:
                    rows = part
                else:
                    rows.extend(part)
        return self._weighed(index.counts([], 0, 1, None) if rows is None else rows)

    def terms(self, text: str) -> dict[int, str]:
        """The columns that a text uses, and what in it they stand for: a word, an n-gram, or several that share a
        bucket."""
        found: dict[int, list[str]] = {}
        for column, term in self._ready_index().terms(text):
            names = found.setdefault(column, [])
            if term not in names:
                names.append(term)
        return {column: " | ".join(names) for column, names in found.items()}

    def words(self) -> list[str]:
        """The words that have a column, in order."""
        self._need_fitted()
        return unpack((self._blob, self._offsets))

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """A name for every column: the word, or ``#`` and the number of the bucket."""
        return np.array(self.words() + [f"#{bucket}" for bucket in self.buckets_.tolist()], dtype=object)

    def _settings(self) -> Any:
        low, high = self.subwords if self.subwords is not None else (0, 0)
        hashed = self.word_ngrams > 1 or high > 0
        return _native.text.BagSettings(
            spaces=self.split == "spaces",
            lowercase=bool(self.lowercase),
            word_ngrams=int(self.word_ngrams),
            min_chars=int(low),
            max_chars=int(high),
            n_buckets=int(self.buckets) if hashed else 0,
        )

    def _become(self, blob: Any, offsets: Any, counts: Any, buckets: Any) -> None:
        index = _native.text.BagIndex(self._settings(), blob, offsets, buckets)
        self._blob, self._offsets = blob, offsets
        self.word_counts_, self.buckets_ = counts, buckets
        self.n_words_ = len(offsets) - 1
        self.n_features_ = self.n_words_ + len(buckets)
        self._index = index
        self._lock = threading.Lock()

    def _weighed(self, rows: Any) -> CSR:
        from scipy.sparse import csr_matrix

        n_rows, nnz = rows.n_rows, rows.nnz
        indptr = np.empty(n_rows + 1, dtype=np.int64)
        indices = np.empty(nnz, dtype=np.int32)
        data = np.empty(nnz, dtype=np.float32)
        rows.weigh(None, None, _L1, indptr, indices, data, resolve_threads(self.threads), None)
        matrix = csr_matrix((n_rows, self.n_features_), dtype=np.float32)
        matrix.data, matrix.indices = data, indices
        matrix.indptr = indptr.astype(np.int32) if nnz < 2**31 else indptr
        matrix.has_canonical_format = True
        return matrix

    def _need_fitted(self) -> None:
        if not hasattr(self, "n_features_"):
            raise NotFittedError("This WordBags is not fitted. Call fit or fit_transform first.")

    def _ready_index(self) -> Any:
        self._need_fitted()
        with self._lock:
            if self._index is None:  # after unpickling
                self._index = _native.text.BagIndex(
                    self._settings(), self._blob, self._offsets, self.buckets_
                )
        return self._index

    # ---- saving

    def to_state(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """What was learned: a dict that JSON can hold, and arrays. See ``from_state``."""
        self._need_fitted()
        params: dict[str, Any] = {name: getattr(self, name) for name in _KEPT}
        params = {k: v.item() if isinstance(v, np.generic) else v for k, v in params.items()}
        params["subwords"] = None if self.subwords is None else [int(n) for n in self.subwords]
        arrays = {
            "words": self._blob,
            "words.offsets": self._offsets,
            "words.counts": self.word_counts_,
            "buckets": self.buckets_,
        }
        meta = {"kind": "WordBags", "format": _FORMAT, "params": params, "n_features": self.n_features_}
        return meta, arrays

    @classmethod
    def from_state(cls, meta: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> WordBags:
        """The bags that ``to_state`` came from; ModelError where the parts do not fit together."""
        if meta.get("format") != _FORMAT:
            raise ModelError(f"The state of WordBags has format {meta.get('format')!r}, expected {_FORMAT}.")
        stored = meta.get("params")
        if not isinstance(stored, Mapping) or set(stored) != set(_KEPT):
            raise ModelError(f"The state of WordBags must have the parameters {', '.join(_KEPT)}.")
        params = dict(stored)
        if isinstance(params["subwords"], list):
            params["subwords"] = tuple(params["subwords"])
        self = cls(**params)
        kinds = (("words", np.uint8), ("words.offsets", np.int64), ("words.counts", np.int64))
        parts = []
        for name, dtype in (*kinds, ("buckets", np.uint32)):
            array = arrays.get(name)
            if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != 1:
                raise ModelError(
                    f"The array '{name}' of WordBags must be one-dimensional {np.dtype(dtype).name}."
                )
            parts.append(np.ascontiguousarray(array))
        blob, offsets, counts, buckets = parts
        if len(counts) + 1 != len(offsets) or len(counts) + len(buckets) != meta.get("n_features"):
            raise ModelError("The words, counts and buckets of WordBags do not fit each other.")
        try:
            blob.tobytes().decode("utf-8", "surrogatepass")
            self._check_params()
            self._become(blob, offsets, counts, buckets)
            self.words()
        except ParameterError as error:
            raise ModelError(f"The state of WordBags has bad parameters. {error}") from None
        except LongtailError:
            raise
        except ValueError as error:
            raise ModelError(f"The words of WordBags are damaged: {error}.") from None
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key not in ("_index", "_lock")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if "n_features_" in state:
            self._index, self._lock = None, threading.Lock()
