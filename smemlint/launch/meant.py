"""Which kernel a launch means: one of an overload set, or where a pointer that is not followed may lead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from smemlint.evaluate.language.conversions import type_of
from smemlint.evaluate.language.names import resolve_arguments
from smemlint.evaluate.language.overloads import bind, converts, has_pack, score_of
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.types.layout import Binding
from smemlint.evaluate.values.number import FunctionValue, Value
from smemlint.ir import (
    Call,
    Cast,
    Expr,
    Function,
    Index,
    LaunchStmt,
    Member,
    Module,
    Name,
    OpaqueType,
    TypeParam,
    Unary,
)
from smemlint.ir.memo import by_identity
from smemlint.ir.walk import walk
from smemlint.launch.objects import is_closed

MOST = 16


def targets(m: Machine, kernel: Expr, passed: int) -> tuple[FunctionValue, ...]:
    """Kernels of as many parameters as are passed that the pointer of a launch may lead to; those that its
    own variable is made of, if there are any."""
    variable = _variable(m, kernel)
    if variable is None:
        return ()
    var = m.module.globals.get(variable)
    o = m.find(variable)
    init = var.init if var is not None else o.var.init if o is not None and o.var is not None else None
    for names in (list(_kernels(m.module, init)), _addressed(m.module)):
        found = [
            FunctionValue(n.name, (f,), resolve_arguments(m, n.arguments))
            for n in names
            if (f := m.module.functions[n.id]) and len(f.parameters) == passed and is_closed(n.arguments)
        ]
        if found:
            return tuple(found[:MOST])
    return ()


def meant_by(
    m: Machine, kernel: FunctionValue, values: Sequence[Value]
) -> list[tuple[Function, dict[str, Binding]]]:
    """The overload that a launch means, with its template arguments; all that fit equally well where the
    types of the arguments are not known."""
    kernels = [f for f in kernel.candidates if f.side == "kernel"]
    fitting = [f for f in kernels if len(f.parameters) == len(values)] or [
        f for f in kernels if len(f.parameters) > len(values) or has_pack(f)
    ]
    found: list[tuple[int, Function, dict[str, Binding]]] = []
    for f in fitting or kernels:
        bound = bind(m, f, kernel.arguments, values)
        if bound is not None and converts(m, f, values, bound):
            found.append((score_of(m, f, values, bound), f, bound))
    best = max((score for score, _, _ in found), default=0)
    alike = [(f, bound) for score, f, bound in found if score == best]
    vague = any(isinstance(n, OpaqueType | TypeParam) for v in values for n in walk(type_of(v)))
    return alike if vague else alike[:1]


def _variable(m: Machine, e: Expr) -> str | None:
    """The variable that a kernel's pointer comes from; None where the expression names a kernel itself, that
    is known or not."""
    while not isinstance(e, Name):
        if isinstance(e, Cast | Unary):
            e = e.operand
        elif isinstance(e, Index | Member):
            e = e.base
        elif isinstance(e, Call):
            e = e.callee.base if isinstance(e.callee, Member) else e.callee
        else:
            return None
    return e.id if m.find(e.id) is not None or e.id in m.module.globals else None


def _kernels(module: Module, code: object) -> Iterator[Name]:
    for n in walk(code):
        if isinstance(n, Name):
            f = module.functions.get(n.id)
            if f is not None and f.side == "kernel":
                yield n


@by_identity
def _addressed(module: Module) -> tuple[Name, ...]:
    """All names of kernels in host code and in what initialises variables, those of launches aside."""
    found: dict[tuple[str, str], Name] = {}
    codes: list[object] = [f.body for f in module.functions.values() if _is_host(f)]
    codes += [v.init for v in module.globals.values() if v.init is not None]
    for code in codes:
        started = {id(n.kernel) for n in walk(code) if isinstance(n, LaunchStmt)}
        for n in _kernels(module, code):
            if id(n) not in started:
                found.setdefault((n.id, repr(n.arguments)), n)
    return tuple(found.values())


def _is_host(f: Function) -> bool:
    return f.side in ("host", "both")
