"""Calls: of the project's functions, methods and lambdas, which are inlined, or of the library's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from smemlint.evaluate.language.accesses import load
from smemlint.evaluate.language.conversions import constant_of, is_null, type_of
from smemlint.evaluate.language.expression_types import before_member, type_at
from smemlint.evaluate.language.inlining import (
    MOVES,
    Reference,
    forget_given,
    invoke,
    named_place,
    run_closure,
)
from smemlint.evaluate.language.lifetimes import begin_life
from smemlint.evaluate.language.names import resolve_arguments, static_member
from smemlint.evaluate.language.overloads import methods_of
from smemlint.evaluate.language.packs import FORWARDS
from smemlint.evaluate.language.places import field_of
from smemlint.evaluate.library.atomics import is_atomic
from smemlint.evaluate.library.builtins import element_of, function, method
from smemlint.evaluate.library.callables import is_function_object
from smemlint.evaluate.library.containers import got_place
from smemlint.evaluate.library.memory import escaped
from smemlint.evaluate.library.references import chosen_place
from smemlint.evaluate.machine.dispatch import lvalue, rvalue
from smemlint.evaluate.machine.functions import number
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.memory.local_memory import here
from smemlint.evaluate.memory.merging import merge
from smemlint.evaluate.memory.several import options_of
from smemlint.evaluate.run.branches import branch
from smemlint.evaluate.run.virtual_calls import any_override, may_be_overridden
from smemlint.evaluate.types.bases import is_of_base
from smemlint.evaluate.values.number import Int
from smemlint.evaluate.values.objects import temporary
from smemlint.evaluate.values.value import (
    VALUES,
    Closure,
    FunctionValue,
    Method,
    Object,
    Option,
    Other,
    Pointer,
    RecordValue,
    Value,
    led_to,
)
from smemlint.ir import (
    CONVERSION_NAME,
    Call,
    Expr,
    Function,
    Index,
    Member,
    Name,
    PointerTo,
    RecordRef,
    StaticMember,
    Type,
)
from smemlint.ir.types import BOOL
from smemlint.ir.walk import walk

MOST_FUNCTIONS = 16
"""Functions that one variable may hold among which is chosen at once; more are halved before."""
_OF_NUMBERS = (CONVERSION_NAME, "operator()")
"""Methods that give the number which an object of a class stands for."""


def call_value(m: Machine, e: Call) -> Value:
    """The value of a call; what a reference leads to is read only if somebody wants it."""
    discarded = m.context.discarded is e
    result = called(m, e)
    return (
        result
        if not isinstance(result, Reference)
        else Other()
        if discarded
        else load(m, result.place, e.place)
    )


def called(m: Machine, e: Call) -> Value | Reference:
    """What a function gives back: a value, or the place that a reference leads to."""
    return _of_type(m, e, _run_call(m, e, False))


def _of_type(m: Machine, e: Call, result: Value | Reference) -> Value | Reference:
    """What a function of another file gives, with its type: a kernel's may be deduced from it."""
    if e.elsewhere is not None and m.host and isinstance(result, Other) and result.type is None:
        return replace(result, type=m.resolve(e.elsewhere))
    return result


def call_place(m: Machine, e: Call) -> Pointer | Value:
    """The place that a returned reference names, or the value of the call."""
    named = _library_place(m, e) if isinstance(e.callee, Name) and not e.callee.id else None
    if named is not None:
        return named
    result = _of_type(m, e, _run_call(m, e, True))
    return result.place if isinstance(result, Reference) else result


def _library_place(m: Machine, e: Call) -> Pointer | Value | None:
    """The place that a function of the library gives back: `std::move(x)`, `std::get<1>(x)`."""
    callee = e.callee
    if not isinstance(callee, Name) or len(e.arguments) != 1:
        return chosen_place(m, e)
    if not m.host and (callee.name in MOVES or callee.name in FORWARDS):
        return lvalue(m, e.arguments[0])
    if callee.name == "std::get":
        return got_place(m, e, resolve_arguments(m, callee.arguments))
    return None


def _run_call(m: Machine, e: Call, want_place: bool) -> Value | Reference:
    discarded = m.context.discarded is e
    callee = e.callee
    v: Value
    if isinstance(callee, Member):
        v = _method(m, callee)
        held = _closure_at(v.self) if isinstance(v, Method) and isinstance(v.self, Pointer) else v
        if callee.name == CONVERSION_NAME and isinstance(held, Closure):
            return held  # as a pointer to its function
        if callee.name in _OF_NUMBERS and isinstance(v, Method) and not v.candidates and not e.arguments:
            held = _number_in(v.self)
            if held is not None:
                return held
    elif isinstance(callee, StaticMember):
        v = static_member(m, m.resolve(callee.owner), callee.name) or FunctionValue(
            f"{_owner_name(m, callee)}::{callee.name}", (), ()
        )
        if isinstance(v, FunctionValue) and callee.arguments:
            v = replace(v, arguments=resolve_arguments(m, callee.arguments))
        if isinstance(v, FunctionValue) and m.frame.this is not None and _needs_object(v):
            v = Method(callee.name, m.frame.this, v.candidates, v.arguments)
    else:
        v = _called(m, callee)
        if isinstance(v, Other) and not e.arguments and (constant := constant_of(v.type)) is not None:
            return constant
        if isinstance(v, Other) and isinstance(callee, Name):
            v = FunctionValue(callee.name, (), resolve_arguments(m, callee.arguments))
    if e.chosen and isinstance(v, FunctionValue | Method) and len(v.candidates) > 1:
        v = replace(v, candidates=tuple(f for f in v.candidates if f.id == e.chosen) or v.candidates)
    if e.chosen and isinstance(v, Method):
        v = _as_declared(m, v, e.chosen)
    return _apply(m, v, e, discarded, want_place)


def _as_declared(m: Machine, v: Method, chosen: str) -> Method:
    """A method of an object whose class has a virtual table, as the class says that the call names: a base's
    own where it is not virtual. chosen: the id of the one that clang found."""
    own = m.module.functions.get(chosen)
    if own is None or own.virtual or own.record is None or not isinstance(v.self, Pointer):
        return v
    hidden = v.candidates and all(f.record != own.record for f in v.candidates)
    return replace(v, candidates=(own,)) if hidden and is_of_base(m.types, v.self.pointee, own.record) else v


def _called(m: Machine, callee: Expr) -> Value:
    """What an expression calls: a function, a lambda, or the operator of an object. In a template clang
    leaves `tile(i, j)` without its operator; to ask for that reads nothing of the object."""
    if not isinstance(callee, Name | Index):
        t = type_at(m, callee)
        if isinstance(t, RecordRef) and methods_of(m, t, "operator()"):
            return _method(m, Member(callee, "operator()"))
        v = callee if isinstance(callee, VALUES) else rvalue(m, callee)
    else:
        place = lvalue(m, callee)
        if isinstance(place, Pointer) and isinstance(place.pointee, RecordRef):
            held = _function_at(m, place)
            if held is not None:
                return held
            candidates = methods_of(m, place.pointee, "operator()")
            if candidates:
                return _closure_at(place) or Method("operator()", place, candidates)
        v = load(m, place, callee.place, callee) if isinstance(place, Pointer) else place
    return _method_of(m, v, Member(callee, "operator()")) if isinstance(v, RecordValue) else v


def _closure_at(p: Pointer) -> Closure | None:
    """The lambda that a variable holds."""
    at = number(p.offset)
    held = p.object.cells.get(at) if p.object.storage == "local" and at is not None else None
    return held if isinstance(held, Closure) else None


def _function_at(m: Machine, p: Pointer) -> Closure | FunctionValue | None:
    """What a `std::function` holds, which may be one of a table."""
    at = number(p.offset)
    if not is_function_object(p.pointee) or p.object.storage != "local":
        return None
    held = p.object.cells.get(at) if at is not None else load(m, p, None) if m.host else None
    held = held.cells.get(0) if isinstance(held, RecordValue) else held
    return held if isinstance(held, Closure | FunctionValue) else None


def _number_in(self: Value) -> Int | None:
    """The number that a variable of a class that nothing declares was made of, or its type stands for."""
    if isinstance(self, Int):
        return self
    of = (
        self.pointee
        if isinstance(self, Pointer)
        else self.type
        if isinstance(self, Other | RecordValue)
        else None
    )
    constant = constant_of(of)
    if constant is not None:
        return constant
    if not isinstance(self, Pointer) or self.object.storage != "local" or self.offset.key() != Int(0).key():
        return None
    held = self.object.cells.get(0)
    return held if isinstance(held, Int) else None


def _needs_object(v: FunctionValue) -> bool:
    """Whether functions that are named by their class, as in `Base::get(i)`, are methods of this object."""
    return any(f.record is not None and not f.static for f in v.candidates)


def _owner_name(m: Machine, callee: StaticMember) -> str:
    owner = m.resolve(callee.owner)
    return owner.name if isinstance(owner, RecordRef) else "?"


def _apply(m: Machine, v: Value, e: Call, discarded: bool, want_place: bool) -> Value | Reference:
    if isinstance(v, FunctionValue | Closure) and v.others and m.host:
        every = _on_this_way(m, v, e)[:MOST_FUNCTIONS]
        calls = [partial(_apply, m, one, e, discarded, want_place) for one in every]
        return calls[0]() if len(every) == 1 else _call_each(m, _whens(m, v, len(every)), calls)
    if m.host and isinstance(v, Method) and isinstance(v.self, Pointer) and v.self.object.options:
        return _of_each_object(m, v, e, discarded, want_place)
    named = v if isinstance(v, FunctionValue) else FunctionValue("", ())
    candidates = (*named.candidates, *_brought_in(m, e)) if e.hidden else named.candidates
    if candidates and not _means_the_library(m, named, e):
        result = invoke(m, candidates, e.arguments, named.arguments, None, e.place, named.outer)
        if result is not None:
            return result
    if isinstance(v, Method):
        if m.host and (given := any_override(m, v, e)) is not None:
            return given
        if v.candidates:
            this = v.self if isinstance(v.self, Pointer) else None
            result = invoke(m, v.candidates, e.arguments, v.arguments, this, e.place)
            if result is not None:
                return result
        element = element_of(m, v, e)
        return Reference(element) if element is not None else method(m, v, e, discarded)
    if isinstance(v, Closure):
        return run_closure(m, v, e, want_place)
    if m.host and not isinstance(v, FunctionValue):  # clang says `n(1)` where a class lacks `n.fetch_add(1)`
        forget_given(named_place(m, e.callee), ())
    if isinstance(v, Pointer | RecordValue):
        escaped(m, v, "unknown-function", "an `operator()` that is not known", e)
        return Other()
    name = v.name if isinstance(v, FunctionValue) else e.callee.name if isinstance(e.callee, Name) else ""
    arguments = v.arguments if isinstance(v, FunctionValue) else ()
    result = function(m, name, arguments, e, discarded)
    if isinstance(result, Other) and result.uniform and isinstance(e.callee, Name) and m.find(e.callee.id):
        return replace(result, uniform=False)  # an object of which nothing is known may hold a lane's number
    return result


def _brought_in(m: Machine, e: Call) -> list[Function]:
    """The functions in other namespaces that the classes of a call's arguments bring in."""
    classes = [n.name for a in e.arguments for n in walk(type_at(m, a)) if isinstance(n, RecordRef)]
    found = (m.module.functions[id] for id in e.hidden if id in m.module.functions and classes)
    return [f for f in found if not f.scope or any(c.startswith(f"{f.scope}::") for c in classes)]


def _on_this_way(m: Machine, v: FunctionValue | Closure, e: Call) -> Sequence[FunctionValue | Closure]:
    """The functions that a variable may hold on the way through host code that is run."""
    paths, every = m.task.paths, (v, *v.others)
    while paths is not None and not m.silent and len(every) > 1:
        choice = paths.at(e)
        way = paths.settled.get(choice)
        whole = len(every) <= MOST_FUNCTIONS
        if way is None:
            paths.leave_open(choice, len(every) if whole else 2)
            break
        half = len(every) // 2
        every = (every[min(way, len(every) - 1)],) if whole else every[half:] if way else every[:half]
    return [replace(f, others=()) for f in every]


def _whens(m: Machine, v: FunctionValue | Closure, ways: int) -> list[Int]:
    """1 where a variable holds each of its functions but the last; the same wherever it is called."""
    if ("which", v, ways, 0) not in m.unknowns.memo:
        for i, when in enumerate(m.unknowns.selector(ways, "which function", varying=False)):
            ((s,),) = when.terms
            m.unknowns.memo["which", v, ways, i] = s
    return [Int(0, BOOL, {(m.unknowns.memo["which", v, ways, i],): 1}) for i in range(ways - 1)]


def _call_each(m: Machine, whens: Sequence[Int], calls: Sequence[Callable[[], Value | Reference]]) -> Value:
    """What one of several calls gives, each of which is made where it is the one. whens: 1 where it is that
    call; where it is none, it is the last."""
    given: dict[int, Value] = {}

    def call(i: int) -> None:
        result = calls[i]()
        given[i] = load(m, result.place, None) if isinstance(result, Reference) else result

    def go_on(i: int) -> None:
        if i == len(whens):
            call(i)
        else:
            branch(m, here(m, whens[i]), lambda: call(i), lambda: go_on(i + 1))

    go_on(0)
    if not given:
        return Other()
    *first, last = sorted(given)
    result = given[last]
    for i in reversed(first):
        result = merge(m, whens[i], given[i], result)
    return result


def _of_each_object(m: Machine, v: Method, e: Call, discarded: bool, want_place: bool) -> Value:
    """What a method gives of one of several objects: each runs its own."""
    assert isinstance(v.self, Pointer)
    t = v.self.pointee
    places = [(o, Pointer(o.object, o.offset, t)) for o in options_of(v.self)]
    led = [(o, p) for o, p in places if not is_null(p)]

    def call(o: Option, p: Pointer) -> Callable[[], Value | Reference]:
        if _is_dynamic(m, t) and o.offset.key() == Int(0).key():
            p = Pointer(o.object, o.offset, o.object.type)
        one = _method_of(m, p, Member(e.callee, v.name))
        return lambda: _apply(m, one, e, discarded, want_place)

    return _call_each(m, [o.when for o, _ in led[:-1]], [call(o, p) for o, p in led])


def _means_the_library(m: Machine, v: FunctionValue, e: Call) -> bool:
    """Whether a call is one of the library's atomic in an overload of it for another type:
    `atomicMax(float *p, float x) { atomicMax((int *)p, __float_as_int(x)); }`."""
    f = m.frame.function
    if f is None or not f.name.startswith("atomic") or not is_atomic(f.name):
        return False
    return any(c is f for c in v.candidates) and len(f.parameters) == len(e.arguments)


def _method(m: Machine, callee: Member) -> Value:
    """A method bound to its object."""
    return _method_of(
        m, rvalue(m, before_member(m, callee)) if callee.arrow else lvalue(m, callee.base), callee
    )


def _of_several_classes(m: Machine, p: Pointer) -> bool:
    """Whether objects that a pointer may lead to have virtual functions of their own each."""
    return _is_dynamic(m, p.pointee) and len({o.type for o in led_to(p.object)}) > 1


def _is_dynamic(m: Machine, t: Type) -> bool:
    layout = m.types.layout(t)
    return layout is not None and layout.dynamic


def _method_of(m: Machine, base: Value, callee: Member) -> Value:
    if isinstance(base, Closure | FunctionValue):
        return base
    if isinstance(base, RecordValue):
        base = temporary(base, base.type)
        begin_life(m, base.object)
    if isinstance(base, Pointer) and base.object.options and not m.host and _of_several_classes(m, base):
        for o in led_to(base.object):
            one = Pointer(o, Int(0), o.type)
            escaped(m, one, "unknown-function", "a virtual function", Call(callee, (), callee.place))
            forget_given(one, ())
        return Method(callee.name, Other(base.pointee, False))
    if isinstance(base, Pointer):
        held = _function_at(m, base) or _closure_at(base)
        if held is not None and callee.name == "operator()":
            return held
        candidates = methods_of(m, base.pointee, callee.name)
        if may_be_overridden(m, base, candidates):
            return Method(callee.name, Other(base.pointee, False))
        if candidates:
            return Method(callee.name, base, candidates, resolve_arguments(m, callee.arguments))
        if isinstance(base.pointee, RecordRef):
            layout = m.types.layout(base.pointee)
            if layout is not None and callee.name in layout.fields:
                p = field_of(m, base, callee.name, callee.place)
                at = _function_at(m, p) if isinstance(p, Pointer) else None
                if at is not None:
                    return at
                called = methods_of(m, p.pointee, "operator()") if isinstance(p, Pointer) else ()
                if called and isinstance(p, Pointer) and p.object.storage != "local":
                    return Method("operator()", p, called)  # nothing of the object is read
                value = load(m, p, callee.place) if isinstance(p, Pointer) else p
                if isinstance(value, Closure | FunctionValue):
                    return value
                if called and isinstance(p, Pointer):
                    return Method("operator()", p, called)
        return Method(callee.name, base)
    given = _given_by_others(base) if m.host else None
    if given is not None and (candidates := methods_of(m, given.pointee, callee.name)):
        return Method(callee.name, given, candidates, resolve_arguments(m, callee.arguments))
    return Method(callee.name, base if isinstance(base, Other) else Other(type_of(base), False))


def _given_by_others(v: Value) -> Pointer | None:
    """An object of which only the class is known, as host code elsewhere gives it: `manager().stream(0)`."""
    t = v.type if isinstance(v, Other) else None
    while isinstance(t, PointerTo):
        t = t.to
    if not isinstance(t, RecordRef):
        return None
    return Pointer(Object("given", "given", t, "local", uniform=True, havoc=True), Int(0), t)
