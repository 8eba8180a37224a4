"""Fold expressions: a pattern for each element of a pack, put together by an operator."""

from __future__ import annotations

from smemlint.evaluate.language.conversions import truth
from smemlint.evaluate.language.packs import elements_of
from smemlint.evaluate.machine.dispatch import rvalue
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.run.operators import operate
from smemlint.evaluate.values import arithmetic as ar
from smemlint.evaluate.values.number import Int, Other, Value
from smemlint.ir import Fold, UnknownExpr
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
        result = operate(m, e.op, a, b, e.place) if e.op not in ("&&", "||") else _logical(m, e.op, a, b)
    return result


_OF_NONE: dict[str, Value] = {"&&": Int(1, BOOL), "||": Int(0, BOOL)}


def _logical(m: Machine, op: str, a: Value, b: Value) -> Value:
    left, right = (ar.truth_of(truth(m, v), m.unknowns) for v in (a, b))
    result = ar.logical_and(left, right) if op == "&&" else ar.logical_or(left, right)
    return ar.one_unknown(result, m.unknowns)  # terms of a long fold would multiply
