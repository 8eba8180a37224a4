"""Edits onto bytes, and bytes onto disk: never a damaged file."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path

from smemlint.fix.model import TextEdit


class EditError(Exception):
    """The edits do not fit the text, or the file cannot be replaced. The message is for the user."""


def apply(edits: Sequence[TextEdit], data: bytes) -> bytes:
    """The text with all edits done.

    Raises: EditError when edits overlap or the text is not the one they were made for.
    """
    ordered = sorted(edits, key=lambda e: (e.offset, e.end_offset))
    pieces = []
    position = 0
    for edit in ordered:
        if edit.offset < position:
            raise EditError(f"{edit.path}: two edits overlap at byte {edit.offset}")
        if data[edit.offset : edit.end_offset] != edit.original.encode():
            raise EditError(f"{edit.path}: the text at byte {edit.offset} is not what was analysed")
        pieces += [data[position : edit.offset], edit.replacement.encode()]
        position = edit.end_offset
    pieces.append(data[position:])
    return b"".join(pieces)


def compatible(edits: Iterable[TextEdit], others: Iterable[TextEdit]) -> bool:
    """Whether two sets of edits can be done together: no ranges touch, insertions at one point may."""
    other = list(others)
    return not any(_touch(a, b) for a in edits for b in other)


def _touch(a: TextEdit, b: TextEdit) -> bool:
    if a.path != b.path:
        return False
    if a.offset == a.end_offset and b.offset == b.end_offset:
        return False
    return a.offset < b.end_offset and b.offset < a.end_offset


def replace_file(path: Path, expected: bytes, data: bytes) -> None:
    """Replace a file's content at once: it is either the old one or the new one, with its mode kept.

    Raises: EditError when the file is not what was analysed, is read-only, or cannot be written.
    """
    import tempfile

    target = path.resolve()
    try:
        mode = stat.S_IMODE(target.stat().st_mode)
        if not mode & stat.S_IWUSR or not os.access(target, os.W_OK):
            raise EditError(f"{path}: the file is read-only, left as it is")
        if target.read_bytes() != expected:
            raise EditError(f"{path}: the file changed since it was analysed, left as it is")
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    except OSError as error:
        raise EditError(f"{path}: {error.strerror or error}, left as it is") from error
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).chmod(mode)
        # Once more, as late as possible: somebody may have saved it while we wrote.
        if target.read_bytes() != expected:
            raise EditError(f"{path}: the file changed since it was analysed, left as it is")
        Path(temporary).replace(target)
    except OSError as error:
        raise EditError(f"{path}: {error.strerror or error}, left as it is") from error
    finally:
        with contextlib.suppress(FileNotFoundError):
            Path(temporary).unlink()


def diff(path: str, before: bytes, after: bytes) -> str:
    """A unified diff that `git apply` and `patch -p1` take."""
    from difflib import unified_diff

    name = path.lstrip("/")
    old, new = _lines(before), _lines(after)
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
        for line in unified_diff(old, new, _quoted(f"a/{name}"), _quoted(f"b/{name}"))
    )


def _lines(data: bytes) -> list[str]:
    """Lines as a patch counts them: only a line feed ends one, where Python knows ten other ends."""
    *lines, last = data.decode("utf-8", "surrogateescape").split("\n")
    return [f"{line}\n" for line in lines] + ([last] if last else [])


_NAMED = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}


def _quoted(name: str) -> str:
    """A name as git writes it in the header of a patch: in quotes, as in C, where a byte asks for it; with
    spaces, which end a name for `patch`, followed by a tab."""
    data = os.fsencode(name)
    if all(0x20 <= byte < 0x7F and byte not in b'"\\' for byte in data):
        return f"{name}\t" if " " in name else name
    return '"' + "".join(map(_in_c, data)) + '"'


def _in_c(byte: int) -> str:
    if byte in _NAMED:
        return f"\\{_NAMED[byte]}"
    return chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}"
