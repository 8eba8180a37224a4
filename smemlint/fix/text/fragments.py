"""The row pitch that a fragment is told: `ldm` of `load_matrix_sync` and `store_matrix_sync`.

In: a use of an array. Out: where the text says how far the rows are apart that the call reaches through it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from smemlint.fix.text.brackets import arguments, around, end_of, position_in
from smemlint.fix.text.source import Source, Subscript, Use

_POINTERS = {"load_matrix_sync": 1, "store_matrix_sync": 0}
"""Call -> which argument is the pointer; the one after both it and the fragment is ldm."""
_LDM = 2
_NOT_ADDED = ("?", ":", "<<", ">>", "&", "|", "^", "==", "<", ">")


def leading_dimensions(source: Source, uses: Iterable[Use]) -> list[tuple[int, int]]:
    """Return the texts [begin, end) of ldm in the calls that reach a fragment through an array, or through a
    local pointer that is set to an element of it."""
    found = set()
    for use in uses:
        for each in (use, *_uses_of_pointer(source, use)):
            found.add(leading_dimension(source, each))
    return sorted(p for p in found if p is not None)


def _uses_of_pointer(source: Source, use: Use) -> Iterator[Use]:
    """The uses of the pointer that is declared with the address that a use has (`float *p = &tile[r][0];`)
    and set nowhere else."""
    code = source.code
    i = source.index_at(use.offset) - 1
    i -= code[i].text == "&"
    declares = i > 2 and code[i].text == "=" and code[i - 1].kind == "name" and code[i - 2].text == "*"
    scope = source.scope_of(i) if declares else None
    if scope is None:
        return
    found = list(source.uses(code[i - 1].text, source.index_at(use.end), scope[1], 1))
    if not any(code[source.index_at(each.end)].text == "=" for each in found if not each.subscripts):
        yield from found


def leading_dimension(source: Source, use: Use) -> tuple[int, int] | None:
    """The text [begin, end) of ldm in the call that a use is the pointer of, None where it is in none."""
    code = source.code
    index = source.index_at(use.offset)
    for i in around(code, index):
        if code[i].text != "(":
            return None
        pointer = _POINTERS.get(code[i - 1].text)
        if pointer is None:  # a cast or parentheses inside of an argument
            continue
        parts, _ = arguments(source, i)
        if position_in(parts, index) != pointer or len(parts) <= _LDM:
            return None
        first, last = parts[_LDM]
        return (code[first].offset, code[last - 1].end) if first < last else None
    return None


def as_element(source: Source, use: Use) -> Use:
    """A use as the pointer of a fragment, `tile + r * 16 + c`, as one of `tile[r * 16 + c]`; others as they
    are."""
    code = source.code
    i = source.index_at(use.offset)
    if use.context != "whole" or use.subscripts or code[i - 1].text not in ("(", ","):
        return use
    if code[i + 1].text not in ("+", ",") or leading_dimension(source, use) is None:
        return use
    first = i + 1
    last = end_of(code, first, len(code), ",")
    if any(t.text in _NOT_ADDED for t in code[first:last]):
        return use
    summands = Subscript(code[first].offset if first < last else code[last].offset - 1, code[last].offset)
    return replace(use, subscripts=(summands,), end=summands.close, context="subscript")


def as_row(source: Source, use: Use) -> Use:
    """A use that starts a local pointer, `float *row = tile + r * 16;`, as one of `tile[r * 16]`; others as
    they are."""
    code = source.code
    i = source.index_at(use.offset)
    declares = code[i - 1].text == "=" and code[i - 2].kind == "name" and code[i - 3].text == "*"
    if use.context != "whole" or use.subscripts or not declares or code[i + 1].text != "+":
        return use
    last = end_of(code, i + 1, len(code) - 1, ";", ",")
    if code[last].text not in (";", ",") or any(t.text in _NOT_ADDED for t in code[i + 1 : last]):
        return use
    summands = Subscript(code[i + 1].offset, code[last].offset)
    return replace(use, subscripts=(summands,), end=summands.close, context="subscript")
