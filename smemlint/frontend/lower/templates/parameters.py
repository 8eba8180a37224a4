"""Template parameters and their defaults, and alias templates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from smemlint.frontend.clang import cursors, kinds
from smemlint.frontend.clang.cursors import Node
from smemlint.frontend.lower.context import Context
from smemlint.frontend.lower.scope import Scope
from smemlint.frontend.lower.templates.variables import asked_of
from smemlint.frontend.text.requires import both
from smemlint.ir import (
    Expr,
    Name,
    OpaqueType,
    Record,
    RecordRef,
    TemplateArgument,
    TemplateParam,
    Type,
    TypeParam,
    TypeTemplate,
)
from smemlint.ir.module import ITSELF
from smemlint.patterns import pattern

_CONCEPT = pattern(
    r"(?!class\b|typename\b|template\b)([A-Za-z_][\w:]*\s*(?:<[^=]*>)?)\s*(?:\.\.\.)?\s*\w*\s*(?:=|\Z)"
)
"""The text of a type parameter in which a concept takes the place of `class`."""


def template_parameters(c: Context, node: Node, first: Node | None) -> tuple[TemplateParam, ...]:
    """A template's parameters, with default arguments that only its first declaration has. The last one asks
    what the template's `requires` clause does."""
    given = [k for k in cursors.children(node) if k.kind in kinds.TEMPLATE_PARAMETERS]
    defaults = (
        [k for k in cursors.children(first) if k.kind in kinds.TEMPLATE_PARAMETERS]
        if first is not None
        else []
    )
    known = parameter_list(c, given, defaults)
    text = c.positions.text(node) or ""
    if not known or "requires" not in text:
        return known
    c.scope.templates.append(known)
    asked = both([x for x in (known[-1].requires, c.texts.read_clauses(text)) if x is not None])
    c.scope.templates.pop()
    return (*known[:-1], replace(known[-1], requires=asked))


def parameter_list(c: Context, given: list[Node], defaults: list[Node]) -> tuple[TemplateParam, ...]:
    """Return template parameters; each sees those before it. defaults: as an earlier declaration writes
    them."""
    result: list[TemplateParam] = []
    c.scope.templates.append(())
    for index, node in enumerate(given):
        parameter = _parameter(c, node)
        if parameter.default is None and index < len(defaults):
            default = _default(c, defaults[index], parameter.kind)
            parameter = replace(parameter, default=default)
        result.append(parameter)
        if parameter.kind == "value":
            c.declared.variables[node.d0 or 0] = Name(parameter.id, parameter.name)
        c.scope.templates[-1] = tuple(result)
    c.scope.templates.pop()
    return tuple(result)


def _parameter(c: Context, node: Node) -> TemplateParam:
    name = cursors.spelling(node)
    point = c.positions.point(node)
    identifier = c.declared.local_id(name, point[1] if point else 0)
    kind = {kinds.TYPE_PARAMETER: "type", kinds.VALUE_PARAMETER: "value"}.get(node.kind, "template")
    text = c.positions.text(node) or ""
    pack = "..." in text
    type_ = c.types.of(node) if kind == "value" else None
    asked = _concept_condition(c, text, TypeParam(identifier, name), pack) if kind == "type" else None
    return TemplateParam(identifier, name, kind, _default(c, node, kind), pack, type_, asked)


def _concept_condition(c: Context, text: str, of: TypeParam, pack: bool) -> Expr | None:
    """What a concept asks of a type parameter that it introduces: `Small T`, `Fits<4> T = int`."""
    found = _CONCEPT.match(text)
    return None if found is None else asked_of(c, found[1], of, pack)


def _default(c: Context, node: Node, kind: str) -> TemplateArgument | None:
    if kind == "value":
        kids = cursors.expressions(node)
        text = c.positions.text(node)
        if not kids or (text is not None and "=" not in text):
            return None
        return c.exprs.lower(kids[-1])
    text = c.positions.text(node) or ""
    if "=" not in text:
        return None
    return c.texts.hinted(node).read_type(text.split("=", 1)[1])


def type_template(c: Context, declaration: Node) -> TypeTemplate:
    """An alias template of the record that is being read."""
    parameters = template_parameters(c, declaration, None)
    c.scope.templates.append(parameters)
    alias = next((k for k in cursors.children(declaration) if k.kind == kinds.ALIAS), None)
    to = c.types.lower(cursors.typedef_underlying(alias)) if alias is not None else None
    c.scope.templates.pop()
    return TypeTemplate(parameters, to or OpaqueType(cursors.spelling(declaration)))


def named_alias(c: Context, declaration: Node) -> Type:
    """An alias template that is itself an argument: a record that has nothing but this template."""
    name = c.declarations.qualified(declaration)
    if c.declarations.around(declaration) is None and name not in c.found.records:
        found = _alias_template(c, declaration)
        if found is not None:
            place = c.decls.name_place(declaration)
            c.found.records[name] = Record(name, (), place, templates={ITSELF: found})
    return RecordRef(name)


def expand_alias(c: Context, declaration: Node, arguments: tuple[TemplateArgument, ...]) -> Type:
    """An alias template's type with its arguments put in."""
    found = _alias_template(c, declaration)
    if found is None:
        return OpaqueType(cursors.spelling(declaration))
    values: dict[str, TemplateArgument] = {}
    for index, parameter in enumerate(found.parameters):
        if index < len(arguments):
            values[parameter.id] = arguments[index]
        elif parameter.default is not None:
            values[parameter.id] = parameter.default
    return substitute_type(found.type, values)


def _alias_template(c: Context, declaration: Node) -> TypeTemplate | None:
    """An alias template, whatever is being read."""
    alias = next((k for k in cursors.children(declaration) if k.kind == kinds.ALIAS), None)
    if alias is None:
        return None
    found = c.declarations.around(declaration)
    outer = () if found is None else c.decls.parameters(found)
    full = c.declarations.qualified(declaration)
    with c.within(Scope([outer] if outer else [], around=full)):
        parameters = template_parameters(c, declaration, None)
        c.scope.templates.append(parameters)
        return TypeTemplate(parameters, c.types.lower(cursors.typedef_underlying(alias)))


def substitute_type(type_: Type, arguments: Mapping[str, TemplateArgument]) -> Type:
    """The type with each parameter, by id, replaced."""
    result: Type = _substitute(type_, arguments)
    return result


def _substitute(node: Any, arguments: Mapping[str, TemplateArgument]) -> Any:
    if isinstance(node, (TypeParam, Name)):
        found = arguments.get(node.id)
        if found is not None:
            return found
    if isinstance(node, tuple):
        return tuple(_substitute(part, arguments) for part in node)
    if is_dataclass(node) and not isinstance(node, type):
        changed = {}
        for item in fields(node):
            old = getattr(node, item.name)
            if is_dataclass(old) or isinstance(old, tuple):
                new = _substitute(old, arguments)
                if new is not old:
                    changed[item.name] = new
        return replace(node, **changed) if changed else node
    return node
