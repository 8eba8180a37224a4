"""Pointers that a condition moves by a number: `float *p = s + 4 * t; if (c) p += 64; x = p[0] * p[1];`.

Of `p[0]` nvcc makes `s + 4 * t + (c ? 64 : 0)`, of the next `(c ? s + 4 * t + 64 : s + 4 * t) + 1`: they are
no neighbours to machine code. Not where the pointer already was a sum of an index and a number, which is
one index to nvcc then, nor of records, nor of what a declaration aligns, which is joined before. Read from
the machine code of nvcc 13.0 (docs/dev/joining.md).
"""

from __future__ import annotations

from smemlint.evaluate.machine.machine import Event, Machine
from smemlint.evaluate.types.spelling import dims_of
from smemlint.evaluate.values.affine import Affine, is_cut
from smemlint.evaluate.values.number import form_of
from smemlint.evaluate.values.value import Object
from smemlint.ir import RecordRef


def has_its_own(m: Machine, e: Event) -> bool | None:
    """Return whether an access is of such a first element, which has an address of its own; None: perhaps."""
    array, form = id(e.site.object), form_of(e.offset)
    moved = m.journal.moved.get((array, form.terms))
    if moved is None or e.site.width != moved.width or form.const != moved.const:
        return False
    found = _is_index(m, e.site.object, moved.before)
    sure = moved.sure and (array, moved.before.terms) not in m.journal.moved
    return found if found is False or sure else None


def _is_index(m: Machine, o: Object, before: Affine) -> bool | None:
    """Whether a pointer leads to an index of an array to which no number was added."""
    dims, element = dims_of(o.type)
    if isinstance(element, RecordRef):
        return False
    size = m.types.size_of(element)
    row = dims[-1] * size if len(dims) > 1 and dims[-1] is not None and size is not None else 0
    if not before.terms or (len(dims) > 1 and not row):
        return None
    terms = [(v, factor) for v, factor in before.terms if not row or factor % row]
    const = before.const % row if row else before.const
    if const:
        return None if any(factor < 0 for _, factor in terms) else False
    if not terms:
        return False  # a row
    return None if len(terms) > 1 and any(is_cut(v) for v, _ in terms) else True
