"""Objects that addresses point into."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field

from smemlint.evaluate.values.number import Closure, Int, Other, Pointer, RecordValue, Value, plus
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
            leading = [v for v in self.values() if type(v) is not Int and type(v) is not Other]
            self.leads = tuple([o for v in leading for o in reached(v) if o.storage == "local"])
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
    options: tuple[Option, ...] = ()
    """Of what stands for several objects: which, and in which lanes. It holds nothing itself; its storage is
    'shared' if one of them is shared, else 'several' if one is local, else 'global'."""
    generic: bool = False
    """The compiler loads such a pointer from a table: nothing is known to it of where it leads."""


@record(frozen=True, eq=False, slots=True)
class Option:
    """An object that a pointer may lead to: in lanes where `when`, 0 or 1, is 1; at `offset` in it."""

    when: Int
    object: Object
    offset: Int


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


def reached(v: Value) -> tuple[Object, ...]:
    """The objects that a value leads to, or has copies in."""
    if isinstance(v, Pointer):
        return led_to(v.object)
    return tuple(v.captured.values()) if isinstance(v, Closure) else ()


def led_to(o: Object) -> tuple[Object, ...]:
    """The objects that an object of a pointer stands for: itself, but for one that stands for several."""
    return tuple(option.object for option in o.options) if o.options else (o,)
