"""Claims about what stands in the text, held against the lines that they name."""

from __future__ import annotations

import re

from held_reasons import by_force as force
from held_reasons.case import Case, Check, uses, word


def as_pointer(case: Case, m: re.Match[str]) -> str:
    name, line = m["name"], m["line"]
    if re.search(r"\W", name):
        flat = re.sub(r"\s+", "", name)
        return "" if flat in re.sub(r"\s+", "", case.at(line)) else f"line {line} has no `{name}`"
    dims = len(case.fix.array.dims) if name == case.name else 1
    for text in case.around(line):
        if any(count < dims for count, _ in uses(case, name, text)):
            return ""
        if re.search(rf"&\s*{word(name)}|\)\s*{word(name)}", text):
            return ""
    return f"line {line} does not use `{name}` as a pointer"


def has(*names: str) -> Check:
    """The line has what is named there: words or text, as it is spelled but for spaces."""

    def check(case: Case, m: re.Match[str]) -> str:
        told = {k: v for k, v in m.groupdict().items() if v is not None}
        text = re.sub(r"\s+", "", case.at(told["line"]))
        for name in names:
            said = re.sub(r"\s+", "", told.get(name, name))
            if said not in text:
                return f"line {told['line']} has no `{said}`"
        return ""

    return check


def outside(case: Case, m: re.Match[str]) -> str:
    above = case.file.encode("latin-1")[: case.fix.array.place.offset].decode("latin-1")
    above = re.sub(r'extern\s*"C"\s*\{|namespace[\w\s:]*\{', " ", above)
    depth = above.count("{") - above.count("}")
    enclosing = depth > 0 and re.search(r"(?:struct|class|namespace)\s*\w*\s*\{", above)
    return "" if depth <= 0 or enclosing else f"`{m['name']}` is declared {depth} braces deep"


def unmatched(case: Case, m: re.Match[str]) -> str:
    plain = re.sub(r"(?m)^[ \t]*#[^\n]*", "", case.file)
    return "" if plain.count("{") != plain.count("}") else "as many braces close as open"


def macro_names(case: Case, m: re.Match[str]) -> str:
    for text in case.texts.values():
        joined = text.replace("\\\n", " ")
        if re.search(rf"#\s*define\b[^\n]*{word(m['name'])}", joined):
            return ""
    return f"no macro names `{m['name']}`"


def unused(case: Case, m: re.Match[str]) -> str:
    plain = re.sub(r"(?m)^[ \t]*#[^\n]*(?:\\\n[^\n]*)*", "", case.file)
    named = sum(1 for count, _ in uses(case, m["name"], plain) if count)
    return "" if named <= 1 else f"`{m['name']}` is used {named} times outside of macros"


def not_at_place(case: Case, m: re.Match[str]) -> str:
    place = case.fix.array.place
    if place.macro is not None:
        return ""
    said = case.file.encode("latin-1")[place.offset : place.end_offset].decode("latin-1")
    around = case.file.encode("latin-1")[place.offset : place.offset + 200].decode("latin-1")
    if said != m["name"] or not re.match(rf"{word(m['name'])}\s*\[", around):
        return ""
    declared = re.search(rf"__shared__[^;]*{word(m['name'])}\s*\[", around) or re.search(
        rf"{word(m['name'])}\s*\[[^\]]*\]", around
    )
    return "the declaration stands in the text" if declared and "\\" not in case.line(place.line) else ""


def twice(case: Case, m: re.Match[str]) -> str:
    types = rf"(?:\w|[>*&])\s+[*&]?\s*{word(m['name'])}\s*(?:\[|=|;|,|\()"
    many = len(re.findall(types, case.file))
    return "" if many > 1 else f"`{m['name']}` is declared {many} times"


def elsewhere(case: Case, m: re.Match[str]) -> str:
    return "" if case.path != case.found.source.path else "it stands in the file itself"


def by_macro(case: Case, m: re.Match[str]) -> str:
    defined = any(re.search(rf"#\s*define\s+{m['macro']}\b", t) for t in case.texts.values())
    return "" if defined or m["macro"] in case.file else f"there is no macro `{m['macro']}`"


def no_extent(case: Case, m: re.Match[str]) -> str:
    empty = re.search(rf"{word(m['name'])}\s*\[\s*\]", case.file)
    if empty or None in case.fix.array.dims:
        return ""
    return f"`{m['name']}` has an extent"


def also_called(case: Case, m: re.Match[str]) -> str:
    """Some call does not give the array, or functions have one of that name each."""
    calls = re.findall(rf"{word(m['name'])}\s*(?:<[^;(]*>)?\s*\(([^;]*?)\)\s*;", case.file)
    without = [c for c in calls if not re.search(word(m["array"]), c)]
    declared = re.findall(rf"__shared__[^;]*{word(m['array'])}", case.file)
    return "" if without or len(declared) > 1 else f"all calls of `{m['name']}` get `{m['array']}`"


def nested(case: Case, m: re.Match[str]) -> str:
    name = re.escape(m["array"])
    return "" if re.search(rf"{name}\s*\[[^\];]*{name}\s*\[", case.file) else "no access stands in another"


def factors(case: Case, name: str) -> list[set[str]]:
    """Of each index of an array the factors of its products; locals that hold an index followed once."""
    result = []
    for m in re.finditer(word(name), case.file):
        rest = case.file[m.end() :]
        bracket = re.match(r"\s*\[((?:[^\[\];]|\[[^\[\]]*\])*)\]", rest)
        if bracket is None or re.search(r"__shared__[^;]*$", case.file[: m.start()].rpartition("\n")[2]):
            continue
        index = bracket[1]
        found = set(re.findall(r"\*\s*\(?\s*(\w+)", index)) | set(re.findall(r"(\w+)\s*\)?\s*\*", index))
        result.append(found - {"threadIdx", "x", "y", "z"})
    return result


def no_pitch(case: Case, m: re.Match[str]) -> str:
    """No factor stands in all indices."""
    found = factors(case, m["name"])
    common = set.intersection(*found) if found else set()
    numbers = {force.value(f, case.constants(a)) for f in common for a in case.analyses[:1]}
    rows = {n for n in numbers if n is not None and n > 4}
    return f"`{sorted(common)}` stands in every index" if rows and len(found) > 1 else ""


def not_rows(case: Case, m: re.Match[str]) -> str:
    return "" if not re.search(word(m["pitch"]), m["extent"]) else f"`{m['extent']}` names `{m['pitch']}`"


def not_c(case: Case, m: re.Match[str]) -> str:
    """What pycparser cannot read: templates, scopes, casts by name, constructors, literals of C++."""
    text = m.groupdict().get("text") or case.at(m.groupdict().get("line") or case.fix.array.place.line)
    strange = re.search(
        r"::|<[\w\s,]+>|\b\w+\s*\{|_cast|\btemplate\b|\bthis\b|\d'\d|\bsizeof\b|\[\]|\(\)", text
    )
    return "" if strange else f"`{text[:60]}` looks like C"


def at_launch(case: Case, m: re.Match[str]) -> str:
    """The name is no constant of the text; a local or a parameter holds it."""
    name = m["name"]
    if not re.fullmatch(r"\w+", name):
        return "" if re.search(r"blockDim|gridDim|[a-z]", name) else f"`{name}` is a number"
    constant = any(
        re.search(rf"#\s*define\s+{name}\s+\d|\bconstexpr\b[^;=]*{word(name)}\s*=\s*\d+\s*;", t)
        for t in case.texts.values()
    )
    return f"`{name}` is a constant of the text" if constant else ""


def also_serves(case: Case, m: re.Match[str]) -> str:
    """The constant stands there, and not in an index of the array."""
    text = case.line(m["line"])
    if not re.search(word(m["name"]), case.at(m["line"])):
        return f"line {m['line']} has no `{m['name']}`"
    own = case.lines.get(case.path, [])
    if (
        int(m["line"]) == case.fix.array.place.line
        and len(own) > int(m["line"])
        and own[int(m["line"])] in text
    ):
        names = re.findall(word(m["name"]), own[int(m["line"])])
        extents = re.findall(rf"{word(case.name)}((?:\s*\[[^\]]*\])+)", own[int(m["line"])])
        if len(names) == sum(len(re.findall(word(m["name"]), e)) for e in extents):
            last = extents[0].split("[")[1:-1] if extents else []
            if not any(re.search(word(m["name"]), e) for e in last):
                return f"line {m['line']} is the declaration of the array"
    return ""


def one_line(pattern: str) -> Check:
    """The line that is named shows that pattern."""

    def check(case: Case, m: re.Match[str]) -> str:
        return "" if re.search(pattern, case.at(m["line"])) else f"line {m['line']} shows no {pattern}"

    return check


def not_ascii(case: Case, m: re.Match[str]) -> str:
    given = [bytes(d).decode("latin-1").split("\n") for d in case.found.texts.values()]
    n = int(m["line"])
    return "" if any(not x[n - 1].isascii() for x in given if len(x) >= n) else f"line {n} is ASCII"


def continued(case: Case, m: re.Match[str]) -> str:
    n = int(m["line"])
    near = [x for lines in case.lines.values() for x in lines[max(n - 1, 0) : n + 1]]
    return "" if any(x.rstrip().endswith("\\") for x in near) else f"line {n} is not continued"


def member(case: Case, m: re.Match[str]) -> str:
    """The function is a member, or the text does not show it."""
    above = case.file.encode("latin-1")[: case.fix.array.place.offset].decode("latin-1")
    plain = re.sub(r'extern\s*"C"\s*\{|namespace[\w\s:]*\{', " ", above)
    if re.search(r"(?:struct|class)\s[^;{}]*\{(?:[^{}]|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})*$", plain):
        return ""
    if plain.count("{") - plain.count("}") != 1 or "#" in above.rpartition("{")[2]:
        return ""
    return (
        "" if case.fix.array.place.macro or plain.count("(") != plain.count(")") else "it is a plain function"
    )


def odd_rows(case: Case, m: re.Match[str]) -> str:
    last = {d[-1] for d in case.dims if d}
    return "" if any(n & (n - 1) for n in last) or len(case.dims[0]) == 1 else f"rows are {last} wide"


def by_each_thread(case: Case, m: re.Match[str]) -> str:
    given = re.findall(rf"{word(m['name'])}\s*(?:=|\+=|\+\+)([^;]*);", case.file)
    return "" if given else f"nothing is given to `{m['name']}`"


def wide(case: Case, m: re.Match[str]) -> str:
    return "" if re.search(r"\*\s*\)|reinterpret_cast", case.at(m["line"])) else "nothing is cast there"


def names_part(case: Case, m: re.Match[str]) -> str:
    given = re.findall(rf"{word(m['name'])}\s*=", case.file)
    return "" if given else f"`{m['name']}` is set nowhere"


def member_of(case: Case, m: re.Match[str]) -> str:
    declared = any(re.search(rf"{word(m['name'])}\s*\[", t) for p, t in case.texts.items() if p == case.path)
    return "" if declared or m["name"] else f"`{m['name']}` is no member"


def laid_out(case: Case, m: re.Match[str]) -> str:
    name = re.escape(m["name"])
    return "" if re.search(rf"{name}\s*\[[^;]*\w+\s*\(", case.file) else "no function is in its indices"
