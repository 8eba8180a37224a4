"""Another row pitch of a flattened array: a named constant, its use in the size and at every access.

Of a part of a dynamic pool, what lies behind it moves and every launch asks for more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from smemlint.fix.model import Refusal, TextEdit
from smemlint.fix.search.candidates import Padding, Shape
from smemlint.fix.text import flat
from smemlint.fix.text.declared import (
    Declared,
    Edited,
    Pool,
    Value,
    checked,
    edit,
    every_use_subscripted,
    fresh,
    shown,
)
from smemlint.fix.text.fragments import leading_dimensions
from smemlint.fix.text.launches.settled import function_around, is_constant
from smemlint.fix.text.literals import integer
from smemlint.fix.text.pointers import Pointer
from smemlint.fix.text.source import Source, Use, has_side_effect, parse_range
from smemlint.fix.text.views import view_of
from smemlint.patterns import pattern

_NAME = pattern(r"(?<![\w.])(?<!->)[A-Za-z_]\w*")


def pitch(
    layout: Padding, at: Declared, pitch: str, taken: set[str], shape: Shape, value_of: Value | None
) -> Edited | Refusal:
    blocked = every_use_subscripted(at, resizes=True, views=at.pool is None)
    if blocked is not None:
        return blocked
    source = at.source
    indices, shared = flat.index_texts(source, at.elements, at.scope)
    told = flat.said(source, at.elements, indices, pitch, at.scope)
    hits = list(told.factors)
    shared = shared or told.shared
    if (not hits or told.shared) and shared:
        return Refusal("index-used-elsewhere", shared)
    if not hits:
        return Refusal("pitch-not-found", f"no row pitch is seen in the indices of `{at.name}`")
    if at.pool is None and value_of is not None and value_of(pitch) is None:
        return Refusal(
            "run-time-pitch", f"the row pitch of `{at.name}` is `{pitch}`, known at the launch only"
        )
    if at.pool is not None:
        fixed = value_of is None or value_of(pitch) is not None
        return _pool_pitch(layout, at, at.pool, pitch, (indices, told), taken, shape, fixed)
    name = fresh(f"{at.name.upper()}_PITCH", taken)
    bracket = at.extents[-1]
    old = at.extent(len(at.extents) - 1)
    *_, rows, value = shape.dims
    size = flat.terms(source, bracket.open + 1, bracket.close)
    seen = _visible(at, pitch, value)
    if isinstance(seen, Refusal):
        return seen
    new = flat.new_size(old, size, bracket.open + 1, pitch, name, rows * value, value, seen)
    if new is None:
        return Refusal("size-not-rows", f"`[{shown(old)}]` is not said as rows of `{pitch}`")
    from smemlint.fix.text.expressions import plus

    padded = plus(seen, layout.extra)
    if padded is None:
        return Refusal("extent-not-an-expression", f"`{pitch}` is not read as a C expression")
    start = source.statement_start(at.index)
    indent = source.indent_of(start)
    definition = f"constexpr int {name} = {padded};{source.newline}{indent}"
    edits = [edit(source, start, start, definition), edit(source, bracket.open + 1, bracket.close, new)]
    edits.extend(edit(source, hit.offset, hit.end, name) for hit in _unique(hits))
    edits.extend(_of_fragments(at, pitch, name))
    views = _viewed(at, name, value, layout.extra, shape.element)
    if isinstance(views, Refusal):
        return views
    edits.extend(views)
    if value_of is not None:
        edits.extend(_in_parts(at, name, value, shape.element, value_of))
    # An index that says no row stays in the first one, as far as was seen.
    unsaid = next(_without_row(at, indices, told), None)
    within = f"the index of `{at.name}` on line {unsaid.line} shows no row" if unsaid is not None else ""
    written = checked(edits, f"{name} = {padded}", within)
    more = _in_rows(at, indices, told, pitch, name) if value & (value - 1) == 0 else []
    if isinstance(written, Refusal) or not more:
        return written
    longer = checked([*edits, *more], f"{name} = {padded}")
    return written if isinstance(longer, Refusal) else replace(written, otherwise=longer)


def _in_rows(
    at: Declared, indices: Sequence[flat.IndexText], told: flat.Said, pitch: str, name: str
) -> list[TextEdit | Refusal]:
    """Indices that no row pitch is seen in, as rows and columns: `[i]` becomes `[i / P * PITCH + i % P]`."""
    source = at.source
    edits: list[TextEdit | Refusal] = []
    for use in _without_row(at, indices, told):
        bracket = use.subscripts[-1]
        tokens = parse_range(source, bracket.open + 1, bracket.close)
        text = shown(source.text[bracket.open + 1 : bracket.close])
        if has_side_effect(tokens):
            return []
        index = text if len(tokens) == 1 else f"({text})"
        row = pitch if re.fullmatch(r"\w+", pitch) else f"({pitch})"
        edits.append(
            edit(source, bracket.open + 1, bracket.close, f"{index} / {row} * {name} + {index} % {row}")
        )
    return edits


def _without_row(at: Declared, indices: Sequence[flat.IndexText], told: flat.Said) -> Iterator[Use]:
    """The uses whose index, no plain number, does not say the row pitch."""
    source = at.source
    inside = [hit.offset for hit in told.factors]
    holding = set(told.names)
    for each in indices:
        factors = {f for t in each.terms for f in t.factors}
        if each.local and (factors & set(told.factors) or any(f.text in told.names for f in factors)):
            holding.add(each.local)
    for use in at.uses:
        if not use.subscripts:
            continue
        bracket = use.subscripts[-1]
        tokens = parse_range(source, bracket.open + 1, bracket.close)
        if any(bracket.open < at_ < bracket.close for at_ in inside) or holding & {t.text for t in tokens}:
            continue
        text = shown(source.text[bracket.open + 1 : bracket.close])
        if text and integer(text) is None:
            yield use


def _viewed(
    at: Declared, name: str, pitch: int, extra: int, element: int
) -> list[TextEdit | Refusal] | Refusal:
    """The same of elements of another type: for rows of 64 halves the index `i` of `((float4 *)a)[i]` becomes
    `i / 8 * (PITCH / 8) + i % 8`."""
    source = at.source
    edits: list[TextEdit | Refusal] = []
    for use in at.uses:
        if use.viewed is None:
            continue
        size, bracket = use.viewed
        row = pitch * element // size
        if size % element or pitch * element % size or extra * element % size or row & (row - 1):
            return Refusal("passed-on", f"`{at.name}` is seen as {size}-byte elements on line {use.line}")
        tokens = parse_range(source, bracket.open + 1, bracket.close)
        if has_side_effect(tokens):
            return Refusal("side-effect", f"an index on line {use.line} would be evaluated twice")
        text = shown(source.text[bracket.open + 1 : bracket.close])
        if integer(text) == 0:
            continue
        index = text if len(tokens) == 1 else f"({text})"
        by = size // element
        pitched = name if by == 1 else f"({name} / {by})"
        edits.append(
            edit(source, bracket.open + 1, bracket.close, f"{index} / {row} * {pitched} + {index} % {row}")
        )
    return edits


def _in_parts(at: Declared, name: str, pitch: int, element: int, value_of: Value) -> list[TextEdit | Refusal]:
    """The row pitch counted in parts of an element, in what is added to an address that is cast to them: of
    `*((float *)&a[0][0] + r * 128 + c)` for rows of 32 `float4` the `128`, also in a local variable."""
    source = at.source
    spans = []
    for use in at.uses:
        view = view_of(source, use)
        if view is not None and view.size < element and element % view.size == 0:
            spans.append((view.begin, view.end, element // view.size))
    inside = [(begin, end) for begin, end, _ in spans]
    found: dict[int, TextEdit | Refusal] = {}
    for begin, end, parts in spans:
        terms = flat.terms(source, begin, end)
        for term in list(terms):
            definition = _only_inside(source, term, inside, at.scope)
            terms += flat.terms(source, *definition) if definition is not None else []
        for term in terms:
            hits = [f for f in term.factors if len(term.factors) > 1 and value_of(f.text) == pitch * parts]
            for hit in hits[-1:]:
                found[hit.offset] = edit(source, hit.offset, hit.end, f"({name} * {parts})")
    return list(found.values())


def _only_inside(
    source: Source, term: flat.Term, inside: Sequence[tuple[int, int]], scope: tuple[int, int]
) -> tuple[int, int] | None:
    """The initialiser of the local variable that a summand is, where it is used in these places alone."""
    name = term.factors[0].text if len(term.factors) == 1 else ""
    definition = (
        flat.definition_at(source, name, scope, term.factors[0].offset) if name.isidentifier() else None
    )
    if definition is None or flat.used_elsewhere(source, name, definition, inside, scope) is not None:
        return None
    return definition


def _of_fragments(at: Declared, pitch: str, name: str) -> list[TextEdit | Refusal]:
    """The pitch in calls that load or store a fragment through the array, by its new name."""
    return [
        edit(at.source, begin, end, name)
        for begin, end in leading_dimensions(at.source, at.uses)
        if shown(at.source.text[begin:end]) == shown(pitch)
    ]


def _visible(at: Declared, pitch: str, value: int, fixed: bool = True) -> str | Refusal:
    """The pitch as it can be written before the array: as a number where a name in it is declared later and
    the compiler knows what it is. fixed: whether it does."""
    names = set(_NAME.findall(pitch))
    code = at.source.code
    function = function_around(at.source, at.index)
    if function is None and at.source.body_of(at.index) is None:
        if names <= at.source.file_names(at.index):
            return pitch
        if not fixed:
            return Refusal(
                "run-time-pitch", f"`{pitch}` is known at the launch only, and set after `{at.name}`"
            )
        return str(value)
    first = at.source.index_at(at.source.statement_start(function[0])) if function is not None else 0
    before = {code[i].text for i in range(first, at.index)}
    after = {
        code[i].text
        for i in range(at.index, at.scope[1])
        if code[i].text in names and code[i - 1].kind == "name" and code[i + 1].text in ("=", "{", "(")
    }
    said = pitch
    for name in sorted(after - before):
        definition = flat.local_definition(at.source, name, at.scope)
        text = "" if definition is None else at.source.text[slice(*definition)]
        inner = set(_NAME.findall(text))
        if (
            not text
            or has_side_effect(parse_range(at.source, *definition or (0, 0)))
            or (inner - before - {"blockDim"} and not all(is_constant(at.source, n) for n in inner - before))
        ):
            break
        said = re.sub(rf"(?<![\w.]){name}\b", text if re.fullmatch(r"[\w.]+", text) else f"({text})", said)
    else:
        return said
    if not fixed:
        return Refusal("run-time-pitch", f"`{pitch}` is known at the launch only, and set after `{at.name}`")
    return str(value)


def _pool_pitch(
    layout: Padding,
    at: Declared,
    pool: Pool,
    pitch: str,
    read: tuple[Sequence[flat.IndexText], flat.Said],
    taken: set[str],
    shape: Shape,
    fixed: bool,
) -> Edited | Refusal:
    """Another row pitch of a part of a dynamic pool: what is behind it moves, and launches ask for more.

    fixed: the pitch is the same in every launch; else it is made odd, whatever it is, where that suffices.
    """
    from smemlint.fix.text.expressions import added, plus, times
    from smemlint.fix.text.launches.dynamic_bytes import Growth, grown

    source = at.source
    indices, told = read
    name = fresh(f"{at.name.upper()}_PITCH", taken)
    behind = _behind(at, pitch, told) if not pool.after else None
    seen = pitch if behind is not None else _visible(at, pitch, shape.dims[1], fixed)
    if isinstance(seen, Refusal):
        return seen
    padded = plus(seen, layout.extra)
    if padded is None:
        return Refusal("extent-not-an-expression", f"`{pitch}` is not read as a C expression")
    if not fixed and layout.extra == 1 and shape.dims[1] % 2 == 0 and padded.endswith(" + 1"):
        padded = f"{padded[:-4]} | 1"
    if pool.after and len(set(pool.elements)) > 1:
        return Refusal(
            "launches-differ",
            f"`{pool.after[0][0].name}` would start later, and not as much in all instances",
        )
    growth = shape.dims[0] * layout.extra * shape.element
    start = source.statement_start(at.index) if behind is None else behind
    definition = f"const int {name} = {padded};"
    line = source.newline + source.indent_of(start if behind is None else source.line_start(start))
    definition = f"{definition}{line}" if behind is None else f"{line}{definition}"
    edits = [edit(source, start, start, definition)]
    edits.extend(edit(source, hit.offset, hit.end, name) for hit in _unique(list(told.factors)))
    edits.extend(_of_fragments(at, pitch, name))
    rows_said = ""
    for pointer, unit in pool.after:
        if not pointer.steps or growth % unit:
            return Refusal("part-start", f"`{pointer.name}` would have to start {growth} bytes later")
        step = pointer.steps[-1]
        rows = _rows_before(at, pool, pointer, pitch, layout.extra, unit // shape.element)
        if rows is not None:
            edits.append(edit(source, rows[1].offset, rows[1].end, name))
            rows_said = rows_said or _other_factors(source, *rows)
            continue
        count = _rows_of_local(at, pool, pointer, pitch)
        if not count and len(set(pool.rows)) > 1:
            return Refusal(
                "launches-differ", f"`{pointer.name}` would start later, and not as much in all launches"
            )
        rows_said = rows_said or count
        more_elements, rest = divmod(layout.extra * shape.element, unit)
        more = count if more_elements == 1 else times(count, str(more_elements)) if count else None
        moved = added(source.text[step.begin : step.end], more) if more and not rest else None
        if moved is None and not (fixed and pool.fixed(source.text[step.begin : step.end])):
            return Refusal(
                "launches-differ", f"by how much `{pointer.name}` would start later is not said by a formula"
            )
        moved = moved or plus(source.text[step.begin : step.end], growth // unit)
        if moved is None:
            return Refusal("extent-not-an-expression", f"the start of `{pointer.name}` is not read as C")
        edits.append(edit(source, step.begin, step.end, moved))
    rows_said = rows_said or _rows_of_bounds(at, pool, told)
    said = rows_said if pool.value(rows_said) == list(pool.rows) else ""
    widest = max(pool.elements, default=shape.element)  # one launch may start instances of several types
    bytes_ = tuple(rows * layout.extra * widest for rows in pool.rows)
    growths = Growth(
        bytes_,
        said,
        layout.extra,
        pool.element,
        flat.opened(source, seen, at.scope),
        pool.value,
        pool.rows,
        not pool.others,
        fixed,
        pool.allowed,
    )
    launches = grown(source, pool.launches, growths, pool.kernel)
    if isinstance(launches, Refusal):
        return launches
    edits.extend(edit(source, begin, end, text) for begin, end, text in launches)
    written = checked(edits, f"{name} = {padded}", pool.unknown)
    width = shape.dims[1]
    in_rows = _in_rows(at, indices, told, pitch, name) if fixed and width & (width - 1) == 0 else []
    if isinstance(written, Refusal) or not in_rows:
        return written
    longer = checked([*edits, *in_rows], f"{name} = {padded}", pool.unknown)
    return written if isinstance(longer, Refusal) else replace(written, otherwise=longer)


def _behind(at: Declared, pitch: str, told: flat.Said) -> int | None:
    """The end of the statement that sets the local variable which is the row pitch, where all that the edit
    changes comes after it; None for a pitch of another kind."""
    if not re.fullmatch(r"[A-Za-z_]\w*", pitch) or not told.factors:
        return None
    first = min(f.offset for f in told.factors)
    definition = flat.definition_at(at.source, pitch, at.scope, first)
    if definition is None:
        return None
    last = at.source.index_at(definition[1])
    block = at.source.scope_of(last)
    code = at.source.code
    if code[last].text != ";" or block is None or code[last].offset > first:
        return None
    inside = all(block[0] < at.source.index_at(f.offset) < block[1] for f in told.factors)
    return code[last].end if inside else None


def _rows_before(
    at: Declared, pool: Pool, pointer: Pointer, pitch: str, extra: int, unit: int
) -> tuple[flat.Term, flat.Factor] | None:
    """The factor of a pointer's start that is the row pitch of the part before it, with its product; None
    without one. unit: elements of the part in one of the step's."""
    if pointer.index < at.index or unit < 1:
        return None
    step = pointer.steps[-1]
    text = at.source.text[step.begin : step.end]
    was = pool.value(text)
    for term in flat.terms(at.source, step.begin, step.end):
        for hit in (f for f in reversed(term.factors) if f.text == pitch and len(term.factors) > 1):
            wider = f"{text[: hit.offset - step.begin]}({pitch} + {extra}){text[hit.end - step.begin :]}"
            now = pool.value(wider)
            if was is None or now is None:
                continue
            if [(n - w) * unit for n, w in zip(now, was, strict=True)] == [r * extra for r in pool.rows]:
                return term, hit
    return None


def _rows_of_local(at: Declared, pool: Pool, pointer: Pointer, pitch: str) -> str:
    """The rows before a pointer, as the local variable that it starts by has them: of `tile = Bc * d` the
    `Bc` for rows of `d`. '' without one."""
    source = at.source
    step = pointer.steps[-1]
    scope = source.scope_of(pointer.index)
    if pointer.index < at.index or scope is None:
        return ""
    for token in parse_range(source, step.begin, step.end):
        definition = flat.local_definition(source, token.text, scope) if token.kind == "name" else None
        for term in flat.terms(source, *definition) if definition is not None else ():
            for hit in (f for f in reversed(term.factors) if f.text == pitch and len(term.factors) == 2):
                rows = _other_factors(source, term, hit)
                if pool.value(rows) == list(pool.rows):
                    return rows
    return ""


def _rows_of_bounds(at: Declared, pool: Pool, told: flat.Said) -> str:
    """The rows of a part as a loop over them says: of `for (k = 0; k < BK; k++)` and `t[k * P + c]` the `BK`,
    where that is as many in every launch; '' without one."""
    source = at.source
    hits = {factor.offset for factor in told.factors}
    rows: set[str] = set()
    for use in at.elements:
        for bracket in use.subscripts[-1:]:
            for term in flat.terms(source, bracket.open + 1, bracket.close):
                if any(f.offset in hits for f in term.factors):
                    rows |= {f.text for f in term.factors if f.offset not in hits}
    code = source.code
    for i in range(*at.scope):
        if code[i].text not in rows or code[i + 1].text != "<" or code[i + 3].text != ";":
            continue
        if code[i + 2].kind == "name" and pool.value(code[i + 2].text) == list(pool.rows):
            return code[i + 2].text
    return ""


def _other_factors(source: Source, term: flat.Term, hit: flat.Factor) -> str:
    """A product without one of its factors, as it is spelled."""
    rest = [source.text[f.offset : f.end] for f in term.factors if f is not hit]
    return " * ".join(rest)


def _unique(hits: list[flat.Factor]) -> list[flat.Factor]:
    return list({hit.offset: hit for hit in hits}.values())
