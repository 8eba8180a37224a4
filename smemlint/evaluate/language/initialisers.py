"""Initialisers of variables, arrays and members."""

from __future__ import annotations

from collections.abc import Sequence

from smemlint.evaluate.language.accesses import load
from smemlint.evaluate.language.conversions import coerce, is_null
from smemlint.evaluate.language.packs import expanded
from smemlint.evaluate.machine.dispatch import begun, build, lvalue
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.memory.local_memory import write_cell, write_cells
from smemlint.evaluate.memory.text import LONGEST, characters, is_character, spelled
from smemlint.evaluate.values.number import Int, plus
from smemlint.evaluate.values.value import VALUES, Object, Pointer, RecordValue, Value
from smemlint.ir import ArrayOf, Expr, InitList, Literal, Scalar, StringLiteral, Type

LARGE = 16384
"""Bytes of an array of records, or of arrays, from which on its zeros are not kept."""


def initialise(m: Machine, o: Object, t: Type, init: Expr) -> None:
    """Give a local object its initial value."""
    if isinstance(t, ArrayOf):
        elements: Sequence[Expr | Value] = ()
        if isinstance(init, InitList):
            elements = expanded(m, init.elements)
        elif isinstance(init, StringLiteral):
            text = spelled(init.value) if m.host and is_character(t.element) else None
            o.havoc = text is None or len(text) > LONGEST
            o.cells.update({} if text is None or o.havoc else characters(text))
            return
        else:
            _copy_array(m, o, t, init)
            return
        fill_array(m, o, 0, t, elements)
        return
    v = value_for(m, t, init)
    if isinstance(v, RecordValue) and not v.cells:
        o.havoc = True
    write_cell(m, o, 0, v, t)


def _copy_array(m: Machine, o: Object, t: ArrayOf, init: Expr) -> None:
    """An array as a copy of another one, as a structured binding makes it."""
    source = lvalue(m, init)
    o.havoc = True
    size = m.types.size_of(t.element)
    if not isinstance(source, Pointer) or size is None or not isinstance(t.extent, Literal):
        return
    for i in range(min(t.extent.value, 4096)):
        at = Pointer(source.object, plus(source.offset, i * size), t.element)
        write_cell(m, o, i * size, load(m, at, getattr(init, "place", None)), t.element)


def value_for(m: Machine, t: Type, init: Expr | Value) -> Value:
    """The value of an initialiser for something of type t."""
    if isinstance(init, InitList):
        return build(m, t, init.elements, init.place)
    v = coerce(m, init if isinstance(init, VALUES) else begun(m, init), t)
    found = m.types.record_of(t) if isinstance(v, Int | Pointer) and not m.host else None
    if found is not None and found[0].constructors:
        made = build(m, t, (v,), getattr(init, "place", None))  # type: ignore[arg-type]
        return made if isinstance(made, RecordValue) else v
    return v


def fill_array(m: Machine, o: Object, at: int, t: ArrayOf, elements: Sequence[Expr | Value]) -> None:
    """`{...}` for an array at a byte offset of an object; what is not given is zero."""
    size = m.types.size_of(t.element)
    if size is None:
        o.havoc = True
        for e in elements:
            value_for(m, t.element, e)
        return
    n = t.extent.value if isinstance(t.extent, Literal) else len(elements)
    for i in range(min(n, 4096)):
        if i < len(elements):
            e = elements[i]
            if isinstance(t.element, ArrayOf):
                inner = e.elements if isinstance(e, InitList) else ()
                fill_array(m, o, at + i * size, t.element, inner)
            else:
                write_cell(m, o, at + i * size, value_for(m, t.element, e), t.element)
        elif isinstance(t.element, Scalar):
            if t.element.kind == "float":
                break
            write_cell(m, o, at + i * size, Int(0, t.element), t.element)
        elif n * size > LARGE:
            o.havoc = True
            break
        elif isinstance(t.element, ArrayOf):
            fill_array(m, o, at + i * size, t.element, ())
        else:
            v = build(m, t.element, (), None)
            if isinstance(v, RecordValue) and all(_is_settled(m, leaf) for leaf in v.cells.values()):
                alike = {k * size + x: leaf for k in range(min(n, 4096) - i) for x, leaf in v.cells.items()}
                write_cells(m, o, at + i * size, (min(n, 4096) - i) * size, alike)
                break
            write_cell(m, o, at + i * size, v, t.element)


def _is_settled(m: Machine, v: Value) -> bool:
    """Whether it would be the same if it was found once more."""
    return (isinstance(v, Int) and v.known) or is_null(v)
