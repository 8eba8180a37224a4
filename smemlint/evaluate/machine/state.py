"""The records that one evaluation keeps: the log of accesses, calls in progress, and ways to join points."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence, Set
from dataclasses import field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from smemlint.evaluate.analysis.changes import NOTHING, Changes
from smemlint.evaluate.analysis.sinkable import Guard, Path
from smemlint.evaluate.machine.cp_async import Copied
from smemlint.evaluate.machine.departures import Parts
from smemlint.evaluate.model import Stop, Unresolved
from smemlint.evaluate.types.matching import Bindings
from smemlint.evaluate.types.record_parts import Moved
from smemlint.evaluate.values.affine import Affine
from smemlint.evaluate.values.number import Int, Symbol
from smemlint.evaluate.values.objects import Snapshot
from smemlint.evaluate.values.value import Object, Pointer, Value
from smemlint.ir import Expr, Function, Place, Type
from smemlint.records import record

Mask: TypeAlias = NDArray[np.bool_]


@record(slots=True)
class Event:
    """One execution of a site by the whole block. offset in bytes; weight: times it runs.

    region: accesses of one region stand in one straight line once loops are unrolled.
    turn: tells apart the iterations of loops that do not disappear; within one turn all is constant that
    loops change.
    """

    site: SiteLog
    offset: Int
    must: Mask
    may: Mask
    weight: int
    region: int
    order: int
    volatile: bool = False
    computed: bool = False
    """What is stored is a number of type half or bfloat16 that was computed, not copied; what is loaded, an
    integer of 16 bits that is widened."""
    copied: Copied | None = None
    turn: int = 0
    moved: Moved | None = None
    """The part of a value that it is; None: all of one that is no number of 8 bytes."""
    stale: bool = False
    """Lanes that do not take part may hold values that the address never had."""
    at_edge: bool = False
    """Only blocks at the edge of the grid run it."""
    perhaps: bool = False
    """It may run with the access of another arm, as one."""
    times: float = 1.0
    """What `weight` is to be multiplied by for the times it runs, a loop of unknown length counted once."""
    open: int = 0
    """Loops of unknown length around it."""
    several: Several | None = None
    under: Hashable = ()
    """The undecided conditions on the way to it; accesses of one such key run together, or none does."""
    parted: Parts = ()
    """More such conditions, of some warps only."""

    @property
    def choice(self) -> Object | None:
        return None if self.several is None else self.several.choice

    @property
    def among(self) -> int:
        return 0 if self.several is None else self.several.among

    @property
    def worlds(self) -> tuple[World, ...]:
        return () if self.several is None else self.several.worlds


@record(frozen=True, eq=False, slots=True)
class Several:
    """The objects that the pointer of an access may lead to.

    choice: what stands for them. among: what divides the distances between them, in bytes. worlds: where
    lanes of one request go to several, the ways in which they may; the event's offset is then added to those
    there.
    """

    choice: Object
    among: int = 0
    worlds: tuple[World, ...] = ()


@record(frozen=True, eq=False, slots=True)
class World:
    """One way in which the lanes of requests may be spread over objects. shares: object, offset and lanes;
    sure: exactly those lanes go there, else any of them."""

    shares: tuple[tuple[Object, Int, Mask], ...]
    sure: bool = True


@record(slots=True)
class Barrier:
    """Something that keeps accesses apart.

    stop: `barrier`, which no access is moved across; `fork`, predicates around an access of memory or in
    slow arithmetic, which no store is moved across; `opaque`, assembler and what is made of it, which the
    optimiser moves nothing across, but machine code does; `exchange`, the same of lanes that tell each other
    numbers, and of `asm`, which also stay in their loops; `call` and `predicate`, which only machine code
    has: no access, or no store, is joined there across it; `perhaps`: a fork, or nothing.
    """

    region: int
    order: int
    stop: Stop = "barrier"
    at: int = 0
    """Of a `call`: id() of the place of the expression that it is of; 0: the block of code ends with it. Of a
    `fork`: whether all rounds of a loop that disappears may go on in a copy for each arm; of a `perhaps`:
    whether it may part loads as well."""
    arms: tuple[int, ...] = ()
    """Of a fork: the regions of the two arms, whose stores it does not keep apart."""
    parts_arms: bool = False
    """Whether it may keep these apart as well."""
    parts_loads: bool = False
    """Whether it may keep the loads of words in them apart."""
    front: int | None = None
    """The order of the log in front of the loop where it is made; None: here."""

    @property
    def passable(self) -> bool:
        """Whether loads move across it before there is machine code."""
        return self.stop != "barrier"


@record(slots=True)
class Held:
    """Loads of one statement that wait for a branch. since: position in the log after them."""

    events: list[Event]
    since: int
    guard: Guard


@record(frozen=True, eq=False, slots=True)
class Sunk:
    """Where the compiler puts a load: the lanes that surely and possibly run it there, and its region."""

    must: Mask
    may: Mask
    region: int


@record(frozen=True, eq=False, slots=True)
class Selected:
    """Accesses in both arms of a condition that run as one, at this address. kept, other: their orders.
    perhaps: or each in its arm; line: the one in front of the condition where they run there."""

    kept: int
    other: int
    offset: Int
    perhaps: bool = False
    line: int | None = None


@record(frozen=True, eq=False, slots=True)
class MovedPointer:
    """A pointer that a condition moves. before, after: what it is on both ways; const: of what is chosen;
    width: of what it points to, in bytes; sure: the compiler makes a choice of it."""

    before: Affine
    after: Affine
    const: int
    width: int
    sure: bool


@record(frozen=True, eq=False, slots=True)
class Iteration:
    """One iteration as it begins. order: of the log; the others as in Event: who runs it, and under what."""

    order: int
    must: Mask
    may: Mask
    under: Hashable
    parted: Parts


@record(frozen=True, eq=False, slots=True)
class Iterated:
    """A loop that stays a loop, as it ran. end: the order behind its last iteration; weight, times, open,
    turn: as in Event, around the loop; unknowns: how many there were before it."""

    iterations: tuple[Iteration, ...]
    end: int
    weight: int
    times: float
    open: int
    turn: int
    unknowns: int


@record(slots=True)
class SiteLog:
    """One access as written."""

    place: Place
    line: int
    op: str
    width: int
    matrices: int
    object: Object
    assumed: int = 0
    """How many assumptions had been made when it ran last."""
    perhaps: bool = False
    """It stands in an arm of an `if constexpr` that nobody can decide."""
    via: dict[int, Place] = field(default_factory=dict)
    """By id(): the calls that were inlined on the way to it."""
    frame: Frame | None = None
    """The call in which it was last executed."""
    reason: Unresolved | None = None
    dims: tuple[tuple[int, int], ...] = ()
    node: Expr | None = None
    function: Function | None = None
    fragment: bool = False
    """Of a matrix fragment: the compiler does not see the words."""


@record(frozen=True, slots=True)
class Undecided:
    """A condition that nobody can decide, true where evaluation is now. together: all lanes that it sends
    here go the same way."""

    condition: Int
    together: bool


@record(frozen=True, slots=True)
class Exit:
    """A way to a join point that was taken under conditions that nobody can decide.

    may: lanes that possibly take it; state: what they take along; condition: what decides, where one
    condition does; together: either all of the lanes take it or none; value: of `return`; under: equal for
    ways that are taken at the same time, by lanes that part otherwise; None: not known.
    """

    may: Mask
    state: Snapshot
    condition: Int | None
    together: bool
    value: Value | None = None
    under: Hashable = None


@record(slots=True)
class Join:
    """A join point: the end of a loop, of one of its iterations, of a switch, of a function.

    kept: lanes that left for it under conditions that are decided: what they take along is part of the
    present state, which others no longer change in these lanes. strays: lanes that may have left for it while
    others of their warp did not. lanes: those for which it began. gone: those of them that surely left for
    it.
    """

    kept: Mask
    strays: Mask
    lanes: Mask
    gone: Mask
    outside: int = 0
    """Undecided conditions around it."""
    followed: bool = True
    """Whether something comes after it."""
    ways: list[Exit] = field(default_factory=list)
    left: dict[Hashable, Mask] = field(default_factory=dict)
    """By the undecided conditions on the way to it: the lanes that left for it if these hold."""
    passed: bool = False
    """Whether lanes may have gone past it to another, as nobody can decide."""
    decisions: tuple[Affine, ...] = ()
    """Conditions on the ways to it that the launch decides, and the compiler cannot."""


@record(slots=True)
class Ended:
    """Which loops have ended in front of a loop and within it."""

    behind: bool = False
    """Whether, in a round of a loop around it, one ran before it that is counted before it begins, or holds
    another one that stays."""
    copies: bool = False
    """Whether such a loop has ended in this round."""
    copied: bool = False
    """Whether it is, or holds, such a loop."""
    holds: bool = False
    """Whether a loop that stays one has ended within it."""


@record(slots=True)
class Exits:
    """Where lanes left a loop or switch. `uncertain`: some left under a condition that nobody can decide."""

    broken: Mask
    continued: Mask
    end: Join
    next: Join
    uncertain: bool = False
    switch: bool = False
    label: str = ""
    """Of what only `goto` leaves, or begins again."""
    again: bool = False
    rounds: int = 1
    """About how often what a loop holds is run."""
    since: int = 0
    """How many unknowns there were before the iteration that stands for others."""
    iterations: list[Iteration] = field(default_factory=list)
    live: int = 0
    """How many variables with destructors stand outside of it."""
    began: int = 0
    """The order of the log in front of it."""
    round: int = 0
    """The iteration that runs."""
    stays: bool = False
    """Whether it is known to stay a loop."""
    told: bool = False
    """Only loops around it that stay loops tell how often it goes round."""
    ended: Ended = field(default_factory=Ended)
    changes: Changes = NOTHING
    """What each round may change."""
    passed: tuple[int, int] | None = None
    """Of an iteration that some lanes do not finish: the lines in front of and behind the condition."""
    inner: dict[Hashable, list[int]] = field(default_factory=dict)
    """By loop within one iteration: how often it went round each time that it was met."""


def made_copies(loops: Sequence[Exits]) -> None:
    """Note that a loop has ended that is counted, or holds another one. loops: those around it."""
    for outer in reversed(loops):
        outer.ended.copies = outer.ended.copied = True
        if not outer.switch:
            break


def note_stays(loops: Sequence[Exits]) -> None:
    """Note that a loop that stays one has ended. loops: those around it."""
    around = next((outer for outer in reversed(loops) if not outer.switch), None)
    if around is not None:
        around.ended.holds = True


def joins_of(loops: Sequence[Exits]) -> list[Join]:
    """The join points of loops and switches."""
    return [j for exits in loops for j in (exits.end, exits.next)]


@record(frozen=True, eq=False, slots=True)
class Slice:
    """What matters in a function's body, by id() of its statements.

    skippable: what nothing of interest depends on; quiet: the same in iterations that leave no trace; sets:
    the variables that these would set. open: branches that are taken every way. deciding: of host code that
    is run way by way, what decides values that launches depend on. trailing: of host code, what no launch in
    the function comes behind; handing: the statements before it that make one call that launches.
    """

    skippable: Set[int] = frozenset()
    quiet: Set[int] = frozenset()
    sets: Mapping[int, frozenset[str]] = field(default_factory=dict)
    open: Set[int] = frozenset()
    deciding: Set[int] = frozenset()
    trailing: Set[int] = frozenset()
    handing: Set[int] = frozenset()


WHOLE = Slice()
"""Nothing is passed over."""


@record(eq=False, slots=True)
class Ahead:
    """Whether launches follow in host code. last: none follows the call. ending: none follows the call that
    launches in the statement in progress."""

    last: bool = False
    ending: bool = False


@record(frozen=True, eq=False, slots=True)
class Outcome:
    """What has come of a call so far. returned: lanes that possibly returned; result: what they gave back;
    exited: the program ended here on some way (host code)."""

    returned: Mask | None = None
    result: Value | None = None
    exited: bool = False


CAUGHT = "caught"
"""What the variable of a handler is made of."""


@record(slots=True)
class Thrown:
    """An exception on its way to a handler. type: of what is thrown, None where it is not known; state, way:
    as they were where it was thrown."""

    type: Type | None
    value: Value | None
    state: Snapshot
    way: Mapping[Symbol, int]


@record(slots=True)
class Trying:
    """A `try` of host code that is in progress. outside, frames, live: undecided conditions and calls around
    it, and objects of its function that lived before; maybe: what was thrown under conditions that nobody can
    decide; surely: what was thrown for certain; checks: whether conditions of a `throw` were known not to
    hold."""

    outside: int
    frames: int
    live: int = 0
    maybe: list[Thrown] = field(default_factory=list)
    surely: Thrown | None = None
    checks: bool = False


@record(slots=True)
class Frame:
    """One call in progress."""

    bindings: Bindings
    function: Function | None = None
    this: Pointer | None = None
    parent: Frame | None = None
    variables: dict[str, Object] = field(default_factory=dict)
    outcome: Outcome = Outcome()
    end: Join | None = None
    """Where the ways out of a function that was called meet."""
    call: Place | None = None
    place: bool = False
    """A lambda called for the place it names (`f(t) = x`), where it returns one."""
    names_place: bool = False
    returns: Type | None = None
    """What a lambda says that it returns, resolved."""
    slice: Slice = WHOLE
    sinks: dict[int, Path] = field(default_factory=dict)
    """By id() of a statement that loads: the branches that alone use the value."""
    instance: tuple[object, ...] = ()
    """Tells apart the same function under other template arguments."""
    packs: dict[str, tuple[Object, ...]] = field(default_factory=dict)
    """By id of a parameter that is a pack: what it holds."""
    arguments: tuple[object, ...] = ()
    """The expressions (or values) that the parameters were given."""
    looped: bool = False
    """Called in a loop."""
    ahead: Ahead = field(default_factory=Ahead)
    live: list[Object] = field(default_factory=list)
    """Variables whose destructors are still to run, in the order of their declarations."""

    def visible(self) -> Iterator[Frame]:
        """Yield the frame and those around it whose variables are seen, of a lambda, innermost first."""
        frame: Frame | None = self
        while frame is not None:
            yield frame
            frame = frame.parent

    @property
    def runs(self) -> Function | None:
        """The function that runs: that around a lambda."""
        return self.function if self.function is not None or self.parent is None else self.parent.runs
