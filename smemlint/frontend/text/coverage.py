"""What the text says about shared memory, against which the AST is checked.

Nothing here trusts the parser: declarations and uses are read off the text's own tokens, outside
comments, literals and `#define` lines (a macro's body is covered where it is expanded) and outside the
branches that the preprocessor skipped.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from smemlint.frontend.text.shadows import Blocks, scope_end, shadowed_until
from smemlint.ir import Place, Unparsed
from smemlint.patterns import pattern
from smemlint.records import record
from smemlint.source.blank import blank_literals, blanked
from smemlint.source.per_text import per_text

INACTIVE = "in a preprocessor branch that no tried configuration switches on"
DROPPED = "clang dropped the statement"

_SHARED = pattern(rb"(?<!\w)__shared__(?!\w)")
_UNNAMED = pattern(rb"(?<!\w)__shared__\s+(union|struct)\s*\{[^{};]*(?:;[^{};]*)*\}\s*;")
"""A union (or struct) without a name, whose members are named like variables."""
_NAME = pattern(rb"[A-Za-z_]\w*")
_POINTER = pattern(rb"\(\s*[*&]\s*(?:const\s+|__restrict__\s+)?([A-Za-z_]\w*)")
_DIRECTIVE = pattern(rb"^[ \t]*#(?:[^\n\\]|\\\r?\n|\\.)*", re.MULTILINE)
_TYPE_WORDS = b"""
    const volatile unsigned signed struct union class typename alignas __align__ __attribute__ __restrict__
    extern static int float double char short long bool auto void half
"""
_WORDS_OF_TYPES = frozenset(_TYPE_WORDS.split())


@record(frozen=True, slots=True)
class SharedToken:
    """A name of a shared variable in the text: where it is declared, or where it is used. Offsets are
    bytes."""

    path: str
    offset: int
    name: str
    declaration: bool


@record(frozen=True, slots=True)
class SkippedText:
    """One file with the branches that were skipped in one configuration, as byte ranges."""

    path: str
    data: bytes
    skipped: tuple[tuple[int, int], ...]


def shared_tokens(text: SkippedText) -> tuple[SharedToken, ...]:
    """Declarations and uses in the active branches of one file, in order."""
    if b"__shared__" not in text.data:
        return ()
    code = active_code(text.data, text.skipped)
    declared = _declared(code)
    tokens = [SharedToken(text.path, offset, name.decode(), True) for name, offset, _ in declared]
    tokens += [SharedToken(text.path, m.start(1), m[1].decode(), True) for m in _UNNAMED.finditer(code)]
    if not declared:
        return tuple(tokens)
    scopes: dict[bytes, list[tuple[int, int]]] = {}
    own = {offset for _, offset, _ in declared}
    closes = Blocks.of(code)
    for name, offset, end in declared:
        scopes.setdefault(name, []).append((end, scope_end(closes, offset)))
    names = re.compile(rb"(?<![\w])(?:" + b"|".join(sorted(map(re.escape, scopes))) + rb")(?!\w)")
    hidden: dict[bytes, int] = {}
    for match in names.finditer(code):
        if match.start() in own:
            hidden.pop(match.group(), None)
            continue
        if match.start() < hidden.get(match.group(), 0) or _is_member(code, match.start()):
            continue
        shadow = shadowed_until(code, match.start(), match.end(), closes)
        if shadow is not None:
            hidden[match.group()] = shadow
            continue
        if any(start <= match.start() < stop for start, stop in scopes[match.group()]):
            tokens.append(SharedToken(text.path, match.start(), match.group().decode(), False))
    return tuple(sorted(tokens, key=lambda token: token.offset))


def uncovered(
    texts: Iterable[Sequence[SkippedText]], seen: Collection[tuple[str, int]]
) -> tuple[Unparsed, ...]:
    """Shared names in the text that no configuration brought into the IR.

    texts: for each configuration, the project files with what it skipped. seen: (path, byte offset) of
    the nodes and declarations that lowering made, over all configurations. An `Unparsed` for each that is
    left, with the reason.
    """
    data: dict[str, bytes] = {}
    active: dict[tuple[str, int], SharedToken] = {}
    for configuration in texts:
        for text in configuration:
            data[text.path] = text.data
            active.update({(token.path, token.offset): token for token in shared_tokens(text)})
    whole: dict[tuple[str, int], SharedToken] = {}
    for path, content in data.items():
        whole.update({(path, t.offset): t for t in shared_tokens(SkippedText(path, content, ()))})
    result = [_unparsed(t, data[t.path], DROPPED) for key, t in active.items() if key not in seen]
    result += [
        _unparsed(t, data[t.path], INACTIVE)
        for key, t in whole.items()
        if key not in active and key not in seen
    ]
    return tuple(sorted(result, key=lambda item: (item.place.path, item.place.offset)))


@per_text
def _code(data: bytes) -> bytes:
    """Without comments, literals and preprocessor lines."""
    return _DIRECTIVE.sub(lambda found: blanked(found.group()), blank_literals(data))


def active_code(data: bytes, skipped: Sequence[tuple[int, int]]) -> bytes:
    """The code of the branches that are not skipped, at its offsets, all else blank."""
    code = _code(data)
    if not skipped:
        return code
    parts, last = [], 0
    for start, end in sorted(skipped):
        if end > last:
            start = max(start, last)
            parts += [code[last:start], blanked(code[start:end])]
            last = end
    return b"".join((*parts, code[last:]))


def _declared(code: bytes) -> list[tuple[bytes, int, int]]:
    """(name, its offset, end of the declaration) of each variable behind a `__shared__`."""
    found = []
    for match in _SHARED.finditer(code):
        end, names = _declarators(code, match.end())
        found += [(name, offset, end) for name, offset in names]
    return found


def _declarators(code: bytes, at: int) -> tuple[int, list[tuple[bytes, int]]]:
    """Where a declaration that starts at `at` ends, and the names it declares.

    Reads to the `;` at depth 0, splitting at commas; the name is the last word of a declarator before its
    brackets, initialiser or end. Parentheses hold attributes or a pointer's name.
    """
    names: list[tuple[bytes, int]] = []
    candidate: tuple[bytes, int] | None = None
    depth = angle = 0
    closed = False
    position = at
    limit = min(len(code), at + 20_000)
    while position < limit:
        byte = code[position : position + 1]
        word = _NAME.match(code, position)
        if word:
            if depth == 0 and angle == 0 and not closed and word.group() not in _WORDS_OF_TYPES:
                candidate = (word.group(), word.start())
            position = word.end()
            continue
        if byte in (b"(", b"[", b"{"):
            if depth == 0 and byte == b"[":
                closed = True
            if byte == b"(" and depth == 0:
                pointer = _POINTER.match(code, position)
                if pointer:
                    candidate, closed = (pointer.group(1), pointer.start(1)), True
                elif candidate is not None and code[candidate[1] : position].strip() == candidate[0]:
                    # `name(...)`: an attribute's arguments, or a constructor's.
                    attribute = (
                        candidate[0].startswith((b"__", b"alignas", b"decltype")) or candidate[0].isupper()
                    )
                    candidate, closed = (None, closed) if attribute else (candidate, True)
            depth += 1
        elif byte in (b")", b"]", b"}"):
            depth -= 1
            if depth < 0:
                break
        elif depth == 0 and byte == b"<":
            angle += 1
        elif depth == 0 and byte == b">":
            angle = max(0, angle - 1)
        elif depth == 0 and byte == b"=":
            closed = True
        elif depth == 0 and angle == 0 and byte in (b",", b";"):
            if candidate is not None:
                names.append(candidate)
            candidate, closed = None, False
            if byte == b";":
                break
        position += 1
    return position, names


def _is_member(code: bytes, offset: int) -> bool:
    before = code[max(0, offset - 8) : offset].rstrip()
    return before.endswith((b".", b"->", b"::")) and not before.endswith(b"...")


def _unparsed(token: SharedToken, data: bytes, reason: str) -> Unparsed:
    start = data.rfind(b"\n", 0, token.offset) + 1
    end = data.find(b"\n", token.offset)
    text = data[start : end if end >= 0 else len(data)].decode("utf-8", "replace").strip()
    return Unparsed(place_in(token.path, data, token.offset, len(token.name.encode())), text, reason)


def place_in(path: str, data: bytes, offset: int, width: int) -> Place:
    """Where some bytes of one line stand."""
    line = data.count(b"\n", 0, offset) + 1
    column = offset - data.rfind(b"\n", 0, offset)
    return Place(path, line, column, line, column + width, offset, offset + width)
