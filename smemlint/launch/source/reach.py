"""Which kernels can touch shared memory at all: the others need no evaluation.

Too many rather than too few: functions are told apart by their names alone, and a record whose methods touch
shared memory counts as used by every kernel. A kernel is started and never called: who names one touches
nothing by that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from smemlint.ir import (
    SHARED,
    UNSHARED,
    Asm,
    Declare,
    Function,
    Member,
    Module,
    Name,
    StaticMember,
    UnknownStmt,
)
from smemlint.ir.uses import given_memory
from smemlint.ir.walk import nodes_of


def kernels_with_shared_memory(module: Module) -> frozenset[str]:
    """Ids of the kernels that may reach a shared variable, shared memory through inline PTX, or what a launch
    gives them."""
    shared = {id for id, var in module.globals.items() if var.storage in SHARED}
    named = {f.id: frozenset(_named(f)) for f in module.functions.values()}
    touching = {f.id for f in module.functions.values() if _touches(f, shared)}
    given = given_memory(module)
    touching |= {f.id for f in module.functions.values() if f.side == "kernel" and f.name in given}
    kernels = [f for f in module.functions.values() if f.side == "kernel"]
    if any(module.functions[id].record for id in touching):
        return frozenset(k.id for k in kernels)
    names = _called(module, touching)
    while True:
        more = {f.id for f in module.functions.values() if f.id not in touching and named[f.id] & names}
        if not more:
            return frozenset(k.id for k in kernels if k.id in touching)
        if any(module.functions[id].record for id in more):
            return frozenset(k.id for k in kernels)
        touching |= more
        names |= _called(module, more)


def _called(module: Module, ids: Iterable[str]) -> set[str]:
    """The names by which other functions may call these."""
    return {f.name for f in map(module.functions.__getitem__, ids) if f.side != "kernel"}


def _touches(function: Function, shared: set[str]) -> bool:
    return any(
        (isinstance(n, Declare) and n.var.storage in SHARED)
        or (isinstance(n, Name) and n.id in shared)
        or (isinstance(n, Asm) and "shared" in n.text)
        or (isinstance(n, UnknownStmt) and n.code == UNSHARED)
        for n in nodes_of(function.body)
    )


def _named(function: Function) -> Iterator[str]:
    """Every name that the body may call something by, without its qualification."""
    for n in nodes_of(function.body):
        if isinstance(n, Name | Member | StaticMember):
            yield n.name.rsplit("::", 1)[-1]
