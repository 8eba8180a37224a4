"""Pointers that may lead to several objects: `bufs[warp]`, `c ? a : b`, double buffers that are swapped.

Such a pointer points into an object that stands for all of them and says which lanes go where (its options).
Arithmetic on it is that of any pointer; here it is made, and an access through it is told apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import gcd, prod

import numpy as np
from numpy.typing import NDArray

from smemlint.evaluate.machine.machine import Machine, Mask, World
from smemlint.evaluate.memory.kept_pointers import SIZE
from smemlint.evaluate.memory.segment import declared_alignment, starts_so_far
from smemlint.evaluate.model import Unresolved
from smemlint.evaluate.values.arithmetic import one_unknown
from smemlint.evaluate.values.comparison import compare, one_of_two, select, too_long
from smemlint.evaluate.values.number import (
    Int,
    Lanes,
    Monomial,
    Symbol,
    add,
    gcd_of,
    multiple_of,
    multiply,
    subtract,
)
from smemlint.evaluate.values.objects import NO_ADDRESS
from smemlint.evaluate.values.value import Object, Option, Other, Pointer, Value, led_to, same
from smemlint.ir import OpaqueType
from smemlint.ir.types import BOOL, LONG
from smemlint.records import record

_NULL = "null"
"""Id of what a null pointer leads to."""
NULLS = (_NULL, NO_ADDRESS)
MOST_OPTIONS = 16
"""Objects that one pointer may lead to."""
MOST_WORLDS = 32
"""Ways in which the unknowns of a pointer may turn out that are told apart."""

Share = tuple[Object, Int, Mask]


# ---------------------------------------------------------------------- making them


def options_of(p: Pointer) -> tuple[Option, ...]:
    """Where a pointer leads, with offsets from the start of each object."""
    if not p.object.options:
        return (Option(Int(1, BOOL), p.object, p.offset),)
    return tuple(Option(o.when, o.object, add(o.offset, p.offset, LONG)) for o in p.object.options)


def either(m: Machine, c: Int, new: Pointer, old: Pointer) -> Value:
    """`c ? new : old` for a 0/1 value c and pointers to different objects."""
    if not _are_followed(new, old):
        return new
    left = subtract(Int(1, BOOL), c, BOOL)
    found: dict[Object | str, Option] = {}
    ours, theirs = options_of(new), options_of(old)
    if any(too_long(c, o.when, o.when) for o in (*ours, *theirs)):
        return _one_among(m, c, (*ours, *theirs), _like(new, old))
    for options, chosen in ((ours, c), (theirs, left)):
        for o in options:
            when = multiply(chosen, o.when, BOOL)
            if when.known and not np.any(when.const):
                continue
            key = _NULL if o.object.id == _NULL else o.object
            before = found.get(key)
            if before is not None:
                offset = _select(m, before.when, before.offset, o.offset)
                found[key] = Option(add(before.when, when, BOOL), before.object, offset)
            else:
                found[key] = Option(when, o.object, o.offset)
    return _leading_to(m, tuple(found.values()), _like(new, old))


def _like(new: Pointer, old: Pointer) -> Pointer:
    """The one of two pointers whose type is that of what both may lead to."""
    return old if new.object.id == _NULL else new


def _one_among(m: Machine, c: Int, options: Sequence[Option], like: Pointer) -> Value:
    """One of several objects, where what decides which grew too long: it is forgotten."""
    places: dict[Object, Int] = {}
    for o in options:
        at = places.get(o.object)
        known = at is None or same(at, o.offset)
        places[o.object] = o.offset if at is None or known else one_of_two(c, at, o.offset, m.unknowns)
    deciding = [c, *(o.when for o in options)]
    reason = next((s.reason for v in deciding for s in v.symbols() if s.reason), None)
    uniform = all(v.uniform for v in deciding)
    whens = m.unknowns.selector(len(places), f"which of {len(places)}", varying=not uniform, reason=reason)
    last = Int(1, BOOL)
    for when in whens:
        last = subtract(last, when, BOOL)
    pairs = zip([*whens, last], places.items(), strict=True)
    return _leading_to(m, tuple(Option(when, o, at) for when, (o, at) in pairs), like)


def _are_followed(*pointers: Pointer) -> bool:
    return any(o.storage != "global" or o.id == _NULL for p in pointers for o in led_to(p.object))


def _select(m: Machine, c: Int, a: Int, b: Int) -> Int:
    if same(a, b):
        return a
    return one_of_two(c, a, b, m.unknowns) if too_long(c, a, b) else select(c, a, b)


def _leading_to(m: Machine, options: tuple[Option, ...], like: Pointer, generic: bool = False) -> Value:
    if len(options) == 1:
        return Pointer(options[0].object, options[0].offset, like.pointee, like.integer)
    if len(options) > MOST_OPTIONS:
        return lost_among([o.object for o in options], "leads to too many places")
    base = options[0].offset
    placed = [Option(o.when, o.object, subtract(o.offset, base, LONG)) for o in options]
    generic = generic or any(o.object.generic for o in options)
    key = (generic, *((id(o.object), _key(o.when), _key(o.offset)) for o in placed))
    made = m.memory.choices.get(key)
    if made is None:
        names = " or ".join(dict.fromkeys(o.object.name for o in placed))
        storages = {o.object.storage for o in placed}
        storage = "shared" if "shared" in storages else "several" if "local" in storages else "global"
        made = Object(names, names, OpaqueType("?"), storage, options=tuple(placed), generic=generic)
        made.volatile = any(o.object.volatile for o in placed)
        m.memory.choices[key] = made
    return Pointer(made, base, like.pointee, like.integer)


def _key(v: Int) -> tuple[object, ...]:
    terms = sorted((tuple(s.order for s in mono), _bytes(c)) for mono, c in v.terms.items())
    return (_bytes(v.const), *terms)


def _bytes(c: Lanes) -> object:
    return str(c) if isinstance(c, int) else str(c.tobytes())


def loaded_from_a_table(m: Machine, p: Value) -> Value:
    """The same pointer, as one of which the compiler no longer knows where it leads."""
    if not isinstance(p, Pointer) or not p.object.options or p.object.generic:
        return p
    return _leading_to(m, options_of(p), p, generic=True)


def one_of(
    m: Machine, pointers: Sequence[Pointer], name: str, *, varying: bool = False, at: Pointer | None = None
) -> Value:
    """One of several pointers, which one is not known; varying: lanes may differ in that; at: where all
    threads read it, which gives the same one until something is written there."""
    result: Value = pointers[0]
    for n, p in enumerate(pointers[1:]):
        if isinstance(result, Pointer):
            key = None if at is None else ("which", n, at.object, at.offset.key())
            unknown = None if key is None else m.unknowns.memo.get(key)
            if unknown is None:
                unknown = m.unknowns.fresh(f"which {name}", low=0, high=1, varying=varying)
                if at is not None and key is not None:
                    m.unknowns.memo[key] = unknown
                    m.unknowns.loaded.setdefault(at.object, []).append((key, at.offset, SIZE))
            which = Int(0, BOOL, {(unknown,): 1})
            result = one_or_other(m, which, p, result)
    return result


def one_or_other(m: Machine, c: Int, new: Pointer, old: Pointer) -> Value:
    """`c ? new : old` for pointers of any kind."""
    if new.object is old.object:
        return Pointer(new.object, _select(m, c, new.offset, old.offset), new.pointee, new.integer)
    return either(m, c, new, old)


def within(p: Pointer, among: Pointer) -> bool:
    """Whether all places that one pointer leads to are among those of another."""
    known = [(o.object, o.offset) for o in options_of(among)]
    return all(any(o.object is b and same(o.offset, at) for b, at in known) for o in options_of(p))


def narrowed(m: Machine, p: Pointer) -> Pointer:
    """The pointer as the lanes of the mask see it: without objects that only others go to."""
    options = options_of(p)
    left = [o for o in options if lanes_of(o.when, m.may).any()]
    if len(left) != 1:
        return p
    return Pointer(left[0].object, left[0].offset, p.pointee, p.integer)


def not_null(m: Machine, p: Pointer) -> Pointer:
    """The pointer as one that is used: where it is null nobody does."""
    options = [o for o in options_of(p) if o.object.id != _NULL]
    if len(options) != 1 or bool((m.may & ~lanes_of(options[0].when, m.may)).any()):
        return p
    return Pointer(options[0].object, options[0].offset, p.pointee, p.integer)


def same_place(m: Machine, a: Pointer, b: Pointer) -> Int | None:
    """Whether two pointers into different objects are equal, 0 or 1; None where that is not known."""
    equal = Int(0, BOOL)
    for x, y in product(options_of(a), options_of(b)):
        nulls = (x.object.id in NULLS) + (y.object.id in NULLS)
        if x.object is y.object:
            alike = compare("==", x.offset, y.offset, m.unknowns)
        elif not nulls and x.object.storage == y.object.storage == "global":
            return None
        else:
            alike = Int(int(nulls == 2), BOOL)
        equal = add(equal, multiply(multiply(x.when, y.when, BOOL), alike, BOOL), BOOL)
    return one_unknown(equal, m.unknowns)


def lanes_of(when: Int, may: Mask) -> Mask:
    """Lanes of the mask for which a 0/1 value may be 1."""
    possible = np.broadcast_to(np.asarray(when.const) != 0, may.shape)
    for c in when.terms.values():
        possible = possible | (c != 0)
    lanes: Mask = may & possible
    return lanes


def lost_among(objects: Iterable[Object], text: str) -> Other:
    """What is left of a pointer that may lead to some of these and is not followed."""
    shared = [o for given in objects for o in led_to(given) if o.storage == "shared"]
    names = ", ".join(dict.fromkeys(f"`{o.name}`" for o in shared))
    whole = f"a pointer into {names} {text}" if names else f"a pointer {text}"
    reason = Unresolved("untracked-pointer", whole)
    return Other(reason=reason, leads=shared[0] if shared else None)


# ---------------------------------------------------------------------- what an access asks for


@record(frozen=True, eq=False, slots=True)
class Part:
    """Warps whose lanes all go to one object, and where in it."""

    object: Object
    offset: Int
    lanes: Mask


@record(frozen=True, eq=False, slots=True)
class Split:
    """How the lanes of a mask are spread: warps of one object each, and (`mixed`) those of several, with the
    ways in which they may be. among: what divides the distances between the objects."""

    parts: tuple[Part, ...]
    mixed: Mask | None
    worlds: tuple[World, ...]
    among: int


def split(m: Machine, choice: Object, may: Mask) -> Split:
    """Which lanes of the mask go where, through a pointer to several objects."""
    key = (id(choice), may.tobytes())
    found = m.memory.splits.get(key)
    if not isinstance(found, Split):
        found = m.memory.splits[key] = _split(m, choice, may)
    return found


def _split(m: Machine, choice: Object, may: Mask) -> Split:
    for o in led_to(choice):
        o.escapes = True
    worlds = list(_worlds(choice, may))
    among = _distances(m, [(o.object, o.offset) for o in choice.options if o.object.storage == "shared"])
    if not worlds or not worlds[0].sure:
        return Split((), may if worlds else None, tuple(worlds), among)
    plain: dict[tuple[int, int], list[int]] = {}
    mixed: list[int] = []
    rows = [_rows(w, len(may)) for w in worlds]
    for warp in np.flatnonzero(may.reshape(-1, 32).any(axis=1)).tolist():
        seen = [(w, owners[warp]) for w, owners in enumerate(rows) if (owners[warp] >= 0).any()]
        if not seen:
            continue
        if _together(worlds, seen, slice(32 * warp, 32 * warp + 32)):
            first, owners = seen[0]
            plain.setdefault((first, int(owners.max())), []).append(warp)
        else:
            mixed.append(warp)
    parts = []
    for (w, share), warps in plain.items():
        object, offset, lanes = worlds[w].shares[share]
        if len(worlds) > 1:
            symbol = m.unknowns.fresh(f"way to {choice.name}", multiple=max(among, 1))
            offset = add(offset, Int(0, LONG, {(symbol,): 1}), LONG)
        parts.append(Part(object, offset, lanes & _of_warps(warps, len(may))))
    if not mixed:
        return Split(tuple(parts), None, (), among)
    chosen = _of_warps(mixed, len(may))
    left = tuple(World(tuple((o, at, lanes & chosen) for o, at, lanes in w.shares)) for w in worlds)
    return Split(tuple(parts), may & chosen, left, among)


def _of_warps(warps: list[int], threads: int) -> Mask:
    lanes = np.zeros(threads, dtype=np.bool_)
    lanes.reshape(-1, 32)[warps] = True
    return lanes


def _worlds(choice: Object, may: Mask) -> Iterator[World]:
    """The ways in which the unknowns that decide may turn out; those where shared memory is left alone are
    left out."""
    symbols = list(dict.fromkeys(s for o in choice.options for s in o.when.symbols()))
    ranges = [range(s.low, s.high + 1) for s in symbols if s.low is not None and s.high is not None]
    bounded = len(ranges) == len(symbols) and prod(len(r) for r in ranges) <= MOST_WORLDS
    if not bounded or any(s.varying for s in symbols):
        shares = tuple((o.object, o.offset, lanes_of(o.when, may)) for o in choice.options)
        yield World(tuple(s for s in shares if s[0].storage == "shared" and s[2].any()), sure=False)
        return
    for values in product(*ranges):
        given = dict(zip(symbols, values, strict=True))
        found: list[Share] = []
        for o in choice.options:
            lanes = may & np.broadcast_to(np.asarray(_substituted(o.when, given).const) != 0, may.shape)
            if o.object.storage == "shared" and lanes.any():
                found.append((o.object, _substituted(o.offset, given), lanes))
        if found:
            yield World(tuple(found))


def _substituted(v: Int, given: Mapping[Symbol, int]) -> Int:
    """The number with some of its unknowns known."""
    const: Lanes = v.const
    terms: dict[Monomial, Lanes] = {}
    for mono, c in v.terms.items():
        rest = tuple(s for s in mono if s not in given)
        c = c * prod(given[s] for s in mono if s in given)
        if not rest:
            const = const + c
        elif np.any(terms[rest] + c if rest in terms else c):
            terms[rest] = terms[rest] + c if rest in terms else c
    return Int(const, v.type, terms)


def _rows(world: World, threads: int) -> NDArray[np.int64]:
    """By warp and lane: the number of the share that it belongs to, -1: none."""
    owners = np.full(threads, -1, dtype=np.int64)
    for i, (_, _, lanes) in enumerate(world.shares):
        owners[lanes] = i
    return owners.reshape(-1, 32)


def _together(worlds: Sequence[World], seen: Sequence[tuple[int, NDArray[np.int64]]], warp: slice) -> bool:
    """Whether the lanes of a warp go to one object together whichever way it is, to places that differ by
    one number."""
    active = seen[0][1] >= 0
    first = worlds[seen[0][0]].shares[int(seen[0][1].max())]
    for w, owners in seen:
        share = int(owners.max())
        if not np.array_equal(owners >= 0, active) or bool((owners[active] != share).any()):
            return False
        apart = subtract(worlds[w].shares[share][1], first[1], LONG)
        if any(not isinstance(c, int) or any(s.varying for s in k) for k, c in apart.terms.items()):
            return False
        if not isinstance(apart.const, int) and len(np.unique(apart.const[warp][active])) > 1:
            return False
    return True


def _distances(m: Machine, places: Sequence[tuple[Object, Int]]) -> int:
    """What divides the distances between places in several objects."""
    if len(places) < 2:
        return 0
    starts = starts_so_far(m)
    first, base = places[0]
    g = 0
    for o, offset in places[1:]:
        apart = subtract(offset, base, LONG)
        if id(o) in starts and id(first) in starts:
            g = gcd(g, starts[id(o)] - starts[id(first)])
        else:
            g = gcd(g, declared_alignment(m, o), declared_alignment(m, first))
        g = gcd(g, gcd_of(apart.const), *(gcd_of(c) * multiple_of(k) for k, c in apart.terms.items()))
    return g or 128
