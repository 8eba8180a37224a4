"""What the host functions of a program put where, and how they call each other, whatever the order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from smemlint.ir import (
    STEPS,
    Assign,
    Call,
    Conditional,
    Construct,
    Declare,
    Expr,
    Function,
    If,
    InitList,
    Lambda,
    Loop,
    Member,
    Module,
    Name,
    PointerTo,
    RecordRef,
    Return,
    Scalar,
    StaticMember,
    Switch,
    This,
    Type,
    Unary,
    Var,
)
from smemlint.ir.expr import uncast
from smemlint.ir.types import element_type, is_reference
from smemlint.ir.walk import nodes_of, walk
from smemlint.launch.source.assignments import filled_by, roots_of, stand_ins
from smemlint.launch.source.receivers import made_to_call, methods_meant
from smemlint.launch.source.starters import said
from smemlint.records import record

LIBRARY = ("std::", "thrust::", "cub::", "cuda", "cu", "omp_", "__builtin")
"""How names of libraries begin that are known well enough."""
_MAKING = ("make_", "emplace", "new", "allocate")

Put: TypeAlias = "tuple[Expr | None, Function]"
"""What is put somewhere, and the function in which that stands; None: anything."""


@record(frozen=True, slots=True)
class Passed:
    """One call of a function, seen from the function in which it stands."""

    arguments: tuple[Expr, ...]
    on: Expr | None
    within: Function


class Flows:
    """What the host functions of a program put where, and how they call each other."""

    def __init__(self, program: Module) -> None:
        self.program = program
        self.put: dict[str, list[Put]] = defaultdict(list)
        self.members: dict[str, list[tuple[str | None, Put]]] = defaultdict(list)
        self.home: dict[str, Function] = {}
        self.declared: dict[str, Var] = {}
        self.conditions: dict[str, list[Expr]] = {}
        self.lent: dict[str, list[tuple[Function, int]]] = defaultdict(list)
        """By variable, and by member with a dot: functions to which it is lent, and as which parameter."""
        self.values: set[str] = set()
        """Functions (ids) that are named without a call of them."""
        self._calls: dict[str, list[Passed]] = defaultdict(list)
        self._results: dict[str, tuple[Expr | None, ...]] = {}
        self.initial: dict[str, list[str]] = defaultdict(list)
        self._types: dict[str, list[Type]] = defaultdict(list)
        for r in program.records.values():
            for field in r.fields:
                self._types[field.name].append(field.type)
                if field.init is not None:
                    self.initial[field.name].append(r.name)
        for var in program.globals.values():
            if not isinstance(element_type(var.type), Scalar):  # a table of numbers names nothing
                self.values |= {n.id for n in walk(var.init) if isinstance(n, Name)}
        for f in program.functions.values():
            if f.side in ("host", "both"):
                self._read(f)

    def passed(self, f: Function) -> Sequence[Passed]:
        """The calls of a function."""
        return self._calls.get(f.id, ())

    def results(self, f: Function) -> tuple[Expr | None, ...]:
        """What a function returns."""
        if f.id not in self._results:
            inner = {id(n) for x in nodes_of(f.body) if isinstance(x, Lambda) for n in walk(x.body)}
            own = (n for n in nodes_of(f.body) if isinstance(n, Return) and id(n) not in inner)
            self._results[f.id] = tuple(n.value for n in own if n.value is not None)
        return self._results[f.id]

    def callees(self, e: Call, f: Function) -> list[Function]:
        """The functions with a body that a call may mean."""
        callee = uncast(e.callee)
        ids: set[str] = set(made_to_call(self.program, e)).union(e.hidden)
        if isinstance(callee, Name):
            if not (callee.id and (callee.id in self.home or callee.id in self.program.globals)):
                ids |= self.program.meant(callee)
        elif isinstance(callee, Member | StaticMember):
            meant = methods_meant(self.program, f, callee)
            ids.update(self.program.methods.get(callee.name, ()) if meant is None else meant)
        found = (self.program.functions.get(id) for id in sorted(ids))
        return [g for g in found if g is not None and g.side in ("host", "both") and not g.declared]

    def members_named(self, name: str, owner: str | None) -> list[Put]:
        """What members of a name are set to, of one class or of all. None among the owners: any."""
        return [put for of, put in self.members.get(name, ()) if owner is None or of in (None, owner)]

    def owner_of(self, e: Member, f: Function) -> str | None:
        """The class that declares what an expression means, where that is known."""
        t = self.type_of(e.base, f)
        while isinstance(t, PointerTo):
            t = t.to
        return self._declaring(t.name, e.name) if isinstance(t, RecordRef) else None

    def _declaring(self, name: str | None, member: str) -> str | None:
        found = self.program.records.get(name or "")
        if found is None or found.template or found.specialises is not None:
            return None
        return name if any(x.name == member for x in found.fields) else None

    def is_of_project(self, t: Type | None) -> bool:
        """Whether a type is a class of the project, or leads to one."""
        while isinstance(t, PointerTo):
            t = t.to
        return isinstance(t, RecordRef) and t.name in self.program.records and not t.name.startswith(LIBRARY)

    def is_object(self, t: Type | None) -> bool:
        """Whether a type is a class whose objects are made by its own functions: what they hold is asked of
        its members."""
        if is_reference(t):
            t = t.to
        found = (
            self.program.records.get(t.name) if isinstance(t, RecordRef) and self.is_of_project(t) else None
        )
        return found is not None and (bool(found.constructors) or not found.plain)

    def type_of(self, e: Expr, f: Function) -> Type | None:
        """The type of an expression, as far as declarations say it."""
        e = uncast(e)
        if isinstance(e, Unary) and e.op in ("*", "&"):
            return self.type_of(e.operand, f)
        if isinstance(e, This):
            return RecordRef(f.record) if f.record is not None else None
        if isinstance(e, Name):
            var = self.declared.get(e.id) or self.program.globals.get(e.id)
            home = self.home.get(e.id)
            own = (p.type for p in home.parameters if p.id == e.id) if home is not None else iter(())
            return var.type if var is not None else next(own, None)
        if isinstance(e, Member):
            owner = self.type_of(e.base, f)
            while isinstance(owner, PointerTo):
                owner = owner.to
            record_ = self.program.records.get(owner.name) if isinstance(owner, RecordRef) else None
            own_fields = [] if record_ is None else [x.type for x in record_.fields if x.name == e.name]
            types = own_fields or self._types.get(e.name, [])
            if own_fields:
                return own_fields[0]
            same = types and all(self.is_of_project(t) for t in types)
            return types[0] if same else None
        return None

    def _read(self, f: Function) -> None:
        nodes = nodes_of(f.body)
        for p in f.parameters:
            self.home[p.id] = f
        others = stand_ins(self.program, nodes)
        conditions = self.conditions[f.id] = []
        for name, value in f.initialisers:
            self.members[name].append((self._declaring(f.record, name), (value, f)))
            for n in walk(value):
                self._node(n, f, others, conditions)
        for n in nodes:
            self._node(n, f, others, conditions)
        self.values |= said(f).values

    def _node(self, n: object, f: Function, others: Mapping[str, set[str]], conditions: list[Expr]) -> None:
        if isinstance(n, Declare):
            self.home[n.var.id] = f
            self.declared[n.var.id] = n.var
            if n.var.init is not None:
                self.put[n.var.id].append((n.var.init, f))
            if isinstance(n.var.type, RecordRef):
                self._made(n.var.type, (), "", f) if n.var.init is None else None
                if isinstance(n.var.init, InitList):
                    self._made(n.var.type, n.var.init.elements, "", f)
        elif isinstance(n, Assign):
            self._set(n.target, n.value, f, others)
        elif isinstance(n, Unary) and n.op in STEPS:
            self._set(n.operand, n.operand, f, others)
        elif isinstance(n, If | Conditional):
            conditions.append(n.condition)
        elif isinstance(n, Loop):
            conditions += [n.condition] if n.condition is not None else []
        elif isinstance(n, Switch):
            conditions.append(n.value)
        elif isinstance(n, Construct):
            self._made(n.type, n.arguments, n.chosen, f)
        elif isinstance(n, Call):
            self._called(n, f, others)

    def _set(self, target: Expr, value: Expr | None, f: Function, others: Mapping[str, set[str]]) -> None:
        for root in roots_of(target):
            for id in (root, *others.get(root, ())):
                self.put[id].append((value, f))
        for n in walk(target):
            if isinstance(n, Member):
                self.members[n.name].append((self.owner_of(n, f), (value, f)))

    def _called(self, n: Call, f: Function, others: Mapping[str, set[str]]) -> None:
        callee = uncast(n.callee)
        if filled_by(n) is not None and isinstance(callee, Member):
            for a in n.arguments or (callee.base,):
                self._set(callee.base, a, f, others)
        on = callee.base if isinstance(callee, Member) else None
        found = self.callees(n, f)
        for g in found:
            self._calls[g.id].append(Passed(n.arguments, on, f))
            for i, a in enumerate(n.arguments[: len(g.parameters)]):
                if isinstance(g.parameters[i].type, PointerTo):
                    self._lend(a, g, i, others)
        if not found:
            for a in _addressed(n):
                self._set(a, n, f, others)
            if isinstance(callee, Name | Member) and callee.name.rpartition("::")[2].startswith(_MAKING):
                self._perhaps_made(n, f)

    def _lend(self, a: Expr, g: Function, i: int, others: Mapping[str, set[str]]) -> None:
        a = uncast(a)
        a = a.operand if isinstance(a, Unary) and a.op == "&" else a
        for root in roots_of(a):
            for id in (root, *others.get(root, ())):
                self.lent[id].append((g, i))
        for n in walk(a):
            if isinstance(n, Member):
                self.lent["." + n.name].append((g, i))

    def _made(self, t: Type, arguments: tuple[Expr, ...], chosen: str, f: Function) -> None:
        """An object that is made: its constructors are called."""
        found = self.program.records.get(t.name) if isinstance(t, RecordRef) else None
        if found is None:
            return
        named = [
            found,
            *(self.program.records[s] for s in found.specialisations if s in self.program.records),
        ]
        for id in {c for r in named for c in r.constructors}:
            self._calls[id].append(Passed(arguments, None, f))

    def _perhaps_made(self, n: Call, f: Function) -> None:
        """What the library makes an object of, of one of the classes that take as many arguments."""
        callee = uncast(n.callee)
        given = callee.arguments if isinstance(callee, Name | Member) else ()
        named = [a for a in given if isinstance(a, RecordRef) and a.name in self.program.records]
        for a in named:
            self._made(a, n.arguments, "", f)
        if not named:
            for r in self.program.records.values():
                for id in r.constructors:
                    self._calls[id].append(Passed(n.arguments, None, f))


def _addressed(n: Call) -> Iterator[Expr]:
    """What a function without a body may set: what it is lent, and that of which it gets the address."""
    for i, a in enumerate(n.arguments):
        plain = uncast(a)
        if isinstance(plain, Unary) and plain.op == "&":
            yield plain.operand
        elif i in n.lent:
            yield plain
