"""Flattened arrays: the row pitch inside an index such as `As[(r + 1) * BK + c]`, found in the text.

An index is split into terms, a term into factors; the pitch is a factor with a constant value that the
rows of every use are multiplied by. Whether the reading is right is proved afterwards, address by address.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from smemlint.fix.text.brackets import end_of, inside, outside, split
from smemlint.fix.text.literals import integer
from smemlint.fix.text.source import Source, Token, Use, parse_range
from smemlint.records import record

_WEAK = frozenset(
    ("<<", ">>", "&", "|", "^", "?", ":", "<", ">", "<=", ">=", "==", "!=", "&&", "||", ",", "=")
)
_DEEP = 4
"""How often what a local variable is set to is put in its place."""
_LOCAL = ("int", "unsigned", "size_t", "uint32_t", "int32_t", "uint", "auto", "long", "short", "const")


@record(frozen=True, slots=True)
class Factor:
    """Source text [offset, end); `text` without white space and comments."""

    offset: int
    end: int
    text: str


@record(frozen=True, slots=True)
class Term:
    factors: tuple[Factor, ...]


def terms(source: Source, start: int, end: int) -> list[Term]:
    """The summands of the expression in [start, end), each a product of factors. A sum in parentheses
    that is a summand itself is opened; anything that is no product stays one factor."""
    tokens = parse_range(source, start, end)
    return _terms(tokens)


def _terms(tokens: Sequence[Token]) -> list[Term]:
    if not tokens:
        return []
    if outside(tokens, _WEAK):
        return [Term((_factor(tokens),))]
    found: list[Term] = []
    for run in filter(None, split(tokens, "+", "-")):
        inner = inside(run)
        if inner is not None:
            found.extend(_terms(inner))
            continue
        divided = _divided(run)
        parts = [part for part in split(run[divided:], "*") if part]
        quotient = [_factor(run[:divided])] if divided else []
        found.append(Term((*quotient, *(_factor(part) for part in parts))))
    return found


def _divided(run: Sequence[Token]) -> int:
    """How many tokens of a product belong to a quotient or a rest: those of `t / 8` in `t / 8 * P`."""
    if not outside(run, ("/", "%")):
        return 0
    divisor = split(run, "/", "%")[-1]
    first = int(bool(divisor) and divisor[0].text == "*")  # of a pointer
    return len(run) - len(divisor) + end_of(divisor, first, len(divisor), "*")


def _factor(tokens: Sequence[Token]) -> Factor:
    return Factor(tokens[0].offset, tokens[-1].end, "".join(t.text for t in tokens))


@record(frozen=True, slots=True)
class IndexText:
    """One index expression of the array: of a use itself, or of the local variable that holds it.

    span: byte range of the variable's initialiser.
    """

    terms: tuple[Term, ...]
    local: str | None = None
    span: tuple[int, int] = (0, 0)


def index_texts(source: Source, uses: Sequence[Use], scope: tuple[int, int]) -> tuple[list[IndexText], str]:
    """The last index of all uses, locals followed one level deep, each variable's definition once.

    A local that also serves something else is taken as it is; the second result says in words where it does.
    So is one that rows are multiplied by elsewhere: `t[i + width]` is one row further.
    """
    shared = ""
    found: list[IndexText] = []
    seen: set[int] = set()
    inside = [(s.open, s.close) for use in uses for s in use.subscripts]
    multiplied = _multipliers(source, uses, scope)
    for use in uses:
        subscript = use.subscripts[-1]
        own = terms(source, subscript.open + 1, subscript.close)
        rest: list[Term] = []
        for term in own:
            name = term.factors[0].text if term.factors else ""
            if len(term.factors) != 1 or not re.fullmatch(r"[A-Za-z_]\w*", name):
                rest.append(term)
                continue
            definition = definition_at(source, name, scope, subscript.open)
            if definition is None:
                rest.append(term)
                continue
            parts = terms(source, *definition)
            alone = name in multiplied and not by_thread(source, source.text[slice(*definition)], scope)
            if alone or not any(len(part.factors) > 1 for part in parts):
                rest.append(term)
                continue
            if definition[0] not in seen:
                elsewhere = used_elsewhere(source, name, definition, inside, scope)
                if elsewhere is not None:
                    shared = shared or f"the index `{name}` is also used on line {elsewhere}"
                    rest.append(term)
                    continue
                seen.add(definition[0])
                found.append(IndexText(tuple(parts), name, definition))
        found.append(IndexText(tuple(rest)))
    return found, shared


def _multipliers(source: Source, uses: Sequence[Use], scope: tuple[int, int]) -> set[str]:
    """What stands in products in the last indices, those that local variables hold included."""
    found: set[str] = set()
    for use in uses:
        subscript = use.subscripts[-1]
        for term in terms(source, subscript.open + 1, subscript.close):
            parts = [term]
            if len(term.factors) == 1 and re.fullmatch(r"[A-Za-z_]\w*", term.factors[0].text):
                definition = definition_at(source, term.factors[0].text, scope, subscript.open)
                parts += terms(source, *definition) if definition is not None else []
            found.update(f.text for part in parts if len(part.factors) > 1 for f in part.factors)
    return found


def by_thread(source: Source, text: str, scope: tuple[int, int]) -> bool:
    """Whether an expression names the thread, by itself or through local variables."""
    return "threadIdx" in opened(source, text, scope)


def opened(source: Source, text: str, scope: tuple[int, int], near: int | None = None) -> str:
    """An expression with the local integers in it replaced by what they are set to."""
    for _ in range(_DEEP):
        count = 0

        def one(match: re.Match[str]) -> str:
            nonlocal count
            definition = definition_at(source, match.group(), scope, near)
            if definition is None:
                return match.group()
            count += 1
            return f"({source.text[slice(*definition)]})"

        text = re.sub(r"(?<![\w.])(?<!->)[A-Za-z_]\w*(?![\w(:])", one, text)
        if not count:
            break
    return text


def definition_at(
    source: Source, name: str, scope: tuple[int, int], near: int | None
) -> tuple[int, int] | None:
    """The same as `local_definition` for a place in the text: of several variables of one name, each in a
    block of its own, the one that is in sight there."""
    alone = local_definition(source, name, scope)
    if alone is not None or near is None:
        return alone
    index = source.index_at(near)
    for i in range(index - 1, scope[0], -1):
        if (
            source.code[i].text == name
            and source.code[i + 1].text == "="
            and source.code[i - 1].text in _LOCAL
        ):
            block = source.scope_of(i)
            if block is not None and block[0] < index < block[1]:
                return local_definition(source, name, (i - 1, block[1]))
    return None


@lru_cache(maxsize=512)
def local_definition(source: Source, name: str, scope: tuple[int, int]) -> tuple[int, int] | None:
    """Byte range of the initialiser of a local integer that is set once, None for anything else."""
    first, last = scope
    code = source.code
    definition: tuple[int, int] | None = None
    for i in range(max(first, 1), last):
        if code[i].text != name or code[i].kind != "name" or code[i - 1].text in (".", "->", "::"):
            continue
        after, before = code[i + 1].text, code[i - 1].text
        if after == "=":
            if definition is not None or before not in _LOCAL:
                return None
            j = end_of(code, i + 2, last, ";", ",")
            if j < last and code[j].text not in (";", ","):
                return None
            definition = (code[i + 2].offset, code[j - 1].end)
        elif (
            after in ("++", "--")
            or before in ("++", "--", "&")
            or re.fullmatch(r"(<<|>>|[-+*/%&|^])=", after)
        ):
            return None
    return definition


def used_elsewhere(
    source: Source,
    name: str,
    definition: tuple[int, int],
    inside: Sequence[tuple[int, int]],
    scope: tuple[int, int],
) -> int | None:
    """Line of the first use of a local outside the given places, None when there is none."""
    at = source.index_at(definition[0]) - 2
    block = source.scope_of(at) or scope
    for i in range(max(at, scope[0]), min(block[1], scope[1])):
        token = source.code[i]
        if token.text != name or token.kind != "name" or source.code[i - 1].text in (".", "->", "::"):
            continue
        if source.code[i + 1].text == "=" and source.code[i + 2].offset == definition[0]:
            continue
        if not any(start <= token.offset < end for start, end in inside):
            return source.line_of(token.offset)
    return None


@record(frozen=True, slots=True)
class Said:
    """Where indices say a row pitch. factors: what an edit replaces; names: of local variables that are made
    of it, and that only indices use: `slice = width * height`; shared: why one of them may not change."""

    factors: tuple[Factor, ...]
    names: frozenset[str] = frozenset()
    shared: str = ""


def said(
    source: Source, uses: Sequence[Use], indices: Sequence[IndexText], pitch: str, at: tuple[int, int]
) -> Said:
    """Every place at which the indices of an array say a row pitch. at: the scope of the array."""
    found = {f.offset: f for f in occurrences(indices, pitch)}
    inside = [(s.open, s.close) for use in uses for s in use.subscripts]
    inside += [index.span for index in indices if index.local]
    names: set[str] = set()
    shared = ""
    if re.fullmatch(r"[A-Za-z_]\w*", pitch):
        for factor in (f for index in indices for t in index.terms for f in t.factors):
            if factor.text == pitch:
                found[factor.offset] = factor
                continue
            if factor.text in names or not re.fullmatch(r"[A-Za-z_]\w*", factor.text):
                continue
            definition = definition_at(source, factor.text, at, factor.offset)
            if definition is None or by_thread(source, factor.text, at):
                continue
            products = [t for t in terms(source, *definition) if pitch in {f.text for f in t.factors}]
            hits = occurrences([IndexText(tuple(products))], pitch)
            if not hits or len(hits) < len(products):
                continue
            elsewhere = used_elsewhere(source, factor.text, definition, inside, at)
            if elsewhere is not None:
                shared = (
                    shared or f"`{factor.text}`, which the row pitch is in, is also used on line {elsewhere}"
                )
                continue
            names.add(factor.text)
            found.update((hit.offset, hit) for hit in hits)
    return Said(tuple(found.values()), frozenset(names), shared)


def pitches(
    indices: Sequence[IndexText], size: Sequence[Term], value: Callable[[str], int | None]
) -> list[str]:
    """Factors that could be the row pitch, the likeliest first: constant, above 1, in most of the uses.

    size: the terms of the declared extent, where the pitch should be a factor too.
    """
    count: Counter[str] = Counter()
    for index in indices:
        # each once, in the order of the text, which settles ties
        count.update(
            list(dict.fromkeys(f.text for t in index.terms if len(t.factors) > 1 for f in t.factors))
        )
    declared = {f.text for t in size for f in t.factors}
    found = [text for text in count if (value(text) or 0) > 1]
    return sorted(found, key=lambda text: (text not in declared, -count[text], -(value(text) or 0)))


def occurrences(indices: Iterable[IndexText], pitch: str) -> list[Factor]:
    """Where a pitch stands in row terms; a term that is its square counts its last factor."""
    found = []
    for index in indices:
        for term in index.terms:
            if len(term.factors) < 2:
                continue
            hits = [f for f in term.factors if f.text == pitch]
            found.extend(hits[-1:])
    return found


def new_size(
    text: str, size: Sequence[Term], base: int, pitch: str, name: str, whole: int, value: int, said: str = ""
) -> str | None:
    """The declared extent with the pitch's new name: `BM * BK` -> `BM * AS_PITCH`, `256` -> `16 * AS_PITCH`,
    `TILE_SIZE` -> `TILE_SIZE / BK * AS_PITCH`.

    base: byte offset of `text`; whole, value: extent and pitch as numbers; said: the pitch as it can be
    written there. None when it cannot be said.
    """
    if whole % value:
        return None
    hits = [[f for f in term.factors if f.text == pitch] for term in size]
    if all(hits) and size:
        result = text
        for found in reversed(hits):
            factor = found[-1]
            result = result[: factor.offset - base] + name + result[factor.end - base :]
        return result
    said = said or pitch
    if integer(text) is not None and integer(said) is not None:
        return f"{whole // value} * {name}"
    product = text.strip() if re.fullmatch(r"[\w\s*]+", text) else f"({text.strip()})"
    row = said if said.isidentifier() or integer(said) is not None else f"({said})"
    return f"{product} / {row} * {name}"
