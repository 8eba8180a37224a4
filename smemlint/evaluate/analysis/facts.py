"""What is found once of the code of a module, whatever the launch: what can be skipped, where loads wait."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol, TypeAlias

from smemlint.evaluate.analysis import address_slice
from smemlint.evaluate.analysis.guards import constants_of, guards
from smemlint.evaluate.analysis.hoisted_lines import hoisted_lines
from smemlint.evaluate.analysis.owned import owned
from smemlint.evaluate.analysis.parts_read.halves import halves_read, narrow_reads
from smemlint.evaluate.analysis.parts_read.members import (
    chosen,
    halved,
    members_read,
    members_set,
    members_touched,
    stored_back,
)
from smemlint.evaluate.analysis.purity import named_functions
from smemlint.evaluate.analysis.sinkable import Path, sinks
from smemlint.evaluate.analysis.trip_count import countable, other_ends
from smemlint.ir import Call, Expr, Function, Loop, Member, Module, Place, StaticMember
from smemlint.ir.memo import by_identity


class SliceLike(Protocol):
    """id() of the statements that can be passed over; quiet: in iterations that leave no trace.

    open: branches that are taken every way when all of host code is to be seen. deciding: of host code, what
    decides values that launches depend on. relevant: names whose values matter. trailing, handing: of host
    code, see `Slice`.
    """

    relevant: set[str]
    skippable: set[int]
    open: set[int]
    deciding: set[int]
    trailing: set[int]
    handing: set[int]

    @property
    def quiet(self) -> set[int]: ...

    @property
    def sets(self) -> Mapping[int, frozenset[str]]: ...


Slicer: TypeAlias = Callable[[Function, frozenset[str], frozenset[str]], SliceLike]


class Code:
    """The functions of one module, which it keeps alive: much is known by id() of their nodes."""

    def __init__(self, module: Module, slicer: Slicer | None = None) -> None:
        self.module = module
        self._slicer = slicer or address_slice.slicer(module)
        self._slices: dict[tuple[str, frozenset[str], frozenset[str]], SliceLike] = {}
        self._sinks: dict[str, dict[int, Path]] = {}
        self._hoisted: dict[str, dict[tuple[str, int], int]] = {}
        self._countable: dict[int, bool] = {}
        self._other_ends: dict[int, tuple[Expr, ...]] = {}
        self._guards: dict[int, int] = {}
        self._constants: dict[str, frozenset[str]] = {}
        self._members: dict[str, dict[int, frozenset[str]]] = {}
        self._set_members: dict[str, dict[int, frozenset[str]]] = {}
        self._touched: dict[str, tuple[frozenset[str], frozenset[int]]] = {}
        self._stored_back: dict[str, dict[int, frozenset[str]]] = {}
        self._methods: dict[str, list[Function]] | None = None
        self._owned: frozenset[str] | None = None
        self.definitions: dict[str, dict[str, list[Expr]]] = {}
        """By function: the values that each variable is given there."""

    def slice(self, f: Function, pointing: frozenset[str], real: frozenset[str] = frozenset()) -> SliceLike:
        """What can be skipped in a function, given which of its parameters may point to shared memory, and
        which template parameters are floating-point types."""
        key = (f.id, pointing, real)
        if key not in self._slices:
            self._slices[key] = self._slicer(f, pointing, real)
        return self._slices[key]

    def relevant(self, f: Function) -> frozenset[str]:
        """The names that matter in a function, wherever its parameters were found to point."""
        return frozenset[str]().union(*(s.relevant for (id, *_), s in self._slices.items() if id == f.id))

    def sinks(self, f: Function) -> dict[int, Path]:
        """Return, by id of a statement that loads, the branches that alone use the value."""
        if f.id not in self._sinks:
            self._sinks[f.id] = sinks(f)
        return self._sinks[f.id]

    def hoisted_line(self, f: Function, place: Place) -> int | None:
        """The line of a load at a place, if it moves in front of a loop there and loses its own."""
        if f.id not in self._hoisted:
            self._hoisted[f.id] = hoisted_lines(f)
        return self._hoisted[f.id].get((place.path, place.offset))

    def members_read(self, f: Function) -> dict[int, frozenset[str]]:
        """By id() of an expression in f, the members that are used of its value; others are used whole."""
        if f.id not in self._members:
            self._members[f.id] = members_read(f, lambda call: named_functions(self.module, call))
        return self._members[f.id]

    def members_set(self, f: Function) -> dict[int, frozenset[str]]:
        """By id() of an expression in f, the members that are set before any of its value is used."""
        if f.id not in self._set_members:
            self._set_members[f.id] = members_set(f)
        return self._set_members[f.id]

    def members_touched(self, f: Function) -> tuple[frozenset[str], frozenset[int]]:
        """Ids of the variables of f that members are used of by themselves, id() of what they are given."""
        if f.id not in self._touched:
            self._touched[f.id] = members_touched(f, self._meant)
        return self._touched[f.id]

    def stored_back(self, f: Function) -> dict[int, frozenset[str]]:
        """By id() of an expression in f that is changed and stored, the members that are read of it."""
        if f.id not in self._stored_back:
            self._stored_back[f.id] = stored_back(f, self._meant)
        return self._stored_back[f.id]

    def _meant(self, call: Call) -> list[Function]:
        """The functions that a call may mean: by name, methods of any record."""
        if not isinstance(call.callee, Member | StaticMember):
            return named_functions(self.module, call)
        if self._methods is None:
            self._methods = {}
            for f in self.module.functions.values():
                if f.record is not None:
                    self._methods.setdefault(f.name, []).append(f)
        return self._methods.get(call.callee.name, [])

    def halved(self, f: Function) -> frozenset[int]:
        """id() of the expressions in f of which nvcc may load some words alone."""
        return halved(f)

    def chosen(self, f: Function) -> frozenset[str]:
        """Ids of the variables in f that a condition chooses or a function gives."""
        return chosen(f)

    def halves_read(self, f: Function) -> dict[int, int]:
        """By id() of an expression in f, where the half lies that is used of a 64-bit integer."""
        return halves_read(f)

    def narrow_reads(self, f: Function) -> dict[int, tuple[int, int, bool]]:
        """By id() of an expression in f, which bytes are used of a 32-bit integer."""
        return narrow_reads(f)

    @property
    def owned(self) -> frozenset[str]:
        """Ids of the file-scope shared arrays that one kernel uses alone."""
        if self._owned is None:
            self._owned = owned(self.module)
        return self._owned

    def countable(self, s: Loop) -> bool:
        """Whether the iterations of a loop can be counted before it begins."""
        if id(s) not in self._countable:
            self._countable[id(s)] = countable(s)
        return self._countable[id(s)]

    def other_ends(self, s: Loop) -> tuple[Expr, ...]:
        """What breaks hold the counter of a loop against."""
        if id(s) not in self._other_ends:
            self._other_ends[id(s)] = other_ends(s)
        return self._other_ends[id(s)]

    def guards(self, f: Function | None, s: Loop) -> int:
        """The branches in the body of a loop of f that are decided when it runs."""
        if id(s) not in self._guards:
            name = f.id if f is not None else ""
            if name not in self._constants:
                self._constants[name] = constants_of(self.module, f)
            self._guards[id(s)] = guards(s, self._constants[name])
        return self._guards[id(s)]


code_of = by_identity(Code, most=8)
"""The device code of a module: a file has few modules, and each many launches."""
