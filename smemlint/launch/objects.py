"""What host functions that nothing calls are run on: objects of their class, parameters with defaults."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from smemlint.evaluate.kernel import unknown_setting
from smemlint.evaluate.language.conversions import is_null
from smemlint.evaluate.language.initialisers import value_for
from smemlint.evaluate.language.names import declare_global, leave_members_to_others
from smemlint.evaluate.machine.machine import BudgetExceededError, Machine
from smemlint.evaluate.run.construction import construct
from smemlint.evaluate.values.host_limits import one_set
from smemlint.evaluate.values.number import Int
from smemlint.evaluate.values.provenance import ONE_OF
from smemlint.evaluate.values.value import Object, Pointer, RecordValue, Value
from smemlint.ir import (
    Call,
    Function,
    Module,
    Name,
    Record,
    RecordRef,
    Scalar,
    TemplateArgument,
    TypeParam,
    Var,
)
from smemlint.ir.types import INT, element_type, own_name, primary_name
from smemlint.ir.walk import nodes_of, walk

Instance: TypeAlias = "tuple[TemplateArgument, ...]"
DEEPEST = 8
"""Bases of bases that are looked at."""
MOST_INSTANCES = 8
"""Instances of one class template whose methods are run."""


def class_instances(
    module: Module, functions: Iterable[Function]
) -> Mapping[str, list[tuple[TemplateArgument, ...]]]:
    """Template arguments of the classes of some methods: instantiated in so many words, or named by host
    code, another class or a variable."""
    wanted = {f.record for f in functions if f.record is not None}
    wanted = {name for name in wanted if name in module.records and module.records[name].template}
    found: dict[str, dict[tuple[TemplateArgument, ...], None]] = {name: {} for name in wanted}
    if not found:
        return {}
    of: dict[str, list[str]] = {}
    for name in wanted:
        of.setdefault(primary_name(name), []).append(name)
    for primary, arguments in module.explicit_records:
        for name in of.get(primary, ()):
            found[name][arguments] = None
    for n in _types_named(module):
        if isinstance(n, RecordRef) and n.name in of and n.arguments and is_closed(n.arguments):
            for name in of[n.name]:
                found[name][n.arguments] = None
    return {name: list(instances)[:MOST_INSTANCES] for name, instances in found.items()}


def in_class_instances(module: Module, f: Function, arguments: Instance) -> list[Instance]:
    """What template arguments that a method names are in each instance of its class; as they are written
    where they are no parameters of it, or no instance is known."""
    record = module.records.get(f.record or "")
    if record is None or not record.template or is_closed(arguments):
        return [arguments]
    of = [p.id for p in record.template]
    found = []
    for given in class_instances(module, (f,)).get(record.name, ()):
        known = dict(zip(of, given, strict=False))
        closed = tuple(known.get(getattr(a, "id", ""), a) for a in arguments)
        found += [closed] if is_closed(closed) else []
    return found or [arguments]


def _types_named(module: Module) -> Iterator[object]:
    """What host code names or is given, and what classes are made of: `class Sort : public SortOf<128>`."""
    for f in module.functions.values():
        if f.side in ("host", "both"):
            yield from nodes_of(f.body)
            for p in f.parameters:
                yield from walk(p.type)
    for record in module.records.values():
        for t in (*record.written_bases, *(field.type for field in record.fields)):
            yield from walk(t)
    for var in module.globals.values():
        yield from walk(var.type)
        yield from () if var.init is None or is_of_numbers(var) else walk(var.init)


def is_of_numbers(var: Var) -> bool:
    """Whether a variable is made of numbers only: of a long table nothing is looked at."""
    return isinstance(element_type(var.type), Scalar) and not isinstance(var.init, Call)


def is_of(m: Machine, f: Function, arguments: tuple[TemplateArgument, ...]) -> bool:
    """Whether the class with these template arguments is the one that a method belongs to: another
    specialisation may be for them."""
    if not arguments or f.record is None or primary_name(f.record) == f.record:
        return True
    t = m.resolve(RecordRef(primary_name(f.record), arguments))
    found = m.types.record_of(t)
    return found is not None and found[0].name == f.record


def is_closed(arguments: tuple[TemplateArgument, ...]) -> bool:
    """Whether template arguments name no parameter or variable of the code around."""
    return not any(isinstance(n, TypeParam | Name) for a in arguments for n in walk(a))


def object_for(m: Machine, f: Function, arguments: tuple[TemplateArgument, ...]) -> Pointer | None:
    """The object that a method is run on: as its class's own initialisers and constructor leave it."""
    record = m.module.records.get(f.record or "")
    if record is None:
        return None
    name = primary_name(record.name) if arguments else record.name
    t = m.resolve(RecordRef(name, arguments or _own(record)))
    if not isinstance(t, RecordRef):
        return None
    o = Object("this", record.name, t, "local", uniform=True, havoc=True)
    made = (
        construct(m, t, [], f.place, quiet=True)
        if f.name.removeprefix("~") != own_name(record.name)
        else None
    )
    if isinstance(made, RecordValue):
        layout = m.types.layout(t)
        names = {start: name for name, (start, _) in layout.fields.items()} if layout is not None else {}
        assigned = _assigned(m, record)
        # a pointer that is null at first has been made to point somewhere by now
        told = {at: v for at, v in made.cells.items() if not is_null(v)}
        o.cells.update({at: _set_or_other(m, names.get(at, ""), v, assigned) for at, v in told.items()})
        o.cells.update(
            (at, one_set(name, numbers, m.unknowns))
            for at, name in names.items()
            if at not in told and (numbers := assigned.get(name))
        )
    _take_member_defaults(m, o, t)
    return Pointer(o, Int(0), t)


def _assigned(m: Machine, record: Record, depth: int = 0) -> Mapping[str, frozenset[int] | None]:
    """Members of a class and its bases that others than their constructors set, and to which numbers."""
    found = dict(record.assigned)
    for base in record.written_bases if depth < DEEPEST else ():
        inner = m.module.records.get(base.name) if isinstance(base, RecordRef) else None
        if inner is not None:
            found |= _assigned(m, inner, depth + 1)
    return found


def _set_or_other(m: Machine, name: str, v: Value, assigned: Mapping[str, frozenset[int] | None]) -> Value:
    """What a class gives a member itself. Zero and less stand for what is not told yet: another method sets
    the sizes before this one runs. assigned: the members that others than its constructor are seen to set."""
    if not isinstance(v, Int) or not v.known or not isinstance(v.const, int):
        return v
    if v.const > 0 and name not in assigned:
        return v
    numbers = assigned.get(name)
    if numbers:
        return one_set(name, numbers | {v.const}, m.unknowns)
    return _default_or_other(m, name, v, None)


def _take_member_defaults(m: Machine, o: Object, t: RecordRef) -> None:
    """Members of an object that nobody is seen to make may be what their own class makes of them, or anything
    else: `Runner(const Params &p) : params(p)`."""
    layout = m.types.layout(t)
    for name, (start, member) in layout.fields.items() if layout is not None else ():
        if isinstance(member, RecordRef):
            for at, v in _made_of_nothing(m, member).items():
                held = o.cells.get(start + at)
                if not isinstance(held, Int) or not held.known:
                    o.cells[start + at] = _default_or_other(m, name, v, held)


def _made_of_nothing(m: Machine, t: RecordRef) -> dict[int, Int]:
    """The integers that a class of the project gives its members itself, where it is given nothing."""
    record = m.module.records.get(t.name)
    if record is None or not (record.constructors or any(f.init is not None for f in record.fields)):
        return {}
    made = construct(m, t, [], None, quiet=True)
    cells = made.cells.items() if isinstance(made, RecordValue) else ()
    return {at: v for at, v in cells if isinstance(v, Int) and v.known and isinstance(v.const, int)}


def _own(record: Record) -> tuple[TemplateArgument, ...]:
    """The arguments that a class template has inside of itself: its parameters, of which nothing is known."""
    own = [p for p in record.template if not p.pack]
    return tuple(TypeParam(p.id, p.name) if p.kind == "type" else Name(p.id, p.name) for p in own)


def take_defaults(m: Machine, f: Function) -> None:
    """What nobody passes may be what the function's own default is, or its class's, or anything else."""
    for p in f.parameters:
        o = m.frame.variables.get(p.id)
        if o is None:
            continue
        t = m.resolve(p.type)
        if p.init is None:
            if isinstance(t, RecordRef):
                for at, v in _made_of_nothing(m, t).items():
                    o.cells.setdefault(at, _default_or_other(m, p.name, v, None))
            continue
        if isinstance(t, Scalar) and t.kind in ("int", "uint"):
            default = value_for(m, t, p.init)
            if isinstance(default, Int) and default.known:
                o.cells[0] = _default_or_other(m, p.name, default, o.cells.get(0))
        elif isinstance(t, RecordRef) and t.name.rsplit("::", 1)[-1] == "dim3":
            made = value_for(m, t, p.init)
            if isinstance(made, RecordValue):
                o.cells.update(
                    {
                        at: _default_or_other(m, p.name, v, None)
                        for at, v in made.cells.items()
                        if isinstance(v, Int) and v.known
                    }
                )


def begin_program(m: Machine, variables: Iterable[Var]) -> None:
    """Run the initialisers of some variables outside functions, as happens before `main`."""
    try:
        for var in variables:
            declare_global(m, var)
    except (BudgetExceededError, RecursionError):
        pass


def set_by_others(m: Machine, var: Var) -> None:
    """A number of the program that functions set which may have run before: zero stands for what is not told
    yet, any other for what it may still be. Of an object of the project the members that are set."""
    own = isinstance(var.type, RecordRef) and not var.type.name.startswith(("std::", "thrust::"))
    if own and not var.elsewhere:
        leave_members_to_others(m, declare_global(m, var))
        return
    unknown_setting(m, var)
    default = (
        None if var.begins_at_zero() or var.init is None else value_for(m, m.resolve(var.type), var.init)
    )
    if isinstance(default, Int) and default.known:
        cells = m.memory.globals[var.id].cells
        cells[0] = _default_or_other(m, var.name, default, cells.get(0))


def _default_or_other(m: Machine, name: str, default: Int, other: object) -> Int:
    low = 0 if isinstance(default.const, int) and default.const >= 0 else None
    rest = other if isinstance(other, Int) else m.unknowns.value(INT, name, low=low, rank=3)
    s = m.unknowns.fresh(name, low=low, rank=3)
    if m.unknowns.recipes is not None:
        m.unknowns.recipes[s.order] = (ONE_OF, default, rest)
    return Int(0, default.type, {(s,): 1})
