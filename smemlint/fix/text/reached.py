"""Accesses through pointers as the text has them: `*((float4 *)(rows + r * 64) + lane)`.

In: the place of an access, and an array. Out: the pointer at the root of the access with what is added to it;
and all pointers that lead into the array, where the text shows every use of each.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence

from smemlint.evaluate.model import Site
from smemlint.fix.model import Refusal
from smemlint.fix.text.brackets import (
    arguments,
    around,
    bare,
    end_of,
    opening_bracket,
    outside,
    position_in,
    split,
)
from smemlint.fix.text.declared import Declared
from smemlint.fix.text.flat import Term, terms
from smemlint.fix.text.macros import expanded, is_name_of, macros, spelled
from smemlint.fix.text.passed import callee, calls
from smemlint.fix.text.source import Source, Token, parse_range
from smemlint.records import record

_QUALIFIERS = frozenset(("const", "volatile", "__restrict__", "__restrict", "restrict", "static"))
_WEAK = ("<<", ">>", "&", "|", "^", "?", ":", "<", ">", "<=", ">=", "==", "!=", "&&", "||", ",", "=")
_CASTS = ("reinterpret_cast", "static_cast")
_BY_ADDRESS = ("ldmatrix", "stmatrix", "cp.async")
"""Operations that are given an address: where it is computed stands elsewhere in the text."""
_COMPARED = ("==", "!=", "<=", ">=")
_ADDRESS = ("__cvta_generic_to_shared", "__pipeline_memcpy_async", "memcpy_async")
"""Functions that take the address of one access first."""
ROW = "[]"
"""The unit of a summand that counts rows of an array of two dimensions, `stages[n]`."""
_LANES = frozenset(("threadIdx", "thread_rank", "laneid"))


@record(frozen=True, slots=True)
class Summand:
    """What is added to a pointer: source text, counted in elements of a type; '' is the pointer's own.
    begin, end: where it stands."""

    text: str
    unit: str
    begin: int = 0
    end: int = 0


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
    points differs from thread to thread, as its definitions say; whole: it is the array."""

    name: str
    type: str
    lanes: bool = False
    whole: bool = False


@record(frozen=True, slots=True)
class Room:
    """A function that reaches an array, as far as the array is in sight. first, last: its tokens; roots: the
    array or its parameter, and every pointer that is set from it; parameters: names of all of them, of a
    function that gets the array."""

    first: int
    last: int
    roots: dict[str, Root]
    parameters: frozenset[str] = frozenset()

    def by_lane(self, source: Source, text: str, given: frozenset[str] = frozenset()) -> bool:
        """Whether an expression differs from thread to thread. given: names that may do so."""
        return by_lane(source, text, (self.first, self.last), given)


@record(frozen=True, slots=True)
class Rooms:
    """All functions that reach an array. addresses: byte ranges of pointer expressions whose address is taken
    as it is (`__cvta_generic_to_shared`). ways: what is added where a pointer is set, moved or passed on, in
    elements of the pointer that it comes from."""

    rooms: tuple[Room, ...]
    addresses: tuple[tuple[int, int], ...]
    ways: tuple[tuple[int, int], ...] = ()

    def at(self, source: Source, offset: int) -> Room | None:
        index = source.index_at(offset)
        return next((room for room in self.rooms if room.first <= index < room.last), None)


def reached(source: Source, begin: int, end: int) -> Reach | None:
    """The access in [begin, end), None where it is not one of those that are read."""
    tokens = _without_members(parse_range(source, begin, end))
    tokens = expanded(macros(source), tokens) or tokens
    if not tokens:
        return None
    if tokens[0].text == "*":
        found = _pointer(source, tokens[1:])
        return None if found is None else Reach(*found, subscript=False)
    element = _element(source, tokens)
    return None if element is None else Reach(*element, subscript=True)


def access_end(source: Source, begin: int, end: int) -> int:
    """Where an access ends without the member that is taken of it."""
    tokens = _without_members(parse_range(source, begin, end))
    return tokens[-1].end if tokens else end


def _without_members(tokens: Sequence[Token]) -> Sequence[Token]:
    while len(tokens) > 2 and tokens[-2].text == "." and tokens[-1].kind == "name":
        tokens = tokens[:-2]
    return tokens


def address(source: Source, begin: int, end: int) -> Reach | None:
    """The pointer expression in [begin, end), None where it is not one of those that are read."""
    found = _pointer(source, parse_range(source, begin, end))
    return None if found is None else Reach(*found, subscript=False)


def _pointer(
    source: Source, tokens: Sequence[Token], deep: int = 0
) -> tuple[str, tuple[Summand, ...], str] | None:
    """Root, summands and the type that a pointer expression points to; None for anything else."""
    tokens = bare(tokens)
    if not tokens:
        return None
    if any(t.text in ("++", "--", "&&") for t in tokens):
        return None
    parts = split(tokens, "+")
    if len(parts) > 1:
        if not all(parts) or outside(tokens, [w for w in _WEAK if w != "&"]):
            return None
        first = _pointer(source, parts[0], deep)
        if first is None:
            return None
        root, summands, cast = first
        return root, (*summands, *(_summand(source, p, cast) for p in parts[1:])), cast
    return _alone(source, tokens, deep)


def _alone(source: Source, tokens: Sequence[Token], deep: int) -> tuple[str, tuple[Summand, ...], str] | None:
    """The same of what is no sum: a name, a cast, the address of an element, a macro for any of these."""
    stands_for = expanded(macros(source), tokens, deep)
    if stands_for is not None:
        return _pointer(source, stands_for, deep + 1)
    if len(tokens) == 1:
        return (tokens[0].text, (), "") if tokens[0].kind == "name" else None
    if tokens[0].text in _CASTS and len(tokens) > 5 and tokens[1].text == "<":
        close = next((n for n, t in enumerate(tokens) if t.text == ">"), 0)
        to, rest = _pointee(tokens[2:close]), tokens[close + 1 :]
        if len(rest) < 3 or rest[0].text != "(":
            return None
    elif tokens[0].text == "(":
        close = next((n for n, t in enumerate(tokens) if t.text == ")"), 0)
        to, rest = _pointee(tokens[1:close]), tokens[close + 1 :]
    elif tokens[0].text == "&":
        return _element(source, expanded(macros(source), tokens[1:], deep) or tokens[1:], deep)
    elif (
        tokens[0].kind == "name"
        and tokens[-1].text == "]"
        and opening_bracket(tokens) == 1
        and len(tokens) > 3
    ):
        row = Summand(spelled(source, tokens[2:-1]), ROW, tokens[2].offset, tokens[-2].end)
        return tokens[0].text, (row,), ""
    else:
        return None
    if not to or not rest:
        return None
    found = _pointer(source, rest, deep)
    return None if found is None else (found[0], found[1], to)


def _element(
    source: Source, tokens: Sequence[Token], deep: int = 0
) -> tuple[str, tuple[Summand, ...], str] | None:
    """The same of the address of an element that is written `p[i]`."""
    if not tokens or tokens[-1].text != "]":
        return None
    bracket = opening_bracket(tokens)
    inner = _pointer(source, tokens[:bracket], deep)
    if inner is None or bracket + 1 >= len(tokens) - 1:
        return None
    root, summands, cast = inner
    return root, (*summands, _summand(source, tokens[bracket + 1 : -1], cast)), cast


def _summand(source: Source, tokens: Sequence[Token], unit: str) -> Summand:
    tokens = bare(tokens)
    text = spelled(source, tokens)
    whole = f"({text})" if outside(tokens, _WEAK) else text
    return Summand(whole, unit, tokens[0].offset, tokens[-1].end)


def parts_of(source: Source, summand: Summand) -> list[Summand]:
    """A summand in its own summands, where it is a sum that stands in the text as such."""
    tokens = parse_range(source, summand.begin, summand.end)
    parts = split(tokens, "+")
    if not all(parts) or outside(tokens, _WEAK) or spelled(source, tokens) != summand.text:
        return [summand]
    return [_summand(source, part, summand.unit) for part in parts]


def _pointee(tokens: Sequence[Token]) -> str:
    """`unsigned char` of `const unsigned char *`, '' for what is no pointer type."""
    kept = [t for t in tokens if t.text not in _QUALIFIERS]
    if len(kept) < 2 or kept[-1].text != "*" or any(t.kind != "name" and t.text != "::" for t in kept[:-1]):
        return ""
    return " ".join(t.text for t in kept[:-1]).replace(" :: ", "::")


def rooms(at: Declared, type_: str, accesses: Sequence[tuple[int, int]]) -> Rooms | Refusal:
    """Every function that reaches an array, by pointers that it sets or gets; a Refusal where a use of one is
    no access that is known, sets no other, and is not passed to a function that only this array reaches.

    type_: of the array's elements, as spelled. accesses: byte ranges.
    """
    source = at.source
    own = Room(*at.scope, {at.name: Root(at.name, type_, whole=True)})
    found: dict[tuple[str, int], Room] = {("", 0): own}
    addresses: dict[tuple[int, int], None] = {}
    ways: dict[tuple[int, int], None] = {}
    while True:
        before = sum(len(room.roots) + sum(r.lanes for r in room.roots.values()) for room in found.values())
        for room in list(found.values()):
            for i in _uses(source, room, accesses):
                told = _use(at, room, i, found, addresses, ways)
                if told is not None:
                    return told
        if before == sum(len(m.roots) + sum(r.lanes for r in m.roots.values()) for m in found.values()):
            break
    for name in {*(name for name, _ in found if name), *(root for r in found.values() for root in r.roots)}:
        leading = [macros(source)[macro].body for macro in _leading_to(source, (name,))]
        read = {t.offset for body in leading for t in body if [x.text for x in body].count(name) == 1}
        read |= {u.offset for u in source.macro_uses(name) if is_name_of(source, u.offset)}
        macro = next((use for use in source.macro_uses(name) if use.offset not in read), None)
        if macro is not None:
            return Refusal("used-in-macro", f"a macro on line {macro.line} names `{name}`")
    for name, position in found:
        if name and not _only_with(source, name, position, list(found.values())):
            return Refusal("passed-on", f"`{name}`, which gets `{at.name}`, is also called with others")
    return Rooms(tuple(found.values()), tuple(addresses), tuple(ways))


def _uses(source: Source, room: Room, accesses: Sequence[tuple[int, int]]) -> list[int]:
    """The tokens that name a root outside of all accesses, or a macro that leads to one."""
    names = {*room.roots, *_leading_to(source, room.roots)}
    found = []
    for i in range(room.first, room.last):
        token = source.code[i]
        if token.text not in names or token.kind != "name":
            continue
        if source.code[i - 1].text in (".", "->", "::"):
            continue
        if not any(a <= token.offset < b for a, b in accesses):
            found.append(i)
    return found


def _leading_to(source: Source, roots: Container[str]) -> set[str]:
    """Macros that stand for one of the pointers, for a sum that begins with one, or for an element."""
    return {
        name
        for name, macro in macros(source).items()
        if (value := _pointer(source, macro.body) or _element(source, macro.body)) and value[0] in roots
    }


def _use(
    at: Declared,
    room: Room,
    index: int,
    found: dict[tuple[str, int], Room],
    addresses: dict[tuple[int, int], None],
    ways: dict[tuple[int, int], None],
) -> Refusal | None:
    """Note what a use of a root leads to; a Refusal where it cannot be followed."""
    source = at.source
    token = source.code[index]
    set_ = _sets(at, room, index, ways)
    if set_ is not None:
        if set_.name not in room.roots or (set_.lanes and not room.roots[set_.name].lanes):
            room.roots[set_.name] = set_
        return None
    refused = Refusal(
        "passed-on", f"`{token.text}` is used as a pointer on line {source.line_of(token.offset)}"
    )
    call = _call_around(source, index)
    if call is None:
        return refused
    parts, _ = arguments(source, call)
    position = position_in(parts, index)
    value = _pointer(source, source.code[slice(*parts[position])])
    if value is None or value[0] not in room.roots:
        return refused
    called = callee(source, call)
    operand = source.code[call - 1].kind == "string"
    if operand or (called is not None and called[0] in _ADDRESS and position == 0):
        first, last = parts[position]
        addresses[source.code[first].offset, source.code[last - 1].end] = None
        return None
    if called is None:
        return refused
    root = room.roots[value[0]]
    ways.update(dict.fromkeys(_added(value[1])))
    lanes = root.lanes or any(room.by_lane(source, s.text) for s in value[1])
    inner = _parameter(source, called[0], position, lanes)
    if inner is None or (value[2] or root.type) != next(iter(inner.roots.values())).type:
        return refused
    known = found.setdefault((called[0], position), inner)
    if any(other.first == inner.first for key, other in found.items() if key != (called[0], position)):
        return refused
    name = next(iter(inner.roots))
    if lanes and not known.roots[name].lanes:
        known.roots[name] = inner.roots[name]
    return None


def _call_around(source: Source, index: int) -> int | None:
    """The `(` of the innermost call, or operand of `asm`, around a token; casts and macros are left out."""
    for j in around(source.code, index):
        before = source.code[j - 1]
        called = callee(source, j) or ("", False)
        within = (before.text == ">" and called[0] in _CASTS) or before.text in macros(source)
        called_so = before.kind in ("name", "string") or before.text == ">"
        if source.code[j].text == "(" and called_so and not within:
            return j
    return None


def _parameter(source: Source, function: str, position: int, lanes: bool) -> Room | None:
    """The body of a function that the file defines once, with the pointer parameter at a position."""
    found: Room | None = None
    for opening, declares in calls(source, function):
        if not declares or opening < 0:
            continue
        parts, end = arguments(source, opening)
        if source.code[end + 1].text != "{":
            continue
        if found is not None or position >= len(parts):
            return None
        heads = [
            [t for t in source.code[a:b] if t.text not in _QUALIFIERS and t.text != "&"] for a, b in parts
        ]
        if any(not head for head in heads):
            return None
        mine = heads[position]
        type_ = _pointee(mine[:-1]) if mine[-1].kind == "name" else ""
        if not type_:
            return None
        last = arguments(source, end + 1)[1]
        names = frozenset(head[-1].text for head in heads)
        found = Room(end + 2, last, {mine[-1].text: Root(mine[-1].text, type_, lanes)}, names)
    return found


def _only_with(source: Source, function: str, position: int, known: Sequence[Room]) -> bool:
    """Whether all calls of a function in the file pass a pointer that is known."""
    for opening, declares in calls(source, function):
        if declares:
            continue
        room = next((room for room in known if room.first <= opening < room.last), None)
        parts, _ = arguments(source, opening) if opening >= 0 else ([], 0)
        if room is None or position >= len(parts):
            return False
        value = _pointer(source, source.code[slice(*parts[position])])
        if value is None or value[0] not in room.roots:
            return False
    return True


def _accesses_of(at: Declared, sites: Sequence[Site]) -> list[tuple[int, int]] | Refusal:
    """Byte ranges of the accesses that stand in the text as such, or as one call of a macro; a Refusal where
    one is hidden in a longer macro, stands in another file or within another one."""
    source = at.source
    plain = [s.place for s in sites if s.op not in _BY_ADDRESS]
    ranges = {(p.offset, access_end(source, p.offset, p.end_offset)) for p in plain}
    called = [p for p in plain if p.macro is not None and p.path == source.path]
    hidden = any(reached(source, p.offset, p.end_offset) is None for p in called)
    if hidden or any(p.path != source.path for p in plain):
        line = next((u.line for u in at.uses if u.context == "whole"), source.line_of(at.scope[0]))
        return Refusal("passed-on", f"`{at.name}` is used as a pointer on line {line}")
    if any(o != r and o[0] <= r[0] and r[1] <= o[1] for o in ranges for r in ranges):
        return Refusal("nested-use", f"an access of `{at.name}` stands in the index of another one")
    return sorted(ranges)


def terms_of(source: Source, access: Reach) -> list[Term]:
    """The summands of an access as products, those that count elements of the root."""
    own = [s for s in access.summands if not s.unit]
    return [term for s in own for term in terms(source, s.begin, s.end)]


def way_terms(source: Source, found: Rooms) -> list[list[Term]]:
    """The same of what is added where pointers are set, moved or passed on."""
    return [terms(source, begin, end) for begin, end in found.ways]


def found_in(
    at: Declared, type_: str, sites: Sequence[Site]
) -> tuple[Rooms, list[tuple[int, int, Reach]]] | Refusal:
    """Every function that reaches an array, and every access or address of an element, read."""
    source = at.source
    ranges = _accesses_of(at, sites)
    if isinstance(ranges, Refusal):
        return ranges
    found = rooms(at, type_, ranges)
    if isinstance(found, Refusal):
        return found
    result = []
    for begin, end in sorted({*ranges, *found.addresses}):
        room = found.at(source, begin)
        access = (
            address(source, begin, end) if (begin, end) in found.addresses else reached(source, begin, end)
        )
        if room is None or access is None or access.root not in room.roots:
            line = source.text[begin:end].partition("\n")[0].strip()
            where = f"`{line}` on line {source.line_of(begin)}"
            return Refusal("passed-on", f"{where} reaches `{at.name}` in a way that is not rewritten")
        result.append((begin, end, access))
    return found, result


def _added(summands: Sequence[Summand]) -> list[tuple[int, int]]:
    """Where what is added to a pointer stands, in elements of its own."""
    return [(s.begin, s.end) for s in summands if not s.unit and s.end]


def _sets(at: Declared, room: Room, index: int, ways: dict[tuple[int, int], None]) -> Root | None:
    """The pointer that a statement declares, or sets from another one that is known; None for any other use
    of the name at a token. ways: takes what is added there."""
    source, known = at.source, room.roots
    code = source.code
    first, last = source.statement(index)
    pieces = split(code[first:last], ",")
    here = code[index].offset
    piece = next((p for p in pieces if p and p[0].offset <= here <= p[-1].offset), None)
    if piece is None or code[last].text != ";":
        return None
    texts = [t.text for t in piece]
    if texts[1:2] == ["+="] and texts[0] in known and piece is pieces[0]:
        step = source.text[piece[2].offset : piece[-1].end]
        moved = known[texts[0]]
        here = piece[0].offset == here and not any(t.text in known for t in piece[2:])
        ways[piece[2].offset, piece[-1].end] = None
        return Root(moved.name, moved.type, moved.lanes or room.by_lane(source, step)) if here else None
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
    if type_ is None or (name in known and known[name].whole):
        return None
    if equals == len(piece):
        return Root(name, type_) if len(head) > 1 else None
    value = _pointer(source, piece[equals + 1 :])
    if value is None or value[0] not in known or (value[2] or known[value[0]].type) != type_:
        return None
    ways.update(dict.fromkeys(_added(value[1])))
    lanes = known[value[0]].lanes or any(room.by_lane(source, s.text) for s in value[1])
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
            return _type_of(source, *_declarator(split(code[first : i + 1], ",")))
    return None


def _declarator(
    pieces: Sequence[Sequence[Token]],
) -> tuple[Sequence[Sequence[Token]], Sequence[Token], Sequence[Token]]:
    last = pieces[-1]
    return pieces, last, [t for t in last if t.text not in _QUALIFIERS]


def by_lane(source: Source, text: str, scope: tuple[int, int], given: frozenset[str] = frozenset()) -> bool:
    """Whether an expression depends on which thread it is, by all that its names are set to.

    given: names that may differ as well.
    """
    code = source.code
    function = source.scope_of(scope[0]) or scope
    set_to: dict[str, list[str]] = {}
    for i in range(*function):
        if code[i].kind == "name" and code[i + 1].text.endswith("=") and code[i + 1].text not in _COMPARED:
            end = end_of(code, i + 2, function[1], ";", ",")
            set_to.setdefault(code[i].text, []).extend(t.text for t in code[i + 2 : end])
    seen: set[str] = set()
    names = set(re.findall(r"(?<![\w.])[A-Za-z_]\w*", text))
    while names:
        if names & _LANES or names & given:
            return True
        seen |= names
        names = {n for name in names for n in set_to.get(name, ())} - seen
    return False
