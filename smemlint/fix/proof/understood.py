"""Whether the accesses of an array are known well enough for any layout, and which are moved unseen."""

from __future__ import annotations

from collections.abc import Sequence

from smemlint.evaluate.model import Grade
from smemlint.fix.model import Refusal
from smemlint.fix.proof.promise import sites_of
from smemlint.fix.search.members import MATRIX_ROW, Instance, unplaced
from smemlint.score.model import Conflict

_ONE_BY_ONE = ("load", "store", "atomic")
"""Accesses that go to one element of the array each, whatever the layout."""


def not_understood(instances: Sequence[Instance]) -> Refusal | None:
    """Why the array may not be touched at all: something about its accesses is not known exactly."""
    for instance in instances:
        array = instance.array
        if array.escapes:
            return Refusal(
                "escapes", f"the address of `{instance.pool.name}` goes where analysis cannot follow"
            )
        data: Refusal | None = None
        widest = 0
        sites = instance.piece.sites if instance.piece else sites_of(instance.analysis, array)
        for conflict in sites:
            said = f"`{conflict.site.expression}` on line {conflict.site.place.line}"
            if conflict.grade is Grade.UNRESOLVED:
                why = conflict.reason.text if conflict.reason else "its address is not known"
                return Refusal("unresolved-use", f"{said} is not resolved: {why}")
            if conflict.grade is Grade.PARAMETRIC or conflict.trace.parameter is not None:
                return Refusal("run-time-stride", f"{said} depends on a value that the launch gives")
            if unplaced(conflict, sites):
                data = data or _moving(conflict, said)
                plain = conflict.site.op in _ONE_BY_ONE
                widest = max(widest, (conflict.trace.joined or conflict.site.width) if plain else MATRIX_ROW)
        whole = not array.dynamic if instance.piece is None else instance.piece.pointer is None
        if data is not None and (not whole or widest > array.element):
            # What is not known may not stay aligned, or may leave its part.
            return data
    return None


def _moving(conflict: Conflict, said: str) -> Refusal:
    """Why it cannot be said where a layout puts an access that is resolved."""
    trace = conflict.trace
    if trace.reason is not None and trace.reason.code == "several-parameters":
        return Refusal("run-time-stride", f"{said}: {trace.reason.text}")
    if trace.data:
        return Refusal("data-dependent", f"{said} depends on data")
    if trace.ways > 1:
        return Refusal("run-time-choice", f"{said} goes to one of {trace.ways} places, as run time decides")
    why = trace.reason.text if trace.reason is not None else "only a range of its cost is known"
    return Refusal("run-time-choice", f"{said}: {why}")


def left_aside(instances: Sequence[Instance]) -> Refusal | None:
    """Of the first access that moves with the others although its place is not known; None without one."""
    for instance in instances:
        sites = sites_of(instance.analysis, instance.array)
        for conflict in sites:
            if unplaced(conflict, sites):
                return _moving(conflict, f"`{conflict.site.expression}` on line {conflict.site.place.line}")
    return None
