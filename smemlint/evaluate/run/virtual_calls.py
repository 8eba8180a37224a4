"""Calls of host code to virtual functions of objects whose class is not known: any class may be meant that
has its own, of those that are read or others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from smemlint.evaluate.language.inlining import invoke
from smemlint.evaluate.language.overloads import methods_of
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.values.number import Int
from smemlint.evaluate.values.provenance import ONE_OF
from smemlint.evaluate.values.value import Method, Object, Other, Pointer, Value
from smemlint.ir import Call, Function, Member, Module, PointerTo, Record, RecordRef
from smemlint.ir.memo import by_identity
from smemlint.ir.types import INT

MOST_CLASSES = 8
"""Classes whose functions are tried; of more, nothing is known."""
UNMADE = ("this", "given")
"""Ids of objects that nobody is seen to make."""


def any_override(m: Machine, v: Method, e: Call) -> Value | None:
    """What a virtual function gives of an object that nobody is seen to make: a number that a class gives, or
    any other; None where no other class may be meant."""
    p = v.self
    if not isinstance(e.callee, Member) or not isinstance(p, Pointer) or not isinstance(p.pointee, RecordRef):
        return None
    if p.object.storage != "global" and p.object.id not in UNMADE:
        return None
    others = _overriding(m.module, p.pointee.name, v.name, len(e.arguments))
    if not others:
        return None
    own = tuple(f for f in v.candidates if len(f.parameters) == len(e.arguments))
    if len(others) > MOST_CLASSES or any(r.template for r in others) or _writes(own):
        return Other()
    numbers: set[int] = set()
    for t in (*((p.pointee,) if own else ()), *(RecordRef(r.name) for r in others)):
        functions = own if t is p.pointee else methods_of(m, t, v.name)
        this = (
            p
            if t is p.pointee
            else Pointer(Object("given", "given", t, "local", uniform=True, havoc=True), Int(0), t)
        )
        result = None if _writes(functions) else invoke(m, functions, e.arguments, v.arguments, this, e.place)
        n = result.const if isinstance(result, Int) and result.known else None
        if isinstance(n, int) and n > 0:
            numbers.add(n)
    return _one_of(m, v.name, sorted(numbers)) if numbers else Other()


def may_be_overridden(m: Machine, p: Pointer, candidates: Sequence[Function]) -> bool:
    """Whether device code calls a virtual function of an object that nobody is seen to make, and a class
    below its pointer's has its own."""
    t = p.pointee
    if m.host or not isinstance(t, RecordRef) or p.object.storage in ("local", "shared"):
        return False
    return any(f.virtual and _overriding(m.module, t.name, f.name, len(f.parameters)) for f in candidates)


def _one_of(m: Machine, name: str, numbers: Sequence[int]) -> Int:
    value = m.unknowns.value(INT, name, low=0, rank=3)
    for n in numbers:
        symbol = m.unknowns.fresh(name, low=0, rank=3)
        if m.unknowns.recipes is not None:
            m.unknowns.recipes[symbol.order] = (ONE_OF, Int(n), value)
        value = Int(0, INT, {(symbol,): 1})
    return value


def _writes(functions: Sequence[Function]) -> bool:
    """Whether functions are given what they may set."""
    return any(isinstance(p.type, PointerTo) for f in functions for p in f.parameters)


def _overriding(module: Module, base: str, name: str, given: int) -> list[Record]:
    """Classes below another that define a virtual function of it again."""
    found: list[Record] = []
    for r in below(module).get(base, ()):
        functions = [module.functions.get(id) for id in r.methods.get(name, ())]
        if r.virtual and any(f is not None and len(f.parameters) == given for f in functions):
            found.append(r)
    return found


@by_identity
def below(module: Module) -> Mapping[str, list[Record]]:
    """By name of a class: all classes below it, in the order of the text."""
    direct: dict[str, list[Record]] = {}
    for r in module.records.values():
        for b in r.written_bases:
            if isinstance(b, RecordRef):
                direct.setdefault(b.name, []).append(r)
    every: dict[str, list[Record]] = {}
    for name, first in direct.items():
        found = {r.name: r for r in first}
        waiting = list(first)
        for r in waiting:
            new = [x for x in direct.get(r.name, ()) if x.name not in found]
            found |= {x.name: x for x in new}
            waiting += new
        every[name] = list(found.values())
    return every
