"""Objects and members of classes as template arguments: `Tile<Config{32, 1}>`, `total<&P::x>`."""

from __future__ import annotations

from typing import Protocol

from smemlint.evaluate.types.record_layout import Layout
from smemlint.evaluate.values.number import Int
from smemlint.evaluate.values.value import Object, Other, Pointer, RecordValue, Value
from smemlint.ir import FunctionRef, Literal, ObjectRef, RecordRef, Scalar, Type

ANY = "::*"
"""How the ids of objects end that stand for any object of a class."""


class Types(Protocol):
    """What is asked of the types of a program."""

    def layout(self, t: Type) -> Layout | None: ...


def argument_of(types: Types, v: Value | None) -> ObjectRef | FunctionRef | None:
    """Return an object of known numbers, or a pointer to a data member, as a template argument; None for
    anything else. What nothing gives a constant is zero."""
    if isinstance(v, Pointer) and v.object.id.endswith(ANY) and isinstance(v.object.type, RecordRef):
        layout = types.layout(v.object.type)
        for name, (at, t) in layout.fields.items() if layout is not None else ():
            if at == v.offset.const and t == v.pointee:
                return FunctionRef(name, (), (), v.object.type)
    layout = types.layout(v.type) if isinstance(v, RecordValue) else None
    if not isinstance(v, RecordValue) or not isinstance(v.type, RecordRef) or layout is None:
        return None
    cells = {at: Int(0, t) for at, t in layout.fields.values() if isinstance(t, Scalar) and t.kind != "float"}
    numbers: list[tuple[int, Literal]] = []
    for at, x in sorted({**cells, **v.cells}.items()):
        if isinstance(x, Int) and x.known and isinstance(x.const, int):
            numbers.append((at, Literal(x.const, x.type)))
        elif not isinstance(x, Other) or not isinstance(x.type, Scalar):  # no address depends on a float
            return None
    return ObjectRef(v.type, tuple(numbers))


def object_of(given: ObjectRef) -> Object:
    """Return the object that a template parameter is given."""
    cells: dict[int, Value] = {at: Int(n.value, n.type) for at, n in given.numbers}
    return Object("argument", "argument", given.type, "local", cells=cells, uniform=True)
