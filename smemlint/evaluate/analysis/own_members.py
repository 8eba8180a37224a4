"""Floating-point members of the object that a method runs on: a register tile that is summed up in place.

No address can hide in such a number. Where the object is a local one, a statement that only computes them is
one that no address depends on, though other members of the same object (where a thread's tile begins) are
what addresses are made of.
"""

from __future__ import annotations

from collections.abc import Iterator

from smemlint.ir import (
    Assign,
    Binary,
    Call,
    Cast,
    Expr,
    Function,
    Index,
    Member,
    Module,
    RecordRef,
    Scalar,
    This,
    Type,
    TypeParam,
)
from smemlint.ir.memo import by_identity
from smemlint.ir.types import element_type
from smemlint.ir.walk import nodes_of, walk
from smemlint.patterns import pattern

LOCAL_THIS = "*this"
"""Stands among the parameters that point somewhere for an object that is a local variable."""
_OWN = "this->"

_FLOAT_RECORDS = pattern(
    r"(?:\w+::)*(?:float[1-4]|double[1-4]|__half2?|half2?|__nv_bfloat162?|nv_bfloat162?)$"
)


def floating(t: Type, real: frozenset[str] = frozenset()) -> bool:
    """Floating-point numbers, vectors and arrays of them: no address can hide there. real: ids of template
    parameters that are such types."""
    t = element_type(t)
    if isinstance(t, TypeParam):
        return t.id in real
    if isinstance(t, RecordRef):
        return not t.arguments and _FLOAT_RECORDS.match(t.name) is not None
    return isinstance(t, Scalar) and t.kind == "float"


def id_of(member: str) -> str:
    """What a member of the object is called among the names of variables."""
    return f"{_OWN}{member}"


def member_of(id: str) -> str | None:
    """The member that a name means; None for the name of a variable."""
    return id.removeprefix(_OWN) if id.startswith(_OWN) else None


class OwnMembers:
    """The members of a method's object that hold numbers. computed: the floating-point ones that are nowhere
    made an integer; numbers: all of them, as far as they lie in the object itself."""

    def __init__(self, module: Module, f: Function, local: bool) -> None:
        record = module.records.get(f.record or "") if local else None
        fields = record.fields if record is not None else ()
        self.numbers = {
            x.name for x in fields if isinstance(element_type(x.type), Scalar) or floating(x.type)
        }
        self.computed = {x.name for x in fields if floating(x.type)} - _made_integers(module)

    def computed_by(self, n: Assign) -> str | None:
        """The member that an assignment computes; None: it sets something else, or only copies a number."""
        sums = n.op != "=" or any(isinstance(x, Binary | Call) for x in walk(n.value))
        member = _member(n.target)
        return member.name if sums and member is not None and member.name in self.computed else None

    def around(self, e: object) -> Iterator[int]:
        """id() of the nodes of an expression that only lead to a number in the object."""
        if not self.numbers:
            return
        for n in walk(e):
            if isinstance(n, Index | Member) and (m := _member(n)) is not None and m.name in self.numbers:
                yield id(n)
                yield id(m.base)


def _member(e: Expr) -> Member | None:
    """The member of the object that a place lies in."""
    while isinstance(e, Index | Member):
        if isinstance(e, Member) and isinstance(e.base, This):
            return e
        e = e.base
    return None


@by_identity
def _made_integers(module: Module) -> frozenset[str]:
    """Names of members that an integer is made of somewhere."""
    return frozenset(
        x.name
        for f in module.functions.values()
        for n in nodes_of(f.body)
        if isinstance(n, Cast) and isinstance(n.type, Scalar) and n.type.kind not in ("float", "void")
        for x in walk(n.operand)
        if isinstance(x, Member)
    )
