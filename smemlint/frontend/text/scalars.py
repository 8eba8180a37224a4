"""Fundamental types by clang's kind and by name, and the library's scalar types."""

from __future__ import annotations

from collections.abc import Iterable

from smemlint.ir import Construct, Expr, RecordRef, Scalar, Special
from smemlint.ir.types import (
    BFLOAT16,
    BOOL,
    CHAR,
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    LONG,
    LONG_LONG,
    SCHAR,
    SHORT,
    UCHAR,
    UINT,
    ULONG,
    ULONG_LONG,
    USHORT,
    VOID,
)

BY_KIND: dict[int, Scalar] = {
    2: VOID,
    3: BOOL,
    4: CHAR,
    5: UCHAR,
    6: Scalar("char16_t", 2, "uint"),
    7: Scalar("char32_t", 4, "uint"),
    8: USHORT,
    9: UINT,
    10: ULONG,
    11: ULONG_LONG,
    12: Scalar("unsigned __int128", 16, "uint"),
    13: CHAR,
    14: SCHAR,
    15: Scalar("wchar_t", 4, "int"),
    16: SHORT,
    17: INT,
    18: LONG,
    19: LONG_LONG,
    20: Scalar("__int128", 16, "int"),
    21: FLOAT,
    22: DOUBLE,
    23: Scalar("long double", 16, "float"),
    24: Scalar("std::nullptr_t", 8, "uint"),
    30: Scalar("__float128", 16, "float"),
    31: Scalar("_Float16", 2, "float"),
}

_SIGNED = {8: SCHAR, 16: SHORT, 32: INT, 64: LONG}
_UNSIGNED = {8: UCHAR, 16: USHORT, 32: UINT, 64: ULONG}
_FP8 = ("__nv_fp8_e4m3", "__nv_fp8_e5m2", "__nv_fp8_e8m0", "__nv_fp8_storage_t")
LIBRARY_SCALARS: dict[str, Scalar] = {
    "__half": HALF,
    "half": HALF,
    "__half_raw": HALF,
    "__nv_bfloat16": BFLOAT16,
    "nv_bfloat16": BFLOAT16,
    "__nv_bfloat16_raw": BFLOAT16,
    **{name: Scalar(name, 1, "float") for name in _FP8},
    **{f"{form}_t": s for bits, s in _SIGNED.items() for form in (f"int{bits}", f"int_least{bits}")},
    **{f"{form}_t": s for bits, s in _UNSIGNED.items() for form in (f"uint{bits}", f"uint_least{bits}")},
    **dict.fromkeys(("size_t", "uintptr_t", "uintmax_t", "ulong"), ULONG),
    **dict.fromkeys(("ssize_t", "ptrdiff_t", "intptr_t", "intmax_t"), LONG),
    **{f"u_int{bits}_t": s for bits, s in _UNSIGNED.items()},
    "uint": UINT,
    "ushort": USHORT,
    "uchar": UCHAR,
    "schar": SCHAR,
    **{name: s for bits, s in _SIGNED.items() for name in (f"int{bits}", f"i{bits}", f"s{bits}")},
    **{name: s for bits, s in _UNSIGNED.items() for name in (f"uint{bits}", f"u{bits}")},
}
"""Types that the CUDA headers make of a class and that lowering treats as numbers, and the usual names of
integers, for text: the prelude's declarations are not listed."""

_HALVES = "Half half_t float16 float16_t nv_half __nv_half"
_BFLOATS = "BFloat16 bfloat16_t bfloat16"
_BYTES = "Float8_e4m3fn Float8_e5m2 Float8_e4m3fnuz Float8_e5m2fnuz Float8_e8m0fnu float_e4m3_t float_e5m2_t"
_QUALIFIED = {
    **dict.fromkeys(_HALVES.split(), HALF),
    **dict.fromkeys(_BFLOATS.split(), BFLOAT16),
    **{name: Scalar(name, 1, "float") for name in _BYTES.split()},
    "float_ue8m0_t": Scalar("float_ue8m0_t", 1, "float"),
    "float_ue4m3_t": Scalar("float_ue4m3_t", 1, "float"),
    "tfloat32_t": Scalar("tfloat32_t", 4, "float"),
    "__nv_fp8x2_e4m3": Scalar("__nv_fp8x2_e4m3", 2, "float"),
    "__nv_fp8x2_e5m2": Scalar("__nv_fp8x2_e5m2", 2, "float"),
    "__nv_fp8x4_e4m3": Scalar("__nv_fp8x4_e4m3", 4, "float"),
    "__nv_fp8x4_e5m2": Scalar("__nv_fp8x4_e5m2", 4, "float"),
}
"""Narrow floats as libraries name them (`c10::Half`, `cutlass::half_t`): a size that the name tells."""


def library_scalar(name: str) -> Scalar | None:
    """The number that a class of a library stands for, by its name."""
    found = LIBRARY_SCALARS.get(name)
    return found if found is not None else _QUALIFIED.get(name.rsplit("::", 1)[-1])


BUILTIN_TYPES = frozenset(
    {"void", "bool", "char", "short", "int", "long", "unsigned", "signed", "float", "double"}
    | {"wchar_t", "char16_t", "char32_t", "__int128"}
)


def builtin_scalar(words: Iterable[str]) -> Scalar | None:
    """`unsigned long long` in any order of words."""
    parts = list(words)
    unsigned = "unsigned" in parts
    if "__int128" in parts:
        return BY_KIND[12 if unsigned else 20]
    if parts.count("long") == 2:
        return ULONG_LONG if unsigned else LONG_LONG
    if "double" in parts:
        return BY_KIND[23] if "long" in parts else DOUBLE
    if "long" in parts:
        return ULONG if unsigned else LONG
    if "short" in parts:
        return USHORT if unsigned else SHORT
    if "char" in parts:
        return UCHAR if unsigned else SCHAR if "signed" in parts else CHAR
    if unsigned:
        return UINT
    return {
        "void": VOID,
        "bool": BOOL,
        "float": FLOAT,
        "wchar_t": BY_KIND[15],
        "char16_t": BY_KIND[6],
        "char32_t": BY_KIND[7],
    }.get(parts[0], INT)


SPECIAL_AXES = ("threadIdx", "blockIdx", "blockDim", "gridDim")
SPECIAL_NAMES = frozenset((*SPECIAL_AXES, "warpSize"))
"""Values of the hardware, by the name of the variable that gives them."""


def special_member(base: Expr, name: str) -> Expr | None:
    """`threadIdx.x`, when the base is one of the hardware's index variables."""
    if isinstance(base, Construct) and name in ("x", "y", "z") and len(base.arguments) == 3:
        first = base.arguments[0]
        if isinstance(first, Special) and first.axis == "x":
            return Special(first.name, name, first.place)
    return None


def special_value(name: str) -> Expr:
    """A whole `threadIdx` (three values) or `warpSize`."""
    if name in SPECIAL_AXES:
        return special_triple(name)
    return Special(name)


def special_triple(name: str) -> Construct:
    kind = "uint3" if name in ("threadIdx", "blockIdx") else "dim3"
    return Construct(RecordRef(kind), tuple(Special(name, axis) for axis in "xyz"))
