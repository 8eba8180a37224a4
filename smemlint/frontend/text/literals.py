"""Literals from their text, with C++'s types."""

from __future__ import annotations

from smemlint.frontend.text.scalars import BY_KIND
from smemlint.ir import FloatLiteral, Literal
from smemlint.ir.nodes import Scalar
from smemlint.ir.types import CHAR, DOUBLE, FLOAT, INT, LONG, LONG_LONG, UINT, ULONG, ULONG_LONG
from smemlint.patterns import pattern

_INTEGER = pattern(r"(0[xX][\da-fA-F]+|0[bB][01]+|\d+)([uUlLzZ]*)$")
_FLOAT = pattern(r"(0[xX][\da-fA-F]*\.?[\da-fA-F]*[pP][+-]?\d+|\d*\.?\d*(?:[eE][+-]?\d+)?)([fFlL]?)$")
_ESCAPES = {"n": 10, "t": 9, "r": 13, "0": 0, "a": 7, "b": 8, "f": 12, "v": 11}


def integer_literal(text: str) -> Literal | None:
    """`0x10u` and the like; the type is the first of C++'s list that holds the value."""
    found = _INTEGER.match(text.replace("'", ""))
    if not found:
        return None
    digits, suffix = found.group(1), found.group(2).lower()
    decimal = not (digits.startswith("0") and len(digits) > 1)
    if decimal:
        value = int(digits)
    elif digits[1] in "xX":
        value = int(digits, 16)
    elif digits[1] in "bB":
        value = int(digits, 2)
    elif digits.strip("01234567"):
        return None
    else:
        value = int(digits, 8)
    return Literal(value, _integer_type(value, suffix, decimal))


def _integer_type(value: int, suffix: str, decimal: bool) -> Scalar:
    unsigned, longs = "u" in suffix, suffix.count("l") + suffix.count("z")
    signed_types = (INT, LONG, LONG_LONG)[longs:]
    unsigned_types = (UINT, ULONG, ULONG_LONG)[longs:]
    for signed_type, unsigned_type in zip(signed_types, unsigned_types, strict=True):
        bits = signed_type.size * 8
        if not unsigned and value < 1 << (bits - 1):
            return signed_type
        if (unsigned or not decimal) and value < 1 << bits:
            return unsigned_type
    return unsigned_types[-1]


def literal_from_text(text: str) -> Literal | FloatLiteral | None:
    """Any number or character literal."""
    if text[-1:] == "'":
        return character_literal(text)
    whole = integer_literal(text)
    if whole is not None:
        return whole
    found = _FLOAT.match(text.replace("'", ""))
    if not found or not found.group(1):
        return None
    digits, suffix = found.group(1), found.group(2).lower()
    try:
        value = float.fromhex(digits) if digits[:2] in ("0x", "0X") else float(digits)
    except ValueError:
        return None
    return FloatLiteral(value, FLOAT if suffix == "f" else BY_KIND[23] if suffix == "l" else DOUBLE)


def character_literal(text: str) -> Literal | None:
    """Return the value of `'a'` or an escape; None for what is neither."""
    body = text[text.index("'") + 1 : -1]
    if len(body) == 1:
        return Literal(ord(body), CHAR)
    if body[:1] != "\\":
        return None
    if body[1] in "xX":
        return Literal(int(body[2:], 16), CHAR)
    if body[1].isdigit():
        return Literal(int(body[1:], 8), CHAR)
    return Literal(_ESCAPES.get(body[1], ord(body[1])), CHAR)
