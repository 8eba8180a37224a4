"""One helper for equal swizzles: the functions that edits of one file bring are put together.

Each fix brings a function of its own, since each may be applied alone. Where several are applied, a function
that says the same as one in sight above it is left out, and its calls take that one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from smemlint.fix.text.source import Source
from smemlint.patterns import pattern
from smemlint.records import record

_HELPER = pattern(
    r"// (?P<what>Index|Column) of (?P<arrays>[^\n]+?)(?P<told>, (?:swizzled|with gaps)[^\r\n]*)\r?\n"
    r"__device__ __forceinline__ int (?P<name>\w+)\((?P<takes>[^)\n]*)\) "
    r"\{ return (?P<gives>[^;{}\n]*); \}\r?\n\r?\n"
)


@record(frozen=True, slots=True)
class _Helper:
    start: int
    end: int
    name: str
    arrays: str
    says: tuple[str, ...]
    arrays_end: int


def with_shared_helpers(path: str, before: bytes, after: bytes) -> bytes:
    """The edited text with one function for those that say the same.

    before: the text without the edits, whose functions stay as they are.
    """
    if after.count(b"// Index of ") + after.count(b"// Column of ") < 2:
        return after
    source = Source(path, after)
    text = source.text
    found = [_helper(m) for m in _HELPER.finditer(text)]
    old = before.decode("latin-1")
    kept: list[_Helper] = []
    left: list[tuple[_Helper, _Helper]] = []
    for each in found:
        new = re.search(rf"\b{each.name}\b", old) is None
        same = next((k for k in kept if k.says == each.says and _in_sight(source, k.end, each.start)), None)
        if same is None or not new:
            kept.append(each)
        else:
            left.append((each, same))
    return _written(text, left).encode("latin-1") if left else after


def _helper(match: re.Match[str]) -> _Helper:
    # An index and a column are computed alike; what the parameter is called does not matter.
    says = tuple(re.sub(r"\bcol\b", "i", match[part]) for part in ("told", "takes", "gives"))
    return _Helper(match.start(), match.end(), match["name"], match["arrays"], says, match.end("arrays"))


def _in_sight(source: Source, start: int, end: int) -> bool:
    """Whether what stands before a place is known at a later one: no scope and no `#if` ends between."""
    braces = conditions = 0
    for token in source.tokens:
        if not start <= token.offset < end:
            continue
        if token.kind == "directive":
            word = token.text.lstrip("# \t")
            conditions += word.startswith("if") - word.startswith("endif")
            if conditions < 0 or (conditions == 0 and word.startswith("el")):
                return False
        braces += (token.text == "{") - (token.text == "}")
        if braces < 0:
            return False
    return True


def _written(text: str, left: Sequence[tuple[_Helper, _Helper]]) -> str:
    """The text without the helpers that are left out, and the arrays of each named at the one that stays."""
    arrays: dict[int, list[str]] = {}
    for each, same in left:
        names = arrays.setdefault(same.arrays_end, [same.arrays])
        if each.arrays not in names:
            names.append(each.arrays)
    changes = [(each.start, each.end, "") for each, _ in left]
    changes += [(end, end, "".join(f", {name}" for name in names[1:])) for end, names in arrays.items()]
    for start, end, new in sorted(changes, reverse=True):
        text = text[:start] + new + text[end:]
    for each, same in left:
        text = re.sub(rf"\b{each.name}\b", same.name, text)
    return text
