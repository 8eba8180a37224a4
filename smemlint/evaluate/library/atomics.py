"""Atomics as the compiler makes them for sm_90; docs/dev/banks.md has the table and how it was measured."""

from __future__ import annotations

from smemlint.banks import CAS_LOOP, CAS_LOOP_LOAD
from smemlint.evaluate.language.accesses import load, record_access, store
from smemlint.evaluate.machine.dispatch import rvalue
from smemlint.evaluate.machine.functions import called, short_name
from smemlint.evaluate.machine.machine import Frame, Machine
from smemlint.evaluate.memory.local_memory import known_offset
from smemlint.evaluate.model import Unresolved
from smemlint.evaluate.values.number import Int
from smemlint.evaluate.values.value import Other, Pointer, Value
from smemlint.ir import (
    Asm,
    Call,
    Expr,
    Function,
    Lambda,
    Member,
    Name,
    Place,
    RecordRef,
    Scalar,
    Special,
    StaticMember,
    Type,
    UnknownExpr,
)
from smemlint.ir.memo import by_identity
from smemlint.ir.uses import given
from smemlint.ir.walk import walk

_PREFIXES = ("atomic", "fetch_", "__nv_atomic_", "__atomic_")
_LANE_SPECIALS = frozenset(("threadIdx", "laneid", "warpid"))
_LANE_FUNCTIONS = ("shfl", "atomic", "lane", "thread", "rank", "match", "fetch_", "curand")
_PAIRS = frozenset(("__half2", "__nv_bfloat162", "half2", "nv_bfloat162"))
_OPERATORS = {
    "operator++": "fetch_add",
    "operator--": "fetch_sub",
    "operator+=": "fetch_add",
    "operator-=": "fetch_sub",
    "operator&=": "fetch_and",
    "operator|=": "fetch_or",
    "operator^=": "fetch_xor",
}


def is_atomic(name: str) -> bool:
    return short_name(name).startswith(_PREFIXES)


def atomic(m: Machine, e: Call, name: str, discarded: bool) -> Value:
    """`atomicAdd(pointer, operand)` and its like: one access, whose kind decides how lanes on one word are
    served."""
    values = [rvalue(m, a) for a in e.arguments]
    if not values:
        return Other()
    p = values[0]
    if not isinstance(p, Pointer):
        if name.startswith("atomic"):
            m.note("atomic-address", f"`{name}`: its address is not followed", e.place)
        return Other(None, False, Unresolved("data-dependent", "comes from an atomic", e.place))
    operand = values[1] if len(values) > 1 else None
    return update(m, e, _common_name(name), p, operand, discarded, e.arguments[0])


def _common_name(name: str) -> str:
    """`atomicAdd_block` and `__nv_atomic_fetch_add` by their common names."""
    for suffix in ("_block", "_system", "_n"):
        name = name.removesuffix(suffix)
    for prefix in ("__nv_atomic_", "__atomic_"):
        name = name.removeprefix(prefix)
    return name


def update(
    m: Machine,
    e: Call,
    name: str,
    p: Pointer,
    operand: Value | None,
    discarded: bool,
    address: Expr | None,
    *,
    reference: bool = False,
) -> Value:
    """A load, store or read-modify-write of `*p`. address: the expression of the pointer, which says
    whether the
    compiler can see that all threads have the same; reference: through cuda::atomic or atomic_ref."""
    t = p.pointee
    if name in ("load", "atomic_load"):
        return load(m, p, e.place)
    if name in ("store", "atomic_store"):
        store(m, p, operand or Other(), e.place)
        return Other()
    m.code_size.touched += 1
    if m.host and p.object.storage == "local":
        store(m, p, Other(), e.place)
    if p.object.storage == "shared":
        size = m.types.size_of(t) or 4
        same = p.offset.uniform and address is not None and same_for_all(m, address)
        op = operation(name, t, operand, discarded, same, reference)
        if op == CAS_LOOP:
            record_access(m, CAS_LOOP_LOAD, size, p, e.place)
        record_access(m, op, size, p, e.place)
    reason = Unresolved("data-dependent", f"comes from `{name}`", e.place)
    return m.unknown(t, name, uniform=False, reason=reason)


def operation(
    name: str, t: Type, operand: Value | None, discarded: bool, same: bool, reference: bool = False
) -> str:
    """What runs: `atomic`, `increment` (lanes on one word merge), `cas` or `cas loop`.

    same: the compiler sees one address for all threads: it reduces over the warp and lets one lane update.
    """
    size = t.size if isinstance(t, Scalar) else 4
    verb = name.removeprefix("atomic").removeprefix("fetch_").lower()
    if "cas" in verb or "compare" in verb:
        return "cas"
    if verb.startswith("exch"):
        return "atomic"
    floating = (isinstance(t, Scalar) and t.kind == "float") or isinstance(t, RecordRef)
    if floating or size != 4:
        pair = isinstance(t, RecordRef) and short_name(t.name) in _PAIRS
        return CAS_LOOP if pair or (isinstance(t, Scalar) and size in (4, 8)) else "cas"
    if same and (verb in ("add", "sub") or (discarded and verb in ("max", "min", "and", "or", "xor"))):
        return "increment"
    one = isinstance(operand, Int) and operand.known and isinstance(operand.const, int) and operand.const == 1
    if discarded and one and verb == "add" and not reference:
        return "increment"
    return "atomic"


# ---------------------------------------------------------------------- cuda::atomic, cuda::atomic_ref


def is_atomic_object(t: Type | None) -> bool:
    return (
        isinstance(t, RecordRef)
        and short_name(t.name) in ("atomic", "atomic_ref")
        and t.name.startswith(("cuda::", "std::", "cooperative_groups::", "atomic"))
        and bool(t.arguments)
    )


def _referred(m: Machine, p: Pointer) -> Pointer | None:
    """The element that an atomic object is or refers to; None where it is not followed."""
    t = p.pointee
    assert isinstance(t, RecordRef)
    element = t.arguments[0]
    if short_name(t.name) != "atomic_ref":
        return Pointer(p.object, p.offset, element)  # type: ignore[arg-type]
    held = p.object.cells.get(known_offset(m, p) or 0) if p.object.storage == "local" else None
    if not isinstance(held, Pointer):
        return None
    return Pointer(held.object, held.offset, element)  # type: ignore[arg-type]


def atomic_method(m: Machine, e: Call, name: str, p: Pointer, discarded: bool) -> Value:
    """A method of an atomic object, or of a reference to one."""
    target = _referred(m, p)
    values = [rvalue(m, a) for a in e.arguments]
    if target is None:
        m.note("atomic-address", f"`.{name}`: what the atomic_ref refers to is not followed", e.place)
        return Other(None, False, Unresolved("data-dependent", "comes from an atomic", e.place))
    if name in ("notify_one", "notify_all", "is_lock_free"):
        return Other(None, True)
    if name.startswith("operator") and name not in _OPERATORS:
        name = "store" if name == "operator=" else "load"
    name = _OPERATORS.get(name, name)
    base = e.callee.base if isinstance(e.callee, Member) else None
    operand = values[0] if values else Int(1)
    return update(m, e, name, target, operand, discarded, base, reference=True)


def operator_on_atomic(
    m: Machine, p: Pointer, op: str, operand: Value, base: Expr, place: Place | None
) -> Value:
    """`++a`, `a += n` on an atomic object."""
    call = Call(Member(base, f"operator{op}"), (), place)
    name = "fetch_add" if "++" in op else "fetch_sub" if "--" in op else _OPERATORS.get(f"operator{op}")
    target = _referred(m, p) if is_atomic_object(p.pointee) else None
    if target is None or name is None:
        m.note("atomic-address", f"`{op}` of an atomic object that is not followed", place)
        return Other(None, False, Unresolved("data-dependent", "comes from an atomic", place))
    return update(m, call, name, target, operand, False, base, reference=True)


# ---------------------------------------------------------------------- one address for all threads


def same_for_all(m: Machine, e: Expr) -> bool:
    """Whether no term of an expression names a thread, however it was computed.

    An address can be the same in all lanes and still be beyond the compiler's sight: `&q[threadIdx.x / 32]`.
    """
    return _is_uniform(m, e, len(m.frames) - 1, set())


def _is_uniform(m: Machine, e: object, level: int, seen: set[str]) -> bool:
    for node in walk(e):
        if isinstance(node, Asm | Lambda | UnknownExpr):
            return False
        if isinstance(node, Special) and node.name in _LANE_SPECIALS:
            return False
        if isinstance(node, Name) and not _same_variable(m, node, level, seen):
            return False
        if isinstance(node, Call) and not _same_call(m, node):
            return False
    return True


def _same_call(m: Machine, e: Call) -> bool:
    """A call adds no thread's number unless its body, or its name, speaks of one."""
    if isinstance(e.callee, Member | StaticMember | Name):
        name = called(e).lower()
        if any(word in name for word in _LANE_FUNCTIONS):
            return False
        ids = m.module.overloads.get(called(e), ())
        bodies = [m.module.functions[i].body for i in ids if i in m.module.functions]
        return not any(
            isinstance(n, Special) and n.name in _LANE_SPECIALS for body in bodies for n in walk(body)
        )
    return False


def _same_variable(m: Machine, e: Name, level: int, seen: set[str]) -> bool:
    if not e.id or e.id in seen:
        return True
    seen.add(e.id)
    for at in range(level, -1, -1):
        frame = m.frames[at]
        if e.id not in frame.variables:
            continue
        argument = _argument(frame, e.id)
        if argument is not None and not _is_uniform(m, argument, at - 1, seen):
            return False
        return all(_is_uniform(m, x, at, seen) for x in _definitions(frame, m, at, e.id))
    return True


def _argument(frame: Frame, id: str) -> object | None:
    """The expression that a parameter was given."""
    if frame.function is None:
        return None
    pairs = zip(frame.function.parameters, frame.arguments, strict=False)
    return next((argument for parameter, argument in pairs if parameter.id == id), None)


def _definitions(frame: Frame, m: Machine, at: int, id: str) -> list[Expr]:
    """All values that a variable is given in its function."""
    frames = (frame, *(m.frames[outer] for outer in range(at, -1, -1)))
    function = next((x.function for x in frames if x.function is not None), None)
    if function is None:
        return []
    return _settings(function).get(id, [])


@by_identity
def _settings(f: Function) -> dict[str, list[Expr]]:
    """By id: all values that each variable is given."""
    found: dict[str, list[Expr]] = {}
    for a in given(f):
        if isinstance(a.target, Name):
            found.setdefault(a.target.id, []).append(a.value)
    return found
