"""What a recursive-descent parser does not survive, found before it is asked.

libclang guards brackets (256 deep) but not chains of operators or of `else if`; each of these overflows
its stack and ends the process. Limits stand well below the measured breaking points and well above
anything written by hand.
"""

from __future__ import annotations

import re

from smemlint.patterns import pattern
from smemlint.records import record
from smemlint.source.blank import blank_literals

MAX_NESTING = 250
MAX_OPERATORS = 2_000
"""In one expression. A sum of 10,000 terms overflows the stack of libclang 18."""
MAX_ELSE_CHAIN = 1_000
MAX_EXPANSION = 200_000
MAX_DOUBLINGS = 15
"""Fewer macros than this cannot expand to MAX_EXPANSION words by naming each other."""

_OPENING = b"([{"
_BRACKET = pattern(rb"[][(){}]")
_ENDS = pattern(rb"[;{}]")
_BETWEEN = pattern(rb"[^;{}]+")
_LONG = 4_000
"""Bytes; a shorter stretch has no room for what the limits forbid."""
_OPERATOR = pattern(rb"[-+*/%&|^~!<>=?.:]+|\)\s*(?=[\w(])|\b(?:else|while|do|for|if|return)\b")
_MACRO = pattern(rb"^[ \t]*#[ \t]*define[ \t]+(\w+)(\(?)((?:[^\n\\]|\\\r?\n|\\.)*)", re.MULTILINE)
_WORD = pattern(rb"([A-Za-z_]\w*)((?:\s|\\\r?\n)*\()?|([()])")
_ELSE = pattern(rb"\belse\b")


@record(frozen=True, slots=True)
class Excess:
    offset: int
    message: str


def find_excess(data: bytes) -> Excess | None:
    """The first thing in a text that must not reach the parser, or None."""
    suspicious = (
        _deepest(data) > MAX_NESTING // 2
        or max(map(len, _ENDS.split(data))) > _LONG
        or data.count(b"else") > MAX_ELSE_CHAIN
    )
    if not suspicious:
        return _exploding_macro(data)
    code = blank_literals(data)
    return _exploding_macro(data) or _deep_nesting(code) or _long_expression(code) or _long_chain(code)


def _deepest(data: bytes) -> int:
    """How deep brackets are nested; a surplus of closing brackets does not count as negative depth."""
    depth = most = 0
    for bracket in _BRACKET.findall(data):
        depth = depth + 1 if bracket in _OPENING else max(depth - 1, 0)
        most = max(most, depth)
    return most


def _deep_nesting(code: bytes) -> Excess | None:
    depth = 0
    for match in _BRACKET.finditer(code):
        depth = depth + 1 if match.group() in _OPENING else max(depth - 1, 0)
        if depth > MAX_NESTING:
            return Excess(match.start(), f"brackets are nested more than {MAX_NESTING} deep")
    return None


def _long_expression(code: bytes) -> Excess | None:
    """The first expression with too many operators; each element of a braced table is an expression."""
    for match in _BETWEEN.finditer(code):
        found = match.group()
        if len(found) <= _LONG or found.lstrip().startswith(b"#"):
            continue
        in_table = code[match.start() - 1 : match.start()] == b"{"
        if (
            any(_count_operators(part) > MAX_OPERATORS for part in found.split(b","))
            or found.count(b"<") > MAX_OPERATORS
            or (not in_table and found.count(b",") > 4 * MAX_OPERATORS)
        ):
            return Excess(match.start(), f"one expression has more than {MAX_OPERATORS} operators")
    return None


def _count_operators(part: bytes) -> int:
    return sum(1 for _ in _OPERATOR.finditer(part)) if len(part) > MAX_OPERATORS else 0


def _long_chain(code: bytes) -> Excess | None:
    """A chain of `else` nests one statement a link, however flat it is written."""
    if code.count(b"else") <= MAX_ELSE_CHAIN:
        return None
    run, last = 0, -1
    for match in _ELSE.finditer(code):
        between = code[last : match.start()] if last >= 0 else b""
        run = run + 1 if last >= 0 and b"else" not in between and between.count(b";") <= 2 else 1
        last = match.end()
        if run > MAX_ELSE_CHAIN:
            return Excess(match.start(), f"more than {MAX_ELSE_CHAIN} `else` follow one another")
    return None


def _exploding_macro(data: bytes) -> Excess | None:
    """A macro that expands to more text than a parser can hold, by naming others that do."""
    if data.count(b"define") < MAX_DOUBLINGS:
        return None
    found = list(_MACRO.finditer(data))
    bodies = {m.group(1): (m.start(1), _uses(m.group(3))) for m in found}
    with_arguments = {m.group(1) for m in found if m.group(2)}
    sizes: dict[bytes, int] = {}

    def size(name: bytes, within: frozenset[bytes]) -> int:
        if name not in bodies or name in within or len(within) > 100:
            return 1
        if name not in sizes:
            total, picked = 1, dict[int, int]()
            for word, called, around in bodies[name][1]:
                words = size(word, within | {name})
                if called or word not in with_arguments:
                    total += words
                else:
                    picked[around] = max(picked.get(around, 0), words)
            sizes[name] = total + sum(picked.values())
        return sizes[name]

    for name, (offset, _) in bodies.items():
        if size(name, frozenset()) > MAX_EXPANSION:
            return Excess(offset, f"this macro expands to more than {MAX_EXPANSION} words")
    return None


def _uses(body: bytes) -> list[tuple[bytes, bool, int]]:
    """The words of a macro, whether each is called, and which brackets it stands in.

    What is only named, as an argument, expands where it is called: of `PICK(F3, F2, F1)(x)` one does.
    """
    uses: list[tuple[bytes, bool, int]] = []
    around = [0]
    for n, match in enumerate(_WORD.finditer(body), 1):
        word, called, bracket = match.groups()
        if word:
            uses.append((word, bool(called), around[-1]))
        if called or bracket == b"(":
            around.append(n)
        elif bracket and len(around) > 1:
            around.pop()
    return uses
