"""Arrays of which nvcc keeps single elements: every access names one by number, so each is a variable.

Read from cubins of nvcc 13.0: of `float m[64]` with m[5] and m[40] alone 8 bytes are left, and 4 where one of
them is never read. One index that is not a number keeps the whole array.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from smemlint.evaluate.model import SharedArray, Site
from smemlint.patterns import pattern

_SCALAR = pattern(
    r"(?:(?:un)?signed )?(?:char|short|int|long|long long)|u?int(?:8|16|32|64)_t|float|double|bool"
)


def elements_left(array: SharedArray, sites: Iterable[Site]) -> tuple[int, ...] | None:
    """The elements, by number, that are left of an array; None where it stays whole. sites: of the kernel."""
    dims = [n for n in array.dims if n is not None]
    mine = [site for site in sites if site.array == array.id]
    scalar = _SCALAR.fullmatch(array.type.partition("[")[0].strip()) is not None
    known = len(dims) == len(array.dims) > 0
    if array.dynamic or array.escapes or not (known and scalar) or not mine:
        return None
    subscripts = re.compile(rf"{re.escape(array.name)}((?:\s*\[\s*[0-9]+\s*\]){{{len(dims)}}})")
    read = set()
    for site in mine:
        named = subscripts.fullmatch(site.expression.strip())
        if (
            named is None
            or site.op not in ("load", "store")
            or site.width != array.element
            or not site.reached
        ):
            return None
        if site.op == "load":
            read.add(_number(dims, [int(n) for n in re.findall(r"[0-9]+", named[1])]))
    return tuple(sorted(read))


def _number(dims: Sequence[int], indices: Sequence[int]) -> int:
    """The number of an element of an array of these extents."""
    found = 0
    for extent, index in zip(dims, indices, strict=True):
        found = found * extent + index
    return found


def placed_elements(array: SharedArray, elements: Sequence[int], start: int) -> tuple[int, int]:
    """(first byte, end) of the elements that are left, from `start` on: each as aligned as it was."""
    first, end = -1, start
    for element in elements:
        offset = element * array.element
        align = min(array.align, offset & -offset) if offset else array.align
        align = max(align, min(array.element, array.align))
        at = -(-end // align) * align
        first = at if first < 0 else first
        end = at + array.element
    return first, end
