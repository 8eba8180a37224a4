"""The state of one evaluation: masks, frames, memory and the log of shared accesses."""

from __future__ import annotations

from collections.abc import Hashable
from weakref import ref

from smemlint.evaluate.analysis.facts import Code, Slicer, code_of
from smemlint.evaluate.analysis.own_members import LOCAL_THIS, floating, member_of
from smemlint.evaluate.analysis.sinkable import sinks
from smemlint.evaluate.machine.any_warp import any_warp
from smemlint.evaluate.machine.callbacks import EVALUATOR
from smemlint.evaluate.machine.components import (
    STRETCH,
    Budget,
    CodeSize,
    Context,
    Effort,
    Journal,
    Memo,
    Memory,
    OnLaunch,
    StraightLines,
    Task,
    Threads,
    Turns,
)
from smemlint.evaluate.machine.departures import Departures, Parts, as_met, stayed, together
from smemlint.evaluate.machine.paths import Paths
from smemlint.evaluate.machine.state import (
    WHOLE,
    Barrier,
    Event,
    Exit,
    Exits,
    Frame,
    Held,
    Join,
    Mask,
    SiteLog,
    Slice,
    Undecided,
    World,
    joins_of,
)
from smemlint.evaluate.machine.sums import Conditions
from smemlint.evaluate.model import Assumption, Stop, Unresolved
from smemlint.evaluate.types.layout import Types
from smemlint.evaluate.types.matching import Bindings
from smemlint.evaluate.types.value_arguments import argument_of
from smemlint.evaluate.values import affine
from smemlint.evaluate.values.lanes import some
from smemlint.evaluate.values.number import Int, collapse, formed
from smemlint.evaluate.values.objects import UNSEEN
from smemlint.evaluate.values.unknowns import Unknowns
from smemlint.evaluate.values.value import (
    Closure,
    FunctionValue,
    Method,
    Object,
    Other,
    Pointer,
    RecordValue,
    Value,
)
from smemlint.ir import (
    ArrayOf,
    Expr,
    Function,
    FunctionRef,
    Literal,
    Module,
    ObjectRef,
    Place,
    PointerTo,
    RecordRef,
    Scalar,
    Type,
    Var,
)
from smemlint.ir.memo import by_identity
from smemlint.ir.types import INT, UINT
from smemlint.system import clock

__all__ = [
    "STEPS_PER_EVENT",
    "Barrier",
    "Budget",
    "BudgetExceededError",
    "Event",
    "Exit",
    "Exits",
    "Frame",
    "Held",
    "Join",
    "Machine",
    "Mask",
    "SiteLog",
    "Undecided",
    "World",
    "instance_of",
    "joins_of",
]
"""The records of `state` are given out here as well: who needs one needs the machine."""


class EndedError(Exception):
    """An evaluation, or a part of it, ends here on purpose."""


class SizedUpError(EndedError):
    """A statement that is run for its size alone is known to be large."""


class BudgetExceededError(EndedError):
    """The evaluation was stopped: too many steps or recorded addresses, or (code `time`) too late."""

    def __init__(self, text: str, code: str = "budget") -> None:
        super().__init__(text)
        self.code = code


STEPS_PER_EVENT = 3


def _types_of(machine: ref[Machine]) -> Types:
    """Types whose machine ends, with its log, when nobody else holds it: a cycle through its own types would
    wait for the collector."""

    def constant(expr: Expr, bindings: Bindings) -> int | None:
        m = machine()
        return None if m is None else m.constant(expr, bindings)

    def given(expr: Expr, bindings: Bindings) -> ObjectRef | FunctionRef | None:
        m = machine()
        return None if m is None else m.given(expr, bindings)

    made = machine()
    assert made is not None
    return Types(made.module, constant, given)


class Machine:
    """The state while IR runs for all threads of one block at once. One instance, one evaluation."""

    def __init__(
        self,
        module: Module,
        block: tuple[int, int, int],
        *,
        grid: tuple[int | None, int | None, int | None] = (None, None, None),
        budget: Budget | None = None,
        on_launch: OnLaunch | None = None,
        host: bool = False,
        defaults: bool = False,
        explore: bool = False,
        slicer: Slicer | None = None,
        paths: Paths | None = None,
        as_written: bool = False,
        family: str = "",
    ) -> None:
        self.module = module
        self.host = host
        self.task = Task(block, on_launch, explore, paths, as_written, family)
        budget = budget or Budget()
        self.effort = Effort(budget, limit=min(STRETCH, budget.steps))
        self.threads = Threads.of(block, host=host)
        self.unknowns = Unknowns(recipes={} if host else None)
        self.types = _types_of(ref(self))
        self.types.loose = host
        self.code = code_of(module) if slicer is None else Code(module, slicer)
        self.must: Mask = self.threads.present
        self.may: Mask = self.threads.present
        self.silent = 0
        """Iterations around that leave no trace."""
        nobody = self.threads.nobody
        last = Join(nobody, nobody, self.threads.present, nobody, followed=False)
        self.frames: list[Frame] = [Frame({}, end=last)]
        self.memory = Memory()
        self.log: list[Event | Barrier] = []
        self.journal = Journal()
        self.lines = StraightLines()
        self.turns = Turns()
        self.code_size = CodeSize()
        self.context = Context(defaults=defaults)
        self.memo = Memo()
        self.threads.specials.update(self._specials(grid))

    # ------------------------------------------------------------------ what the hardware gives

    def _specials(self, grid: tuple[int | None, int | None, int | None]) -> dict[tuple[str, str], Int]:
        bx, by, _ = self.task.block
        specials: dict[tuple[str, str], Int] = {
            ("warpSize", ""): Int(32, INT),
            ("laneid", ""): Int(self.threads.linear % 32, UINT),
            ("warpid", ""): Int(collapse(self.threads.linear // 32, self.threads.present), UINT),
        }
        index = (self.threads.linear % bx, self.threads.linear // bx % by, self.threads.linear // (bx * by))
        for axis, lanes, extent, blocks in zip("xyz", index, self.task.block, grid, strict=True):
            specials["threadIdx", axis] = Int(lanes if extent > 1 else 0, UINT)
            specials["blockDim", axis] = Int(extent, UINT)
            if blocks == 1:
                specials["blockIdx", axis] = Int(0, UINT)
            else:
                high = None if blocks is None else blocks - 1
                specials["blockIdx", axis] = self.unknowns.value(
                    UINT, f"blockIdx.{axis}", low=0, high=high, rank=2
                )
            specials["gridDim", axis] = (
                Int(blocks, UINT)
                if blocks is not None
                else self.unknowns.value(UINT, f"gridDim.{axis}", low=1, rank=2)
            )
        if self.host:
            return specials
        specials |= any_warp(self.task.family, specials, self.unknowns)
        small = ("threadIdx", "laneid", "warpid")
        return {
            key: v
            if key[0] == "warpSize"
            else formed(v, affine.atom(*key, small=key[0] in small, positive=False))
            for key, v in specials.items()
        }

    # ------------------------------------------------------------------ frames

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    @property
    def bindings(self) -> Bindings:
        return self.frames[-1].bindings

    def find(self, id: str) -> Object | None:
        """The object of a variable visible here."""
        frame: Frame | None = self.frames[-1]
        while frame is not None:
            found = frame.variables.get(id)
            if found is not None:
                return found
            frame = frame.parent
        return self.memory.globals.get(id)

    def constant(self, expr: Expr, bindings: Bindings) -> int | None:
        """The number an expression folds to, or None."""
        if isinstance(expr, Literal):
            return expr.value
        v = self._folded(expr, bindings)
        if isinstance(v, Int) and v.known:
            c = collapse(v.const, self.threads.present)
            return c if isinstance(c, int) else None
        return None

    def given(self, expr: Expr, bindings: Bindings) -> ObjectRef | FunctionRef | None:
        """The object or member that a template argument is, None of any other."""
        return argument_of(self.types, self._folded(expr, bindings))

    def _folded(self, expr: Expr, bindings: Bindings) -> Value | None:
        own = bindings is self.bindings
        if not own:
            # A class in a function may name the function's own constants.
            self.frames.append(Frame(bindings, parent=self.frames[-1]))
        self.silent += 1
        try:
            return EVALUATOR.value(self, expr)
        except BudgetExceededError:
            return None  # the next step says so, where there is one
        finally:
            self.silent -= 1
            if not own:
                self.frames.pop()

    def resolve(self, t: Type) -> Type:
        found = self.types.resolve(t, self.bindings)
        return found if type(found) is Scalar else EVALUATOR.typed(self, found)

    def enter(self, frame: Frame, f: Function) -> None:
        """Set up what can be skipped in a function, given where its arguments point."""
        pointing = frozenset(id for id, o in frame.variables.items() if _may_be_shared(o))
        pointing |= {id for id, elements in frame.packs.items() if any(map(_may_be_shared, elements))}
        if frame.this is not None and frame.this.object.storage == "local":
            pointing |= {LOCAL_THIS}
        packs = {p.id for p in f.template if p.pack}  # bound to the type of the first element
        key = f.id, pointing, _real(frame.bindings) - packs
        known = self.memo.slices.get(key)
        if known is None:
            known = self.memo.slices[key] = self._slice(f, *key[1:])
        frame.slice = known
        if not self.host:
            frame.sinks = sinks(f)
        frame.instance = instance_of(frame.bindings)

    def _slice(self, f: Function, pointing: frozenset[str], real: frozenset[str]) -> Slice:
        """What matters in a function, as far as this evaluation asks."""
        found = self.code.slice(f, pointing, real)
        whole = self.journal.sums is not None
        return Slice(
            WHOLE.skippable if whole else found.skippable,
            WHOLE.quiet if whole else found.quiet,
            found.sets,
            found.open,
            found.deciding if self.task.paths is not None else WHOLE.deciding,
            found.trailing,
            found.handing,
        )

    def forget(self, ids: frozenset[str]) -> None:
        """Variables that a skipped statement would have set are unknown from here on."""
        for id in sorted(ids):
            member = member_of(id)
            if member is not None:
                self._forget_member(member)
                continue
            o = self.find(id)
            if o is None or o.storage != "local":
                continue
            self.memo.passed_over.add(o.id)
            target = o.cells.get(0)
            if isinstance(o.type, PointerTo) and isinstance(target, Pointer):
                o = target.object
                self.memo.passed_over.add(o.id)
            if o.storage == "local" and not (o.havoc and not o.cells):
                o.lose()

    def _forget_member(self, name: str) -> None:
        """A number in the object that the method in progress runs on is unknown from here on."""
        this = self.frame.this
        if this is None:
            return
        o, at = this.object, this.offset.const
        layout = self.types.layout(this.pointee)
        start, t = layout.fields.get(name, (0, None)) if layout is not None else (0, None)
        size = self.types.size_of(t) if t is not None else None
        if size is None or not this.offset.known or not isinstance(at, int):
            o.lose()
            return
        first = at + start
        for k in [k for k in o.cells if first <= k < first + size]:
            o.cells[k] = Other()

    def anyone(self) -> bool:
        """Whether some lane is active."""
        may = self.may
        return may is self.threads.present or (may is not self.threads.nobody and some(may))

    @property
    def work(self) -> int:
        """Steps so far, with those that the log stands for: its accesses are joined and scored."""
        return self.effort.steps + STEPS_PER_EVENT * len(self.log)

    def look_up(self) -> None:
        """See whether what runs has to stop here, after so many steps. Raises EndedError if so."""
        effort, budget = self.effort, self.effort.budget
        if effort.steps > budget.steps:
            raise BudgetExceededError(f"stopped after {budget.steps:,} evaluation steps")
        if effort.patience is not None and effort.steps > effort.patience:
            raise SizedUpError
        if not effort.reached and not self.host and effort.steps > budget.idle:
            raise BudgetExceededError(
                f"stopped after {budget.idle:,} evaluation steps without an access of shared memory"
            )
        if clock.late(budget.until):
            raise BudgetExceededError("stopped when the time for this file was over", "time")
        ends = (effort.steps + STRETCH, budget.steps, effort.patience)
        effort.limit = min(end for end in ends if end is not None)

    def note(self, code: str, text: str, at: Place | None = None) -> Unresolved:
        reason = Unresolved(code, text, at)
        if not self.silent and reason not in self.journal.notes:
            self.journal.notes.append(reason)
        return reason

    # ------------------------------------------------------------------ unknown values

    def unknown(
        self,
        t: Type,
        name: str,
        *,
        uniform: bool,
        reason: Unresolved | None = None,
        rank: int = 0,
        size: bool = False,
        shared: bool = False,
    ) -> Value:
        """Some value of a resolved type; `size`: a non-negative problem size; `shared`: one for each warp."""
        if isinstance(t, Scalar):
            if t.kind == "float" or t.kind == "void":
                return Other(t, uniform, reason)
            low: int | None = None
            high: int | None = None
            if t.kind == "bool":
                low, high = 0, 1
            elif t.kind == "uint":
                low, high = 0, (1 << (8 * t.size)) - 1 if t.size < 4 else None
            elif t.size < 4:
                low, high = -(1 << (8 * t.size - 1)), (1 << (8 * t.size - 1)) - 1
            elif size:
                low = 0
            varying = not uniform and not self.host
            facts = {"varying": varying, "shared": varying and shared, "reason": reason}
            return self.unknowns.value(t, name, low=low, high=high, rank=rank, **facts)
        if isinstance(t, PointerTo):
            return Pointer(Object(UNSEEN + name, name, t.to, "global"), Int(0), t.to)
        if isinstance(t, RecordRef):
            return RecordValue(t, {})
        return Other(t, uniform, reason)

    def declare(self, var: Var, t: Type, *, storage: str = "local") -> Object:
        o = Object(var.id, var.name, t, storage, var)
        self.frame.variables[var.id] = o
        if isinstance(t, ArrayOf | RecordRef) or (isinstance(t, Scalar) and t.kind == "float"):
            self.journal.locals[var.id] = t
        return o

    def barrier(self) -> None:
        """A synchronisation or fence."""
        self.memory.barriers += 1
        if not self.silent:
            self.log.append(Barrier(self.lines.region, self.journal.order))
            self.journal.order += 1
        self.code_size.operations += 1
        self.onward()

    def exits(self, *, switch: bool = False, label: str = "") -> Exits:
        """Where the ways out of a loop or switch that begins here will meet."""
        nobody, live = self.threads.nobody, len(self.frame.live)
        return Exits(nobody, nobody, self.join(), self.join(), switch=switch, label=label, live=live)

    def join(self) -> Join:
        """Where ways from here on will meet."""
        return Join(
            self.threads.nobody,
            self.threads.nobody,
            self.may,
            self.threads.nobody,
            len(self.context.undecided),
        )

    def assume(self, kind: str, text: str, place: Place | None) -> None:
        """Note what is taken for granted from here on."""
        self.journal.assumptions.setdefault((kind, text), Assumption(kind, text, place))

    def ahead(self) -> list[Join]:
        """The join points that are still to come in this call."""
        return joins_of(self.context.loops) + ([] if self.frame.end is None else [self.frame.end])

    def departures(self) -> Departures:
        """Who may have left for join points that are still to come."""
        around = self.context.left
        own = [j.left for j in self.ahead() if j.left]
        return together([around, *own]) if own else around

    def under(self, must: Mask) -> tuple[Hashable, Parts]:
        """The undecided conditions on the way to what runs now, () where it surely runs; and those of some of
        its warps. must: lanes that run it if these hold."""
        departures = self.departures()
        if not self.context.way and not self.context.undecided and not departures:
            return (), ()
        way = self.context.way
        met = [s for u in self.context.undecided for s in u.condition.symbols()]
        self.journal.choices.update((s.order, s.choice) for s in (*way, *met) if s.choice)
        here: frozenset[Hashable] = frozenset((s.order, n) for s, n in way.items())
        here = here.union(*(as_met(u.condition, way, must) for u in self.context.undecided))
        whole, parts = stayed(departures, here, must)
        return here.union(whole) or (), parts

    def conditions(self) -> Conditions:
        return tuple(self.context.undecided), self.may

    def stop(self, stop: Stop, at: int = 0, *, arms: tuple[int, ...] = (), front: int | None = None) -> None:
        """Something that keeps accesses apart, though the straight line goes on. at, arms, front: as in
        Barrier."""
        if not self.silent:
            entry = Barrier(self.lines.region, self.journal.order, stop, at, arms, front=front)
            self.log.append(entry)
            self.journal.order += 1
        self.journal.stops.append((stop, at, front is not None))

    def stop_again(self, stop: Stop, at: int, *, in_front: bool) -> None:
        """The same as when the statement ran that is skipped now. in_front: of the loops around."""
        around = next((exits for exits in reversed(self.context.loops) if not exits.switch), None)
        if not in_front or around is None:
            self.stop(stop, at)
        elif not (around.stays or around.round):
            self.stop(stop, at, front=around.began)

    def straight(self) -> None:
        """Begin a straight line of code: what follows is in none with what was before."""
        self.lines.begin()

    def onward(self, line: int | None = None) -> None:
        """Begin a straight line behind one that surely ran: the line at hand, or another one."""
        line = self.lines.region if line is None else line
        self.straight()
        self.lines.after[self.lines.region] = line

    def arm(self, line: int, condition: Hashable) -> None:
        """Go on in a branch off a line. Branches of one line on one condition stand in one line."""
        if self.host:
            self.lines.begin()
        else:
            self.lines.branch(line, condition)

    def next_turn(self) -> None:
        """Begin an iteration of a loop that does not disappear."""
        self.turns.begin()


def instance_of(bindings: Bindings) -> tuple[tuple[str, int | str], ...]:
    """Template arguments as a key."""
    if not bindings:
        return ()
    return tuple(
        [
            (id, b.const if type(b) is Int and type(b.const) is int else _spelled(b))
            for id, b in sorted(bindings.items())
        ]
    )


_spelled = by_identity(str)


def _real(bindings: Bindings) -> frozenset[str]:
    """Template parameters that are floating-point types."""
    return frozenset(id for id, b in bindings.items() if isinstance(b, Scalar | RecordRef) and floating(b))


_LEADING = frozenset((Pointer, Closure))


def _may_be_shared(o: Object) -> bool:
    """Whether a parameter may lead to shared memory."""
    if o.havoc and isinstance(o.type, RecordRef) and o.var is not None and o.var.storage == "param":
        return any(isinstance(v, Pointer) and v.object.storage == "shared" for v in o.cells.values())
    for v in o.cells.values():
        if isinstance(v, Pointer):
            if v.object.storage == "shared":
                return True
            if v.object.storage == "local" and not _LEADING.isdisjoint(map(type, v.object.cells.values())):
                return True
        elif isinstance(v, Closure | Method | RecordValue | FunctionValue):
            return True
    return False
