"""Runs host functions to see which kernels they start, with what shape and arguments."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product

import smemlint.evaluate.run.evaluators  # noqa: F401  says which function runs what
from smemlint.evaluate.analysis.facts import SliceLike, Slicer
from smemlint.evaluate.control_flow.settling import is_possible
from smemlint.evaluate.kernel import bind_arguments
from smemlint.evaluate.language.inlining import MAX_DEPTH
from smemlint.evaluate.language.names import resolve_arguments
from smemlint.evaluate.language.overloads import bind
from smemlint.evaluate.library.host_runtime import asks, command_line
from smemlint.evaluate.machine.dispatch import run
from smemlint.evaluate.machine.machine import Budget, BudgetExceededError, Frame, Machine
from smemlint.evaluate.machine.paths import Paths
from smemlint.ir import (
    Call,
    Function,
    Index,
    Launch,
    LaunchStmt,
    Member,
    Module,
    Name,
    StaticMember,
)
from smemlint.ir.walk import walk
from smemlint.launch.kept_runs import KeptRuns, Shown
from smemlint.launch.left_over import handed_down, left_over
from smemlint.launch.model import Allowance, Started
from smemlint.launch.objects import (
    Instance,
    begin_program,
    class_instances,
    in_class_instances,
    is_closed,
    is_of,
    is_of_numbers,
    object_for,
    set_by_others,
    take_defaults,
)
from smemlint.launch.source.receivers import methods_meant
from smemlint.launch.source.settings import Settings, settings
from smemlint.launch.source.slicing import HostSlice, NeededMembers, settle
from smemlint.launch.source.starters import (
    launching_functions,
    may_run,
    may_start,
    open_name,
    said,
    tables_of,
)
from smemlint.launch.source.throwing import throwing
from smemlint.launch.started import starts_of
from smemlint.launch.told_nothing import with_defaults
from smemlint.launch.ways import Ways, instance, instances_told, key, site
from smemlint.system import clock

HOST_BUDGET = Budget(steps=40_000, iterations=40)
MOST_ALIKE = 300
"""Launches in a row that show nothing new, after which a function is left: it tries sizes over and over."""
HOST_STEPS = 40_000
"""Evaluation steps after which a run begins no further host function."""
STARTERS_STEPS = 8_000
"""Evaluation steps for functions that hold a launch, where none are left for what is on the way to them."""
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
    tables = called & tables_of(module, frozenset(launching))
    inits = [module.globals[t].init for t in tables if t in module.globals]
    listed = {n.id for init in inits for n in walk(init) if isinstance(n, Name)}
    called |= listed
    by_name = {name for f in launching.values() for name in said(f).names}
    roots = [
        f
        for f in launching.values()
        if f.id not in called
        and open_name(f) not in by_name
        and not (f.record or "").startswith("(lambda")
        and not f.name.startswith("(")
    ]
    shapes = settings(module, launching.values())
    runs = KeptRuns(module, _slicer(module, launching, kernels, shapes), allowance.kept, shapes)
    roots.sort(key=partial(_nobody_runs, {id for id, _ in module.explicit_instances}))
    found: list[Started] = []
    listens = any(f.name == "main" and len(f.parameters) >= 2 for f in roots)
    cut = False
    for words in dict.fromkeys((tuple(told or ()), (), None) if listens else (None,)):
        found, cut = _run(module, roots, runs, words, allowance, explore=False, reached=set())
        if found:
            break
    defaults = list(found) if words == () and not told else []
    shaped = {site(s) for s in found if s.shaped}
    real = {key(s) for s in found}
    every = _every_launch(module, launching, kernels)
    reached: set[str] = set()
    before = {f.id for f in roots}
    handed = _handed_out(launching, roots)
    # What a table or a variable leads to may be another kernel where the program is told something.
    chosen = bool(tables) or _chosen(module, launching, kernels)
    for functions, explore in ((roots, True), (handed, False), (list(launching.values()), True)):
        if every <= {k[:2] for k in shaped} and not cut and not chosen:
            break
        chosen = False
        seen = {s.kernel.id for s in found if s.shaped}
        told_of = {instance(s) for s in found}
        new, _ = _run(
            module, functions, runs, None, allowance, explore=explore, reached=reached, before=before
        )
        known = {(s.kernel.id, frozenset(s.template.items())) for s in found}
        fresh = [
            s
            for s in new
            if s.kernel.id not in seen
            or (s.shaped and (s.kernel.id, frozenset(s.template.items())) not in known)
            or (cut and s.shaped and instance(s) not in told_of)
        ]
        cut = False
        found += fresh
        shaped |= {site(s) for s in fresh if s.shaped}
    if allowance.steps <= 0:
        found += _starters(module, launching, kernels, runs, allowance, reached, {k[:2] for k in shaped})
    found += _instantiated(module, launching, listed, before, runs, allowance, found)
    if allowance.short:
        templates = [f for f in launching.values() if f.template]
        written = handed_down(templates, _written_instances(module, templates, called=True))
        found += left_over(module, templates, written, found)
    if defaults and any(f.name == "main" and asks(module, f) for f in roots):
        extra = Allowance(HOST_STEPS, allowance.until, kept=allowance.kept)
        whatever, _ = _run(module, roots, runs, None, extra, explore=False, reached=set())
        found = [*with_defaults(defaults, whatever), *found[len(defaults) :]]
    full = [s for s in found if s.shaped]
    return instances_told(
        s for s in found if s.shaped or s.guessed or key(s) in real or not _told_by(s, full)
    )


def _nobody_runs(instantiated: Container[str], f: Function) -> int:
    """How little speaks for a function that nothing calls being run: the program begins with `main`, and a
    template that nothing calls or instantiates (ids) has no instance. What runs has steps before what may."""
    return 0 if f.name == "main" else 2 if f.template and f.id not in instantiated else 1


def _starters(
    module: Module,
    launching: Mapping[str, Function],
    kernels: frozenset[str] | None,
    runs: KeptRuns,
    allowance: Allowance,
    reached: Container[str],
    shaped: Container[tuple[str, int]],
) -> list[Started]:
    """What functions that hold a launch start by themselves, where their callers took all steps on the way to
    them. shaped: places of launches whose shape is known."""
    waiting = [
        f
        for f in launching.values()
        if f.id not in reached
        and any(
            may_start(module, launch, kernels) and (launch.place.path, launch.place.offset) not in shaped
            for launch in said(f).launches
        )
    ]
    extra = Allowance(STARTERS_STEPS, allowance.until, kept=allowance.kept)
    found, _ = _run(module, waiting, runs, None, extra, explore=True, reached=set(), most=STARTERS_STEPS)
    return [s for s in found if s.shaped]


def _told_by(s: Started, full: Iterable[Started]) -> bool:
    """Whether another run shows the shape of a launch, of this instance or of one that it leaves open."""
    same = [f for f in full if site(f) == site(s)]
    return any(all(f.template.get(k) == v for k, v in s.template.items()) for f in same)


def _instantiated(
    module: Module,
    launching: Mapping[str, Function],
    listed: Iterable[str],
    begun: Container[str],
    runs: KeptRuns,
    allowance: Allowance,
    found: Iterable[Started],
) -> list[Started]:
    """What the explicit instances of functions and classes start that did not begin by themselves (ids),
    since others call them, and that no run showed: a caller may itself be a template that nobody asks for, or
    call those of one instance. listed: functions (ids) in tables of the program, in which they may be looked
    up by what is not followed."""
    records = {name for name, _ in module.explicit_records}
    ids = {id for id, _ in module.explicit_instances if id in launching}
    ids |= {f.id for f in launching.values() if f.record in records}
    ids |= {id for id in listed if id in launching and launching[id].template}
    ids = {id for id in ids if id not in begun}
    if not ids:
        return []
    known = {instance(s) for s in found}
    functions = [launching[id] for id in sorted(ids)]
    new, _ = _run(module, functions, runs, None, allowance, explore=True, reached=set())
    return [s for s in new if instance(s) not in known]


def _handed_out(launching: Mapping[str, Function], roots: Iterable[Function]) -> list[Function]:
    """Functions on the way to a launch that a root names, and not to call them."""
    given = {c for f in roots for c in said(f).values}
    return [f for f in launching.values() if f.id in given]


def _every_launch(
    module: Module, launching: Mapping[str, Function], kernels: frozenset[str] | None
) -> set[tuple[str, int]]:
    """Where the launches stand that are asked for."""
    return {
        (launch.place.path, launch.place.offset)
        for f in launching.values()
        for launch in said(f).launches
        if may_start(module, launch, kernels)
    }


def _chosen(module: Module, launching: Mapping[str, Function], kernels: frozenset[str] | None) -> bool:
    """Whether a launch that is asked for does not name its kernel itself."""
    return any(
        may_start(module, launch, kernels)
        for f in launching.values()
        for launch in said(f).launches
        if isinstance(launch.kernel, Index | Member)
        or (isinstance(launch.kernel, Name) and launch.kernel.id in module.globals)
    )


def _slicer(
    module: Module, launching: Mapping[str, Function], kernels: frozenset[str] | None, shapes: Settings
) -> Slicer:
    """Slices host functions, each once, together with all that may run. launching: those that start kernels;
    kernels: ids of those that are asked for, None for all."""
    names = frozenset(launching) | {open_name(f) for f in launching.values()}
    names |= tables_of(module, names)
    running = may_run(module, launching)
    throws = throwing(running.values())
    slices: dict[str, HostSlice] = {}
    needed: list[NeededMembers] = []

    def asked(launch: LaunchStmt) -> bool:
        return may_start(module, launch, kernels)

    def begun(f: Function) -> HostSlice:
        return HostSlice(f, names, module, shapes, asked, throws)

    def slicer(f: Function, _pointing: frozenset[str], _real: frozenset[str]) -> SliceLike:
        if not needed:
            slices.update((id, begun(g)) for id, g in running.items())
            needed.append(settle(list(slices.values())))
            for known in slices.values():
                known.finish()
        if f.id not in slices:
            new = slices[f.id] = begun(f)
            new.grow(needed[0])
            new.finish()
        return slices[f.id]

    return slicer


def _run(
    module: Module,
    functions: Sequence[Function],
    runs: KeptRuns,
    words: Sequence[str] | None,
    allowance: Allowance,
    *,
    explore: bool,
    reached: set[str],
    before: Container[str] = (),
    most: int = HOST_BUDGET.steps,
) -> tuple[list[Started], bool]:
    """Run each function as a block of one thread; those that an earlier one `reached` are not run again.
    Says also whether ways were left out for lack of steps.

    words: what `main` is told, None where that is not known. before: functions whose ways were gone already.
    most: steps of one run.
    """
    found: dict[tuple[object, ...], Started] = {}
    left = min(HOST_STEPS, allowance.steps)

    def one_run(
        f: Function, arguments: Instance, owner: Instance, paths: Paths | None
    ) -> list[Started] | None:
        nonlocal left
        if left <= 0 or clock.late(allowance.until):
            allowance.short = True
            return None
        settled = None if paths is None else tuple(paths.settled.items())
        unset = runs.settings.left_to_others(module, f)
        told = None if words is None else tuple(words)
        asked = (id(f), arguments, owner, settled, told, explore, unset, *map(id, runs.filled))
        shown = runs.find(asked)
        if shown is None:
            shown, alone = made(f, arguments, owner, paths, unset)
            if alone:
                runs.keep(asked, shown)
        elif paths is not None:
            paths.open.update(shown.open)
        left -= shown.steps
        allowance.steps -= shown.steps
        allowance.short |= shown.steps > HOST_BUDGET.steps
        reached.update(shown.reached)
        return list(shown.started)

    def made(
        f: Function, arguments: Instance, owner: Instance, paths: Paths | None, unset: Iterable[str]
    ) -> tuple[Shown, bool]:
        """A run, and whether those before it had no part in what it shows."""
        seen: dict[tuple[object, ...], Started] = {}
        tried: list[Started] = []
        led: set[str] = {f.id}
        earlier = {} if paths is not None else found
        launches: list[Started] = []
        runs.begin()
        m = Machine(
            runs.module,
            (1, 1, 1),
            budget=replace(HOST_BUDGET, steps=most, until=allowance.until),
            on_launch=_Recorder(seen, tried, earlier, led, launches),
            host=True,
            defaults=True,
            explore=explore,
            slicer=runs.slicer,
            paths=paths,
        )
        begin_program(m, runs.filled)
        for id in unset:
            set_by_others(m, module.globals[id])
        _call(m, f, arguments, owner, words)
        if m.effort.steps > m.effort.budget.steps:
            _take_first_iterations(seen, tried)
        shown = runs.shown(seen.values(), led, paths, m.effort.steps)
        whole = most == HOST_BUDGET.steps or shown.steps <= most
        return shown, whole and (not earlier or len(launches) < MOST_ALIKE)

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
    cut = any(ways.cut for ways in split)
    allowance.short |= cut
    return list(found.values()), cut


def _take_first_iterations(seen: dict[tuple[object, ...], Started], tried: Iterable[Started]) -> None:
    """Add what the first iterations of loops start that could not be followed to their end. What they pass
    holds for them alone."""
    known = {instance(s) for s in seen.values()}
    for s in tried:
        if instance(s) not in known and s.shaped:
            seen.setdefault(key(s), replace(s, grid=(None, None, None), arguments={}))


class _Recorder:
    """Takes down the launches of one run. tried: those of trials of a loop's first iteration. earlier: those
    of other runs, which are nothing new. launches: takes all that are met."""

    def __init__(
        self,
        seen: dict[tuple[object, ...], Started],
        tried: list[Started],
        earlier: Mapping[tuple[object, ...], Started],
        reached: set[str],
        launches: list[Started],
    ) -> None:
        self._seen, self._tried, self._earlier = seen, tried, earlier
        self._reached, self._launches = reached, launches
        self._alike = 0

    def __call__(self, m: Machine, s: LaunchStmt) -> None:
        if not is_possible(m):
            return
        if m.silent:
            self._tried.extend(starts_of(m, s))
            return
        self._reached.update(f.function.id for f in m.frames if f.function is not None)
        for started in starts_of(m, s):
            self._launches.append(started)
            known = key(started)
            self._alike = self._alike + 1 if known in self._seen or known in self._earlier else 0
            self._seen.setdefault(known, started)
        if self._alike >= MOST_ALIKE:
            raise BudgetExceededError(f"{MOST_ALIKE} launches in a row were none that is new")

    def mark(self) -> Callable[[], None]:
        """Return what takes back all that is taken down from now on."""
        seen, tried, launches = len(self._seen), len(self._tried), len(self._launches)
        reached, alike = {*self._reached}, self._alike

        def forget() -> None:
            for known in list(self._seen)[seen:]:
                del self._seen[known]
            del self._tried[tried:], self._launches[launches:]
            self._reached &= reached
            self._alike = alike

        return forget


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
        if f.name == "main" and len(f.parameters) >= 2:
            argc, argv = command_line(m, words)
            m.frame.variables[f.parameters[0].id].cells[0] = argc
            if argv is not None:
                m.frame.variables[f.parameters[1].id].cells[0] = argv
        m.enter(m.frame, f)
        m.frame.ahead.last = True
        run(m, f.body)
    except (BudgetExceededError, RecursionError):
        pass


def _written_instances(
    module: Module, templates: Sequence[Function], called: bool = False
) -> dict[str, list[Instance]]:
    """Template arguments under which host functions are named or explicitly instantiated, by function.

    called: also those under which methods are called, which running the callers tells with more.
    """
    found: dict[str, dict[Instance, None]] = {f.id: {} for f in templates if f.template}
    if not found:
        return {}
    by_name: dict[str, list[Function]] = {}
    for f in templates:
        if f.template:
            by_name.setdefault(f.name, []).append(f)
    for g in module.functions.values():
        if g.side == "device":
            continue
        for n in (*said(g).instances, *(said(g).called if called else ())):
            if isinstance(n, Name) and n.id:
                if n.id in found:
                    found[n.id].update(dict.fromkeys(in_class_instances(module, g, n.arguments)))
            elif is_closed(n.arguments):
                for f in by_name.get(n.name.rsplit("::", 1)[-1], ()):
                    if f.record in (None, g.record) or _may_be(module, g, n, f):
                        found[f.id][n.arguments] = None
    for var in module.globals.values():  # `std::map<int, Fn> table = {{64, run<64>}};`
        for x in () if var.init is None or is_of_numbers(var) else walk(var.init):
            if isinstance(x, Name) and x.id in found and is_closed(x.arguments):
                found[x.id][x.arguments] = None
    for id, arguments in module.explicit_instances:
        if id in found and not _is_specialised(module, id, arguments):
            found[id][arguments] = None
    return {id: list(written)[:MOST_INSTANCES] for id, written in found.items()}


def _may_be(module: Module, g: Function, n: Name | Member | StaticMember, f: Function) -> bool:
    """Whether a member that g names may be the method f."""
    if isinstance(n, Name):
        return False
    meant = methods_meant(module, g, n)
    return meant is None or f.id in meant


def _is_specialised(module: Module, id: str, arguments: Instance) -> bool:
    """Whether an explicit instantiation is of an explicit specialisation, not of the template itself."""
    specials = (module.functions.get(x) for x in module.specialisations.get(id, ()))
    return any(f is not None and f.specialises == arguments for f in specials)


__all__ = ["Call", "Started", "started_kernels"]
