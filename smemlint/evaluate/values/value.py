"""What a variable may hold, and the objects that hold it: an address leads to an object, that has values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from smemlint.evaluate.model import Unresolved
from smemlint.evaluate.values.affine import Affine
from smemlint.evaluate.values.number import Int, lanes_equal
from smemlint.ir import Function, Lambda, Scalar, TemplateArgument, Type, Var
from smemlint.records import record


@record(eq=False, slots=True)
class Pointer:
    """An address: an object, a byte offset in it and the type pointed to. Immutable, as all values;
    nothing checks it, since a field of a frozen record takes ten times as long to set.

    As an integer (`__cvta_generic_to_shared`, uintptr_t) it steps by bytes: `integer` is its type then.
    """

    object: Object
    offset: Int
    pointee: Type
    integer: Scalar | None = None


@record(eq=False, slots=True)
class Other:
    """Anything whose value is not followed: floats, fragments, handles. `uniform`: the same in all lanes.

    value: of a float that is known exactly. leads: a shared array whose address it is made of. bits: the
    bytes of a float, where these are followed. near: a number as near as rounding leaves it, with the whole
    number that it is cut to however it is rounded. made_of: of a float with a value, what names the numbers
    that a compiler does not know in it; None: it knows the value.
    """

    type: Type | None = None
    uniform: bool = False
    reason: Unresolved | None = None
    value: float | NDArray[np.float64] | None = None
    leads: Object | None = None
    bits: Int | None = None
    near: float | NDArray[np.float64] | None = None
    made_of: Affine | None = None


@record(frozen=True, eq=False, slots=True)
class RecordValue:
    """A struct by value: the value of each leaf by byte offset."""

    type: Type
    cells: dict[int, Value]


@record(frozen=True, eq=False, slots=True)
class FunctionValue:
    """A function or an overload set: candidates and the template arguments that were written.

    outer: of a static method, what the template parameters of its record stand for. others: of host code,
    what it may be besides.
    """

    name: str
    candidates: tuple[Function, ...]
    arguments: tuple[TemplateArgument | Int, ...] = ()
    outer: Mapping[str, Any] | None = None
    others: tuple[FunctionValue | Closure, ...] = ()


@record(frozen=True, eq=False, slots=True)
class Closure:
    """A lambda with the frame that it was made in. type: its class, if host code made it for the device.

    captured: its own copies, by id; this: of `*this`; others: as of a function.
    """

    function: Lambda
    frame: object
    type: Type | None = None
    captured: Mapping[str, Object] = field(default_factory=dict)
    this: Pointer | None = None
    others: tuple[FunctionValue | Closure, ...] = ()


@record(frozen=True, eq=False, slots=True)
class Method:
    """A member function bound to its object, or a name to be answered by the library table."""

    name: str
    self: Pointer | Other
    candidates: tuple[Function, ...] = ()
    arguments: tuple[TemplateArgument | Int, ...] = ()


Value: TypeAlias = "Int | Pointer | Other | RecordValue | FunctionValue | Closure | Method"
VALUES = (Int, Pointer, Other, RecordValue, FunctionValue, Closure, Method)


class Cells(dict[int, Value]):
    """What is at each byte offset of an object. Until it changes it remembers the copy that was taken last:
    a branch changes few of all variables."""

    __slots__ = ("leads", "saved")

    def __init__(self, values: Mapping[int, Value] | Iterable[tuple[int, Value]] = ()) -> None:
        super().__init__(values)
        self.saved: dict[int, Value] | None = None
        self.leads: tuple[Object, ...] = ()

    def copied(self) -> dict[int, Value]:
        """A copy that nobody changes; `leads` are then the local objects that it points to."""
        if self.saved is None:
            self.saved = dict(self)
            leading = [v for v in self.values() if type(v) is not Int and type(v) is not Other]
            self.leads = tuple([o for v in leading for o in reached(v) if o.storage == "local"])
        return self.saved

    def __setitem__(self, at: int, v: Value) -> None:
        self.saved = None
        super().__setitem__(at, v)

    def __delitem__(self, at: int) -> None:
        self.saved = None
        super().__delitem__(at)

    def update(self, values: Mapping[int, Value]) -> None:  # type: ignore[override]
        self.saved = None
        super().update(values)

    def clear(self) -> None:
        self.saved = None
        super().clear()


@record(eq=False, slots=True)
class Object:
    """One variable or allocation.

    storage: 'local' (its value is followed), 'shared' (accesses are recorded) or 'global' (neither).
    cells: value by byte offset, for local objects. `uniform`: what is read from unknown places is the same
    in all lanes.
    align: bytes that the start is known to be a multiple of.
    """

    id: str
    name: str
    type: Type
    storage: str
    var: Var | None = None
    cells: dict[int, Value] = field(default_factory=Cells)
    uniform: bool = False
    align: int = 1
    volatile: bool = False
    """Declared so, or reached through a pointer to volatile by now."""
    escapes: bool = False
    havoc: bool = False
    """A write of unknown place or value went here: absent cells are unknown, not uninitialised."""
    options: tuple[Option, ...] = ()
    """Of what stands for several objects: which, and in which lanes. It holds nothing itself; its storage is
    'shared' if one of them is shared, else 'several' if one is local, else 'global'."""
    generic: bool = False
    """The compiler loads such a pointer from a table: nothing is known to it of where it leads."""

    def lose(self) -> None:
        """Hold what is not known, and may differ from lane to lane."""
        self.cells, self.havoc, self.uniform = {}, True, False


@record(frozen=True, eq=False, slots=True)
class Option:
    """An object that a pointer may lead to: in lanes where `when`, 0 or 1, is 1; at `offset` in it."""

    when: Int
    object: Object
    offset: Int


def is_uniform(v: Value) -> bool:
    """Whether a value is the same in all lanes."""
    if isinstance(v, Int | Other):
        return v.uniform
    return isinstance(v, Pointer) and v.offset.uniform


def reached(v: Value) -> tuple[Object, ...]:
    """The objects that a value leads to, or has copies in."""
    if isinstance(v, Pointer):
        return led_to(v.object)
    return tuple(v.captured.values()) if isinstance(v, Closure) else ()


def led_to(o: Object) -> tuple[Object, ...]:
    """The objects that an object of a pointer stands for: itself, but for one that stands for several."""
    return tuple(option.object for option in o.options) if o.options else (o,)


def same(a: Value, b: Value) -> bool:
    """Surely the same value."""
    if a is b:
        return True
    if isinstance(a, Int) and isinstance(b, Int):
        if a.terms.keys() != b.terms.keys() or not lanes_equal(a.const, b.const):
            return False
        return all(lanes_equal(c, b.terms[m]) for m, c in a.terms.items())
    if isinstance(a, Pointer) and isinstance(b, Pointer):
        return a.object is b.object and same(a.offset, b.offset)
    if isinstance(a, RecordValue) and isinstance(b, RecordValue):
        return a.cells.keys() == b.cells.keys() and all(same(v, b.cells[k]) for k, v in a.cells.items())
    if isinstance(a, FunctionValue) and isinstance(b, FunctionValue):
        return a.candidates == b.candidates and a.arguments == b.arguments and _same_bound(a.outer, b.outer)
    return False


def _same_bound(a: Mapping[str, Any] | None, b: Mapping[str, Any] | None) -> bool:
    """Whether the template parameters of two records stand for the same."""
    a, b = a or {}, b or {}
    return a.keys() == b.keys() and all(x == b[k] or same(x, b[k]) for k, x in a.items())
