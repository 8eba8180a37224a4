"""Which neighbouring accesses nvcc turns into one wider access, and which it drops.

In: the shared-memory accesses of one block in program order, with what a compiler can prove of their
addresses. Out: groups of accesses that run as one instruction of 4, 8 or 16 bytes a lane.
The rule and the kernels that it was read from are in docs/dev/joining.md.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence, Set
from dataclasses import field

import numpy as np
from numpy.typing import NDArray

from smemlint.evaluate.compiler.address_patterns import Pattern
from smemlint.records import record

WIDEST = 16
"""Bytes a lane of the widest shared-memory instruction."""

_WORD = 4
_PASSABLE = ("fork", "call", "predicate", "opaque", "exchange")
_ATOMICS = frozenset({"atomic", "cas", "cas loop load", "cas loop", "increment"})


@record(frozen=True, eq=False, slots=True)
class BothArms:
    """The regions with which both arms of a condition begin and end, and the conditions in them. small: they
    become predicates. leads: the address, as text, with which both begin: it is made in front of them."""

    yes: tuple[int, int]
    no: tuple[int, int]
    small: bool
    leads: frozenset[str] = frozenset()
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
    around: Around = field(default_factory=lambda: NOWHERE)


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
    leader: the member whose line the instruction carries: the first of a load, the last of a store.
    late: machine code joins them, by what it knows of their addresses.
    """

    members: tuple[int, ...]
    width: int
    offsets: NDArray[np.int64]
    leader: int
    late: bool = False


@record(frozen=True, eq=False, slots=True)
class _Address:
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


def _addresses(events: Sequence[JoinEvent]) -> list[_Address | None]:
    shapes: dict[Hashable, int] = {}
    classes: dict[JoinKind, tuple[int, int, int, bool] | None] = {}
    known: dict[Hashable, _Address] = {}
    found: list[_Address | None] = []
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
            address = known[key] = _Address(*key)
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


def _may_meet(a: _Address, b: _Address) -> bool:
    """Whether two accesses of different shape may touch the same byte of one array."""
    modulus = min(a.modulus, b.modulus)
    distance = (b.lead - a.lead) % modulus
    return not (distance >= a.width and modulus - distance >= b.width)


@record(slots=True)
class _Log:
    """Accesses since the last barrier, folded: where each kind of address was last touched."""

    exact: dict[tuple[str, int, int], int] = field(default_factory=dict)
    classes: dict[str, dict[tuple[int, int], tuple[int, _Address]]] = field(default_factory=dict)
    whole: dict[str, int] = field(default_factory=dict)
    """Arrays touched somewhere unknown (atomics): position of the last time."""
    latest: dict[str, int] = field(default_factory=dict)

    MANY = 256

    def add(self, address: _Address, position: int) -> None:
        self.latest[address.array] = position
        self.exact[address.array, address.shape, address.lead] = position
        kinds = self.classes.setdefault(address.array, {})
        if len(kinds) >= self.MANY:
            self.whole[address.array] = position
        else:
            kinds[address.shape, address.lead % WIDEST] = (position, address)

    def add_whole(self, array: str, position: int) -> None:
        self.whole[array] = position

    def note(self, kind: JoinKind, address: _Address, position: int) -> None:
        if kind.loose:
            self.add_whole(kind.array, position)
        else:
            self.add(address, position)

    def any_since(self, address: _Address, since: int) -> bool:
        """Whether anything of the array was logged after position `since`."""
        last = max(self.whole.get(address.array, -1), self.latest.get(address.array, -1))
        return last > since

    def meets(self, address: _Address, since: int, *, residues: bool = True) -> bool:
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
            position > since and shape != address.shape and (not residues or _may_meet(address, other))
            for (shape, _), (position, other) in self.classes.get(address.array, {}).items()
        )


def _redundant(
    events: Sequence[JoinEvent],
    addresses: Sequence[_Address | None],
    order: Sequence[int],
    perhaps: set[int],
) -> frozenset[int]:
    """Return the indices of events that the compiler removes; adds to perhaps those that it may remove.

    They are loads whose value the thread already holds, from a load or a store of the same address, and
    stores that the thread overwrites before anyone can read them. Only within a region, so that what takes
    their place is certain to have run.
    """
    gone: set[int] = set()
    held: dict[Hashable, tuple[int, int]] = {}
    """Position and index of the access that put this address's value into a register."""
    parts: dict[Hashable, tuple[int, int]] = {}
    """The same of a part of a wider access, by array, shape, lead, width, region and fragment."""
    pending: dict[Hashable, tuple[int, int]] = {}
    """Index and position of a store that nobody has read yet."""
    begun: set[Hashable] = set()
    """What was loaded in a straight line before anything stored to it there."""
    behind = ValuesBehindArms(events, addresses, perhaps)
    loads, stores = _Log(), _Log()
    for position, index in enumerate(order):
        kind, address = events[index].kind, addresses[index]
        if kind.op in _PASSABLE:
            if kind.op == "fork":
                pending = {}  # whoever leaves there takes the value along; stores die within a block only
            continue
        if kind.op in _ATOMICS:
            loads.add_whole(kind.array, position)
            stores.add_whole(kind.array, position)
            behind.stored.append((position, index))
        elif kind.op not in ("load", "store"):
            behind.stored.clear()
            held, parts, pending, begun, loads, stores = {}, {}, {}, set(), _Log(), _Log()
        elif address is not None:
            key = (address, kind.region, kind.fragment)
            if kind.op == "load":
                since = max(_known(kind, address, held, parts), default=None)
                since = since or _loaded(kind, address, held, begun, events)
                met = stores.any_since if kind.loose else stores.meets
                free = since is not None and not kind.volatile and not met(address, since[0])
                if since is not None and free and _all_in(events[index], events[since[1]]):
                    gone.add(index)
                    continue
                if kind.around.arms and behind.has(index, held):
                    gone.add(index)
                    continue
                loads.note(kind, address, position)
                if key not in held:
                    begun.add(key)
            else:
                before = pending.get(key)
                met = loads.any_since if kind.loose else loads.meets
                free = before is not None and not kind.volatile and not met(address, before[1])
                if before is not None and free and _all_in(events[before[0]], events[index]):
                    gone.add(before[0])
                # Behind a branch it is at hand, stored or not, where it was at hand before.
                around = [
                    (address, region, kind.fragment) for region in (*kind.around.under, *kind.around.behind)
                ]
                around = [k for k in around if k in held and not stores.meets(address, held[k][0])]
                held |= {k: (position, held[k][1]) for k in around if not (kind.loose or kind.volatile)}
                stores.note(kind, address, position)
                behind.stored.append((position, index))
                pending[key] = (index, position)
            held[key] = position, index
            if address.width > _WORD and not kind.volatile:
                for at, width in _parts(address.width):
                    lead = address.lead + at
                    part = address.array, address.shape, lead, width, kind.region, kind.fragment
                    parts[part] = position, index
            if kind.volatile or (kind.fragment and kind.op == "store"):
                del held[key]
                pending.pop(key, None)
    return frozenset(gone)


def _known(
    kind: JoinKind,
    address: _Address,
    held: dict[Hashable, tuple[int, int]],
    parts: dict[Hashable, tuple[int, int]],
) -> Iterator[tuple[int, int]]:
    """The accesses that surely left what lies at an address in a register."""
    part = address.array, address.shape, address.lead, address.width
    for region in (kind.region, *kind.around.under, *kind.around.behind):
        for found, key in ((held, (address, region, kind.fragment)), (parts, (*part, region, kind.fragment))):
            if key in found:
                yield found[key]


def _loaded(
    kind: JoinKind,
    address: _Address,
    held: dict[Hashable, tuple[int, int]],
    begun: Set[Hashable],
    events: Sequence[JoinEvent],
) -> tuple[int, int] | None:
    """What moved out of a loop in front, which may not run, and makes this load behind the loop one with a
    load in front of it. Where the loop also stores to the element, that takes more: the load moved out too
    (begun), and its address is at hand in front of the loop."""
    key = address, kind.around.looped, kind.fragment
    found = held.get(key)
    if found is None or events[found[1]].kind.op == "load":
        return found
    return found if kind.around.named and key in begun else None


def _parts(width: int) -> Iterator[tuple[int, int]]:
    """Where the words and pairs of words of an access lie in it."""
    for part in (_WORD, 2 * _WORD):
        yield from ((at, part) for at in range(0, width, part) if part < width)


def _all_in(a: JoinEvent, b: JoinEvent) -> bool:
    """Whether all threads of one access take part in another."""
    one, other = a.kind.pattern, b.kind.pattern
    if one is None or other is None or one.active is other.active:
        return True
    return not (one.active & ~other.active).any()


def vectorise(
    events: Sequence[JoinEvent], perhaps: set[int] | None = None
) -> tuple[list[JoinGroup], frozenset[int]]:
    """Return the groups that run as one instruction, in program order of their leaders, and the indices of
    events that the compiler removes. Events in neither run alone. perhaps: is given those that it may remove.
    """
    addresses, order = _addresses(events), _in_order(events)
    dropped = _redundant(events, addresses, order, set() if perhaps is None else perhaps)
    windows = _Windows(events)
    for index in order:
        if index not in dropped:
            windows.take(index, addresses[index])
    groups = [group for members in _of_words(events, windows.all) for group in _groups(events, members)]
    return sorted(groups, key=lambda group: events[group.leader].order), dropped


def _in_order(events: Sequence[JoinEvent]) -> list[int]:
    return sorted(range(len(events)), key=lambda index: events[index].order)


class ValuesBehindArms:
    """Which loads find at hand what both arms of a condition left there, each by an access of its own.

    The optimiser sees it where it has the address in front of the arms; machine code where the arms are
    predicated loads.
    """

    def __init__(
        self, events: Sequence[JoinEvent], addresses: Sequence[_Address | None], perhaps: set[int]
    ) -> None:
        self._events = events
        self._addresses = addresses
        self._perhaps = perhaps
        self.stored: list[tuple[int, int]] = []
        """Position and index of what was stored since the last barrier."""

    def has(self, index: int, held: Mapping[Hashable, tuple[int, int]]) -> bool:
        """Return whether a load finds its value there. held: as in _redundant()."""
        event, address = self._events[index], self._addresses[index]
        if event.kind.volatile or event.kind.loose or address is None:
            return False
        for arms in event.kind.around.arms:
            left = [*self._left(arms, address, event.kind.fragment, held)]
            if not left or not self._reach(event, left):
                continue
            inside = {region for region, _, _ in left}
            if self._overwritten(address, left):
                return False
            front = event.kind.around.in_front or event.kind.around.written in arms.leads
            loads = not any(self._is_within(i, inside) for _, i in self.stored)
            merged = all(self._events[i].kind.perhaps for _, _, i in left)
            if not front and (merged or (loads and arms.small and len(left) > 2)):
                self._perhaps.add(index)
            return front or (loads and arms.small and len(left) == 2)
        return False

    def _left(
        self, arms: BothArms, address: _Address, fragment: bool, held: Mapping[Hashable, tuple[int, int]]
    ) -> Iterator[tuple[int, int, int]]:
        """Region, position and index of what both arms left of an address; else nothing."""
        found: list[tuple[int, int, int]] = []
        for regions, inner in ((arms.yes, arms.within_yes), (arms.no, arms.within_no)):
            known = [(r, *held[address, r, fragment]) for r in regions if (address, r, fragment) in held]
            if known:
                found.append(known[-1])
                continue
            parts = next((p for a in inner if (p := [*self._left(a, address, fragment, held)])), None)
            if parts is None:
                return
            found += parts
        yield from found

    def _reach(self, event: JoinEvent, left: Sequence[tuple[int, int, int]]) -> bool:
        """Whether the threads of an access ran one of those."""
        one = event.kind.pattern
        if one is None:
            return True
        active = one.active.copy()
        for _, _, index in left:
            other = self._events[index].kind.pattern
            if other is not None:
                active &= ~other.active
        return not active.any()

    def _overwritten(self, address: _Address, left: Sequence[tuple[int, int, int]]) -> bool:
        """Whether something may have been stored there since, in an arm or behind all of them."""
        first = min(position for _, position, _ in left)
        for position, index in reversed(self.stored):
            if position <= first:
                return False
            since = next((p for region, p, _ in left if self._is_within(index, {region})), first)
            if position > since and self._hits(index, address):
                return True
        return False

    def _hits(self, index: int, address: _Address) -> bool:
        """Whether a store may be to an address."""
        kind, other = self._events[index].kind, self._addresses[index]
        if kind.array != address.array or other is address:
            return kind.array == address.array
        return other is None or kind.loose or (other.shape != address.shape and _may_meet(address, other))

    def _is_within(self, index: int, regions: Set[int]) -> bool:
        kind = self._events[index].kind
        return not regions.isdisjoint((kind.region, *kind.around.under))


@record(slots=True)
class _Window:
    """Accesses of one op that fall into one aligned stretch of `span` bytes."""

    span: int
    members: list[tuple[int, _Address, int]] = field(default_factory=list)
    """(index of the event, its address, position)."""
    epochs: set[int] = field(default_factory=set)
    """Those of the late part in which its members stand."""
    opaque: int = 0
    """What the early part does not look through, up to its last member."""
    late: bool = False
    """Whether some of them only the late part can join."""


class _Windows:
    """Collects windows, as two parts of nvcc do.

    The early part knows what may alias, but of addresses only what declarations promise, and does not look
    through assembler. The late part
    knows where arrays lie, but takes every shared store for one that may alias.
    """

    def __init__(self, events: Sequence[JoinEvent]) -> None:
        self.events = events
        self.all: list[_Window] = []
        self.position = 0
        self.epoch = 0
        """Counts what ends the late part's load windows: stores, atomics, barriers."""
        self.barriers = 0
        self.forks = 0
        self.opaque = 0
        self.open: dict[Hashable, _Window] = {}
        self.last: Hashable = None
        """Window of the latest shared access, if that was a store."""
        self.loads = _Log()
        self.stores = _Log()

    def take(self, index: int, address: _Address | None) -> None:
        kind = self.events[index].kind
        self.position += 1
        if kind.op in ("opaque", "exchange"):
            self.opaque += 1
            return
        if kind.op in _PASSABLE:
            self.forks += kind.op == "fork"
            self.epoch += kind.op == "call"
            self.last = None
            return
        if kind.op not in ("load", "store"):
            self._stop(kind)
            return
        if address is None:
            return
        if kind.op == "store":
            self.epoch += 1
        span, early = _span(kind, address), _known_early(kind)
        moved = self._place(index, address, span, early) if span else False
        if kind.op == "store":
            self.last = self._key(kind, address, span) if span else None
        elif not moved:
            self.last = None
        (self.loads if kind.op == "load" else self.stores).add(address, self.position)

    def _stop(self, kind: JoinKind) -> None:
        self.epoch += 1
        self.last = None
        if kind.op in _ATOMICS:
            self.loads.add_whole(kind.array, self.position)
            self.stores.add_whole(kind.array, self.position)
        else:
            self.barriers += 1
            self.loads, self.stores = _Log(), _Log()

    def _key(self, kind: JoinKind, address: _Address, span: int, region: int | None = None) -> Hashable:
        where = None if address.segment else kind.array
        region = kind.region if region is None else region
        return (kind.op, where, address.shape, region, _unit(kind), span, address.lead // span)

    def _place(self, index: int, address: _Address, span: int, early: bool) -> bool:
        """Put an access into its window. Whether it moves up to a load there, before machine code is made."""
        kind = self.events[index].kind
        key = self._key(kind, address, span)
        if early:
            name: Hashable = (key, self.barriers, self.forks if kind.op == "store" else 0)
            window = self.open.get(name)
            if window is not None and self._parted(key, kind, address, window):
                window = None
            if window is None and kind.op == "load":
                window = self._before(kind, address, span, 0)
                if window is not None and self._parted(key, kind, address, window):
                    window = None
        elif kind.op == "load":
            name = (key, self.barriers, self.epoch)
            window = self.open.get(name) or self._before(kind, address, span, self.epoch)
        else:
            name = key
            window = self.open.get(name) if self.last == key else None
        moved = early and kind.op == "load" and window is not None
        late = not early or (window is not None and window.opaque != self.opaque)
        if window is None:
            window = self.open[name] = _Window(span)
            self.all.append(window)
        window.members.append((index, address, self.position))
        window.epochs.add(self.epoch)
        window.opaque = self.opaque
        window.late = window.late or late
        return moved

    def _before(self, kind: JoinKind, address: _Address, span: int, epoch: int) -> _Window | None:
        """The window of a load that surely ran before, and can load what a branch needs with it."""
        for region in kind.around.under:
            key = self._key(kind, address, span, region)
            window = self.open.get((key, self.barriers, epoch))
            if window is not None:
                return window
        return None

    def _parted(self, key: Hashable, kind: JoinKind, address: _Address, window: _Window) -> bool:
        """Whether an access that the early part could join stays out of a window. Behind assembler it is left
        to the late part."""
        if self._blocked(kind, address, window):
            return True
        late = self.last == key if kind.op == "store" else window.epochs == {self.epoch} and not kind.computed
        return window.opaque != self.opaque and not late

    def _blocked(self, kind: JoinKind, address: _Address, window: _Window) -> bool:
        """A load moves up to the window's first member, the members of a store window down to the new one."""
        if kind.op == "load":
            return self.stores.meets(address, window.members[0][2])
        return any(
            self.loads.meets(member, position) or self.stores.meets(member, position, residues=False)
            for _, member, position in window.members
        )


def _of_words(events: Sequence[JoinEvent], windows: Sequence[_Window]) -> list[_Window]:
    """The windows, those of the same words as one: machine code joins part of a vector, which the early part
    could join, with a vector beside it, which it could not."""
    found: list[_Window] = []
    whole: dict[Hashable, _Window] = {}
    for window in windows:
        index, address, _ = window.members[0]
        kind = events[index].kind
        other: _Window | None = None
        if kind.op == "load" and _unit(kind) == _WORD and window.span == WIDEST and len(window.epochs) == 1:
            where = None if address.segment else kind.array
            key = where, address.shape, kind.region, address.lead // WIDEST, window.opaque, *window.epochs
            other = whole.setdefault(key, window)
        if other is None or other is window or events[other.members[0][0]].kind.width == kind.width:
            found.append(window)
        else:
            other.members += window.members
            other.late = True
    return found


def _unit(kind: JoinKind) -> int:
    """Bytes of what an access is made of: a pair of words joins single ones."""
    return _WORD if kind.words and kind.width == 2 * _WORD else kind.width


def _known_early(kind: JoinKind) -> bool:
    """Whether the declaration alone proves enough to join two elements."""
    return min(kind.declared, kind.alignment or WIDEST) >= 2 * kind.width


def _span(kind: JoinKind, address: _Address) -> int:
    """Bytes of the windows in which this event can join, 0 if it cannot."""
    if kind.volatile or kind.alone or kind.width not in (1, 2, 4, 8):
        return 0
    early = _known_early(kind)
    if kind.width == 1:
        widest = WIDEST if early else 0
    elif kind.width == 2 and kind.op == "load":
        widest = WIDEST if early else 0 if kind.computed else 8
    elif kind.width == 2:
        widest = WIDEST if early and not kind.computed else 8
    else:
        widest = WIDEST
    span = min(widest, address.modulus)
    return span if span >= 2 * kind.width else 0


def _groups(events: Sequence[JoinEvent], window: _Window) -> list[JoinGroup]:
    if len(window.members) < 2:
        return []
    first = events[window.members[0][0]].kind
    width, load = min(events[index].kind.width for index, _, _ in window.members), first.op == "load"
    slots: dict[int, list[tuple[int, _Address]]] = defaultdict(list)
    for index, address, _ in window.members:
        if address.lead % address.width == 0:
            for at in range(0, address.width, width):
                slots[(address.lead + at) % window.span // width].append((index, address))
    groups = []
    holes = load and len(window.epochs) == 1  # the early part fills none
    most = 8 if window.late and width == 2 and load else window.span
    whole = range(0, window.span // width, most // width)
    pieces = [p for low in whole for p in _pieces(frozenset(slots), low, most // width, holes=holes)]
    for low, count in pieces:
        taken = [member for slot in range(low, low + count) for member in slots.get(slot, ())]
        members = tuple(sorted({index for index, _ in taken}, key=lambda index: events[index].order))
        if len(members) < 2 and events[members[0]].kind.width > width:
            continue  # it is as wide by itself
        leader = members[0] if load else members[-1]
        if load and not _led(events, members, count == 2 and leader not in (i for i, _ in slots[low])):
            continue
        lead = next(address.lead for index, address in taken if index == leader)
        shift = lead % window.span - low * width
        offsets = events[leader].offsets
        starts = np.where(offsets >= 0, offsets - shift, -1)
        late = window.late or count * width > max(first.declared, width)
        groups.append(JoinGroup(members, count * width, starts, leader, late))
    return groups


def _led(events: Sequence[JoinEvent], members: Sequence[int], second: bool) -> bool:
    """Whether the first load surely runs where the others do. second: it is the upper half of a pair, which
    does not reach down for what a branch needs."""
    region = events[members[0]].kind.region
    others = [events[index].kind for index in members if events[index].kind.region != region]
    return not others or (not second and all(region in kind.around.under for kind in others))


def _pieces(slots: frozenset[int], low: int, count: int, *, holes: bool) -> list[tuple[int, int]]:
    """Cut the slots of a window into aligned pieces that become one access each.

    A store writes what was given to it, so its pieces are full. A load of four elements may have one hole,
    and sixteen bytes count as four such quads.
    """
    if count < 2:
        return []
    present = sum(low <= slot < low + count for slot in slots)
    if present < 2:
        return []
    whole = present == count
    if holes and count == 4:
        whole = present >= 3
    elif holes and count > 4:
        quads = sum(
            sum(slot // 4 == quad for slot in slots) >= 3 for quad in range(low // 4, (low + count) // 4)
        )
        whole = quads >= (3 if count == 16 else 2)
    if whole:
        return [(low, count)]
    half = count // 2
    return _pieces(slots, low, half, holes=holes) + _pieces(slots, low + half, half, holes=holes)
