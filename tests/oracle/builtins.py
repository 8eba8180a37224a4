"""Functions of the language and the library that kernels call."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from oracle import groups
from oracle.exchanges import NAMES, received, sent, type_of_result
from oracle.frames import OWN, Barrier, Exchange, Flow, Frame, Ref, Value
from oracle.memory import SHARED
from oracle.values import Num, Ptr, UnsupportedError, binary, common, convert, from_bits, promote, to_bits
from smemlint.ir import ArrayOf, Call, Literal, PointerTo, RecordRef, Scalar, Type
from smemlint.ir.types import FLOAT, HALF, INT, UINT, ULONG

if TYPE_CHECKING:
    from oracle.thread import Thread

_NOTHING = {
    "__syncwarp",
    "__threadfence",
    "__threadfence_block",
    "assert",
    "printf",
    "__builtin_assume",
    "static_assert",
}


BARRIERS = {
    "__syncthreads": "",
    "__syncthreads_or": "or",
    "__syncthreads_and": "and",
    "__syncthreads_count": "count",
}


def _common(numbers: list[Num]) -> tuple[Num, Num]:
    type_ = common(numbers[0].type, numbers[1].type)
    return convert(numbers[0], type_), convert(numbers[1], type_)


def _min(numbers: list[Num]) -> Num:
    return min(_common(numbers), key=lambda n: n.value)


def _max(numbers: list[Num]) -> Num:
    return max(_common(numbers), key=lambda n: n.value)


def _abs(numbers: list[Num]) -> Num:
    type_ = promote(numbers[0].type)
    return convert(Num(abs(numbers[0].value), type_), type_)


def _bits(numbers: list[Num]) -> int:
    return int(convert(numbers[0], UINT).value)


def _long(numbers: list[Num]) -> int:
    return int(convert(numbers[0], ULONG).value)


def _permuted(low: int, high: int, selector: int) -> int:
    """Four of the eight bytes; the fourth bit of a selector would repeat a sign, and is not used."""
    both = high << 32 | low
    return sum((both >> 8 * (selector >> 4 * i & 7) & 255) << 8 * i for i in range(4))


_INTEGER: dict[str, Callable[[list[Num]], Num]] = {
    "min": _min,
    "max": _max,
    "abs": _abs,
    "__mul24": lambda n: binary("*", convert(n[0], INT), convert(n[1], INT)),
    "__umul24": lambda n: binary("*", convert(n[0], UINT), convert(n[1], UINT)),
    "__popc": lambda n: Num(bin(_bits(n)).count("1"), INT),
    "__clz": lambda n: Num(32 - _bits(n).bit_length(), INT),
    "__ffs": lambda n: Num((_bits(n) & -_bits(n)).bit_length(), INT),
    "__brev": lambda n: Num(int(f"{_bits(n):032b}"[::-1], 2), UINT),
    "__popcll": lambda n: Num(bin(_long(n)).count("1"), INT),
    "__clzll": lambda n: Num(64 - _long(n).bit_length(), INT),
    "__ffsll": lambda n: Num((_long(n) & -_long(n)).bit_length(), INT),
    "__umulhi": lambda n: Num(_bits(n) * _bits(n[1:]) >> 32, UINT),
    "__byte_perm": lambda n: Num(_permuted(*(_bits(n[i:]) for i in range(3))), UINT),
    "__funnelshift_l": lambda n: Num(
        (_bits(n[1:]) << 32 | _bits(n)) >> (32 - _bits(n[2:]) % 32) & 0xFFFFFFFF, UINT
    ),
    "__float_as_int": lambda n: convert(Num(to_bits(n[0].value, FLOAT), UINT), INT),
    "__int_as_float": lambda n: Num(from_bits(_bits(n), FLOAT), FLOAT),
}

_FLOAT: dict[str, Callable[..., float]] = {
    "sqrtf": lambda x: math.sqrt(abs(x)),
    "fabsf": abs,
    "floorf": math.floor,
    "fminf": min,
    "fmaxf": max,
    "fmaf": lambda a, b, c: a * b + c,
    "__half2float": lambda x: x,
    "expf": lambda x: math.exp(min(x, 80.0)),
}

_ATOMIC: dict[str, Callable[[Num, list[Num]], Num]] = {
    "atomicAdd": lambda old, n: _wrapping("+", old, n[0]),
    "atomicSub": lambda old, n: _wrapping("-", old, n[0]),
    "atomicExch": lambda old, n: n[0],
    "atomicMin": lambda old, n: _min([old, n[0]]),
    "atomicMax": lambda old, n: _max([old, n[0]]),
    "atomicAnd": lambda old, n: _wrapping("&", old, n[0]),
    "atomicOr": lambda old, n: _wrapping("|", old, n[0]),
    "atomicXor": lambda old, n: _wrapping("^", old, n[0]),
    "atomicInc": lambda old, n: Num(0 if old.value >= n[0].value else old.value + 1, old.type),
    "atomicDec": lambda old, n: Num(
        n[0].value if old.value == 0 or old.value > n[0].value else old.value - 1, old.type
    ),
    "atomicCAS": lambda old, n: n[1] if old.value == convert(n[0], old.type).value else old,
}


def _wrapping(op: str, old: Num, value: Num) -> Num:
    """Atomics wrap around, whatever the sign."""
    if old.type.kind == "float":
        return binary(op, old, value)
    a, b = int(old.value), int(value.value)
    return convert(Num({"+": a + b, "-": a - b, "&": a & b, "|": a | b, "^": a ^ b}[op], old.type), old.type)


def call(thread: Thread, name: str, expr: Call, frame: Frame, used: bool) -> Flow:
    """The value of a call of a function that the module does not define."""
    name = name.rsplit("::", 1)[-1]
    if groups.makes_group(name):
        return groups.made(thread, name, expr, frame)
    if name in BARRIERS:
        holds = bool(expr.arguments) and (yield from thread.at(0, thread.truth(expr.arguments[0], frame)))
        result = yield Barrier(tuple(thread.path), BARRIERS[name], holds)
        return Num(result, INT) if BARRIERS[name] else None
    if name in _NOTHING:
        return None
    if name.startswith("make_"):
        return (yield from thread.construct(RecordRef(name[5:]), expr.arguments, frame))
    if name == "swap":
        return (yield from _swap(thread, expr, frame))
    values: list[Value] = []
    for i, argument in enumerate(expr.arguments):
        values.append((yield from thread.at(i, thread.rvalue(argument, frame))))
    if name in ("memcpy", "__builtin_memcpy"):
        return (yield from _copy(thread, expr, values))
    if name in NAMES:
        return (yield from _exchange(thread, name, values))
    base = name.removesuffix("_block").removesuffix("_system")
    if base in _ATOMIC:
        return (yield from _atomic(thread, base, expr, values, used))
    if name == "__ldg" and isinstance(values[0], Ptr):
        return (yield from thread.load(Ref(values[0].address, values[0].to), expr))
    if name == "__cvta_generic_to_shared" and isinstance(values[0], Ptr):
        if values[0].address < SHARED:
            raise UnsupportedError("address of global memory as shared")
        return Num(values[0].address - SHARED, ULONG)
    numbers = [v for v in values if isinstance(v, Num)]
    if len(numbers) == len(values):
        if name in _INTEGER:
            return _INTEGER[name](numbers)
        if name == "__float2half":
            return convert(numbers[0], HALF)
        if name in _FLOAT:
            return convert(Num(_FLOAT[name](*(float(n.value) for n in numbers)), FLOAT), FLOAT)
    raise UnsupportedError(f"function {name}")


def _exchange(thread: Thread, name: str, values: list[Value]) -> Flow:
    numbers = [v for v in values if isinstance(v, Num)]
    given = tuple(sent(n) for n in numbers)
    if name in ("__ballot_sync", "__any_sync", "__all_sync"):
        given = (given[0], int(bool(numbers[1].value)))
    type_ = type_of_result(name, numbers[1].type)
    result = yield Exchange((*thread.path, OWN), name, given)
    return received(result, type_)


def _swap(thread: Thread, expr: Call, frame: Frame) -> Flow:
    a = yield from thread.at(0, thread.lvalue(expr.arguments[0], frame))
    b = yield from thread.at(1, thread.lvalue(expr.arguments[1], frame))
    old, new = thread.read(a), thread.read(b)
    thread.write(a, new)
    thread.write(b, old)


def _copy(thread: Thread, expr: Call, values: list[Value]) -> Flow:
    """memcpy of a number, which is one access where shared memory is read or written."""
    target, source, size = values
    if not isinstance(target, Ptr) or not isinstance(source, Ptr) or not isinstance(size, Num):
        raise UnsupportedError("memcpy of no pointers")
    count = int(size.value)
    for op, pointer in (("load", source), ("store", target)):
        if pointer.address >= SHARED:
            yield thread.access(op, pointer.address, count, expr, OWN + (500 if op == "store" else 0))
    memory = thread.machine.memory
    memory.store(target.address, count, memory.load(source.address, count))
    return target


def _atomic(thread: Thread, name: str, expr: Call, values: list[Any], used: bool) -> Flow:
    pointer = values[0]
    if not isinstance(pointer, Ptr) or not isinstance(pointer.to, Scalar):
        raise UnsupportedError(f"{name} on {pointer}")
    ref = Ref(pointer.address, pointer.to)
    numbers = [convert(v, pointer.to) for v in values[1:]]
    constant = isinstance(expr.arguments[1], Literal) and expr.arguments[1].value == 1
    merges = name == "atomicAdd" and constant and not used and pointer.to.kind in ("int", "uint")
    op = "cas" if name == "atomicCAS" else "increment" if merges and pointer.to.size == 4 else "atomic"
    if pointer.address >= SHARED:
        yield thread.access(op, pointer.address, pointer.to.size, expr, OWN)
    old = thread.read(ref)
    assert isinstance(old, Num)
    thread.write(ref, _ATOMIC[name](old, numbers))
    return old


def type_of(name: str, given: list[Type]) -> Type:
    """Of the call of such a function."""
    name = name.rsplit("::", 1)[-1]
    if name.startswith("make_"):
        return RecordRef(name[5:])
    if name in NAMES and isinstance(given[1], Scalar):
        return type_of_result(name, given[1])
    if name in ("min", "max") and isinstance(given[0], Scalar) and isinstance(given[1], Scalar):
        return common(given[0], given[1])
    if name == "abs" and isinstance(given[0], Scalar):
        return promote(given[0])
    if name.startswith("atomic") or name == "__ldg":
        pointer = given[0]
        if isinstance(pointer, ArrayOf):
            return pointer.element
        if isinstance(pointer, PointerTo):
            return pointer.to
    if name == "__cvta_generic_to_shared":
        return ULONG
    if name in ("__umul24", "__brev", "__umulhi", "__byte_perm", "__funnelshift_l"):
        return UINT
    if name == "__float2half":
        return HALF
    return INT if name in _INTEGER else FLOAT
