"""Which shared arrays that stand outside functions belong to one kernel: nvcc places those first."""

from __future__ import annotations

from smemlint.ir import Call, Member, Module, Name
from smemlint.ir.memo import by_identity
from smemlint.ir.walk import nodes_of

_SEVERAL = 2


@by_identity
def owned(module: Module) -> frozenset[str]:
    """Ids of the file-scope shared arrays that exactly one kernel uses, itself or by the functions it calls.

    Read with nvcc 13.0 (sizes of cubins) and on an H100 (addresses): such an array lies where its declaration
    stands, before the kernel's own; one that several kernels use lies behind them. A kernel template counts
    as several, for its instances.
    """
    arrays = {id for id, var in module.globals.items() if var.storage == "shared"}
    if not arrays:
        return frozenset()
    uses: dict[str, set[str]] = {}
    callers: dict[str, set[str]] = {}
    for f in module.functions.values():
        for node in nodes_of(f.body):
            if isinstance(node, Name) and node.id in arrays:
                uses.setdefault(node.id, set()).add(f.id)
            elif isinstance(node, Call):
                callee = node.callee
                named = module.meant(callee) if isinstance(callee, Name) else ()
                methods = module.methods.get(callee.name, ()) if isinstance(callee, Member) else ()
                for callee_id in (*named, *methods):
                    callers.setdefault(callee_id, set()).add(f.id)
    return frozenset(id for id, users in uses.items() if _kernels(module, users, callers) == 1)


def _kernels(module: Module, users: set[str], callers: dict[str, set[str]]) -> int:
    """How many kernels reach one of the functions."""
    seen, left = set(users), list(users)
    while left:
        new = callers.get(left.pop(), set()) - seen
        seen |= new
        left += new
    kernels = [f for id in seen if (f := module.functions.get(id)) is not None and f.side == "kernel"]
    return sum(_SEVERAL if f.template else 1 for f in kernels)
