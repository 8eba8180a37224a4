"""How often a loop goes round, found as the compiler does where no formula tells: it runs what the loop's
counter goes through (`do ... while (++i < 4)`, `while (i--)`, `for (;;) { if (i == 4) break; ... }`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from smemlint.evaluate.machine.machine import Machine
from smemlint.ir import (
    STEPS,
    Assign,
    Binary,
    Block,
    Break,
    Cast,
    Continue,
    Evaluate,
    Expr,
    Goto,
    If,
    Lambda,
    Literal,
    Loop,
    Name,
    Return,
    Scalar,
    Stmt,
    Unary,
)
from smemlint.ir.memo import by_identity
from smemlint.ir.uses import HANDED, holds, target_of
from smemlint.ir.walk import names_in, walk

_MOST = 1024
"""Rounds from which on the compiler keeps any loop as one."""
_ON, _NEXT, _OUT = range(3)
"""Where a statement leads: on, to the next round, out of the loop."""

Folds = Callable[[Expr], bool]
"""Whether the compiler knows what an expression is."""


class _OpenError(Exception):
    """The compiler does not know how it goes on."""


@by_identity
def tested(s: Loop) -> str | None:
    """The one variable that all which ends a loop is asked of; None where there are others, or none."""
    if holds(s.body, Return):
        return None
    asked = [c for c in (s.condition, *_leaving(s, s.body)) if c is not None]
    changed = {t.id for n in walk((s.condition, s.step, s.body)) if isinstance(t := target_of(n), Name)}
    found = set[str]().union(*map(names_in, asked)) & changed
    return found.pop() if len(found) == 1 else None


def _leaving(s: Loop, part: Stmt) -> Iterator[Expr]:
    """Conditions under which a loop is left, or begun again, from its middle."""
    if isinstance(part, Block):
        for inner in part.body:
            yield from _leaving(s, inner)
    elif isinstance(part, If):
        inside = [*_leaving(s, part.then), *(_leaving(s, part.otherwise) if part.otherwise else ())]
        if inside or any(_leads(s, x) != _ON for x in _ends(part)):
            yield from (part.condition, *inside)


def _ends(part: If) -> Iterator[Stmt]:
    for arm in (part.then, part.otherwise):
        if arm is not None:
            yield from arm.body if isinstance(arm, Block) else (arm,)


def _leads(s: Loop, part: Stmt) -> int:
    """Where a jump leads; _ON for other statements."""
    if isinstance(part, Goto):
        return _OUT if part.over or part.label != s.label else _NEXT
    return _OUT if isinstance(part, Break) else _NEXT if isinstance(part, Continue) else _ON


def parts_of(e: Expr) -> tuple[Expr, ...]:
    """The parts of `i++, j--`."""
    return (*parts_of(e.left), *parts_of(e.right)) if isinstance(e, Binary) and e.op == "," else (e,)


def rounds(m: Machine, s: Loop, counter: str, start: int, type_: Scalar, folds: Folds) -> int | None:
    """Rounds of a loop whose `counter` begins as a constant; None where the compiler gives up."""
    trace = _Trace(m, s, counter, Literal(start, type_), folds)
    try:
        for done in range(_MOST):
            if (s.test_first or done) and s.condition is not None and not trace.ask(s.condition):
                return done
            before = trace.work
            led = trace.run(s.body)
            if led == _OUT or (led == _ON and s.label):
                return done + (trace.work > before)
            if s.step is not None:
                trace.do(s.step)
    except _OpenError:
        pass
    return None


class _Trace:
    """The counter of a loop as it goes round. work: statements run, other than what asks for it."""

    def __init__(self, m: Machine, s: Loop, counter: str, value: Literal, folds: Folds) -> None:
        self.m, self.loop, self.counter, self.value, self.folds = m, s, counter, value, folds
        self.work = 0

    def run(self, part: Stmt) -> int:
        """Go through a statement; returns where it leads."""
        if isinstance(part, Block):
            for inner in part.body:
                led = self.run(inner)
                if led != _ON:
                    return led
            return _ON
        if _leads(self.loop, part) != _ON:
            return _leads(self.loop, part)
        if isinstance(part, If) and self.counter in names_in(part.condition) and self._matters(part):
            arm = part.then if self.ask(part.condition) else part.otherwise
            return _ON if arm is None else self.run(arm)
        self.work += 1
        if isinstance(part, Evaluate):
            self.do(part.expr)
        elif self._matters(part):
            raise _OpenError
        return _ON

    def _matters(self, part: Stmt) -> bool:
        """Whether a statement sets the counter, or may lead elsewhere."""
        jumps = Goto if isinstance(part, Loop) else (Continue, Goto)
        leaves = isinstance(part, If | Block) and holds(part, Break)
        return leaves or holds(part, jumps) or self._sets(part)

    def _sets(self, part: object) -> bool:
        targets = (target_of(n, HANDED) for n in walk(part))
        return any(isinstance(t, Name) and t.id == self.counter for t in targets)

    def do(self, e: Expr) -> None:
        """Run an expression for what it makes of the counter."""
        for part in parts_of(e):
            if self._sets(part):
                if not isinstance(part, Assign | Unary) or target_of(part) is None:
                    raise _OpenError
                self._put(part)

    def ask(self, e: Expr) -> int:
        """What an expression is now; it may step the counter."""
        put = self._put(e)
        value = self.m.constant(put, self.m.bindings) if self.folds(put) else None
        if value is None:
            raise _OpenError
        return value

    def _put(self, e: Expr) -> Expr:
        """An expression with the counter's number in its place."""
        if isinstance(e, Name):
            return self.value if e.id == self.counter else e
        if (
            isinstance(e, Unary | Assign)
            and isinstance(t := target_of(e, HANDED), Name)
            and t.id == self.counter
        ):
            return self._step(e)
        if isinstance(e, Unary | Cast):
            return replace(e, operand=self._put(e.operand))
        if isinstance(e, Binary) and not (e.op in ("&&", "||") and self._sets(e.right)):
            left = self._put(e.left)
            return replace(e, left=left, right=self._put(e.right))
        if self.counter in names_in(e) or isinstance(e, Lambda):
            raise _OpenError
        return e

    def _step(self, e: Unary | Assign) -> Literal:
        before = self.value
        if isinstance(e, Unary):
            if e.op not in STEPS:
                raise _OpenError  # its address is taken
            made: Expr = Binary("+" if "++" in e.op else "-", before, Literal(1))
        else:
            value = self._put(e.value)
            made = value if e.op == "=" else Binary(e.op[:-1], before, value)
        now = self.m.constant(Cast(before.type, made), self.m.bindings) if self.folds(made) else None
        if now is None:
            raise _OpenError
        self.value = Literal(now, before.type)
        return before if isinstance(e, Unary) and e.op.startswith("x") else self.value
