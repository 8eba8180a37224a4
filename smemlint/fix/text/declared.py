"""An array as the text declares it, with every use of its name, and the small change of all edits.

What an edit may not touch is refused here: macros, a second declaration, non-ASCII text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

from smemlint.fix.model import Refusal, TextEdit
from smemlint.fix.text.fragments import as_element, as_row
from smemlint.fix.text.macros import is_name_of
from smemlint.fix.text.pointers import Pointer
from smemlint.fix.text.source import Source, Subscript, Use
from smemlint.fix.text.views import seen_as
from smemlint.ir import Place
from smemlint.patterns import pattern
from smemlint.records import record

Value: TypeAlias = Callable[[str], "int | None"]
_ACCESSOR = pattern(
    r"#[ \t]*define[ \t]+(?P<macro>\w+)\([\w, \t]*\)[ \t]*\(?[ \t]*(?P<array>[A-Za-z_]\w*)(?=\[)"
)
_BEFORE_TYPES = ("__shared__", "extern", "static")
_BEFORE_VALUES = ("return", "sizeof", "case", "else", "do", "co_return", "co_yield")


@record(frozen=True, slots=True)
class Pool:
    """What an edit that makes a part of a dynamic pool larger has to change besides.

    after: the pointers that start behind it, each with the bytes of its last step's unit, unless they start
    at one that moves with them. launches: where the kernel is started. value: of a constant expression under
    each of them. unknown: launches that may exist besides, or ''. kernel: its name; element: the spelling of
    the part's element type; rows: of the part under each launch; elements: bytes of its elements there.
    """

    after: tuple[tuple[Pointer, int], ...]
    launches: tuple[Place, ...]
    value: Callable[[str], list[int] | None]
    unknown: str = ""
    kernel: str = ""
    element: str = ""
    rows: tuple[int, ...] = ()
    elements: tuple[int, ...] = ()
    others: bool = True
    """Whether the pool has other parts."""
    fixed: Callable[[str], bool] = lambda text: False
    """Whether an expression of the kernel is the same number in every launch."""
    allowed: bool = False
    """Whether a launch gives more than 48 KiB, which the kernel is allowed to have by a call of its own."""


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

    @property
    def elements(self) -> tuple[Use, ...]:
        """The uses less those that see elements of another type."""
        return tuple(use for use in self.uses if use.viewed is None)

    def extent(self, dim: int) -> str:
        bracket = self.extents[dim]
        return self.source.text[bracket.open + 1 : bracket.close]

    def text(self, replaced: dict[int, str] | None = None) -> str:
        """The declarator, `tile[TILE_DIM][TILE_DIM]`, with some extents replaced."""
        replaced = replaced or {}
        parts = [f"[{shown(replaced.get(d, self.extent(d)))}]" for d in range(len(self.extents))]
        return self.name + "".join(parts)


@record(frozen=True, slots=True)
class Edited:
    """Edits and how the array or its access reads with them. unsafe: what the edit relies on, or ''.
    otherwise: a longer way to write the same layout, for where this one does not hold."""

    edits: tuple[TextEdit, ...]
    code: str
    unsafe: str = ""
    otherwise: Edited | None = None


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
    scope = source.body_of(index)
    last, after = scope[1] if scope else len(source.code), index + 1
    if scope is None and not source.is_open(index) and (scope := source.users(name, index)):
        after, last = scope[0] + 1, scope[1]
    through = accessors(source, name, dims)
    uses = tuple(u for u in source.uses(name, after, last, dims) if not _invokes(source, u, through))
    if any(_declares_again(source, use) for use in uses):
        return Refusal("declared-twice", f"`{name}` is declared again in the same scope")
    if dims == 1:
        uses = tuple(seen_as(source, as_element(source, use)) for use in uses)
    uses += tuple(through.values())
    return Declared(source, name, index, (after, last), extents, uses, scope is not None, others)


def spelled(at: Declared) -> str:
    """The element type as the declaration has it, `T` of a template; '' where it is no row of names."""
    names: list[str] = []
    i = at.index - 1
    while at.source.code[i].kind == "name" and at.source.code[i].text not in _BEFORE_TYPES:
        names.insert(0, at.source.code[i].text)
        i -= 1
    said = " ".join(name for name in names if name not in ("const", "volatile"))
    return said if at.source.code[i].text in _BEFORE_TYPES else ""


def accessors(source: Source, name: str, dims: int) -> dict[str, Use]:
    """Macros that are one access of an array, `#define AS(i, j) As[(j) * LD + (i)]`, by name.

    None where some other macro names the array as well, or the file declares the name twice.
    """
    found: dict[str, Use] = {}
    if source.in_shared[name] > 1:
        return {}
    for token in source.tokens:
        if token.kind != "directive" or not re.search(rf"(?<![\w.]){re.escape(name)}\b", token.text):
            continue
        match = _ACCESSOR.match(token.text)
        if match is None or match.group("array") != name or "\\\n" in token.text:
            return {}
        if match.group("macro") in found:
            return {}
        groups = _groups(token.text, match.end("array"))
        if len(groups) != dims or token.text[groups[-1][1] + 1 :].strip(" \t\r)"):
            return {}
        base = token.offset
        subscripts = tuple(Subscript(base + a, base + b) for a, b in groups)
        start = base + match.start("array")
        line = source.line_of(start)
        found[match.group("macro")] = Use(start, subscripts[-1].close + 1, subscripts, "subscript", line)
    return found


def _groups(text: str, start: int) -> list[tuple[int, int]]:
    """Places of the bracket pairs that follow one another from a place on."""
    groups = []
    while start < len(text) and text[start] == "[":
        depth = 0
        for end in range(start, len(text)):
            depth += (text[end] == "[") - (text[end] == "]")
            if depth == 0:
                break
        groups.append((start, end))
        start = end + 1
    return groups


def _invokes(source: Source, use: Use, through: dict[str, Use]) -> bool:
    """Whether a use of the array's name is a call of a macro of that name."""
    after = source.code[source.index_at(use.offset) + 1].text
    return after == "(" and source.text[use.offset : use.end] in through


def pointed(
    source: Source, pointer: Pointer, starts: frozenset[int], others: frozenset[str] = frozenset()
) -> Declared | Refusal:
    """A part of a pool, as its pointer declares it. starts: offsets of uses where other parts are cut off."""
    scope = source.scope_of(pointer.index)
    if scope is None:
        return _outside(source, pointer.name, pointer.index)
    after = pointer.index + 1
    uses = tuple(use for use in source.uses(pointer.name, after, scope[1], 1) if use.offset not in starts)
    if any(_declares_again(source, use) for use in uses):
        return Refusal("declared-twice", f"`{pointer.name}` is declared again in the same scope")
    uses = tuple(as_row(source, as_element(source, use)) for use in uses)
    return Declared(source, pointer.name, pointer.index, (after, scope[1]), (), uses, True, others)


def _outside(source: Source, name: str, index: int) -> Refusal:
    """Why no function is around a declaration."""
    if source.is_open(index):
        return Refusal("no-place-for-helper", f"the braces around `{name}` do not match")
    return Refusal("several-kernels", f"`{name}` is declared outside a function")


def _declares_again(source: Source, use: Use) -> bool:
    """Whether a use is another declarator of the same name: a type stands directly before it."""
    i = source.index_at(use.offset)
    before = source.code[i - 1] if i else None
    return before is not None and before.kind == "name" and before.text not in _BEFORE_VALUES


def every_use_subscripted(at: Declared, resizes: bool = False, views: bool = False) -> Refusal | None:
    """Refusal where a use is anything but a full access; sizeof is harmless unless the size changes.

    views: an element of another type is an access as well (`Use.viewed`).
    """
    if not at.local:
        return _outside(at.source, at.name, at.index)
    for use in at.uses:
        if use.context == "sizeof":
            if resizes:
                return Refusal("size-elsewhere", f"`sizeof({at.name})` on line {use.line} would change")
        elif use.context == "whole" and not (views and use.viewed is not None):
            return Refusal("passed-on", f"`{at.name}` is used as a pointer on line {use.line}")
    inside = {u.offset for u in at.uses}
    others = (u for u in at.source.macro_uses(at.name) if not _in_accessor(at, u, inside))
    macro = next(others, None)
    if macro is not None:
        return Refusal("used-in-macro", f"a macro on line {macro.line} names `{at.name}`")
    if not at.uses:
        return Refusal("used-in-macro", f"no use of `{at.name}` stands in the text of its scope")
    return None


def _in_accessor(at: Declared, use: Use, inside: set[int]) -> bool:
    """Whether a macro's text names the array as the access that it is, or as its own name."""
    return use.offset in inside or is_name_of(at.source, use.offset)


def nested(at: Declared, bracket: Subscript) -> bool:
    return any(bracket.open < use.offset < bracket.close for use in at.uses)


def fresh(name: str, taken: set[str]) -> str:
    name = re.sub(r"\W", "_", name)
    candidate, n = name, 2
    while candidate in taken:
        candidate, n = f"{name}{n}", n + 1
    taken.add(candidate)
    return candidate


def shown(text: str) -> str:
    """An expression for a message: on one line, without comments."""
    return " ".join(re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL).split())


def edit(source: Source, start: int, end: int, replacement: str) -> TextEdit | Refusal:
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


def checked(edits: Sequence[TextEdit | Refusal], code: str, unsafe: str = "") -> Edited | Refusal:
    done: list[TextEdit] = []
    for edit in edits:
        if isinstance(edit, Refusal):
            return edit
        done.append(edit)
    return Edited(tuple(sorted(done, key=lambda e: (e.offset, e.end_offset))), code, unsafe)
