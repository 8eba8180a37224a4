"""The one way to a file's bytes: regular files only, no larger than the reader can use.

A project may hold FIFOs, devices behind links, sparse files of any size and files that grow while they are
read. None of them may hold up a run or fill its memory, so everything that is read goes through here.
"""

# Paths may be any string, and what is wrong with one is told by the call that needs it.
# ruff: noqa: PTH116

from __future__ import annotations

import os
import stat
from pathlib import Path

from smemlint.system import observed

_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)  # should the file become a FIFO between the look and the opening
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_KINDS = (
    (stat.S_ISDIR, "is a directory"),
    (stat.S_ISFIFO, "is a FIFO, no regular file"),
    (stat.S_ISSOCK, "is a socket, no regular file"),
    (stat.S_ISCHR, "is a device, no regular file"),
    (stat.S_ISBLK, "is a device, no regular file"),
)
_CHUNK = 1 << 20


class UnreadableError(Exception):
    """A file that is not read. message: why, as what follows the file's name."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


def read_regular(path: Path | str, limit: int) -> bytes:
    """All bytes of a regular file of at most `limit` bytes. Raises UnreadableError for any other."""
    try:
        data = read_start(path, limit + 1, limit)
        if len(data) > limit:  # it grew, or its size was not told
            raise UnreadableError(too_large(len(data), limit))
    except UnreadableError as error:
        observed.note(("unreadable", f"{limit} {path}"), error.message)
        raise
    observed.note(("bytes", str(path)), observed.digest(data))
    return data


def read_start(path: Path | str, count: int, limit: int | None = None) -> bytes:
    """The first `count` bytes of a regular file of at most `limit` bytes (None: of any size).

    Raises UnreadableError.
    """
    try:
        # Opening a device may already do something, so the look comes first, and once more when it is open.
        _check(os.stat(path), limit)
        handle = os.open(path, _FLAGS)
        try:
            _check(os.fstat(handle), limit)
            return _read(handle, count)
        finally:
            os.close(handle)
    except OSError as error:
        said = error.strerror or str(error)
        raise UnreadableError(f"cannot be read: {said[:1].lower()}{said[1:]}") from error
    except ValueError as error:  # an embedded NUL, or a name that the file system's encoding has not
        raise UnreadableError(f"cannot be read: {error}") from error


def _check(status: os.stat_result, limit: int | None) -> None:
    if not stat.S_ISREG(status.st_mode):
        kind = next((text for test, text in _KINDS if test(status.st_mode)), "is no regular file")
        raise UnreadableError(kind)
    if limit is not None and status.st_size > limit:
        raise UnreadableError(too_large(status.st_size, limit))


def _read(handle: int, count: int) -> bytes:
    pieces = []
    while count > 0 and (piece := os.read(handle, min(count, _CHUNK))):
        pieces.append(piece)
        count -= len(piece)
    return b"".join(pieces)


def too_large(size: int, limit: int) -> str:
    """What is said of a text beyond the limit."""
    return f"is too large to analyse: {size / 2**20:.1f} MiB, the limit is {limit / 2**20:.3g} MiB"
