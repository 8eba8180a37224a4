"""Objects that addresses point into."""

from __future__ import annotations

from dataclasses import field

from smemlint.evaluate.values import Value
from smemlint.ir import Type, Var
from smemlint.records import record


@record(eq=False, slots=True)
class Object:
    """One variable or allocation.

    storage: 'local' (its value is followed), 'shared' (accesses are recorded) or 'global' (neither).
    cells: value by byte offset, for local objects. `uniform`: what is read from unknown places is the same
    in all lanes.
    align: bytes that the start is known to be a multiple of.
    """

    id: str
    name: str
    type: Type
    storage: str
    var: Var | None = None
    cells: dict[int, Value] = field(default_factory=dict)
    uniform: bool = False
    align: int = 1
    volatile: bool = False
    """Declared so, or reached through a pointer to volatile by now."""
    escapes: bool = False
    havoc: bool = False
    """A write of unknown place or value went here: absent cells are unknown, not uninitialised."""
