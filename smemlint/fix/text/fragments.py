"""The row pitch that a fragment is told: `ldm` of `load_matrix_sync` and `store_matrix_sync`.

In: a use of an array. Out: where the text says how far the rows are apart that the call reaches through it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from smemlint.fix.text.source import Source, Subscript, Use

_POINTERS = {"load_matrix_sync": 1, "store_matrix_sync": 0}
"""Call -> which argument is the pointer; the one after both it and the fragment is ldm."""
_LDM = 2
_NOT_ADDED = ("?", ":", "<<", ">>", "&", "|", "^", "==", "<", ">")
_OPEN, _CLOSE = ("(", "[", "{"), (")", "]", "}")


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
    depth, position = 0, 0
    i = source.index_at(use.offset) - 1
    while i > 0 and code[i].text not in (";", "{", "}"):
        text = code[i].text
        if text in _CLOSE:
            depth += 1
        elif text in _OPEN and depth:
            depth -= 1
        elif text in _OPEN:
            name = code[i - 1].text
            if text == "(" and name in _POINTERS:
                return _argument(source, i, _LDM) if position == _POINTERS[name] else None
            position = 0  # a cast or parentheses inside of an argument
            if text != "(":
                return None
        elif text == "," and not depth:
            position += 1
        i -= 1
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
    first = last = i + 1
    depth = 0
    while depth or code[last].text != ",":
        depth += (code[last].text in _OPEN) - (code[last].text in _CLOSE)
        last += 1
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
    last, depth = i + 1, 0
    while depth or code[last].text not in (";", ","):
        if last + 1 == len(code):
            return use
        depth += (code[last].text in _OPEN) - (code[last].text in _CLOSE)
        last += 1
    if any(t.text in _NOT_ADDED for t in code[i + 1 : last]):
        return use
    summands = Subscript(code[i + 1].offset, code[last].offset)
    return replace(use, subscripts=(summands,), end=summands.close, context="subscript")


def _argument(source: Source, opening: int, number: int) -> tuple[int, int] | None:
    """The text of an argument of the call whose parenthesis opens at a token."""
    code = source.code
    depth, position, begin = 0, 0, opening + 1
    for i in range(opening + 1, len(code)):
        text = code[i].text
        if depth == 0 and text in (",", ")"):
            if position == number:
                return (code[begin].offset, code[i - 1].end) if i > begin else None
            if text == ")":
                return None
            position, begin = position + 1, i + 1
        depth += (text in _OPEN) - (text in _CLOSE)
    return None
