"""What is found once of the code of a module, whatever the launch: what can be skipped, where loads wait."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol, TypeAlias, TypeVar

from smemlint.evaluate.analysis import address_slice
from smemlint.evaluate.analysis.changes import Changes, changes_of
from smemlint.evaluate.analysis.guards import constants_of, guards
from smemlint.evaluate.analysis.local_arrays import turns_local
from smemlint.evaluate.analysis.parts_read.members import members_read, members_touched, stored_back
from smemlint.evaluate.analysis.purity import named_functions
from smemlint.ir import Asm, Call, Function, Lambda, Loop, Member, Module, Name, StaticMember, Unary, Var
from smemlint.ir.memo import by_identity
from smemlint.ir.types import is_reference
from smemlint.ir.uses import HANDED, variables_set
from smemlint.ir.walk import names_in, nodes_of, walk

V = TypeVar("V")


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
        self._known: dict[tuple[object, str | int], Any] = {}

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

    def members_read(self, f: Function) -> dict[int, frozenset[str]]:
        """By id() of an expression in f, the members that are used of its value; others are used whole."""
        return self._once(
            (members_read, f.id), lambda: members_read(f, lambda e: named_functions(self.module, e))
        )

    def members_touched(self, f: Function) -> tuple[frozenset[str], frozenset[int]]:
        """Ids of the variables of f that members are used of by themselves, id() of what they are given."""
        return self._once((members_touched, f.id), lambda: members_touched(f, self._callees))

    def stored_back(self, f: Function) -> dict[int, frozenset[str]]:
        """By id() of an expression in f that is changed and stored, the members that are read of it."""
        return self._once((stored_back, f.id), lambda: stored_back(f, self._callees))

    def changes(self, code: Loop | Function, f: Function | None) -> Changes:
        """What a loop of f, or f itself, may change: by assignments, and by functions that are called,
        assembly, references and lambdas."""
        return self._once((Code.changes, id(code)), lambda: self._changes(code, f))

    def _changes(self, code: Loop | Function, f: Function | None) -> Changes:
        taken = frozenset(self._handed_out(code))
        return changes_of(code, f).and_set(taken if f is None else taken | _set_elsewhere(f))

    def _handed_out(self, code: Loop | Function) -> Iterator[str]:
        for n in walk(code.body if isinstance(code, Function) else (code.condition, code.body, code.step)):
            if isinstance(n, Unary) and n.op == "&" and isinstance(n.operand, Name):
                yield n.operand.id
            elif isinstance(n, Asm):
                yield from (e.id for e in n.outputs if isinstance(e, Name))
            elif isinstance(n, Call):
                named = [(i, a.id) for i, a in enumerate(n.arguments) if isinstance(a, Name)]
                meant = self._callees(n) if named else []
                yield from (id for i, id in named if any(_takes(f, i) for f in meant))

    def _once(self, key: tuple[object, str | int], find: Callable[[], V]) -> V:
        if key not in self._known:
            self._known[key] = find()
        found: V = self._known[key]
        return found

    def _callees(self, call: Call) -> list[Function]:
        """The functions that a call may mean: by name, methods of any record."""
        if not isinstance(call.callee, Member | StaticMember):
            return named_functions(self.module, call)
        # By what the module looks up by name: a run of host code that asks for all functions is not kept.
        ids = self.module.overloads.get(call.callee.name, ())
        special = (s for id in ids for s in self.module.specialisations.get(id, ()))
        functions = (self.module.functions.get(id) for id in (*ids, *special))
        return [f for f in functions if f is not None and f.record is not None]

    def guards(self, f: Function | None, s: Loop) -> int:
        """The branches in the body of a loop of f that are decided when it runs."""
        name = f.id if f is not None else ""
        constants = self._once((constants_of, name), lambda: constants_of(self.module, f))
        return self._once((guards, id(s)), lambda: guards(s, constants, f))

    def turns_local(self, f: Function | None, s: Loop) -> tuple[bool, bool]:
        """What a loop of f does to arrays of f, as in `local_arrays`."""
        if f is None:
            return False, False
        return self._once((turns_local, id(s)), lambda: turns_local(s, f, self._callees))


@by_identity
def _set_elsewhere(f: Function) -> frozenset[str]:
    """The variables of a function that may be set wherever something runs: those that a reference of
    its own is bound to, whose address is taken, or that a lambda sets."""
    found: set[str] = set()
    for n in nodes_of(f.body):
        if isinstance(n, Var) and n.init is not None and is_reference(n.type):
            found |= names_in(n.init)
        elif isinstance(n, Unary) and n.op == "&":
            found |= {n.operand.id} if isinstance(n.operand, Name) else set()
        elif isinstance(n, Lambda):
            found |= variables_set(walk(n.body), HANDED)
    return frozenset(found)


def _takes(f: Function, number: int) -> bool:
    """Whether a function may set what it is given as this argument."""
    var = f.parameters[number] if number < len(f.parameters) else None
    return var is None or (is_reference(var.type) and not var.const)


code_of = by_identity(Code, most=8)
"""The device code of a module: a file has few modules, and each many launches."""
