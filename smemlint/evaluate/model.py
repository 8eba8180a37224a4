"""What evaluation says: for each access site, the address of every lane of every request."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import TYPE_CHECKING, Literal, TypeAlias

from smemlint.ir import Place
from smemlint.records import record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Stop: TypeAlias = Literal["barrier", "fork", "call", "predicate", "opaque", "exchange", "perhaps", "assert"]
"""What keeps accesses apart, see machine.Barrier."""


BUDGETS = ("budget", "time")
"""Reasons of what was not analysed for the work, or the time, that it would have taken."""


class Grade(Enum):
    """How sure an answer is."""

    EXACT = "exact"
    BOUND = "bound"
    PARAMETRIC = "parametric"
    ASSUMED = "assumed"
    UNRESOLVED = "unresolved"


@record(frozen=True, slots=True)
class Unresolved:
    """Why there is no number. `code` is one of docs/limits.md's names, `text` tells this case."""

    code: str
    text: str
    at: Place | None = None


@record(frozen=True, slots=True)
class Assumption:
    """What was taken for granted on the way to an answer. `kind` is one of docs/limits.md's names, `text`
    tells this case."""

    kind: str
    text: str
    place: Place | None = None


@record(frozen=True, slots=True)
class SharedArray:
    """A shared variable of one kernel instance. dims: elements per dimension, outermost first
    (None: unknown, as for extern arrays); bytes None when unknown; `element` in bytes."""

    id: str
    name: str
    type: str
    dims: tuple[int | None, ...]
    element: int
    bytes: int | None
    place: Place
    dynamic: bool
    align: int
    escapes: bool = False
    """Its address went somewhere that evaluation could not follow."""
    start: int | None = None
    """Byte offset in the block's shared memory as nvcc places it; None: not known, or the array vanishes
    because nothing reads it."""


@record(frozen=True, slots=True)
class Site:
    """One access as written. op: load, store, atomic, cas, increment, ldmatrix, stmatrix, cp.async
    (the engine's names); an atomic that runs as a loop is two sites, `cas loop load` and `cas loop`.
    width: bytes a lane. matrices: of ldmatrix/stmatrix, else 1.
    place: where it stands, inside a device function that was inlined too; `via` are the calls on all ways to
    it, each once.
    line: the line that a profiler attributes the access to (docs/dev/lines.md); 0: that of `place`.
    reached: False where only the text shows the access: no launch that was looked at gets there.
    """

    place: Place
    op: str
    width: int
    array: str
    expression: str
    matrices: int = 1
    via: tuple[Place, ...] = ()
    line: int = 0
    reached: bool = True

    def __post_init__(self) -> None:
        if not self.line:
            object.__setattr__(self, "line", self.place.compiled_line)


@record(frozen=True, slots=True)
class Parameter:
    """A run-time value that multiplies a lane term: address = offsets + coefficient * value."""

    name: str
    coefficient: NDArray[np.int64]
    """Shape (requests, 32), bytes per unit of the value."""
    multiple_of: int = 1
    data: bool = False
    """Whether it is a number like any other, which may be 0, and no size."""


@record(frozen=True, slots=True)
class DataTerm:
    """A value that each lane reads from memory: address = offsets + coefficient * value of the lane.

    coefficient: shape (requests, 32), bytes. low, high: range of the value, None: not known. multiple:
    divides it. options: where few values are possible, what each adds to the address, shape
    (values, requests, 32), bytes; the coefficient is then 0.
    """

    coefficient: NDArray[np.int64]
    low: int | None
    high: int | None
    multiple: int
    reason: Unresolved | None
    options: NDArray[np.int64] | None = None


@record(frozen=True, slots=True)
class Repeats:
    """How often requests run beside their weights: a loop of unknown length counts as one iteration.

    times: what a weight is to be multiplied by; depth: loops of unknown length around; shape (requests,).
    """

    times: NDArray[np.float64]
    depth: NDArray[np.int64]


@record(frozen=True, slots=True)
class Groups:
    """Which requests run together. numbers: by request; those of one number run together, or none of them
    does, and those of 0 surely run. alternatives: of lots of numbers that do not all run together, which do
    on each way, shape (ways, numbers)."""

    numbers: NDArray[np.int64]
    alternatives: tuple[NDArray[np.bool_], ...] = ()


@record(frozen=True, slots=True)
class Visited:
    """Whose requests they are. ranges: (first request, count) of each visit of the site, in program order;
    warps: the number of each request's warp in the block, where it is known."""

    ranges: tuple[tuple[int, int], ...] = ()
    warps: NDArray[np.int64] | None = None


@record(frozen=True, slots=True)
class Shifts:
    """Unknown parts of an address by which whole requests move. steps: bytes, ascending; each part is a
    multiple of one of them. around: bytes after which a ring buffer begins again, 0 without one: offsets are
    told as if it did not, which costs the same."""

    names: tuple[str, ...] = ()
    steps: tuple[int, ...] = ()
    around: int = 0


@record(frozen=True, slots=True)
class Ways:
    """Ways that a choice which is the same for all lanes may go. The requests are then those of each way in
    turn, equally many; one way runs. conditions: by way, what holds there, where one comparison of run-time
    values chooses."""

    count: int = 1
    conditions: tuple[str, ...] = ()


@record(frozen=True, slots=True)
class Trace:
    """Addresses of one site over one block.

    offsets: byte offset of each lane within the array, shape (requests, 32), -1: inactive. Any part that
    is the
    same for all lanes and unknown is left out (it rotates the banks); `alignment` is what is known to
    divide it, in bytes (0: nothing was left out).
    weights: how often each request runs in one block, shape (requests,); repeated requests are folded.
    maybe: lanes that may or may not be active (data-dependent masks), same shape, or None.
    joined: sites that the compiler merges with this one into one wider access carry the same group
    number and `joined` (width in bytes of the access that runs); the group's first site carries its offsets.
    reason is set when nothing could be said: offsets is then empty.
    possible_words: for data-dependent addresses, an upper bound of distinct words a request can touch per
    bank group, else None.
    """

    site: Site
    offsets: NDArray[np.int64]
    weights: NDArray[np.int64]
    grade: Grade
    alignment: int = 0
    maybe: NDArray[np.bool_] | None = None
    parameter: Parameter | None = None
    reason: Unresolved | None = None
    joined: int | None = None
    group: int | None = None
    ends: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None
    """Wavefronts of each request at least and at most, where only bounds are known (grade BOUND)."""
    visited: Visited = Visited()
    data: tuple[DataTerm, ...] = ()
    """Data-dependent parts of the address; the score stage turns them into bounds (grade BOUND)."""
    footprint: int | None = None
    """Bytes of the array, when known: no address lies outside."""
    repeats: Repeats | None = None
    """None: each request runs as often as its weight says."""
    choice: Ways = Ways()
    assumptions: tuple[Assumption, ...] = ()
    """What was assumed before the site ran last."""
    groups: Groups | None = None
    """None: all of them run together, or none does."""
    dropped: bool = False
    """The compiler may drop it, and its cost with it."""
    shifts: Shifts = Shifts()
    """The unknown parts that are the same for all lanes and are not in the offsets."""

    @property
    def ways(self) -> int:
        """How many ways the requests are of."""
        return self.choice.count


@record(frozen=True, slots=True)
class KernelTrace:
    """Everything evaluation found for one kernel instance and one launch."""

    arrays: Mapping[str, SharedArray]
    traces: tuple[Trace, ...]
    notes: tuple[Unresolved, ...] = ()
    """Budget hit, functions not followed, and the like: things that may hide accesses."""
    work: int = 0
    """What it took, in steps; the same on every machine."""
    held: int = 0
    """Bytes of a thread's own arrays, records and floating-point numbers."""
    blocks_asked: int = 0
    """Resident blocks that `__launch_bounds__` asks the compiler for; 0: none."""
    unsized: tuple[str, ...] = ()
    """Spellings of types that are stored in shared memory and calculated with, and that no file declares."""

    @property
    def stopped(self) -> bool:
        """Whether the evaluation came to its end before the kernel's."""
        return any(note.code in BUDGETS for note in self.notes)
