"""Pointers to members: `&T::x`, and `object.*pointer`."""

from __future__ import annotations

from smemlint.evaluate.language.names import member_anywhere, resolve_arguments, static_member_value
from smemlint.evaluate.language.overloads import methods_of
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.model import Unresolved
from smemlint.evaluate.types.value_arguments import ANY
from smemlint.evaluate.values.number import add
from smemlint.evaluate.values.value import FunctionValue, Method, Other, Pointer, Value
from smemlint.ir import Name, RecordRef, StaticMember
from smemlint.ir.types import LONG


def pointer_to_member(m: Machine, e: StaticMember | Name) -> Pointer | FunctionValue | None:
    """`&T::x` of a data member: where it lies in any object of the class. In a class template a method of
    its own is only a name: what it means there. None for anything else."""
    if isinstance(e, Name):
        this = m.frame.this
        owner = this.pointee if this is not None and not e.id else None
    else:
        owner = m.resolve(e.owner)
    methods = methods_of(m, owner, e.name) if owner is not None else ()
    if methods and isinstance(e, StaticMember) and all(f.static for f in methods):
        value = static_member_value(m, e)  # as without `&`: with the arguments of its class
        return value if isinstance(value, FunctionValue) else None
    if methods or isinstance(e, Name):
        return FunctionValue(e.name, methods, resolve_arguments(m, e.arguments)) if methods else None
    return member_anywhere(m, owner, e.name) if isinstance(owner, RecordRef) else None


def member_of(m: Machine, at: Value, member: Value) -> Value:
    """The address of the member of an object that a pointer to a member means, or its method."""
    if not isinstance(at, Pointer):
        return at
    if isinstance(member, FunctionValue) and member.candidates:
        return Method(member.name, at, member.candidates, member.arguments)
    if isinstance(member, Pointer) and member.object.id.endswith(ANY):
        return Pointer(at.object, add(at.offset, member.offset, LONG), member.pointee)
    return Other(None, False, Unresolved("unknown-member", "which member is not known"), leads=at.object)
