"""Inlining: the body of a device function or lambda runs in a frame of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from smemlint.evaluate.analysis.arms.pointer_selects import Moves
from smemlint.evaluate.control_flow.join_points import meet, one_of
from smemlint.evaluate.control_flow.launch_choices import effects, either_value, meet_ways
from smemlint.evaluate.language.accesses import escape, store
from smemlint.evaluate.language.conversions import as_base, coerce, type_of
from smemlint.evaluate.language.initialisers import value_for
from smemlint.evaluate.language.lifetimes import endings
from smemlint.evaluate.language.meant import among, choices_here, is_open, meant, of_given
from smemlint.evaluate.language.names import resolve_arguments
from smemlint.evaluate.language.overloads import best_fits, specialisation, takes
from smemlint.evaluate.language.packs import FORWARDS, expanded, pack_of
from smemlint.evaluate.language.places import field_of, place_of
from smemlint.evaluate.machine.dispatch import begun, build, lvalue, run, rvalue, unseen
from smemlint.evaluate.machine.machine import Frame, Machine, instance_of
from smemlint.evaluate.machine.state import Outcome
from smemlint.evaluate.memory.local_memory import write_cell
from smemlint.evaluate.model import Unresolved
from smemlint.evaluate.types.bases import base_called, bases_of, owner_of
from smemlint.evaluate.types.matching import Binding, Bindings
from smemlint.evaluate.values.number import Int, plus
from smemlint.evaluate.values.objects import begin_with, temporary
from smemlint.evaluate.values.value import (
    VALUES,
    Cells,
    Closure,
    FunctionValue,
    Object,
    Other,
    Pointer,
    RecordValue,
    Value,
    led_to,
)
from smemlint.ir import (
    Call,
    Cast,
    Construct,
    Expr,
    Function,
    InitList,
    Member,
    Name,
    OpaqueType,
    Place,
    PointerTo,
    RecordRef,
    Scalar,
    TemplateArgument,
    Type,
    Var,
)
from smemlint.ir.memo import by_identity
from smemlint.ir.types import is_reference, referred
from smemlint.records import record

MAX_DEPTH = 48
NESTED = 3
RECURSION, LONG_RECURSION = 1_000, 4_000
"""A function that is in progress NESTED times, under the same template arguments, is not entered once more
when this many evaluation steps were made since it was entered first; one that is in progress at all, when
the second number was. A lambda may nest twice as deep."""


MOVES = ("std::move", "move", "cuda::std::move")


@record(frozen=True, slots=True)
class Reference:
    """What a function that returns a reference hands back."""

    place: Pointer


def invoke(
    m: Machine,
    candidates: Sequence[Function],
    arguments: Sequence[Expr | Value],
    explicit: Sequence[TemplateArgument | Int],
    this: Pointer | None,
    place: Place | None,
    outer: Bindings | None = None,
) -> Value | Reference | None:
    """Inline the first candidate that fits; None when none does."""
    arguments = expanded(m, arguments)
    known = among(m, choices_here(m, place), candidates)
    candidates = meant(m, candidates, known)
    device = [f for f in candidates if f.side != "host"] if not m.host else list(candidates)
    fitting = takes(device, len(arguments)) or _otherwise(m, device, len(arguments))
    if not fitting:
        return None
    if m.effort.depth >= MAX_DEPTH:
        m.note("recursion", f"`{fitting[0].name}` calls itself too deeply", place)
        forget_given(this, arguments)
        return Other(reason=Unresolved("recursion", f"`{fitting[0].name}` recurses", place))
    references = [all(_by_reference(f, i) for f in fitting) for i in range(len(arguments))]
    values: list[Value] = []
    for a, by_reference in zip(arguments, references, strict=True):
        if isinstance(a, VALUES):
            values.append(a)
        elif isinstance(a, InitList):
            values.append(Other())
        elif by_reference:
            values.append(place_of(m, a))
        else:
            values.append(begun(m, a) if _by_value(fitting, len(values)) else rvalue(m, a))
    plain = [o for v in values if isinstance(v, Pointer) for o in _not_volatile(v)]
    if len({c.id for c in known}) > 1:
        types = [
            v.pointee if r and isinstance(v, Pointer) else type_of(v)
            for v, r in zip(values, references, strict=True)
        ]
        known = of_given(m, known, types)
        fitting = meant(m, device, known) if known and not is_open(known, bool(explicit)) else []
    fits = best_fits(m, fitting, explicit, values, this, outer)
    if not fits:
        return None
    f, bound = fits[0]
    for i, a in enumerate(arguments):
        if references[i] or isinstance(a, VALUES) or not isinstance(values[i], RecordValue):
            continue
        p = _parameter_at(f, i)
        if p is not None and is_reference(p.type):
            values[i] = named_place(m, a) or values[i]
    special = specialisation(m, f, bound)
    if special is not None:
        f, bound = special
    elif f.declared:
        return _unread(m, f, values, this, place) if f.is_constructor else None
    same = id(f), instance_of(bound)
    since, depth = m.effort.entered.get(same, (m.effort.steps, 0))
    nested = NESTED if m.frame.function is not None else 2 * NESTED
    spent = m.effort.steps - since
    if depth and spent > (RECURSION if depth >= nested else LONG_RECURSION):
        m.note("recursion", f"`{f.name}` calls itself too often", place)
        forget_given(this, values)
        return Other(reason=Unresolved("recursion", f"`{f.name}` recurses", place))
    m.effort.entered[same] = since, depth + 1
    try:
        result = _run_function(m, f, bound, arguments, values, this, place)
        if not isinstance(result, Pointer):
            for o in plain:  # only the callee went to them as volatile
                o.volatile = False
        return result
    finally:
        m.effort.entered[same] = since, depth
        if not depth:
            del m.effort.entered[same]


def _unread(
    m: Machine, f: Function, values: Sequence[Value], this: Pointer | None, place: Place | None
) -> Value:
    """What a constructor that no file defines does: the object is not known, nor what it may set."""
    reason = Unresolved("unknown-function", f"`{f.name}` is not defined in the files that were read", place)
    for v in (this, *values):
        if isinstance(v, Pointer) and v.object.storage == "shared":
            escape(v)
            m.note(reason.code, f"`{f.name}` is given the address of `{v.object.name}`", place)
    forget_given(this, [v for v, p in zip(values, f.parameters, strict=False) if not p.const])
    return Other(reason=reason)


def _otherwise(m: Machine, candidates: Sequence[Function], count: int) -> list[Function]:
    """Functions that do not name so many parameters: of the host those with more, of which nobody knows the
    rest; of the device the only one with less, which ends with `...`."""
    if m.host:
        return [f for f in candidates if len(f.parameters) > count]
    fewer = [f for f in candidates if len(f.parameters) < count]
    return fewer if len(fewer) == 1 else []


def forget_given(this: Pointer | None, values: Sequence[object]) -> None:
    """What a call that is not followed may set is unknown behind it."""
    for v in (this, *values):
        if isinstance(v, Pointer) and v.object.storage == "local":
            v.object.cells, v.object.havoc = Cells(), True


def _by_value(fitting: Sequence[Function], index: int) -> bool:
    """Whether no function takes the argument by reference."""
    return not any(_by_reference(f, index) for f in fitting)


def _by_reference(f: Function, index: int) -> bool:
    """Whether a function takes an argument by reference."""
    own, others = _references(f)
    return own[index] if index < len(own) else others


@by_identity
def _references(f: Function) -> tuple[tuple[bool, ...], bool]:
    """Which parameters of a function are references, and whether its pack is one of them."""
    pack = pack_of(f)
    return tuple(is_reference(p.type) for p in f.parameters), pack is not None and is_reference(pack.type)


def named_place(m: Machine, e: Expr) -> Pointer | None:
    """The local variable that `a` or `std::move(a)` names; None of anything else."""
    while isinstance(e, Cast) or (isinstance(e, Call) and len(e.arguments) == 1):
        if isinstance(e, Call) and not (isinstance(e.callee, Name) and e.callee.name in (*MOVES, *FORWARDS)):
            return None
        e = e.operand if isinstance(e, Cast) else e.arguments[0]
    place = lvalue(m, e) if isinstance(e, Name) else None
    return place if isinstance(place, Pointer) and place.object.storage == "local" else None


def _not_volatile(p: Pointer) -> list[Object]:
    if p.object.storage != "shared":
        return []
    return [o for o in (p.object, *led_to(p.object)) if not o.volatile]


def _run_function(
    m: Machine,
    f: Function,
    bindings: Bindings,
    arguments: Sequence[Expr | Value],
    values: Sequence[Value],
    this: Pointer | None,
    place: Place | None,
) -> Value | Reference:
    if this is not None and f.record is not None:
        owner = owner_of(m.types, this.pointee, f.record)
        if owner is not None:
            this = Pointer(this.object, plus(this.offset, owner[0]), owner[1])
    frame = Frame(bindings, f, this, None, call=place, arguments=tuple(arguments))
    objects: list[Object] = []
    pack = pack_of(f)
    for i, parameter in enumerate(f.parameters):
        t = m.types.resolve(parameter.type, bindings)
        if parameter is pack:
            frame.packs[parameter.id] = tuple(_parameter(parameter, _held_type(t, v), v) for v in values[i:])
            continue
        if i < len(values):
            v = _listed(m, arguments[i], t) or values[i]
            if is_reference(t):
                if not isinstance(v, Pointer) or v.integer is not None:
                    v = _boxed(v)
                if isinstance(v, Pointer):
                    v = as_base(m, v, t)
            else:
                v = value_for(m, t, v)
        else:
            m.frames.append(frame)
            v = coerce(m, rvalue(m, parameter.init), t) if parameter.init is not None else Other(t)
            m.frames.pop()
        objects.append(_parameter(parameter, t, v))
    for o in objects:
        frame.variables[o.id] = o
    m.enter(frame, f)
    frame.ahead.last = m.frame.ahead.ending
    frame.live += [o for o in objects if endings(m, o.type)]
    return _run_body(m, frame, lambda: run(m, f.body), f)


def _listed(m: Machine, a: Expr | Value, t: Type) -> Value | None:
    """What a parameter of resolved type t is made of by a braced list. None: it is given something else."""
    if not isinstance(a, InitList):
        return None
    made = referred(t)
    return None if isinstance(made, OpaqueType) else build(m, made, a.elements, a.place)


def _parameter_at(f: Function, index: int) -> Var | None:
    """The parameter that takes an argument; a pack takes all that are left."""
    if index < len(f.parameters):
        return f.parameters[index]
    return pack_of(f)


def _held_type(t: Type, v: Value) -> Type:
    """The type of one element of a pack whose parameter has type t."""
    if is_reference(t) and isinstance(v, Pointer) and v.integer is None:
        return PointerTo(v.pointee, reference=True)
    return type_of(v)


def _parameter(parameter: Var, t: Type, v: Value) -> Object:
    """The object of a parameter of resolved type t that was given v."""
    if isinstance(t, OpaqueType) and not (isinstance(v, Other) and v.type is None):
        t = type_of(v)
    elif isinstance(t, PointerTo) and isinstance(t.to, OpaqueType) and isinstance(v, Pointer):
        t = PointerTo(v.pointee, t.reference, t.volatile, t.moves)
    o = Object(parameter.id, parameter.name, t, "local", parameter)
    begin_with(o, v, open_=True)
    return o


def _boxed(v: Value) -> Value:
    """A temporary that a reference can bind to."""
    return v if isinstance(v, Closure | FunctionValue) else temporary(v, type_of(v), open_=True)


def run_closure(m: Machine, c: Closure, e: Call, want_place: bool) -> Value | Reference:
    """Inline a lambda, in the frame that it was made in. A parameter that is given nothing is not known."""
    if m.effort.depth >= MAX_DEPTH:
        return Other()
    parent = c.frame
    assert isinstance(parent, Frame)
    bindings = _lambda_bindings(m, c, e, parent.bindings)
    frame = Frame(bindings, None, c.this or parent.this, parent, call=e.place, place=want_place)
    frame.variables.update(c.captured)
    if c.function.returns is not None:
        frame.returns = m.types.resolve(c.function.returns, bindings)
    frame.slice, frame.instance = parent.slice, parent.instance
    pack = pack_of(c.function)
    given = expanded(m, e.arguments)
    for i, parameter in enumerate(c.function.parameters):
        t = m.types.resolve(parameter.type, bindings)
        passed = given[i:] if parameter is pack else given[i : i + 1]
        if not passed and parameter.init is not None:
            passed = [parameter.init]
        taken = [_argument_for(m, a, t if parameter is not pack or is_reference(t) else None) for a in passed]
        if parameter is pack:
            frame.packs[parameter.id] = tuple(_parameter(parameter, _held_type(t, v), v) for v in taken)
        elif taken:
            frame.variables[parameter.id] = _parameter(parameter, t, taken[0])
        else:
            frame.variables[parameter.id] = set_outside(m, parameter.id, parameter.name, t, parameter)
    return _run_body(m, frame, lambda: run(m, c.function.body), None)


def set_outside(m: Machine, id: str, name: str, t: Type, var: Var | None, known: int | None = None) -> Object:
    """A variable of resolved type t that code set which does not run here: to a known number, or to what
    nobody knows."""
    o = Object(id, name, t, "local", var, uniform=True, havoc=True)
    if known is not None and isinstance(t, Scalar):
        o.cells[0] = Int(known, t)
        return o
    v = m.unknown(t, name, uniform=True, rank=3, size=True)
    if not isinstance(v, RecordValue):
        o.cells[0] = v
    return o


def _argument_for(m: Machine, a: Expr | Value, t: Type | None) -> Value:
    """What a parameter of a lambda, of resolved type t, is given; None: each of a pack has its own type."""
    if t is not None and is_reference(t):
        at = place_of(m, a) if not isinstance(a, VALUES) else a if isinstance(a, Pointer) else _boxed(a)
        return as_base(m, at, t) if isinstance(at, Pointer) else at
    if t is not None and (listed := _listed(m, a, t)) is not None:
        return listed
    v = a if isinstance(a, VALUES) else begun(m, a)
    return v if t is None else coerce(m, v, t)


def _lambda_bindings(m: Machine, c: Closure, e: Call, outer: Bindings) -> Bindings:
    """The template arguments that a call of a lambda writes (`f.operator()<128>()`) or its values tell."""
    template = c.function.template
    if not template:
        return outer
    bindings: dict[str, Binding] = dict(outer)
    if isinstance(e.callee, Member):
        for p, x in zip(template, resolve_arguments(m, e.callee.arguments), strict=False):
            bindings[p.id] = x
    for parameter, a in zip(c.function.parameters, e.arguments, strict=False):
        deduced: dict[str, Binding] = {}
        found = type_of(a if isinstance(a, VALUES) else unseen(m, a))
        if m.types.patterns.match(parameter.type, found, deduced):
            bindings = {**deduced, **bindings}
    return bindings


def _run_body(m: Machine, frame: Frame, body: Callable[[], None], f: Function | None) -> Value | Reference:
    must, may, way = m.must, m.may, m.context.way
    around, m.context.left = m.context.left, m.departures()
    loops, m.context.loops = m.context.loops, []
    frame.end = m.join()
    frame.looped = m.frame.looped or any(not exits.switch and not exits.label for exits in loops)
    m.frames.append(frame)
    m.effort.depth += 1
    ended = False
    try:
        if f is not None and (f.initialisers or f.is_constructor):
            _initialise_members(m, f)
        body()
        for o in reversed(frame.live):
            end_life(m, o)
        ended = frame.outcome.exited and frame.outcome.returned is None and not m.anyone()
        _meet_returns(m, frame)
    finally:
        m.effort.depth -= 1
        m.frames.pop()
        m.context.loops, m.context.left = loops, around
        m.must, m.may, m.context.way = must, may, way
    if ended:
        m.frame.outcome = Outcome(m.frame.outcome.returned, m.frame.outcome.result, True)
        m.must, m.may = m.threads.nobody, m.threads.nobody
    result = frame.outcome.result
    if result is None:
        return Other()
    by_reference = frame.names_place if f is None else is_reference(f.returns)
    if by_reference and isinstance(result, Pointer):
        return Reference(result)
    return result


def end_life(m: Machine, o: Object) -> None:
    """Run the destructors of an object, of its members and its bases."""
    for at, t, f in endings(m, o.type):
        if m.anyone():
            invoke(m, [f], (), (), Pointer(o, Int(at), t), f.place)


def _meet_returns(m: Machine, frame: Frame) -> None:
    """Join the states that the ways out of a function left behind, and what they return."""
    assert frame.end is not None
    ways = frame.end.ways
    selectors = meet(m, frame.end)
    brought = [
        (c, way.may, way.value) for c, way in zip(selectors, ways, strict=True) if way.value is not None
    ]
    result = frame.outcome.result
    if brought:
        around, m.context.moves = m.context.moves, Moves.PERHAPS
        result = one_of(m, brought, result if result is not None else brought[-1][2], frame.end.kept)
        m.context.moves = around
    if frame.end.decisions:
        name = frame.function.name if frame.function is not None else ""
        if result is not None:
            result = either_value(m, frame.end.decisions, result, [None], name)
        if frame.function is not None:
            own = {o.id for o in frame.variables.values() if is_reference(o.type)}
            outputs = own & effects(frame.function.body).assigned
            meet_ways(m, (frame.end.decisions, name), {}, outputs, [None])
    frame.outcome = Outcome(frame.outcome.returned, result, frame.outcome.exited)


def _in_order(m: Machine, f: Function, t: Type) -> Sequence[tuple[str, Expr]]:
    """What a constructor begins its parts as: bases, then members in the order of their declarations, those
    that it does not name as their own initialisers say."""
    given = dict(f.initialisers)
    found = m.types.record_of(t)
    if found is None:
        return f.initialisers
    handed = given.get(f.name)
    base = isinstance(handed, Construct) and isinstance(handed.type, RecordRef) and handed.type != t
    if handed is not None and not base:  # another constructor makes all of it
        return f.initialisers
    fields = {field.name: field.init for field in found[0].fields if field.name}
    if found[0].union and given:
        return f.initialisers
    members = [(name, given.get(name, init)) for name, init in fields.items()]
    others = [x for x in f.initialisers if x[0] not in fields]
    return [*others, *((name, init) for name, init in members if init is not None)]


def _initialise_members(m: Machine, f: Function) -> None:
    this = m.frame.this
    if this is None:
        return
    layout = m.types.layout(this.pointee)
    for name, init in _in_order(m, f, this.pointee):
        field = layout.fields.get(name) if layout is not None else None
        start = this.offset.const
        if field is not None and is_reference(field[1]) and isinstance(start, int) and not this.offset.terms:
            # `View(float &x) : at(x) {}` binds, and reads nothing.
            write_cell(m, this.object, start + field[0], place_of(m, init), field[1])
            continue
        target = (None if field is not None else _base_of(m, this, name)) or field_of(m, this, name, None)
        if isinstance(target, Pointer):
            at = getattr(init, "place", None) or f.place
            if this.object.storage != "local" and isinstance(init, Construct | InitList):
                begin_at(m, target, (init,), True, at)
            else:
                store(m, target, value_for(m, target.pointee, init), at)


def begin_at(m: Machine, p: Pointer, values: Sequence[Expr], told: bool, place: Place | None) -> None:
    """Set an object that begins at a place: by a constructor, else all of it (told: as what), or what the own
    initialisers of its members say."""
    t, one = p.pointee, values[0] if len(values) == 1 else None
    if isinstance(one, InitList):
        values = one.elements
    elif isinstance(one, Construct) and m.resolve(one.type) == t:
        values = one.arguments
    found = m.types.record_of(t) if isinstance(t, RecordRef) else None
    layout = m.types.layout(t) if isinstance(t, RecordRef) else None
    if found is None or layout is None or not isinstance(t, RecordRef):
        if told:
            store(m, p, value_for(m, t, values[0] if values else InitList(())), place)
        return
    functions = [m.module.functions[i] for i in found[0].constructors if i in m.module.functions]
    functions = takes([f for f in functions if m.host or f.side != "host"], len(values))
    if not functions and (values or (told and not found[0].constructors)):
        store(m, p, build(m, t, tuple(values), place), place)
        return
    begun_as = {name for f in functions for name, _ in f.initialisers}
    bases = [base_called(m.types, t, name) for name in begun_as]
    parts: list[tuple[Type, int]] = [(base, at) for base, at, _ in bases_of(m.types, t) if base not in bases]
    own = [(f, *layout.fields[f.name]) for f in found[0].fields if f.name in layout.fields]
    parts += [(ft, at) for f, at, ft in own if f.init is None and f.name not in begun_as]
    for part, at in parts:
        if isinstance(part, RecordRef):
            begin_at(m, Pointer(p.object, plus(p.offset, at), part), (), False, place)
    if functions:
        invoke(m, functions, list(values), (), p, place)
        return
    for f, at, ft in own:
        if f.init is not None:
            store(m, Pointer(p.object, plus(p.offset, at), ft), value_for(m, ft, f.init), place)


def _base_of(m: Machine, this: Pointer, name: str) -> Pointer | None:
    """The part of an object that a constructor names: a base of its class, or, where it hands on to another
    constructor, all of it."""
    found = m.types.record_of(this.pointee)
    layout = m.types.layout(this.pointee)
    if found is None or layout is None:
        return None
    if found[0].name.rsplit("::", 1)[-1] == name:
        return this
    base = base_called(m.types, this.pointee, name) if isinstance(this.pointee, RecordRef) else None
    at = layout.bases.get(base) if base is not None else None
    return None if base is None or at is None else Pointer(this.object, plus(this.offset, at), base)
