"""Objects that addresses point into."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field

from smemlint.evaluate.values import Pointer, Value
from smemlint.ir import Type, Var
from smemlint.records import record


class Cells(dict[int, Value]):
    """What is at each byte offset of an object. Until it changes it remembers the copy that was taken last:
    a branch changes few of all variables."""

    __slots__ = ("leads", "saved")

    def __init__(self, values: Mapping[int, Value] | Iterable[tuple[int, Value]] = ()) -> None:
        super().__init__(values)
        self.saved: dict[int, Value] | None = None
        self.leads: tuple[Object, ...] = ()

    def copied(self) -> dict[int, Value]:
        """A copy that nobody changes; `leads` are then the local objects that it points to."""
        if self.saved is None:
            self.saved = dict(self)
            self.leads = tuple(
                v.object for v in self.values() if isinstance(v, Pointer) and v.object.storage == "local"
            )
        return self.saved

    def __setitem__(self, at: int, v: Value) -> None:
        self.saved = None
        super().__setitem__(at, v)

    def __delitem__(self, at: int) -> None:
        self.saved = None
        super().__delitem__(at)

    def update(self, values: Mapping[int, Value]) -> None:  # type: ignore[override]
        self.saved = None
        super().update(values)

    def clear(self) -> None:
        self.saved = None
        super().clear()


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
    cells: dict[int, Value] = field(default_factory=Cells)
    uniform: bool = False
    align: int = 1
    volatile: bool = False
    """Declared so, or reached through a pointer to volatile by now."""
    escapes: bool = False
    havoc: bool = False
    """A write of unknown place or value went here: absent cells are unknown, not uninitialised."""
