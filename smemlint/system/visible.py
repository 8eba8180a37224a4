"""Text of a project as it may be shown: what a terminal or a build server would obey becomes visible text.

File names, source lines and all that is made of them come from strangers. A control character could move the
cursor, a change of direction hide what is written, and a line `::set-env ...` command a build server that
reads along.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

_UNSAFE = re.compile(r"[^\x20-\x7e]|##(?=vso\[|teamcity\[|\[)")
_COMMAND = re.compile(r"^(\s*):(?=:)")
_PLAIN = re.compile(r"[\x20-\x22\x24-\x7e]*")
_NAMED = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


def visible(text: str) -> str:
    """The text on one line: control characters, changes of direction and bytes that are not UTF-8 as
    `\\x1b`, `\\u202e`, `\\xff`; no command that a build server looks for anywhere in a line."""
    return text if _PLAIN.fullmatch(text) else _UNSAFE.sub(lambda m: _shown(m[0]), text)


def pieces(text: str) -> Iterator[tuple[str, str]]:
    """The text cut into (as written, as shown): runs that are shown as they are, and single characters (or
    what begins a command) that are not or that may be wider."""
    last = 0
    for match in _UNSAFE.finditer(text):
        if match.start() > last:
            yield text[last : match.start()], text[last : match.start()]
        yield match[0], _shown(match[0])
        last = match.end()
    if last < len(text):
        yield text[last:], text[last:]


def visible_lines(text: str) -> str:
    """The same for whole lines: they stay lines, and none begins with `::`."""
    return "\n".join(_COMMAND.sub(r"\1\\x3a", visible(line)) for line in text.split("\n"))


def visible_path(path: str) -> str:
    """The same for a file name, which may come to stand anywhere: with no `::` at all."""
    return visible(path).replace("::", r":\x3a")


def _shown(character: str) -> str:
    if character == "##":
        return r"#\x23"
    if character.isprintable() or unicodedata.category(character) == "Zs":
        return character
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is not UTF-8, as the file system gives it
        code -= 0xDC00
    if character in _NAMED:
        return _NAMED[character]
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
