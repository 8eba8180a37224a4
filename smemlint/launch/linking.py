"""Launches that other files of the project tell: who starts the kernels of this one, or calls what does.

A wrapper's arguments are known where it is called. The few files that use a name of this one are read, and
host code runs over all of them as if they were one file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from smemlint.evaluate.analysis.facts import code_of
from smemlint.ir import Expr, Function, Module, Name, Record, Scalar, Unary
from smemlint.ir.memo import by_identity
from smemlint.ir.module import overloads_of
from smemlint.ir.walk import names_in, nodes_of
from smemlint.launch.host import started_kernels
from smemlint.launch.model import Allowance, Started
from smemlint.launch.source.assignments import put_into, root_of
from smemlint.launch.source.leading import names_as_value
from smemlint.launch.source.settings import exported_to, set_in, undefined, with_set_apart
from smemlint.launch.source.starters import called_by, launching_functions, may_start, said
from smemlint.launch.telling import may_tell
from smemlint.launch.ways import instance, instances_told
from smemlint.records import record

MAX_FILES = 6
PARTS = 3
"""A look at what the files read so far start may take one in so many of the steps that are left."""
MAX_ROUNDS = 3
"""A wrapper's caller may itself be a wrapper that a third file calls."""

Users: TypeAlias = "Callable[[str, Iterable[str], bool], Sequence[str]]"
"""Path of a file, names, and whether it is worth a longer search -> other files that use one of them."""
Definers: TypeAlias = "Callable[[str, Iterable[str]], Sequence[str]]"
"""Path of a file and names -> other files that define a function of such a name."""
Reader: TypeAlias = "Callable[[str, frozenset[str]], Module | None]"
"""Path of a file and names -> the file with the functions that use them; None where it cannot be read."""


@record(frozen=True, slots=True)
class Program:
    """What the project says of one module's launches. others: the modules that were read for it. own: ids of
    the kernels that the module itself starts."""

    started: tuple[Started, ...]
    others: tuple[Module, ...] = ()
    own: frozenset[str] = frozenset()

    def stand_in(self, kernel: Function, module: Module) -> tuple[Module, Function] | None:
        """A file that includes the kernel's and starts it, with the kernel: there it stands as it is
        compiled. None where the module is such a file itself."""
        if kernel.place.path != module.path and kernel.id in self.own:
            return None
        for other in self.others:
            for seen in other.kernels():
                # Its id may differ: a type of its parameters may be known there alone.
                if _place(seen) == _place(kernel):
                    return other, seen
        return None


def program_of(
    module: Module,
    kernels: frozenset[str],
    users: Users,
    definers: Definers,
    read: Reader,
    own: Allowance,
    theirs: Allowance,
) -> Program:
    """Launches of some of a module's kernels (ids), as far as needed from other files.

    own, theirs: what may be spent on the module's own host code, and on that of the files around it.
    """
    started = started_kernels(module, kernels=kernels, allowance=own)
    exported = exported_to(module, launching_functions(module, kernels).values())
    wanted = _open_names(module, kernels, started) | {module.globals[id].name for id in exported}
    open_ = kernels - {s.kernel.id for s in started if s.shaped}
    unstarted = kernels - {s.kernel.id for s in started}

    def defining(program: Module) -> Mapping[str, Module]:
        names = _handed_on(program, unstarted) | _shaping(program, open_)
        paths = definers(module.path, sorted(names))[:MAX_FILES] if names else ()
        return _defining({path: read(path, wanted | names) for path in paths}, names)

    if not wanted and not _shaping(module, open_):
        return Program(started)
    others: tuple[Module, ...] = ()
    linked: tuple[Started, ...] = ()
    ended, tells = True, False
    far = _open_names(module, open_, started) if open_ else frozenset()
    for found, last in _linked_files(module, wanted, users, read, far, defining):
        others = found
        apart = exported.intersection(id for o in others for id in set_in(o, exported))
        if apart:
            module = with_set_apart(module, apart)
            started = started_kernels(module, kernels=kernels, allowance=own)
        exported -= apart
        tells = tells or _may_tell(module, others, kernels, started)
        if not tells:  # what the run would show is known
            if _shaped(started, kernels):
                break
            continue
        if last:  # what a first look may take would be spent again
            ended = False
            break
        # The callers of what calls a kernel are read where its launch is still open.
        part = replace(theirs, steps=theirs.steps // PARTS)
        shown = started_kernels(link(module, others), kernels=kernels, allowance=part)
        theirs.steps -= theirs.steps // PARTS - part.steps
        ended = part.steps > 0
        linked = shown if ended else _with_earlier(shown, linked)
        if ended and _shaped(linked, kernels):
            break
    if not others:
        return Program(started)
    if not ended and theirs.steps > 0:
        shown = started_kernels(link(module, others), kernels=kernels, allowance=theirs)
        linked = shown if shown and theirs.steps > 0 else _with_earlier(shown, linked)
    # Where runs of all files end without a shape that the file itself tells, the file says more.
    shaped = {instance(s) for s in started if s.shaped}
    linked = tuple(s for s in linked if s.shaped or instance(s) not in shaped)
    # What no caller that was read asks for is started by others, which were not.
    known = {instance(s) for s in linked}
    rest = tuple(s for s in started if instance(s) not in known and s.template)
    unseen = {s.kernel.id for s in started} - {s.kernel.id for s in linked}
    rest += tuple(s for s in started if s.kernel.id in unseen and not s.template)
    return Program((*linked, *rest), others, frozenset(s.kernel.id for s in started))


def _with_earlier(found: Sequence[Started], earlier: Iterable[Started]) -> tuple[Started, ...]:
    """What a run without steps to its end shows, and the instances that one of fewer files had shown."""
    known = {instance(s) for s in found}
    return instances_told((*found, *(s for s in earlier if s.template and instance(s) not in known)))


def _may_tell(
    module: Module, others: tuple[Module, ...], kernels: frozenset[str], started: Sequence[Started]
) -> bool:
    """Whether a run with other files may tell more than one without them. started: what that one told."""
    alone = Program((), others, frozenset(s.kernel.id for s in started))
    if any(alone.stand_in(module.functions[k], module) is not None for k in kernels):
        return True  # they are looked at there
    try:
        return may_tell(module, link(module, others), kernels, started)
    except RecursionError:
        return True


def _shaped(started: Iterable[Started], kernels: frozenset[str]) -> bool:
    """Whether every launch of the kernels (ids) is found, with its shape."""
    shaped = {s.kernel.id: True for s in started}
    for s in started:
        shaped[s.kernel.id] &= s.shaped and s.dynamic is not None and not s.guessed
    return all(shaped.get(k, False) for k in kernels)


def program_around(
    other: Module, project: Program, kernels: Iterable[Function], allowance: Allowance
) -> tuple[Started, ...]:
    """Launches of the kernels in one of the files that were read for a project, with the others beside it."""
    linked = link(other, [o for o in project.others if o is not other])
    places = set(map(_place, kernels))
    ids = frozenset(k.id for k in other.kernels() if _place(k) in places)
    shown = started_kernels(linked, kernels=ids, allowance=allowance)
    if allowance.steps > 0:
        return shown
    return _with_earlier(shown, (s for s in project.started if s.kernel.id in ids))


def link(module: Module, others: Sequence[Module]) -> Module:
    """One module of several files. What two of them have is taken from the first, a `main` from each."""
    functions = dict(module.functions)
    records = dict(module.records)
    variables = dict(module.globals)
    specialisations = dict(module.specialisations)
    for other in others:
        for id, f in other.functions.items():
            if f.name == "main":
                f = _mains(f).setdefault(other.path, replace(f, id=f"{id} in {other.path}"))
            if functions.setdefault(f.id, f).declared:
                functions[f.id] = f
        for name, other_record in other.records.items():
            mine = records.get(name)
            records[name] = other_record if mine is None else _joined(mine, other_record)
        for id, var in other.globals.items():
            if id not in variables or (variables[id].init is None and var.init is not None):
                variables[id] = var
        for id, ids in other.specialisations.items():
            specialisations[id] = tuple(dict.fromkeys((*specialisations.get(id, ()), *ids)))
    return replace(
        module,
        functions=functions,
        records=records,
        globals=variables,
        specialisations=specialisations,
        overloads=overloads_of(functions),
        variable_templates={
            name: made for m in (*reversed(others), module) for name, made in m.variable_templates.items()
        },
        explicit_records=tuple(
            dict.fromkeys((*module.explicit_records, *(i for o in others for i in o.explicit_records)))
        ),
        explicit_instances=tuple(
            dict.fromkeys((*module.explicit_instances, *(i for o in others for i in o.explicit_instances)))
        ),
    )


@by_identity
def _mains(main: Function) -> dict[str, Function]:
    """A `main` as one of several, by the path of its file: one object, by which runs of it are known."""
    return {}


def _joined(mine: Record, other: Record) -> Record:
    """A class with the methods that either file defines, and the members that either sets."""
    if mine.place.path != other.place.path or mine.place.offset != other.place.offset:
        return mine
    methods = dict(mine.methods)
    for name, ids in other.methods.items():
        methods[name] = tuple(dict.fromkeys((*methods.get(name, ()), *ids)))
    assigned = dict(mine.assigned)
    for name, numbers in other.assigned.items():
        known = assigned.get(name, frozenset())
        assigned[name] = None if known is None or numbers is None else known | numbers
    return replace(mine, methods=methods, assigned=assigned)


def _linked_files(
    module: Module,
    wanted: frozenset[str],
    users: Users,
    read: Reader,
    far: frozenset[str],
    defining: Callable[[Module], Mapping[str, Module]],
) -> Iterator[tuple[tuple[Module, ...], bool]]:
    """The files that use the wanted names; then with them those that use what those define, and so on, one
    program's worth. Tells with the last of them that there are no more. far: the names that are worth a
    longer search. defining: the files, by their paths, that define what a program leaves open to it."""
    found: list[Module] = []
    seen = {module.path}
    asked: set[str] = set()
    program = module
    defined: Mapping[str, Module] | None = None
    for left in reversed(range(MAX_ROUNDS)):
        asked |= wanted
        new: list[Module] = []
        defined = defining(program) if defined is None else defined
        nearby = users(module.path, sorted(wanted), False)
        distant = users(module.path, sorted(wanted & far), True) if wanted & far else ()
        for path in dict.fromkeys((*defined, *nearby, *distant)):
            if path in seen or len(seen) > MAX_FILES or any(path in m.files for m in found):
                continue
            seen.add(path)
            other = defined[path] if path in defined else read(path, wanted)
            if other is None or not (path in defined or _means(other, wanted, (module, *found))):
                continue
            if not any(_clash(m, other) for m in (module, *found)):
                found.append(other)
                new.append(other)
        # What a file that was read starts may stand in this one, or in another that was read.
        if not new:
            return
        theirs = {id for m in new for id in m.functions if id not in module.functions}
        program = link(module, found)
        wanted = frozenset(_open_wrappers(program, None, theirs)) - asked if left else frozenset()
        # Where names are wanted there is another round, if these files do not say enough.
        defined = None if wanted else defining(program) if left else {}
        more = bool(wanted or defined)
        yield tuple(found), not more
        if not more:
            return


def _means(other: Module, wanted: frozenset[str], program: Iterable[Module]) -> bool:
    """Whether a file uses one of the wanted names for what a file of the program or a third one defines, and
    not for a function of its own."""
    known = {p for m in program for f in m.functions.values() for p in (f.id, _place(f))}
    own = {f.name for f in other.functions.values() if known.isdisjoint((f.id, _place(f)))}
    named = {n.rsplit(".", 1)[-1] for f in other.functions.values() for n in said(f).names}
    for f in other.functions.values():
        named |= {n.name.rsplit("::", 1)[-1] for n in nodes_of(f.body) if isinstance(n, Name) and n.id}
    return not wanted & named or bool((wanted & named) - own)


def _clash(a: Module, b: Module) -> bool:
    """Whether two files cannot be of one program: both define a function, or `main`."""
    for id, f in a.functions.items():
        other = b.functions.get(id)
        if other is not None and _place(f) != _place(other):
            return True
    mains = {_place(f) for m in (a, b) for f in m.functions.values() if f.name == "main"}
    return len(mains) > 1


def _place(f: Function) -> tuple[str, int]:
    return f.place.path, f.place.offset


def _open_names(module: Module, kernels: frozenset[str], started: Sequence[Started]) -> frozenset[str]:
    """Names whose users may tell more: kernels that nothing here starts, and what is called from elsewhere
    to start those whose launch is not fully known here."""
    by_kernel: dict[str, list[Started]] = {}
    for s in started:
        by_kernel.setdefault(s.kernel.id, []).append(s)
    names: set[str] = set()
    vague: set[str] = set()
    for kernel in module.kernels():
        if kernel.id not in kernels:
            continue
        if kernel.id not in by_kernel:
            names.add(kernel.name)
        else:
            relevant = code_of(module).slice(kernel, frozenset()).relevant
            if not all(_full(s, relevant) for s in by_kernel[kernel.id]):
                vague.add(kernel.id)
    unstarted = {k for k in kernels if k not in by_kernel}
    return frozenset(names | _open_wrappers(module, vague | unstarted) | _givers(module, unstarted))


def _givers(module: Module, kernels: set[str]) -> set[str]:
    """Names of host functions that hand out the address of one of the kernels (ids): what they are called
    for starts it."""
    return {
        f.name
        for f in module.functions.values()
        if f.side in ("host", "both") and f.name != "main" and names_as_value(f.body, kernels)
    }


def _handed_on(module: Module, kernels: frozenset[str]) -> frozenset[str]:
    """Names of functions that no file defines so far and that are given one of the kernels (ids), perhaps
    within an object."""
    found: set[str] = set()
    for f in module.functions.values():
        if f.side not in ("host", "both") or not names_as_value(f.body, kernels):
            continue
        nodes = nodes_of(f.body)
        held = set(kernels)
        before = 0
        while before < len(held):
            before = len(held)
            held |= {root for what, root in map(put_into, nodes) if root and names_as_value(what, held)}
        found |= {name for name, n in undefined(module, nodes) if names_as_value(n.arguments, held)}
    return frozenset(found)


def _shaping(module: Module, kernels: frozenset[str]) -> frozenset[str]:
    """Names of functions that no file defines so far and that may set the shape which one of the kernels
    (ids) is started in: they are given a variable of it by reference, or its address."""
    found: set[str] = set()
    for f in module.functions.values():
        launches = [n for n in said(f).launches if may_start(module, n, kernels)]
        if not launches:
            continue
        nodes = nodes_of(f.body)
        shapes = names_in(tuple((n.grid, n.block) for n in launches))
        for what, root in map(put_into, nodes):  # `dim3 block(threads);`
            if root and root in shapes:
                shapes |= names_in(what)
        found |= {
            name
            for name, n in undefined(module, nodes)
            if exported_to(module, (f,))
            or any(root_of(a) in shapes for i, a in enumerate(n.arguments) if i in n.lent or _is_address(a))
        }
    return frozenset(found)


def _is_address(e: Expr) -> bool:
    return isinstance(e, Unary) and e.op == "&"


def _defining(files: Mapping[str, Module | None], names: frozenset[str]) -> dict[str, Module]:
    """Those of some files that alone define a function of one of the names. Where two do, they are of two
    programs, and nobody says of which the caller is."""
    ids = {
        path: {f.id for f in m.functions.values() if f.name in names and f.place.path == m.path}
        for path, m in files.items()
        if m is not None
    }
    counted = Counter(id for each in ids.values() for id in each)
    return {
        path: m
        for path, m in files.items()
        if m is not None and ids[path] and all(counted[id] == 1 for id in ids[path])
    }


def _full(s: Started, relevant: Container[str]) -> bool:
    """Whether a launch says all that matters. relevant: ids of names that addresses, masks and loop bounds of
    the kernel depend on."""
    numbers = [
        p.name
        for p in s.kernel.parameters
        if p.id in relevant and isinstance(p.type, Scalar) and p.type.kind in ("int", "uint")
    ]
    return (
        s.shaped
        and s.dynamic is not None
        and all(n in s.arguments for n in numbers)
        and all(p.name in s.template or p.pack or p.default is not None for p in s.kernel.template)
    )


def _open_wrappers(module: Module, kernels: set[str] | None, among: Container[str] | None = None) -> set[str]:
    """Names of functions that start one of the kernels (ids; None: any), are called by nothing here, and are
    not where the program begins. Of a method: its class. among: ids of the functions that are asked for."""
    launching = launching_functions(module)
    calls = {id: called_by(module, f) for id, f in launching.items()}
    called = {c for id, names in calls.items() for c in names if c != id}
    found: set[str] = set()
    for id, f in launching.items():
        if id in called or f.name == "main" or (among is not None and id not in among):
            continue
        if kernels is not None and not _reaches(id, calls, kernels):
            continue
        if f.record is not None:
            found.add(f.record.rsplit("::", 1)[-1].split("<")[0])
        elif f.parameters or f.template or kernels is None:
            found.add(f.name)
    return found


def _reaches(start: str, calls: Mapping[str, frozenset[str]], kernels: set[str]) -> bool:
    seen: set[str] = set()
    todo = [start]
    while todo:
        id = todo.pop()
        if id in seen:
            continue
        seen.add(id)
        if id in kernels:
            return True
        todo.extend(calls.get(id, ()))
    return False
