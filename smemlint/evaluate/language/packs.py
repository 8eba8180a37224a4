"""Parameter packs: `f(args...)` hands on what the pack holds, one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from smemlint.evaluate.machine.dispatch import rvalue
from smemlint.evaluate.machine.machine import Frame, Machine
from smemlint.evaluate.values.value import Object, Value
from smemlint.ir import (
    Call,
    Expr,
    Function,
    Lambda,
    Name,
    PointerTo,
    RecordRef,
    Type,
    TypeParam,
    UnknownExpr,
    Var,
)
from smemlint.ir.walk import walk

FORWARDS = ("std::forward", "forward", "cuda::std::forward", "std::as_const")
"""What names the place that it is given."""
EXPANSION = "parameter pack"
"""The reason of the UnknownExpr that stands for `pattern...`."""


def is_named(e: Call, names: Sequence[str]) -> bool:
    """Whether a function of the library with one of these names is called on one argument."""
    return isinstance(e.callee, Name) and e.callee.name in names and len(e.arguments) == 1


def pack_of(f: Function | Lambda) -> Var | None:
    """The parameter of a function that is a pack."""
    packs = {p.id for p in f.template if p.pack}
    for parameter in f.parameters:
        t = parameter.type
        while isinstance(t, PointerTo):
            t = t.to
        if parameter.pack or (isinstance(t, TypeParam) and t.id in packs):
            return parameter
    return None


def length_of(m: Machine, pack: Type | Expr) -> int | None:
    """How many elements a pack has that is in scope; None where that is not known."""
    frame, id = _pack_of(m, pack)
    if frame is not None:
        return len(frame.packs[id])
    if not isinstance(pack, Name | TypeParam):
        return None
    # What the call gave tells more than the template's arguments, of which some are deduced one by one.
    for frame in m.frame.visible():
        parameter = None if frame.function is None else pack_of(frame.function)
        if parameter is not None and parameter.id in frame.packs and _names(parameter.type, pack.id):
            return len(frame.packs[parameter.id])
    given = m.bindings.get(pack.id)
    return len(given) if isinstance(given, tuple) else None


def _names(t: Type, id: str) -> bool:
    return any(isinstance(n, TypeParam) and n.id == id for n in walk(t))


def expanded(m: Machine, arguments: Sequence[Expr | Value]) -> list[Expr | Value]:
    """The arguments of a call with each `pattern...` as what it stands for: names, or values."""
    found: list[Expr | Value] = []
    for a in arguments:
        if isinstance(a, UnknownExpr) and a.reason == EXPANSION and a.parts:
            names = _element_names(m, a.parts[0])
            if names is not None:
                found += names
                continue
            values = elements_of(m, a.parts[0])
            if values is not None:
                found += [value() for value in values]
                continue
        found.append(a)
    return found


def _element_names(m: Machine, pattern: Expr) -> list[Expr] | None:
    """For `a...` and `std::forward<A>(a)...` a name for each element, which may be a reference."""
    frame, id = _pack_of(m, pattern)
    while isinstance(pattern, Call) and is_named(pattern, FORWARDS):
        (pattern,) = pattern.arguments
    if frame is None or not isinstance(pattern, Name) or pattern.id != id:
        return None
    elements = {f"{id}#{i}": o for i, o in enumerate(frame.packs[id])}
    frame.variables.update(elements)
    return [Name(each, pattern.name, pattern.place) for each in elements]


def elements_of(m: Machine, pattern: Expr) -> list[Callable[[], Value]] | None:
    """For each element of the packs that a pattern names, what evaluates the pattern for it; None where it
    names none that is known."""
    frame, id = _pack_of(m, pattern)
    given = {
        n.id: m.bindings[n.id]
        for n in walk(pattern)
        if isinstance(n, Name | TypeParam) and isinstance(m.bindings.get(n.id), tuple)
    }
    for n in walk(pattern) if given else ():
        if isinstance(n, RecordRef) and _takes_packs(m, n):
            for inner in walk(n.arguments):  # `Dims<D...>::at`: it is given all of it
                given.pop(getattr(inner, "id", ""), None)
    lengths = {len(x) for x in given.values() if isinstance(x, tuple)}
    if frame is not None:
        lengths.add(len(frame.packs[id]))
    if len(lengths) != 1:
        return None
    objects = None if frame is None else frame.packs[id]

    def value(i: int) -> Value:
        own, kept = m.frame, m.frame.bindings
        own.bindings = {**kept, **{k: x[i] for k, x in given.items() if isinstance(x, tuple)}}
        try:
            return rvalue(m, pattern) if objects is None else _element(m, pattern, id, objects[i])
        finally:
            own.bindings = kept

    return [partial(value, i) for i in range(lengths.pop())]


def _takes_packs(m: Machine, t: RecordRef) -> bool:
    """Whether a class template has a pack among its parameters."""
    record = m.module.records.get(t.name)
    return record is not None and any(p.pack for p in record.template)


def _pack_of(m: Machine, pattern: object) -> tuple[Frame | None, str]:
    """The frame that knows the pack that a pattern names."""
    ids = [n.id for n in walk(pattern) if isinstance(n, Name) and n.id]
    return next(((f, id) for f in m.frame.visible() for id in ids if id in f.packs), (None, ""))


def _element(m: Machine, pattern: object, id: str, o: Object) -> Value:
    variables = m.frame.variables
    kept = variables.get(id)
    variables[id] = o
    try:
        return rvalue(m, pattern)  # type: ignore[arg-type]
    finally:
        if kept is None:
            del variables[id]
        else:
            variables[id] = kept
