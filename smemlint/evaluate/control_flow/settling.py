"""Choices of host code that are settled before a run, and what makes one worth settling."""

from __future__ import annotations

from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.machine.paths import Choice
from smemlint.evaluate.values.choices import taken
from smemlint.evaluate.values.number import Int
from smemlint.evaluate.values.objects import Snapshot
from smemlint.evaluate.values.provenance import agree, following, only_symbol, value_at
from smemlint.evaluate.values.value import Closure, FunctionValue, Object, Value, same
from smemlint.ir.types import BOOL


def choice_at(m: Machine, node: object) -> Choice | None:
    """The choice that a branch or loop is, where it decides what a launch depends on; else None."""
    if m.task.paths is None or m.silent or id(node) not in m.frame.slice.deciding:
        return None
    return m.task.paths.at(node)


def settled_at(m: Machine, choice: Choice | None, c: Int | None = None) -> int | None:
    """The way that a choice is made to go, or has to go by what was settled before where it asks a condition
    c; None: it is open, or no choice."""
    if choice is None or m.task.paths is None:
        return None
    way = m.task.paths.settled.get(choice)
    return way if way is not None or c is None else _settled_before(m, c)


def number_settled(m: Machine, v: Int) -> int | None:
    """The number that a value is by what was settled before; None where that leaves it open."""
    return value_at(v, m.unknowns.given, m.unknowns.recipes or {})


def _settled_before(m: Machine, c: Int) -> int | None:
    """The way of a condition that follows from others: `n > 64` holds where `n > 128` does, and a function
    that is called twice with one number takes the same way again."""
    if c.known:
        return None
    known = number_settled(m, c)
    if known is not None:
        return int(known != 0)
    conditions, given, recipes = conditions_here(m), m.unknowns.given, m.unknowns.recipes or {}
    if not conditions or not agree(conditions, given, recipes):
        return None
    ways = [way for way in (0, 1) if agree([*conditions, (c, way)], given, recipes)]
    return ways[0] if len(ways) == 1 else None


def leave_open(m: Machine, choice: Choice | None, ways: int = 2) -> None:
    """Note a choice between so many ways that nothing settles."""
    if choice is not None and m.task.paths is not None:
        m.task.paths.leave_open(choice, ways)


def settle(m: Machine, c: Int, way: int) -> None:
    """From here on a condition is true (1) or false (0)."""
    m.context.way = {**m.context.way, **taken(c, truth=bool(way))}
    m.unknowns.given = following(c, Int(way), m.unknowns)
    if m.task.paths is not None:
        m.task.paths.held.append((c, way))


def conditions_here(m: Machine) -> list[tuple[Int, int]]:
    """The conditions on the way to here, and what they are: behind `if (n > 64) return;` one that is 0."""
    way = [(Int(0, BOOL, {(s,): 1}), n) for s, n in m.context.way.items()]
    return [*way, *(m.task.paths.held if m.task.paths is not None else ())]


def is_possible(m: Machine) -> bool:
    """Whether the choices that were settled so far can hold together with the conditions around: `n > 16`
    and `case 8` cannot."""
    if m.task.paths is None or not m.task.paths.held:
        return True
    return agree(conditions_here(m), m.unknowns.given, m.unknowns.recipes or {})


def apart(other: Snapshot) -> list[tuple[Object, int]]:
    """Where a state holds a number or function, and the present one another."""
    found: list[tuple[Object, int]] = []
    for o, cells in other.cells.items():
        if cells is o.cells:
            continue
        for at in cells.keys() | o.cells.keys():
            a, b = cells.get(at), o.cells.get(at)
            if a is not b and (_tells(a) or _tells(b)) and (a is None or b is None or not same(a, b)):
                found.append((o, at))
    return found


def is_limit(m: Machine, v: Value | None) -> bool:
    """Whether a choice between two numbers is the smaller or larger of both."""
    symbol = only_symbol(v) if isinstance(v, Int) else None
    recipe = (m.unknowns.recipes or {}).get(symbol.order) if symbol is not None else None
    return recipe is not None and recipe[0] in ("min", "max")


def differ(m: Machine, a: Value, b: Value, merged: Value) -> bool:
    """Whether it matters which of two values is chosen. merged: what stands for both."""
    return (_tells(a) or _tells(b)) and not same(a, b) and not is_limit(m, merged)


def ways_out(m: Machine) -> int:
    """How many ways out of the function and the loops around were taken under conditions."""
    end = m.frame.end
    left = sum(len(exits.end.ways) for exits in m.context.loops)
    return left + (sum(way.value is not None for way in end.ways) if end is not None else 0)


def _tells(v: Value | None) -> bool:
    return isinstance(v, FunctionValue | Closure) or (isinstance(v, Int) and v.known)
