"""Conditions that are all that a round of a loop does: where no round changes them and the loop disappears,
the optimiser makes one `if` of those of all rounds.

    for (int i = 0; i < 4; i++) if (t < 9) s[4 * t + i] = v[i];                   // one `if`: STS.128
    for (int i = 0; i < 4; i++) { if (t >= 9) continue; s[4 * t + i] = v[i]; }    // the same

What else is left of a round keeps them apart: what is computed in front of the condition and does not sink
into its arm, or a variable that goes on from round to round. Read from the machine code of some 400 bodies,
nvcc 13.0 for sm_90 (docs/dev/joining.md, "One straight line").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from smemlint.evaluate.analysis.parts_read.halves import loads
from smemlint.evaluate.analysis.purity import computes
from smemlint.ir import (
    STEPS,
    Asm,
    Assign,
    Binary,
    Block,
    Call,
    Conditional,
    Continue,
    Declare,
    Evaluate,
    Expr,
    FloatLiteral,
    Function,
    If,
    Index,
    Literal,
    Loop,
    Name,
    PointerTo,
    Scalar,
    Special,
    Stmt,
    Type,
    Unary,
)
from smemlint.ir.expr import is_element
from smemlint.ir.jumps import jumps_in
from smemlint.ir.memo import by_identity
from smemlint.ir.show import show
from smemlint.ir.uses import (
    assignment,
    holds,
    only_statement,
    target_of,
    variables,
    variables_set,
)
from smemlint.ir.walk import children, nodes_of, walk
from smemlint.records import record


@record(frozen=True, slots=True)
class Asked:
    """An `if` that is all that a round does.

    loops: of so many around it. surely: one is made of all. fixed: no round gives what it asks another value,
    as far as the text shows (`bool q = t < n;` in the round).
    """

    loops: int
    surely: bool
    fixed: bool


@by_identity
def asked_once(f: Function) -> Mapping[int, Asked]:
    """By id(): the conditions that are all that the rounds of loops do."""
    found: dict[int, Asked] = {}
    for node in nodes_of(f.body):
        if isinstance(node, Loop):
            for s, asked in _Round(f, node).conditions():
                if id(s) not in found or asked.loops > found[id(s)].loops:
                    found[id(s)] = asked
    return found


class _Round:
    """The rounds of a loop, and of those within that are all that a round does.

    changed: variables that a round may give another value; own: those of one round.
    """

    def __init__(self, f: Function, s: Loop) -> None:
        self.types: Mapping[str, Type] = {id: v.type for id, v in variables(f).items()}
        self.f, self.loop = f, s
        self.own = {n.var.id for n in walk(s.body) if isinstance(n, Declare)}
        self.changed = self.own | variables_set(walk((s.condition, s.step, s.body)))
        begun = {n.init.var.id for n in walk(s.body) if isinstance(n, Loop) and isinstance(n.init, Declare)}
        self.constant = {id for id in (self.changed - self.own) | begun if self._counts(id)}
        """Of these what the optimiser knows in each round: counters."""

    def conditions(self) -> Iterator[tuple[If, Asked]]:
        loops, s, surely = 1, self.loop, True
        while True:
            steps = self._stepped(s.step)
            if steps is None:
                return
            inner = only_statement(s.body)
            surely &= steps
            if not isinstance(inner, Loop):
                yield from self._of(_run_by(s.body), loops, surely)
                return
            loops, s = loops + 1, inner

    def _of(self, body: Sequence[Stmt], loops: int, surely: bool) -> Iterator[tuple[If, Asked]]:
        """The conditions that are all that some statements do, one within the other."""
        at = next((i for i, s in enumerate(body) if isinstance(s, If)), None)
        s = None if at is None else body[at]
        if at is None or not isinstance(s, If) or s.otherwise is not None:
            return
        leaves = isinstance(only_statement(s.then), Continue)
        arm: Sequence[Stmt] = body[at + 1 :] if leaves else _run_by(s.then)
        front = self._left_of(body[:at], arm)
        behind = True if leaves else self._stepped(body[at + 1 :])
        if front is None or behind is None or not variables_set(walk(arm)) <= self.own:
            return
        surely = surely and front and behind and (loops == 1 or not loads(self.f, tuple(arm)))
        yield s, Asked(loops, surely, self._is_invariant(s.condition))
        if arm and isinstance(arm[0], If) and not reads_memory(arm[0].condition):
            yield from self._of(arm, loops, surely)

    def _counts(self, id: str) -> bool:
        """Whether a loop only steps a whole number, by numbers."""
        t = self.types.get(id)
        changes = (n for n in walk((self.loop.step, self.loop.body)) if _sets_variable(n, id))
        return isinstance(t, Scalar) and t.kind in ("int", "uint") and all(_is_step(n) for n in changes)

    def _stepped(self, s: object) -> bool | None:
        """Whether what a round does beside its condition surely leaves nothing: it steps counters. None where
        it does more than set variables."""
        surely = True
        for n in _straight_line(s):
            if isinstance(n, Declare) and not holds(n, (Call, Asm)):
                continue
            target = target_of(n)
            if not isinstance(target, Name) or any(isinstance(x, Call) or is_element(x) for x in walk(n)):
                return None
            surely &= target.id in self.constant
        return surely

    def _left_of(self, front: Sequence[Stmt], arm: Sequence[Stmt]) -> bool | None:
        """Whether what is computed in front of a condition surely leaves nothing there: it sinks into the
        arm, or is the same in all rounds, or at hand. None where something is surely left."""
        surely = True
        code = (*front, *arm)
        used = Counter(n.id for n in walk(code) if isinstance(n, Name))
        used.subtract(t.id for n in walk(code) if isinstance(t := target_of(n), Name))
        kept: dict[str, int] = {}
        for s in front:
            given = assignment(s)
            if isinstance(s, Declare) and s.var.init is None and s.var.storage == "local":
                continue
            own = given is not None and isinstance(given.target, Name) and given.target.id in self.own
            left = self._left(given, used, kept, arm) if own and given is not None else self._stepped((s,))
            if left is None:
                return None
            surely &= left
        return surely

    def _left(
        self, given: Assign, used: Mapping[str, int], kept: dict[str, int], arm: Sequence[Stmt]
    ) -> bool | None:
        """The same of one variable. used: how often each is read; kept: how many numbers those in front are
        made of, by id; 0 of what is the same in all rounds."""
        e = given.value
        assert isinstance(given.target, Name)
        uses = used[given.target.id]
        calls = [n for n in walk(e) if isinstance(n, Call)]
        if holds(e, Assign, STEPS) or not all(map(computes, calls)):
            return None
        loaded = loads(self.f, e)
        if uses == 0:  # but by the condition
            if given.op == "=" and not loaded and self._is_invariant(e):
                self.changed.discard(given.target.id)
            return True
        if loaded:
            if self._is_invariant(e):
                return False
            asked = {show(n.index) for n in walk(tuple(arm)) if isinstance(n, Index)}
            shares = any(isinstance(n, Index) and show(n.index) in asked for n in walk(e))
            return None if shares or uses > 1 else False
        needs = self._numbers(e, kept)
        if given.op != "=":
            needs += kept.get(given.target.id, 1)
        kept[given.target.id] = needs
        if self._is_invariant(e) and given.op == "=":
            self.changed.discard(given.target.id)
            return True
        if needs == 0 or _is_at_hand(e):
            return True
        if isinstance(self.types.get(given.target.id), PointerTo) or (calls and needs == 1):
            return False
        return None if needs > 1 else uses <= 1

    def _is_invariant(self, e: object) -> bool:
        names = (n.id for n in walk(e) if isinstance(n, Name))
        return self.changed.isdisjoint(names)

    def _numbers(self, e: object, kept: Mapping[str, int]) -> int:
        """How many numbers that no round changes, or that it finds in registers, an expression is made of."""
        if isinstance(e, Literal | FloatLiteral | Scalar):
            return 0
        if isinstance(e, Name):
            return 0 if e.id in self.constant else kept.get(e.id, 1)
        if isinstance(e, Index | Special) or self._is_invariant(e):
            return 1
        if isinstance(e, Call):
            return self._numbers(e.arguments, kept)
        if isinstance(e, Conditional) and not self._numbers(e.condition, kept):
            return max(self._numbers(e.then, kept), self._numbers(e.otherwise, kept))
        return sum(self._numbers(child, kept) for child in children(e))


@by_identity
def reads_memory(e: Expr) -> bool:
    """Return whether an expression reads elements or members."""
    return any(is_element(n) for n in walk(e))


@by_identity
def surely_asked(f: Function) -> frozenset[int]:
    """The id() of each `if` that every round of the loop around it asks: what it loads may be loaded in front
    of the loop."""
    found: set[int] = set()
    for loop in nodes_of(f.body):
        for s in _run_by(loop.body) if isinstance(loop, Loop) else ():
            if isinstance(s, If):
                found.add(id(s))
            if jumps_in(s):
                break
    return frozenset(found)


def _run_by(s: Stmt) -> Sequence[Stmt]:
    """The statements of a body, blocks within it opened (`{ { if (c) ... } }`, as macros make them)."""
    if not isinstance(s, Block):
        return (s,)
    return tuple(each for one in s.body for each in _run_by(one))


def _is_at_hand(e: Expr) -> bool:
    return isinstance(e, Name | Index | Literal | FloatLiteral)


def _straight_line(s: object) -> Iterator[object]:
    """The expressions and declarations that run one after the other."""
    if isinstance(s, Binary) and s.op == ",":
        yield from _straight_line(s.left)
        yield from _straight_line(s.right)
    elif isinstance(s, tuple):
        for one in s:
            yield from _straight_line(one.expr if isinstance(one, Evaluate) else one)
    elif s is not None:
        yield s


def _sets_variable(n: object, id: str) -> bool:
    target = target_of(n)
    return isinstance(target, Name) and target.id == id


def _is_step(n: object) -> bool:
    """Whether something steps a variable by a number: `i++`, `k += 32`."""
    if isinstance(n, Unary):
        return n.op in STEPS
    return isinstance(n, Assign) and n.op in ("+=", "-=") and isinstance(n.value, Literal)
