"""Whether a condition whose arms only compute becomes a choice of values, or stays a branch.

    s[2 * t] = w;
    if (c) x = a * b;              // a choice: both stores are one
    if (c) x = fmaxf(a, b);        // a branch: it keeps them apart
    s[2 * t + 1] = x;

The optimiser computes an arm for all lanes if that takes a few operations and no function that it leaves to
machine code; two arms that are the same code but for what they compute with are one arm on chosen values. In:
the code of both arms. Read from the machine code of some 1,800 bodies, nvcc 13.0 for sm_90
(docs/dev/joining.md, "One straight line").
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import Enum, auto
from typing import TypeAlias

from smemlint.ir import (
    STEPS,
    ArrayOf,
    Assign,
    Binary,
    Block,
    Call,
    Cast,
    Conditional,
    Declare,
    Evaluate,
    Expr,
    FloatLiteral,
    If,
    Index,
    Literal,
    Member,
    Name,
    PointerTo,
    Return,
    Scalar,
    Special,
    Stmt,
    This,
    Type,
    Unary,
    Var,
)
from smemlint.ir.expr import uncast
from smemlint.ir.memo import by_identity
from smemlint.ir.show import show
from smemlint.ir.uses import holds
from smemlint.ir.walk import children, names_in, walk
from smemlint.records import record
from smemlint.toolkit.compiled import Code, code_of_call

Arm: TypeAlias = "Expr | Stmt | None"
Changed: TypeAlias = "tuple[frozenset[str], frozenset[str]]"
NO_TYPES: Mapping[str, Type] = {}
_FEW, _MANY = 4, 20
"""Operations up to which all lanes compute the arms, and from which on a branch is left."""
_OF_SEVERAL = 2
"""The first of these where the arms set two variables or more."""


class Left(Enum):
    """What becomes of a condition."""

    CHOICE = auto()
    PERHAPS = auto()
    BRANCH = auto()


@record(slots=True)
class _Weight:
    """What arms take. changed, types: as in `branch_left`; sets: the places that they set; own: variables of
    their own."""

    changed: Changed | None = None
    types: Mapping[str, Type] = field(default_factory=dict)
    operations: int = 0
    sets: set[str] = field(default_factory=set)
    own: set[str] = field(default_factory=set)
    left_alone: bool = False
    """Whether something in them is surely not computed for nothing."""
    unsure: bool = False
    """Whether something is there of which that is not known."""


@by_identity
def _weighed(arm: Expr | Stmt) -> dict[object, _Weight]:
    """What an arm takes, by what the rounds of a loop around it change."""
    return {}


def branch_left(
    then: Arm,
    otherwise: Arm,
    *,
    together: bool,
    changed: Changed | None = None,
    types: Mapping[str, Type] = NO_TYPES,
) -> Left:
    """Return what becomes of a condition, as far as its arms touch no memory. together: all lanes take the
    same arm; changed: what the rounds of the loop around change, and counters that the optimiser knows;
    types: of the variables, by id."""
    weights = [_weight(arm, changed, types) for arm in (then, otherwise) if arm is not None]
    left_alone = any(w.left_alone for w in weights) or _cuts_a_float((then, otherwise), types)
    if len(weights) == 2 and not together and is_same_code(then, otherwise):
        return Left.PERHAPS if left_alone or any(w.unsure for w in weights) else Left.CHOICE
    if left_alone:
        return Left.BRANCH
    operations = sum(w.operations for w in weights)
    several = len(set[str]().union(*(w.sets - w.own for w in weights))) > 1
    if any(w.unsure for w in weights) or operations > (_OF_SEVERAL if several else _FEW):
        return Left.BRANCH if operations >= _MANY else Left.PERHAPS
    return Left.CHOICE


def _weight(arm: Expr | Stmt, changed: Changed | None, types: Mapping[str, Type]) -> _Weight:
    known = _weighed(arm)
    found = known.get(changed)
    if found is None:
        found = known[changed] = _Weight(changed=changed, types=types)
        found.own |= {n.var.id for n in walk(arm) if isinstance(n, Declare)}
        _weigh(arm, found)
    return found


def _weigh(n: object, w: _Weight) -> None:
    """Add what code takes."""
    if w.changed is not None and isinstance(n, Binary | Unary | Cast) and _is_done_before(n, w):
        return
    match n:
        case Literal() | FloatLiteral() | Special() | Name() | This() | Scalar():
            return
        case Index() | Member():
            _weigh(n.base, w)
            return
        case Cast():
            t = n.type
            w.operations += isinstance(t, Scalar) and t.kind == "float" and not _is_number(n.operand)
            w.unsure |= not isinstance(t, Scalar)
        case Unary():
            w.operations += n.op not in ("+", "*", "&")
            if n.op in STEPS:
                w.sets.add(show(n.operand))
        case Binary():
            _operate(n.op, n.left, n.right, w)
        case Assign():
            w.sets.add(show(n.target))
            if n.op != "=":
                _operate(n.op.removesuffix("="), n.target, n.value, w)
            if not isinstance(n.target, Name | Member | Index):
                w.unsure = True
            _weigh(n.value, w)
            return
        case Declare():
            w.own.add(n.var.id)
            w.unsure |= n.var.storage != "local"
            if n.var.init is not None:
                _weigh(n.var.init, w)
            return
        case If() | Conditional():
            w.operations += 1
        case Call():
            code = code_of_call(n.callee.name if isinstance(n.callee, Name) else "")
            w.operations += 1
            w.unsure |= code is None
            w.left_alone |= code not in (None, Code.OPERATION)
            _weigh(n.arguments, w)
            return
        case Block() | Evaluate() | Return() | tuple():
            pass
        case _:
            w.unsure = True
            return
    for child in children(n):
        _weigh(child, w)


def _is_done_before(e: Binary | Unary | Cast, w: _Weight) -> bool:
    """Whether what is computed is done in front of the loop, or by the optimiser itself, which may do it for
    nothing: also a division of floats."""
    if w.changed is None or holds(e, (Call, Index, Member, Assign, Conditional), (*STEPS, "*", "&")):
        return False
    changed, counters = w.changed
    names = names_in(e)
    if not names <= counters and not (changed | w.own).isdisjoint(names):
        return False
    divided = (n for n in walk(e) if isinstance(n, Binary) and n.op in ("/", "%"))
    return not _cuts_a_float((e, None), w.types) and all(
        _is_number(n.right) or _is_float(n.left, w.types) or _is_float(n.right, w.types) for n in divided
    )


def _operate(op: str, left: Expr, right: Expr, w: _Weight) -> None:
    """Add one operation: none of numbers, and a division by one may be a product or a shift."""
    if op not in ("/", "%"):
        w.operations += not (_is_number(left) and _is_number(right))
    elif _is_number(right):
        w.operations += 2
        w.unsure = True
    else:
        w.left_alone = True


def _cuts_a_float(arms: tuple[Arm, Arm], types: Mapping[str, Type]) -> bool:
    """Whether an arm makes a float a whole number, in so many words or not."""
    return any(
        (isinstance(n, Cast) and _is_whole(n.type) and _is_float(n.operand, types))
        or (
            isinstance(n, Assign)
            and n.op == "="
            and _is_whole(_type_named(n.target, types))
            and _is_float(n.value, types)
        )
        or (isinstance(n, Var) and _is_whole(n.type) and n.init is not None and _is_float(n.init, types))
        for n in walk(arms)
    )


def _is_whole(t: object) -> bool:
    return isinstance(t, Scalar) and t.kind in ("int", "uint")


def _type_named(e: Expr, types: Mapping[str, Type]) -> Type | None:
    """The type of the variable that is named, or of the element of one; None where it is neither."""
    root = e.base if isinstance(e, Index) else e
    t = types.get(root.id) if isinstance(root, Name) else None
    if isinstance(e, Index):
        return t.element if isinstance(t, ArrayOf) else t.to if isinstance(t, PointerTo) else None
    return t.to if isinstance(t, PointerTo) and t.reference else t


def _is_float(e: Expr, types: Mapping[str, Type]) -> bool:
    """Whether an expression is known to be a float."""
    match e:
        case FloatLiteral():
            return True
        case Cast():
            return isinstance(e.type, Scalar) and e.type.kind == "float"
        case Binary():
            return e.op in ("+", "-", "*", "/") and (_is_float(e.left, types) or _is_float(e.right, types))
        case Unary():
            return e.op in ("-", "+") and _is_float(e.operand, types)
        case Conditional():
            return _is_float(e.then, types) or _is_float(e.otherwise, types)
    t = _type_named(e, types)
    return isinstance(t, Scalar) and t.kind == "float"


def _is_number(e: Expr) -> bool:
    return isinstance(uncast(e), Literal | FloatLiteral)


def is_same_code(then: Arm, otherwise: Arm) -> bool:
    """Return whether two arms are the same code but for the numbers, variables and elements in it."""
    return _shape(then) == _shape(otherwise)


_AT_HAND = (Literal, FloatLiteral, Special, Name)


def _shape(n: object) -> object:
    if isinstance(n, Block) and len(n.body) == 1:
        return _shape(n.body[0])
    if isinstance(n, Assign):
        return "=", n.op, show(n.target), _shape(n.value)
    if isinstance(n, _AT_HAND):
        return ""
    if isinstance(n, Index | Member):
        return "[]"
    own = getattr(n, "op", None) or getattr(n, "type", None)
    if isinstance(n, Call):
        own = show(n.callee)
        return type(n).__name__, own, *map(_shape, n.arguments)
    return type(n).__name__, own, *(_shape(c) for c in children(n) if not isinstance(c, Scalar))
