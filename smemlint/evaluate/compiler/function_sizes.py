"""How large the functions of CUDA's mathematics library are, which decides how loops are unrolled.

Read off nvcc 13.0 (sm_90): the largest trip count at which `for (c < n) x += f(s[131 * t + c])` disappears,
for each function, and whether machine code copies the loops that stay.
"""

from __future__ import annotations

import re

from smemlint.patterns import pattern

_SIZES: dict[int, tuple[tuple[int, re.Pattern[str]], ...]] = {
    4: (
        (9, pattern(r"exp(?:10)?|cos|sin|tan")),
        (12, pattern(r"tanh|cbrt|sincos")),
        (14, pattern(r"cosh|rcbrt")),
        (16, pattern(r"hypot|atan")),
        (20, pattern(r"erf|asin|norm[34]d")),
        (24, pattern(r"log(?:2|10|b)?|expm1|acos|(?:cos|sin)pi|sinh|erfinv")),
        (30, pattern(r"log1p|atan2")),
        (41, pattern(r"a(?:cosh|sinh|tanh)")),
        (50, pattern(r"erfcx?|erfcinv")),
        (64, pattern(r"normcdf(?:inv)?|fmod|remainder")),
        (100, pattern(r"pow|[jy][01n]")),
        (200, pattern(r"[lt]gamma")),
    ),
    8: (
        (30, pattern(r"atan|hypot")),
        (36, pattern(r"exp|cosh|atan2")),
        (41, pattern(r"exp(?:2|10|m1)")),
        (50, pattern(r"log|sinh|tanh|asin|r?cbrt|(?:cos|sin)(?:pi)?|sincos|tan|erf|pow")),
        (64, pattern(r"log(?:2|10|b)|norm[34]d")),
        (80, pattern(r"log1p|acos")),
        (110, pattern(r"a(?:cosh|sinh|tanh)|erfc(?:x|inv)?|erfinv|normcdf(?:inv)?")),
        (200, pattern(r"[lt]gamma|fmod|remainder|[jy][01n]")),
    ),
}
"""By bytes of the argument: instructions of the optimiser beyond those of an addition."""
_UNIT = pattern(
    r"__(?:exp|exp10|log|log2|log10|sin|cos|tan|sincos|pow)f|exp2|r?sqrt|fdividef|__fdividef"
    r"|__[fd](?:sqrt|rcp|div)_r[nzdu]|__frsqrt_rn"
)
"""Functions of a few instructions for the special-function unit. (`exp2` of doubles is in the table.)"""


def function_size(plain: str, width: int) -> int:
    """The instructions of a function. plain: its name without the `f` of floats; width: bytes of its
    argument."""
    return next((size for size, names in _SIZES[width] if names.fullmatch(plain)), 0)


def is_special(short: str, plain: str, width: int) -> bool:
    """Whether a function needs the special-function unit or more, so that machine code does not copy the
    loop that it stands in. short: its name without a namespace."""
    return bool(function_size(plain, width) or _UNIT.fullmatch(short) or _UNIT.fullmatch(plain))
