"""A function of the toolkit: what it is called, what it gives, what it does besides."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Effect(Enum):
    """What a call does."""

    ARITHMETIC = "a lane's number from that lane's numbers"
    LOAD = "what the first argument points to, outside of shared memory or in it"
    OUTPUTS = "arithmetic with more results, through the pointers behind the first argument"
    EXCHANGE = "lanes of a warp tell each other their numbers, and wait for that"
    NONE = "no memory, and nothing that an address depends on"
    BARRIER = "lanes wait for each other, or for memory"
    STORE = "memory changes where an argument points to"
    ATOMIC = "memory that the first argument points to is read and changed at once"
    HOST = "the run-time library and the C library, for host code"


SAME = "same"
"""The result is of the first argument's type; what a caller names explicitly comes first."""
SECOND = "second"
"""The result is of the second argument's type; the first is a mask of lanes."""
POINTEE = "pointee"
"""The result is what the first argument points to."""
PROMOTED = "promoted"
"""The result is of the type to which the arguments are converted for arithmetic."""
TEXEL = "texel"
"""The result is what the texture or surface of the first argument holds, or what the caller names."""


class Function(NamedTuple):
    """One row. result: a type as C++ writes it, or one of the words above. declared: the table is what
    declares it; else it is clang's own, or stands in a part of the prelude that can say more of it."""

    name: str
    result: str
    effect: Effect
    declared: bool = True


def spelled(names: str) -> list[str]:
    """Each name of a text with braces as a shell expands them: `f{add,sub}_r{n,z}` is four names."""
    found: list[str] = []
    for word in names.split():
        first, *rest = word.split("{")
        starts = [first]
        for part in rest:
            choices, _, tail = part.partition("}")
            starts = [start + choice + tail for start in starts for choice in choices.split(",")]
        found += starts
    return found


def rows(effect: Effect, result: str, names: str, *, declared: bool = True) -> list[Function]:
    """One row for each name that a text with braces spells."""
    return [Function(name, result, effect, declared) for name in spelled(names)]
