"""Which values of a file's host code may be known by what other files say, without running any of them.

Too many rather than too few. Order and conditions count for nothing: a variable may be all that is ever put
into it, a member all that any object's member of that name is set to, and what is called by a name alone may
be each function of that name. What stays unknown however it is called is what functions without a body give
back: `x.size(0)` of a library's class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

import smemlint.evaluate.run.evaluators  # noqa: F401  says which functions are known
from smemlint.evaluate.machine.functions import FUNCTIONS, short_name
from smemlint.ir import (
    Assign,
    Binary,
    Call,
    Cast,
    Conditional,
    Construct,
    Expr,
    FloatLiteral,
    Function,
    Index,
    InitList,
    Lambda,
    Literal,
    Member,
    Module,
    Name,
    PackSize,
    RecordRef,
    SizeOf,
    Special,
    StaticMember,
    StringLiteral,
    This,
    Unary,
)
from smemlint.ir.expr import uncast
from smemlint.launch.source.flows import LIBRARY, Flows, Put

HERE = 1
"""A value that may be a number which the file's own code says."""
TOLD = 2
"""One that may be a number only since another file says it, or calls for it."""
_ALL_KNOWN = ("+", "-", "*", "/", "<<", ">>", "^")
"""Operators of which a number comes only from numbers; of others one of the two may do."""
_KNOWN = {*map(short_name, FUNCTIONS), "get", "make_pair", "make_shared", "make_tuple", "make_unique"}
_PLAIN = (Literal, FloatLiteral, StringLiteral, SizeOf, PackSize)

Given: TypeAlias = "tuple[tuple[str, int], ...]"
"""What the parameters of one call may be, by id."""
Key: TypeAlias = "tuple[str, str, Given | None]"


class Knowable:
    """The values of a program that may be known. own: the file itself."""

    def __init__(self, program: Module, own: Module, code: Flows | None = None) -> None:
        self.program, self.own, self.open_limits = program, own, code is not None
        self._code = code or Flows(program)
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
        if short_name(callee.name) not in _KNOWN and not callee.name.startswith(LIBRARY):
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
