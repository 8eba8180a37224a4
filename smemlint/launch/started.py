"""A start of a kernel in host code, as a record: template, shape, arguments, captures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from smemlint.evaluate.control_flow.settling import conditions_here
from smemlint.evaluate.language.accesses import load
from smemlint.evaluate.language.conversions import as_int, coerce, is_null, operand_of, type_of
from smemlint.evaluate.language.overloads import is_open
from smemlint.evaluate.language.packs import expanded, pack_of
from smemlint.evaluate.machine.dispatch import rvalue
from smemlint.evaluate.machine.machine import Frame, Machine
from smemlint.evaluate.types.matching import Binding, is_type
from smemlint.evaluate.types.number_members import number_members
from smemlint.evaluate.values.host_limits import by_default
from smemlint.evaluate.values.number import Int
from smemlint.evaluate.values.provenance import value_at
from smemlint.evaluate.values.value import (
    VALUES,
    Closure,
    FunctionValue,
    Object,
    Other,
    Pointer,
    RecordValue,
    Value,
)
from smemlint.ir import (
    ArrayOf,
    Expr,
    Function,
    Index,
    InitList,
    LaunchStmt,
    Literal,
    Module,
    Name,
    PointerTo,
    RecordRef,
    TemplateParam,
    TemplateValue,
    Type,
)
from smemlint.ir.types import VOID
from smemlint.ir.walk import walk
from smemlint.launch.addressed import targets
from smemlint.launch.model import Started
from smemlint.launch.open import Candidate, candidates, default_first, is_multiple
from smemlint.launch.overloaded import meant

Shape: TypeAlias = tuple["int | None", "int | None", "int | None"]


def starts_of(m: Machine, s: LaunchStmt) -> Iterator[Started]:
    """Yield what one launch starts: a record for each kernel that its expression may mean. What gives its
    shape is run from right to left, as the compilers of host code that nvcc calls do."""
    kernel = rvalue(m, s.kernel)
    if s.stream is not None:
        rvalue(m, s.stream)
    bytes_ = rvalue(m, s.dynamic) if s.dynamic is not None else Int(0)
    extents = _extents(m, s.block)
    grid = _numbers(m, _extents(m, s.grid))
    values = [v if isinstance(v, VALUES) else rvalue(m, v) for v in expanded(m, s.arguments)]
    if s.array is not None and isinstance(kernel, FunctionValue):
        values = [_behind(m, Index(s.array, Literal(i))) for i in range(_most_parameters(kernel))]
    if not m.anyone():  # what gives the shape threw
        return
    if isinstance(kernel, Pointer):
        kernel = load(m, kernel, s.place)
    one_of = tuple(_functions(kernel))
    led, whole = not any(f.candidates for f in one_of), True
    if led:
        one_of, whole, own = targets(m, s.kernel, len(values))
        led = not own
    overloads = [meant(m, one, values) for one in one_of]
    several = not whole or sum(map(len, overloads)) > 1
    for fits in overloads:
        for f, bound in fits:
            started = _started(m, s, f, bound, values, extents, grid, bytes_)
            # of a table, whichever is started has the block that all have
            open_ = led or len(fits) > 1 or None in started.block
            if several and open_:
                started = replace(started, guessed=True, shape_only=False)
            yield started


def _functions(kernel: Value) -> list[FunctionValue]:
    """The functions that a kernel's expression may mean."""
    every = (kernel, *kernel.others) if isinstance(kernel, FunctionValue) else ()
    return [f for f in every if isinstance(f, FunctionValue)]


def _most_parameters(kernel: FunctionValue) -> int:
    named = [f for one in _functions(kernel) for f in one.candidates]
    return max((len(f.parameters) for f in named), default=0)


def _behind(m: Machine, element: Expr) -> Value:
    """What an element of an array of `void *` points to: all of a variable, or a part of known type."""
    at = rvalue(m, element)
    if not isinstance(at, Pointer):
        return Other()
    whole = at.offset.known and at.offset.const == 0 and not isinstance(at.object.type, ArrayOf)
    t = at.object.type if whole else at.pointee
    return Other() if t == VOID else load(m, replace(at, pointee=t), None)


def _started(
    m: Machine,
    s: LaunchStmt,
    f: Function,
    bound: dict[str, Binding],
    values: Sequence[Value],
    extents: Sequence[Int] | None,
    grid: Shape,
    bytes_: Value,
) -> Started:
    """The launch of one kernel under its template arguments."""
    block = _numbers(m, extents)
    given: dict[str, Int] = {}
    for p, v in zip(f.parameters, values, strict=False):
        n = coerce(m, v, m.types.resolve(p.type, bound)) if isinstance(v, Int) else None
        if isinstance(n, Int):
            given[p.name] = n
        elif isinstance(v, RecordValue):
            given.update(_members(m, p.name, v))
        elif is_null(v if n is None else n):
            given[p.name] = Int(0)
    known = {name: _number(m, v) for name, v in given.items()}
    arguments = {name: number for name, number in known.items() if number is not None}
    likely: tuple[Candidate, ...] = ()
    if None in block and extents is not None:
        dynamic = bytes_ if isinstance(bytes_, Int) else None
        likely = candidates(extents, dynamic, given, m.unknowns.recipes or {}, conditions_here(m))
        likely = _default_first(m, block, extents, likely)
    return Started(
        f, block, likely, grid, _number(m, bytes_), template_arguments(m, f, bound), arguments, s.place,
        _packed(m, f, values), captured(m, values),
        whole=extents is not None and is_multiple(extents[0], 32, m.unknowns.recipes or {}),
    )  # fmt: skip


def _members(m: Machine, name: str, v: RecordValue) -> dict[str, Int]:
    """The numbers in a structure that is passed by value, by their path: `params.pitch`."""
    found: dict[str, Int] = {}
    for path, at, t in number_members(m.types, v.type):
        held = v.cells.get(at)
        if isinstance(held, Int):
            found[f"{name}.{path}"] = as_int(m, coerce(m, held, t))
    return found


def _packed(m: Machine, f: Function, values: Sequence[Value]) -> tuple[tuple[Type, int | None], ...]:
    """What a kernel's parameter pack is given."""
    pack = pack_of(f)
    return tuple((type_of(v), _number(m, v)) for v in values[f.parameters.index(pack) :]) if pack else ()


def captured(m: Machine, values: Sequence[Value]) -> dict[str, tuple[Type, int | None]]:
    """What the lambdas among some values take with them, those that they hold themselves included."""
    found: dict[str, tuple[Type, int | None]] = {}
    queue = list(values)
    for v in queue:
        if isinstance(v, RecordValue):
            queue += [x for x in v.cells.values() if isinstance(x, Closure)]
        if not isinstance(v, Closure) or not isinstance(v.frame, Frame):
            continue
        for id in _named(m.module, v.function.body):
            o = None if id in found else _visible(v.frame, id)
            if o is not None:
                held = o.cells.get(0)
                found[id] = o.type, _number(m, held) if isinstance(held, Int) else None
                queue += [held] if isinstance(held, Closure) else []
                if isinstance(held, Closure) and held.type is not None:
                    found[id] = held.type, None
    return found


def _named(module: Module, body: object) -> list[str]:
    """Ids of what some code names, the members of its own classes included."""
    ids: dict[str, None] = {}
    seen: set[str] = set()
    queue = [body]
    for part in queue:
        for n in walk(part):
            if isinstance(n, Name):
                ids[n.id] = None
            elif isinstance(n, RecordRef) and n.name not in seen and n.name in module.records:
                seen.add(n.name)
                queue += [f.type for f in module.records[n.name].fields]
    return list(ids)


def _visible(frame: Frame | None, id: str) -> Object | None:
    """The object of a variable that a frame or one around it holds."""
    while frame is not None:
        if id in frame.variables:
            return frame.variables[id]
        frame = frame.parent
    return None


def template_arguments(m: Machine, f: Function, bound: Mapping[str, Binding]) -> dict[str, TemplateValue]:
    """Return what the template parameters of a kernel stand for, by name, as far as it is known."""
    template: dict[str, TemplateValue] = {}
    for p in f.template:
        b = bound.get(p.id)
        known = [_template_argument(m, p, x) for x in (b if isinstance(b, tuple) else (b,))]
        told = [x for x in known if x is not None]
        if len(told) == len(known):
            template[p.name] = tuple(told) if isinstance(b, tuple) else told[0]
    return template


def _template_argument(m: Machine, p: TemplateParam, b: Type | Int | None) -> Type | int | None:
    """What one argument is, None where it is not known."""
    if isinstance(b, Int):
        return _number(m, b)
    if p.kind == "template" and isinstance(b, RecordRef):
        return RecordRef(b.name)
    return b if b is not None and is_type(b) and not is_open(b) else None


def _number(m: Machine, v: Value) -> int | None:
    """A number that is known, or follows from the branch that runs."""
    if not isinstance(v, Int):
        return None
    if v.known:
        return v.const if isinstance(v.const, int) else None
    return value_at(v, m.unknowns.given, m.unknowns.recipes or {}) if m.unknowns.given else None


def _default_first(
    m: Machine, block: Shape, extents: Sequence[Int], likely: tuple[Candidate, ...]
) -> tuple[Candidate, ...]:
    """Shapes to try, that of a program which is told nothing before the others."""
    held = conditions_here(m)
    whole = [by_default(v, m.unknowns, held) if n is None else n for n, v in zip(block, extents, strict=True)]
    if len(whole) != 3 or None in whole or any(c.stated for c in likely):
        return likely
    x, y, z = (n or 0 for n in whole)
    same = next((c for c in likely if c.block == (x, y, z)), Candidate((x, y, z), None, {}))
    return default_first(same, likely)


def _numbers(m: Machine, extents: Sequence[Int] | None) -> Shape:
    if extents is None:
        return None, None, None
    x, y, z = (_number(m, v) for v in extents)
    return x, y, z


def _extents(m: Machine, e: Expr | None) -> list[Int] | None:
    """A dim3 expression's three extents."""
    if e is None:
        return None
    if isinstance(e, InitList):
        parts: list[Value] = [rvalue(m, x) for x in e.elements]
    else:
        v = rvalue(m, e)
        if isinstance(v, Pointer) and not isinstance(v.pointee, PointerTo):
            v = load(m, v, None)
        v = operand_of(m, v)
        if isinstance(v, RecordValue):
            # `dim3 block; block.x = n;`: the other extents are 1 unless they were set as well
            rest: Value = Int(1) if 0 in v.cells else Other()
            parts = [v.cells.get(4 * i, rest) for i in range(3)]
        elif isinstance(v, Int):
            parts = [v]
        else:
            return None
    parts = [*parts, *(Int(1) for _ in range(3 - len(parts)))]
    return [as_int(m, p) for p in parts]
