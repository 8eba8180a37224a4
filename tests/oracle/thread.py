"""One thread of a kernel, statement by statement.

Everything that may touch shared memory is a generator: it yields an Access (or a Barrier) and goes on when
the scheduler has let all lanes that take part arrive. `path` says where in the run a thread is: positions in
blocks, iterations of loops and places in expressions, in the order in which they are executed.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from oracle import builtins
from oracle.layout import TYPES, Scope
from oracle.memory import SHARED
from oracle.values import (
    Num,
    Ptr,
    Rec,
    UndefinedError,
    UnsupportedError,
    binary,
    common,
    convert,
    difference,
    from_bits,
    promote,
    to_bits,
    unary,
)
from smemlint.ir import (
    ArrayOf,
    Asm,
    Assign,
    Binary,
    Block,
    Break,
    Call,
    Cast,
    Conditional,
    Construct,
    Continue,
    Declare,
    Evaluate,
    Expr,
    FloatLiteral,
    Function,
    If,
    Index,
    InitList,
    Lambda,
    Literal,
    Loop,
    Member,
    Name,
    OpaqueType,
    Place,
    PointerTo,
    RecordRef,
    Return,
    Scalar,
    SizeOf,
    Special,
    StaticMember,
    Stmt,
    Switch,
    This,
    Type,
    Unary,
    Var,
)
from smemlint.ir.types import BOOL, INT, LONG, UINT, ULONG

if TYPE_CHECKING:
    from oracle.run import Machine

OWN = 1000
"""Path element of an expression's own access, after those of its parts."""


@dataclass(frozen=True, slots=True)
class Access:
    path: tuple[int, ...]
    node: Expr
    op: str
    width: int
    address: int
    matrices: int
    via: tuple[Place | None, ...]


@dataclass(frozen=True, slots=True)
class Barrier:
    path: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Ref:
    """An object of some type at an address: an lvalue."""

    address: int
    type: Type


@dataclass(frozen=True, slots=True)
class Callee:
    """A function with what is known of its template arguments, or a lambda with its frame."""

    function: Function | Lambda
    arguments: tuple[Any, ...] = ()
    scope: Scope = field(default_factory=dict)
    frame: Frame | None = None


@dataclass(slots=True)
class Frame:
    scope: Scope
    this: Ref | None = None
    env: dict[str, Ref | Callee] = field(default_factory=dict)
    returns: Type | None = None
    result: Value | Ref = None


Value: TypeAlias = "Num | Ptr | Rec | Callee | None"
Flow: TypeAlias = Generator["Access | Barrier", None, Any]

_LEAVES = (Literal, FloatLiteral, Special)


class Thread:
    def __init__(self, machine: Machine, index: tuple[int, int, int]) -> None:
        self.machine = machine
        self.index = index
        self.path: list[int] = []
        self.via: list[Place | None] = []
        self._pure = machine.pure

    # Statements. The result is None, 'break', 'continue' or 'return'.

    def at(self, position: int, flow: Flow) -> Flow:
        self.path.append(position)
        result = yield from flow
        self.path.pop()
        return result

    def execute(self, stmt: Stmt, frame: Frame) -> Flow:
        if isinstance(stmt, Block):
            for i, child in enumerate(stmt.body):
                signal = yield from self.at(i, self.execute(child, frame))
                if signal:
                    return signal
        elif isinstance(stmt, Declare):
            yield from self.declare(stmt.var, frame)
        elif isinstance(stmt, Evaluate):
            yield from self.discard(stmt.expr, frame)
        elif isinstance(stmt, If):
            if (yield from self.at(0, self.truth(stmt.condition, frame))):
                return (yield from self.at(1, self.execute(stmt.then, frame)))
            if stmt.otherwise is not None:
                return (yield from self.at(2, self.execute(stmt.otherwise, frame)))
        elif isinstance(stmt, Loop):
            return (yield from self.loop(stmt, frame))
        elif isinstance(stmt, Switch):
            return (yield from self.switch(stmt, frame))
        elif isinstance(stmt, Return):
            if stmt.value is not None:
                if isinstance(frame.returns, PointerTo) and frame.returns.reference:
                    frame.result = yield from self.lvalue(stmt.value, frame)
                else:
                    value = yield from self.rvalue(stmt.value, frame)
                    frame.result = self.converted(value, frame.returns)
            return "return"
        elif isinstance(stmt, Break):
            return "break"
        elif isinstance(stmt, Continue):
            return "continue"
        else:
            raise UnsupportedError(f"statement {type(stmt).__name__}: {getattr(stmt, 'reason', '')}")
        return None

    def loop(self, loop: Loop, frame: Frame) -> Flow:
        if loop.init is not None:
            yield from self.at(0, self.execute(loop.init, frame))
        self.path.append(1)
        for iteration in range(self.machine.limit):
            self.path.append(iteration)
            if (
                (loop.test_first or iteration > 0)
                and loop.condition is not None
                and not (yield from self.at(0, self.truth(loop.condition, frame)))
            ):
                break
            signal = yield from self.at(1, self.execute(loop.body, frame))
            if signal == "break":
                break
            if signal == "return":
                self.path.pop()
                self.path.pop()
                return signal
            if loop.step is not None:
                yield from self.at(2, self.discard(loop.step, frame))
            self.path.pop()
        else:
            raise UndefinedError("a loop that does not end")
        self.path.pop()
        self.path.pop()
        return None

    def switch(self, switch: Switch, frame: Frame) -> Flow:
        value = yield from self.at(0, self.rvalue(switch.value, frame))
        start = None
        for i, case in enumerate(switch.cases):
            if case.value is None:
                start = i if start is None else start
            elif self.machine.constant(case.value, frame.scope) == value.value:
                start = i
                break
        if start is None:
            return None
        for i, case in enumerate(switch.cases[start:], start + 1):
            signal = yield from self.at(i, self.execute(Block(case.body), frame))
            if signal:
                return None if signal == "break" else signal
        return None

    def declare(self, var: Var, frame: Frame) -> Flow:
        machine = self.machine
        if var.storage in ("shared", "extern_shared"):
            frame.env[var.id] = machine.shared(var, frame.scope)
            return
        written = machine.resolve_or_auto(var.type, frame.scope)
        if isinstance(written, PointerTo) and written.reference:
            assert var.init is not None
            frame.env[var.id] = yield from self.bind(var.init, written.to, frame)
            return
        if written is None:
            assert var.init is not None
            value = yield from self.rvalue(var.init, frame)
            if isinstance(value, Callee):
                frame.env[var.id] = value
                return
            written = type_of_value(value)
            ref = machine.local(var.name, written)
            self.write(ref, value)
        else:
            if isinstance(written, ArrayOf) and written.extent is None and isinstance(var.init, InitList):
                written = ArrayOf(written.element, Literal(len(var.init.elements)))
            ref = machine.local(var.name, written)
            if var.init is not None:
                yield from self.initialise(ref, var.init, frame)
            elif isinstance(written, RecordRef) and machine.constructors(written, 0):
                yield from self.construct_at(ref, (), frame)
        frame.env[var.id] = ref

    def bind(self, expr: Expr, type_: Type, frame: Frame) -> Flow:
        """What a reference refers to."""
        if is_lvalue(expr):
            found = yield from self.lvalue(expr, frame)
            return found
        value = yield from self.rvalue(expr, frame)
        if isinstance(value, Callee):
            return value
        known = self.machine.resolve_or_auto(type_, frame.scope) or type_of_value(value)
        ref = self.machine.local("temporary", known)
        self.write(ref, self.converted(value, known))
        return ref

    def initialise(self, ref: Ref, init: Expr, frame: Frame) -> Flow:
        if isinstance(init, InitList):
            yield from self.fill(ref, init.elements, frame)
        elif isinstance(init, Construct) and isinstance(ref.type, ArrayOf):
            yield from self.fill(ref, init.arguments, frame)
        elif (
            isinstance(ref.type, RecordRef)
            and isinstance(self.type_of(init, frame), Scalar | PointerTo | ArrayOf)
            and self.machine.constructors(ref.type, 1)
        ):
            yield from self.construct_at(ref, (init,), frame)
        else:
            value = yield from self.rvalue(init, frame)
            self.write(ref, self.converted(value, ref.type))

    def fill(self, ref: Ref, elements: tuple[Expr, ...], frame: Frame) -> Flow:
        """Aggregate initialisation: what is not given is zero."""
        layout = self.machine.layout
        if isinstance(ref.type, RecordRef) and self.machine.constructors(ref.type, len(elements)):
            yield from self.construct_at(ref, elements, frame)
            return
        self.machine.memory.store(ref.address, layout.size(ref.type), 0)
        if isinstance(ref.type, ArrayOf):
            step = layout.size(ref.type.element)
            parts = [Ref(ref.address + i * step, ref.type.element) for i in range(len(elements))]
        elif isinstance(ref.type, RecordRef):
            slots = layout.slots(ref.type)
            parts = [Ref(ref.address + s.offset, s.type) for s in slots]
            for slot, part in list(zip(slots, parts, strict=True))[len(elements) :]:
                if slot.field.init is not None:
                    inner = Frame(layout.scope_of(ref.type), ref)
                    yield from self.initialise(part, slot.field.init, inner)
        else:
            parts = [ref]
        for i, (part, element) in enumerate(zip(parts, elements, strict=False)):
            yield from self.at(i, self.initialise(part, element, frame))

    def construct_at(self, ref: Ref, arguments: tuple[Expr, ...], frame: Frame) -> Flow:
        function = self.machine.constructors(ref.type, len(arguments))[0]
        scope = self.machine.layout.scope_of(ref.type)
        inner = Frame(scope, ref)
        yield from self.pass_arguments(function.parameters, arguments, inner, frame)
        self.path.append(OWN // 2)
        given = dict(function.initialisers)
        for i, slot in enumerate(self.machine.layout.slots(ref.type)):
            init = given.get(slot.field.name, slot.field.init)
            if init is not None:
                yield from self.at(i, self.initialise(Ref(ref.address + slot.offset, slot.type), init, inner))
        yield from self.at(OWN, self.execute(function.body, inner))
        self.path.pop()

    # Expressions

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
            return Callee(expr, frame=frame)
        if isinstance(expr, InitList) and len(expr.elements) == 1:
            return (yield from self.rvalue(expr.elements[0], frame))
        if isinstance(expr, Asm):
            from oracle.inline import execute as execute_asm

            yield from execute_asm(self, expr, frame)
            return None
        value = self.quick(expr, frame)
        if value is None:
            raise UnsupportedError(f"expression {type(expr).__name__}: {getattr(expr, 'reason', '')}")
        return value

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

    def construct(self, type_: Type, arguments: tuple[Expr, ...], frame: Frame) -> Flow:
        if not isinstance(type_, RecordRef):
            if not arguments:
                return self.converted(Num(0, INT), type_)
            return self.converted((yield from self.at(0, self.rvalue(arguments[0], frame))), type_)
        if len(arguments) == 1 and not self.machine.constructors(type_, 1):
            given = self.type_of(arguments[0], frame)
            if given == type_:
                return (yield from self.at(0, self.rvalue(arguments[0], frame)))
        ref = self.machine.local("temporary", type_)
        yield from self.fill(ref, arguments, frame)
        return self.read(ref)

    # Lvalues

    def named(self, expr: Name | StaticMember, frame: Frame) -> Ref | Callee | Num:
        if isinstance(expr, Name) and expr.id in frame.env:
            return frame.env[expr.id]
        return self.machine.named(expr, frame.scope, frame.this)

    def lvalue(self, expr: Expr, frame: Frame) -> Flow:
        """A Ref; a Callee where a name stands for a function."""
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
                return (yield from self.call(call, frame))
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
                return Ref(ref.address, type_.to)
        if isinstance(expr, Call):
            result = yield from self.call(expr, frame)
            if isinstance(result, Ref):
                return result
            return self.temporary(result)
        return self.temporary((yield from self.rvalue(expr, frame)))

    def temporary(self, value: Value) -> Ref:
        ref = self.machine.local("temporary", type_of_value(value))
        self.write(ref, value)
        return ref

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
        ref = Ref(base.address + slot.offset, slot.type)
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

    # Memory

    def load(self, ref: Ref | Callee, node: Expr) -> Flow:
        if isinstance(ref, Callee):
            return ref
        if isinstance(ref.type, ArrayOf):
            return Ptr(ref.address, ref.type.element)
        yield from self.touch("load", ref, node)
        return self.read(ref)

    def store(self, ref: Ref, value: Value, node: Expr) -> Flow:
        yield from self.touch("store", ref, node)
        self.write(ref, self.converted(value, ref.type))

    def touch(self, op: str, ref: Ref, node: Expr) -> Flow:
        """Tells of an access; a record that is no vector type goes member by member."""
        if ref.address < SHARED:
            return
        position = OWN + (500 if op == "store" else 0)
        for i, (offset, width) in enumerate(self.pieces(ref.type)):
            yield self.access(op, ref.address + offset, width, node, position + i)

    def access(
        self, op: str, address: int, width: int, node: Expr, position: int, matrices: int = 1
    ) -> Access:
        return Access((*self.path, position), node, op, width, address, matrices, tuple(reversed(self.via)))

    def pieces(self, type_: Type) -> list[tuple[int, int]]:
        layout = self.machine.layout
        if isinstance(type_, ArrayOf):
            step = layout.size(type_.element)
            count = layout.size(type_) // step
            inner = self.pieces(type_.element)
            return [(i * step + o, w) for i in range(count) for o, w in inner]
        size, align = layout.size_and_align(type_)
        if not isinstance(type_, RecordRef) or (size == align and size in (1, 2, 4, 8, 16)):
            return [(0, size)]
        return [(s.offset + o, w) for s in layout.slots(type_) for o, w in self.pieces(s.type)]

    def read(self, ref: Ref) -> Value:
        memory = self.machine.memory
        if isinstance(ref.type, ArrayOf):
            return Ptr(ref.address, ref.type.element)
        if isinstance(ref.type, RecordRef):
            size = self.machine.layout.size(ref.type)
            data = bytearray(size)
            for offset, width in self.bytes_of(ref.type):
                bits = memory.load(ref.address + offset, width)
                data[offset : offset + width] = bits.to_bytes(width, "little")
            return Rec(ref.type, bytes(data))
        if isinstance(ref.type, PointerTo):
            return Ptr(memory.load(ref.address, 8), ref.type.to)
        assert isinstance(ref.type, Scalar)
        return Num(from_bits(memory.load(ref.address, ref.type.size), ref.type), ref.type)

    def bytes_of(self, type_: Type) -> list[tuple[int, int]]:
        """The scalars of a type, so that padding is never read."""
        layout = self.machine.layout
        if isinstance(type_, ArrayOf):
            step = layout.size(type_.element)
            inner = self.bytes_of(type_.element)
            return [(i * step + o, w) for i in range(layout.size(type_) // step) for o, w in inner]
        if isinstance(type_, RecordRef):
            found = [(s.offset + o, w) for s in layout.slots(type_) for o, w in self.bytes_of(s.type)]
            return found[:1] if layout.record(type_).union else found
        return [(0, layout.size(type_))]

    def write(self, ref: Ref, value: Value) -> None:
        memory = self.machine.memory
        if isinstance(value, Num) and isinstance(ref.type, Scalar):
            memory.store(ref.address, ref.type.size, to_bits(value.value, ref.type))
        elif isinstance(value, Ptr):
            memory.store(ref.address, 8, value.address)
        elif isinstance(value, Rec):
            for offset, width in self.bytes_of(value.type):
                bits = int.from_bytes(value.data[offset : offset + width], "little")
                memory.store(ref.address + offset, width, bits)
        else:
            raise UnsupportedError(f"store of {value} as {ref.type}")

    def converted(self, value: Value, type_: Type | None) -> Value:
        """A value as another type; pointers and integers keep their bits."""
        if type_ is None or isinstance(type_, OpaqueType):
            return value
        if isinstance(type_, Scalar) and type_.kind == "void":
            return None
        if isinstance(type_, Scalar):
            if isinstance(value, Num):
                return convert(value, type_)
            if isinstance(value, Ptr):
                return (
                    Num(int(value.address != 0), type_)
                    if type_.kind == "bool"
                    else convert(Num(value.address, ULONG), type_)
                )
        if isinstance(type_, PointerTo) and isinstance(value, Num | Ptr):
            return Ptr(value.address if isinstance(value, Ptr) else int(value.value), type_.to)
        if isinstance(type_, RecordRef) and isinstance(value, Rec):
            return value
        if isinstance(type_, RecordRef) and isinstance(value, Num | Ptr):
            raise UnsupportedError(f"conversion to {type_.name}")
        return value

    # Calls

    def call(self, expr: Call, frame: Frame, used: bool = True) -> Flow:
        callee, this = expr.callee, None
        if isinstance(callee, Member):
            if callee.arrow:
                pointer = yield from self.at(0, self.rvalue(callee.base, frame))
                this = Ref(pointer.address, pointer.to)
            else:
                this = yield from self.at(0, self.lvalue(callee.base, frame))
            if isinstance(this, Callee):
                return (yield from self.enter(this, None, expr, frame))
            if not self.machine.methods(this.type, callee.name):
                return (yield from self.implicit(expr, callee, this, frame))
            function = self.machine.choose(self.machine.methods(this.type, callee.name), len(expr.arguments))
            target = Callee(function, (), self.machine.layout.scope_of(this.type))
            return (yield from self.enter(target, this, expr, frame))
        if isinstance(callee, Name) and callee.id not in frame.env:
            found = self.machine.function(callee, len(expr.arguments), frame.this)
            if found is None:
                return (yield from builtins.call(self, callee.name, expr, frame, used))
            scope = self.machine.layout.scope_of(frame.this.type) if found.record and frame.this else {}
            target = Callee(found, tuple(callee.arguments), scope)
            return (yield from self.enter(target, frame.this if found.record else None, expr, frame))
        if isinstance(callee, StaticMember):
            owner = self.machine.resolve(callee.owner, frame.scope)
            function = self.machine.choose(self.machine.methods(owner, callee.name), len(expr.arguments))
            target = Callee(function, tuple(callee.arguments), self.machine.layout.scope_of(owner))
            return (yield from self.enter(target, None, expr, frame))
        value = yield from self.at(0, self.rvalue(callee, frame))
        if isinstance(value, Rec):
            return (
                yield from self.call(Call(Member(callee, "operator()"), expr.arguments, expr.place), frame)
            )
        if not isinstance(value, Callee):
            raise UnsupportedError(f"call of {value}")
        return (yield from self.enter(value, None, expr, frame))

    def implicit(self, expr: Call, callee: Member, this: Ref, frame: Frame) -> Flow:
        """operator= that nobody wrote."""
        if callee.name != "operator=" or len(expr.arguments) != 1:
            raise UnsupportedError(f"no method {callee.name}")
        value = yield from self.at(1, self.rvalue(expr.arguments[0], frame))
        yield from self.store(this, value, callee.base)
        return this

    def enter(self, callee: Callee, this: Ref | None, expr: Call, frame: Frame) -> Flow:
        function = callee.function
        if isinstance(function, Lambda):
            assert callee.frame is not None
            inner = Frame(callee.frame.scope, callee.frame.this, callee.frame.env)
            yield from self.pass_arguments(function.parameters, expr.arguments, inner, frame)
        else:
            scope = self.machine.layout.bind(
                function.template[: len(callee.arguments)],
                tuple(
                    a
                    if isinstance(a, TYPES)
                    else Literal(self.machine.constant(a, frame.scope))
                    if not isinstance(a, int)
                    else Literal(a)
                    for a in (self.resolved_argument(a, frame) for a in callee.arguments)
                ),
                callee.scope,
            )
            given = [self.type_of(a, frame) for a in expr.arguments]
            self.machine.layout.deduce(function, given, scope)
            for parameter in function.template:
                if parameter.id not in scope:
                    scope.update(self.machine.layout.bind((parameter,), (), scope))
            inner = Frame(scope, this)
            inner.returns = self.machine.resolve_or_auto(function.returns, scope)
            yield from self.pass_arguments(function.parameters, expr.arguments, inner, frame)
        if len(self.via) > 60:
            raise UndefinedError("recursion without end")
        self.via.append(expr.place)
        yield from self.at(OWN // 2, self.execute(function.body, inner))
        self.via.pop()
        return inner.result

    def resolved_argument(self, argument: Any, frame: Frame) -> Any:
        return self.machine.resolve(argument, frame.scope) if isinstance(argument, TYPES) else argument

    def pass_arguments(
        self, parameters: tuple[Var, ...], arguments: tuple[Expr, ...], inner: Frame, outer: Frame
    ) -> Flow:
        passed: list[tuple[str, Ref | Callee]] = []
        for i, parameter in enumerate(parameters):
            source, where = (arguments[i], outer) if i < len(arguments) else (parameter.init, inner)
            if source is None:
                raise UnsupportedError(f"no argument for {parameter.name}")
            type_ = self.machine.resolve_or_auto(parameter.type, inner.scope)
            self.path.append(i + 1)
            if isinstance(type_, PointerTo) and type_.reference:
                found = yield from self.bind(source, type_.to, where)
                passed.append((parameter.id, found))
            elif isinstance(source, InitList):
                ref = self.machine.local(parameter.name, type_ or INT)
                yield from self.fill(ref, source.elements, where)
                passed.append((parameter.id, ref))
            else:
                value = yield from self.rvalue(source, where)
                if isinstance(value, Callee):
                    passed.append((parameter.id, value))
                else:
                    ref = self.machine.local(parameter.name, type_ or type_of_value(value))
                    self.write(ref, self.converted(value, ref.type))
                    passed.append((parameter.id, ref))
            self.path.pop()
        inner.env.update(passed)

    # Expressions without memory, at once

    def is_pure(self, expr: Expr) -> bool:
        known = self._pure.get(id(expr))
        if known is None:
            known = (
                isinstance(expr, (*_LEAVES, Name))
                or (isinstance(expr, Unary) and expr.op in "+-~!" and self.is_pure(expr.operand))
                or (
                    isinstance(expr, Binary)
                    and expr.op not in ("&&", "||", ",")
                    and self.is_pure(expr.left)
                    and self.is_pure(expr.right)
                )
                or (isinstance(expr, Cast) and isinstance(expr.type, Scalar) and self.is_pure(expr.operand))
            )
            self._pure[id(expr)] = known
        return known

    def quick(self, expr: Expr, frame: Frame) -> Num | None:
        """The value of an expression of numbers in local variables; None: it is not one."""
        if isinstance(expr, Literal | FloatLiteral):
            return convert(Num(expr.value, expr.type), expr.type)
        if isinstance(expr, Special):
            return self.special(expr)
        if isinstance(expr, Name):
            ref = frame.env.get(expr.id)
            if isinstance(ref, Ref) and ref.address < SHARED and isinstance(ref.type, Scalar):
                value = self.read(ref)
                return value if isinstance(value, Num) else None
            return None
        if isinstance(expr, Unary):
            operand = self.quick(expr.operand, frame)
            return None if operand is None else unary(expr.op, operand)
        if isinstance(expr, Binary):
            left = self.quick(expr.left, frame)
            right = None if left is None else self.quick(expr.right, frame)
            return None if left is None or right is None else binary(expr.op, left, right)
        if isinstance(expr, Cast) and isinstance(expr.type, Scalar) and expr.type.kind != "void":
            operand = self.quick(expr.operand, frame)
            return None if operand is None else convert(operand, expr.type)
        return None

    def special(self, expr: Special) -> Num:
        launch = self.machine.launch
        x, y, z = self.index
        bx, by, _ = launch.block
        linear = x + bx * (y + by * z)
        if expr.name in ("warpSize", "laneid", "warpid"):
            number = {"warpSize": 32, "laneid": linear % 32, "warpid": linear // 32}[expr.name]
            return Num(number, INT if expr.name == "warpSize" else UINT)
        grid = tuple(1 if g is None else g for g in launch.grid)
        vector = {
            "threadIdx": self.index,
            "blockDim": launch.block,
            "blockIdx": self.machine.block_index,
            "gridDim": grid,
        }.get(expr.name)
        if vector is None or expr.axis not in ("x", "y", "z"):
            raise UnsupportedError(f"{expr.name}.{expr.axis}")
        return Num(vector["xyz".index(expr.axis)], UINT)

    # Types, without evaluation

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
            base = decayed(again(expr.base, frame))
            return base.to if isinstance(base, PointerTo) else OpaqueType("operator[]")
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
