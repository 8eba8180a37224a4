"""Which numbers of 16 bits are computed, not only copied: nvcc joins four stores of such, and not eight.

The functions and operators of `__half` and `__nv_bfloat16` are inline PTX, and so are conversions to them.
In: a function and what it stores. Out: whether an instruction of these types makes the value.
"""

from __future__ import annotations

from smemlint.ir import (
    Binary,
    Call,
    Cast,
    Conditional,
    Construct,
    Expr,
    FloatLiteral,
    Function,
    Index,
    Literal,
    Member,
    Name,
    PointerTo,
    Scalar,
    Type,
    Unary,
)
from smemlint.ir.memo import by_identity
from smemlint.ir.types import held_type
from smemlint.ir.uses import given, variables
from smemlint.toolkit.model import Effect
from smemlint.toolkit.table import effect_of

_SAME_BITS = frozenset({"__ushort_as_half", "__short_as_half", "__ushort_as_bfloat16", "__short_as_bfloat16"})
_MOVES = (Effect.LOAD, Effect.EXCHANGE)


def is_computed(f: Function, value: Expr) -> bool:
    """Whether arithmetic or a conversion makes this number of type half or bfloat16."""
    return _computes(value, _sources(f), types_of(f), frozenset())


@by_identity
def types_of(f: Function) -> dict[str, Type]:
    """By name's id: the types of parameters and local variables."""
    return {id: v.type for id, v in variables(f).items()}


@by_identity
def _sources(f: Function) -> dict[str, list[Expr]]:
    """By id of a local variable or array: what is put into it."""
    found: dict[str, list[Expr]] = {}
    for a in given(f):
        if (name := _root(a.target)) is not None:
            found.setdefault(name.id, []).append(a.value)
    return found


def _computes(e: Expr, sources: dict[str, list[Expr]], types: dict[str, Type], seen: frozenset[str]) -> bool:
    if isinstance(e, Cast | Construct):
        inner = e.operand if isinstance(e, Cast) else e.arguments[0] if len(e.arguments) == 1 else None
        return inner is None or is_wider(inner, types) or _computes(inner, sources, types, seen)
    if isinstance(e, Conditional):
        return any(_computes(way, sources, types, seen) for way in (e.then, e.otherwise))
    if isinstance(e, Call):
        name = e.callee.name if isinstance(e.callee, Name) else ""
        return name not in _SAME_BITS and effect_of(name) not in _MOVES
    if isinstance(e, Binary | FloatLiteral | Literal):
        return True
    if isinstance(e, Unary) and e.op != "*":
        return True
    root = _root(e)
    if root is None or root.id in seen or isinstance(types.get(root.id), PointerTo):
        return False
    if is_wider(e, types):
        return True
    return any(_computes(x, sources, types, seen | {root.id}) for x in sources.get(root.id, ()))


def _root(e: Expr) -> Name | None:
    """The variable of which an expression is an element or a member."""
    while isinstance(e, Index | Member | Cast) or (isinstance(e, Unary) and e.op == "*"):
        e = e.base if isinstance(e, Index | Member) else e.operand
    return e if isinstance(e, Name) else None


def is_wider(e: Expr, types: dict[str, Type]) -> bool:
    """Whether the variable holds numbers of more than 16 bits, so that there is a conversion."""
    t = element_type(e, types)
    return isinstance(t, Scalar) and t.size > 2


def element_type(e: Expr, types: dict[str, Type]) -> Type | None:
    """What the variable holds of which an expression is an element or a member; None where it is none."""
    root = _root(e)
    return None if root is None else held_type(types.get(root.id))
