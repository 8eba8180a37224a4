"""Whether all launches of a kernel are seen in the text, and are the same whatever the program is told."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from smemlint.fix.text.launches.settled import asks, block_at, is_settled
from smemlint.fix.text.launches.written import arguments_of, is_declaration, meanings, said_by
from smemlint.fix.text.source import Source
from smemlint.ir import Place


def told_otherwise(source: Source, places: Iterable[Place], kernel: str, pitch: str, dynamic: bool) -> str:
    """The launch whose block, bytes or pitch are others when the program is told other words; '' without one.

    dynamic: the bytes count.
    """
    if not asks(source):
        return ""
    for offset in sorted({p.offset for p in places if p.path == source.path}):
        arguments = arguments_of(source, offset)
        if arguments is None or len(arguments) < 2:
            continue
        index = source.index_at(offset)
        block = block_at(source, arguments)
        said = [("block", text) for text in block.values()]
        if dynamic and len(arguments) > 2 and arguments[2]:
            said.append(("size", source.text[arguments[2][0].offset : arguments[2][-1].end]))
        row = said_by(pitch, meanings(source, offset, kernel) | block) if pitch else None
        said += [("row", row)] if row is not None else []
        for what, text in said:
            if not is_settled(source, text, index):
                line = source.line_of(offset)
                return f"what the program is told may change the {what} of the launch on line {line}"
    return ""


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
        if is_declaration(source, i):
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
