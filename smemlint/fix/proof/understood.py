"""Whether the accesses of an array are known well enough for any layout, and which are moved unseen."""

from __future__ import annotations

from collections.abc import Sequence

from smemlint.evaluate.model import Grade
from smemlint.fix.model import Refusal
from smemlint.fix.proof.promise import sites_of
from smemlint.fix.search.members import MATRIX_ROW, Instance, movable

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
        for conflict in instance.piece.sites if instance.piece else sites_of(instance.analysis, array):
            said = f"`{conflict.site.expression}` on line {conflict.site.place.line}"
            if conflict.grade is Grade.UNRESOLVED:
                why = conflict.reason.text if conflict.reason else "its address is not known"
                return Refusal("unresolved-use", f"{said} is not resolved: {why}")
            if conflict.grade is Grade.PARAMETRIC or conflict.trace.parameter is not None:
                return Refusal("run-time-stride", f"{said} depends on a value that the launch gives")
            if conflict.executions and not movable(conflict):
                data = data or Refusal("data-dependent", f"{said} depends on data")
                plain = conflict.site.op in _ONE_BY_ONE
                widest = max(widest, (conflict.trace.joined or conflict.site.width) if plain else MATRIX_ROW)
        if data is not None and (array.dynamic or instance.piece or widest > array.element):
            # What is not known may not stay aligned, or may leave its part.
            return data
    return None


def left_aside(instances: Sequence[Instance]) -> str:
    """The first access that moves with the others although where it goes depends on data; '' without one."""
    for instance in instances:
        for conflict in sites_of(instance.analysis, instance.array):
            if conflict.executions and not movable(conflict):
                said = f"`{conflict.site.expression}` on line {conflict.site.place.line}"
                return f"{said} depends on data: what it costs after the edit is not known"
    return ""
