"""Whether a kernel computes indices by dividing integers, again in every visit of a loop.

A division by what only the launch knows takes about 20 instructions. Measured: two scans whose loops have two
of them ran at 0.98 and 0.99 times the speed behind a swizzle, with three quarters of the wavefronts gone;
ten scans and reductions without any at 1.09 times or more (docs/dev/evaluation-fixes.md).
"""

from __future__ import annotations

from collections.abc import Mapping

from smemlint.ir import Assign, Binary, Function, Index, Literal, Loop, Name, Special, Unary, Var
from smemlint.ir.expr import STEPS
from smemlint.ir.walk import nodes_of, walk

_DIVISIONS = ("/", "%", "/=", "%=")


def divides(kernel: Function) -> bool:
    """Whether an index in a loop, or a variable that is set there and an index reads, is a quotient or a
    remainder of integers whose divisor is no constant."""
    for loop in (n for n in nodes_of(kernel.body) if isinstance(n, Loop)):
        inside = tuple(walk(loop.body))
        if not any(isinstance(n, Binary | Assign) and n.op in _DIVISIONS for n in inside):
            continue
        fixed = _constants(kernel)
        values: dict[str, list[object]] = {}
        for n in inside:
            if isinstance(n, Var) and n.init is not None:
                values.setdefault(n.id, []).append(n.init)
            elif isinstance(n, Assign) and isinstance(n.target, Name):
                values.setdefault(n.target.id, []).append(n)
        if any(_divided(n.index, values, fixed, set()) for n in inside if isinstance(n, Index)):
            return True
    return False


def _divided(node: object, values: Mapping[str, list[object]], fixed: frozenset[str], seen: set[str]) -> bool:
    for n in walk(node):
        if isinstance(n, Binary) and n.op in _DIVISIONS and not _constant(n.right, fixed):
            return True
        if isinstance(n, Assign) and n.op in _DIVISIONS and not _constant(n.value, fixed):
            return True
        if isinstance(n, Name) and n.id in values and n.id not in seen:
            seen.add(n.id)
            if any(_divided(value, values, fixed, seen) for value in values[n.id]):
                return True
    return False


def _constant(node: object, fixed: frozenset[str]) -> bool:
    return all(
        isinstance(n, Literal) or (isinstance(n, Name) and n.id in fixed) or not isinstance(n, Name | Special)
        for n in walk(node)
    )


def _constants(kernel: Function) -> frozenset[str]:
    """Names of the kernel that stand for one number: all but its parameters and what is no constant."""
    nodes = nodes_of(kernel.body)
    changed = {n.target.id for n in nodes if isinstance(n, Assign) and isinstance(n.target, Name)}
    changed |= {
        n.operand.id
        for n in nodes
        if isinstance(n, Unary) and n.op in (*STEPS, "&") and isinstance(n.operand, Name)
    }
    own = [n for n in nodes if isinstance(n, Var)]
    fixed = {n.id for n in nodes if isinstance(n, Name)} - changed
    fixed -= {p.id for p in kernel.parameters} | {v.id for v in own if v.init is None}
    for v in own:  # in the order of the text
        if v.init is not None and not _constant(v.init, frozenset(fixed)):
            fixed.discard(v.id)
    return frozenset(fixed)
