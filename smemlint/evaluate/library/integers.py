"""CUDA's integer functions: bits, bytes, halves of products, SIMD in a word."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import gcd, lcm

import numpy as np

from smemlint.evaluate.language.conversions import as_int
from smemlint.evaluate.machine.dispatch import rvalue
from smemlint.evaluate.machine.functions import FUNCTIONS, Arguments, called, named, reason_of
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.model import Unresolved
from smemlint.evaluate.values import affine
from smemlint.evaluate.values import arithmetic as ar
from smemlint.evaluate.values.number import Int, bounds, collapse, form_of, formed, in_words
from smemlint.evaluate.values.value import Other, Value
from smemlint.evaluate.values.widths import is_long_unsigned, range_of
from smemlint.ir import Call, RecordRef, Scalar, StaticMember
from smemlint.ir.types import BOOL, INT, LONG, UINT, ULONG
from smemlint.records import record

_WORD = (1 << 32) - 1


@record(frozen=True, slots=True)
class IntegerFunction:
    """compute: from operands as numbers of their types to one that the result wraps. low, high: its range."""

    compute: Callable[..., int]
    operands: tuple[Scalar, ...]
    result: Scalar
    low: int | None = None
    high: int | None = None


def _ones(x: int) -> int:
    return x.bit_count()


def _most_ones(v: Int) -> int:
    """As many bits as a number may have: of those of the lanes in front (`__popc(vote & lanes_below)`) no
    lane has all 32."""
    low, high = bounds(v)
    return 64 if low is None or high is None or low < 0 else high.bit_length()


def _reversed(x: int, bits: int) -> int:
    return int(f"{x:0{bits}b}"[::-1], 2)


def _permuted(x: int, y: int, selector: int) -> int:
    """Four of the eight bytes of y:x, by a nibble each; its top bit asks for copies of the byte's sign."""
    whole, result = y << 32 | x, 0
    for i in range(4):
        nibble = selector >> (4 * i) & 15
        byte = whole >> (8 * (nibble & 7)) & 255
        if nibble & 8:
            byte = 255 * (byte >> 7)
        result |= byte << (8 * i)
    return result


def _byte_wise(f: Callable[[int, int], int], bits: int) -> Callable[[int, int], int]:
    """f on each part of two words."""
    mask = (1 << bits) - 1

    def compute(a: int, b: int) -> int:
        parts = ((f(a >> at & mask, b >> at & mask) & mask) << at for at in range(0, 32, bits))
        return sum(parts)

    return compute


def _signed24(x: int) -> int:
    return ((x & 0xFFFFFF) ^ 0x800000) - 0x800000


def logic(a: int, b: int, c: int, table: int) -> int:
    """Any function of three bits, by its truth table, on each bit of three words."""
    result = 0
    for row in range(8):
        if table >> row & 1:
            x, y, z = (v if row >> at & 1 else ~v for v, at in ((a, 2), (b, 1), (c, 0)))
            result |= x & y & z
    return result & _WORD


def field(x: int, start: int, length: int, signed: bool, bits: int) -> int:
    """`length` bits of x from bit `start` on, filled up with its sign (PTX: bfe)."""
    start, length = start & 255, length & 255
    if length == 0:
        return 0
    last = min(start + length - 1, bits - 1)
    taken = ((x & ((1 << bits) - 1)) >> start) & ((1 << length) - 1)
    if signed and x >> last & 1:
        taken |= -1 << max(last - start + 1, 0)
    return taken


def inserted(x: int, into: int, start: int, length: int, bits: int) -> int:
    """`into` with the low `length` bits of x at bit `start` (PTX: bfi)."""
    start, length = start & 255, length & 255
    mask = (((1 << length) - 1) << start) & ((1 << bits) - 1)
    return (into & ~mask) | (x << start & mask)


def shifted(low: int, high: int, by: int, left: bool, clamp: bool) -> int:
    """A word of high:low, shifted (PTX: shf)."""
    by = min(by, 32) if clamp else by & 31
    whole = high << 32 | low
    return (whole << by) >> 32 if left else whole >> by


def find_last(x: int, bits: int, signed: bool) -> int:
    """The highest bit that is no copy of the sign, -1 for none (PTX: bfind)."""
    x = ~x if signed and x < 0 else x
    return (x & ((1 << bits) - 1)).bit_length() - 1


_TABLE: dict[str, IntegerFunction] = {
    "__ffs": IntegerFunction(lambda x: (x & -x).bit_length(), (UINT,), INT, 0, 32),
    "__ffsll": IntegerFunction(lambda x: (x & -x).bit_length(), (ULONG,), INT, 0, 64),
    "__clz": IntegerFunction(lambda x: 32 - x.bit_length(), (UINT,), INT, 0, 32),
    "__clzll": IntegerFunction(lambda x: 64 - x.bit_length(), (ULONG,), INT, 0, 64),
    "__popc": IntegerFunction(_ones, (UINT,), INT, 0, 32),
    "__popcll": IntegerFunction(_ones, (ULONG,), INT, 0, 64),
    "__brev": IntegerFunction(lambda x: _reversed(x, 32), (UINT,), UINT),
    "__brevll": IntegerFunction(lambda x: _reversed(x, 64), (ULONG,), ULONG),
    "__byte_perm": IntegerFunction(_permuted, (UINT, UINT, UINT), UINT),
    "__funnelshift_l": IntegerFunction(lambda a, b, n: shifted(a, b, n, True, False), (UINT,) * 3, UINT),
    "__funnelshift_r": IntegerFunction(lambda a, b, n: shifted(a, b, n, False, False), (UINT,) * 3, UINT),
    "__funnelshift_lc": IntegerFunction(lambda a, b, n: shifted(a, b, n, True, True), (UINT,) * 3, UINT),
    "__funnelshift_rc": IntegerFunction(lambda a, b, n: shifted(a, b, n, False, True), (UINT,) * 3, UINT),
    "__umulhi": IntegerFunction(lambda a, b: a * b >> 32, (UINT, UINT), UINT),
    "__mulhi": IntegerFunction(lambda a, b: a * b >> 32, (INT, INT), INT),
    "__umul64hi": IntegerFunction(lambda a, b: a * b >> 64, (ULONG, ULONG), ULONG),
    "__mul64hi": IntegerFunction(lambda a, b: a * b >> 64, (LONG, LONG), LONG),
    "__sad": IntegerFunction(lambda a, b, c: abs(a - b) + c, (INT, INT, UINT), UINT),
    "__usad": IntegerFunction(lambda a, b, c: abs(a - b) + c, (UINT, UINT, UINT), UINT),
    "__hadd": IntegerFunction(lambda a, b: (a + b) >> 1, (INT, INT), INT),
    "__rhadd": IntegerFunction(lambda a, b: (a + b + 1) >> 1, (INT, INT), INT),
    "__uhadd": IntegerFunction(lambda a, b: (a + b) >> 1, (UINT, UINT), UINT),
    "__urhadd": IntegerFunction(lambda a, b: (a + b + 1) >> 1, (UINT, UINT), UINT),
    "__mul24": IntegerFunction(lambda a, b: _signed24(a) * _signed24(b), (INT, INT), INT),
    "__umul24": IntegerFunction(lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF), (UINT, UINT), UINT),
    "__vadd2": IntegerFunction(_byte_wise(lambda a, b: a + b, 16), (UINT, UINT), UINT),
    "__vadd4": IntegerFunction(_byte_wise(lambda a, b: a + b, 8), (UINT, UINT), UINT),
    "__vsub2": IntegerFunction(_byte_wise(lambda a, b: a - b, 16), (UINT, UINT), UINT),
    "__vsub4": IntegerFunction(_byte_wise(lambda a, b: a - b, 8), (UINT, UINT), UINT),
    "__vmaxu4": IntegerFunction(_byte_wise(max, 8), (UINT, UINT), UINT),
    "__vminu4": IntegerFunction(_byte_wise(min, 8), (UINT, UINT), UINT),
}


_TABLE |= {
    f"__builtin_{name}{width}": IntegerFunction(f, (ULONG if width else UINT,), INT, 0, 64 if width else 32)
    for width in ("", "l", "ll")
    for name, f in {
        "clz": _TABLE["__clzll" if width else "__clz"].compute,
        "ctz": lambda x: (x & -x).bit_length() - 1,
        "ffs": _TABLE["__ffs"].compute,
        "popcount": _TABLE["__popc"].compute,
    }.items()
}
"""What the compilers of host code have of them."""
_TABLE |= {
    f"std::{name}": IntegerFunction(f, (ULONG,), result, 0)
    for name, f, result in (
        ("popcount", _TABLE["__popc"].compute, INT),
        ("bit_width", lambda x: x.bit_length(), INT),
        ("bit_ceil", lambda x: 1 << max(x - 1, 0).bit_length(), ULONG),
        ("bit_floor", lambda x: 1 << x.bit_length() >> 1, ULONG),
    )
}
"""Those of unsigned numbers of any width."""
_TABLE |= {
    name: IntegerFunction(f, (LONG,) * operands, result, low, high)
    for name, operands, f, result, low, high in (
        ("std::gcd", 2, gcd, LONG, 0, None),
        ("std::lcm", 2, lcm, LONG, 0, None),
        ("std::has_single_bit", 1, lambda x: int(_ones(x) == 1), BOOL, 0, 1),
        ("cuda::ceil_div", 2, lambda a, b: -(-a // b) if b else 0, LONG, None, None),
        ("cuda::round_up", 2, lambda a, b: -(-a // b) * b if b else 0, LONG, None, None),
        ("cuda::round_down", 2, lambda a, b: a // b * b if b else 0, LONG, None, None),
    )
}
"""Of numbers that are not negative where they are divided."""


def named_function(name: str) -> tuple[str, IntegerFunction]:
    """CUDA's function of that name, which some PTX instruction is."""
    return name, _TABLE[name]


def applied(m: Machine, name: str, f: IntegerFunction, values: Sequence[Value]) -> Value:
    """The result of an integer function; an unknown within its range where an operand is not known."""
    numbers = [ar.convert(as_int(m, v), t, m.unknowns) for v, t in zip(values, f.operands, strict=False)]
    if len(numbers) == len(f.operands) and all(n.known for n in numbers):
        result = _folded(m, f, numbers)
        if all(n.form is None for n in numbers):
            return result
        return formed(result, affine.atom(name, *(form_of(n) for n in numbers)))
    least, most = range_of(f.result)
    low, high = least if f.low is None else f.low, most if f.high is None else f.high
    if f.compute is _ones:
        high = min(high, _most_ones(numbers[0]))
    if len(numbers) in (1, 2):
        return m.unknowns.derived(name, numbers[0], numbers[-1], f.result, low, high)
    reason = reason_of(list(values)) or Unresolved(
        "nonlinear-index", f"`{name}` of a value that is not known"
    )
    varying = not all(n.uniform for n in numbers)
    return m.unknowns.value(f.result, name, varying=varying, low=low, high=high, reason=reason)


def _folded(m: Machine, f: IntegerFunction, numbers: Sequence[Int]) -> Int:
    """The result for known operands."""
    if all(isinstance(n.const, int) for n in numbers):
        result = f.compute(*(_number(n.const, n.type) for n in numbers))  # type: ignore[arg-type]
        return ar.convert(Int(in_words(result), LONG), f.result, m.unknowns)
    columns = [
        np.broadcast_to(np.asarray(n.const, dtype=np.int64), (m.threads.size,)).tolist() for n in numbers
    ]
    rows = list(zip(*columns, strict=True))
    found = {
        row: in_words(f.compute(*(_number(x, t) for x, t in zip(row, f.operands, strict=True))))
        for row in set(rows)
    }
    lanes = np.array([found[row] for row in rows], dtype=np.int64)
    return ar.convert(Int(collapse(lanes, m.threads.present), LONG), f.result, m.unknowns)


def _number(c: int, t: Scalar) -> int:
    return c & (2**64 - 1) if is_long_unsigned(t) else c


def _register(name: str, f: IntegerFunction) -> None:
    def handler(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
        values = [rvalue(m, a) for a in e.arguments]
        if name == "__hadd" and not all(isinstance(v, Int) for v in values):
            return Other()  # of half precision
        return applied(m, name, f, values)

    FUNCTIONS[name] = handler


for _name, _function in _TABLE.items():
    _register(_name, _function)


@named("std::countl_zero", "std::countr_zero", "std::countl_one", "std::countr_one")
def _counted(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    """Zeros or ones at an end of an unsigned number, which depend on its width."""
    v, name = rvalue(m, e.arguments[0]), called(e)
    bits = 8 * v.type.size if isinstance(v, Int) else 64

    def count(x: int) -> int:
        text = f"{x:0{bits}b}"[:: -1 if "countr" in name else 1]
        return bits - len(text.lstrip("0" if name.endswith("zero") else "1"))

    return applied(m, name, IntegerFunction(count, (ULONG,), INT, 0, bits), [v])


@named("std::bit_cast")
def _bit_cast(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    """`bit_cast<int>(x)` of a number as wide as what it becomes."""
    v, t = rvalue(m, e.arguments[0]), arguments[0] if arguments else None
    if isinstance(v, Int) and isinstance(t, Scalar) and t.kind != "float" and t.size == v.type.size:
        return ar.convert(v, t, m.unknowns)
    return Other(t if isinstance(t, Scalar) else None)


@named("std::numeric_limits::max", "std::numeric_limits::min", "std::numeric_limits::lowest")
def _limit(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    """`numeric_limits<int>::max()` of an integer."""
    owner = m.resolve(e.callee.owner) if isinstance(e.callee, StaticMember) else None
    t = owner.arguments[0] if isinstance(owner, RecordRef) and owner.arguments else None
    if not isinstance(t, Scalar) or t.kind not in ("int", "uint"):
        return Other(t if isinstance(t, Scalar) else None, True)
    return Int(in_words(range_of(t)[called(e) == "max"]), t)


def _product24(name: str, function: str, add: bool) -> None:
    """`__mul24(a, b)` and `__mad24(a, b, c)`: of the low 24 bits. Sizes are taken to have no more."""

    def handler(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
        a, b, *rest = (as_int(m, rvalue(m, x), e.place) for x in e.arguments)
        if a.known and b.known:
            product = applied(m, name, _TABLE[function], (a, b))
        else:
            product = ar.binary("*", a, b, m.unknowns)
        return ar.binary("+", as_int(m, product), rest[0], m.unknowns) if add and rest else product

    FUNCTIONS[name] = handler


_product24("__mul24", "__mul24", False)
_product24("__umul24", "__umul24", False)
_product24("__mad24", "__mul24", True)
_product24("mad24", "__mul24", True)
_product24("__umad24", "__umul24", True)


def _absolute(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    v = rvalue(m, e.arguments[0])
    if isinstance(v, Int):
        t = ar.promoted(v.type)
        if v.known:
            form = None if v.form is None else affine.atom("abs", v.form)
            return ar.wrapped(
                Int(abs(v.const) if isinstance(v.const, int) else np.abs(v.const), t, None, form)
            )
        low = bounds(v)[0]
        if low is not None and low >= 0:
            return v.typed(t)
        return m.unknowns.derived("abs", v, Int(0), t, 0)
    return v


for _name in ("abs", "labs", "llabs", "std::abs"):
    FUNCTIONS[_name] = _absolute
