"""Rankings as lines of text.

names   label:score, with tabs between       dog:0.91	animal:0.88
ids     id:score, with spaces between        17:0.91 3:0.88
json    one object a row                     {"row": 0, "labels": ["dog"], "ids": [17], "scores": [0.91]}
csv     a header and one line a label        row,rank,id,label,score
tsv     the same with tabs
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TextIO

from ..errors import ParameterError

if TYPE_CHECKING:
    from ..ranking import Ranking

__all__ = ["FORMATS", "Writer", "writer_for"]

COLUMNS = ("row", "rank", "id", "label", "score")
Row = tuple[list[str], list[int], list[float]]


class Writer:
    """Writes rankings in one format; ``first`` is the number of the ranking's first row."""

    def start(self, out: TextIO) -> None:
        """What comes before all rows."""

    def rows(self, out: TextIO, ranking: Ranking, first: int) -> None:
        raise NotImplementedError


class _Names(Writer):
    def rows(self, out: TextIO, ranking: Ranking, first: int) -> None:
        for names, _, scores in _unpacked(ranking):
            out.write(
                "\t".join(f"{_one_field(n)}:{s:.4g}" for n, s in zip(names, scores, strict=True)) + "\n"
            )


class _Ids(Writer):
    def rows(self, out: TextIO, ranking: Ranking, first: int) -> None:
        for _, ids, scores in _unpacked(ranking):
            out.write(" ".join(f"{i}:{s:.6g}" for i, s in zip(ids, scores, strict=True)) + "\n")


class _Json(Writer):
    def rows(self, out: TextIO, ranking: Ranking, first: int) -> None:
        for row, (names, ids, scores) in enumerate(_unpacked(ranking), start=first):
            line: dict[str, Any] = {"row": row, "labels": names, "ids": ids, "scores": scores}
            out.write(json.dumps(line, ensure_ascii=False) + "\n")


class _Table(Writer):
    def __init__(self, dialect: str):
        self.dialect = dialect

    def _writer(self, out: TextIO) -> Any:
        return csv.writer(out, dialect=self.dialect, lineterminator="\n")

    def start(self, out: TextIO) -> None:
        self._writer(out).writerow(COLUMNS)

    def rows(self, out: TextIO, ranking: Ranking, first: int) -> None:
        lines = self._writer(out)
        for row, (names, ids, scores) in enumerate(_unpacked(ranking), start=first):
            for rank, (name, label, score) in enumerate(zip(names, ids, scores, strict=True), start=1):
                lines.writerow((row, rank, label, name, f"{score:.6g}"))


FORMATS: dict[str, Callable[[], Writer]] = {
    "names": _Names,
    "ids": _Ids,
    "json": _Json,
    "csv": lambda: _Table("excel"),
    "tsv": lambda: _Table("excel-tab"),
}


def writer_for(name: str) -> Writer:
    """The writer of a format, or an error that lists all."""
    if name not in FORMATS:
        raise ParameterError(f"--format must be one of {', '.join(FORMATS)}. Got {name!r} instead.")
    return FORMATS[name]()


def _unpacked(ranking: Ranking) -> Iterator[Row]:
    """Rows as names, ids and scores without pads."""
    rows = zip(ranking.names(), ranking.labels.tolist(), ranking.scores.tolist(), strict=True)
    for names, ids, scores in rows:
        n = len(names)
        yield names, ids[:n], scores[:n]


def _one_field(name: str) -> str:
    return name.replace("\t", " ").replace("\n", " ").replace("\r", " ")
