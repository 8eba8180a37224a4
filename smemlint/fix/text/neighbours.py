"""The summands of an index that a swizzle leaves alone: whole periods of it, and steps by single elements.

In: an index as the text has it. Out: the summands that are multiples of a number, and the others; the one
that tells neighbours apart (the `j` of `row * 8 + j`), split into whole groups of neighbours and the rest.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from math import prod

from smemlint.fix.text.brackets import outside, split
from smemlint.fix.text.flat import Factor, Term, local_definition, terms
from smemlint.fix.text.literals import integer
from smemlint.fix.text.source import Source, parse_range
from smemlint.records import record

_WEAK = ("-", "<<", ">>", "&", "|", "^", "?", ":", "<", ">", "<=", ">=", "==", "!=", "&&", "||", ",", "=")


@record(frozen=True, slots=True)
class Low:
    """A summand at [begin, end). groups: what of it counts whole groups, within: the rest, as text."""

    begin: int
    end: int
    groups: str
    within: str


def low_of(source: Source, begin: int, end: int, kept: int) -> Low | None:
    """The one summand of the index in [begin, end) that steps by single elements, split at groups of `kept`;
    None where there is none, or more than one."""
    parts = terms(source, begin, end)
    single = [t.factors[0] for t in parts if len(t.factors) == 1]
    stepping = unit_loops(source, begin)
    found = [f for t in parts if (f := _stepping(source, t, stepping, kept)) is not None]
    if not found:
        written = (_written_out(source, f, kept) for f in single if _is_added(source, f, begin))
        return next((low for low in written if low is not None), None)
    first, last = found[0], found[-1]
    # `2 * t + 1`: what tells neighbours apart stands side by side.
    if any(not _is_added(source, f, begin) for f in found) or any(
        [t.text for t in parse_range(source, a.end, b.offset)] != ["+"] for a, b in itertools.pairwise(found)
    ):
        return None
    text = source.text[first.offset : last.end]
    number = integer(text)
    if number is not None:
        return Low(first.offset, last.end, str(number - number % kept), str(number % kept))
    plain = text if re.fullmatch(r"\w+", text) else f"({text})"
    return Low(first.offset, last.end, f"({plain} & ~{kept - 1})", f"({plain} & {kept - 1})")


def _stepping(source: Source, term: Term, loops: frozenset[str], kept: int) -> Factor | None:
    """A summand that moves within a group: a number, the variable of a loop, or a few times it."""
    factors = term.factors
    if len(factors) == 1:
        one = factors[0]
        return one if one.text in loops or (integer(one.text) or 0) % kept else None
    if len(factors) != 2 or sum(f.text in loops for f in factors) != 1:
        return None
    times = next((integer(f.text) for f in factors if f.text not in loops), None)
    first, last = sorted(factors, key=lambda f: f.offset)
    if (
        times is None
        or times % kept == 0
        or [t.text for t in parse_range(source, first.end, last.offset)] != ["*"]
    ):
        return None
    return Factor(first.offset, last.end, source.text[first.offset : last.end])


def _is_added(source: Source, summand: Factor, begin: int) -> bool:
    before = source.code[source.index_at(summand.offset) - 1]
    return before.offset < begin or before.text in ("+", "(")


def _written_out(source: Source, local: Factor, kept: int) -> Low | None:
    """A local variable that holds a sum with such a summand, `column = 8 * t + j`, as that sum split."""
    here = source.index_at(local.offset)
    scope = source.scope_of(here)
    if scope is None or not local.text.isidentifier():
        return None
    definition = local_definition(source, local.text, scope)
    if definition is None or source.index_at(definition[0]) > here:
        return None
    low = low_of(source, *definition, kept)
    if low is None:
        return None
    text = source.text[definition[0] : low.begin] + low.groups + source.text[low.end : definition[1]]
    return Low(local.offset, local.end, text, low.within)


def multiples(
    source: Source, begin: int, end: int, of: int, value: Callable[[str], int | None]
) -> tuple[str, str]:
    """The summands of the index in [begin, end) that are multiples of a number, and the others, each as a
    sum, '' where there are none. value: of an expression that the compiler knows."""
    parts = summands(source, begin, end)
    whole = [part for part in parts if _is_multiple(source, part, of, value)]
    rest = [part for part in parts if part not in whole]
    return tuple(" + ".join(source.text[a:b] for a, b in each) for each in (whole, rest))  # type: ignore[return-value]


def _is_multiple(source: Source, part: tuple[int, int], of: int, value: Callable[[str], int | None]) -> bool:
    product = terms(source, *part)
    if len(product) != 1:
        return False
    known = [n for factor in product[0].factors if (n := value(factor.text)) is not None]
    return prod(known) % of == 0


def summands(source: Source, begin: int, end: int) -> list[tuple[int, int]]:
    """The byte ranges of the summands of an index; all of it where it is no plain sum."""
    tokens = parse_range(source, begin, end)
    if outside(tokens, _WEAK):
        return [(begin, end)]
    return [(part[0].offset, part[-1].end) for part in split(tokens, "+") if part]


def unit_loops(source: Source, offset: int) -> frozenset[str]:
    """The variables of the loops around a place that step by one: `for (int j = 0; j < 8; ++j)`."""
    here = source.index_at(offset)
    scope = source.scope_of(here)
    first = 0
    while scope is not None:
        first, scope = scope[0], source.scope_of(scope[0])
    found = set()
    code = source.code
    for i in range(first, here):
        if code[i].text != "for" or code[i + 1].text != "(":
            continue
        close = source.partner(i + 1)
        if close is None or not close < here <= _end(source, close + 1):
            continue
        head = "".join(t.text + " " for t in code[i + 2 : close])
        match = re.search(r"; (?:\+\+ (\w+)|(\w+) \+\+|(\w+) \+= 1) $", head)
        if match is not None:
            found.add(next(filter(None, match.groups())))
    return frozenset(found)


def _end(source: Source, index: int) -> int:
    """The last token of the statement that begins at one."""
    code = source.code
    if code[index].text == "for" and (close := source.partner(index + 1)) is not None:
        return _end(source, close + 1)
    if code[index].text == "{":
        return source.partner(index) or index
    while code[index].text not in (";", "}", ""):
        index = (source.partner(index) or index) + 1
    return index
