"""Objects that addresses point into."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from smemlint.evaluate.values.number import Int, plus
from smemlint.evaluate.values.value import (
    Cells,
    Object,
    Pointer,
    RecordValue,
    Value,
)
from smemlint.ir import Type
from smemlint.records import record


@record(slots=True)
class Snapshot:
    """The cells of every followed object."""

    cells: dict[Object, dict[int, Value]] = field(default_factory=dict)
    havoc: dict[Object, bool] = field(default_factory=dict)

    def note(self, pending: list[Object]) -> None:
        """Add what some objects hold that are not noted yet, and all that they lead to."""
        cells, havoc = self.cells, self.havoc
        while pending:
            o = pending.pop()
            if o.storage != "local" or o in cells:
                continue
            held = o.cells
            if type(held) is not Cells:
                held = o.cells = Cells(held)
            cells[o] = held.saved or held.copied()
            havoc[o] = o.havoc
            if held.leads:
                pending += held.leads

    def complete(self, begun: Snapshot) -> None:
        """Add what variables that outlive calls began with, where nobody had named them yet."""
        for o, held in begun.cells.items():
            if o not in self.cells:
                self.cells[o], self.havoc[o] = held, begun.havoc[o]


NO_ADDRESS = "no address"
"""Id of what a pointer leads to that a launch passes as null."""
UNSEEN = "global:"
"""How the id begins of what a pointer leads to that nobody is seen to make."""


MADE = "made"
"""Id of what a constructor makes, until it is known where that lies."""


def at_home(o: Object, at: int, cells: Mapping[int, Value]) -> Mapping[int, Value]:
    """The cells of an object that was made elsewhere, at an offset of another: its pointers to itself lead to
    where it lies now."""
    for x in cells.values():
        if type(x) is Pointer and x.object.id == MADE:
            break
    else:
        return cells
    return {
        k: Pointer(o, plus(x.offset, at), x.pointee, x.integer)
        if type(x) is Pointer and x.object.id == MADE
        else x
        for k, x in cells.items()
    }


def begin_with(o: Object, v: Value, *, open_: bool = False) -> None:
    """Put into a new object what it begins with. open_: what a record does not tell of its members is not
    known."""
    if isinstance(v, RecordValue):
        o.cells.update(at_home(o, 0, v.cells))
        o.havoc = open_ or not v.cells
    else:
        o.cells[0] = v


def temporary(v: Value, t: Type, *, open_: bool = False) -> Pointer:
    """An object without a name, of a type, that holds a value."""
    o = Object("temporary", "temporary", t, "local")
    begin_with(o, v, open_=open_)
    return Pointer(o, Int(0), t)
