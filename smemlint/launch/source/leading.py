"""Which calls and statements of a host function lead to a launch: they start a kernel, call a function that
does, or what holds one."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence

from smemlint.ir import (
    Call,
    Construct,
    Declare,
    Expr,
    Function,
    FunctionType,
    Lambda,
    LaunchStmt,
    Member,
    Module,
    Name,
    OpaqueType,
    PointerTo,
    RecordRef,
    StaticMember,
    Type,
    TypeParam,
    Unary,
)
from smemlint.ir.memo import by_identity
from smemlint.ir.walk import nodes_of, walk
from smemlint.launch.source.assignments import put_into
from smemlint.launch.source.receivers import made_to_call, methods_meant

MOST_HANDED = 6
"""Functions that hand on what they are given, one to the other, which are looked through."""


class Leading:
    """What in a function leads to a launch.

    launching: ids and names of the functions that start kernels, and of the variables that hold such. asked:
    whether a launch is one that is asked for; others are passed over.
    """

    def __init__(
        self, f: Function, launching: frozenset[str], module: Module, asked: Callable[[LaunchStmt], bool]
    ) -> None:
        self.function = f
        self.asked = asked
        self.launching = launching
        self.module = module
        self.called: dict[int, bool] = {}
        self.given = {p.id for p in f.parameters if _callable(p.type)}
        nodes = nodes_of(f.body)
        lambdas = [n.var for n in nodes if isinstance(n, Declare) and isinstance(n.var.init, Lambda)]
        before = -1
        while before < len(self.launching):  # a lambda may call another
            before = len(self.launching)
            self.called.clear()
            self.launching |= {v.id for v in lambdas if any(self.launches(n) for n in walk(v.init))}
        self.called.clear()
        self.launching |= self._holders(nodes)
        self.called.clear()

    def launches(self, n: object) -> bool:
        """Return whether a node starts a kernel that is asked for, or leads to what does."""
        return self.is_asked(n) or self.starts(n)

    def is_asked(self, n: object) -> bool:
        """Return whether a node is a launch that is asked for."""
        return isinstance(n, LaunchStmt) and self.asked(n)

    def starts(self, n: object) -> bool:
        """Return whether a node calls or makes what starts kernels."""
        if isinstance(n, Construct):
            name = n.type.name.rsplit("::", 1)[-1] if isinstance(n.type, RecordRef) else ""
            return f".{name}" in self.launching
        if not isinstance(n, Call):
            return False
        callee = n.callee.base if isinstance(n.callee, Member) else n.callee
        callee = callee.operand if isinstance(callee, Unary) else callee
        given = self.given
        if isinstance(callee, Name) and callee.id in given and not self._is_method(n.callee):
            return True
        if isinstance(n.callee, Member) and _calls_member(self.module, n.callee):
            return True
        if given and _hands_on(self.module, n, given, frozenset((self.function.id,))):
            return True
        if not self.launching.isdisjoint(made_to_call(self.module, n)):
            return True
        known = self.called.get(id(n))
        if known is None:
            known = any(
                x.id in self.launching or (not x.id and x.name.rsplit("::", 1)[-1] in self.launching)
                if isinstance(x, Name)
                else isinstance(x, Member | StaticMember)
                and f".{x.name}" in self.launching
                and self._may_launch(x)
                for x in walk(n)
            )
            self.called[id(n)] = known
        return known

    def _is_method(self, callee: Expr) -> bool:
        """Whether what is called is a method, and no function that an object holds or stands for."""
        return (
            isinstance(callee, Member)
            and callee.name != "operator()"
            and callee.name not in _fields_of(self.module)
        )

    def _may_launch(self, n: Member | StaticMember) -> bool:
        meant = methods_meant(self.module, self.function, n)
        return meant is None or not meant.isdisjoint(self.launching)

    def _holders(self, nodes: Sequence[object]) -> frozenset[str]:
        """Variables that functions which start kernels are put into, and what is taken out of these:
        `Run all[] = {&run_a, &run_b};`, `runs.push_back([&] { run(8); });`, `for (auto &run : runs)`,
        `Run run = chosen(type);`."""
        put: list[tuple[str, frozenset[str], bool]] = []
        for n in nodes:
            held, root = put_into(n)
            if held is not None and root is not None:
                inside = list(walk(held))
                runs = any(isinstance(x, Lambda) and any(map(self.launches, walk(x))) for x in inside)
                given = not isinstance(n, Declare) or _may_be_called(n.var.type)
                called = {id for x in inside if given for id in _called(x)}
                put.append((root, named_as_value(inside) | called, runs))
        found: set[str] = set()
        grew = True
        while grew:
            new = {
                root
                for root, names, runs in put
                if root not in found and (runs or not names.isdisjoint(self.launching | found))
            }
            found |= new
            grew = bool(new)
        return frozenset(found)


@by_identity
def _fields_of(module: Module) -> frozenset[str]:
    """Names of the fields of all classes."""
    return frozenset(field.name for record in module.records.values() for field in record.fields)


def _calls_member(module: Module, callee: Member) -> bool:
    """Whether what is called is what a member of an object holds: `task.run()` of a `std::function run;`."""
    inner = callee.base if callee.name == "operator()" else callee
    return isinstance(inner, Member) and inner.name in _held_functions(module)


@by_identity
def _held_functions(module: Module) -> frozenset[str]:
    """Names of the fields of all classes that hold functions."""
    return frozenset(
        field.name
        for record in module.records.values()
        for field in record.fields
        if isinstance(field.type, FunctionType)
        or (isinstance(field.type, RecordRef) and field.type.name == "std::function")
    )


def _may_be_called(t: Type) -> bool:
    """Whether a variable may hold a function, itself or among its elements, or refer to one that does."""
    return any(
        isinstance(x, OpaqueType | FunctionType | TypeParam)
        or (isinstance(x, RecordRef) and x.name == "std::function")
        for x in walk(t)
    )


def _called(n: object) -> tuple[str, ...]:
    """The function that a call means, by id, or by name where only that is known."""
    if not isinstance(n, Call) or not isinstance(n.callee, Name):
        return ()
    return (n.callee.id or n.callee.name.rsplit("::", 1)[-1],)


def names_as_value(code: object, functions: Container[str]) -> bool:
    """Whether some code names one of the functions (ids, or names where only they are known), and not to call
    it."""
    return any(name in functions for name in named_as_value(walk(code)))


def named_as_value(code: Iterable[object]) -> frozenset[str]:
    """What some nodes of code name (ids, or names where only they are known), and not to call it."""
    nodes = list(code)
    callees = {id(n.callee) for n in nodes if isinstance(n, Call)}
    names = [n for n in nodes if isinstance(n, Name | StaticMember) and id(n) not in callees]
    found = {n.id or n.name.rsplit("::", 1)[-1] for n in names if isinstance(n, Name)}
    # a method is known by its name with a dot: `&Me::run`, which has no id in a class template
    found |= {"." + n.name.rsplit("::", 1)[-1] for n in names if isinstance(n, StaticMember) or not n.id}
    return frozenset(found)


def _callable(t: Type) -> bool:
    """Whether a parameter may be a function that launches: a pointer to one, or anything a template takes."""
    while isinstance(t, PointerTo):
        t = t.to
    return isinstance(t, FunctionType | TypeParam)


def _hands_on(module: Module, n: Call, given: Container[str], on_the_way: frozenset[str]) -> bool:
    """Whether a call hands one of the parameters (ids) to a function that calls what it is given, itself or
    through others."""
    if not any(isinstance(x, Name) and x.id in given for a in n.arguments for x in walk(a)):
        return False
    named = n.callee if isinstance(n.callee, Name) else None
    ids = () if named is None else (named.id,) if named.id else module.overloaded(named.name)
    return any(
        id in on_the_way or _calls_given(module, module.functions[id], on_the_way)
        for id in ids
        if id in module.functions
    )


def _calls_given(module: Module, f: Function, on_the_way: frozenset[str]) -> bool:
    """Whether a function calls one of its parameters, or hands it to one that does."""
    given = {p.id for p in f.parameters if _callable(p.type)}
    return bool(given) and any(
        isinstance(n, Call)
        and (
            (isinstance(n.callee, Name) and n.callee.id in given)
            or (
                isinstance(n.callee, Member) and isinstance(n.callee.base, Name) and n.callee.base.id in given
            )
            or (len(on_the_way) < MOST_HANDED and _hands_on(module, n, given, on_the_way | {f.id}))
        )
        for n in nodes_of(f.body)
    )
