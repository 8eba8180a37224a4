"""What host code asks of the system: the command line, the device, the end of the program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from smemlint.evaluate.language.accesses import store
from smemlint.evaluate.language.conversions import coerce
from smemlint.evaluate.language.places import field_of
from smemlint.evaluate.machine.dispatch import rvalue
from smemlint.evaluate.machine.functions import Arguments, named, number
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.memory.local_memory import MOST_NUMBERS
from smemlint.evaluate.memory.text import literal, text_in
from smemlint.evaluate.model import Unresolved
from smemlint.evaluate.values.number import Int
from smemlint.evaluate.values.provenance import LARGEST
from smemlint.evaluate.values.value import Cells, FunctionValue, Object, Other, Pointer, Value
from smemlint.ir import ArrayOf, Call, Function, Module, Name, PointerTo, Scalar, Type
from smemlint.ir.memo import by_identity
from smemlint.ir.types import CHAR, INT
from smemlint.ir.walk import names_in, walk

THREADS = 1024
"""Threads that a block can have on every device that CUDA still knows."""
_PROPERTIES: Mapping[str, int] = {
    "maxThreadsPerBlock": THREADS,
    "warpSize": 32,
    "sharedMemPerBlock": 49152,
    "regsPerBlock": 65536,
    "totalConstMem": 65536,
}
_DIMENSIONS: Mapping[str, tuple[int, int, int]] = {
    "maxThreadsDim": (1024, 1024, 64),
    "maxGridSize": (2**31 - 1, 65535, 65535),
}
"""What cudaGetDeviceProperties says of all devices; the rest differs."""
_ATTRIBUTES = {
    1: THREADS,
    2: 1024,
    3: 1024,
    4: 64,
    5: 2**31 - 1,
    6: 65535,
    7: 65535,
    8: 49152,
    9: 65536,
    10: 32,
}
"""The same by cudaDeviceAttr."""
EXITS = ("exit", "_exit", "_Exit", "abort", "quick_exit")
_MEMORY = "memory"
_ALLOCATES = ("cudaMalloc", "cudaHostAlloc", "cuMemAlloc", "cuMemHostAlloc", "posix_memalign")
"""How functions begin that make the pointer whose address they are given first."""
_READS_ONLY = ("cudaMemcpy", "cudaMemset", "cudaLaunch", "MPI_Init")


def command_line(m: Machine, words: Sequence[str] | None) -> tuple[Int, Pointer | None]:
    """argc and argv of a program that is told these words, its own name before them; None: nobody knows."""
    if words is None:
        return m.unknowns.value(INT, "argc", low=1, rank=3), None
    told = Object("argv", "argv", PointerTo(CHAR), "local", uniform=True, havoc=True)
    for i, word in enumerate(("program", *words)):
        told.cells[8 * i] = literal(word)
    return Int(len(words) + 1), Pointer(told, Int(0), PointerTo(CHAR))


def forget(m: Machine, name: str, values: Sequence[Value]) -> None:
    """What unknown code is given the address of, it may set."""
    for i, v in enumerate(values):
        if not isinstance(v, Pointer) or v.object.storage != "local" or v.object.id == "argv":
            continue
        if name.startswith(_READS_ONLY) and (i or not name.startswith(("cudaMemcpy", "cudaMemset"))):
            continue
        size, at = m.types.size_of(v.pointee), number(v.offset)
        o = v.object
        if isinstance(v.pointee, Scalar) and v.pointee.kind == "void":
            size = None
        if isinstance(o.type, ArrayOf):
            size = None  # `fill(numbers, 3)`: the elements behind as well
        room = None if o.id == _MEMORY else m.types.size_of(o.type) or 0
        whole = size is None or at is None or (room is not None and size >= room)
        lost = o.cells if whole else {k: x for k, x in o.cells.items() if at <= k < at + size}  # type: ignore[operator]
        o.cells = Cells({k: x for k, x in o.cells.items() if k not in lost})
        o.havoc = o.uniform = True
        _set_to_anything(m, o, lost, v.pointee, at)
        made = o.type if at == 0 and isinstance(o.type, PointerTo) else v.pointee
        if i == 0 and at is not None and isinstance(made, PointerTo) and name.startswith(_ALLOCATES):
            o.cells[at] = Pointer(Object(f"allocated:{o.name}", o.name, made.to, "global"), Int(0), made.to)


def _set_to_anything(m: Machine, o: Object, lost: Mapping[int, Value], pointee: Type, at: int | None) -> None:
    """Cells that hold numbers nobody knows, in the place of what is lost: where ways meet, a cell that is not
    there would be what another way has in it."""
    types: dict[int, Type] = {k: t for k, x in lost.items() if (t := _type_of_cell(x)) is not None}
    if at is not None and isinstance(pointee, Scalar) and pointee.kind != "void":
        types.setdefault(at, pointee)
    for k, t in types.items() if len(types) <= MOST_NUMBERS else ():
        reason = Unresolved("untracked-local", f"`{o.name}` has a value that is not followed")
        o.cells[k] = m.unknown(t, o.name, uniform=True, reason=reason, rank=3, size=True)


def _type_of_cell(v: Value) -> Type | None:
    """The type of a cell that has one of its own."""
    return PointerTo(v.pointee) if isinstance(v, Pointer) else v.type if isinstance(v, Int | Other) else None


def _told_nothing(m: Machine, e: Call) -> bool:
    return bool(e.arguments) and number(rvalue(m, e.arguments[0])) == 1


@named("getopt", "getopt_long")
def _option(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    return Int(-1) if _told_nothing(m, e) else m.unknowns.value(INT, "option")


@named("checkCmdLineFlag", "getCmdLineArgumentInt", "getCmdLineArgumentString")
def _flag(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    return Int(0) if _told_nothing(m, e) else m.unknowns.value(INT, "flag")


_SETTING = frozenset(("setenv", "putenv"))
_READING = ("getenv", "secure_getenv", "std::getenv")


@by_identity
def _environment(module: Module) -> frozenset[str]:
    """What a program calls that reads or sets variables of its environment."""
    bodies = (f.body for f in module.functions.values() if f.side != "device")
    called = (n.callee for body in bodies for n in walk(body) if isinstance(n, Call))
    return frozenset(c.name for c in called if isinstance(c, Name) and c.name in {*_SETTING, *_READING})


def asks(module: Module, main: Function) -> bool:
    """Whether a program looks at its command line or its environment."""
    told = {p.id for p in main.parameters[:2]}
    return not told.isdisjoint(names_in(main.body)) or not _environment(module).isdisjoint(_READING)


def _is_told(m: Machine) -> bool:
    """Whether the program that runs may be told something."""
    main = next((f for f in m.frames if f.function is not None and f.function.name == "main"), None)
    parameters = main.function.parameters if main is not None and main.function is not None else ()
    argc = main.variables[parameters[0].id].cells.get(0) if main is not None and parameters else None
    return isinstance(argc, Int) and not argc.known


@named(*_READING)
def _variable(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    """A null pointer: no variable is set where the program is told nothing and sets none itself."""
    for a in e.arguments:
        rvalue(m, a)
    if m.host and (_is_told(m) or not _environment(m.module).isdisjoint(_SETTING)):
        return m.unknown(PointerTo(CHAR), "getenv", uniform=True)
    return coerce(m, Int(0), PointerTo(CHAR)) if m.host else Other()


@named(*EXITS)
def _exit(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    if m.host:
        leave_program(m)
    return Other()


def leave_program(m: Machine) -> None:
    """Nothing behind this runs, here and in the callers; an exception is taken to end the program as well."""
    m.frame.outcome = replace(m.frame.outcome, exited=True)
    m.must, m.may = m.threads.nobody, m.threads.nobody


@named("cudaGetDeviceProperties")
def _properties(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    values = [rvalue(m, a) for a in e.arguments]
    forget(m, "", values[:1])
    for name, value in _PROPERTIES.items():
        _set_field(m, values[0], name, (value,))
    for name, extents in _DIMENSIONS.items():
        _set_field(m, values[0], name, extents)
    return Other()


def _set_field(m: Machine, record: Value, name: str, numbers: Sequence[int]) -> None:
    place = field_of(m, record, name, None)
    if not isinstance(place, Pointer) or place.object.storage != "local":
        return
    at = number(place.offset)
    element = getattr(place.pointee, "element", place.pointee)
    size = m.types.size_of(element)
    if at is not None and size is not None:
        for i, n in enumerate(numbers):
            place.object.cells[at + i * size] = coerce(m, Int(n), element)


@named("cudaDeviceGetAttribute")
def _attribute(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    values = [rvalue(m, a) for a in e.arguments]
    known = _ATTRIBUTES.get(number(values[1]) or 0) if len(values) > 1 else None
    forget(m, "", values[:1])
    if known is not None and isinstance(values[0], Pointer):
        store(m, values[0], Int(known), None)
    return Other()


@named("cudaOccupancyMaxPotentialBlockSize", "cudaOccupancyMaxPotentialBlockSizeVariableSMem")
def _largest_block(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    """The runtime chooses: whole warps, at most what a block can have and what the caller allows."""
    values = [rvalue(m, a) for a in e.arguments]
    forget(m, "", values[:2])
    limit = number(values[4]) if len(values) > 4 else None
    high = min(limit, THREADS) if limit else THREADS
    if len(values) > 1 and isinstance(values[1], Pointer):
        size = m.unknowns.fresh("block size", low=1, high=high, rank=3)
        if m.unknowns.recipes is not None:
            m.unknowns.recipes[size.order] = (LARGEST, Int(high), Int(0))
        store(m, values[1], Int(0, INT, {(size,): 1}), None)
    return Other()


@named("cuModuleGetFunction")
def _found_by_name(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    """The kernel of a name, as it is written or as the compiler makes it of one without a template."""
    values = [rvalue(m, a) for a in e.arguments]
    name = text_in(values[2]) if len(values) > 2 else None
    kernels = [f for f in m.module.functions.values() if f.side == "kernel" and not f.template]
    meant = [f for f in kernels if name == f.name or (name or "").startswith(f"_Z{len(f.name)}{f.name}")]
    if m.host and isinstance(values[0], Pointer):
        store(m, values[0], FunctionValue(meant[0].name, (meant[0],)) if len(meant) == 1 else Other(), None)
    return Int(0)


@named("malloc", "calloc", "std::malloc", "std::calloc")
def _allocated(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    """Memory of the host: what is written to it at known places is known."""
    for a in e.arguments:
        rvalue(m, a)
    if not m.host:
        return Other()
    o = Object(_MEMORY, _MEMORY, CHAR, "local", uniform=True, havoc=True)
    return Pointer(o, Int(0), CHAR)
