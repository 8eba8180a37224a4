"""A layout as edits of the source: the declaration, every use, a helper where one is needed.

Each builder returns the edits, or the Refusal that says why the text does not allow them. Edits insert
rather than replace where they can, so that comments, macros and spelling stay as the author left them.
"""

from __future__ import annotations

import re

from smemlint.fix.edits.helpers import skew, swizzle
from smemlint.fix.edits.pitched import pitch
from smemlint.fix.model import Refusal, TextEdit
from smemlint.fix.search.candidates import Exchange, Layout, Padding, Shape, Skew, Trimmed
from smemlint.fix.text.brackets import parenthesis_around
from smemlint.fix.text.declared import (
    Declared,
    Edited,
    Value,
    checked,
    edit,
    every_use_subscripted,
    nested,
    shown,
)
from smemlint.fix.text.fragments import leading_dimensions
from smemlint.fix.text.passed import inner_extents
from smemlint.fix.text.source import Subscript, Use


def build(
    layout: Layout,
    at: Declared,
    linear_pitch: str | None,
    taken: set[str],
    shape: Shape,
    value: Value | None = None,
) -> Edited | Refusal:
    """Edits that carry out a layout.

    linear_pitch: for a flat array, the factor that is the row pitch. taken: names that are in use;
    names that the edits introduce are added. shape: the array as it stands, in some kernel instance.
    value: of an expression that the compiler knows, in that instance; None takes all of them as known.
    """
    helper = next((name for use in at.uses if (name := _computed_by(at, use))), "")
    if helper:
        return Refusal("no-better-layout", f"`{at.name}` is laid out by `{helper}` already, and by one only")
    if isinstance(layout, Padding):
        if linear_pitch is not None:
            return pitch(layout, at, linear_pitch, taken, shape, value)
        return _padding(layout, at, value)
    blocked = every_use_subscripted(at)
    if blocked is not None:
        return blocked
    if isinstance(layout, Exchange):
        return _exchange(layout, at)
    if isinstance(layout, Skew):
        return skew(layout, at, taken, shape.element)
    if isinstance(layout, Trimmed):
        trimmed = _padding(layout.padding, at, value)
        swizzled = swizzle(layout.swizzle, at, taken, shape.element, value)
        if isinstance(trimmed, Refusal) or isinstance(swizzled, Refusal):
            return trimmed if isinstance(trimmed, Refusal) else swizzled
        swizzled = swizzled.otherwise or swizzled  # a multiple of the old row is none of the new one
        edits = sorted((*trimmed.edits, *swizzled.edits), key=lambda e: (e.offset, e.end_offset))
        return Edited(tuple(edits), f"{trimmed.code}`, `{swizzled.code}")
    return swizzle(layout, at, taken, shape.element, value)


def _computed_by(at: Declared, use: Use) -> str:
    """The function of an earlier fix that computes the last index of a use, '' when there is none."""
    if not use.subscripts:
        return ""
    last = use.subscripts[-1]
    found = re.search(r"\b((?:swizzle|skew)_\w+)\s*\(", at.source.text[last.open + 1 : last.close])
    return found.group(1) if found else ""


def _padding(layout: Padding, at: Declared, value: Value | None) -> Edited | Refusal:
    sized = next((use for use in at.uses if use.context == "sizeof"), None)
    if sized is not None:
        return Refusal("size-elsewhere", f"`sizeof({at.name})` on line {sized.line} would change")
    wholes = [use for use in at.uses if use.context == "whole"]
    passed: list[Subscript] = []
    for use in wholes:
        # What takes an array of arrays, or refers to a row, names its inner extents in its own declaration.
        if len(use.subscripts) < len(at.extents) - 1:
            inner = inner_extents(at, use, layout.dim)
            if isinstance(inner, Refusal):
                return inner
            passed += inner
        elif _names_extents(at, use):
            return Refusal(
                "passed-on", f"`{at.name}` is passed on whole on line {use.line}, with its extents"
            )
    from smemlint.fix.text.expressions import plus

    further: list[TextEdit] = []
    for each in {bracket.open: bracket for bracket in passed}.values():
        wider = plus(at.source.text[each.open + 1 : each.close], layout.extra)
        widened = edit(at.source, each.open + 1, each.close, wider) if wider is not None else None
        if not isinstance(widened, TextEdit):
            return widened or Refusal("extent-not-an-expression", "an extent of a parameter is not read")
        further.append(widened)
    bracket = at.extents[layout.dim]
    old = at.extent(layout.dim)
    new = _without_summand(at, bracket, -layout.extra, value) or plus(old, layout.extra)
    if new is None:
        return Refusal("extent-not-an-expression", f"`[{shown(old)}]` is not read as a C expression")
    changed = edit(at.source, bracket.open + 1, bracket.close, new)
    if isinstance(changed, Refusal):
        return changed
    if layout.dim == len(at.extents) - 1:
        for begin, end in _pitches_of_fragments(at, value):
            pitched = plus(at.source.text[begin:end], layout.extra)
            told = edit(at.source, begin, end, pitched) if pitched is not None else None
            if not isinstance(told, TextEdit):
                return told or Refusal("extent-not-an-expression", "the pitch of a fragment is not read")
            further.append(told)
    rows = [use for use in wholes if len(use.subscripts) == len(at.extents) - 1]
    unsafe = f"`{at.name}` is passed on as a pointer on line {rows[0].line}" if rows else ""
    edits = sorted((changed, *further), key=lambda e: e.offset)
    return Edited(tuple(edits), at.text({layout.dim: new}), unsafe or _in_macros(at))


def _pitches_of_fragments(at: Declared, value: Value | None) -> list[tuple[int, int]]:
    """Where calls that load or store a fragment through the array say its row pitch."""
    old = at.extent(len(at.extents) - 1)
    known = value(old) if value is not None else None
    return [
        (begin, end)
        for begin, end in leading_dimensions(at.source, at.uses)
        if shown(at.source.text[begin:end]) == shown(old)
        or (value is not None and known is not None and value(at.source.text[begin:end]) == known)
    ]


def _names_extents(at: Declared, use: Use) -> bool:
    """Whether a row may be bound to a reference or pointer to an array, `float (&row)[32]`.

    That is one that the scope declares or, where the row is an argument of a function, any in the file.
    """
    code = at.source.code
    first, last = at.scope
    opening = parenthesis_around(code, at.source.index_at(use.offset))
    if opening is not None and code[opening - 1].kind == "name":
        first, last = 0, len(code)
    texts = [t.text for t in code[first:last]]
    return any(
        texts[n : n + 2] in (["(", "&"], ["(", "*"])
        and (texts[n + 2 : n + 4] == [")", "["] or texts[n + 3 : n + 5] == [")", "["])
        for n in range(len(texts) - 3)
    )


def _in_macros(at: Declared) -> str:
    """Where a macro uses the array in another way than element by element, '' when none does."""
    for use in at.source.macro_uses(at.name):
        after = at.source.text[use.end : use.end + 200].split("\n", 1)[0]
        if len(re.findall(r"\[[^\[\]]*\]", after)) < len(at.extents):
            return f"a macro on line {use.line} names `{at.name}`"
    return ""


def _without_summand(at: Declared, bracket: Subscript, less: int, value: Value | None) -> str | None:
    """The extent without its last summand (`BDIMX + IPAD` -> `BDIMX`) where that is the padding."""
    text = at.source.text[bracket.open + 1 : bracket.close]
    depth = 0
    for n in range(len(text) - 1, 0, -1):
        depth += (text[n] == ")") - (text[n] == "(")
        if text[n] in "+-*/%&|^<>?:," and depth == 0:
            if text[n] == "+" and less > 0 and value is not None and value(text[n + 1 :].strip()) == less:
                return text[:n].rstrip()
            return None
    return None


def _exchange(layout: Exchange, at: Declared) -> Edited | Refusal:
    source = at.source
    first, second = layout.dim, layout.dim + 1
    edits: list[TextEdit | Refusal] = []
    for groups in (at.extents, *(use.subscripts for use in at.uses if use.context != "sizeof")):
        a, b = groups[first], groups[second]
        left, right = source.text[a.open + 1 : a.close], source.text[b.open + 1 : b.close]
        if nested(at, a) or nested(at, b):
            return Refusal("nested-use", f"`{at.name}` stands in its own index")
        edits.append(edit(source, a.open + 1, a.close, right))
        edits.append(edit(source, b.open + 1, b.close, left))
    exchanged = {first: at.extent(second), second: at.extent(first)}
    return checked(edits, at.text(exchanged))
