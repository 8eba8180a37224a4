"""Where a name of the text means something else than the shared variable of that name."""

from __future__ import annotations

import bisect
import re

from smemlint.frontend.text.usage import in_parameter_list
from smemlint.patterns import pattern
from smemlint.records import record

_BRACE = pattern(rb"[{}]")
_NO_TYPES = frozenset(
    (
        b"return",
        b"else",
        b"do",
        b"case",
        b"goto",
        b"delete",
        b"new",
        b"throw",
        b"sizeof",
        b"typedef",
        b"using",
    )
)
_TYPE = rb"([A-Za-z_][\w:]*)(?:\s*<[^;{}()]*>)?(?:\s*[*&]+\s*|\s+)(?:(?:const|__restrict__|volatile)\s+)*"
_LOCAL = (
    rb"(?:[;{}]|\bfor\s*\()\s*(?:(?:const|volatile|unsigned|static|register|typename|auto|constexpr)\s+)*"
    + _TYPE
)
_FIRST = pattern(_LOCAL + rb"\Z")
_OTHER = pattern(_LOCAL + rb"(?=[A-Za-z_]\w*\s*[=\[,({])")
_PARAMETER = pattern(rb"[(,]\s*(?:(?:const|volatile|unsigned|register|typename)\s+)*" + _TYPE + rb"\Z")
_DEEPER = pattern(rb"[][(){};]")
_NEAR = 400
_AFTER = pattern(rb"\s*(?:=(?!=)|[;\[,){:])")


@record(frozen=True, slots=True)
class Blocks:
    """Braces of a text: where each opens, in order, and where it closes."""

    opens: tuple[int, ...]
    closes: tuple[int, ...]
    end: int

    @staticmethod
    def of(code: bytes) -> Blocks:
        """Return where the braces of a text open and close; one that is never closed ends with the text."""
        stack: list[int] = []
        pairs: list[tuple[int, int]] = []
        for match in _BRACE.finditer(code):
            if match.group() == b"{":
                stack.append(match.start())
            elif stack:
                pairs.append((stack.pop(), match.start()))
        pairs += [(start, len(code)) for start in stack]
        pairs.sort()
        return Blocks(tuple(start for start, _ in pairs), tuple(end for _, end in pairs), len(code))


def scope_end(blocks: Blocks, offset: int) -> int:
    """Where the innermost block around an offset ends."""
    at = bisect.bisect_left(blocks.opens, offset) - 1
    while at >= 0:
        if blocks.closes[at] > offset:
            return blocks.closes[at]
        at -= 1
    return blocks.end


def _is_further(before: bytes) -> bool:
    """Whether what follows is a declarator behind others (`int a = f(x, y), b = 2;`)."""
    if not before.rstrip(b" \t\n*&").endswith(b","):
        return False
    first = next(iter(reversed(list(_OTHER.finditer(before)))), None)
    if first is None or first.group(1) in _NO_TYPES:
        return False
    depth = 0
    for match in _DEEPER.finditer(before, first.end()):
        depth += 1 if match.group() in b"[({" else -1 if match.group() in b"])}" else 0
        if depth < 0 or (match.group() == b";" and depth == 0):
            return False
    return depth == 0


def shadowed_until(code: bytes, start: int, end: int, blocks: Blocks) -> int | None:
    """Where a name declared anew at `start`, as a parameter or a local, goes out of scope; else None."""
    if not _AFTER.match(code, end):
        return None
    before = code[max(0, start - _NEAR) : start]
    local = _FIRST.search(before)
    if local is not None and local.group(1) not in _NO_TYPES:
        return scope_end(blocks, start)
    if _is_further(before):
        return scope_end(blocks, start)
    parameter = _PARAMETER.search(before)
    if parameter is None or parameter.group(1) in _NO_TYPES:
        return None
    head = code[max(0, start - 4000) : start].decode("latin-1")
    if not in_parameter_list(head, len(head)):
        return None
    body = re.compile(rb"[;{]").search(code, end)
    if body is None or body.group() == b";":
        return body.start() if body else len(code)
    return scope_end(blocks, body.end())
