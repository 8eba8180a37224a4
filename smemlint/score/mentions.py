"""Accesses of shared memory as a function's text shows them, whether a launch reaches them or not.

Only what begins with the name of a shared variable is one: `s[i]`, `*s`, `s->x`, a shared scalar's own name.
Pointers that hold its address are not followed. An address alone (`&s[i]`, a row of a matrix) is no access.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from smemlint.evaluate.analysis.line_attribution import line_of
from smemlint.evaluate.types.layout import LIBRARIES, Types
from smemlint.ir import (
    SHARED,
    STEPS,
    ArrayOf,
    Asm,
    Assign,
    Binary,
    Call,
    Cast,
    Conditional,
    Construct,
    Declare,
    Expr,
    Function,
    Index,
    InitList,
    Lambda,
    Literal,
    Member,
    MemberType,
    Module,
    Name,
    OpaqueType,
    PackSize,
    Place,
    PointerTo,
    RecordRef,
    Return,
    SizeOf,
    Type,
    Unary,
    Var,
)
from smemlint.ir.types import is_reference
from smemlint.ir.walk import children, nodes_of, walk
from smemlint.records import record

LOAD, STORE, ATOMIC = ("load",), ("store",), ("atomic",)
CHANGE = LOAD + STORE
ADDRESS: tuple[str, ...] = ()
"""What is done with a place: the accesses that makes; none where only its address is taken."""


@record(frozen=True, slots=True)
class Mention:
    """One access in the text. ops, width: as in Site, 0 bytes where the type is not known. line: where a
    profiler would have it. call: the call that is given it by reference, and so makes the access. opaque: an
    object of a type that is not known or a library's own that is given to something, which is most often
    handed on rather than read."""

    place: Place
    line: int
    ops: tuple[str, ...]
    width: int
    variable: Var
    call: Place | None = None
    opaque: bool = False


@record(frozen=True, slots=True)
class _Reached:
    """Something in shared memory. address: a pointer to `type` rather than one in place. inside: the
    expressions on the way to it that are evaluated as well."""

    variable: Var
    type: Type | None
    address: bool
    inside: tuple[Expr, ...] = ()


def shared_globals(module: Module) -> dict[str, Var]:
    """Shared variables outside functions, by id."""
    return {id: var for id, var in module.globals.items() if var.storage in SHARED}


def mentions(module: Module, function: Function, globals_: Mapping[str, Var]) -> Iterator[Mention]:
    """The accesses in a function's body, in source order, an access inside another's index included."""
    nodes = nodes_of(function.body)
    own = {n.var.id: n.var for n in nodes if isinstance(n, Declare) and n.var.storage in SHARED}
    shared = {**globals_, **own}
    if any(isinstance(n, Name) and n.id in shared for n in nodes):
        handed = set(_returns(nodes)) if is_reference(function.returns) else set()
        for inner in (n for n in nodes if isinstance(n, Lambda)):  # one in another comes after it
            returns = set(_returns(walk(inner.body)))
            handed = handed | returns if is_reference(inner.returns) else handed - returns
        finder = _Finder(module, shared, handed)
        yield from finder.found(function.body)


def _returns(nodes: Iterable[object]) -> Iterator[int]:
    return (id(n) for n in nodes if isinstance(n, Return))


class _Finder:
    def __init__(self, module: Module, shared: Mapping[str, Var], handed: set[int]) -> None:
        self.module = module
        self.shared = shared
        self.handed = handed
        """By id(): returns that hand back a place, which is accessed where the call stands."""
        self.types = Types(module, lambda e, bindings: e.value if isinstance(e, Literal) else None)

    def found(self, body: object) -> Iterator[Mention]:
        """Walks a tree with, for each node, what is done with its value and the call it is handed to."""
        stack: list[tuple[object, tuple[str, ...], Place | None]] = [(body, LOAD, None)]
        given: set[int] = set()
        while stack:
            node, use, call = stack.pop()
            reached = self._reached(node)
            if reached is not None:
                # A library's object by its name alone is what its constructor or method is given.
                whole = isinstance(node, Name) and _is_opaque(reached.type)
                if use and not (reached.address or whole or isinstance(reached.type, ArrayOf)):
                    opaque = _is_opaque(reached.type) and id(node) in given
                    yield self._mention(node, reached, use, call, opaque)
                stack.extend((e, LOAD, None) for e in reversed(reached.inside))
            elif not isinstance(node, PackSize | SizeOf):
                if isinstance(node, Call | Cast | Construct | InitList):
                    given.update(map(id, children(node)))
                stack.extend(reversed(list(self._below(node, use))))

    def _below(
        self, node: object, use: tuple[str, ...]
    ) -> Iterable[tuple[object, tuple[str, ...], Place | None]]:
        if isinstance(node, Assign):
            return (node.target, STORE if node.op == "=" else CHANGE, None), (node.value, LOAD, None)
        if isinstance(node, Unary):
            use = ADDRESS if node.op == "&" else CHANGE if node.op in STEPS else LOAD
            return ((node.operand, use, None),)
        if isinstance(node, Declare):
            if isinstance(node.var.init, InitList):
                return self._kept(node.var.type, node.var.init.elements)
            return ((node.var.init, ADDRESS if is_reference(node.var.type) else LOAD, None),)
        if isinstance(node, Return):
            return ((node.value, ADDRESS if id(node) in self.handed else LOAD, None),)
        if isinstance(node, Construct):
            return self._kept(node.type, node.arguments)
        if isinstance(node, Conditional):
            return (node.condition, LOAD, None), (node.then, use, None), (node.otherwise, use, None)
        if isinstance(node, Asm):
            return *((e, STORE, None) for e in node.outputs), *((e, LOAD, None) for e in node.inputs)
        if isinstance(node, Call):
            return self._called(node)
        if isinstance(node, Binary):
            # objects are given to an operator of their class, which most often takes references
            return [(e, LOAD, node.place if self._is_object(e) else None) for e in (node.left, node.right)]
        return [(child, LOAD, None) for child in children(node)]

    def _called(self, call: Call) -> Iterator[tuple[object, tuple[str, ...], Place | None]]:
        if isinstance(call.callee, Member):
            base = self._reached(call.callee.base)
            own = base is not None and self._has_method(base.type, call.callee.name)
            yield call.callee.base, LOAD if own or base is None else ADDRESS, call.place
        elif not isinstance(call.callee, Name):
            yield call.callee, LOAD, None
        name = call.callee.name.rsplit("::", 1)[-1] if isinstance(call.callee, Name) else ""
        candidates = self._candidates(call.callee)
        for i, argument in enumerate(call.arguments):
            if i == 0 and not candidates and name.startswith("atomic"):
                # What stands at the address, which need not be written with `&`.
                yield Unary("*", argument, call.place), ATOMIC, None
                continue
            # An object or a lambda that is called is no candidate: what it was seen to access is asked for.
            by_reference = not candidates or any(
                is_reference(p.type) for f in candidates for p in f.parameters[i : i + 1]
            )
            yield argument, LOAD, call.place if by_reference else None

    def _candidates(self, callee: Expr) -> list[Function]:
        """The functions that a call may mean."""
        if isinstance(callee, Name) and callee.id in self.module.functions:
            return [self.module.functions[callee.id]]
        if not isinstance(callee, Name | Member):
            return []
        ids = self.module.overloaded(callee.name)
        return [self.module.functions[id] for id in ids if id in self.module.functions]

    def _kept(self, t: Type, elements: Sequence[Expr]) -> list[tuple[object, tuple[str, ...], Place | None]]:
        """What an object is made of: the places that it keeps are not read then; a library's object may keep
        any (`atomic_ref r(s[i])`)."""
        if not isinstance(t, RecordRef) or t.name.startswith((*LIBRARIES, "cuda::")):
            keeps = isinstance(t, RecordRef | OpaqueType | MemberType)
            return [(e, ADDRESS if keeps and not self._is_storage(e) else LOAD, None) for e in elements]
        known = self.module.records.get(t.name)
        makers = [self.module.functions.get(id) for id in known.constructors] if known is not None else []
        given = [[p.type for p in f.parameters] for f in makers if f is not None]
        types = given or [[f.type for f in known.fields] if known is not None else []]

        def kept(i: int) -> bool:
            return any(is_reference(t) for each in types for t in each[i : i + 1])

        return [(e, ADDRESS if kept(i) else LOAD, None) for i, e in enumerate(elements)]

    def _is_storage(self, e: Expr) -> bool:
        """Whether an expression names a library's own object."""
        reached = self._reached(e)
        return reached is not None and _is_opaque(reached.type)

    def _is_object(self, e: Expr) -> bool:
        reached = self._reached(e)
        return reached is not None and not reached.address and isinstance(reached.type, RecordRef)

    def _has_method(self, t: Type | None, name: str) -> bool:
        known = self.module.records.get(t.name) if isinstance(t, RecordRef) else None
        return known is not None and name in known.methods

    def _mention(
        self, node: object, reached: _Reached, use: tuple[str, ...], call: Place | None, opaque: bool
    ) -> Mention:
        place = getattr(node, "place", None) or reached.variable.place
        width = 0 if reached.type is None else self.types.size_of(self.types.resolve(reached.type, {}))
        line = line_of(node, place)  # type: ignore[arg-type]
        return Mention(place, line, use, width or 0, reached.variable, call, opaque)

    def _reached(self, node: object) -> _Reached | None:
        """What an expression names, if that lies in a shared variable."""
        if isinstance(node, Name):
            variable = self.shared.get(node.id)
            return None if variable is None else _Reached(variable, variable.type, False)
        if isinstance(node, Index):
            return self._behind(self._reached(node.base), (node.index,))
        if isinstance(node, Unary) and node.op == "*":
            return self._behind(self._reached(node.operand))
        if isinstance(node, Unary) and node.op == "&":
            at = self._reached(node.operand)
            return None if at is None or at.address else _Reached(at.variable, at.type, True, at.inside)
        if isinstance(node, Member):
            at = self._reached(node.base)
            at = self._behind(at) if node.arrow else at
            if at is None or at.address:
                return None
            return _Reached(at.variable, self._member(at.type, node.name), False, at.inside)
        if isinstance(node, Cast):
            return self._cast(node)
        if isinstance(node, Binary) and node.op in ("+", "-"):
            for pointer, number in ((node.left, node.right), (node.right, node.left)):
                at = _decayed(self._reached(pointer))
                if at is not None:
                    return _Reached(at.variable, at.type, True, (*at.inside, number))
        return None

    def _behind(self, at: _Reached | None, inside: tuple[Expr, ...] = ()) -> _Reached | None:
        """What a pointer into shared memory points to."""
        at = _decayed(at)
        return None if at is None else _Reached(at.variable, at.type, False, (*at.inside, *inside))

    def _cast(self, cast: Cast) -> _Reached | None:
        at = self._reached(cast.operand)
        if at is None or not isinstance(cast.type, PointerTo):
            return None
        if cast.type.reference:
            return None if at.address else _Reached(at.variable, cast.type.to, False, at.inside)
        at = _decayed(at)
        return None if at is None else _Reached(at.variable, cast.type.to, True, at.inside)

    def _member(self, t: Type | None, name: str) -> Type | None:
        if not isinstance(t, RecordRef):
            return None
        layout = self.types.layout(t)
        if layout is not None and name in layout.fields:
            return layout.fields[name][1]
        known = self.module.records.get(t.name)
        return next((f.type for f in known.fields if f.name == name), None) if known is not None else None


def _is_opaque(t: Type | None) -> bool:
    library = isinstance(t, RecordRef) and t.name.startswith(LIBRARIES)
    return library or isinstance(t, OpaqueType | MemberType)


def _decayed(at: _Reached | None) -> _Reached | None:
    """An array as the pointer to its first element; None for what is no address into shared memory."""
    if at is None or at.address:
        return at
    if isinstance(at.type, ArrayOf):
        return _Reached(at.variable, at.type.element, True, at.inside)
    return None
