"""Fold expressions: a pattern for each element of a pack, put together by an operator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from smemlint.evaluate.language.packs import elements_of
from smemlint.evaluate.machine.dispatch import rvalue
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.run.conditionals import short_circuit
from smemlint.evaluate.run.operators import operate
from smemlint.evaluate.values.number import Int
from smemlint.evaluate.values.value import Other, Value
from smemlint.ir import Expr, Fold, UnknownExpr
from smemlint.ir.types import BOOL


def fold_value(m: Machine, e: Fold) -> Value:
    """`(pattern op ...)`: the pattern for each element, put together in order."""
    pattern, init, left = e.pattern, e.init, e.left
    values = elements_of(m, pattern)
    if values is None and init is not None:
        pattern, init, left = init, pattern, False
        values = elements_of(m, pattern)
    if values is None:
        return rvalue(m, UnknownExpr("fold expression", (pattern,) if init is None else (pattern, init)))
    if e.op in ("&&", "||") and values:
        return _logical(m, e.op, pattern, values, init, left)
    operands = [rvalue(m, init)] if init is not None and left else []
    operands += [value() for value in values]
    if init is not None and not left:
        operands.append(rvalue(m, init))
    if not operands:
        return _OF_NONE.get(e.op, Other())
    if e.op == ",":
        return operands[-1]
    result = operands[0] if left else operands[-1]
    for v in operands[1:] if left else operands[-2::-1]:
        a, b = (result, v) if left else (v, result)
        result = operate(m, e.op, a, b, e.place)
    return result


_OF_NONE: dict[str, Value] = {"&&": Int(1, BOOL), "||": Int(0, BOOL)}


def _logical(
    m: Machine, op: str, pattern: Expr, values: Sequence[Callable[[], Value]], init: Expr | None, left: bool
) -> Value:
    """A fold of conditions: each is asked only in the lanes that those before it leave open."""
    asked = [(pattern, value) for value in values]
    if init is not None:
        asked.insert(0 if left else len(asked), (init, partial(rvalue, m, init)))
    result: Value = Int(int(op == "&&"), BOOL)
    for e, value in asked:
        line, m.lines.follows = m.lines.region, None
        result = short_circuit(m, op, result, e, value, line, (line, line))
    m.lines.follows = None
    return result
