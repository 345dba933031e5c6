"""An open folder whose files are read relative to it, so that a folder renamed meanwhile cannot mix two
models."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from types import TracebackType

from ..errors import ModelError

__all__ = ["Directory"]

_RELATIVE = os.open in os.supports_dir_fd and hasattr(os, "O_DIRECTORY")
# A link is never followed, and a pipe never waited for.
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_CLOEXEC", 0)
)


class Directory:
    """Opens a folder. Its errors are ModelErrors that name the folder."""

    def __init__(self, path: Path):
        self.path = path
        self._fd: int | None = None
        try:
            if _RELATIVE:
                self._fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
                status = os.fstat(self._fd)
            else:
                status = os.stat(path)
                if not stat.S_ISDIR(status.st_mode):
                    raise NotADirectoryError
        except FileNotFoundError:
            raise ModelError(f"{path}: there is no such folder.") from None
        except NotADirectoryError:
            raise ModelError(f"{path}: not a folder.") from None
        except (OSError, ValueError) as error:
            raise ModelError(f"{path}: cannot be opened: {error}.") from error
        self._identity = (status.st_dev, status.st_ino)

    def replaced(self) -> bool:
        """Whether the path now leads to another folder, or to none."""
        try:
            status = os.stat(self.path)
        except OSError:
            return True
        return (status.st_dev, status.st_ino) != self._identity

    def names(self) -> list[str]:
        """What is in the folder."""
        try:
            return os.listdir(self.path if self._fd is None else self._fd)
        except OSError as error:
            raise ModelError(f"{self.path}: cannot be read: {error.strerror}.") from error

    def open(self, name: str) -> int:
        """A descriptor of a regular file in the folder; a ModelError for anything else."""
        try:
            if self._fd is None and (self.path / name).is_symlink():
                raise ModelError(f"{self.path}: {name} is a symbolic link.")
            where = name if self._fd is not None else self.path / name
            fd = os.open(where, _FLAGS, dir_fd=self._fd)
        except FileNotFoundError:
            raise ModelError(f"{self.path}: {name} is missing.") from None
        except OSError as error:
            link = os.path.islink(self.path / name)
            what = "is a symbolic link" if link else f"cannot be opened: {error.strerror}"
            raise ModelError(f"{self.path}: {name} {what}.") from error
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            os.close(fd)
            raise ModelError(f"{self.path}: {name} is not a regular file.")
        return fd

    def read(self, name: str, limit: int) -> bytes:
        """The bytes of a file of at most ``limit`` bytes."""
        with os.fdopen(self.open(name), "rb") as file:
            try:
                data = file.read(limit + 1)
            except OSError as error:
                raise ModelError(f"{self.path}: {name} cannot be read: {error.strerror}.") from error
        if len(data) > limit:
            raise ModelError(f"{self.path}: {name} is larger than {limit} bytes.")
        return data

    def __enter__(self) -> Directory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
