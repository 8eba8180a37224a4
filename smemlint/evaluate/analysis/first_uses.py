"""Where what a load gives is first calculated with: in the load's own statement, or in which later one.

nvcc puts a load down to that place, past stores to other elements, where an element is stored in place
(`in_place.py`). In: a function, the expressions that load and store. Out: whether the first
operation surely stands before the store.
"""

from __future__ import annotations

from collections.abc import Iterator

from smemlint.evaluate.analysis.parts_read.computed_halves import types_of
from smemlint.evaluate.analysis.purity import innermost, root_of
from smemlint.ir import (
    Assign,
    Binary,
    Declare,
    Evaluate,
    Expr,
    Function,
    If,
    Index,
    Labeled,
    Literal,
    Loop,
    Member,
    Name,
    PointerTo,
    Scalar,
    Stmt,
    Switch,
    Type,
    Unary,
    Var,
)
from smemlint.ir.expr import uncast
from smemlint.ir.memo import by_identity
from smemlint.ir.nodes import Block, UnknownStmt
from smemlint.ir.types import element_type
from smemlint.ir.uses import assignment, only_statement
from smemlint.ir.walk import nodes_of, walk
from smemlint.records import record

ALL = "*"
"""Stands for the elements of an array that a loop goes through, or for a whole variable."""


@record(frozen=True, eq=False, slots=True)
class Leaf:
    """A statement that holds no other. around: the loops and branches that hold it, outermost first."""

    at: int
    node: Stmt | Expr
    around: tuple[Stmt, ...]


class Leaves:
    """The leaves of a function in the order of the source, and those of each expression by id()."""

    def __init__(self, f: Function) -> None:
        self.all: list[Leaf] = []
        self.of: dict[int, Leaf] = {}
        self._visit(f.body, ())

    def _visit(self, s: Stmt | Expr | None, around: tuple[Stmt, ...]) -> None:
        if s is None:
            return
        if isinstance(s, Block):
            parts: tuple[Stmt | Expr | None, ...] = s.body
        elif isinstance(s, UnknownStmt):
            parts = s.parts
        elif isinstance(s, If):
            self._leaf(s.condition, around)
            parts, around = (s.then, s.otherwise), (*around, s)
        elif isinstance(s, Loop):
            self._visit(s.init, around)
            parts, around = (s.condition, s.body, s.step), (*around, s)
        elif isinstance(s, Switch):
            self._leaf(s.value, around)
            parts, around = tuple(p for case in s.cases for p in case.body), (*around, s)
        elif isinstance(s, Labeled):
            parts, around = (s.body,), (*around, s)
        else:
            self._leaf(s, around)
            return
        for part in parts:
            self._visit(part, around)

    def _leaf(self, s: Stmt | Expr, around: tuple[Stmt, ...]) -> None:
        leaf = Leaf(len(self.all), s, around)
        self.all.append(leaf)
        for n in walk(s):
            self.of.setdefault(id(n), leaf)


leaves_of = by_identity(Leaves)


def is_used_before(f: Function, load: Expr, store: Expr, parts: int) -> bool:
    """Return whether what `load` gives is surely calculated with before the statement that stores.

    load, store: the places that are read and written. parts: into how many elements of a variable such loads
    go. An access of global memory between counts, too: nothing is put down past one.
    """
    leaves = leaves_of(f)
    here, there = leaves.of.get(id(load)), leaves.of.get(id(store))
    if here is None or there is None or here.at > there.at:
        return False
    target = copied_to(here.node, load)
    if target is None:
        return True
    variable = root_of(target)
    if variable not in own_variables(f):
        return variable is not None and here is there
    between = [
        leaf for leaf in leaves.all[here.at + 1 : there.at + 1] if _surely_runs_before(leaf, here, there)
    ]
    if f.side == "kernel" and any(_is_global(leaf.node, f) for leaf in between):
        return True
    if any(is_given(leaf.node, variable, own_variables(f)) for leaf in between):
        return False
    stored = _stored(there.node)
    if isinstance(stored, Name | Index | Member):
        if root_of(stored) == variable and not _is_changed(between, variable, there):
            return False  # what is as it was is not stored at all
    else:
        types = types_of(f)
        between = [leaf for leaf in between if leaf is there or _stays_in_front(leaf.node, variable, types)]
    return _covers(between, variable, key_of(target), parts)


def _covers(leaves: list[Leaf], variable: str, key: str, parts: int) -> bool:
    """Whether statements calculate with what was put under a key into a variable."""
    keys = {part for leaf in leaves for _, part in reads(leaf.node, variable)}
    if key in keys or ALL in keys:
        return True
    return key == ALL and len(keys) >= parts


def _stored(s: Stmt | Expr) -> Expr | None:
    """The value of an assignment."""
    e = s.expr if isinstance(s, Evaluate) else None
    return uncast(e.value) if isinstance(e, Assign) and e.op == "=" else None


def _stays_in_front(s: Stmt | Expr, variable: str, types: dict[str, Type]) -> bool:
    """Whether what a statement calculates is surely not done with what a store calculates further: integers
    are put in another order, and products of the variable become a part of the sum."""
    of = types.get(variable)
    t = None if of is None else element_type(of)
    own = any(isinstance(n, Assign) and is_part(n.target, variable) for n in walk(s))
    products = own and any(isinstance(n, Binary | Assign) and n.op in ("*", "*=") for n in walk(s))
    return isinstance(t, Scalar) and t.kind == "float" and not products


def _is_changed(leaves: list[Leaf], variable: str, store: Leaf) -> bool:
    """Whether all elements of a variable are set anew, or what the store puts back is no element."""
    if not store.around or not isinstance(store.around[-1], Loop):
        return True
    setting = [
        leaf
        for leaf in leaves
        if any(isinstance(n, Assign) and is_part(n.target, variable) for n in walk(leaf.node))
    ]
    first = _first_number(store)
    return any(leaf.around and _first_number(leaf) == first for leaf in setting)


def _first_number(leaf: Leaf) -> int | None:
    """The number with which the counter of the loop around begins."""
    loop = leaf.around[-1]
    init = only_statement(loop.init if isinstance(loop, Loop) else None)
    value = init.var.init if isinstance(init, Declare) else None
    return value.value if isinstance(value, Literal) else None


def _surely_runs_before(leaf: Leaf, here: Leaf, there: Leaf) -> bool:
    """Whether all of a statement runs between two others: in no branch and in no loop of the latter alone."""
    inner = [s for s in leaf.around if not any(s is outer for outer in here.around)]
    return all(isinstance(s, Loop) and not any(s is outer for outer in there.around) for s in inner)


def copied_to(s: Stmt | Expr, load: Expr) -> Expr | None:
    """Return the variable that a statement puts what it loads into, and does nothing else with it."""
    a = assignment(s)
    return a.target if a is not None and a.op == "=" and uncast(a.value) is load else None


def key_of(target: Expr) -> str:
    """Return the part of a variable that an expression is."""
    if isinstance(target, Member):
        return target.name
    if isinstance(target, Index) and isinstance(target.index, Literal):
        return str(target.index.value)
    return ALL


def is_given(s: Stmt | Expr, variable: str, own: frozenset[str]) -> bool:
    """Return whether a statement only hands (a part of) a variable on to another of its own."""
    a = assignment(s)
    if a is None or a.op != "=" or not is_part(uncast(a.value), variable):
        return False
    return isinstance(s, Declare) or root_of(a.target) in own


def is_part(e: Expr, variable: str) -> bool:
    """Return whether an expression is a variable or a part of it."""
    inner = innermost(e)
    return isinstance(inner, Name) and inner.id == variable and not isinstance(e, Unary)


def reads(s: Stmt | Expr, variable: str) -> Iterator[tuple[Expr, str]]:
    """Where a statement reads a variable, and which part of it."""
    set_only: set[int] = set()
    named: set[int] = set()
    for n in walk(s):
        if isinstance(n, Assign) and n.op == "=" and is_part(n.target, variable):
            set_only |= {id(part) for part in walk(n.target) if isinstance(part, Index | Member | Name)}
        if id(n) in set_only or id(n) in named:
            continue
        if isinstance(n, Index | Member) and isinstance(n.base, Name) and n.base.id == variable:
            named.add(id(n.base))
            yield n, key_of(n)
        elif isinstance(n, Name) and n.id == variable:
            yield n, ALL


@by_identity
def own_variables(f: Function) -> frozenset[str]:
    """Return the variables of a call that are no pointers and no references."""
    own = (n for n in nodes_of(f.body) if isinstance(n, Var) and n.storage == "local")
    return frozenset(v.id for v in own if not isinstance(v.type, PointerTo))


@by_identity
def _pointers(f: Function) -> frozenset[str]:
    return frozenset(p.id for p in f.parameters if isinstance(p.type, PointerTo) and not p.type.reference)


def _is_global(s: Stmt | Expr, f: Function) -> bool:
    """Whether a statement of a kernel accesses global memory."""
    accesses = (n for n in walk(s) if isinstance(n, Index) or (isinstance(n, Unary) and n.op == "*"))
    return any(root_of(n) in _pointers(f) for n in accesses)
