"""Global variables of the host that launches may depend on, and the functions that set them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from smemlint.ir import (
    ArrayOf,
    Assign,
    Expr,
    Function,
    FunctionType,
    Index,
    LaunchStmt,
    Member,
    Module,
    Name,
    RecordRef,
    Scalar,
    Type,
)
from smemlint.ir.walk import nodes_of, walk
from smemlint.records import record


@record(frozen=True, slots=True)
class Settings:
    """globals: ids of the variables. set_by: those that each host function sets, itself or through others."""

    globals: frozenset[str]
    set_by: Mapping[str, frozenset[str]]


def settings(module: Module, launching: Iterable[Function]) -> Settings:
    """What is named in functions that launch: numbers and objects, and arrays of these where a launch names
    them itself; other arrays hold data."""
    found: set[str] = set()
    for f in launching:
        for n in nodes_of(f.body):
            if isinstance(n, Name) and isinstance(_type(module, n.id), Scalar | RecordRef | FunctionType):
                found.add(n.id)
            elif isinstance(n, LaunchStmt):
                names = {
                    x.id
                    for e in (n.kernel, n.grid, n.block, n.dynamic)
                    for x in walk(e)
                    if isinstance(x, Name)
                }
                found.update(
                    id
                    for id in names
                    if isinstance(_element(_type(module, id)), Scalar | RecordRef | FunctionType)
                )
    if not found:
        return Settings(frozenset(), {})
    sets: dict[str, set[str]] = {}
    calls: dict[str, set[str]] = {}
    for id, f in module.functions.items():
        if f.side in ("host", "both"):
            nodes = nodes_of(f.body)
            sets[id] = {r for n in nodes if isinstance(n, Assign) and (r := _variable(n.target)) in found}
            calls[id] = {n.id for n in nodes if isinstance(n, Name) and n.id in module.functions}
    changed = True
    while changed:
        changed = False
        for id, called in calls.items():
            below = set[str]().union(*(sets.get(c, ()) for c in called))
            if not below <= sets[id]:
                sets[id] |= below
                changed = True
    return Settings(frozenset(found), {id: frozenset(names) for id, names in sets.items() if names})


def _type(module: Module, id: str) -> Type | None:
    """The type of a variable of the host; None of anything else."""
    var = module.globals.get(id)
    on_host = var is not None and not var.const and var.storage in ("global", "static")
    return var.type if var is not None and on_host else None


def _element(t: Type | None) -> Type | None:
    while isinstance(t, ArrayOf):
        t = t.element
    return t


def _variable(target: Expr) -> str:
    while isinstance(target, Index | Member):
        target = target.base
    return target.id if isinstance(target, Name) else ""
