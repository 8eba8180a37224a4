"""Values and C's arithmetic on them."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass

from smemlint.ir import Scalar, Type
from smemlint.ir.types import BOOL, INT, LONG


class UnsupportedError(Exception):
    """The interpreter does not know this construct."""


class UndefinedError(Exception):
    """The program does something that C++ leaves undefined, so that no answer can be wrong."""


@dataclass(slots=True, unsafe_hash=True)  # made by the million: not frozen, which costs three times as much
class Num:
    """A number of fundamental type, in range."""

    value: int | float
    type: Scalar


@dataclass(slots=True, unsafe_hash=True)
class Ptr:
    address: int
    to: Type


@dataclass(frozen=True, slots=True)
class Rec:
    """A record by value: its bytes."""

    type: Type
    data: bytes


class NotANumber(float):
    """A NaN that keeps its bits, as registers do."""

    bits: int
    size: int

    @classmethod
    def of(cls, bits: int, size: int) -> NotANumber:
        made = cls(math.nan)
        made.bits, made.size = bits, size
        return made


def is_float(type_: Scalar) -> bool:
    return type_.kind == "float"


def fit(value: int | float, type_: Scalar) -> int | float:
    """The value after conversion to a type, modulo 2^N for integers."""
    if (
        type_.kind == "int"
        and isinstance(value, int)
        and -0x8000_0000 <= value < 0x8000_0000 <= 1 << (8 * type_.size - 1)
    ):
        return value
    if type_.kind == "bool":
        return int(value != 0)
    if type_.kind == "float":
        return from_bits(to_bits(value, type_), type_)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise UndefinedError("conversion of a number that is not finite")
        value = int(value)
    bits = 8 * type_.size
    value &= (1 << bits) - 1
    return value - (1 << bits) if type_.kind == "int" and value >> (bits - 1) else value


def convert(number: Num, type_: Scalar) -> Num:
    return Num(fit(number.value, type_), type_)


def to_bits(value: int | float, type_: Scalar) -> int:
    if type_.kind != "float":
        return int(value) & ((1 << (8 * type_.size)) - 1)
    if isinstance(value, NotANumber) and value.size == type_.size:
        return value.bits
    value = float(value)
    if type_.size == 8:
        return int.from_bytes(struct.pack("<d", value), "little")
    try:
        packed = struct.pack("<e" if type_.name == "__half" else "<f", value)
    except OverflowError:
        packed = struct.pack("<e" if type_.name == "__half" else "<f", math.copysign(math.inf, value))
    bits = int.from_bytes(packed, "little")
    return bits >> 16 if type_.size == 2 and type_.name != "__half" else bits


def from_bits(bits: int, type_: Scalar) -> int | float:
    if type_.kind != "float":
        return fit(bits, type_) if type_.kind != "bool" else int(bits & 0xFF != 0)
    value = _float_of(bits, type_)
    return NotANumber.of(bits, type_.size) if math.isnan(value) else value


def _float_of(bits: int, type_: Scalar) -> float:
    if type_.size == 8:
        return float(struct.unpack("<d", bits.to_bytes(8, "little"))[0])
    if type_.size == 2 and type_.name == "__half":
        return float(struct.unpack("<e", bits.to_bytes(2, "little"))[0])
    return float(struct.unpack("<f", (bits << 16 if type_.size == 2 else bits).to_bytes(4, "little"))[0])


def promote(type_: Scalar) -> Scalar:
    return INT if type_.kind != "float" and (type_.size < 4 or type_.kind == "bool") else type_


def common(a: Scalar, b: Scalar) -> Scalar:
    """The usual arithmetic conversions."""
    if is_float(a) or is_float(b):
        if is_float(a) and is_float(b):
            return a if a.size >= b.size else b
        return a if is_float(a) else b
    a, b = promote(a), promote(b)
    if a.size != b.size:
        return a if a.size > b.size else b
    return a if a.kind == "uint" else b


_COMPARISONS = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


def binary(op: str, left: Num, right: Num) -> Num:
    """`left op right`, without the short-circuit operators.

    Raises UndefinedError for signed overflow, division by zero and shifts out of range.
    """
    if op in ("<<", ">>"):
        return _shift(op, left, right)
    type_ = common(left.type, right.type)
    a, b = fit(left.value, type_), fit(right.value, type_)
    if op in _COMPARISONS:
        return Num(int(_COMPARISONS[op](a, b)), BOOL)
    if is_float(type_):
        return Num(fit(_float(op, float(a), float(b)), type_), type_)
    assert isinstance(a, int) and isinstance(b, int)
    return _in_range(_integer(op, a, b), type_)


def _integer(op: str, a: int, b: int) -> int:
    if op in ("/", "%"):
        if b == 0:
            raise UndefinedError("division by zero")
        quotient = abs(a) // abs(b)
        quotient = quotient if (a < 0) == (b < 0) else -quotient
        return quotient if op == "/" else a - quotient * b
    return {"+": a + b, "-": a - b, "*": a * b, "&": a & b, "|": a | b, "^": a ^ b}[op]


def _float(op: str, a: float, b: float) -> float:
    if op == "/":
        return a / b if b else math.nan
    try:
        return {"+": a + b, "-": a - b, "*": a * b}[op]
    except KeyError:
        raise UnsupportedError(f"{op} on floats") from None


def _shift(op: str, left: Num, right: Num) -> Num:
    type_ = promote(left.type)
    value, count = fit(left.value, type_), right.value
    if not isinstance(value, int) or not isinstance(count, int):
        raise UnsupportedError("shift of a float")
    if not 0 <= count < 8 * type_.size:
        raise UndefinedError("shift out of range")
    return Num(fit(value << count if op == "<<" else value >> count, type_), type_)


def _in_range(value: int, type_: Scalar) -> Num:
    fitted = fit(value, type_)
    if type_.kind == "int" and fitted != value:
        raise UndefinedError("signed overflow")
    return Num(fitted, type_)


def unary(op: str, operand: Num) -> Num:
    if op == "!":
        return Num(int(operand.value == 0), BOOL)
    type_ = promote(operand.type)
    value = fit(operand.value, type_)
    if op == "-":
        return Num(-value, type_) if is_float(type_) else _in_range(-int(value), type_)
    return Num(value, type_) if op == "+" else Num(fit(~int(value), type_), type_)


def difference(a: int, b: int, size: int) -> Num:
    """Of two pointers, in elements."""
    return Num(_integer("/", a - b, size), LONG)
