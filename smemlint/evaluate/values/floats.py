"""Floats as far as they are exact: what no rounding has changed is known, everything else is not."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from smemlint.evaluate.values import affine
from smemlint.evaluate.values.affine import Affine
from smemlint.evaluate.values.comparison import COMPARISONS
from smemlint.evaluate.values.number import Int, form_of, formed
from smemlint.evaluate.values.value import Other, Value
from smemlint.evaluate.values.widths import is_long_unsigned, range_of
from smemlint.ir import Scalar
from smemlint.ir.types import BOOL, DOUBLE, FLOAT

Floats: TypeAlias = "float | NDArray[np.float64]"

_SINGLE = struct.Struct("f")
_OF_LIBRARY: dict[str, Callable[..., float]] = {
    **{n: getattr(math, n) for n in ("pow", "exp", "log", "log10", "fmod", "hypot", "sin", "cos", "tan")},
    "exp2": lambda x: math.pow(2.0, x),
    "round": lambda x: math.copysign(math.floor(abs(x) + 0.5), x),
    "lround": lambda x: math.copysign(math.floor(abs(x) + 0.5), x),
}
_SLACK = 2.0**-20
"""Far more than any rounding of a product or a quotient, as a part of it."""
_ROUNDINGS: dict[str, Any] = {
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "rint": np.rint,
    "nearbyint": np.rint,
    "fabs": np.abs,
}


def rounded(x: Floats, t: Scalar) -> Floats | None:
    """A number as type t holds it; None for a type that is not modelled."""
    if t.size == 8:
        return x
    if t.size != 4:
        return None
    if isinstance(x, float):
        try:
            return float(_SINGLE.unpack(_SINGLE.pack(x))[0])
        except OverflowError:
            return math.copysign(math.inf, x)
    with np.errstate(over="ignore"):
        return np.asarray(x, dtype=np.float64).astype(np.float32).astype(np.float64)


def of_integer(v: Int, t: Scalar) -> Floats | None:
    """A known integer as a float of type t."""
    if not v.known or is_long_unsigned(v.type):
        return None
    whole = float(v.const) if isinstance(v.const, int) else v.const.astype(np.float64)
    return rounded(whole, t)


def made_of(op: str, *parts: Value) -> Affine | None:
    """What names a float that an operation makes, where a compiler does not know it."""
    names = [_name(v) for v in parts]
    return affine.atom(op, *names) if any(isinstance(n, Affine) for n in names) else None


def _name(v: Value) -> Hashable:
    if isinstance(v, Int):
        form = form_of(v)
        if form.terms or form.dropped:
            return form
        return v.const if isinstance(v.const, int) else v.const.tobytes()
    if not isinstance(v, Other):
        return None
    if v.made_of is not None:
        return v.made_of
    x = v.value if v.value is not None else v.near
    return x.tobytes() if isinstance(x, np.ndarray) else x


def to_integer(v: Other, x: Floats, t: Scalar) -> Int | None:
    """A float, of value x, without its fraction; None where some lane's does not fit."""
    whole = _whole(x, t)
    return whole if whole is None or v.made_of is None else formed(whole, affine.atom("whole", v.made_of))


def _whole(x: Floats, t: Scalar) -> Int | None:
    least, most = range_of(t)
    most = min(most, 1 << 53)
    whole = np.trunc(x)
    if not bool(np.all(np.isfinite(whole) & (whole >= max(least, -(1 << 53))) & (whole <= most))):
        return None
    return Int(int(whole) if isinstance(x, float) else np.asarray(whole).astype(np.int64), t)


def truth(v: Other, x: Floats) -> Int:
    """Whether a float, of value x, is not zero."""
    told = Int(int(x != 0) if isinstance(x, float) else np.not_equal(x, 0).astype(np.int64), BOOL)
    return told if v.made_of is None else formed(told, affine.atom("truth", v.made_of))


def function(name: str, x: Floats, t: Scalar = DOUBLE) -> Floats | None:
    """floor, ceil, trunc, rint and the like; sqrt of type t, rounded as IEEE 754 says (nvcc does unless told
    `-prec-sqrt=false` or `-use_fast_math`); log2 where it comes out even."""
    if name in _ROUNDINGS:
        return _like(_ROUNDINGS[name](x), x)
    with np.errstate(all="ignore"):
        if name == "sqrt":
            root = _like(np.sqrt(x), x)
            return rounded(root, t) if bool(np.all(np.isfinite(root))) else None
        if name == "log2":
            result = np.log2(x)
            even = (result == np.trunc(result)) & (np.exp2(result) == x)
        else:
            return None
    return _like(result, x) if bool(np.all(even)) else None


def _like(result: Any, x: Floats) -> Floats:
    return float(result) if isinstance(x, float) else np.asarray(result, dtype=np.float64)


def compared(op: str, a: Value, b: Value) -> Int | None:
    """What a comparison of known floats gives."""
    t = _common_type(a, b)
    x, y = _number(a, t), _number(b, t)
    if x is None or y is None:
        return None
    holds = COMPARISONS[op](x, y)
    told = Int(holds.astype(np.int64) if isinstance(holds, np.ndarray) else int(bool(holds)), BOOL)
    form = made_of(op, a, b)
    return told if form is None else formed(told, form)


def on_host(name: str, values: Sequence[Value]) -> Other | None:
    """What a function of the C library gives for known numbers in host code, which calls the same one."""
    f, t = _OF_LIBRARY.get(name.removesuffix("f")) or _OF_LIBRARY.get(name), DOUBLE
    if name.endswith("f") or (values and all(isinstance(v, Other) and v.type == FLOAT for v in values)):
        t = FLOAT
    given = [_number(v, t) for v in values]
    if f is None or not all(isinstance(x, float) for x in given):
        return None
    try:
        return Other(t, True, None, rounded(float(f(*given)), t))
    except (ArithmeticError, ValueError, TypeError):
        return None


def arithmetic(op: str, a: Value, b: Value, *, host: bool = False) -> Other | None:
    """`a op b` where the result is exact in its type; None where it is rounded or not known. host: as IEEE
    754 rounds it, since host code is not compiled with fast mathematics."""
    if op not in "+-*/":
        return None
    t = _common_type(a, b)
    x, y = _number(a, t), _number(b, t)
    if t is None or x is None or y is None:
        return None
    if op == "/" and not bool(np.all(y)):
        return None
    with np.errstate(all="ignore"):
        if op in "+-":
            z = x + y if op == "+" else x - y
            back = z - x
            exact = (back == (y if op == "+" else -y)) & (z - back == x)
        elif op == "*":
            z = x * y
            exact = _is_single(x) & _is_single(y)  # 2 * 24 bits
        else:
            z = x / y
            exact = _is_single(z) & _is_single(y) & (z * y == x)
        held = rounded(z, t)
        if host and held is not None and bool(np.all(np.isfinite(z))):
            return Other(t, isinstance(z, float), None, held, made_of=made_of(op, a, b))
        exact = exact & (held == z) & np.isfinite(z)
    if held is None or not bool(np.all(exact)):
        return None
    return Other(t, isinstance(z, float), None, held, made_of=made_of(op, a, b))


def near(op: str, a: Value, b: Value) -> Floats | None:
    """`a * b` and `a / b` as they are rounded where nothing is added to them. A product by itself is rounded
    in one way; a quotient is known where the whole number below is the same however that is done (by fast
    division). None anywhere else."""
    if op not in ("*", "/"):
        return None
    t = _common_type(a, b)
    x, y = _number(a, t), _number(b, t)
    if t is None or x is None or y is None or (op == "/" and not bool(np.all(y))):
        return None
    with np.errstate(all="ignore"):
        z = x * y if op == "*" else x / y
        held = rounded(z, t)
        alike = (op == "*") | (np.trunc(z * (1 - _SLACK)) == np.trunc(z * (1 + _SLACK)))
        alike = alike & np.isfinite(z)
    return held if bool(np.all(alike)) else None


def _common_type(a: Value, b: Value) -> Scalar | None:
    types = [v.type for v in (a, b) if isinstance(v, Other)]
    if any(not isinstance(t, Scalar) or t.kind != "float" for t in types):
        return None
    return DOUBLE if any(isinstance(t, Scalar) and t.size == 8 for t in types) else FLOAT


def _number(v: Value, t: Scalar | None) -> Floats | None:
    if isinstance(v, Int):
        return of_integer(v, t) if t is not None else None
    return v.value if isinstance(v, Other) else None


def _is_single(x: Floats) -> NDArray[np.bool_]:
    with np.errstate(over="ignore"):
        return np.equal(np.asarray(x).astype(np.float32).astype(np.float64), x)
