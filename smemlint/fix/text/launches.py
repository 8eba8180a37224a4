"""Launches of a kernel in the text: where the dynamic shared bytes stand, and whether all are seen."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from smemlint.fix.model import Refusal
from smemlint.fix.text.source import Source, Token
from smemlint.ir import Place

_DECLARES = frozenset(("void", "*", "&", ">"))


def bytes_arguments(source: Source, places: Iterable[Place]) -> list[tuple[int, int]] | Refusal:
    """Byte range of the third launch argument of each launch, once each."""
    found = []
    for offset in sorted({p.offset for p in places}):
        arguments = _arguments(source, offset)
        if arguments is None or len(arguments) < 3 or not arguments[2]:
            line = source.line_of(offset)
            return Refusal(
                "launch-elsewhere", f"the dynamic shared bytes of the launch on line {line} are not found"
            )
        third = arguments[2]
        found.append((third[0].offset, third[-1].end))
    return found


def _arguments(source: Source, offset: int) -> list[list[Token]] | None:
    """The arguments between `<<<` and `>>>` of the launch that begins at an offset."""
    code = source.code
    i = source.index_at(offset)
    while i + 1 < len(code) and not (code[i].text == "<<" and code[i + 1].text == "<"):
        if code[i].text in ";{}":
            return None
        i += 1
    parts: list[list[Token]] = [[]]
    depth = 0
    for j in range(i + 2, len(code) - 1):
        token = code[j]
        if token.text in ";{}":
            return None
        if depth == 0 and token.text == ">>" and code[j + 1].text == ">":
            return parts
        depth += (token.text in "([") - (token.text in ")]")
        if token.text == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return None


def grown(source: Source, places: Iterable[Place], growth: int) -> list[tuple[int, int, str]] | Refusal:
    """(start, end, text) of each launch's dynamic shared bytes, `growth` bytes more."""
    from smemlint.fix.text.expressions import plus

    ranges = bytes_arguments(source, places)
    if isinstance(ranges, Refusal):
        return ranges
    result = []
    for start, end in ranges:
        text = plus(source.text[start:end], growth)
        if text is None:
            line = source.line_of(start)
            return Refusal(
                "extent-not-an-expression", f"the dynamic shared bytes on line {line} are not read as C"
            )
        result.append((start, end, text))
    return result


def unknown_launch(source: Source, kernel: str, places: Sequence[Place]) -> str:
    """Why launches may exist that were not seen, '' when all are known.

    All are known when the file is a whole program or the kernel is its own (`static`, in an unnamed
    namespace), and every mention of the kernel's name is its declaration or a launch that was analysed.
    """
    if any(p.path != source.path or p.macro is not None for p in places):
        return f"`{kernel}` is launched outside of this file, or by a macro"
    seen = {source.index_at(p.offset) for p in places}
    names = {source.code[i].text for i in seen if i < len(source.code)}
    for token in source.tokens:
        if token.kind == "directive" and re.search(rf"\b{re.escape(kernel)}\b", token.text):
            return f"`{kernel}` is named by a macro on line {source.line_of(token.offset)}"
    own = "main" in {t.text for t in source.code}
    for i, token in enumerate(source.code):
        if token.text != kernel or token.kind != "name":
            continue
        if _is_declaration(source, i):
            own = own or _static(source, i)
            continue
        if i in seen or any(
            j <= i and source.code[j].text in names and _launches(source, j, i) for j in seen
        ):
            continue
        return f"`{kernel}` is also named on line {source.line_of(token.offset)}"
    return "" if own else f"`{kernel}` may be launched by other files"


def _launches(source: Source, first: int, index: int) -> bool:
    """Whether a kernel's name at `index` belongs to the launch that begins at `first` (`ns::kernel<<<`)."""
    return all(t.text == "::" or t.kind == "name" for t in source.code[first : index + 1])


def _is_declaration(source: Source, index: int) -> bool:
    before = source.code[index - 1] if index else None
    after = source.code[index + 1].text if index + 1 < len(source.code) else ""
    if before is None or after != "(":
        return False
    return before.text in _DECLARES or before.text == ")" or before.kind == "name"


def _static(source: Source, index: int) -> bool:
    start = source.index_at(source.statement_start(index))
    if any(t.text == "static" for t in source.code[start:index]):
        return True
    i = index
    while (scope := source.scope_of(i)) is not None:
        i = scope[0]
        if i and source.code[i - 1].text == "namespace":
            return True
    return False
