"""What variables hold: reading and writing the cells of local objects, lane by lane."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import gcd

import numpy as np

from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.memory.elements import holds_elements, with_own_elements
from smemlint.evaluate.memory.merging import masked, merge, one_of_functions
from smemlint.evaluate.memory.several import loaded_from_a_table, lost_among, narrowed, one_of
from smemlint.evaluate.model import Unresolved
from smemlint.evaluate.types.number_members import number_members
from smemlint.evaluate.values.affine import Affine
from smemlint.evaluate.values.arithmetic import convert
from smemlint.evaluate.values.choices import on_way, with_choice
from smemlint.evaluate.values.comparison import select
from smemlint.evaluate.values.lanes import some
from smemlint.evaluate.values.number import Int, bounds, collapse, form_of, gcd_of, multiple_of
from smemlint.evaluate.values.objects import at_home
from smemlint.evaluate.values.pieces import UNSIGNED, bits_of, composed, cut, overlapping, width_of, within
from smemlint.evaluate.values.provenance import following, value_at
from smemlint.evaluate.values.unknowns import Unknowns
from smemlint.evaluate.values.value import (
    Closure,
    FunctionValue,
    Object,
    Other,
    Pointer,
    RecordValue,
    Value,
    same,
)
from smemlint.ir import Place, PointerTo, RecordRef, Scalar, Type
from smemlint.ir.types import INT, ULONG
from smemlint.ir.vectors import is_vector

_SHORT = 8
"""Rows of a table of constants in host code that are looked at one by one."""
MOST_NUMBERS = 256
"""Integers of one record that are told apart when it is copied."""
LARGEST_SCALAR = 16
"""Bytes."""


def read_cells(m: Machine, p: Pointer, t: Type, place: Place | None) -> Value:
    """The value of type t at an address in a local object."""
    o = p.object
    at = known_offset(m, p)
    if at is None:
        return _gather(m, p, t, place)
    held = o.cells.get(at)
    if type(t) is Scalar:  # as in most cases: a number of just this type
        if isinstance(held, Int) and held.type is t and t.kind != "float":
            return as_seen(m, held)
        if isinstance(held, Other) and held.type is t and t.kind == "float":
            return held
    if isinstance(t, RecordRef):
        size = m.types.size_of(t)
        if size is None:
            whole = o.cells.get(at)
            if at == 0 and o.type == t and not isinstance(whole, RecordValue) and len(o.cells) > 1:
                return RecordValue(t, dict(o.cells))  # members of unknown size lie between its own
            return whole if whole is not None else RecordValue(t, {})
        if held is not None and not isinstance(held, Int | Pointer | Other) and not _is_member(m, held, t):
            return held
        if o.havoc and o.uniform and not m.host:
            _number_all(m, o, at, t)
        read = RecordValue(t, within(o.cells, at, size, m.unknowns))
        return with_own_elements(read) if m.host and holds_elements(t) else read
    v = whole_at(o, at, t, m.unknowns)
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
        return _as(m, as_seen(m, v), t)
    if isinstance(v, Other) and isinstance(t, Scalar) and t.kind not in ("float", "void"):
        bits = bits_of(v)
        if bits is not None:
            return _as(m, bits, t)
        if v.leads is not None:
            return v
        reason = v.reason or Unresolved("untracked-local", f"`{o.name}` is read in parts", place)
        return m.unknown(t, o.name, uniform=v.uniform, reason=reason)
    if isinstance(v, Pointer):
        v = _read_as(v, t)
    if isinstance(v, Pointer) and (m.may is not m.threads.present or v.offset.terms):
        seen = Pointer(v.object, _in_active_lanes(m, here(m, v.offset)), v.pointee, v.integer)
        return narrowed(m, seen) if v.object.options and m.may is not m.threads.present else seen
    return v


def _read_as(v: Pointer, t: Type) -> Pointer:
    """An address that was kept under one type and is read under another, as the members of a union are."""
    if isinstance(t, Scalar) and t.kind in ("int", "uint") and t.size == 8 and v.integer is None:
        return Pointer(v.object, v.offset, v.pointee, t)
    if not isinstance(t, PointerTo) or t.reference:
        return v
    untold = isinstance(v.pointee, Scalar) and v.pointee.kind == "void"  # `cudaMalloc((void **)&p, n)`
    if v.integer is not None or untold or (_is_number(t.to) and _is_number(v.pointee)):
        return Pointer(v.object, v.offset, t.to)
    return v


def _is_number(t: Type) -> bool:
    return is_vector(t) or (isinstance(t, Scalar) and t.kind != "void")


def here(m: Machine, v: Int) -> Int:
    """A number where the branches around tell which of its ways were taken."""
    return on_way(v, with_choice(m.context.way, v)) if m.context.way and v.terms else v


def as_seen(m: Machine, v: Int) -> Int:
    """A number that is kept, as the lanes of the mask see it on the way that was taken."""
    if v.terms:
        v = here(m, v)
    return v if m.may is m.threads.present else _in_active_lanes(m, v)


def whole_at(o: Object, at: int, t: Type, unknowns: Unknowns) -> Value | None:
    """What lies at a byte of an object, as wide as t; None: nothing."""
    v = o.cells.get(at)
    if isinstance(v, Int) and isinstance(t, Scalar) and v.type.size == t.size:
        return v
    width = t.size if isinstance(t, Scalar) else 8 if isinstance(t, PointerTo) else 0
    if not width or (v is not None and width_of(v) in (0, width)):
        return v
    return composed(o.cells, at, t if isinstance(t, Scalar) else ULONG, unknowns)


def _as(m: Machine, v: Int, t: Scalar) -> Value:
    """The bytes of an integer as something else of the same width."""
    if t.kind == "float":
        return Other(t, v.uniform, bits=v)
    if not t.size:  # an element of a type that is declared nowhere
        return Other(t, v.uniform)
    if t.kind == "bool" or t is v.type:
        return v
    return v.typed(t) if t.kind == v.type.kind else convert(v, t, m.unknowns)


def _in_active_lanes(m: Machine, v: Int) -> Int:
    """Restrict a number to the lanes of the mask."""
    if type(v.const) is int and not v.terms and v.given is None:
        return v
    seen = v.seen
    if seen is not None and seen[0] is m.may:
        return seen[1] or v
    here = _restricted(m, v)
    here.seen = (m.may, None)
    if here is not v:
        v.seen = (m.may, here)
    return here


def _restricted(m: Machine, v: Int) -> Int:
    const = collapse(v.const, m.may)
    if const is v.const and not v.terms and v.given is None:
        return v
    terms = {k: here for k, c in v.terms.items() if not isinstance(here := collapse(c, m.may), int) or here}
    return Int(const, v.type, terms, _form_here(m, v))


def _form_here(m: Machine, v: Int) -> Affine | None:
    """What a compiler can prove where only some lanes are: those that were given a value hold just that."""
    if v.given is None:
        return v.form
    mask, new, old = v.given
    if not some(m.may & ~mask):
        return _form_here(m, new)
    return v.form if some(m.may & mask) else old


def _untracked(m: Machine, p: Pointer, t: Type, place: Place | None) -> Value:
    """A part of an object that was set elsewhere; the same part always gives the same unknown."""
    o = p.object
    reason = Unresolved("untracked-local", f"`{o.name}` has a value that is not followed", place)
    at = known_offset(m, p)
    name = _path(m, o, at) if o.uniform and isinstance(o.type, RecordRef) else o.name
    v = m.unknown(t, name, uniform=o.uniform, reason=reason, rank=3 if o.uniform else 0, size=o.uniform)
    if at is not None and o.uniform and isinstance(v, Int | Pointer):
        o.cells[at] = v
    return v


def _path(m: Machine, o: Object, at: int | None) -> str:
    """How a user writes an integer of an object: `shape.rows`."""
    numbers = number_members(m.types, o.type, MOST_NUMBERS)
    path = next((path for path, offset, _ in numbers if offset == at), "")
    return f"{o.name}.{path}" if path else o.name


def _number_all(m: Machine, o: Object, at: int, t: RecordRef) -> None:
    """Give each integer of a record that is the same in all lanes its unknown, which its copies share."""
    for path, offset, scalar in number_members(m.types, t, MOST_NUMBERS):
        if not overlapping(o.cells, at + offset, scalar.size):
            reason = Unresolved("untracked-local", f"`{o.name}` has a value that is not followed")
            name = f"{o.name}.{path}" if at == 0 and path else o.name
            v = m.unknown(scalar, name, uniform=True, reason=reason, rank=3, size=True)
            if isinstance(v, Int):
                o.cells[at + offset] = v


def _is_member(m: Machine, held: Value, t: RecordRef) -> bool:
    """Whether what lies at the start of a record is its first member, a function or lambda; what a
    `std::function` holds is all of it."""
    layout = m.types.layout(t) if isinstance(held, FunctionValue | Closure) else None
    return layout is not None and any(at == 0 for at, _ in layout.fields.values())


def _gather(m: Machine, p: Pointer, t: Type, place: Place | None) -> Value:
    """Each lane reads its own element of a local array."""
    o = p.object
    if m.host:
        row = _row(m, p, t)
        if row is not None:
            return read_cells(m, row, t, place)
        functions = [v for v in _at_steps(p) if isinstance(v, FunctionValue)]
        if functions:
            return one_of_functions(functions)
    offsets = p.offset.const
    if p.offset.known and not isinstance(offsets, int):
        result: Value | None = None
        for at in np.unique(offsets[m.may]).tolist():
            whole = isinstance(t, RecordRef)
            v = read_cells(m, Pointer(o, Int(at), t), t, place) if whole else whole_at(o, at, t, m.unknowns)
            if result is None and isinstance(v, Int | Pointer | RecordValue):
                result = v
                continue
            here = Int((offsets == at).astype(np.int64))
            if isinstance(v, Int) and isinstance(result, Int):
                result = select(here, v, result)
            elif isinstance(v, Pointer | RecordValue) and type(v) is type(result):
                result = merge(m, here, v, result)
            else:
                result = None
                break
        if isinstance(result, Int) and isinstance(t, Scalar):
            return _as(m, result, t)
        if result is not None:
            return loaded_from_a_table(m, result)
    numbers = [v for v in o.cells.values() if isinstance(v, Int)]
    uniform = p.offset.uniform and all(map(_like_in_all_lanes, o.cells.values()))
    uniform = uniform and (o.uniform or not o.havoc)
    whole = isinstance(t, Scalar) and all(n.type.size == t.size for n in numbers)
    if (
        uniform
        and whole
        and numbers
        and len(numbers) == len(o.cells)
        and not o.havoc
        and isinstance(t, Scalar)
    ):
        return _one_of(m, numbers, t, o.name)
    if isinstance(t, PointerTo):
        pointers = _pointers_at(p)
        if pointers:
            return loaded_from_a_table(m, one_of(m, pointers, o.name, varying=not p.offset.uniform))
        held = [v.object for v in o.cells.values() if isinstance(v, Pointer)]
        if any(v.storage == "shared" for v in held):
            return lost_among(held, "is read at an index that is not known")
    return m.unknown(
        t,
        f"{o.name}[...]",
        uniform=uniform,
        reason=Unresolved("local-array", f"`{o.name}` is read at an index that is not known", place),
    )


def _like_in_all_lanes(v: Value) -> bool:
    return v.offset.uniform if isinstance(v, Pointer) else bool(getattr(v, "uniform", False))


def _row(m: Machine, p: Pointer, t: Type) -> Pointer | None:
    """The place in a table of host code where its index is settled; an index that is not is left open, if the
    table is of functions, or short and constant."""
    paths, at, cells = m.task.paths, p.offset.const, p.object.cells
    if paths is None or m.silent or not isinstance(at, int) or not cells:
        return None
    indices = {
        c: mono for mono, c in p.offset.terms.items() if isinstance(c, int) and c > 0 and len(mono) == 1
    }
    if not indices or len(indices) < len(p.offset.terms):
        return None
    constant = p.object.var is not None and p.object.var.const
    functions = any(isinstance(v, FunctionValue | Closure) for v in cells.values())
    if not (functions or constant):
        return None
    end = max(cells) + 1
    for step, (symbol,) in sorted(
        indices.items(), reverse=True
    ):  # `table[wide][w]`: the index of the longest rows first
        index, choice = Int(0, INT, {(symbol,): 1}), (-symbol.order, 0)
        settled = paths.settled.get(choice)
        if settled is None:
            settled = value_at(index, m.unknowns.given, m.unknowns.recipes or {})
        if settled is None:
            high, rows = bounds(index)[1], (end - at + step - 1) // step
            if functions or rows <= _SHORT:
                paths.leave_open(choice, rows if high is None else min(rows, int(high) + 1))
            return None
        m.unknowns.given = following(index, Int(settled), m.unknowns)
        at, end = at + settled * step, min(end, at + (settled + 1) * step)
    return Pointer(p.object, Int(at), t) if at in cells else None


def _at_steps(p: Pointer) -> list[Value]:
    """What a table holds where its index may lead."""
    base = p.offset.const
    if not isinstance(base, int):
        return []
    step = gcd(*(gcd_of(c) * multiple_of(mono) for mono, c in p.offset.terms.items()))
    return [v for at, v in sorted(p.object.cells.items()) if (at - base) % max(step, 1) == 0]


def _pointers_at(p: Pointer) -> list[Pointer]:
    """The pointers of a table that an index may mean: where the way to them is a whole number of steps."""
    step = gcd(*(gcd_of(c) * multiple_of(mono) for mono, c in p.offset.terms.items()))
    low, high = bounds(p.offset)
    base = p.offset.const
    if not isinstance(base, int):
        lanes, base = base, int(base[0])
        step = gcd(step, gcd_of(lanes - base))
    found: list[Pointer] = []
    for at, v in p.object.cells.items():
        inside = (low is None or at >= low) and (high is None or at <= high)
        if isinstance(v, Pointer) and inside and (at - base) % max(step, 1) == 0:
            found.append(v)
    whole = low is not None and high is not None and len(found) == (high - low) // max(step, 1) + 1
    return found if whole or not any(isinstance(v, Other) for v in p.object.cells.values()) else []


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


def write_cell(m: Machine, o: Object, at: int, v: Value, t: Type) -> None:
    """Set a cell of a local object for the lanes of the mask."""
    if isinstance(v, RecordValue):
        size = m.types.size_of(v.type)
        if size is not None and size <= 4096:
            write_cells(m, o, at, size, at_home(o, at, v.cells))
            return
    if isinstance(v, Other) and isinstance(t, RecordRef):
        size = m.types.size_of(t)
        if size is None:  # one of the library's classes in it: all that follows is forgotten
            size = max((k for k in o.cells if k >= at), default=at) + LARGEST_SCALAR - at
        write_cells(m, o, at, size, {0: v})
        return
    if isinstance(v, Other) and v.type is None and isinstance(t, Scalar):
        v = replace(v, type=t)
    _set_cell(m, o, at, v)


def write_cells(m: Machine, o: Object, at: int, size: int, cells: Mapping[int, Value]) -> None:
    """Set a stretch of a local object; what is not in the cells is unknown afterwards."""
    inside = [k for k in o.cells if at <= k < at + size]
    if not inside and not overlapping(o.cells, at, 1) and cells and _fresh(m, o):
        o.cells.update({at + k: leaf for k, leaf in cells.items()})
        return
    for k, width, _ in (*overlapping(o.cells, at, 1), *overlapping(o.cells, at + size - 1, 1)):
        if k < at or k + width > at + size:
            cut(o.cells, max(k, at), min(k + width, at + size) - max(k, at), m.unknowns)
    for k in [k for k in inside if k in o.cells and k - at not in cells]:
        if not any(x + at <= k < x + at + width_of(v) for x, _, v in overlapping(cells, k - at, 1)):
            del o.cells[k]
            o.havoc = True
    if not cells:
        o.havoc = True
    for k, leaf in cells.items():
        _set_cell(m, o, at + k, leaf)


def _fresh(m: Machine, o: Object) -> bool:
    """Whether lanes outside of the mask hold nothing where no cell of an object is."""
    return m.host or not o.havoc or m.may is m.threads.present


def _set_cell(m: Machine, o: Object, at: int, v: Value) -> None:
    cells = o.cells
    old = cells.get(at)
    n = width_of(v)
    if n and cells and (old is None or width_of(old) != n):
        old = _cleared(m, o, at, n, v)
    if old is None and isinstance(v, Int) and not _fresh(m, o):
        # Other lanes keep what is not followed.
        reason = Unresolved("untracked-local", f"`{o.name}` has a value that is not followed")
        old = m.unknown(v.type, o.name, uniform=o.uniform, reason=reason)
    if old is None or m.may is m.threads.present:
        cells[at] = v
        return
    if same(old, v) and _proves_as_much(old, v):  # what was read here may prove nothing of other lanes
        cells[at] = old.typed(v.type) if isinstance(old, Int) and isinstance(v, Int) else old
        return
    new = masked(m, v, old)
    cells[at] = new.typed(v.type) if isinstance(new, Int) and isinstance(v, Int) else new


def _proves_as_much(old: Value, v: Value) -> bool:
    """Whether two values that are the same are made alike: `k &= 127` may change no number, and yet the
    compiler knows less of `k` behind it. Of a constant in its place (`rows = 4`) it knows no less."""
    if not (isinstance(old, Int) and isinstance(v, Int)):
        return True
    proved = form_of(v)
    return not proved.terms or form_of(old) == proved


def _cleared(m: Machine, o: Object, at: int, n: int, v: Value) -> Value | None:
    """Cut n bytes out of an object: what they held, where that still matters to lanes outside of the mask."""
    if not overlapping(o.cells, at, n):
        return None
    old = None
    if m.may is not m.threads.present:
        old = composed(o.cells, at, UNSIGNED[n], m.unknowns)
        if isinstance(old, Int) and isinstance(v, Int):
            old = convert(old, v.type, m.unknowns)
        elif isinstance(old, Int):
            old = Other(v.type if isinstance(v, Other) else None, old.uniform, bits=old)
    cut(o.cells, at, n, m.unknowns)
    return old


def scatter(m: Machine, p: Pointer, v: Value) -> None:
    """Each lane writes its own element of a local array."""
    o = p.object
    offsets = p.offset.const
    if p.offset.known and not isinstance(offsets, int):
        keep = m.may
        for at in np.unique(offsets[keep]).tolist():
            m.may = keep & (offsets == at)
            write_cell(m, o, at, v, p.pointee)
        m.may = keep
        return
    uniform = p.offset.uniform and (isinstance(v, Other) or (isinstance(v, Int) and v.uniform))
    for at in list(o.cells):
        old = o.cells[at]
        if isinstance(old, Int) and isinstance(v, Int) and uniform and old.uniform and _covers(p, at, old, v):
            o.cells[at] = _one_of(m, [old, v], old.type, o.name)
        elif isinstance(old, Pointer) and isinstance(v, Pointer) and p.offset.uniform:
            o.cells[at] = one_of(m, [old, v], o.name)
        elif isinstance(old, Pointer):
            o.cells[at] = lost_among([old.object], "or elsewhere")
        elif type(old) is not Other or old.bits is not None or old.value is not None or old.near is not None:
            o.cells[at] = Other(_raw(old), False)
    o.uniform = uniform
    o.havoc = True


def _covers(p: Pointer, at: int, old: Int, v: Int) -> bool:
    """Whether a write of v through p, wherever it goes, sets all of a cell or nothing of it."""
    n = old.type.size
    base = p.offset.const if isinstance(p.offset.const, int) else 1
    steps = all(isinstance(c, int) and c * multiple_of(k) % n == 0 for k, c in p.offset.terms.items())
    return n == v.type.size and steps and (at - base) % n == 0


def _raw(v: Value) -> Scalar | None:
    """A type of the width of a value."""
    return UNSIGNED.get(width_of(v))


def known_offset(m: Machine, p: Pointer) -> int | None:
    """The byte offset of a pointer, where it is one number for all lanes of the mask."""
    if p.offset.terms:
        return None
    c = p.offset.const
    if not isinstance(c, int):
        c = collapse(c, m.may)
    return c if isinstance(c, int) else None
