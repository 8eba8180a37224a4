"""Which numbers of 16 bits are widened, not only copied: nvcc does not join loads of such in a plain array.

In: a function and an expression that loads one. Out: whether an index or a wider variable takes it, or
arithmetic of more bits. A conversion to a float reads the 16 bits as they are; for arithmetic of which only
16 bits are kept, comparisons and the like nvcc goes one way or the other. A bfloat16 is widened where it
becomes a float (a half is converted, and joins).
"""

from __future__ import annotations

from collections.abc import Iterator

from smemlint.evaluate.analysis.parts_read.computed_halves import element_type, is_wider, types_of
from smemlint.ir import (
    CONVERSION_NAME,
    Assign,
    Binary,
    Call,
    Cast,
    Conditional,
    Declare,
    Expr,
    FloatLiteral,
    Function,
    Index,
    Literal,
    Member,
    Name,
    Scalar,
    Type,
    Unary,
)
from smemlint.ir.memo import by_identity
from smemlint.ir.uses import given, grown
from smemlint.ir.walk import nodes_of

_TO_FLOAT = ("__bfloat162float", "__low2float", "__high2float")
_SOMETIMES = frozenset(("<", "<=", ">", ">=", "==", "!=", "&", "/", "%", ">>", "&&", "||"))
"""Operators after which nvcc keeps 16 bits in some cases."""
_COMPARES = frozenset(("<", "<=", ">", ">=", "==", "!="))


def is_widened(f: Function, node: Expr) -> bool:
    """Whether what this expression loads surely becomes a number of more than 16 bits."""
    return id(node) in _widened(f) and id(node) not in perhaps_widened(f)


def is_float_of(f: Function, node: Expr) -> bool:
    """Whether the bfloat16 that this expression loads becomes a float, on its way through variables, too."""
    return id(node) in _made_floats(f)


@by_identity
def _made_floats(f: Function) -> frozenset[int]:
    found: set[int] = set()
    bare: set[int] = set()
    copies: dict[str, list[Expr]] = {}
    for n in nodes_of(f.body):
        if isinstance(n, Binary) and (of_both := [_implied(e) for e in (n.left, n.right)]) and all(of_both):
            bare |= {id(e) for e in of_both}  # an operator of the class
        elif isinstance(n, Call) and isinstance(n.callee, Member) and n.callee.name == CONVERSION_NAME:
            found.add(id(n.callee.base))
        elif isinstance(n, Call) and isinstance(n.callee, Name) and n.callee.name.endswith(_TO_FLOAT):
            found |= {id(a) for a in n.arguments}
        elif isinstance(n, Cast) and isinstance(t := n.type, Scalar) and t.kind == "float" and t.size > 2:
            found.add(id(n.operand))
    for a in given(f):
        if a.op == "=" and (variable := _variable(a.target)):
            copies.setdefault(variable, []).append(a.value)
    found -= bare
    for n in nodes_of(f.body):
        if isinstance(n, Name | Index) and id(n) in found:
            found |= {id(value) for value in copies.get(_variable(n), ())}
    return frozenset(found)


def _implied(e: Expr) -> Expr | None:
    """The bfloat16 that clang has become a float where the class's own header has an operator."""
    call = e.operand if isinstance(e, Cast) else e
    callee = call.callee if isinstance(call, Call) else None
    return callee.base if isinstance(callee, Member) and callee.name == CONVERSION_NAME else None


def _variable(e: Expr) -> str:
    """The variable that an expression is, or an element of which it is."""
    e = e.base if isinstance(e, Index) else e
    return e.id if isinstance(e, Name) else ""


@by_identity
def perhaps_widened(f: Function) -> frozenset[int]:
    """By id(): expressions that load 16 bits which nvcc widens in some cases; of what is compared also on its
    way through variables."""
    found = {
        id(_stripped(e))
        for n in nodes_of(f.body)
        if isinstance(n, Binary) and n.op in _COMPARES
        for e in (n.left, n.right)
    }
    types, wide = types_of(f), _widened(f)
    uses: dict[str, list[int]] = {}
    for n in nodes_of(f.body):
        if isinstance(n, Name):
            uses.setdefault(n.id, []).append(id(n))
    copies = [copy for n in nodes_of(f.body) if (copy := _copy(n, types)) is not None]
    widening = {name: [use for use in uses.get(name, ()) if use in wide] for _, name in copies}
    return _used_in_some_ways(f) | grown(
        found,
        lambda known: (
            id(_stripped(value)) for value, name in copies if widening[name] and known >= set(widening[name])
        ),
    )


@by_identity
def handed_on(f: Function) -> frozenset[int]:
    """By id(): what functions of the program are given."""
    calls = (
        n for n in nodes_of(f.body) if isinstance(n, Call) and isinstance(n.callee, Name) and n.callee.id
    )
    return frozenset(id(_stripped(a)) for call in calls for a in call.arguments)


@by_identity
def _used_in_some_ways(f: Function) -> frozenset[int]:
    types = types_of(f)
    found: set[int] = set()
    for n in nodes_of(f.body):
        if isinstance(n, Conditional):
            found |= {id(_stripped(e)) for e in (n.then, n.otherwise)}
        if isinstance(n, Binary) and n.op in _SOMETIMES:
            found |= {id(_stripped(e)) for e in (n.left, n.right)}
        elif isinstance(n, Unary) and n.op in ("-", "!"):
            found.add(id(_stripped(n.operand)))
        kept = _of_other_bits(n, types)
        if kept is not None:
            found |= {id(_stripped(e)) for e in _arithmetic(kept)}
    return frozenset(found)


def _of_other_bits(n: object, types: dict[str, Type]) -> Expr | None:
    """What is converted to a float, or put into 16 bits or fewer."""
    if isinstance(n, Cast) and isinstance(n.type, Scalar) and (n.type.kind == "float" or n.type.size <= 2):
        return n.operand
    if isinstance(n, Declare) and isinstance(n.var.type, Scalar):
        return n.var.init if n.var.type.kind == "float" or n.var.type.size <= 2 else None
    if isinstance(n, Assign) and (_is_float(n.target, types) or not is_wider(n.target, types)):
        return n.value
    return None


def _arithmetic(e: Expr) -> Iterator[Expr]:
    """The operands of sums and products, of which an expression is the result. Those of `-`, `^`, `|` and
    `<<` were always loaded as wide numbers."""
    if isinstance(e, Binary) and e.op not in ("-", "^", "|", "<<"):
        for part in (e.left, e.right):
            yield part
            yield from _arithmetic(part)


@by_identity
def _widened(f: Function) -> frozenset[int]:
    """By id(): expressions whose value is widened, on its way through variables of 16 bits, too."""
    found: set[int] = set()
    copies: list[tuple[Expr, str]] = []
    names: dict[str, list[int]] = {}
    types = types_of(f)
    for n in nodes_of(f.body):
        if isinstance(n, Name):
            names.setdefault(n.id, []).append(id(n))
        found |= {id(_stripped(e)) for e in _operands(n, types)}
        copy = _copy(n, types)
        if copy is not None:
            copies.append((_stripped(copy[0]), copy[1]))
    return frozenset(
        grown(
            found,
            lambda wide: (id(value) for value, name in copies if not wide.isdisjoint(names.get(name, ()))),
        )
    )


def _operands(n: object, types: dict[str, Type]) -> tuple[Expr, ...]:
    """What C widens to an `int`, or to what it is put into, before anything else happens to it."""
    if isinstance(n, Binary):
        return () if n.op == "," or any(_is_float(e, types) for e in (n.left, n.right)) else (n.left, n.right)
    if isinstance(n, Unary):
        return () if n.op in ("*", "&") else (n.operand,)
    if isinstance(n, Index):
        return (n.index,)
    if isinstance(n, Conditional):
        return (n.condition,)
    if isinstance(n, Cast):
        return (n.operand,) if _is_wide(n.type) else ()
    if isinstance(n, Assign):
        if _is_float(n.target, types):
            return ()
        if n.op != "=":
            return (n.target, n.value)
        return (n.value,) if is_wider(n.target, types) else ()
    if isinstance(n, Declare) and n.var.init is not None:
        return (n.var.init,) if _is_wide(n.var.type) else ()
    return ()


def _is_wide(t: Type) -> bool:
    return isinstance(t, Scalar) and t.size > 2 and t.kind != "float"


def _is_float(e: Expr, types: dict[str, Type]) -> bool:
    """Whether an expression is surely a float or a double."""
    if isinstance(e, FloatLiteral):
        return True
    if isinstance(e, Cast):
        return isinstance(e.type, Scalar) and e.type.kind == "float"
    if isinstance(e, Binary):
        return e.op in ("+", "-", "*", "/") and any(_is_float(x, types) for x in (e.left, e.right))
    if isinstance(e, Literal | Member):
        return False
    t = element_type(e, types)
    return isinstance(t, Scalar) and t.kind == "float"


def _copy(n: object, types: dict[str, Type]) -> tuple[Expr, str] | None:
    """What is put into a variable of 16 bits, and the variable's id."""
    if isinstance(n, Declare) and n.var.init is not None:
        return (n.var.init, n.var.id) if isinstance(n.var.type, Scalar) and n.var.type.size == 2 else None
    if isinstance(n, Assign) and n.op == "=" and isinstance(n.target, Name):
        t = types.get(n.target.id)
        return (n.value, n.target.id) if isinstance(t, Scalar) and t.size == 2 else None
    return None


def _stripped(e: Expr) -> Expr:
    """An expression without casts that keep its 16 bits."""
    while isinstance(e, Cast) and isinstance(e.type, Scalar) and e.type.size == 2:
        e = e.operand
    return e
