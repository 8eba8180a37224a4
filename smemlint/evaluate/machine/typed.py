"""`decltype(expression)`: the type of an expression that is not evaluated, from what is declared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smemlint.evaluate.types.matching import is_type
from smemlint.evaluate.values.widths import common_type
from smemlint.ir import (
    ArrayOf,
    Binary,
    Call,
    Cast,
    Conditional,
    Construct,
    Expr,
    FloatLiteral,
    Index,
    Literal,
    Member,
    MemberType,
    Name,
    OpaqueType,
    PointerTo,
    RecordRef,
    Scalar,
    This,
    Type,
    Unary,
)
from smemlint.ir.types import BOOL, is_reference, pointed_to, referred

if TYPE_CHECKING:
    from smemlint.evaluate.machine.machine import Machine

_COMPARING = frozenset(("<", "<=", ">", ">=", "==", "!=", "&&", "||"))
_UNSEEN = frozenset(("declval", "std::declval", "cuda::std::declval"))


def with_expressions(m: Machine, t: Type) -> Type:
    """A resolved type with what its `decltype` stands for, as far as what is declared tells."""
    if isinstance(t, OpaqueType):
        found = None if t.of is None else declared_type(m, t.of)
        return t if found is None else found
    if isinstance(t, PointerTo):
        to = with_expressions(m, t.to)
        if to is t.to:
            return t
        return to if t.reference and is_reference(to) else PointerTo(to, t.reference, t.volatile)
    if isinstance(t, ArrayOf):
        element = with_expressions(m, t.element)
        return t if element is t.element else ArrayOf(element, t.extent)
    if isinstance(t, MemberType):
        owner = referred(with_expressions(m, t.owner))
        return t if owner is t.owner else m.types.resolve(MemberType(owner, t.name, t.arguments), m.bindings)
    if isinstance(t, RecordRef) and any(isinstance(a, OpaqueType) and a.of is not None for a in t.arguments):
        arguments = tuple(with_expressions(m, a) if is_type(a) else a for a in t.arguments)  # type: ignore[arg-type]
        return t if arguments == t.arguments else m.types.resolve(RecordRef(t.name, arguments), m.bindings)
    return t


def declared_type(m: Machine, e: Expr) -> Type | None:
    """The type of an expression; None where what is declared does not tell. Of a name, as it was declared."""
    if isinstance(e, Name):
        o = m.find(e.id) if e.id else None
        return None if o is None or isinstance(o.type, OpaqueType) else o.type
    if isinstance(e, This):
        return None if m.frame.this is None else PointerTo(m.frame.this.pointee)
    if isinstance(e, Literal | FloatLiteral):
        return e.type
    if isinstance(e, Cast | Construct):
        return _known(m.resolve(e.type))
    if isinstance(e, Member):
        return _member(m, e)
    if isinstance(e, Call):
        return _result(m, e)
    if isinstance(e, Index):
        return _element(declared_type(m, e.base))
    if isinstance(e, Unary):
        of = declared_type(m, e.operand)
        if e.op == "*":
            return _element(of)
        if e.op == "&":
            return None if of is None else PointerTo(referred(of))
        return BOOL if e.op == "!" else of
    if isinstance(e, Conditional):
        return declared_type(m, e.then)
    if isinstance(e, Binary):
        return _computed(m, e)
    return None


def _known(t: Type) -> Type | None:
    return None if isinstance(t, OpaqueType) else t


def _element(t: Type | None) -> Type | None:
    return None if t is None else pointed_to(referred(t))


def _computed(m: Machine, e: Binary) -> Type | None:
    if e.op in _COMPARING:
        return BOOL
    left, right = declared_type(m, e.left), declared_type(m, e.right)
    a, b = (None if t is None else referred(t) for t in (left, right))
    if e.op == ",":
        return right
    return common_type(a, b) if isinstance(a, Scalar) and isinstance(b, Scalar) else None


def _owner(m: Machine, e: Member) -> RecordRef | None:
    owner = declared_type(m, e.base)
    owner = None if owner is None else referred(owner)
    if e.arrow and isinstance(owner, PointerTo):
        owner = owner.to
    return owner if isinstance(owner, RecordRef) else None


def _member(m: Machine, e: Member) -> Type | None:
    owner = _owner(m, e)
    layout = None if owner is None else m.types.layout(owner)
    found = None if layout is None else layout.fields.get(e.name)
    return None if found is None else found[1]


def _result(m: Machine, e: Call) -> Type | None:
    """What a call gives: of a method, of one of the program's functions that is no template, of `declval`."""
    callee = e.callee
    if isinstance(callee, Member):
        owner = _owner(m, callee)
        return None if owner is None else _of_method(m, owner, callee.name, len(e.arguments))
    if not isinstance(callee, Name):
        return None
    if callee.name in _UNSEEN:
        return m.resolve(callee.arguments[0]) if len(callee.arguments) == 1 else None  # type: ignore[arg-type]
    found = [m.module.functions.get(id) for id in m.module.overloads.get(callee.name, ())]
    fitting = [f for f in found if f is not None and len(f.parameters) == len(e.arguments)]
    results = {f.returns for f in fitting if not f.template}
    return _known(m.types.resolve(results.pop(), {})) if len(results) == 1 == len(fitting) else None


def _of_method(m: Machine, owner: RecordRef, name: str, given: int) -> Type | None:
    found = m.types.record_of(owner)
    if found is None:
        return None
    record, bindings = found
    methods = [m.module.functions.get(id) for id in record.methods.get(name, ())]
    if methods:
        results = [
            m.types.resolve(f.returns, bindings)
            for f in methods
            if f is not None and not f.template and len(f.parameters) >= given
        ]
        return _known(results[0]) if results and all(t == results[0] for t in results) else None
    for base in record.bases:
        inner = m.types.resolve(base, bindings)
        result = _of_method(m, inner, name, given) if isinstance(inner, RecordRef) else None
        if result is not None:
            return result
    return None
