"""A fault of the evaluator's own costs the value that it was computing, and is told.

An operator that fails leaves nothing half done: its operands were evaluated, and its value is then unknown
for that reason, and so is all that is made of it. What changes masks or frames on its way cannot be cut off
there; such a fault ends the kernel, with every access that was seen unresolved.
"""

from __future__ import annotations

import os

from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.model import Unresolved
from smemlint.evaluate.values.value import Other
from smemlint.ir import Binary, Cast, Expr, Index, Member, Name, Place, Unary
from smemlint.ir.expr import STEPS

INTERNAL = "internal-error"
SIMPLE: tuple[type, ...] = (Binary, Cast, Index, Member, Name, Unary)
"""Expressions that change nothing but what their operands do."""


class FaultError(Exception):
    """A fault that came out of something which may be half done."""


def fault(error: BaseException, place: Place | None) -> Unresolved:
    """The reason that names an exception which nothing here should raise."""
    cause = error.__cause__ or error if isinstance(error, FaultError) else error
    if os.environ.get("SMEMLINT_DEBUG"):
        import traceback

        traceback.print_exception(cause)
    return Unresolved(INTERNAL, f"{type(cause).__name__}: {cause}", place)


def contained(m: Machine, e: Expr, error: Exception, unmoved: bool) -> Other:
    """What stands for the value of an expression that failed.

    unmoved: the mask and the frames are those with which it began. Raises FaultError where something may be
    half done, and in host code, of which no access speaks.
    """
    if isinstance(error, FaultError):
        raise error
    if m.host or not unmoved or not isinstance(e, SIMPLE) or (isinstance(e, Unary) and e.op in STEPS):
        raise FaultError from error
    reason = fault(error, e.place)
    if reason not in m.journal.notes:
        m.journal.notes.append(reason)
    return Other(reason=reason)
