"""Loads and stores: locals are read and written, and an access to a shared object is logged."""

from __future__ import annotations

import numpy as np

from smemlint.banks import CAS_LOOP_LOAD, WORD
from smemlint.evaluate.analysis.hoisted_lines import hoisted_lines
from smemlint.evaluate.analysis.line_attribution import line_of, opens_call
from smemlint.evaluate.analysis.parts_read.computed_halves import is_computed
from smemlint.evaluate.analysis.parts_read.elements import changing
from smemlint.evaluate.analysis.parts_read.widened_loads import is_float_of, is_widened
from smemlint.evaluate.language.records.padded import (
    moved,
    note_choice,
    stored_whole,
)
from smemlint.evaluate.language.records.stored_back import changed, remember, unchanged
from smemlint.evaluate.language.records.used_parts import used_of
from smemlint.evaluate.machine.cp_async import Copied
from smemlint.evaluate.machine.machine import (
    Barrier,
    BudgetExceededError,
    Event,
    Machine,
    Mask,
    SiteLog,
    World,
)
from smemlint.evaluate.machine.state import Several
from smemlint.evaluate.memory.kept_pointers import is_reloaded, keep, kept_at
from smemlint.evaluate.memory.local_memory import known_offset, read_cells, scatter, write_cell
from smemlint.evaluate.memory.merging import merge
from smemlint.evaluate.memory.parts import moves, read_part, truncated, write_part
from smemlint.evaluate.memory.several import (
    lanes_of,
    loaded_from_a_table,
    not_null,
    one_of,
    options_of,
    split,
)
from smemlint.evaluate.model import Unresolved
from smemlint.evaluate.types.record_parts import NUMBER, Moved, may_skip_padding, whole
from smemlint.evaluate.values.affine import atom
from smemlint.evaluate.values.lanes import some
from smemlint.evaluate.values.number import Int, add, formed, one_for_each_warp, plus
from smemlint.evaluate.values.value import Object, Other, Pointer, RecordValue, Value, led_to
from smemlint.ir import (
    ArrayOf,
    Call,
    Expr,
    Index,
    Name,
    Part,
    Place,
    PointerTo,
    RecordRef,
    Scalar,
    Type,
)
from smemlint.ir.expr import uncast
from smemlint.ir.types import BFLOAT16, HALF, LONG, SHORT, USHORT
from smemlint.ir.uses import array_of
from smemlint.ir.vectors import is_vector

MOST_MEMBERS = 8
"""Members of a record that are told apart where it is read as a whole."""


def load(m: Machine, p: Pointer, place: Place | None, node: Expr | None = None) -> Value:
    """The value at an address; an access if it lies in shared memory. node: what decides its line."""
    t = p.pointee
    o = p.object
    if o.storage == "local" and type(t) is Scalar:
        return read_cells(m, p, t, place)
    if o.options:
        p = not_null(m, p)
        o = p.object
    if isinstance(t, ArrayOf):
        return Pointer(o, p.offset, t.element)
    if isinstance(t, Part) and o.storage == "several":
        p = Pointer(o, p.offset, t.of)
        t = t.of
    if isinstance(t, Part) and not (t.bits and o.storage == "local"):
        if o.storage == "shared":
            _access_part(m, p, t, place, node, store=False)
        whole = _loaded(m, p, t.of, place) if o.storage != "local" else read_cells(m, p, t.of, place)
        return truncated(m, whole, t)
    if isinstance(t, Part):
        return read_part(m, p, t)
    if o.storage == "local":
        f = m.frame.runs if isinstance(t, RecordRef) else None
        if f is not None:
            note_choice(m, f, t, node)
        return read_cells(m, p, t, place)
    if o.storage == "several":
        return _load_several(m, p, t, place)
    m.code_size.touched += 1
    if o.storage != "shared":
        return _loaded(m, p, t, place)
    logged = len(m.log)
    if node is not None and (
        _is_widened(m, node, t) if t in (SHORT, USHORT, BFLOAT16) else _is_split_pair(m, node, t)
    ):
        record_access(m, "load", 2, p, place, node=node, computed=True)
    else:
        _access_value(m, "load", p, t, place, node)
    v = _loaded(m, p, t, place)
    return remember(m, p, v, node, m.log[logged:]) if len(m.log) > logged else v


def _load_several(m: Machine, p: Pointer, t: Type, place: Place | None) -> Value:
    """What is read from the one of several local objects that each lane goes to."""
    result: Value | None = None
    keep = m.may
    for o in options_of(p):
        m.may = lanes_of(o.when, keep)
        if some(m.may):
            here = load(m, Pointer(o.object, o.offset, t), place)
            result = here if result is None else merge(m, o.when, here, result)
    m.may = keep
    return m.unknown(t, p.object.name, uniform=False) if result is None else result


def _loaded(m: Machine, p: Pointer, t: Type, place: Place | None) -> Value:
    if isinstance(t, PointerTo) and p.object in m.memory.kept:
        kept = [Pointer(v.object, v.offset, t.to) for v in kept_at(m, p)]
        if kept:
            alike = p.offset.uniform and p.object.storage == "shared" and not p.object.options
            which = one_of(m, kept, p.object.name, varying=not p.offset.uniform, at=p if alike else None)
            return loaded_from_a_table(
                m, _aligned_as_told(m, which, p) if len(kept) > 1 or is_reloaded(m, p) else which
            )
    if isinstance(t, RecordRef) and not m.host and p.object.storage != "shared":
        return RecordValue(t, _members_loaded(m, p, t, place))
    uniform = p.offset.uniform and not m.host and all(o.when.uniform for o in p.object.options)
    key = ("load", p.object, p.offset.key(), t) if uniform or m.host else None
    number = t if isinstance(t, Scalar) and t.kind not in ("float", "void") else None
    if key is not None and number is not None:
        symbol = m.unknowns.memo.get(key)
        if symbol is not None:
            return Int(0, number, {(symbol,): 1})
    reason = None
    if not uniform:
        reason = Unresolved("data-dependent", f"depends on values loaded from `{p.object.name}`", place)
    rank = 3 if uniform and p.object.storage != "shared" else 0  # what a block writes itself is no size
    shared = number is not None and not uniform and not p.object.options and one_for_each_warp(p.offset)
    v = m.unknown(t, f"{p.object.name}[...]", uniform=uniform, reason=reason, rank=rank, shared=shared)
    if key is not None and isinstance(v, Int) and len(v.terms) == 1:
        m.unknowns.memo[key] = next(iter(v.terms))[0]
        if p.object.storage == "shared":
            m.unknowns.loaded.setdefault(p.object, []).append((key, p.offset, m.types.size_of(t) or 0))
    if m.host and key is not None and isinstance(v, Pointer):
        m.unknowns.memo["null", v.object] = m.unknowns.may_be_null(v.object.name, *key)
    return v


def _aligned_as_told(m: Machine, v: Value, at: Pointer) -> Value:
    """A pointer of which the compiler knows its type, and that it is the same as long as nothing is written
    outside of shared memory."""
    if not isinstance(v, Pointer) or m.host:
        return v
    aligned = m.types.align_of(v.pointee) or 1
    origin = (at.object.id, at.offset.key(), m.memory.written)
    offset = formed(v.offset, atom("pointer", *origin, divides=aligned))
    return Pointer(v.object, offset, v.pointee, v.integer)


_READS = frozenset({"load", "ldmatrix", CAS_LOOP_LOAD})


def _invalidate(m: Machine, p: Pointer, width: int) -> None:
    """Something is written: what is loaded there from now on may be another number."""
    for o in (p.object, *(each.object for each in p.object.options)):
        known = m.unknowns.loaded.get(o)
        if known:
            kept = m.unknowns.loaded[o] = []
            for each in known:
                if _clear_of(p.offset, width, *each[1:]):
                    kept.append(each)
                else:
                    m.unknowns.memo.pop(each[0], None)


def _clear_of(written: Int, width: int, read: Int, size: int) -> bool:
    """Whether addresses are numbers that do not meet."""
    if written.terms or read.terms:
        return False
    far = np.asarray(written.const) - np.asarray(read.const)
    return bool(((far >= size) | (far <= -width)).all())


def _members_loaded(m: Machine, p: Pointer, t: RecordRef, place: Place | None) -> dict[int, Value]:
    """What the members of a small record are that is read as a whole (`int4`); nothing where one is no
    number, or there is none, or a gap between them."""
    layout = m.types.layout(t)
    fields = list(layout.fields.values()) if layout is not None else []
    scalars = [(at, of) for at, of in fields[:MOST_MEMBERS] if isinstance(of, Scalar)]
    whole = len(scalars) == len(fields) and sum(of.size for _, of in scalars) == m.types.size_of(t)
    if not whole or all(of.kind == "float" for _, of in scalars):
        return {}
    return {at: _loaded(m, Pointer(p.object, plus(p.offset, at), of), of, place) for at, of in scalars}


def store(
    m: Machine,
    p: Pointer,
    v: Value,
    place: Place | None,
    node: Expr | None = None,
    value: Expr | None = None,
) -> None:
    """Set the value at an address; an access if it lies in shared memory. value: what v was written as."""
    if p.object.options:
        p = not_null(m, p)
    t, o = p.pointee, p.object
    if o.storage != "local":
        m.code_size.touched += 1
        m.memory.written += o.storage != "shared"
    if o.storage == "shared":
        if isinstance(t, Part):
            _access_part(m, p, t, place, node, store=True)
            return
        if node is not None and not o.volatile and _holds_what_it_began_as(m, value) and unchanged(m, p, v):
            if isinstance(t, Scalar):
                mention(m, "store", o, t, node)
            return
        parts = changed(m, p, v, value)
        members = moved(m, t, parts) if parts else stored_whole(m, p, v, value, node)
        if members is None and (t in (HALF, BFLOAT16) or (t in (SHORT, USHORT) and _is_converted(value))):
            computed = _is_converted(value) or _is_computed(m, value)
            record_access(m, "store", 2, p, place, node=node, computed=computed)
        elif members is None:
            _access_value(m, "store", p, t, place, node)
            if isinstance(v, Int) or (isinstance(v, Other) and isinstance(v.type, Scalar)):
                m.types.calculated(t)
        for part in members or ():
            target = Pointer(o, plus(p.offset, part.at), t)
            record_access(m, "store", part.width, target, place, node=node, moved=part)
    if o.options:
        _store_several(m, p, v)
    if o.storage != "local":
        escape(v)
        for start, held in v.cells.items() if isinstance(v, RecordValue) else ((0, v),):
            if isinstance(held, Pointer) and held.object.storage == "shared":
                keep(m, Pointer(o, plus(p.offset, start), held.pointee), held)
        return
    if isinstance(t, Part) and t.bits:
        write_part(m, p, v, t)
        return
    at = known_offset(m, p)
    if at is None:
        scatter(m, p, v)
    else:
        write_cell(m, o, at, v, t)


def _holds_what_it_began_as(m: Machine, value: Expr | None) -> bool:
    """Whether an expression is a variable, or an element of an array, that no condition may have changed."""
    name = None if value is None else array_of(uncast(value))
    f = m.frame.runs
    return f is not None and isinstance(name, Name) and name.id not in changing(f)


def _is_converted(e: Expr | None) -> bool:
    """Whether an integer of 16 bits is made of a half or bfloat16, which inline PTX does."""
    call = None if e is None else uncast(e)
    name = call.callee.name if isinstance(call, Call) and isinstance(call.callee, Name) else ""
    return name.startswith(("__half2", "__bfloat162"))


def _is_computed(m: Machine, value: Expr | None) -> bool:
    f = m.frame.runs
    return value is not None and f is not None and is_computed(f, value)


def _is_widened(m: Machine, node: Expr, t: Type) -> bool:
    f = m.frame.runs
    return f is not None and (is_float_of(f, node) if t == BFLOAT16 else is_widened(f, node))


def _is_split_pair(m: Machine, node: Expr, t: Type) -> bool:
    """Whether the two bytes of a vector are used by themselves: loaded as 16 bits and widened."""
    f = m.frame.runs if is_vector(t) and m.types.size_of(t) == 2 else None
    return f is not None and id(node) in m.code.members_touched(f)[1]


def _store_several(m: Machine, p: Pointer, v: Value) -> None:
    """Set what each lane goes to, where that is a local object."""
    keep = m.may
    for o in options_of(p):
        if o.object.storage != "local":
            continue
        m.may = lanes_of(o.when, keep)
        if some(m.may):
            target = Pointer(o.object, o.offset, p.pointee)
            new = v if o.when.known else merge(m, o.when, v, read_cells(m, target, p.pointee, None))
            store(m, target, new, None)
    m.may = keep


def escape(v: Value) -> None:
    """An address goes where it is not followed."""
    if isinstance(v, Pointer):
        for o in led_to(v.object):
            o.escapes = o.escapes or o.storage == "shared"
    elif isinstance(v, Other) and v.leads is not None:
        v.leads.escapes = True


def _access_part(
    m: Machine, p: Pointer, t: Part, place: Place | None, node: Expr | None, *, store: bool
) -> None:
    """The accesses of a bit-field, or of a member that is less aligned than its type."""
    m.code_size.touched += 1
    for op, at, width in moves(t, store):
        record_access(m, op, width, Pointer(p.object, plus(p.offset, at), t.of), place, node=node)


def _access_value(m: Machine, op: str, p: Pointer, t: Type, place: Place | None, node: Expr | None) -> None:
    """An access of a whole value: split the way the compiler moves it."""
    m.effort.reached += 1
    if m.silent:
        return
    size = m.types.size_of(t)
    if size is None:
        m.types.miss(t)
        record_access(
            m,
            op,
            0,
            p,
            place,
            reason=Unresolved("unknown-size", "the accessed type has an unknown size", place),
        )
        return
    shrinks = op == "load" and not m.task.as_written and not p.object.volatile
    used = used_of(m, p, t, size, node) if shrinks else None
    if used is not None:
        for part in used:
            source = Pointer(p.object, plus(p.offset, part.at), t)
            record_access(m, op, part.width, source, place, node=node, moved=part)
        return
    if isinstance(t, Scalar | PointerTo) or (is_vector(t) and m.types.align_of(t) == size and size <= 16):
        record_access(m, op, size, p, place, node=node)
        return
    if place is None or not some(m.may):
        return
    if may_skip_padding(m.types, t):
        m.journal.padded.add(id(node))
    for part in whole(m.types, t, size, store=op == "store"):
        target = Pointer(p.object, plus(p.offset, part.at), t)
        record_access(m, op, part.width, target, place, node=node, moved=part)


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
    computed: bool = False,
    moved: Moved | None = None,
    fragment: bool = False,
) -> None:
    """Log one access by the lanes of the mask. node: the expression whose end decides its line;
    copied: where a cp.async past L1 reads; computed: see Event; fragment: see SiteLog;
    moved: the part of a value that it is."""
    if place is None or p.object.storage != "shared":
        return
    m.effort.reached += 1
    if m.unknowns.loaded and op not in _READS:
        _invalidate(m, p, width * matrices)
    if m.silent:
        return
    may = m.may if mask is None else m.may & mask
    if not some(may):
        return
    must = m.must if mask is None else m.must & mask
    if moved is not None and moved.perhaps:
        must = np.zeros_like(must)
    for o, offset, lanes, worlds in _targets(m, p, may):
        log = _site(m, op, width, o, place, matrices, node)
        log.fragment = fragment
        if reason is not None:
            log.reason = log.reason or reason
        event = Event(
            log,
            offset,
            must,
            may,
            m.context.weight,
            m.lines.region,
            m.journal.order,
            o.volatile,
            computed,
            copied,
            m.turns.turn,
        )
        event.times, event.open = m.context.times, m.context.open
        number = moved is None and width == 2 * WORD and isinstance(p.pointee, Scalar | PointerTo)
        event.moved = NUMBER if number else moved
        if p.object.options:
            event.must, event.may = must & lanes, may & lanes
            event.several = Several(p.object, split(m, p.object, may).among, worlds)
            event.volatile = o.volatile or p.object.generic
        _record(m, event)


def mention(m: Machine, op: str, o: Object, t: Scalar, node: Expr) -> None:
    """List an access to an element that runs as part of another one."""
    if isinstance(node, Index) and node.place is not None and not m.silent:
        _site(m, op, t.size, o, node.place, 1, node)


def _targets(m: Machine, p: Pointer, may: Mask) -> list[tuple[Object, Int, Mask, tuple[World, ...]]]:
    """The objects that lanes go to together, the address there, which lanes, and how these are spread where
    they go to several."""
    o = p.object
    if not o.options:
        return [(o, p.offset, may, ())]
    spread = split(m, o, may)
    found: list[tuple[Object, Int, Mask, tuple[World, ...]]] = [
        (part.object, add(part.offset, p.offset, LONG), part.lanes, ()) for part in spread.parts
    ]
    return found if spread.mixed is None else [*found, (o, p.offset, spread.mixed, spread.worlds)]


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
    log = m.journal.sites.get(key)
    if log is None:
        called = m.frame.call
        if called is not None and o.volatile and opens_call(m.frame.function, place):
            line = called.compiled_line
        else:
            line = line_of(node, place)
            f = m.frame.function
            moved = (
                hoisted_lines(f).get((place.path, place.offset)) if op == "load" and f is not None else None
            )
            line = line if moved is None else moved
        log = m.journal.sites[key] = SiteLog(place, line, op, width, matrices, o)
        log.node, log.function = node, m.frame.function
    if log.frame is not m.frame:
        log.frame = m.frame
        log.via.update({id(f.call): f.call for f in m.frames if f.call is not None})
    return log


def _record(m: Machine, event: Event) -> None:
    m.effort.addresses += m.threads.size
    if m.effort.addresses > m.effort.budget.addresses:
        raise BudgetExceededError(f"stopped after {m.effort.budget.addresses} recorded addresses")
    last = m.log[-1] if m.log else None
    if isinstance(last, Event) and last.choice is not event.choice and _may_collide(last, event):
        m.log.append(Barrier(m.lines.region, m.journal.order))
        m.journal.order += 1
        event.order = m.journal.order
    lanes = event.offset.const
    if not isinstance(lanes, int):
        event.offset.const = m.memo.lanes.setdefault(lanes.tobytes(), lanes)  # a loop's rounds share theirs
    event.stale = m.context.stale
    event.under, event.parted = m.under(event.must)
    if m.journal.sums is not None and event.offset.form is not None:
        m.journal.sums.access(event.site, event.offset.form, m.conditions())
    event.site.assumed = len(m.journal.assumptions)
    event.site.perhaps |= m.journal.arms > 0
    m.log.append(event)
    m.journal.order += 1


def _may_collide(a: Event, b: Event) -> bool:
    """Whether the compiler keeps two accesses in order, of which one may go to several arrays."""
    return not (a.site.op == "load" == b.site.op)
