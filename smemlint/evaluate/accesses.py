"""Loads and stores: locals are read and written, and an access to a shared object is logged."""

from __future__ import annotations

from smemlint.evaluate.cells import known_offset, read_cells, scatter, write_cell
from smemlint.evaluate.copies import Copied
from smemlint.evaluate.layout import is_vector
from smemlint.evaluate.lines import line_of, opens_call
from smemlint.evaluate.machine import BudgetExceededError, Event, Machine, Mask, SiteLog
from smemlint.evaluate.memory import Object
from smemlint.evaluate.model import Unresolved
from smemlint.evaluate.values import Int, Pointer, Value, plus
from smemlint.ir import ArrayOf, Expr, Place, PointerTo, Scalar, Type


def load(m: Machine, p: Pointer, place: Place | None, node: Expr | None = None) -> Value:
    """The value at an address; an access if it lies in shared memory. node: what decides its line."""
    t = p.pointee
    o = p.object
    if isinstance(t, ArrayOf):
        return Pointer(o, p.offset, t.element)
    if o.storage == "local":
        return read_cells(m, p, t, place)
    m.touched += 1
    if o.storage == "shared":
        _access_value(m, "load", p, t, place, node)
    return _loaded(m, p, t, place)


def _loaded(m: Machine, p: Pointer, t: Type, place: Place | None) -> Value:
    uniform = p.offset.uniform and not m.host
    key = ("load", p.object, p.offset.key(), t) if uniform or m.host else None
    if key is not None and isinstance(t, Scalar) and t.kind not in ("float", "void"):
        symbol = m.unknowns.memo.get(key)
        if symbol is not None:
            return Int(0, t, {(symbol,): 1})
    reason = None
    if not uniform:
        reason = Unresolved("data-dependent", f"depends on values loaded from `{p.object.name}`", place)
    v = m.unknown(t, f"{p.object.name}[...]", uniform=uniform, reason=reason, rank=3 if uniform else 0)
    if key is not None and isinstance(v, Int) and len(v.terms) == 1:
        m.unknowns.memo[key] = next(iter(v.terms))[0]
    return v


def store(m: Machine, p: Pointer, v: Value, place: Place | None, node: Expr | None = None) -> None:
    """Set the value at an address; an access if it lies in shared memory."""
    t, o = p.pointee, p.object
    if o.storage != "local":
        m.touched += 1
    if o.storage == "shared":
        _access_value(m, "store", p, t, place, node)
        if isinstance(v, Pointer) and v.object.storage == "shared":
            v.object.escapes = True
        return
    if o.storage != "local":
        if isinstance(v, Pointer) and v.object.storage == "shared":
            v.object.escapes = True
        return
    at = known_offset(m, p)
    if at is None:
        scatter(m, p, v)
    else:
        write_cell(m, o, at, v, t)


def _access_value(m: Machine, op: str, p: Pointer, t: Type, place: Place | None, node: Expr | None) -> None:
    """An access of a whole value: split the way the compiler moves it."""
    m.reached = True
    if m.silent:
        return
    size = m.types.size_of(t)
    if size is None:
        record_access(
            m,
            op,
            0,
            p,
            place,
            reason=Unresolved("unknown-size", "the accessed type has an unknown size", place),
        )
        return
    if isinstance(t, Scalar | PointerTo) or (is_vector(t) and m.types.align_of(t) == size and size <= 16):
        record_access(m, op, size, p, place, node=node)
        return
    if place is None or not m.may.any():
        return
    width = min(m.types.align_of(t) or 1, 16)
    at = 0
    log: SiteLog | None = None
    while at < size:
        while width > size - at:
            width //= 2
        if log is None or log.width != width:
            log = _site(m, op, width, p.object, place, 1, node)
        _record(m, log, p.object, plus(p.offset, at), m.must, m.may, None)
        at += width


def record_access(
    m: Machine,
    op: str,
    width: int,
    p: Pointer,
    place: Place | None,
    *,
    matrices: int = 1,
    reason: Unresolved | None = None,
    mask: Mask | None = None,
    node: Expr | None = None,
    copied: Copied | None = None,
) -> None:
    """Log one access by the lanes of the mask. node: the expression whose end decides its line;
    copied: where a cp.async past L1 reads."""
    if place is None or p.object.storage != "shared":
        return
    m.reached = True
    if m.silent:
        return
    may = m.may if mask is None else m.may & mask
    if not may.any():
        return
    log = _site(m, op, width, p.object, place, matrices, node)
    if reason is not None:
        log.reason = log.reason or reason
    _record(m, log, p.object, p.offset, m.must if mask is None else m.must & mask, may, copied)


def _site(
    m: Machine, op: str, width: int, o: Object, place: Place, matrices: int, node: Expr | None
) -> SiteLog:
    """The log of all accesses written at a place, begun with its first."""
    key = (
        place.path,
        place.line,
        place.column,
        place.offset,
        place.end_offset,
        op,
        width,
        matrices,
        o.id,
    )
    log = m.sites.get(key)
    if log is None:
        called = m.frame.call
        if called is not None and o.volatile and opens_call(m.frame.function, place):
            line = called.compiled_line
        else:
            line = line_of(node, place)
        log = m.sites[key] = SiteLog(place, line, op, width, matrices, o)
        log.node, log.function = node, m.frame.function
    if log.frame is not m.frame:
        log.frame = m.frame
        log.via.update({id(f.call): f.call for f in m.frames if f.call is not None})
    return log


def _record(
    m: Machine, log: SiteLog, o: Object, offset: Int, must: Mask, may: Mask, copied: Copied | None
) -> None:
    m.addresses += m.size
    if m.addresses > m.budget.addresses:
        raise BudgetExceededError(f"stopped after {m.budget.addresses} recorded addresses")
    event = Event(log, offset, must, may, m.weight, m.region, m.order, m.flow, o.volatile, copied, m.turn)
    event.stale = m.stale
    log.events.append(event)
    m.log.append(event)
    m.order += 1
