"""Operators: `+ - * / & ! ++ =` and their like, on numbers, pointers and what is not followed."""

from __future__ import annotations

from smemlint.evaluate.analysis.line_attribution import copied
from smemlint.evaluate.compiler.slow_paths import Made, division_stops, narrow_stops, where_made
from smemlint.evaluate.control_flow import first_block
from smemlint.evaluate.language.accesses import load, store
from smemlint.evaluate.language.conversions import as_int, coerce, is_null, null_test, operand_of, type_of
from smemlint.evaluate.language.destructors import discard
from smemlint.evaluate.language.member_pointers import member_of, pointer_to_member
from smemlint.evaluate.language.operator_methods import operator_method
from smemlint.evaluate.language.places import lost, offset_pointer, place_of, pointer_of, say_lost
from smemlint.evaluate.language.scale import decided_by_scale
from smemlint.evaluate.language.unread import is_for_nothing
from smemlint.evaluate.library.atomics import operator_on_atomic
from smemlint.evaluate.library.memory import lent
from smemlint.evaluate.library.smart_pointers import held_by
from smemlint.evaluate.library.text import compared_strings
from smemlint.evaluate.machine.dispatch import build, lvalue, rvalue, unseen
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.machine.sums import Sums
from smemlint.evaluate.memory.parts import truncated
from smemlint.evaluate.memory.several import lost_among, same_place
from smemlint.evaluate.run.conditionals import is_plain, logical_value
from smemlint.evaluate.run.copies import assigned, says_how_to_assign
from smemlint.evaluate.values import affine, floats
from smemlint.evaluate.values import arithmetic as ar
from smemlint.evaluate.values.comparison import COMPARISONS
from smemlint.evaluate.values.number import Int, add, collapse, form_of, formed, scale, subtract
from smemlint.evaluate.values.value import (
    FunctionValue,
    Method,
    Other,
    Pointer,
    RecordValue,
    Value,
    is_uniform,
    same,
)
from smemlint.ir import (
    STEPS,
    Assign,
    Binary,
    Call,
    Construct,
    InitList,
    Name,
    Part,
    Place,
    RecordRef,
    StaticMember,
    Unary,
)
from smemlint.ir.types import BOOL, INT, LONG, ULONG
from smemlint.ir.walk import walk

UNFOLLOWED = "goes through arithmetic that is not followed"


def unary_value(m: Machine, e: Unary) -> Value:
    op = e.op
    called = operator_method(m, e)
    if called is not None:
        return rvalue(m, called)
    if op == "&":
        named = isinstance(e.operand, StaticMember | Name)
        if named and (to := pointer_to_member(m, e.operand)) is not None:  # type: ignore[arg-type]
            return to
        return place_of(m, e.operand) if isinstance(e.operand, Construct) else lvalue(m, e.operand)
    if op == "*":
        p = lvalue(m, e)
        return load(m, p, e.place, e) if isinstance(p, Pointer) else p
    if op in STEPS:
        return _step_by_one(m, e, lvalue(m, e.operand))
    v = operand_of(m, rvalue(m, e.operand), BOOL if op == "!" else INT)
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
        return null_test(m, v)
    if op == "!":
        if isinstance(v, Other) and v.value is not None:
            return ar.logical_not(floats.truth(v, v.value), m.unknowns)
        return m.unknowns.value(BOOL, "!", varying=not is_uniform(v) and not m.host, low=0, high=1)
    if isinstance(v, Other):
        narrow_stops(m, v)
        number = None if v.value is None or op != "-" else -v.value
        return Other(v.type, v.uniform, v.reason, number, made_of=floats.made_of(op, v))
    # of a class: by an operator that is not known
    return RecordValue(v.type, {}) if isinstance(v, RecordValue) and not m.host else v


def unary_place(m: Machine, e: Unary) -> Pointer | Value:
    called = operator_method(m, e)
    if called is not None:
        return lvalue(m, called)
    if e.op == "*":
        v = pointer_of(m, e.operand)
        if isinstance(v, Pointer):
            return Pointer(v.object, v.offset, v.pointee)
        say_lost(m, v, "what is pointed to by an object", e.place)
        return v if isinstance(v, FunctionValue | Method) else lost(m, v, e.operand, e.place)
    if e.op in ("++x", "--x"):
        p = lvalue(m, e.operand)
        _step_by_one(m, e, p)
        return p
    return rvalue(m, e)


def _step_by_one(m: Machine, e: Unary, p: Pointer | Value) -> Value:
    """`++` and `--` of what stands at p: the new value, or the old one where they stand behind."""
    if not isinstance(p, Pointer):
        return p
    if _is_atomic(p):
        return operator_on_atomic(m, p, e.op, Int(1), e.operand, e.place)
    old = load(m, p, e.place, e)
    delta = 1 if "++" in e.op else -1
    new: Value
    if isinstance(old, Int):
        new = ar.convert(ar.binary("+", old, Int(delta), m.unknowns), old.type, m.unknowns)
    elif isinstance(old, Pointer):
        new = offset_pointer(m, old, Int(delta), e.place)
    elif isinstance(old, RecordValue) and not m.host:  # by an operator that is not known
        say_lost(m, old, "a step of an object", e.place)
        new = RecordValue(old.type, {})
    else:
        new = Other(old.type, old.uniform, old.reason) if isinstance(old, Other) else old
    if isinstance(p.pointee, Part):
        new = truncated(m, new, p.pointee)
    store(m, p, new, e.place, e)
    return old if e.op in ("x++", "x--") else new


def _is_atomic(p: Pointer) -> bool:
    return isinstance(p.pointee, RecordRef) and "atomic" in p.pointee.name


def binary_value(m: Machine, e: Binary) -> Value:
    if e.op in ("&&", "||"):
        return logical_value(m, e)
    if e.op == ",":
        discard(m, e.left)
        return rvalue(m, e.right)
    if e.op == ".*":
        return member_of(m, rvalue(m, e.left), rvalue(m, e.right))
    called = operator_method(m, e)
    if called is not None:
        return rvalue(m, called)
    guessed = m.unknowns.guessed
    known = len(guessed)
    left, right = rvalue(m, e.left), rvalue(m, e.right)
    made = where_made(m, e) if e.op in ("/", "%") else Made.HERE
    result = _rounded_down(m, e, left, right) or operate(m, e.op, left, right, e.place, made)
    if m.journal.sums is not None and e.op == "+" and isinstance(result, Int):
        _note_sum(m, m.journal.sums, e, left, right, result)
    if len(guessed) > known and not m.host and e.op in COMPARISONS:
        first_block.look(m, e.op, left, right)
        decided_by_scale(m, e, guessed[-1])
    return result


def _rounded_down(m: Machine, e: Binary, left: Value, right: Value) -> Value | None:
    """`x / a * a` of an address in shared memory."""
    if e.op != "*" or not isinstance(left, Other) or left.leads is None or not isinstance(e.left, Binary):
        return None
    if e.left.op != "/" or not is_plain(e.left):
        return None
    address, by = rvalue(m, e.left.left), rvalue(m, e.left.right)
    if not isinstance(address, Pointer) or not address.integer or not same(by, right):
        return None
    return operate(m, "-", address, operate(m, "%", address, by, e.place), e.place)


def _note_sum(m: Machine, sums: Sums, e: Binary, left: Value, right: Value, result: Int) -> None:
    """Note what was added up, in place of what its operands added up."""
    if result.type.size != INT.size:
        return
    for part, of in ((left, e.left), (right, e.right)):
        if isinstance(part, Int):
            sums.drop(form_of(part), id(of))
    sums.add(form_of(result), m.conditions(), id(e))


def binary_place(m: Machine, e: Binary) -> Pointer | Value:
    if e.op == ",":
        discard(m, e.left)
        return lvalue(m, e.right)
    return rvalue(m, e)


def operate(
    m: Machine, op: str, a: Value, b: Value, place: Place | None, made: Made | int = Made.HERE
) -> Value:
    """`a op b` for values of any kind."""
    if op in ("/", "%"):
        division_stops(m, a, b, place, made)
    if type(a) is Int and type(b) is Int:
        return ar.binary(op, a, b, m.unknowns)
    if (told := compared_strings(m, op, a, b)) is not None:
        return told
    if m.host:
        a, b = held_by(a), held_by(b)
    pointer = op in ("+", "-")
    a, b = operand_of(m, a, pointer=pointer), operand_of(m, b, pointer=pointer)
    if isinstance(a, Int) and isinstance(b, Int):  # of records that convert to numbers
        return ar.binary(op, a, b, m.unknowns)
    if isinstance(a, Pointer) or isinstance(b, Pointer):
        return _pointer_operation(m, op, a, b, place)
    m.code_size.operations += 1
    for v in (a, b):
        say_lost(m, v, "an operator of an object", place)
    narrow_stops(m, a, b)
    if m.types.unsized:
        for v in (a, b):
            m.types.calculated(v.type if isinstance(v, Other | RecordValue) else None)
    uniform = is_uniform(a) and is_uniform(b)
    reason = next((v.reason for v in (a, b) if isinstance(v, Other) and v.reason), None)
    if op in ("<", "<=", ">", ">=", "==", "!="):
        if (decided := floats.compared(op, a, b)) is not None:
            return decided
        return m.unknowns.value(BOOL, op, varying=not uniform and not m.host, low=0, high=1, reason=reason)
    exact = floats.arithmetic(op, a, b, host=m.host)
    if exact is not None:
        return exact
    t = next((v.type for v in (a, b) if isinstance(v, Other)), None)
    leads = next((v.leads for v in (a, b) if isinstance(v, Other) and v.leads is not None), None)
    return Other(
        t, uniform, reason, leads=leads, near=floats.near(op, a, b), made_of=floats.made_of(op, a, b)
    )


def _in_order(op: str, a: Pointer, b: Pointer, told: Int) -> Int:
    """Which of two addresses comes first: a compiler does not know it of memory that it is handed, where
    sums may wrap."""
    form = form_of(a.offset)
    if op in ("==", "!=") or a.object.storage in ("shared", "local") or not told.known or not form.terms:
        return told
    return formed(told, affine.atom(op, form, form_of(b.offset)))


def _pointer_operation(m: Machine, op: str, a: Value, b: Value, place: Place | None) -> Value:
    if isinstance(a, Pointer) and isinstance(b, Pointer):
        if op == "-":
            if a.object is not b.object:
                return m.unknowns.value(LONG, "pointer difference")
            size = 1 if a.integer else m.types.size_of(a.pointee) or 1
            return ar.divide(subtract(a.offset, b.offset, LONG), Int(size, LONG), m.unknowns)
        if op in ("<", "<=", ">", ">=", "==", "!="):
            if a.object is b.object:
                return _in_order(op, a, b, ar.compare(op, a.offset, b.offset, m.unknowns))
            if op in ("==", "!=") and not m.host:
                equal = same_place(m, a, b)
                if equal is not None:
                    return equal if op == "==" else ar.logical_not(equal, m.unknowns)
            return m.unknowns.value(BOOL, op, low=0, high=1)
        if "shared" in (a.object.storage, b.object.storage):
            return lost_among((a.object, b.object), UNFOLLOWED)
        return m.unknowns.value(ULONG, "pointer arithmetic", rank=3)
    if isinstance(b, Pointer) and not isinstance(a, Pointer) and op in ("+", "==", "!="):
        a, b = b, a
    if m.host and (is_null(a) or is_null(b)):
        return Int(int(op == "=="), BOOL) if op in ("==", "!=") else Other(None, False)
    if not isinstance(a, Pointer):
        return Int(int(op == "!="), BOOL) if op in ("==", "!=") else Other(None, False)
    if op in ("==", "!=") and isinstance(b, Int) and b.known:
        return null_test(m, a) if op == "==" else ar.logical_not(null_test(m, a), m.unknowns)
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
        lost = op in ("/", ">>", "*", "<<") or (op == "&" and mask is None)
        if lost and a.object.storage == "shared":
            return lost_among((a.object,), UNFOLLOWED)
        if op == "&" and isinstance(mask, int) and (mask < 0 or mask >= 1 << 16):
            return Pointer(a.object, result, a.pointee, a.integer)
        return result.typed(a.integer)
    return lost_among((a.object,), UNFOLLOWED)


def assign_value(m: Machine, e: Assign) -> Value:
    called = operator_method(m, e)
    return rvalue(m, called) if called is not None else _assign(m, e)[1]


def _assign(m: Machine, e: Assign) -> tuple[Value, Value]:
    """Where a value is put, and the value. The right side runs first, as since C++17."""
    if e.op == "=" and is_for_nothing(m, e):
        return Other(), Other()
    if e.op == "=":
        named = m.journal.sums is None and not m.host and says_how_to_assign(m.module)
        first = None if named or isinstance(e.value, InitList) else rvalue(m, e.value)
        target = lvalue(m, e.target)
        if isinstance(e.value, InitList) and isinstance(target, Pointer):
            v: Value = build(m, target.pointee, e.value.elements, e.place)
        elif first is None and isinstance(target, Pointer) and assigned(m, target, e.value):
            return target, Other(target.pointee)
        else:
            v = rvalue(m, e.value) if first is None else first
        _forget_led_to(m, e, target)
        if isinstance(target, Pointer):
            same_type = type_of(v) == target.pointee
            v = coerce(m, v, target.pointee)
            node = copied(e.target, e.value, target.pointee, same_type=same_type)
            store(m, target, v, _target_place(e), node, e.value)
        return target, v
    value = rvalue(m, e.value)
    target = lvalue(m, e.target)
    _forget_led_to(m, e, target)
    if not isinstance(target, Pointer):
        return target, target
    if _is_atomic(target):
        return target, operator_on_atomic(m, target, e.op, value, e.target, e.place)
    old = load(m, target, _target_place(e), e.target)
    new = coerce(m, operate(m, e.op[:-1], old, value, e.place), target.pointee)
    store(m, target, new, _target_place(e), e.target)
    return target, new


def _forget_led_to(m: Machine, e: Assign, target: Value) -> None:
    """What an assignment to a place that is not followed may have set is not known any more (host code), or
    is a shared array that unknown code was given an element of."""
    if isinstance(target, Pointer):
        return
    if m.host:
        m.forget(m.frame.slice.sets.get(id(e), frozenset()))
        return
    for call in walk(e.target):
        if isinstance(call, Call):
            lent(m, call)


def assigned_place(m: Machine, e: Assign) -> Pointer | Value:
    """`(a = b)` where a place is asked for: a's, which is not accessed once more."""
    called = operator_method(m, e)
    if called is None:
        return _assign(m, e)[0]
    rvalue(m, called)
    return unseen(m, e.target, lvalue)


def _target_place(e: Assign) -> Place | None:
    """The access is where the written element stands, not the whole assignment."""
    return getattr(e.target, "place", None) or e.place
