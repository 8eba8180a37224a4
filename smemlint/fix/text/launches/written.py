"""Launches as the text has them: what stands between `<<<` and `>>>`, what names of a kernel mean there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from smemlint.fix.model import Refusal
from smemlint.fix.text.source import Source, Token
from smemlint.ir import Place

_DECLARES = frozenset(("void", "*", "&", ">"))


def bytes_arguments(source: Source, places: Iterable[Place]) -> list[tuple[int, int]] | Refusal:
    """Byte range of the third launch argument of each launch, once each."""
    found = []
    for offset in sorted({p.offset for p in places}):
        arguments = arguments_of(source, offset)
        if arguments is None or len(arguments) < 3 or not arguments[2]:
            line = source.line_of(offset)
            return Refusal(
                "launch-elsewhere", f"the dynamic shared bytes of the launch on line {line} are not found"
            )
        third = arguments[2]
        found.append((third[0].offset, third[-1].end))
    return found


def arguments_of(source: Source, offset: int) -> list[list[Token]] | None:
    """The arguments between `<<<` and `>>>` of the launch that begins at an offset."""
    code = source.code
    i = source.index_at(offset)
    while i + 1 < len(code) and not (code[i].text == "<<" and code[i + 1].text == "<"):
        if code[i].text in ";{}":
            return None
        i += 1
    parts: list[list[Token]] = [[]]
    depth = 0
    for j in range(i + 2, len(code) - 1):
        token = code[j]
        if token.text in ";{}":
            return None
        if depth == 0 and token.text == ">>" and code[j + 1].text == ">":
            return parts
        depth += (token.text in "([") - (token.text in ")]")
        if token.text == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return None


def meanings(source: Source, offset: int, kernel: str) -> dict[str, str]:
    """What the names of a kernel's parameters, template parameters included, stand for at a launch."""
    code = source.code
    launch = source.index_at(offset)
    declared = next(
        (i for i, t in enumerate(code[:-2]) if t.text == kernel and is_declaration(source, i)), None
    )
    while launch < len(code) and code[launch].text != kernel:
        launch += 1
    if declared is None or launch >= len(code) - 2:
        return {}
    found = _paired(source, _parameters_of_template(source, declared), launch + 1, "<")
    close = launch + 1
    while close < len(code) - 2 and code[close].text != ";":
        if code[close].text == ">>" and code[close + 1].text == ">":
            return found | _paired(source, listed(code, declared + 1), close + 2, "(")
        close += 1
    return {}


def _paired(source: Source, names: Sequence[list[Token]], opening: int, bracket: str) -> dict[str, str]:
    """The parameters' names with the text that is given for each, as many as are."""
    code = source.code
    if code[opening].text != bracket:
        return {}
    found = {}
    for parameter, given in zip(names, listed(code, opening), strict=False):
        plain = parameter[: next((n for n, t in enumerate(parameter) if t.text == "="), len(parameter))]
        if plain and given and plain[-1].kind == "name":
            found[plain[-1].text] = source.text[given[0].offset : given[-1].end]
    return found


def _parameters_of_template(source: Source, index: int) -> list[list[Token]]:
    start = source.index_at(source.statement_start(index))
    code = source.code
    return listed(code, start + 1) if code[start].text == "template" and code[start + 1].text == "<" else []


def listed(code: Sequence[Token], opening: int) -> list[list[Token]]:
    """What stands between the commas of the bracket at an index."""
    parts: list[list[Token]] = [[]]
    depth = 0
    angle = code[opening].text == "<"
    for token in code[opening + 1 :]:
        if depth == 0 and token.text == (">" if angle else ")"):
            break
        if token.text in (";", "{", "") and depth == 0:
            return []
        depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
        if angle:
            depth += (token.text == "<") - (token.text == ">")
        if token.text == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts if parts != [[]] else []


def is_declaration(source: Source, index: int) -> bool:
    before = source.code[index - 1] if index else None
    after = source.code[index + 1].text if index + 1 < len(source.code) else ""
    if before is None or after != "(":
        return False
    return before.text in _DECLARES or before.text == ")" or before.kind == "name"


def declarations(source: Source, kernel: str) -> list[int]:
    """The tokens at which kernels of a name are declared."""
    return [i for i, t in enumerate(source.code[:-2]) if t.text == kernel and is_declaration(source, i)]


def said_by(text: str, names: Mapping[str, str]) -> str | None:
    """An expression of the kernel with what its names stand for; None where one is the kernel's own."""
    for name in set(re.findall(r"(?<![\w.])[A-Za-z_]\w*(?:\.\w+)?", text)):
        if name not in names:
            return None
        text = re.sub(rf"(?<![\w.]){re.escape(name)}\b", f"({names[name]})", text)
    return text


def written_launch(source: Source, kernel: str) -> int | None:
    """The line of the first launch of a kernel in the text (`k<<<`, `k<T><<<`); None without one."""
    for i, token in enumerate(source.code):
        if token.text == kernel and token.kind == "name" and not is_declaration(source, i):
            behind = source.text[token.end : token.end + 200].partition(";")[0]
            if re.match(r"\s*(?:<[^<>;]*>\s*)?<<<", behind):
                return source.line_of(token.offset)
    return None
