"""Kernels whose code is the same in several configurations: what one evaluation told holds for all of them.

A module is one text under one set of macros. Most of it does not change with them, and a kernel in which
nothing does would be evaluated again for the same answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from smemlint.ir import Function, Launch, Module, Place
from smemlint.ir.memo import by_identity
from smemlint.ir.types import own_name
from smemlint.score import KernelAnalysis

_ENTITIES = ("functions", "records", "globals", "specialisations", "variable_templates", "overloads")
"""What a module holds by id or name that evaluation reads."""


class Evaluated:
    """What kernels have told so far, to be found again for the same code under the same launch."""

    def __init__(self) -> None:
        self._told: dict[str, list[tuple[Module, KernelAnalysis]]] = {}
        self._changed: dict[tuple[int, int], frozenset[str]] = {}

    def keep(self, module: Module, analysis: KernelAnalysis) -> None:
        """Remember what a kernel told that came to its end."""
        if not analysis.stopped:
            self._told.setdefault(analysis.kernel.id, []).append((module, analysis))

    def find(self, module: Module, kernel: Function, launch: Launch) -> KernelAnalysis | None:
        """Return what the same code told in another configuration under this launch, as of this one."""
        for other, analysis in self._told.get(kernel.id, ()):
            if other is not module and analysis.launch == launch and self._is_same(module, kernel, other):
                return replace(analysis, kernel=kernel, configuration=module.configuration)
        return None

    def _is_same(self, module: Module, kernel: Function, other: Module) -> bool:
        key = id(module), id(other)
        if key not in self._changed:
            self._changed[key] = changed(module, other)
        names = reached(module, kernel) | reached(other, other.functions[kernel.id])
        # Where a file-scope array lies depends on which other kernels use it.
        scattered = any(v.storage == "shared" and own_name(v.name) in names for v in module.globals.values())
        return not scattered and names.isdisjoint(self._changed[key])


def changed(a: Module, b: Module) -> frozenset[str]:
    """Names of what two modules do not have in common."""
    found: set[str] = set()
    for of in _ENTITIES:
        here, there = getattr(a, of), getattr(b, of)
        for key in {*here, *there}:
            if not alike(here.get(key), there.get(key)):
                found |= {*_names(key, here.get(key)), *_names(key, there.get(key))}
    return frozenset(found)


def alike(a: object, b: object) -> bool:
    """Whether two parts of a program are the same in everything, places and `volatile` included."""
    pending = [(a, b)]
    while pending:
        x, y = pending.pop()
        if x is y:
            continue
        if type(x) is not type(y):
            return False
        if isinstance(x, tuple) and isinstance(y, tuple):
            if len(x) != len(y):
                return False
            pending += zip(x, y, strict=True)
        elif isinstance(x, Mapping) and isinstance(y, Mapping):
            if x.keys() != y.keys():
                return False
            pending += [(x[k], y[k]) for k in x]
        elif is_dataclass(x) and not isinstance(x, Place):
            pending += [(getattr(x, f), getattr(y, f)) for f in _fields(type(x))]
        elif x != y:
            return False
    return True


def reached(module: Module, kernel: Function) -> frozenset[str]:
    """Every name that a kernel and all it may lead to mention: too many rather than too few."""
    by_name = _by_name(module)
    names = set(_mentioned(kernel))
    pending = list(names)
    while pending:
        for entity in by_name.get(pending.pop(), ()):
            new = _mentioned(entity) - names
            names |= new
            pending += new
    return frozenset(names)


@by_identity
def _by_name(module: Module) -> dict[str, list[object]]:
    """What each name may mean. Operators are called without their names: they may be meant anywhere."""
    found: dict[str, list[object]] = {}
    for of in _ENTITIES:
        for key, entity in getattr(module, of).items():
            for name in _names(key, entity):
                found.setdefault(name, []).append(entity)
    return found


@by_identity
def _mentioned(entity: object) -> frozenset[str]:
    """The ids and names in a part of a program, names also without what they are members of."""
    strings = set(_strings(entity))
    return frozenset(strings | set(map(own_name, strings)) | {_ANYWHERE})


_ANYWHERE = "operator"
"""Stands for the name of what is called without it: operators and conversions."""


def _names(key: str, entity: object) -> Iterator[str]:
    """The id and the names that something can be mentioned by."""
    name = str(getattr(entity, "name", key))
    yield key
    yield own_name(name)
    record = getattr(entity, "record", None)
    if isinstance(record, str):
        yield own_name(record)
    if own_name(name).startswith(_ANYWHERE):
        yield _ANYWHERE


def _strings(root: object) -> Iterator[str]:
    pending = [root]
    while pending:
        x = pending.pop()
        if isinstance(x, str):
            yield x
        elif isinstance(x, tuple):
            pending += x
        elif isinstance(x, Mapping):
            pending += (*x.keys(), *x.values())
        elif is_dataclass(x) and not isinstance(x, Place):
            pending += [getattr(x, f) for f in _fields(type(x))]


_FIELDS: dict[type, tuple[str, ...]] = {}


def _fields(t: type) -> tuple[str, ...]:
    """Names of the fields of a class of records."""
    known = _FIELDS.get(t)
    if known is None:
        made: Any = t
        known = _FIELDS[t] = tuple(f.name for f in fields(made))
    return known
