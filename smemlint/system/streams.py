"""Standard output and standard error, whatever has become of them: closed, full, or with no reader.

What cannot be written to standard output makes the run fail; what cannot be written to standard error
changes nothing.
"""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from smemlint.system.visible import visible, visible_lines


class OutputError(Exception):
    """Standard output does not take what is written; the text says why."""


def open_missing() -> None:
    """Give each standard stream that is closed something to stand for it.

    Else the next file that is opened would get its number, and with it what native code writes there.
    Reading and writing those that are closed fails as it does in C; what goes to a closed standard error is
    lost.
    """
    for number in range(3):
        if not _is_open(number):
            os.open(os.devnull, os.O_RDONLY if number == 1 else os.O_WRONLY)  # gets the lowest number
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115  # type: ignore[unreachable, unused-ignore]
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115  # type: ignore[unreachable, unused-ignore]
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115  # type: ignore[unreachable, unused-ignore]


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def say(text: str, *, lines: bool = False) -> None:
    """A message on standard error, with nothing in it that a terminal obeys. lines: it has several."""
    shown = visible_lines(text) if lines else visible(text)
    try:
        print(encodable(shown, sys.stderr), file=sys.stderr, flush=True)
    except (OSError, ValueError):
        _drop(sys.stderr)


def put(text: str) -> None:
    """Text on standard output. Raises OutputError."""
    try:
        sys.stdout.write(encodable(text, sys.stdout))
    except (OSError, ValueError) as error:
        _fail(error)


def columns() -> int:
    """Columns of standard output: $COLUMNS, else those of its terminal, a hundred where it is none."""
    said = os.environ.get("COLUMNS", "")
    whole = said.isascii() and said.isdigit() and len(said) < 6
    try:
        if not whole and not sys.stdout.isatty():
            return 100
        size = int(said) if whole else os.get_terminal_size(sys.stdout.fileno()).columns
    except (OSError, ValueError):
        return 100
    return min(max(size, 40), 140) if size else 100


def put_bytes(data: bytes) -> None:
    """Bytes on standard output, whatever its encoding. Raises OutputError."""
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
    except (OSError, ValueError) as error:
        _fail(error)


def finish() -> None:
    """Standard output is complete. Raises OutputError where it did not take everything."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError) as error:
        _fail(error)


def encodable(text: str, stream: TextIO) -> str:
    """The text with what the stream cannot encode replaced, so that a source comment cannot end the run."""
    encoding = stream.encoding or "utf-8"
    return text.encode(encoding, errors="replace").decode(encoding)


def write_file(path: Path, data: bytes) -> None:
    """A file of its own for a report: complete or not there, and never written through a link of that name.

    A stream that the system gives a name in /dev or /proc is written as it is. Raises OSError, OutputError.
    """
    if Path(os.path.abspath(path)).is_relative_to("/dev") or str(path).startswith("/proc/"):  # noqa: PTH100
        with path.open("wb") as stream:
            stream.write(data)
        return
    mode = 0o666 & ~_umask()
    try:
        status = path.lstat()
    except FileNotFoundError:
        pass
    else:
        if stat.S_ISLNK(status.st_mode):
            raise OutputError("is a link, and may lead to any file")
        if not stat.S_ISREG(status.st_mode):
            raise OutputError("is no regular file")
        if not os.access(path, os.W_OK):
            raise OutputError("is read-only")
        mode = stat.S_IMODE(status.st_mode)
    import tempfile

    handle, temporary = tempfile.mkstemp(prefix=".smemlint-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        Path(temporary).chmod(mode)
        Path(temporary).replace(path)
    finally:
        with suppress(FileNotFoundError):
            Path(temporary).unlink()


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _fail(error: OSError | ValueError) -> None:
    """A reader that has enough is no fault; everything else is."""
    _drop(sys.stdout)
    if not isinstance(error, BrokenPipeError):
        said = error.strerror if isinstance(error, OSError) else None
        raise OutputError(f"standard output cannot be written: {(said or str(error)).lower()}") from error


def _drop(stream: TextIO) -> None:
    """Point a stream to nowhere, so that what it still holds does not fail again when the run ends."""
    try:
        number = os.open(os.devnull, os.O_WRONLY)
        os.dup2(number, stream.fileno())
        os.close(number)
    except (OSError, ValueError):
        return
