"""Template arguments put in the place of parameters: for alias templates, which the IR does not have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from smemlint.ir import Name, TemplateArgument, Type, TypeParam


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
