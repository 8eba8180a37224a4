"""A layout as edits of the source: the declaration, every use, a helper where one is needed.

Each builder returns the edits, or the Refusal that says why the text does not allow them. Edits insert
rather than replace where they can, so that comments, macros and spelling stay as the author left them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

from smemlint.fix import flat
from smemlint.fix.candidates import Exchange, Layout, Padding, Shape, Swizzle, Trimmed
from smemlint.fix.model import Refusal, TextEdit
from smemlint.fix.pointers import Pointer
from smemlint.fix.text import Source, Subscript, Use, has_side_effect, parse_range
from smemlint.ir import Place
from smemlint.records import record

Value: TypeAlias = Callable[[str], "int | None"]
_BEFORE_VALUES = ("return", "sizeof", "case", "else", "do", "co_return", "co_yield")


@record(frozen=True, slots=True)
class Pool:
    """What an edit that makes a part of a dynamic pool larger has to change besides.

    after: the pointers that start behind it, each with the bytes of its last step's unit, unless they start
    at one that moves with them. launches: where the kernel is started. value: of a constant expression under
    each of them. unknown: launches that may exist besides, or ''.
    """

    after: tuple[tuple[Pointer, int], ...]
    launches: tuple[Place, ...]
    value: Callable[[str], list[int] | None]
    unknown: str = ""


@record(frozen=True, slots=True)
class Declared:
    """An array as the text declares it. index: the name's token in `source.code`; scope: tokens after the
    declaration up to the end of its block; uses: every use of the name in that scope."""

    source: Source
    name: str
    index: int
    scope: tuple[int, int]
    extents: tuple[Subscript, ...]
    uses: tuple[Use, ...]
    local: bool
    others: frozenset[str] = frozenset()
    """Names of the other shared arrays in sight."""
    pool: Pool | None = None
    """Where the size of a part of a dynamic pool is written."""

    def extent(self, dim: int) -> str:
        bracket = self.extents[dim]
        return self.source.text[bracket.open + 1 : bracket.close]

    def text(self, replaced: dict[int, str] | None = None) -> str:
        """The declarator, `tile[TILE_DIM][TILE_DIM]`, with some extents replaced."""
        replaced = replaced or {}
        parts = [f"[{_shown(replaced.get(d, self.extent(d)))}]" for d in range(len(self.extents))]
        return self.name + "".join(parts)


@record(frozen=True, slots=True)
class Edited:
    """Edits and how the array or its access reads with them. unsafe: what the edit relies on, or ''."""

    edits: tuple[TextEdit, ...]
    code: str
    unsafe: str = ""


def declared(
    source: Source, name: str, offset: int, end: int, dims: int, others: frozenset[str] = frozenset()
) -> Declared | Refusal:
    """Find the declaration at a place and every use of its name in the scope.

    dims: how many subscripts make an access of one element. others: names of other shared arrays.
    """
    index = source.find_declaration(name, offset, end)
    if index is None:
        return Refusal("declared-in-macro", f"the declaration of `{name}` does not stand in the text as such")
    extents = source.subscripts_after(index)
    if len(extents) != dims:
        return Refusal("declared-in-macro", f"the extents of `{name}` do not stand at its declaration")
    scope = source.scope_of(index)
    last = scope[1] if scope else len(source.code)
    after = index + 1
    uses = tuple(source.uses(name, after, last, dims))
    if any(_declares_again(source, use) for use in uses):
        return Refusal("declared-twice", f"`{name}` is declared again in the same scope")
    return Declared(source, name, index, (after, last), extents, uses, scope is not None, others)


def pointed(
    source: Source, pointer: Pointer, starts: frozenset[int], others: frozenset[str] = frozenset()
) -> Declared | Refusal:
    """A part of a pool, as its pointer declares it. starts: offsets of uses where other parts are cut off."""
    scope = source.scope_of(pointer.index)
    if scope is None:
        return Refusal("several-kernels", f"`{pointer.name}` is declared outside a function")
    after = pointer.index + 1
    uses = tuple(use for use in source.uses(pointer.name, after, scope[1], 1) if use.offset not in starts)
    if any(_declares_again(source, use) for use in uses):
        return Refusal("declared-twice", f"`{pointer.name}` is declared again in the same scope")
    return Declared(source, pointer.name, pointer.index, (after, scope[1]), (), uses, True, others)


def _declares_again(source: Source, use: Use) -> bool:
    """Whether a use is another declarator of the same name: a type stands directly before it."""
    i = source.index_at(use.offset)
    before = source.code[i - 1] if i else None
    return before is not None and before.kind == "name" and before.text not in _BEFORE_VALUES


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
    if isinstance(layout, Padding):
        if linear_pitch is not None:
            return _pitch(layout, at, linear_pitch, taken, shape, value)
        return _padding(layout, at, value)
    blocked = _every_use_subscripted(at)
    if blocked is not None:
        return blocked
    if isinstance(layout, Exchange):
        return _exchange(layout, at)
    if isinstance(layout, Trimmed):
        trimmed = _padding(layout.padding, at, value)
        swizzled = _swizzle(layout.swizzle, at, taken)
        if isinstance(trimmed, Refusal) or isinstance(swizzled, Refusal):
            return trimmed if isinstance(trimmed, Refusal) else swizzled
        edits = sorted((*trimmed.edits, *swizzled.edits), key=lambda e: (e.offset, e.end_offset))
        return Edited(tuple(edits), f"{trimmed.code}`, `{swizzled.code}")
    return _swizzle(layout, at, taken)


def _padding(layout: Padding, at: Declared, value: Value | None) -> Edited | Refusal:
    sized = next((use for use in at.uses if use.context == "sizeof"), None)
    if sized is not None:
        return Refusal("size-elsewhere", f"`sizeof({at.name})` on line {sized.line} would change")
    wholes = [use for use in at.uses if use.context == "whole"]
    for use in wholes:
        # What takes an array of arrays, or refers to a row, names its inner extents in its own declaration.
        if len(use.subscripts) < len(at.extents) - 1 or _names_extents(at, use):
            return Refusal(
                "passed-on", f"`{at.name}` is passed on whole on line {use.line}, with its extents"
            )
    from smemlint.fix.expressions import plus

    bracket = at.extents[layout.dim]
    old = at.extent(layout.dim)
    new = _without_summand(at, bracket, -layout.extra, value) or plus(old, layout.extra)
    if new is None:
        return Refusal("extent-not-an-expression", f"`[{_shown(old)}]` is not read as a C expression")
    edit = _edit(at.source, bracket.open + 1, bracket.close, new)
    if isinstance(edit, Refusal):
        return edit
    unsafe = f"`{at.name}` is passed on as a pointer on line {wholes[0].line}" if wholes else ""
    return Edited((edit,), at.text({layout.dim: new}), unsafe or _in_macros(at))


def _names_extents(at: Declared, use: Use) -> bool:
    """Whether a row may be bound to a reference or pointer to an array, `float (&row)[32]`.

    That is one that the scope declares or, where the row is an argument of a function, any in the file.
    """
    code = at.source.code
    first, last = at.scope
    i, depth = at.source.index_at(use.offset) - 1, 0
    while i > 0 and depth >= 0 and code[i].text not in (";", "{", "}"):
        depth += (code[i].text == ")") - (code[i].text == "(")
        i -= 1
    if depth < 0 and code[i].kind == "name":
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


def _every_use_subscripted(at: Declared, resizes: bool = False) -> Refusal | None:
    """Refusal where a use is anything but a full access; sizeof is harmless unless the size changes."""
    for use in at.uses:
        if use.context == "sizeof":
            if resizes:
                return Refusal("size-elsewhere", f"`sizeof({at.name})` on line {use.line} would change")
        elif use.context == "whole":
            return Refusal("passed-on", f"`{at.name}` is used as a pointer on line {use.line}")
    macro = next(iter(at.source.macro_uses(at.name)), None)
    if macro is not None:
        return Refusal("used-in-macro", f"a macro on line {macro.line} names `{at.name}`")
    if not at.local:
        return Refusal("several-kernels", f"`{at.name}` is declared outside a function")
    if not at.uses:
        return Refusal("used-in-macro", f"no use of `{at.name}` stands in the text of its scope")
    return None


def _visible(at: Declared, pitch: str, value: int) -> str:
    """The pitch as it can be written before the array: as a number where a name in it is declared later."""
    names = set(re.findall(r"[A-Za-z_]\w*", pitch))
    code = at.source.code
    function = next((i for i in range(at.index, 0, -1) if at.source.scope_of(i) is None), 0)
    before = {code[i].text for i in range(function, at.index)}
    after = {
        code[i].text
        for i in range(at.index, at.scope[1])
        if code[i].text in names and code[i - 1].kind == "name" and code[i + 1].text in ("=", "{", "(")
    }
    return str(value) if after - before else pitch


def _pitch(
    layout: Padding, at: Declared, pitch: str, taken: set[str], shape: Shape, value_of: Value | None
) -> Edited | Refusal:
    blocked = _every_use_subscripted(at, resizes=True)
    if blocked is not None:
        return blocked
    source = at.source
    indices = flat.index_texts(source, at.uses, at.scope)
    if isinstance(indices, str):
        return Refusal("index-used-elsewhere", indices)
    hits = flat.occurrences(indices, pitch)
    if not hits:
        return Refusal("pitch-not-found", f"no row pitch is seen in the indices of `{at.name}`")
    if at.pool is None and value_of is not None and value_of(pitch) is None:
        return Refusal(
            "run-time-pitch", f"the row pitch of `{at.name}` is `{pitch}`, known at the launch only"
        )
    if at.pool is not None:
        return _pool_pitch(layout, at, at.pool, pitch, hits, taken, shape)
    name = _fresh(f"{at.name.upper()}_PITCH", taken)
    bracket = at.extents[0]
    old = at.extent(0)
    rows, value = shape.dims
    size = flat.terms(source, bracket.open + 1, bracket.close)
    new = flat.new_size(old, size, bracket.open + 1, pitch, name, rows * value, value)
    if new is None:
        return Refusal("size-not-rows", f"`[{_shown(old)}]` is not said as rows of `{pitch}`")
    from smemlint.fix.expressions import plus

    padded = plus(_visible(at, pitch, value), layout.extra)
    if padded is None:
        return Refusal("extent-not-an-expression", f"`{pitch}` is not read as a C expression")
    start = source.statement_start(at.index)
    indent = source.indent_of(start)
    definition = f"constexpr int {name} = {padded};{source.newline}{indent}"
    edits = [_edit(source, start, start, definition), _edit(source, bracket.open + 1, bracket.close, new)]
    edits.extend(_edit(source, hit.offset, hit.end, name) for hit in _unique(hits))
    return _checked(edits, f"{name} = {padded}")


def _pool_pitch(
    layout: Padding,
    at: Declared,
    pool: Pool,
    pitch: str,
    hits: list[flat.Factor],
    taken: set[str],
    shape: Shape,
) -> Edited | Refusal:
    """Another row pitch of a part of a dynamic pool: what is behind it moves, and launches ask for more."""
    from smemlint.fix.expressions import plus
    from smemlint.fix.launches import grown

    source = at.source
    name = _fresh(f"{at.name.upper()}_PITCH", taken)
    padded = plus(_visible(at, pitch, shape.dims[1]), layout.extra)
    if padded is None:
        return Refusal("extent-not-an-expression", f"`{pitch}` is not read as a C expression")
    growth = shape.dims[0] * layout.extra * shape.element
    start = source.statement_start(at.index)
    definition = f"const int {name} = {padded};{source.newline}{source.indent_of(start)}"
    edits = [_edit(source, start, start, definition)]
    edits.extend(_edit(source, hit.offset, hit.end, name) for hit in _unique(hits))
    for pointer, unit in pool.after:
        if not pointer.steps or growth % unit:
            return Refusal("part-start", f"`{pointer.name}` would have to start {growth} bytes later")
        step = pointer.steps[-1]
        rows = _rows_before(at, pool, pointer, pitch, layout.extra, growth // unit)
        if rows is not None:
            edits.append(_edit(source, rows.offset, rows.end, name))
            continue
        moved = plus(source.text[step.begin : step.end], growth // unit)
        if moved is None:
            return Refusal("extent-not-an-expression", f"the start of `{pointer.name}` is not read as C")
        edits.append(_edit(source, step.begin, step.end, moved))
    launches = grown(source, pool.launches, growth)
    if isinstance(launches, Refusal):
        return launches
    edits.extend(_edit(source, begin, end, text) for begin, end, text in launches)
    return _checked(edits, f"{name} = {padded}", pool.unknown)


def _rows_before(
    at: Declared, pool: Pool, pointer: Pointer, pitch: str, extra: int, growth: int
) -> flat.Factor | None:
    """The factor of a pointer's start that is the row pitch of the part before it, None without one."""
    if pointer.index < at.index:
        return None
    step = pointer.steps[-1]
    text = at.source.text[step.begin : step.end]
    was = pool.value(text)
    for term in flat.terms(at.source, step.begin, step.end):
        for hit in (f for f in reversed(term.factors) if f.text == pitch and len(term.factors) > 1):
            wider = f"{text[: hit.offset - step.begin]}({pitch} + {extra}){text[hit.end - step.begin :]}"
            now = pool.value(wider)
            if was is not None and now is not None and [n - growth for n in now] == was:
                return hit
    return None


def _unique(hits: list[flat.Factor]) -> list[flat.Factor]:
    return list({hit.offset: hit for hit in hits}.values())


def _exchange(layout: Exchange, at: Declared) -> Edited | Refusal:
    source = at.source
    first, second = layout.dim, layout.dim + 1
    edits: list[TextEdit | Refusal] = []
    for groups in (at.extents, *(use.subscripts for use in at.uses)):
        a, b = groups[first], groups[second]
        left, right = source.text[a.open + 1 : a.close], source.text[b.open + 1 : b.close]
        if _nested(at, a) or _nested(at, b):
            return Refusal("nested-use", f"`{at.name}` stands in its own index")
        edits.append(_edit(source, a.open + 1, a.close, right))
        edits.append(_edit(source, b.open + 1, b.close, left))
    exchanged = {first: at.extent(second), second: at.extent(first)}
    return _checked(edits, at.text(exchanged))


def _nested(at: Declared, bracket: Subscript) -> bool:
    return any(bracket.open < use.offset < bracket.close for use in at.uses)


def _swizzle(layout: Swizzle, at: Declared, taken: set[str]) -> Edited | Refusal:
    source = at.source
    start = source.function_start(at.index)
    if start is None:
        return Refusal("no-place-for-helper", f"the function around `{at.name}` is not found in the text")
    name = _fresh(f"swizzle_{at.name}", taken)
    newline = source.newline
    formula = swizzle_formula(layout)
    parameters = "int i" if layout.linear else "int row, int col"
    told = "Index" if layout.linear else "Column"
    edits: list[TextEdit | Refusal] = [
        _edit(
            source,
            start,
            start,
            f"// {told} of {at.name}, swizzled to spread the lanes over the banks; its own inverse.{newline}"
            f"__device__ __forceinline__ int {name}({parameters}) {{ return {formula}; }}{newline}{newline}",
        )
    ]
    shown = ""
    for use in at.uses:
        if use.context == "sizeof":
            continue
        column = use.subscripts[-1]
        lead = f"{name}("
        if not layout.linear:
            row = use.subscripts[-2]
            tokens = parse_range(source, row.open + 1, row.close)
            if has_side_effect(tokens):
                return Refusal("side-effect", f"the row index on line {use.line} must not be evaluated twice")
            if _nested(at, row) or any(t.text in at.others for t in tokens):
                return Refusal("nested-use", f"the row index on line {use.line} reads shared memory itself")
            lead = f"{name}({_shown(source.text[row.open + 1 : row.close])}, "
        edits.append(_edit(source, column.open + 1, column.open + 1, lead))
        edits.append(_edit(source, column.close, column.close, ")"))
        if not shown:
            groups = [source.text[s.open + 1 : s.close] for s in use.subscripts]
            groups[-1] = f"{lead}{groups[-1]})"
            shown = at.name + "".join(f"[{_shown(g)}]" for g in groups)
    return _checked(edits, shown)


def swizzle_formula(layout: Swizzle) -> str:
    """The body of the helper, as short as it can be said."""
    mask = (1 << layout.bits) - 1
    row, column = ("i", "i") if layout.linear else ("row", "col")
    if layout.shift >= layout.base:
        moved = layout.shift - layout.base
        part = f"({row} >> {moved})" if moved else row
        return f"{column} ^ ({part} & {mask << layout.base})"
    moved = layout.base - layout.shift
    return f"{column} ^ (({row} << {moved}) & {mask << layout.base})"


def _fresh(name: str, taken: set[str]) -> str:
    name = re.sub(r"\W", "_", name)
    candidate, n = name, 2
    while candidate in taken:
        candidate, n = f"{name}{n}", n + 1
    taken.add(candidate)
    return candidate


def _shown(text: str) -> str:
    """An expression for a message: on one line, without comments."""
    return " ".join(re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL).split())


def _edit(source: Source, start: int, end: int, replacement: str) -> TextEdit | Refusal:
    """An edit, shortened to what differs; refused where non-ASCII text would have to be moved."""
    original = source.text[start:end]
    while original and replacement and original[0] == replacement[0]:
        original, replacement, start = original[1:], replacement[1:], start + 1
    while original and replacement and original[-1] == replacement[-1]:
        original, replacement, end = original[:-1], replacement[:-1], end - 1
    if not (original.isascii() and replacement.isascii()):
        return Refusal("non-ascii", f"line {source.line_of(start)} has non-ASCII text where the edit falls")
    if "\\\n" in original or "\\\r" in original:
        return Refusal("used-in-macro", f"line {source.line_of(start)} is continued with a backslash")
    return TextEdit(source.path, start, end, replacement, original)


def _checked(edits: Sequence[TextEdit | Refusal], code: str, unsafe: str = "") -> Edited | Refusal:
    done: list[TextEdit] = []
    for edit in edits:
        if isinstance(edit, Refusal):
            return edit
        done.append(edit)
    return Edited(tuple(sorted(done, key=lambda e: (e.offset, e.end_offset))), code, unsafe)
