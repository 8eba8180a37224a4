"""Pointers to members: `&T::x`, and `object.*pointer`."""

from __future__ import annotations

from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.model import Unresolved
from smemlint.evaluate.values.number import Int, Other, Pointer, Value, add
from smemlint.evaluate.values.objects import Object
from smemlint.ir import Part, RecordRef, StaticMember
from smemlint.ir.types import LONG

ANY = "::*"
"""How the ids of objects end that stand for any object of a class."""


def pointer_to_member(m: Machine, e: StaticMember) -> Pointer | None:
    """`&T::x` of a data member: where it lies in any object of the class. None for anything else."""
    owner = m.resolve(e.owner)
    layout = m.types.layout(owner) if isinstance(owner, RecordRef) else None
    found = layout.fields.get(e.name) if layout is not None else None
    if found is None or not isinstance(owner, RecordRef) or isinstance(found[1], Part):
        return None
    key = (ANY, owner)
    any_ = m.memory.choices.get(key)
    if any_ is None:
        any_ = m.memory.choices[key] = Object(owner.name + ANY, owner.name + ANY, owner, "local")
    return Pointer(any_, Int(found[0], LONG), found[1])


def member_of(m: Machine, at: Value, member: Value) -> Value:
    """The address of the member that a pointer to a member means, of the object at an address."""
    if not isinstance(at, Pointer):
        return at
    if isinstance(member, Pointer) and member.object.id.endswith(ANY):
        return Pointer(at.object, add(at.offset, member.offset, LONG), member.pointee)
    return Other(None, False, Unresolved("unknown-member", "which member is not known"), leads=at.object)
