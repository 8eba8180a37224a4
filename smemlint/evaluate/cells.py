"""What variables hold: reading and writing the cells of local objects, lane by lane."""

from __future__ import annotations

from math import gcd

import numpy as np

from smemlint.evaluate.clamps import limited
from smemlint.evaluate.comparison import one_of_two, select, too_long
from smemlint.evaluate.machine import Machine
from smemlint.evaluate.memory import Object
from smemlint.evaluate.model import Unresolved
from smemlint.evaluate.values import (
    Closure,
    FunctionValue,
    Int,
    Method,
    Other,
    Pointer,
    RecordValue,
    Value,
    collapse,
    same,
)
from smemlint.ir import Place, RecordRef, Scalar, Type
from smemlint.ir.types import INT


def read_cells(m: Machine, p: Pointer, t: Type, place: Place | None) -> Value:
    """The value of type t at an address in a local object."""
    o = p.object
    at = known_offset(m, p)
    if at is None:
        return _gather(m, p, t, place)
    if isinstance(t, RecordRef):
        size = m.types.size_of(t)
        if size is None:
            whole = o.cells.get(at)
            return whole if whole is not None else RecordValue(t, {})
        if at in o.cells and not isinstance(o.cells[at], Int | Pointer | Other):
            return o.cells[at]
        return RecordValue(t, {k - at: v for k, v in o.cells.items() if at <= k < at + size})
    v = o.cells.get(at)
    if v is None:
        if o.havoc or o.var is None or o.var.storage != "local":
            return _untracked(m, p, t, place)
        return m.unknown(
            t,
            o.name,
            uniform=False,
            reason=Unresolved("uninitialised", f"`{o.name}` is read before it is set", place),
        )
    if isinstance(v, Int) and isinstance(t, Scalar):
        if t.kind == "float":
            return Other(t, v.uniform)
        if t.size != v.type.size:
            return m.unknown(
                t,
                o.name,
                uniform=v.uniform,
                reason=Unresolved("untracked-local", f"`{o.name}` is read in parts", place),
            )
        if m.may is not m.present:
            v = _here(m, v)
        return v.typed(t) if t.kind != "bool" else v
    if isinstance(v, Other) and isinstance(t, Scalar) and t.kind not in ("float", "void"):
        return m.unknown(t, o.name, uniform=v.uniform, reason=v.reason)
    if isinstance(v, Pointer) and m.may is not m.present:
        return Pointer(v.object, _here(m, v.offset), v.pointee, v.integer)
    return v


def _here(m: Machine, v: Int) -> Int:
    """A number as the lanes of the mask see it: what others hold is nothing to them."""
    if isinstance(v.const, int) and not v.terms:
        return v
    seen = getattr(v, "seen", None)
    if seen is not None and seen[0] is m.may:
        return seen[1] or v
    here = _restricted(m, v)
    here.seen = (m.may, None)
    if here is not v:
        v.seen = (m.may, here)
    return here


def _restricted(m: Machine, v: Int) -> Int:
    one = collapse(v.const, m.may)
    const = one if isinstance(one, int) else v.const
    if const is v.const and not v.terms:
        return v
    terms = {k: c for k, c in v.terms.items() if isinstance(c, int) or bool(c[m.may].any())}
    return Int(const, v.type, terms)


def _untracked(m: Machine, p: Pointer, t: Type, place: Place | None) -> Value:
    """A part of an object that was set elsewhere; the same part always gives the same unknown."""
    o = p.object
    reason = Unresolved("untracked-local", f"`{o.name}` has a value that is not followed", place)
    v = m.unknown(t, o.name, uniform=o.uniform, reason=reason, rank=3 if o.uniform else 0, size=o.uniform)
    at = known_offset(m, p)
    if at is not None and o.uniform and isinstance(v, Int | Pointer):
        o.cells[at] = v
    return v


def _gather(m: Machine, p: Pointer, t: Type, place: Place | None) -> Value:
    """Each lane reads its own element of a local array."""
    o = p.object
    offsets = p.offset.const
    if p.offset.known and not isinstance(offsets, int):
        result: Value | None = None
        for at in np.unique(offsets[m.may]).tolist():
            v = o.cells.get(at)
            if result is None and isinstance(v, Int | Pointer):
                result = v
                continue
            here = Int((offsets == at).astype(np.int64))
            if isinstance(v, Int) and isinstance(result, Int):
                result = select(here, v, result)
            elif isinstance(v, Pointer) and isinstance(result, Pointer) and v.object is result.object:
                result = merge(m, here, v, result)
            else:
                result = None
                break
        if result is not None:
            return result
    bounds = [v for v in o.cells.values() if isinstance(v, Int)]
    uniform = p.offset.uniform and all(v.uniform for v in bounds)
    if uniform and bounds and len(bounds) == len(o.cells) and not o.havoc and isinstance(t, Scalar):
        return _one_of(m, bounds, t, o.name)
    if p.offset.uniform and o.cells and all(isinstance(v, Pointer) for v in o.cells.values()):
        return _one_pointer(m, list(o.cells.values()), o.name)
    return m.unknown(
        t,
        f"{o.name}[...]",
        uniform=uniform,
        reason=Unresolved("local-array", f"`{o.name}` is read at an index that is not known", place),
    )


def _one_of(m: Machine, options: list[Int], t: Scalar, name: str) -> Value:
    """One of a few uniform numbers, which one is not known."""
    first = options[0]
    if all(v.known and isinstance(v.const, int) for v in options):
        numbers = [v.const for v in options if isinstance(v.const, int)]
        step = 0
        for n in numbers:
            step = gcd(step, n - numbers[0])
        if step == 0:
            return first
        low, high = min(numbers), max(numbers)
        s = m.unknowns.fresh(f"{name}[...]", low=0, high=(high - low) // step)
        return Int(low, t, {(s,): step})
    return m.unknown(t, f"{name}[...]", uniform=True)


def _one_pointer(m: Machine, options: list[Value], name: str) -> Value:
    """One of a few pointers; into one object they differ by a uniform unknown."""
    result = options[0]
    for v in options[1:]:
        result = merge(m, Int(0, INT, {(m.unknowns.fresh(f"which {name}", low=0, high=1),): 1}), v, result)
    return result


def write_cell(m: Machine, o: Object, at: int, v: Value, t: Type) -> None:
    """Set a cell of a local object for the lanes of the mask."""
    if isinstance(v, RecordValue):
        size = m.types.size_of(v.type)
        if size is not None and size <= 4096:
            for k in [k for k in o.cells if at <= k < at + size and k - at not in v.cells]:
                del o.cells[k]
                o.havoc = True
            if not v.cells:
                o.havoc = True
            for k, leaf in v.cells.items():
                _set(m, o, at + k, leaf)
            return
    _set(m, o, at, v)


def _set(m: Machine, o: Object, at: int, v: Value) -> None:
    old = o.cells.get(at)
    if old is None or m.may is m.present or same(old, v):
        o.cells[at] = v
        return
    o.cells[at] = masked(m, v, old)


def masked(m: Machine, new: Value, old: Value) -> Value:
    """`new` in the lanes of the mask, `old` elsewhere."""
    if m.may.sum() == m.present.sum():
        return new
    m.stale = True
    return merge(m, Int(m.may.astype(np.int64)), new, old)


def merge(m: Machine, c: Int, new: Value, old: Value) -> Value:
    """c ? new : old for a 0/1 value c of any kind."""
    if same(new, old):
        return new
    if m.host and not c.known and isinstance(new, Int) and isinstance(old, Int):
        between = limited(c, new, old, m.unknowns)
        if between is not None:
            return between
    if m.defaults and not c.known and known_number(new) != known_number(old):
        # `int n = 1024; if (argc > 1) n = atoi(argv[1]);`: what the program does when told nothing
        return new if known_number(new) else old
    if isinstance(new, Int) and isinstance(old, Int):
        if too_long(c, new, old):
            return one_of_two(c, new, old, m.unknowns)
        return select(c, new, old)
    if isinstance(new, Pointer) and isinstance(old, Pointer):
        if new.object is old.object:
            offset = merge(m, c, new.offset, old.offset)
            assert isinstance(offset, Int)
            return Pointer(new.object, offset, new.pointee, new.integer)
        if new.object.id == "null" and m.host:
            return old
        if new.object.storage == "shared" == old.object.storage and not same(new.offset, old.offset):
            text = f"leads to `{new.object.name}` or to `{old.object.name}`, as an unknown condition decides"
            return Other(reason=Unresolved("untracked-pointer", text))
        return new if new.object.storage == "shared" or old.object.storage != "shared" else old
    if isinstance(new, RecordValue) and isinstance(old, RecordValue):
        keys = new.cells.keys() & old.cells.keys()
        return RecordValue(new.type, {k: merge(m, c, new.cells[k], old.cells[k]) for k in keys})
    if isinstance(new, FunctionValue | Closure | Method):
        return new
    uniform = isinstance(new, Other) and isinstance(old, Other) and new.uniform and old.uniform and c.uniform
    return Other(getattr(new, "type", None), uniform)


def scatter(m: Machine, p: Pointer, v: Value) -> None:
    """Each lane writes its own element of a local array."""
    o = p.object
    offsets = p.offset.const
    if p.offset.known and not isinstance(offsets, int):
        keep = m.may
        for at in np.unique(offsets[keep]).tolist():
            m.may = keep & (offsets == at)
            _set(m, o, at, v)
        m.may = keep
        return
    uniform = p.offset.uniform and (isinstance(v, Other) or (isinstance(v, Int) and v.uniform))
    for at in list(o.cells):
        old = o.cells[at]
        if isinstance(old, Int) and isinstance(v, Int) and uniform and old.uniform:
            o.cells[at] = _one_of(m, [old, v], old.type, o.name)
        elif not isinstance(old, Other):
            o.cells[at] = Other(None, False)
    o.uniform = uniform
    o.havoc = True


def known_offset(m: Machine, p: Pointer) -> int | None:
    """The byte offset of a pointer, where it is one number for all lanes of the mask."""
    if p.offset.terms:
        return None
    c = p.offset.const
    if not isinstance(c, int):
        c = collapse(c, m.may)
    return c if isinstance(c, int) else None


def known_number(v: Value) -> bool:
    return isinstance(v, Int) and v.known and isinstance(v.const, int)
