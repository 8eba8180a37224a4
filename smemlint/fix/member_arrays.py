"""A padding of an array that is a member of a structure in shared memory, at its declaration there.

    struct Storage { float tile[32][32]; int count; };
    __shared__ Storage s;                     // or cut from `extern __shared__`

What lies behind the member moves along, and the structure grows: the whole file is analysed again with each
padding that is tried.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from smemlint.fix.model import Kind, Refusal, Suggestion
from smemlint.fix.search.members import Instance, Member, granule
from smemlint.fix.text.brackets import opening_bracket
from smemlint.fix.text.declared import shown
from smemlint.fix.text.source import Source, Subscript, tokenize
from smemlint.fix.whole import Program, Tried, offered, widened
from smemlint.records import record

_HEADERS = (".h", ".cuh", ".hpp", ".hxx", ".hh", ".inl")


@record(frozen=True, slots=True)
class _Field:
    """A member as its structure declares it. record: the structure's name, '' where it has none."""

    name: str
    extents: tuple[Subscript, ...]
    record: str
    inside: tuple[int, int]
    """Tokens of the structure's braces."""


def member_padding(instances: Sequence[Instance], program: Program) -> Suggestion | Refusal | None:
    """The best padding of the member that costs most; a Refusal where none holds; None where no conflict is
    in an array of two or more dimensions that is a member.

    program: the main file, which declares the structure.
    """
    source = program.source
    name = _costliest(instances)
    if not name or program.late():
        return None
    at = _field(source, name)
    if not isinstance(at, _Field):
        return at
    mine = [m for i in instances for m in i.members if _member(m) == name]
    width = min(m.conflict.site.width for m in mine)
    unit = max(granule(mine) // width, 1)
    bracket = at.extents[-1]
    outer = "".join(f"[{shown(source.text[b.open + 1 : b.close])}]" for b in at.extents[:-1])
    best = widened(program, bracket.open + 1, bracket.close, unit, lambda new: f"{name}{outer}[{shown(new)}]")
    if not isinstance(best, Tried):
        return best
    how: tuple[Kind, str] = ("padding", "pad the row of the member")
    unsafe = _elsewhere(source, at, best)
    return offered(best, how, unsafe, instances[0].pool, instances, program)


def _costliest(instances: Sequence[Instance]) -> str:
    """The member array whose accesses pay most above the ideal, '' without one."""
    excess: Counter[str] = Counter()
    for each in (m for i in instances for m in i.members if m.before > m.ideal):
        excess[_member(each)] += each.before - each.ideal
    del excess[""]
    return excess.most_common(1)[0][0] if excess else ""


def _member(each: Member) -> str:
    """The member that a site names with two or more subscripts, `s.tile[y][x]`, '' where it names none."""
    code = tokenize(each.conflict.site.expression)
    groups = 0
    while code and code[-1].text == "]":
        code, groups = code[: opening_bracket(code)], groups + 1
    named = len(code) > 1 and code[-1].kind == "name" and code[-2].text in (".", "->")
    return code[-1].text if named and groups > 1 else ""


def _field(source: Source, name: str) -> _Field | Refusal | None:
    """The one declaration of a member of that name with two or more extents."""
    found: list[_Field] = []
    for i, token in enumerate(source.code):
        if token.text != name or token.kind != "name" or source.code[i - 1].text in (".", "->", "::"):
            continue
        extents = source.subscripts_after(i)
        scope = source.scope_of(i)
        if len(extents) < 2 or scope is None or source.code[i - 1].kind != "name":
            continue
        record = source.record_name(scope[0])
        if record is not None:
            found.append(_Field(name, extents, record, scope))
    if len(found) > 1:
        return Refusal("declared-twice", f"`{name}` is a member of several structures in this file")
    if not found:
        return Refusal("other-file", f"`{name}` is a member of a structure that this file does not declare")
    return found[0]


def _elsewhere(source: Source, at: _Field, best: Tried) -> str:
    """What else may depend on where members lie, or on accesses that no launch runs; '' when nothing does."""
    if source.path.endswith(_HEADERS):
        return f"`{at.name}` is declared in a header, which other files may include"
    first, last = (source.code[i].offset for i in at.inside)
    statements = re.finditer(rf"[^;{{}}]*(?<![\w.]){re.escape(at.record)}\b[^;{{}}]*", source.text)
    for use in statements if at.record else ():
        inside = first <= use.start() <= last
        if inside or re.search(r"__shared__|\b(struct|class|union)\s+" + re.escape(at.record), use.group()):
            continue
        line = source.line_of(use.start() + len(use.group()) - len(use.group().lstrip()))
        return f"`{at.record}` is used on line {line}, and may be something else than shared memory there"
    places = [p for c in best.changes for p in (c.site.place, *c.site.via) if p.path == source.path]
    for i, token in enumerate(source.code):
        if token.text != at.name or source.code[i - 1].text not in (".", "->"):
            continue
        groups = source.subscripts_after(i)
        line = source.line_of(token.offset)
        if len(groups) < len(at.extents):
            return f"`{at.name}` is used as a pointer on line {line}"
        if not any(p.offset <= token.offset < p.end_offset for p in places):
            return f"no launch that was seen runs the use of `{at.name}` on line {line}"
    return ""
