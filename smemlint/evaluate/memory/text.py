"""Text of host code whose characters are known: literals, words of the command line, arrays of characters."""

from __future__ import annotations

import ast

from smemlint.evaluate.memory.elements import STRINGS
from smemlint.evaluate.values.number import Int
from smemlint.evaluate.values.value import Cells, Object, Pointer, RecordValue, Value
from smemlint.ir import ArrayOf, Literal, RecordRef, Scalar
from smemlint.ir.types import CHAR, INT
from smemlint.patterns import pattern

LONGEST = 64
"""Characters of a text that are followed."""
TEXT = "text"
"""Id of what a pointer to a text leads to."""
_LITERAL = pattern(r'"(?:[^"\\\n]|\\.)*"')


def spelled(token: str) -> str | None:
    """What a literal stands for as it is written: `"a\\n" "b"`; None where it is no plain text."""
    parts = _LITERAL.findall(token)
    if "".join(parts) != "".join(token.split()) and token.strip() != "".join(parts):
        return None
    try:
        text = "".join(ast.literal_eval(part) for part in parts)
    except (SyntaxError, ValueError):
        return None
    return text if text.isascii() else None


def characters(text: str) -> dict[int, Value]:
    """Return the cells of an array that holds a text, with the zero behind it."""
    return {i: Int(ord(c), CHAR) for i, c in enumerate(text + "\0")}


def literal(text: str) -> Pointer:
    """Return a pointer to a text, which is followed if it is short."""
    o = Object(TEXT, TEXT, ArrayOf(CHAR, Literal(len(text) + 1, INT)), "local", uniform=True)
    if len(text) > LONGEST:
        o.havoc = True
    else:
        o.cells = Cells(characters(text))
    return Pointer(o, Int(0), CHAR)


def text_in(v: Value | None) -> str | None:
    """The text that a pointer leads to, or a `std::string` holds; None where a character is not known."""
    if isinstance(v, RecordValue) and isinstance(v.type, RecordRef) and v.type.name in STRINGS:
        v = v.cells.get(0)
    if not isinstance(v, Pointer) or v.object.storage != "local" or not is_character(v.pointee):
        return None
    at = v.offset.const
    if v.offset.terms or not isinstance(at, int):
        return None
    found: list[str] = []
    for i in range(at, at + LONGEST + 1):
        c = v.object.cells.get(i)
        if not isinstance(c, Int) or c.terms or not isinstance(c.const, int):
            return None
        if c.const == 0:
            return "".join(found)
        found.append(chr(c.const & 0xFF))
    return None


def is_character(t: object) -> bool:
    """Whether a type is that of characters."""
    return isinstance(t, Scalar) and t.size == 1 and t.kind != "bool"
