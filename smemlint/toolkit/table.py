"""The table: every function of the toolkit by its name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from smemlint.patterns import pattern
from smemlint.toolkit.host import RUNTIME, C
from smemlint.toolkit.libraries import LIBRARIES
from smemlint.toolkit.mathematics import CUDA_MATHEMATICS, MATHEMATICS
from smemlint.toolkit.memory import MEMORY, RANDOM, TEXTURES
from smemlint.toolkit.model import Effect, Function
from smemlint.toolkit.numbers import CONVERSIONS, FLOATS, INTEGERS, NARROW, SIMD, VECTORS
from smemlint.toolkit.warps import WARPS

DEVICE: tuple[Function, ...] = (
    *WARPS,
    *MEMORY,
    *INTEGERS,
    *SIMD,
    *CUDA_MATHEMATICS,
    *FLOATS,
    *CONVERSIONS,
    *NARROW,
    *VECTORS,
    *TEXTURES,
    *RANDOM,
)
"""What device code calls without a namespace, but for `MATHEMATICS`."""
HOST: tuple[Function, ...] = (*C, *RUNTIME, *LIBRARIES)

_LIBRARIES = pattern(r"^(?:::)?(?:cuda::)?(?:std::)?")


@lru_cache(maxsize=1)
def functions() -> Mapping[str, Function]:
    """By name, without a namespace."""
    return {f.name: f for f in (*HOST, *MATHEMATICS, *DEVICE)}


def function_named(name: str) -> Function | None:
    """What the name of a call means where the project does not define it, with or without `std::`."""
    return functions().get(_LIBRARIES.sub("", name))


def effect_of(name: str) -> Effect | None:
    """What a call by that name does; None for what is not the toolkit's."""
    found = function_named(name)
    return None if found is None else found.effect


def is_of_library(name: str) -> bool:
    """Whether the name of a call, with its namespace, means what the toolkit or the C++ library defines."""
    return name.startswith(("std::", "thrust::")) or function_named(name.rsplit("::", 1)[-1]) is not None
