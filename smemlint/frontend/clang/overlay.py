"""What clang finds on disk: the files that were read and checked before, and nothing else.

Whatever an include line, a macro in one or a pragma names, clang opens no file of a project by itself: their
texts are handed over, and this overlay stands in for the rest of the file system. So a FIFO or a device that
a source includes cannot hold clang up, and what it parses is what was checked.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


@contextmanager
def only_seeing(files: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """Arguments with which clang finds these files (absolute paths); they hold within the `with`."""
    if os.name != "posix":
        yield ()
        return
    entries = [{"type": "file", "name": f, "external-contents": f} for f in files if _is_utf8(f)]
    said = {
        "version": 0,
        "case-sensitive": "true",
        "use-external-names": "false",
        "redirecting-with": "redirect-only",
        "roots": entries,
    }
    handle = _nameless(json.dumps(said).encode())
    try:
        yield ("-ivfsoverlay", f"/dev/fd/{handle}")
    finally:
        os.close(handle)


def _is_utf8(path: str) -> bool:
    """Another name cannot be written here; its file is found by the name it is handed over under."""
    return path.isascii() or path.encode("utf-8", "replace").decode() == path


def _nameless(data: bytes) -> int:
    """A file that has no name, so that none is left whatever ends the process."""
    if hasattr(os, "memfd_create"):
        handle = os.memfd_create("smemlint-overlay")
    else:
        import tempfile

        with tempfile.TemporaryFile() as file:
            handle = os.dup(file.fileno())
    os.write(handle, data)
    os.lseek(handle, 0, os.SEEK_SET)
    return handle
