"""One kernel, one launch: bind its arguments, run it, and turn the log into traces."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

import smemlint.evaluate.run.evaluators  # noqa: F401  says which function runs what
from smemlint.banks import wavefront_range
from smemlint.evaluate.compiler.joining.coalesce import may_join
from smemlint.evaluate.compiler.passes import compiled
from smemlint.evaluate.control_flow.first_block import FirstBlockError
from smemlint.evaluate.held import blocks_asked, held
from smemlint.evaluate.language.inlining import set_outside
from smemlint.evaluate.language.packs import pack_of
from smemlint.evaluate.machine.dispatch import run
from smemlint.evaluate.machine.faults import INTERNAL, fault
from smemlint.evaluate.machine.machine import Budget, BudgetExceededError, EndedError, Machine
from smemlint.evaluate.machine.sums import Sums
from smemlint.evaluate.model import Grade, KernelTrace, Trace, Unresolved
from smemlint.evaluate.trace import shared_arrays, traces_of, unresolved_traces
from smemlint.evaluate.types.matching import Binding
from smemlint.evaluate.types.number_members import number_members
from smemlint.evaluate.values import affine
from smemlint.evaluate.values.number import Int
from smemlint.evaluate.values.objects import NO_ADDRESS
from smemlint.evaluate.values.value import Object, Pointer, RecordValue, Value
from smemlint.ir import Function, Launch, Module, PointerTo, RecordRef, Scalar, TemplateParam, Type, Var
from smemlint.ir.types import INT
from smemlint.ir.uses import idle_shared


def evaluate(
    module: Module,
    kernel: Function,
    launch: Launch,
    budget: Budget | None = None,
    *,
    as_written: bool = False,
) -> KernelTrace:
    """Addresses of every shared access of `kernel` as `launch` starts it.

    as_written: each access as the source has it, with nothing of what the compiler makes of it.
    Never raises for what the source holds: a budget that is hit, or nesting that is too deep, is a note,
    and the sites seen so far are reported as unresolved for that reason.
    """
    m, launch, stopped = _first_run(module, kernel, launch, budget, as_written=as_written)
    if stopped is not None:
        m.journal.notes.append(stopped)
        traces = unresolved_traces(m, stopped)
    elif m.journal.sites:
        try:
            traces = traces_of(
                m, launch, lambda: _elsewhere(m, kernel, launch), lambda: _doubts(m, kernel, launch)
            )
            traces = _wherever_members_begin(m, kernel, launch, traces) if m.unknowns.begun else traces
        except (EndedError, RecursionError, MemoryError):
            raise
        except Exception as error:
            m.journal.notes.append(fault(error, kernel.place))
            traces = unresolved_traces(m, m.journal.notes[-1])
    else:
        traces = []
    arrays = [o for id_, o in m.memory.shared.items() if id_ not in idle_shared(module)]
    if arrays and not traces and stopped is None:
        names = ", ".join(f"`{o.name}`" for o in arrays)
        text = f"no access to {names} was reached, for this launch or because a use is not followed"
        m.journal.notes.append(Unresolved("no-access", text, kernel.place))
    # What is asked of the arrays is little, also where the evaluation was stopped.
    m.effort.limit = m.effort.steps + LONG
    return KernelTrace(
        shared_arrays(m),
        _ordered(traces),
        tuple(m.journal.notes),
        m.work + m.effort.spent,
        held=held(m),
        blocks_asked=blocks_asked(m, kernel),
        unsized=tuple(name for name, number in m.types.unsized.items() if number),
    )


def _first_run(
    module: Module, kernel: Function, launch: Launch, budget: Budget | None, *, as_written: bool
) -> tuple[Machine, Launch, Unresolved | None]:
    """The machine that ran the kernel, the launch with the grid that it ran for, and why it was stopped."""
    spent = 0
    while True:
        m = _machine(module, launch, budget, as_written=as_written)
        m.effort.spent, m.context.first_block = spent, True
        try:
            return m, launch, _run(m, kernel, launch)
        except FirstBlockError as error:
            grid = [1 if at == error.axis else n for at, n in zip("xyz", launch.grid, strict=True)]
            launch = dataclasses.replace(launch, grid=(grid[0], grid[1], grid[2]))
            spent += m.work


def _machine(module: Module, launch: Launch, budget: Budget | None, *, as_written: bool = False) -> Machine:
    family = launch.family if launch.warp else ""
    m = Machine(module, launch.block, grid=launch.grid, budget=budget, as_written=as_written, family=family)
    m.types.taken = launch.taken
    return m


def _run(m: Machine, kernel: Function, launch: Launch) -> Unresolved | None:
    """Fill the machine's log; the reason when it was stopped."""
    m.frame.bindings = {**unbound(m, kernel), **bind_kernel(kernel, launch)}
    m.frame.function = kernel
    try:
        bind_arguments(m, kernel, launch)
        m.enter(m.frame, kernel)
        run(m, kernel.body)
    except BudgetExceededError as error:
        return Unresolved(error.code, str(error), kernel.place)
    except RecursionError:
        return Unresolved("nesting", "expressions or calls are nested too deeply", kernel.place)
    except MemoryError:
        return Unresolved("budget", "stopped at the memory limit of one file", kernel.place)
    except FirstBlockError:
        raise
    except Exception as error:
        return fault(error, kernel.place)
    return None


def _wherever_members_begin(m: Machine, kernel: Function, launch: Launch, traces: list[Trace]) -> list[Trace]:
    """Members behind one of unknown size (a library's storage) may begin at any multiple of their alignment.

    That rotates the banks, but it also decides whether neighbouring accesses are joined: sites for which
    something else comes out when they begin at multiples of 16 bytes are unresolved.
    """
    if not may_join(m, compiled(m)) or all(t.grade is Grade.UNRESOLVED for t in traces):
        return traces
    other = _machine(m.module, launch, m.effort.budget)
    other.unknowns.begin = 16
    if _run(other, kernel, launch) is not None:
        return traces
    aligned = _least_wavefronts(traces_of(other, launch, lambda: _elsewhere(other, kernel, launch)))
    loose = _least_wavefronts(traces)
    return [
        t
        if t.grade is Grade.UNRESOLVED or aligned.get(_site(t)) == loose[_site(t)]
        else dataclasses.replace(
            t,
            grade=Grade.UNRESOLVED,
            reason=Unresolved(
                "unknown-size",
                "whether neighbours are joined depends on the size of a member before it",
                t.site.place,
            ),
        )
        for t in traces
    ]


def _site(t: Trace) -> tuple[object, ...]:
    return (t.site.place, t.site.op, t.site.width, t.site.array)


def _least_wavefronts(traces: list[Trace]) -> dict[tuple[object, ...], float]:
    """By site: wavefronts of what runs for each that would do; no value for run-time strides."""
    cost: dict[tuple[object, ...], list[int]] = {}
    for t in traces:
        total = cost.setdefault(_site(t), [0, 0])
        if t.grade is not Grade.UNRESOLVED:
            maybe = np.zeros_like(t.offsets, dtype=bool) if t.maybe is None else t.maybe
            width = t.joined or t.site.width
            try:
                _, most, ideal = wavefront_range(t.site.op, width, t.offsets, maybe, t.site.matrices)
            except ValueError:  # no such access: scoring says why
                continue
            total[0] += int((most * t.weights).sum())
            total[1] += int((ideal * t.weights).sum())
    return {site: most / ideal if ideal else 0.0 for site, (most, ideal) in cost.items()}


ELSEWHERE = 63
"""How much larger than in truth the launch's numbers are for _elsewhere: odd, and odd after every halving."""
ADDING = 60_000
"""Steps of an evaluation that skips nothing, for the sake of what is added up."""
LONG = 260_000
"""Steps of an evaluation that is not worth repeating."""


def _elsewhere(m: Machine, kernel: Function, launch: Launch) -> Iterator[Machine]:
    """The same threads under numbers that other launches could have; nothing when the launch tells nothing.

    The compiler knows no launch. Where addresses differ from those of `m`, it cannot know them. All numbers
    are changed by an odd amount first, then every second one by an even amount: `n * (1 + m)` moves under one
    of both.
    """
    told = {
        (name, axis): v
        for (name, axis), v in m.threads.specials.items()
        if (name, axis) in m.journal.asked
        and name in ("blockDim", "gridDim", "blockIdx", "threadIdx")
        and v.known
        and isinstance(v.const, int)
    }
    relevant = m.code.relevant(kernel)
    asked = {p.name for p in kernel.parameters if p.id in relevant}
    matter = {k for k in launch.arguments if k.split(".", 1)[0] in asked}
    if (not told and not matter) or m.effort.steps > LONG:
        return
    for alternate in (0, 1) if len(matter) > 1 else (0,):
        arguments = {
            k: v + ELSEWHERE + (alternate if i % 2 else 0)
            for i, (k, v) in enumerate(sorted(launch.arguments.items(), key=lambda a: a[0] in matter))
        }
        other = _once_more(m, launch, m.effort.budget)
        for key, v in told.items():
            assert isinstance(v.const, int)
            moved = 1 if key[0] == "threadIdx" else v.const + ELSEWHERE
            other.threads.specials[key] = Int(moved, v.type, None, v.form)
        stopped = _run(other, kernel, dataclasses.replace(launch, arguments=arguments))
        m.journal.notes += [
            n for n in (*other.journal.notes, stopped) if n is not None and n.code == INTERNAL
        ]
        m.effort.spent += other.work
        yield other


def _once_more(m: Machine, launch: Launch, budget: Budget) -> Machine:
    """A machine for the same code, which knows how its loops change what they carry."""
    other = _machine(m.module, launch, budget)
    other.unknowns.begin, other.memo.carried = m.unknowns.begin, m.memo.carried
    return other


def _doubts(m: Machine, kernel: Function, launch: Launch) -> frozenset[tuple[object, ...]]:
    """Keys of the sites whose address nvcc may compute by another sum: of everything that the kernel adds up,
    also for what is no address of shared memory."""
    if m.effort.steps > ADDING:
        return frozenset()
    budget = dataclasses.replace(m.effort.budget, steps=min(m.effort.budget.steps, ADDING))
    other = _once_more(m, launch, budget)
    other.journal.sums = Sums()
    _run(other, kernel, launch)
    m.effort.spent += other.work
    return frozenset(key for key, s in other.journal.sites.items() if id(s) in other.journal.sums.doubtful)


def _ordered(traces: list[Trace]) -> tuple[Trace, ...]:
    return tuple(sorted(traces, key=lambda t: (t.site.place.path, t.site.place.offset, t.site.op)))


def bind_kernel(kernel: Function, launch: Launch) -> dict[str, Binding]:
    """The kernel's template parameters by id."""
    bindings: dict[str, Binding] = {}
    for p in kernel.template:
        value = launch.template.get(p.name)
        if isinstance(value, tuple):
            bindings[p.id] = tuple(_argument_of(p, v) for v in value)
        elif value is not None:
            bindings[p.id] = _argument_of(p, value)
    return bindings


def _argument_of(p: TemplateParam, value: Type | int) -> Type | Int:
    if isinstance(value, int):
        return Int(value, p.type if isinstance(p.type, Scalar) else INT)
    return value


def unbound(m: Machine, kernel: Function) -> dict[str, Binding]:
    """Value parameters that no launch binds: one unknown number each."""
    return {
        p.id: m.unknowns.value(p.type if isinstance(p.type, Scalar) else INT, p.name, low=0, rank=3)
        for p in kernel.template
        if p.kind == "value" and not p.pack
    }


def bind_arguments(m: Machine, kernel: Function, launch: Launch) -> None:
    """Kernel parameters, and what lambdas among them captured: known numbers, or unknowns that are the same
    in all threads."""
    for id, (t, known) in launch.captures.items():
        name = id.split("@", 1)[0]
        m.memory.globals[id] = set_outside(m, id, name, t, None, known)
    pack = pack_of(kernel)
    for p in kernel.parameters:
        if p is pack:
            m.frame.packs[p.id] = tuple(
                set_outside(m, p.id, p.name, t, p, known) for t, known in launch.packed
            )
            continue
        t = m.resolve(p.type)
        o = Object(p.id, p.name, t, "local", p, uniform=True, havoc=True)
        m.frame.variables[p.id] = o
        known = launch.arguments.get(p.name)
        if known is not None and isinstance(t, Scalar) and t.kind != "float":
            o.cells[0] = Int(known, t, None, affine.atom("argument", p.id, positive=False))
        elif known == 0 and isinstance(t, PointerTo):
            o.cells[0] = Pointer(Object(NO_ADDRESS, p.name, t.to, "global"), Int(0), t.to)
        elif isinstance(t, RecordRef):
            _set_members(m, o, t, p, launch)
        else:
            v: Value = m.unknown(t, p.name, uniform=True, rank=3, size=True)
            if not isinstance(v, RecordValue):
                o.cells[0] = v


def unknown_setting(m: Machine, var: Var) -> None:
    """A number of the host that was set before the run began."""
    m.memory.globals[var.id] = set_outside(m, var.id, var.name, m.resolve(var.type), var)


def _set_members(m: Machine, o: Object, t: RecordRef, p: Var, launch: Launch) -> None:
    """Put into a structure that is passed by value the numbers that are known of it."""
    if not any(name.startswith(f"{p.name}.") for name in launch.arguments):
        return
    for path, at, scalar in number_members(m.types, t):
        known = launch.arguments.get(f"{p.name}.{path}")
        if known is not None:
            o.cells[at] = Int(known, scalar, None, affine.atom("argument", p.id, path, positive=False))
