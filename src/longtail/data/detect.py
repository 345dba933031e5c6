"""Which format a path has, by its name and by what it begins with."""

from __future__ import annotations

import os
import re
from pathlib import Path

from ..errors import DataError, ParameterError
from .streams import Source, name_of, open_input, uncompressed_name
from .text_folder import find_splits

__all__ = ["FORMATS", "detect", "format_of_name"]

FORMATS = ("xmc", "pair", "svmlight", "npz", "jsonl", "csv", "tsv", "parquet", "folder", "text")

_SUFFIXES = {
    ".xmc": "xmc",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".npz": "npz",
    ".npy": "npz",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
}
_HEAD = 1 << 16
_ENTRY = rb"\d+:[-+.0-9eE]+"
_SVMLIGHT = re.compile(
    rb"^(?:[-+\d.,]*)?(?:[ \t]+qid:\d+)?(?:[ \t]*"
    + _ENTRY
    + rb")(?:[ \t]+"
    + _ENTRY
    + rb")*[ \t]*(?:#.*)?\r?$"
)


def format_of_name(path: str | os.PathLike[str]) -> str | None:
    """The format that a file's name says, or None."""
    return _SUFFIXES.get(Path(uncompressed_name(os.fspath(path))).suffix.lower())


def check_format(name: str) -> str:
    """A known format's name; anything else is a ParameterError."""
    if name not in FORMATS:
        raise ParameterError(
            f"The 'format' parameter must be one of {', '.join(map(repr, FORMATS))}. Got {name!r} instead."
        )
    return name


def detect(source: Source) -> str:
    """The format of what exists: folders by their files, files by name, .txt and the like by content."""
    if isinstance(source, (str, os.PathLike)) and os.fspath(source) != "-":
        path = Path(source)
        if path.is_dir():
            return _of_folder(path)
        if not path.exists():
            raise DataError("there is no such file or folder.", path=path)
        by_name = format_of_name(path)
        if by_name is not None:
            return by_name
        if not path.is_file():
            raise ParameterError(
                f"The 'format' parameter must be given for {path}, which is no regular file: looking into it "
                "would take away what it begins with."
            )
        with open_input(source) as file:
            return of_content(file.read(_HEAD), name_of(source))
    raise ParameterError("The 'format' parameter must be given for standard input and open files.")


def _of_folder(path: Path) -> str:
    if find_splits(path):
        return "folder"
    if any(path.glob("*X_Xf.txt*")) or any(path.glob("X.txt*")) or any(path.glob("features.txt*")):
        return "pair"
    raise DataError(
        "the folder holds no data that is known: no trn.txt, trn_X.npz, X.npz, trn_X_Xf.txt or X.txt.",
        path=path,
    )


def of_content(head: bytes, name: str) -> str:
    """The format by the first bytes (uncompressed)."""
    if head[:4] == b"PAR1":
        return "parquet"
    if head[:4] == b"PK\x03\x04":
        return "npz"
    if not head:
        raise DataError("the file is empty.", path=name, line=1)
    lines = head.split(b"\n")
    if len(lines) > 1 and len(head) >= _HEAD:
        lines.pop()  # cut off
    first = lines[0].strip()
    if re.fullmatch(rb"\d+\s+\d+\s+\d+", first):
        return "xmc"
    if re.fullmatch(rb"\d+\s+\d+", first):
        return "pair"
    if first.startswith(b"{"):
        return "jsonl"
    told = [line for line in lines[:20] if line.strip() and not line.lstrip().startswith(b"#")]
    if told and all(
        _SVMLIGHT.match(line[:2000].rsplit(b" ", 1)[0] if len(line) > 2000 else line) for line in told
    ):
        return "svmlight"
    if name.lower().removesuffix(".gz").removesuffix(".zst").endswith(".txt"):
        return "text"
    raise DataError(
        "the format cannot be told from its name or content. Say it with format=... (command line: --read format=...).",
        path=name,
    )
