"""Which loads nvcc moves down under a condition, since only there their value is used.

`x = s[i]; if (c) use(x);` loads in the lanes of `c` alone. In: a function. Out: the statements that load,
and the branches that lead to the only use. Rule and kernels: docs/dev/joining.md; `sunk.py` applies it.
"""

from __future__ import annotations

from collections.abc import Sequence

from smemlint.evaluate.analysis.purity import computes
from smemlint.ir import (
    ArrayOf,
    Asm,
    Assign,
    Binary,
    Block,
    Break,
    Call,
    Construct,
    Continue,
    Declare,
    Expr,
    Function,
    Goto,
    If,
    Index,
    Labeled,
    Lambda,
    Loop,
    Member,
    Name,
    PointerTo,
    Return,
    Stmt,
    Switch,
    This,
    Unary,
    UnknownExpr,
    UnknownStmt,
    Var,
)
from smemlint.ir.memo import by_identity
from smemlint.ir.uses import assignment, last_statement, statements, target_of
from smemlint.ir.walk import names_in, nodes_of, walk
from smemlint.records import record

SELECTED = 5
"""Up to this many operations on values at hand, both arms are computed and one result is selected."""
SOURCES = 2
"""Arithmetic moves along with its operands where there are no more than this many."""


@record(frozen=True, slots=True)
class Guard:
    """The value is used only where a branch is, or is not, taken. leaves: the branch returns or breaks."""

    branch: int
    taken: bool
    leaves: bool = False


@record(frozen=True, slots=True)
class Path:
    """The guards on the way from `loads` loads to the only place that uses them, outermost first."""

    guards: tuple[Guard, ...]
    loads: int


@by_identity
def sinks(f: Function) -> dict[int, Path]:
    """By id() of the statement that loads."""
    return _Sinks(f).found


class _Sinks:
    def __init__(self, f: Function) -> None:
        self.found: dict[int, Path] = {}
        self.names: dict[int, frozenset[str]] = {}
        nodes = nodes_of(f.body)
        own = [n for n in nodes if isinstance(n, Var) and n.storage == "local"]
        self.locals = {v.id for v in own}
        self.arrays = {v.id for v in own if isinstance(v.type, ArrayOf)}
        for n in nodes:
            if isinstance(n, Block):
                self._block(n.body)

    def _block(self, body: tuple[Stmt, ...]) -> None:
        bare: set[str] = set()
        """Declared here without a value, and not used yet."""
        for at, s in enumerate(body):
            given = _definition(s)
            if given is not None and (isinstance(s, Declare) or given[0] in bare):
                loads = self._loads(given[1])
                if 0 < loads <= SOURCES and (guards := self._guards(body, at + 1, given[0], loads)):
                    self.found[id(s)] = Path(guards, loads)
            bare -= self._names(s)
            if isinstance(s, Declare) and s.var.init is None and s.var.storage == "local":
                bare.add(s.var.id)

    def _guards(self, body: Sequence[Stmt], start: int, name: str, loads: int) -> tuple[Guard, ...]:
        """The guards of a variable's uses, from a place in a block on. loads: what its value is made of."""
        guards: list[Guard] = []
        for at in range(start, len(body)):
            s = body[at]
            if name not in self._names(s):
                if isinstance(s, Loop | Return | Break | Continue | Labeled | Goto | UnknownStmt):
                    if not any(name in self._names(later) for later in body[at + 1 :]):
                        return ()
                    break
                if (
                    isinstance(s, If)
                    and s.otherwise is None
                    and isinstance(last_statement(s.then), Return | Break | Continue)
                ):
                    guards.append(Guard(id(s), taken=False, leaves=True))
                continue
            if any(name in self._names(later) for later in body[at + 1 :]):
                break
            if isinstance(s, Block):
                return (*guards, *self._guards(s.body, 0, name, loads))
            given = _definition(s)
            if given is not None and isinstance(s, Declare):
                more = loads + self._loads(given[1])
                if more <= SOURCES and len(names_in(given[1]) & self.locals) <= SOURCES + 1:
                    return (*guards, *self._guards(body, at + 1, given[0], more))
                break
            if not isinstance(s, If) or name in names_in(s.condition):
                break
            then = name in self._names(s.then)
            if (then and s.otherwise is not None and name in self._names(s.otherwise)) or not self._stays(s):
                break
            arm = s.then if then else s.otherwise
            return (*guards, Guard(id(s), then), *self._guards(statements(arm), 0, name, loads))
        else:
            return ()  # used nowhere: the load does not run, and is reported as it is written
        return tuple(guards)

    def _loads(self, e: Expr) -> int:
        """Loads from memory in an expression that may move; more than SOURCES where it may not."""
        loads = 0
        for n in walk(e):
            if isinstance(n, Call) and not computes(n):
                return SOURCES + 1
            if isinstance(n, Asm | Construct | Lambda | This | UnknownExpr) or target_of(n) is not None:
                return SOURCES + 1
            loads += self._reads(n)
        return loads

    def _reads(self, n: object) -> bool:
        """Whether a node by itself reads memory."""
        if isinstance(n, Index):
            return not isinstance(n.base, Index)
        return (isinstance(n, Unary) and n.op == "*") or (isinstance(n, Member) and n.arrow)

    def _stays(self, s: If) -> bool:
        """Whether an `if` stays a branch for the optimiser, rather than a choice between two results."""
        operations = 0
        for part in (s.then, s.otherwise):
            if part is None:
                continue
            for n in walk(part):
                if isinstance(n, Call | Asm | Lambda | Loop | Return | Break | Continue | Switch):
                    return True
                if self._reads(n) and not self._local(n):
                    return True
                if isinstance(n, Binary | Assign) and n.op != "=":
                    if n.op in ("/", "%", "/=", "%="):
                        return True
                    operations += 1
        return operations > SELECTED

    def _local(self, n: object) -> bool:
        base = n.base if isinstance(n, Index) else None
        while isinstance(base, Index | Member):
            base = base.base
        return isinstance(base, Name) and base.id in self.arrays

    def _names(self, s: Stmt) -> frozenset[str]:
        known = self.names.get(id(s))
        if known is None:
            known = self.names[id(s)] = names_in(s)
        return known


def _definition(s: Stmt) -> tuple[str, Expr] | None:
    """The local variable that a statement gives a value, and the value."""
    if isinstance(s, Declare) and (s.var.storage != "local" or isinstance(s.var.type, PointerTo)):
        return None
    a = assignment(s)
    return (a.target.id, a.value) if a is not None and a.op == "=" and isinstance(a.target, Name) else None
