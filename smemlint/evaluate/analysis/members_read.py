"""Which members of a record are read after it was loaded as a whole: nvcc loads no others.

`float4 v = s[i];` of which only `v.x` is used is one load of 4 bytes. In: a function. Out: for each
expression whose value goes to a variable or by value to a parameter, the members that are used of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from smemlint.ir import (
    Assign,
    Block,
    Call,
    Cast,
    Construct,
    Declare,
    Evaluate,
    Expr,
    Function,
    Lambda,
    Member,
    Name,
    Stmt,
    Var,
)
from smemlint.ir.types import is_reference
from smemlint.ir.walk import children, nodes_of, walk
from smemlint.records import record

Functions = Callable[[Call], "list[Function]"]
"""The functions that a call by name may mean; none when others may be meant."""
NESTED = 4
"""Calls within calls that are looked into."""


@record(slots=True)
class _Uses:
    """What is done with one variable. whole: it goes where no member is named."""

    members: set[str]
    copies: set[str]
    passed: list[tuple[Call, int]]
    whole: bool = False


def members_set(f: Function) -> dict[int, frozenset[str]]:
    """By id() of an expression that a variable begins with, names of members that are set before any is used
    (`float2 a = s[i]; a.x = 0;`)."""
    found: dict[int, frozenset[str]] = {}
    for block in nodes_of(f.body):
        if not isinstance(block, Block):
            continue
        for at, s in enumerate(block.body):
            if isinstance(s, Declare) and s.var.init is not None and not is_reference(s.var.type):
                names = frozenset(_set_first(s.var.id, block.body[at + 1 :]))
                if names:
                    found[id(_core(s.var.init))] = names
    return found


def _set_first(id: str, body: tuple[Stmt, ...]) -> Iterator[str]:
    """Members of a variable that statements set one after the other, until one of them does anything else."""
    for s in body:
        e = s.expr if isinstance(s, Evaluate) else None
        named = [n for n in walk(s) if isinstance(n, Name) and n.id == id]
        if not isinstance(e, Assign) or e.op != "=" or len(named) != 1:
            return
        if not (isinstance(e.target, Member) and not e.target.arrow and e.target.base is named[0]):
            return
        yield e.target.name


def members_read(f: Function, functions: Functions) -> dict[int, frozenset[str]]:
    """By id() of an expression, names of the members that are used of its value; others are used whole."""
    uses = _uses_of(f)
    found: dict[int, frozenset[str]] = {}
    for target, source in _sources(f.body):
        used = _of_variable(target, uses, functions, 0, set())
        if used:
            found[id(source)] = used
    for n in nodes_of(f.body):
        if isinstance(n, Call):
            for i, a in enumerate(n.arguments):
                used = None if isinstance(_core(a), Name) else _of_argument(n, i, functions, 0)
                if used:
                    found[id(_core(a))] = used
    return found


def _sources(body: object) -> Iterator[tuple[str, Expr]]:
    """(variable, what it is given) for each variable, wherever it is given a whole value."""
    for n in walk(body):
        if isinstance(n, Declare) and n.var.init is not None and not is_reference(n.var.type):
            yield n.var.id, _core(n.var.init)
        elif isinstance(n, Assign) and n.op == "=" and isinstance(n.target, Name):
            yield n.target.id, _core(n.value)


def _core(e: Expr) -> Expr:
    """Without copies around it."""
    while True:
        if isinstance(e, Cast):
            e = e.operand
        elif isinstance(e, Construct) and len(e.arguments) == 1:
            e = e.arguments[0]
        else:
            return e


def _uses_of(f: Function) -> dict[str, _Uses]:
    """Of each name in a function."""
    uses: dict[str, _Uses] = {}

    def of(name: Name) -> _Uses:
        return uses.setdefault(name.id, _Uses(set(), set(), []))

    def look(node: object) -> None:
        if isinstance(node, Member) and not node.arrow and isinstance(node.base, Name):
            of(node.base).members.add(node.name)
        elif isinstance(node, Name):
            of(node).whole = True
        elif isinstance(node, Call):
            look(node.callee)
            for i, a in enumerate(node.arguments):
                if isinstance(_core(a), Name):
                    name = _core(a)
                    assert isinstance(name, Name)
                    of(name).passed.append((node, i))
                else:
                    look(a)
        elif (
            isinstance(node, Declare) and node.var.init is not None and isinstance(_core(node.var.init), Name)
        ):
            _copied(node.var, look, of)
        elif isinstance(node, Assign) and node.op == "=" and isinstance(node.target, Name):
            value = _core(node.value)
            if isinstance(value, Name):
                of(value).copies.add(node.target.id)
            else:
                look(node.value)
        elif isinstance(node, Assign) and isinstance(node.target, Member):
            for n in walk(node.target):  # a member is set: what is read is no longer what was loaded
                if isinstance(n, Name):
                    of(n).whole = True
            look(node.value)
        else:
            for child in children(node):
                look(child)
            if isinstance(node, Lambda):
                for name in (*node.copies, *node.references):
                    of(name)

    look(f.body)
    return uses


def _copied(var: Var, look: Callable[[object], None], of: Callable[[Name], _Uses]) -> None:
    """`T b = a;`: what is used of b is used of a."""
    assert var.init is not None
    source = _core(var.init)
    assert isinstance(source, Name)
    if is_reference(var.type):
        of(source).whole = True
    else:
        of(source).copies.add(var.id)


def _of_variable(
    id: str, uses: dict[str, _Uses], functions: Functions, depth: int, seen: set[str]
) -> frozenset[str] | None:
    """Members that are used of a variable; None: all of it, or nothing is known."""
    own = uses.get(id)
    if not id or own is None or own.whole or id in seen:
        return None
    seen.add(id)
    members = set(own.members)
    for copy in own.copies:
        more = _of_variable(copy, uses, functions, depth, seen)
        if more is None:
            return None
        members |= more
    for call, index in own.passed:
        more = _of_argument(call, index, functions, depth)
        if more is None:
            return None
        members |= more
    return frozenset(members)


def _of_argument(call: Call, index: int, functions: Functions, depth: int) -> frozenset[str] | None:
    """Members that the functions behind a call use of an argument that they get by value."""
    found = functions(call) if depth < NESTED else []
    members: set[str] = set()
    for f in found:
        if len(f.parameters) != len(call.arguments) or any(p.pack for p in f.template):
            return None
        p = f.parameters[index]
        more = _of_variable(p.id, _uses_of(f), functions, depth + 1, set())
        if more is None:
            return None
        members |= more
    return frozenset(members) if found else None
