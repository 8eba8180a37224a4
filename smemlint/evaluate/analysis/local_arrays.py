"""Which loops index an array of the function by what changes from round to round: nvcc copies them further.

As long as such an index is no constant the array lies in memory; a loop that disappears can make it one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set

from smemlint.ir import (
    ArrayOf,
    Assign,
    Block,
    Break,
    Call,
    Declare,
    Evaluate,
    Function,
    Index,
    Loop,
    Name,
    Return,
    Stmt,
)
from smemlint.ir.uses import declared, variables_set
from smemlint.ir.walk import handed, names_in, nodes_of, outside_loops, walk

Meant = Callable[[Call], list[Function]]


def turns_local(s: Loop, f: Function, meant: Meant) -> tuple[bool, bool]:
    """Whether a loop of f indexes an array of f by its own counter or by what its body computes, outside of
    loops within; whether it stores to one where a loop within is left early: such stores of all rounds are
    made one, at an index that stays unknown.

    meant: the functions that a call may mean.
    """
    arrays = {v.id for v in declared(f) if v.storage == "local" and isinstance(v.type, ArrayOf)}
    arrays -= {v.id for v in declared(f) if isinstance(v.type, ArrayOf) and v.const}
    if not arrays:
        return False, False
    changing = variables_set(walk(s.step)) | _counter(s)
    found = list(_reasons(nodes_of(s.body), arrays, changing, meant, 0))
    return "index" in found, "leaves" in found


def _counter(s: Loop) -> frozenset[str]:
    return frozenset((s.init.var.id,)) if isinstance(s.init, Declare) else frozenset()


def _reasons(
    nodes: tuple[object, ...], arrays: Set[str], changing: Set[str], meant: Meant, depth: int
) -> Iterator[str]:
    within = [n for n in nodes if isinstance(n, Loop)]
    counters = frozenset[str]().union(*map(_counter, within))
    own = {n.var.id for n in nodes if isinstance(n, Declare)} | variables_set(nodes)
    changing = (changing | own) - counters
    if any(_stores_and_leaves(s, arrays) for s in within):
        yield "leaves"
    outside = set(map(id, outside_loops(nodes[0]))) if nodes else set()
    for n in nodes:
        if isinstance(n, Index) and _base(n) in arrays and id(n) in outside:
            yield from () if names_in(n.index).isdisjoint(changing) else ("index",)
        elif isinstance(n, Call) and depth < _DEPTH and any(_name_of(a) in arrays for a in n.arguments):
            for f in meant(n):
                given = list(handed(f.parameters, n.arguments))
                inside = {p.id for p, a in given if _name_of(a) in arrays}
                moving = {p.id for p, a in given if not names_in(a).isdisjoint(changing)} - inside
                yield from _reasons(nodes_of(f.body), inside, moving, meant, depth + 1)


_DEPTH = 3


def _stores_and_leaves(s: Loop, arrays: Set[str]) -> bool:
    counter = _counter(s)
    return any(
        _stores_by(before, arrays, counter) and isinstance(after, Break | Return)
        for block in walk(s.body)
        if isinstance(block, Block)
        for before, after in zip(block.body, block.body[1:], strict=False)
    )


def _stores_by(s: Stmt, arrays: Set[str], counter: Set[str]) -> bool:
    target = s.expr.target if isinstance(s, Evaluate) and isinstance(s.expr, Assign) else None
    return (
        isinstance(target, Index)
        and _base(target) in arrays
        and not names_in(target.index).isdisjoint(counter)
    )


def _base(e: Index) -> str:
    base: object = e.base
    while isinstance(base, Index):
        base = base.base
    return _name_of(base)


def _name_of(e: object) -> str:
    return e.id if isinstance(e, Name) else ""
