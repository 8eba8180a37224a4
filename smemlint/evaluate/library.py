"""What CUDA's and C++'s own functions do to addresses, masks and shared memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from smemlint.evaluate import arithmetic as ar
from smemlint.evaluate.expressions import as_int, build, coerce, lvalue, place_of, rvalue
from smemlint.evaluate.layout import is_type, vector_layout
from smemlint.evaluate.lines import copied
from smemlint.evaluate.machine import BYTE, Machine
from smemlint.evaluate.model import Unresolved
from smemlint.evaluate.values import (
    FunctionValue,
    Int,
    Lanes,
    Method,
    Other,
    Pointer,
    RecordValue,
    Value,
    bounds,
)
from smemlint.ir import Call, Expr, Literal, Place, PointerTo, RecordRef, Scalar, TemplateArgument, Type
from smemlint.ir.types import BOOL, INT, UINT, ULONG

Function: TypeAlias = "Callable[[Machine, Call, tuple[TemplateArgument | Int, ...], bool], Value]"

_FUNCTIONS: dict[str, Function] = {}
_BARRIERS = [
    "__syncthreads",
    "__syncwarp",
    "__threadfence_block",
    "__threadfence",
    "__threadfence_system",
    "__syncthreads_count",
    "__syncthreads_or",
    "__syncthreads_and",
    "__pipeline_wait_prior",
    "__pipeline_commit",
    "cooperative_groups::sync",
    "cooperative_groups::wait",
    "cooperative_groups::wait_prior",
]
_PURE_INTEGER: dict[str, Callable[[Lanes], Lanes]] = {}


def named(*names: str) -> Callable[[Function], Function]:
    def register(f: Function) -> Function:
        for n in names:
            _FUNCTIONS[n] = f
        return f

    return register


def short_name(name: str) -> str:
    return name.rsplit("::", 1)[-1]


def function(
    m: Machine, name: str, arguments: tuple[TemplateArgument | Int, ...], e: Call, discarded: bool
) -> Value:
    """A call of a function that has no body in the project."""
    handler = _FUNCTIONS.get(name) or _FUNCTIONS.get(short_name(name))
    if handler is not None:
        return handler(m, e, arguments, discarded)
    if name in _BARRIERS or short_name(name) in _BARRIERS:
        for a in e.arguments:
            rvalue(m, a)
        m.barrier()
        return m.unknowns.value(INT, name)
    if short_name(name).startswith(("atomic", "fetch_")):
        return _atomic(m, e, short_name(name), discarded)
    vector = short_name(name).removeprefix("make_")
    if vector != short_name(name) and vector_layout(vector) is not None:
        return build(m, RecordRef(vector), e.arguments, e.place)
    return _unknown_function(m, e, name)


def _unknown_function(m: Machine, e: Call, name: str) -> Value:
    values = [rvalue(m, a) for a in e.arguments]
    for v in values:
        if isinstance(v, Pointer) and v.object.storage == "shared" and name not in _HARMLESS:
            v.object.escapes = True
            m.note(
                "unknown-function",
                f"`{name or 'a function'}` is given the address of `{v.object.name}`",
                e.place,
            )
    uniform = bool(values) and all(_uniform(v) for v in values)
    reason = Unresolved(
        "unknown-function", f"`{name or 'a function'}` is not defined in the files that were read", e.place
    )
    return Other(None, uniform, None if uniform else _reason(values) or reason)


_HARMLESS = frozenset(
    ("printf", "assert", "__assert_fail", "__isShared", "__builtin_assume_aligned", "__builtin_assume")
)


def _reason(values: list[Value]) -> Unresolved | None:
    for v in values:
        if isinstance(v, Other) and v.reason is not None:
            return v.reason
        if isinstance(v, Int):
            for mono in v.terms:
                for s in mono:
                    if s.reason is not None:
                        return s.reason
    return None


def _uniform(v: Value) -> bool:
    if isinstance(v, Int | Other):
        return v.uniform
    return isinstance(v, Pointer) and v.offset.uniform


# ---------------------------------------------------------------------- integers


def _extreme(m: Machine, e: Call, pick: str) -> Value:
    values = [rvalue(m, a) for a in e.arguments[:2]]
    if len(values) != 2 or not all(isinstance(v, Int) for v in values):
        return Other(None, bool(values) and all(_uniform(v) for v in values), _reason(values))
    a, b = values
    assert isinstance(a, Int) and isinstance(b, Int)
    t = ar.common_type(a.type, b.type)
    if a.known and b.known and isinstance(a.const, int) and isinstance(b.const, int):
        return Int(min(a.const, b.const) if pick == "min" else max(a.const, b.const), t)
    less = ar.compare("<", a, b, m.unknowns)
    if less.known:
        return ar.select(less if pick == "min" else ar.logical_not(less, m.unknowns), a, b).typed(t)
    (la, ha), (lb, hb) = bounds(a), bounds(b)
    if pick == "min":
        low = None if la is None or lb is None else min(la, lb)
        highs = [h for h in (ha, hb) if h is not None]
        return m.unknowns.derived("min", a, b, t, low, min(highs) if highs else None)
    high = None if ha is None or hb is None else max(ha, hb)
    lows = [x for x in (la, lb) if x is not None]
    return m.unknowns.derived("max", a, b, t, max(lows) if lows else None, high)


@named("min", "umin", "fminf", "fmin", "__vmin", "imin", "llmin", "ullmin", "__min")
def _min(m: Machine, e: Call, arguments: tuple[TemplateArgument | Int, ...], discarded: bool) -> Value:
    return _extreme(m, e, "min")


@named("max", "umax", "fmaxf", "fmax", "imax", "llmax", "ullmax", "__max")
def _max(m: Machine, e: Call, arguments: tuple[TemplateArgument | Int, ...], discarded: bool) -> Value:
    return _extreme(m, e, "max")


@named("__mul24", "__umul24", "__mul64hi_unused")
def _mul24(m: Machine, e: Call, arguments: tuple[TemplateArgument | Int, ...], discarded: bool) -> Value:
    a, b = (as_int(m, rvalue(m, x), e.place) for x in e.arguments[:2])
    return ar.binary("*", a, b, m.unknowns)


@named("__umad24", "__mad24", "mad24")
def _mad24(m: Machine, e: Call, arguments: tuple[TemplateArgument | Int, ...], discarded: bool) -> Value:
    a, b, c = (as_int(m, rvalue(m, x), e.place) for x in e.arguments[:3])
    return ar.binary("+", ar.binary("*", a, b, m.unknowns), c, m.unknowns)


@named("abs", "labs", "llabs", "std::abs")
def _abs(m: Machine, e: Call, arguments: tuple[TemplateArgument | Int, ...], discarded: bool) -> Value:
    v = rvalue(m, e.arguments[0])
    if isinstance(v, Int) and v.known:
        return Int(abs(v.const) if isinstance(v.const, int) else np.abs(v.const), v.type)
    if isinstance(v, Int):
        if (bounds(v)[0] or -1) >= 0:
            return v
        return m.unknowns.derived("abs", v, Int(0), v.type, 0)
    return v


def _bits(name: str, f: Callable[[int], int], low: int, high: int) -> None:
    def handler(m: Machine, e: Call, arguments: tuple[TemplateArgument | Int, ...], discarded: bool) -> Value:
        v = as_int(m, rvalue(m, e.arguments[0]), e.place)
        if v.known:
            if isinstance(v.const, int):
                return Int(f(v.const), INT)
            return Int(np.array([f(int(x)) for x in v.const], dtype=np.int64), INT)
        return m.unknowns.derived(name, v, Int(0), INT, low, high)

    _FUNCTIONS[name] = handler


_bits("__ffs", lambda x: (x & -x).bit_length(), 0, 32)
_bits("__clz", lambda x: 32 - (x & 0xFFFFFFFF).bit_length(), 0, 32)
_bits("__clzll", lambda x: 64 - (x & (1 << 64) - 1).bit_length(), 0, 64)
_bits("__popc", lambda x: (x & 0xFFFFFFFF).bit_count(), 0, 32)
_bits("__brev", lambda x: int(f"{x & 0xFFFFFFFF:032b}"[::-1], 2), 0, (1 << 32) - 1)


def _rounded(name: str, up: bool) -> None:
    def handler(m: Machine, e: Call, arguments: tuple[TemplateArgument | Int, ...], discarded: bool) -> Value:
        v = rvalue(m, e.arguments[0]) if e.arguments else Other()
        if isinstance(v, Int):
            return v
        if isinstance(v, Other) and v.value is not None:
            import math

            return Other(v.type, True, None, float(math.ceil(v.value) if up else math.floor(v.value)))
        return v

    for n in (name, name + "f"):
        _FUNCTIONS[n] = handler


_rounded("ceil", True)
_rounded("floor", False)


@named(
    "std::move",
    "std::forward",
    "move",
    "forward",
    "__builtin_assume_aligned",
    "__builtin_expect",
    "std::addressof",
)
def _same(m: Machine, e: Call, arguments: tuple[TemplateArgument | Int, ...], discarded: bool) -> Value:
    v = rvalue(m, e.arguments[0]) if e.arguments else Other()
    for a in e.arguments[1:]:
        rvalue(m, a)
    return v


@named("std::swap", "swap")
def _swap(m: Machine, e: Call, arguments: tuple[TemplateArgument | Int, ...], discarded: bool) -> Value:
    if len(e.arguments) != 2:
        return Other()
    a, b = place_of(m, e.arguments[0]), place_of(m, e.arguments[1])
    va, vb = m.load(a, e.place), m.load(b, e.place)
    m.store(a, vb, e.place)
    m.store(b, va, e.place)
    return Other()


# ---------------------------------------------------------------------- between lanes


@named(
    "__shfl_sync",
    "__shfl",
    "__shfl_down_sync",
    "__shfl_up_sync",
    "__shfl_xor_sync",
    "__shfl_down",
    "__shfl_up",
    "__shfl_xor",
)
def _shuffle(m: Machine, e: Call, arguments: tuple[TemplateArgument | Int, ...], discarded: bool) -> Value:
    name = getattr(e.callee, "name", "")
    values = [rvalue(m, a) for a in e.arguments]
    if name.endswith("_sync"):
        values = values[1:]
    if not values:
        return Other()
    v = values[0]
    if _uniform(v):
        return v
    lane = values[1] if len(values) > 1 else Int(0)
    if (
        isinstance(v, Int)
        and isinstance(lane, Int)
        and lane.known
        and "xor" not in name
        and "up" not in name
        and "down" not in name
    ):
        width = (
            values[2].const
            if len(values) > 2 and isinstance(values[2], Int) and isinstance(values[2].const, int)
            else 32
        )
        source = m.linear // width * width + np.mod(np.broadcast_to(np.asarray(lane.const), (m.size,)), width)
        source = np.clip(source, 0, m.size - 1)
        return Int(
            _take(v.const, source),
            v.type,
            {k: _take(c, source) for k, c in v.terms.items() if not any(s.varying for s in k)},
        )
    if isinstance(v, Int):
        low, high = bounds(v)
        return m.unknowns.value(
            v.type,
            "shuffled value",
            varying=not m.host,
            low=low,
            high=high,
            reason=Unresolved("data-dependent", "comes from another lane", e.place),
        )
    return Other(
        getattr(v, "type", None), False, Unresolved("data-dependent", "comes from another lane", e.place)
    )


def _take(c: Lanes, source: NDArray[np.int64]) -> Lanes:
    return c if isinstance(c, int) else c[source]


@named(
    "__ballot_sync",
    "__ballot",
    "__any_sync",
    "__all_sync",
    "__activemask",
    "__any",
    "__all",
    "__reduce_add_sync",
    "__reduce_max_sync",
    "__reduce_min_sync",
    "__reduce_or_sync",
    "__reduce_and_sync",
    "__syncthreads_count",
    "__syncthreads_or",
    "__syncthreads_and",
)
def _vote(m: Machine, e: Call, arguments: tuple[TemplateArgument | Int, ...], discarded: bool) -> Value:
    for a in e.arguments:
        rvalue(m, a)
    if short_name(getattr(e.callee, "name", "")).startswith("__syncthreads"):
        m.barrier()
    return m.unknowns.value(UINT, "vote", low=0)


# ---------------------------------------------------------------------- memory


@named("__ldg", "__ldcg", "__ldca", "__ldcs", "__ldlu", "__ldcv", "__builtin_nontemporal_load")
def _read(m: Machine, e: Call, arguments: tuple[TemplateArgument | Int, ...], discarded: bool) -> Value:
    p = rvalue(m, e.arguments[0])
    return m.load(p, e.place) if isinstance(p, Pointer) else Other(None, _uniform(p))


@named("__stcs", "__stcg", "__stwb", "__stwt")
def _write(m: Machine, e: Call, arguments: tuple[TemplateArgument | Int, ...], discarded: bool) -> Value:
    p = rvalue(m, e.arguments[0])
    v = rvalue(m, e.arguments[1])
    if isinstance(p, Pointer):
        m.store(p, v, e.place)
    return Other()


@named(
    "__cvta_generic_to_shared",
    "__nvvm_get_smem_pointer",
    "cast_smem_ptr_to_uint",
    "__cvta_shared_to_generic",
    "__cvta_generic_to_global",
    "cvta_generic_to_shared",
)
def _to_shared(m: Machine, e: Call, arguments: tuple[TemplateArgument | Int, ...], discarded: bool) -> Value:
    p = rvalue(m, e.arguments[0])
    if isinstance(p, Pointer):
        return Pointer(p.object, p.offset, p.pointee, ULONG)
    return p


_FLOATING = ("half", "bfloat16", "float", "double")


def _atomic(m: Machine, e: Call, name: str, discarded: bool) -> Value:
    """A read-modify-write: one access, whose kind decides how lanes on one word are served."""
    values = [rvalue(m, a) for a in e.arguments]
    if not values:
        return Other()
    p = values[0]
    operand = values[1] if len(values) > 1 else None
    if not isinstance(p, Pointer):
        return Other(None, False, Unresolved("data-dependent", "comes from an atomic", e.place))
    t = p.pointee
    if p.object.storage == "shared":
        size = m.types.size_of(t) or 4
        m.record(atomic_operation(name, t, operand, discarded), size, p, e.place)
    reason = Unresolved("data-dependent", f"comes from `{name}`", e.place)
    return m.unknown(t, name, uniform=False, reason=reason)


def atomic_operation(name: str, t: Type, operand: Value | None, discarded: bool) -> str:
    """The engine's name of an atomic: `cas`, `increment` (a discarded + 1 of all lanes merges) or `atomic`."""
    floating = (isinstance(t, Scalar) and t.kind == "float") or isinstance(t, RecordRef)
    if "CAS" in name or (floating and not name.startswith("atomicExch")):
        return "cas"
    wide = isinstance(t, Scalar) and t.size == 8
    if wide and not name.startswith("atomicExch"):
        return "cas"
    one = isinstance(operand, Int) and operand.known and isinstance(operand.const, int) and operand.const == 1
    if discarded and one and name.startswith("atomicAdd") and isinstance(t, Scalar) and t.size == 4:
        return "increment"
    return "atomic"


@named("__pipeline_memcpy_async", "memcpy_async", "cuda::memcpy_async", "cooperative_groups::memcpy_async")
def _copy_async(m: Machine, e: Call, arguments: tuple[TemplateArgument | Int, ...], discarded: bool) -> Value:
    name = getattr(e.callee, "name", "")
    values = [rvalue(m, a) for a in e.arguments]
    group = isinstance(values[0], RecordValue | Other) if values else False
    if group and len(values) >= 4 and isinstance(values[1], Pointer):
        values = values[1:]
        _group_copy(m, e, values, "thread" in _group_kind(m, e))
        return Other()
    if len(values) < 3 or not isinstance(values[0], Pointer):
        return Other()
    destination, size = values[0], values[2]
    if destination.object.storage != "shared":
        return Other()
    n = _byte_count(size)
    if n in (4, 8, 16):
        m.record("cp.async", n, destination, e.place)
    else:
        m.record(
            "cp.async",
            4,
            destination,
            e.place,
            reason=Unresolved(
                "copy-size", f"`{name}` of a size that is not a constant 4, 8 or 16 bytes", e.place
            ),
        )
    return Other()


def _byte_count(v: Value) -> int | None:
    if isinstance(v, Int) and v.known and isinstance(v.const, int):
        return v.const
    if isinstance(v, RecordValue | Other) and isinstance(v.type, RecordRef) and v.type.arguments:
        first = v.type.arguments[0]
        if isinstance(first, Literal):
            return first.value
    return None


def _group_kind(m: Machine, e: Call) -> str:
    from smemlint.evaluate.expressions import type_of

    p = lvalue(m, e.arguments[0])
    t = p.pointee if isinstance(p, Pointer) else type_of(p)
    return t.name if isinstance(t, RecordRef) else ""


def _group_copy(m: Machine, e: Call, values: list[Value], per_thread: bool) -> None:
    p = values[0]
    if isinstance(p, Pointer) and p.object.storage == "shared":
        reason = Unresolved("group-copy", "how the group splits this copy is the library's choice", e.place)
        m.record("cp.async", 16, p, e.place, reason=reason)


@named("memcpy", "memset", "__builtin_memcpy", "__builtin_memset", "std::memcpy", "memmove")
def _memcpy(m: Machine, e: Call, arguments: tuple[TemplateArgument | Int, ...], discarded: bool) -> Value:
    values = [rvalue(m, a) for a in e.arguments]
    name = short_name(getattr(e.callee, "name", "memcpy"))
    for v, op in zip(values[:2], ("store", "load"), strict=False):
        if isinstance(v, Pointer) and v.object.storage == "shared":
            m.record(
                op,
                1,
                v,
                e.place,
                reason=Unresolved(
                    "byte-copy", f"`{name}` on shared memory: its width is the compiler's choice", e.place
                ),
                node=e.arguments[-1],
            )
    return values[0] if values else Other()


# ---------------------------------------------------------------------- cooperative groups


@named(
    "cooperative_groups::this_thread_block",
    "this_thread_block",
    "cooperative_groups::this_grid",
    "cooperative_groups::coalesced_threads",
    "cooperative_groups::this_cluster",
)
def _group(m: Machine, e: Call, arguments: tuple[TemplateArgument | Int, ...], discarded: bool) -> Value:
    name = short_name(getattr(e.callee, "name", ""))
    kind = {
        "this_thread_block": "thread_block",
        "this_grid": "grid_group",
        "coalesced_threads": "coalesced_group",
    }.get(name, name)
    return RecordValue(RecordRef(f"cooperative_groups::{kind}"), {})


@named(
    "cooperative_groups::tiled_partition",
    "tiled_partition",
    "cooperative_groups::experimental::tiled_partition",
)
def _tile(m: Machine, e: Call, arguments: tuple[TemplateArgument | Int, ...], discarded: bool) -> Value:
    size = arguments[0] if arguments else None
    if size is None and len(e.arguments) > 1:
        v = rvalue(m, e.arguments[1])
        size = v if isinstance(v, Int) else None
    n = size.const if isinstance(size, Int) and isinstance(size.const, int) else None
    if isinstance(size, Literal):
        n = size.value
    tile = RecordRef("cooperative_groups::thread_block_tile", (Literal(n),) if n else ())
    return RecordValue(tile, {})


def method(m: Machine, v: Method, e: Call, discarded: bool) -> Value:
    """A method of a library class, or an operator of a type that is not known."""
    self_type: Type | None = v.self.pointee if isinstance(v.self, Pointer) else v.self.type
    if v.name == "operator=" and isinstance(v.self, Pointer) and e.arguments:
        value = rvalue(m, e.arguments[0])
        place = getattr(getattr(e.callee, "base", None), "place", None) or e.place
        node = copied(getattr(e.callee, "base", e), e.arguments[0], v.self.pointee)
        m.store(v.self, coerce(m, value, v.self.pointee), place, node)
        return value
    if isinstance(self_type, RecordRef) and self_type.name.startswith("cooperative_groups::"):
        return _group_method(m, v.name, self_type, e)
    if v.name == "operator[]" and isinstance(v.self, Pointer) and isinstance(self_type, RecordRef):
        return _element(m, v.self, self_type, e)
    if v.name in ("operator+=", "operator-=", "operator*=", "operator/=") and isinstance(v.self, Pointer):
        place = getattr(getattr(e.callee, "base", None), "place", None) or e.place
        m.load(v.self, place)
        for a in e.arguments:
            rvalue(m, a)
        m.store(v.self, Other(), place)
        return v.self
    values = [rvalue(m, a) for a in e.arguments]
    if isinstance(v.self, Pointer) and v.name.startswith("operator") and v.self.object.storage == "shared":
        m.load(v.self, getattr(getattr(e.callee, "base", None), "place", None) or e.place)
    for given in values:
        if isinstance(given, Pointer) and given.object.storage == "shared":
            given.object.escapes = True
            m.note("unknown-function", f"`.{v.name}` is given the address of `{given.object.name}`", e.place)
    uniform = all(_uniform(x) for x in values) and (
        v.self.object.uniform if isinstance(v.self, Pointer) else v.self.uniform
    )
    return Other(
        None,
        uniform,
        _reason(values)
        or Unresolved("unknown-function", f"`.{v.name}` is not defined in the files that were read", e.place),
    )


def _element(m: Machine, p: Pointer, t: RecordRef, e: Call) -> Value:
    layout = m.types.layout(t)
    index = as_int(m, rvalue(m, e.arguments[0]), e.place)
    if layout is not None and "_data" in layout.fields:
        from smemlint.evaluate.expressions import offset_pointer
        from smemlint.ir import ArrayOf

        _, inner = layout.fields["_data"]
        assert isinstance(inner, ArrayOf)
        target = offset_pointer(m, Pointer(p.object, p.offset, inner.element), index, e.place)
        return m.load(target, e.place)
    return Other(
        None, False, Unresolved("unknown-function", "`operator[]` of a type that is not known", e.place)
    )


def _group_method(m: Machine, name: str, t: RecordRef, e: Call) -> Value:
    """Ranks and sizes of cooperative groups."""
    values = [rvalue(m, a) for a in e.arguments]
    kind = short_name(t.name)
    threads = m.block[0] * m.block[1] * m.block[2]
    size: int | None = threads
    if kind == "thread_block_tile":
        first = t.arguments[0] if t.arguments else None
        size = first.value if isinstance(first, Literal) else None
    elif kind != "thread_block":
        size = None
    if name == "sync":
        m.barrier()
        return Other()
    if kind in ("thread_block", "thread_block_tile") and size:
        if name == "thread_rank":
            return Int(m.linear % size if kind == "thread_block_tile" else m.linear, UINT)
        if name in ("size", "num_threads"):
            return Int(size, UINT)
        if name == "meta_group_rank":
            return Int(m.linear // size, UINT)
        if name == "meta_group_size":
            return Int(max(threads // size, 1), UINT)
        if name in ("thread_index", "group_index", "group_dim", "dim_threads"):
            special = {"thread_index": "threadIdx", "group_index": "blockIdx"}.get(name, "blockDim")
            return RecordValue(
                RecordRef("dim3"), {4 * i: m.specials[special, a] for i, a in enumerate("xyz")}
            )
        if name in ("shfl", "shfl_up", "shfl_down", "shfl_xor") and values:
            v = values[0]
            if _uniform(v):
                return v
            reason = Unresolved("data-dependent", "comes from another lane", e.place)
            return (
                m.unknown(v.type, "shuffled value", uniform=False, reason=reason)
                if isinstance(v, Int)
                else Other(None, False, reason)
            )
    if kind == "grid_group" and name == "thread_rank":
        base = m.unknowns.value(ULONG, "grid.thread_rank()", low=0, rank=2, multiple=threads)
        return ar.binary("+", base, Int(m.linear, ULONG), m.unknowns)
    if name in ("ballot", "any", "all", "size", "num_threads", "num_blocks"):
        return m.unknowns.value(UINT, name, low=0, rank=2)
    reason = Unresolved("data-dependent", f"`.{name}()` depends on which lanes run", e.place)
    return m.unknown(UINT, name, uniform=False, reason=reason)


__all__ = ["BOOL", "BYTE", "Expr", "FunctionValue", "Place", "PointerTo", "function", "is_type", "method"]
