"""Variable templates (`template <class T> constexpr int width = 16 / sizeof(T);`), which clang hides from us:
read from the text."""

from __future__ import annotations

import re

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
    r"([A-Za-z_]\w*)\s*(<[^;{}=]*>)?\s*(?:=\s*([^;]+?)|\{([^;{}]*)\})\s*;"
)
_PARAMETER = pattern(
    r"\s*(template\s*<.*>\s*(?:class|typename)|class|typename|[\w:]+(?:\s*[\w:]+)*?)\s*(\.\.\.)?\s*(\w*)\s*(?:=(.*))?\Z",
    re.DOTALL,
)
MOST = 200


def variable_templates(c: Context) -> dict[str, tuple[VariableTemplate, ...]]:
    """By name: the template itself and its specialisations, of the files that were read."""
    found: dict[str, list[VariableTemplate]] = {}
    count = 0
    for file in c.positions.project_files():
        if b"template" not in file.data:
            continue
        for match in _written(file.data):
            count += 1
            if count > MOST:
                break
            made = _made(c, match)
            if made is not None:
                found.setdefault(made.name, []).append(made)
    return {name: tuple(made) for name, made in found.items()}


@per_text
def _written(text: bytes) -> list[re.Match[str]]:
    return list(_VARIABLE.finditer(blank_comments(text.decode("utf-8", "replace"))))


def _made(c: Context, match: re.Match[str]) -> VariableTemplate | None:
    listed, _, _, name, specialises, written, braced = match.groups()
    parameters = _parameters(c, listed, match.start())
    with c.within(Scope([parameters])):
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
