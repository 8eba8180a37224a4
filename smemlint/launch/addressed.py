"""Kernels that host code names without starting them: where a pointer that is not followed may lead to."""

from __future__ import annotations

from collections.abc import Iterator

from smemlint.evaluate.language.names import resolve_arguments
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.values.value import FunctionValue
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
    Unary,
)
from smemlint.ir.memo import by_identity
from smemlint.ir.walk import walk
from smemlint.launch.objects import is_closed

MOST = 16


def targets(m: Machine, kernel: Expr, passed: int) -> tuple[tuple[FunctionValue, ...], bool, bool]:
    """Kernels of as many parameters as are passed that the pointer of a launch may lead to; those that its
    own variable is made of, if there are any. Says also whether that is all of them, and whether it is so."""
    variable = _variable(m, kernel)
    if variable is None:
        return (), True, False
    for names, own in ((_put_into(m, variable), True), (_addressed(m.module), False)):
        fit = [n for n in names if len(m.module.functions[n.id].parameters) == passed]
        closed = [n for n in fit if is_closed(n.arguments)]
        if closed:
            found = [
                FunctionValue(n.name, (m.module.functions[n.id],), resolve_arguments(m, n.arguments))
                for n in closed[:MOST]
            ]
            # a single one may be there until another is put in its place
            return tuple(found), len(found) == len(fit), own and len(found) > 1
    return (), True, False


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


def _put_into(m: Machine, variable: str) -> list[Name]:
    """The kernels in what a variable is made of, or in what it is taken from: `auto at = table.find(n);`."""
    init = _made_of(m, variable)
    return list(_kernels(m.module, init)) or [
        kernel
        for n in walk(init)
        if isinstance(n, Name) and n.id
        for kernel in _kernels(m.module, _made_of(m, n.id))
    ]


def _made_of(m: Machine, variable: str) -> object:
    """What initialises a variable."""
    var = m.module.globals.get(variable)
    o = m.find(variable)
    return var.init if var is not None else o.var.init if o is not None and o.var is not None else None


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
