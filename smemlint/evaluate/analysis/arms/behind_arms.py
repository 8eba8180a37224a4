"""What comes right behind an `if`: it decides on which line accesses of both arms become one
(`compiler/selects`, `compiler/stored_by_both`).

Measured with nvcc 13.0 for sm_90: docs/dev/joining.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto

from smemlint.ir import Block, Function, If, Loop
from smemlint.ir.memo import by_identity
from smemlint.ir.show import show
from smemlint.ir.uses import last_statement
from smemlint.ir.walk import children, nodes_of


class Behind(Enum):
    STEP = auto()
    """The step of a `for` loop: the first store is kept."""
    JOIN = auto()
    """The end of an arm of another `if`: three ways meet there, and each arm keeps its own."""
    CODE = auto()
    """More code, in no loop of this function: the second store is kept."""
    LOOPED = auto()
    """More code in a loop: the second store is kept."""


@by_identity
def behind_arms(f: Function) -> Mapping[int, Behind]:
    """By id() of each `if` of a function, what comes behind it."""
    found: dict[int, Behind] = {}

    def look(node: object, looped: bool) -> None:
        if isinstance(node, If):
            found.setdefault(id(node), Behind.LOOPED if looped else Behind.CODE)
            for arm in (node.then, node.otherwise):
                if isinstance(last := last_statement(arm), If):
                    found[id(last)] = Behind.JOIN
        if isinstance(node, Loop):
            looped = True
            if node.step is not None and isinstance(last := last_statement(node.body), If):
                found[id(last)] = Behind.STEP
        for child in children(node):
            look(child, looped)

    look(f.body, False)
    return found


@by_identity
def repeated(f: Function) -> frozenset[int]:
    """The id() of each `if` with another one on the same condition beside it: the optimiser may make one of
    them, in part."""
    found: set[int] = set()
    for block in nodes_of(f.body):
        asked: dict[str, list[If]] = {}
        for s in block.body if isinstance(block, Block) else ():
            if isinstance(s, If) and s.otherwise is not None:
                asked.setdefault(show(s.condition), []).append(s)
        found |= {id(s) for alike in asked.values() if len(alike) > 1 for s in alike}
    return frozenset(found)
