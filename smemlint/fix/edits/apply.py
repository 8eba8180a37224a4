"""Edits onto bytes, all of them or none."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from smemlint.fix.model import TextEdit

_CONTEXT = 3
"""Lines around a change."""


class EditError(Exception):
    """The edits do not fit the text, or the file is not replaced. The message is for the user."""


def apply(edits: Sequence[TextEdit], data: bytes) -> bytes:
    """The text with all edits done.

    Raises: EditError when edits overlap or the text is not the one they were made for.
    """
    ordered = sorted(edits, key=lambda e: (e.offset, e.end_offset))
    pieces = []
    position = 0
    done: set[TextEdit] = set()
    for edit in ordered:
        if edit.once and edit in done:
            continue
        done.add(edit)
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


def diff(path: str, before: bytes, after: bytes) -> str:
    """A unified diff that `git apply` and `patch -p1` take, with no line that did not change.

    (`difflib.unified_diff` takes lines that are frequent in a long file for junk.)
    """
    from difflib import SequenceMatcher

    name = path.lstrip("/")
    old, new = _lines(before), _lines(after)
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    same = max(same - _CONTEXT, 0)
    pieces = [f"--- {_quoted(f'a/{name}')}\n", f"+++ {_quoted(f'b/{name}')}\n"]
    matcher = SequenceMatcher(None, old[same:], new[same:], autojunk=False)
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        first, last = group[0], group[-1]
        spans = _span(same + first[1], same + last[2]), _span(same + first[3], same + last[4])
        pieces.append(f"@@ -{spans[0]} +{spans[1]} @@\n")
        for tag, i, i_end, j, j_end in group:
            if tag == "equal":
                pieces += [f" {line}" for line in old[same + i : same + i_end]]
                continue
            pieces += [f"-{line}" for line in old[same + i : same + i_end]]
            pieces += [f"+{line}" for line in new[same + j : same + j_end]]
    whole = (p if p.endswith("\n") else f"{p}\n\\ No newline at end of file\n" for p in pieces)
    return "".join(whole) if len(pieces) > 2 else ""


def _span(start: int, end: int) -> str:
    """Lines as the head of a hunk counts them."""
    length = end - start
    return f"{start + 1}" if length == 1 else f"{start + (length > 0)},{length}"


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
