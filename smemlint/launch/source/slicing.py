"""Which statements of host code a launch depends on: filling test data and checking results are passed
over."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial

from smemlint.evaluate.library.algorithms import WRITING
from smemlint.evaluate.library.host_checks import checked, ends
from smemlint.ir import (
    STEPS,
    ArrayOf,
    Assign,
    Block,
    Break,
    Call,
    Conditional,
    Construct,
    Continue,
    Declare,
    Expr,
    Function,
    FunctionType,
    Goto,
    If,
    Index,
    Labeled,
    Lambda,
    LaunchStmt,
    Loop,
    Member,
    Module,
    Name,
    PointerTo,
    Return,
    StaticMember,
    Stmt,
    Switch,
    Unary,
    UnknownStmt,
)
from smemlint.ir.expr import uncast
from smemlint.ir.memo import by_identity
from smemlint.ir.walk import names_in, nodes_of, walk
from smemlint.launch.source.assignments import (
    RETURNED,
    THIS,
    assigned_in,
    filled_by,
    led_by,
    put_into,
    root_of,
    roots_of,
    stand_ins,
)
from smemlint.launch.source.leading import Leading
from smemlint.launch.source.reads import MOST_PARTS, data_of, is_real, reads
from smemlint.launch.source.settings import Settings, run_by_object, runs_others
from smemlint.launch.source.throwing import calls, may_throw

_EXCHANGES = ("std::swap", "std::exchange", "swap", "exchange")
_READING = (
    "printf",
    "fprintf",
    "puts",
    "free",
    "cudaFree",
    "cudaFreeHost",
    "cudaFreeAsync",
    "strcmp",
    "strlen",
)
"""Functions of the library that set nothing which they are given a pointer to."""
_DEEDS = (Assign, Unary, Call, Construct, Declare, LaunchStmt)
_CALLED = "this()."
"""Before the name of a method that is called on the object that another one runs on."""


class HostSlice:
    """skippable: id() of the statements that neither launch, nor return, nor set what launches depend on.
    Known once `grow` has seen all functions, and `finish` was called.

    settings: the variables outside functions that launches may depend on. leads: what leads to a launch.
    open: id() of the branches that choose among launches. deciding: id() of what decides values that launches
    depend on. trailing, handing: see `Slice`. throwing: functions that may throw, where that is caught.
    """

    def __init__(
        self,
        f: Function,
        launching: frozenset[str],
        module: Module,
        settings: Settings,
        asked: Callable[[LaunchStmt], bool],
        throwing: frozenset[str] | None,
    ) -> None:
        self.function = f
        self.module = module
        self.settings = settings
        self.throwing = throwing
        self.keeps: dict[int, bool] = {}
        self.below: dict[int, tuple[set[str], set[str], bool]] = {}
        self.open: set[int] = set()
        nodes = nodes_of(f.body)
        self.data = data_of(module, f, nodes)
        self.leads = Leading(f, launching, module, asked)
        self.stand_for = stand_ins(module, nodes)
        self.named = _functions_in(module, nodes)
        self._mark(f.body)
        for n in nodes:
            if isinstance(n, Lambda):
                self._mark(n.body)
        self.relevant = self._outlives(f, nodes) | self.settings.globals
        self.own = frozenset(t for t in self._sets(f.body) if t.startswith(THIS))
        """What is set of the object that a method runs on."""
        self.members = self._leading()
        """Of any object, that what matters here reads."""
        self._seed(nodes)
        self.links = self._links(nodes)

    def _leading(self) -> set[str]:
        """Members that are references and pointers to numbers or objects, and are set: others see it."""
        record = self.module.records.get(self.function.record or "")
        pointers = {
            f.name
            for f in (record.fields if record is not None else ())
            if isinstance(f.type, PointerTo) and not is_real(f.type.to)
        }
        return pointers.intersection(part for t in self.own for part in t.split(".")[1:2])

    def grow(self, needed: NeededMembers) -> None:
        """Find what matters under the members that are needed so far, and add the members that it reads."""
        self.relevant.update(t for t in self.own if needed.has(t))
        changed = True
        while changed:
            changed = False
            for target, names, members in self.links:
                if target in self.relevant and not (names <= self.relevant and members <= self.members):
                    self.relevant |= names
                    self.members |= members
                    changed = True
        needed.add(self.members)

    @property
    def quiet(self) -> set[int]:
        """Host code is never run for what it accesses."""
        return self.skippable

    @cached_property
    def sets(self) -> Mapping[int, frozenset[str]]:
        """By assignment, what may be set by it that names no variable: nothing that is passed over does."""
        nodes = (n for n in nodes_of(self.function.body) if isinstance(n, Assign))
        named = ((n, roots_of(n.target)) for n in nodes if not isinstance(n.target, Name))
        return {
            id(n): frozenset(r for r in (*roots, *self._behind(roots)) if not r.startswith(THIS))
            for n, roots in named
        }

    def finish(self) -> None:
        self.skippable: set[int] = set()
        self._visit(self.function.body)
        self.deciding = self._deciding(self.function, nodes_of(self.function.body))
        self.trailing: set[int] = set()
        self.handing: set[int] = set()
        self._find_end(self.function.body)
        if self._below(self.function.body)[2]:
            self._find_returns(self.function.body)

    def _find_end(self, s: Stmt) -> None:
        """Find what follows the last launch on each way through a statement, if it launches."""
        if not self._below(s)[2] or isinstance(s, Loop | Switch | Labeled):
            return
        parts = _parts(s)
        if isinstance(s, Block | UnknownStmt):
            end = max(i for i, part in enumerate(parts) if self._below(part)[2])
            self.trailing.update(map(id, parts[end + 1 :]))
            parts = (parts[end],)
        elif not isinstance(s, If) and sum(map(self.leads.launches, walk(s))) == 1:
            self.handing.add(id(s))
        for part in parts:
            self._find_end(part)

    def _find_returns(self, s: Stmt) -> None:
        """Find the returns that no launch of the function comes behind. Behind one that may throw, or in what
        is tried, handlers come."""
        if isinstance(s, Return) and not may_throw(s, self.throwing):
            count = sum(map(self.leads.launches, walk(s)))
            if count < 2:
                (self.handing if count else self.trailing).add(id(s))
        elif not isinstance(s, UnknownStmt):
            for part in _parts(s):
                self._find_returns(part)

    def _below(self, s: Stmt) -> tuple[set[str], set[str], bool]:
        """What is assigned in a statement; what else it may set; whether it launches. Found once for each."""
        known = self.below.get(id(s))
        if known is None:
            assigned, handed, launches = set[str](), set[str](), self.leads.is_asked(s)
            for part in _parts(s):
                below = self._below(part)
                assigned |= below[0]
                handed |= below[1]
                launches = launches or below[2]
            for e in _expressions(s):
                nodes = _deeds(e)
                assigned |= assigned_in(nodes)
                handed |= self._handed(nodes)
                assigned |= self._behind(assigned)
                handed |= self._behind(handed | _called_variables(nodes))
                launches = launches or any(self.leads.launches(n) for n in nodes)
            known = self.below[id(s)] = assigned, handed, launches
        return known

    def _behind(self, names: Iterable[str]) -> set[str]:
        """What is set where some variables are, or are called: what references mean, what lambdas set."""
        return set[str]().union(*(self.stand_for.get(name, ()) for name in names))

    def _mark(self, s: Stmt) -> tuple[bool, frozenset[type[Stmt]]]:
        """Whether a statement launches or leaves the function or for a label, and how it leaves the loop or
        switch around it."""
        keep = isinstance(s, Return | Goto | Labeled) or self.leads.is_asked(s)
        keep = keep or may_throw(s, self.throwing)
        leaves = frozenset[type[Stmt]]({type(s)}) if isinstance(s, Break | Continue) else frozenset()
        for part in _parts(s):
            below = self._mark(part)
            keep, leaves = keep or below[0], leaves | below[1]
        keep = keep or self._below(s)[2]
        if isinstance(s, Loop | Switch):
            leaves -= {Break, Continue} if isinstance(s, Loop) else {Break}
        self.keeps[id(s)] = keep or bool(leaves)
        if isinstance(s, If | Switch) and any(self._below(part)[2] for part in _parts(s)):
            self.open.add(id(s))
        return keep, leaves

    def _outlives(self, f: Function, nodes: Sequence[object]) -> set[str]:
        """What the caller sees when the function has returned: references, what pointers lead to, members,
        globals, tables of functions."""
        found, pointers = {THIS, RETURNED}, set[str]()
        for p in (*f.parameters, *(p for n in nodes if isinstance(n, Lambda) for p in n.parameters)):
            if isinstance(p.type, PointerTo) and (p.type.reference or isinstance(p.type.to, FunctionType)):
                found.add(p.id)
            elif isinstance(p.type, PointerTo | ArrayOf) and p.id not in self.data:
                pointers.add(p.id)
        for n in nodes:
            target = n.target if isinstance(n, Assign) else None
            target = n.operand if isinstance(n, Unary) and n.op in STEPS else target
            if isinstance(target, Name):
                var = self.module.globals.get(target.id)
                if var is not None and not isinstance(var.type, PointerTo | ArrayOf):
                    found.add(target.id)
            elif target is not None:
                pointer, element = led_by(target)
                found |= {pointer} if pointer in pointers or not element else set()
            elif isinstance(n, Call) and not _only_reads(n.callee):
                found |= pointers.intersection(a.id for a in map(uncast, n.arguments) if isinstance(a, Name))
        return found - {""}

    def _seed(self, nodes: Sequence[object]) -> None:
        for n in nodes:
            if isinstance(n, Return) or self.leads.launches(n) or calls(n, self.throwing or ()):
                self._need(n)
            elif isinstance(n, If | Loop | Switch) and self.keeps.get(id(n)):
                condition = n.value if isinstance(n, Switch) else n.condition
                if condition is not None:
                    self._need(condition)
                if isinstance(n, Loop) and n.step is not None:
                    self._need(n.step)

    def _need(self, node: object) -> None:
        names, members = reads(node, self.data)
        self.relevant |= names
        self.members |= members

    def _links(self, nodes: Sequence[object]) -> list[tuple[str, frozenset[str], frozenset[str]]]:
        """What is set somewhere, with the names and members that it is made of there."""
        links: list[tuple[str, object]] = []
        beside: list[tuple[str, object]] = []  # what calls may set; only members are followed there
        for n in nodes:
            if isinstance(n, Declare) and n.var.init is not None:
                links.append((n.var.id, n.var.init))
            elif isinstance(n, Assign):
                links.extend((root, n) for root in roots_of(n.target))
            elif isinstance(n, If | Loop | Switch):
                # a condition decides over what is set below it
                condition = n.value if isinstance(n, Switch) else n.condition
                if condition is not None:
                    assigned, handed, _ = self._below(n)
                    links.extend((below, condition) for below in assigned)
                    beside.extend((below, condition) for below in handed)
            elif isinstance(n, Call):
                filled = filled_by(n)
                if filled is not None:
                    links.append((filled, n.arguments))
                known = self._callees(n.callee) or (
                    isinstance(n.callee, Name) and n.callee.name in (*_EXCHANGES, *WRITING)
                )
                (links if known else beside).extend((given, n) for given in self._handed([n]))
        read: dict[int, tuple[frozenset[str], frozenset[str]]] = {}
        for _, value in (*links, *beside):
            if id(value) not in read:
                read[id(value)] = reads(value, self.data)
        found = [(target, *read[id(value)]) for target, value in links]
        found += [(target, frozenset(), read[id(value)][1]) for target, value in beside]
        found += [(t, frozenset({v}), frozenset()) for v, meant in self.stand_for.items() for t in meant]
        initial = [(f"{THIS}.{name}", *reads(e, self.data)) for name, e in self.function.initialisers]
        return found + initial

    def _deciding(self, f: Function, nodes: Sequence[object]) -> set[int]:
        """id() of what chooses the values that the shape of a launch, its kernel or its instance are made
        of."""
        shaping = self._outlives(f, nodes) | (self.relevant & self.own)
        telling: list[object] = []
        for n in nodes:
            if isinstance(n, LaunchStmt) and self.leads.asked(n):
                telling += [e for e in (n.kernel, n.block, n.dynamic) if e is not None]
            elif isinstance(n, Return) or self.leads.starts(n):
                telling.append(n)
            elif isinstance(n, If | Switch) and id(n) in self.open:
                telling.append(n.value if isinstance(n, Switch) else n.condition)
        shaping.update(*(_chosen(e)[0] for e in telling))
        given: list[tuple[str, object]] = []
        for n in nodes:
            if isinstance(n, Declare) and n.var.init is not None:
                given.append((n.var.id, n.var.init))
            elif isinstance(n, Assign):
                given.extend((root, n.value) for root in roots_of(n.target))
        grew = True
        while grew:
            grew = False
            for target, e in given:
                if target in shaping and not _chosen(e)[0] <= shaping:
                    shaping |= _chosen(e)[0]
                    grew = True
        telling += [e for target, e in given if target in shaping]
        found = {each for e in telling for each in _chosen(e)[1]}
        for n in nodes:
            if isinstance(n, If | Switch | Loop) and not (isinstance(n, If) and n.constexpr):
                assigned, _, launches = self._below(n)
                loop = isinstance(n, Loop)
                if not (loop and launches) and (assigned & shaping or (not loop and _leaves(n))):
                    found.add(id(n))
        return found

    def _visit(self, s: Stmt) -> None:
        other = isinstance(s, LaunchStmt) and not self.leads.is_asked(s)
        kept = self.keeps[id(s)] or self._sets(s) & self.relevant or self._checks(s)
        if other or not (kept or (isinstance(s, Block) and ends(s))):
            self.skippable.add(id(s))
            return
        for part in _parts(s):
            # `launch(); exit(0);` ends the run; `if (failed) { print(); exit(1); }` does not happen
            if isinstance(part, Block) or not ends(part):
                self._visit(part)

    def _checks(self, s: Stmt) -> bool:
        """Whether a statement makes sure of something about what matters."""
        check = checked(s)
        names = set[str]() if check is None else reads(check[0], self.data)[0]
        return bool(names) and names <= self.relevant

    def _sets(self, s: Stmt) -> set[str]:
        assigned, handed, _ = self._below(s)
        return assigned | handed

    def _handed(self, nodes: Sequence[object]) -> set[str]:
        """Variables that are declared, or given to a function that may set them."""
        found: set[str] = set()
        for n in nodes:
            found.update(*(self.settings.set_by.get(id, ()) for id in run_by_object(self.module, n)))
            if isinstance(n, Declare):
                found.add(n.var.id)
            elif isinstance(n, Call):
                # what is handed over by address may be set by the callee
                callees = self._callees(n.callee)
                found.update(*(self.settings.set_by.get(f.id, ()) for f in callees))
                if self.settings.exported and runs_others(self.module, (n,)):
                    found |= self.settings.exported
                for i, a in enumerate(map(uncast, n.arguments)):
                    copied = callees and all(_copies(f, i) for f in callees)
                    address = isinstance(a, Unary) and a.op == "&"
                    given = roots_of(a)
                    found.update(x for x in given if address or x in self.stand_for or not copied)
                callee = n.callee
                base = callee.base if isinstance(callee, Member | Index) else callee
                if isinstance(base, Call | Construct):
                    found.update(roots_of(base))
                root = root_of(base)
                own = isinstance(callee, StaticMember) and self.function.record is not None
                if own or (root == THIS and isinstance(callee, Member)):  # `Base::set(n);` as `set(n);`
                    root = f"{_CALLED}{getattr(callee, 'name', '')}"
                if root is not None:
                    found.add(root)
        return found

    def _callees(self, callee: Expr) -> list[Function]:
        """The project's functions that a call may mean; none when some may be another."""
        callee = _object_called(callee)
        if not isinstance(callee, Name):
            return []
        if callee.id in self.named:
            return self.named[callee.id]
        own = self.module.functions.get(callee.id)
        ids = () if callee.id else self.module.overloaded(callee.name)
        return (
            [own] if own is not None else [f for i in ids if (f := self.module.functions.get(i)) is not None]
        )


@partial(by_identity, most=MOST_PARTS)
def _deeds(e: object) -> tuple[object, ...]:
    """The nodes at or below a part of a statement that may set, call or make something. Programs that are
    linked from the same files ask for the same parts."""
    return tuple(n for n in walk(e) if isinstance(n, _DEEDS))


@partial(by_identity, most=MOST_PARTS)
def _chosen(e: object) -> tuple[frozenset[str], tuple[int, ...]]:
    """The variables (ids) that are named at or below some code, and id() of what chooses a value there."""
    return names_in(e), tuple(id(n) for n in walk(e) if isinstance(n, Conditional))


def _only_reads(callee: Expr) -> bool:
    """Whether a function of the library leaves what it is given a pointer to as it is."""
    return isinstance(callee, Name) and not callee.id and callee.name.rsplit("::", 1)[-1] in _READING


def _object_called(callee: Expr) -> Expr:
    """The object of which a call is the operator; any other callee as it is."""
    return callee.base if isinstance(callee, Member) and callee.name == "operator()" else callee


def _functions_in(module: Module, nodes: Sequence[object]) -> dict[str, list[Function]]:
    """By variable: functions of the project that it is made of, or set to: `auto f = &set;`."""
    found: dict[str, list[Function]] = {}
    for n in nodes:
        held, root = put_into(n)
        if held is not None and root is not None:
            names = (module.functions.get(x.id) for x in walk(held) if isinstance(x, Name) and x.id)
            if functions := [f for f in names if f is not None]:
                found.setdefault(root, []).extend(functions)
    return found


@by_identity
def _leaves(s: Stmt) -> bool:
    """Whether a way through a branch ends the function, or a loop or switch."""
    return isinstance(s, Return | Break) or any(map(_leaves, _parts(s)))


class NeededMembers:
    """Names of the members that launches may depend on, of whatever class; what else a constructor or method
    sets of its object is passed over."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.set_by: dict[str, set[str]] = {}
        """By the name of a method: what it sets of its object, as tokens of `root_of`."""

    def add(self, names: set[str]) -> None:
        self.names |= names

    def has(self, token: str) -> bool:
        """Whether what is set of the object that a method runs on matters."""
        return self._has(token, set())

    def _has(self, token: str, asked: set[str]) -> bool:
        if not token.startswith(_CALLED):
            path = token.split(".")[1:]
            return not path or f"{path[-1]}." in self.names or not self.names.isdisjoint(path)
        name = token.removeprefix(_CALLED)
        if name in asked:
            return False
        asked.add(name)
        return name not in self.set_by or any(self._has(t, asked) for t in self.set_by[name])


def settle(slices: Sequence[HostSlice]) -> NeededMembers:
    """Find what matters in all these functions together, which are those that may run."""
    needed = NeededMembers()
    for s in slices:
        needed.set_by.setdefault(s.function.name, set()).update(s.own)
    before = -1
    while before < len(needed.names):
        before = len(needed.names)
        for s in slices:
            s.grow(needed)
    return needed


def _copies(f: Function, at: int) -> bool:
    """Whether a parameter is a number or object of its own."""
    return at < len(f.parameters) and not isinstance(f.parameters[at].type, PointerTo | ArrayOf)


def _called_variables(nodes: Sequence[object]) -> set[str]:
    return {n.callee.id for n in nodes if isinstance(n, Call) and isinstance(n.callee, Name)}


def _parts(s: Stmt) -> tuple[Stmt, ...]:
    if isinstance(s, Block):
        return s.body
    if isinstance(s, If):
        return (s.then,) if s.otherwise is None else (s.then, s.otherwise)
    if isinstance(s, Loop):
        return (s.body,) if s.init is None else (s.init, s.body)
    if isinstance(s, Switch):
        return tuple(x for c in s.cases for x in c.body)
    if isinstance(s, Labeled):
        return (s.body,)
    return s.parts if isinstance(s, UnknownStmt) else ()


def _expressions(s: Stmt) -> tuple[object, ...]:
    if isinstance(s, If):
        return (s.condition,)
    if isinstance(s, Loop):
        return tuple(e for e in (s.condition, s.step) if e is not None)
    if isinstance(s, Block | Labeled | Goto | UnknownStmt):
        return ()
    if isinstance(s, Switch):
        return (s.value,)
    return (s,)
