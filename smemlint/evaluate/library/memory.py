"""Loads, stores, address conversions and copies by function call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import gcd
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from smemlint.evaluate.language.accesses import escape, load, record_access, store
from smemlint.evaluate.language.conversions import coerce
from smemlint.evaluate.language.places import place_of
from smemlint.evaluate.machine.cp_async import CHUNK, Copied
from smemlint.evaluate.machine.dispatch import lvalue, rvalue, unseen
from smemlint.evaluate.machine.functions import (
    Arguments,
    called,
    in_shared,
    named,
    number,
    record_argument,
)
from smemlint.evaluate.machine.groups import Group, group_of
from smemlint.evaluate.machine.machine import Frame, Machine
from smemlint.evaluate.memory.local_memory import known_offset, write_cells
from smemlint.evaluate.memory.segment import declared_alignment
from smemlint.evaluate.model import Unresolved
from smemlint.evaluate.values.affine import whole
from smemlint.evaluate.values.number import Int, add, form_of, scale
from smemlint.evaluate.values.pieces import within
from smemlint.evaluate.values.value import (
    Cells,
    Closure,
    Object,
    Other,
    Pointer,
    RecordValue,
    Value,
    is_uniform,
    led_to,
)
from smemlint.ir import (
    ArrayOf,
    Call,
    Expr,
    MemberType,
    OpaqueType,
    RecordRef,
    Scalar,
    Type,
)
from smemlint.ir.expr import is_lvalue
from smemlint.ir.types import LONG, UCHAR, UINT, ULONG, element_type
from smemlint.ir.uses import places_set
from smemlint.ir.vectors import is_vector
from smemlint.ir.walk import names_in

Ints = NDArray[np.int64]
_ROUNDS = 64
"""Rounds of a group's copy that are recorded one by one."""

MOST_COPIED = 4096
"""Bytes of a local copy that is followed."""


@named("__ldg", "__ldcg", "__ldca", "__ldcs", "__ldlu", "__ldcv", "__builtin_nontemporal_load", "ThreadLoad")
def _load_through(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    p = rvalue(m, e.arguments[0])
    return load(m, p, e.place) if isinstance(p, Pointer) else Other(None, is_uniform(p))


@named("__stcs", "__stcg", "__stwb", "__stwt", "ThreadStore", "__builtin_nontemporal_store")
def _write(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    first, second = rvalue(m, e.arguments[0]), rvalue(m, e.arguments[1])
    p, v = (second, first) if called(e) == "__builtin_nontemporal_store" else (first, second)
    if isinstance(p, Pointer):
        store(m, p, v, e.place)
    return Other()


@named(
    "__cvta_generic_to_shared",
    "__nvvm_get_smem_pointer",
    "cast_smem_ptr_to_uint",
    "cutlass_get_smem_pointer",
    "__cvta_shared_to_generic",
    "__cvta_generic_to_global",
    "cvta_generic_to_shared",
    "smem_ptr_to_uint",
    "get_smem_pointer",
)
def _to_shared(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    p = rvalue(m, e.arguments[0])
    if isinstance(p, Pointer):
        return Pointer(p.object, p.offset, p.pointee, ULONG)
    return p


@named("memcpy", "memset", "__builtin_memcpy", "__builtin_memset", "std::memcpy", "memmove", "std::memset")
def _memcpy(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    values = [rvalue(m, a) for a in e.arguments]
    name = called(e) or "memcpy"
    if "memset" not in name and len(values) == 3 and _copied_to_registers(m, e, *values):
        return values[0]
    sources = values[:1] if "memset" in name else values[:2]
    for v, op in zip(sources, ("store", "load"), strict=False):
        if isinstance(v, Pointer) and v.object.storage == "shared":
            text = f"`{name}` on shared memory: its width is the compiler's choice"
            record_access(
                m, op, 1, v, e.place, reason=Unresolved("byte-copy", text, e.place), node=e.arguments[-1]
            )
    target = values[0] if values else None
    if isinstance(target, Pointer) and len(values) == 3:
        _copy_bytes(m, target, values[1], number(values[2]))
    return values[0] if values else Other()


def _copied_to_registers(m: Machine, e: Call, target: Value, source: Value, size: Value) -> bool:
    """Copy a whole local variable to or from shared memory as its type is loaded or stored, or, where the
    compiler knows less of the alignment, in smaller parts. False where the copy is another one."""
    n = number(size)
    if n is None or not isinstance(target, Pointer) or not isinstance(source, Pointer):
        return False
    shared, own = (target, source) if target.object.storage == "shared" else (source, target)
    if shared.object.storage != "shared" or own.object.storage != "local":
        return False
    t = _whole_type(m, own, n)
    if t is None:
        return False
    of, count = (t.element, n // (m.types.size_of(t.element) or n)) if isinstance(t, ArrayOf) else (t, 1)
    each, aligned = n // count, _provable_alignment(m, shared)
    if aligned < (m.types.align_of(of) or n) and not isinstance(of, Scalar):
        return False
    for at in range(0, n, each):
        there, here = (Pointer(p.object, add(p.offset, Int(at), LONG), of) for p in (shared, own))
        if aligned < each and isinstance(of, Scalar):
            for part in range(0, each, aligned):
                piece = Pointer(there.object, add(there.offset, Int(part), LONG), UCHAR)
                op = "store" if shared is target else "load"
                record_access(m, op, aligned, piece, e.place, node=e.arguments[-1])
            if shared is source:
                store(m, here, Other(of), e.place)
        elif shared is target:
            store(m, there, load(m, here, e.place), e.place, e.arguments[-1])
        else:
            store(m, here, load(m, there, e.place, e.arguments[-1]), e.place)
    return True


def _whole_type(m: Machine, p: Pointer, n: int) -> Type | None:
    """The type of the n bytes of a local variable that a pointer leads to; None where these are no whole
    one."""
    if known_offset(m, p) == 0 and m.types.size_of(p.object.type) == n:
        return p.object.type
    if known_offset(m, p) is not None and m.types.size_of(p.pointee) == n:
        return p.pointee
    return None


def _provable_alignment(m: Machine, p: Pointer) -> int:
    """The power of two that the compiler knows to divide an address in shared memory."""
    known = whole(form_of(p.offset))
    declared = declared_alignment(m, p.object)
    return min(known, declared) if known else declared


def _copy_bytes(m: Machine, target: Pointer, source: Value, n: int | None) -> None:
    """What a local object holds after `memcpy`, or `memset`, whose source is a number."""
    for o in led_to(target.object):
        if o.storage != "local":
            continue
        at = known_offset(m, target) if o is target.object else None
        if at is None or n is None or n > MOST_COPIED:
            o.cells, o.havoc = Cells(), True
            continue
        cells: dict[int, Value] = {}
        if isinstance(source, Pointer) and source.object.storage == "local":
            start = known_offset(m, source)
            cells = {} if start is None else within(source.object.cells, start, n, m.unknowns)
        byte = number(source)
        if byte is not None:
            word = Int((byte & 255) * 0x01010101, UINT)
            cells |= dict.fromkeys(range(0, n - 3, 4), word)
            cells |= dict.fromkeys(range(n - n % 4, n), Int(byte & 255, UCHAR))
        write_cells(m, o, at, n, cells)


@named("std::swap", "swap", "cuda::std::swap")
def _swap(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    if len(e.arguments) != 2:
        return Other()
    a, b = place_of(m, e.arguments[0]), place_of(m, e.arguments[1])
    va, vb = load(m, a, e.place), load(m, b, e.place)
    store(m, a, vb, e.place)
    store(m, b, va, e.place)
    return Other()


@named("std::exchange", "cuda::std::exchange")
def _exchanged(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    """`std::exchange(a, b)` sets a, and is what it was."""
    if len(e.arguments) != 2:
        return Other()
    a = place_of(m, e.arguments[0])
    old, new = load(m, a, e.place), rvalue(m, e.arguments[1])
    if isinstance(a, Pointer):
        store(m, a, coerce(m, new, a.pointee), e.place)
    return old


# ---------------------------------------------------------------------- what is handed to unknown code


def is_class(m: Machine, t: Type) -> bool:
    """Whether a type is a record, or a class's own type such as `TempStorage`, and no vector."""
    if isinstance(t, RecordRef):
        return not is_vector(t)
    named = isinstance(t, MemberType) or (isinstance(t, OpaqueType) and "::" in t.spelling)
    return named and m.types.size_of(t) is None


def given(m: Machine, a: Expr) -> Value:
    """An argument of a function that is not known: a record in shared memory goes by reference, unread."""
    if is_lvalue(a):
        p = lvalue(m, a)
        if not isinstance(p, Pointer):
            return p
        t = p.pointee
        if p.object.storage == "shared" and is_class(m, t):
            return p
        return load(m, p, getattr(a, "place", None), a)
    return rvalue(m, a)


def escaped(m: Machine, v: Value, code: str, text: str, e: Call) -> None:
    """Say that unknown code may use a shared array: what it is given is the address of one, or an object that
    holds it."""
    found: Iterable[Value] = (v,)
    if isinstance(v, RecordValue) and not m.host:
        found = v.cells.values()
    elif isinstance(v, Pointer) and isinstance(v.pointee, RecordRef) and v.object.storage == "local":
        found = v.object.cells.values()
    elif isinstance(v, Closure) and not m.host:
        found = _led_to_by(m, v)
    for held in found:
        if isinstance(held, Pointer) and held.object.storage == "shared":
            escape(held)
            m.note(code, f"{text} is given the address of `{held.object.name}`", e.place)


def _led_to_by(m: Machine, c: Closure) -> Iterator[Value]:
    """What a lambda names: the arrays themselves, and what variables hold."""
    for _, o in _named_by(c, names_in(c.function.body), m.memory.globals):
        yield from (Pointer(o, Int(0), o.type),) if o.storage == "shared" else o.cells.values()


def _named_by(
    c: Closure, ids: Iterable[str], others: Mapping[str, Object] = MappingProxyType({})
) -> Iterator[tuple[str, Object]]:
    """The objects that ids mean in a lambda: its copies, others, and variables around it."""
    for id in sorted(ids):
        frame, o = c.frame, c.captured.get(id) or others.get(id)
        while o is None and isinstance(frame, Frame):
            o, frame = frame.variables.get(id), frame.parent
        if o is not None:
            yield id, o


def lent(m: Machine, e: Call, name: str = "") -> None:
    """Say that unknown code may take elements of shared arrays by reference, and not read each once."""
    for a in e.arguments:
        if is_lvalue(a):
            p = unseen(m, a, lvalue)
            if not isinstance(p, Pointer) or isinstance(p.pointee, ArrayOf) or is_class(m, p.pointee):
                continue
            if p.object.storage == "shared":
                text = f"`{name or called(e)}` may take an element of `{p.object.name}` by reference"
                m.note("unknown-function", text, e.place)


def clobber(v: Value) -> None:
    """Unknown code may set the numbers that it is given the address of, or that a lambda for it sets."""
    if isinstance(v, Closure):
        for id, o in _named_by(v, places_set(v.function.body)):
            if id not in v.captured:
                clobber(Pointer(o, Int(0), o.type))
    if isinstance(v, Pointer) and v.object.storage == "local":
        if v.object.var is not None and v.object.var.const:
            return
        t = element_type(v.object.type)
        if isinstance(t, Scalar) or is_vector(t):
            v.object.lose()
        elif isinstance(t, RecordRef):  # the arrays that it leads to are told with the call
            kept: dict[int, Value] = {at: x for at, x in v.object.cells.items() if not isinstance(x, Int)}
            v.object.lose()
            v.object.cells = kept


def clobber_referred(m: Machine, arguments: Iterable[Expr]) -> None:
    """The same for what a method of an unknown class may take by reference: `Scan(temp).Sum(in, out)`."""
    for a in arguments:
        if is_lvalue(a):
            clobber(unseen(m, a, lvalue))


# ---------------------------------------------------------------------- asynchronous copies


@named("__pipeline_memcpy_async")
def _pipeline_copy(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    """cp.async of 4, 8 or 16 bytes by each thread; zfill leaves the shared side as it is."""
    values = [rvalue(m, a) for a in e.arguments]
    if len(values) < 3 or not isinstance(values[0], Pointer):
        _lost_copy(m, e, values)
        return Other()
    n = number(values[2])
    m.code_size.touched += 1
    if n in (4, 8, 16):
        record_access(m, "cp.async", n, values[0], e.place, copied=_copy_kind(n, values[1]))
        return Other()
    text = f"`{called(e)}` of a size that is not a constant 4, 8 or 16 bytes"
    record_access(m, "cp.async", 4, values[0], e.place, reason=Unresolved("copy-size", text, e.place))
    return Other()


def _copy_kind(n: int, source: Value) -> Copied:
    """Copies of 16 bytes bypass L1."""
    return Copied(source.offset if isinstance(source, Pointer) else None, n == CHUNK)


def _lost_copy(m: Machine, e: Call, values: list[Value]) -> None:
    """A copy whose destination is not followed."""
    target = values[0] if values else None
    if not isinstance(target, Pointer):
        m.note("copy-address", f"`{called(e)}`: its destination is not followed", e.place)


@named("memcpy_async", "cuda::memcpy_async")
def _copy(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    """`cuda::memcpy_async([group,] destination, source, size, barrier or pipeline)`."""
    values: list[Value] = [rvalue(m, a) for a in e.arguments[:-1]]
    sync = lvalue(m, e.arguments[-1]) if e.arguments else Other()
    group = Group(np.zeros(m.threads.size, dtype=np.int64), Int(1))
    if values and not isinstance(values[0], Pointer):
        group = group_of(m, values[0])
        values = values[1:]
    if len(values) < 3:
        if called(e) == "memcpy_async" and isinstance(sync, Int):
            return _group_copy(m, e, arguments, discarded)
        _lost_copy(m, e, values)
        return Other()
    target, source, size = values[:3]
    if not isinstance(target, Pointer):
        _lost_copy(m, e, values)
        return Other()
    chunk = min(16, max(_type_align(m, target), record_argument(getattr(size, "type", None)) or 1))
    barrier = isinstance(sync, Pointer) and "barrier" in str(getattr(sync.pointee, "name", ""))
    if chunk == 16 and barrier and in_shared(sync) and in_shared(target) and not in_shared(source):
        text = "bulk copy by the tensor memory accelerator"
        m.note("ptx-outside", f"`{called(e)}` with a barrier and 16-byte alignment: {text}", e.place)
        escape(target)
        return Other()
    split(m, e, group, target, source, _bytes(m, size), chunk, clamp=False)
    return Other()


@named("cooperative_groups::memcpy_async", "cg::memcpy_async")
def _group_copy(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    """`cg::memcpy_async(group, destination, [count,] source, size or count)`."""
    values = [rvalue(m, a) for a in e.arguments]
    if len(values) < 4 or not isinstance(values[1], Pointer):
        _lost_copy(m, e, values[1:])
        return Other()
    target = values[1]
    element = _type_align(m, target)
    if len(values) >= 5:
        source, counts = values[3], (values[2], values[4])
        size = m.types.size_of(target.pointee) or 1
        known = [_bytes(m, v) for v in counts]
        numbers = [n for v in known if (n := number(v)) is not None]
        total = Int(min(numbers) * size) if len(numbers) == 2 else scale(known[0], size, LONG)
        sized = counts[0]
    else:
        source, total, sized = values[2], _bytes(m, values[3]), values[3]
    aligned = record_argument(getattr(sized, "type", None))
    chunk = min(16, aligned if aligned is not None else element)
    tile = isinstance(values[0], RecordValue) and "tile" in str(getattr(values[0].type, "name", ""))
    if chunk < 4:
        text = f"`{called(e)}` of elements of {chunk} bytes: it looks at the alignment while it runs"
        reason = Unresolved("copy-alignment", text, e.place)
        record_access(m, "cp.async", 4, target, e.place, reason=reason)
        return Other()
    split(m, e, group_of(m, values[0]), target, source, total, chunk, clamp=tile)
    return Other()


def _type_align(m: Machine, p: Pointer) -> int:
    t = p.pointee
    return 1 if isinstance(t, Scalar) and t.kind == "void" else m.types.align_of(t) or 1


def _bytes(m: Machine, v: Value) -> Int:
    """A size argument as an integer: a plain one, or what an aligned_size_t holds."""
    if isinstance(v, RecordValue):
        v = v.cells.get(0, v)
    if isinstance(v, Int):
        return v
    return m.unknowns.value(LONG, "size", low=0, rank=3 if is_uniform(v) else 0)


def split(
    m: Machine,
    e: Call,
    group: Group,
    target: Pointer,
    source: Value,
    total: Int,
    chunk: int,
    *,
    clamp: bool,
) -> None:
    """A copy that the threads of a group share: thread `rank` moves chunks rank, rank + size, ...

    clamp: in the last round, threads without a chunk repeat the last one (cg tiles) instead of sitting out.
    """
    size = number(group.size)
    m.code_size.touched += 1
    if group.rank is None or size is None:
        reason = Unresolved("group-copy", "the ranks of the group's threads are not known", e.place)
        record_access(m, "cp.async", chunk, target, e.place, reason=reason)
        return
    rank = Int(group.rank * chunk, LONG)
    stride = size * chunk

    def at(p: Pointer, offset: Int) -> Pointer:
        return Pointer(p.object, add(p.offset, offset, LONG), p.pointee)

    def move(offset: Int, mask: NDArray[np.bool_] | None = None) -> None:
        if target.object.storage == "shared":
            op = "cp.async" if chunk >= 4 and not in_shared(source) else "store"
            copied = None
            if op == "cp.async":
                copied = _copy_kind(chunk, at(source, offset) if isinstance(source, Pointer) else source)
            record_access(m, op, chunk, at(target, offset), e.place, mask=mask, copied=copied)
        if isinstance(source, Pointer) and source.object.storage == "shared":
            record_access(m, "load", chunk, at(source, offset), e.place, mask=mask)

    n = number(total)
    if n is None:
        must, m.must = m.must, m.threads.nobody
        k = m.unknowns.value(LONG, "round", low=0, rank=1)
        move(add(rank, scale(k, stride, LONG), LONG))
        m.must = must
        return
    chunks = -(-n // chunk) if not clamp else n // chunk
    full, rest = divmod(chunks, size)
    if full and stride % 128 == 0:
        weight, m.context.weight = m.context.weight, m.context.weight * full
        move(rank)
        m.context.weight = weight
    elif full <= _ROUNDS:
        for i in range(full):
            move(add(rank, Int(i * stride), LONG))
    else:
        k = m.unknowns.value(LONG, "round", low=0, multiple=1, rank=1)
        weight, m.context.weight = m.context.weight, m.context.weight * full
        move(add(rank, scale(k, gcd(stride, 128), LONG), LONG))
        m.context.weight = weight
    if rest:
        start = full * stride
        last = np.minimum(group.rank, rest - 1) if clamp else group.rank
        move(Int(start + last * chunk, LONG), None if clamp else group.rank < rest)
