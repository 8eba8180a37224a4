"""What nvcc makes of functions that compute: an instruction, a straight line, a call, predicates or branches.

Read from the machine code of every function of CUDA's mathematics library between two loads, between two
stores and in the arms of conditions (nvcc 13.0, sm_90; docs/dev/joining.md).
"""

from __future__ import annotations

from enum import Enum, auto

from smemlint.patterns import pattern
from smemlint.toolkit.model import Effect
from smemlint.toolkit.table import effect_of


class Code(Enum):
    """What a function becomes."""

    OPERATION = auto()
    """An instruction or two to the optimiser, which computes it for nothing where that spares a branch."""
    STRAIGHT = auto()
    """A straight line, which the optimiser does not compute for nothing, like the others below."""
    CALL = auto()
    """A function that machine code calls for rare operands."""
    PREDICATES = auto()
    """Predicates for a rare case."""
    BRANCHES = auto()


_OPERATION = pattern(r"copysignf?|__(?:u?int|float)_as_(?:float|u?int)|__(?:popc|clz|brev|ffs)(?:ll)?")
_BRANCHES = {
    4: pattern(r"cos|sin|tan|sincos|atan2|fmod|remainder|[jy][01n]"),
    8: pattern(
        r"acosh|asinh|atanh|cos|sin|tan|sincos|sinh|atan2|erf(?:cx|inv|cinv)|lgamma|tgamma|log1p|normcdfinv"
        r"|pow|fmod|remainder|[jy][01n]"
    ),
}
"""By bytes of the argument, as the next two."""
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
_CALL = {
    4: pattern(r"sqrt|hypot|norm[34]d"),
    8: pattern(r"r?sqrt|norm[34]d"),
}
_ENDS_IN_F = ("erf", "normcdf")


def plain_name(name: str) -> tuple[str, bool]:
    """Return a function's name without the `f` of floats, and whether it had one: `sqrtf`."""
    return (name[:-1], True) if name.endswith("f") and name not in _ENDS_IN_F else (name, False)


def code_of(plain: str, size: int) -> Code:
    """Return what a function becomes that computes. plain: without the `f` of floats; size: 4 for floats, 8
    for doubles."""
    if _OPERATION.fullmatch(plain):
        return Code.OPERATION
    for names, code in ((_BRANCHES, Code.BRANCHES), (_PREDICATES, Code.PREDICATES), (_CALL, Code.CALL)):
        if names[size].fullmatch(plain):
            return code
    return Code.STRAIGHT


def code_of_call(name: str) -> Code | None:
    """Return what a function of the toolkit becomes, of floats where its name does not say; None for what is
    not the toolkit's, or does more than compute."""
    if effect_of(name) is not Effect.ARITHMETIC:
        return None
    plain, _ = plain_name(name)
    return Code.OPERATION if _OPERATION.fullmatch(name) else code_of(plain, 4)
