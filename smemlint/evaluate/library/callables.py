"""Functions that host code hands on: `std::function`, threads, algorithms that call what they are given."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from smemlint.evaluate.language.accesses import load
from smemlint.evaluate.language.conversions import as_int, type_of
from smemlint.evaluate.language.inlining import run_closure
from smemlint.evaluate.language.places import place_of
from smemlint.evaluate.library.containers import LONGEST, chosen_in, members_of
from smemlint.evaluate.machine.dispatch import rvalue, unseen
from smemlint.evaluate.machine.functions import Arguments, named, number
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.machine.state import Frame
from smemlint.evaluate.values.number import Int, plus, subtract
from smemlint.evaluate.values.value import Closure, FunctionValue, Other, Pointer, RecordValue, Value
from smemlint.ir import (
    Assign,
    Call,
    Cast,
    Construct,
    Expr,
    Index,
    Lambda,
    Literal,
    Name,
    PointerTo,
    RecordRef,
    Type,
    Unary,
)
from smemlint.ir.expr import STEPS
from smemlint.ir.memo import by_identity
from smemlint.ir.types import INT, LONG, is_reference, referred
from smemlint.ir.walk import walk

_THREADS = ("std::thread", "std::jthread")
_REFERENCES = ("std::ref", "std::cref", "ref", "cref")


def is_function_object(t: Type | None) -> bool:
    """Return whether a type is `std::function`, which holds whatever can be called."""
    return isinstance(t, RecordRef) and t.name == "std::function"


def is_thread(t: Type | None) -> bool:
    """Return whether a type is a thread of the C++ library."""
    return isinstance(t, RecordRef) and t.name in _THREADS


def held_function(m: Machine, e: Construct) -> Value:
    """Return what a `std::function` is made of: the function or lambda itself."""
    v = rvalue(m, e.arguments[0]) if len(e.arguments) == 1 else Other()
    return function_in(v) or (v if isinstance(v, RecordValue) else Other())


def function_in(v: Value | None) -> Value | None:
    """Return the function or lambda that a value is, or holds alone."""
    if isinstance(v, RecordValue) and len(v.cells) == 1:
        v = v.cells.get(0)
    return v if isinstance(v, Closure | FunctionValue) else None


def started(m: Machine, e: Construct) -> None:
    """Run what a thread is given, once."""
    if e.arguments:
        run_given(m, e.arguments[0], e.arguments[1:], e)


def run_handed(m: Machine, e: Call, values: Sequence[Value]) -> None:
    """Run the lambdas that host code hands to what is not known: what runs them, how often and with which
    arguments, is not known, but that they run is."""
    for v in values:
        if isinstance(v, Closure):
            run_closure(m, v, Call(e.callee, (), e.place), False)
            _run_again(v)


def _run_again(c: Closure) -> None:
    """Forget the numbers around a lambda that each further run changes."""
    for id in _counted(c.function):
        around = c.frame.visible() if isinstance(c.frame, Frame) else ()
        o = next((f.variables[id] for f in around if id in f.variables), None)
        if o is None or id in c.captured:
            continue
        held = o.cells.get(0)
        if is_reference(o.type) and isinstance(held, Pointer):
            o = held.object
        o.cells, o.havoc, o.uniform = {}, True, True


@by_identity
def _counted(c: Lambda) -> frozenset[str]:
    """Ids of the variables that a lambda makes of what they were: `n += 2`."""
    found: set[str] = set()
    for n in walk(c.body):
        if isinstance(n, Unary) and n.op in STEPS and isinstance(n.operand, Name):
            found.add(n.operand.id)
        elif isinstance(n, Assign) and isinstance(n.target, Name):
            id = n.target.id
            if n.op != "=" or any(isinstance(x, Name) and x.id == id for x in walk(n.value)):
                found.add(id)
    return frozenset(found)


def run_given(m: Machine, callee: Expr, arguments: Sequence[Expr | Value], e: Call | Construct) -> Value:
    """Return what calling what an expression names gives; `std::ref(x)` stands for x."""
    given = tuple(
        a.arguments[0]
        if isinstance(a, Call)
        and len(a.arguments) == 1
        and isinstance(a.callee, Name)
        and a.callee.name in _REFERENCES
        else a
        for a in arguments
    )
    return rvalue(m, Call(callee, given, e.place))  # type: ignore[arg-type]  # what is given may be known


def _not_known(m: Machine, e: Call) -> Value:
    """What a call gives that is not followed; its arguments are read all the same."""
    for a in e.arguments:
        rvalue(m, a)
    return Other()


@named("std::invoke", "cuda::std::invoke", "std::async", "std::call_once")
def _invoked(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    """`std::async(policy, f, x)` and the like: the function is the first argument, or the one behind."""
    for i, a in enumerate(e.arguments[:2]):
        callable_ = function_in(unseen(m, a))
        if callable_ is not None:
            return run_given(m, a, e.arguments[i + 1 :], e)
    return _not_known(m, e)


@named("std::apply", "cuda::std::apply")
def _applied(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    """Call a function with the elements of a tuple, each in its place."""
    if len(e.arguments) != 2:
        return Other()
    place = place_of(m, e.arguments[1])
    given = [
        load(m, Pointer(place.object, plus(place.offset, at), t), e.place)
        for at, t in members_of(m, place.pointee)
    ]
    return run_given(m, e.arguments[0], given, e)


@named("std::for_each", "std::for_each_n")
def _for_each(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    """Call a function for each element between two pointers; once for one of many that are not known."""
    if len(e.arguments) != 3:
        return _not_known(m, e)
    first, last, callee = e.arguments
    begin, end = rvalue(m, first), rvalue(m, last)
    n = None
    if isinstance(begin, Pointer) and isinstance(end, Pointer) and begin.object is end.object:
        size = m.types.size_of(begin.pointee)
        distance = number(subtract(end.offset, begin.offset, LONG))
        n = distance // size if size and distance is not None else None
    elif isinstance(begin, Pointer) and isinstance(end, Int):
        n = number(as_int(m, end, e.place))
    known = n is not None and 0 <= n <= LONGEST
    for i in range(n if n is not None and known else 1):
        run_given(m, callee, (Index(first, Literal(i, INT), e.place),), e)
    called = None if known else function_in(rvalue(m, callee))
    if isinstance(called, Closure):
        _run_again(called)
    return Other()


@named("std::visit", "cuda::std::visit")
def _visited(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    """Call a function with what variants hold: any of their types, each on a way of its own through host
    code."""
    callee, *variants = e.arguments
    known = [chosen_in(place_of(m, v)) for v in variants]
    held = [load(m, k[1], e.place) for k in known if k is not None]
    if m.host and len(held) == len(variants):
        return run_given(m, _visitor(m, callee, held), held, e)
    kinds = [_alternatives(m, v) for v in variants]
    paths = m.task.paths
    if not all(kinds) or paths is None:
        return _not_known(m, e)
    way = 0
    if not m.silent:
        choice = paths.at(e)
        settled = paths.settled.get(choice)
        if settled is None:
            paths.leave_open(choice, prod(map(len, kinds)))
        way = settled or 0
    given: list[Expr] = []
    for v, types in zip(variants, kinds, strict=True):
        way, chosen = divmod(way, len(types))
        t = types[chosen]
        given.append(Construct(t, (), e.place) if isinstance(t, RecordRef) else _read_as(t, v))
    return run_given(m, callee, tuple(given), e)


def _visitor(m: Machine, callee: Expr, values: Sequence[Value]) -> Expr:
    """What is called with some values: of an object that is several lambdas, the one that takes them."""
    parts = callee.arguments if isinstance(callee, Construct) else ()
    lambdas = [v for a in parts if isinstance(v := unseen(m, a), Closure)]
    if len(lambdas) < 2:
        return callee
    wanted = [type_of(x) for x in values]
    takes = [[referred(m.resolve(p.type)) for p in c.function.parameters] for c in lambdas]
    fits = [c for c, types in zip(lambdas, takes, strict=True) if types == wanted]
    return (fits or [c for c in lambdas if c.function.template] or lambdas)[0]  # type: ignore[return-value]


def _read_as(t: Type, e: Expr) -> Expr:
    """What a variant holds, as a number or pointer that is not known."""
    return Unary("*", Cast(PointerTo(t), Unary("&", e), reinterpret=True))


def _alternatives(m: Machine, e: Expr) -> tuple[Type, ...]:
    """The types that a variant may hold."""
    t = getattr(unseen(m, e), "type", None)
    if not isinstance(t, RecordRef) or t.name.removeprefix("cuda::") != "std::variant":
        return ()
    return tuple(a for a in t.arguments if isinstance(a, Type))
