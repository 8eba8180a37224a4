"""Which words of a value are read of the local variable that it is put into: nvcc loads no others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from smemlint.banks import WORD
from smemlint.evaluate.analysis.parts_read.punned import Part, Punned, counter_of, punned
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.types.matching import Binding
from smemlint.evaluate.values.number import Int
from smemlint.ir import (
    ArrayOf,
    Assign,
    Binary,
    Cast,
    Expr,
    Function,
    Index,
    Loop,
    Member,
    Name,
    PointerTo,
    Type,
    Unary,
)
from smemlint.ir.expr import uncopied

MOST = 512
"""Rounds of loops that are looked at."""
MOST_COPIES = 4
"""Copies of a copy that are looked at."""
_Where = tuple[int, Type]
_Constants = dict[str, Binding]


def words_read(m: Machine, f: Function, node: Expr | None) -> tuple[int, ...] | None:
    """Where the words lie that are read of the value of an expression; None: it goes to no such variable, or
    all of it is read, or which words is not known."""
    found = punned(f)
    if id(node) not in found.given:
        return None
    key = id(node), m.frame.instance
    if key not in m.memo.words_read:
        m.memo.words_read[key] = _words(m, found, *found.given[id(node)])
    return m.memo.words_read[key]


def _words(m: Machine, found: Punned, own: str, target: Part, copies: int = 0) -> tuple[int, ...] | None:
    look = _Look(m, found)
    put = look.spans(target)
    read = [look.spans(part) for part in found.reads[own]]
    if not put or None in read or copies > MOST_COPIES:
        return None
    for i, part in enumerate(found.reads[own]):
        to = found.given.get(id(uncopied(part.place)))
        words_there = None if to is None else _words(m, found, *to, copies + 1)
        if words_there is not None:  # a copy of which not all is read
            read[i] = [(at + word, WORD) for at, _ in read[i] or () for word in words_there]
    size = put[0][1]
    words: set[int] = set()
    for start, _ in put:
        for at, n in (span for spans in read for span in spans or ()):
            first, end = max(at, start), min(at + n, start + size)
            words.update(range((first - start) // WORD, -(-(end - start) // WORD)) if first < end else ())
    if not found.reads[own]:
        return None  # as it is written: nobody asks for any of it
    return tuple(w * WORD for w in sorted(words)) if len(words) * WORD < size else None


class _Look:
    """Works out where the parts of a variable lie."""

    def __init__(self, m: Machine, found: Punned) -> None:
        self.m = m
        self.found = found
        self.left = MOST

    def spans(self, part: Part) -> list[tuple[int, int]] | None:
        """(where, bytes) of a part in each round of the loops around it; None: not known."""
        result: set[tuple[int, int]] = set()
        for constants in self.all_rounds(part.loops, dict(self.m.bindings)):
            at = self.address(part.place, constants) if part.size else self.place(part.place, constants)
            if at is None:
                return None
            size = self.m.types.size_of(at[1])
            if part.size is not None:
                size = self.m.constant(part.size, constants)
            if size is None:
                return None
            result.add((at[0], size))
        return sorted(result) if self.left > 0 else None

    def all_rounds(self, loops: tuple[Loop, ...], constants: _Constants) -> Iterator[_Constants]:
        """What the counters of loops are, round by round; not known of a loop that is not."""
        if not loops:
            yield constants
            return
        s, inner = loops[0], loops[1:]
        counter = counter_of(s)
        value = self.m.constant(counter.init, constants) if counter is not None and counter.init else None
        while counter is not None and value is not None and self.left > 0:
            here = {**constants, counter.id: Int(value)}
            goes = self.m.constant(s.condition, here) if s.condition is not None else None
            if goes == 0:
                return
            self.left -= 1
            if goes is None:
                break
            yield from self.all_rounds(inner, here)
            value = self.stepped(s.step, counter.id, value, here)
        if self.left > 0:
            yield from self.all_rounds(inner, constants)

    def stepped(self, step: Expr | None, id: str, value: int, constants: Mapping[str, Binding]) -> int | None:
        """The counter in the next round."""
        if isinstance(step, Unary) and isinstance(step.operand, Name) and step.operand.id == id:
            return value + 1 if "++" in step.op else value - 1 if "--" in step.op else None
        if isinstance(step, Assign) and isinstance(step.target, Name) and step.target.id == id:
            op = step.op.removesuffix("=")
            return self.m.constant(Binary(op, step.target, step.value) if op else step.value, constants)
        return None

    def place(self, e: Expr, constants: _Constants) -> _Where | None:
        """Where a place lies in its variable, and its type."""
        m = self.m
        if isinstance(e, Name):
            var = self.found.variables.get(e.id)
            return None if var is None else (0, m.resolve(var.type))
        if isinstance(e, Member) and not e.arrow:
            base = self.place(e.base, constants)
            of = m.types.field_at(base[1], (e.name,)) if base is not None else None
            return None if base is None or of is None else (base[0] + of[0], of[1])
        if isinstance(e, Cast) and isinstance(e.type, PointerTo) and e.type.reference:
            base = self.place(e.operand, constants)
            return None if base is None else (base[0], m.resolve(e.type.to))
        if isinstance(e, Unary) and e.op == "*":
            return self.address(e.operand, constants)
        return self.element(e.base, e.index, constants) if isinstance(e, Index) else None

    def element(self, base: Expr, index: Expr, constants: _Constants) -> _Where | None:
        at, n = self.address(base, constants), self.m.constant(index, constants)
        size = self.m.types.size_of(at[1]) if at is not None else None
        return None if at is None or n is None or size is None else (at[0] + n * size, at[1])

    def address(self, e: Expr, constants: _Constants) -> _Where | None:
        """Where an address leads, and what it points to."""
        if isinstance(e, Name) and e.id in self.found.aliases:
            return self.address(self.found.aliases[e.id], constants)
        if isinstance(e, Unary) and e.op == "&":
            return self.place(e.operand, constants)
        if isinstance(e, Cast) and isinstance(e.type, PointerTo) and not e.type.reference:
            to = self.address(e.operand, constants)
            return None if to is None else (to[0], self.m.resolve(e.type.to))
        if isinstance(e, Binary) and e.op == "+":
            return self.element(e.left, e.right, constants)
        at = self.place(e, constants) if isinstance(e, Name | Index | Member) else None
        return (at[0], at[1].element) if at is not None and isinstance(at[1], ArrayOf) else None
