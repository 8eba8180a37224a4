"""What tells neighbouring elements apart in an index: the `j` of `row * 8 + j` in a loop over j.

In: the summands of an index. Out: the one that steps by single elements, split into what counts whole groups
of neighbours and what is left within a group.
"""

from __future__ import annotations

import re

from smemlint.fix.text.flat import terms
from smemlint.fix.text.literals import integer
from smemlint.fix.text.source import Source
from smemlint.records import record


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
    single = [t.factors[0] for t in terms(source, begin, end) if len(t.factors) == 1]
    stepping = unit_loops(source, begin)
    found = [f for f in single if f.text in stepping or (integer(f.text) or 0) % kept]
    if len(found) != 1:
        return None
    (low,) = found
    before = source.code[source.index_at(low.offset) - 1]
    if before.offset >= begin and before.text not in ("+", "("):
        return None
    number = integer(low.text)
    if number is not None:
        return Low(low.offset, low.end, str(number - number % kept), str(number % kept))
    return Low(low.offset, low.end, f"({low.text} & ~{kept - 1})", f"({low.text} & {kept - 1})")


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
