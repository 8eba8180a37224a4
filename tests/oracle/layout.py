"""Types with all arguments put in, their sizes and the places of members."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from oracle.values import UnsupportedError
from smemlint.ir import (
    ArrayOf,
    Expr,
    Field,
    Function,
    Literal,
    MemberType,
    Module,
    PointerTo,
    Record,
    RecordRef,
    Scalar,
    TemplateParam,
    Type,
    TypeParam,
)

Scope = Mapping[str, "Type | int"]
"""Template parameter id -> what stands for it."""

TYPES = (Scalar, PointerTo, ArrayOf, RecordRef, TypeParam, MemberType)


@dataclass(frozen=True, slots=True)
class Slot:
    """A data member in its place."""

    field: Field
    offset: int
    type: Type
    bits: tuple[int, int] | None = None
    """First bit and count of a bit-field, counted from `offset`."""
    align: int = 16
    """What is known to divide its address, where that is less than its type asks for."""


class Layout:
    """constant: evaluates an expression that must be constant, in a scope."""

    def __init__(self, module: Module, constant: Callable[[Expr, Scope], int]) -> None:
        self._module = module
        self._constant = constant
        self._slots: dict[RecordRef, tuple[tuple[Slot, ...], int, int]] = {}
        self._records: dict[RecordRef, tuple[Record, Scope]] = {}

    def resolve(self, type_: Type, scope: Scope) -> Type:
        """The type without parameters: extents are literals, arguments are types or literals."""
        if isinstance(type_, TypeParam):
            found = scope.get(type_.id)
            if found is None or isinstance(found, int):
                raise UnsupportedError(f"type parameter {type_.name} without a type")
            return found
        if isinstance(type_, PointerTo):
            return PointerTo(self.resolve(type_.to, scope), type_.reference)
        if isinstance(type_, ArrayOf):
            extent = None if type_.extent is None else Literal(self._constant(type_.extent, scope))
            return ArrayOf(self.resolve(type_.element, scope), extent)
        if isinstance(type_, RecordRef):
            arguments = tuple(self._argument(a, scope) for a in type_.arguments)
            return RecordRef(type_.name, arguments)
        if isinstance(type_, MemberType):
            owner = self.resolve(type_.owner, scope)
            record = self.record(owner)
            if type_.name in record.aliases:
                return self.resolve(record.aliases[type_.name], self.scope_of(owner))
            raise UnsupportedError(f"no type {type_.name} in {record.name}")
        return type_

    def _argument(self, argument: Type | Expr, scope: Scope) -> Type | Expr:
        if isinstance(argument, TYPES):
            return self.resolve(argument, scope)
        return Literal(self._constant(argument, scope))

    def record(self, type_: Type) -> Record:
        return self._chosen(type_)[0]

    def scope_of(self, type_: Type) -> Scope:
        """What a record's template parameters stand for."""
        return self._chosen(type_)[1]

    def _chosen(self, type_: Type) -> tuple[Record, Scope]:
        """The record, or the specialisation of it with the fewest parameters left."""
        if not isinstance(type_, RecordRef) or type_.name not in self._module.records:
            raise UnsupportedError(f"not a known record: {type_}")
        if type_ in self._records:
            return self._records[type_]
        record = self._module.records[type_.name]
        scope = self.bind(record.template, type_.arguments, {})
        found: list[tuple[Record, Scope]] = [(record, scope)]
        for name in record.specialisations:
            special = self._module.records[name]
            bound: dict[str, Type | int] = {}
            mine = {p.id for p in special.template}
            pairs = zip(special.specialises or (), record.template, strict=True)
            if all(self._matches(pattern, scope[p.id], mine, bound) for pattern, p in pairs):
                found.append((special, bound))
        self._records[type_] = chosen = min(found, key=_freedom)
        return chosen

    def _matches(
        self, pattern: Type | Expr, given: Type | int, mine: set[str], bound: dict[str, Type | int]
    ) -> bool:
        """Whether a pattern of a specialisation stands for an argument, which it binds."""
        if isinstance(given, int):
            id = getattr(pattern, "id", None)
            if id in mine:
                return bound.setdefault(str(id), given) == given
            return not isinstance(pattern, TYPES) and self._constant(pattern, {}) == given
        if isinstance(pattern, TypeParam):
            return bound.setdefault(pattern.id, given) == given
        if isinstance(pattern, PointerTo) and isinstance(given, PointerTo):
            return self._matches(pattern.to, given.to, mine, bound)
        if isinstance(pattern, RecordRef) and isinstance(given, RecordRef) and pattern.name == given.name:
            of = [a if isinstance(a, TYPES) else self._constant(a, {}) for a in given.arguments]
            pairs = zip(pattern.arguments, of, strict=True)
            return all(self._matches(p, g, mine, bound) for p, g in pairs)
        return pattern == given

    def bind(
        self, parameters: tuple[TemplateParam, ...], arguments: tuple[Type | Expr, ...], outer: Scope
    ) -> dict[str, Type | int]:
        """Arguments, then defaults, as a scope."""
        scope: dict[str, Type | int] = dict(outer)
        for i, parameter in enumerate(parameters):
            argument = arguments[i] if i < len(arguments) else parameter.default
            if argument is None:
                continue
            if isinstance(argument, TYPES):
                scope[parameter.id] = self.resolve(argument, scope)
            else:
                scope[parameter.id] = self._constant(argument, scope)
        return scope

    def size(self, type_: Type) -> int:
        return self.size_and_align(type_)[0]

    def size_and_align(self, type_: Type) -> tuple[int, int]:
        if isinstance(type_, Scalar):
            return type_.size, max(type_.size, 1)
        if isinstance(type_, PointerTo):
            return 8, 8
        if isinstance(type_, ArrayOf):
            size, align = self.size_and_align(type_.element)
            return size * extent(type_), align
        if isinstance(type_, RecordRef):
            return self._layout(type_)[1:]
        raise UnsupportedError(f"size of {type_}")

    def slots(self, type_: Type) -> tuple[Slot, ...]:
        """Data members in order, those of bases first."""
        assert isinstance(type_, RecordRef)
        return self._layout(type_)[0]

    def slot(self, type_: Type, name: str) -> Slot:
        if name.startswith("#"):  # of a structured binding
            return self.slots(type_)[int(name[1:])]
        for slot in self.slots(type_):
            if slot.field.name == name:
                return slot
        raise UnsupportedError(f"no member {name}")

    def holds(self, type_: Type, name: str) -> bool:
        """Whether a record has a data member of this name."""
        return any(slot.field.name == name for slot in self.slots(type_))

    def distance(self, given: Type, wanted: Type) -> int:
        """Bytes from an object to the part of it that is of its base, or back; 0 where it is none."""
        if not isinstance(given, RecordRef) or not isinstance(wanted, RecordRef) or given == wanted:
            return 0
        up, down = self._within(given, wanted), self._within(wanted, given)
        return up if up is not None else -down if down is not None else 0

    def _within(self, derived: RecordRef, base: RecordRef) -> int | None:
        if derived == base:
            return 0
        try:
            record, scope = self.record(derived), self.scope_of(derived)
        except UnsupportedError:
            return None
        end = 0
        for one in (self.resolve(b, scope) for b in record.bases):
            size, align = self.size_and_align(one)
            start = _up(end, align)
            further = self._within(one, base) if isinstance(one, RecordRef) else None
            if further is not None:
                return start + further
            end = start + (size if self.slots(one) else 0)
        return None

    def owner(self, type_: Type, record: str) -> Type:
        """Of a class and its bases the one that is an instance of a record."""
        if isinstance(type_, RecordRef) and self.record(type_).name != record:
            for base in self.record(type_).bases:
                found = self.owner(self.resolve(base, self.scope_of(type_)), record)
                if isinstance(found, RecordRef) and self.record(found).name == record:
                    return found
        return type_

    def _layout(self, type_: RecordRef) -> tuple[tuple[Slot, ...], int, int]:
        if type_ in self._slots:
            return self._slots[type_]
        record, scope = self.record(type_), self.scope_of(type_)
        slots: list[Slot] = []
        end, align, used = 0, 1, 0
        for base in record.bases:
            base_type = self.resolve(base, scope)
            size, base_align = self.size_and_align(base_type)
            start = _up(end, base_align)
            slots += [Slot(s.field, s.offset + start, s.type, s.bits, s.align) for s in self.slots(base_type)]
            align = max(align, base_align)
            end = start + (size if self.slots(base_type) else 0)
        for field in record.fields:
            field_type = self.resolve(field.type, scope)
            size, field_align = self.size_and_align(field_type)
            own_align = field_align
            if record.packing.packed:
                field_align = 1
            elif record.packing.pack:
                field_align = min(field_align, record.packing.pack)
            if field.bits is not None:
                count = self._constant(field.bits, scope)
                first = used if used > 8 * end - 8 and used <= 8 * end else 8 * end
                if first // (8 * size) != (first + count - 1) // (8 * size):
                    first = _up(first, 8 * size)
                start = first // (8 * size) * size
                slots.append(Slot(field, start, field_type, (first - 8 * start, count)))
                used, align = first + count, max(align, field_align)
                end = -(-used // 8)
                continue
            if field.align is not None:
                field_align = max(field_align, self._constant(field.align, scope))
            start = 0 if record.union else _up(end, field_align)
            slots.append(
                Slot(field, start, field_type, align=16 if field_align >= own_align else field_align)
            )
            align = max(align, field_align)
            end = max(end, start + size)
        if record.align is not None:
            align = max(align, self._constant(record.align, scope))
        made = tuple(slots), max(_up(end, align), 1), align
        self._slots[type_] = made
        return made

    def deduce(self, function: Function, given: list[Type], scope: dict[str, Type | int]) -> None:
        """Adds what the arguments' types say of a function's own template parameters."""
        mine = {p.id for p in function.template}
        for parameter, argument in zip(function.parameters, given, strict=False):
            self._unify(parameter.type, argument, mine, scope)

    def _unify(self, pattern: Type, given: Type, mine: set[str], scope: dict[str, Type | int]) -> None:
        if isinstance(pattern, TypeParam):
            if pattern.id in mine and pattern.id not in scope:
                scope[pattern.id] = PointerTo(given.element) if isinstance(given, ArrayOf) else given
        elif isinstance(pattern, PointerTo) and pattern.reference:
            if isinstance(pattern.to, TypeParam) and pattern.to.id in mine:
                scope.setdefault(pattern.to.id, given)
            else:
                self._unify(pattern.to, given, mine, scope)
        elif isinstance(pattern, PointerTo) and isinstance(given, PointerTo):
            self._unify(pattern.to, given.to, mine, scope)
        elif isinstance(pattern, PointerTo) and isinstance(given, ArrayOf):
            self._unify(pattern.to, given.element, mine, scope)
        elif isinstance(pattern, ArrayOf) and isinstance(given, ArrayOf):
            self._unify(pattern.element, given.element, mine, scope)
            self._unify_value(pattern.extent, given.extent, mine, scope)
        elif isinstance(pattern, RecordRef) and isinstance(given, RecordRef) and pattern.name == given.name:
            for wanted, argument in zip(pattern.arguments, given.arguments, strict=False):
                if isinstance(wanted, TYPES) and isinstance(argument, TYPES):
                    self._unify(wanted, argument, mine, scope)
                elif not isinstance(wanted, TYPES) and not isinstance(argument, TYPES):
                    self._unify_value(wanted, argument, mine, scope)

    def _unify_value(
        self, pattern: Expr | None, given: Expr | None, mine: set[str], scope: dict[str, Type | int]
    ) -> None:
        name = getattr(pattern, "id", None)
        if name in mine and isinstance(given, Literal):
            scope.setdefault(str(name), given.value)


def extent(type_: ArrayOf) -> int:
    if not isinstance(type_.extent, Literal):
        raise UnsupportedError("array without extent")
    return type_.extent.value


def _up(value: int, align: int) -> int:
    return -(-value // align) * align


def _freedom(chosen: tuple[Record, Scope]) -> tuple[bool, int, int]:
    """How much a template leaves open: the least is the most specialised."""
    record = chosen[0]
    patterns = record.specialises
    return patterns is None, len(record.template), sum(isinstance(p, TypeParam) for p in patterns or ())
