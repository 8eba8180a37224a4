"""The type of an expression as it stands in a template, where clang leaves it open; nothing runs for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from smemlint.evaluate.language.overloads import (
    bindings_in,
    declared_operators,
    deduce,
    free_operators,
    methods_of,
    takes,
    taking,
)
from smemlint.evaluate.machine.dispatch import lvalue, unseen
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.types.matching import Binding, is_type
from smemlint.evaluate.values.comparison import COMPARISONS
from smemlint.evaluate.values.value import Pointer
from smemlint.evaluate.values.widths import common_type, promoted
from smemlint.ir import (
    ArrayOf,
    Assign,
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
    MemberType,
    Name,
    OpaqueType,
    PointerTo,
    RecordRef,
    Scalar,
    Special,
    This,
    Type,
    TypeParam,
    Unary,
)
from smemlint.ir.types import BOOL, INT, UINT, is_reference, pointed_to, referred
from smemlint.records import record

_UNSEEN = frozenset(("declval", "std::declval", "cuda::std::declval"))


@record(frozen=True, slots=True)
class Typed:
    """The type of an expression, and whether it names a place."""

    type: Type
    place: bool


def with_expressions(m: Machine, t: Type) -> Type:
    """A resolved type with what its `decltype` stands for, as far as it is known."""
    if isinstance(t, OpaqueType):
        found = None if t.of is None else _declared_type(m, t.of)
        return t if found is None else found
    if isinstance(t, PointerTo):
        to = with_expressions(m, t.to)
        if to is t.to:
            return t
        return to if t.reference and is_reference(to) else PointerTo(to, t.reference, t.volatile)
    if isinstance(t, ArrayOf):
        element = with_expressions(m, t.element)
        return t if element is t.element else ArrayOf(element, t.extent)
    if isinstance(t, MemberType):
        owner = referred(with_expressions(m, t.owner))
        return t if owner is t.owner else m.types.resolve(MemberType(owner, t.name, t.arguments), m.bindings)
    if isinstance(t, RecordRef) and any(isinstance(a, OpaqueType) and a.of is not None for a in t.arguments):
        arguments = tuple(with_expressions(m, a) if is_type(a) else a for a in t.arguments)  # type: ignore[arg-type]
        return t if arguments == t.arguments else m.types.resolve(RecordRef(t.name, arguments), m.bindings)
    return t


def _declared_type(m: Machine, e: Expr) -> Type | None:
    """What `decltype` says of an expression: of a name, as it was declared."""
    if isinstance(e, Name):
        o = m.find(e.id) if e.id else None
        return None if o is None or isinstance(o.type, OpaqueType) else o.type
    found = type_of_expression(m, e)
    if found is None or isinstance(found.type, OpaqueType):
        return None
    return PointerTo(found.type, True) if found.place and isinstance(e, Call) else found.type


def type_at(m: Machine, e: Expr) -> Type | None:
    """The type of the place that an expression names; None where it names none, or that is not known."""
    found = type_of_expression(m, e)
    return found.type if found is not None and found.place else None


def stays(e: Expr) -> bool:
    """A variable, or a member of one: to ask where it lies is no access."""
    if isinstance(e, Member):
        return stays(e.base) if not e.arrow else isinstance(e.base, This)
    return isinstance(e, Name)


def type_of_expression(m: Machine, e: Expr) -> Typed | None:
    """The type of an expression; None where only what runs could tell it."""
    if stays(e):
        o = m.find(e.id) if isinstance(e, Name) else None
        if o is not None and not is_reference(o.type):
            return Typed(o.type, True)
        steps = m.effort.steps
        place = unseen(m, e, lvalue)
        m.effort.steps = steps  # every operator in a template asks: that is no step of the program
        return Typed(place.pointee, True) if isinstance(place, Pointer) else None
    if isinstance(e, This):
        this = m.frame.this
        return Typed(PointerTo(this.pointee), False) if this is not None else None
    if isinstance(e, Member):
        return _of_member(m, e)
    if isinstance(e, Index):
        return _applied(m, e.base, "[]", 1)
    if isinstance(e, Call):
        return _of_call(m, e)
    if isinstance(e, Literal | FloatLiteral):
        return Typed(e.type, False)
    if isinstance(e, Special):
        return Typed(INT if e.name == "warpSize" else UINT, False)
    if isinstance(e, Conditional):
        then, otherwise = type_of_expression(m, e.then), type_of_expression(m, e.otherwise)
        return _of_numbers(then, otherwise) or then
    if isinstance(e, Unary):
        return _applied(m, e.operand, e.op, int(e.op in ("x++", "x--")))
    if isinstance(e, Binary):
        return _of_two(m, e)
    if isinstance(e, Assign):
        return _applied(m, e.target, e.op, 1)
    if isinstance(e, Cast | Construct):
        made_of = e.arguments if isinstance(e, Construct) else (e.operand,)
        return _seen_through(deduced_class(m, m.resolve(e.type), made_of))
    return None


def deduced_class(m: Machine, t: Type, made_of: Sequence[Expr]) -> Type:
    """The instance of a class template that `Pair p(a, b)` means in a template: clang leaves its arguments
    open. t: the resolved type; one whose arguments are known is what it is."""
    record = m.module.records.get(t.name) if isinstance(t, RecordRef) and t.arguments else None
    own = {p.id for p in record.template} if record is not None else ()
    if record is None or not any(isinstance(a, TypeParam | Name) and a.id in own for a in t.arguments):  # type: ignore[union-attr]
        return t
    given = _types_of(m, made_of)
    if len(given) == 1 and isinstance(given[0], RecordRef) and given[0].name == record.name:
        return given[0]
    constructors = [m.module.functions[i] for i in record.constructors if i in m.module.functions]
    fitting = taking(m, constructors, given)
    if constructors or not given:
        return m.types.resolve(t, fitting[0][1]) if len(fitting) == 1 else t
    bindings: dict[str, Binding] = {}
    for f, have in zip(record.fields, given, strict=False):
        if have is not None:
            deduce(m, f.type, have, bindings)
    return m.types.resolve(t, bindings)


def _types_of(m: Machine, given: Iterable[Expr]) -> list[Type | None]:
    return [t.type if (t := type_of_expression(m, e)) is not None else None for e in given]


def before_member(m: Machine, e: Member) -> Expr:
    """Return what stands before `.b` or `->b`: of an object before an arrow, which clang leaves open in a
    template, the pointer that its `operator->` gives."""
    if not e.arrow or "->" not in declared_operators(m.module):
        return e.base
    found = type_of_expression(m, e.base)
    if found is None or not isinstance(found.type, RecordRef) or not methods_of(m, found.type, "operator->"):
        return e.base
    return Call(Member(e.base, "operator->", place=e.base.place), (), e.place)


def _of_member(m: Machine, e: Member) -> Typed | None:
    base = type_of_expression(m, before_member(m, e))
    t = base.type if base is not None else None
    if e.arrow:
        t = pointed_to(t)
    layout = m.types.layout(t)
    if layout is None or e.name not in layout.fields:
        return None
    found = _seen_through(layout.fields[e.name][1])
    return Typed(found.type, True) if found is not None else None


def _of_call(m: Machine, e: Call) -> Typed | None:
    if isinstance(e.callee, Member):
        base = type_of_expression(m, before_member(m, e.callee))
        t = base.type if base is not None else None
        if e.callee.arrow:
            t = pointed_to(t)
        return returned_by(m, t, e.callee.name, len(e.arguments))
    if isinstance(e.callee, Name) and m.find(e.callee.id) is None:
        return _of_function(m, e, e.callee)
    base = type_of_expression(m, e.callee)
    return returned_by(m, base.type, "operator()", len(e.arguments)) if base is not None else None


def functions_meant(m: Machine, e: Call) -> Sequence[Function]:
    """The functions or methods that a call may mean."""
    if isinstance(e.callee, Member):
        base = type_of_expression(m, before_member(m, e.callee))
        t = base.type if base is not None else None
        t = pointed_to(t) if e.callee.arrow else t
        return methods_of(m, t, e.callee.name) if t is not None else ()
    if not isinstance(e.callee, Name):
        return ()
    ids = (e.callee.id, *m.module.overloads.get(e.callee.name, ())) if e.callee.name else ()
    return [m.module.functions[id] for id in ids if id in m.module.functions]


def _of_function(m: Machine, e: Call, callee: Name) -> Typed | None:
    """What `declval`, or the only function of the program that takes such arguments, gives."""
    if callee.name in _UNSEEN:
        return _seen_through(m.resolve(callee.arguments[0])) if len(callee.arguments) == 1 else None  # type: ignore[arg-type]
    found = [m.module.functions.get(id) for id in m.module.overloads.get(callee.name, ())]
    functions = [f for f in found if f is not None and len(f.parameters) == len(e.arguments)]
    results = {f.returns for f in functions if not f.template}
    if len(results) == 1 == len(functions):
        return _seen_through(m.types.resolve(results.pop(), {}))
    return (
        _result_for(m, functions, _types_of(m, e.arguments)) if functions and not callee.arguments else None
    )


def _result_for(m: Machine, functions: Sequence[Function], given: Sequence[Type | None]) -> Typed | None:
    """What the only one of functions that takes such operands gives, one of them an object."""
    if not any(isinstance(t, RecordRef) for t in given):
        return None
    fitting = taking(m, functions, given)
    if len(fitting) != 1:
        return None
    f, bindings = fitting[0]
    whole = all(p.id in bindings for p in f.template if p.kind == "type" and p.default is None)
    return _seen_through(m.types.resolve(f.returns, bindings)) if whole else None


def _applied(m: Machine, e: Expr, op: str, count: int) -> Typed | None:
    return _applied_to(m, type_of_expression(m, e), op, count)


def _applied_to(m: Machine, of: Typed | None, op: str, count: int) -> Typed | None:
    """What an operator makes of an operand: that of a class, or the language's own on pointers."""
    if of is None:
        return None
    t = of.type
    if isinstance(t, RecordRef):
        return returned_by(m, t, f"operator{op.replace('x', '')}", count)
    if op in ("[]", "*") and isinstance(t, ArrayOf):
        return Typed(t.element, True)
    if op in ("[]", "*") and isinstance(t, PointerTo):
        return Typed(t.to, True)
    if op == "&" and count == 0:
        return Typed(PointerTo(t), False)
    if op in ("+", "-") and count and isinstance(t, PointerTo | ArrayOf):
        return Typed(PointerTo(t.element if isinstance(t, ArrayOf) else t.to), False)
    if op == "!" and isinstance(t, Scalar | PointerTo):
        return Typed(BOOL, False)
    if isinstance(t, Scalar) and op in ("+", "-", "~") and not count:
        return Typed(promoted(t), False)
    if op in ("x++", "x--"):
        return Typed(t, False)
    return of if op in ("++", "--", "++x", "--x") else None


def _of_two(m: Machine, e: Binary) -> Typed | None:
    """What an operator with two operands gives: a class's, a function's, or the language's own."""
    left = type_of_expression(m, e.left)
    found = _applied_to(m, left, e.op, 1)
    if found is not None:
        return found
    right = type_of_expression(m, e.right)
    given = [t.type if t is not None else None for t in (left, right)]
    return _result_for(m, free_operators(m.module, e.op), given) or _result_of(e, left, right)


def _result_of(e: Binary, left: Typed | None, right: Typed | None) -> Typed | None:
    """What an operator of the language makes of numbers, or tells of two values."""
    if e.op == ",":
        return right
    if left is not None and isinstance(left.type, RecordRef):
        return None
    if e.op in (*COMPARISONS, "&&", "||"):
        return Typed(BOOL, False)
    return _of_numbers(left, left if e.op in ("<<", ">>") else right)


def _of_numbers(left: Typed | None, right: Typed | None) -> Typed | None:
    """The type in which numbers of two types meet."""
    numbers = [x.type for x in (left, right) if x is not None and isinstance(x.type, Scalar)]
    if len(numbers) < 2:
        return None
    real = [t for t in numbers if t.kind == "float"]
    return Typed(max(real, key=lambda t: t.size) if real else common_type(*numbers), False)


def returned_by(m: Machine, t: Type | None, name: str, count: int) -> Typed | None:
    """What a record's method with so many arguments returns; None where it has none, or that is open."""
    if not isinstance(t, RecordRef):
        return None
    methods = takes(methods_of(m, t, name), count)
    if not methods:
        return None
    bindings = bindings_in(m, methods[0], t)
    return _seen_through(m.types.resolve(methods[0].returns, bindings))


def _seen_through(t: Type) -> Typed | None:
    reference = is_reference(t)
    of = t.to if isinstance(t, PointerTo) and reference else t
    return None if isinstance(of, OpaqueType | TypeParam) else Typed(of, reference)
