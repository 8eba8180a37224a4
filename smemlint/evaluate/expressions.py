"""Expressions: `rvalue` gives a value, `lvalue` the place of one. Reading a shared place is an access."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from smemlint.evaluate import arithmetic as ar
from smemlint.evaluate.layout import TYPES, is_type
from smemlint.evaluate.lines import copied
from smemlint.evaluate.machine import BYTE, Int_add, Machine
from smemlint.evaluate.memory import Object
from smemlint.evaluate.model import Unresolved
from smemlint.evaluate.values import (
    Closure,
    FunctionValue,
    Int,
    Other,
    Pointer,
    RecordValue,
    Value,
    add,
    collapse,
    multiply,
    scale,
    subtract,
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
    FloatLiteral,
    Index,
    InitList,
    Lambda,
    Literal,
    Member,
    MemberType,
    Name,
    OpaqueType,
    Place,
    PointerTo,
    RecordRef,
    Scalar,
    SizeOf,
    Special,
    StaticMember,
    StringLiteral,
    This,
    Type,
    TypeParam,
    Unary,
    UnknownExpr,
    Var,
)
from smemlint.ir.types import BOOL, INT, LONG, ULONG

Handler: TypeAlias = "Callable[[Machine, Expr], Value]"


def rvalue(m: Machine, e: Expr) -> Value:
    """The value of an expression for every lane of the mask."""
    m.step()
    handler = _RVALUE.get(type(e))
    if handler is None:
        return Other(reason=Unresolved("unknown-expression", type(e).__name__))
    return handler(m, e)


def integer(m: Machine, e: Expr, what: str = "") -> Int:
    """The value as an integer; an unknown one where it is none."""
    return as_int(m, rvalue(m, e), getattr(e, "place", None), what)


def as_int(m: Machine, v: Value, place: Place | None = None, what: str = "") -> Int:
    if isinstance(v, Int):
        return v
    if isinstance(v, Pointer):
        return m.unknowns.value(ULONG, f"&{v.object.name}", low=1, rank=3)
    uniform = isinstance(v, Other) and v.uniform
    reason = v.reason if isinstance(v, Other) else None
    return m.unknowns.value(
        INT,
        what or "value",
        varying=not uniform and not m.host,
        rank=3 if uniform else 0,
        reason=reason
        or Unresolved("untracked-value", "the index comes from a value that is not followed", place),
    )


def place_of(m: Machine, e: Expr) -> Pointer:
    """lvalue(), with a temporary for what has no place."""
    p = lvalue(m, e)
    if isinstance(p, Pointer):
        return p
    o = Object("temporary", "temporary", type_of(p), "local")
    if isinstance(p, RecordValue):
        for k, leaf in p.cells.items():
            o.cells[k] = leaf
        o.havoc = not p.cells
    else:
        o.cells[0] = p
    return Pointer(o, Int(0), o.type)


def type_of(v: Value) -> Type:
    if isinstance(v, Int):
        return v.type
    if isinstance(v, Pointer):
        return v.integer or PointerTo(v.pointee)
    if isinstance(v, RecordValue):
        return v.type
    if isinstance(v, Other) and v.type is not None:
        return v.type
    return OpaqueType("?")


def lvalue(m: Machine, e: Expr) -> Pointer | Value:
    """Where an expression's value lies, or its value if it has no place."""
    m.step()
    if isinstance(e, Name):
        return _name_place(m, e)
    if isinstance(e, Index):
        return index_place(m, e)
    if isinstance(e, Unary) and e.op == "*":
        v = rvalue(m, e.operand)
        if isinstance(v, Pointer):
            return Pointer(v.object, v.offset, v.pointee)
        return _lost(m, v, e.place)
    if isinstance(e, Unary) and e.op in ("++x", "--x"):
        _step_by_one(m, e)
        return lvalue(m, e.operand)
    if isinstance(e, Member):
        return member_place(m, e)
    if isinstance(e, Assign):
        _assign(m, e)
        m.silent += 1
        try:
            return lvalue(m, e.target)
        finally:
            m.silent -= 1
    if isinstance(e, Cast) and isinstance(e.type, PointerTo) and e.type.reference:
        p = lvalue(m, e.operand)
        return Pointer(p.object, p.offset, m.resolve(e.type.to)) if isinstance(p, Pointer) else p
    if isinstance(e, Conditional):
        return _conditional(m, e, lvalue)
    if isinstance(e, Binary) and e.op == ",":
        rvalue(m, e.left)
        return lvalue(m, e.right)
    if isinstance(e, This):
        return m.frame.this or Other()
    if isinstance(e, Call):
        from smemlint.evaluate.calls import call

        return call(m, e, want_place=True)
    return rvalue(m, e)


def _lost(m: Machine, v: Value, place: Place | None) -> Value:
    reason = v.reason if isinstance(v, Other) else None
    return Other(
        None, False, reason or Unresolved("untracked-pointer", "a pointer that is not followed", place)
    )


# ---------------------------------------------------------------------- names


def _name_place(m: Machine, e: Name) -> Pointer | Value:
    o = m.find(e.id) or global_object(m, e)
    if o is None:
        return _name_value(m, e)
    if isinstance(o.type, PointerTo) and o.type.reference:
        target = o.cells.get(0)
        if isinstance(target, Pointer):
            return target
        if target is not None:
            return target
        return Other(
            None,
            False,
            Unresolved("untracked-reference", f"`{o.name}` refers to something not followed", e.place),
        )
    return Pointer(o, Int(0), o.type)


def global_object(m: Machine, e: Name) -> Object | None:
    var = m.module.globals.get(e.id)
    return None if var is None else declare_global(m, var)


def declare_global(m: Machine, var: Var) -> Object:
    """The object of a namespace-scope (or static member) variable, made at its first use."""
    found = m.globals.get(var.id)
    if found is not None:
        return found
    t = m.resolve(var.type)
    shared = var.storage in ("shared", "extern_shared")
    constant = var.storage == "constant" or (var.const and var.init is not None)
    storage = "shared" if shared else "local" if constant else "global"
    o = Object(var.id, var.name, t, storage, var, volatile=var.volatile)
    m.globals[var.id] = o
    if shared:
        m.shared[var.id] = o
    elif constant and var.init is not None:
        keep, m.may = m.may, m.present
        initialise(m, o, t, var.init)
        m.may = keep
    o.uniform = True
    return o


def _name_value(m: Machine, e: Name) -> Value:
    bound = _binding(m, e.id)
    if isinstance(bound, Int):
        return bound
    function = m.module.functions.get(e.id)
    arguments = tuple(e.arguments)
    if function is not None:
        return FunctionValue(e.name, (function,), resolve_arguments(m, arguments))
    if not e.id or e.id not in m.module.globals:
        ids = m.module.overloads.get(e.name) or m.module.overloads.get(e.name.rsplit("::", 1)[-1], ())
        candidates = tuple(m.module.functions[i] for i in ids if i in m.module.functions)
        if candidates or e.arguments:
            return FunctionValue(e.name, candidates, resolve_arguments(m, arguments))
    reason = Unresolved("unknown-name", f"`{e.name}` is not declared in the files that were read", e.place)
    return Other(None, True, reason)


def _binding(m: Machine, id: str) -> object:
    frame = m.frame
    while frame is not None:
        if id in frame.bindings:
            return frame.bindings[id]
        if frame.parent is None:
            return None
        frame = frame.parent
    return None


def resolve_arguments(m: Machine, arguments: tuple[object, ...]) -> tuple[Type | Int, ...]:
    """Template arguments as written, under the bindings in force."""
    result: list[Type | Int] = []
    for a in arguments:
        if isinstance(a, TypeParam) and isinstance(m.bindings.get(a.id), Int):
            result.append(m.bindings[a.id])  # type: ignore[arg-type]
        elif is_type(a):
            result.append(m.resolve(a))  # type: ignore[arg-type]
        elif isinstance(a, Int):
            result.append(a)
        else:
            v = rvalue(m, a)  # type: ignore[arg-type]
            result.append(v if isinstance(v, Int) else OpaqueType("?"))
    return tuple(result)


def _name(m: Machine, e: Expr) -> Value:
    assert isinstance(e, Name)
    p = _name_place(m, e)
    return m.load(p, e.place, e) if isinstance(p, Pointer) else p


# ---------------------------------------------------------------------- places


def index_place(m: Machine, e: Index) -> Pointer | Value:
    base = rvalue(m, e.base)
    index = rvalue(m, e.index)
    if isinstance(base, Int) and isinstance(index, Pointer):
        base, index = index, base
    if isinstance(base, Pointer):
        return offset_pointer(m, base, as_int(m, index, e.place), e.place)
    if isinstance(base, RecordValue):
        return Other()
    return _lost(m, base, e.place)


def offset_pointer(m: Machine, p: Pointer, n: Int, place: Place | None) -> Pointer:
    """p + n, in elements of p's type."""
    size = 1 if p.integer else m.types.size_of(p.pointee)
    if size is None:
        reason = Unresolved(
            "unknown-size", f"the size of an element of `{p.object.name}` is not known", place
        )
        if p.object.storage == "shared":
            m.note(reason.code, reason.text, place)
        step = m.unknowns.value(LONG, "sizeof", low=1, reason=reason, varying=not m.host)
        return Pointer(p.object, add(p.offset, multiply(n, step, LONG), LONG), p.pointee, p.integer)
    return Pointer(p.object, add(p.offset, scale(n, size, LONG), LONG), p.pointee, p.integer)


def member_place(m: Machine, e: Member) -> Pointer | Value:
    base: Value
    if e.arrow:
        base = rvalue(m, e.base)
        if isinstance(base, Pointer) and base.integer:
            base = Pointer(base.object, base.offset, base.pointee)
    else:
        base = lvalue(m, e.base)
    return field_of(m, base, e.name, e.place)


def field_of(m: Machine, base: Value, name: str, place: Place | None) -> Pointer | Value:
    """base.name for a place or a record value."""
    if isinstance(base, Pointer):
        t = base.pointee
        layout = m.types.layout(t) if isinstance(t, RecordRef) else None
        if layout is not None and name in layout.fields:
            at, ft = layout.fields[name]
            if isinstance(ft, PointerTo) and ft.reference:
                return m.load(Pointer(base.object, Int_add(base.offset, at), ft), place)
            return Pointer(base.object, Int_add(base.offset, at), ft)
        if isinstance(t, RecordRef):
            constant = static_member(m, t, name)
            if constant is not None:
                return constant
        if base.object.storage == "shared":
            m.note("unknown-member", f"`.{name}` of a type that is not known", place)
            return Pointer(
                base.object,
                multiply(base.offset, m.unknowns.value(LONG, name, varying=True), LONG),
                OpaqueType("?"),
            )
        uniform = base.object.storage == "local" and base.object.uniform
        return Other(
            None, uniform, Unresolved("unknown-member", f"`.{name}` of a type that is not known", place)
        )
    if isinstance(base, RecordValue):
        t = base.type
        layout = m.types.layout(t) if isinstance(t, RecordRef) else None
        if layout is not None and name in layout.fields:
            at, ft = layout.fields[name]
            o = Object("temporary", name, t, "local", None, dict(base.cells), havoc=True)
            return Pointer(o, Int(at), ft)
    reason = base.reason if isinstance(base, Other) else None
    uniform = isinstance(base, Other) and base.uniform
    return Other(
        None, uniform, reason or Unresolved("unknown-member", f"`.{name}` of a type that is not known", place)
    )


def static_member(m: Machine, owner: Type, name: str) -> Value | None:
    """A constant, method or enumerator of a record, its template arguments bound."""
    if not isinstance(owner, RecordRef):
        return None
    found = m.types.record_of(owner)
    if found is None:
        return _library_constant(m, owner, name)
    record, bindings = found
    var = record.constants.get(name)
    if var is not None:
        from smemlint.evaluate.machine import Frame

        m.frames.append(Frame(bindings))
        try:
            if var.init is None:
                return None
            t = m.resolve(var.type)
            if isinstance(t, ArrayOf | RecordRef):
                o = Object(var.id, var.name, t, "local", var, uniform=True)
                initialise(m, o, t, var.init)
                return Pointer(o, Int(0), t)
            return coerce(m, rvalue(m, var.init), t)
        finally:
            m.frames.pop()
    if name in record.methods:
        functions = tuple(m.module.functions[i] for i in record.methods[name] if i in m.module.functions)
        return FunctionValue(name, functions, (), bindings)
    for base in record.bases:
        value = static_member(m, m.types.resolve(base, bindings), name)
        if value is not None:
            return value
    return None


def _library_constant(m: Machine, owner: RecordRef, name: str) -> Value | None:
    short = owner.name.rsplit("::", 1)[-1]
    arguments = owner.arguments
    if name == "value" and short == "is_same" and len(arguments) == 2:
        return Int(int(arguments[0] == arguments[1]), BOOL)
    if name == "value" and short in ("integral_constant", "bool_constant", "Int", "C") and arguments:
        last = arguments[-1]
        return Int(last.value, last.type) if isinstance(last, Literal) else None
    return None


# ---------------------------------------------------------------------- operators


def _unary(m: Machine, e: Expr) -> Value:
    assert isinstance(e, Unary)
    op = e.op
    if op == "&":
        return lvalue(m, e.operand)
    if op == "*":
        p = lvalue(m, e)
        return m.load(p, e.place, e) if isinstance(p, Pointer) else p
    if op in ("++x", "--x", "x++", "x--"):
        return _step_by_one(m, e)
    v = rvalue(m, e.operand)
    if isinstance(v, Int):
        if op == "+":
            return v.typed(ar.promoted(v.type))
        if op == "-":
            return ar.wrapped(scale(v, -1, ar.promoted(v.type)))
        if op == "~":
            t = ar.promoted(v.type)
            return ar.wrapped(add(scale(v, -1, t), Int(-1, t), t))
        if op == "!":
            return ar.logical_not(v, m.unknowns)
    if isinstance(v, Pointer) and op == "!":
        return Int(0, BOOL)
    if op == "!":
        return m.unknowns.value(BOOL, "!", varying=not _uniform(v) and not m.host, low=0, high=1)
    if isinstance(v, Other):
        return Other(v.type, v.uniform, v.reason, None if v.value is None or op != "-" else -v.value)
    return v


def _uniform(v: Value) -> bool:
    if isinstance(v, Int):
        return v.uniform
    if isinstance(v, Other):
        return v.uniform
    return isinstance(v, Pointer) and v.offset.uniform


def _is_record(p: Pointer, word: str) -> bool:
    return isinstance(p.pointee, RecordRef) and word in p.pointee.name


def _step_by_one(m: Machine, e: Unary) -> Value:
    p = lvalue(m, e.operand)
    if not isinstance(p, Pointer):
        return p
    if _is_record(p, "atomic"):
        from smemlint.evaluate.library_atomics import operator_on_atomic

        return operator_on_atomic(m, p, e.op, Int(1), e.operand, e.place)
    old = m.load(p, e.place, e)
    delta = 1 if "++" in e.op else -1
    new: Value
    if isinstance(old, Int):
        new = ar.convert(ar.binary("+", old, Int(delta), m.unknowns), old.type, m.unknowns)
    elif isinstance(old, Pointer):
        new = offset_pointer(m, old, Int(delta), e.place)
    else:
        new = old
    m.store(p, new, e.place, e)
    return old if e.op in ("x++", "x--") else new


def _binary(m: Machine, e: Expr) -> Value:
    assert isinstance(e, Binary)
    if e.op in ("&&", "||"):
        return _logical(m, e)
    if e.op == ",":
        rvalue(m, e.left)
        return rvalue(m, e.right)
    return operate(m, e.op, rvalue(m, e.left), rvalue(m, e.right), e.place)


def operate(m: Machine, op: str, a: Value, b: Value, place: Place | None) -> Value:
    if isinstance(a, Int) and isinstance(b, Int):
        return ar.binary(op, a, b, m.unknowns)
    if isinstance(a, Pointer) or isinstance(b, Pointer):
        return _pointer_operation(m, op, a, b, place)
    m.operations += 1
    uniform = _uniform(a) and _uniform(b)
    reason = next((v.reason for v in (a, b) if isinstance(v, Other) and v.reason), None)
    if op in ("<", "<=", ">", ">=", "==", "!="):
        return m.unknowns.value(BOOL, op, varying=not uniform and not m.host, low=0, high=1, reason=reason)
    t = next((v.type for v in (a, b) if isinstance(v, Other)), None)
    return Other(t, uniform, reason)


def _pointer_operation(m: Machine, op: str, a: Value, b: Value, place: Place | None) -> Value:
    if isinstance(a, Pointer) and isinstance(b, Pointer):
        if op == "-":
            if a.object is not b.object:
                return m.unknowns.value(LONG, "pointer difference")
            size = 1 if a.integer else m.types.size_of(a.pointee) or 1
            return ar.divide(subtract(a.offset, b.offset, LONG), Int(size, LONG), m.unknowns)
        if op in ("<", "<=", ">", ">=", "==", "!="):
            if a.object is b.object:
                return ar.compare(op, a.offset, b.offset, m.unknowns)
            if op in ("==", "!=") and "shared" in (a.object.storage, b.object.storage):
                return Int(int(op == "!="), BOOL)
            return m.unknowns.value(BOOL, op, low=0, high=1)
        return m.unknowns.value(ULONG, "pointer arithmetic", rank=3)
    if isinstance(b, Pointer) and op == "+":
        a, b = b, a
    if not isinstance(a, Pointer):
        return Int(int(op == "!="), BOOL) if op in ("==", "!=") else Other(None, False)
    n = as_int(m, b, place)
    if op == "+":
        return offset_pointer(m, a, n, place)
    if op == "-":
        return offset_pointer(m, a, scale(n, -1, LONG), place)
    if op in ("==", "!=", "<", ">", "<=", ">="):
        return Int(int(op in ("!=", ">", ">=")), BOOL)
    if a.integer:
        # a shared address as a number: arrays start at multiples of 128 bytes or more
        result = ar.binary(op, a.offset.typed(LONG), n, m.unknowns)
        if op in ("^", "|"):
            return Pointer(a.object, result, a.pointee, a.integer)
        mask = collapse(n.const) if n.known else None
        if op == "&" and isinstance(mask, int) and (mask < 0 or mask >= 1 << 16):
            return Pointer(a.object, result, a.pointee, a.integer)
        return result.typed(a.integer)
    return Other(None, False)


def _logical(m: Machine, e: Binary) -> Value:
    """Short circuit: the right side runs in the lanes that need it."""
    left = ar.truth_of(truth(m, rvalue(m, e.left)), m.unknowns)
    if left.known and isinstance(left.const, int):
        if bool(left.const) != (e.op == "&&"):
            return left
        return ar.truth_of(truth(m, rvalue(m, e.right)), m.unknowns)
    from smemlint.evaluate.statements import decode

    condition = left if e.op == "&&" else ar.logical_not(left, m.unknowns)
    then = decode(m, condition)
    keep = m.must, m.may
    m.must, m.may = then.must, then.may
    right = ar.truth_of(truth(m, rvalue(m, e.right)), m.unknowns) if m.anyone() else Int(0, BOOL)
    m.must, m.may = keep
    result = ar.logical_and(left, right) if e.op == "&&" else ar.logical_or(left, right)
    return ar.one_unknown(result, m.unknowns)


def truth(m: Machine, v: Value) -> Int:
    """A condition's value as an integer."""
    if isinstance(v, Int):
        return v
    if isinstance(v, Pointer):
        return Int(1, BOOL)
    reason = v.reason if isinstance(v, Other) else None
    return m.unknowns.value(
        BOOL, "condition", varying=not _uniform(v) and not m.host, low=0, high=1, reason=reason
    )


def _conditional(m: Machine, e: Conditional, evaluate: Callable[[Machine, Expr], Value]) -> Value:
    keep_interior = m.unknowns.interior
    m.unknowns.interior = keep_interior or (_plain(e.then) and _plain(e.otherwise))
    c = ar.truth_of(truth(m, rvalue(m, e.condition)), m.unknowns)
    m.unknowns.interior = keep_interior
    if c.known and isinstance(c.const, int):
        return evaluate(m, e.then if c.const else e.otherwise)
    from smemlint.evaluate.statements import decode

    then, otherwise = decode(m, c), decode(m, ar.logical_not(c, m.unknowns))
    keep = m.must, m.may
    m.must, m.may = then.must, then.may
    a = evaluate(m, e.then) if m.anyone() else None
    m.must, m.may = otherwise.must, otherwise.may
    b = evaluate(m, e.otherwise) if m.anyone() else None
    m.must, m.may = keep
    if a is None or b is None:
        return a if a is not None else b if b is not None else Other()
    return m.merge(c, a, b)


def _plain(e: Expr) -> bool:
    """Arithmetic on names and numbers: nothing is lost when it is not evaluated."""
    if isinstance(e, Literal | Name | Special | FloatLiteral | SizeOf | StaticMember):
        return True
    if isinstance(e, Unary):
        return e.op in ("+", "-", "~", "!") and _plain(e.operand)
    if isinstance(e, Binary):
        return _plain(e.left) and _plain(e.right)
    if isinstance(e, Cast):
        return _plain(e.operand)
    return isinstance(e, Conditional) and all(_plain(x) for x in (e.condition, e.then, e.otherwise))


def _assign(m: Machine, e: Expr) -> Value:
    assert isinstance(e, Assign)
    if e.op == "=":
        target = lvalue(m, e.target)
        if isinstance(e.value, InitList) and isinstance(target, Pointer):
            v: Value = build(m, target.pointee, e.value.elements, e.place)
        else:
            v = rvalue(m, e.value)
        if isinstance(target, Pointer):
            v = coerce(m, v, target.pointee)
            m.store(target, v, _target_place(e), copied(e.target, e.value, target.pointee))
        return v
    target = lvalue(m, e.target)
    if not isinstance(target, Pointer):
        rvalue(m, e.value)
        return target
    value = rvalue(m, e.value)
    if _is_record(target, "atomic"):
        from smemlint.evaluate.library_atomics import operator_on_atomic

        return operator_on_atomic(m, target, e.op, value, e.target, e.place)
    old = m.load(target, _target_place(e), e.target)
    new = coerce(m, operate(m, e.op[:-1], old, value, e.place), target.pointee)
    m.store(target, new, _target_place(e), e.target)
    return new


def _target_place(e: Assign) -> Place | None:
    """The access is where the written element stands, not the whole assignment."""
    return getattr(e.target, "place", None) or e.place


# ---------------------------------------------------------------------- conversions


def coerce(m: Machine, v: Value, t: Type) -> Value:
    """v as a variable of resolved type t holds it."""
    if isinstance(t, PointerTo):
        if isinstance(v, Pointer):
            if t.volatile and v.object.storage == "shared":
                v.object.volatile = True
            to = v.pointee if isinstance(t.to, Scalar) and t.to.kind == "void" else t.to
            if isinstance(to, OpaqueType | TypeParam | MemberType):
                to = v.pointee
            return Pointer(v.object, v.offset, to)
        if isinstance(v, Int):
            return Pointer(Object("null", "null", t.to, "global"), Int(0), t.to)
        return v
    if isinstance(t, Scalar):
        if t.kind == "float":
            if isinstance(v, Int):
                number = float(v.const) if v.known and isinstance(v.const, int) else None
                return Other(t, v.uniform, None, number)
            return Other(
                t,
                _uniform(v),
                v.reason if isinstance(v, Other) else None,
                v.value if isinstance(v, Other) else None,
            )
        if isinstance(v, Int):
            return ar.convert(v, t, m.unknowns)
        if isinstance(v, Pointer):
            if t.kind == "bool":
                return Int(1, BOOL)
            return Pointer(v.object, v.offset, v.pointee, t)
        if isinstance(v, Other):
            if t.kind == "void":
                return v
            if v.value is not None:
                return Int(int(v.value), t)
            n = as_int(m, v)
            return n.typed(t)
    if isinstance(t, RecordRef) and isinstance(v, RecordValue) and v.type != t:
        from smemlint.evaluate.library_groups import generalised

        return generalised(m, v, t) or RecordValue(t, v.cells)
    return v


def _cast(m: Machine, e: Expr) -> Value:
    assert isinstance(e, Cast)
    t = m.resolve(e.type)
    if isinstance(t, PointerTo) and t.reference:
        p = lvalue(m, e)
        return m.load(p, e.place, e) if isinstance(p, Pointer) else p
    if isinstance(e.operand, InitList):
        return build(m, t, e.operand.elements, e.place)
    v = rvalue(m, e.operand)
    if isinstance(t, Scalar) and t.kind == "void":
        return Other()
    if isinstance(t, RecordRef):
        return v if isinstance(v, RecordValue) else _construct_from(m, t, [v], e.place)
    return coerce(m, v, t)


# ---------------------------------------------------------------------- building values


def initialise(m: Machine, o: Object, t: Type, init: Expr) -> None:
    """Give a local object its initial value."""
    if isinstance(t, ArrayOf):
        elements: tuple[Expr, ...] = ()
        if isinstance(init, InitList):
            elements = init.elements
        elif isinstance(init, StringLiteral):
            o.havoc = True
            return
        fill_array(m, o, 0, t, elements)
        return
    v = value_for(m, t, init)
    if isinstance(v, RecordValue) and not v.cells:
        o.havoc = True
    m.write_cell(o, 0, v, t)


def value_for(m: Machine, t: Type, init: Expr) -> Value:
    """The value of an initialiser for something of type t."""
    if isinstance(init, InitList):
        return build(m, t, init.elements, init.place)
    return coerce(m, rvalue(m, init), t)


def fill_array(m: Machine, o: Object, at: int, t: ArrayOf, elements: tuple[Expr, ...]) -> None:
    size = m.types.size_of(t.element)
    if size is None:
        o.havoc = True
        for e in elements:
            rvalue(m, e)
        return
    n = t.extent.value if isinstance(t.extent, Literal) else len(elements)
    for i in range(min(n, 4096)):
        if i < len(elements):
            e = elements[i]
            if isinstance(t.element, ArrayOf):
                inner = e.elements if isinstance(e, InitList) else ()
                fill_array(m, o, at + i * size, t.element, inner)
            else:
                m.write_cell(o, at + i * size, value_for(m, t.element, e), t.element)
        elif isinstance(t.element, Scalar) and t.element.kind != "float":
            m.write_cell(o, at + i * size, Int(0, t.element), t.element)


def build(m: Machine, t: Type, elements: tuple[Expr, ...], place: Place | None) -> Value:
    """`T{...}`."""
    if isinstance(t, ArrayOf):
        o = Object("temporary", "temporary", t, "local")
        fill_array(m, o, 0, t, elements)
        return RecordValue(t, dict(o.cells))
    if isinstance(t, RecordRef):
        return _construct_from(
            m, t, [rvalue(m, e) if not isinstance(e, InitList) else e for e in elements], place
        )
    if elements:
        return value_for(m, t, elements[0])
    if isinstance(t, Scalar):
        return coerce(m, Int(0), t)
    if isinstance(t, PointerTo):
        return coerce(m, Int(0), t)
    return Other()


def _construct_from(m: Machine, t: RecordRef, values: list[Value | InitList], place: Place | None) -> Value:
    """A record from constructor arguments, or by aggregate initialisation."""
    from smemlint.evaluate.calls import construct

    made = construct(m, t, values, place)
    if made is not None:
        return made
    if len(values) == 1 and isinstance(values[0], RecordValue) and values[0].type == t:
        return values[0]
    short = t.name.rsplit("::", 1)[-1]
    if short == "dim3":
        defaults: list[Value | InitList] = [Int(1), Int(1), Int(1)]
        values = [*values, *defaults[len(values) :]]
    layout = m.types.layout(t)
    if layout is None:
        return Other(t, all(_uniform(v) for v in values if not isinstance(v, InitList)))
    cells: dict[int, Value] = {}
    for (at, ft), v in zip(layout.fields.values(), values, strict=False):
        leaf = build(m, ft, v.elements, place) if isinstance(v, InitList) else coerce(m, v, ft)
        if isinstance(leaf, RecordValue):
            cells.update({at + k: x for k, x in leaf.cells.items()})
        else:
            cells[at] = leaf
    if not values:
        return RecordValue(t, {})
    return RecordValue(t, cells)


def _construct(m: Machine, e: Expr) -> Value:
    assert isinstance(e, Construct)
    t = m.resolve(e.type)
    if isinstance(t, RecordRef):
        from smemlint.evaluate.library import constructed

        made = constructed(m, t, e)
        if made is not None:
            return made
        return _construct_from(
            m, t, [a if isinstance(a, InitList) else rvalue(m, a) for a in e.arguments], e.place
        )
    return build(m, t, e.arguments, e.place)


def _init_list(m: Machine, e: Expr) -> Value:
    assert isinstance(e, InitList)
    values = [rvalue(m, x) for x in e.elements]
    return values[0] if len(values) == 1 else Other(None, all(_uniform(v) for v in values))


def _size_of(m: Machine, e: Expr) -> Value:
    assert isinstance(e, SizeOf)
    t: Type
    if isinstance(e.of, TYPES):
        t = m.resolve(e.of)
    else:
        m.silent += 1
        p = lvalue(m, e.of)
        m.silent -= 1
        t = (
            p.pointee
            if isinstance(p, Pointer) and not isinstance(e.of, Unary | Call | Binary)
            else type_of(p)
        )
        if isinstance(e.of, Unary) and e.of.op == "*" and isinstance(p, Pointer):
            t = p.pointee
    n = m.types.align_of(t) if e.align else m.types.size_of(t)
    if n is None:
        return m.unknowns.value(ULONG, "sizeof", low=1)
    return Int(n, ULONG)


def _static_member(m: Machine, e: Expr) -> Value:
    assert isinstance(e, StaticMember)
    owner = m.resolve(e.owner)
    v = static_member(m, owner, e.name)
    if isinstance(v, FunctionValue) and e.arguments:
        return replace(v, arguments=resolve_arguments(m, e.arguments))
    if v is not None:
        if isinstance(v, Pointer) and isinstance(v.pointee, ArrayOf):
            return m.load(v, e.place)
        return v
    from smemlint.evaluate.layout import type_name

    reason = Unresolved("unknown-constant", f"`{type_name(owner)}::{e.name}` is not known", e.place)
    return Other(None, True, reason)


def _this(m: Machine, e: Expr) -> Value:
    return m.frame.this or Other(None, True)


def _lambda(m: Machine, e: Expr) -> Value:
    assert isinstance(e, Lambda)
    return Closure(e, m.frame)


def _special(m: Machine, e: Expr) -> Value:
    assert isinstance(e, Special)
    m.asked.add((e.name, e.axis))
    v = m.specials.get((e.name, e.axis))
    return v if v is not None else Other(INT, False)


def _literal(m: Machine, e: Expr) -> Value:
    assert isinstance(e, Literal)
    return Int(e.value, e.type)


def _float(m: Machine, e: Expr) -> Value:
    assert isinstance(e, FloatLiteral)
    return Other(e.type, True, None, e.value)


def _place_then_load(m: Machine, e: Expr) -> Value:
    p = lvalue(m, e)
    return m.load(p, getattr(e, "place", None), e) if isinstance(p, Pointer) else p


def _unknown(m: Machine, e: Expr) -> Value:
    assert isinstance(e, UnknownExpr)
    values = [rvalue(m, part) for part in e.parts]
    for v in values:
        if isinstance(v, Pointer) and v.object.storage == "shared":
            v.object.escapes = True
            m.note("unknown-expression", f"{e.reason}, given the address of `{v.object.name}`", e.place)
    uniform = bool(values) and all(_uniform(v) for v in values)
    return Other(None, uniform, Unresolved("unknown-expression", e.reason, e.place))


def _asm(m: Machine, e: Expr) -> Value:
    assert isinstance(e, Asm)
    from smemlint.evaluate.assembly import run_asm

    run_asm(m, e)
    return Other()


def _call(m: Machine, e: Expr) -> Value:
    assert isinstance(e, Call)
    from smemlint.evaluate.calls import call

    return call(m, e)


def _conditional_value(m: Machine, e: Expr) -> Value:
    assert isinstance(e, Conditional)
    return _conditional(m, e, rvalue)


_RVALUE: dict[type, Handler] = {
    Literal: _literal,
    FloatLiteral: _float,
    StringLiteral: lambda m, e: Other(None, True),
    Name: _name,
    Special: _special,
    Unary: _unary,
    Binary: _binary,
    Assign: _assign,
    Conditional: _conditional_value,
    Cast: _cast,
    Index: _place_then_load,
    Member: _place_then_load,
    StaticMember: _static_member,
    Call: _call,
    Construct: _construct,
    InitList: _init_list,
    SizeOf: _size_of,
    This: _this,
    Lambda: _lambda,
    Asm: _asm,
    UnknownExpr: _unknown,
}

__all__ = [
    "BYTE",
    "as_int",
    "coerce",
    "initialise",
    "integer",
    "lvalue",
    "np",
    "place_of",
    "rvalue",
    "type_of",
]
