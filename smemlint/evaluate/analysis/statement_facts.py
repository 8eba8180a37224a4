"""What each statement of a function does: the variables it sets, the memory it accesses, how it is left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import field

from smemlint.evaluate.analysis.own_members import OwnMembers, id_of
from smemlint.evaluate.analysis.purity import place_of, root_of
from smemlint.evaluate.analysis.shared_names import SharedNames
from smemlint.ir import (
    STEPS,
    Asm,
    Assign,
    Block,
    Break,
    Call,
    Construct,
    Continue,
    Declare,
    Evaluate,
    Expr,
    Function,
    Goto,
    If,
    Labeled,
    Lambda,
    LaunchStmt,
    Loop,
    Name,
    OpaqueType,
    PointerTo,
    RecordRef,
    Return,
    Stmt,
    Switch,
    This,
    Unary,
    UnknownExpr,
    UnknownStmt,
    Var,
)
from smemlint.ir.types import INT, is_reference
from smemlint.ir.walk import names_in, walk
from smemlint.records import record


@record(slots=True)
class Facts:
    """What one statement does, sub-statements included."""

    sticky: bool = False
    """Returns, calls, asm: cannot be skipped."""
    jumps: frozenset[type[Stmt]] = frozenset()
    """Break, Continue: what of them leaves the statement."""
    access: bool = False
    """May access shared memory: can be skipped only where nothing is recorded."""
    assigned: set[str] = field(default_factory=set)
    declared: set[str] = field(default_factory=set)
    through: set[str] = field(default_factory=set)
    """Pointers and references through which it sets something, which may be declared outside of it."""

    @property
    def outside(self) -> set[str]:
        """The variables by which it changes more than its own."""
        return (self.assigned - self.declared) | self.through


@record(slots=True)
class Choice:
    """A statement that decides what runs, how often: what is below it, and the loop or switch around it."""

    statement: If | Switch | Loop
    facts: Facts
    around: Choice | None
    matters: bool = False


class StatementFacts:
    """The statements of a function and its lambdas, innermost first, and the choices among them."""

    def __init__(self, f: Function, nodes: Sequence[object], names: SharedNames, members: OwnMembers) -> None:
        self.names = names
        self.members = members
        self.choices: list[Choice] = []
        self.visited: list[tuple[Stmt, Facts]] = []
        own = {n.id for n in nodes if isinstance(n, Var) and n.storage == "local"}
        own -= {id for id in own if isinstance(names.types[id], PointerTo | OpaqueType)}
        self._counters = {loop: id for loop, id in _counters(f.body).items() if id in own}
        self._visit(f.body, None)

    def _visit(self, s: Stmt, around: Choice | None) -> Facts:
        """Gather what a statement does. around: the loop or switch that a `break` in it leaves."""
        facts = Facts()
        parts: list[Stmt] = []
        expressions: list[Expr] = []
        if isinstance(s, Block):
            parts = list(s.body)
        elif isinstance(s, If):
            expressions = [s.condition]
            parts = [s.then] + ([s.otherwise] if s.otherwise is not None else [])
        elif isinstance(s, Loop):
            expressions = [e for e in (s.condition, s.step) if e is not None]
            parts = ([s.init] if s.init is not None else []) + [s.body]
        elif isinstance(s, Switch):
            expressions = [s.value]
            parts = [x for c in s.cases for x in c.body]
        elif isinstance(s, Declare):
            facts.declared.add(s.var.id)
            if s.var.storage != "local":
                facts.sticky = True
            expressions = [s.var.init] if s.var.init is not None else []
            if isinstance(s.var.type, RecordRef) and not self.names.calls.trivial(s.var.type):
                facts.sticky = True
        elif isinstance(s, Evaluate):
            expressions = [s.expr]
        elif isinstance(s, Break | Continue):
            facts.jumps = frozenset((type(s),))
        elif isinstance(s, Return | LaunchStmt | UnknownStmt | Goto):
            facts.sticky = True
            parts = list(s.parts) if isinstance(s, UnknownStmt) else []
        elif isinstance(s, Labeled):
            parts = [s.body]
        for e in expressions:
            self._expression(e, facts)
            for n in walk(e):
                if isinstance(n, Lambda):
                    self._visit(n.body, None)
        choice = Choice(s, facts, around) if isinstance(s, If | Switch | Loop) else None
        if choice is not None:
            self.choices.append(choice)
        inner = choice if isinstance(s, Loop | Switch) else around
        for b in [self._visit(p, inner) for p in parts]:
            facts.sticky = facts.sticky or b.sticky
            facts.access = facts.access or b.access
            facts.jumps |= b.jumps
            facts.assigned |= b.assigned
            facts.declared |= b.declared
            facts.through |= b.through
        if id(s) in self._counters:
            facts.declared.add(self._counters[id(s)])
        if isinstance(s, Loop):
            facts.jumps = frozenset()
        elif isinstance(s, Switch):
            facts.jumps -= {Break}
        self.visited.append((s, facts))
        return facts

    def _expression(self, e: Expr, facts: Facts) -> None:
        nodes = list(walk(e))
        passed_over = {id(n.callee) for n in nodes if isinstance(n, Call) and self.names.inert(n)}
        passed_over |= set(self.members.around(e))
        if self.names.calls.unseen(nodes, self.names.types):
            facts.sticky = True
        for n in nodes:
            if id(n) in passed_over:
                continue
            if isinstance(n, Assign):
                root = root_of(n.target, self.names.types)
                if (member := self.members.computed_by(n)) is not None:
                    facts.assigned.add(id_of(member))
                elif root is None:
                    facts.sticky = True
                elif root not in self.names.memory or isinstance(n.target, Name):
                    self._note_set(root, n.target, facts)
            elif isinstance(n, Unary) and n.op in STEPS:
                root = root_of(n.operand, self.names.types)
                if root is None:
                    facts.sticky = True
                else:
                    self._note_set(root, n.operand, facts)
            elif isinstance(n, Call | Asm):
                if not self.names.inert(n):
                    facts.sticky = True
                    continue
                for out in self.names.calls.outputs(n):
                    root = place_of(out)
                    if root is None or self.names.calls.holds_pointers(
                        self.names.types.get(root, INT)
                    ) is not (isinstance(self.names.types.get(root), PointerTo)):
                        facts.sticky = True
                    elif root:
                        self._note_set(root, out, facts)
            elif isinstance(n, Construct):
                facts.sticky = facts.sticky or not self.names.calls.trivial(n.type)
            elif isinstance(n, UnknownExpr | Lambda | This):
                facts.sticky = True
            elif self.names.reaches_shared(n):
                facts.access = True

    def _note_set(self, root: str, target: Expr, facts: Facts) -> None:
        """Note that a variable is set, or something that it leads to."""
        facts.assigned.add(root)
        t = self.names.types.get(root)
        if is_reference(t) or (isinstance(t, PointerTo | OpaqueType) and not isinstance(target, Name)):
            facts.through.add(root)


def _counters(body: Stmt) -> dict[int, str]:
    """By id() of a loop `for (i = ...; ...)`: its counter, where loops that set it first are all that names
    it. It is then as if each of them, but for those inside another, declared its own."""
    outside = Counter(n.id for n in walk(body) if isinstance(n, Name))
    inside: set[tuple[int, str]] = set()
    found: dict[int, str] = {}
    for n in walk(body):
        counter = _set_first(n)
        if counter and (id(n), counter) not in inside:
            found[id(n)] = counter
            parts = list(walk(n))
            inside.update((id(x), counter) for x in parts)
            outside[counter] -= sum(isinstance(x, Name) and x.id == counter for x in parts)
    return {loop: counter for loop, counter in found.items() if not outside[counter]}


def _set_first(n: object) -> str:
    """The variable that a loop begins with setting; '' for what is none."""
    if not isinstance(n, Loop) or not isinstance(n.init, Evaluate) or not isinstance(n.init.expr, Assign):
        return ""
    first = n.init.expr
    if first.op != "=" or not isinstance(first.target, Name) or first.target.id in names_in(first.value):
        return ""
    return first.target.id
