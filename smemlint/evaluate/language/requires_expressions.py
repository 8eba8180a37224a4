"""Whether what a `requires` expression asks for compiles: a member, a type in a class, an operator."""

from __future__ import annotations

from smemlint.evaluate.language.conversions import type_of
from smemlint.evaluate.language.overloads import bindings_in, methods_of, takes
from smemlint.evaluate.machine.dispatch import lvalue, unseen
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.types.type_traits import has_member
from smemlint.evaluate.values.value import Pointer
from smemlint.ir import (
    ArrayOf,
    Binary,
    Call,
    Expr,
    Index,
    Member,
    MemberType,
    Name,
    OpaqueType,
    PointerTo,
    RecordRef,
    Scalar,
    StaticMember,
    TemplateArgument,
    Type,
    TypeParam,
    Unary,
)
from smemlint.ir.types import referred


def compiles(m: Machine, asked: TemplateArgument) -> bool | None:
    """Whether there is such a type, or such an expression compiles; None: that is not known."""
    if isinstance(asked, MemberType):
        owner = m.resolve(asked.owner)
        if _is_open(m, owner):
            return None
        return isinstance(owner, RecordRef) and not isinstance(m.resolve(asked), MemberType)
    return _compiles(m, asked.of) if isinstance(asked, OpaqueType) and asked.of is not None else None


def _compiles(m: Machine, e: Expr) -> bool | None:
    named = _named(m, e)
    if named is not None:
        t, name = named
        return None if _is_open(m, t) else has_member(m.types, t, name)
    operands = (
        (e.left, e.right)
        if isinstance(e, Binary)
        else (e.base, e.index)
        if isinstance(e, Index)
        else (e.operand,)
        if isinstance(e, Unary)
        else ()
    )
    types = [_type(m, x) for x in operands]
    if not types or any(_is_open(m, t) or isinstance(t, RecordRef) for t in types):
        return None
    if isinstance(e, Index) or (isinstance(e, Unary) and e.op == "*"):
        return isinstance(types[0], PointerTo | ArrayOf)
    return True if all(isinstance(t, Scalar) for t in types) else None


def _named(m: Machine, e: Expr) -> tuple[Type, str] | None:
    """The class and the name of a member that is used or called; None of anything else."""
    if isinstance(e, Call) and not isinstance(e.callee, Name | Member | StaticMember):
        return _type(m, e.callee), "operator()"
    e = e.callee if isinstance(e, Call) else e
    if isinstance(e, StaticMember):
        return m.resolve(e.owner), e.name
    if not isinstance(e, Member):
        return None
    t = _type(m, e.base)
    return t.to if e.arrow and isinstance(t, PointerTo) else t, e.name


def result_type(m: Machine, e: Expr) -> Type | None:
    """The type of what a method gives that a requirement calls, where all that are called so agree."""
    named = _named(m, e) if isinstance(e, Call) else None
    if named is None or not isinstance(e, Call):
        return None
    t, name = named
    results = {
        m.types.resolve(f.returns, bindings_in(m, f, t))
        for f in takes(methods_of(m, t, name), len(e.arguments))
        if not f.template
    }
    return results.pop() if len(results) == 1 else None


def _type(m: Machine, e: Expr) -> Type:
    """The type of an expression; of `std::declval<T>()`, as which a parameter is read, T."""
    if isinstance(e, Call) and isinstance(e.callee, Name) and e.callee.name == "std::declval":
        (given,) = e.callee.arguments
        return referred(m.resolve(given))  # type: ignore[arg-type]
    p = unseen(m, e, lvalue)
    return referred(p.pointee if isinstance(p, Pointer) else type_of(p))


def _is_open(m: Machine, t: Type) -> bool:
    """Whether nothing is known of the members of a type."""
    if isinstance(t, RecordRef):
        return m.types.record_of(t) is None
    return isinstance(t, TypeParam | MemberType | OpaqueType)
