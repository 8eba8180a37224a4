"""The branches of a loop that are decided when it runs: they weigh in unrolling, early and late."""

from __future__ import annotations

from collections.abc import Set

from smemlint.ir import Declare, Expr, Function, If, Loop, Module, Special
from smemlint.ir.uses import holds
from smemlint.ir.walk import names_in, nodes_of, outside_loops


def guards(s: Loop, constants: Set[str]) -> int:
    """How many such branches stand in the body of a loop, not in loops within."""
    return sum(
        isinstance(n, If) and not n.constexpr and not _constant(n.condition, constants)
        for n in outside_loops(s.body)
    )


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
