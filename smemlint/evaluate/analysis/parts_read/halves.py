"""Which half of a 64-bit integer is used after it was loaded: nvcc loads no other.

`(unsigned)(keys[i] >> 32)` is one load of 4 bytes. In: a function. Out: for each expression of which one half
is used, directly or through a variable that nothing else is done with, where that half lies.
"""

from __future__ import annotations

from collections import Counter
from typing import TypeAlias

from smemlint.ir import (
    ArrayOf,
    Assign,
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
    Var,
)
from smemlint.ir.expr import is_element, uncast, uncopied
from smemlint.ir.memo import by_identity
from smemlint.ir.show import show
from smemlint.ir.types import is_reference
from smemlint.ir.uses import array_of, declared, variables
from smemlint.ir.walk import children, nodes_of, walk

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
def member_halves(f: Function) -> dict[int, dict[str, int]]:
    """By id() of an expression that a variable begins with, by name of a member of which one half alone is
    used, where that half lies."""
    uses: dict[str, dict[str, set[int]]] = {}
    whole: set[str] = set()

    def look(node: object, want: int) -> None:
        if isinstance(node, Member) and not node.arrow and isinstance(node.base, Name):
            uses.setdefault(node.base.id, {}).setdefault(node.name, set()).add(want)
            return
        if isinstance(node, Name):
            whole.add(node.id)
        operand, part = _narrowed(node, want)
        for child in children(node):
            look(child, part if child is operand else WHOLE)

    look(f.body, WHOLE)
    return {
        id(uncopied(v.init)): {
            name: next(iter(wants))
            for name, wants in uses[v.id].items()
            if len(wants) == 1 and WHOLE not in wants
        }
        for v in declared(f)
        if v.init is not None and v.id in uses and v.id not in whole and not is_reference(v.type)
    }


Part: TypeAlias = tuple[int, int, bool]
"""Where the bytes of an integer lie that are used, how many they are, and whether only of an unsigned one."""


def narrow_reads(f: Function) -> dict[int, Part]:
    """By id() of an expression, an integer of 4 bytes, of which its one use leaves a byte or two, there or
    through a variable, what is used."""
    return _narrow(f)[0]


def perhaps_narrow(f: Function) -> frozenset[int]:
    """By id() the expressions of which a byte or two is used in an index, or a power of two times: a mask is
    put behind the shift where there is one, and all of it is loaded."""
    return _narrow(f)[1]


@by_identity
def _narrow(f: Function) -> tuple[dict[int, Part], frozenset[int]]:
    texts: Counter[str] = Counter()
    uses: Counter[str] = Counter()
    sources = {v.id: uncast(v.init) for v in declared(f) if v.init and _is_integer(v.type, HALF)}
    parts: list[tuple[Expr, Part, bool]] = []
    shifted: set[int] = set()
    inner: set[int] = set()
    for n in nodes_of(f.body):
        if is_element(n):
            texts[show(n)] += 1
        elif isinstance(n, Name):
            uses[n.id] += 1
        shifted |= _shifted(n)
        operand, part = _narrow_part(n) if id(n) not in inner else (None, None)
        if operand is not None and part is not None:
            inner |= {id(x) for x in nodes_of(n)}
            parts.append((uncast(operand), part, id(n) in shifted))
    found: dict[int, Part] = {}
    unsure: set[int] = set()
    for e, part, moved in parts:
        source = sources.get(e.id) if isinstance(e, Name) and uses[e.id] == 1 else e
        if source is not None and is_element(source) and texts[show(source)] == 1:
            if moved:
                unsure.add(id(source))
            else:
                found[id(source)] = part
    return found, frozenset(unsure)


def _shifted(n: object) -> set[int]:
    """The operands, by id(), that an expression moves to other bits, or may."""
    if isinstance(n, Index):
        return {id(x) for x in nodes_of(n.index)}
    if isinstance(n, Binary) and n.op == "|":  # bytes are put together in their own way
        return {id(uncast(n.left)), id(uncast(n.right))}
    if isinstance(n, Binary) and isinstance(n.right, Literal):
        by = n.right.value
        few = (n.op == "*" and 1 < by < 1 << 8 and not by & (by - 1)) or n.op == "<<"
        return {id(uncast(n.left))} if few else set()
    return set()


def _narrow_part(n: object) -> tuple[Expr | None, Part | None]:
    if isinstance(n, Cast) and isinstance(n.type, Scalar) and _is_integer(n.type) and n.type.size < HALF:
        return n.operand, (0, n.type.size, False)
    if not isinstance(n, Binary) or not isinstance(n.right, Literal):
        return None, None
    number, left = n.right.value, uncast(n.left)
    other = left.right.value if isinstance(left, Binary) and isinstance(left.right, Literal) else 0
    if n.op == "&" and number in (0xFF, 0xFFFF):
        width = number.bit_length() // 8
        if isinstance(left, Binary) and left.op == ">>" and other and other % (8 * width) == 0 and other < 32:
            return left.left, (other // 8, width, False)
        return n.left, (0, width, False)
    if n.op == "%" and number in (1 << 8, 1 << 16):
        return n.left, (0, number.bit_length() // 8, True)
    if n.op == ">>" and number in (16, 24):
        if isinstance(left, Binary) and left.op == "<<" and other == number:  # the sign is put back
            return left.left, (0, HALF - number // 8, False)
        return n.left, (number // 8, HALF - number // 8, True)
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
        if node.op == "<<" and node.right.value >= 8 * HALF:
            return node.left, LOW
        if node.op == "&" and 0 <= node.right.value < 1 << 8 * HALF:
            return node.left, LOW
    return None, WHOLE


def _is_integer(t: Type, least: int = 0) -> bool:
    return isinstance(t, Scalar) and t.kind in ("int", "uint") and t.size >= least


def is_own(f: Function, e: object) -> bool:
    """Return whether something is an element of an array that each thread has for itself."""
    root = array_of(e) if isinstance(e, Index) else None
    var = variables(f).get(root.id) if isinstance(root, Name) else None
    return var is not None and var.storage == "local" and isinstance(var.type, ArrayOf)


def loads(f: Function, e: object) -> bool:
    """Return whether code reads elements or members that are not a thread's own."""
    stored = {id(n.target) for n in walk(e) if isinstance(n, Assign) and n.op == "="}
    return any(is_element(n) and id(n) not in stored and not is_own(f, n) for n in walk(e))
