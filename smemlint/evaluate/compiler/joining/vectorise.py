"""Which neighbouring accesses nvcc turns into one wider access, and which it drops.

In: the shared-memory accesses of one block in program order, with what a compiler can prove of their
addresses. Out: groups of accesses that run as one instruction of 4, 8 or 16 bytes a lane.
The rule and the kernels that it was read from are in docs/dev/joining.md.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence, Set
from dataclasses import field, replace
from typing import TypeAlias

import numpy as np

from smemlint.banks import WORD
from smemlint.evaluate.compiler.joining.join_events import (
    ATOMICS,
    PASSABLE,
    WIDEST,
    Address,
    JoinEvent,
    JoinGroup,
    JoinKind,
    Touched,
    addresses_of,
)
from smemlint.evaluate.compiler.joining.redundant import redundant
from smemlint.records import record

NO_OTHERS: Mapping[int, Set[int]] = {}
NOBODY: Set[int] = frozenset()
NO_ARM = -1
_Numbers: TypeAlias = "defaultdict[int, list[int]]"


def vectorise(
    events: Sequence[JoinEvent],
    perhaps: set[int] | None = None,
    others: Mapping[int, Set[int]] = NO_OTHERS,
) -> tuple[list[JoinGroup], frozenset[int]]:
    """Return the groups that run as one instruction, in program order of their leaders, and the indices of
    events that the compiler removes. Events in neither run alone. perhaps: is given those that it may remove.
    others: by region, those of the other arm of its condition, of which nobody runs both.
    """
    addresses, order = addresses_of(events), _in_order(events)
    dropped = redundant(events, addresses, order, set() if perhaps is None else perhaps)
    windows = _Windows(events, others)
    for index in order:
        if index not in dropped:
            windows.take(index, addresses[index])
    groups = [
        group
        for window in _of_words(events, windows.all)
        for part in _between_branches(events, window)
        for group in _groups(events, part)
    ]
    return sorted(groups, key=lambda group: events[group.leader].order), dropped


def _in_order(events: Sequence[JoinEvent]) -> list[int]:
    return sorted(range(len(events)), key=lambda index: events[index].order)


@record(slots=True)
class _Window:
    """Accesses of one op that fall into one aligned stretch of `span` bytes."""

    span: int
    members: list[tuple[int, Address, int]] = field(default_factory=list)
    """(index of the event, its address, position)."""
    parts: dict[tuple[int, int], list[tuple[int, Address, int]]] = field(default_factory=dict)
    """Loads of less than a word, by what lies between two branches: their region, the forks before it."""
    epochs: set[int] = field(default_factory=set)
    """Those of the late part in which its members stand."""
    opaque: int = 0
    """What the early part does not look through, up to its last member."""
    forks: int = 0
    """Those up to its first member."""
    doubts: int = 0
    """What may be branches, up to its first member."""
    doubtful: bool = False
    """Whether one may stand between its members."""
    late: bool = False
    """Whether some of them only the late part can join."""


class _Windows:
    """Collects windows, as two parts of nvcc do.

    The early part knows what may alias, but of addresses only what declarations promise, and does not look
    through assembler. The late part
    knows where arrays lie, but takes every shared store for one that may alias.
    """

    def __init__(self, events: Sequence[JoinEvent], others: Mapping[int, Set[int]]) -> None:
        self.events = events
        self.all: list[_Window] = []
        self.position = 0
        self.epoch = 0
        """Counts what ends the late part's load windows: stores, atomics, barriers."""
        self.barriers = 0
        self.forks = 0
        self.forks_by: tuple[_Numbers, _Numbers] = defaultdict(list), defaultdict(list)
        """By region: the forks of which it is an arm, and those that stand in it or in a branch of it."""
        self.counted: dict[int, tuple[int, int]] = {}
        """By region: how many of them were looked at, and how many of these keep its stores apart."""
        self.doubts = 0
        self.in_arms: Counter[int] = Counter()
        """What may be forks; by region: that may keep stores apart in it alone."""
        self.of_loads: Counter[int] = Counter()
        """By region: what may keep loads of words apart in it."""
        self.copies = 0
        """Forks that part no loads where a loop has a copy for each arm."""
        self.wide_doubts = 0
        """What may part loads of words."""
        self.others = others
        self.around: dict[int, frozenset[int]] = {}
        """By region: it and those that it is a branch of."""
        self.apart: dict[int, frozenset[int]] = {}
        """By region: those of the other arms of these, of which nobody runs both."""
        self.opaque = 0
        self.open: dict[Hashable, _Window] = {}
        self.last: dict[int, Hashable] = {}
        """By region: the window of the latest shared access that may have run before it, if that was a
        store."""
        self.touched: dict[int, tuple[Touched, Touched]] = {}
        """By region, those that stand in no arm as one: its loads and stores since the last barrier."""

    def take(self, index: int, address: Address | None) -> None:
        kind = self.events[index].kind
        self.position += 1
        if kind.region not in self.around:
            around = self.around[kind.region] = frozenset((kind.region, *kind.around.under))
            self.apart[kind.region] = frozenset().union(*(self.others.get(r, NOBODY) for r in around))
        if kind.op in ("opaque", "exchange"):
            self.opaque += 1
            return
        if kind.op == "assert":
            return
        if kind.op in PASSABLE:
            self.epoch += kind.op == "call"
            self._part(kind)
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
        if kind.op == "store" or not moved:
            self._note_store(kind)
        if kind.op == "store" and span:
            self.last[kind.region] = self._key(kind, address, span)
        self._of(kind.region)[kind.op == "store"].add(address, self.position)

    def _of(self, region: int) -> tuple[Touched, Touched]:
        around = self.around.get(region, NOBODY)
        where = NO_ARM if self.others.keys().isdisjoint(around) else region
        return self.touched.setdefault(where, (Touched(), Touched()))

    def _are_apart(self, a: int, b: int) -> bool:
        """Whether nobody runs both of two regions: they stand in the two arms of a condition."""
        return not self.apart.get(a, NOBODY).isdisjoint(self.around.get(b, NOBODY))

    def _part(self, kind: JoinKind) -> None:
        """Something that stores do not move across."""
        if kind.op == "perhaps":
            self.doubts += 1
            self.wide_doubts += kind.fork.in_front
            self._doubt_loads(kind)
        elif kind.op == "fork":
            for regions, forks in zip((kind.fork.arms, self.around[kind.region]), self.forks_by, strict=True):
                for r in regions:
                    forks[r].append(self.forks)
            self.forks += 1
            self.copies += kind.fork.in_front
            self.in_arms.update(kind.fork.arms if kind.fork.parts_arms else ())
            self._doubt_loads(kind)
            self.last = {r: key for r, key in self.last.items() if not self._parts(kind, r)}
        else:
            self._note_store(kind)

    def _doubt_loads(self, kind: JoinKind) -> None:
        self.of_loads.update(kind.fork.arms if kind.fork.parts_loads else ())

    def _parts(self, kind: JoinKind, region: int) -> bool:
        """Whether a fork keeps the stores of a region apart: not those of its arms, nor of what does not run
        where it does."""
        in_arms = not self.around[region].isdisjoint(kind.fork.arms)
        return not in_arms and not self._are_apart(region, kind.region)

    def _forks(self, region: int) -> int:
        """How many forks so far keep the stores of a region apart (`_parts`)."""
        seen, count = self.counted.get(region, (0, 0))
        if seen < self.forks:
            of_arms, inside = self.forks_by
            spared = [of_arms.get(r, []) for r in self.around[region]]
            spared += [inside.get(r, []) for r in self.apart[region]]
            count += self.forks - seen - len(set[int]().union(*(n[bisect_left(n, seen) :] for n in spared)))
            self.counted[region] = self.forks, count
        return count

    def _note_store(self, kind: JoinKind) -> None:
        """Something that stands between stores, but for those of an arm that does not run where it does."""
        self.last = {r: key for r, key in self.last.items() if self._are_apart(r, kind.region)}

    def _stop(self, kind: JoinKind) -> None:
        self.epoch += 1
        self.last = {}
        if kind.op in ATOMICS:
            for touched in self._of(kind.region):
                touched.add_whole(kind.array, self.position)
        else:
            self.barriers += 1
            self.touched = {}

    def _key(self, kind: JoinKind, address: Address, span: int, region: int | None = None) -> Hashable:
        where = None if address.segment else kind.array
        region = kind.region if region is None else region
        return (kind.op, where, address.shape, region, _unit(kind), span, address.lead // span)

    def _place(self, index: int, address: Address, span: int, early: bool) -> bool:
        """Put an access into its window. Whether it moves up to a load there, before machine code is made."""
        kind = self.events[index].kind
        key = self._key(kind, address, span)
        if early:
            forks = self._forks(kind.region) if kind.op == "store" else 0
            name: Hashable = (key, self.barriers, forks)
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
            window = self.open.get(name) if self.last.get(kind.region) == key else None
        moved = early and kind.op == "load" and window is not None
        late = not early or (window is not None and window.opaque != self.opaque)
        if window is None:
            window = self.open[name] = _Window(
                span, doubts=self._doubts(kind), forks=self._forks(kind.region)
            )
            self.all.append(window)
        elif early and self._is_branched(kind, window):
            window.doubtful = True
        window.members.append((index, address, self.position))
        narrow = kind.op == "load" and kind.width < WORD
        if narrow:
            part = window.parts.setdefault((kind.region, self._forks(kind.region) - self.copies), [])
            moved = moved and bool(part)
            part.append(window.members[-1])
        window.epochs.add(self.epoch)
        window.opaque = self.opaque
        window.late = window.late or late
        window.doubtful = window.doubtful or window.doubts != self._doubts(kind)
        return moved

    def _doubts(self, kind: JoinKind) -> int:
        if kind.op == "load" and kind.width >= WORD:
            return self.wide_doubts + sum(self.of_loads[r] for r in self.around[kind.region])
        branches = self.copies if kind.op == "load" else 0
        return self.doubts + branches + sum(self.in_arms[r] for r in self.around[kind.region])

    def _before(self, kind: JoinKind, address: Address, span: int, epoch: int) -> _Window | None:
        """The window of a load that surely ran before, and can load what a branch needs with it."""
        for region in kind.around.under:
            key = self._key(kind, address, span, region)
            window = self.open.get((key, self.barriers, epoch))
            if window is not None:
                return window
        return None

    def _parted(self, key: Hashable, kind: JoinKind, address: Address, window: _Window) -> bool:
        """Whether an access that the early part could join stays out of a window. Behind assembler it is left
        to the late part."""
        if self._blocked(kind, address, window):
            return True
        late = (
            self.last.get(kind.region) == key
            if kind.op == "store"
            else window.epochs == {self.epoch} and not kind.computed
        )
        return window.opaque != self.opaque and not late

    def _is_branched(self, kind: JoinKind, window: _Window) -> bool:
        """Whether a load stands behind a branch that members of its window stand in front of. The early part
        does not join across it; the late part may join some of them, where nothing ends its windows."""
        if kind.op != "load" or (window.epochs == {self.epoch} and not kind.computed):
            return False
        line = self.events[window.members[0][0]].kind.region
        return (line, window.forks) != (kind.region, self._forks(kind.region))

    def _blocked(self, kind: JoinKind, address: Address, window: _Window) -> bool:
        """A load moves up to the window's first member, the members of a store window down to the new one."""
        if kind.op == "load":
            return any(stores.meets(address, window.members[0][2]) for _, stores in self._not_exclusive(kind))
        return any(
            loads.meets(member, position) or stores.meets(member, position, residues=False)
            for _, member, position in window.members
            for loads, stores in self._not_exclusive(kind)
        )

    def _not_exclusive(self, kind: JoinKind) -> Iterator[tuple[Touched, Touched]]:
        """What may run where an access does: not what the other arm of its condition touches."""
        yield from (found for r, found in self.touched.items() if not self._are_apart(r, kind.region))


def _of_words(events: Sequence[JoinEvent], windows: Sequence[_Window]) -> list[_Window]:
    """The windows, those of the same words as one: machine code joins part of a vector, which the early part
    could join, with a vector beside it, which it could not."""
    found: list[_Window] = []
    whole: dict[Hashable, _Window] = {}
    for window in windows:
        index, address, _ = window.members[0]
        kind = events[index].kind
        other: _Window | None = None
        if kind.op == "load" and _unit(kind) == WORD and window.span == WIDEST and len(window.epochs) == 1:
            where = None if address.segment else kind.array
            key = where, address.shape, kind.region, address.lead // WIDEST, window.opaque, *window.epochs
            other = whole.setdefault(key, window)
        if other is None or other is window or events[other.members[0][0]].kind.width == kind.width:
            found.append(window)
        else:
            other.members += window.members
            other.late = True
    return found


def _between_branches(events: Sequence[JoinEvent], window: _Window) -> list[_Window]:
    """The windows that a window falls into: loads of less than a word do not join across a branch. Where the
    early part makes words of them machine code may join these: one window, and doubtful."""
    if len(window.parts) < 2:
        return [window]
    parts = [replace(window, members=members, parts={}) for members in window.parts.values()]
    if not window.late and any(group.width >= WORD for part in parts for group in _groups(events, part)):
        return [replace(window, doubtful=True)]
    return parts


def _unit(kind: JoinKind) -> int:
    """Bytes of what an access is made of: a pair of words joins single ones."""
    return WORD if kind.words and kind.width == 2 * WORD else kind.width


def _known_early(kind: JoinKind) -> bool:
    """Whether the declaration alone proves enough to join two elements."""
    return min(kind.declared, kind.alignment or WIDEST) >= 2 * kind.width


def _span(kind: JoinKind, address: Address) -> int:
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
    slots: dict[int, list[tuple[int, Address]]] = defaultdict(list)
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
        late = window.late or count * width > max(first.declared, width)
        # machine code stores where the last one stands, the optimiser on the line of the highest address
        leader = members[0] if load else members[-1] if late else taken[-1][0]
        if load and not _led(events, members, count == 2 and leader not in (i for i, _ in slots[low])):
            continue
        lead = next(address.lead for index, address in taken if index == leader)
        shift = lead % window.span - low * width
        offsets = events[leader].offsets
        starts = np.where(offsets >= 0, offsets - shift, -1)
        groups.append(JoinGroup(members, count * width, starts, leader, late, window.doubtful))
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
