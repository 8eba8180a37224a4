"""Functions of floats that hand out more than a result, or the bits of one as an integer."""

from __future__ import annotations

import math

from smemlint.evaluate.language.accesses import store
from smemlint.evaluate.language.conversions import coerce
from smemlint.evaluate.machine.dispatch import rvalue
from smemlint.evaluate.machine.functions import FUNCTIONS, Arguments, called, named
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.values.pieces import bits_of, width_of
from smemlint.evaluate.values.value import Other, Pointer, Value, is_uniform
from smemlint.ir import Call, Scalar
from smemlint.ir.types import DOUBLE, FLOAT, HALF, INT, LONG, SHORT, UINT, ULONG, USHORT


@named(
    *(name + f for name in ("sincos", "sincospi", "frexp", "modf", "remquo") for f in ("", "f")),
    "__sincosf",
    *("std::" + name for name in ("frexp", "modf", "remquo")),
    *("cuda::std::" + name for name in ("frexp", "modf", "remquo")),
)
def _outputs(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    """Results through pointers are stores: `sincosf(x, &s[i], &c[i])`."""
    values = [rvalue(m, a) for a in e.arguments]
    numbers = [v for v in values if not isinstance(v, Pointer)]
    uniform = all(map(is_uniform, numbers))
    for a, v in zip(e.arguments, values, strict=True):
        if isinstance(v, Pointer):
            result = coerce(m, Other(uniform=uniform), v.pointee)
            store(m, v, result, getattr(a, "place", None) or e.place, a)
    t = next((v.type for v in numbers if isinstance(v, Other)), None)
    return Other(t, uniform)


def _as_bits(name: str, source: Scalar, target: Scalar) -> None:
    """The same bytes as another type."""

    def handler(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
        v = coerce(m, rvalue(m, e.arguments[0]), source) if e.arguments else Other()
        bits = bits_of(v)
        if target.kind == "float":
            return Other(target, is_uniform(v), bits=bits if bits is not None and width_of(v) else None)
        if bits is not None:
            return coerce(m, bits, target)
        reason = v.reason if isinstance(v, Other) else None
        return m.unknown(target, called(e), uniform=is_uniform(v), reason=reason)

    FUNCTIONS[name] = handler


for _name, _source, _target in (
    ("__float_as_int", FLOAT, INT),
    ("__float_as_uint", FLOAT, UINT),
    ("__int_as_float", INT, FLOAT),
    ("__uint_as_float", UINT, FLOAT),
    ("__double_as_longlong", DOUBLE, LONG),
    ("__double_as_ulonglong", DOUBLE, ULONG),
    ("__longlong_as_double", LONG, DOUBLE),
    ("__ulonglong_as_double", ULONG, DOUBLE),
    ("__half_as_short", HALF, SHORT),
    ("__half_as_ushort", HALF, USHORT),
    ("__short_as_half", SHORT, HALF),
    ("__ushort_as_half", USHORT, HALF),
):
    _as_bits(_name, _source, _target)


@named("__builtin_inf", "__builtin_inff", "__builtin_huge_val", "__builtin_huge_valf")
def _infinity(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    return Other(FLOAT if called(e).endswith("f") else DOUBLE, True, None, math.inf if m.host else None)
