"""The state of one evaluation: masks, frames, memory and the log of shared accesses."""

from __future__ import annotations

from collections.abc import Callable, Hashable

import numpy as np
from numpy.typing import NDArray

from smemlint import clock
from smemlint.evaluate.analysis.facts import Code, Slicer, code_of
from smemlint.evaluate.machine.dispatch import EndedError, SizedUpError, rvalue
from smemlint.evaluate.machine.paths import Paths
from smemlint.evaluate.machine.state import (
    Barrier,
    Event,
    Exit,
    Exits,
    Frame,
    Held,
    Join,
    Mask,
    SiteLog,
    Undecided,
    World,
)
from smemlint.evaluate.machine.sums import Conditions, Sums
from smemlint.evaluate.model import Assumption, Stop, Unresolved
from smemlint.evaluate.types.layout import Bindings, Types
from smemlint.evaluate.values import affine
from smemlint.evaluate.values.choices import Way
from smemlint.evaluate.values.lanes import some
from smemlint.evaluate.values.number import (
    Closure,
    FunctionValue,
    Int,
    Method,
    Other,
    Pointer,
    RecordValue,
    Value,
    collapse,
    formed,
)
from smemlint.evaluate.values.objects import Object
from smemlint.evaluate.values.unknowns import Unknowns
from smemlint.ir import (
    Expr,
    Function,
    LaunchStmt,
    Literal,
    Module,
    Place,
    PointerTo,
    RecordRef,
    Scalar,
    Type,
    Var,
)
from smemlint.ir.types import INT, UINT
from smemlint.records import record

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
]
"""The records of `state` are given out here as well: who needs one needs the machine."""


class BudgetExceededError(EndedError):
    """The evaluation was stopped: too many steps or recorded addresses, or (code `time`) too late."""

    def __init__(self, text: str, code: str = "budget") -> None:
        super().__init__(text)
        self.code = code


STEPS_PER_EVENT = 3
STRETCH = 1000
"""Evaluation steps between two looks at what else may end an evaluation."""


@record(frozen=True, slots=True)
class Budget:
    """Per kernel: expression steps, those without any access of shared memory, recorded lane addresses; per
    loop: iterations that are enumerated, and steps after which one more iteration stands for all that are
    left. until: computing time of the process at which even a kernel within its budget is left."""

    steps: int = 300_000
    idle: int = 30_000
    loop_steps: int = 10_000
    addresses: int = 24_000_000
    iterations: int = 1100
    until: float = float("inf")


class Machine:
    """The state while IR runs for all threads of one block at once. One instance, one evaluation."""

    def __init__(
        self,
        module: Module,
        block: tuple[int, int, int],
        *,
        grid: tuple[int | None, int | None, int | None] = (None, None, None),
        budget: Budget | None = None,
        on_launch: Callable[[Machine, LaunchStmt], None] | None = None,
        host: bool = False,
        defaults: bool = False,
        explore: bool = False,
        slicer: Slicer | None = None,
        paths: Paths | None = None,
        as_written: bool = False,
    ) -> None:
        self.module = module
        self.task.as_written = as_written
        """Whether nothing is to be told of what the compiler does with accesses."""
        self.task.block = block
        self.effort.budget = budget or Budget()
        self.task.on_launch = on_launch
        self.host = host
        self.context.defaults = defaults
        self.task.explore = explore
        self.task.paths = paths
        self.unknowns = Unknowns(recipes={} if host else None)
        self.types = Types(module, self.constant)
        threads = block[0] * block[1] * block[2]
        self.threads.size = 1 if host else -(-threads // 32) * 32
        self.threads.linear: NDArray[np.int64] = np.arange(self.threads.size, dtype=np.int64)
        self.threads.present: Mask = self.threads.linear < threads
        self.threads.nobody: Mask = np.zeros(self.threads.size, dtype=bool)
        self.must: Mask = self.threads.present
        self.may: Mask = self.threads.present
        self.context.weight = 1
        self.context.times = 1.0
        self.context.open = 0
        """As in Event."""
        self.lines.region = 0
        self.lines.made = 0
        self.lines.parents: dict[int, int] = {}
        """By region: the line that surely ran before it, of which it is a branch."""
        self.lines.arms: dict[tuple[int, Hashable], int] = {}
        """By line and condition: the region of the branches on it."""
        self.lines.merged: dict[int, int] = {}
        """By region: the line that it became a part of when a loop was unrolled."""
        self.lines.follows: tuple[int, int] | None = None
        """Where code goes on after the latest `&&` or `||`: the regions if it was true, and if false."""
        self.turns.turn = 0
        self.context.waiting: dict[int, list[Held]] = {}
        """By id() of a branch: loads that may move under it."""
        self.context.stale = False
        """Whether a variable was set in some lanes only since the mask last was whole."""
        self.context.constants: set[str] = set()
        """Counters of the loops around that disappear: the compiler knows them."""
        self.context.counters: frozenset[str] = frozenset()
        """Counters of all loops around."""
        self.turns.made = 0
        self.turns.lined: dict[int, int] = {}
        """By turn: the first of its straight line, where that is another."""
        self.turns.halved: dict[int, int] = {}
        """By first turn of a straight line of a loop whose end only the run tells: iterations by which its
        pointers start off."""
        self.turns.uneven: set[int] = set()
        """Turns in which lanes stand at different iterations: forms alone say how addresses move."""
        self.turns.stays = 0
        """Loops so far that stay loops."""
        self.code_size.flow = 0
        self.journal.asked: set[tuple[str, str]] = set()
        """What the kernel asked of the launch: the compiler does not know it."""
        self.journal.order = 0
        self.effort.steps = 0
        self.effort.limit = min(STRETCH, self.effort.budget.steps)
        """Steps after which what runs now may have to stop."""
        self.effort.reached = False
        """Whether shared memory was accessed, if only in an iteration that leaves no trace."""
        self.effort.patience: int | None = None
        """Steps after which what runs for its size alone stops."""
        self.effort.spent = 0
        """Work of the same evaluation under other launches."""
        self.effort.addresses = 0
        self.silent = 0
        self.effort.depth = 0
        last = Join(
            self.threads.nobody,
            self.threads.nobody,
            self.threads.present,
            self.threads.nobody,
            followed=False,
        )
        self.frames: list[Frame] = [Frame({}, end=last)]
        self.memory.globals: dict[str, Object] = {}
        self.memory.choices: dict[tuple[object, ...], Object] = {}
        """What stands for several objects, by which and when."""
        self.memory.kept: dict[Object, list[Pointer]] = {}
        """By an object outside of local memory: the pointers into shared memory that were written to it."""
        self.memory.splits: dict[tuple[int, bytes], object] = {}
        """By id() of such an object and mask: which lanes go where."""
        self.memory.shared: dict[str, Object] = {}
        self.journal.sites: dict[tuple[object, ...], SiteLog] = {}
        self.log: list[Event | Barrier] = []
        self.journal.selected: list[tuple[Event, Event, Int]] = []
        """Loads in both arms of a condition that run as one, and its address."""
        self.journal.notes: list[Unresolved] = []
        self.memo.sizes: dict[
            tuple[int, tuple[object, ...]], tuple[int, int, int, bool, tuple[Stop, ...]]
        ] = {}
        self.code = code_of(module) if slicer is None else Code(module, slicer)
        self.memo.loop_kinds: dict[tuple[int, tuple[object, ...]], dict[tuple[str, int], str]] = {}
        self.code_size.touched = 0
        self.code_size.operations = 0
        self.journal.stops: list[Stop] = []
        """What kept accesses apart so far, barriers aside."""
        self.code_size.guards = 0
        """Branches in loops that are decided when they run, as the copies of unrolled loops have them."""
        self.context.aside = False
        """Whether what runs is only run by blocks at the edge of the grid."""
        self.context.supposed: set[str] = set()
        """Variables that were given what a block in the middle of the grid finds."""
        self.memo.edges: dict[int, int] = {}
        """By id() of a branch that only blocks at the edge take: how often it was looked at."""
        self.memo.reaching: dict[int, bool] = {}
        """By id() of such a branch: whether it may access memory."""
        self.effort.entered: dict[tuple[int, tuple[tuple[str, int | str], ...]], tuple[int, int]] = {}
        """By id() and template arguments of a function in progress: the steps made when it was entered first,
        and how often it is."""
        self.specials = self._specials(grid)
        self.context.loops: list[Exits] = []
        """The loops and switches around, innermost last."""
        self.journal.assumptions: dict[object, Assumption] = {}
        """What was assumed so far, by what told it."""
        self.context.undecided: list[Undecided] = []
        """The conditions around that nobody can decide."""
        self.context.way: Way = {}
        """What 0/1 unknowns are here, as the branches around and those that others left by tell."""
        self.context.discarded: Expr | None = None
        self.sums: Sums | None = None
        """What was added up, where that is asked for; nothing is then skipped."""

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
        return {
            key: v if key[0] == "warpSize" else formed(v, affine.atom(*key)) for key, v in specials.items()
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
        own = bindings is self.bindings
        if not own:
            # A class in a function may name the function's own constants.
            self.frames.append(Frame(bindings, parent=self.frames[-1]))
        self.silent += 1
        try:
            v = rvalue(self, expr)
        except BudgetExceededError:
            return None  # the next step says so, where there is one
        finally:
            self.silent -= 1
            if not own:
                self.frames.pop()
        if isinstance(v, Int) and v.known:
            c = collapse(v.const, self.threads.present)
            return c if isinstance(c, int) else None
        return None

    def resolve(self, t: Type) -> Type:
        return self.types.resolve(t, self.bindings)

    def enter(self, frame: Frame, f: Function) -> None:
        """Set up what can be skipped in a function, given where its arguments point."""
        pointing = frozenset(id for id, o in frame.variables.items() if _may_be_shared(o))
        slice = self.code.slice(f, pointing)
        if self.sums is None:
            frame.skippable, frame.quiet, frame.sets = slice.skippable, slice.quiet, slice.sets
        frame.open = slice.open if self.task.explore else None
        frame.deciding = slice.deciding if self.task.paths is not None else None
        if not self.host:
            frame.sinks = self.code.sinks(f)
        frame.instance = instance_of(frame.bindings)

    def forget(self, ids: frozenset[str]) -> None:
        """Variables that a skipped statement would have set are unknown from here on."""
        for id in sorted(ids):
            o = self.find(id)
            if o is None or o.storage != "local":
                continue
            target = o.cells.get(0)
            if isinstance(o.type, PointerTo) and isinstance(target, Pointer):
                o = target.object
            if o.storage == "local" and not (o.havoc and not o.cells):
                o.cells = {}
                o.havoc = True
                o.uniform = False

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
        if self.effort.steps > self.effort.budget.steps:
            raise BudgetExceededError(f"stopped after {self.effort.budget.steps:,} evaluation steps")
        if self.effort.patience is not None and self.effort.steps > self.effort.patience:
            raise SizedUpError
        if not self.effort.reached and not self.host and self.effort.steps > self.effort.budget.idle:
            raise BudgetExceededError(
                f"stopped after {self.effort.budget.idle:,} evaluation steps without an access of shared memory"
            )
        if clock.late(self.effort.budget.until):
            raise BudgetExceededError("stopped when the time for this file was over", "time")
        ends = (self.effort.steps + STRETCH, self.effort.budget.steps, self.effort.patience)
        self.effort.limit = min(end for end in ends if end is not None)

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
    ) -> Value:
        """Some value of a resolved type; `size`: taken as a non-negative problem size."""
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
            return self.unknowns.value(
                t, name, varying=not uniform and not self.host, low=low, high=high, rank=rank, reason=reason
            )
        if isinstance(t, PointerTo):
            return Pointer(Object(f"global:{name}", name, t.to, "global"), Int(0), t.to)
        if isinstance(t, RecordRef):
            return RecordValue(t, {})
        return Other(t, uniform, reason)

    def declare(self, var: Var, t: Type, *, storage: str = "local") -> Object:
        o = Object(var.id, var.name, t, storage, var)
        self.frame.variables[var.id] = o
        return o

    def barrier(self) -> None:
        """A synchronisation or fence."""
        if not self.silent:
            self.log.append(Barrier(self.lines.region, self.journal.order))
            self.journal.order += 1
        self.code_size.flow += 1
        self.code_size.operations += 1
        self.straight()

    def exits(self, *, switch: bool = False, label: str = "") -> Exits:
        """Where the ways out of a loop or switch that begins here will meet."""
        return Exits(
            self.threads.nobody, self.threads.nobody, self.join(), self.join(), switch=switch, label=label
        )

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

    def under(self) -> Hashable:
        """The undecided conditions on the way to what runs now; () where it surely runs."""
        if not self.context.way and not self.context.undecided:
            return ()
        known = {(s.order, n) for s, n in self.context.way.items()}
        conditions = [u.condition for u in self.context.undecided]
        others = {s.order for c in conditions for mono in c.terms for s in mono if s not in self.context.way}
        return frozenset(known | {(order, None) for order in others})

    def conditions(self) -> Conditions:
        return tuple(self.context.undecided), self.may

    def stop(self, stop: Stop) -> None:
        """Something that keeps accesses apart, though the straight line goes on."""
        if not self.silent:
            self.log.append(Barrier(self.lines.region, self.journal.order, stop))
            self.journal.order += 1
        self.journal.stops.append(stop)

    def straight(self) -> None:
        """What follows is no longer in one straight line with what was before."""
        self.lines.made += 1
        self.lines.region = self.lines.made

    def arm(self, line: int, condition: Hashable) -> None:
        """What follows is a branch off a line. Branches of one line on one condition stand in one line."""
        if self.host:
            self.straight()
            return
        region = self.lines.arms.get((line, condition))
        if region is None:
            self.straight()
            region = self.lines.arms[line, condition] = self.lines.region
            self.lines.parents[region] = line
        self.lines.region = region

    def next_turn(self) -> None:
        """A loop that does not disappear goes round once more."""
        self.turns.made += 1
        self.turns.turn = self.turns.made


def instance_of(bindings: Bindings) -> tuple[tuple[str, int | str], ...]:
    """Template arguments as a key."""
    return tuple(
        (id, b.const if isinstance(b, Int) and isinstance(b.const, int) else str(b))
        for id, b in sorted(bindings.items())
    )


def _may_be_shared(o: Object) -> bool:
    """Whether a parameter may lead to shared memory."""
    if o.havoc and isinstance(o.type, RecordRef) and o.var is not None and o.var.storage == "param":
        return any(isinstance(v, Pointer) and v.object.storage == "shared" for v in o.cells.values())
    for v in o.cells.values():
        if isinstance(v, Pointer):
            if v.object.storage == "shared":
                return True
            if v.object.storage == "local" and any(
                isinstance(c, Pointer | Closure) for c in v.object.cells.values()
            ):
                return True
        elif isinstance(v, Closure | Method | RecordValue | FunctionValue):
            return True
    return False
