"""Plain text, one document per line."""

from __future__ import annotations

from collections.abc import Iterator

from .. import _native
from ..errors import DataError
from .chunk import Chunk
from .lines import LineReader
from .options import ReadOptions
from .repairs import Repairs
from .source import Reader, Writer
from .streams import Source, name_of

__all__ = ["TextReader", "TextWriter", "read_lines", "write_lines"]


class TextReader(Reader):
    """Every line is a row with a text and nothing else."""

    def __init__(self, source: Source, options: ReadOptions):
        super().__init__(name_of(source), options)
        self._lines = LineReader(source, options)

    def chunks(self) -> Iterator[Chunk]:
        """The rows."""
        self.n_rows = 0
        yield Chunk(0, [])
        for block in self._lines.blocks("read texts"):
            result = _native.data.parse_texts(block, self.options.n_threads)
            if result["error"]:
                raise self._lines.error(*result["error"])
            self.repairs.note_block(result["repairs"], self.name, self._lines.line)
            self._lines.consume(len(block), result["lines"])
            self.n_rows += result["rows"]
            yield Chunk(result["rows"], result["texts"])
        self.repairs.note("undecodable bytes replaced", self._lines.replaced, self.name)

    def close(self) -> None:
        """Closes the file."""
        self._lines.close()


class TextWriter(Writer):
    """Writes texts, one per line."""

    holds = frozenset({"texts"})

    def begin(self, first: Chunk) -> None:
        """Opens the file."""
        self._file = self.files.open(self.path)
        self._row = 0

    def write(self, chunk: Chunk) -> None:
        """Rows."""
        assert chunk.texts is not None
        self._file.write(lines_of(chunk.texts, self._row, str(self.path)))
        self._row += chunk.n_rows


def lines_of(texts: list[str], first_row: int, path: str) -> bytes:
    """Texts as lines of UTF-8. A text that holds a line end cannot be told from two."""
    joined = "\n".join(texts) + "\n" if texts else ""
    if joined.count("\n") != len(texts) or "\r\n" in joined:
        row = next(i for i, text in enumerate(texts) if "\n" in text or text.endswith("\r"))
        raise DataError(
            f"the text of row {first_row + row} holds a line end, which a file of lines cannot. "
            "Use JSON lines.",
            path=path,
        )
    if not first_row and joined.startswith("\ufeff"):
        joined = "\ufeff" + joined  # readers take one off as the file's byte order mark
    try:
        return joined.encode()
    except UnicodeEncodeError as error:
        raise DataError(f"a text cannot be written as UTF-8: {error.reason}.", path=path) from None


def read_lines(
    source: Source, options: ReadOptions | None = None, repairs: Repairs | None = None
) -> list[str]:
    """All lines of a text file."""
    reader = TextReader(source, options or ReadOptions(threads=1))
    try:
        texts = [text for chunk in reader.chunks() for text in chunk.texts or []]
    finally:
        reader.close()
    if repairs is not None:
        repairs.join(reader.repairs)
    return texts


def write_lines(file: object, texts: list[str], path: str) -> None:
    """Writes texts as lines into an open binary file."""
    file.write(lines_of(texts, 0, path))  # type: ignore[attr-defined]
