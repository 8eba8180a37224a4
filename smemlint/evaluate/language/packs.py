"""Parameter packs: `f(args...)` hands on what the pack holds, one by one."""

from __future__ import annotations

from collections.abc import Sequence

from smemlint.evaluate.machine.dispatch import rvalue
from smemlint.evaluate.machine.machine import Frame, Machine
from smemlint.evaluate.values.number import Value
from smemlint.evaluate.values.objects import Object
from smemlint.ir import Expr, Function, Name, PointerTo, TypeParam, UnknownExpr, Var
from smemlint.ir.walk import walk

EXPANSION = "parameter pack"
"""The reason of the UnknownExpr that stands for `pattern...`."""


def pack_of(f: Function) -> Var | None:
    """The parameter of a function that is a pack."""
    packs = {p.id for p in f.template if p.pack}
    if not packs:
        return None
    for parameter in f.parameters:
        t = parameter.type
        while isinstance(t, PointerTo):
            t = t.to
        if isinstance(t, TypeParam) and t.id in packs:
            return parameter
    return None


def expanded(m: Machine, arguments: Sequence[Expr | Value]) -> list[Expr | Value]:
    """The arguments of a call with each `pattern...` as the values that it stands for."""
    found: list[Expr | Value] = []
    for a in arguments:
        if isinstance(a, UnknownExpr) and a.reason == EXPANSION and a.parts:
            frame, id = _held(m, a.parts[0])
            if frame is not None:
                found += [_element(m, a.parts[0], id, o) for o in frame.packs[id]]
                continue
        found.append(a)
    return found


def _held(m: Machine, pattern: object) -> tuple[Frame | None, str]:
    """The frame that knows the pack that a pattern names."""
    ids = [n.id for n in walk(pattern) if isinstance(n, Name) and n.id]
    frame: Frame | None = m.frame
    while frame is not None:
        for id in ids:
            if id in frame.packs:
                return frame, id
        frame = frame.parent
    return None, ""


def _element(m: Machine, pattern: object, id: str, o: Object) -> Value:
    variables = m.frame.variables
    kept = variables.get(id)
    variables[id] = o
    try:
        return rvalue(m, pattern)  # type: ignore[arg-type]
    finally:
        if kept is None:
            del variables[id]
        else:
            variables[id] = kept
