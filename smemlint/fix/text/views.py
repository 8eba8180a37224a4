"""Elements reached through a pointer of another type: `*((float *)&tile[0][0] + i)`, `((int4 *)&t[r][0])[k]`.

In: a use of an array whose address is taken. Out: what the address is cast to, and what is added to it.
"""

from __future__ import annotations

from dataclasses import replace

from smemlint.fix.text.brackets import end_of
from smemlint.fix.text.source import Source, Token, Use
from smemlint.records import record

SIZES = {
    "char": 1, "signed char": 1, "unsigned char": 1, "uchar": 1, "bool": 1, "int8_t": 1, "uint8_t": 1,
    "std::byte": 1, "short": 2, "unsigned short": 2, "half": 2, "__half": 2, "__nv_bfloat16": 2,
    "nv_bfloat16": 2, "int16_t": 2, "uint16_t": 2, "int": 4, "unsigned": 4, "unsigned int": 4, "uint": 4,
    "float": 4, "int32_t": 4, "uint32_t": 4, "half2": 4, "__half2": 4, "double": 8, "long long": 8,
    "unsigned long long": 8, "int64_t": 8, "uint64_t": 8, "size_t": 8, "float2": 8, "int2": 8, "uint2": 8,
    "float4": 16, "int4": 16, "uint4": 16, "double2": 16,
}  # fmt: skip
"""Bytes of types by their spelling."""
_ENDS = (";", ",", "=", "?", ":")


@record(frozen=True, slots=True)
class View:
    """What is added to the address of an element, counted in another type.

    size: bytes of that type; begin, end: of the summand; outer: from where to where it is written, `+`
    included; bracket: it is a subscript.
    """

    size: int
    begin: int
    end: int
    outer: tuple[int, int]
    bracket: bool


def view_of(source: Source, use: Use) -> View | None:
    """The view through which a use reaches further elements, None where its address is used as it is."""
    code = source.code
    first = source.index_at(use.offset) - 1
    last = source.index_at(use.end)
    if code[first].text != "&":
        return None
    size = None
    while size is None and code[first - 1].text == "(" and code[last].text == ")":
        first, last = first - 1, last + 1
        size = _template_cast(code, first)
    if size is None:
        size = _cast(code, first)
        if size is None:
            return None
        while code[first - 1].text != "(":  # to the beginning of the cast
            first -= 1
        first -= 1
    elif code[last].text == "":
        return None
    while code[first - 1].text == "(" and code[last].text == ")":
        first, last = first - 1, last + 1
    opening = code[last]
    if opening.text not in ("+", "["):
        return None
    i = end_of(code, last + 1, len(code) - 2, *_ENDS)
    if i == last + 1:
        return None
    begin, end = code[last + 1].offset, code[i - 1].end
    return View(size, begin, end, (code[last - 1].end, end), opening.text == "[")


def seen_as(source: Source, use: Use) -> Use:
    """A use that is an element of another type, `reinterpret_cast<float4 *>(a)[i]` or `((float4 *)a)[i]`, as
    such; others as they are."""
    code = source.code
    i = source.index_at(use.offset)
    if use.context != "whole" or use.subscripts or use.address:
        return use
    first, last, size = i, i + 1, _cast(code, i)
    if size is not None:
        while code[first - 1].text != "(":  # to the beginning of the cast
            first -= 1
        first -= 1
    elif code[i - 1].text == "(" and code[i + 1].text == ")":
        first, last, size = i - 1, i + 2, _template_cast(code, i - 1)
    if size is None:
        return use
    while code[first - 1].text == "(" and code[last].text == ")" and code[first - 2].kind != "name":
        first, last = first - 1, last + 1
    groups = source.subscripts_after(last - 1)
    return use if len(groups) != 1 else replace(use, viewed=(size, groups[0]))


def _cast(code: list[Token], first: int) -> int | None:
    """The size of what a cast `(T *)` before a token points to."""
    if code[first - 1].text != ")" or code[first - 2].text != "*":
        return None
    names = []
    i = first - 3
    while code[i].kind == "name":
        if code[i].text not in ("const", "volatile"):
            names.append(code[i].text)
        i -= 1
    return SIZES.get(" ".join(reversed(names))) if code[i].text == "(" else None


def _template_cast(code: list[Token], first: int) -> int | None:
    """The same of `reinterpret_cast<T *>` before a parenthesis."""
    if code[first - 1].text != ">" or code[first - 2].text not in ("*", "const"):
        return None
    names = []
    i = first - 2
    while code[i].text != "<" and (code[i].kind == "name" or code[i].text == "*"):
        if code[i].text not in ("const", "volatile", "*"):
            names.append(code[i].text)
        i -= 1
    return SIZES.get(" ".join(reversed(names))) if code[i - 1].text == "reinterpret_cast" else None
