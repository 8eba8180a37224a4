"""Variable templates (`template <class T> constexpr int width = 16 / sizeof(T);`), which clang hides from us:
read from the text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from smemlint.frontend.lower.lowering import Context
from smemlint.frontend.lower.scope import Scope
from smemlint.frontend.text.expansion import ANGLES, listed
from smemlint.ir import OpaqueType, TemplateArgument, TemplateParam, VariableTemplate
from smemlint.patterns import pattern
from smemlint.source.blank import blank_comments
from smemlint.source.per_text import per_text

_LIST = r"<((?:[^<>;{}]|<[^<>;{}]*>)*)>"
_VARIABLE = pattern(
    rf"\btemplate\s*{_LIST}\s*"
    r"((?:(?:inline|static|const|constexpr|__device__|__host__|__constant__)\s+)+)"
    r"([A-Za-z_][\w:]*(?:\s*<[^;{}=()]*>)?[\s*&]+(?:const\s+)?)"
    r"((?:\w+::)*[A-Za-z_]\w*)\s*(<[^;{}=]*>)?\s*(?:=\s*([^;]+?)|\{([^;{}]*)\})\s*;"
)
_PARAMETER = pattern(
    r"\s*(template\s*<.*>\s*(?:class|typename)|class|typename|[\w:]+(?:\s*[\w:]+)*?)\s*(\.\.\.)?\s*(\w*)\s*(?:=(.*))?\Z",
    re.DOTALL,
)
_SCOPE = pattern(
    r"\b(inline\s+)?namespace\s+([\w:]*)\s*\{"
    r"|\b(?:struct|class|union)\s+(?:\w+\s*\([^()]*\)\s*)?(\w+)\s*(?:<[^;{}()]*>\s*)?(?:final\s*)?(?::[^;{}()]*)?\{"
    r"|[{}]"
)
"""Where a namespace or class begins, and every brace."""
MOST = 200


def variable_templates(c: Context) -> dict[str, tuple[VariableTemplate, ...]]:
    """By qualified name: the template itself and its specialisations, of the files that were read."""
    found: dict[str, list[VariableTemplate]] = {}
    for name, match in written(c):
        made = _made(c, name, match)
        if made is not None:
            found.setdefault(made.name, []).append(made)
    return {name: tuple(made) for name, made in found.items()}


def written(c: Context) -> list[tuple[str, re.Match[str]]]:
    """The qualified name of each that a file has, and its text."""
    found: list[tuple[str, re.Match[str]]] = []
    for file in c.positions.project_files():
        if b"template" not in file.data:
            continue
        for name, match in _written(file.data)[: MOST - len(found)]:
            found.append((name, match))
    return found


@per_text
def _written(data: bytes) -> list[tuple[str, re.Match[str]]]:
    """The qualified name of each variable template of a text, and where it stands."""
    text = blank_comments(data.decode("utf-8", "replace"))
    matches = list(_VARIABLE.finditer(text))
    starts, around = _scopes(text) if matches else ((), ())
    found = []
    for match in matches:
        at = bisect_right(starts, match.start())
        found.append((f"{around[at - 1]}{match[4]}" if at else match[4], match))
    return found


def _scopes(text: str) -> tuple[Sequence[int], Sequence[str]]:
    """Positions in a text, and what stands in front of the name of what is declared from there on."""
    open_, starts, around = [""], [], []
    for match in _SCOPE.finditer(text):
        inline, space, record = match.groups()
        if match[0] == "}":
            del open_[max(1, len(open_) - 1) :]
        else:
            name = record or ("" if inline else space)
            open_.append(f"{open_[-1]}{name}::" if name else open_[-1])
        starts.append(match.end())
        around.append(open_[-1])
    return starts, around


def _made(c: Context, name: str, match: re.Match[str]) -> VariableTemplate | None:
    listed, _, _, _, specialises, written, braced = match.groups()
    parameters = _parameters(c, listed, match.start())
    with c.within(Scope([parameters], around=name)):
        value = c.texts.read_expression(written if written is not None else braced or "0")
        matched = c.texts.template_arguments(specialises) if specialises else None
    return None if value is None else VariableTemplate(name, parameters, value, matched)


def _parameters(c: Context, text: str, at: int) -> tuple[TemplateParam, ...]:
    result: list[TemplateParam] = []
    parts, _ = listed(f"<{text}>", 0, ANGLES) or ((), 0)
    for i, part in enumerate(filter(None, parts)):
        found = _PARAMETER.match(part)
        if found is None:
            continue
        word, pack, name, default = found.groups()
        kind = (
            "template"
            if word.startswith("template")
            else "type"
            if word in ("class", "typename")
            else "value"
        )
        given: TemplateArgument | None = None
        if default and kind == "value":
            given = c.texts.read_expression(default)
        elif default and kind == "type":
            given = c.texts.read_type(default) or OpaqueType(default)
        result.append(TemplateParam(f"{name}@template{at}.{i}", name, kind, given, bool(pack)))
    return tuple(result)
