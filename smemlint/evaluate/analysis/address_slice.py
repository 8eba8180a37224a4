"""Which statements no address, mask or loop bound depends on: those are run once, for their size, then
skipped.

Most of a kernel's time goes into arithmetic on values that never become an address. The analysis
looks at one function at a time, its lambdas included, without regard to order, and sees through calls that
are inert: it may keep too much, never too little.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import field

from smemlint.evaluate.analysis.own_members import LOCAL_THIS, id_of
from smemlint.evaluate.analysis.own_members import floating as _floating
from smemlint.evaluate.analysis.purity import FRAGMENTS, Calls, Inside, place_of, plain, root_of
from smemlint.ir import (
    SHARED,
    STEPS,
    ArrayOf,
    Asm,
    Assign,
    Binary,
    Block,
    Break,
    Call,
    Cast,
    Conditional,
    Construct,
    Continue,
    Declare,
    Evaluate,
    Expr,
    Function,
    Goto,
    If,
    Index,
    Labeled,
    Lambda,
    LaunchStmt,
    Literal,
    Loop,
    Member,
    Module,
    Name,
    OpaqueType,
    PointerTo,
    RecordRef,
    Return,
    Scalar,
    Stmt,
    Switch,
    This,
    Type,
    TypeParam,
    Unary,
    UnknownExpr,
    UnknownStmt,
    Var,
)
from smemlint.ir.types import INT
from smemlint.ir.walk import children, walk
from smemlint.records import record


@record(slots=True)
class _Facts:
    """What one statement does, sub-statements included."""

    sticky: bool = False
    """Returns, calls, asm: cannot be skipped."""
    jumps: frozenset[type[Stmt]] = frozenset()
    """Break, Continue: what of them leaves the statement."""
    access: bool = False
    """May access shared memory: can be skipped only where nothing is recorded."""
    assigned: set[str] = field(default_factory=set)
    declared: set[str] = field(default_factory=set)


@record(slots=True)
class _Choice:
    """A statement that decides what runs, how often: what is below it, and the loop or switch around it."""

    statement: If | Switch | Loop
    facts: _Facts
    around: _Choice | None
    matters: bool = False


def _called_by(e: Call) -> str:
    """The variable that holds the lambda which a call may run, '' for other calls."""
    callee = e.callee
    if isinstance(callee, Member) and callee.name == "operator()":
        callee = callee.base
    return callee.id if isinstance(callee, Name) else ""


class _Passed:
    """What the parameters of a function's lambdas are given.

    links: (parameter, argument) of every call by the name of a lambda that is used in no other way. open:
    the parameters of all other lambdas, which may be given anything. bodies: id() of the lambdas of the first
    kind.
    """

    def __init__(self, nodes: list[object]) -> None:
        named = {n.id: n.init for n in nodes if isinstance(n, Var) and isinstance(n.init, Lambda)}
        uses: dict[str, int] = {}
        called: dict[str, list[Call]] = {}
        for n in nodes:
            if isinstance(n, Name) and n.id in named:
                uses[n.id] = uses.get(n.id, 0) + 1
            elif isinstance(n, Call) and (holder := _called_by(n)) in named:
                called.setdefault(holder, []).append(n)
        known = {name: f for name, f in named.items() if uses.get(name, 0) == len(called.get(name, ()))}
        self.known = known
        self.bodies = {id(f) for f in known.values()}
        self.links = [
            (parameter, value)
            for name, f in known.items()
            for call in called.get(name, ())
            for parameter, value in zip(f.parameters, call.arguments, strict=False)
        ]
        self.open = [
            p for n in nodes if isinstance(n, Lambda) and id(n) not in self.bodies for p in n.parameters
        ]

    def calls(self, e: Call) -> bool:
        """Whether a call is one of a known lambda by its name."""
        return _called_by(e) in self.known

    def results(self, e: Call) -> list[Expr]:
        """What a known lambda returns."""
        nodes = walk(self.known[_called_by(e)].body)
        return [n.value for n in nodes if isinstance(n, Return) and n.value is not None]


class Slice:
    """skippable: id() of the statements that can be skipped, given which parameters may be shared.

    quiet: those that can be skipped in an iteration that leaves no trace, for they only access.
    sets: what a skipped statement would have changed; it is unknown afterwards.
    """

    def __init__(self, f: Function, may_be_shared: frozenset[str], calls: Calls) -> None:
        self.calls = calls
        self.shared: set[str] = calls.shared | may_be_shared
        self.shared |= {p.id for p in f.parameters if calls.leads_to_memory(p.type)}
        self.parameters = {p.id for p in f.parameters}
        self.own = calls.own_members(f, LOCAL_THIS in may_be_shared)
        nodes = list(walk(f.body))
        self.passed = _Passed(nodes)
        self.memory = calls.shared | {n.id for n in nodes if isinstance(n, Var) and n.storage in SHARED}
        """Shared arrays, and what the kernel is given: stores there change no value that is followed."""
        if f.side == "kernel":
            pointers = [p for p in f.parameters if isinstance(p.type, PointerTo)]
            self.memory |= {p.id for p in pointers}
        self.types = {v.id: v.type for v in (*f.parameters, *(n for n in nodes if isinstance(n, Var)))}
        self._spread_shared(nodes, f)
        self._follow_memory(nodes)
        results = [n.value for n in nodes if isinstance(n, Return) and n.value is not None]
        leads = self._mentions_shared if isinstance(f.returns, Scalar | TypeParam) else self._touches
        self.gives_address = f.record is not None or any(map(leads, results))
        self.gives_memory = bool(results) and all(map(self._in_memory, results))
        self.choices: list[_Choice] = []
        self.visited: list[tuple[Stmt, _Facts]] = []
        own = {n.id for n in nodes if isinstance(n, Var) and n.storage == "local"}
        own -= {id for id in own if isinstance(self.types[id], PointerTo | OpaqueType)}
        self.counters = {loop: id for loop, id in _counters(f.body).items() if id in own}
        self._visit(f.body, None)
        self.relevant: set[str] = set()
        self._spread_relevant(nodes, f)
        self.skippable: set[int] = set()
        self.quiet: set[int] = set()
        self.sets: dict[int, frozenset[str]] = {}
        self.open: set[int] = set()
        self.deciding: set[int] = set()
        for s, facts in self.visited:
            self._skip(s, facts)

    # names that may hold shared addresses

    def _spread_shared(self, nodes: list[object], f: Function) -> None:
        links: list[tuple[str, Expr]] = []
        variables = [n for n in nodes if isinstance(n, Var)]
        references = {v.id for v in variables if isinstance(v.type, PointerTo) and v.type.reference}
        self.locals = {n.id for n in nodes if isinstance(n, Var) and n.storage == "local"}
        for n in nodes:
            if isinstance(n, Var):
                if n.storage in SHARED or self.calls.leads_to_memory(n.type):
                    self.shared.add(n.id)
                elif n.init is not None and n.storage != "param" and n.id not in self.passed.known:
                    links.append((n.id, n.init))
            elif isinstance(n, Assign):
                root = root_of(n.target)
                if root is not None:
                    links.append((root, n.value))
        links += [(parameter.id, value) for parameter, value in self.passed.links]
        self.shared |= {p.id for p in self.passed.open if not _floating(p.type)}
        references |= {
            p.id for p, _ in self.passed.links if isinstance(p.type, PointerTo) and p.type.reference
        }
        self.numbers = {v.id for v in (*variables, *f.parameters) if _floating(v.type)}
        links = [(target, value) for target, value in links if target not in self.numbers]
        changed = True
        while changed:
            changed = False
            for target, value in links:
                if target in self.shared:
                    continue
                # A reference is the element itself, not its value.
                named = target in references and self._touches(value)
                if named or self._mentions_shared(value):
                    self.shared.add(target)
                    changed = True

    def _mentions_shared(self, e: Expr) -> bool:
        """Whether a value may be, or hold, a shared address."""
        if isinstance(e, Name):
            return e.id in self.shared or not e.id
        if isinstance(e, Index | Member):
            return self._holds_pointers(e)
        if isinstance(e, Unary) and e.op == "*":
            return False
        if isinstance(e, Call) and self.passed.calls(e):
            return any(map(self._mentions_shared, self.passed.results(e)))
        if isinstance(e, Call) and (found := self._called(e)):
            return any(s is None or s.gives_address for s in found)
        if isinstance(e, Call) and isinstance(e.callee, Name) and self._inert(e):
            return any(map(self._mentions_shared, e.arguments))
        if isinstance(e, Call) and any(s is None or s.gives_memory for s in self._methods(e)):
            return True
        if isinstance(e, Call | Lambda | Construct | This | UnknownExpr):
            return any(isinstance(n, Name) and n.id in self.shared for n in walk(e)) or isinstance(
                e, Lambda | This
            )
        if isinstance(e, Unary) and e.op == "&":
            return any(isinstance(n, Name) and n.id in self.shared for n in walk(e))
        return any(self._mentions_shared(c) for c in children(e) if not isinstance(c, PointerTo | RecordRef))  # type: ignore[arg-type]

    def _follow_memory(self, nodes: list[object]) -> None:
        """Pointers that are only ever given addresses in memory are no other name for a local variable."""
        given: dict[str, list[Expr]] = {}
        for n in nodes:
            if isinstance(n, Var) and isinstance(n.type, PointerTo) and n.init is not None:
                named = n.init.id if n.type.reference and isinstance(n.init, Name) else n.id
                given.setdefault(named, []).append(n.init)
            elif isinstance(n, Assign) and n.op == "=" and isinstance(n.target, Name):
                given.setdefault(n.target.id, []).append(n.value)
            elif isinstance(n, Unary) and n.op == "&" and isinstance(n.operand, Name):
                given.setdefault(n.operand.id, []).append(n)  # may be set through its address
        local = [n for n in nodes if isinstance(n, Var) and n.storage == "local"]
        pointers = {n.id for n in local if isinstance(n.type, PointerTo) and not n.type.reference}
        pointers &= given.keys() - self.parameters
        grew = True
        while grew:
            more = {id for id in pointers - self.memory if all(map(self._in_memory, given[id]))}
            self.memory |= more
            grew = bool(more)

    def _in_memory(self, e: Expr) -> bool:
        """Whether an address is one in shared memory, or in memory that the kernel is given."""
        if isinstance(e, Name):
            return e.id in self.memory
        if isinstance(e, Literal):
            return True  # null leads nowhere
        if isinstance(e, Cast):
            return self._in_memory(e.operand)
        if isinstance(e, Unary) and e.op == "&":
            return isinstance(e.operand, Index) and self._in_memory(e.operand.base)
        if isinstance(e, Binary) and e.op in ("+", "-"):
            return self._in_memory(e.left)
        if isinstance(e, Call):
            found = self._called(e) if isinstance(e.callee, Name) else self._methods(e)
            return bool(found) and all(s is not None and s.gives_memory for s in found)
        return False

    def _methods(self, e: Call) -> list[Inside | None]:
        functions = self.calls.methods(e)
        return [self.calls.inside(f, frozenset()) for f in functions]

    def _called(self, e: Call) -> list[Inside | None]:
        """What is known inside each function of the module that a call by name may mean; empty where others
        may be meant."""
        functions = self.calls.functions(e)
        if any(len(f.parameters) != len(e.arguments) for f in functions):
            return []
        given = [self._touches(a) for a in e.arguments]
        return [
            self.calls.inside(f, frozenset(p.id for p, g in zip(f.parameters, given, strict=True) if g))
            for f in functions
        ]

    def _holds_pointers(self, e: Index | Member) -> bool:
        """A row of a shared array, or an element of a local array or record that shared addresses were put
        into."""
        root = root_of(e)
        if root not in self.shared:
            return False
        if isinstance(self.calls.written_type(e, self.types), ArrayOf):
            return True
        if root not in self.locals:
            return False
        t = self.types.get(root)
        return not isinstance(t, PointerTo) or self.calls.holds_pointers(t.to)

    # names whose values matter

    def _spread_relevant(self, nodes: list[object], f: Function) -> None:
        links: list[tuple[str, Expr]] = []
        variables = [n for n in nodes if isinstance(n, Var)]
        pointers = {v.id for v in variables if self.calls.holds_pointers(v.type)}
        own = {v.id for v in variables if v.storage == "local"} | self.parameters
        chosen = {id(choice.statement) for choice in self.choices}
        flows: list[tuple[str, Expr]] = []
        for n in nodes:
            if not self._needs_of_access(n) and not self._needs_of_choice(n, chosen):
                self._needs_of_call(n, flows)
            if isinstance(n, Var) and n.id in self.passed.known:
                pass  # what it names matters where the lambda is called, and it is in `nodes` itself
            elif isinstance(n, Var) and n.init is not None:
                links.append((n.id, n.init))
                if n.id in self.shared:
                    self._need(n.init)
            elif isinstance(n, Assign):
                self._link(n, links, flows)
        links += [(parameter.id, value) for parameter, value in self.passed.links]
        pointers |= {p.id for p, _ in self.passed.links if isinstance(p.type, PointerTo | OpaqueType)}
        self.relevant |= {p.id for p in self.passed.open}
        none = frozenset[str]()
        named = [
            (target, _names(value), _bases(value) if target in pointers else none) for target, value in links
        ]
        named += [(target, _names(value), none) for target, value in flows]
        self._spread(named, own)
        self.inside = frozenset(self.relevant)
        # What the caller gets through a pointer or reference may matter there.
        self.relevant |= {p.id for p in f.parameters if f.side != "kernel" and _hands_back(p.type)}
        self._spread(named, own)

    def _needs_of_access(self, n: object) -> bool:
        """Make relevant what an access by itself depends on; whether the node is one."""
        if isinstance(n, Index) and self._touches(n.base):
            self._need(n.index, n.base)
        elif isinstance(n, Unary) and n.op == "*" and self._touches(n.operand):
            self._need(n.operand)
        elif isinstance(n, Member) and n.arrow and self._touches(n.base):
            self._need(n.base)
        else:
            return False
        return True

    def _needs_of_choice(self, n: object, chosen: set[int]) -> bool:
        """Make relevant what decides which code runs, where that matters; whether the node is such a choice.
        chosen: id() of the statements that are looked at later."""
        if isinstance(n, If | Switch | Loop):
            if id(n) not in chosen:
                self._need_choice(n)
        elif isinstance(n, Conditional):
            if self._does_more(n.then, n.otherwise):
                self._need(n.condition)
        elif isinstance(n, Binary) and n.op in ("&&", "||"):
            if self._does_more(n.right):
                self._need(n.left)
        else:
            return False
        return True

    def _needs_of_call(self, n: object, flows: list[tuple[str, Expr]]) -> None:
        """Make relevant what calls, returns and launches take out of sight; flows: gets what they set."""
        if isinstance(n, Call | Asm) and self._inert(n):
            self._set_by(n, self.calls.outputs(n), flows)
        elif isinstance(n, Construct) and self.calls.trivial(n.type):
            pass
        elif isinstance(n, Call) and self.passed.calls(n):
            pass  # what its parameters are given is linked
        elif isinstance(n, Asm) and not any("+" in c for c in n.constraints):
            self._need(*n.inputs, numbers=False)
            self._set_by(n, n.outputs, flows)
        elif isinstance(n, Call) and (needed := self._needed(n)) is not None:
            self._need(*needed, numbers=False)
            self._set_by(n, [a for a in n.arguments if not any(a is b for b in needed)], flows)
        elif isinstance(n, Call | Asm | UnknownExpr | Construct) or (
            isinstance(n, Lambda) and id(n) not in self.passed.bodies
        ):
            self._need(n, numbers=False)
        elif isinstance(n, Return) and n.value is not None:
            self._need(n.value, numbers=False)
        elif isinstance(n, LaunchStmt):
            self._need(*n.arguments)

    def _link(self, n: Assign, links: list[tuple[str, Expr]], flows: list[tuple[str, Expr]]) -> None:
        """Note what an assignment makes a variable depend on."""
        root = root_of(n.target)
        if root in self.memory and not isinstance(n.target, Name):
            links.append((root, n.target))  # what lies there is not known anyway
        elif root is not None:
            # What is written through a pointer is not where it points.
            through = not isinstance(n.target, Name) and self._leads_to_numbers(root)
            (flows if through else links).append((root, n.value))
            links.append((root, n.target))
            if root in self.shared and isinstance(n.target, Name):
                self._need(n.value)

    def _spread(self, named: list[tuple[str, frozenset[str], frozenset[str]]], own: set[str]) -> None:
        """Make relevant what relevant names depend on. named: (variable, names in what it is given, names
        that it may point to)."""
        changed = True
        while changed:
            changed = False
            for target, names, bases in named:
                if target in self.relevant:
                    if names - self.relevant:
                        self.relevant |= names
                        changed = True
                elif not bases.isdisjoint(self.relevant & own):
                    # What is written through it may be the variable that matters.
                    self.relevant.add(target)
                    changed = True
            for choice in self.choices:
                if not choice.matters and self._matters(choice):
                    choice.matters = changed = True
                    self._need_choice(choice.statement)

    def _matters(self, choice: _Choice) -> bool:
        """Whether it makes a difference to an address, mask or loop bound which way is taken."""
        facts = choice.facts
        if facts.sticky or facts.access or not self.relevant.isdisjoint(facts.assigned - facts.declared):
            return True
        return bool(facts.jumps) and (choice.around is None or choice.around.matters)

    def _need_choice(self, s: If | Switch | Loop) -> None:
        condition = s.value if isinstance(s, Switch) else s.condition
        if condition is not None and not _counts_elements(condition):
            self._need(condition)
        elif condition is not None:
            self._need(*(c for c in children(condition) if not _is_count(c)))

    def _does_more(self, *parts: Expr) -> bool:
        """Whether an operand that may be passed over does more than compute."""
        return any(
            self._reaches_shared(n)
            or isinstance(n, Assign | Asm | Construct | Lambda | This | UnknownExpr)
            or (isinstance(n, Unary) and n.op in STEPS)
            or (isinstance(n, Call) and self._changes(n))
            for part in parts
            for n in walk(part)
        )

    def _changes(self, e: Call) -> bool:
        """Whether a call may set one of its arguments, or more."""
        return not self._inert(e) or any(place_of(a) != "" for a in self.calls.outputs(e))

    def _leads_to_numbers(self, id: str) -> bool:
        t = self.types.get(id)
        return isinstance(t, PointerTo) and not self.calls.holds_pointers(t.to)

    def _set_by(self, e: Expr, places: Iterable[Expr], flows: list[tuple[str, Expr]]) -> None:
        """What lies in these places matters only if the variables do that they belong to."""
        for place in places:
            root = place_of(place)
            if root:
                flows.append((root, e))
            elif root is None:
                self._need(place, numbers=False)

    def _needed(self, e: Call) -> list[Expr] | None:
        """The arguments that matter to addresses, masks or loop bounds inside a function of the module; None:
        not known."""
        functions = self.calls.functions(e)
        if not functions and isinstance(e.callee, Name) and (moved := FRAGMENTS.fullmatch(e.callee.name)):
            fragment = 0 if moved[1] == "load" else 1
            return [a for i, a in enumerate(e.arguments) if i != fragment]
        found = self._called(e)
        needed: set[int] = set()
        for f, inside in zip(functions, found, strict=False):
            if inside is None:
                return None
            needed |= {i for i, p in enumerate(f.parameters) if p.id in inside.inside}
        return [a for i, a in enumerate(e.arguments) if i in needed] if found else None

    def _need(self, *expressions: object, numbers: bool = True) -> None:
        """The names in expressions matter; `numbers`: floating-point ones too, for they may become an
        index."""
        for e in expressions:
            names = {n.id for n in walk(e) if isinstance(n, Name)}
            self.relevant |= names if numbers else names - self.numbers

    def _touches(self, base: Expr) -> bool:
        """Whether what is reached through this pointer may be shared."""
        return any(
            (isinstance(n, Name) and (n.id in self.shared or not n.id)) or isinstance(n, Call | This)
            for n in walk(base)
        )

    # statements

    def _visit(self, s: Stmt, around: _Choice | None) -> _Facts:
        """Gather what a statement does. around: the loop or switch that a `break` in it leaves."""
        facts = _Facts()
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
            if isinstance(s.var.type, RecordRef) and not self.calls.trivial(s.var.type):
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
        choice = _Choice(s, facts, around) if isinstance(s, If | Switch | Loop) else None
        if choice is not None:
            self.choices.append(choice)
        inner = choice if isinstance(s, Loop | Switch) else around
        for b in [self._visit(p, inner) for p in parts]:
            facts.sticky = facts.sticky or b.sticky
            facts.access = facts.access or b.access
            facts.jumps |= b.jumps
            facts.assigned |= b.assigned
            facts.declared |= b.declared
        if id(s) in self.counters:
            facts.declared.add(self.counters[id(s)])
        if isinstance(s, Loop):
            facts.jumps = frozenset()
        elif isinstance(s, Switch):
            facts.jumps -= {Break}
        self.visited.append((s, facts))
        return facts

    def _skip(self, s: Stmt, facts: _Facts) -> None:
        """Note a statement that can be passed over."""
        outside = facts.assigned - facts.declared
        passable = isinstance(s, If | Loop | Switch | Evaluate) and not facts.sticky and not facts.jumps
        if passable and not outside & self.relevant:
            self.quiet.add(id(s))
            self.sets[id(s)] = frozenset(outside)
            if not facts.access:
                self.skippable.add(id(s))

    def _expression(self, e: Expr, facts: _Facts) -> None:
        nodes = list(walk(e))
        passed_over = {id(n.callee) for n in nodes if isinstance(n, Call) and self._inert(n)}
        passed_over |= set(self.own.around(e))
        for n in nodes:
            if id(n) in passed_over:
                continue
            if isinstance(n, Assign):
                root = root_of(n.target)
                if (member := self.own.computed_by(n)) is not None:
                    facts.assigned.add(id_of(member))
                elif root is None:
                    facts.sticky = True
                elif root not in self.memory or isinstance(n.target, Name):
                    facts.assigned.add(root)
            elif isinstance(n, Unary) and n.op in STEPS:
                root = root_of(n.operand)
                if root is None:
                    facts.sticky = True
                else:
                    facts.assigned.add(root)
            elif isinstance(n, Call | Asm):
                if not self._inert(n):
                    facts.sticky = True
                    continue
                for out in self.calls.outputs(n):
                    root = place_of(out)
                    if root is None or self.calls.holds_pointers(self.types.get(root, INT)) is not (
                        isinstance(self.types.get(root), PointerTo)
                    ):
                        facts.sticky = True
                    elif root:
                        facts.assigned.add(root)
            elif isinstance(n, Construct):
                facts.sticky = facts.sticky or not self.calls.trivial(n.type)
            elif isinstance(n, UnknownExpr | Lambda | This):
                facts.sticky = True
            elif self._reaches_shared(n):
                facts.access = True

    def _inert(self, e: Call | Asm) -> bool:
        return plain(e) if isinstance(e, Asm) else self.calls.inert(e)

    def _reaches_shared(self, n: object) -> bool:
        """Whether a node by itself may access shared memory or pass its address on."""
        if isinstance(n, Index):
            return self._touches(n.base)
        if isinstance(n, Unary):
            return n.op == "*" and self._touches(n.operand)
        if isinstance(n, Member):
            return n.arrow and self._touches(n.base)
        return isinstance(n, Name) and (n.id in self.shared or not n.id)


def _hands_back(t: Type) -> bool:
    """Whether a parameter of this type may bring the caller a number that becomes an address."""
    return isinstance(t, OpaqueType) or (isinstance(t, PointerTo) and not _floating(t.to))


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
    if first.op != "=" or not isinstance(first.target, Name) or first.target.id in _names(first.value):
        return ""
    return first.target.id


def _names(e: object) -> frozenset[str]:
    return frozenset(n.id for n in walk(e) if isinstance(n, Name))


def _is_count(e: object) -> bool:
    """The number of a fragment's elements: its type tells, its value does not matter."""
    return isinstance(e, Member) and e.name == "num_elements"


def _counts_elements(e: Expr) -> bool:
    return isinstance(e, Binary) and (_is_count(e.left) or _is_count(e.right))


def _bases(e: object) -> frozenset[str]:
    """The names in an expression that a pointer or reference made of it may lead to: not those that only
    choose an element."""
    if isinstance(e, Name):
        return frozenset((e.id,))
    if isinstance(e, Index):
        return _bases(e.base)
    return frozenset[str]().union(*map(_bases, children(e)))


def slicer(module: Module) -> Callable[[Function, frozenset[str]], Slice]:
    """Slices of the functions of one module."""
    calls = Calls(module, Slice)
    return lambda f, pointing: Slice(f, pointing, calls)
