"""Types of expressions and values, without evaluation."""

from __future__ import annotations

from oracle.frames import Callee, Frame, Part, Ref, Value
from oracle.values import (
    Num,
    Ptr,
    Rec,
    UnsupportedError,
    common,
    promote,
)
from smemlint.ir import (
    ArrayOf,
    Assign,
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
    Name,
    OpaqueType,
    PointerTo,
    RecordRef,
    Scalar,
    SizeOf,
    Special,
    StaticMember,
    This,
    Type,
    Unary,
)
from smemlint.ir.types import BOOL, INT, LONG, UINT, ULONG


class Types(Part):
    """What type an expression has."""

    def named(self, expr: Name | StaticMember, frame: Frame) -> Ref | Callee | Num:
        if isinstance(expr, Name) and expr.id in frame.env:
            return frame.env[expr.id]
        return self.machine.named(expr, frame.scope, frame.this)

    def type_of(self, expr: Expr, frame: Frame) -> Type:
        again = self.type_of
        if isinstance(expr, Literal | FloatLiteral):
            return expr.type
        if isinstance(expr, Special):
            return INT if expr.name == "warpSize" else UINT
        if isinstance(expr, Name | StaticMember):
            found = self.named(expr, frame)
            return found.type if isinstance(found, Ref | Num) else OpaqueType("function")
        if isinstance(expr, Unary):
            if expr.op == "!":
                return BOOL
            inner = again(expr.operand, frame)
            if expr.op == "&":
                return PointerTo(inner)
            if expr.op == "*":
                pointer = decayed(inner)
                assert isinstance(pointer, PointerTo)
                return pointer.to
            return promote(inner) if expr.op in "+-~" and isinstance(inner, Scalar) else inner
        if isinstance(expr, Binary):
            return self.type_of_binary(expr, frame)
        if isinstance(expr, Assign):
            return again(expr.target, frame)
        if isinstance(expr, Conditional):
            left, right = again(expr.then, frame), again(expr.otherwise, frame)
            if isinstance(left, Scalar) and isinstance(right, Scalar):
                return left if left == right else common(left, right)
            return decayed(right if isinstance(left, Scalar) else left)
        if isinstance(expr, Cast | Construct):
            type_ = self.machine.resolve(expr.type, frame.scope)
            return type_.to if isinstance(type_, PointerTo) and type_.reference else type_
        if isinstance(expr, Index):
            return self.type_of_element(expr, frame)
        if isinstance(expr, Member):
            base = again(expr.base, frame)
            if expr.arrow:
                base = decayed(base)
                base = base.to if isinstance(base, PointerTo) else base
            record = self.machine.layout.record(base)
            if expr.name in record.constants:
                return self.machine.static(base, expr.name).type
            type_ = self.machine.layout.slot(base, expr.name).type
            return type_.to if isinstance(type_, PointerTo) and type_.reference else type_
        if isinstance(expr, SizeOf):
            return ULONG
        if isinstance(expr, This):
            assert frame.this is not None
            return PointerTo(frame.this.type)
        if isinstance(expr, Call):
            return self.machine.type_of_call(self, expr, frame)
        return OpaqueType(type(expr).__name__)

    def type_of_element(self, expr: Index, frame: Frame) -> Type:
        base = decayed(self.type_of(expr.base, frame))
        if isinstance(base, PointerTo):
            return base.to
        if not isinstance(base, RecordRef) or not self.machine.methods(base, "operator[]"):
            return OpaqueType("operator[]")
        return self.type_of(Call(Member(expr.base, "operator[]"), (expr.index,), expr.place), frame)

    def type_of_binary(self, expr: Binary, frame: Frame) -> Type:
        if expr.op in ("<", "<=", ">", ">=", "==", "!=", "&&", "||"):
            return BOOL
        right = self.type_of(expr.right, frame)
        if expr.op == ",":
            return right
        left, right = decayed(self.type_of(expr.left, frame)), decayed(right)
        if isinstance(left, Scalar) and isinstance(right, Scalar):
            return promote(left) if expr.op in ("<<", ">>") else common(left, right)
        if isinstance(left, PointerTo) and isinstance(right, PointerTo):
            return LONG
        return left if isinstance(left, PointerTo) else right


def is_lvalue(expr: Expr) -> bool:
    """Whether an expression may be bound without a temporary."""
    if isinstance(expr, Unary):
        return expr.op in ("*", "++x", "--x")
    if isinstance(expr, Cast):
        return isinstance(expr.type, PointerTo) and expr.type.reference
    if isinstance(expr, Conditional):
        return is_lvalue(expr.then) and is_lvalue(expr.otherwise)
    return isinstance(expr, Name | Index | Member | Assign | Call | StaticMember)


def decayed(type_: Type) -> Type:
    return PointerTo(type_.element) if isinstance(type_, ArrayOf) else type_


def type_of_value(value: Value) -> Type:
    if isinstance(value, Num | Rec):
        return value.type
    if isinstance(value, Ptr):
        return PointerTo(value.to)
    raise UnsupportedError(f"a variable that holds {value}")


def truthy(value: Value) -> bool:
    if isinstance(value, Num):
        return value.value != 0
    if isinstance(value, Ptr):
        return value.address != 0
    raise UnsupportedError(f"condition {value}")
