"""Addresses that nvcc may compute from one before: `s + 16 * t` as `(s + 4 * t) + 12 * t`.

Strength reduction takes the address of an earlier access of the same array where both have the same constant
and differ in the factor of one value. Machine code then knows less of what divides the address, and leaves
neighbours apart. Records (half, bfloat16, float2, a struct of two floats) are addressed so from the start of
the array on; numbers only behind a constant. Read from the machine code of nvcc 13.0 (docs/dev/joining.md).
"""

from __future__ import annotations

from collections.abc import Iterator

from smemlint.evaluate.compiler.log import Log
from smemlint.evaluate.machine.machine import Event, Machine
from smemlint.evaluate.values.affine import Affine, Terms, divisor
from smemlint.evaluate.values.value import Object
from smemlint.ir import RecordRef
from smemlint.ir.types import BFLOAT16, HALF, element_type

WIDEST = 16
"""Bytes a lane of the widest access."""


def rewritten(m: Machine, log: Log, arrays: set[int]) -> Iterator[int]:
    """id() of the sites of which less may be known than their index tells. arrays: id() of those that are
    looked at."""
    before: dict[tuple[object, ...], list[Event]] = {}
    seen: set[tuple[int, Affine]] = set()
    for e in log.events:
        if id(e.site.object) not in arrays or e.offset.form is None:
            continue
        for form in _pointer_ways(m, e, e.offset.form):
            if not form.terms or (form is e.offset.form and e.offset.terms) or (id(e.site), form) in seen:
                continue
            seen.add((id(e.site), form))
            known = before.setdefault((id(e.site.object), form.const, tuple(v for v, _ in form.terms)), [])
            if any(_takes_over(e, form, other) for other in known):
                yield id(e.site)
            if form is e.offset.form:
                known.append(e)


def _pointer_ways(m: Machine, e: Event, form: Affine) -> Iterator[Affine]:
    """The address, and what the pointer is that it is counted from, on each way where a condition moves that
    by a number."""
    yield form
    moved = m.journal.moved.get((id(e.site.object), form.terms))
    yield from () if moved is None else (moved.before, moved.after)


def _takes_over(e: Event, own: Affine, before: Event) -> bool:
    """Whether the address may be made of the one before, which surely ran, and less is known of that."""
    other = before.offset.form
    assert other is not None
    window = min(divisor(own.terms), WIDEST)
    if own.const % window or (not own.const and not _is_record(e.site.object)):
        return False  # what lies behind the first of the neighbours is counted from that
    apart = _one_difference(own.terms, other.terms)
    if apart is None or bool((e.may & ~before.must).any()):
        return False
    return min(divisor(other.terms), divisor((apart,))) < window


def _one_difference(own: Terms, other: Terms) -> tuple[int, int] | None:
    """The one value of which two sums of the same values have another multiple, and how many more."""
    found = [(v, a - b) for (v, a), (_, b) in zip(own, other, strict=True) if a != b]
    return found[0] if len(found) == 1 else None


def _is_record(o: Object) -> bool:
    """Whether an array holds records."""
    t = element_type(o.type)
    return t in (HALF, BFLOAT16) or isinstance(t, RecordRef)
