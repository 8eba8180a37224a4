"""Claims about launches and addresses, held against what the analysis found of each access."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from held_reasons import by_force as force
from held_reasons.case import UNCHECKED, WORTH, Case, Check, uses, word
from smemlint.evaluate.model import Grade
from smemlint.score.model import Conflict


def launches_of(case: Case) -> list[Any]:
    return [a.launch for a in case.analyses]


def no_bytes(case: Case, m: re.Match[str]) -> str:
    none = any(launch.dynamic == 0 and not launch.assumed for launch in launches_of(case))
    return "" if none else f"each launch gives `{m['name']}` bytes"


def launch_elsewhere(case: Case, m: re.Match[str]) -> str:
    """Some launch is in no file that was read, or in a macro; none of the kernel stands in the text."""
    for kernel in {a.kernel.name for a in case.analyses if a.launch.place is None}:
        if re.search(rf"{word(kernel)}\s*(?:<[^<>;]*>\s*)?<<<", case.file):
            return f"the file launches `{kernel}`"
    shown = [
        launch.place is not None
        and not launch.assumed
        and launch.place.path == case.path
        and launch.place.macro is None
        for launch in launches_of(case)
    ]
    return f"all {len(shown)} launches stand in the file" if shown and all(shown) else ""


def size_at_launch(case: Case, m: re.Match[str]) -> str:
    if not all(array.dynamic for array in case.arrays):
        return "the array is not dynamic"
    return ""


def size_unknown(case: Case, m: re.Match[str]) -> str:
    """Some launch does not tell its bytes, or a part is the last one and reaches to an unknown end."""
    if any(launch.dynamic is None for launch in launches_of(case)):
        return ""
    if all(not array.dynamic for array in case.arrays):
        return f"all bytes of `{m['name']}` are known"
    if m["name"] == case.name:
        return f"every launch tells the bytes of `{m['name']}`"
    # A part: where the next one starts may be what is not known.
    return "" if re.search(rf"{word(m['name'])}\s*=", case.file) else f"`{m['name']}` is no part"


def build_defines(case: Case, m: re.Match[str]) -> str:
    return "" if any(None in a.dims for a in case.arrays) else f"the extents of `{m['name']}` are known"


def launch_line(case: Case, m: re.Match[str]) -> str:
    text = case.at(m["line"])
    return "" if "<<<" in text or "aunch" in text else f"line {m['line']} is no launch"


def unseen_launch(case: Case, m: re.Match[str]) -> str:
    wrong = launch_line(case, m)
    seen = {launch.place.line for launch in launches_of(case) if launch.place is not None}
    return wrong or (f"the launch on line {m['line']} was seen" if int(m["line"]) in seen else "")


def not_a_number(case: Case, m: re.Match[str]) -> str:
    third = re.search(r"<<<[^;]*?,[^;]*?,\s*([^,;]*?)\s*(?:,[^;]*?)?>>>", case.at(m["line"]))
    return f"line {m['line']} gives a number" if third and re.fullmatch(r"\d+", third[1]) else ""


def much(case: Case, m: re.Match[str]) -> str:
    big = [n for launch in launches_of(case) if (n := launch.dynamic) is not None and n > 48 * 1024]
    wrong = launch_line(case, m)
    return wrong or ("" if big else "no launch gives more than 48 KiB")


def escapes(case: Case, m: re.Match[str]) -> str:
    if not any(a.escapes for a in case.arrays):
        return "its address goes nowhere"
    text = case.file
    pointers = [p[0] for p in re.findall(rf"(\w+)\s*=\s*[^;]*{word(case.name)}()", text)]
    for name in (m["name"], case.name, *pointers):
        if any(re.match(r"\s*[,)+;]", rest) for _, rest in uses(case, name, text)):
            return ""
        if re.search(rf"&\s*{word(name)}", text) or re.search(rf"asm[^;]*{word(name)}", text):
            return ""
    return f"`{m['name']}` is given to nothing"


def some(test: Callable[[Conflict, re.Match[str]], bool], what: str) -> Check:
    """Of the accesses that are named one is so."""

    def check(case: Case, m: re.Match[str]) -> str:
        found = case.named(m["expression"], m["line"])
        if not found:
            return f"there is no access on line {m['line']}"
        return "" if any(test(c, m) for c in found) else f"`{m['expression']}` {what}"

    return check


unresolved = some(
    lambda c, m: c.grade is Grade.UNRESOLVED and (c.reason is None or c.reason.text == m["why"]),
    "is resolved, or for another reason not",
)
parametric = some(
    lambda c, m: c.grade is Grade.PARAMETRIC or c.trace.parameter is not None,
    "depends on nothing that the launch gives",
)
by_data = some(lambda c, m: bool(c.trace.data), "does not depend on data")
several_ways = some(lambda c, m: c.trace.ways == int(m["ways"]), "does not go so many ways")
open_choice = some(
    lambda c, m: (
        (c.trace.reason is not None and c.trace.reason.text == m["why"])
        or (m["why"].startswith("only a range") and c.wavefronts_low != c.wavefronts)
    ),
    "is not open for that reason",
)


def narrow(case: Case, m: re.Match[str]) -> str:
    sizes = {c.site.width for c in case.named(m["expression"], m["line"])}
    elements = {a.element for a in case.arrays}
    right = int(m["width"]) in sizes and int(m["element"]) > int(m["width"])
    return "" if right else f"widths there {sizes}, elements {elements}"


def structures(case: Case, m: re.Match[str]) -> str:
    """No pitch, of rows of any power of two elements and padded by any, frees a wavefront."""
    element = int(m["element"])
    if case.requests is None:
        return UNCHECKED + "not all places are known"
    before = sum(sum(force.total(each, lambda at: at, 1) or ()) for each in case.requests)
    for row in (1, 2, 4, 8, 16, 32, 64):
        for extra in range(1, 9):
            after = [force.padded(each, row * element, extra * element) for each in case.requests]
            known = [sum(a) for a in after if a is not None]
            if len(known) == len(after) and sum(known) < before * (1 - WORTH) and row > 1:
                return f"rows of {row} with {extra} more make {before} wavefronts {sum(known)}"
    return ""


def takes_turns(case: Case, m: re.Match[str]) -> str:
    """What conflicted accesses cost is what lanes of one element take turns for."""
    for each in (x for of in case.requests or () for x in of):
        cost, ideal = each.cost(lambda at: at), each.ideal()
        if cost is not None and cost > ideal:
            if each.conflict.site.op not in force.ATOMICS:
                return f"line {each.line} conflicts and updates nothing"
            least = force.same_words([each])
            if cost > least * 1.005:
                return f"line {each.line} takes {cost} wavefronts, turns {least}"
    return UNCHECKED + "not all places are known" if case.requests is None else ""


def by_source(case: Case, m: re.Match[str]) -> str:
    """The line copies from global memory and costs more than it has to; its place here alone does not."""
    for each in (x for of in case.requests or () for x in of):
        if (each.cost(lambda at: at) or 0) > each.ideal():
            return f"line {each.line} conflicts where it writes"
    there = [c for c in case.sites if c.site.place.line == int(m["line"])]
    if not any(c.site.op == "cp.async" and (c.wavefronts_low or 0) > (c.ideal or 0) for c in there):
        return f"line {m['line']} is no copy that costs more than it has to"
    return UNCHECKED + "not all places are known" if case.requests is None else ""


def another_way(case: Case, m: re.Match[str]) -> str:
    """The line reaches the array, and does not name the pointer."""
    there = [c for c in case.sites if c.site.place.line == int(m["line"])]
    if not there:
        return f"line {m['line']} does not reach `{case.name}`"
    used = any(
        re.search(word(m["name"]) + r"\s*\[", text.split(";")[0]) for text in case.around(m["line"], 1)
    )
    alone = used and all(c.site.expression.startswith(f"{m['name']}[") for c in there)
    return f"line {m['line']} goes through `{m['name']}`" if alone else ""


def leaves(case: Case, m: re.Match[str]) -> str:
    there = [c for c in case.sites if c.site.place.line == int(m["line"])]
    return "" if there else f"line {m['line']} does not reach `{case.name}`"


def start_open(case: Case, m: re.Match[str]) -> str:
    """What the pointer is set to has a name in it that is no constant."""
    given = re.findall(rf"{word(m['name'])}\s*=\s*([^;]+);", case.file)
    if not given:
        given = re.findall(rf"{word(m['name'])}\s*(?:\(|\{{)([^;]*)", case.file)
    known = set().union(*(case.constants(a) for a in case.analyses[:1]))
    for text in given:
        names = set(re.findall(r"[A-Za-z_]\w*", text)) - {case.name, "float", "int", "sizeof", "char", "half"}
        if names - known:
            return ""
    return "" if len(given) > 1 else f"`{m['name']}` is set by constants: {given}"


def unaligned(case: Case, m: re.Match[str]) -> str:
    return "" if int(m["start"]) % 16 else f"byte {m['start']} is a multiple of 16"
