"""Operators of classes, and of functions for them, as they stand in templates, and what packs hand on."""

from __future__ import annotations

from oracle.frames import Frame, Part, Ref
from smemlint.ir import (
    Assign,
    Binary,
    Call,
    Expr,
    Index,
    InitList,
    Literal,
    Member,
    Name,
    PointerTo,
    RecordRef,
    This,
    Type,
    Unary,
    UnknownExpr,
)


class Overloaded(Part):
    """Calls that an expression means."""

    def operator_call(self, expr: Expr, frame: Frame) -> Call | None:
        """The call of a method or function that an operator means; None where it is the language's own."""
        if isinstance(expr, Unary):
            first, rest = expr.operand, ((Literal(0),) if expr.op in ("x++", "x--") else ())
        elif isinstance(expr, Binary):
            first, rest = expr.left, (expr.right,)
        elif isinstance(expr, Assign) and not isinstance(expr.value, InitList):
            first, rest = expr.target, (expr.value,)
        else:
            return None
        type_ = self.record_named(first, frame)
        name = f"operator{expr.op.replace('x', '')}"
        methods = self.machine.methods(type_, name) if type_ is not None else ()
        if isinstance(expr, Assign) and expr.op == "=":  # but of an object of its own class
            methods = [f for f in methods if not isinstance(f.parameters[0].type, PointerTo)]
        if methods:
            return Call(Member(first, name), rest, expr.place)
        operands = (first, *rest)
        given = [type_, *(self.record_named(each, frame) for each in rest)]
        for function in self.machine.free(name) if any(given) else ():
            if len(function.parameters) == len(given) and all(
                class_of(p.type) == wanted for p, wanted in zip(function.parameters, given, strict=True)
            ):
                return Call(Name(function.id, name), operands, expr.place)
        return None

    def record_named(self, expr: Expr, frame: Frame) -> Type | None:
        """The class of a variable, a member of this object, or this object; None of all others."""
        if isinstance(expr, Name):
            found = frame.env.get(expr.id)
            type_ = found.type if isinstance(found, Ref) else None
        elif isinstance(expr, Unary) and expr.op == "*" and isinstance(expr.operand, This):
            type_ = frame.this.type if frame.this is not None else None
        elif isinstance(expr, Binary):
            meant = self.operator_call(expr, frame)
            type_ = None if meant is None else self.type_of(meant, frame)
        elif isinstance(expr, Index | Member):
            type_ = self.type_of(expr, frame)
        elif isinstance(expr, Call) and isinstance(expr.callee, Member):
            base = expr.callee.base
            this = frame.this.type if isinstance(base, This) and frame.this is not None else None
            owner = this or self.record_named(base, frame)
            known = owner is not None and self.machine.methods(owner, expr.callee.name)
            type_ = self.type_of(expr, frame) if known else None
        else:
            return None
        return type_ if isinstance(type_, RecordRef) else None

    def handed_on(self, arguments: tuple[Expr, ...], frame: Frame) -> tuple[Expr, ...]:
        """Arguments with `a...` as a name for each element."""
        found: list[Expr] = []
        for argument in arguments:
            inner = argument
            if isinstance(inner, UnknownExpr) and inner.reason == "parameter pack":
                (inner,) = inner.parts
                inner = forwarded(inner)
                if isinstance(inner, Name) and inner.id in frame.packs:
                    for i, ref in enumerate(frame.packs[inner.id]):
                        frame.env[f"{inner.id}#{i}"] = ref
                        found.append(Name(f"{inner.id}#{i}", inner.name, inner.place))
                    continue
            found.append(forwarded(argument))
        return tuple(found)


def class_of(type_: Type) -> Type | None:
    """The class that a parameter takes, by value or by reference; None of all others."""
    inner = type_.to if isinstance(type_, PointerTo) and type_.reference else type_
    return inner if isinstance(inner, RecordRef) else None


def forwarded(expr: Expr) -> Expr:
    """What `std::forward` names; any other expression as it is."""
    while isinstance(expr, Call) and isinstance(expr.callee, Name) and expr.callee.name.endswith("forward"):
        (expr,) = expr.arguments
    return expr
