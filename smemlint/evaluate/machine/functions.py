"""The table of functions that have no body in the project, filled by the library modules."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.model import Unresolved
from smemlint.evaluate.values import affine
from smemlint.evaluate.values.number import Int, collapse
from smemlint.evaluate.values.value import Other, Pointer, RecordValue, Value
from smemlint.ir import Call, Literal, RecordRef, TemplateArgument

Arguments: TypeAlias = "tuple[TemplateArgument | Int, ...]"
Handler: TypeAlias = "Callable[[Machine, Call, Arguments, bool], Value | None]"
"""What a call gives; None where it is one of a function of which nothing is known."""
"""machine, call, template arguments, whether the result is thrown away."""

H = TypeVar("H", bound=Handler)
FUNCTIONS: dict[str, Handler] = {}


def named(*names: str) -> Callable[[H], H]:
    """Register a handler of calls under these names."""

    def register(f: H) -> H:
        for n in names:
            FUNCTIONS[n] = f
        return f

    return register


def short_name(name: str) -> str:
    """Return a name without namespaces and classes."""
    return name.rsplit("::", 1)[-1]


def called(e: Call) -> str:
    """The unqualified name that a call is written with."""
    return short_name(getattr(e.callee, "name", ""))


def reason_of(values: list[Value]) -> Unresolved | None:
    """Why the first value that is not known is not."""
    for v in values:
        if isinstance(v, Other) and v.reason is not None:
            return v.reason
        if isinstance(v, Int):
            for mono in v.terms:
                for s in mono:
                    if s.reason is not None:
                        return s.reason
    return None


def in_shared(v: Value) -> bool:
    """Whether a value is a pointer into shared memory."""
    return isinstance(v, Pointer) and v.object.storage == "shared"


def number(v: object) -> int | None:
    """A known number that is the same for all threads: an integer value, a literal, or an aligned_size_t."""
    if isinstance(v, Literal):
        return v.value
    if isinstance(v, Int) and v.known:
        c = collapse(v.const)
        return c if isinstance(c, int) else None
    if isinstance(v, RecordValue) and len(v.cells) == 1:
        return number(v.cells.get(0))
    return None


def known_lanes(m: Machine, v: Value) -> NDArray[np.int64] | None:
    """The number of every thread, or None."""
    if not isinstance(v, Int) or not v.known:
        return None
    return np.array(np.broadcast_to(np.asarray(v.const, dtype=np.int64), (m.threads.size,)))


def lanes_value(m: Machine, lanes: NDArray[np.int64], like: Int) -> Int:
    """Return a number of which every thread is known, in the type of another."""
    form = None if m.host else affine.atom("lanes", lanes.tobytes())
    return Int(collapse(lanes, m.threads.present), like.type, None, form)


def record_argument(t: object) -> int | None:
    """Return the first template argument of a record type, where it is a known integer."""
    return number(t.arguments[0]) if isinstance(t, RecordRef) and t.arguments else None
