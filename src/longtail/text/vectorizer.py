"""``TextVectorizer``: lists of strings in, a sparse matrix of weighted terms out."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from longtail import _native
from longtail.errors import ModelError, NotFittedError
from longtail.params import Parametrized
from longtail.progress import phase
from longtail.threads import resolve_threads

from .batches import check_strings, check_texts, chunks, moved, size_of
from .plan import CONSTRAINTS, DEFAULT_TOKEN_PATTERN, Blob, Plan, make_plan, pack
from .state import plan_from_state, state_from_plan
from .terms import choose_terms, given_terms, inverse_frequencies, log_counts, unpack

if TYPE_CHECKING:
    from longtail.arrays import CSR

__all__ = ["TextVectorizer"]

_LOGS = 1024  # counts whose logarithms single texts find prepared
_NORMS = {None: 0, "l1": 1, "l2": 2}


class TextVectorizer(Parametrized):
    """Texts → a sparse matrix of tf-idf weights (or counts), one row per text, one column per term.

    Parameters have scikit-learn's names and meanings, and the matrix is that of its ``TfidfVectorizer`` for
    the same settings: same terms, same columns, same values. Parameters are checked by ``fit``.

    Args:
        analyzer: Terms are n-grams of words ("word"), of characters ("char"), or of characters within words,
            which have a space on either side ("char_wb").
        ngram_range: The shortest and the longest n-gram.
        min_df: Leaves out terms in fewer texts than this number (int) or fraction (float).
        max_df: Leaves out terms in more.
        max_features: Keeps so many terms, those that occur most often.
        lowercase: As ``str.lower``.
        strip_accents: None, "unicode" or "ascii".
        stop_words: None, "english" (scikit-learn's list) or a list of words. Only for words.
        token_pattern: What a word is. The default (two or more of ``\\w``) and ``(?u)\\b\\w+\\b`` are native;
            any other regular expression works too, but is run by Python's ``re`` on one thread, at its speed.
        vocabulary: None, a list of terms, or a dict of terms and their columns.
        norm: "l2", "l1" or None.
        use_idf: Weighs terms by inverse document frequency.
        smooth_idf: As if one more text held every term.
        sublinear_tf: 1 + log(count) instead of the count.
        binary: 1 instead of the count.
        dtype: float32 or float64.
        hashing: None, or so many columns, to which terms are hashed as in scikit-learn's
            ``HashingVectorizer``; no vocabulary is kept. With ``use_idf=False`` nothing has to be fitted.
        alternate_sign: With hashing: terms count +1 or −1 by their hash, so that collisions cancel out.
        threads: None means all cores. Results do not depend on it.

    Examples:
        >>> from longtail.text import TextVectorizer
        >>> vectorizer = TextVectorizer(ngram_range=(1, 2))
        >>> X = vectorizer.fit_transform(["the cat sat", "the cat ran", "a dog ran"])
        >>> X.shape
        (3, 9)
        >>> vectorizer.get_feature_names_out()[:4].tolist()
        ['cat', 'cat ran', 'cat sat', 'dog']
    """

    _constraints = CONSTRAINTS

    def __init__(
        self,
        *,
        analyzer: str = "word",
        ngram_range: tuple[int, int] = (1, 1),
        min_df: float = 1,
        max_df: float = 1.0,
        max_features: int | None = None,
        lowercase: bool = True,
        strip_accents: str | None = None,
        stop_words: Any = None,
        token_pattern: str = DEFAULT_TOKEN_PATTERN,
        vocabulary: Any = None,
        norm: str | None = "l2",
        use_idf: bool = True,
        smooth_idf: bool = True,
        sublinear_tf: bool = False,
        binary: bool = False,
        dtype: Any = np.float32,
        hashing: int | None = None,
        alternate_sign: bool = True,
        threads: int | None = None,
    ):
        self.analyzer = analyzer
        self.ngram_range = ngram_range
        self.min_df = min_df
        self.max_df = max_df
        self.max_features = max_features
        self.lowercase = lowercase
        self.strip_accents = strip_accents
        self.stop_words = stop_words
        self.token_pattern = token_pattern
        self.vocabulary = vocabulary
        self.norm = norm
        self.use_idf = use_idf
        self.smooth_idf = smooth_idf
        self.sublinear_tf = sublinear_tf
        self.binary = binary
        self.dtype = dtype
        self.hashing = hashing
        self.alternate_sign = alternate_sign
        self.threads = threads

    # Learning

    def fit(self, texts: Iterable[str], y: Any = None) -> TextVectorizer:
        """Learns the terms and their weights. ``texts`` may be any iterable of str; ``y`` is ignored."""
        self._fit(texts, want_rows=False)
        return self

    def fit_transform(self, texts: Iterable[str], y: Any = None) -> CSR:
        """``fit`` and ``transform`` in one pass over the texts."""
        return self._weigh(self._fit(texts, want_rows=True))

    def _fit(self, texts: Iterable[str], want_rows: bool) -> Any:
        self._check_params()
        plan = make_plan(self.get_params(deep=False))
        if plan.stop_words and plan.analyzer != "word":
            warnings.warn(
                f"TextVectorizer does not use 'stop_words' when analyzer is {plan.analyzer!r}.",
                UserWarning,
                stacklevel=3,
            )
        check_texts(texts)
        if plan.hashing is None and self.vocabulary is None:
            return self._fit_terms(plan, texts, want_rows)
        return self._fit_known(plan, texts, want_rows)

    def _fit_terms(self, plan: Plan, texts: Iterable[str], want_rows: bool) -> Any:
        """Learns the vocabulary."""
        threads = resolve_threads(self.threads)
        settings = plan.native_settings()
        learner = _native.text.Learner(
            settings,
            *plan.native_stop_words(),
            plan.binary,
            want_rows,
            self.max_features is not None,
            threads,
        )
        with phase("read texts", size_of(texts), "texts") as update:
            for row, chunk in chunks(texts):
                tokens, starts = plan.tokens(chunk, row)
                learner.add(settings, tokens, starts, moved(update, row))
        with phase("order terms"):
            frequencies = choose_terms(
                learner, self.min_df, self.max_df, self.max_features, np.dtype(plan.dtype)
            )
            terms = learner.terms()
        n_rows = learner.n_rows
        counts = None
        if want_rows:
            with phase("count terms", n_rows, "texts") as update:
                counts = learner.counts(update)
        self._become(plan, terms, len(frequencies), frequencies, n_rows)
        return counts

    def _fit_known(self, plan: Plan, texts: Iterable[str], want_rows: bool) -> Any:
        """The columns are known before: a given vocabulary, or hashing."""
        terms = None
        n_features = plan.hashing or 0
        if plan.hashing is None:
            terms = pack(given_terms(self.vocabulary, plan.lowercase))
            n_features = len(terms[1]) - 1
        index = _make_index(plan, terms)
        frequencies = np.zeros(n_features if plan.use_idf else 0, dtype=np.int64)
        counts = None
        n_rows = 0
        if want_rows or plan.use_idf:
            for part in self._count(plan, index, texts):
                n_rows += part.n_rows
                if plan.use_idf:
                    part.add_document_frequencies(frequencies)
                if want_rows:
                    counts = _joined(counts, part)
        else:
            for row, chunk in chunks(texts):  # nothing is learned, but bad texts are still told
                check_strings(chunk, row)
        if counts is None and want_rows:
            counts = _no_counts(plan, index)
        self._become(plan, terms, n_features, frequencies, n_rows, index)
        return counts

    def _become(
        self,
        plan: Plan,
        terms: Blob | None,
        n_features: int,
        frequencies: npt.NDArray[np.int64] | None,
        n_rows: int,
        index: Any = None,
    ) -> None:
        """The fitted state, set in one place and only when all has gone well."""
        idf = None
        if plan.use_idf and frequencies is not None:
            idf = inverse_frequencies(frequencies, n_rows, plan)
        given = plan.hashing is None and self.vocabulary is not None
        choices = {"min_df": self.min_df, "max_df": self.max_df, "max_features": self.max_features}
        self._set_state(plan, terms, n_features, idf, index, given, choices)

    def _set_state(
        self,
        plan: Plan,
        terms: Blob | None,
        n_features: int,
        idf: Any,
        index: Any,
        given: bool,
        choices: Mapping[str, Any],
    ) -> None:
        self._given, self._choices = given, choices
        self._plan = plan
        self._terms = terms
        self.n_features_ = n_features
        self._idf = idf
        self._names: list[str] | None = None
        self._vocabulary: dict[str, int] | None = None
        self._index = None if index is None else self._weighed(index)
        self._lock = threading.Lock()

    # Using what was learned

    def transform(self, texts: Iterable[str]) -> CSR:
        """The matrix of texts: CSR, columns sorted in every row."""
        index = self._ready_index()
        check_texts(texts)
        counts = None
        for part in self._count(self._plan, index, texts):
            counts = _joined(counts, part)
        return self._weigh(_no_counts(self._plan, index) if counts is None else counts)

    def transform_one(self, text: str) -> tuple[npt.NDArray[np.int32], npt.NDArray[Any]]:
        """One text as (columns, rising; values): what ``transform`` gives, without the matrix around it."""
        index = self._ready_index()
        if not self._plan.given_tokens:
            row = index.one(text)
            if row is not None:
                return row  # type: ignore[no-any-return]
        matrix = self.transform([text])
        return matrix.indices, matrix.data

    def _count(self, plan: Plan, index: Any, texts: Iterable[str]) -> Iterator[Any]:
        """The rows of texts as native counts, part by part."""
        size = size_of(texts)
        threads = 1 if size == 1 else resolve_threads(self.threads)
        with phase("read texts", size, "texts") as update:
            for row, chunk in chunks(texts):
                tokens, starts = plan.tokens(chunk, row)
                yield index.counts(tokens, starts, row, threads, moved(update, row))

    def _weigh(self, counts: Any) -> CSR:
        """Native counts → the matrix (the counts are used up)."""
        from scipy.sparse import csr_matrix

        plan = self._plan
        n_rows, nnz = counts.n_rows, counts.nnz
        terms = log_counts(counts.max_count, plan.dtype) if plan.sublinear_tf else None
        if plan.sublinear_tf and plan.hashing is not None and plan.alternate_sign:
            terms = None  # binary: the logarithm of 1 adds nothing
        data = np.empty(nnz, dtype=plan.dtype)
        indices = np.empty(nnz, dtype=np.int32)
        indptr = np.empty(n_rows + 1, dtype=np.int64)
        threads = 1 if n_rows <= 64 else resolve_threads(self.threads)
        counts.weigh(self._idf, terms, _NORMS[plan.norm], indptr, indices, data, threads, None)
        matrix = csr_matrix((n_rows, self.n_features_), dtype=plan.dtype)
        matrix.data, matrix.indices = data, indices
        matrix.indptr = indptr.astype(np.int32) if nnz < 2**31 else indptr
        matrix.has_canonical_format = True
        return matrix

    def _ready_index(self) -> Any:
        """The native vocabulary, made when it is first asked for and kept."""
        if getattr(self, "_index", None) is not None:
            return self._index
        self._need_fitted()
        with self._lock:
            if self._index is None:
                self._index = self._weighed(_make_index(self._plan, self._terms))
        return self._index

    def _weighed(self, index: Any) -> Any:
        plan = self._plan
        logs = None
        if plan.sublinear_tf and not (plan.hashing is not None and plan.alternate_sign):
            logs = log_counts(_LOGS, plan.dtype)
        set_weights = index.set_weights if plan.dtype == "float32" else index.set_weights_double
        set_weights(self._idf, logs, _NORMS[plan.norm])
        return index

    def _need_fitted(self) -> None:
        """Raises NotFittedError, unless the parameters alone say all there is to know."""
        if hasattr(self, "_plan"):
            return
        if not self.use_idf and (self.vocabulary is not None or self.hashing is not None):
            self._fit((), want_rows=False)
            return
        raise NotFittedError("This TextVectorizer is not fitted. Call fit or fit_transform first.")

    # What was learned

    @property
    def idf_(self) -> npt.NDArray[Any]:
        """The inverse document frequency of each column."""
        self._need_fitted()
        if self._idf is None:
            raise NotFittedError("This TextVectorizer has no idf_: use_idf is False.")
        idf: npt.NDArray[Any] = self._idf
        return idf

    @property
    def vocabulary_(self) -> dict[str, int]:
        """Terms and their columns. Made on first use, as a large one takes a while."""
        if getattr(self, "_vocabulary", None) is None:
            self._vocabulary = {term: i for i, term in enumerate(self._term_list())}
        assert self._vocabulary is not None
        return self._vocabulary

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """The terms in the order of their columns."""
        return np.array(self._term_list(), dtype=object)

    def _term_list(self) -> list[str]:
        self._need_fitted()
        if self._terms is None:
            raise NotFittedError("This TextVectorizer has no terms: with hashing, they are not kept.")
        if self._names is None:
            self._names = unpack(self._terms)
        return self._names

    # Saving

    def to_state(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """What was learned: a dict that JSON can hold, and arrays. See ``from_state``."""
        self._need_fitted()
        return state_from_plan(
            self._plan, self._choices, self._given, self.n_features_, self._terms, self._idf
        )

    @classmethod
    def from_state(cls, meta: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> TextVectorizer:
        """The vectorizer that ``to_state`` came from; ModelError where the parts do not fit together."""
        params, plan, n_features, terms, idf = plan_from_state(meta, arrays)
        self = cls(**params)
        try:
            index = _make_index(plan, terms)
        except ValueError as error:
            raise ModelError(f"The terms of a TextVectorizer cannot be used: {error}.") from None
        choices = {name: params[name] for name in ("min_df", "max_df", "max_features")}
        self._set_state(plan, terms, n_features, idf, index, params["vocabulary"] is not None, choices)
        return self

    # Conventions

    def __getstate__(self) -> dict[str, Any]:
        left_out = ("_index", "_lock", "_names", "_vocabulary")
        return {key: value for key, value in self.__dict__.items() if key not in left_out}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if "_plan" in state:
            self._set_state(
                self._plan, self._terms, self.n_features_, self._idf, None, self._given, self._choices
            )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_plan")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(),
            input_tags=InputTags(string=True, two_d_array=False),
        )


def _make_index(plan: Plan, terms: Blob | None) -> Any:
    settings = plan.native_settings()
    stops = plan.native_stop_words()
    if terms is None:
        assert plan.hashing is not None
        return _native.text.TermIndex(settings, *stops, plan.binary, plan.hashing, plan.alternate_sign)
    return _native.text.TermIndex(settings, *stops, plan.binary, *terms)


def _joined(counts: Any, part: Any) -> Any:
    if counts is None:
        return part
    counts.extend(part)
    return counts


def _no_counts(plan: Plan, index: Any) -> Any:
    return index.counts([], np.zeros(1, dtype=np.int64) if plan.given_tokens else None, 0, 1, None)
