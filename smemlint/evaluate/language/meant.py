"""Which function a call in a template means, by what clang found when it made the instances."""

from __future__ import annotations

from collections.abc import Sequence

from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.types.matching import Binding
from smemlint.evaluate.values.number import Int
from smemlint.ir import Function, Literal, Place, Type
from smemlint.ir.module import Choice


def choices_here(m: Machine, place: Place | None) -> Sequence[Choice]:
    """Return what a call means in the instances that the frame may be of; nothing where that is not known."""
    every = m.module.choices.get(place, ()) if place is not None and m.module.choices else ()
    found = [c for c in every if all(_may_be(m.bindings.get(id), x) for id, x in c.instance)]
    return () if any(not c.id for c in found) else found


def _may_be(binding: Binding | None, argument: object) -> bool:
    """Whether a template argument of the frame may be that of an instance."""
    if isinstance(binding, Int):
        return not isinstance(argument, Literal) or binding.const is None or binding.const == argument.value
    return binding is None or isinstance(binding, tuple) or binding == argument


def of_given(m: Machine, choices: Sequence[Choice], types: Sequence[Type]) -> list[Choice]:
    """Return the choices whose call has arguments of these types; where no choice has, those of instances
    that the frame's template arguments tell apart."""
    found = [c for c in choices if all(a == b for a, b in zip(types, c.given, strict=False))]
    return found or [c for c in choices if any(id in m.bindings for id, _ in c.instance)]


def is_open(choices: Sequence[Choice], explicit: bool) -> bool:
    """Whether two instances that are told apart by nothing here mean different functions: `const` is not
    kept. explicit: whether the call writes template arguments, which may be of a pack."""
    alike = [(c.instance, c.given) for c in choices if c.whole or not explicit]
    return len(set(alike)) < len(alike)


def among(m: Machine, choices: Sequence[Choice], candidates: Sequence[Function]) -> list[Choice]:
    """Return the choices that are one of the candidates, or an explicit specialisation of one."""
    ids = {id for f in candidates for id in (f.id, *m.module.specialisations.get(f.id, ()))}
    return [c for c in choices if c.id in ids]


def meant(m: Machine, candidates: Sequence[Function], choices: Sequence[Choice]) -> list[Function]:
    """Return the candidates that are, or have as an explicit specialisation, one of the choices; all where
    none is."""
    ids = {c.id for c in choices}
    found = [f for f in candidates if not ids.isdisjoint((f.id, *m.module.specialisations.get(f.id, ())))]
    return found or list(candidates)
