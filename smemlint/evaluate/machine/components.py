"""The parts of a Machine's state, each with one reason to change."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence, Set
from dataclasses import field, replace
from itertools import pairwise, takewhile
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from smemlint.evaluate.analysis.arms.pointer_selects import Moves
from smemlint.evaluate.machine.departures import Departures
from smemlint.evaluate.machine.paths import Paths
from smemlint.evaluate.machine.state import (
    Barrier,
    Exits,
    Held,
    Iterated,
    Mask,
    MovedPointer,
    Selected,
    SiteLog,
    Slice,
    Sunk,
    Thrown,
    Trying,
    Undecided,
)
from smemlint.evaluate.machine.sums import Sums
from smemlint.evaluate.model import Assumption, Stop, Unresolved
from smemlint.evaluate.values.affine import Terms
from smemlint.evaluate.values.choices import Way
from smemlint.evaluate.values.number import Int
from smemlint.evaluate.values.objects import Snapshot
from smemlint.evaluate.values.value import Object, Pointer, Value
from smemlint.ir import Expr, Function, If, LaunchStmt, RecordRef, Type
from smemlint.records import record

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


class OnLaunch(Protocol):
    """Somebody who takes down what host code starts."""

    def __call__(self, m: Any, s: LaunchStmt) -> None:
        """The machine meets a launch."""

    def mark(self) -> Callable[[], None]:
        """Return what takes back all that is taken down from now on."""


@record(frozen=True, eq=False, slots=True)
class Task:
    """What is asked of an evaluation."""

    block: tuple[int, int, int]
    on_launch: OnLaunch | None = None
    """What to do at a launch."""
    explore: bool = False
    paths: Paths | None = None
    as_written: bool = False
    """Whether nothing is to be told of what the compiler does with accesses."""
    family: str = ""
    """Of which family of blocks (`Launch.family`) the threads are one warp; '' where they are the block."""

    @property
    def threads(self) -> int | None:
        """Threads of the block; None where they are one warp of it."""
        return None if self.family else self.block[0] * self.block[1] * self.block[2]


@record(frozen=True, eq=False, slots=True)
class Threads:
    """The threads of the block, padded to whole warps; host code has one."""

    size: int
    linear: NDArray[np.int64]
    present: Mask
    nobody: Mask
    specials: dict[tuple[str, str], Int] = field(default_factory=dict)
    """What the hardware gives (`threadIdx.x`), by name and axis."""

    @staticmethod
    def of(block: tuple[int, int, int], *, host: bool) -> Threads:
        """Return the threads of a block of this shape."""
        threads = block[0] * block[1] * block[2]
        size = 1 if host else -(-threads // 32) * 32
        linear = np.arange(size, dtype=np.int64)
        return Threads(size, linear, linear < threads, np.zeros(size, dtype=bool))


@record(eq=False, slots=True)
class Effort:
    """The work done so far, and what of it is allowed."""

    budget: Budget
    limit: int
    """Steps after which what runs now may have to stop."""
    steps: int = 0
    reached: int = 0
    """Accesses of shared memory, also in iterations that leave no trace; launches of host code."""
    patience: int | None = None
    """Steps after which what runs for its size alone stops."""
    firsts: int = 0
    """Trials in progress of loops of host code whose state is that of a first iteration."""
    spent: int = 0
    """Work of the same evaluation under other launches."""
    addresses: int = 0
    depth: int = 0
    entered: dict[tuple[int, tuple[tuple[str, int | str], ...]], tuple[int, int]] = field(
        default_factory=dict
    )
    """By id() and template arguments of a function in progress: the steps made when it was entered first,
    and how often it is."""


@record(eq=False, slots=True)
class Memory:
    """Objects outside of frames, and where pointers among them lead."""

    globals: dict[str, Object] = field(default_factory=dict)
    shared: dict[str, Object] = field(default_factory=dict)
    choices: dict[tuple[object, ...], Object] = field(default_factory=dict)
    """What stands for several objects, by which and when."""
    kept: dict[Object, list[tuple[Int, Pointer]]] = field(default_factory=dict)
    """By an object outside of local memory: where pointers into shared memory were written to it."""
    pointed: dict[Object, int] = field(default_factory=dict)
    """How many barriers stood before the last of them."""
    barriers: int = 0
    written: int = 0
    """Stores to memory that is neither shared nor local."""
    loaded: dict[object, Any] = field(default_factory=dict)
    """By value: the latest loads from shared memory (`stored_back.Loaded`)."""
    begun: Snapshot = field(default_factory=Snapshot)
    """What variables of host code that outlive calls began with."""
    splits: dict[tuple[int, bytes], object] = field(default_factory=dict)
    """By id() of such an object and mask: which lanes go where."""


@record(eq=False, slots=True)
class Journal:
    """What an evaluation found, beside the log of accesses."""

    order: int = 0
    """Entries of the log so far, those that were moved or dropped again included."""
    sites: dict[tuple[object, ...], SiteLog] = field(default_factory=dict)
    sunk: dict[int, Sunk] = field(default_factory=dict)
    """By order of a load: where the compiler puts it."""
    selected: list[Selected] = field(default_factory=list)
    """Accesses in both arms of a condition that run as one."""
    loops: list[Iterated] = field(default_factory=list)
    """Loops that stay loops, inner ones first."""
    idle: set[int] = field(default_factory=set)
    """Orders of loads of what only goes back to where it lies."""
    padded: set[int] = field(default_factory=set)
    """id() of expressions that load records with bytes of no member, which may be loaded as words."""
    chosen: set[int] = field(default_factory=set)
    """id() of expressions that load a record where a condition chooses it or another one."""
    laddered: set[int] = field(default_factory=set)
    """id() of places in arms of a ladder, whose stores may be one that stands on the line of any."""
    notes: list[Unresolved] = field(default_factory=list)
    stops: list[tuple[Stop, int, bool]] = field(default_factory=list)
    """What kept accesses apart so far, barriers aside, where (`Barrier.at`), and if in front of loops."""
    asked: set[tuple[str, str]] = field(default_factory=set)
    """What the kernel asked of the launch: the compiler does not know it."""
    assumptions: dict[object, Assumption] = field(default_factory=dict)
    """What was assumed so far, by what told it."""
    arms: int = 0
    """How many `if constexpr` that nobody can decide stand around what runs now."""
    locals: dict[str, Type] = field(default_factory=dict)
    """By id of a variable: arrays, records and floating-point numbers that each thread has for itself."""
    moved: dict[tuple[int, Terms], MovedPointer] = field(default_factory=dict)
    """By id() of an array and terms of an address: the pointers that a condition moved."""
    sums: Sums | None = None
    """What was added up, where that is asked for; nothing is then skipped."""
    choices: dict[int, int] = field(default_factory=dict)
    """By unknown that accesses run under: the choice that it is of."""


Line: TypeAlias = tuple[int, int]
"""The regions with which a straight line begins and ends."""


@record(eq=False, slots=True)
class StraightLines:
    """The straight lines of code that accesses stand in once loops are unrolled, each a number (`region`)."""

    region: int = 0
    """The line that is written now."""
    made: int = 0
    parents: dict[int, int] = field(default_factory=dict)
    """By region: the line that surely ran before it, of which it is a branch."""
    arms: dict[tuple[int, Hashable], int] = field(default_factory=dict)
    """By line and condition: the region of the branches on it."""
    both: dict[int, list[tuple[Line, Line, bool, str | None]]] = field(default_factory=dict)
    """By line: where both arms of its branches begin and end, whether they are small, and the address with
    which both begin (`join_events.BothArms`)."""
    others: dict[int, set[int]] = field(default_factory=dict)
    """By region of an arm: those of the other arm of its condition, of which nobody runs both."""
    asked: dict[int, int] = field(default_factory=dict)
    """By id() of the first of several conditions beside each other: the lines when it was asked."""
    forks: dict[int, tuple[If | None, Barrier]] = field(default_factory=dict)
    """By region of the first arm of a condition: the latest one that left a branch there."""
    behind: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """By region behind a loop that stays a loop: the lines that surely ran, and left their values at hand."""
    looped: dict[int, int] = field(default_factory=dict)
    """By such a region: that of what moved out of the loop, where the loop may not run at all."""
    after: dict[int, int] = field(default_factory=dict)
    """By region behind a barrier, or in a loop: the line that surely ran in front of it."""
    merged: dict[int, int] = field(default_factory=dict)
    """By region: the line that it became a part of when a loop was unrolled."""
    follows: tuple[int, int] | None = None
    """Where code goes on after the latest `&&` or `||`: the regions if it was true, and if false."""

    def begin(self) -> None:
        """Begin a line: what follows does not stand in one with what was before."""
        self.made += 1
        self.region = self.made

    def goes_on(self, start: int) -> bool:
        """Whether the line at hand goes on from another one: nothing in between ended it, as a loop does."""
        region = self.region
        while region != start:
            before = self.parents.get(region, self.merged.get(region))
            if before is None:
                return False
            region = before
        return True

    def branch(self, line: int, condition: Hashable) -> None:
        """Go on in the branch of a line under a condition; there is one for each condition."""
        region = self.arms.get((line, condition))
        if region is None:
            self.begin()
            region = self.arms[line, condition] = self.region
            self.parents[region] = line
        self.region = region


@record(eq=False, slots=True)
class Turns:
    """The iterations of loops that stay loops, each a number (`turn`)."""

    turn: int = 0
    made: int = 0
    lined: dict[int, int] = field(default_factory=dict)
    """By turn: the first of its straight line, where that is another."""
    halved: dict[int, int] = field(default_factory=dict)
    """By first turn of a straight line of a loop whose end only the run tells: iterations by which its
    pointers start off."""
    touches: dict[int, int] = field(default_factory=dict)
    """By first turn of such a line: how often an iteration accesses memory of any kind."""
    perhaps_halved: set[int] = field(default_factory=set)
    """Those of them whose pointers may start as they are written."""
    lone: dict[int, bool] = field(default_factory=dict)
    """Iterations of which the optimiser makes no copies: whether it knows how often they run."""
    rest: dict[int, int] = field(default_factory=dict)
    """Lines of a loop of unknown length, and their copies: what these leave over runs like `lone`."""
    copied: dict[int, int] = field(default_factory=dict)
    """By turn that stands for a straight line of a loop of unknown length: the iterations in it."""
    adrift: set[int] = field(default_factory=set)
    """First turns of straight lines that may begin at any iteration: what is left over runs before them."""
    begun: dict[int, int] = field(default_factory=dict)
    """By first turn of such a line: the number with which the loop begins to count."""
    uneven: set[int] = field(default_factory=set)
    """Turns in which lanes stand at different iterations: forms alone say how addresses move."""
    told: set[int] = field(default_factory=set)
    """Turns of loops whose rounds a loop around them tells, which stays one."""
    stored: dict[int, bool] = field(default_factory=dict)
    """Sites, by id(), of loops of which the optimiser knows less than all rounds say (`stored_in`): whether
    that holds where the declaration aligns them, too."""
    stays: int = 0
    """Loops so far that stay loops."""
    copies: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """By turn within loops that disappear: their iterations in which it runs, the innermost first. Each is
    code of its own."""

    def begin(self) -> None:
        """Begin an iteration."""
        self.made += 1
        self.turn = self.made

    def copy(self, begun: Sequence[int]) -> None:
        """Note of which iteration of a loop that disappears turns are. begun: turns made before each."""
        for i, (first, end) in enumerate(pairwise((*begun, self.made))):
            for turn in range(first + 1, end + 1):
                self.copies[turn] = (*self.copies.get(turn, ()), i)


Counts: TypeAlias = tuple[int, int, int]


@record(eq=False, slots=True)
class CodeSize:
    """How much code has run, as the compiler counts it when it decides whether to unroll."""

    touched: int = 0
    """Accesses of memory."""
    operations: int = 0
    guards: int = 0
    """Branches in loops that are decided when they run, as the copies of unrolled loops have them."""
    special: int = 0
    """Functions and divisions that need the special-function unit: machine code does not copy their loops."""

    @property
    def counts(self) -> Counts:
        """Accesses, operations and guards."""
        return self.touched, self.operations, self.guards

    @counts.setter
    def counts(self, counts: Counts) -> None:
        self.touched, self.operations, self.guards = counts

    def since(self, before: Counts) -> Counts:
        """What has run since then."""
        return self.touched - before[0], self.operations - before[1], self.guards - before[2]

    def add(self, more: Counts, times: int = 1) -> None:
        """Count code once more, or several times."""
        self.touched += times * more[0]
        self.operations += times * more[1]
        self.guards += times * more[2]


@record(eq=False, slots=True)
class Context:
    """What stands around the code that runs now."""

    weight: int = 1
    """As in Event, like the next two."""
    times: float = 1.0
    open: int = 0
    loops: list[Exits] = field(default_factory=list)
    """The loops and switches around, innermost last."""
    constants: frozenset[str] = frozenset()
    """Counters of the loops around that disappear, or may yet: the compiler knows them."""
    counters: frozenset[str] = frozenset()
    """Counters of all loops around."""
    undecided: list[Undecided] = field(default_factory=list)
    """The conditions around that nobody can decide."""
    way: Way = field(default_factory=dict)
    """What 0/1 unknowns are here, as the branches around and those that others left by tell."""
    defaults: bool = False
    """Whether a variable has what it was given first, where nobody knows which way was taken (host code)."""
    stale: bool = False
    """Whether a variable was set in some lanes only since the mask last was whole."""
    left: Departures = field(default_factory=dict)
    """Who may have left for the join points of the calls around."""
    at_edge: bool = False
    """Whether what runs is only run by blocks at the edge of the grid."""
    first_block: bool = False
    """Whether a guard of the kernel may tell that only the first block of a grid of unknown extent gets past
    it."""
    keeps_out: bool | None = None
    """What the comparisons of the guard that is asked give where it keeps a block out; None: no guard is."""
    supposed: set[str] = field(default_factory=set)
    """Variables that were given what a block in the middle of the grid finds."""
    waiting: dict[int, list[Held]] = field(default_factory=dict)
    """By id() of a branch: loads that may move under it."""
    tries: list[Trying] = field(default_factory=list)
    """What host code tries, innermost last."""
    caught: Thrown | None = None
    """What the handler that runs was given."""
    discarded: Expr | None = None
    """An expression whose value nobody uses."""
    moves: Moves | None = None
    """What the condition at hand does to pointers, if it only moves them."""

    @property
    def unrolled(self) -> list[Exits]:
        """The loops around that disappear, as far as it is known, up to one that stays; innermost first."""
        loops = (exits for exits in reversed(self.loops) if not exits.switch)
        return [*takewhile(lambda exits: not exits.stays, loops)]

    def renews(self, names: Set[str]) -> bool:
        """Return whether a loop around that stays a loop may give one of these variables another value."""
        return any(exits.stays and not names.isdisjoint(exits.changes.variables) for exits in self.loops)

    def copy(self) -> Context:
        """Return a context that can change while this one stays; what was supposed is known to both."""
        return replace(self, loops=[*self.loops], undecided=[*self.undecided])


@record(frozen=True, eq=False, slots=True)
class Carried:
    """How a loop changes a variable. kind: see recurrence.kind_of; old, new: what it holds before the loop
    and after one iteration; after: what an iteration from its first form left, if that did not hold; again:
    whether a second one did not either."""

    kind: str
    old: Value | None
    new: Value | None
    after: Value | None = None
    again: bool = False


@record(frozen=True, slots=True)
class StatementSize:
    """What a skipped statement adds to the code. parts: a straight line ends in it; stops: what
    it keeps apart, and where; copies, stays: a loop in it is copied, or stays one."""

    accesses: int
    operations: int
    special: int
    parts: bool
    stops: tuple[tuple[Stop, int, bool], ...]
    copies: bool
    stays: bool


@record(eq=False, slots=True)
class Memo:
    """What was worked out once for all executions."""

    endings: dict[object, tuple[Any, ...]] = field(default_factory=dict)
    """By type: the destructors that run where an object ends (`lifetimes.Ending`)."""
    slices: dict[tuple[str, frozenset[str], frozenset[str]], Slice] = field(default_factory=dict)
    """By function (id) and what `Code.slice` is told of it: what matters there."""
    methods: dict[tuple[RecordRef, tuple[str, ...]], tuple[Function, ...]] = field(default_factory=dict)
    """By class and ids of its template's methods: those that it has."""
    copying: dict[object, bool] = field(default_factory=dict)
    """By type: whether copies of its objects are made by constructors of the program."""
    sizes: dict[tuple[int, tuple[object, ...]], StatementSize] = field(default_factory=dict)
    """By id() of a statement that is skipped and the instance."""
    carried: dict[tuple[int, tuple[object, ...]], dict[tuple[str, int], Carried]] = field(
        default_factory=dict
    )
    """By id() of a loop and the instance: how its variables change, by name and offset."""
    trials: dict[tuple[int, tuple[object, ...]], tuple[tuple[int, int, bool], tuple[int, int, int]]] = field(
        default_factory=dict
    )
    """By the same: accesses and operations of the first trial; accesses, operations and guards of all."""
    unsteady: set[tuple[int, tuple[object, ...]]] = field(default_factory=set)
    """The same of loops that an iteration from what the first trial suggests did not confirm."""
    words_read: dict[tuple[int, tuple[object, ...]], tuple[int, ...] | None] = field(default_factory=dict)
    """By id() of an expression and the instance: the words that are read of its value (`read_parts`)."""
    lanes: dict[bytes, NDArray[np.int64]] = field(default_factory=dict)
    """Offsets of all lanes that accesses have."""
    passed_over: set[str] = field(default_factory=set)
    """Ids of variables that statements set which are skipped in trials: no address depends on them."""
    edges: dict[int, int] = field(default_factory=dict)
    """By id() of a branch that only blocks at the edge take: how often it was looked at."""
    decided: dict[int, tuple[Hashable, frozenset[tuple[str, int]]]] = field(default_factory=dict)
    """By id() of an undecided condition: itself, and what decides it (`alternatives`)."""
    reaching: dict[int, bool] = field(default_factory=dict)
    """By id() of such a branch: whether it may access memory."""
