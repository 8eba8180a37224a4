"""Global variables of the host that launches may depend on, and the functions that set them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from smemlint.ir import (
    SHARED,
    STEPS,
    ArrayOf,
    Assign,
    Binary,
    Call,
    Construct,
    Declare,
    Expr,
    Function,
    FunctionType,
    Index,
    InitList,
    LaunchStmt,
    Literal,
    Member,
    Module,
    Name,
    PointerTo,
    RecordRef,
    Scalar,
    Type,
    Unary,
    Var,
)
from smemlint.ir.expr import OBJECT, uncast
from smemlint.ir.types import element_type, own_name
from smemlint.ir.walk import nodes_of, walk
from smemlint.launch.source.assignments import (
    RETURNED,
    is_asked_for,
    refers_to_object,
    root_of,
    sets_returned,
)
from smemlint.records import record
from smemlint.toolkit.reading import READING
from smemlint.toolkit.table import is_of_library

MOST_SHORT = 64
"""Elements of an array that may hold a number for each level or axis."""
_ARITHMETIC: dict[str, Callable[[int, int], int]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}


@record(frozen=True, slots=True)
class Settings:
    """globals: ids of the variables. exported: those that code of other files may set. set_by: those that
    each host function sets, itself or through others. stepped_by: of these those that it changes by what they
    were (`n *= 2`): it leaves another number to its next call than it began with."""

    globals: frozenset[str]
    exported: frozenset[str]
    set_by: Mapping[str, frozenset[str]]
    stepped_by: Mapping[str, frozenset[str]]

    def left_to_others(self, module: Module, f: Function) -> tuple[str, ...]:
        """Numbers that functions set which `f` does not call, or another file: where a program gets to `f`
        they may have run before it. Nothing runs before `main`."""
        if f.name == "main":
            return tuple(sorted(id for id in self.globals if _is_elsewhere(module.globals[id])))
        own = self.set_by.get(f.id, frozenset()) - self.stepped_by.get(f.id, frozenset())
        others = frozenset[str]().union(*self.set_by.values())
        return tuple(
            sorted(
                id
                for id in self.globals - own
                if _may_be_set(var := module.globals[id]) and (id in others or var.set_apart or var.elsewhere)
            )
        )


def _is_elsewhere(var: Var) -> bool:
    return var.elsewhere and _may_be_set(var)


def _may_be_set(var: Var) -> bool:
    return var.may_be_set() or _is_object(var)


def _is_object(var: Var) -> bool:
    return isinstance(var.type, RecordRef) and not var.const and var.storage in ("global", "static")


def filled_before(module: Module) -> tuple[Var, ...]:
    """The variables outside functions whose initialisers run code before `main`, in the order of the file,
    headers first: a registry may fill itself."""
    found = [v for v in module.globals.values() if v.storage not in SHARED and _runs_code(module, v.init)]
    return tuple(sorted(found, key=lambda v: (v.place.path == module.path, v.place.path, v.place.offset)))


def _runs_code(module: Module, init: Expr | None) -> bool:
    if isinstance(init, InitList):
        return any(_runs_code(module, e) for e in init.elements[:MOST_SHORT])
    if isinstance(init, Construct):
        own = isinstance(init.type, RecordRef) and init.type.name in module.records
        return own or any(_runs_code(module, e) for e in init.arguments)
    return isinstance(init, Call)


def settings(module: Module, launching: Iterable[Function]) -> Settings:
    """What is named in functions that launch: numbers, objects and short arrays of integers, and any arrays
    where a launch names them itself; others hold data."""
    found: set[str] = set()
    for f in launching:
        for n in nodes_of(f.body):
            if isinstance(n, Name) and _is_setting(_type(module, n.id)):
                found.add(n.id)
            elif isinstance(n, LaunchStmt):
                names = {
                    x.id
                    for e in (n.kernel, n.grid, n.block, n.dynamic)
                    for x in walk(e)
                    if isinstance(x, Name)
                }
                found.update(
                    id
                    for id in names
                    if (t := _type(module, id)) is not None
                    and isinstance(element_type(t), Scalar | RecordRef | FunctionType)
                )
    asked = any(map(_is_part_of_returned, (n for f in launching for n in nodes_of(f.body))))
    if not found and not asked:
        return Settings(frozenset(), frozenset(), {}, {})
    sets: dict[str, set[str]] = {}
    steps: dict[str, set[str]] = {}
    calls: dict[str, set[str]] = {}
    exposed = found & _exposed(module)
    exported = frozenset(id for id in found if module.globals[id].exported)
    for id, f in module.functions.items():
        if f.side in ("host", "both"):
            nodes = nodes_of(f.body)
            sets[id] = {r for n in nodes if (r := _variable(_written(n))) in found}
            # what a variable outside functions points to may be any whose address is known there
            sets[id] |= exposed if any(isinstance(_type(module, x), PointerTo) for x in sets[id]) else set()
            sets[id] |= {RETURNED} if asked and sets_returned(nodes) else set()
            sets[id] |= exported if exported and runs_others(module, nodes) else set()
            steps[id] = {r for n in nodes if _is_step(n) and (r := _variable(_written(n))) in found}
            calls[id] = {n.id for n in nodes if isinstance(n, Name) and n.id in module.functions}
            calls[id] |= {called for n in nodes for called in run_by_object(module, n)}
    return Settings(frozenset(found), exported, _with_called(sets, calls), _with_called(steps, calls))


def undefined(module: Module, nodes: Iterable[object]) -> Iterator[tuple[str, Call]]:
    """Calls of functions that neither the module nor the library defines, with their names."""
    for n in nodes:
        if isinstance(n, Call) and isinstance(n.callee, Name) and not n.callee.id:
            name = n.callee.name.rsplit("::", 1)[-1]
            if not module.overloaded(name) and not is_of_library(n.callee.name):
                yield name, n


def exported_to(module: Module, launching: Iterable[Function]) -> frozenset[str]:
    """Numbers and objects of the program (ids) that launching functions name and other files may set."""
    names = {n.id for f in launching for n in nodes_of(f.body) if isinstance(n, Name)}
    found = ((id, module.globals.get(id)) for id in names)
    return frozenset(id for id, v in found if v is not None and v.exported and _may_be_set(v))


def set_in(module: Module, asked: Iterable[str]) -> Iterator[str]:
    """Those of some variables that code of a file sets."""
    written = {_variable(_written(n)) for f in module.functions.values() for n in nodes_of(f.body)}
    for id in asked:
        if id in written or ((var := module.globals.get(id)) is not None and var.set_apart):
            yield id


def with_set_apart(module: Module, ids: Iterable[str]) -> Module:
    """Give a module with some of its variables as those that code elsewhere sets."""
    marked = {id: replace(module.globals[id], set_apart=True) for id in ids}
    return replace(module, globals={**module.globals, **marked})


def runs_others(module: Module, nodes: Iterable[object]) -> bool:
    """Whether code calls a function or method that another file defines."""
    methods = any(isinstance(n, Call) and OBJECT in n.lent for n in nodes)
    return methods or any(True for _ in undefined(module, nodes))


def run_by_object(module: Module, n: object) -> list[str]:
    """The constructors and destructors (ids) that a node of code runs as it makes an object of a class: its
    own, and those of its bases and members."""
    if not isinstance(n, Declare | Construct):
        return []
    waiting = [n.var.type if isinstance(n, Declare) else n.type]
    found: list[str] = []
    for t in waiting:
        record = module.records.get(t.name) if isinstance(t, RecordRef) else None
        if record is not None:
            found += [*record.constructors, *record.methods.get(f"~{own_name(record.name)}", ())]
            parts = (*record.written_bases, *(f.type for f in record.fields))
            waiting += [x for x in parts if isinstance(x, RecordRef) and x not in waiting]
    return found


def _is_part_of_returned(n: object) -> bool:
    """Whether code asks a part of an object that a function gives a reference or pointer to."""
    if isinstance(n, Declare):
        return n.var.init is not None and refers_to_object(n.var) and is_asked_for(uncast(n.var.init))
    return isinstance(n, Member) and root_of(n) == RETURNED


def _exposed(module: Module) -> set[str]:
    """Variables outside functions whose address is taken anywhere in host code."""
    codes: list[object] = [f.body for f in module.functions.values() if f.side in ("host", "both")]
    codes += [v.init for v in module.globals.values() if isinstance(v.type, PointerTo)]
    addresses = (n.operand for c in codes for n in walk(c) if isinstance(n, Unary) and n.op == "&")
    return {_variable(e) for e in addresses}


def _with_called(sets: Mapping[str, set[str]], calls: Mapping[str, set[str]]) -> Mapping[str, frozenset[str]]:
    """What functions do themselves or through others."""
    changed = True
    while changed:
        changed = False
        for id, called in calls.items():
            below = set[str]().union(*(sets.get(c, ()) for c in called))
            if not below <= sets[id]:
                sets[id] |= below
                changed = True
    return {id: frozenset(names) for id, names in sets.items() if names}


def _is_step(n: object) -> bool:
    """Whether an expression changes a variable by what it was."""
    return (isinstance(n, Assign) and n.op != "=") or (isinstance(n, Unary) and n.op in STEPS)


def _written(n: object) -> Expr | None:
    """What an expression sets, or hands out to be set: `n = 3`, `n++`, `&n`, `v.push_back(3)`."""
    if isinstance(n, Assign):
        return n.target
    if isinstance(n, Call) and isinstance(n.callee, Member) and n.callee.name not in READING:
        return n.callee.base
    return n.operand if isinstance(n, Unary) and n.op in (*STEPS, "&") else None


def _is_setting(t: Type | None) -> bool:
    if isinstance(t, ArrayOf):
        element: Type = t
        count = 1
        while isinstance(element, ArrayOf):
            count *= _number(element.extent) or MOST_SHORT + 1
            element = element.element
        return isinstance(element, Scalar) and element.kind in ("int", "uint") and count <= MOST_SHORT
    if isinstance(t, PointerTo):
        to = t.to
        return isinstance(to, RecordRef) or (isinstance(to, Scalar) and to.kind in ("int", "uint"))
    return isinstance(t, Scalar | RecordRef | FunctionType)


def _number(e: Expr | None) -> int | None:
    """The value of an extent that is written out: `8`, `LEVELS + 1`."""
    if isinstance(e, Literal):
        return e.value if isinstance(e.value, int) else None
    if isinstance(e, Binary):
        a, b = _number(e.left), _number(e.right)
        if a is not None and b is not None and e.op in _ARITHMETIC:
            return _ARITHMETIC[e.op](a, b)
    return None


def _type(module: Module, id: str) -> Type | None:
    """The type of a variable of the host; None of anything else."""
    var = module.globals.get(id)
    on_host = var is not None and not var.const and var.storage in ("global", "static")
    return var.type if var is not None and on_host else None


def _variable(target: Expr | None) -> str:
    while isinstance(target, Index | Member) or (isinstance(target, Unary) and target.op == "*"):
        target = target.operand if isinstance(target, Unary) else target.base
    return target.id if isinstance(target, Name) else ""
