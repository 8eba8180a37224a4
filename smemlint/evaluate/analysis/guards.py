"""The branches of a loop that are decided when it runs: they weigh in unrolling, early and late."""

from __future__ import annotations

from collections.abc import Mapping, Set

from smemlint.ir import (
    Assign,
    Binary,
    Call,
    Declare,
    Evaluate,
    Expr,
    Function,
    If,
    Loop,
    Module,
    Special,
    Stmt,
    Unary,
)
from smemlint.ir.expr import is_element
from smemlint.ir.memo import by_identity
from smemlint.ir.show import show
from smemlint.ir.types import is_reference
from smemlint.ir.uses import holds, statements, target_of, variables
from smemlint.ir.walk import names_in, nodes_of, outside_loops, walk

_CHOSEN = 5
"""Up to this many operations an arm is computed for all lanes."""


def guards(s: Loop, constants: Set[str], f: Function | None = None) -> int:
    """How many such branches stand in the body of a loop, not in loops within."""
    chosen: Mapping[int, int] = {} if f is None else choices(f)
    return sum(
        isinstance(n, If)
        and not n.constexpr
        and id(n) not in chosen
        and not _constant(n.condition, constants)
        for n in outside_loops(s.body)
    )


@by_identity
def choices(f: Function) -> Mapping[int, int]:
    """By id(): the `if`s that only choose what variables hold, among what is at hand, and how often their
    arms read what the condition has read. The optimiser makes no branch of them before it copies a loop:
    `if (v < s[i]) { v = s[i]; at = i; }`."""
    own = {
        name
        for name, v in variables(f).items()
        if v.storage in ("local", "param") and not is_reference(v.type)
    }
    found = ((n, _at_hand(n, own)) for n in nodes_of(f.body) if isinstance(n, If))
    return {id(n): loads for n, loads in found if loads is not None}


def _at_hand(s: If, own: Set[str]) -> int | None:
    """How often the arms of such an `if` read what the condition has read; None of others. own: variables
    that no other thread sees."""
    inner = (*statements(s.then), *statements(s.otherwise))
    given = [target_of(x.expr) if isinstance(x, Evaluate) else None for x in inner]
    ids = {getattr(place, "id", "") for place in given}
    if not ids or not ids <= own or holds((s.condition, inner), Call) or _goes_on(s.condition):
        return None
    operators = [n.op for n in walk(inner) if isinstance(n, Binary | Assign | Unary)]
    asked = _elements(s.condition)
    moved = any(ids & names_in(n) for n in asked.values())
    if moved or len(operators) - operators.count("=") > _CHOSEN:
        return None
    read = [show(n) for n in walk(inner) if is_element(n)]
    return len(read) if asked.keys() >= {*read} else None


def _goes_on(condition: Expr) -> bool:
    """Whether a condition sets something, or reads memory only where its first part lets it."""
    return any(
        _elements(n.right).keys() - _elements(n.left).keys()
        if isinstance(n, Binary) and n.op in ("&&", "||")
        else target_of(n) is not None
        for n in walk(condition)
    )


def _elements(e: Expr | tuple[Stmt, ...]) -> dict[str, Expr]:
    """What some code reads of memory, by its text."""
    return {show(n): n for n in walk(e) if is_element(n)}


def constants_of(module: Module, f: Function | None) -> frozenset[str]:
    """Ids of what has its value before a function runs, and of the counters of its loops: where a loop is
    unrolled its counter is a constant. f: None for a lambda's own frame."""
    found = {id for id, v in module.globals.items() if v.storage == "constant" and v.const}
    if f is None:
        return frozenset(found)
    record = module.records.get(f.record) if f.record is not None else None
    found |= {p.id for p in (*f.template, *(() if record is None else record.template))}
    for n in nodes_of(f.body):
        if isinstance(n, Loop) and isinstance(n.init, Declare):
            found.add(n.init.var.id)
        if isinstance(n, Declare) and n.var.init is not None:
            fixed = n.var.storage == "constant" or n.var.const
            found |= {n.var.id} if fixed and _constant(n.var.init, found) else set()
    return frozenset(found)


def _constant(e: Expr, constants: Set[str]) -> bool:
    return not holds(e, Special) and names_in(e) <= constants
