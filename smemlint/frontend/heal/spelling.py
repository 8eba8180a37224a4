"""What the spelling of an unknown name says of it: a number type, a macro before a loop, a qualifier."""

from __future__ import annotations

from smemlint.frontend.text.context import Usage
from smemlint.frontend.text.healed import NUMBER_TYPE, TYPE
from smemlint.frontend.text.scalars import library_scalar
from smemlint.patterns import pattern

_DECLARATION_STARTS = """
    void int float double char bool short long unsigned signed auto const constexpr static inline
    extern template typename struct class union enum typedef using namespace operator virtual
    explicit friend volatile size_t half dim3 __global__ __device__ __host__ __forceinline__
    __inline__ __launch_bounds__ __shared__ __constant__ __attribute__ uint32_t int32_t uint64_t
    int64_t uint8_t
"""
DECLARATION_WORDS = frozenset(_DECLARATION_STARTS.split())


_TYPE_NAME = pattern(r"\w+_t(?:_\d+)?|\w*(?:_type|Type|scalar)(?:_t)?(?:_\d+)?")


def reads_like_type(name: str) -> bool:
    """`scalar_t`, `scalar_t_0`, `elem_type`: what dispatch macros call the types that they choose; and the
    narrow floats of libraries."""
    return _TYPE_NAME.fullmatch(name) is not None or library_scalar(name) is not None


def type_kind(name: str) -> str:
    """`fp`, `real_t`, `DTYPE` are mostly numbers, `Params` is a class."""
    return NUMBER_TYPE if name.islower() or name.isupper() else TYPE


def asks_for_type(what: str, around: Usage | None) -> bool:
    """clang says "no type named" of a call that begins a statement (`ns::f(x);`), which might have been a
    declaration."""
    return what == "type" and not (
        around is not None and (around.next[:1] == "(" or around.after_template[:1] == "(")
    )


def statement_macro(name: str, around: Usage) -> str:
    arguments = "(...)" if around.next.startswith("(") else ""
    return arguments + (' _Pragma("unroll")' if "UNROLL" in name and "NO" not in name else "")


def qualifier_macro(name: str) -> str:
    """What a qualifier in capitals most probably stands for, as the text of its macro."""
    if "KERNEL" in name or "GLOBAL" in name:
        return " static __global__ " if "STATIC" in name else " __global__ "
    qualifiers = [
        q
        for word, q in (("HOST", "__host__"), ("DEVICE", "__device__"), ("INLINE", "inline"))
        if word in name
    ]
    if (
        name.endswith(("_HD", "_HOSTDEV", "_HDI", "_XINLINE", "_DEV", "_FUNC", "_CUDA"))
        or "HOSTDEVICE" in name
    ):
        qualifiers = ["__host__", "__device__"]
    return f" {' '.join(qualifiers)}"
