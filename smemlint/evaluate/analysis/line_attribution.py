"""The line that nvcc -lineinfo, and so a profiler, gives to an access (docs/dev/lines.md).

The compiler stamps an instruction with the place of what it evaluated last. For an access that is the end
of its address: the last operand of the last subscript.
"""

from __future__ import annotations

from collections.abc import Set

from smemlint.ir import (
    STEPS,
    Asm,
    Assign,
    Binary,
    Block,
    Call,
    Cast,
    Conditional,
    Construct,
    Evaluate,
    Expr,
    Function,
    If,
    Index,
    Literal,
    Member,
    Name,
    Place,
    RecordRef,
    Scalar,
    Special,
    Stmt,
    This,
    Type,
    Unary,
)
from smemlint.ir.memo import by_identity
from smemlint.ir.types import is_reference
from smemlint.ir.uses import holds
from smemlint.ir.walk import names_in, walk

_OBJECTS = (Name, Index, Member, This)


def line_of(node: Expr | None, place: Place) -> int:
    """The line of an access. node: what is evaluated last before it, None: the place itself."""
    found = None if node is None else _end(node)
    return place.compiled_line if found is None else found


def opens_call(function: Function | None, place: Place) -> bool:
    """Whether an access stands in the statement with which an inlined function begins, and needs nothing
    computed before it (`cache[tid] += cache[tid + 32]`): it is counted where the function is called."""
    first: Stmt | None = function.body if function is not None else None
    own = {p.id for p in function.parameters} if function is not None else set()
    while isinstance(first, Block | If):
        if isinstance(first, If) and not _is_settled(first.condition, own):
            return False
        inner = first.body[:1] if isinstance(first, Block) else (first.then,)
        first = inner[0] if inner else None
    if not isinstance(first, Evaluate) or not isinstance(first.expr, Assign) or first.expr.place is None:
        return False
    indices = [n for n in walk(first.expr) if isinstance(n, Index)]
    plain = all(isinstance(n.base, Name) and _folds_into_address(n.index) for n in indices)
    return plain and first.expr.place.path == place.path and first.expr.place.line == place.line


def _is_settled(condition: Expr, parameters: Set[str]) -> bool:
    """Whether a condition is decided by template arguments: nothing of it is computed when the code runs."""
    return not holds(condition, (Index, Special)) and names_in(condition).isdisjoint(parameters)


def _folds_into_address(index: Expr) -> bool:
    """A variable, or one with a constant added, which the instruction adds itself."""
    if isinstance(index, Binary):
        return index.op in ("+", "-") and _folds_into_address(index.left) and isinstance(index.right, Literal)
    return isinstance(index, Name) or (isinstance(index, Cast) and _folds_into_address(index.operand))


def copied(target: Expr, value: Expr, t: Type, *, same_type: bool) -> Expr:
    """The expression that decides the line of the store in `target = value`.

    Scalars are stored where the target ends, records that are copied from an object where that object ends;
    but with a call on either side the object is read first. Halves are classes: what is converted to one is
    no copy.
    """
    record = isinstance(t, RecordRef) or (same_type and _is_class(t))
    plain = record and _is_object(value) and not (_has_effects(target) or _has_effects(value))
    return value if plain else target


def _is_class(t: Type) -> bool:
    """Whether a library makes a number of few bytes: `__half`, `__nv_bfloat16`, `__nv_fp8_e4m3`."""
    return isinstance(t, Scalar) and t.kind == "float" and t.size < 4 and not t.name.endswith("_t")


@by_identity
def _has_effects(e: Expr) -> bool:
    return holds(e, (Call, Assign), STEPS)


def _is_object(e: Expr) -> bool:
    """Whether an expression names something in memory, rather than making a temporary."""
    if isinstance(e, Conditional):
        return _is_object(e.then) and _is_object(e.otherwise)
    if isinstance(e, Unary):
        return e.op == "*"
    if isinstance(e, Cast):
        return is_reference(e.type)
    return isinstance(e, _OBJECTS)


def _end(e: Expr) -> int | None:
    """Where evaluation of an expression ends."""
    inner = _last(e)
    line = None if inner is None else _end(inner)
    if line is not None:
        return line
    place = getattr(e, "place", None)
    if not isinstance(place, Place):
        return None
    whole = inner is not None and place.macro is None and place.macro_line is None
    return place.end_line if whole else place.compiled_line


def _last(e: Expr) -> Expr | None:
    """The part that is evaluated last; after a call, nothing of it: control comes back to where it begins."""
    if isinstance(e, Index):
        return e.index
    if isinstance(e, Unary | Cast):
        return e.operand
    if isinstance(e, Binary):
        return e.right
    if isinstance(e, Member):
        return e.base
    if isinstance(e, Assign):
        return e.target
    if isinstance(e, Conditional):
        return e.otherwise
    if isinstance(e, Construct) and e.arguments:
        return e.arguments[-1]
    if isinstance(e, Asm):
        return (_evaluated(e) or e.outputs or (None,))[-1]
    return None


def _evaluated(e: Asm) -> tuple[Expr, ...]:
    """The inputs of an `asm` that code is made for; a number in its text (`"n"(16)`) takes none."""
    constraints = e.constraints[len(e.outputs) :]
    return tuple(x for n, x in enumerate(e.inputs) if constraints[n : n + 1] != ("n",))
