"""In what way a kernel in which no access was seen has to do with shared memory: read off the tree.

A call leads to the function that it names; a method is one of the classes that the code around it mentions,
in a type, a template argument or a launch. Names alone would make a kernel out of every caller of `load`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from smemlint.ir import (
    SHARED,
    UNSHARED,
    Asm,
    Block,
    Call,
    Construct,
    Declare,
    Evaluate,
    Function,
    Launch,
    Member,
    Module,
    Name,
    Record,
    RecordRef,
    StaticMember,
    Stmt,
    TypeParam,
    UnknownStmt,
)
from smemlint.ir.uses import declared, given_memory, idle_shared
from smemlint.ir.walk import nodes_of, walk
from smemlint.records import record

CONVERSIONS = ("operator conversion", "operator()", "operator[]", "operator*", "operator->", "operator=")
"""Methods that are called without their name being written."""

_KNOWN_SPACES = frozenset(("cooperative_groups", "cub", "cuda", "nvcuda", "std", "thrust"))
"""Namespaces whose classes keep nothing in shared memory that their users do not declare."""


@record(frozen=True, slots=True)
class _Says:
    """What a body says: ids of functions and variables; names of functions, methods and classes; the shared
    memory in it, in words."""

    ids: frozenset[str]
    names: frozenset[str]
    members: frozenset[str]
    classes: frozenset[str]
    shared: str


class Sharing:
    """The functions of one module, each read once."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self._known: dict[str, _Says] = {}

    @cached_property
    def _globals(self) -> dict[str, str]:
        return {id: v.name for id, v in self.module.globals.items() if v.storage in SHARED}

    def of(self, kernel: Function, launch: Launch) -> str:
        """`it declares \\`tile\\``, or what stands in a function that it calls; '' where there is nothing."""
        first = self._says(kernel)
        if first.shared:
            return f"it {first.shared}"
        says = kernel.place.offset in self.module.saying_shared and kernel.place.path == self.module.path
        if says and not any(v.storage in SHARED for v in declared(kernel)):
            return "its text names shared memory"
        if launch.dynamic:
            return f"its launch gives it {launch.dynamic} bytes"
        if launch.dynamic is None and kernel.name in given_memory(self.module):
            return "a launch gives it dynamic shared memory"
        names, members = set(first.names), set(first.members)
        classes = set(first.classes) | set(_classes(launch.template.values()))
        classes |= set(_classes([p.type for p in kernel.parameters]))
        seen, queue = {kernel.id}, self._called(first.ids, names, members, classes)
        for owner, name in _handed_on(kernel, launch):
            found = self.module.methods.get(name, ())
            if not found:
                return f"it calls `{owner}::{name}`, and no launch tells what `{owner}` is"
            queue += [self.module.functions[id] for id in found if id in self.module.functions]
        while queue:
            f = queue.pop()
            if f.id in seen or f.side == "host":
                continue
            seen.add(f.id)
            said = self._says(f)
            if said.shared:
                how = "starts" if f.side == "kernel" else "calls"
                return f"`{f.name}`, which it {how}, {said.shared}"
            names |= said.names
            members |= said.members
            classes |= said.classes
            queue += [g for g in self._called(said.ids, names, members, classes) if g.id not in seen]
        return self._waits_around(kernel, names)

    def _waits_around(self, kernel: Function, names: set[str]) -> str:
        """Threads that wait for each other share something: an object of a class that was not read may."""
        if "__syncthreads" not in names:
            return ""
        for t in (v.type for v in declared(kernel)):
            if not isinstance(t, RecordRef) or t.name in self.module.records:
                continue
            space, _, own = t.name.partition("::")
            if own and space not in _KNOWN_SPACES:
                return f"its threads wait for each other, and `{t.name}` is not defined"
        return ""

    def _called(
        self, ids: Iterable[str], names: set[str], members: set[str], classes: set[str]
    ) -> list[Function]:
        functions = self.module.functions
        found = {id for id in ids if id in functions}
        for name in names:
            found.update(self.module.overloads.get(name, ()))
        for name in self._with_bases(classes):
            known = self.module.records[name]
            found.update(known.constructors)
            for method in (*members, *CONVERSIONS):
                found.update(known.methods.get(method, ()))
        return [functions[id] for id in sorted(found) if id in functions]

    def _with_bases(self, classes: set[str]) -> list[str]:
        """The classes that are known, those that they are made of included; the set grows by these."""
        queue = [name for name in classes if name in self.module.records]
        for name in queue:
            known = self.module.records[name]
            for more in (*_parts(known), *known.specialisations):
                if more in self.module.records and more not in classes:
                    classes.add(more)
                    queue.append(more)
        return list(dict.fromkeys(queue))

    def _says(self, f: Function) -> _Says:
        known = self._known.get(f.id)
        if known is None:
            known = self._known[f.id] = self._read(f)
        return known

    def _read(self, f: Function) -> _Says:
        ids, names, members, classes = set[str](), set[str](), set[str](), set[str]()
        shared, idle = "", idle_shared(self.module)
        for n in (*nodes_of(f.body), *(x for p in f.parameters for x in walk(p.type))):
            if isinstance(n, Declare) and n.var.storage in SHARED and n.var.id not in idle:
                shared = shared or f"declares `{n.var.name}`"
            elif isinstance(n, Name):
                if n.id in self._globals:
                    shared = shared or f"uses `{self._globals[n.id]}`"
                elif n.id:
                    ids.add(n.id)
                else:
                    names.add(n.name.rsplit("::", 1)[-1])
            elif isinstance(n, Member | StaticMember):
                members.add(n.name.rsplit("::", 1)[-1])
            elif isinstance(n, UnknownStmt) and n.code == UNSHARED:
                shared = shared or "declares a `__shared__` union without a name"
            elif isinstance(n, Asm) and "shared" in n.text:
                shared = shared or "has inline PTX on shared memory"
            elif isinstance(n, RecordRef):
                classes.add(n.name)
            elif isinstance(n, Construct) and isinstance(n.type, RecordRef):
                classes.add(n.type.name)
        if f.record is not None:
            classes.add(f.record)
        return _Says(frozenset(ids), frozenset(names), frozenset(members), frozenset(classes), shared)


def _handed_on(kernel: Function, launch: Launch) -> Iterator[tuple[str, str]]:
    """What a kernel that no launch is known of leaves to a class that it is given: the parameter of its
    template, and the method of it that it calls for what that does."""
    if not launch.assumed:
        return
    told = {p.id for p in kernel.template if isinstance(launch.template.get(p.name), RecordRef)}
    open_ = {p.id: p.name for p in kernel.template if p.kind == "type" and p.id not in told}
    nodes = nodes_of(kernel.body) if open_ else ()
    own = {v.id: v.type for v in (*kernel.parameters, *(n.var for n in nodes if isinstance(n, Declare)))}
    for n in _all_it_does(kernel):
        callee = n.expr.callee if isinstance(n, Evaluate) and isinstance(n.expr, Call) else None
        owner: object = None
        if isinstance(callee, StaticMember):
            owner = callee.owner
        elif isinstance(callee, Member) and isinstance(callee.base, Name):
            owner = own.get(callee.base.id)
        if isinstance(owner, TypeParam) and owner.id in open_ and isinstance(callee, Member | StaticMember):
            yield open_[owner.id], callee.name


def _all_it_does(kernel: Function) -> Sequence[Stmt]:
    """The one statement of a kernel that does no more than declare variables for it."""
    body = kernel.body.body if isinstance(kernel.body, Block) else (kernel.body,)
    done = [s for s in body if not isinstance(s, Declare)]
    return done if len(done) == 1 else ()


def _classes(types: Iterable[object]) -> Iterator[str]:
    for t in types:
        yield from (n.name for n in walk(t) if isinstance(n, RecordRef))


def _parts(known: Record) -> Iterator[str]:
    """Names of the classes that one derives from, holds or calls its own."""
    yield from _classes([*known.written_bases, *(f.type for f in known.fields), *known.aliases.values()])
