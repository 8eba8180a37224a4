"""A swizzle of an array that is reached through pointers: what is added to each goes through a helper.

`*((float4 *)(rows + r * 64) + lane)` becomes `*(float4 *)&rows[swizzle_tile(r * 64 + lane * 4)]`. That is
right where a pointer starts at whole periods of the swizzle, which the proof tells; one that each thread has
for itself is counted from the start of the array instead. Summands that are the same for all threads stay
outside of the helper, where the compiler finds constants, if they are whole periods too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from smemlint.evaluate.model import Site
from smemlint.fix.edits.helpers import swizzle_formula
from smemlint.fix.model import Refusal, TextEdit
from smemlint.fix.search.candidates import Padding, Shape, Swizzle
from smemlint.fix.text import flat
from smemlint.fix.text.declared import Declared, Edited, checked, edit, fresh, shown
from smemlint.fix.text.literals import integer
from smemlint.fix.text.neighbours import Low, low_of
from smemlint.fix.text.reached import (
    ROW,
    Reach,
    Room,
    Rooms,
    Root,
    Summand,
    found_in,
    parts_of,
    terms_of,
    way_terms,
)
from smemlint.fix.text.source import Source
from smemlint.fix.text.views import SIZES
from smemlint.records import record

_ASM = ("asm", "__asm__", "__asm")


@record(frozen=True, slots=True)
class Array:
    """An array whose accesses are rewritten. type, size: of its elements, as spelled and in bytes; swizzle:
    of the index of an element counted from its start."""

    at: Declared
    type: str
    size: int
    swizzle: Swizzle
    apart: bool
    """Whether summands that are the same for all threads stay outside of the helper."""
    qualifier: str = ""
    """`volatile ` where a function that reaches the array says it of anything but the array."""


@record(frozen=True, slots=True)
class Element:
    """An element as it is written, and the type that it is accessed as, '' its own."""

    text: str
    cast: str


def through(
    layout: Swizzle, at: Declared, sites: Sequence[Site], type_: str, taken: set[str], shape: Shape
) -> Edited | Refusal:
    """The edits of a swizzle where uses of the array are not all subscripted.

    sites: all its accesses, in every kernel instance. type_: of its elements, as spelled.
    """
    names: set[str] = set(taken)
    done = _through(layout, at, sites, type_, names, shape, apart=True)
    longer = _through(layout, at, sites, type_, taken, shape, apart=False)
    if isinstance(done, Refusal) or isinstance(longer, Refusal) or done.edits == longer.edits:
        return longer
    return replace(done, otherwise=longer)


def _through(
    layout: Swizzle,
    at: Declared,
    sites: Sequence[Site],
    type_: str,
    taken: set[str],
    shape: Shape,
    *,
    apart: bool,
) -> Edited | Refusal:
    source = at.source
    whole = _linear(layout, shape)
    seen = found_in(at, type_, sites)
    if isinstance(seen, Refusal):
        return seen
    if whole is None:
        return Refusal("passed-on", f"the rows of `{at.name}` are no power of two wide")
    found, accesses = seen
    array = Array(at, type_, shape.element, whole, apart, _qualifier(at, found))
    names: dict[int, str] = {}
    first = ""
    edits: list[TextEdit | Refusal] = []
    for begin, end, access in accesses:
        room = found.at(source, begin)
        written = _written(array, access, room, names, taken) if room is not None else _lost(at)
        if isinstance(written, Refusal):
            return Refusal(written.code, f"{written.text} on line {source.line_of(begin)}")
        text = _spelled(written, access, (begin, end) in found.addresses, array.qualifier)
        first = first or text
        edits.append(edit(source, begin, end, text))
    start = min((s for r in found.rooms if (s := source.function_start(r.first)) is not None), default=None)
    if start is None or any(source.function_start(r.first) is None for r in found.rooms):
        return Refusal("no-place-for-helper", f"the function around `{at.name}` is not found in the text")
    edits += [edit(source, start, start, _helper(array, unit, name)) for unit, name in names.items()]
    pointers = [name for room in found.rooms for name, root in room.roots.items() if not root.whole]
    how = f"through `{pointers[0]}`" if pointers else "through casts"
    if pointers and pointers[0] == at.name:
        how = "in functions that it is passed to"
    plain = all(a.root == at.name and a.subscript and not a.cast for _, _, a in accesses)
    return checked(edits, first, "" if plain and not pointers else f"`{at.name}` is reached {how}")


def _lost(at: Declared) -> Refusal:
    return Refusal("passed-on", f"`{at.name}` is used as a pointer")


def wider(
    layout: Padding, at: Declared, sites: Sequence[Site], type_: str, pitch: str, shape: Shape
) -> Edited | Refusal:
    """The edits of another row pitch, wherever an index of the array says it: `(BM + 4)` for `BM`."""
    from smemlint.fix.text.expressions import plus

    source = at.source
    sized = next((use for use in at.uses if use.context == "sizeof"), None)
    if sized is not None:
        return Refusal("size-elsewhere", f"`sizeof({at.name})` on line {sized.line} would change")
    seen = found_in(at, type_, sites)
    if isinstance(seen, Refusal):
        return seen
    found, accesses = seen
    indices = [flat.IndexText(tuple(terms)) for _, _, a in accesses if (terms := terms_of(source, a))]
    ways = way_terms(source, found)
    indices += [flat.IndexText(tuple(way)) for way in ways]
    hits = {hit.offset: hit for hit in flat.occurrences(indices, pitch)}
    # A pointer that moves by one row moves by the pitch alone.
    alone = [t.factors[0] for way in ways for t in way if len(t.factors) == 1]
    rows_on = {factor.offset: factor for factor in alone if factor.text == pitch}
    new = plus(pitch, layout.extra)
    wide = new if new is None or re.fullmatch(r"\w+", new) else f"({new})"
    bracket, old = at.extents[-1], at.extent(len(at.extents) - 1)
    *_, rows, value = shape.dims
    size = flat.terms(source, bracket.open + 1, bracket.close)
    extent = flat.new_size(old, size, bracket.open + 1, pitch, wide or "", rows * value, value)
    if not (hits or rows_on) or new is None or wide is None:
        return Refusal("pitch-not-found", f"no row pitch is seen in the indices of `{at.name}`")
    if extent is None:
        return Refusal("size-not-rows", f"`[{shown(old)}]` is not said as rows of `{pitch}`")
    edits = [edit(source, bracket.open + 1, bracket.close, extent)]
    edits += [edit(source, hit.offset, hit.end, wide) for hit in hits.values()]
    edits += [edit(source, row.offset, row.end, new) for row in rows_on.values()]
    how = "in functions that it is passed to" if len(found.rooms) > 1 else "through pointers"
    said = at.text({len(at.extents) - 1: extent})
    return checked(edits, said, f"`{at.name}` is reached {how}")


def _linear(layout: Swizzle, shape: Shape) -> Swizzle | None:
    """The same swizzle of the index over all dimensions; None where it is none of that."""
    columns = shape.dims[-1]
    if len(shape.dims) == 1:
        return layout
    if layout.linear:
        return layout if columns % (1 << (layout.shift + layout.bits)) == 0 else None
    if columns & (columns - 1):
        return None
    return replace(layout, shift=layout.shift + columns.bit_length() - 1, linear=True)


def _written(
    array: Array, access: Reach, room: Room, names: dict[int, str], taken: set[str]
) -> Element | Refusal:
    """The element that is accessed, its index swizzled."""
    root = room.roots[access.root]
    size = _size(array, root.type)
    own = access.cast or root.type
    if size is None or _size(array, own) is None:
        return Refusal("passed-on", f"the size of `{own}` is not known")
    summands, low = _low(array, access, size)
    outside, inside = _outside(array, summands, root, room, size, low) if array.apart else ((), summands)
    index = _index(array, inside, root, size)
    if isinstance(index, Refusal):
        return index
    before = _index(array, outside, root, size) if any(integer(s.text) != 0 for s in outside) else ""
    if isinstance(before, Refusal):
        return before
    before = f"{before} + " if before else ""
    after = f" + {low.within}" if low is not None else ""
    if re.search(r"\b(?:swizzle|skew)_\w+\s*\(", index):
        return Refusal("no-better-layout", f"`{array.at.name}` is laid out by a function already")
    moved = _scaled(array, size)
    if moved is None:
        return Refusal("passed-on", f"the elements of `{root.type}` are swizzled apart")
    helper = names.setdefault(size, "") or fresh(f"swizzle_{array.at.name}", taken)
    names[size] = helper
    plain = len(array.at.extents) == 1 and root.type == array.type
    start = array.at.name if plain else f"(({root.type} *){array.at.name})"
    base = f"(({array.qualifier}{root.type} *){array.at.name})" if array.qualifier and root.lanes else start
    if root.whole:
        element = f"{base}[{before}{helper}({index}){after}]"
    elif root.lanes and room.parameters:
        return Refusal("passed-on", f"`{root.name}` points elsewhere in each thread")
    elif root.lanes:
        further = "" if index == "0" else f" + {index}"
        element = f"{base}[{helper}(int({root.name} - {start}){further}){after}]"
    else:
        element = f"{root.name}[{before}{helper}({index}){after}]"
    return Element(element, "" if own == root.type else own)


def _qualifier(at: Declared, found: Rooms) -> str:
    """What pointers that the edit leaves out may have said of an access."""
    code = at.source.code
    begin = at.source.index_at(at.source.statement_start(at.index))
    first = [_head(at.source, room.first) for room in found.rooms]
    said = (
        i
        for start, room in zip(first, found.rooms, strict=True)
        for i in range(start, room.last)
        if code[i].text == "volatile" and code[i - 1].text not in _ASM and not begin <= i < at.index
    )
    return "volatile " if next(said, None) is not None else ""


def _head(source: Source, index: int) -> int:
    """The first token of the function around a token, its parameters included."""
    start = source.function_start(index)
    return index if start is None else source.index_at(start)


def _spelled(element: Element, access: Reach, taken_as_is: bool, qualifier: str = "") -> str:
    """The access, or the address, of an element."""
    if taken_as_is:
        return f"({element.cast} *)&{element.text}" if element.cast else f"&{element.text}"
    if not element.cast:
        return element.text
    viewed = f"({qualifier}{element.cast} *)&{element.text}"
    return f"({viewed})[0]" if access.subscript else f"*{viewed}"


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


def _low(array: Array, access: Reach, size: int) -> tuple[tuple[Summand, ...], Low | None]:
    """The summands in whole groups of neighbours that stay together, and what is left within a group."""
    kept, source = array.swizzle.kept, array.at.source
    if kept < 2 or access.cast or size != array.size:
        return access.summands, None
    parts = [part for each in access.summands for part in parts_of(source, each)]
    found = [low_of(source, part.begin, part.end, kept) if part.end else None for part in parts]
    lows = [n for n, low in enumerate(found) if low is not None]
    if not lows or any(
        (low.begin, low.end) != (parts[n].begin, parts[n].end)
        for n, low in enumerate(found)
        if low is not None
    ):
        return tuple(parts), None
    first = lows[0]
    low = found[first]
    if len(lows) > 1 or low is None:
        # `2 * t` and `1` of `r * 64 + 2 * t + 1`
        text = " + ".join(shown(parts[n].text) for n in lows)
        low = Low(
            parts[first].begin, parts[first].end, f"(({text}) & ~{kept - 1})", f"(({text}) & {kept - 1})"
        )
    parts[first] = replace(parts[first], text=low.groups)
    return tuple(part for n, part in enumerate(parts) if n == first or n not in lows), low


def _outside(
    array: Array, summands: tuple[Summand, ...], root: Root, room: Room, size: int, low: Low | None
) -> tuple[tuple[Summand, ...], tuple[Summand, ...]]:
    """The summands that stay outside of the helper, and the others; none where the root is each thread's.
    low: the one that counts groups of neighbours stays inside."""
    if root.lanes:
        return (), summands
    scaled = _scaled(array, size) or array.swizzle
    period = 1 << (scaled.shift + scaled.bits)
    kept: list[Summand] = []
    moved: list[Summand] = []
    for each in summands:
        number = integer(each.text)
        unit = _size(array, each.unit or root.type) or size
        whole = number is not None and number * (unit // size) % period == 0
        within = low is not None and each.text == low.groups
        same = number is None and not within and not room.by_lane(array.at.source, each.text, room.parameters)
        (kept if whole or same else moved).append(each)
    return (tuple(kept), tuple(moved)) if moved else ((), summands)


def _index(array: Array, summands: Sequence[Summand], root: Root, size: int) -> str | Refusal:
    """What is added to the root, counted in its elements."""
    from smemlint.fix.text.expressions import times

    found: list[str] = []
    for summand in summands:
        if summand.unit == ROW:
            row = _rows(array, summand, size)
            if isinstance(row, Refusal):
                return row
            found += [row] if row else []
            continue
        unit = _size(array, summand.unit or root.type)
        if unit is None or unit % size:
            return Refusal("passed-on", f"`{shown(summand.text)}` counts parts of an element")
        number = integer(summand.text)
        if number == 0:
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


def _rows(array: Array, summand: Summand, size: int) -> str | Refusal:
    """Rows of an array of two dimensions, `t[r] + c`, in elements; '' for none."""
    from smemlint.fix.text.expressions import times

    if integer(summand.text) == 0:
        return ""
    columns = shown(array.at.extent(len(array.at.extents) - 1))
    text = times(shown(summand.text), columns if columns.isalnum() else f"({columns})")
    if len(array.at.extents) != 2 or size != array.size or text is None:
        return Refusal("passed-on", f"`{shown(summand.text)}` counts rows of `{array.at.name}`")
    return text


def _helper(array: Array, size: int, name: str) -> str:
    newline = array.at.source.newline
    scaled = _scaled(array, size) or array.swizzle
    told = f"// Index of {array.at.name}, swizzled to spread the lanes over the banks; its own inverse."
    body = swizzle_formula(scaled, "i")
    return (
        f"{told}{newline}__device__ __forceinline__ int {name}(int i) {{ return {body}; }}{newline}{newline}"
    )
