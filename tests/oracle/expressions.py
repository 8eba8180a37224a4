"""Expressions: their values, and the objects that they name."""

from __future__ import annotations

from typing import Any

from oracle.frames import Callee, Flow, Frame, Part, Ref, Value
from oracle.inline import execute as execute_asm
from oracle.layout import TYPES
from oracle.types import decayed, is_lvalue, truthy
from oracle.values import (
    Num,
    Ptr,
    UndefinedError,
    UnsupportedError,
    binary,
    common,
    convert,
    difference,
    unary,
)
from smemlint.ir import (
    ArrayOf,
    Asm,
    Assign,
    Binary,
    Call,
    Cast,
    Conditional,
    Construct,
    Expr,
    Fold,
    Index,
    InitList,
    Lambda,
    Member,
    Name,
    PackSize,
    PointerTo,
    RecordRef,
    Scalar,
    SizeOf,
    StaticMember,
    This,
    TypeParam,
    Unary,
)
from smemlint.ir.types import BOOL, INT, ULONG, is_reference
from smemlint.ir.walk import walk

FAR = 1 << 31
"""Bytes by which no pointer moves."""


class Expressions(Part):
    """rvalue() and lvalue()."""

    def truth(self, expr: Expr, frame: Frame) -> Flow:
        value = yield from self.rvalue(expr, frame)
        return truthy(value)

    def discard(self, expr: Expr, frame: Frame) -> Flow:
        """An expression whose value nobody uses."""
        if isinstance(expr, Binary) and expr.op == ",":
            yield from self.at(0, self.discard(expr.left, frame))
            yield from self.at(1, self.discard(expr.right, frame))
        elif isinstance(expr, Call):
            yield from self.call(expr, frame, used=False)
        elif isinstance(expr, Assign) or (isinstance(expr, Unary) and expr.op in ("++x", "--x")):
            yield from self.lvalue(expr, frame)
        elif isinstance(expr, Cast) and expr.type == Scalar("void", 0, "void") and is_lvalue(expr.operand):
            yield from self.lvalue(expr.operand, frame)
        elif is_lvalue(expr):
            yield from self.lvalue(expr, frame)
        else:
            yield from self.rvalue(expr, frame)

    def rvalue(self, expr: Expr, frame: Frame) -> Flow:
        if self.is_pure(expr):
            value = self.quick(expr, frame)
            if value is not None:
                return value
        meant = self.operator_call(expr, frame)
        return (yield from self.value(expr if meant is None else meant, frame))

    def value(self, expr: Expr, frame: Frame) -> Flow:
        """The value of an expression whose operators are the language's own."""
        if isinstance(expr, Assign | Index | Member) or (
            isinstance(expr, Unary) and expr.op in ("*", "++x", "--x")
        ):
            if isinstance(expr, Assign) or (isinstance(expr, Unary) and expr.op != "*"):
                ref = yield from self.lvalue(expr, frame)
                return self.read(ref) if isinstance(ref, Ref) else ref
            ref = yield from self.lvalue(expr, frame)
            return (yield from self.load(ref, expr))
        if isinstance(expr, Name | StaticMember):
            ref = self.named(expr, frame)
            return (yield from self.load(ref, expr)) if isinstance(ref, Ref) else ref
        if isinstance(expr, Unary):
            return (yield from self.unary(expr, frame))
        if isinstance(expr, Binary):
            return (yield from self.binary(expr, frame))
        if isinstance(expr, Conditional):
            return (yield from self.conditional(expr, frame))
        if isinstance(expr, Cast):
            type_ = self.machine.resolve(expr.type, frame.scope)
            if isinstance(type_, PointerTo) and type_.reference:
                return (yield from self.load((yield from self.lvalue(expr, frame)), expr))
            if isinstance(type_, RecordRef):
                return (yield from self.construct(type_, (expr.operand,), frame))
            return self.converted((yield from self.rvalue(expr.operand, frame)), type_)
        if isinstance(expr, Call):
            result = yield from self.call(expr, frame)
            return (yield from self.load(result, expr)) if isinstance(result, Ref) else result
        if isinstance(expr, Construct):
            type_ = self.machine.resolve(expr.type, frame.scope)
            return (yield from self.construct(type_, expr.arguments, frame))
        if isinstance(expr, SizeOf):
            of = expr.of if isinstance(expr.of, TYPES) else self.type_of(expr.of, frame)
            size, align = self.machine.layout.size_and_align(self.machine.resolve(of, frame.scope))
            return Num(align if expr.align else size, ULONG)
        if isinstance(expr, This):
            assert frame.this is not None
            return Ptr(frame.this.address, frame.this.type)
        if isinstance(expr, Lambda):
            return (yield from self.closure(expr, frame))
        if isinstance(expr, InitList) and len(expr.elements) == 1:
            return (yield from self.rvalue(expr.elements[0], frame))
        if isinstance(expr, Fold | PackSize | Asm):
            return (yield from self.of_pack_or_asm(expr, frame))
        value = self.quick(expr, frame)
        if value is None:
            raise UnsupportedError(f"expression {type(expr).__name__}: {getattr(expr, 'reason', '')}")
        return value

    def of_pack_or_asm(self, expr: Fold | PackSize | Asm, frame: Frame) -> Flow:
        if isinstance(expr, Asm):
            yield from execute_asm(self, expr, frame)
            return None
        if isinstance(expr, Fold):
            return (yield from self.fold(expr, frame))
        held = self.packs_in(expr.pack, frame)
        return Num(len(next(iter(held.values()))), ULONG) if held else self.quick(expr, frame)

    def packs_in(self, pattern: Any, frame: Frame) -> dict[str, list[Any]]:
        """The packs that a pattern names, or that are of the types which it names."""
        ids = {n.id for n in walk(pattern) if isinstance(n, Name | TypeParam)}
        return {id: held for id, held in frame.packs.items() if id in ids} or (
            frame.packs if isinstance(pattern, TypeParam) else {}
        )

    def fold(self, expr: Fold, frame: Frame) -> Flow:
        """A pattern for each element, put together from the left or from the right."""
        pattern, init, left = expr.pattern, expr.init, expr.left
        held = self.packs_in(pattern, frame)
        if not held and init is not None:
            pattern, init, left = init, pattern, False
            held = self.packs_in(pattern, frame)
        count = len(next(iter(held.values()))) if held else 0
        operands: list[Any] = []
        if init is not None and left:
            operands.append((yield from self.at(0, self.rvalue(init, frame))))
        for i in range(count):
            inner = Frame(dict(frame.scope), frame.this, dict(frame.env), packs=frame.packs)
            for id, values in held.items():
                (inner.scope if isinstance(values[i], int) else inner.env)[id] = values[i]
            value = yield from self.at(i + 1, self.rvalue(pattern, inner))
            if expr.op in ("&&", "||") and bool(value.value) == (expr.op == "||"):
                return Num(int(expr.op == "||"), INT)  # those behind it are not asked
            operands.append(value)
        if init is not None and not left:
            operands.append((yield from self.at(count + 1, self.rvalue(init, frame))))
        if expr.op == ",":
            return operands[-1] if operands else None
        if expr.op in ("&&", "||"):
            return Num(int(expr.op == "&&"), INT)
        result = operands[0] if left else operands[-1]
        for value in operands[1:] if left else operands[-2::-1]:
            result = binary(expr.op, result, value) if left else binary(expr.op, value, result)
        return result

    def closure(self, expr: Lambda, frame: Frame) -> Flow:
        """A lambda with the variables that it has of its own."""
        own = self.kept(expr, frame) if expr.copies_all or expr.copies or expr.captures else frame
        for i, variable in enumerate(expr.captures):
            assert variable.init is not None
            if is_reference(variable.type):
                own.env[variable.id] = yield from self.at(i, self.lvalue(variable.init, frame))
                continue
            given = yield from self.at(i, self.rvalue(variable.init, frame))
            own.env[variable.id] = self.temporary(given)
        return Callee(expr, frame=own)

    def unary(self, expr: Unary, frame: Frame) -> Flow:
        if expr.op == "&":
            ref = yield from self.at(0, self.lvalue(expr.operand, frame))
            return ref if isinstance(ref, Callee) else Ptr(ref.address, ref.type)
        if expr.op in ("x++", "x--"):
            ref = yield from self.at(0, self.lvalue(expr.operand, frame))
            old = yield from self.load(ref, expr.operand)
            new = self.add(old, Num(1, INT), "+" if expr.op == "x++" else "-")
            yield from self.store(ref, new, expr.operand)
            return old
        value = yield from self.at(0, self.rvalue(expr.operand, frame))
        if isinstance(value, Ptr):
            return value if expr.op == "+" else Num(int(value.address == 0), BOOL)
        return unary(expr.op, value)

    def binary(self, expr: Binary, frame: Frame) -> Flow:
        if expr.op == ",":
            yield from self.at(0, self.discard(expr.left, frame))
            return (yield from self.at(1, self.rvalue(expr.right, frame)))
        left = yield from self.at(0, self.rvalue(expr.left, frame))
        if expr.op in ("&&", "||"):
            if truthy(left) == (expr.op == "||"):
                return Num(int(expr.op == "||"), BOOL)
            return Num(int(truthy((yield from self.at(1, self.rvalue(expr.right, frame))))), BOOL)
        right = yield from self.at(1, self.rvalue(expr.right, frame))
        return self.add(left, right, expr.op)

    def add(self, left: Value, right: Value, op: str) -> Num | Ptr:
        """Any binary operator, on numbers or pointers."""
        if isinstance(left, Num) and isinstance(right, Num):
            return binary(op, left, right)
        if isinstance(left, Num) and isinstance(right, Ptr) and op == "+":
            left, right = right, left
        if isinstance(left, Ptr) and isinstance(right, Num) and op in ("+", "-"):
            step = self.machine.layout.size(left.to) * int(right.value)
            if abs(step) >= FAR:
                raise UndefinedError("a pointer far outside of its array")
            return Ptr(left.address + (step if op == "+" else -step), left.to)
        a = left.address if isinstance(left, Ptr) else left.value if isinstance(left, Num) else None
        b = right.address if isinstance(right, Ptr) else right.value if isinstance(right, Num) else None
        if a is None or b is None:
            raise UnsupportedError(f"{op} on {type(left).__name__} and {type(right).__name__}")
        if op == "-" and isinstance(left, Ptr):
            return difference(int(a), int(b), self.machine.layout.size(left.to))
        if op in ("<", "<=", ">", ">=", "==", "!="):
            return binary(op, Num(a, ULONG), Num(b, ULONG))
        raise UnsupportedError(f"{op} on pointers")

    def conditional(self, expr: Conditional, frame: Frame) -> Flow:
        holds = yield from self.at(0, self.truth(expr.condition, frame))
        chosen, other = (expr.then, expr.otherwise) if holds else (expr.otherwise, expr.then)
        value = yield from self.at(1 if holds else 2, self.rvalue(chosen, frame))
        if isinstance(value, Num):
            against = self.type_of(other, frame)
            if isinstance(against, Scalar) and against != value.type:
                return convert(value, common(value.type, against))
            if isinstance(against, PointerTo | ArrayOf):
                return self.converted(value, decayed(against))
        return value

    def lvalue(self, expr: Expr, frame: Frame) -> Flow:
        """A Ref; a Callee where a name stands for a function."""
        meant = self.operator_call(expr, frame)
        return (yield from self.place(expr if meant is None else meant, frame))

    def place(self, expr: Expr, frame: Frame) -> Flow:
        """The same of an expression whose operators are the language's own."""
        if isinstance(expr, Name | StaticMember):
            found = self.named(expr, frame)
            if isinstance(found, Num):
                ref = self.machine.local("constant", found.type)
                self.write(ref, found)
                return ref
            return found
        if isinstance(expr, Index):
            if isinstance(decayed(self.type_of(expr.base, frame)), RecordRef):
                call = Call(Member(expr.base, "operator[]"), (expr.index,), expr.place)
                return (yield from self.lvalue(call, frame))
            base = yield from self.at(0, self.rvalue(expr.base, frame))
            index = yield from self.at(1, self.rvalue(expr.index, frame))
            moved = self.add(base, index, "+")
            assert isinstance(moved, Ptr)
            return Ref(moved.address, moved.to)
        if isinstance(expr, Member):
            return (yield from self.member(expr, frame))
        if isinstance(expr, Unary) and expr.op == "*":
            value = yield from self.at(0, self.rvalue(expr.operand, frame))
            if not isinstance(value, Ptr):
                raise UnsupportedError("dereference of no pointer")
            return Ref(value.address, value.to)
        if isinstance(expr, Unary) and expr.op in ("++x", "--x"):
            ref = yield from self.at(0, self.lvalue(expr.operand, frame))
            old = yield from self.load(ref, expr.operand)
            new = self.add(old, Num(1, INT), expr.op[0])
            yield from self.store(ref, new, expr.operand)
            return ref
        if isinstance(expr, Assign):
            return (yield from self.assign(expr, frame))
        if isinstance(expr, Conditional):
            holds = yield from self.at(0, self.truth(expr.condition, frame))
            chosen = expr.then if holds else expr.otherwise
            return (yield from self.at(1 if holds else 2, self.lvalue(chosen, frame)))
        if isinstance(expr, Binary) and expr.op == ",":
            yield from self.at(0, self.discard(expr.left, frame))
            return (yield from self.at(1, self.lvalue(expr.right, frame)))
        if isinstance(expr, Cast):
            type_ = self.machine.resolve(expr.type, frame.scope)
            if isinstance(type_, PointerTo) and type_.reference:
                ref = yield from self.at(0, self.lvalue(expr.operand, frame))
                part = self.part(ref, type_.to)
                return part if part is not ref else Ref(ref.address, type_.to)
        if isinstance(expr, Call):
            result = yield from self.call(expr, frame)
            if isinstance(result, Ref):
                return result
            return self.temporary(result)
        return self.temporary((yield from self.rvalue(expr, frame)))

    def member(self, expr: Member, frame: Frame) -> Flow:
        if expr.arrow:
            pointer = yield from self.at(0, self.rvalue(expr.base, frame))
            if not isinstance(pointer, Ptr):
                raise UnsupportedError("-> on no pointer")
            base = Ref(pointer.address, pointer.to)
        else:
            base = yield from self.at(0, self.lvalue(expr.base, frame))
        record = self.machine.layout.record(base.type)
        if expr.name in record.constants:
            return self.machine.static(base.type, expr.name)
        slot = self.machine.layout.slot(base.type, expr.name)
        ref = Ref(base.address + slot.offset, slot.type, slot.bits, min(slot.align, base.align))
        if isinstance(slot.type, PointerTo) and slot.type.reference:
            held = yield from self.load(Ref(ref.address, PointerTo(slot.type.to)), expr)
            return Ref(held.address, held.to)
        return ref

    def assign(self, expr: Assign, frame: Frame) -> Flow:
        if isinstance(expr.value, InitList):
            type_ = self.type_of(expr.target, frame)
            value = yield from self.at(0, self.construct(type_, expr.value.elements, frame))
        else:
            value = yield from self.at(0, self.rvalue(expr.value, frame))
        ref = yield from self.at(1, self.lvalue(expr.target, frame))
        if expr.op != "=":
            old = yield from self.load(ref, expr.target)
            value = self.add(old, value, expr.op[:-1])
        yield from self.store(ref, value, expr.target)
        return ref
