"""Bytes onto disk: a file is the old one or the new one, whatever happens, and else what it was."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

from smemlint.fix.edits.apply import EditError
from smemlint.system.reading import UnreadableError, read_start
from smemlint.system.stopping import held_back

_PREFIX = ".smemlint-"


def replace_file(path: Path, expected: bytes, data: bytes) -> None:
    """Replace a file's content at once, with its owner, mode and attributes kept.

    A link is followed; whether it may be is the caller's question.

    Raises: EditError when the file is not what was analysed, is read-only, has other names, would lose its
    owner or an attribute, or cannot be written.
    """
    try:
        target = path.resolve()
        with held_back():
            _replace(path, target, expected, data)
    except UnreadableError as error:
        raise EditError(f"{path}: {error.message}, left as it is") from error
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links
        said = getattr(error, "strerror", None) or error
        raise EditError(f"{path}: {said}, left as it is") from error


def _replace(path: Path, target: Path, expected: bytes, data: bytes) -> None:
    status = _checked(path, target, expected)
    handle, temporary = _fresh(target.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            _keep(path, target, status, handle)
            os.fsync(handle)
            # Once more, as late as possible: somebody may have saved it while we wrote.
            _checked(path, target, expected)
            temporary = temporary or _named(handle, target.parent)
        temporary.replace(target)
    finally:
        if temporary is not None:
            with contextlib.suppress(FileNotFoundError):
                temporary.unlink()


def _checked(path: Path, target: Path, expected: bytes) -> os.stat_result:
    """The file's status, where it is still as it was analysed and a new file can stand in for it."""
    if read_start(target, len(expected) + 1) != expected:
        raise EditError(f"{path}: the file changed since it was analysed, left as it is")
    status = target.stat()
    if not status.st_mode & stat.S_IWUSR or not os.access(target, os.W_OK):
        raise EditError(f"{path}: the file is read-only, left as it is")
    if status.st_nlink > 1:
        raise EditError(f"{path}: the file has {status.st_nlink} names (hard links), left as it is")
    return status


def _fresh(folder: Path) -> tuple[int, Path | None]:
    """An open empty file in a folder; without a name where the system has such, so that none is left."""
    if hasattr(os, "O_TMPFILE"):
        with contextlib.suppress(OSError):
            handle = os.open(folder, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o600)
            if Path(f"/proc/self/fd/{handle}").exists():  # how it gets its name
                return handle, None
            os.close(handle)
    import tempfile

    handle, name = tempfile.mkstemp(prefix=_PREFIX, suffix=".tmp", dir=folder)
    return handle, Path(name)


def _named(handle: int, folder: Path) -> Path:
    """A name for a file that has none. A link cannot replace a file, so it has this one for a moment."""
    for _ in range(100):
        name = folder / f"{_PREFIX}{os.urandom(6).hex()}.tmp"
        with contextlib.suppress(FileExistsError):
            # With a folder's handle Python asks the system to follow the link under /proc.
            at = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.link(f"/proc/self/fd/{handle}", name, src_dir_fd=at, follow_symlinks=True)
            finally:
                os.close(at)
            return name
    raise FileExistsError(f"no free name in {folder}")


def _keep(path: Path, target: Path, status: os.stat_result, handle: int) -> None:
    """Owner, mode and attributes (access lists among them) of the old file for the new one."""
    new = os.fstat(handle)
    if hasattr(os, "fchown") and (new.st_uid, new.st_gid) != (status.st_uid, status.st_gid):
        try:
            os.fchown(handle, status.st_uid, status.st_gid)
        except OSError as error:
            raise EditError(f"{path}: its owner or group cannot be kept, left as it is") from error
    if hasattr(os, "fchmod"):
        os.fchmod(handle, stat.S_IMODE(status.st_mode))
    if not hasattr(os, "listxattr"):
        return
    old, fresh = _attributes(target), _attributes(handle)
    try:
        for name in fresh.keys() - old.keys():
            os.removexattr(handle, name)
        for name, value in old.items():
            if fresh.get(name) != value:
                os.setxattr(handle, name, value)
    except OSError as error:
        raise EditError(f"{path}: its attribute {name} cannot be kept, left as it is") from error


def _attributes(file: Path | int) -> dict[str, bytes]:
    try:
        return {name: os.getxattr(file, name) for name in os.listxattr(file)}
    except OSError:  # a file system without them
        return {}
