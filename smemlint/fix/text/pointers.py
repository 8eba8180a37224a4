"""Local pointers into a shared array, as the text declares them: `float *Bs = smem + BM * BK;`.

A pool cut into parts is an array whose every part is reached through a pointer of its own that is set once.
Read here are the pointer's name, its element type, and where it starts, as an expression; nothing is
evaluated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from smemlint.fix.text.brackets import bare, outside, split
from smemlint.fix.text.source import Source, Token
from smemlint.records import record

_QUALIFIERS = frozenset(
    ("const", "volatile", "__restrict__", "__restrict", "restrict", "static", "constexpr")
)
_CASTS = frozenset(("reinterpret_cast", "static_cast"))


@record(frozen=True, slots=True)
class Step:
    """A summand of a pointer's start: source text [begin, end) counted in elements of `unit` (a type's
    spelling)."""

    begin: int
    end: int
    unit: str


@record(frozen=True, slots=True)
class Pointer:
    """A local pointer. index: its name's token in `Source.code`; type: of what it points to; base: the array
    or the pointer that it is derived from; used: byte offset of that name in the initialiser."""

    name: str
    index: int
    type: str
    base: str
    used: int
    steps: tuple[Step, ...]


def pointers(source: Source, pool: str, type_: str, first: int, last: int) -> list[Pointer]:
    """Every pointer whose start is read, those from other pointers included; one that moves is none.

    type_: of the array's elements. first, last: the tokens of its scope.
    """
    found: list[Pointer] = []
    todo = [(pool, type_, first, last)]
    while todo:
        base, of, begin, end = todo.pop(0)
        for i in _whole_uses(source, base, begin, end):
            pointer = _pointer(source, i, base, of)
            if pointer is None or any(p.name == pointer.name for p in found):
                continue
            found.append(pointer)
            scope = source.scope_of(pointer.index)
            after = _statement_end(source, pointer.index)
            todo.append((pointer.name, pointer.type, after, scope[1] if scope else last))
    return found


def _whole_uses(source: Source, name: str, first: int, last: int) -> Iterator[int]:
    """Uses of a name that are no access of an element: without a subscript, or with its address taken."""
    for use in source.uses(name, first, last, 1):
        i = source.index_at(use.offset)
        if use.context == "whole" or (use.context == "subscript" and source.code[i - 1].text == "&"):
            yield i


def _statement_end(source: Source, index: int) -> int:
    while index < len(source.code) and source.code[index].text != ";":
        index += 1
    return index


def _pointer(source: Source, index: int, base: str, of: str) -> Pointer | None:
    """The pointer that is declared where a base stands, None when it is not one of those that are read."""
    pieces = split(source.code[source.statement(index)[0] : _statement_end(source, index)], ",")
    here = source.code[index].offset
    at = next((n for n, p in enumerate(pieces) if p and p[0].offset <= here <= p[-1].offset), None)
    if at is None:
        return None
    piece = pieces[at]
    texts = [t.text for t in piece]
    if "=" not in texts:
        return None
    equals = texts.index("=")
    head = [t for t in piece[:equals] if t.text not in _QUALIFIERS]
    if at:  # a later declarator takes the type of the first
        first = [t for t in pieces[0] if t.text not in _QUALIFIERS]
        stars = [n for n, t in enumerate(first) if t.text == "*"]
        if not stars:
            return None
        head = [*first[: stars[0]], *head]
    if len(head) == len(pieces) == 1 and head[0].kind == "name":
        type_ = _declared_before(source, source.index_at(head[0].offset))
    elif len(head) < 3 or head[-2].text != "*" or head[-1].kind != "name":
        return None
    else:
        type_ = _spelled(head[:-2])
    if type_ is None:
        return None
    steps = _steps(piece[equals + 1 :], base, of, type_)
    if steps is None:
        return None
    name = head[-1]
    if _set_again(source, name.text, source.index_at(name.offset)):
        return None
    return Pointer(name.text, source.index_at(name.offset), type_, base, here, steps[0])


def _declared_before(source: Source, index: int) -> str | None:
    """What a pointer points to that is set at a token, where it is declared before in the same braces,
    without a start, and not named between (`float *Q, *K; Q = smem;`)."""
    code, scope = source.code, source.scope_of(index)
    i = index - 1
    while i > 0 and code[i].text != code[index].text:
        i -= 1
    if scope is None or source.scope_of(i) != scope or code[i + 1].text not in (",", ";"):
        return None
    first = [t for t in code[source.statement(i)[0] : i] if t.text not in _QUALIFIERS]
    stars = [n for n, t in enumerate(first) if t.text == "*"]
    if not stars or first[-1].text != "*" or first[-2].text in ("*", "="):
        return None
    return _spelled(first[: stars[0]])


def _set_again(source: Source, name: str, index: int) -> bool:
    scope = source.scope_of(index)
    for i in range(index + 1, scope[1] if scope else len(source.code)):
        if source.code[i].text != name or source.code[i - 1].text in (".", "->", "::"):
            continue
        after = source.code[i + 1].text
        if after in ("=", "++", "--", "+=", "-=") or source.code[i - 1].text in ("++", "--"):
            return True
    return False


def _spelled(tokens: Sequence[Token]) -> str | None:
    """A type of names only, `unsigned char`."""
    if not tokens or any(t.kind != "name" and t.text != "::" for t in tokens):
        return None
    return " ".join(t.text for t in tokens).replace(" :: ", "::")


def _steps(
    tokens: Sequence[Token], base: str, of: str, want: str | None
) -> tuple[tuple[Step, ...], str] | None:
    """The summands after the base and the type that the expression points to; None for anything else.

    want: the type that it must point to in the end.
    """
    tokens = bare(tokens)
    found: tuple[tuple[Step, ...], str] | None
    summands = split(tokens, "+")
    if any(not s for s in summands) or outside(tokens, ("-", "?", ",", "<<", ">>", "&&", "||", "=")):
        return None
    if len(summands) > 1:
        holding = [n for n, s in enumerate(summands) if any(t.text == base for t in s)]
        if holding != [0]:
            return None
        found = _steps(summands[0], base, of, None)
        if found is None:
            return None
        own = tuple(Step(s[0].offset, s[-1].end, found[1]) for s in summands[1:])
        found = ((*found[0], *own), found[1])
    else:
        found = _unary(tokens, base, of)
    if found is None or (want is not None and found[1] != want):
        return None
    return found


def _unary(tokens: Sequence[Token], base: str, of: str) -> tuple[tuple[Step, ...], str] | None:
    texts = [t.text for t in tokens]
    if texts == [base]:
        return (), of
    if texts[0] == "&" and len(texts) > 4 and texts[1] == base and texts[2] == "[" and texts[-1] == "]":
        return (Step(tokens[3].offset, tokens[-2].end, of),), of
    if texts[0] in _CASTS and ">" in texts:
        close = texts.index(">")
        to = _pointee(tokens[2:close])
        inner = _steps(tokens[close + 1 :], base, of, None)
        return (inner[0], to) if inner is not None and to is not None else None
    if texts[0] == "(" and ")" in texts:
        close = texts.index(")")
        to = _pointee(tokens[1:close])
        rest = tokens[close + 1 :]
        if to is None or not rest:
            return None
        inner = _steps(rest, base, of, None)
        return (inner[0], to) if inner is not None else None
    return None


def _pointee(tokens: Sequence[Token]) -> str | None:
    kept = [t for t in tokens if t.text not in _QUALIFIERS]
    return _spelled(kept[:-1]) if len(kept) > 1 and kept[-1].text == "*" else None
