"""The cost of one access site."""

from __future__ import annotations

from collections.abc import Mapping

from smemlint.evaluate.model import BUDGETS, Grade, SharedArray, Site, Trace, Unresolved
from smemlint.ir import Function, Launch
from smemlint.records import record
from smemlint.score.load import Load

STATED = frozenset(("interior-block", "large-size"))
"""Kinds of assumptions that are told beside a number and leave it exact: that of blocks away from the edges
of a problem."""


@record(frozen=True, slots=True)
class Request:
    """One warp's request, as an example: byte offset per lane (None: inactive) and its cost."""

    offsets: tuple[int | None, ...]
    wavefronts: int
    ideal: int
    banks: tuple[int, ...]
    """The banks that cost the most."""

    @property
    def ways(self) -> float:
        return self.wavefronts / self.ideal if self.ideal else 0.0


@record(frozen=True, slots=True)
class Stride:
    """ways as a function of a run-time value: `ways[r]` for value congruent r modulo `modulus`.

    0.0: the value is known never to have this residue, or the access would fault.
    """

    name: str
    modulus: int
    ways: tuple[float, ...]
    clean: str
    """The condition under which there is no conflict, in words a user can check (`stride is odd`), or ''."""


@record(frozen=True, slots=True)
class Conflict:
    """Cost of one site, summed over all warps of one block and all enumerated iterations.

    executions: warp requests. wavefronts_low <= truth <= wavefronts; both None when unresolved.
    worst: the request with the most ways. ways_by_visit: (ways, how many visits) in program order, run-length
    coded, upper end.
    lane_stride: bytes from each active lane to the next of the worst request, when that is one number.
    joined: bytes of the access that the compiler makes of this one and its neighbours, if it does.
    """

    site: Site
    trace: Trace
    executions: int
    wavefronts: int | None
    wavefronts_low: int | None
    ideal: int | None
    grade: Grade
    reason: Unresolved | None = None
    worst: Request | None = None
    ways_by_visit: tuple[tuple[float, int], ...] = ()
    lane_stride: int | None = None
    stride: Stride | None = None
    joined: int | None = None
    loads: tuple[Load, ...] = ()
    """What the site adds to its kernel's cost, by the loops of unknown length around it; empty where another
    site carries it (joined accesses) or where it is not known."""
    on_way: tuple[float, str] | None = None
    """Where a condition that is the same for all lanes chooses the address: the most ways that the access
    surely has on one of its ways, and what holds there."""
    surely: float = 0
    """The most ways of a request that surely runs and has them whatever is not known."""
    any_block: bool = False
    """Whether the ways are the same for every shape that host code leaves to the block, if its warps are
    whole."""

    @property
    def ways(self) -> float | None:
        """wavefronts / ideal, the upper end; None when unresolved."""
        if self.wavefronts is None or not self.ideal:
            return None
        return self.wavefronts / self.ideal

    @property
    def ways_low(self) -> float | None:
        if self.wavefronts_low is None or not self.ideal:
            return None
        return self.wavefronts_low / self.ideal


@record(frozen=True, slots=True)
class KernelAnalysis:
    """One kernel instance under one launch, all stages done.

    template_arguments: parameter name -> as a user writes it (`double`, `128`).
    configuration: '' or the macros of the preprocessor configuration it belongs to.
    """

    kernel: Function
    launch: Launch
    configuration: str
    template_arguments: Mapping[str, str]
    arrays: Mapping[str, SharedArray]
    conflicts: tuple[Conflict, ...]
    notes: tuple[Unresolved, ...] = ()
    work: int = 0
    """Evaluation steps that it took."""
    steps: int | None = None
    """Evaluation steps that it might take, where that was less than a kernel has: loops are followed less
    far then, so that another analysis that is held against it must have no more."""
    held: int = 0
    """Bytes of a thread's own arrays, records and floating-point numbers."""
    blocks_asked: int = 0
    """Resident blocks that `__launch_bounds__` asks the compiler for; 0: none."""

    @property
    def stopped(self) -> bool:
        """Whether the evaluation came to its end before the kernel's."""
        return any(note.code in BUDGETS for note in self.notes)
