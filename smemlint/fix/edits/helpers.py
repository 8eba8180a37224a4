"""Layouts that compute the last index anew: a small function before the kernel, called at every access."""

from __future__ import annotations

from dataclasses import replace

from smemlint.fix.model import Refusal, TextEdit
from smemlint.fix.search.candidates import Skew, Swizzle
from smemlint.fix.text.declared import (
    Declared,
    Edited,
    Value,
    checked,
    edit,
    every_use_subscripted,
    fresh,
    nested,
    shown,
)
from smemlint.fix.text.literals import integer
from smemlint.fix.text.neighbours import Low, low_of, multiples
from smemlint.fix.text.source import Source, Subscript, has_side_effect, parse_range
from smemlint.fix.text.views import View, view_of
from smemlint.records import record


@record(frozen=True, slots=True)
class Period:
    """After how many elements a swizzle of one index begins anew: what is added in multiples of it stays
    outside, where one address serves a whole loop. value: of an expression that the compiler knows."""

    elements: int
    value: Value

    def split(self, source: Source, index: Subscript) -> tuple[str, str]:
        return multiples(source, index.open + 1, index.close, self.elements, self.value)


def swizzle(
    layout: Swizzle, at: Declared, taken: set[str], element: int, value: Value | None = None
) -> Edited | Refusal:
    """element: bytes of one. value: of an expression that the compiler knows."""
    told = f"// {_last(at)} of {at.name}, swizzled to spread the lanes over the banks; its own inverse."
    parameter = ("i" if len(at.extents) < 2 else "col",) if layout.linear else ("row", "col")
    formula = swizzle_formula(layout, parameter[-1])
    names = set(taken)
    whole = _helper(at, element, taken, "swizzle", told, parameter, formula, layout.kept)
    if not layout.linear or value is None or isinstance(whole, Refusal):
        return whole
    period = Period(1 << (layout.shift + layout.bits), value)
    parted = _helper(at, element, names, "swizzle", told, parameter, formula, layout.kept, period)
    if isinstance(parted, Refusal) or parted.edits == whole.edits:
        return whole
    return replace(parted, otherwise=whole)


def skew(layout: Skew, at: Declared, taken: set[str], element: int) -> Edited | Refusal:
    """A gap after every stretch of the last index: the extent grows, every use goes through a helper.

    element: bytes of one.
    """
    from smemlint.fix.text.expressions import times

    blocked = every_use_subscripted(at, resizes=True)
    if blocked is not None:
        return blocked
    last = len(at.extents) - 1
    if last < 0 or at.pool is not None:
        return Refusal("size-elsewhere", f"the size of `{at.name}` is not written at its declaration")
    bracket, old = at.extents[last], at.extent(last)
    length = integer(shown(old))
    if length is not None:
        new: str | None = str(length + (length >> layout.shift) * layout.extra)
    else:
        share = times(old, "1")
        share = share[: -len(" * 1")] if share is not None else None
        more = f" * {layout.extra}" if layout.extra > 1 else ""
        new = f"{share} + {share} / {1 << layout.shift}{more}" if share is not None else None
    if new is None:
        return Refusal("extent-not-an-expression", f"`[{shown(old)}]` is not read as a C expression")
    told = f"// {_last(at)} of {at.name}, with gaps that spread the lanes over the banks."
    parameter = ("col",) if last else ("i",)
    helped = _helper(at, element, taken, "skew", told, parameter, skew_formula(layout, parameter[0]))
    if isinstance(helped, Refusal):
        return helped
    extent = edit(at.source, bracket.open + 1, bracket.close, new)
    return checked([*helped.edits, extent], f"{at.text({last: new})}`, `{helped.code}")


def _last(at: Declared) -> str:
    return "Column" if len(at.extents) > 1 else "Index"


def _helper(
    at: Declared,
    element: int,
    taken: set[str],
    verb: str,
    told: str,
    parameters: tuple[str, ...],
    formula: str,
    kept: int = 1,
    period: Period | None = None,
) -> Edited | Refusal:
    """A function before the kernel that gives the last index anew, called at every use.

    parameters: of the function; two are the last two indices. kept: neighbours that the text must show to
    stay neighbours. period: what may stay outside of the function.
    """
    source = at.source
    start = source.function_start(at.index)
    if start is None and at.local and source.body_of(at.index) is None:
        start = source.statement_start(at.index)
    if start is None:
        return Refusal("no-place-for-helper", f"the function around `{at.name}` is not found in the text")
    name = fresh(f"{verb}_{at.name}", taken)
    newline = source.newline
    declared = ", ".join(f"int {p}" for p in parameters)
    edits: list[TextEdit | Refusal] = [
        edit(
            source,
            start,
            start,
            f"{told}{newline}"
            f"__device__ __forceinline__ int {name}({declared}) {{ return {formula}; }}{newline}{newline}",
        )
    ]
    first, split = "", False
    for use in at.uses:
        if use.context == "sizeof":
            continue
        column = use.subscripts[-1]
        lead = f"{name}("
        if len(parameters) > 1:
            row = use.subscripts[-2]
            tokens = parse_range(source, row.open + 1, row.close)
            if has_side_effect(tokens):
                return Refusal("side-effect", f"the row index on line {use.line} must not be evaluated twice")
            if nested(at, row) or any(t.text in at.others for t in tokens):
                return Refusal("nested-use", f"the row index on line {use.line} reads shared memory itself")
            lead = f"{name}({shown(source.text[row.open + 1 : row.close])}, "
        view = view_of(source, use)
        if view is not None:
            edits += _through(at, column, view, element, lead)
            continue
        low = low_of(source, column.open + 1, column.close, kept) if kept > 1 else None
        outside, inside = period.split(source, column) if period is not None and low is None else ("", "")
        if outside and inside:
            parted = f"{outside} + {lead}{inside})"
            edits.append(edit(source, column.open + 1, column.close, parted))
            first = first or f"{at.name}[{shown(parted)}]"
            continue
        edits.append(edit(source, column.open + 1, column.open + 1, lead))
        if low is not None:
            edits.append(edit(source, low.begin, low.end, low.groups))
        tail = f") + {low.within}" if low is not None else ")"
        edits.append(edit(source, column.close, column.close, tail))
        if not first or (low is not None and not split):
            groups = [source.text[s.open + 1 : s.close] for s in use.subscripts]
            groups[-1] = f"{lead}{_replaced(source, column, low)}{tail}"
            first = at.name + "".join(f"[{shown(g)}]" for g in groups)
            split = low is not None
    return checked(edits, first)


def _replaced(source: Source, column: Subscript, low: Low | None) -> str:
    """An index with its lowest summand as whole groups."""
    begin, end = column.open + 1, column.close
    if low is None:
        return source.text[begin:end]
    return source.text[begin : low.begin] + low.groups + source.text[low.end : end]


def _through(
    at: Declared, column: Subscript, view: View, element: int, lead: str
) -> list[TextEdit | Refusal]:
    """The last index with what a view adds to it, computed anew; of elements that the view takes apart, what
    is within one stays added."""
    from smemlint.fix.text.expressions import times

    source = at.source
    added = source.text[view.begin : view.end]
    line = source.line_of(view.begin)
    if has_side_effect(parse_range(source, view.begin, view.end)):
        return [Refusal("side-effect", f"what is added on line {line} must not be evaluated twice")]
    own = source.text[column.open + 1 : column.close]
    inside = ""
    if view.size >= element:
        index = times(added, str(view.size // element)) if view.size > element else added
    else:
        parts = element // view.size
        index, inside = f"({added}) / {parts}", f"({added}) % {parts}"
    if index is None:
        return [Refusal("extent-not-an-expression", f"what is added on line {line} is not read as C")]
    whole = index if integer(shown(own)) == 0 else f"{own} + {index}"
    left = (inside or "0") if view.bracket else inside and f" + {inside}"
    return [
        edit(source, column.open + 1, column.close, f"{lead}{shown(whole)})"),
        edit(source, view.begin if view.bracket else view.outer[0], view.end, left),
    ]


def skew_formula(layout: Skew, column: str = "col") -> str:
    """The body of the helper: `col + (col >> 5 << 2)`."""
    if layout.extra == 1:
        return f"{column} + ({column} >> {layout.shift})"
    return f"{column} + ({column} >> {layout.shift} << {layout.extra.bit_length() - 1})"


def swizzle_formula(layout: Swizzle, last: str = "") -> str:
    """The body of the helper, as short as it can be said. last: what the last index is called."""
    mask = (1 << layout.bits) - 1
    column = last or ("i" if layout.linear else "col")
    row = column if layout.linear else "row"
    if layout.shift >= layout.base:
        moved = layout.shift - layout.base
        part = f"({row} >> {moved})" if moved else row
        return f"{column} ^ ({part} & {mask << layout.base})"
    moved = layout.base - layout.shift
    return f"{column} ^ (({row} << {moved}) & {mask << layout.base})"
