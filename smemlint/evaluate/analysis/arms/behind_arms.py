"""What comes right behind an `if`: it decides on which line accesses of both arms become one
(`compiler/selects`, `compiler/stored_by_both`).

Measured with nvcc 13.0 for sm_90: docs/dev/joining.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from typing import TypeAlias

from smemlint.evaluate.analysis.arms.asked_once import reads_memory
from smemlint.evaluate.analysis.parts_read.halves import is_own
from smemlint.ir import (
    Binary,
    Block,
    Conditional,
    Declare,
    FloatLiteral,
    Function,
    If,
    Literal,
    Loop,
    Name,
    Stmt,
)
from smemlint.ir.expr import is_element
from smemlint.ir.memo import by_identity
from smemlint.ir.show import show
from smemlint.ir.uses import assignment, last_statement
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


class Gap(Enum):
    """What stands between two conditions that ask the same."""

    NOTHING = auto()
    """The optimiser makes one of both."""
    SINKS = auto()
    """What it may move out of the way, or another arm of either."""
    STORE = auto()
    """A store: what all lanes share it may know behind it."""


Asking: TypeAlias = "If | Conditional"


@by_identity
def beside(f: Function) -> Mapping[int, tuple[int, Gap]]:
    """By id() of each condition right behind one that asks the same (`if`, or `x = c ? a : b;`): the id() of
    the first of them, and what stands between."""
    found: dict[int, tuple[int, Gap]] = {}
    for block in nodes_of(f.body):
        if isinstance(block, Binary) and block.op in ("+", "-", "*"):
            a, b = block.left, block.right
            if isinstance(a, Conditional) and isinstance(b, Conditional) and _ask_the_same(a, b):
                found[id(b)] = id(a), Gap.STORE if reads_memory(a.condition) else Gap.NOTHING
        last: Asking | None = None
        gap = Gap.NOTHING
        for s in block.body if isinstance(block, Block) else ():
            at = _asking(s)
            if at is None:
                between = _gap(f, s, gap)
                last, gap = (None if between is None else last), between or gap
                continue
            if last is not None and _ask_the_same(last, at):
                either = any(isinstance(x, If) and x.otherwise is not None for x in (last, at))
                if gap is Gap.NOTHING and (either or reads_memory(at.condition)):
                    gap = Gap.SINKS if either else Gap.STORE
                found[id(at)] = found.get(id(last), (id(last), gap))[0], gap
            last, gap = at, Gap.NOTHING
    return found


def _ask_the_same(a: Asking, b: Asking) -> bool:
    return show(a.condition) == show(b.condition)


def _asking(s: Stmt) -> Asking | None:
    """The condition that a statement is."""
    given = assignment(s)
    if given is None:
        return s if isinstance(s, If) else None
    sets = given.op == "=" and isinstance(given.target, Name)
    return given.value if sets and isinstance(given.value, Conditional) else None


def _gap(f: Function, s: Stmt, before: Gap) -> Gap | None:
    """What a statement leaves between; None where it surely keeps the conditions apart."""
    given = assignment(s)
    if given is None:
        return before if isinstance(s, Declare) and s.var.storage == "local" else None
    if not isinstance(given.target, Name) and not is_own(f, given.target):
        return Gap.STORE if is_element(given.target) and before is Gap.NOTHING else None
    at_hand = given.op == "=" and isinstance(given.value, Name | Literal | FloatLiteral)
    if isinstance(s, Declare) and at_hand:
        return before
    return Gap.SINKS if before is not Gap.STORE and (at_hand or isinstance(s, Declare)) else None
