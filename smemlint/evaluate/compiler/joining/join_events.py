"""Shared-memory accesses as the question whether neighbours join sees them, and their addresses.

The question itself is asked in `vectorise`; what is dropped, in `redundant`.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import field

import numpy as np
from numpy.typing import NDArray

from smemlint.evaluate.compiler.joining.address_patterns import Pattern
from smemlint.records import record

WIDEST = 16
"""Bytes a lane of the widest shared-memory instruction."""

PASSABLE = ("fork", "call", "predicate", "opaque", "exchange", "perhaps", "assert")
ATOMICS = frozenset({"atomic", "cas", "cas loop load", "cas loop", "increment"})


@record(frozen=True, eq=False, slots=True)
class BothArms:
    """The regions with which both arms of a condition begin and end, and the conditions in them. small: they
    become predicates. leads: the address, as text, with which both begin: it is made in front of them."""

    yes: tuple[int, int]
    no: tuple[int, int]
    small: bool
    leads: str | None = None
    within_yes: tuple[BothArms, ...] = ()
    within_no: tuple[BothArms, ...] = ()


@record(frozen=True, eq=False, slots=True)
class Around:
    """The lines in front of the one that an access stands in.

    under: the regions that surely ran before this one, of which it is a branch, nearest first.
    behind: those with a loop between that stays a loop: nothing joins with what is there, which is at hand.
    looped: that of what moved out of the loop in front, which may not run.
    named: and its address is at hand in front of that loop.
    arms: those of the conditions in this line and the lines around, which may have left a value at hand.
    in_front: the optimiser has the address at hand in front of them.
    written: the address as text.
    """

    under: tuple[int, ...] = ()
    behind: tuple[int, ...] = ()
    looped: int | None = None
    named: bool = False
    arms: tuple[BothArms, ...] = ()
    in_front: bool = False
    written: str = ""


NOWHERE = Around()


@record(frozen=True, slots=True)
class Fork:
    """What a fork keeps apart.

    arms: the regions of both arms, whose stores it does not keep apart; parts_arms: or may; parts_loads: it
    may keep the loads of words in them apart.
    in_front: it may be asked in front of a loop, and then parts no loads; of what may be a fork, it may part
    loads of words, too.
    """

    arms: tuple[int, ...] = ()
    parts_arms: bool = False
    parts_loads: bool = False
    in_front: bool = False


NO_FORK = Fork()


@record(frozen=True, eq=False, slots=True)
class JoinKind:
    """What accesses of one site, or barriers, have in common that differ by one number in their address.

    op: `load`, `store`, an atomic (`atomic`, `cas`, `increment`), `fork`, `call`, `predicate`, `opaque`,
    `exchange` (see machine.Barrier), or anything else (`barrier`, `ldmatrix`, `cp.async`, ...), which nothing
    moves across.
    width: bytes a lane. pattern: which threads take part, and how their addresses differ; None: nobody.
    alignment: the largest power of two that provably divides every *variable* part of the address (lane
    terms, uniform unknowns, steps of loops that stay loops), 0 when there is none. Constants do not count:
    `s[4 * t + 1]` of floats has 16. What only the launch tells (blockDim, arguments) is a variable here,
    for the compiler does not know it.
    region: accesses of one region are in one straight line once loops are unrolled.
    declared: alignment in bytes that the array's declaration promises (16 for
    `extern __shared__`, the value of alignas, else the natural alignment of its elements).
    base: names the uniform unknown that addresses leave out; only equal bases have a constant distance.
    start: where a static array starts in the block's static shared memory (`segment.layout`), None: somewhere
    of its own, at a multiple of 16.
    affine: the base alone tells which addresses have a constant distance, whatever the lanes of the mask.
    loose: its distance from others is known only if the compiler sees what a shift drops, or how well a value
    is aligned that the launch decides. It may join; that it is another byte, or the same, proves nothing.
    computed: a stored number of type half or bfloat16 that is no copy; four of these join, and not eight. Or
    a loaded integer of 16 bits that is widened, which the late part does not join.
    alone: it joins with nothing.
    perhaps: it may run with one of the other arm.
    around: the lines in front of this one.
    fork: of a fork, or what may be one.
    fragment: of a matrix fragment, whose words the compiler does not see: what a store left there is loaded.
    words: 8 bytes are two words, and not one number of 64 bits.
    """

    op: str
    width: int
    array: str
    pattern: Pattern | None
    alignment: int
    region: int
    volatile: bool = False
    declared: int = 0
    base: Hashable = None
    start: int | None = None
    affine: bool = False
    loose: bool = False
    computed: bool = False
    alone: bool = False
    fragment: bool = False
    words: bool = True
    perhaps: bool = False
    around: Around = NOWHERE
    fork: Fork = NO_FORK


@record(frozen=True, eq=False, slots=True)
class JoinEvent:
    """One shared access of all threads of a block, or a barrier.

    lead: byte offset in the array of the first active thread. order: program order. const: of an affine
    address, what is added to its base; else the lead.
    """

    kind: JoinKind
    lead: int
    order: int
    const: int | None = None

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Byte offset in the array of each thread, -1 inactive, shape (threads,)."""
        assert self.kind.pattern is not None
        return self.kind.pattern.at(self.lead)


@record(frozen=True, slots=True)
class JoinGroup:
    """Accesses that run as one instruction.

    members: indices of events, in program order. width: bytes a lane, 2 to 16. offsets: where each thread's
    wide access starts in the array of the leader, -1 inactive; a load may cover bytes that nobody asked for.
    leader: the member whose line the instruction carries: the first of a load; of stores the last where
    machine code joins them, the highest address where the optimiser does.
    late: machine code joins them, by what it knows of their addresses.
    doubtful: a branch may stand between.
    """

    members: tuple[int, ...]
    width: int
    offsets: NDArray[np.int64]
    leader: int
    late: bool = False
    doubtful: bool = False


@record(frozen=True, eq=False, slots=True)
class Address:
    """An event's address up to lane-independent constants; one object for all events that have it.

    shape: the number of an unknown base, mask and lane differences. lead: the first active thread's offset
    in the array, or, for a constant address, in the segment of all static arrays. modulus: up to which
    `lead` is the address, 16 at most.
    """

    array: str
    shape: int
    lead: int
    modulus: int
    width: int
    segment: bool


def addresses_of(events: Sequence[JoinEvent]) -> list[Address | None]:
    shapes: dict[Hashable, int] = {}
    classes: dict[JoinKind, tuple[int, int, int, bool] | None] = {}
    known: dict[Hashable, Address] = {}
    found: list[Address | None] = []
    for event in events:
        kind = event.kind
        if kind not in classes:
            classes[kind] = _class(kind, shapes)
        of_kind = classes[kind]
        if of_kind is None:
            found.append(None)
            continue
        shape, start, modulus, segment = of_kind
        at = event.lead if event.const is None else event.const
        key = (kind.array, shape, at + start, modulus, kind.width, segment)
        address = known.get(key)
        if address is None:
            address = known[key] = Address(*key)
        found.append(address)
    return found


def _class(kind: JoinKind, shapes: dict[Hashable, int]) -> tuple[int, int, int, bool] | None:
    """Shape, what to add to the lead, modulus and segment of the addresses of a kind. shapes: those
    numbered so far."""
    if kind.pattern is None:
        return None
    digest = None if kind.affine else kind.pattern.digest
    shape = shapes.setdefault((kind.base, digest), len(shapes))
    constant = kind.alignment == 0
    start = kind.start or 0
    variable = kind.alignment or WIDEST
    if not constant and start:
        variable = min(variable, start & -start)
    modulus = min(WIDEST, variable & -variable)
    segment = kind.start is not None and constant
    return shape, start if segment else 0, modulus, segment


def may_meet(a: Address, b: Address) -> bool:
    """Whether two accesses of different shape may touch the same byte of one array."""
    modulus = min(a.modulus, b.modulus)
    distance = (b.lead - a.lead) % modulus
    return not (distance >= a.width and modulus - distance >= b.width)


@record(slots=True)
class Touched:
    """Accesses since the last barrier, folded: where each kind of address was last touched."""

    exact: dict[tuple[str, int, int], int] = field(default_factory=dict)
    classes: dict[str, dict[tuple[int, int], tuple[int, Address]]] = field(default_factory=dict)
    whole: dict[str, int] = field(default_factory=dict)
    """Arrays touched somewhere unknown (atomics): position of the last time."""
    latest: dict[str, int] = field(default_factory=dict)

    MANY = 256

    def add(self, address: Address, position: int) -> None:
        self.latest[address.array] = position
        self.exact[address.array, address.shape, address.lead] = position
        kinds = self.classes.setdefault(address.array, {})
        if len(kinds) >= self.MANY:
            self.whole[address.array] = position
        else:
            kinds[address.shape, address.lead % WIDEST] = (position, address)

    def add_whole(self, array: str, position: int) -> None:
        self.whole[array] = position

    def note(self, kind: JoinKind, address: Address, position: int) -> None:
        if kind.loose:
            self.add_whole(kind.array, position)
        else:
            self.add(address, position)

    def any_since(self, address: Address, since: int) -> bool:
        """Whether anything of the array was logged after position `since`."""
        last = max(self.whole.get(address.array, -1), self.latest.get(address.array, -1))
        return last > since

    def meets(self, address: Address, since: int, *, residues: bool = True) -> bool:
        """Whether something logged after position `since` may touch the address.

        residues: different remainders modulo a common alignment count as proof that it does not.
        """
        if self.whole.get(address.array, -1) > since:
            return True
        if self.latest.get(address.array, -1) <= since:
            return False
        if self.exact.get((address.array, address.shape, address.lead), -1) > since:
            return True
        return any(
            position > since and shape != address.shape and (not residues or may_meet(address, other))
            for (shape, _), (position, other) in self.classes.get(address.array, {}).items()
        )
