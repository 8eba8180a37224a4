"""Runs host functions to see which kernels they start, with what shape and arguments."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import TypeAlias

import smemlint.evaluate.run.evaluators  # noqa: F401  says which function runs what
from smemlint.evaluate.analysis.facts import SliceLike, Slicer
from smemlint.evaluate.kernel import bind_arguments
from smemlint.evaluate.language.accesses import load
from smemlint.evaluate.language.conversions import as_int, coerce, is_null, type_of
from smemlint.evaluate.language.inlining import MAX_DEPTH
from smemlint.evaluate.language.names import resolve_arguments
from smemlint.evaluate.language.overloads import bind, is_open
from smemlint.evaluate.language.packs import expanded, pack_of
from smemlint.evaluate.library.host_runtime import command_line
from smemlint.evaluate.machine.dispatch import run, rvalue
from smemlint.evaluate.machine.machine import Budget, BudgetExceededError, Frame, Machine
from smemlint.evaluate.machine.paths import Paths
from smemlint.evaluate.machine.settling import is_possible, limits_here
from smemlint.evaluate.types.matching import Binding, is_type
from smemlint.evaluate.values.number import (
    VALUES,
    Closure,
    FunctionValue,
    Int,
    Other,
    Pointer,
    RecordValue,
    Value,
)
from smemlint.evaluate.values.objects import Object
from smemlint.evaluate.values.provenance import value_at
from smemlint.ir import (
    SHARED,
    Call,
    Construct,
    Expr,
    Function,
    InitList,
    Launch,
    LaunchStmt,
    Member,
    Module,
    Name,
    PointerTo,
    RecordRef,
    StaticMember,
    TemplateArgument,
    Type,
)
from smemlint.ir.memo import by_identity
from smemlint.ir.walk import nodes_of, walk
from smemlint.launch.addressed import targets
from smemlint.launch.model import Allowance, Started
from smemlint.launch.objects import class_instances, is_of, object_for, take_defaults
from smemlint.launch.open import Candidate, candidates
from smemlint.launch.overloaded import meant
from smemlint.launch.receivers import made_to_call, methods_meant
from smemlint.launch.settings import settings
from smemlint.launch.slicing import HostSlice, named_as_value, names_as_value
from smemlint.launch.ways import Ways, instance, key, site
from smemlint.records import record
from smemlint.system import clock

Instance: TypeAlias = tuple[TemplateArgument, ...]
Shape: TypeAlias = tuple["int | None", "int | None", "int | None"]
HOST_BUDGET = Budget(steps=40_000, iterations=40)
MOST_ALIKE = 300
"""Launches in a row that show nothing new, after which a function is left: it tries sizes over and over."""
HOST_STEPS = 40_000
"""Evaluation steps after which a run begins no further host function."""
MOST_INSTANCES = 32
"""Instances of one host function template that are run."""
HOST_DEPTH = 14
"""Calls in one another: what a recursion starts deep down it has started before."""


def started_kernels(
    module: Module,
    told: Sequence[str] | None = None,
    kernels: frozenset[str] | None = None,
    allowance: Allowance | None = None,
) -> tuple[Started, ...]:
    """Every launch in the module's host code, in the order in which it was met. kernels: their ids, where
    only what starts these is to be run. allowance: what may be spent, and is written off.

    The program is run with the words that it is told on its command line; without any, and where it gives
    up then, with words that are not known (`int n = 1024; if (argc > 1) n = atoi(argv[1]);` is 1024). For
    kernels that this does not start, every way of each branch that chooses among launches is taken, and
    functions that nothing reached run by themselves. A launch counts as the first of these runs shows its
    shape.
    """
    launching = launching_functions(module, kernels)
    if not launching:
        return ()
    allowance = allowance or Allowance()
    called = {c for f in launching.values() for c in said(f).ids}
    tables = called & _tables(module, frozenset(launching))
    called |= {n.id for t in tables for n in walk(module.globals[t].init) if isinstance(n, Name)}
    by_name = {name for f in launching.values() for name in said(f).names}
    roots = [
        f
        for f in launching.values()
        if f.id not in called and open_name(f) not in by_name and not (f.record or "").startswith("(lambda")
    ]
    slices = _slicer(module, launching)
    found: list[Started] = []
    listens = any(f.name == "main" and len(f.parameters) >= 2 for f in roots)
    cut = False
    for words in dict.fromkeys((tuple(told or ()), (), None) if listens else (None,)):
        found, cut = _run(module, roots, slices, words, allowance, explore=False, reached=set())
        if found:
            break
    shaped = {site(s) for s in found if None not in s.block}
    every = _every_launch(launching)
    reached: set[str] = set()
    before = {f.id for f in roots}
    handed = _handed_out(launching, roots)
    for functions, explore in ((roots, True), (handed, False), (list(launching.values()), True)):
        if every <= {k[:2] for k in shaped} and not cut:
            break
        seen = {s.kernel.id for s in found if None not in s.block}
        told_of = {instance(s) for s in found}
        new, _ = _run(
            module, functions, slices, None, allowance, explore=explore, reached=reached, before=before
        )
        fresh = [
            s
            for s in new
            if s.kernel.id not in seen or (cut and None not in s.block and instance(s) not in told_of)
        ]
        cut = False
        found += fresh
        shaped |= {site(s) for s in fresh if None not in s.block}
    found += _instantiated(module, launching, before, slices, allowance, found)
    full = [s for s in found if None not in s.block]
    return tuple(s for s in found if None not in s.block or s.guessed or not _told_by(s, full))


def _told_by(s: Started, full: Iterable[Started]) -> bool:
    """Whether another run shows the shape of a launch, of this instance or of one that it leaves open."""
    same = [f for f in full if site(f) == site(s)]
    return any(all(f.template.get(k) == v for k, v in s.template.items()) for f in same)


def _instantiated(
    module: Module,
    launching: Mapping[str, Function],
    begun: Container[str],
    slices: Slicer,
    allowance: Allowance,
    found: Iterable[Started],
) -> list[Started]:
    """What the explicit instances of functions start that did not begin by themselves (ids), since others
    call them, and that no run showed: a caller may itself be a template that nobody asks for."""
    ids = {id for id, _ in module.explicit_instances if id in launching and id not in begun}
    if not ids:
        return []
    known = {instance(s) for s in found}
    functions = [launching[id] for id in sorted(ids)]
    new, _ = _run(module, functions, slices, None, allowance, explore=True, reached=set())
    return [s for s in new if instance(s) not in known]


def _handed_out(launching: Mapping[str, Function], roots: Iterable[Function]) -> list[Function]:
    """Functions on the way to a launch that a root names, and not to call them."""
    given = {c for f in roots for c in said(f).values}
    return [f for f in launching.values() if f.id in given]


def _every_launch(launching: Mapping[str, Function]) -> set[tuple[str, int]]:
    return {
        (launch.place.path, launch.place.offset) for f in launching.values() for launch in said(f).launches
    }


def _slicer(module: Module, launching: Mapping[str, Function]) -> Slicer:
    """Slices host functions, each once. launching: those that start kernels."""
    names = frozenset(launching) | {open_name(f) for f in launching.values()}
    names |= _tables(module, names)
    shapes = settings(module, launching.values())
    slices: dict[str, HostSlice] = {}

    def slicer(f: Function, _pointing: frozenset[str], _real: frozenset[str]) -> SliceLike:
        if f.id not in slices:
            slices[f.id] = HostSlice(f, names, module, shapes)
        return slices[f.id]

    return slicer


def _run(
    module: Module,
    functions: Sequence[Function],
    slicer: Slicer,
    words: Sequence[str] | None,
    allowance: Allowance,
    *,
    explore: bool,
    reached: set[str],
    before: Container[str] = (),
) -> tuple[list[Started], bool]:
    """Run each function as a block of one thread; those that an earlier one `reached` are not run again.
    Says also whether ways were left out for lack of steps.

    words: what `main` is told, None where that is not known. before: functions whose ways were gone already.
    """
    found: dict[tuple[object, ...], Started] = {}
    left = min(HOST_STEPS, allowance.steps)

    def one_run(
        f: Function, arguments: Instance, owner: Instance, paths: Paths | None
    ) -> list[Started] | None:
        nonlocal left
        if left <= 0 or clock.late(allowance.until):
            return None
        seen: dict[tuple[object, ...], Started] = {}
        tried: list[Started] = []
        m = Machine(
            module,
            (1, 1, 1),
            budget=replace(HOST_BUDGET, until=allowance.until),
            on_launch=_recorder(seen, tried, {} if paths is not None else found, reached),
            host=True,
            defaults=True,
            explore=explore,
            slicer=slicer,
            paths=paths,
        )
        _call(m, f, arguments, owner, words)
        left -= m.effort.steps
        allowance.steps -= m.effort.steps
        if m.effort.steps > m.effort.budget.steps:
            _take_first_iterations(seen, tried)
        reached.add(f.id)
        return list(seen.values())

    written = _written_instances(module, functions)
    classes = class_instances(module, functions)
    split: list[Ways] = []
    for f in functions:
        if f.id in reached:
            continue
        of_class = classes.get(f.record or "") or [()]
        for arguments, owner in product(written.get(f.id) or [()], of_class):
            once = partial(one_run, f, arguments, owner)
            if words is None and f.name != "main" and f.id not in before:
                split.append(Ways(once))
            else:
                found.update((key(s), s) for s in once(None) or [] if key(s) not in found)
    # Every function has run once before the first of them is run way by way.
    for i, ways in enumerate(split):
        kept, left = left, left // (len(split) - i)
        seen = ways.all()
        left += kept - kept // (len(split) - i)
        found.update((key(s), s) for s in seen if key(s) not in found)
    return list(found.values()), any(ways.cut for ways in split)


def _take_first_iterations(seen: dict[tuple[object, ...], Started], tried: Iterable[Started]) -> None:
    """Add what the first iterations of loops start that could not be followed to their end. What they pass
    holds for them alone."""
    known = {instance(s) for s in seen.values()}
    for s in tried:
        if instance(s) not in known and None not in s.block:
            seen.setdefault(key(s), replace(s, grid=(None, None, None), arguments={}))


def _recorder(
    seen: dict[tuple[object, ...], Started],
    tried: list[Started],
    earlier: Mapping[tuple[object, ...], Started],
    reached: set[str],
) -> Callable[[Machine, LaunchStmt], None]:
    """Takes down the launches of one run. tried: those of trials of a loop's first iteration. earlier: those
    of other runs, which are nothing new."""
    alike = 0

    def on_launch(m: Machine, s: LaunchStmt) -> None:
        nonlocal alike
        if not is_possible(m):
            return
        if m.silent:
            tried.extend(_start(m, s))
            return
        reached.update(f.function.id for f in m.frames if f.function is not None)
        for started in _start(m, s):
            known = key(started)
            alike = alike + 1 if known in seen or known in earlier else 0
            seen.setdefault(known, started)
        if alike >= MOST_ALIKE:
            raise BudgetExceededError(f"{MOST_ALIKE} launches in a row were none that is new")

    return on_launch


def _call(m: Machine, f: Function, arguments: Instance, owner: Instance, words: Sequence[str] | None) -> None:
    """Run a host function whose arguments nobody knows, but for what a program is told."""
    m.effort.depth = MAX_DEPTH - HOST_DEPTH
    if not is_of(m, f, owner):
        return
    try:
        this = object_for(m, f, owner) if f.record is not None else None
        bound = bind(m, f, resolve_arguments(m, arguments), (), this)
        m.frames.append(Frame(bound or {}, f, this))
        bind_arguments(m, f, Launch((1, 1, 1)))
        take_defaults(m, f)
        if words is not None and f.name == "main" and len(f.parameters) >= 2:
            argc, argv = command_line(words)
            m.frame.variables[f.parameters[0].id].cells[0] = argc
            m.frame.variables[f.parameters[1].id].cells[0] = argv
        m.enter(m.frame, f)
        run(m, f.body)
    except (BudgetExceededError, RecursionError):
        pass


def _written_instances(module: Module, templates: Sequence[Function]) -> dict[str, list[Instance]]:
    """Template arguments under which host functions are named or explicitly instantiated, by function."""
    found: dict[str, dict[Instance, None]] = {f.id: {} for f in templates if f.template}
    if not found:
        return {}
    for g in module.functions.values():
        if g.side != "device":
            for n in said(g).instances:
                if n.id in found:
                    found[n.id][n.arguments] = None
    for id, arguments in module.explicit_instances:
        if id in found:
            found[id][arguments] = None
    return {id: list(written)[:MOST_INSTANCES] for id, written in found.items()}


@record(frozen=True, slots=True)
class Said:
    """What a function says of others. ids: of what it names; names: the same where only they are known;
    instances: names with template arguments; values: ids, or names where only they are known, of what it
    names and does not call."""

    ids: frozenset[str]
    names: frozenset[str]
    values: frozenset[str]
    instances: tuple[Name, ...]
    launches: tuple[LaunchStmt, ...]


def said(f: Function) -> Said:
    """What a function says; found once, as files that are linked are asked again and again."""
    return _said(f.body)


@by_identity
def _said(body: object) -> Said:
    nodes = nodes_of(body)
    names = [n for n in nodes if isinstance(n, Name)]
    return Said(
        frozenset(n.id for n in names if n.id),
        frozenset(_open_names(nodes)),
        named_as_value(nodes),
        tuple(n for n in names if n.arguments),
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


def launching_functions(module: Module, kernels: frozenset[str] | None = None) -> dict[str, Function]:
    """Host functions that start kernels (ids; None: any), themselves or through others."""
    host = {f.id: f for f in module.functions.values() if f.side in ("host", "both")}
    calls = {id: said(f).ids for id, f in host.items()}
    overloads = {id: open_name(f) for id, f in host.items()}
    named = {id: said(f).names for id, f in host.items()}
    found = {id for id, f in host.items() if _starts_one(module, f, kernels)}
    while True:
        names = {overloads[id] for id in found}
        reached = found | _tables(module, found | names)
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


def _tables(module: Module, functions: Container[str]) -> set[str]:
    """Variables outside functions that hold one of the functions, by id or by open name."""
    return {
        id
        for id, var in module.globals.items()
        if var.init is not None and var.storage not in SHARED and names_as_value(var.init, functions)
    }


def _starts_one(module: Module, f: Function, kernels: frozenset[str] | None) -> bool:
    """Whether a function holds a launch, of one of the kernels or of one that only running it tells."""
    for launch in said(f).launches:
        if kernels is None or not isinstance(launch.kernel, Name):
            return True
        target = module.functions.get(launch.kernel.id)
        if target is None or target.side != "kernel" or target.id in kernels:
            return True
    return False


def _start(m: Machine, s: LaunchStmt) -> Iterator[Started]:
    kernel = rvalue(m, s.kernel)
    values = [v if isinstance(v, VALUES) else rvalue(m, v) for v in expanded(m, s.arguments)]
    extents = _extents(m, s.block)
    grid = _numbers(m, _extents(m, s.grid))
    bytes_ = rvalue(m, s.dynamic) if s.dynamic is not None else Int(0)
    if isinstance(kernel, Pointer):
        kernel = load(m, kernel, s.place)
    one_of = (kernel, *kernel.others) if isinstance(kernel, FunctionValue) else ()
    if not any(f.candidates for f in one_of):
        one_of = targets(m, s.kernel, len(values))
    fits = [fit for one in one_of for fit in meant(m, one, values)]
    for f, bound in fits:
        started = _started(m, s, f, bound, values, extents, grid, bytes_)
        yield replace(started, guessed=len(fits) > 1)


def _started(
    m: Machine,
    s: LaunchStmt,
    f: Function,
    bound: dict[str, Binding],
    values: Sequence[Value],
    extents: Sequence[Int] | None,
    grid: Shape,
    bytes_: Value,
) -> Started:
    """The launch of one kernel under its template arguments."""
    block = _numbers(m, extents)
    given: dict[str, Int] = {}
    for p, v in zip(f.parameters, values, strict=False):
        n = coerce(m, v, m.types.resolve(p.type, bound)) if isinstance(v, Int) else None
        if isinstance(n, Int):
            given[p.name] = n
        elif is_null(m, v if n is None else n):
            given[p.name] = Int(0)
    known = {name: _number(m, v) for name, v in given.items()}
    arguments = {name: number for name, number in known.items() if number is not None}
    likely: tuple[Candidate, ...] = ()
    if None in block and extents is not None:
        dynamic = bytes_ if isinstance(bytes_, Int) else None
        likely = candidates(extents, dynamic, given, m.unknowns.recipes or {}, limits_here(m))
    return Started(
        f, block, likely, grid, _number(m, bytes_), _template(m, f, bound), arguments, s.place,
        _packed(m, f, values), captured(m, values),
    )  # fmt: skip


def _packed(m: Machine, f: Function, values: Sequence[Value]) -> tuple[tuple[Type, int | None], ...]:
    """What a kernel's parameter pack is given."""
    pack = pack_of(f)
    return tuple((type_of(v), _number(m, v)) for v in values[f.parameters.index(pack) :]) if pack else ()


def captured(m: Machine, values: Sequence[Value]) -> dict[str, tuple[Type, int | None]]:
    """What the lambdas among some values take with them, those that they hold themselves included."""
    found: dict[str, tuple[Type, int | None]] = {}
    queue = list(values)
    for v in queue:
        if isinstance(v, RecordValue):
            queue += [x for x in v.cells.values() if isinstance(x, Closure)]
        if not isinstance(v, Closure) or not isinstance(v.frame, Frame):
            continue
        for id in _named(m.module, v.function.body):
            o = None if id in found else _visible(v.frame, id)
            if o is not None:
                held = o.cells.get(0)
                found[id] = o.type, _number(m, held) if isinstance(held, Int) else None
                queue += [held] if isinstance(held, Closure) else []
                if isinstance(held, Closure) and held.type is not None:
                    found[id] = held.type, None
    return found


def _named(module: Module, body: object) -> list[str]:
    """Ids of what some code names, the members of its own classes included."""
    ids: dict[str, None] = {}
    seen: set[str] = set()
    queue = [body]
    for part in queue:
        for n in walk(part):
            if isinstance(n, Name):
                ids[n.id] = None
            elif isinstance(n, RecordRef) and n.name not in seen and n.name in module.records:
                seen.add(n.name)
                queue += [f.type for f in module.records[n.name].fields]
    return list(ids)


def _visible(frame: Frame | None, id: str) -> Object | None:
    """The object of a variable that a frame or one around it holds."""
    while frame is not None:
        if id in frame.variables:
            return frame.variables[id]
        frame = frame.parent
    return None


def _template(m: Machine, f: Function, bound: Mapping[str, Binding]) -> dict[str, Type | int]:
    template: dict[str, Type | int] = {}
    for p in f.template:
        b = bound.get(p.id)
        if isinstance(b, Int):
            n = _number(m, b)
            if n is not None:
                template[p.name] = n
        elif p.kind == "template" and isinstance(b, RecordRef):
            template[p.name] = RecordRef(b.name)
        elif b is not None and is_type(b) and not is_open(b):
            template[p.name] = b  # type: ignore[assignment]
    return template


def _number(m: Machine, v: Value) -> int | None:
    """A number that is known, or follows from the branch that runs."""
    if not isinstance(v, Int):
        return None
    if v.known:
        return v.const if isinstance(v.const, int) else None
    given = m.unknowns.given
    return value_at(v, given, m.unknowns.recipes or {}) if given else None


def _numbers(m: Machine, extents: Sequence[Int] | None) -> Shape:
    if extents is None:
        return None, None, None
    x, y, z = (_number(m, v) for v in extents)
    return x, y, z


def _extents(m: Machine, e: Expr | None) -> list[Int] | None:
    """A dim3 expression's three extents."""
    if e is None:
        return None
    if isinstance(e, InitList):
        parts: list[Value] = [rvalue(m, x) for x in e.elements]
    else:
        v = rvalue(m, e)
        if isinstance(v, Pointer) and not isinstance(v.pointee, PointerTo):
            v = load(m, v, None)
        if isinstance(v, RecordValue):
            # `dim3 block; block.x = n;`: the other extents are 1 unless they were set as well
            rest: Value = Int(1) if 0 in v.cells else Other()
            parts = [v.cells.get(4 * i, rest) for i in range(3)]
        elif isinstance(v, Int):
            parts = [v]
        else:
            return None
    parts = [*parts, *(Int(1) for _ in range(3 - len(parts)))]
    return [as_int(m, p) for p in parts]


__all__ = ["Call", "Started", "started_kernels"]
