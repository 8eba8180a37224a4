"""Which values of a file's host code may be known by what other files say, without running any of them.

Too many rather than too few. Order and conditions count for nothing: a variable may be all that is ever put
into it, a member all that any object's member of that name is set to, and what is called by a name alone may
be each function of that name. What stays unknown however it is called is what functions without a body give
back: `x.size(0)` of a library's class.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import smemlint.evaluate.run.evaluators  # noqa: F401  says which functions are known
from smemlint.evaluate.machine.functions import FUNCTIONS, short_name
from smemlint.ir import (
    STEPS,
    Assign,
    Binary,
    Call,
    Cast,
    Conditional,
    Construct,
    Declare,
    Expr,
    FloatLiteral,
    Function,
    If,
    Index,
    InitList,
    Lambda,
    Literal,
    Loop,
    Member,
    Module,
    Name,
    PackSize,
    PointerTo,
    RecordRef,
    Return,
    Scalar,
    SizeOf,
    Special,
    StaticMember,
    StringLiteral,
    Switch,
    This,
    Type,
    Unary,
    Var,
)
from smemlint.ir.expr import uncast
from smemlint.ir.types import element_type
from smemlint.ir.walk import nodes_of, walk
from smemlint.launch.source.assignments import filled_by, roots_of, stand_ins
from smemlint.launch.source.receivers import made_to_call, methods_meant
from smemlint.launch.source.starters import said
from smemlint.records import record

HERE = 1
"""A value that may be a number which the file's own code says."""
TOLD = 2
"""One that may be a number only since another file says it, or calls for it."""
_ALL_KNOWN = ("+", "-", "*", "/", "<<", ">>", "^")
"""Operators of which a number comes only from numbers; of others one of the two may do."""
_LIBRARY = ("std::", "thrust::", "cub::", "cuda", "cu", "omp_", "__builtin")
_KNOWN = {*map(short_name, FUNCTIONS), "get", "make_pair", "make_shared", "make_tuple", "make_unique"}
_MAKING = ("make_", "emplace", "new", "allocate")
_PLAIN = (Literal, FloatLiteral, StringLiteral, SizeOf, PackSize)

Given: TypeAlias = "tuple[tuple[str, int], ...]"
"""What the parameters of one call may be, by id."""
Key: TypeAlias = "tuple[str, str, Given | None]"
Put: TypeAlias = "tuple[Expr | None, Function]"
"""What is put somewhere, and the function in which that stands; None: anything."""


@record(frozen=True, slots=True)
class Passed:
    """One call of a function, seen from the function in which it stands."""

    arguments: tuple[Expr, ...]
    on: Expr | None
    within: Function


class Knowable:
    """The values of a program that may be known. own: the file itself."""

    def __init__(self, program: Module, own: Module, code: _Code | None = None) -> None:
        self.program, self.own, self.open_limits = program, own, code is not None
        self._code = code or _Code(program)
        self._found: dict[Key, int] = {}
        self._changed = False
        self._asked: set[Key] = set()

    def with_open_limits(self) -> Knowable:
        """The same, where any number that another file passes counts: its checks may limit what it does not
        know itself."""
        return Knowable(self.program, self.own, self._code)

    def may_be_told(self, e: Expr, f: Function) -> bool:
        """Whether a value of one of the file's functions may be a number by what other files say."""
        return bool(self._settled(lambda: self._of(e, f, None)) & TOLD)

    def is_called_elsewhere(self, f: Function) -> bool:
        """Whether another file calls one of the file's functions, or takes its address."""
        users = (c.within for c in self._code.passed(f))
        return f.id in self._code.values or any(g.id not in self.own.functions for g in users)

    def choices_may_be_told(self, f: Function) -> bool:
        """Whether another file may say which way a condition of the function goes."""
        return bool(self._settled(lambda: self._conditions(f, None)) & TOLD)

    def _settled(self, ask: Callable[[], int]) -> int:
        """The answer once what depends on itself changes no more."""
        while True:
            self._changed = False
            self._asked.clear()
            found = ask()
            if not self._changed:
                return found

    def _fact(self, f: Function) -> int:
        return HERE if f.id in self.own.functions else TOLD

    def _once(self, key: Key, ask: Callable[[], int]) -> int:
        known = self._found.get(key, 0)
        if key in self._asked or known & TOLD:
            return known
        self._asked.add(key)
        found = ask() | known
        if found != known:
            self._found[key] = found
            self._changed = True
        return found

    def _of(self, e: object, f: Function, given: Given | None) -> int:
        """What one expression may be. given: the parameters of the call of f that is looked at; None: any."""
        rule = _RULES.get(type(e))
        return TOLD if rule is None else rule(self, e, f, given)

    def _any(self, parts: Iterable[object], f: Function, given: Given | None) -> int:
        found = 0
        for part in parts:
            found |= self._of(part, f, given)
        return found

    def _plain(self, e: Expr, f: Function, given: Given | None) -> int:
        return self._fact(f)

    def _nothing(self, e: Expr, f: Function, given: Given | None) -> int:
        return 0

    def _name(self, e: Name, f: Function, given: Given | None) -> int:
        if not e.id or e.id in self.program.functions:
            return self._fact(f)
        if self._code.is_object(self._code.type_of(e, f)):
            return 0  # its members hold what it is given
        passed = dict(given or ()).get(e.id)
        if passed is not None:
            return passed | self._put(self._code.put.get(e.id, ()), given)
        home = self._code.home.get(e.id)
        return self._once(("variable", e.id, given), lambda: self._variable(e.id, home, given))

    def _variable(self, id: str, home: Function | None, given: Given | None) -> int:
        put = self._code.put.get(id, ())
        var = self.program.globals.get(id)
        if var is not None:
            mine = self.own.globals.get(id)
            here = mine is not None and mine.init is not None
            found = HERE if here else TOLD if mine is None or mine.elsewhere != var.elsewhere else 0
            found |= TOLD if var.init is not None and not here else 0
            return found | self._put(put, None)
        if home is None:
            return TOLD
        found = self._put(put, given)
        declared = self._code.declared.get(id)
        if declared is not None and declared.init is None and not put:
            found |= 0 if self._code.is_of_project(declared.type) else self._fact(home)
        at = next((i for i, p in enumerate(home.parameters) if p.id == id), None)
        if at is not None:
            found |= self._parameter(home, at)
        elif declared is None:
            found |= TOLD  # a lambda's, a template's
        return found | self._lent(id)

    def _lent(self, id: str) -> int:
        """What functions put into a variable, or a member (with a dot), that is lent to them."""

        def ask() -> int:
            found = 0
            for function, n in self._code.lent.get(id, ()):
                parameter = function.parameters[n].id
                found |= self._put(self._code.put.get(parameter, ()), None) | self._lent(parameter)
            return found

        return self._once(("lent", id, None), ask)

    def _parameter(self, f: Function, at: int) -> int:
        """What a parameter may be given where the function is called."""
        p = f.parameters[at]
        if f.name == "main":
            return TOLD
        found = 0
        for call in self._code.passed(f):
            fact = self._fact(call.within)
            if at >= len(call.arguments):
                found |= fact if p.init is not None or p.pack else 0
                continue
            if fact == TOLD and self.open_limits and not self._code.is_of_project(p.type):
                return TOLD
            parts = call.arguments[at:] if p.pack else (call.arguments[at],)
            found |= self._any(parts, call.within, None)
        return TOLD if f.id in self._code.values else found  # whoever has its address may call it

    def _put(self, put: Sequence[Put], given: Given | None) -> int:
        """One of several values, where conditions say which."""
        found = 0
        for e, f in put:
            found |= TOLD if e is None else self._of(e, f, given)
        if found & HERE and not found & TOLD and len(put) > 1:
            for f in {id(f): f for _, f in put}.values():
                found |= self._conditions(f, given) & TOLD
        return found

    def _conditions(self, f: Function, given: Given | None) -> int:
        return self._once(
            ("conditions", f.id, given), lambda: self._any(self._code.conditions[f.id], f, given)
        )

    def _unary(self, e: Unary, f: Function, given: Given | None) -> int:
        found = self._of(e.operand, f, given)
        return found | self._fact(f) if e.op == "&" else found

    def _binary(self, e: Binary, f: Function, given: Given | None) -> int:
        left, right = self._of(e.left, f, given), self._of(e.right, f, given)
        if e.op in _ALL_KNOWN and not (left and right):
            return 0
        return right if e.op == "," else left | right

    def _assign(self, e: Assign, f: Function, given: Given | None) -> int:
        return self._of(e.value, f, given) | (self._of(e.target, f, given) if e.op != "=" else 0)

    def _conditional(self, e: Conditional, f: Function, given: Given | None) -> int:
        found = self._of(e.then, f, given) | self._of(e.otherwise, f, given)
        return found | (self._of(e.condition, f, given) & TOLD) if found else 0

    def _cast(self, e: Cast, f: Function, given: Given | None) -> int:
        return self._of(e.operand, f, given)

    def _index(self, e: Index, f: Function, given: Given | None) -> int:
        base = self._of(e.base, f, given)
        return base | (self._of(e.index, f, given) & TOLD) if base else 0

    def _member(self, e: Member, f: Function, given: Given | None) -> int:
        found = self._of(e.base, f, given)
        if e.name.startswith("#"):
            return found | self._fact(f)
        return found | self._field(e.name, self._code.owner_of(e, f))

    def _field(self, name: str, owner: str | None) -> int:
        """What a member may be: of one class, or where that is not known of all that have one of its name."""

        def ask() -> int:
            code = self._code
            found = self._put(code.members_named(name, owner), None)
            for r in code.initial.get(name, ()):
                if owner in (None, r):
                    found |= HERE if r in self.own.records else TOLD
            return found | self._lent("." + name)

        return self._once(("member", f"{owner}.{name}", None), ask)

    def _static(self, e: StaticMember, f: Function, given: Given | None) -> int:
        known = isinstance(e.owner, RecordRef) and e.owner.name in self.own.records
        return HERE if known or f.id in self.own.functions else TOLD

    def _this(self, e: This, f: Function, given: Given | None) -> int:
        if self._code.is_object(RecordRef(f.record or "")):
            return 0
        return self._once(("this", f.id, None), lambda: self._objects(f))

    def _objects(self, f: Function) -> int:
        found = 0
        for call in self._code.passed(f):
            found |= 0 if call.on is None else self._of(call.on, call.within, None)
        return found

    def _construct(self, e: Construct, f: Function, given: Given | None) -> int:
        if self._code.is_object(e.type):
            return 0
        return self._any(e.arguments, f, given) if e.arguments else self._fact(f)

    def _list(self, e: InitList, f: Function, given: Given | None) -> int:
        return self._any(e.elements, f, given) if e.elements else self._fact(f)

    def _lambda(self, e: Lambda, f: Function, given: Given | None) -> int:
        return self._fact(f)

    def _call(self, e: Call, f: Function, given: Given | None) -> int:
        callees = self._code.callees(e, f)
        callee = uncast(e.callee)
        on = callee.base if isinstance(callee, Member) else None
        found = 0
        for g in callees:
            found |= self._returned(g, e, f, given)
        if callees:
            return found
        if on is not None:
            if self._code.is_of_project(self._code.type_of(on, f)):
                return 0  # nobody knows what it does
            held = self._of(on, f, given)
            return held if not held & HERE else held | (self._any(e.arguments, f, given) & TOLD)
        if isinstance(callee, Name) and callee.id in self._code.home:
            return TOLD  # a lambda, a pointer to a function
        if not isinstance(callee, Name | StaticMember):
            return TOLD
        if short_name(callee.name) not in _KNOWN and not callee.name.startswith(_LIBRARY):
            return 0  # nobody knows what it does
        return self._any(e.arguments, f, given) if e.arguments else self._fact(f)

    def _returned(self, g: Function, e: Call, f: Function, given: Given | None) -> int:
        """What a function may give back to one call of it."""
        passed: dict[str, int] = {}
        for i, p in enumerate(g.parameters):
            if p.pack:
                passed[p.id] = self._any(e.arguments[i:], f, given)
            elif i < len(e.arguments):
                passed[p.id] = self._of(e.arguments[i], f, given)
            else:
                passed[p.id] = self._fact(f)
        below = tuple(sorted(passed.items()))
        results = self._code.results(g)
        return self._once(("result", g.id, below), lambda: self._put([(r, g) for r in results], below))


_RULES: Mapping[type, Callable[..., int]] = {
    **dict.fromkeys(_PLAIN, Knowable._plain),
    Special: Knowable._nothing,
    Name: Knowable._name,
    Unary: Knowable._unary,
    Binary: Knowable._binary,
    Assign: Knowable._assign,
    Conditional: Knowable._conditional,
    Cast: Knowable._cast,
    Index: Knowable._index,
    Member: Knowable._member,
    StaticMember: Knowable._static,
    This: Knowable._this,
    Construct: Knowable._construct,
    InitList: Knowable._list,
    Lambda: Knowable._lambda,
    Call: Knowable._call,
}


class _Code:
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
            if not isinstance(
                element_type(var.type), Scalar
            ):  # of a long table of numbers nothing is looked at
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
            self._results[f.id] = tuple(
                n.value for n in nodes_of(f.body)
                if isinstance(n, Return) and n.value is not None and id(n) not in inner
            )  # fmt: skip
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
        return isinstance(t, RecordRef) and t.name in self.program.records and not t.name.startswith(_LIBRARY)

    def is_object(self, t: Type | None) -> bool:
        """Whether a type is a class whose objects are made by its own functions: what they hold is asked of
        its members."""
        if isinstance(t, PointerTo) and t.reference:
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
