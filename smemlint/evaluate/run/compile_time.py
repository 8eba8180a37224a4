"""What the compiler knows before a kernel runs: constants, and how often a loop goes round."""

from __future__ import annotations

from smemlint.evaluate.machine.dispatch import rvalue
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.values.comparison import COMPARISONS
from smemlint.evaluate.values.number import Int, Pointer, form_of, subtract
from smemlint.ir import (
    Assign,
    Binary,
    Cast,
    Conditional,
    Expr,
    Literal,
    Loop,
    Name,
    SizeOf,
    StaticMember,
    Unary,
    Var,
)
from smemlint.ir.types import LONG
from smemlint.ir.walk import walk

_MOST = 4096
"""Iterations from which on the compiler keeps any loop as one."""


def counter_of(s: Loop) -> str | None:
    """The variable that the loop's condition looks at."""
    c = s.condition
    return c.left.id if isinstance(c, Binary) and isinstance(c.left, Name) else None


def start_of(s: Loop, var: Var) -> Expr | None:
    """What a variable is when a loop begins, where that is written: in `for (j = 0; ...)`, or where it is
    declared."""
    for n in walk(s.init):
        if isinstance(n, Assign) and isinstance(n.target, Name) and n.target.id == var.id:
            return n.value if n.op == "=" else None
    return var.init


def compile_time_trips(m: Machine, s: Loop) -> int | None:
    """Iterations, where the compiler knows them: a counter that runs between constants."""
    c = s.condition
    if not isinstance(c, Binary) or c.op not in ("<", "<=", ">", ">=", "!=") or s.step is None:
        return None
    if not m.host and not all(is_compile_time(m, e) for e in m.code.other_ends(s)):
        return None
    if not isinstance(c.left, Name):
        return None
    o = m.find(c.left.id)
    start = o.cells.get(0) if o is not None else None
    if isinstance(start, Pointer) and not m.host:
        return _pointer_trips(m, s, c, start)
    if not is_compile_time(m, c.right):
        return None
    if o is None or not isinstance(start, Int) or not start.known or not isinstance(start.const, int):
        return None
    if o.var is not None:
        init = start_of(s, o.var)
        if init is None or not is_compile_time(m, init) or m.constant(init, m.bindings) != start.const:
            return None
    end = m.constant(c.right, m.bindings)
    step = _step_of(m, s.step, c.left.id)
    if end is None or step is None:
        return None
    return _counted(c.op, start.const, end, *step)


def _counted(condition: str, value: int, end: int, op: str, by: int) -> int | None:
    holds = COMPARISONS[condition]
    trips = 0
    while trips < _MOST and holds(value, end):
        trips += 1
        value = _stepped(op, value, by)
    return trips if trips < _MOST else None


def _pointer_trips(m: Machine, s: Loop, c: Binary, start: Pointer) -> int | None:
    """Iterations of `for (p = first; p != last; p += k)`, where the compiler knows the distance."""
    assert isinstance(c.left, Name) and s.step is not None
    m.silent += 1  # what is read here is no access of the program
    try:
        last = rvalue(m, c.right)
    finally:
        m.silent -= 1
    size, step = m.types.size_of(start.pointee), _step_of(m, s.step, c.left.id)
    if not isinstance(last, Pointer) or last.object is not start.object or size is None or step is None:
        return None
    distance = form_of(subtract(last.offset, start.offset, LONG))
    if distance.terms or distance.const % size or step[0] not in ("+", "-"):
        return None
    return _counted(c.op, 0, distance.const // size, *step)


def _stepped(op: str, value: int, by: int) -> int:
    if op == "+":
        return value + by
    if op == "-":
        return value - by
    if op == "*":
        return value * by
    if op == "<<":
        return value << by
    if op == ">>":
        return value >> by
    return value // by if by else value


def _step_of(m: Machine, e: Expr, id: str) -> tuple[str, int] | None:
    """(operator, constant) of the step expression, for the counter `id`."""
    if isinstance(e, Unary) and isinstance(e.operand, Name) and e.operand.id == id:
        if "++" in e.op:
            return "+", 1
        if "--" in e.op:
            return "-", 1
    if isinstance(e, Assign) and isinstance(e.target, Name) and e.target.id == id:
        op, value = e.op[:-1], e.value
        if e.op == "=":
            if not (isinstance(value, Binary) and isinstance(value.left, Name) and value.left.id == id):
                return None
            op, value = value.op, value.right
        if op in ("+", "-", "*", "/", "<<", ">>") and is_compile_time(m, value):
            by = m.constant(value, m.bindings)
            if by is not None and (by > 0 or op in ("+", "-")) and not (op in ("*", "/") and by < 2):
                return op, by
    return None


def is_compile_time(m: Machine, e: Expr, depth: int = 0) -> bool:
    """Whether the compiler can know an expression: nothing that the launch or memory tells is in it."""
    if isinstance(e, Literal | SizeOf | StaticMember):
        return True
    if isinstance(e, Unary):
        return e.op in ("+", "-", "~", "!") and is_compile_time(m, e.operand, depth)
    if isinstance(e, Binary):
        return is_compile_time(m, e.left, depth) and is_compile_time(m, e.right, depth)
    if isinstance(e, Cast):
        return is_compile_time(m, e.operand, depth)
    if isinstance(e, Conditional):
        return all(is_compile_time(m, x, depth) for x in (e.condition, e.then, e.otherwise))
    if isinstance(e, Name):
        if e.id in m.bindings or e.id in m.context.constants:
            return True
        o = m.find(e.id)
        if o is None:
            return e.id in m.module.globals or e.id not in m.module.functions
        if o.var is None or o.var.storage == "param":
            return False
        if o.var.init is None or depth >= 6 or not is_compile_time(m, o.var.init, depth + 1):
            return False
        value = o.cells.get(0)
        if isinstance(value, Int) and value.known and isinstance(value.const, int):
            return value.const == m.constant(o.var.init, m.bindings)  # else it was changed since
        return True
    return False


def begins_constant(m: Machine, init: Expr | None) -> bool:
    """Whether a variable begins with a constant, also within loops around that stay loops."""
    if init is None or not is_compile_time(m, init):
        return False
    return not any(
        isinstance(n, Name) and n.id in m.context.counters - m.context.constants for n in walk(init)
    )
