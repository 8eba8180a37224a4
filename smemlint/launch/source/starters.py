"""Which functions of host code lead to a launch, and what each of them says in so many words."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping

from smemlint.ir import (
    SHARED,
    Call,
    Construct,
    Declare,
    Function,
    LaunchStmt,
    Member,
    Module,
    Name,
    RecordRef,
    StaticMember,
    Var,
)
from smemlint.ir.memo import by_identity
from smemlint.ir.walk import nodes_of, walk
from smemlint.launch.source.leading import named_as_value, names_as_value
from smemlint.launch.source.receivers import made_to_call, methods_meant
from smemlint.launch.source.settings import filled_before
from smemlint.records import record


@record(frozen=True, slots=True)
class Said:
    """What a function says of others. ids: of what it names; names: the same where only they are known;
    instances: names with template arguments, also of methods that are named and not called;
    called: methods that are called with template arguments; values: ids, or names where only they are known,
    of what it names and does not call."""

    ids: frozenset[str]
    names: frozenset[str]
    values: frozenset[str]
    instances: tuple[Name | Member | StaticMember, ...]
    called: tuple[Name | Member | StaticMember, ...]
    launches: tuple[LaunchStmt, ...]


def said(f: Function) -> Said:
    """What a function says; found once, as files that are linked are asked again and again."""
    return _said(f.body)


@by_identity
def _said(body: object) -> Said:
    nodes = nodes_of(body)
    names = [n for n in nodes if isinstance(n, Name)]
    callees = {id(n.callee) for n in nodes if isinstance(n, Call)}
    given = [n for n in nodes if isinstance(n, Name | Member | StaticMember) and n.arguments]
    called = {id(n) for n in given if id(n) in callees and not (isinstance(n, Name) and n.id)}
    hidden = (id for n in nodes if isinstance(n, Call) for id in n.hidden)
    return Said(
        frozenset(n.id for n in names if n.id).union(hidden),
        frozenset(_open_names(nodes)),
        named_as_value(nodes),
        tuple(n for n in given if id(n) not in called),
        tuple(n for n in given if id(n) in called),
        tuple(n for n in nodes if isinstance(n, LaunchStmt)),
    )


def open_name(f: Function) -> str:
    """What a function is called by where only its name is known: `name`, or `.name` of a method."""
    return f".{f.name}" if f.record is not None else f.name


def _open_names(nodes: Iterable[object]) -> set[str]:
    """What is called only by a name in some code."""
    found: set[str] = set()
    for n in nodes:
        if isinstance(n, Name) and not n.id:
            found.add(n.name.rsplit("::", 1)[-1])
        elif isinstance(n, Member | StaticMember):
            found.add(f".{n.name}")
        elif isinstance(n, Construct) and isinstance(n.type, RecordRef):
            found.add("." + n.type.name.rsplit("::", 1)[-1])
        elif isinstance(n, Call) and isinstance(n.callee, Construct):
            found.add(".operator()")
    return found


def called_by(module: Module, f: Function) -> frozenset[str]:
    """Ids of what a function names, and of the call operators of what it makes to be called."""
    made = (made_to_call(module, n) for n in nodes_of(f.body) if isinstance(n, Call))
    return said(f).ids.union(*made)


def launching_functions(module: Module, kernels: frozenset[str] | None = None) -> dict[str, Function]:
    """Host functions that start kernels (ids; None: any), themselves or through others."""
    host = {f.id: f for f in module.functions.values() if f.side in ("host", "both")}
    calls = {id: said(f).ids for id, f in host.items()}
    overloads = {id: open_name(f) for id, f in host.items()}
    named = {id: said(f).names for id, f in host.items()}
    found = {id for id, f in host.items() if _starts_one(module, f, kernels)}
    while True:
        names = {overloads[id] for id in found}
        reached = found | tables_of(module, found | names)
        more = {
            id
            for id, f in host.items()
            if id not in found and (calls[id] & reached or _names_one(module, f, named[id] & names, found))
        }
        if not more:
            return {id: f for id, f in host.items() if id in found}
        found |= more


def _names_one(module: Module, f: Function, names: Container[str], functions: set[str]) -> bool:
    """Whether f means one of the functions (ids) by these names that it says."""
    if not names:
        return False
    if any(name in names for name in said(f).names if not name.startswith(".")):
        return True
    return any(
        (
            isinstance(n, Member | StaticMember)
            and f".{n.name}" in names
            and _may_mean(module, f, n, functions)
        )
        or (isinstance(n, Call) and not functions.isdisjoint(made_to_call(module, n)))
        or (
            isinstance(n, Construct)
            and isinstance(n.type, RecordRef)
            and "." + n.type.name.rsplit("::", 1)[-1] in names
        )
        for n in nodes_of(f.body)
    )


def _may_mean(module: Module, f: Function, n: Member | StaticMember, functions: set[str]) -> bool:
    meant = methods_meant(module, f, n)
    return meant is None or not meant.isdisjoint(functions)


def tables_of(module: Module, functions: Container[str]) -> set[str]:
    """Variables outside functions that hold one of the functions, by id or by open name, or a lambda that
    starts a kernel, and what keeps one that is registered before `main`: variables, and functions (ids)."""
    found = {
        id
        for id, var in module.globals.items()
        if var.init is not None
        and var.storage not in SHARED
        and (names_as_value(var.init, functions) or _said(var.init).launches)
    }
    kept = (_kept_by(module, var) for var in filled_before(module) if var.id in found)
    return found.union(*kept)


def _kept_by(module: Module, var: Var) -> set[str]:
    """Where code that runs before `main` may put what a variable begins with: variables outside functions
    that its initialiser gets to, and functions that keep an object (ids)."""
    made = {n.type.name for n in walk(var.init) if isinstance(n, Construct) and isinstance(n.type, RecordRef)}
    begun = [f.id for f in module.functions.values() if f.is_constructor and f.record in made]
    waiting = [*(n.id for n in walk(var.init) if isinstance(n, Name)), *begun]
    found: dict[str, Function] = {}
    for id in waiting:
        f = module.functions.get(id)
        if f is not None and id not in found:
            found[id] = f
            waiting += said(f).ids
    lasting = {
        id
        for id, f in found.items()
        if any(isinstance(n, Declare) and n.var.storage == "static" for n in nodes_of(f.body))
    }
    return lasting | {id for id in waiting if id in module.globals and not module.globals[id].const}


def _starts_one(module: Module, f: Function, kernels: frozenset[str] | None) -> bool:
    """Whether a function holds a launch, of one of the kernels or of one that only running it tells."""
    return any(may_start(module, launch, kernels) for launch in said(f).launches)


def may_start(module: Module, launch: LaunchStmt, kernels: frozenset[str] | None) -> bool:
    """Whether a launch starts one of the kernels (ids; None: any), or one that only running it tells."""
    if kernels is None or not isinstance(launch.kernel, Name):
        return True
    named = (launch.kernel.id,) if launch.kernel.id else module.overloaded(launch.kernel.name)
    targets = [module.functions.get(id) for id in named]
    return not targets or any(
        t is None
        or t.side != "kernel"
        or not kernels.isdisjoint((t.id, *module.specialisations.get(t.id, ())))
        for t in targets
    )


def may_run(module: Module, launching: Mapping[str, Function]) -> dict[str, Function]:
    """Host functions that the launching ones may call, with these, and that variables begin with: by name,
    constructors and operators all of them."""
    host = {f.id: f for f in module.functions.values() if f.side in ("host", "both")}
    by_name: dict[str, list[Function]] = {}
    found = dict(launching)
    begun = {n.id for v in filled_before(module) for n in walk(v.init) if isinstance(n, Name)}
    found |= {id: f for id, f in host.items() if id in begun}
    for f in host.values():
        by_name.setdefault(open_name(f), []).append(f)
        if f.name.startswith("operator") or (f.record is not None and f.is_constructor):
            found.setdefault(f.id, f)
    waiting = list(found.values())
    for f in waiting:
        s = said(f)
        called = [host[id] for id in s.ids if id in host]
        for g in (*called, *(g for name in s.names for g in by_name.get(name, ()))):
            if g.id not in found:
                found[g.id] = g
                waiting.append(g)
    return found
