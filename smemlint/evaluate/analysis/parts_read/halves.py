"""Which half of a 64-bit integer is used after it was loaded: nvcc loads no other.

`(unsigned)(keys[i] >> 32)` is one load of 4 bytes. In: a function. Out: for each expression of which one half
is used, directly or through a variable that nothing else is done with, where that half lies.
"""

from __future__ import annotations

from collections import Counter

from smemlint.ir import (
    Binary,
    Cast,
    Expr,
    Function,
    Index,
    Literal,
    Member,
    Name,
    Scalar,
    Type,
    Unary,
    Var,
)
from smemlint.ir.expr import uncast
from smemlint.ir.memo import by_identity
from smemlint.ir.show import show
from smemlint.ir.types import is_reference
from smemlint.ir.uses import declared
from smemlint.ir.walk import children, nodes_of

WHOLE, LOW, HIGH = -1, 0, 4
HALF = 4
"""Bytes."""


@by_identity
def halves_read(f: Function) -> dict[int, int]:
    """By id() of an expression, where the half lies that is used of its value, if it is a 64-bit integer."""
    found: dict[int, int] = {}
    uses: dict[str, set[int]] = {}

    def look(node: object, want: int) -> None:
        if isinstance(node, Name):
            uses.setdefault(node.id, set()).add(want)
        elif is_element(node) and want != WHOLE:
            found[id(node)] = want
        operand, part = _narrowed(node, want)
        for child in children(node):
            look(child, part if child is operand else WHOLE)

    look(f.body, WHOLE)
    for v in declared(f):
        if v.init is not None and not is_reference(v.type):
            used, source = uses.get(v.id, set()), uncast(v.init)
            if len(used) == 1 and WHOLE not in used and is_element(source):
                found[id(source)] = next(iter(used))
    return found


@by_identity
def narrow_reads(f: Function) -> dict[int, tuple[int, int, bool]]:
    """By id() of an expression, an integer of 4 bytes, of which its one use leaves a byte or two: where they
    lie, how many they are, and whether only of an unsigned one."""
    found: dict[int, tuple[int, int, bool]] = {}
    texts: Counter[str] = Counter()
    names: dict[int, str] = {}
    for n in nodes_of(f.body):
        if isinstance(n, Index | Member | Unary) and is_element(n):
            texts[show(n)] += 1
        operand, part = _narrow_part(n)
        element = None if operand is None else uncast(operand)
        if element is not None and part is not None and is_element(element):
            found[id(element)], names[id(element)] = part, show(element)
    return {id: part for id, part in found.items() if texts[names[id]] == 1}


def _narrow_part(n: object) -> tuple[Expr | None, tuple[int, int, bool] | None]:
    if isinstance(n, Cast) and isinstance(n.type, Scalar) and _is_integer(n.type) and n.type.size < HALF:
        return n.operand, (0, n.type.size, False)
    if isinstance(n, Binary) and isinstance(n.right, Literal):
        if n.op == "&" and n.right.value in (0xFF, 0xFFFF):
            return n.left, (0, n.right.value.bit_length() // 8, False)
        if n.op == ">>" and n.right.value in (16, 24):
            return n.left, (n.right.value // 8, HALF - n.right.value // 8, True)
    return None, None


def _narrowed(node: object, want: int) -> tuple[Expr | None, int]:
    """The operand of which an expression needs a part only, and which."""
    if isinstance(node, Cast) and _is_integer(node.type):
        return node.operand, want if _is_integer(node.type, 2 * HALF) else LOW if want != HIGH else WHOLE
    if isinstance(node, Var):
        narrow = _is_integer(node.type) and not _is_integer(node.type, 2 * HALF)
        return node.init, LOW if narrow else WHOLE
    if isinstance(node, Binary) and isinstance(node.right, Literal):
        if node.op == ">>" and node.right.value >= 8 * HALF:
            return node.left, HIGH
        if node.op == "&" and 0 <= node.right.value < 1 << 8 * HALF:
            return node.left, LOW
    return None, WHOLE


def _is_integer(t: Type, least: int = 0) -> bool:
    return isinstance(t, Scalar) and t.kind in ("int", "uint") and t.size >= least


def is_element(e: object) -> bool:
    """Whether an expression just reads an element."""
    return isinstance(e, Index | Member) or (isinstance(e, Unary) and e.op == "*")
