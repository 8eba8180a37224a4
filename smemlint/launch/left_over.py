"""Instances of launcher templates that host code names and that no steps were left to run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from smemlint.ir import (
    Function,
    LaunchStmt,
    Literal,
    Module,
    Name,
    TemplateArgument,
    TemplateValue,
    TypeParam,
)
from smemlint.launch.model import Started
from smemlint.launch.objects import is_closed
from smemlint.launch.open import Candidate
from smemlint.launch.source.starters import said
from smemlint.launch.ways import site

_MOST = 64
"""Instances of one launcher that are followed."""


def left_over(
    module: Module,
    launchers: Iterable[Function],
    written: Mapping[str, Sequence[tuple[TemplateArgument, ...]]],
    found: Sequence[Started],
) -> Iterator[Started]:
    """What these instances start, with the shape that others of the same launch have: it is not sure.

    written: template arguments under which the launchers are named, by function.
    """
    at: dict[tuple[str, int, str], list[Started]] = {}
    for s in found:
        at.setdefault(site(s), []).append(s)
    for f in launchers:
        for launch in said(f).launches if f.template else ():
            kernel = module.functions.get(launch.kernel.id) if isinstance(launch.kernel, Name) else None
            if kernel is None or launch.place is None:
                continue
            seen = at.get((launch.place.path, launch.place.offset, kernel.id), [])
            for given in filter(is_closed, written.get(f.id, ()) if seen else ()):
                template = _handed_on(f, launch, kernel, given)
                if template and not any(template.items() <= s.template.items() for s in seen):
                    yield _like(seen[0], template)


def handed_down(
    launchers: Iterable[Function], written: Mapping[str, Sequence[tuple[TemplateArgument, ...]]]
) -> dict[str, list[tuple[TemplateArgument, ...]]]:
    """The instances of launchers that are named, with those that an instance asks of the next by its own
    parameters: `run<8>()` of `template <int K> void run() { start<K>(); }` asks for `start<8>`."""
    templates = {f.id: f for f in launchers if f.template}
    found = {id: dict.fromkeys(written.get(id, ())) for id in templates}
    waiting = [(id, given) for id, each in found.items() for given in each if is_closed(given)]
    for id, given in waiting:
        own = dict(zip((p.id for p in templates[id].template), given, strict=False))
        for n in said(templates[id]).instances:
            if not isinstance(n, Name) or n.id not in found:
                continue
            asked = tuple(own.get(a.id, a) if isinstance(a, Name | TypeParam) else a for a in n.arguments)
            if asked not in found[n.id] and is_closed(asked):
                found[n.id][asked] = None
                if len(found[n.id]) <= _MOST:
                    waiting.append((n.id, asked))
    return {id: list(each)[:_MOST] for id, each in found.items()}


def _handed_on(
    f: Function, launch: LaunchStmt, kernel: Function, given: Sequence[TemplateArgument]
) -> dict[str, TemplateValue]:
    """The template arguments of a kernel, by name, that are parameters of its launcher."""
    own = dict(zip((p.id for p in f.template), given, strict=False))
    arguments = launch.kernel.arguments if isinstance(launch.kernel, Name) else ()
    found: dict[str, TemplateValue] = {}
    for p, argument in zip(kernel.template, arguments, strict=False):
        value = own.get(argument.id) if isinstance(argument, Name | TypeParam) else None
        if isinstance(value, Literal):
            found[p.name] = value.value
        elif value is not None and not isinstance(value, Name):
            found[p.name] = value  # type: ignore[assignment]
    return found


def _like(one: Started, template: Mapping[str, TemplateValue]) -> Started:
    """Another instance of a launch, as if its block was left open and this shape were the usual one."""
    x, y, z = one.block
    likely = one.likely
    if x is not None and y is not None and z is not None:
        likely = (Candidate((x, y, z), one.dynamic, {}),)
    return replace(
        one,
        block=(None, None, None),
        likely=likely,
        grid=(None, None, None),
        template={**one.template, **template},
        arguments={},
    )
