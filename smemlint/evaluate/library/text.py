"""What the C and C++ libraries make of text in host code: numbers, lengths, comparisons."""

from __future__ import annotations

from collections.abc import Sequence

from smemlint.evaluate.language.accesses import store
from smemlint.evaluate.language.places import offset_pointer, place_of
from smemlint.evaluate.library.containers import forget_elements
from smemlint.evaluate.machine.dispatch import rvalue
from smemlint.evaluate.machine.functions import Arguments, called, named, number
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.memory.elements import NOWHERE, STRINGS
from smemlint.evaluate.memory.text import literal, text_in
from smemlint.evaluate.values.number import Int
from smemlint.evaluate.values.value import Method, Other, Pointer, RecordValue, Value
from smemlint.ir import Call, Construct, Expr, PointerTo, RecordRef, Type
from smemlint.ir.types import BOOL, CHAR, INT, LONG, ULONG

_TO_INT = ("atoi", "stoi")


def text_of(m: Machine, e: Expr) -> str | None:
    """The text that an expression is, or that an object is made of."""
    while isinstance(e, Construct) and len(e.arguments) == 1:
        e = e.arguments[0]
    return text_in(rvalue(m, e))


@named("atoi", "atol", "atoll", *(f"strto{x}" for x in ("l", "ll", "ul", "ull")))
@named(*(f"sto{x}" for x in ("i", "l", "ul", "ull", "ll")))
def _parsed(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    text = text_of(m, e.arguments[0]) if e.arguments else None
    if text is None:
        return Other()
    digits = text.strip().removeprefix("+")
    body = digits.removeprefix("-")
    count = next((i for i, c in enumerate(body) if not c.isdigit()), len(body))
    if not count and called(e).startswith("sto"):
        return Other()  # it throws
    n = int(body[:count] or 0)
    return Int(-n if digits.startswith("-") else n, INT if called(e) in _TO_INT else LONG)


@named("strcmp", "strcasecmp", "strncmp", "strncasecmp")
def _compared(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    a, b = (text_of(m, x) for x in e.arguments[:2]) if len(e.arguments) > 1 else (None, None)
    if a is None or b is None:
        return m.unknowns.value(INT, "strcmp")
    if "case" in called(e):
        a, b = a.lower(), b.lower()
    if len(e.arguments) > 2:
        most = number(rvalue(m, e.arguments[2]))
        if most is None:
            return m.unknowns.value(INT, "strcmp")
        a, b = a[:most], b[:most]
    return Int((a > b) - (a < b), INT)


@named("strlen")
def _length(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    text = text_of(m, e.arguments[0]) if e.arguments else None
    return m.unknowns.value(ULONG, "strlen", low=0) if text is None else Int(len(text), ULONG)


@named("std::getline")
def _getline(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    """A line of a stream, of which neither the text is known nor whether there is one."""
    for a in e.arguments[1:2]:
        forget_elements(place_of(m, a))
    return Other()


# ---------------------------------------------------------------------- std::string

_BEGINS = ("c_str", "data", "begin", "cbegin")
_ELEMENTS = ("operator[]", "at", "front", "back")
_ASKS = ("find", "rfind", "substr", "compare", "size", "length", "empty", "end", "cend", *_BEGINS, *_ELEMENTS)


def is_string(t: Type | None) -> bool:
    """Return whether a type is a `std::string`, or a view of one."""
    return isinstance(t, RecordRef) and t.name in STRINGS


def string_made(m: Machine, t: RecordRef, arguments: Sequence[Expr]) -> RecordValue:
    """Return a string made of what a constructor is given."""
    given = [rvalue(m, a) for a in arguments]
    text = "" if not given else text_in(given[0]) if len(given) == 1 else None
    return RecordValue(t, {} if text is None else {0: literal(text)})


def compared_strings(m: Machine, op: str, a: Value, b: Value) -> Int | None:
    """Return what `==` and `!=` give for strings that are known."""
    if not m.host or op not in ("==", "!="):
        return None
    if not any(isinstance(v, RecordValue) and is_string(v.type) for v in (a, b)):
        return None
    left, right = text_in(a), text_in(b)
    return None if left is None or right is None else Int(int((left == right) == (op == "==")), BOOL)


def string_element(m: Machine, v: Method, e: Call) -> Pointer | None:
    """Return the place of `s[i]` or `s.front()`; None for everything else."""
    held = _characters(v.self) if v.name in _ELEMENTS else None
    text = text_in(held)
    if held is None or text is None:
        if v.name in _ELEMENTS and isinstance(v.self, Pointer):
            forget_elements(v.self)
        return None
    ends = {"front": Int(0), "back": Int(len(text) - 1)}
    at = ends.get(v.name) or (rvalue(m, e.arguments[0]) if e.arguments else None)
    return offset_pointer(m, held, at, e.place) if isinstance(at, Int) else None


def string_method(m: Machine, v: Method, e: Call) -> Value | None:
    """Return what a method of a string that is known gives; None for any other. What changes it is not
    followed."""
    held = _characters(v.self)
    text = text_in(held)
    given = [rvalue(m, a) for a in e.arguments]
    if v.name not in _ASKS and isinstance(v.self, Pointer):
        forget_elements(v.self)
        if v.name == "clear":
            store(m, Pointer(v.self.object, v.self.offset, PointerTo(CHAR)), literal(""), e.place)
            return Other()
    if held is None or text is None:
        return None
    if v.name in _BEGINS:
        return held
    if v.name in ("end", "cend"):
        return offset_pointer(m, held, Int(len(text)), e.place)
    if v.name in ("size", "length"):
        return Int(len(text), ULONG)
    if v.name == "empty":
        return Int(int(not text), BOOL)
    if v.name in ("find", "rfind") and len(given) == 1:
        return _find(m, text, given[0], last=v.name == "rfind")
    return _substring(text, [number(x) for x in given]) if v.name == "substr" else None


def _characters(self: Value) -> Pointer | None:
    """What a string holds."""
    if isinstance(self, RecordValue):
        held = self.cells.get(0)
    elif isinstance(self, Pointer) and isinstance(self.offset.const, int) and not self.offset.terms:
        held = self.object.cells.get(self.offset.const)
    else:
        held = None
    return held if isinstance(held, Pointer) else None


def _find(m: Machine, text: str, wanted: Value, *, last: bool) -> Int | None:
    c = number(wanted) if isinstance(wanted, Int) else None
    part = text_in(wanted) if c is None else chr(c & 0xFF)
    if part is None:
        return None
    at = text.rfind(part) if last else text.find(part)
    return Int(NOWHERE if at < 0 else at, ULONG)


def _substring(text: str, at: list[int | None]) -> RecordValue | None:
    first, count = at[0] if at else 0, at[1] if len(at) > 1 else len(text)
    if first is None or count is None or not 0 <= first <= len(text):
        return None
    return RecordValue(RecordRef("std::string"), {0: literal(text[first : first + count])})
