"""Accesses through pointers as the text has them: `*((float4 *)(rows + r * 64) + lane)`.

In: the place of an access, and an array. Out: the pointer at the root of the access with what is added to it;
and all pointers that lead into the array, where the text shows every use of each.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from smemlint.fix.model import Refusal
from smemlint.fix.text.declared import Declared
from smemlint.fix.text.source import Source, Token, parse_range
from smemlint.records import record

_QUALIFIERS = frozenset(("const", "volatile", "__restrict__", "__restrict", "restrict", "static"))
_WEAK = ("<<", ">>", "&", "|", "^", "?", ":", "<", ">", "<=", ">=", "==", "!=", "&&", "||", ",", "=")
_CASTS = ("reinterpret_cast", "static_cast")
_OPEN, _CLOSE = ("(", "[", "{"), (")", "]", "}")
_COMPARED = ("==", "!=", "<=", ">=")
_LANES = frozenset(("threadIdx", "thread_rank", "laneid"))


@record(frozen=True, slots=True)
class Summand:
    """What is added to a pointer: source text, counted in elements of a type; '' is the pointer's own."""

    text: str
    unit: str


@record(frozen=True, slots=True)
class Reach:
    """An access of one element. root: the name of the pointer or array; cast: the type that it is accessed
    as, '' the root's own; subscript: it is written `p[i]`, else `*p`."""

    root: str
    summands: tuple[Summand, ...]
    cast: str
    subscript: bool


@record(frozen=True, slots=True)
class Root:
    """A pointer into an array, or the array. type: of what it points to, as spelled; lanes: whether where it
    points differs from thread to thread, as its definitions say."""

    name: str
    type: str
    lanes: bool = False


def reached(source: Source, begin: int, end: int) -> Reach | None:
    """The access in [begin, end), None where it is not one of those that are read."""
    tokens: Sequence[Token] = parse_range(source, begin, end)
    while len(tokens) > 2 and tokens[-2].text == "." and tokens[-1].kind == "name":
        tokens = tokens[:-2]
    if not tokens:
        return None
    if tokens[0].text == "*":
        found = _pointer(source, tokens[1:])
        return None if found is None else Reach(*found, subscript=False)
    if tokens[-1].text != "]":
        return None
    opening = _opening(tokens)
    found = _pointer(source, tokens[:opening])
    if found is None or opening + 1 >= len(tokens) - 1:
        return None
    root, summands, cast = found
    return Reach(root, (*summands, _summand(source, tokens[opening + 1 : -1], cast)), cast, subscript=True)


def access_end(source: Source, begin: int, end: int) -> int:
    """Where an access ends without the member that is taken of it."""
    tokens = parse_range(source, begin, end)
    while len(tokens) > 2 and tokens[-2].text == "." and tokens[-1].kind == "name":
        tokens = tokens[:-2]
    return tokens[-1].end if tokens else end


def _pointer(source: Source, tokens: Sequence[Token]) -> tuple[str, tuple[Summand, ...], str] | None:
    """Root, summands and the type that a pointer expression points to; None for anything else."""
    tokens = _bare(tokens)
    if not tokens:
        return None
    if any(t.text in ("++", "--") or t.text in ("&&",) for t in tokens):
        return None
    parts = _split(tokens)
    if len(parts) > 1:
        if not all(parts) or _outside(tokens, (w for w in _WEAK if w != "&")):
            return None
        first = _pointer(source, parts[0])
        if first is None:
            return None
        root, summands, cast = first
        return root, (*summands, *(_summand(source, p, cast) for p in parts[1:])), cast
    return _alone(source, tokens)


def _alone(source: Source, tokens: Sequence[Token]) -> tuple[str, tuple[Summand, ...], str] | None:
    """The same of what is no sum: a name, a cast, the address of an element."""
    if len(tokens) == 1:
        return (tokens[0].text, (), "") if tokens[0].kind == "name" else None
    if tokens[0].text in _CASTS and len(tokens) > 5 and tokens[1].text == "<":
        close = next((n for n, t in enumerate(tokens) if t.text == ">"), 0)
        to, rest = _pointee(tokens[2:close]), tokens[close + 1 :]
        if len(rest) < 3 or rest[0].text != "(":
            return None
    elif tokens[0].text == "(":
        close = next(n for n, t in enumerate(tokens) if t.text == ")")
        to, rest = _pointee(tokens[1:close]), tokens[close + 1 :]
    elif tokens[0].text == "&" and tokens[-1].text == "]":
        opening = _opening(tokens)
        inner = _pointer(source, tokens[1:opening])
        if inner is None or opening + 1 >= len(tokens) - 1:
            return None
        root, summands, cast = inner
        return root, (*summands, _summand(source, tokens[opening + 1 : -1], cast)), cast
    else:
        return None
    if not to or not rest:
        return None
    found = _pointer(source, rest)
    return None if found is None else (found[0], found[1], to)


def _summand(source: Source, tokens: Sequence[Token], unit: str) -> Summand:
    tokens = _bare(tokens)
    text = source.text[tokens[0].offset : tokens[-1].end]
    return Summand(f"({text})" if _outside(tokens, _WEAK) else text, unit)


def _pointee(tokens: Sequence[Token]) -> str:
    """`unsigned char` of `const unsigned char *`, '' for what is no pointer type."""
    kept = [t for t in tokens if t.text not in _QUALIFIERS]
    if len(kept) < 2 or kept[-1].text != "*" or any(t.kind != "name" and t.text != "::" for t in kept[:-1]):
        return ""
    return " ".join(t.text for t in kept[:-1]).replace(" :: ", "::")


def _bare(tokens: Sequence[Token]) -> Sequence[Token]:
    """Without parentheses around all of it."""
    while len(tokens) > 2 and tokens[0].text == "(":
        depth = 0
        closed = len(tokens)
        for n, token in enumerate(tokens):
            depth += (token.text in _OPEN) - (token.text in _CLOSE)
            if depth == 0:
                closed = n
                break
        if closed != len(tokens) - 1:
            break
        tokens = tokens[1:-1]
    return tokens


def _split(tokens: Sequence[Token], mark: str = "+") -> list[Sequence[Token]]:
    parts: list[Sequence[Token]] = []
    depth = start = 0
    for n, token in enumerate(tokens):
        depth += (token.text in _OPEN) - (token.text in _CLOSE)
        if token.text == mark and depth == 0:
            parts.append(tokens[start:n])
            start = n + 1
    return [*parts, tokens[start:]]


def _outside(tokens: Sequence[Token], marks: object) -> bool:
    """Whether one of the marks stands outside all brackets."""
    wanted = set(marks)  # type: ignore[call-overload]
    depth = 0
    for token in tokens:
        depth += (token.text in _OPEN) - (token.text in _CLOSE)
        if depth == 0 and token.text in wanted:
            return True
    return False


def _opening(tokens: Sequence[Token]) -> int:
    """The bracket that the last token closes."""
    depth = 0
    for n in range(len(tokens) - 1, -1, -1):
        depth += (tokens[n].text in _CLOSE) - (tokens[n].text in _OPEN)
        if depth == 0:
            return n
    return 0


def roots(at: Declared, type_: str, accesses: Sequence[tuple[int, int]]) -> Mapping[str, Root] | Refusal:
    """The array and every pointer that is set from it, by name; a Refusal where a use of one is neither an
    access that is known nor sets another.

    type_: of the array's elements, as spelled. accesses: byte ranges.
    """
    source = at.source
    found = {at.name: Root(at.name, type_)}
    while True:
        known = len(found)
        for i in range(*at.scope):
            token = source.code[i]
            if token.text not in found or token.kind != "name":
                continue
            if source.code[i - 1].text in (".", "->", "::") or any(
                a <= token.offset < b for a, b in accesses
            ):
                continue
            set_ = _sets(at, i, found)
            if set_ is None:
                line = source.line_of(token.offset)
                return Refusal("passed-on", f"`{token.text}` is used as a pointer on line {line}")
            if set_.name not in found or (set_.lanes and not found[set_.name].lanes):
                found[set_.name] = set_
                known = -1
        if len(found) == known:
            return found


def _sets(at: Declared, index: int, known: Mapping[str, Root]) -> Root | None:
    """The pointer that a statement declares, or sets from another one that is known; None for any other use
    of the name at a token."""
    source = at.source
    code = source.code
    first = last = index
    while code[first - 1].text not in (";", "{", "}"):
        first -= 1
    while code[last].text not in (";", "{", "}", ""):
        last += 1
    pieces = _split(code[first:last], ",")
    here = code[index].offset
    piece = next((p for p in pieces if p and p[0].offset <= here <= p[-1].offset), None)
    if piece is None or code[last].text != ";":
        return None
    texts = [t.text for t in piece]
    if texts[1:2] == ["+="] and texts[0] in known and piece is pieces[0]:
        step = source.text[piece[2].offset : piece[-1].end]
        moved = known[texts[0]]
        here = piece[0].offset == here and not any(t.text in known for t in piece[2:])
        return Root(moved.name, moved.type, moved.lanes or _by_lane(source, step, at.scope)) if here else None
    equals = texts.index("=") if "=" in texts else len(piece)
    head = [t for t in piece[:equals] if t.text not in _QUALIFIERS]
    if (
        not head
        or head[-1].kind != "name"
        or any(t.kind != "name" and t.text not in ("*", "::") for t in head)
    ):
        return None
    name = head[-1].text
    type_ = _type_of(source, pieces, piece, head)
    if type_ is None and len(head) == 1 and len(pieces) == 1:
        type_ = known[name].type if name in known else _declared_type(source, name, first)
    if type_ is None or name == at.name:
        return None
    if equals == len(piece):
        return Root(name, type_) if len(head) > 1 else None
    value = _pointer(source, piece[equals + 1 :])
    if value is None or value[0] not in known or (value[2] or known[value[0]].type) != type_:
        return None
    lanes = known[value[0]].lanes or any(_by_lane(source, s.text, at.scope) for s in value[1])
    return Root(name, type_, lanes)


def _type_of(
    source: Source, pieces: Sequence[Sequence[Token]], piece: Sequence[Token], head: Sequence[Token]
) -> str | None:
    """What a declarator points to, None where it declares no pointer."""
    if piece is pieces[0]:
        return _pointee(head[:-1]) or None
    if len(head) != 2 or head[0].text != "*":
        return None
    of = [t for t in pieces[0] if t.text not in _QUALIFIERS]
    star = next((n for n, t in enumerate(of) if t.text == "*"), 0)
    return _pointee(of[: star + 1]) or None


def _declared_type(source: Source, name: str, before: int) -> str | None:
    """What the pointer of a name points to, as declared before a token of its function."""
    code = source.code
    for i in range(before - 1, 0, -1):
        if code[i].text == name and code[i - 1].text == "*" and code[i + 1].text in (";", ",", "="):
            first = i
            while code[first - 1].text not in (";", "{", "}", "("):
                first -= 1
            return _type_of(source, *_declarator(_split(code[first : i + 1], ",")))
    return None


def _declarator(
    pieces: Sequence[Sequence[Token]],
) -> tuple[Sequence[Sequence[Token]], Sequence[Token], Sequence[Token]]:
    last = pieces[-1]
    return pieces, last, [t for t in last if t.text not in _QUALIFIERS]


def _by_lane(source: Source, text: str, scope: tuple[int, int]) -> bool:
    """Whether an expression depends on which thread it is, by all that its names are set to."""
    code = source.code
    function = source.scope_of(scope[0]) or scope
    set_to: dict[str, list[str]] = {}
    for i in range(*function):
        if code[i].kind == "name" and code[i + 1].text.endswith("=") and code[i + 1].text not in _COMPARED:
            end, depth = i + 2, 0
            while end < function[1] and depth >= 0 and (depth or code[end].text not in (";", ",")):
                depth += (code[end].text in _OPEN) - (code[end].text in _CLOSE)
                end += 1
            set_to.setdefault(code[i].text, []).extend(t.text for t in code[i + 2 : end])
    seen: set[str] = set()
    names = set(re.findall(r"(?<![\w.])[A-Za-z_]\w*", text))
    while names:
        if names & _LANES:
            return True
        seen |= names
        names = {n for name in names for n in set_to.get(name, ())} - seen
    return False
