"""Evaluate and score each instance of each kernel of a file, under each of its launches."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from smemlint.evaluate import Budget, KernelTrace, Unresolved, evaluate
from smemlint.evaluate.machine.faults import fault
from smemlint.frontend import Known
from smemlint.ir import Function, FunctionRef, Launch, Module, ObjectRef, PointerTo, RecordRef, Scalar
from smemlint.launch import Allowance, Blocks, Program, Started, infer, program_around, program_of
from smemlint.launch.infer import MAX_LAUNCHES
from smemlint.launch.source.reach import kernels_with_shared_memory
from smemlint.running import schedule
from smemlint.running.others import nobody, reader
from smemlint.running.schedule import Begun, Ends, in_turn, ranked
from smemlint.running.sizes import STAND_INS, UNKNOWN_SIZE, with_sizes
from smemlint.score import Conflict, KernelAnalysis, score_all
from smemlint.source import definers_of, users_of
from smemlint.system import clock
from smemlint.system.workers import OutOfTimeError

if TYPE_CHECKING:
    from smemlint.running.jobs import Options

_LATE = "the time for this file was over"


def analyse_modules(
    modules: Iterable[Module],
    options: Options,
    ends: Ends,
    known: Known,
    tell: Callable[[BaseException], None],
) -> list[KernelAnalysis]:
    """Every kernel instance under every launch.

    known: what reading the modules taught. tell: gets what ended the search for launches of a module.
    """
    blocks = Blocks(
        of={name: shape for name, shape in options.blocks.items() if name}, every=options.blocks.get("")
    )
    begun: list[Begun] = []
    searched = clock.now()
    modules = tuple(modules)
    of = modules[0].path if modules else ""
    files = frozenset(path for module in modules for path in (module.path, *module.files))
    read = reader(options, known, max(ends.reading, searched + ends.share), of, files)
    users = users_of if options.others else nobody
    definers = definers_of if options.others else nobody
    own = Allowance(until=max(ends.host, searched + 2 * ends.share))
    theirs = replace(own)
    for module in modules:
        touching = kernels_with_shared_memory(module)
        try:
            project = program_of(module, touching, users, definers, read, own, theirs)
        except (Exception, OutOfTimeError) as error:
            tell(error)
            project = Program(())
        around: dict[str, tuple[Started, ...]] = {}
        for kernel in module.kernels():
            home, seen, started = module, kernel, project.started
            other = project.stand_in(kernel, module) if kernel.id in touching else None
            if other is not None:
                home, seen = other
                if home.path not in around:
                    wanted = [k for k in module.kernels() if k.id in touching]
                    around[home.path] = program_around(home, project, wanted, theirs)
                # where too few steps were left to run it there, what the whole program told has to do
                started = around[home.path]
                if not any(s.kernel.id == seen.id for s in started):
                    started = project.started
            launches = infer(seen, home, started, blocks)
            if kernel.id not in touching and launches[0].assumed:
                launches = launches[:1]  # nothing is evaluated: other shapes would say the same
            begun += ranked(home, seen, launches, touching=kernel.id in touching)

    def analyse(b: Begun, launch: Launch, budget: Budget) -> KernelAnalysis:
        found = analysis_of(b.module, b.kernel, launch, budget=budget)
        # The half of a further launch would take from what the first one tells.
        return replace(found, arrays={}, conflicts=()) if b.rank and found.stopped else found

    # What was spent on other files is not taken from this one's kernels.
    return in_turn(begun, analyse, _left_out, max(ends.kernels, clock.now() + ends.share))


def _left_out(b: Begun, why: str) -> KernelAnalysis:
    """A launch that is not analysed. why: as `in_turn` says it."""
    further = b.rank > 0
    what, most = ("further launches", schedule.WORK) if further else ("further kernels", schedule.FIRST_WORK)
    after = f"after {most:,} evaluation steps in this file"
    if b.rank >= MAX_LAUNCHES:
        after = f"after {MAX_LAUNCHES} of this kernel"
    texts = {
        "time": ("time", _LATE),
        "budget": ("budget", f"{what} were left out {after}"),
        "steps": ("budget", f"{what} were left out: one takes more evaluation steps than are left"),
    }
    notes = [Unresolved(*texts[why], b.kernel.place)] if why else []
    return without_evaluation(b.module, b.kernel, b.launch, *notes)


def without_evaluation(
    module: Module, kernel: Function, launch: Launch, *notes: Unresolved
) -> KernelAnalysis:
    # As the template names them; what a launch holds is in the order in which it was found.
    order = {p.name: i for i, p in enumerate(kernel.template)}
    template = sorted(launch.template.items(), key=lambda x: order.get(x[0], len(order)))
    arguments = {name: spelled(value) for name, value in template}
    return KernelAnalysis(kernel, launch, module.configuration, arguments, {}, (), notes)


def analysis_of(
    module: Module, kernel: Function, launch: Launch, *, budget: Budget | None = None
) -> KernelAnalysis:
    """One instance under one launch. A fault of smemlint's own costs this instance only, and is told."""
    try:
        trace = evaluate(module, kernel, launch, budget)
        conflicts = score_all(trace, assumed=launch.assumed)
        work = trace.work
        notes = trace.notes
        if trace.unsized and not trace.stopped:
            conflicts, work = _whatever_size(module, kernel, launch, budget, trace, conflicts)
            if not any(c.reason is not None and c.reason.code == UNKNOWN_SIZE for c in conflicts):
                notes = tuple(note for note in notes if note.code != UNKNOWN_SIZE)
    except OutOfTimeError:
        return without_evaluation(module, kernel, launch, Unresolved("time", _LATE, kernel.place))
    except MemoryError:
        memory = Unresolved("budget", "stopped at the memory limit of one file", kernel.place)
        return without_evaluation(module, kernel, launch, memory)
    except RecursionError:
        nested = Unresolved("nesting", "expressions or calls are nested too deeply", kernel.place)
        return without_evaluation(module, kernel, launch, nested)
    except Exception as error:
        return without_evaluation(module, kernel, launch, fault(error, kernel.place))
    bare = without_evaluation(module, kernel, launch, *notes)
    steps = None if budget is None or budget.steps == Budget().steps else budget.steps
    return replace(
        bare,
        arrays=trace.arrays,
        conflicts=conflicts,
        work=work,
        steps=steps,
        held=trace.held,
        blocks_asked=trace.blocks_asked,
    )


def _whatever_size(
    module: Module,
    kernel: Function,
    launch: Launch,
    budget: Budget | None,
    trace: KernelTrace,
    conflicts: tuple[Conflict, ...],
) -> tuple[tuple[Conflict, ...], int]:
    """The conflicts with what the usual sizes of types tell that no file declares, and what all took."""
    tried = [
        evaluate(module, kernel, replace(launch, taken=dict.fromkeys(trace.unsized, number)), budget)
        for number in STAND_INS
    ]
    told = [() if t.stopped else score_all(t, assumed=launch.assumed) for t in tried]
    return with_sizes(conflicts, told, trace.unsized), trace.work + sum(t.work for t in tried)


def spelled(value: object) -> str:
    """A template argument as a user writes it; all of what a pack stands for."""
    if isinstance(value, tuple):
        return ", ".join(map(spelled, value))
    if isinstance(value, Scalar):
        return value.name
    if isinstance(value, PointerTo):
        return f"{spelled(value.to)} {'&' if value.reference else '*'}"
    if isinstance(value, ObjectRef):
        return f"{spelled(value.type)}{{{', '.join(spelled(n) for _, n in value.numbers)}}}"
    if isinstance(value, FunctionRef) and value.of is not None:
        return f"&{spelled(value.of)}::{value.name}"
    if isinstance(value, RecordRef | FunctionRef):
        arguments = ", ".join(spelled(a) for a in value.arguments)
        name = value.name.split("@", 1)[0] if isinstance(value, RecordRef) else f"&{value.name}"
        return f"{name}<{arguments}>" if arguments else name
    return str(
        getattr(value, "spelling", None) or getattr(value, "name", None) or getattr(value, "value", value)
    )
