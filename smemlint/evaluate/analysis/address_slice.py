"""Which statements no address, mask or loop bound depends on: those are run once, for their size, then
skipped.

Most of a kernel's time goes into arithmetic on values that never become an address. The analysis
looks at one function at a time, its lambdas included, without regard to order, and sees through calls that
are inert: it may keep too much, never too little.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from smemlint.evaluate.analysis.own_members import LOCAL_THIS, floating
from smemlint.evaluate.analysis.parts_read.members import names_stored_back
from smemlint.evaluate.analysis.passed_lambdas import PassedLambdas
from smemlint.evaluate.analysis.purity import FRAGMENTS, Calls, place_of, root_of
from smemlint.evaluate.analysis.shared_names import SharedNames
from smemlint.evaluate.analysis.statement_facts import Choice, Facts, StatementFacts
from smemlint.ir import (
    STEPS,
    Asm,
    Assign,
    Binary,
    Call,
    Conditional,
    Construct,
    Evaluate,
    Expr,
    Function,
    If,
    Index,
    Lambda,
    LaunchStmt,
    Loop,
    Member,
    Module,
    Name,
    OpaqueType,
    PointerTo,
    Return,
    Scalar,
    Stmt,
    Switch,
    This,
    Type,
    Unary,
    UnknownExpr,
    Var,
)
from smemlint.ir.walk import children, handed, names_in, nodes_of, walk


class Slice:
    """skippable: id() of the statements that can be skipped, given which parameters may be shared and which
    template parameters are floating-point types.

    quiet: those that can be skipped in an iteration that leaves no trace, for they only access.
    sets: what a skipped statement would have changed; it is unknown afterwards.
    """

    def __init__(
        self,
        f: Function,
        may_be_shared: frozenset[str],
        calls: Calls,
        real: frozenset[str] = frozenset(),
    ) -> None:
        nodes = nodes_of(f.body)
        self.calls = calls
        self.passed = PassedLambdas(nodes)
        self.names = SharedNames(f, nodes, may_be_shared, calls, self.passed, real)
        self.gives_address = f.record is not None or self.names.given_back
        self.gives_memory = self.names.memory_given_back
        own = calls.own_members(f, LOCAL_THIS in may_be_shared)
        statements = StatementFacts(f, nodes, self.names, own)
        self.choices = statements.choices
        self.relevant: set[str] = set()
        self._spread_relevant(nodes, f)
        self.relevant |= names_stored_back(f)  # which of their members change
        self.skippable: set[int] = set()
        self.quiet: set[int] = set()
        self.sets: dict[int, frozenset[str]] = {}
        self.open: set[int] = set()
        self.deciding: set[int] = set()
        self.trailing: set[int] = set()
        self.handing: set[int] = set()
        for s, facts in statements.visited:
            self._skip(s, facts)

    # names whose values matter

    def _spread_relevant(self, nodes: Sequence[object], f: Function) -> None:
        links: list[tuple[str, Expr]] = []
        variables = [n for n in nodes if isinstance(n, Var)]
        pointers = {v.id for v in variables if self.calls.holds_pointers(v.type)}
        own = {v.id for v in variables if v.storage == "local"} | self.names.parameters
        chosen = {id(choice.statement) for choice in self.choices}
        flows: list[tuple[str, Expr]] = []
        for n in nodes:
            if not self._needs_of_access(n) and not self._needs_of_choice(n, chosen):
                self._needs_of_call(n, flows)
            if isinstance(n, Var) and n.id in self.passed.known:
                pass  # what it names matters where the lambda is called, and it is in `nodes` itself
            elif isinstance(n, Var) and n.init is not None:
                links.append((n.id, n.init))
                if n.id in self.names.shared:
                    self._need(n.init)
            elif isinstance(n, Assign):
                self._link(n, links, flows)
        self._need(*self.calls.unseen(nodes, self.names.types))
        links += [(parameter.id, value) for parameter, value in self.passed.links]
        pointers |= {p.id for p, _ in self.passed.links if isinstance(p.type, PointerTo | OpaqueType)}
        self.relevant |= {p.id for p in self.passed.open}
        none = frozenset[str]()
        named = [
            (target, names_in(value), _bases(value) if target in pointers else none)
            for target, value in links
        ]
        named += [(target, names_in(value), none) for target, value in flows]
        self._propagate(named, own)
        self.inside = frozenset(self.relevant)
        # What the caller gets through a pointer or reference may matter there.
        self.relevant |= {
            p.id for p in f.parameters if f.side != "kernel" and _hands_back(p.type, self.names.real)
        }
        self._propagate(named, own)

    def _needs_of_access(self, n: object) -> bool:
        """Make relevant what an access by itself depends on; whether the node is one."""
        if isinstance(n, Index) and self.names.touches(n.base):
            self._need(n.index, n.base)
        elif isinstance(n, Unary) and n.op == "*" and self.names.touches(n.operand):
            self._need(n.operand)
        elif isinstance(n, Member) and n.arrow and self.names.touches(n.base):
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
        if isinstance(n, Call | Asm) and self.names.inert(n):
            self._set_by(n, self.calls.outputs(n), flows)
            if isinstance(n, Call) and self._is_handed_shared(n):
                self._need(*(self._needed(n) or n.arguments), numbers=False)
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
        root = root_of(n.target, self.names.types)
        if root in self.names.memory and not isinstance(n.target, Name):
            links.append((root, n.target))  # what lies there is not known anyway
        elif root is not None:
            # What is written through a pointer is not where it points.
            through = not isinstance(n.target, Name) and self.names.leads_to_numbers(root)
            (flows if through else links).append((root, n.value))
            links.append((root, n.target))
            if root in self.names.shared and isinstance(n.target, Name):
                self._need(n.value)

    def _propagate(self, named: list[tuple[str, frozenset[str], frozenset[str]]], own: set[str]) -> None:
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
                if not choice.matters and self._is_relevant(choice):
                    choice.matters = changed = True
                    self._need_choice(choice.statement)

    def _is_relevant(self, choice: Choice) -> bool:
        """Whether it makes a difference to an address, mask or loop bound which way is taken."""
        facts = choice.facts
        if facts.sticky or facts.access or not self.relevant.isdisjoint(facts.outside):
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
            self.names.reaches_shared(n)
            or isinstance(n, Assign | Asm | Construct | Lambda | This | UnknownExpr)
            or (isinstance(n, Unary) and n.op in STEPS)
            or (isinstance(n, Call) and self._changes(n))
            for part in parts
            for n in walk(part)
        )

    def _changes(self, e: Call) -> bool:
        """Whether a call may set one of its arguments, or more."""
        return not self.names.inert(e) or any(place_of(a) != "" for a in self.calls.outputs(e))

    def _set_by(self, e: Expr, places: Iterable[Expr], flows: list[tuple[str, Expr]]) -> None:
        """What lies in these places matters only if the variables do that they belong to."""
        for place in places:
            root = place_of(place)
            if root:
                flows.append((root, e))
            elif root is None:
                self._need(place, numbers=False)

    def _is_handed_shared(self, e: Call) -> bool:
        """Whether a function of the module is given a shared address, or a method runs on what may hold one,
        and may access what is there."""
        if isinstance(e.callee, Member):
            return self.names.touches(e.callee.base)
        functions = self.calls.functions(e)
        return any(
            not isinstance(p.type, Scalar) and self.names.mentions_shared(a)
            for f in functions
            for p, a in handed(f.parameters, e.arguments)
        )

    def _needed(self, e: Call) -> list[Expr] | None:
        """The arguments that matter to addresses, masks or loop bounds inside a function of the module; None:
        not known."""
        functions = self.calls.functions(e)
        if not functions and isinstance(e.callee, Name) and (moved := FRAGMENTS.fullmatch(e.callee.name)):
            fragment = 0 if moved[1] == "load" else 1
            return [a for i, a in enumerate(e.arguments) if i != fragment]
        found = self.names.called(e)
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
            names = names_in(e)
            self.relevant |= names if numbers else names - self.names.numbers

    def _skip(self, s: Stmt, facts: Facts) -> None:
        """Note a statement that can be passed over."""
        outside = facts.outside
        passable = isinstance(s, If | Loop | Switch | Evaluate) and not facts.sticky and not facts.jumps
        if passable and not outside & self.relevant:
            self.quiet.add(id(s))
            self.sets[id(s)] = frozenset(outside)
            if not facts.access:
                self.skippable.add(id(s))


def _hands_back(t: Type, real: frozenset[str]) -> bool:
    """Whether a parameter of this type may bring the caller a number that becomes an address."""
    return isinstance(t, OpaqueType) or (isinstance(t, PointerTo) and not floating(t.to, real))


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


def slicer(module: Module) -> Callable[[Function, frozenset[str], frozenset[str]], Slice]:
    """Slices of the functions of one module."""
    calls = Calls(module, Slice)
    return lambda f, pointing, real: Slice(f, pointing, calls, real)
