"""Bytes in and out: compression by what the file begins with, encodings, atomic writing."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import secrets
import sys
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, TypeAlias

from ..errors import DataError, MissingExtraError

__all__ = ["Inputs", "Outputs", "Source", "name_of", "open_input", "uncompressed_name"]

Source: TypeAlias = "str | os.PathLike[str] | IO[bytes]"

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"


def name_of(source: Source) -> str:
    """What errors call a source."""
    if isinstance(source, (str, os.PathLike)):
        return "standard input" if os.fspath(source) == "-" else os.fspath(source)
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else "the input"


def uncompressed_name(name: str) -> str:
    """The name without .gz or .zst."""
    for suffix in (".gz", ".zst", ".zstd"):
        if name.lower().endswith(suffix):
            return name[: -len(suffix)]
    return name


class Inputs:
    """An open source: gives uncompressed UTF-8, knows how far it is in the file, errors are DataErrors."""

    def __init__(self, source: Source, encoding: str = "utf-8", errors: str = "strict"):
        self.name = name_of(source)
        self._own = isinstance(source, (str, os.PathLike)) and os.fspath(source) != "-"
        self._raw = _open(source)
        self.total = _size(self._raw)
        self.replaced = 0
        self._encoding, self._errors = codecs.lookup(encoding).name, errors
        self._decoder: Any = None
        self._ready = b""
        try:
            self._look()
        except DataError as error:
            self.close()
            told = str(error).removeprefix(f"{self.name}: ")
            raise error if error.line is not None else DataError(told, path=self.name, line=1) from None
        except BaseException:
            self.close()
            raise

    def _look(self) -> None:
        """What the file begins with decides how to read on."""
        head = self._read_head()
        self._plain: Any = _Rest(head, self._raw)
        if head[:2] == _GZIP:
            self._plain = gzip.GzipFile(fileobj=self._plain, mode="rb")
        elif head[:4] == _ZSTD:
            self._plain = _Zstd(self._plain)
        self._skip_mark()

    def _read_head(self) -> bytes:
        head = b""
        while len(head) < 4:
            piece = self._raw.read(4 - len(head))
            if not piece:
                break
            head += piece
        return head

    def _skip_mark(self) -> None:
        """A byte order mark is no content; one of UTF-16 means that the encoding was not told."""
        if self._encoding != "utf-8" or self._errors != "strict":
            self._decoder = codecs.getincrementaldecoder(
                "utf-8-sig" if self._encoding == "utf-8" else self._encoding
            )(self._errors)
            return
        start = b""
        while len(start) < 3:
            piece = self._read_plain(3 - len(start))
            if not piece:
                break
            start += piece
        if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise DataError(
                'not UTF-8 but UTF-16, it seems. Say so with encoding="utf-16".', path=self.name, line=1
            )
        self._ready = start[3:] if start == codecs.BOM_UTF8 else start

    def readinto(self, view: memoryview) -> int:
        """Fills the start of `view`; 0 at the end."""
        if self._ready:
            n = min(len(view), len(self._ready))
            view[:n] = self._ready[:n]
            self._ready = self._ready[n:]
            return n
        if self._decoder is None:
            try:
                n = self._plain.readinto(view)
            except _BROKEN as error:
                raise self._broken(error) from None
            return int(n)
        while not self._ready:
            piece = self._read_plain(1 << 20)
            self._ready = self._decode(piece)
            if not piece and not self._ready:
                return 0
        return self.readinto(view)

    def read(self, limit: int | None = None) -> bytes:
        """All that is left, or at most `limit` bytes."""
        pieces = []
        left = sys.maxsize if limit is None else limit
        buffer = memoryview(bytearray(1 << 18))
        while left > 0 and (n := self.readinto(buffer[: min(left, len(buffer))])):
            pieces.append(bytes(buffer[:n]))
            left -= n
        return b"".join(pieces)

    def position(self) -> int:
        """Bytes of the file that have been read, compressed if it is."""
        try:
            return int(self._raw.tell())
        except (OSError, AttributeError, ValueError):
            return 0

    def _read_plain(self, n: int) -> bytes:
        try:
            return bytes(self._plain.read(n))
        except _BROKEN as error:
            raise self._broken(error) from None

    def _decode(self, piece: bytes) -> bytes:
        try:
            text = self._decoder.decode(piece, final=not piece)
        except UnicodeError as error:
            raise DataError(f"not valid {self._encoding}: {error}.", path=self.name) from None
        if self._errors == "replace":
            self.replaced += text.count("\ufffd")
        return str(text).encode("utf-8", "replace")

    def _broken(self, error: BaseException) -> DataError:
        truncated = isinstance(error, EOFError)
        what = "the compressed file is truncated" if truncated else f"the file cannot be read ({error})"
        return DataError(what + ".", path=self.name)

    def close(self) -> None:
        """Closes the file if it was opened here."""
        if self._own:
            self._raw.close()

    def __enter__(self) -> Inputs:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_input(source: Source, encoding: str = "utf-8", errors: str = "strict") -> Inputs:
    """Opens a path, "-" (standard input) or a binary file for reading."""
    return Inputs(source, encoding, errors)


def _open(source: Source) -> Any:
    if not isinstance(source, (str, os.PathLike)):
        if not hasattr(source, "read"):
            raise DataError(f"expected a path or an open binary file, got {type(source).__name__}.")
        return source
    if os.fspath(source) == "-":
        return sys.stdin.buffer
    try:
        return open(source, "rb")
    except (OSError, ValueError) as error:
        told = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise DataError(f"cannot be opened: {told}.", path=os.fspath(source)) from None


def _size(raw: Any) -> int | None:
    try:
        return os.fstat(raw.fileno()).st_size or None
    except (OSError, AttributeError, ValueError):
        return None


class _Rest(io.RawIOBase):
    """The bytes already looked at, then the rest of a file."""

    def __init__(self, head: bytes, raw: Any):
        self._head = head
        self._raw = raw

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)
        if self._head:
            n = min(len(view), len(self._head))
            view[:n] = self._head[:n]
            self._head = self._head[n:]
            return n
        if hasattr(self._raw, "readinto"):
            return self._raw.readinto(view) or 0
        piece = self._raw.read(len(view))
        if not isinstance(piece, bytes):
            raise DataError("the file must be opened in binary mode.", path=name_of(self._raw))
        view[: len(piece)] = piece
        return len(piece)


class _Zstd(io.RawIOBase):
    """Decompresses frames one after the other; a truncated one is an EOFError, as with gzip."""

    _STEP = 16 << 10  # compressed bytes at a time: what they may expand to stays bounded

    def __init__(self, raw: io.RawIOBase):
        self._raw = raw
        self._new = _zstd_decompressor()
        self._frame: Any = self._new()
        self._started = False
        self._rest = b""
        self._out = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)
        while not self._out:
            piece = self._rest or self._raw.read(self._STEP) or b""
            self._rest = b""
            if not piece:
                if self._started:
                    raise EOFError("truncated")
                return 0
            try:
                self._out = self._frame.decompress(piece)
            except Exception as error:  # zstandard.ZstdError or compression.zstd.ZstdError
                raise OSError(str(error)) from None
            self._started = True
            if self._frame.eof:
                self._rest = self._frame.unused_data
                self._frame = self._new()
                self._started = False
        n = min(len(view), len(self._out))
        view[:n] = self._out[:n]
        self._out = self._out[n:]
        return n


def _zstd_decompressor() -> Any:
    try:
        from compression import zstd  # Python 3.14

        return zstd.ZstdDecompressor
    except ImportError:
        pass
    try:
        import zstandard
    except ImportError:
        raise MissingExtraError("Reading zstd files", "zstd") from None
    return lambda: zstandard.ZstdDecompressor().decompressobj()


def _zstd_writer(file: IO[bytes]) -> Any:
    try:
        from compression import zstd  # Python 3.14

        return zstd.ZstdFile(file, mode="wb", options={zstd.CompressionParameter.checksum_flag: 1})
    except ImportError:
        pass
    try:
        import zstandard
    except ImportError:
        raise MissingExtraError("Writing zstd files", "zstd") from None
    return zstandard.ZstdCompressor(write_checksum=True).stream_writer(file, closefd=False)


_BROKEN = (EOFError, OSError, zlib.error)


class Outputs:
    """Files that appear all together when the block ends well, and not at all otherwise.

    Each is written beside its place under another name, synced, and renamed at the end.
    """

    def __init__(self) -> None:
        self._files: list[tuple[Path, Path, Any, Any]] = []
        self._enders: list[Callable[[], object]] = []

    def on_discard(self, end: Callable[[], object]) -> None:
        """Has a writer of another library closed while its file is still open, when the block fails."""
        self._enders.append(end)

    def open(self, path: str | os.PathLike[str]) -> Any:
        """A binary file to write to, compressed when the name ends in .gz or .zst."""
        final = Path(path)
        if final.exists() and not final.is_file():
            raise DataError("is not a regular file, so it cannot be replaced.", path=path)
        temporary = final.with_name(f".{final.name}.{secrets.token_hex(6)}.tmp")
        try:
            raw = open(temporary, "xb")  # noqa: SIM115 (closed by commit or discard)
        except OSError as error:
            raise DataError(f"cannot be written: {error.strerror}.", path=path) from None
        self._files.append((final, temporary, raw, raw))
        suffix = final.suffix.lower()
        if suffix == ".gz":
            coded: Any = gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=6, mtime=0)
        elif suffix in (".zst", ".zstd"):
            coded = _zstd_writer(raw)
        else:
            coded = raw
        self._files[-1] = (final, temporary, raw, coded)
        return coded

    def commit(self) -> None:
        """Finishes all files and puts them in their places."""
        for _, _, raw, coded in self._files:
            if coded is not raw:
                coded.close()
            raw.flush()
            os.fsync(raw.fileno())
            raw.close()
        for final, temporary, _, _ in self._files:
            os.replace(temporary, final)
        self._files.clear()

    def discard(self) -> None:
        """Removes what has been written."""
        for end in self._enders if self._files else ():
            with suppress(Exception):
                end()
        self._enders.clear()
        for _, temporary, raw, _ in self._files:
            with suppress(OSError, ValueError):
                raw.close()
            with suppress(OSError):
                temporary.unlink()
        self._files.clear()

    def __enter__(self) -> Outputs:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self.commit()
        except OSError as failure:
            raise DataError(f"cannot be written: {failure.strerror}.") from None
        finally:
            self.discard()
