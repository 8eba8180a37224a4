"""The layout that a reason names, written into the text by replacing what stands there, and analysed.

No edit of smemlint's takes part: the declaration is replaced by the one that is named, or each index of the
array by the formula. What cannot be written so is not checked.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from held_reasons import by_force as force
from held_reasons.case import UNCHECKED, Case


def check(case: Case, m: re.Match[str], given: str | None = None) -> str:
    """Whether what is said of the edited file is so. given: its text, else with the layout that is named."""
    told = m.groupdict()
    text = given or written(case)
    if text is None:
        return UNCHECKED + f"`{case.fix.code}` is not written by replacing"
    from smemlint.api import Job
    from smemlint.running import pipeline

    after: Any = pipeline.examine(Job(case.path, text=text), str)
    if not hasattr(after, "analyses"):
        return UNCHECKED + "the edited file is not read"
    if "line" not in told:
        return of_all(case, told, after)
    line = int(told["line"])
    old = [c for a in case.found.analyses for c in a.conflicts if c.site.place.line == line]
    new = [c for a in after.analyses for c in a.conflicts if c.site.place.line == line]
    what = told["what"]
    if what == "gets worse":
        worse = sum(c.wavefronts or 0 for c in new) > sum(c.wavefronts or 0 for c in old)
        return "" if worse else f"line {line} takes as much or less"
    if what == "keeps its conflict":
        kept = any((c.wavefronts or 0) > (c.ideal or 0) for c in new)
        return "" if kept else f"line {line} is free"
    if what == "is joined with other neighbours than before":
        joined = Counter((c.trace.joined, c.site.expression) for c in old)
        return (
            "" if joined != Counter((c.trace.joined, c.site.expression) for c in new) else "joined as before"
        )
    if what == "reaches other addresses" and given is None:
        return strays(case, old, new)
    return UNCHECKED + what


def constant(case: Case, name: str, value: str) -> str | None:
    """The file with another value of a constant; None where its definition is not found."""
    given = case.found.texts.get(case.path) or case.found.source.bytes
    text = bytes(given).decode("latin-1")
    for pattern in (
        rf"(#\s*define\s+{name}\s+)([^\n]+)",
        rf"(\b{name}\s*=\s*)([^;,]+)",
        rf"(\b{name}\s*\{{)([^}}]+)",
    ):
        if len(found := list(re.finditer(pattern, text))) == 1:
            return text[: found[0].start(2)] + value + text[found[0].end(2) :]
    return None


def of_all(case: Case, told: dict[str, Any], after: Any) -> str:
    place = case.fix.array.place
    new = [
        c
        for a in after.analyses
        for x in a.arrays.values()
        if x.place.line == place.line and x.name == case.name
        for c in a.conflicts
        if c.site.array == x.id
    ]
    if "now" in told:
        return "" if len(new) != len(case.sites) else "there are as many accesses"
    if told.get("what") == "keeps more conflicts":
        costs = sum(c.wavefronts or 0 for c in new)
        return "" if costs > case.fix.after else f"all accesses take {costs}, {case.fix.after} are promised"
    if told.get("what") == "reach other addresses":
        return strays(case, case.sites, new)
    return UNCHECKED + "no access is named"


def strays(case: Case, old: list[Any], new: list[Any]) -> str:
    """Whether some lane is elsewhere than the layout that is named says."""
    moved = layout(case)
    mine = {id(c) for c in case.sites}
    if moved is None:
        return UNCHECKED + "the layout is not read"
    want = Counter(
        tuple(int(moved(n)) if n >= 0 else -1 for n in row)
        for c in old
        if id(c) in mine
        for row in c.trace.offsets
    )
    have = Counter(tuple(map(int, row)) for c in new for row in c.trace.offsets)
    return "" if want.keys() != have.keys() else "every lane is where the layout says"


def layout(case: Case) -> Any:
    code, dims, element = case.fix.code, case.dims, case.fix.array.element
    formula = force.formula(code, dims[0], element) if dims else None
    if formula is not None and "[" not in code:
        return formula
    pitch = re.fullmatch(r"([\w ()*]+) \+ (\d+)", code)
    if pitch is not None:
        row = force.value(pitch[1], case.constants(case.analyses[0]))
        more = int(pitch[2]) * element
        return None if not row else lambda at: at + at // (row * element) * more
    brackets = re.findall(r"\[([^\[\]]*)\]", code)
    new = [force.value(b, case.constants(a)) for a in case.analyses[:1] for b in brackets]
    if len(new) < 2 or None in new or len(new) != len(dims[0]):
        return None
    old = dims[0]
    grown = [i for i in range(1, len(old)) if new[i] != old[i]]
    if len(grown) != 1:
        return None
    row = element
    for n in old[grown[0] :]:
        row *= n
    extra = row // old[grown[0]] * (int(new[grown[0]] or 0) - old[grown[0]])
    return lambda at: at + at // row * extra


def written(case: Case) -> str | None:
    """The file with the layout in it; None where it cannot be put in."""
    from_bytes = case.found.texts.get(case.path) or case.found.source.bytes
    text = bytes(from_bytes).decode("latin-1")
    code, at = case.fix.code, case.fix.array.place.offset
    name = re.escape(case.name)
    declared = re.match(rf"{name}((?:\s*\[[^\[\]]*\])+)", text[at:])
    if declared is None or case.path != case.found.source.path:
        return None
    if code.startswith(f"{case.name}["):
        return text[:at] + code + text[at + declared.end() :]
    pitch = re.fullmatch(r"([A-Za-z_]\w*) \+ \d+", code)
    if pitch is not None:  # in the size and in every index
        index = re.compile(rf"(?<![\w.]){name}\s*(?:\[(?:[^\[\];]|\[[^\[\]]*\])*\])+")
        factor = re.compile(rf"(?<![\w.]){pitch[1]}(?!\w)")
        return text[:at] + index.sub(lambda u: factor.sub(f"({code})", u[0]), text[at:])
    if not re.search(r"\b(?:i|col)\b", code) or force.formula(code, (32, 32), 4) is None:
        return None
    start = at + declared.end()
    rest, done = text[start:], ""
    while (m := re.search(rf"(?<![\w.]){name}(?=\s*\[)", rest)) is not None:
        done += rest[: m.end()]
        rest = rest[m.end() :]
        subscripts = []
        for _ in case.fix.array.dims:
            end = bracket(rest)
            if end is None:
                return None
            subscripts.append(rest[rest.index("[") + 1 : end - 1])
            rest = rest[end:]
        names = {
            "col": subscripts[-1],
            "i": subscripts[-1],
            "row": subscripts[-2] if len(subscripts) > 1 else "",
        }
        new = re.sub(r"\b(col|row|i)\b", lambda w, names=names: f"({names[w[0]]})", code)
        done += "".join(f"[{s}]" for s in subscripts[:-1]) + f"[{new}]"
    return text[:start] + done + rest


def bracket(text: str) -> int | None:
    """Behind the subscript with which a text begins."""
    if not re.match(r"\s*\[", text):
        return None
    depth = 0
    for i, c in enumerate(text):
        depth += (c == "[") - (c == "]")
        if c == "]" and depth == 0:
            return i + 1
    return None
