"""What lanes do on their way out of a loop: `if (x <= range(j)) { s[j] += 1; break; }`.

No way leads from there back into the loop, so that it stands behind it for the compiler: lanes that leave in
different rounds may come to it together.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import replace

from smemlint.evaluate.analysis.purity import innermost
from smemlint.ir import (
    Binary,
    Block,
    Break,
    Call,
    Expr,
    Goto,
    If,
    Index,
    Loop,
    Name,
    Return,
    Stmt,
    Unary,
    Var,
)
from smemlint.ir.jumps import jumps_in
from smemlint.ir.memo import by_identity
from smemlint.ir.uses import variables_set
from smemlint.ir.walk import names_in, walk
from smemlint.records import record


@record(frozen=True, slots=True)
class ExitBlock:
    """label: where lanes go from the loop. body: what they do there. conditions: of the way there. bases: of
    the elements that they access by what the loop changes."""

    label: str
    body: Block
    conditions: tuple[Expr, ...]
    bases: tuple[Name, ...]


@record(frozen=True, slots=True)
class Ways:
    """A loop without what is done on the way out, and that."""

    loop: Loop
    blocks: tuple[ExitBlock, ...]


@by_identity
def exits_of(s: Loop) -> Ways | None:
    """The loop and its exit blocks that access memory by what the loop changes; None where it has none."""
    if s.label or not jumps_in(s.body) & {Break, Return}:
        return None
    changed = variables_set(walk((s.condition, s.step, s.body))) | {
        n.id for n in walk(s.body) if isinstance(n, Var)
    }
    found: list[ExitBlock] = []
    body = _without(s.body, (), changed, found)
    return Ways(replace(s, body=body), tuple(found)) if found else None


def _without(s: Stmt, conditions: tuple[Expr, ...], changed: Set[str], found: list[ExitBlock]) -> Stmt:
    """A statement of the loop's body with jumps in place of its exit blocks, which go to `found`."""
    if isinstance(s, Block | Return):
        parts = s.body if isinstance(s, Block) else (s,)
        bases = _bases(parts, changed) if conditions and _leaves(parts) else ()
        if bases:
            label = f"exit {len(found)} of {id(s)}"
            kept = parts[:-1] if isinstance(parts[-1], Break) else parts
            found.append(ExitBlock(label, Block(kept, scope=True), conditions, bases))
            return Goto(label, over=True)
        if isinstance(s, Return):
            return s
        return replace(s, body=tuple(_without(part, conditions, changed, found) for part in parts))
    if isinstance(s, If):
        inner = (*conditions, s.condition)
        before = len(found)
        then = _without(s.then, inner, changed, found)
        otherwise = None if s.otherwise is None else _without(s.otherwise, inner, changed, found)
        return s if len(found) == before else replace(s, then=then, otherwise=otherwise)
    return s


def _leaves(parts: tuple[Stmt, ...]) -> bool:
    """Whether statements are run through once and leave the loop at their end."""
    return (
        bool(parts)
        and isinstance(parts[-1], Break | Return)
        and not any(jumps_in(part) for part in parts[:-1])
    )


def _bases(parts: tuple[Stmt, ...], changed: Set[str]) -> tuple[Name, ...]:
    """Of what elements are accessed by what is among `changed`."""
    found = [(innermost(of), by) for part in parts for of, by in _elements(part)]
    return tuple(of for of, by in found if isinstance(of, Name) and not changed.isdisjoint(names_in(by)))


def _elements(part: Stmt) -> Iterator[tuple[Expr, Expr]]:
    """(of what, where) of elements, what pointers point to and what is updated atomically."""
    for n in walk(part):
        if isinstance(n, Index):
            yield n, n.index
        elif isinstance(n, Unary) and n.op == "*":
            yield _summed(n.operand), n.operand
        elif isinstance(n, Call) and isinstance(n.callee, Name) and n.callee.name.startswith("atomic"):
            yield from [(_summed(e), e) for e in n.arguments[:1]]


def _summed(e: Expr) -> Expr:
    """The pointer that an address is counted from: `p` of `p + i`."""
    while isinstance(e, Binary):
        e = e.left
    return e
