"""Which of the kernels of one name a launch starts."""

from __future__ import annotations

from collections.abc import Sequence

from smemlint.evaluate.language.conversions import type_of
from smemlint.evaluate.language.overloads import best_fits, specialisation, takes
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.types.matching import Binding
from smemlint.evaluate.values.value import FunctionValue, Value
from smemlint.ir import Function, OpaqueType, Type, TypeParam
from smemlint.ir.walk import walk


def meant(
    m: Machine, named: FunctionValue, values: Sequence[Value]
) -> list[tuple[Function, dict[str, Binding]]]:
    """The kernel that the arguments choose, with its template arguments; several where the type of an
    argument would choose and is not known."""
    kernels = [f for f in named.candidates if f.side == "kernel"]
    fits = best_fits(m, takes(kernels, len(values)) or kernels, named.arguments, values)
    hidden = [i for i, v in enumerate(values) if _is_open(type_of(v))]
    first = [_parameter(f, i) for f, _ in fits[:1] for i in hidden]
    alike = all([_parameter(f, i) for i in hidden] == first for f, _ in fits)
    return [runs for fit in (fits[:1] if alike else fits) if (runs := _as_written(m, *fit)) is not None]


def _as_written(
    m: Machine, f: Function, bound: dict[str, Binding]
) -> tuple[Function, dict[str, Binding]] | None:
    """The explicit specialisation for these arguments, else the template itself where it has a body."""
    return specialisation(m, f, bound) or (None if f.declared else (f, bound))


def _is_open(t: Type) -> bool:
    """Whether a type is not known, or is one of a template whose arguments are not."""
    return any(isinstance(n, OpaqueType | TypeParam) for n in walk(t))


def _parameter(f: Function, index: int) -> Type | None:
    return f.parameters[index].type if index < len(f.parameters) else None
