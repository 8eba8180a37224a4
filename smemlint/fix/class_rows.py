"""Rows that are objects of a class template, `__shared__ Array<float, 32> t[32]`: the number in its arguments
that is the length of a row, made larger.

The whole file is analysed again with each value that is tried.
"""

from __future__ import annotations

from collections.abc import Sequence

from smemlint.fix.model import Kind, Suggestion
from smemlint.fix.search.members import Instance, granule
from smemlint.fix.text.constants import Constants
from smemlint.fix.text.declared import shown
from smemlint.fix.text.source import Source
from smemlint.fix.whole import Program, Tried, offered, widened


def row_argument(instances: Sequence[Instance], program: Program) -> Suggestion | None:
    """A longer row of the class that the elements of an array are; None where its type names no length."""
    source, array = program.source, instances[0].pool
    index = source.find_declaration(array.name, array.place.offset, array.place.end_offset)
    found = _last_argument(source, index) if index is not None else None
    if found is None or not instances[0].members:
        return None
    code_start, begin, end, type_ = found
    old = source.text[begin:end]
    value = Constants([source], instances[0].analysis.launch, block=False, near=array.place.offset).value
    if value(old) is None:
        return None
    members = [m for i in instances for m in i.members]
    unit = max(granule(members) // min(m.conflict.site.width for m in members), 1)
    behind = source.text[end : source.text.index(">", end) + 1]
    best = widened(program, begin, end, unit, lambda new: shown(source.text[code_start:begin] + new + behind))
    if not isinstance(best, Tried):
        return None
    how: tuple[Kind, str] = ("padding", "make the rows longer")
    unsafe = f"the length of `{type_}` may serve for something else than its rows"
    done = offered(best, how, unsafe, array, instances, program)
    return done if isinstance(done, Suggestion) else None


def _last_argument(source: Source, index: int) -> tuple[int, int, int, str] | None:
    """Where the type of a declaration and its last template argument stand, and the type as spelled; None
    where it has none, or where the file names the type a second time."""
    code = source.code
    depth, start, comma = 0, index - 1, 0
    while start > 0 and code[index - 1].text == ">" and code[start].text not in (";", "{", "}"):
        text = code[start].text
        depth += (text in (")", "]", ">")) - (text in ("(", "[", "<"))
        if text == "<" and depth == 0:
            break
        if text == "," and depth == 1 and not comma:
            comma = start
        start -= 1
    if not comma or code[start].text != "<" or code[start - 1].kind != "name":
        return None
    spelled = [t.text for t in code[start - 1 : index]]
    first, last = spelled[0], len(spelled)
    again = [
        i for i, t in enumerate(code) if t.text == first and [x.text for x in code[i : i + last]] == spelled
    ]
    if len(again) != 1:
        return None
    whole = code[start - 1].offset
    return whole, code[comma + 1].offset, code[index - 2].end, shown(source.text[whole : code[index - 1].end])
