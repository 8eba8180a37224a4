"""C's integer operators on `Int`, exact wherever the unknown part allows it.

An unknown that is the same for all lanes goes through `/ % & | ^ >>` as long as the part that the operator
cuts off is known; else the result is a new unknown, with the range that the operator guarantees.
"""

from __future__ import annotations

import operator
from collections.abc import Callable

import numpy as np

from smemlint.evaluate.model import Unresolved
from smemlint.evaluate.values import affine
from smemlint.evaluate.values.bits import bit_and, bitwise, shift_left, shift_right
from smemlint.evaluate.values.choices import each_way
from smemlint.evaluate.values.comparison import (
    COMPARISONS,
    MOST_TERMS,
    compare,
    logical_and,
    logical_not,
    logical_or,
    one_unknown,
    select,
    truth_of,
)
from smemlint.evaluate.values.division import divide, modulo
from smemlint.evaluate.values.number import (
    Int,
    add,
    bare,
    bounds,
    form_of,
    formed,
    multiply,
    subtract,
)
from smemlint.evaluate.values.unknowns import Unknowns
from smemlint.evaluate.values.widths import (
    common_type,
    in_register,
    operand,
    promoted,
    range_of,
    reduced,
    short_steps,
    wrap_lanes,
    wrapped,
)
from smemlint.ir import Scalar
from smemlint.ir.types import BOOL, INT

_QUICK: dict[str, Callable[[int, int], int]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}
"""Operators of plain numbers that need no more than a look at the result."""
_QUICK |= {op: lambda x, y, f=f: int(f(x, y)) for op, f in COMPARISONS.items()}  # type: ignore[misc]


def binary(op: str, a: Int, b: Int, unknowns: Unknowns) -> Int:
    """Any binary operator but `&& || ,`."""
    if a.type is INT and b.type is INT and a.form is None and b.form is None and not (a.terms or b.terms):
        x, y = a.const, b.const
        if type(x) is int and type(y) is int:
            n = _QUICK[op](x, y) if op in _QUICK else None
            if n is not None and -(1 << 31) <= n < (1 << 31):
                return Int(n, BOOL if op in COMPARISONS else INT)
    plain = a.form is None and b.form is None
    try:
        if plain or unknowns.recipes is not None or op not in ("+", "-", "*"):
            result = _binary(op, a, b, unknowns)
        else:
            result = _binary(op, bare(a), bare(b), unknowns)
    except OverflowError:  # a number grew longer than anything that is followed here
        t = BOOL if op in COMPARISONS else common_type(a.type, b.type)
        low, high = range_of(t)
        reason = Unresolved("nonlinear-index", f"the result of `{op}` is too large to follow")
        return unknowns.value(t, op, varying=not (a.uniform and b.uniform), low=low, high=high, reason=reason)
    if plain and (unknowns.recipes is not None or not (a.terms or b.terms)):
        return result
    if op in COMPARISONS and result.known and _are_a_constant_apart(a, b):
        return result
    least = bounds(a)[0] if op in ("/", "%") else None
    positive = least is not None and least >= 0
    t = promoted(a.type) if op == ">>" else common_type(a.type, b.type)
    form = affine.combine(
        op, form_of(a), form_of(b), positive=positive, unsigned=t.kind == "uint", wide=t.size > 4
    )
    return formed(result, form)


def _are_a_constant_apart(a: Int, b: Int) -> bool:
    """Whether a compiler knows how two numbers compare though it knows neither: sums that may not wrap."""
    return common_type(a.type, b.type).kind == "int" and form_of(a).terms == form_of(b).terms


def _binary(op: str, a: Int, b: Int, unknowns: Unknowns) -> Int:
    if (a.terms or b.terms) and op not in ("+", "-", "*") and op not in COMPARISONS:
        by_way = each_way(lambda x, y: _binary(op, x, y, unknowns), a, b)
        if by_way is not None:
            return by_way
    if op in ("<<", ">>"):
        return shift_left(a, b, unknowns) if op == "<<" else shift_right(a, b, unknowns)
    if op in COMPARISONS:
        return compare(op, a, b, unknowns)
    if op == "/":
        return divide(a, b, unknowns)
    if op == "%":
        return modulo(a, b, unknowns)
    if op == "&":
        return bit_and(a, b, unknowns)
    if op in ("^", "|"):
        return bitwise(op, a, b, unknowns)
    t = common_type(a.type, b.type)
    if t.size > 4 and (a.terms or b.terms):
        a, b = (v if v.type.size == t.size else in_register(v, unknowns) for v in (a, b))
    if t.size > 8:
        return _of_128_bits(op, a, b, t, unknowns)
    if op == "+":
        r = add(a, b, t)
    elif op == "-":
        r = subtract(a, b, t)
    elif op == "*":
        if len(a.terms) * len(b.terms) > MOST_TERMS:
            return unknowns.derived("*", a, b, t)
        r = multiply(a, b, t)
    else:
        raise ValueError(f"no integer operator {op!r}")
    if r.terms:
        return short_steps(r) if op != "*" else reduced(r)
    if isinstance(r.const, int) and -(1 << 31) <= r.const < (1 << 31) and (r.const >= 0 or t.kind == "int"):
        return r
    if t.kind == "int" and op != "*" and not isinstance(r.const, int):
        return r
    return wrapped(r)


def _of_128_bits(op: str, a: Int, b: Int, t: Scalar, unknowns: Unknowns) -> Int:
    """`+ - *` of __int128: followed where 64 bits would do."""
    ends = [end for v in (a, b) for end in bounds(v)]
    most = max((abs(end) for end in ends if end is not None), default=0)
    if None in ends or (most**2 if op == "*" else 2 * most) >= 1 << 62:
        return unknowns.derived(op, a, b, t)
    f = {"+": add, "-": subtract, "*": multiply}[op]
    return f(a, b, t)


def convert(v: Int, t: Scalar, unknowns: Unknowns) -> Int:
    """Integer conversion to t."""
    if t.kind == "bool":
        return compare("!=", v, Int(0, v.type), unknowns)
    result = _converted(v, t, unknowns)
    if v.form is None:
        return result
    if t.size < min(v.type.size, 4):
        whole = v.known and bool(np.all(np.equal(v.const, result.const)))
        return formed(result, affine.cut_to(v.form, 8 * t.size, signed=t.kind == "int", whole=whole))
    return formed(result, v.form)


def _is_data(v: Int, unknowns: Unknowns) -> bool:
    """Whether a number is neither a size nor a count nor what is left of one: it may have its top bit set."""
    if not isinstance(v.const, int) or v.const or len(v.terms) != 1:
        return False
    ((symbols, by),) = v.terms.items()
    if symbols[0].rank or symbols[0].order in unknowns.rests_of_sizes:
        return False
    return isinstance(by, int) and by == 1 and len(symbols) == 1


def _converted(v: Int, t: Scalar, unknowns: Unknowns) -> Int:
    if v.terms:
        v = operand(v, t, unknowns) if t.size > v.type.size or t.kind != v.type.kind else v
        low, high = bounds(v)
        signed = t.kind == "int" and t.size == v.type.size and v.type.kind == "uint"
        if signed and (_is_data(v, unknowns) if high is None else high > range_of(t)[1]):
            return unknowns.derived("signed", v, Int(t.size), t, *range_of(t))
        unsigned = t.kind == "uint" and v.type.kind == "int" and t.size == v.type.size
        if (t.size < v.type.size or unsigned) and t.size < 4:
            limit = (1 << (8 * t.size)) if t.kind == "uint" else 1 << (8 * t.size - 1)
            if low is None or high is None or high >= limit or low < (0 if t.kind == "uint" else -limit):
                if t.kind == "uint":
                    mask = Int(limit - 1, v.type if v.type.size > t.size else INT)
                    return bit_and(v, mask, unknowns).typed(t)
                return unknowns.derived("cast", v, Int(t.size), t, -limit, limit - 1)
        return reduced(v.typed(t)) if t.size < v.type.size else v.typed(t)
    return Int(wrap_lanes(v.const, t), t)


__all__ = [
    "Unknowns",
    "binary",
    "common_type",
    "compare",
    "convert",
    "divide",
    "in_register",
    "logical_and",
    "logical_not",
    "logical_or",
    "one_unknown",
    "promoted",
    "select",
    "truth_of",
    "wrapped",
]
