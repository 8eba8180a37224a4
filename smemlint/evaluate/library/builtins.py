"""What CUDA's and C++'s own functions do to addresses, masks and shared memory.

`function` and `method` answer calls without a body in the project, from the table that the modules beside
this one fill: lanes, groups, memory, atomics, wmma. Integer functions are here.
"""

from __future__ import annotations

from collections.abc import Sequence

from smemlint.evaluate.compiler.slow_paths import function_stops, narrow_stops, opaque_stop
from smemlint.evaluate.language.accesses import load, store
from smemlint.evaluate.language.conversions import as_int, coerce
from smemlint.evaluate.language.names import declare_global
from smemlint.evaluate.language.places import offset_pointer
from smemlint.evaluate.language.scale import decided_by_scale
from smemlint.evaluate.library import float_functions, host_runtime, integers, wmma
from smemlint.evaluate.library.atomics import atomic, atomic_method, is_atomic, is_atomic_object
from smemlint.evaluate.library.callables import (
    held_function,
    is_function_object,
    is_thread,
    run_handed,
    started,
)
from smemlint.evaluate.library.containers import (
    contained,
    container_element,
    container_method,
    forget_elements,
    is_container,
)
from smemlint.evaluate.library.cooperative_groups import group_method
from smemlint.evaluate.library.memory import clobber, clobber_referred, escaped, given, is_class, lent
from smemlint.evaluate.library.smart_pointers import is_smart, owning, smart_method
from smemlint.evaluate.library.spans import made_span, span_element, span_method
from smemlint.evaluate.library.text import is_string, string_element, string_made, string_method
from smemlint.evaluate.machine.dispatch import build, lvalue, rvalue, unseen
from smemlint.evaluate.machine.functions import (
    FUNCTIONS,
    Arguments,
    called,
    in_shared,
    named,
    reason_of,
    short_name,
)
from smemlint.evaluate.machine.groups import generalised, is_group
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.model import Unresolved
from smemlint.evaluate.types.layout import LIBRARIES
from smemlint.evaluate.types.library_layout import is_span
from smemlint.evaluate.types.matching import is_type
from smemlint.evaluate.values import affine, floats
from smemlint.evaluate.values import arithmetic as ar
from smemlint.evaluate.values.comparison import extreme
from smemlint.evaluate.values.number import Int, form_of, formed, plus
from smemlint.evaluate.values.value import Method, Other, Pointer, RecordValue, Value, is_uniform
from smemlint.ir import (
    ArrayOf,
    Call,
    Construct,
    Expr,
    InitList,
    Literal,
    Member,
    Module,
    Name,
    PointerTo,
    RecordRef,
    Scalar,
    StaticMember,
    Type,
    Var,
)
from smemlint.ir.expr import OBJECT, UNREAD
from smemlint.ir.memo import by_identity
from smemlint.ir.types import BOOL, DOUBLE, FLOAT, INT, LONG, UINT, ULONG
from smemlint.ir.uses import inputs, unasked
from smemlint.ir.vectors import is_vector, vector_named
from smemlint.patterns import pattern
from smemlint.toolkit.model import Effect
from smemlint.toolkit.table import effect_of, is_of_library
from smemlint.toolkit.warp_names import WARP_SIZE, is_warp_size

_OF_ARRAYS = frozenset(("data", "begin", "cbegin", "end", "cend", "size", "max_size", "empty", "fill"))
MOST_FILLED = 64
"""Elements of an array that `fill` sets one by one."""

_ALONE = (float_functions, integers, wmma)
"""Modules that put their functions into the table when they are imported, and are asked nothing else."""
_BARRIERS = frozenset(
    (
        "cooperative_groups::sync",
        "cooperative_groups::wait",
        "cooperative_groups::wait_prior",
        "cuda::atomic_thread_fence",
        "cuda::pipeline_consumer_wait_prior",
        "cuda::pipeline_producer_commit",
    )
)
"""Of libraries whose functions are not in the toolkit's table."""
_GIVES_DATA = pattern(r"data|ptr|pointer|buffer")
"""Methods with a type in angle brackets that give the address of elements of it."""
_BARRIER_OBJECTS = frozenset(("cuda::init", "init", "cuda::device::barrier_native_handle"))


def function(m: Machine, name: str, arguments: Arguments, e: Call, discarded: bool) -> Value:
    """A call of a function that has no body in the project."""
    value = _function(m, name, arguments, e, discarded)
    opaque_stop(m, name)
    return value


def _function(m: Machine, name: str, arguments: Arguments, e: Call, discarded: bool) -> Value:
    handler = None if _is_of_program(m, e) else FUNCTIONS.get(name) or FUNCTIONS.get(short_name(name))
    told = handler(m, e, arguments, discarded) if handler is not None else None
    if told is not None:
        return told
    if name in _BARRIERS or effect_of(name) is Effect.BARRIER:
        for a in e.arguments:
            lvalue(m, a)
        m.barrier()
        return m.unknowns.value(INT, name)
    if is_atomic(name):
        return atomic(m, e, short_name(name), discarded)
    vector = short_name(name).removeprefix("make_")
    if vector != short_name(name) and vector_named(vector) is not None:
        return build(m, RecordRef(vector), e.arguments, e.place)
    if discarded and not m.host and effect_of(name) is None:
        lent(m, e)
    return _unknown_function(m, e, name, discarded)


def _is_of_program(m: Machine, e: Call) -> bool:
    """Whether a call names what the program declares, and no file defines."""
    if isinstance(e.callee, StaticMember):
        return m.types.record_of(m.resolve(e.callee.owner)) is not None
    return UNREAD in e.lent


def _unknown_function(m: Machine, e: Call, name: str, discarded: bool) -> Value:
    if not e.arguments and is_warp_size(name):
        return Int(WARP_SIZE)
    values = [given(m, a) for a in e.arguments]
    function_stops(m, name, values, e)
    if m.host and (computed := floats.on_host(short_name(name), values)) is not None:
        return computed
    if m.host:
        run_handed(m, e, values)
        if not name.startswith("std::"):
            forget_containers(m, e.arguments)
        _forget_given(m, short_name(name), values, e)
    elif effect_of(name) is not Effect.NONE:  # a function of numbers that is given a pointer is another one
        code, text = _taken_by(name, values)
        for v in values:
            escaped(m, v, code, text, e)
            clobber(v)
        if name.startswith(LIBRARIES):
            clobber_referred(m, e.arguments)
        elif (discarded or _is_unasked(m, e)) and effect_of(name) is None:
            clobber_referred(m, [a for a in e.arguments if not _is_input(m, a)])
        clobber_referred(m, (e.arguments[i] for i in e.lent if 0 <= i < len(e.arguments)))
    uniform = bool(values) and all(is_uniform(v) for v in values)
    text = "is not computed" if effect_of(name) is not None else "is not defined in the files that were read"
    reason = Unresolved("unknown-function", f"`{name or 'a function'}` {text}", e.place)
    return Other(None, uniform, None if uniform else reason_of(values) or reason)


def _is_input(m: Machine, a: Expr) -> bool:
    """Whether an argument is a variable that a function is taken to read, and not to set."""
    f = m.frame.function
    return isinstance(a, Name) and f is not None and a.id in inputs(f)


def _is_unasked(m: Machine, e: Call) -> bool:
    """Whether a call is made for what it does, or says which way to go: `while (next(i))`."""
    return m.frame.function is not None and id(e) in unasked(m.frame.function)


def _forget_given(m: Machine, name: str, values: Sequence[Value], e: Call) -> None:
    """What a function that is not known is given the address of, or a reference to, it may set."""
    lent = [lvalue(m, e.arguments[i]) for i in e.lent if 0 <= i < len(e.arguments)]
    if OBJECT in e.lent and isinstance(e.callee, Member):
        lent.append(rvalue(m, e.callee.base) if e.callee.arrow else lvalue(m, e.callee.base))
    if OBJECT in e.lent or (isinstance(e.callee, Name) and not is_of_library(e.callee.name)):
        held = (declare_global(m, v) for v in exported(m.module))
        lent += [Pointer(o, Int(0), o.type) for o in held if o.storage == "local"]
    host_runtime.forget(m, name, [*values, *lent])


@by_identity
def exported(module: Module) -> tuple[Var, ...]:
    """Give the variables that functions of other files may set."""
    return tuple(v for v in module.globals.values() if v.exported)


def forget_containers(m: Machine, arguments: Sequence[Expr]) -> None:
    """What a function that is not known is handed by its name, it may change."""
    for a in arguments:
        place = lvalue(m, a) if isinstance(a, Name | Member) else None
        if isinstance(place, Pointer):
            forget_elements(place)


def _taken_by(name: str, values: list[Value]) -> tuple[str, str]:
    """The reason's code, and who takes the address."""
    if name in _BARRIER_OBJECTS and any(in_shared(v) for v in values):
        return "barrier-object", f"`{name}`, which makes a barrier object,"
    if name.startswith(LIBRARIES):
        return "library-storage", f"`{name}`, which uses shared memory in its own way,"
    return "unknown-function", f"`{name or 'a function'}`"


# ---------------------------------------------------------------------- objects of library classes


def constructed(m: Machine, t: RecordRef, e: Construct) -> Value | None:
    """A library object that keeps a reference to its argument; None for any other record."""
    if is_atomic_object(t) and short_name(t.name) == "atomic_ref" and len(e.arguments) == 1:
        held = lvalue(m, e.arguments[0])
        return RecordValue(t, {0: held} if isinstance(held, Pointer) else {})
    if is_span(t) and not m.host and (view := made_span(m, t, e.arguments)) is not None:
        return view
    if is_group(t) and short_name(t.name) == "thread_group" and len(e.arguments) == 1:
        group = rvalue(m, e.arguments[0])
        return generalised(m, group, t) if isinstance(group, RecordValue) else None
    if is_smart(t):
        return owning(m, t, e.arguments)
    if m.host and is_string(t):
        return string_made(m, t, e.arguments)
    if m.host and is_container(t):
        return contained(m, t, e.arguments)
    if m.host and is_function_object(t):
        return held_function(m, e)
    if m.host and is_thread(t):
        started(m, e)
        return RecordValue(t, {})
    if t.name.startswith(LIBRARIES) and m.types.layout(t) is None:
        call = Call(e, e.arguments, e.place)
        for a in e.arguments:
            if not isinstance(a, InitList):
                text = f"`{t.name}`, which uses shared memory in its own way,"
                escaped(m, given(m, a), "library-storage", text, call)
        return RecordValue(t, {})
    if m.host or m.types.record_of(t) is not None or m.types.layout(t) is not None:
        return None
    lent(m, Call(e, e.arguments, e.place), t.name)
    if len(e.arguments) == 1:
        p = unseen(m, e.arguments[0], lvalue)
        if isinstance(p, Pointer) and p.object.storage == "shared" and is_class(m, p.pointee):
            escaped(m, p, "unknown-function", f"`{t.name}`", Call(e, e.arguments, e.place))
            return RecordValue(t, {})
    return None


def _is_range(e: Call) -> bool:
    """Whether a loop over a range asks where it begins, or ends."""
    base = e.callee.base if isinstance(e.callee, Member) else None
    return isinstance(base, Name) and base.name == "(range)"


def _end_of_array(m: Machine, v: Method, e: Call) -> Value:
    """Where a loop over a range begins or ends, which is no object with methods of its own."""
    t = v.self.pointee if isinstance(v.self, Pointer) else None
    extent = t.extent if isinstance(t, ArrayOf) else None
    if not isinstance(v.self, Pointer) or not isinstance(t, ArrayOf) or not isinstance(extent, Literal):
        m.note("unknown-statement", "a statement that is not followed: range-based for", e.place)
        return Other()
    start = Pointer(v.self.object, v.self.offset, t.element)
    return start if v.name == "begin" else offset_pointer(m, start, Int(extent.value), e.place)


def method(m: Machine, v: Method, e: Call, discarded: bool) -> Value:
    """A method of a library class, or an operator of a type that is not known."""
    self_type: Type | None = v.self.pointee if isinstance(v.self, Pointer) else v.self.type
    if isinstance(v.self, Pointer) and is_atomic_object(self_type):
        return atomic_method(m, e, v.name, v.self, discarded)
    if v.name == "operator=" and isinstance(v.self, Pointer) and e.arguments:
        value = rvalue(m, e.arguments[0])
        base = getattr(e.callee, "base", None)
        store(m, v.self, coerce(m, value, v.self.pointee), getattr(base, "place", None) or e.place)
        return value
    if is_group(self_type):
        return group_method(m, v.name, v.self, e)
    by_class = smart_method if is_smart(self_type) else None
    if by_class is None and m.host and is_container(self_type):
        by_class = container_method
    if m.host and is_string(self_type):
        by_class = string_method
    told = None if by_class is None else by_class(m, v, e)
    if told is None:
        told = span_method(m, v, e) if is_span(self_type) and not m.host else _elements(m, v, e)
    if told is not None:
        return told
    if v.name in ("begin", "end") and not m.host and _is_range(e):
        return _end_of_array(m, v, e)
    if v.name in ("operator+=", "operator-=", "operator*=", "operator/=") and isinstance(v.self, Pointer):
        place = getattr(getattr(e.callee, "base", None), "place", None) or e.place
        load(m, v.self, place)
        narrow_stops(m, v.self, *(rvalue(m, a) for a in e.arguments))
        store(m, v.self, Other(), place)
        return v.self
    if discarded and not m.host:
        lent(m, e)
    values = [given(m, a) for a in e.arguments]
    if m.host:
        run_handed(m, e, values)
        _forget_given(m, v.name, values, e)
    if isinstance(v.self, Pointer) and v.self.object.storage == "shared":
        _shared_object(m, v, v.self, e)
    elif not m.host:
        _held_by(m, v, e, discarded)
    narrow_stops(m, v.self, *values)
    for x in values:
        escaped(m, x, "unknown-function", f"`.{v.name}`", e)
        if not m.host:
            clobber(x)
    if not m.host and (v.name == "operator()" or not v.name.startswith("operator")):
        clobber_referred(m, e.arguments)
    element = _element_type(m, e) if m.host and not values else None
    if element is not None:
        return m.unknown(PointerTo(element), v.name, uniform=True)
    uniform = all(is_uniform(x) for x in values) and (
        v.self.object.uniform if isinstance(v.self, Pointer) else v.self.uniform
    )
    reason = Unresolved(
        "unknown-function", f"`.{v.name}` is not defined in the files that were read", e.place
    )
    return Other(None, uniform, reason_of(values) or reason)


def _held_by(m: Machine, v: Method, e: Call, discarded: bool) -> None:
    """Say that an unknown method may use the shared arrays whose addresses its object holds. It may set the
    object where clang says so, or it is called for nothing else."""
    if isinstance(v.self, Pointer) and v.self.object.storage == "local":
        for held in v.self.object.cells.values():
            escaped(m, held, "unknown-function", f"`.{v.name}`", e)
        if OBJECT in e.lent or discarded:
            v.self.object.lose()


def _element_type(m: Machine, e: Call) -> Type | None:
    """T of `buffer.data<T>()` in host code: what such methods give points to one."""
    callee = e.callee
    if not isinstance(callee, Member) or not _GIVES_DATA.search(callee.name.lower()):
        return None
    types = [a for a in callee.arguments if is_type(a)]
    return m.resolve(types[0]) if len(types) == 1 and types else None  # type: ignore[arg-type]


def _shared_object(m: Machine, v: Method, p: Pointer, e: Call) -> None:
    """A method of an object in shared memory whose body is not known."""
    name = p.pointee.name if isinstance(p.pointee, RecordRef) else ""
    if v.name.startswith("operator"):
        base = e.callee.base if isinstance(e.callee, Member) else None
        load(m, p, getattr(base, "place", None) or e.place, base)
    elif "barrier" in name:
        m.note("barrier-object", f"`.{v.name}` of a barrier object in shared memory is not scored", e.place)
        m.barrier()
    elif name.startswith(LIBRARIES):
        m.note("library-storage", f"`{name}::{v.name}` uses `{p.object.name}` in its own way", e.place)
    elif not is_vector(p.pointee):
        m.note("unknown-function", f"`.{v.name}` is a method of `{p.object.name}`, in shared memory", e.place)


def element_of(m: Machine, v: Method, e: Call) -> Pointer | None:
    """What `a[i]`, `a.front()` and the like of a library's array name; None for everything else."""
    if not m.host and is_span(v.self.pointee if isinstance(v.self, Pointer) else v.self.type):
        return span_element(m, v, e)
    if not isinstance(v.self, Pointer) or not isinstance(v.self.pointee, RecordRef):
        return None
    if m.host and is_string(v.self.pointee):
        return string_element(m, v, e)
    if m.host and is_container(v.self.pointee):
        return container_element(m, v, e)
    held = array_of(m, v.self)
    if held is None or v.name not in ("operator[]", "at", "front", "back"):
        return None
    first, count = held
    if v.name == "front":
        return first
    if v.name == "back":
        return offset_pointer(m, first, Int(count - 1), e.place)
    return offset_pointer(m, first, as_int(m, rvalue(m, e.arguments[0]), e.place), e.place)


def array_of(m: Machine, p: Pointer) -> tuple[Pointer, int] | None:
    """The first element of a library's array, and how many there are."""
    layout = m.types.layout(p.pointee)
    if layout is None or len(layout.fields) != 1:
        return None
    ((at, held),) = layout.fields.values()
    if not isinstance(held, ArrayOf):
        return None
    count = held.extent.value if isinstance(held.extent, Literal) else 1
    return Pointer(p.object, plus(p.offset, at), held.element), count


def _elements(m: Machine, v: Method, e: Call) -> Value | None:
    """`a.begin()`, `a.size()`, `a.fill(x)` and the like of a library's array."""
    if v.name not in _OF_ARRAYS or not isinstance(v.self, Pointer):
        return None
    held = array_of(m, v.self)
    if held is None:
        return None
    first, count = held
    if v.name in ("end", "cend"):
        return offset_pointer(m, first, Int(count), e.place)
    if v.name in ("size", "max_size"):
        return Int(count, ULONG)
    if v.name == "empty":
        return Int(int(count == 0), BOOL)
    if v.name != "fill":
        return first
    if count > MOST_FILLED or len(e.arguments) != 1:
        return None
    value = coerce(m, rvalue(m, e.arguments[0]), first.pointee)
    for i in range(count):
        store(m, offset_pointer(m, first, Int(i), e.place), value, e.place)
    return Other()


# ---------------------------------------------------------------------- integers


def _extreme(m: Machine, e: Call, pick: str) -> Value:
    values = _operands(m, e)
    if len(values) < 2:
        return values[0] if values else Other()
    if m.host and not called(e).startswith("f"):
        values = _of_one_type(m, values)
    result, guesses = values[0], m.unknowns.guesses
    for v in values[1:]:
        result = smaller_or_larger(m, result, v, pick)
    if m.unknowns.guesses != guesses and not m.host:
        decided_by_scale(m, e, m.unknowns.guessed[-1])
    return result


def _of_one_type(m: Machine, values: list[Value]) -> list[Value]:
    """What code that is not seen gives (`std::min(x.size(1), 512l)`) as a number, beside numbers."""
    t = next((v.type for v in values if isinstance(v, Int)), None)
    if t is None:
        return values
    return [coerce(m, v, t) if isinstance(v, Other) and not _is_float(v) else v for v in values]


def _is_float(v: Other) -> bool:
    return v.value is not None or (isinstance(v.type, Scalar) and v.type.kind == "float")


def _operands(m: Machine, e: Call) -> list[Value]:
    """`min(a, b)` or `min({a, b, c})`; a comparator after two values is evaluated and ignored."""
    if len(e.arguments) == 1 and isinstance(e.arguments[0], InitList):
        return [rvalue(m, a) for a in e.arguments[0].elements]
    values = [rvalue(m, a) for a in e.arguments]
    return values[:2] if len(values) == 3 and not isinstance(values[2], Int | Other) else values


def smaller_or_larger(m: Machine, a: Value, b: Value, pick: str) -> Value:
    """The `min` or `max` of two values."""
    if not (isinstance(a, Int) and isinstance(b, Int)):
        less = floats.compared("<", a, b) if m.host else None
        if less is not None:
            return a if less.const == (pick == "min") else b
        return Other(None, is_uniform(a) and is_uniform(b), reason_of([a, b]))
    result = _decided(m, a, b, pick)
    if a.form is None and b.form is None:
        return result
    return formed(result, affine.limit(pick, form_of(a), form_of(b)))


def _decided(m: Machine, a: Int, b: Int, pick: str) -> Int:
    t = ar.common_type(a.type, b.type)
    a, b = (ar.convert(v, t, m.unknowns) if v.known else ar.in_register(v, m.unknowns) for v in (a, b))
    unknowns = m.unknowns
    keep = unknowns.certain, unknowns.interior, unknowns.rests
    unknowns.rests = unknowns.interior = not m.host and not unknowns.certain
    unknowns.certain = not m.host
    less = ar.compare("<", a, b, unknowns)
    unknowns.certain, unknowns.interior, unknowns.rests = keep
    if less.known:
        return ar.select(less if pick == "min" else ar.logical_not(less, m.unknowns), a, b).typed(t)
    return extreme(pick, a, b, m.unknowns)


@named("min", "umin", "fminf", "fmin", "__vmin", "imin", "llmin", "ullmin", "__min")
def _min(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    return _extreme(m, e, "min")


@named("max", "umax", "fmaxf", "fmax", "imax", "llmax", "ullmax", "__max")
def _max(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    return _extreme(m, e, "max")


@named("clamp", "std::clamp")
def _clamp(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    values = [rvalue(m, a) for a in e.arguments[:3]]
    if len(values) < 3:
        return Other()
    return smaller_or_larger(m, smaller_or_larger(m, values[0], values[1], "max"), values[2], "min")


@named(*(f"std::{name}" for name in ("size", "ssize", "begin", "cbegin", "end", "cend", "data")))
def _of_container(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    """`std::size(x)` and its like: of an array by its extent, of an object by its method of that name."""
    assert isinstance(e.callee, Name)
    if len(e.arguments) != 1:
        return Other()
    name = e.callee.name.removeprefix("std::")
    place = lvalue(m, e.arguments[0])
    t = place.pointee if isinstance(place, Pointer) else None
    if not isinstance(place, Pointer) or not isinstance(t, ArrayOf):
        callee = Member(e.arguments[0], "size" if name == "ssize" else name, place=e.place)
        return rvalue(m, Call(callee, (), e.place))
    if not isinstance(t.extent, Literal):
        return Other()
    if name.endswith("size"):
        return Int(t.extent.value, LONG if name == "ssize" else ULONG)
    start = Pointer(place.object, place.offset, t.element)
    return offset_pointer(m, start, Int(t.extent.value), e.place) if name.endswith("end") else start


def _float_function(name: str) -> None:
    def handler(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
        v = rvalue(m, e.arguments[0]) if e.arguments else Other()
        if isinstance(v, Int):
            if name in ("ceil", "floor", "trunc", "rint"):
                return v
            v = coerce(m, v, FLOAT if called(e) == name + "f" else DOUBLE)
        if isinstance(v, Other):
            t = v.type if isinstance(v.type, Scalar) and v.type.kind == "float" else DOUBLE
            value = None if v.value is None else floats.function(name, v.value, t)
            if value is None:
                function_stops(m, called(e), [v], e)
            return Other(v.type, v.uniform, v.reason, value, made_of=floats.made_of(name, v))
        return v

    for n in (name, name + "f"):
        FUNCTIONS[n] = handler


for _name in ("ceil", "floor", "trunc", "rint", "nearbyint", "sqrt", "log2", "fabs"):
    _float_function(_name)

_TO_INTEGER = {"rn": "rint", "rz": "trunc", "rd": "floor", "ru": "ceil"}


def _float_to_integer(source: str, result: Scalar, short: str, way: str) -> None:
    """`__float2int_rd` and its like."""

    def handler(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
        v = coerce(m, rvalue(m, e.arguments[0]), FLOAT if source == "float" else DOUBLE)
        value = (
            None
            if not isinstance(v, Other) or v.value is None
            else floats.function(_TO_INTEGER[way], v.value)
        )
        made_of = floats.made_of(way, v)
        return coerce(
            m, Other(FLOAT, is_uniform(v), getattr(v, "reason", None), value, made_of=made_of), result
        )

    FUNCTIONS[f"__{source}2{short}_{way}"] = handler


for _source in ("float", "double"):
    for _short, _result in (("int", INT), ("uint", UINT), ("ll", LONG), ("ull", ULONG)):
        for _way in _TO_INTEGER:
            _float_to_integer(_source, _result, _short, _way)


@named(
    "std::move",
    "std::forward",
    "move",
    "forward",
    "__builtin_assume_aligned",
    "__builtin_expect",
    "std::addressof",
    "std::assume_aligned",
)
def _same(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    v = rvalue(m, e.arguments[0]) if e.arguments else Other()
    for a in e.arguments[1:]:
        rvalue(m, a)
    return v
