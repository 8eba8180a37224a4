"""Values that are computed in front of a condition, and by the optimiser in the arm that stores them.

    float z = expf(v[i]);
    if (t < 9) s[4 * t + i] = z; else s[4 * t + i] = 0;     // a branch, since `z` moves into its arm

It moves what is named once, made of one number that is at hand, and not computed for nothing (`branch_left`):
a load, a function, a conversion. Read from machine code, nvcc 13.0 for sm_90 (docs/dev/joining.md).
"""

from __future__ import annotations

from collections import Counter

from smemlint.evaluate.analysis.arms.branch_left import Left, branch_left
from smemlint.evaluate.analysis.parts_read.computed_halves import types_of
from smemlint.evaluate.analysis.parts_read.halves import loads
from smemlint.evaluate.analysis.purity import computes
from smemlint.ir import (
    STEPS,
    Assign,
    Block,
    Call,
    Declare,
    Expr,
    Function,
    If,
    Loop,
    Name,
    Special,
)
from smemlint.ir.expr import is_element, uncast
from smemlint.ir.memo import by_identity
from smemlint.ir.uses import holds
from smemlint.ir.walk import children, nodes_of, walk


@by_identity
def sinks(f: Function) -> frozenset[int]:
    """Return the id() of each condition with a store in an arm that takes such a value along."""
    nodes = nodes_of(f.body)
    named = Counter(n.id for n in nodes if isinstance(n, Name))
    counters = {n.init.var.id for n in nodes if isinstance(n, Loop) and isinstance(n.init, Declare)}
    found: set[int] = set()
    for block in nodes:
        waiting: dict[str, bool] = {}
        for s in block.body if isinstance(block, Block) else ():
            if isinstance(s, If) and waiting:
                arms = walk((s.then, s.otherwise))
                stored = (n.value for n in arms if isinstance(n, Assign) and _stores(n))
                if any(isinstance(n, Name) and n.id in waiting for v in stored for n in walk(v)):
                    found.add(id(s.condition))
            if isinstance(s, Declare) and s.var.init is not None and named[s.var.id] == 1:
                if _sinks(f, s.var.init, counters):
                    waiting[s.var.id] = is_element(uncast(s.var.init)) and loads(f, s.var.init)
            elif any(map(_stores, walk(s))) or holds(s, Call):
                waiting = {id: loaded for id, loaded in waiting.items() if not loaded}
    return frozenset(found)


def _stores(n: object) -> bool:
    return isinstance(n, Assign) and is_element(n.target)


def _sinks(f: Function, e: Expr, counters: set[str]) -> bool:
    """Whether a value is made of one number that is at hand, and not computed for nothing."""
    if holds(e, Assign, STEPS) or not all(computes(n) for n in walk(e) if isinstance(n, Call)):
        return False
    heavy = loads(f, e) or branch_left(e, None, together=False, types=types_of(f)) is Left.BRANCH
    return heavy and _numbers(e, counters) == 1


def _numbers(e: object, counters: set[str]) -> int:
    if isinstance(e, Name):
        return e.id not in counters
    if is_element(e) or isinstance(e, Special):
        return 1
    parts = e.arguments if isinstance(e, Call) else children(e)
    return sum(_numbers(part, counters) for part in parts)
