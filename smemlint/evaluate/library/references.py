"""References that functions of the C++ library hand on in host code: `const int &r = std::max(a, b);` is a or
b, and what `std::ref(n)` leads to may be set by whoever holds it."""

from __future__ import annotations

from collections.abc import Iterable

from smemlint.evaluate.library.builtins import smaller_or_larger
from smemlint.evaluate.library.memory import lent
from smemlint.evaluate.machine.dispatch import lvalue, rvalue
from smemlint.evaluate.machine.functions import Arguments, named
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.values.number import Int
from smemlint.evaluate.values.value import Cells, Other, Pointer, Value, same
from smemlint.ir import Call, Expr, InitList, Name, RecordRef, Type
from smemlint.ir.types import is_reference

HANDED = ("std::ref", "std::tie", "std::forward_as_tuple")
"""Functions that make what leads to their arguments."""
_LIMITS = {"std::max": "max", "std::min": "min"}
_WRAPPER = "std::reference_wrapper"


def chosen_place(m: Machine, e: Call) -> Pointer | Value | None:
    """Return the place of the argument that `std::max(a, b)` gives back; None where it is not known which."""
    if not m.host or not isinstance(e.callee, Name) or len(e.arguments) != 2:
        return None
    limit = _LIMITS.get(e.callee.name)
    values = [rvalue(m, a) for a in e.arguments] if limit is not None else []
    a, b = values if limit is not None else (None, None)
    if limit is None or not isinstance(a, Int) or not isinstance(b, Int):
        return None
    chosen = smaller_or_larger(m, a, b, limit)
    known = isinstance(chosen, Int) and chosen.known
    return lvalue(m, e.arguments[0 if same(chosen, a) else 1]) if known else None


def holds_references(t: Type) -> bool:
    """Return whether an object of a class of the library leads to others: `std::tuple<int &, int &>`."""
    if not isinstance(t, RecordRef) or not t.name.startswith("std::"):
        return False
    return t.name == _WRAPPER or any(
        is_reference(a) or (isinstance(a, RecordRef) and a.name == _WRAPPER) for a in t.arguments
    )


def leave_to_others(m: Machine, given: Iterable[Expr]) -> None:
    """Know nothing any more of variables that something which is not followed may set whenever it likes."""
    for e in given:
        if isinstance(e, InitList):
            leave_to_others(m, e.elements)
            continue
        p = lvalue(m, e)
        if isinstance(p, Pointer) and p.object.storage == "local":
            p.object.storage, p.object.cells = "global", Cells()


@named(*HANDED)
def _lend_arguments(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    if m.host:
        leave_to_others(m, e.arguments)
    else:
        lent(m, e)
    return Other()
