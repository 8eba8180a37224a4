"""Algorithms of the C++ library that host code makes small tables with: they read and write the elements
between two pointers, where these are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cmp_to_key
from typing import TypeAlias

from smemlint.evaluate.language.accesses import load, store
from smemlint.evaluate.language.conversions import coerce, truth
from smemlint.evaluate.language.places import offset_pointer
from smemlint.evaluate.library.callables import run_given
from smemlint.evaluate.library.containers import LONGEST
from smemlint.evaluate.machine.dispatch import rvalue
from smemlint.evaluate.machine.functions import FUNCTIONS, Arguments, number, short_name
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.memory.text import text_in
from smemlint.evaluate.values import arithmetic as ar
from smemlint.evaluate.values import floats
from smemlint.evaluate.values.number import Int, subtract
from smemlint.evaluate.values.value import Cells, Other, Pointer, Value
from smemlint.ir import Call, Expr, Member, Name, RecordRef
from smemlint.ir.types import BOOL, LONG

Span: TypeAlias = "list[Pointer]"
_COMPARISONS = ("<", ">", "==")
_BACK = "std::back_inserter"
_IN_FRONT = {"std::greater": ">", "std::less": "<"}


class _NotFollowedError(Exception):
    """Something is not known on which the result depends."""


class _Run:
    """One call of an algorithm."""

    def __init__(self, m: Machine, e: Call) -> None:
        self.m = m
        self.e = e
        self.given = [None if _is_back(a) else rvalue(m, a) for a in e.arguments]

    def span(self, first: int = 0) -> Span:
        """The elements between the argument at `first` and the one behind it, which may be their number."""
        begin, end = self.at(first), self.given[first + 1]
        size = self.m.types.size_of(begin.pointee)
        if isinstance(end, Pointer) and end.object is begin.object and size:
            distance = number(subtract(end.offset, begin.offset, LONG))
            count = None if distance is None else distance // size
        else:
            count = number(end)
        if count is None or not 0 <= count <= LONGEST:
            raise _NotFollowedError
        return [self.moved(begin, i) for i in range(count)]

    def at(self, which: int) -> Pointer:
        """The pointer that an argument is."""
        p = self.given[which] if which < len(self.given) else None
        if not isinstance(p, Pointer) or p.object.storage != "local":
            raise _NotFollowedError
        return p

    def moved(self, p: Pointer, by: int) -> Pointer:
        """The element so many behind another."""
        return offset_pointer(self.m, p, Int(by), self.e.place) if by else p

    def value(self, which: int) -> Value:
        v = self.given[which] if which < len(self.given) else None
        if v is None:
            raise _NotFollowedError
        return v

    def read(self, places: Span) -> list[Value]:
        return [load(self.m, p, self.e.place) for p in places]

    def write(self, places: Span, values: Sequence[Value]) -> None:
        for p, v in zip(places, values, strict=True):
            store(self.m, p, coerce(self.m, v, p.pointee), self.e.place)

    def put(self, which: int, values: Sequence[Value]) -> Value:
        """Write to what an argument leads to: elements, or the end of a container."""
        out = self.e.arguments[which] if which < len(self.e.arguments) else None
        if isinstance(out, Call) and _is_back(out):
            for v in values:
                rvalue(self.m, Call(Member(out.arguments[0], "push_back"), (v,), self.e.place))  # type: ignore[arg-type]
            return Other()
        first = self.at(which)
        self.write([self.moved(first, i) for i in range(len(values))], values)
        return self.moved(first, len(values))

    def call(self, which: int, *values: Value) -> Value:
        return run_given(self.m, self.e.arguments[which], values, self.e)

    def holds(self, which: int, *values: Value) -> bool:
        """Whether a predicate holds of known values."""
        n = number(truth(self.m, self.call(which, *values)))
        if n is None:
            raise _NotFollowedError
        return bool(n)

    def compared(self, op: str, a: Value, b: Value) -> bool:
        n = number(_applied(self.m, op, a, b))
        if n is None:
            raise _NotFollowedError
        return bool(n)

    def less(self, which: int) -> Callable[[Value, Value], bool]:
        """The order that an argument says, else that of numbers."""
        if which >= len(self.given):
            return lambda a, b: self.compared("<", a, b)
        t = getattr(self.given[which], "type", None)
        op = _IN_FRONT.get(t.name) if isinstance(t, RecordRef) else None
        return (lambda a, b: self.compared(op, a, b)) if op else (lambda a, b: self.holds(which, a, b))


def _is_back(a: Expr) -> bool:
    return (
        isinstance(a, Call)
        and isinstance(a.callee, Name)
        and a.callee.name == _BACK
        and len(a.arguments) == 1
    )


def _applied(m: Machine, op: str, a: Value, b: Value) -> Value:
    """`a op b` of numbers or text."""
    if isinstance(a, Int) and isinstance(b, Int):
        return ar.binary(op, a, b, m.unknowns)
    x, y = text_in(a), text_in(b)
    if x is not None and y is not None and op in ("<", ">", "=="):
        return Int(int(x == y if op == "==" else x < y if op == "<" else x > y), BOOL)
    told = floats.compared(op, a, b) if op in _COMPARISONS else floats.arithmetic(op, a, b, host=True)
    if told is None:
        raise _NotFollowedError
    return told


def _fill(r: _Run) -> Value:
    places = r.span()
    r.write(places, [r.value(2)] * len(places))
    return Other()


def _iota(r: _Run) -> Value:
    places, v = r.span(), r.value(2)
    for i, p in enumerate(places):
        r.write([p], [_applied(r.m, "+", v, Int(i))])
    return Other()


def _copy(r: _Run) -> Value:
    return r.put(2, r.read(r.span()))


def _copy_if(r: _Run) -> Value:
    return r.put(2, [v for v in r.read(r.span()) if r.holds(3, v)])


def _generate(r: _Run) -> Value:
    for p in r.span():
        r.write([p], [r.call(2)])
    return Other()


def _transform(r: _Run) -> Value:
    values = r.read(r.span())
    if len(r.given) == 4:
        return r.put(2, [r.call(3, v) for v in values])
    others = r.read([r.moved(r.at(2), i) for i in range(len(values))])
    return r.put(3, [r.call(4, a, b) for a, b in zip(values, others, strict=True)])


def _reverse(r: _Run) -> Value:
    places = r.span()
    r.write(places, r.read(places)[::-1])
    return Other()


def _sort(r: _Run) -> Value:
    places, less = r.span(), r.less(2)

    def order(a: Value, b: Value) -> int:
        return -1 if less(a, b) else int(less(b, a))

    r.write(places, sorted(r.read(places), key=cmp_to_key(order)))
    return Other()


def _sums(r: _Run) -> Value:
    found: list[Value] = []
    for v in r.read(r.span()):
        found.append(v if not found else _applied(r.m, "+", found[-1], v))
    return r.put(2, found)


def _accumulate(r: _Run) -> Value:
    total = r.value(2)
    for v in r.read(r.span()):
        total = _applied(r.m, "+", total, v) if len(r.given) < 4 else r.call(3, total, v)
    return total


def _extreme(r: _Run, *, largest: bool) -> Value:
    places, less = r.span(), r.less(2)
    if not places:
        return r.at(1)
    best = places[0]
    for p in places[1:]:
        a, b = r.read([best, p]) if largest else r.read([p, best])
        best = p if less(a, b) else best
    return best


def _find_first(r: _Run, holds: Callable[[Value], bool]) -> Value:
    for p in r.span():
        if holds(r.read([p])[0]):
            return p
    return r.at(1)


def _count(r: _Run, holds: Callable[[Value], bool]) -> Int:
    return Int(sum(map(holds, r.read(r.span()))), LONG)


def _not_followed() -> Value:
    raise _NotFollowedError


_ALGORITHMS: dict[str, Callable[[_Run], Value]] = {
    **dict.fromkeys(("fill", "fill_n"), _fill),
    "iota": _iota,
    **dict.fromkeys(("copy", "copy_n"), _copy),
    "copy_if": _copy_if,
    **dict.fromkeys(("generate", "generate_n"), _generate),
    "transform": _transform,
    "reverse": _reverse,
    **dict.fromkeys(("sort", "stable_sort"), _sort),
    **dict.fromkeys(("partial_sum", "inclusive_scan"), _sums),
    **dict.fromkeys(("accumulate", "reduce"), _accumulate),
    "max_element": lambda r: _extreme(r, largest=True),
    "min_element": lambda r: _extreme(r, largest=False),
    "find": lambda r: _find_first(r, lambda v: r.compared("==", v, r.value(2))),
    "find_if": lambda r: _find_first(r, lambda v: r.holds(2, v)),
    "lower_bound": lambda r: _find_first(r, lambda v: not r.compared("<", v, r.value(2))),
    "upper_bound": lambda r: _find_first(r, lambda v: r.compared("<", r.value(2), v)),
    "count": lambda r: _count(r, lambda v: r.compared("==", v, r.value(2))),
    "count_if": lambda r: _count(r, lambda v: r.holds(2, v)),
    "any_of": lambda r: Int(int(_count(r, lambda v: r.holds(2, v)).const > 0)),
    "all_of": lambda r: Int(int(_count(r, lambda v: not r.holds(2, v)).const == 0)),
    "none_of": lambda r: Int(int(_count(r, lambda v: r.holds(2, v)).const == 0)),
    "distance": lambda r: Int(len(r.span()), LONG),
    **dict.fromkeys(("rotate", "shuffle", "unique"), lambda r: _not_followed()),
    "next": lambda r: r.moved(r.at(0), number(r.given[1]) or 0 if len(r.given) > 1 else 1),
    "prev": lambda r: r.moved(r.at(0), -(number(r.given[1]) or 0) if len(r.given) > 1 else -1),
}


WRITING = frozenset(f"std::{name}" for name in _ALGORITHMS)
"""Names of what may write to elements that it is given, with values that it is given."""


def _handler(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value | None:
    """What an algorithm does; None in device code. What it may write is not known if it is not followed."""
    if not m.host:
        return None
    run = _Run(m, e)
    try:
        return _ALGORITHMS[short_name(getattr(e.callee, "name", ""))](run)
    except _NotFollowedError:
        for v in run.given:
            if isinstance(v, Pointer) and v.object.storage == "local":
                v.object.cells, v.object.havoc = Cells(), True
        return Other()


FUNCTIONS.update({f"std::{name}": _handler for name in _ALGORITHMS})
