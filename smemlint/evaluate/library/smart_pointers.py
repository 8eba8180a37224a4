"""`std::unique_ptr` and `std::shared_ptr` of host code: objects that hold one pointer."""

from __future__ import annotations

from collections.abc import Sequence

from smemlint.evaluate.language.accesses import store
from smemlint.evaluate.language.conversions import coerce, truth
from smemlint.evaluate.language.places import field_of
from smemlint.evaluate.machine.dispatch import rvalue
from smemlint.evaluate.machine.functions import Arguments, named
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.types.matching import is_type
from smemlint.evaluate.values.number import Int
from smemlint.evaluate.values.value import Method, Other, Pointer, RecordValue, Value
from smemlint.ir import CONVERSION_NAME, Call, Construct, Expr, PointerTo, RecordRef, Type, Unary
from smemlint.ir.types import VOID

_SMART = ("std::unique_ptr", "std::shared_ptr")


def is_smart(t: Type | None) -> bool:
    """Return whether a type is one of them."""
    return isinstance(t, RecordRef) and t.name in _SMART


def owning(m: Machine, t: RecordRef, arguments: Sequence[Expr]) -> RecordValue:
    """Return a smart pointer to what the first argument points to, or what that one holds."""
    given = [rvalue(m, a) for a in arguments]
    first = given[0] if given else None
    if isinstance(first, RecordValue) and is_smart(first.type):
        return RecordValue(t, first.cells)
    if not given or isinstance(first, Int):
        to = t.arguments[0] if t.arguments and is_type(t.arguments[0]) else VOID
        first = coerce(m, Int(0), PointerTo(to))  # type: ignore[arg-type]
    return RecordValue(t, {0: first} if isinstance(first, Pointer) else {})


def held_by(v: Value) -> Value:
    """Return the pointer that a smart pointer holds; any other value as it is."""
    held = v.cells.get(0) if isinstance(v, RecordValue) and is_smart(v.type) else None
    return held if isinstance(held, Pointer) else v


def smart_method(m: Machine, v: Method, e: Call) -> Value | None:
    """Return what `p->`, `p.get()` or `*p` lead to, or set it; None for what is not known."""
    place = field_of(m, v.self, "held", e.place) if isinstance(v.self, Pointer) else None
    if not isinstance(place, Pointer) or not isinstance(place.offset.const, int):
        return None
    if v.name in ("operator->", "get", "operator*", "release"):
        held = place.object.cells.get(place.offset.const)
        return held if isinstance(held, Pointer) else _unknown(v)
    if v.name == CONVERSION_NAME:
        held = place.object.cells.get(place.offset.const)
        return truth(m, held) if isinstance(held, Pointer) else None
    if v.name not in ("reset", "operator="):
        return None
    new = rvalue(m, e.arguments[0]) if e.arguments else Int(0)
    if isinstance(new, RecordValue):
        new = new.cells.get(0, Other())
    store(m, place, coerce(m, new, place.pointee), e.place)
    return Other()


def _unknown(v: Method) -> Other | None:
    """A pointer of which only the type is known."""
    of = v.self.pointee if isinstance(v.self, Pointer) else None
    to = of.arguments[0] if isinstance(of, RecordRef) and of.arguments and v.name != "operator*" else None
    return Other(PointerTo(to)) if isinstance(to, RecordRef) else None


@named("std::make_unique", "std::make_shared")
def _make_unique(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    """`std::make_unique<T>(a, b)` is `new T(a, b)`."""
    made = arguments[0] if arguments else None
    if not isinstance(made, RecordRef) or not is_type(made):
        for a in e.arguments:
            rvalue(m, a)
        return Other()
    p = rvalue(m, Unary("&", Construct(made, e.arguments, e.place), e.place))
    name = "std::shared_ptr" if str(getattr(e.callee, "name", "")).endswith("shared") else "std::unique_ptr"
    return RecordValue(RecordRef(name, (made,)), {0: p} if isinstance(p, Pointer) else {})
