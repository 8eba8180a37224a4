"""Types under their template arguments: resolution, size, alignment, and where a record's fields lie."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from smemlint.evaluate.types.constraints import constraints_of, satisfied, weight
from smemlint.evaluate.types.free_names import free_names, key_of
from smemlint.evaluate.types.library_layout import library_layout
from smemlint.evaluate.types.matching import (
    Binding,
    Bindings,
    Patterns,
    any_argument,
    bound,
    condition_of,
    expansions,
    function_named,
    is_computed,
    is_type,
)
from smemlint.evaluate.types.record_layout import Builder, Layout, round_up
from smemlint.evaluate.types.spelling import dims_of, type_name
from smemlint.evaluate.types.type_traits import computed_in, exists, is_detector, sequence
from smemlint.evaluate.values.number import Int
from smemlint.evaluate.values.value import Value
from smemlint.ir import (
    ArrayOf,
    Expanded,
    Expr,
    FunctionRef,
    FunctionType,
    Literal,
    MemberType,
    Module,
    Name,
    ObjectRef,
    OpaqueType,
    Part,
    PointerTo,
    Record,
    RecordRef,
    Scalar,
    StaticMember,
    TemplateArgument,
    TemplateParam,
    Type,
    TypeParam,
)
from smemlint.ir.memo import by_identity
from smemlint.ir.module import ITSELF
from smemlint.ir.types import LONG, SEQUENCE, VOID, is_reference
from smemlint.patterns import pattern
from smemlint.records import record

PLENTY = 1 << 20
"""Bytes that stand for those of a member whose size is not known, in host code."""
LIBRARIES = ("cub::", "hipcub::", "thrust::", "curanddx::", "cufftdx::", "cublasdx::")
"""Libraries whose classes, and whose use of shared memory, are their own choice."""


@record(frozen=True, slots=True)
class Around:
    """A member of a record of unknown layout.

    at: its first byte, counted from the end of the last member before it that has an unknown size, whose name
    is `behind` ('': from the record's start). align: what divides that end, rounded up for the next member.
    """

    behind: str
    at: int
    align: int
    type: Type


_PLAIN = frozenset((Scalar, FunctionType, FunctionRef, ObjectRef, Part, OpaqueType))
"""Types that are what they are under any template arguments."""


_NAMED = pattern(r"(?!auto\b|decltype\b)[A-Za-z_].*")
"""What a type is called that a source names."""
_MOST_SEEN = 4096
"""Types that are remembered by id() at a time."""


@by_identity
def packs_of(module: Module) -> frozenset[str]:
    """Ids of all template parameters that are packs."""
    templates = [r.template for r in module.records.values()]
    templates += [f.template for f in module.functions.values()]
    return frozenset(p.id for template in templates for p in template if p.pack)


class Types:
    """Resolves types of one module. `constant(expr, bindings)` folds an expression to a number or None;
    `given`, to an object or a member as a template argument."""

    def __init__(
        self,
        module: Module,
        constant: Callable[[Expr, Bindings], int | None],
        given: Callable[[Expr, Bindings], ObjectRef | FunctionRef | None] = lambda expr, bindings: None,
    ) -> None:
        self.module = module
        self.constant = constant
        self.given = given
        self._layouts: dict[RecordRef, Layout | None] = {}
        self._seen: dict[int, tuple[RecordRef, Layout | None]] = {}
        """The same by id(): hashing a type walks its arguments."""
        self._records: dict[int, tuple[RecordRef, tuple[Record, Bindings] | None]] = {}
        self._members: dict[tuple[int, str], tuple[RecordRef, Around | None]] = {}
        self._names: dict[int, tuple[Type, tuple[str, ...] | None]] = {}
        """By id(): what a type depends on (see `free_names`)."""
        self._resolved: dict[tuple[object, ...], tuple[Type, tuple[Binding, ...], Type]] = {}
        """What was resolved, with what keeps the key valid."""
        self.constants: dict[tuple[int, str], tuple[RecordRef, Value | None]] = {}
        """Constants and methods of records, by id() of the type and name."""
        self.asked: list[tuple[RecordRef, str]] = []
        """Those that are being found."""
        self.taken: Mapping[str, Scalar] = {}
        """By spelling: numbers that types stand for which no file declares."""
        self.unsized: dict[str, bool] = {}
        """Spellings of such types whose size was asked for, and whether they are calculated with."""
        self.loose = False
        """Of host code: what no address of a lane depends on is laid out beside parts of unknown size too."""
        self._open = 0
        """How often a type was resolved that depends on what runs, or is nested too deeply."""
        self._depth = 0
        self.patterns = Patterns(packs_of(module), module.functions)

    def remember(self, t: RecordRef, name: str, constant: Value | None) -> None:
        """Keep what a constant or method of a record is."""
        if len(self.constants) > _MOST_SEEN:
            self.constants.clear()
        self.constants[id(t), name] = t, constant

    def resolve(self, t: Type, bindings: Bindings) -> Type:
        """The same type without template parameters, as far as `bindings` tells."""
        kind = type(t)
        if kind in _PLAIN:
            return self.taken.get(t.spelling, t) if isinstance(t, OpaqueType) else t
        if kind is TypeParam:
            bound = bindings.get(t.id)  # type: ignore[union-attr]
            return self._stand_in(bound) if bound is not None and is_type(bound) else t  # type: ignore[arg-type]
        known = self._names.get(id(t))
        if known is None:
            if len(self._names) > _MOST_SEEN:
                self._names.clear()
            known = self._names[id(t)] = t, free_names(t, self.module)
        names = known[1]
        key = None if names is None else key_of(t, names, bindings)
        if key is None:
            self._open += 1
            return self._resolve(t, bindings)
        found = self._resolved.get(key)
        if found is not None:
            return found[2]
        opened = self._open
        result = self._resolve(t, bindings)
        if self._open == opened:
            if len(self._resolved) > _MOST_SEEN:
                self._resolved.clear()
            self._resolved[key] = t, tuple(bindings.values()), result
        return result

    def _resolve(self, t: Type, bindings: Bindings) -> Type:
        self._depth += 1
        try:
            if self._depth > 64:
                self._open += 1
                return OpaqueType("...")
            if isinstance(t, PointerTo):
                return PointerTo(self.resolve(t.to, bindings), t.reference, t.volatile)
            if isinstance(t, ArrayOf):
                n = None if t.extent is None else self.constant(t.extent, bindings)
                return ArrayOf(self.resolve(t.element, bindings), None if n is None else Literal(n))
            if isinstance(t, RecordRef):
                return self._stand_in(self._resolve_record(t, bindings))
            if isinstance(t, MemberType):
                return self._stand_in(self._resolve_member(t, bindings))
            return t
        finally:
            self._depth -= 1

    def _stand_in(self, t: Type) -> Type:
        """What is taken for a resolved type that no file declares, where something is."""
        if not self.taken or not isinstance(t, RecordRef | MemberType | OpaqueType):
            return t
        return self.taken.get(type_name(t), t)

    def miss(self, t: Type) -> None:
        """Note a resolved type whose size is not known, if no file declares it."""
        t = dims_of(t)[1]
        named = isinstance(t, RecordRef) and t.name not in self.module.records and "@" not in t.name
        if named or (isinstance(t, MemberType | OpaqueType) and _NAMED.fullmatch(type_name(t))):
            self.unsized.setdefault(type_name(t), False)

    def calculated(self, t: Type | None) -> None:
        """Note that a value of this resolved type is calculated with, or that a number is stored as one."""
        if self.unsized and isinstance(t, RecordRef | MemberType | OpaqueType):
            name = type_name(t)
            if name in self.unsized:
                self.unsized[name] = True

    def argument(self, a: TemplateArgument, bindings: Bindings) -> TemplateArgument:
        """A template argument without parameters: a type, or a Literal where it folds."""
        if is_type(a):
            if isinstance(a, TypeParam) and isinstance(bindings.get(a.id), Int):
                bound = bindings[a.id]
                if isinstance(bound, Int) and bound.known and isinstance(bound.const, int):
                    return Literal(bound.const, bound.type)
            t = self.resolve(a, bindings)  # type: ignore[arg-type]
            if isinstance(t, MemberType):  # `Config::kSize`, a number that reads like a type
                n = self.constant(StaticMember(t.owner, t.name), bindings)
                return t if n is None else Literal(n)
            return t
        function = function_named(self.module, a, bindings)
        if function is not None:
            return replace(function, arguments=tuple(self.argument(x, bindings) for x in function.arguments))
        n = self.constant(a, bindings)  # type: ignore[arg-type]
        return self.given(a, bindings) or a if n is None else Literal(n)  # type: ignore[arg-type]

    def _resolve_record(self, t: RecordRef, bindings: Bindings) -> Type:
        name = t.name
        if name.startswith("@"):
            given = bindings.get(name[1:])
            name = given.name if isinstance(given, RecordRef) else name
        if not t.arguments:
            return t if name == t.name else RecordRef(name)
        arguments = tuple(x for a in t.arguments for x in self._arguments(a, bindings))
        if name == SEQUENCE:
            return sequence(arguments)
        named = self.module.records.get(name) if name != t.name else None
        alias = named.templates.get(ITSELF) if named is not None else None
        if alias is not None:
            return self.resolve(alias.type, self.bind_arguments(alias.parameters, arguments, {}))
        return RecordRef(name, self._with_defaults(name, arguments))

    def _with_defaults(
        self, name: str, arguments: tuple[TemplateArgument, ...]
    ) -> tuple[TemplateArgument, ...]:
        """A record's arguments with the defaults of those that are not written."""
        record = self.module.records.get(name)
        if record is None or len(arguments) >= len(record.template) or any(p.pack for p in record.template):
            return arguments
        bindings = self.bind_arguments(record.template, arguments, {})
        for parameter in record.template[len(arguments) :]:
            if parameter.default is None:
                break
            arguments = (*arguments, self.argument(parameter.default, bindings))
        return arguments

    def _arguments(self, a: TemplateArgument, bindings: Bindings) -> tuple[TemplateArgument, ...]:
        """A template argument, or those that a pack stands for."""
        held = bindings.get(a.id) if isinstance(a, TypeParam | Name) and a.id in self.patterns.packs else None
        if not isinstance(held, tuple):
            return (self.argument(a, bindings),)
        return tuple(
            Literal(x.const, x.type) if isinstance(x, Int) and isinstance(x.const, int) else x  # type: ignore[misc]
            for x in held
        )

    def _resolve_member(self, t: MemberType, bindings: Bindings) -> Type:
        owner = self.resolve(t.owner, bindings)
        if isinstance(owner, RecordRef):
            builtin = self._library_member(owner, t.name)
            if builtin is not None:
                return builtin
            found = self.record_of(owner)
            if found is not None:
                record, inner = found
                given = tuple(self.argument(a, bindings) for a in t.arguments)
                alias = self._alias(record, inner, t.name, given)
                if alias is not None:
                    return alias
        return MemberType(owner, t.name, t.arguments)

    def _library_member(self, owner: RecordRef, name: str) -> Type | None:
        """The few type traits of the standard library that sizes depend on."""
        short = owner.name.rsplit("::", 1)[-1]
        arguments = [a for a in owner.arguments if is_type(a)]
        if short == "iterator_traits" and len(arguments) == 1:
            return self._of_iterator(arguments[0], name)  # type: ignore[arg-type]
        if name != "type" or any(isinstance(a, OpaqueType) and a.of is not None for a in arguments):
            return None  # `decltype(x)`, which only a run tells
        if short == "iterator_value" and len(arguments) == 1:
            return self._of_iterator(arguments[0], "value_type")  # type: ignore[arg-type]
        if short == "remove_pointer" and arguments:
            a = arguments[0]
            return a.to if isinstance(a, PointerTo) and not a.reference else a  # type: ignore[return-value]
        if short == "conditional" and len(owner.arguments) == 3:
            condition = owner.arguments[0]
            chosen = owner.arguments[1 if condition.value else 2] if isinstance(condition, Literal) else None
            if isinstance(chosen, Name):  # a name that nothing declares
                return OpaqueType(chosen.name)
            if is_type(chosen):
                return chosen  # type: ignore[return-value]
        if short in ("remove_const", "remove_cv", "remove_reference", "decay", "remove_cvref") and arguments:
            a = arguments[0]
            return a.to if is_reference(a) else a  # type: ignore[return-value]
        if short == "void":
            return VOID
        if short == "enable_if" and len(arguments) == 1:
            return arguments[0]  # type: ignore[return-value]
        if short in ("OpMathType", "AccumulateType") and arguments:
            return computed_in(arguments[0], owner.arguments[1:])  # type: ignore[arg-type]
        return None

    def _of_iterator(self, iterator: Type, name: str) -> Type | None:
        """What the standard library tells of an iterator; of a class, by its own members."""
        if isinstance(iterator, PointerTo) and not iterator.reference:
            told: dict[str, Type] = {
                "value_type": iterator.to,
                "reference": PointerTo(iterator.to, reference=True),
                "pointer": iterator,
                "difference_type": LONG,
            }
            return told.get(name)
        found = self.record_of(iterator)
        return None if found is None else self._alias(found[0], found[1], name)

    def _alias(
        self, record: Record, bindings: Bindings, name: str, arguments: tuple[TemplateArgument, ...] = ()
    ) -> Type | None:
        if name in record.aliases and not arguments:
            return self.resolve(record.aliases[name], bindings)
        template = record.templates.get(name)
        if template is not None:
            own = self.bind_arguments(template.parameters, arguments, bindings)
            return self.resolve(template.type, own)
        for resolved in self.bases(record, bindings):
            if not isinstance(resolved, RecordRef):
                continue
            found = self.record_of(resolved)
            known = self._library_member(resolved, name)
            alias = known if found is None else self._alias(found[0], found[1], name, arguments)
            if alias is not None:
                return alias
        return None

    def bases(self, record: Record, bindings: Bindings) -> list[Type]:
        """The resolved bases of a record."""
        found: list[Type] = []
        for base in record.bases:
            each = expansions(base, bindings) if isinstance(base, Expanded) else [(base, bindings)]
            found += [OpaqueType("...")] if each is None else [self.resolve(*one) for one in each]
        return found

    def record_of(self, t: Type | None) -> tuple[Record, Bindings] | None:
        """The record (or the specialisation that matches best) with its parameters bound; None of what is no
        record."""
        if not isinstance(t, RecordRef):
            return None
        known = self._records.get(id(t))
        if known is None:
            if len(self._records) > _MOST_SEEN:
                self._records.clear()
            known = self._records[id(t)] = t, self._record_of(t)
        return known[1]

    def _record_of(self, t: RecordRef) -> tuple[Record, Bindings] | None:
        record = self.module.records.get(t.name)
        if record is None:
            return None
        best: tuple[Record, Bindings] | None = None
        for name in record.specialisations:
            special = self.module.records.get(name)
            if special is None or special.specialises is None:
                continue
            bound = self._specialised(special.specialises, self._completed(record, t.arguments))
            conditions = constraints_of(special)
            fits = bound is not None and satisfied(self.constant, conditions, bound)
            if fits is None:
                return None
            if fits and bound is not None and (best is None or not self._is_as_special(best[0], special)):
                best = (special, bound)
                if not special.template:
                    break
        if best is not None or record.declared:
            return best
        return record, self.bind_arguments(record.template, t.arguments, {})

    def _completed(
        self, record: Record, arguments: tuple[TemplateArgument, ...]
    ) -> tuple[TemplateArgument, ...]:
        """Template arguments with the defaults of those that are left out."""
        left = record.template[len(arguments) :]
        if not left or any(p.pack or p.default is None for p in left):
            return arguments
        bindings = self.bind_arguments(record.template, arguments, {})
        return (*arguments, *(self.argument(p.default, bindings) for p in left if p.default is not None))

    def _specialised(
        self, patterns: tuple[TemplateArgument, ...], arguments: tuple[TemplateArgument, ...]
    ) -> dict[str, Binding] | None:
        """The bindings under which the patterns of a specialisation equal the arguments, also patterns that
        tell nothing of a parameter themselves (`enable_if_t<sizeof(T) == 8>`, `N + 1`)."""
        computed = [
            i
            for i, p in enumerate(patterns)
            if is_computed(p) or (isinstance(p, Name) and p.id in self.module.globals)
        ]
        if not computed:
            return self.patterns.arguments(patterns, arguments)
        if len(patterns) != len(arguments):
            return None
        telling = [i for i in range(len(patterns)) if i not in computed]
        found = self.patterns.arguments(
            tuple(patterns[i] for i in telling), tuple(arguments[i] for i in telling)
        )
        if found is None or not all(self._gives(patterns[i], arguments[i], found) for i in computed):
            return None
        return found

    def _gives(self, pattern: TemplateArgument, argument: TemplateArgument, bindings: Bindings) -> bool:
        if not isinstance(pattern, MemberType):
            value = self.constant(pattern, bindings)  # type: ignore[arg-type]
            if value is None:
                return (self.given(pattern, bindings) or pattern) == argument  # type: ignore[arg-type]
            return isinstance(argument, Literal) and argument.value == value
        if is_detector(pattern.owner):
            return argument == VOID and all(exists(self, a, bindings) for a in pattern.owner.arguments)
        condition = condition_of(pattern.owner)
        if condition is None:
            return self.resolve(pattern, bindings) == argument
        made = pattern.owner.arguments[1] if len(pattern.owner.arguments) > 1 else VOID  # type: ignore[union-attr]
        return bool(self.constant(condition, bindings)) and self.argument(made, bindings) == argument

    def _is_as_special(self, a: Record, b: Record) -> bool:
        """Whether each instance of a specialisation would be one of another one too."""
        if a.specialises is None or b.specialises is None:
            return a.specialises is not None
        if self.patterns.arguments(b.specialises, tuple(map(any_argument, a.specialises))) is None:
            return False
        more = weight(self.module, constraints_of(b)) > weight(self.module, constraints_of(a))
        return (
            not more
            or self.patterns.arguments(a.specialises, tuple(map(any_argument, b.specialises))) is None
        )

    def bind_arguments(
        self,
        parameters: tuple[TemplateParam, ...],
        arguments: tuple[TemplateArgument, ...],
        around: Bindings,
    ) -> dict[str, Binding]:
        """The bindings around a template with those of its parameters, defaults included."""
        bindings: dict[str, Binding] = dict(around)
        for i, parameter in enumerate(parameters):
            if parameter.pack:
                bindings[parameter.id] = tuple(map(bound, arguments[i:]))  # type: ignore[arg-type]
                break
            if i < len(arguments):
                bindings[parameter.id] = bound(arguments[i])
            elif parameter.default is not None:
                bindings[parameter.id] = bound(self.argument(parameter.default, bindings))
        return bindings

    def layout(self, t: Type | None) -> Layout | None:
        """Fields of a resolved record type; None of what is no record, or when some size is not known."""
        if not isinstance(t, RecordRef):
            return None
        seen = self._seen.get(id(t))
        if seen is not None:
            return seen[1]
        if t not in self._layouts:
            self._layouts[t] = None  # a record that holds itself has no layout
            self._layouts[t] = self._layout(t)
            return self._layouts[t]
        if len(self._seen) > _MOST_SEEN:
            self._seen.clear()
        self._seen[id(t)] = t, self._layouts[t]
        return self._layouts[t]

    def _layout(self, t: RecordRef) -> Layout | None:
        found = self.record_of(t) if t.name != "std::tuple" else None
        if found is None:
            return library_layout(t, self.size_of, self.align_of)
        record, bindings = found
        if not record.fields and not record.bases and t.name.startswith(LIBRARIES):
            return None
        if record.virtual_bases and not self.loose:
            return None
        built = Builder(union=record.union, packing=record.packing)
        built.plain = record.plain
        return (
            self._with_members(built, record, bindings) if self._with_bases(built, record, bindings) else None
        )

    def _with_bases(self, built: Builder, record: Record, bindings: Bindings) -> bool:
        """Places the bases; whether all of them are known."""
        bases: list[tuple[RecordRef, Layout]] = []
        for resolved in self.bases(record, bindings):
            inner = self.layout(resolved)
            if inner is None and self.loose:
                built.loose = True
                continue
            if inner is None or not isinstance(resolved, RecordRef):
                return False
            bases.append((resolved, inner))
        first = next((b for b in bases if b[1].dynamic), None)
        if first is None and record.virtual:
            built.virtual_table()
        for one in sorted(bases, key=lambda b: b is not first):  # whose virtual table is shared comes first
            built.base(*one)
        return True

    def _with_members(self, built: Builder, record: Record, bindings: Bindings) -> Layout | None:
        for f in record.fields:
            ft = self.resolve(f.type, bindings)
            explicit = 0 if f.align is None else self.constant(f.align, bindings) or 0
            if f.bits is not None:
                width = self.constant(f.bits, bindings)
                if width is None or not isinstance(ft, Scalar):
                    return None
                built.bit_field(f.name, ft, width, explicit)
                continue
            size, align = self.size_of(ft), self.align_of(ft)
            if size is None or align is None:
                if not self.loose:
                    return None
                size, align, built.loose = PLENTY, 8, True
            element = dims_of(ft)[1]
            inner = self.layout(element)
            built.plain &= (inner is None or inner.plain) and not is_reference(ft)
            built.loose |= inner is not None and inner.loose
            built.member(f.name, ft, size, align, explicit, inner if element is ft else None, f.overlaps)
        explicit = 0 if record.align is None else self.constant(record.align, bindings) or 0
        return built.finished(explicit)

    def member(self, t: RecordRef, name: str) -> Around | None:
        """A member of a record whose layout is not known: behind one of a library's types, for example."""
        known = self._members.get((id(t), name))
        if known is None:
            if len(self._members) > _MOST_SEEN:
                self._members.clear()
            known = self._members[id(t), name] = t, self._member(t, name)
        return known[1]

    def _member(self, t: RecordRef, name: str) -> Around | None:
        found = self.record_of(t)
        if found is None or any(self.layout(b) is None for b in self.bases(*found)):
            return None
        record, bindings = found
        start = Around("" if not record.bases else "the bases", 0, 1, t)
        for f in record.fields:
            ft = self.resolve(f.type, bindings)
            size, align = self.size_of(ft), self.align_of(ft) or 1
            if f.align is not None:
                align = max(align, self.constant(f.align, bindings) or 1)
            if start.behind and align > start.align:
                behind = f"{start.behind} and more" if start.at else start.behind
                start = Around(behind, 0, align, t)
            at = 0 if record.union else round_up(start.at, align)
            here = Around(start.behind, at, start.align, ft)
            if f.name == name:
                return here
            inner = None if f.name else self.layout(ft)
            if inner is not None and name in inner.fields:
                offset, within = inner.fields[name]
                return replace(here, at=at + offset, type=within)
            nested = self.member(ft, name) if not f.name and isinstance(ft, RecordRef) and not inner else None
            if nested is not None:
                return nested if nested.behind else replace(here, at=at + nested.at, type=nested.type)
            if not record.union:
                unknown = Around(f.name or "a member", 0, 1, t)
                start = unknown if size is None else replace(start, at=at + size)
        return None

    def field_at(self, t: Type, path: Sequence[str]) -> tuple[int, Type] | None:
        """Where a member of members (`lo`, `x`) of a record lies, and its type."""
        at = 0
        for name in path:
            layout = self.layout(t)
            if layout is None or name not in layout.fields:
                return None
            start, t = layout.fields[name]
            at += start
        return at, t

    def size_of(self, t: Type) -> int | None:
        """Bytes of a resolved type."""
        if isinstance(t, Scalar):
            return t.size or 1
        if isinstance(t, Part):
            return t.of.size
        if isinstance(t, PointerTo | FunctionType):  # a variable of function type is a pointer to one
            return 8
        if isinstance(t, ArrayOf):
            element = self.size_of(t.element)
            return element * t.extent.value if element is not None and isinstance(t.extent, Literal) else None
        layout = self.layout(t)
        return None if layout is None else layout.size

    def is_loose(self, t: Type) -> bool:
        """Whether the size of a type stands for one that is not known."""
        element = dims_of(t)[1]
        layout = self.layout(element)
        return layout is not None and layout.loose

    def align_of(self, t: Type) -> int | None:
        if isinstance(t, Scalar):
            return t.size or 1
        if isinstance(t, Part):
            return t.align
        if isinstance(t, PointerTo | FunctionType):
            return 8
        if isinstance(t, ArrayOf):
            return self.align_of(t.element)
        layout = self.layout(t)
        return None if layout is None else layout.align
