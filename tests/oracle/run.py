"""All threads of a block, warp by warp, in lock step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from oracle import builtins, groups
from oracle.exchanges import exchanged
from oracle.frames import Access, Barrier, Callee, Exchange, Flow, Frame, Group, Ref
from oracle.layout import TYPES, Layout, Scope
from oracle.memory import SHARED, Memory
from oracle.thread import Thread
from oracle.types import decayed
from oracle.values import Num, UndefinedError, UnsupportedError
from smemlint.ir import (
    ArrayOf,
    Call,
    Expr,
    Function,
    Launch,
    Literal,
    Member,
    Module,
    Name,
    OpaqueType,
    Place,
    PointerTo,
    RecordRef,
    Scalar,
    StaticMember,
    Type,
    TypeParam,
    Var,
)
from smemlint.ir.types import BOOL, INT


@dataclass(frozen=True, slots=True)
class Request:
    """What the lanes of one warp ask for together.

    array, name: id of the variable and its name (of several: all of them, joined by `or`). offsets: bytes
    from its start (of several: of the first that is declared), None where a lane does not take part.
    via: places of the calls around it, innermost first. path: where in the run it happened; requests of
    different warps at the same point of the program have the same path.
    """

    node: Expr
    op: str
    width: int
    array: str
    name: str
    offsets: tuple[int | None, ...]
    matrices: int
    via: tuple[Place | None, ...]
    path: tuple[int, ...]
    warp: int

    @property
    def place(self) -> Place | None:
        return getattr(self.node, "place", None)


def run(
    module: Module,
    kernel: Function,
    launch: Launch,
    *,
    block_index: tuple[int, int, int] = (0, 0, 0),
    arguments: Mapping[str, int] | None = None,
    limit: int = 100_000,
    shuffled: int | None = None,
    noise: str = "",
) -> list[Request]:
    """Every request of one block, warp by warp between barriers.

    arguments: values of integer kernel parameters, beside those of the launch. limit: iterations of a loop.
    shuffled: the seed of an order in which the warps take turns, request by request, between barriers; None:
    one warp after the other. A negative seed: the last warp goes first. noise: what memory holds that nobody
    wrote.
    Raises UndefinedError where the program does what C++ leaves undefined, UnsupportedError for what is not
    modelled.
    """
    machine = Machine(module, launch, block_index, limit, noise)
    given = {**launch.arguments, **(arguments or {})}
    bx, by, bz = launch.block
    threads = [(x, y, z) for z in range(bz) for y in range(by) for x in range(bx)]
    warps = [
        Warp(number, [machine.start(kernel, index, given) for index in threads[first : first + 32]])
        for number, first in enumerate(range(0, len(threads), 32))
    ]
    requests: list[Request] = []
    while any(warp.running for warp in warps):
        requests += _phase([warp.advance(machine) for warp in warps], shuffled)
        result = _counted([b for warp in warps for b in warp.barriers])
        for warp in warps:
            warp.release(result)
    return requests


def _counted(barriers: list[Barrier]) -> int | None:
    """What a barrier tells all that come to it."""
    votes = {b.vote for b in barriers}
    if votes <= {""}:
        return None
    if len(votes) > 1:
        raise UndefinedError("barriers of several kinds that meet")
    holds = [b.holds for b in barriers]
    return {"or": int(any(holds)), "and": int(all(holds)), "count": sum(holds)}[votes.pop()]


def _phase(turns: list[Iterator[Request]], shuffled: int | None) -> Iterator[Request]:
    """What the warps ask for up to the next barrier."""
    if shuffled is None or shuffled < 0:
        for turn in turns if shuffled is None else reversed(turns):
            yield from turn
        return
    dice = Random(shuffled)
    while turns:
        turn = dice.choice(turns)
        request = next(turn, None)
        if request is None:
            turns.remove(turn)
        else:
            yield request


class Warp:
    """Up to 32 threads; those with the smallest path go first, so that branches meet where they end."""

    def __init__(self, number: int, lanes: list[Flow]) -> None:
        self.number = number
        self._lanes = lanes
        self._waiting: list[Access | Barrier | Exchange | None] = [next(lane, None) for lane in lanes]
        self._last: tuple[int, ...] = ()
        """The latest point that some lane came to."""

    @property
    def running(self) -> bool:
        return any(event is not None for event in self._waiting)

    @property
    def barriers(self) -> list[Barrier]:
        return [event for event in self._waiting if isinstance(event, Barrier)]

    def release(self, result: int | None) -> None:
        """Passes the barrier that its lanes wait at. result: what it tells them."""
        for lane, event in enumerate(self._waiting):
            if isinstance(event, Barrier):
                if event.path < self._last:
                    raise UndefinedError("a barrier that some lanes passed by")
                self._waiting[lane] = _sent(self._lanes[lane], result)

    def advance(self, machine: Machine) -> Iterator[Request]:
        """Runs to the next barrier of the block; the requests on the way."""
        while True:
            ready = [e for e in self._waiting if isinstance(e, Access | Exchange)]
            if not ready:
                return
            first = min(e.path for e in ready)
            self._last = max(self._last, first)
            meeting = [e for e in self._waiting if isinstance(e, Exchange) and e.path == first]
            if meeting:
                if len(meeting) < len(self._lanes):
                    raise UndefinedError("an exchange that some lanes do not come to")
                for lane, result in enumerate(exchanged(meeting)):
                    self._waiting[lane] = _sent(self._lanes[lane], result)
                continue
            group = {
                lane: e for lane, e in enumerate(self._waiting) if isinstance(e, Access) and e.path == first
            }
            yield self._request(group, machine)
            for lane in group:
                self._waiting[lane] = next(self._lanes[lane], None)

    def _request(self, group: dict[int, Access], machine: Machine) -> Request:
        one = next(iter(group.values()))
        offsets: list[int | None] = [None] * 32
        arrays = {machine.memory.find(a.address)[0].name for a in group.values()}
        starts = machine.starts(arrays) if len(arrays) > 1 else dict.fromkeys(arrays, 0)
        for lane, access in group.items():
            found, within = machine.memory.find(access.address)
            offsets[lane] = starts[found.name] + within
            if found.size is not None and not 0 <= access.address - found.base <= found.size - access.width:
                raise UndefinedError(f"{found.name} at {access.address - found.base} of {found.size}")
            if (access.address - found.base) % access.width:
                raise UndefinedError("an access that is not aligned")
        if any((a.op, a.width) != (one.op, one.width) for a in group.values()):
            raise UnsupportedError("lanes that do different things together")
        return Request(
            one.node,
            one.op,
            one.width,
            " or ".join(sorted(arrays)),
            " or ".join(sorted(machine.names[a] for a in arrays)),
            tuple(offsets),
            one.matrices,
            one.via,
            one.path,
            self.number,
        )


def _sent(lane: Flow, result: int | None) -> Access | Barrier | Exchange | None:
    try:
        return lane.send(result)
    except StopIteration:
        return None


class Machine:
    """What the threads of a block share."""

    def __init__(
        self,
        module: Module,
        launch: Launch,
        block_index: tuple[int, int, int],
        limit: int,
        noise: str = "",
    ) -> None:
        self.module = module
        self.launch = launch
        self.block_index = block_index
        self.limit = limit
        self.memory = Memory(noise)
        self.layout = Layout(module, self.constant)
        self.names: dict[str, str] = {}
        self.pure: dict[int, bool] = {}
        self._shared: dict[object, Ref] = {}
        self._arrays: dict[str, Ref] = {}
        """Shared variables by id, in the order of their declarations."""
        self._globals: dict[str, Ref] = {}
        self._thread = Thread(self, (0, 0, 0))
        self._parameters = {
            p.id: p
            for owner in (*module.functions.values(), *module.records.values())
            for p in owner.template
        }

    def start(self, kernel: Function, index: tuple[int, int, int], given: Mapping[str, int]) -> Flow:
        """A thread at the beginning of the kernel."""
        scope = {
            p.id: self.launch.template[p.name] for p in kernel.template if p.name in self.launch.template
        }
        for parameter in kernel.template:
            if parameter.id not in scope:
                scope.update(self.layout.bind((parameter,), (), scope))
        frame = Frame(scope)
        thread = Thread(self, index)
        for parameter in kernel.parameters:
            type_ = self.resolve(parameter.type, scope)
            if isinstance(type_, Scalar):
                ref = self.local(parameter.name, type_)
                if parameter.name not in given and type_.kind != "float":
                    raise UnsupportedError(f"kernel parameter {parameter.name} without a value")
                thread.write(ref, Num(given.get(parameter.name, 1), INT))
            elif isinstance(type_, PointerTo):
                key = f"*{parameter.id}"
                if key not in self._globals:
                    made = self.memory.allocate(parameter.name, None, "global")
                    self._globals[key] = Ref(made.base, type_.to)
                ref = self.local(parameter.name, type_)
                self.memory.store(ref.address, 8, self._globals[key].address)
            else:
                ref = Ref(self.memory.allocate(parameter.name, None, "global").base, type_)
            frame.env[parameter.id] = ref
        return thread.execute(kernel.body, frame)

    # Types and constants

    def is_pack(self, type_: Type) -> bool:
        while isinstance(type_, PointerTo):
            type_ = type_.to
        return (
            isinstance(type_, TypeParam) and type_.id in self._parameters and self._parameters[type_.id].pack
        )

    def resolve(self, type_: Type, scope: Scope) -> Type:
        return self.layout.resolve(type_, scope)

    def resolve_or_auto(self, type_: Type, scope: Scope) -> Type | None:
        """None for `auto`, whose type is that of the value."""
        if isinstance(type_, OpaqueType) or (isinstance(type_, RecordRef) and "(lambda" in type_.name):
            return None
        if isinstance(type_, PointerTo) and isinstance(type_.to, OpaqueType):
            return PointerTo(type_.to, True) if type_.reference else None
        return self.resolve(type_, scope)

    def constant(self, expr: Expr, scope: Scope) -> int:
        """Of an expression that touches no memory of the kernel."""
        flow = self._thread.rvalue(expr, Frame(scope))
        try:
            next(flow)
        except StopIteration as stop:
            if isinstance(stop.value, Num):
                return int(stop.value.value)
        raise UnsupportedError("not a constant")

    def starts(self, arrays: set[str]) -> dict[str, int]:
        """Where static arrays that are neighbours lie, from the start of the first of them.

        Whether an array between others is there at all depends on whether anybody reads it: not modelled.
        """
        declared = [
            (id, *self.layout.size_and_align(ref.type))
            for id, ref in self._arrays.items()
            if isinstance(ref.type, ArrayOf) and ref.type.extent is not None
        ]
        numbers = [i for i, (a, _, _) in enumerate(declared) if a in arrays]
        if len(numbers) < len(arrays) or numbers[-1] - numbers[0] >= len(numbers):
            raise UndefinedError("lanes that access arrays of unknown distance together")
        found: dict[str, int] = {}
        end = 0
        for a, size, align in declared[numbers[0] : numbers[-1] + 1]:
            found[a] = -(-end // align) * align
            end = found[a] + size
        return found

    # Variables and functions

    def local(self, name: str, type_: Type) -> Ref:
        return Ref(self.memory.allocate(name, self.layout.size(type_), "local").base, type_)

    def shared(self, var: Var, scope: Scope) -> Ref:
        """A shared variable of this block, made at its first declaration."""
        key = (var.id, tuple(sorted((k, repr(v)) for k, v in scope.items())))
        if key not in self._shared:
            type_ = self.resolve(var.type, scope)
            unsized = isinstance(type_, ArrayOf) and type_.extent is None
            size = self.launch.dynamic if unsized else self.layout.size(type_)
            made = self.memory.allocate(var.id, size, "shared")
            self.names[var.id] = var.name
            self._shared[key] = self._arrays[var.id] = Ref(made.base, type_)
        return self._shared[key]

    def named(self, expr: Name | StaticMember, scope: Scope, this: Ref | None) -> Ref | Callee | Num:
        """What a name stands for that is no local variable."""
        if isinstance(expr, StaticMember):
            return self.static(self.resolve(expr.owner, scope), expr.name)
        if expr.id in scope:
            value = scope[expr.id]
            if not isinstance(value, int):
                raise UnsupportedError(f"{expr.name} is a type")
            written = self._parameters[expr.id].type if expr.id in self._parameters else None
            type_ = None if written is None else self.resolve_or_auto(written, scope)
            return Num(value, type_ if isinstance(type_, Scalar) else INT)
        if expr.id in self.module.globals:
            return self._global(self.module.globals[expr.id])
        if expr.arguments and expr.name in self.module.variable_templates:
            (made,) = self.module.variable_templates[expr.name]
            return Num(self.constant(made.value, self.layout.bind(made.template, expr.arguments, scope)), INT)
        if expr.id in self.module.functions:
            return Callee(self.module.functions[expr.id], expr.arguments)
        if this is not None:
            record = self.layout.record(this.type)
            if expr.name in record.constants:
                return self.static(this.type, expr.name)
            slot = self.layout.slot(this.type, expr.name)
            return Ref(this.address + slot.offset, slot.type, slot.bits)
        raise UnsupportedError(f"unknown name {expr.name}")

    def _global(self, var: Var) -> Ref:
        if var.storage in ("shared", "extern_shared"):
            return self.shared(var, {})
        if var.id not in self._globals:
            type_ = self.resolve(var.type, {})
            if var.storage == "constant" and var.init is not None:
                ref = self.local(var.name, type_)
                for _ in self._thread.initialise(ref, var.init, Frame({})):
                    raise UnsupportedError("a constant that reads shared memory")
            else:
                ref = Ref(self.memory.allocate(var.name, None, "global").base, type_)
            self._globals[var.id] = ref
        return self._globals[var.id]

    def static(self, owner: Type, name: str) -> Ref | Num:
        if isinstance(owner, RecordRef) and owner.name.startswith("std::") and name == "value":
            return Num(int(_trait(owner.name, owner.arguments)), BOOL)
        record = self.layout.record(owner)
        if name not in record.constants:
            raise UnsupportedError(f"no constant {name} in {record.name}")
        var, scope = record.constants[name], self.layout.scope_of(owner)
        ref = self.local(name, self.resolve(var.type, scope))
        if var.init is None:
            raise UnsupportedError(f"{name} has no value")
        for _ in self._thread.initialise(ref, var.init, Frame(scope)):
            raise UnsupportedError("a constant that reads shared memory")
        return ref

    def methods(self, type_: Type, name: str) -> list[Function]:
        if not isinstance(type_, RecordRef):
            return []
        record = self.layout.record(type_)
        found = [self.module.functions[i] for i in record.methods.get(name, ()) if i in self.module.functions]
        if found:
            return found
        bases = (self.resolve(base, self.layout.scope_of(type_)) for base in record.bases)
        return [f for base in bases for f in self.methods(base, name)]

    def constructors(self, type_: Type, count: int) -> list[Function]:
        if not isinstance(type_, RecordRef):
            return []
        name = type_.name.split("<")[0].rsplit("::", 1)[-1]
        return [f for f in self.methods(type_, name) if takes(f, count)]

    def function(
        self, callee: Name, count: int, this: Ref | None, types: Sequence[Type] = ()
    ) -> Function | None:
        """The function a name calls; None when the module does not define it. types: those of the arguments,
        by which overloads are told apart."""
        if callee.id in self.module.functions:
            return self.module.functions[callee.id]
        if this is not None and (own := self.methods(this.type, callee.name)):
            return self.choose(own, count)
        ids = self.module.overloads.get(callee.name.rsplit("::", 1)[-1], ())
        found = [self.module.functions[i] for i in ids if i in self.module.functions]
        exact = [f for f in found if types and [p.type for p in f.parameters] == [decayed(t) for t in types]]
        return self.choose(exact or found, count) if found else None

    def free(self, name: str) -> list[Function]:
        """Functions of a name outside of classes."""
        found = (self.module.functions.get(i) for i in self.module.overloads.get(name, ()))
        return [f for f in found if f is not None and not f.record]

    def choose(self, functions: list[Function], count: int) -> Function:
        fitting = [f for f in functions if takes(f, count)]
        if len(fitting) != 1:
            raise UnsupportedError(f"{len(fitting)} overloads fit: {[f.name for f in functions]}")
        return fitting[0]

    def type_of_call(self, thread: Thread, expr: Call, frame: Frame) -> Type:
        given = [thread.type_of(a, frame) for a in expr.arguments]
        callee = expr.callee
        if isinstance(callee, Name) and callee.id not in frame.env:
            found = self.function(callee, len(given), frame.this, given if not callee.id else ())
            if found is None:
                return builtins.type_of(callee.name, given)
            arguments = tuple(
                self.resolve(a, frame.scope)
                if isinstance(a, TYPES)
                else Literal(self.constant(a, frame.scope))
                for a in callee.arguments
            )
            scope = self.layout.bind(found.template[: len(arguments)], arguments, {})
            self.layout.deduce(found, given, scope)
            type_ = self.resolve_or_auto(found.returns, scope) or OpaqueType("auto")
        elif isinstance(callee, Member):
            if isinstance(callee.base, Name) and isinstance(frame.env.get(callee.base.id), Group):
                return groups.type_of(callee.name, given)
            owner = thread.type_of(callee.base, frame)
            owner = decayed(owner)
            if callee.arrow and isinstance(owner, PointerTo):
                owner = owner.to
            if callee.name == "operator=":
                return owner
            if not self.methods(owner, callee.name) and self.layout.holds(owner, callee.name):
                return self.type_of_call(thread, replace(expr, callee=Member(callee, "operator()")), frame)
            function = self.choose(self.methods(owner, callee.name), len(given))
            scope = self.layout.bind(
                function.template[: len(callee.arguments)], callee.arguments, self.layout.scope_of(owner)
            )
            type_ = self.resolve_or_auto(function.returns, scope) or OpaqueType("auto")
        elif isinstance(callee, StaticMember):
            owner = self.resolve(callee.owner, frame.scope)
            function = self.choose(self.methods(owner, callee.name), len(given))
            type_ = self.resolve_or_auto(function.returns, self.layout.scope_of(owner)) or OpaqueType("auto")
        else:
            return OpaqueType("call")
        return type_.to if isinstance(type_, PointerTo) and type_.reference else type_


def takes(function: Function, count: int) -> bool:
    required = sum(1 for p in function.parameters if p.init is None)
    return required <= count <= len(function.parameters)


__all__ = ["SHARED", "Request", "run"]


def _trait(name: str, arguments: tuple[object, ...]) -> bool:
    """What a trait of the library tells of numbers."""
    first = arguments[0]
    if not isinstance(first, Scalar):
        raise UnsupportedError(f"{name} of {first}")
    if name == "std::is_same":
        return first == arguments[1]
    told = {"std::is_floating_point": "float", "std::is_unsigned": "uint"}
    if name not in told:
        raise UnsupportedError(name)
    return first.kind == told[name]
