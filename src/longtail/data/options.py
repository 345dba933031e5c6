"""Everything that can be said about how to read, in one place."""

from __future__ import annotations

import codecs
import io
import os
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from ..errors import DataError, ParameterError
from ..params import Check, Choice, Flag, Instance, Int, Nullable, check
from ..threads import resolve_threads
from .streams import Source

if TYPE_CHECKING:
    from ..labels import LabelSet

__all__ = ["MOST", "ReadOptions"]

MOST = 2**31 - 1  # ids of features and labels are int32

_strings = Instance("a string", str)
_names = Instance("a string or a list of strings", str, list, tuple)
_constraints: dict[str, Check] = {
    "split": Nullable(_strings),
    "label_file": Nullable(Instance("a path or an open binary file", str, os.PathLike, io.IOBase)),
    "n_features": Nullable(Int(0, MOST)),
    "n_labels": Nullable(Int(0, MOST)),
    "unknown_labels": Choice("error", "drop"),
    "zero_based": Instance('True, False or "auto"', bool, str),
    "text_field": _names,
    "label_field": Nullable(_strings),
    "features_field": _strings,
    "group_field": Nullable(_strings),
    "samples_field": _strings,
    "label_separator": _strings,
    "delimiter": Nullable(_strings),
    "quote": Nullable(_strings),
    "encoding": _strings,
    "errors": Choice("strict", "replace", "ignore"),
    "max_line": Int(16, MOST),
    "block_bytes": Int(16, 1 << 30),
    "progress": Flag(),
}


@dataclass(frozen=True)
class ReadOptions:
    """How to read. ``longtail.data.load`` explains each of them."""

    split: str | None = None
    label_file: Source | None = None
    labels: LabelSet | None = None
    n_features: int | None = None
    n_labels: int | None = None
    unknown_labels: str = "error"
    zero_based: bool | str = "auto"
    text_field: str | Sequence[str] = "text"
    label_field: str | None = None
    features_field: str = "features"
    group_field: str | None = None
    samples_field: str = "samples"
    label_separator: str = ";"
    delimiter: str | None = None
    quote: str | None = '"'
    encoding: str = "utf-8"
    errors: str = "strict"
    max_line: int = 1 << 30
    block_bytes: int = 32 << 20
    threads: int | None = None
    progress: bool = True

    @classmethod
    def of(cls, values: dict[str, Any]) -> ReadOptions:
        """Checked options; an unknown name is a ParameterError that lists the known ones."""
        known = [f.name for f in fields(cls)]
        for name in values:
            if name not in known:
                raise ParameterError(f"load has no parameter '{name}'. It has: {', '.join(known)}.")
        values = dict(values)
        if values.get("labels") is not None:
            values["labels"] = _label_set(values["labels"])
        options = cls(**values)
        options._check()
        return options

    def _check(self) -> None:
        check("load", _constraints, {f.name: getattr(self, f.name) for f in fields(self)})
        resolve_threads(self.threads)
        if isinstance(self.zero_based, str) and self.zero_based != "auto":
            raise ParameterError(
                "The 'zero_based' parameter of load must be True, False or 'auto'. "
                f"Got {self.zero_based!r} instead."
            )
        for name, may_be_empty in (("delimiter", False), ("quote", True)):
            value = getattr(self, name)
            if (
                value is not None
                and not (value == "" and may_be_empty)
                and (len(value) != 1 or (not " " <= value <= "~" and value != "\t"))
            ):
                raise ParameterError(
                    f"The '{name}' parameter of load must be one ASCII character. Got {value!r} instead."
                )
        if not self.label_separator or any(c in self.label_separator for c in "\r\n"):
            raise ParameterError(
                "The 'label_separator' parameter of load must be some characters. "
                f"Got {self.label_separator!r} instead."
            )
        if (
            not self.text_fields
            or not all(isinstance(f, str) for f in self.text_fields)
            or len(set(self.text_fields)) < len(self.text_fields)
        ):
            raise ParameterError(
                "The 'text_field' parameter of load must name different fields. "
                f"Got {self.text_field!r} instead."
            )
        try:
            codecs.lookup(self.encoding)
        except LookupError:
            raise ParameterError(
                f"The 'encoding' parameter of load must be a known encoding. Got {self.encoding!r} instead."
            ) from None
        if self.labels is not None and self.n_labels is not None and self.n_labels != len(self.labels):
            raise ParameterError(
                f"The 'n_labels' parameter of load is {self.n_labels}, "
                f"but 'labels' has {len(self.labels)} names."
            )

    @property
    def n_threads(self) -> int:
        """The number of threads to use."""
        return resolve_threads(self.threads)

    @property
    def text_fields(self) -> list[str]:
        """The fields whose texts are joined by a blank."""
        return [self.text_field] if isinstance(self.text_field, str) else list(self.text_field)

    @property
    def known_labels(self) -> int | None:
        """The number of labels, as far as the caller says."""
        return len(self.labels) if self.labels is not None else self.n_labels


def _label_set(labels: Any) -> Any:
    """A LabelSet from a LabelSet, a list of names, or a file with one name per line."""
    from ..labels import LabelSet

    if isinstance(labels, LabelSet):
        return labels
    if isinstance(labels, (str, os.PathLike)):
        from .textfile import read_lines

        return LabelSet(read_lines(labels))
    if isinstance(labels, (list, tuple)) and all(isinstance(name, str) for name in labels):
        return LabelSet(labels)
    raise DataError(
        "labels must be a LabelSet, a list of names, or the path of a file of names. "
        f"Got {type(labels).__name__} instead."
    )
