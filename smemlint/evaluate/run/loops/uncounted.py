"""Loops whose end nvcc cannot turn into a number of iterations, so that it puts no two into one line.

`trip_count` tells it of how the variables of the condition go on; here it is what they are held against.
Rules and kernels: docs/dev/joining.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import replace

from smemlint.evaluate.analysis.trip_count import countable
from smemlint.evaluate.language.conversions import truth
from smemlint.evaluate.machine.dispatch import unseen
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.run.loops.compile_time import is_compile_time, trips_by_formula
from smemlint.evaluate.run.loops.trips import set_by
from smemlint.evaluate.values.number import Int
from smemlint.evaluate.values.widths import common_type
from smemlint.ir import STEPS, Asm, Assign, Binary, Call, Expr, Index, Loop, Name, Scalar
from smemlint.ir.memo import by_identity
from smemlint.ir.uses import holds, variables_set
from smemlint.ir.walk import names_in, walk

_ORDER = ("<", "<=", ">", ">=", "!=")


def uncounted(m: Machine, s: Loop) -> bool:
    """Whether the condition of a loop of unknown length keeps its iterations from being counted before it."""
    if s.condition is None:
        return False
    changed = set_by(s) | variables_set(walk(s.step))
    ends = [c for c in _conjuncts(s.condition) if names_in(c) & changed]
    if len(ends) > 1 and not all(_is_end(c, changed) for c in ends):
        return True
    if len(ends) > 1 and any(trips_by_formula(m, replace(s, condition=c)) is not None for c in ends):
        return True  # of two ends one that is a constant away
    return any(_never(m, c, changed) for c in ends)


def _conjuncts(c: Expr) -> Iterator[Expr]:
    """What must hold for the next iteration, each by itself."""
    if isinstance(c, Binary) and c.op == "&&":
        yield from _conjuncts(c.left)
        yield from _conjuncts(c.right)
    else:
        yield c


def _is_end(c: Expr, changed: Set[str]) -> bool:
    """A comparison with something that the loop leaves alone."""
    if not isinstance(c, Binary) or c.op not in _ORDER:
        return False
    return not all(names_in(side) & changed for side in (c.left, c.right)) and not _reads(c)


def _reads(e: Expr) -> bool:
    """Whether a condition does something, or may tell another thing in each iteration."""
    return holds(e, (Call, Index, Asm, Assign), (*STEPS, "*"))


def _never(m: Machine, c: Expr, changed: Set[str]) -> bool:
    """An end that says nothing of how often: of variables that both move, a float, numbers that wrap."""
    if isinstance(c, Binary) and c.op == "||":
        return all(names_in(side) & changed for side in (c.left, c.right))
    if not isinstance(c, Binary) or c.op not in _ORDER or _reads(c):
        return False
    moving = [side for side in (c.left, c.right) if names_in(side) & changed]
    if len(moving) == 2:
        return True
    other = c.right if moving[0] is c.left else c.left
    now, end = unseen(m, moving[0]), unseen(m, other)
    if not isinstance(now, Int):
        return False
    if not isinstance(end, Int):
        return isinstance(getattr(end, "type", None), Scalar)
    if now.type.kind == "uint" and now.type.size < end.type.size:
        return True
    wraps = "uint" in (now.type.kind, end.type.kind)
    return any(
        wraps or not is_compile_time(m, factor)
        for n in walk(moving[0])
        if isinstance(n, Binary) and n.op == "*"
        for side, factor in ((n.left, n.right), (n.right, n.left))
        if names_in(side) & changed
    )


def is_counted(m: Machine, s: Loop) -> bool:
    """Return whether nvcc counts the iterations of a loop of unknown length before it begins."""
    numbers = all(isinstance(unseen(m, target), Int) for target, _ in _counter_step(s))
    return numbers and countable(s) and not uncounted(m, s) and not may_wrap(m, s)


def may_wrap(m: Machine, s: Loop) -> bool:
    """Return whether a loop goes in steps of an unsigned sum that is no constant (`i += blockDim.x`): the
    optimiser makes no copies of it."""
    for target, step in _counter_step(s):
        if not is_compile_time(m, step):
            own, by = truth(m, unseen(m, target)), truth(m, unseen(m, step))
            if common_type(own.type, by.type).kind == "uint":
                return True
    return False


def steps_of(s: Loop) -> list[Expr]:
    """Return what the loop's counter is changed by, where that is written."""
    return [step for _, step in _counter_step(s)]


@by_identity
def _counter_step(s: Loop) -> tuple[tuple[Name, Expr], ...]:
    """The counter and what it is changed by."""
    ids = names_in(s.condition)
    sets = [n for n in walk((s.step, s.body)) if isinstance(n, Assign)]
    return tuple((n.target, n.value) for n in sets if isinstance(n.target, Name) and n.target.id in ids)
