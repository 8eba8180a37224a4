"""The line of a load that nvcc's optimiser moves in front of a loop.

A load whose address stays the same in a loop that stores nothing it may hit runs once, before the loop, and
loses its line: it is counted on that of what was evaluated before it. In: a function. Out: lines, by the
place of the load. Rule and kernels: docs/dev/lines.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Set

from smemlint.evaluate.analysis.line_attribution import line_of
from smemlint.evaluate.analysis.purity import computes, innermost
from smemlint.ir import (
    SHARED,
    ArrayOf,
    Asm,
    Assign,
    Binary,
    Block,
    Call,
    Cast,
    Conditional,
    Construct,
    Declare,
    Evaluate,
    Expr,
    Function,
    If,
    Index,
    Lambda,
    Literal,
    Loop,
    Member,
    Name,
    Special,
    Stmt,
    Unary,
    UnknownExpr,
    UnknownStmt,
    Var,
)
from smemlint.ir.memo import by_identity
from smemlint.ir.uses import target_of, variables_set
from smemlint.ir.walk import nodes_of, walk

_OPAQUE = (Asm, UnknownExpr, UnknownStmt, Lambda)


@by_identity
def hoisted_lines(f: Function) -> dict[tuple[str, int], int]:
    """By (path, offset) of a load."""
    nodes = nodes_of(f.body)
    variables = {n.id: n for n in nodes if isinstance(n, Var)} | {p.id: p for p in f.parameters}
    shared = {id for id, v in variables.items() if v.storage in SHARED and not v.volatile}
    if not shared or not any(isinstance(n, Loop) for n in nodes):
        return {}
    given = {p.id for p in f.parameters} if f.side == "kernel" else set()
    anew = {
        n.target.id for n in nodes if isinstance(n, Assign) and n.op == "=" and isinstance(n.target, Name)
    }
    for v in variables.values():
        start = None if v.init is None else innermost(v.init)
        if isinstance(start, Name) and start.id in given and v.id not in anew:
            given.add(v.id)
    return _Lines(variables, shared, given).of(f.body)


class _Lines:
    def __init__(self, variables: dict[str, Var], shared: Set[str], given: Set[str]) -> None:
        """given: parameters of a kernel, and pointers that walk on from one."""
        self.variables = variables
        self.shared = shared
        self.given = given
        self.found: dict[tuple[str, int], int] = {}

    def of(self, body: Stmt) -> dict[tuple[str, int], int]:
        self._visit(body, [], frozenset(), None)
        return self.found

    def _visit(self, s: Stmt, before: list[Stmt], read: frozenset[object], around: Loop | None) -> None:
        """before: statements of the block in front of this one. read: special values asked for by then."""
        if isinstance(s, Block):
            for at, part in enumerate(s.body):
                self._visit(part, list(s.body[:at]), read, around)
                read |= _specials(part)
        elif isinstance(s, If):
            read |= _specials(s.condition)
            for arm in (s.then, s.otherwise):
                if arm is not None:
                    self._visit(arm, [], read, around)
        elif isinstance(s, Loop):
            if around is None or not self._sure(s):
                self._loop(s, before, read)
            self._visit(s.body, [], read, s)

    def _loop(self, s: Loop, before: list[Stmt], read: frozenset[object]) -> None:
        inside = (s.step, s.body)
        if s.condition is None or not self._harmless(s):
            return
        line = self._line_before(s, before)
        if line is None:
            return
        changed = variables_set(walk(inside)) | {n.id for n in walk(inside) if isinstance(n, Var)}
        read |= _specials(s.init) | _specials(s.condition)
        # To read `blockIdx.x` is a call, which moves too and keeps its line.
        asked = {(n.name, n.axis): n for n in reversed(list(walk(s.body))) if isinstance(n, Special)}
        for load in self._loads(s.body):
            place = getattr(load, "place", None)
            if place is None or not self._is_invariant(load, changed) or not _specials(load) <= read:
                continue
            calls = [n.place for key, n in asked.items() if key not in read and n.place is not None]
            moved = [p for p in calls if p.offset < place.offset]
            last = max(moved, key=lambda p: p.offset, default=None)
            self.found[place.path, place.offset] = line if last is None else last.compiled_line

    def _harmless(self, s: Loop) -> bool:
        """Whether nothing in a loop may change shared memory, or waits."""
        for n in walk((s.condition, s.step, s.body)):
            if isinstance(n, _OPAQUE) or (isinstance(n, Unary) and n.op in ("*", "&")):
                return False
            if isinstance(n, Call) and not computes(n):
                return False
            target = target_of(n)
            if target is not None and not self._aliases_nothing(target):
                return False
        return True

    def _aliases_nothing(self, target: Expr) -> bool:
        """Whether what is set is the thread's own, or global: behind what a kernel is given, or a
        `__restrict__` pointer."""
        base = innermost(target)
        if isinstance(base, Name) and base.id in self.given:
            return True
        v = self.variables.get(base.id) if isinstance(base, Name) else None
        if v is None or v.storage in SHARED:
            return False
        if isinstance(base, Name) and base is target:
            return True
        return v.restrict or (v.storage == "local" and isinstance(v.type, ArrayOf))

    def _line_before(self, s: Loop, before: list[Stmt]) -> int | None:
        """Where evaluation is when the loop is reached: at its condition, or before it where the compiler
        knows that it goes round."""
        if not self._sure(s):
            place = getattr(s.condition, "place", None) or s.place
            return None if place is None else line_of(s.condition, place)
        targets = {id(n.target) for n in walk(s.body) if isinstance(n, Assign) and n.op == "="}
        reads = [n for n in walk(s.body) if isinstance(n, Index) and id(n) not in targets]
        if any(self._is_global(n) for n in reads):
            return None  # its address is computed there too
        for last in reversed(before):
            if isinstance(last, Declare):
                if last.var.init is None or isinstance(last.var.type, ArrayOf):
                    continue
                return last.var.place.compiled_line
            if isinstance(last, Evaluate):
                place = getattr(last.expr, "place", None)
                return None if place is None else place.compiled_line
            return None
        return None

    def _is_global(self, e: Index) -> bool:
        base = innermost(e)
        v = self.variables.get(base.id) if isinstance(base, Name) else None
        return v is None or not (v.storage in SHARED or isinstance(v.type, ArrayOf))

    def _sure(self, s: Loop) -> bool:
        """Whether a loop runs at least once for the compiler: its ends are constants."""
        c = s.condition
        if not s.test_first:
            return True
        starts = [n.value for n in walk(s.init) if isinstance(n, Assign)]
        starts += [n.init for n in walk(s.init) if isinstance(n, Var) and n.init is not None]
        return isinstance(c, Binary) and bool(starts) and all(map(self._constant, (*starts, c.right)))

    def _constant(self, e: Expr) -> bool:
        names = [n for n in walk(e) if isinstance(n, Name)]
        known = all(n.id not in self.variables or self.variables[n.id].storage == "constant" for n in names)
        return known and not any(isinstance(n, Special | Index | Call) for n in walk(e))

    def _loads(self, s: Stmt) -> Iterator[Expr]:
        """Loads of shared arrays that run in every iteration, not in a loop further in that may not run."""
        if isinstance(s, Block):
            for part in s.body:
                if isinstance(part, If):
                    return
                yield from self._loads(part)
        elif isinstance(s, Loop) and self._sure(s):
            yield from self._loads(s.body)
        elif isinstance(s, Evaluate | Declare):
            value = s.expr if isinstance(s, Evaluate) else s.var.init
            if value is not None:
                yield from self._reads(value)

    def _reads(self, e: Expr) -> Iterator[Expr]:
        if isinstance(e, Conditional):
            yield from self._reads(e.condition)
        elif isinstance(e, Assign):
            yield from self._reads(e.value)
        elif isinstance(e, Binary):
            yield from self._reads(e.left)
            if e.op not in ("&&", "||"):
                yield from self._reads(e.right)
        elif isinstance(e, Unary | Cast):
            yield from self._reads(e.operand)
        elif isinstance(e, Call | Construct):
            for argument in e.arguments:
                yield from self._reads(argument)
        elif isinstance(e, Index | Name | Member):
            base = innermost(e)
            if isinstance(base, Name) and base.id in self.shared:
                yield e

    def _is_invariant(self, load: Expr, changed: Set[str]) -> bool:
        indices = [n.index for n in walk(load) if isinstance(n, Index)]
        return not any(
            isinstance(n, Index | Call | Assign) or (isinstance(n, Name) and n.id in changed)
            for index in indices
            for n in walk(index)
        ) and all(map(_bare, indices))


def _bare(index: Expr) -> bool:
    """An index that is at hand, or one with a constant added, which the instruction adds itself."""
    if isinstance(index, Binary):
        return index.op in ("+", "-") and _bare(index.left) and isinstance(index.right, Literal)
    return isinstance(index, Literal | Name | Special) or (isinstance(index, Cast) and _bare(index.operand))


def _specials(node: object) -> frozenset[object]:
    """`threadIdx.x` and the like that a statement reads in any case."""
    if isinstance(node, If):
        node = node.condition
    elif isinstance(node, Loop):
        node = (node.init, node.condition if node.test_first else node.body)
    elif isinstance(node, Block):
        return frozenset[object]().union(*map(_specials, node.body))
    return frozenset((n.name, n.axis) for n in walk(node) if isinstance(n, Special))
