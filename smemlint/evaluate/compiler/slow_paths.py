"""Arithmetic that nvcc compiles to more than a straight line: a call, predicates, branches or a loop.

What stands between two accesses decides whether they join (docs/dev/joining.md). Read from the machine code
of every function of CUDA's mathematics library between two loads and between two stores (nvcc 13.0, sm_90).
"""

from __future__ import annotations

import math
import re

import numpy as np

from smemlint.evaluate.compiler.function_sizes import function_size, is_special
from smemlint.evaluate.machine.functions import called, short_name
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.model import Stop
from smemlint.evaluate.values.number import Int, form_of
from smemlint.evaluate.values.value import Other, Pointer, RecordValue, Value
from smemlint.ir import STEPS, Assign, Call, Expr, Index, Member, Place, RecordRef, Scalar
from smemlint.ir.memo import by_identity
from smemlint.ir.types import BFLOAT16, HALF
from smemlint.ir.uses import holds
from smemlint.ir.walk import names_in, walk
from smemlint.patterns import pattern
from smemlint.toolkit.model import Effect
from smemlint.toolkit.numbers import NARROW
from smemlint.toolkit.table import effect_of

_BRANCH = {
    4: pattern(r"cos|sin|tan|sincos|atan2|fmod|remainder|[jy][01n]"),
    8: pattern(
        r"acosh|asinh|atanh|cos|sin|tan|sincos|sinh|atan2|erf(?:cx|inv|cinv)|lgamma|tgamma|log1p|normcdfinv"
        r"|pow|fmod|remainder|[jy][01n]"
    ),
}
"""By bytes of the argument: functions with branches of their own."""
_PREDICATES = {
    4: pattern(
        r"a(?:cosh|sinh|tanh?)|(?:cos|sin)pi|erf|erf(?:cx|inv|cinv)|lgamma|tgamma|log(?:2|10|1p|b)?"
        r"|normcdf(?:inv)?|pow|nextafter"
    ),
    8: pattern(
        r"a(?:cos|sin|tan)|r?cbrt|cosh|tanh|(?:cos|sin)pi|erfc|exp(?:2|10|m1)?|log(?:2|10|b)?|normcdf|rhypot"
        r"|nextafter"
    ),
}
"""Functions with a rare case that becomes predicates."""
_CALL = {
    4: pattern(r"sqrt|hypot|norm[34]d"),
    8: pattern(r"r?sqrt|norm[34]d"),
}
"""Functions that machine code calls for rare operands."""
_INTRINSICS: tuple[tuple[re.Pattern[str], Stop], ...] = (
    (pattern(r"__[fd](?:sqrt|rcp|div)_r[nzdu]"), "call"),
    (pattern(r"__frsqrt_rn|__hdiv|__h2div|h2div"), "fork"),
    (pattern(r"__fdividef|fdividef"), "predicate"),
)
_BARRIERS = pattern(r"v?printf|__nanosleep")
_OPAQUE = pattern(
    r"__ld(?:g|c[agsv]|lu)|__st(?:wb|c[gs]|wt)|atomic\w+|__dp[24]a\w*|clock(?:64)?"
    r"|__(?:low|high)2float|__(?:half|bfloat16)2float"
)
"""Functions that CUDA's headers or the compiler make of assembler."""
_OPAQUE_NARROW = frozenset(f.name for f in NARROW if "_as_" not in f.name and not f.name.startswith("make_"))
"""The same of half and bfloat16: all but those that only rename bits."""
_PAIRS = frozenset(("half2", "__half2", "nv_bfloat162", "__nv_bfloat162"))
_EXCHANGES = pattern(
    r"__shfl\w*|__(?:any|all|ballot|uni)(?:_sync)?|__activemask|__match_\w+|__reduce_\w+_sync"
)
"""Those by which lanes tell each other numbers: they stay in their loops, and what stands there does."""
_ENDS_IN_F = ("erf", "normcdf")


def function_stops(m: Machine, name: str, operands: list[Value], e: Call) -> None:
    """Log what a call of a library function keeps apart, and count its code."""
    if m.host:
        return
    short = short_name(name)
    plain, size = _function(short, operands)
    m.code_size.operations += function_size(plain, size)
    m.code_size.special += is_special(short, plain, size)
    if _BARRIERS.fullmatch(short):
        m.barrier()
        return
    for names, kind in _INTRINSICS:
        if names.fullmatch(short):
            if kind != "call" or not is_made_before(m, e.arguments):
                m.stop(kind, id(e.place))
            return
    if _BRANCH[size].fullmatch(plain):
        m.straight()
    elif _PREDICATES[size].fullmatch(plain):
        m.stop("fork")
    elif _CALL[size].fullmatch(plain) and not is_made_before(m, e.arguments):
        m.stop("call", id(e.place))


def is_made_before(m: Machine, of: Expr | tuple[Expr, ...]) -> bool:
    """Return whether a calculation is made in front of a loop around that stays one, or was in an earlier
    round of one that disappears: no round changes what it is made of."""
    if m.host or len(m.frames) > 1 or not m.context.loops:
        return False
    names = _made_of(of)
    for exits in reversed(m.context.loops):
        if exits.switch:
            continue
        if names is None or not names.isdisjoint(exits.changes.variables):
            return False
        if exits.stays or exits.round:
            return True
    return False


@by_identity
def _made_of(of: Expr | tuple[Expr, ...]) -> frozenset[str] | None:
    """The variables that a calculation is made of; None of one that does more, or reads memory."""
    calls = (n for n in walk(of) if isinstance(n, Call))
    if not all(effect_of(called(n)) is Effect.ARITHMETIC for n in calls):
        return None
    return None if holds(of, (Assign, Index, Member), ("*", *STEPS)) else names_in(of)


def opaque_stop(m: Machine, name: str) -> None:
    """Log that a function is assembler to the optimiser."""
    if m.host:
        return
    short = short_name(name)
    if short in _OPAQUE_NARROW or _OPAQUE.fullmatch(short):
        m.stop("opaque")
    elif _EXCHANGES.fullmatch(short):
        m.stop("exchange")


def narrow_stops(m: Machine, *values: Value) -> None:
    """Log that arithmetic on these is assembler to the optimiser: operators of half, bfloat16 and pairs."""
    if not m.host and any(map(_is_narrow, values)):
        m.stop("opaque")


def conversion_stops(m: Machine, v: Value, t: Scalar) -> None:
    """Log that a conversion is assembler to the optimiser: one to or from half or bfloat16."""
    if not m.host and (t in (HALF, BFLOAT16) or _is_narrow(v)):
        m.stop("opaque")


def _is_narrow(v: Value) -> bool:
    """Whether this is a half, a bfloat16 or a pair of them, or the place of one."""
    t = v.pointee if isinstance(v, Pointer) else v.type if isinstance(v, Other | RecordValue) else None
    return t in (HALF, BFLOAT16) or (isinstance(t, RecordRef) and t.name in _PAIRS)


def division_stops(m: Machine, a: Value, b: Value, place: Place | None, *, made_before: bool) -> None:
    """Log what a division `a / b` (or `a % b` of integers) keeps apart. made_before: it is not made here."""
    if m.host:
        return
    stop = _division(a, b)
    if stop is not None:
        m.code_size.special += 1
    if stop is not None and not made_before:
        # That of integers of 64 bits has branches of its own: it ends the block.
        m.stop(stop, 0 if isinstance(a, Int) and isinstance(b, Int) else id(place))


def _division(a: Value, b: Value) -> Stop | None:
    if isinstance(a, Int) and isinstance(b, Int):
        return _integer_division(a, b)
    return _float_division(a, b)


def _integer_division(a: Int, b: Int) -> Stop | None:
    if b.known and not form_of(b).terms:
        return None
    if max(a.type.size, b.type.size) == 8:
        return "call"
    return "predicate" if a.type.kind == b.type.kind == "int" else None


def _float_division(a: Value, b: Value) -> Stop | None:
    types = [v.type for v in (a, b) if isinstance(v, Other)]
    sizes = [t.size for t in types if isinstance(t, Scalar) and t.kind == "float"]
    if not sizes:
        return None
    # What differs from lane to lane is no constant of the compiler.
    of, by = _constant(a), _constant(b)
    if by is not None and (of is not None or _is_power_of_two(by, max(sizes))):
        return None  # folded, or a product
    return "fork" if max(sizes) == 2 else "call"


def _constant(v: Value) -> float | None:
    """The number that the compiler computes with, if it knows it: also an integer, as in `sum / 8`."""
    if isinstance(v, Int):
        same_in_all = v.known and not form_of(v).terms and np.ndim(v.const) == 0
        return float(np.asarray(v.const)) if same_in_all else None
    return v.value if isinstance(v, Other) and isinstance(v.value, float) else None


def _is_power_of_two(v: float, size: int) -> bool:
    """Whether a number is one as a float of so many bytes, up to its sign."""
    return math.frexp(v if size == 8 else np.float32(v))[0] in (0.5, -0.5)


def _function(name: str, operands: list[Value]) -> tuple[str, int]:
    """A function's name without the `f` of floats, and 4 for floats, 8 for doubles: `sqrtf`, and `sqrt` by
    its argument."""
    if name.endswith("f") and name not in _ENDS_IN_F:
        return name[:-1], 4
    sizes = [v.type.size for v in operands if isinstance(v, Other) and isinstance(v.type, Scalar)]
    return name, 4 if sizes and max(sizes) <= 4 else 8
