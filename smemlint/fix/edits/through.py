"""A swizzle of an array that is reached through pointers: what is added to each goes through a helper.

`*((float4 *)(rows + r * 64) + lane)` becomes `*(float4 *)&rows[swizzle_tile(r * 64 + lane * 4)]`. That is
right where a pointer starts at whole periods of the swizzle, which the proof tells; one that each thread has
for itself is counted from the start of the array instead.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from smemlint.fix.edits.helpers import swizzle_formula
from smemlint.fix.model import Refusal, TextEdit
from smemlint.fix.search.candidates import Shape, Swizzle
from smemlint.fix.text.declared import Declared, Edited, checked, edit, fresh, shown
from smemlint.fix.text.literals import integer
from smemlint.fix.text.reached import Reach, Root, access_end, reached, roots
from smemlint.fix.text.views import SIZES
from smemlint.ir import Place
from smemlint.records import record


@record(frozen=True, slots=True)
class Array:
    """An array whose accesses are rewritten. type, size: of its elements, as spelled and in bytes; swizzle:
    of the index of an element counted from its start."""

    at: Declared
    type: str
    size: int
    swizzle: Swizzle


def through(
    layout: Swizzle, at: Declared, places: Sequence[Place], type_: str, taken: set[str], shape: Shape
) -> Edited | Refusal:
    """The edits of a swizzle where uses of the array are not all subscripted.

    places: of all its accesses, in every kernel instance. type_: of its elements, as spelled.
    """
    source = at.source
    whole = _linear(layout, shape)
    ranges = {(p.offset, access_end(source, p.offset, p.end_offset)) for p in places}
    if whole is None or any(p.path != source.path or p.macro is not None for p in places):
        return _passed(at, next((u.line for u in at.uses if u.context == "whole"), source.line_of(0)))
    inside = sorted(r for r in ranges if not any(o != r and o[0] <= r[0] and r[1] <= o[1] for o in ranges))
    if len(inside) != len(ranges):
        return Refusal("nested-use", f"an access of `{at.name}` stands in the index of another one")
    known = roots(at, type_, inside)
    if isinstance(known, Refusal):
        return known
    array = Array(at, type_, shape.element, whole)
    names: dict[int, str] = {}
    first = ""
    edits: list[TextEdit | Refusal] = []
    for begin, end in inside:
        access = reached(source, begin, end)
        if access is None or access.root not in known:
            return _passed(at, source.line_of(begin))
        written = _written(array, access, known[access.root], names, taken)
        if isinstance(written, Refusal):
            return Refusal(written.code, f"{written.text} on line {source.line_of(begin)}")
        first = first or written
        edits.append(edit(source, begin, end, written))
    start = source.function_start(at.index)
    if start is None:
        return Refusal("no-place-for-helper", f"the function around `{at.name}` is not found in the text")
    edits += [edit(source, start, start, _helper(array, unit, name)) for unit, name in names.items()]
    pointers = [name for name in known if name != at.name]
    unsafe = f"`{at.name}` is reached through `{pointers[0]}`" if pointers else ""
    return checked(edits, first, unsafe or f"`{at.name}` is reached through casts")


def _passed(at: Declared, line: int) -> Refusal:
    return Refusal("passed-on", f"`{at.name}` is used as a pointer on line {line}")


def _linear(layout: Swizzle, shape: Shape) -> Swizzle | None:
    """The same swizzle of the index over all dimensions; None where it is none of that."""
    columns = shape.dims[-1]
    if len(shape.dims) == 1:
        return layout
    if layout.linear:
        return layout if columns % (1 << (layout.shift + layout.bits)) == 0 else None
    if columns & (columns - 1):
        return None
    return Swizzle(layout.bits, layout.base, layout.shift + columns.bit_length() - 1, True)


def _written(
    array: Array, access: Reach, root: Root, names: dict[int, str], taken: set[str]
) -> str | Refusal:
    """An access with its index swizzled."""
    size = _size(array, root.type)
    own = access.cast or root.type
    if size is None or _size(array, own) is None:
        return Refusal("passed-on", f"the size of `{own}` is not known")
    index = _index(array, access, root, size)
    if isinstance(index, Refusal):
        return index
    if re.search(r"\b(?:swizzle|skew)_\w+\s*\(", index):
        return Refusal("no-better-layout", f"`{array.at.name}` is laid out by a function already")
    moved = _scaled(array, size)
    if moved is None:
        return Refusal("passed-on", f"the elements of `{root.type}` are swizzled apart")
    helper = names.setdefault(size, "") or fresh(f"swizzle_{array.at.name}", taken)
    names[size] = helper
    plain = len(array.at.extents) == 1 and root.type == array.type
    base = array.at.name if plain else f"(({root.type} *){array.at.name})"
    if root.name == array.at.name:
        element = f"{base}[{helper}({index})]"
    elif root.lanes:
        further = "" if index == "0" else f" + {index}"
        element = f"{base}[{helper}(int({root.name} - {base}){further})]"
    else:
        element = f"{root.name}[{helper}({index})]"
    if own == root.type:
        return element
    return f"(({own} *)&{element})[0]" if access.subscript else f"*({own} *)&{element}"


def _size(array: Array, type_: str) -> int | None:
    return array.size if type_ == array.type else SIZES.get(type_)


def _scaled(array: Array, size: int) -> Swizzle | None:
    """The swizzle of an index that counts elements of another size."""
    s = array.swizzle
    if size == array.size:
        return s
    by = max(size, array.size) // min(size, array.size)
    if by & (by - 1) or max(size, array.size) % min(size, array.size):
        return None
    steps = by.bit_length() - 1
    steps = -steps if size > array.size else steps
    return Swizzle(s.bits, s.base + steps, s.shift + steps, True) if s.base + steps >= 0 else None


def _index(array: Array, access: Reach, root: Root, size: int) -> str | Refusal:
    """What is added to the root, counted in its elements."""
    from smemlint.fix.text.expressions import times

    found: list[str] = []
    for summand in access.summands:
        unit = _size(array, summand.unit or root.type)
        if unit is None or unit % size:
            return Refusal("passed-on", f"`{shown(summand.text)}` counts parts of an element")
        number = integer(summand.text)
        if number == 0 and len(access.summands) > 1:
            continue
        if unit == size:
            text: str | None = shown(summand.text)
        else:
            text = (
                str(number * (unit // size))
                if number is not None
                else times(shown(summand.text), str(unit // size))
            )
        if text is None:
            return Refusal("extent-not-an-expression", f"`{shown(summand.text)}` is not read as C")
        found.append(text)
    return " + ".join(found) or "0"


def _helper(array: Array, size: int, name: str) -> str:
    newline = array.at.source.newline
    scaled = _scaled(array, size) or array.swizzle
    told = f"// Index of {array.at.name}, swizzled to spread the lanes over the banks; its own inverse."
    body = swizzle_formula(scaled, "i")
    return (
        f"{told}{newline}__device__ __forceinline__ int {name}(int i) {{ return {body}; }}{newline}{newline}"
    )
