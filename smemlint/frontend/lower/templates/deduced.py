"""Explicit instantiations that leave the arguments to the parameters: `template void f(float *, int);`.

clang deduces most of them. Where a parameter's type is made by a library that is not there
(`traits::real_t<T> *`), it cannot, and the other parameters tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from smemlint.frontend.lower.context import Context
from smemlint.frontend.lower.scope import Scope
from smemlint.frontend.text.expansion import ANGLES, listed
from smemlint.ir import ArrayOf, Function, PointerTo, Record, RecordRef, TemplateArgument, Type, TypeParam
from smemlint.patterns import pattern

Declared: TypeAlias = tuple[str, tuple[Type | None, ...]]
"""Id of a function template and the types of an instantiation's parameters, None where they are not read."""
_PARAMETER = pattern(r"(.*[\s*&>\]])[A-Za-z_]\w*\s*", re.DOTALL)


def declared(c: Context, identifiers: Iterable[str], text: str, at: int) -> Iterator[Declared]:
    """What an instantiation says of the templates that it may mean. at: where its parameters begin, behind
    the parenthesis."""
    parts = _split_arguments(text, at)
    if parts is None:
        return
    with c.within(Scope()):
        types = tuple(_type(c, part) for part in parts)
    for identifier in identifiers:
        yield identifier, types


def deduced(
    written: Iterable[Declared], functions: Mapping[str, Function], records: Mapping[str, Record]
) -> Iterator[tuple[str, tuple[TemplateArgument, ...]]]:
    """The instances that the parameters of instantiations tell."""
    for identifier, types in written:
        f = functions.get(identifier)
        if f is None or len(f.parameters) != len(types) or any(p.pack for p in f.template):
            continue
        found: dict[str, TemplateArgument] = {}
        if not all(_match(p.type, t, found, records) for p, t in zip(f.parameters, types, strict=True)):
            continue
        if all(p.id in found for p in f.template):
            yield identifier, tuple(found[p.id] for p in f.template)


def _match(
    pattern: object, given: object, found: dict[str, TemplateArgument], records: Mapping[str, Record]
) -> bool:
    """Unify a parameter's type with the one that is written, and say whether that can be; fills `found`."""
    if given is None:
        return True
    if isinstance(pattern, TypeParam):
        return found.setdefault(pattern.id, given) == given  # type: ignore[arg-type]
    if isinstance(pattern, RecordRef):
        if pattern.name not in records:  # may be anything
            return True
        return (
            isinstance(given, RecordRef)
            and given.name == pattern.name
            and len(given.arguments) == len(pattern.arguments)
            and all(
                _match(a, b, found, records) for a, b in zip(pattern.arguments, given.arguments, strict=True)
            )
        )
    if isinstance(pattern, PointerTo):
        return (
            isinstance(given, PointerTo)
            and given.reference == pattern.reference
            and _match(pattern.to, given.to, found, records)
        )
    if isinstance(pattern, ArrayOf):
        return isinstance(given, ArrayOf) and _match(pattern.element, given.element, found, records)
    return True


def _split_arguments(text: str, at: int) -> list[str] | None:
    """What stands between commas up to the closing parenthesis; None where that is not an instantiation."""
    found = listed(text, at - 1, ANGLES)
    instantiates = found is not None and text[found[1] : found[1] + 40].lstrip().startswith(";")
    return list(filter(None, found[0])) if found is not None and instantiates else None


def _type(c: Context, part: str) -> Type | None:
    named = _PARAMETER.fullmatch(part)
    return (c.texts.read_type(named[1]) if named else None) or c.texts.read_type(part)
