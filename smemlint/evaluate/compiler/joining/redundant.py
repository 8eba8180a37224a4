"""Which accesses nvcc drops: loads of what the thread has at hand, stores that it overwrites."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence, Set

from smemlint.banks import WORD
from smemlint.evaluate.compiler.joining.join_events import (
    ATOMICS,
    PASSABLE,
    Address,
    BothArms,
    JoinEvent,
    JoinKind,
    Touched,
    may_meet,
)


def redundant(
    events: Sequence[JoinEvent],
    addresses: Sequence[Address | None],
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
    behind = _ValuesBehindArms(events, addresses, perhaps)
    loads, stores = Touched(), Touched()
    for position, index in enumerate(order):
        kind, address = events[index].kind, addresses[index]
        if kind.op in PASSABLE:
            if kind.op == "fork":
                pending = {}  # whoever leaves there takes the value along; stores die within a block only
            continue
        if kind.op in ATOMICS:
            loads.add_whole(kind.array, position)
            stores.add_whole(kind.array, position)
            behind.stored.append((position, index))
        elif kind.op not in ("load", "store"):
            behind.stored.clear()
            held, parts, pending, begun, loads, stores = {}, {}, {}, set(), Touched(), Touched()
        elif address is not None:
            key = (address, kind.region, kind.fragment)
            if kind.op == "load":
                since = max(_in_registers(kind, address, held, parts), default=None)
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
            if address.width > WORD and not kind.volatile:
                for at, width in _words_of(address.width):
                    lead = address.lead + at
                    part = address.array, address.shape, lead, width, kind.region, kind.fragment
                    parts[part] = position, index
            if kind.volatile or (kind.fragment and kind.op == "store"):
                del held[key]
                pending.pop(key, None)
    return frozenset(gone)


def _in_registers(
    kind: JoinKind,
    address: Address,
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
    address: Address,
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


def _words_of(width: int) -> Iterator[tuple[int, int]]:
    """Where the words and pairs of words of an access lie in it."""
    for part in (WORD, 2 * WORD):
        yield from ((at, part) for at in range(0, width, part) if part < width)


def _all_in(a: JoinEvent, b: JoinEvent) -> bool:
    """Whether all threads of one access take part in another."""
    one, other = a.kind.pattern, b.kind.pattern
    if one is None or other is None or one.active is other.active:
        return True
    return not (one.active & ~other.active).any()


class _ValuesBehindArms:
    """Which loads find at hand what both arms of a condition left there, each by an access of its own.

    The optimiser sees it where it has the address in front of the arms; machine code where the arms are
    predicated loads.
    """

    def __init__(
        self, events: Sequence[JoinEvent], addresses: Sequence[Address | None], perhaps: set[int]
    ) -> None:
        self._events = events
        self._addresses = addresses
        self._perhaps = perhaps
        self.stored: list[tuple[int, int]] = []
        """Position and index of what was stored since the last barrier."""

    def has(self, index: int, held: Mapping[Hashable, tuple[int, int]]) -> bool:
        """Return whether a load finds its value there. held: as in redundant()."""
        event, address = self._events[index], self._addresses[index]
        if event.kind.volatile or event.kind.loose or address is None:
            return False
        for arms in event.kind.around.arms:
            left = [*self._left_by_both(arms, address, event.kind.fragment, held)]
            if not left or not self._reach(event, left):
                continue
            inside = {region for region, _, _ in left}
            if self._overwritten(address, left):
                return False
            front = event.kind.around.in_front or event.kind.around.written == arms.leads
            loads = not any(self._is_within(i, inside) for _, i in self.stored)
            merged = all(self._events[i].kind.perhaps for _, _, i in left)
            if not front and (merged or (loads and arms.small and len(left) > 2)):
                self._perhaps.add(index)
            return front or (loads and arms.small and len(left) == 2)
        return False

    def _left_by_both(
        self, arms: BothArms, address: Address, fragment: bool, held: Mapping[Hashable, tuple[int, int]]
    ) -> Iterator[tuple[int, int, int]]:
        """Region, position and index of what both arms left of an address; else nothing."""
        found: list[tuple[int, int, int]] = []
        for regions, inner in ((arms.yes, arms.within_yes), (arms.no, arms.within_no)):
            known = [(r, *held[address, r, fragment]) for r in regions if (address, r, fragment) in held]
            if known:
                found.append(known[-1])
                continue
            parts = next((p for a in inner if (p := [*self._left_by_both(a, address, fragment, held)])), None)
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

    def _overwritten(self, address: Address, left: Sequence[tuple[int, int, int]]) -> bool:
        """Whether something may have been stored there since, in an arm or behind all of them."""
        first = min(position for _, position, _ in left)
        for position, index in reversed(self.stored):
            if position <= first:
                return False
            since = next((p for region, p, _ in left if self._is_within(index, {region})), first)
            if position > since and self._hits(index, address):
                return True
        return False

    def _hits(self, index: int, address: Address) -> bool:
        """Whether a store may be to an address."""
        kind, other = self._events[index].kind, self._addresses[index]
        if kind.array != address.array:
            return False
        if other is None or other is address or kind.loose:
            return True
        return other.shape != address.shape and may_meet(address, other)

    def _is_within(self, index: int, regions: Set[int]) -> bool:
        kind = self._events[index].kind
        return not regions.isdisjoint((kind.region, *kind.around.under))
