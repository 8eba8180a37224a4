"""Variable templates (`template <class T> constexpr int width = 16 / sizeof(T);`), which clang hides from us,
and concepts, which are such templates of conditions: read from the text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from smemlint.frontend.lower.context import Context
from smemlint.frontend.lower.scope import Scope
from smemlint.frontend.text.expansion import ANGLES, listed
from smemlint.frontend.text.requires import applied
from smemlint.ir import (
    Expr,
    Fold,
    Name,
    OpaqueType,
    TemplateArgument,
    TemplateParam,
    TypeParam,
    UnknownExpr,
    VariableTemplate,
)
from smemlint.patterns import pattern
from smemlint.records import record
from smemlint.source.blank import blank_comments
from smemlint.source.per_text import per_text

_LIST = r"<((?:[^<>;{}]|<[^<>;{}]*>)*)>"
_VARIABLE = pattern(
    rf"\btemplate\s*{_LIST}\s*(requires\b[^;{{}}]*?\s)?"
    r"((?:(?:inline|static|const|constexpr|__device__|__host__|__constant__)\s+)+)"
    r"([A-Za-z_][\w:]*(?:\s*<[^;{}=()]*>)?[\s*&]+(?:const\s+)?)"
    r"((?:\w+::)*[A-Za-z_]\w*)\s*(<[^;{}=]*>)?\s*(?:=\s*([^;]+?)|\{([^;{}]*)\})\s*;"
)
_CONCEPT = pattern(
    rf"\btemplate\s*{_LIST}\s*concept\s+([A-Za-z_]\w*)\s*"
    r"=\s*((?:[^;{}]|\{(?:[^{}]|\{[^{}]*\})*\})*);"
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


@record(frozen=True, slots=True)
class _Written:
    """The text of a variable template. name: as it is written, at: where."""

    name: str
    listed: str
    clause: str
    specialises: str | None
    value: str
    at: int


def variable_templates(c: Context) -> dict[str, tuple[VariableTemplate, ...]]:
    """By qualified name: the template itself and its specialisations, of the files that were read."""
    found: dict[str, list[VariableTemplate]] = {}
    for name, text in written(c):
        made = _variable_template(c, name, text)
        if made is not None:
            found.setdefault(made.name, []).append(made)
    return {name: tuple(made) for name, made in found.items()}


def written(c: Context) -> list[tuple[str, _Written]]:
    """The qualified name of each that a file has, and its text."""
    found: list[tuple[str, _Written]] = []
    for file in c.positions.project_files():
        if b"template" not in file.data:
            continue
        for name, text in _written(file.data)[: MOST - len(found)]:
            found.append((name, text))
    return found


@per_text
def _written(data: bytes) -> list[tuple[str, _Written]]:
    """The qualified name of each variable template and concept of a text, and what is written of it."""
    text = blank_comments(data.decode("utf-8", "replace"))
    matches = [
        _Written(m[5], m[1], m[2] or "", m[6], m[7] if m[7] is not None else m[8] or "0", m.start())
        for m in _VARIABLE.finditer(text)
    ]
    if "concept" in text:
        matches += [_Written(m[2], m[1], "", None, m[3], m.start()) for m in _CONCEPT.finditer(text)]
    starts, around = _scopes(text) if matches else ((), ())
    found = []
    for match in matches:
        at = bisect_right(starts, match.at)
        found.append((f"{around[at - 1]}{match.name}" if at else match.name, match))
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


def _variable_template(c: Context, name: str, text: _Written) -> VariableTemplate | None:
    parameters = _parameters(c, text.listed, text.at)
    with c.within(Scope([parameters], around=name)):
        value = c.texts.read_expression(text.value)
        matched = c.texts.template_arguments(text.specialises) if text.specialises else None
        requires = c.texts.read_clauses(text.clause)
    return None if value is None else VariableTemplate(name, parameters, value, matched, requires)


def _parameters(c: Context, text: str, at: int) -> tuple[TemplateParam, ...]:
    result: list[TemplateParam] = []
    parts, _ = listed(f"<{text}>", 0, ANGLES) or ((), 0)
    for i, part in enumerate(filter(None, parts)):
        found = _PARAMETER.match(part)
        if found is None:
            continue
        word, pack, name, default = found.groups()
        asked = None
        if word.startswith("template"):
            kind = "template"
        elif word in ("class", "typename"):
            kind = "type"
        else:
            asked = asked_of(c, word, TypeParam(f"{name}@template{at}.{i}", name), bool(pack), perhaps=True)
            kind = "value" if asked is None else "type"
        given: TemplateArgument | None = None
        if default and kind == "value":
            given = c.texts.read_expression(default)
        elif default and kind == "type":
            given = c.texts.read_type(default) or OpaqueType(default)
        result.append(TemplateParam(f"{name}@template{at}.{i}", name, kind, given, bool(pack), None, asked))
    return tuple(result)


def asked_of(
    c: Context, concept: str, of: TypeParam, pack: bool = False, *, perhaps: bool = False
) -> Expr | None:
    """What a concept in place of `class` asks of a parameter: `Small T`, `Fits<4> T`, `Small auto x`.
    perhaps: it may be the type of a number as well; None of that."""
    name = concept.split("<", 1)[0].strip()
    if perhaps and not c.texts.is_variable_template(name) and not name.startswith(("std::", "cuda::std::")):
        return None
    asked = c.texts.read_expression(concept)
    if not isinstance(asked, Name):
        return UnknownExpr("concept")
    return Fold("&&", applied(asked, of)) if pack else applied(asked, of)
