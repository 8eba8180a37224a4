"""Whether the iterations of a loop can be counted before it begins, if only at run time.

Where they cannot (`s *= 2`, `i = next[i]`, a `break`), nvcc puts no two iterations into one straight line.
"""

from __future__ import annotations

from collections.abc import Iterator, Set

from smemlint.ir import (
    STEPS,
    Assign,
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
    Stmt,
    Unary,
)
from smemlint.ir.expr import uncast
from smemlint.ir.memo import by_identity
from smemlint.ir.uses import holds, only_statement, variables_set
from smemlint.ir.walk import names_in, walk


@by_identity
def countable(s: Loop) -> bool:
    """False where the loop is left in its middle, or a variable of its condition does not go in steps."""
    if s.condition is None or any(isinstance(x, Break | Goto) for x in _level(s.body)):
        return False
    tested, nodes = names_in(s.condition), list(walk((s.step, s.body)))
    changed = variables_set(nodes)
    return not any(
        isinstance(n, Assign)
        and isinstance(n.target, Name)
        and n.target.id in tested
        and not _a_step(n, changed - {n.target.id})
        for n in nodes
    )


@by_identity
def _loops_in(s: Loop) -> tuple[Loop, ...]:
    """Loops within the body of a loop whose counters go in steps of a sum."""
    return tuple(n for n in walk(s.body) if isinstance(n, Loop) and _adds(n))


def _adds(s: Loop) -> bool:
    tested = names_in(s.condition)
    parts, sets = (s.body, tested) if s.step is None else (s.step, names_in(s.step))
    return bool(tested) and not any(
        isinstance(n, Assign) and n.op in ("*=", "/=", "<<=", ">>=", "=") and names_in(n.target) & sets
        for n in walk(parts)
    )


def bounds_a_loop(s: Loop, counter: str) -> bool:
    """Whether a loop's counter stands in the head of a loop within it: `for (j = 0; j < i; j++)`."""
    return any(counter in names_in(inner.condition) | names_in(inner.init) for inner in _loops_in(s))


@by_identity
def other_ends(s: Loop) -> tuple[Expr, ...]:
    """What breaks hold the loop's counter against, of what the loop leaves alone (`if (w > n) break;`): where
    one is not a constant nvcc does not know how often the loop runs."""
    c = s.condition
    counter = c.left if isinstance(c, Binary) else c
    if isinstance(counter, Unary) and counter.op in STEPS:
        counter = counter.operand  # `while (k-- > 0)`
    if not isinstance(counter, Name) or counter is c:
        return ()
    changed = variables_set(walk((s.step, s.body)), ()) | {counter.id}
    breaks = [
        x.condition for x in _level(s.body) if isinstance(x, If) and isinstance(only_statement(x.then), Break)
    ]
    return tuple(end for e in breaks for end in _against(e, counter.id, changed))


def _against(e: Expr, counter: str, changed: Set[str]) -> Iterator[Expr]:
    """The other side of a comparison of a counter, if it stays as it is."""
    if not isinstance(e, Binary) or e.op not in ("<", "<=", ">", ">="):
        return
    for a, b in ((e.left, e.right), (e.right, e.left)):
        still = not holds(b, (Call, Index)) and names_in(b).isdisjoint(changed)
        if isinstance(a, Name) and a.id == counter and still:
            yield b


def _level(s: Stmt) -> Iterator[Stmt]:
    """The statements that a `break` of this loop can stand among."""
    yield s
    if isinstance(s, Block):
        for part in s.body:
            yield from _level(part)
    elif isinstance(s, If):
        yield from _level(s.then)
        if s.otherwise is not None:
            yield from _level(s.otherwise)


def _a_step(n: Assign, changed: Set[str]) -> bool:
    """`i += n` or `i = i + n`, of an n that the loop leaves alone."""
    if not names_in(n.value).isdisjoint(changed):
        return False
    if n.op != "=":
        return n.op in ("+=", "-=")
    value = uncast(n.value)
    if not (isinstance(value, Binary) and value.op in ("+", "-") and isinstance(n.target, Name)):
        return False
    return any(isinstance(x, Name) and x.id == n.target.id for x in (value.left, value.right))


def step_of(e: Expr, counter: str) -> tuple[str, Expr | int] | None:
    """Return how a step changes a counter: `+` and 1 for `++i`, `*` and the 2 of `i *= 2` or `i = i * 2`."""
    if isinstance(e, Unary) and isinstance(e.operand, Name) and e.operand.id == counter and e.op in STEPS:
        return ("+" if "++" in e.op else "-"), 1
    if not isinstance(e, Assign) or not isinstance(e.target, Name) or e.target.id != counter:
        return None
    op, value = e.op[:-1], e.value
    if e.op == "=":
        if not (isinstance(value, Binary) and isinstance(value.left, Name) and value.left.id == counter):
            return None
        op, value = value.op, value.right
    return (op, value) if op in ("+", "-", "*", "/", "<<", ">>") else None
