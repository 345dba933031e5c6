"""Folders that appear, or take the place of another, all at once.

A folder is written beside its destination under a temporary name, synced, and renamed. One that is there
already is renamed aside first and deleted last:

    .NAME.new-HOST-PID-RANDOM    being written
    .NAME.old-HOST-PID-RANDOM    replaced, about to be deleted

A process killed between the two renames leaves no NAME, but a complete .NAME.old-…: readers find it there
(``locate``), and the next writer puts it back (``recover``).
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import ModelError

__all__ = ["locate", "recover", "replace_file", "replacing", "sync_directory"]

_ATTEMPTS = 20
_ABANDONED_SECONDS = 24 * 3600.0


def locate(path: Path) -> Path:
    """Where the folder is now: at its path, or aside if a writer was killed, or is just now, between two
    renames."""
    if not os.path.lexists(path):
        aside = _siblings(path, "old")
        if aside and not os.path.lexists(path):
            return aside[-1]
    return path


def recover(path: Path) -> None:
    """Puts a folder back that a killed writer left aside, and deletes what killed writers left half
    written."""
    for old in _siblings(path, "old"):
        if not _abandoned(old):
            continue
        if not os.path.lexists(path):
            with contextlib.suppress(OSError):
                os.rename(old, path)
        else:
            shutil.rmtree(old, ignore_errors=True)
    for new in _siblings(path, "new"):
        if _abandoned(new):
            shutil.rmtree(new, ignore_errors=True)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Gives a new empty folder to write into, which takes the place of ``path`` when the block ends without
    error.

    The files in it must be synced by whoever writes them.
    """
    path = Path(os.path.realpath(path))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        recover(path)
        temporary = _beside(path, "new")
        os.mkdir(temporary)
    except OSError as error:
        raise ModelError(f"{path}: cannot be written: {error}.") from error
    try:
        yield temporary
        sync_directory(temporary)
        _swap(temporary, path)
    except OSError as error:
        raise ModelError(f"{path}: cannot be written: {error}.") from error
    finally:
        if os.path.lexists(temporary):
            shutil.rmtree(temporary, ignore_errors=True)


def _swap(temporary: Path, path: Path) -> None:
    """The two renames. Another process may do the same at the same time: the last one wins."""
    for _ in range(_ATTEMPTS):
        aside = _beside(path, "old")
        moved = True
        try:
            os.rename(path, aside)
        except FileNotFoundError:
            moved = False
        try:
            os.rename(temporary, path)
        except OSError:
            if os.path.lexists(path):  # another writer was faster: its folder is the next one to move aside
                if moved:
                    shutil.rmtree(aside, ignore_errors=True)
                continue
            if moved:
                os.rename(aside, path)
            raise
        sync_directory(path.parent)
        if moved:
            shutil.rmtree(aside, ignore_errors=True)
        return
    raise ModelError(f"{path}: other processes keep writing to it.")


def replace_file(folder: Path, name: str, data: bytes) -> None:
    """Writes a file of a folder all at once: the old one or the new one is there at any time."""
    temporary = folder / f".{name}.new-{_owner()}-{secrets.token_hex(4)}"
    try:
        with open(temporary, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, folder / name)
        sync_directory(folder)
    except OSError as error:
        raise ModelError(f"{folder}: {name} cannot be written: {error}.") from error
    finally:
        with contextlib.suppress(OSError):
            os.unlink(temporary)


def sync_directory(path: Path) -> None:
    """Makes renames in a folder last, where the system can."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _owner() -> str:
    host = re.sub("[^A-Za-z0-9]", "", socket.gethostname())[:32] or "host"
    return f"{host}-{os.getpid()}"


def _beside(path: Path, role: str) -> Path:
    return path.parent / f".{path.name}.{role}-{_owner()}-{secrets.token_hex(4)}"


def _siblings(path: Path, role: str) -> list[Path]:
    """The temporary folders of a path, oldest first."""
    pattern = re.compile(re.escape(f".{path.name}.{role}-") + "[A-Za-z0-9]+-[0-9]+-[0-9a-f]{8}")
    found: list[tuple[float, Path]] = []
    try:
        names = os.listdir(path.parent)
    except OSError:
        return []
    for name in names:
        if pattern.fullmatch(name):
            with contextlib.suppress(OSError):
                status = os.lstat(path.parent / name)
                found.append((status.st_mtime, path.parent / name))
    return [p for _, p in sorted(found)]


def _abandoned(temporary: Path) -> bool:
    """Whether the process that made a temporary folder is gone: surely if it ran here, else when nothing
    happened to the folder for a day."""
    host, pid, _ = temporary.name.rsplit("-", 3)[-3:]
    if os.name == "posix" and f"{host}-{pid}" != _owner() and _owner().rsplit("-", 1)[0] == host:
        try:
            os.kill(int(pid), 0)
        except ProcessLookupError:
            return True
        except OSError:
            return False
        return False
    try:
        return time.time() - os.lstat(temporary).st_mtime > _ABANDONED_SECONDS
    except OSError:
        return False
