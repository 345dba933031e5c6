"""JSON lines of groups: {"labels": ["a", "b"], "samples": [{"text": "..."}, {"text": "..."}]}."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sp

from ..errors import DataError
from .chunk import Chunk, SparseRows
from .dataset import Dataset
from .lines import LineReader
from .options import MOST, ReadOptions
from .source import Facts, Reader
from .streams import Outputs

__all__ = ["NestedJsonReader", "is_nested", "write_nested"]


def is_nested(lines: LineReader, options: ReadOptions) -> bool:
    """Whether the first line is a group with samples. Nothing is consumed."""
    block = lines.next_block()
    if block is None:
        return False
    head = block[: int(np.argmax(block == 10))].tobytes()
    if options.samples_field.encode() not in head:
        return False
    try:
        first = json.loads(head)
    except ValueError:  # the row's reader will tell what is wrong
        return False
    return isinstance(first, dict) and isinstance(first.get(options.samples_field), list)


class NestedJsonReader(Reader):
    """One group per line. A sample is an object with a text or features, or just a text."""

    def __init__(self, lines: LineReader, options: ReadOptions):
        super().__init__(lines.name, options)
        self._lines = lines
        self._ids: dict[Any, int] = {} if options.labels is None else dict(options.labels.index)
        self._by_name: bool | None = None if options.labels is None else True
        self._labels: list[Counter[int]] = []  # of each group
        self._largest_feature = -1
        self.has_labels = False  # of samples

    def chunks(self) -> Iterator[Chunk]:
        """The samples."""
        self.n_rows = 0
        self._has: str | None = None  # "text" or "features", as the first sample
        for block in self._lines.blocks("read"):
            try:
                text = bytes(block).decode()
            except UnicodeDecodeError as error:
                line = bytes(block[: error.start]).count(b"\n")
                raise self._lines.error(line, "the line is not valid UTF-8") from None
            chunk = _Samples()
            rows = text.split("\n")[:-1]
            for i, row in enumerate(rows):
                if row.strip():
                    self._group(row, i, chunk)
            self._lines.consume(len(block), len(rows))
            self.n_rows += len(chunk.groups)
            yield chunk.to_chunk(self._has)
        if not self.n_rows:
            raise DataError("no group has samples.", path=self.name)
        self._finish()

    def _group(self, line: str, i: int, out: _Samples) -> None:
        group = self._parsed(line, i)
        options = self.options
        samples = group.get(options.samples_field)
        if not isinstance(samples, list):
            self._fail(i, f"the group has no list {options.samples_field!r}")
        self._labels.append(self._labels_of(group.get(options.label_field or "labels"), i))
        for sample in samples:
            has = self._sample(
                {options.text_fields[0]: sample} if isinstance(sample, str) else sample, i, out
            )
            if self._has not in (None, has):
                self._fail(i, f"a sample has {has}, where others have {self._has}")
            self._has = has
            out.groups.append(len(self._labels) - 1)

    def _parsed(self, line: str, i: int) -> dict[str, Any]:
        try:
            group = json.loads(line, parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            self._fail(i, f"not valid JSON: {error}")
        if not isinstance(group, dict):
            self._fail(i, "expected a JSON object")
        return group

    def _sample(self, sample: Any, i: int, out: _Samples) -> str:
        options = self.options
        if not isinstance(sample, dict):
            self._fail(i, "a sample must be an object or a text")
        texts = [sample[field] for field in options.text_fields if field in sample]
        if texts:
            if not all(isinstance(text, str) for text in texts):
                self._fail(i, f"the {options.text_fields[0]!r} of a sample must be a text")
            out.texts.append(_clean(" ".join(texts)))
            return "text"
        features = sample.get(options.features_field)
        if not isinstance(features, dict):
            self._fail(i, f"a sample has neither {options.text_fields[0]!r} nor {options.features_field!r}")
        pairs = sorted(
            (self._feature_id(name, i), self._value(name, value, i)) for name, value in features.items()
        )
        ids = [feature for feature, _ in pairs]
        if len(set(ids)) < len(ids):
            self._fail(i, "a sample has a feature twice")
        out.add_features(pairs)
        self._largest_feature = max([self._largest_feature, *ids])
        return "features"

    def _feature_id(self, name: str, i: int) -> int:
        limit = MOST if self.options.n_features is None else self.options.n_features
        if not (name.isascii() and name.isdigit() and len(name) <= 18):
            self._fail(i, f"feature {name!r:.40} is not an id (a whole number from 0)")
        if int(name) >= limit:
            self._fail(i, f"feature {name} is out of range, expected 0 to {limit - 1:,}")
        return int(name)

    def _value(self, name: str, value: Any, i: int) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            self._fail(i, f"the value of feature {name} is not a number")
        if not math.isfinite(value) or abs(value) > float(np.finfo(np.float32).max):
            self._fail(i, f"the value of feature {name} is too large for a float32")
        return float(value)

    def _labels_of(self, labels: Any, i: int) -> Counter[int]:
        if labels is None:
            return Counter()
        items = labels if isinstance(labels, list) else [labels]
        found: Counter[int] = Counter()
        for item in items:
            named = isinstance(item, str)
            if not named and (isinstance(item, bool) or not isinstance(item, int)):
                self._fail(i, "labels must be names or whole numbers")
            if self._by_name not in (None, named):
                self._fail(i, "labels must all be names or all be ids, not both")
            self._by_name = named
            label = self._label_id(item, i)
            if label is not None:
                found[label] += 1
        return found

    def _label_id(self, item: Any, i: int) -> int | None:
        if not isinstance(item, str):
            limit = MOST if self.options.known_labels is None else self.options.known_labels
            if not 0 <= item < limit:
                self._fail(i, f"label {item} is out of range, expected 0 to {limit - 1:,}")
            return int(item)
        if self.options.labels is None:
            return self._ids.setdefault(_clean(item), len(self._ids))
        label = self._ids.get(item)
        if label is None and self.options.unknown_labels == "error":
            self._fail(i, f"label {item!r:.60} is not one of the {len(self._ids):,} known labels")
        if label is None:
            self.repairs.note("unknown labels dropped", 1, self.name, self._lines.line + i + 1)
        return label

    def _finish(self) -> None:
        from ..labels import LabelSet

        if self.n_features is None:
            self.n_features = self._largest_feature + 1
        if self._by_name and self.options.labels is None:
            self.labels = LabelSet(list(self._ids))
            self.n_labels = len(self._ids)
        elif self.n_labels is None:
            self.n_labels = max((max(found) for found in self._labels if found), default=-1) + 1
        pointers = np.concatenate(([0], np.cumsum([len(found) for found in self._labels])))
        entries = [entry for found in self._labels for entry in sorted(found.items())]
        columns, counts = (np.array([e[k] for e in entries], np.int64) for k in (0, 1))
        self.group_labels = sp.csr_matrix(
            (counts.astype(np.float32), columns, pointers), shape=(len(self._labels), self.n_labels)
        )
        self.repairs.note("undecodable bytes replaced", self._lines.replaced, self.name)

    def _fail(self, i: int, message: str) -> NoReturn:
        raise self._lines.error(i, message)

    def close(self) -> None:
        """Closes the file."""
        self._lines.close()


class _Samples:
    """Samples of some groups on their way into a chunk."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.groups: list[int] = []
        self._counts: list[int] = []
        self._features: list[tuple[int, float]] = []

    def add_features(self, pairs: list[tuple[int, float]]) -> None:
        kept = [pair for pair in pairs if pair[1] != 0.0]
        self._counts.append(len(kept))
        self._features += kept

    def to_chunk(self, has: str | None) -> Chunk:
        n = len(self.groups)
        x = None
        if has == "features":
            x = SparseRows(
                np.array(self._counts, np.int32),
                np.array([f for f, _ in self._features], np.int32),
                np.array([v for _, v in self._features], np.float32),
            )
        groups = SparseRows(np.ones(n, np.int32), np.array(self.groups, np.int32), np.zeros(0, np.float32))
        return Chunk(n, self.texts if has != "features" else None, x, None, groups)


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a number that JSON knows")


def _clean(text: str) -> str:
    """Without halves of surrogate pairs, which escapes can write and UTF-8 cannot."""
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def write_nested(dataset: Dataset, path: Any, files: Outputs, facts: Facts, options: dict[str, Any]) -> None:
    """One line per group: its labels (as often as it has them) and its samples, in their order."""
    groups = dataset.groups
    assert groups is not None
    if (np.diff(groups.samples.indptr) != 1).any():
        raise DataError("JSON lines hold every sample in exactly one group; npz holds any groups.", path=path)
    text_field, label_field, features_field, samples_field = (
        options.get(f"{name}_field", default)
        for name, default in (
            ("text", "text"),
            ("label", "labels"),
            ("features", "features"),
            ("samples", "samples"),
        )
    )
    members = groups.samples.T.tocsr()
    members.sort_indices()
    x = None if dataset.X is None else sp.csr_matrix(dataset.X)
    names = None if facts.labels is None else facts.labels.names
    file = files.open(path)
    for g in range(groups.n_groups):
        row = groups.labels[g]
        labels = [
            int(label) if names is None else names[label]
            for label, count in zip(row.indices.tolist(), row.data.tolist(), strict=True)
            for _ in range(int(count))
        ]
        samples: list[dict[str, Any]] = []
        for i in members.indices[members.indptr[g] : members.indptr[g + 1]].tolist():
            sample: dict[str, Any] = {}
            if dataset.texts is not None:
                sample[text_field] = dataset.texts[i]
            if x is not None:
                own = slice(x.indptr[i], x.indptr[i + 1])
                values = [float(str(value)) for value in x.data[own]]  # the shortest decimals
                sample[features_field] = dict(zip(map(str, x.indices[own].tolist()), values, strict=True))
            samples.append(sample)
        record = {label_field: labels, samples_field: samples}
        try:
            file.write((json.dumps(record, ensure_ascii=False) + "\n").encode())
        except UnicodeEncodeError as error:
            raise DataError(f"a text cannot be written as UTF-8: {error.reason}.", path=path) from None
