"""Records: fields, constants, member types, methods; their names, parameters and specialisations."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import replace

from smemlint.frontend.clang import cursors, kinds
from smemlint.frontend.clang.cursors import Node
from smemlint.frontend.clang.names import Definition, earlier, valid
from smemlint.frontend.lower.assigned import is_set
from smemlint.frontend.lower.context import Context
from smemlint.frontend.lower.scope import Scope
from smemlint.frontend.lower.templates.parameters import template_parameters, type_template
from smemlint.frontend.lower.types import is_constant, own_arguments
from smemlint.frontend.text.hidden import packing
from smemlint.ir import (
    Expanded,
    Expr,
    Field,
    Literal,
    Member,
    OpaqueType,
    Packing,
    Record,
    RecordRef,
    StaticMember,
    TemplateArgument,
    TemplateParam,
    This,
    Type,
    TypeTemplate,
    UnknownExpr,
    Var,
)
from smemlint.ir.types import primary_name
from smemlint.ir.vectors import vector_named
from smemlint.patterns import pattern

_PUBLIC = 1
_BITS_GIVEN = pattern(r":[^=:{]*(?:=|\{)\s*([^{}]*?)\s*\}?\s*$")


def _itself(record: str, known: Record) -> RecordRef:
    """A record as its own members name it."""
    own = own_arguments(known.template) if known.specialises is None else known.specialises
    return RecordRef(primary_name(record), own)


def _enclosing(record: str) -> str:
    """The name of what a record is nested in, "" at the outermost: template arguments may hold `::` too."""
    depth = 0
    for at in range(len(record) - 1, 1, -1):
        depth += (record[at] == ">") - (record[at] == "<")
        if not depth and record[at] == record[at - 1] == ":":
            return record[: at - 1]
    return ""


def _given_to_bits(text: str) -> Expr | None:
    """The initialiser of a bit-field, which clang's cursors do not show."""
    found = _BITS_GIVEN.search(text)
    if found is None:
        return None
    try:
        return Literal(int(found[1].rstrip("uUlL"), 0))
    except ValueError:
        return UnknownExpr("initialiser of a bit-field")


def _makes_more_of(kid: Node) -> bool:
    """Whether a part of a record makes it more than a plain one, whose padding nobody else may use."""
    if kid.kind == kinds.FIELD:
        return bool(cursors.access_specifier(kid) > _PUBLIC)
    return kid.kind in (kinds.CONSTRUCTOR, kinds.DESTRUCTOR) or (
        kid.kind == kinds.METHOD and bool(cursors.is_copy_assignment(kid))
    )


def _makes(kid: Node, record: Node) -> bool:
    """Whether a method is a constructor, or a template of them."""
    if kid.kind == kinds.FUNCTION_TEMPLATE:
        return bool(cursors.spelling(kid).split("<", 1)[0] == cursors.spelling(record))
    return kid.kind == kinds.CONSTRUCTOR


class RecordLowering:
    """The part of declaration lowering that knows records."""

    _c: Context

    def start_records(self) -> None:
        self.pending: deque[Definition] = deque()
        self._required: set[int] = set()
        self._names: dict[int, str] = {}
        self._taken: dict[str, int] = {}
        self._parameters: dict[int, tuple[TemplateParam, ...]] = {}
        self._by_name: dict[str, Definition] = {}
        self._library: set[str] = set()
        self._lowered: set[int] = set()
        self._local: dict[int, Scope] = {}
        """Of classes in function templates, by their key: what is visible there of the function."""

    # Names and parameters

    def record_name(self, node: Node) -> str:
        """Name of a record or, for an instance or specialisation, of its template."""
        key = node.d0 or 0
        known = self._names.get(key)
        if known is not None:
            return known
        declarations = self._c.declarations
        found = declarations.record(node)
        name = declarations.qualified(found.node if found is not None else node)
        if found is not None:
            parent = cursors.semantic_parent(found.node)
            if parent.kind in kinds.FUNCTIONS:
                name = f"{name}@{found.begin}"
            taken = self._taken.setdefault(name, found.key)
            if (
                taken != found.key
                and found.node.kind not in (kinds.CLASS_TEMPLATE, kinds.PARTIAL)
                and not self._arguments(found)
            ):
                name = f"{name}@{found.begin}"
                self._taken.setdefault(name, found.key)
            self._by_name.setdefault(name, found)
        self._names[key] = name
        return name

    @staticmethod
    def _arguments(found: Definition) -> bool:
        return bool(cursors.template_argument_count(found.node) > 0)

    def stored_name(self, found: Definition) -> str:
        """Key in `Module.records`: of a specialisation, the name with its arguments."""
        name = self.record_name(found.node)
        if found.node.kind == kinds.PARTIAL or self._arguments(found):
            text = cursors.display_name(found.node)
            if self._has_twin(found, text):
                text = f"{text[:-1]}@{found.begin}>"
            return name + text[text.index("<") :] if "<" in text else f"{name}@{found.begin}"
        return name

    def _has_twin(self, found: Definition, text: str) -> bool:
        """Whether another specialisation has the same pattern, and differs in what it requires."""
        others = self._c.declarations.records_named.get(found.name, ())
        return found.node.kind == kinds.PARTIAL and any(
            o is not found and o.node.kind == kinds.PARTIAL and cursors.display_name(o.node) == text
            for o in others
        )

    def own_parameters(self, found: Definition) -> tuple[TemplateParam, ...]:
        """Return a record's own template parameters. None of them is known while they are read."""
        known = self._parameters.get(found.key)
        if known is None:
            self._parameters[found.key] = ()
            full = self._c.declarations.qualified(found.node)
            with self._c.within(Scope([self.outer_parameters(found)], around=full)):
                known = template_parameters(self._c, found.node, earlier(found.node))
            self._parameters[found.key] = known
        return known

    def outer_parameters(self, found: Definition) -> tuple[TemplateParam, ...]:
        """Parameters of the templates that a nested record stands in, which it shares."""
        if found.key in self._local:
            return self._local[found.key].parameters()
        outer = self._c.declarations.around(found.node)
        return () if outer is None else self.parameters(outer)

    def parameters(self, found: Definition) -> tuple[TemplateParam, ...]:
        """Return all template parameters that a record's members see."""
        return (*self.outer_parameters(found), *self.own_parameters(found))

    def enter_local(self, node: Node) -> None:
        """A class in a function template: the function's parameters are its own as well."""
        scope = self._c.scope
        parameters = scope.parameters()
        if parameters:
            around = Scope([parameters], dict(scope.locals), dict(scope.types))
            self._local.setdefault(cursors.location(node).raw, around)
        name = cursors.spelling(node)
        if name and not cursors.is_anonymous_record(node):
            scope.types[name] = self._c.types.record(node)

    def around(self, found: Definition | None) -> Scope:
        """What a class in a function sees of it."""
        return self._local.get(found.key, Scope()) if found is not None else Scope()

    def is_pattern(self, found: Definition) -> bool:
        """Whether a record depends on template parameters, its own or those around it."""
        return bool(self.parameters(found))

    # Lowering

    def require_record(self, found: Definition) -> None:
        """Puts a record on the list of those to lower, once."""
        if found.key not in self._required:
            self._required.add(found.key)
            self.pending.append(found)
            self._by_name.setdefault(self.stored_name(found), found)
            self._require_around(found)

    def _require_around(self, found: Definition) -> None:
        """The template that a specialisation belongs to, and the record that one stands in."""
        declarations = self._c.declarations
        if found.node.kind == kinds.PARTIAL or self._arguments(found):
            own = declarations.qualified(found.node)
            for other in declarations.records_named.get(found.name, ()):
                if other.node.kind == kinds.CLASS_TEMPLATE and declarations.qualified(other.node) == own:
                    self.require_record(other)
        outer = declarations.around(found.node)
        if outer is not None:
            self.require_record(outer)

    def lower_pending(self) -> bool:
        """Lowers the records on the list; says whether there were any."""
        any_ = bool(self.pending)
        while self.pending:
            self.lower_record(self.pending.popleft())
        return any_

    def lower_record(self, found: Definition) -> None:
        """Lower a record, once, in the scope that it stands in."""
        c = self._c
        if found.key in self._lowered:
            return
        self._lowered.add(found.key)
        name = self.record_name(found.node)
        stored = self.stored_name(found)
        parameters = self.parameters(found)
        self._required.add(found.key)
        self._by_name.setdefault(name, found)
        self._by_name.setdefault(stored, found)
        around = self.around(found)
        full = c.declarations.qualified(found.node)
        inner = Scope([parameters] if parameters else [], around.locals, around.types, stored, full)
        with c.within(inner):
            c.found.records[stored] = self._read_record(found, stored, parameters)

    def _read_record(self, found: Definition, stored: str, parameters: tuple[TemplateParam, ...]) -> Record:
        c = self._c
        node = found.node
        fields: list[Field] = []
        constants: dict[str, Var] = {}
        aliases: dict[str, Type] = {}
        templates: dict[str, TypeTemplate] = {}
        methods: dict[str, list[str]] = {}
        bases: list[Type | Expanded] = []
        kids = cursors.children(node)
        place = self._c.decls.name_place(node)
        specialises = self._pattern(found)

        def partial() -> Record:
            return Record(
                name=stored,
                specialises=specialises,
                fields=tuple(fields),
                place=place,
                template=parameters,
                union=node.kind == kinds.UNION or self._says_union(found),
                bases=tuple(bases),
                constants=constants,
                aliases=aliases,
                templates=templates,
                methods={key: tuple(ids) for key, ids in methods.items()},
            )

        for kid in kids:
            if kid.kind == kinds.ALIAS_TEMPLATE:
                templates[cursors.spelling(kid)] = type_template(self._c, kid)
            elif kid.kind in kinds.TYPEDEFS:
                aliases[cursors.spelling(kid)] = c.types.lower(cursors.typedef_underlying(kid))
            elif kid.kind in kinds.RECORDS:
                self._nested(kid, found, fields, aliases, templates)
            elif kid.kind == kinds.FIELD:
                fields.append(self._field(kid))
            elif kid.kind == kinds.VARIABLE:
                constants[cursors.spelling(kid)] = self._static(kid, bool(parameters))
            elif kid.kind == kinds.ENUM:
                self._enumerators(kid, constants, aliases)
            elif kid.kind == kinds.BASE_SPECIFIER:
                base = c.types.of(kid)
                own = own_arguments(parameters) if specialises is None else specialises
                itself = isinstance(base, RecordRef) and (base.name, base.arguments) == (
                    primary_name(stored),
                    own,
                )
                if itself:
                    base = OpaqueType(cursors.type_spelling(cursors.cursor_type(kid)))
                bases.append(Expanded(base) if c.positions.goes_on(kid, "...") else base)
            elif kid.kind in kinds.FUNCTIONS:
                self._method(kid, found, methods)
            elif kid.kind == kinds.FRIEND:
                self._friends(kid)
            else:
                continue
            if kid.kind in kinds.TYPEDEFS or kid.kind in (kinds.VARIABLE, kinds.ENUM):
                c.found.records[stored] = partial()
        if node.kind == kinds.CLASS_TEMPLATE:
            self._special_methods(node, kids, methods)
        result = partial()
        return replace(
            result,
            align=self._c.decls.alignment(kids),
            given=self._specialised_constants(node, constants),
            declared=node.kind == kinds.CLASS_TEMPLATE and not cursors.is_definition(node),
            specialisations=self._specialisations(found),
            packing=Packing(any(k.kind == kinds.PACKED_ATTRIBUTE for k in kids), self._pragma_pack(found)),
            virtual=any(
                k.kind in (kinds.METHOD, kinds.DESTRUCTOR) and cursors.is_virtual_method(k) for k in kids
            ),
            virtual_bases=any(k.kind == kinds.BASE_SPECIFIER and cursors.is_virtual_base(k) for k in kids),
            plain=not any(_makes_more_of(k) for k in kids) and all(f.init is None for f in fields),
        )

    def _pattern(self, found: Definition) -> tuple[TemplateArgument, ...] | None:
        """The arguments that a specialisation is for."""
        c, node = self._c, found.node
        specialises = None
        if node.kind == kinds.PARTIAL:
            specialises = c.types.pattern_arguments(node)
        elif self._arguments(found):
            specialises = c.types.specialisation_arguments(node)
            if specialises is None:  # with a pack
                specialises = c.texts.template_arguments(cursors.display_name(node))
        if specialises is not None and cursors.semantic_parent(node).kind in kinds.RECORDS:
            specialises = (*own_arguments(self.outer_parameters(found)), *specialises)
        return specialises

    def _pragma_pack(self, found: Definition) -> int:
        """What `#pragma pack` says where a record begins."""
        at = self._c.positions.start(found.node)
        return packing(at[0].data, at[1]) if at is not None else 0

    @staticmethod
    def _says_union(found: Definition) -> bool:
        if found.node.kind not in (kinds.CLASS_TEMPLATE, kinds.PARTIAL):
            return False
        return bool(re.match(rb"template\s*<[^{;]*>\s*union\b", found.text()[:2000]))

    def _nested(
        self,
        kid: Node,
        found: Definition,
        fields: list[Field],
        aliases: dict[str, Type],
        templates: dict[str, TypeTemplate],
    ) -> None:
        c = self._c
        entry = c.declarations.add_record(kid, found.file)
        if entry is None and kid.kind == kinds.CLASS_TEMPLATE:
            entry = c.declarations.add_declared(kid, found.file)
        elif entry is None:  # `struct Policy;`, and `struct Helper::Policy { ... };` outside
            entry = c.declarations.record(kid)
        if entry is None:
            return
        self.require_record(entry)
        if cursors.is_anonymous_record(kid):
            fields.append(Field("", c.types.record(kid), self._c.decls.place_of(kid)))
        elif kid.kind == kinds.CLASS_TEMPLATE:
            templates[cursors.spelling(kid)] = TypeTemplate(self.own_parameters(entry), c.types.record(kid))
        elif kid.kind != kinds.PARTIAL:
            aliases[cursors.spelling(kid)] = c.types.record(kid)

    def _field(self, node: Node) -> Field:
        c = self._c
        kids = cursors.children(node)
        bits: Expr | None = None
        if cursors.is_bit_field(node):
            width = int(cursors.bit_width(node))
            written = [k for k in kids if kinds.is_expression(k.kind)]
            bits = Literal(width) if width >= 0 or not written else c.exprs.lower(written[0])
        text = c.positions.text(node) or ""
        given = self._given_to_member(kids, text)
        var = self._c.decls.variable(
            node, [k for k in kids if k is not given], "", cursors.spelling(node), "local"
        )
        init = None if given is None else c.exprs.lower(given)
        if bits is not None and given is None:
            init = _given_to_bits(text)
        overlaps = "no_unique_address" in text or self._overlaps(node)
        return Field(var.name, var.type, var.place, bits, init, var.align, overlaps)

    def _given_to_member(self, kids: list[Node], text: str) -> Node | None:
        """The initialiser of a member that is written so; it stands behind the extents of an array."""
        if not ("=" in text or "{" in text):
            return None
        for node in reversed([k for k in kids if kinds.is_expression(k.kind)]):
            written = self._c.positions.text(node)
            if written is None:  # of a macro
                return node
            before = text[: max(text.rfind(written), 0)].rstrip()
            if written.startswith("{") or before.endswith(("=", "{")):
                return node
        return None

    def _overlaps(self, node: Node) -> bool:
        """Whether `[[no_unique_address]]` stands before a member, where its extent does not reach."""
        at = self._c.positions.start(node)
        if at is None:
            return False
        return "no_unique_address" in re.split(r"[;{}]", at[0].slice(max(at[1] - 80, 0), at[1]))[-1]

    def _static(self, node: Node, dependent: bool) -> Var:
        name = cursors.spelling(node)
        kids = cursors.children(node)
        identifier = cursors.usr(node)
        storage = "constant" if is_constant(cursors.cursor_type(node)) else "static"
        if any(k.kind == kinds.SHARED_ATTRIBUTE for k in kids):
            storage = "shared"
        var = self._c.decls.variable(node, kids, identifier, name, storage)
        if var.init is None:
            var = self._defined_outside(node, var)
        if storage == "static" and var.init is not None and is_set(self._c, name):
            var = replace(var, init=None)  # what it begins with is not what a launch finds
        return var if dependent else self._c.decls.folded(node, var)

    def _defined_outside(self, node: Node, var: Var) -> Var:
        """A static member with what `template <class T> const int A<T>::n = 4;` gives it."""
        c, owner = self._c, cursors.semantic_parent(node)
        own = c.scope.templates[-1] if c.scope.templates else ()
        for other in self._outside(owner, var.name):
            kids = cursors.children(other)
            written = [k for k in kids if kinds.is_expression(k.kind)]
            if cursors.semantic_parent(other).kind != owner.kind or not written:
                continue
            names = [cursors.spelling(k) for k in kids if k.kind in kinds.TEMPLATE_PARAMETERS]
            renamed = tuple(replace(p, name=n) for p, n in zip(own[-len(names) :], names, strict=False))
            with c.within(replace(c.scope, templates=[*c.scope.templates, renamed])):
                return replace(var, init=c.exprs.lower(written[-1]))
        return var

    def _specialised_constants(
        self, node: Node, constants: dict[str, Var]
    ) -> tuple[tuple[tuple[TemplateArgument, ...], Var], ...]:
        """`template <> const int A<B>::n = 4;`: constants that one instance of a template has."""
        found: list[tuple[tuple[TemplateArgument, ...], Var]] = []
        for name, var in constants.items() if node.kind == kinds.CLASS_TEMPLATE else ():
            for other in self._outside(node, name):
                owner = cursors.semantic_parent(other)
                written = cursors.expressions(other)
                if owner.kind != kinds.CLASS_TEMPLATE and written:
                    arguments = self._c.types.specialisation_arguments(owner)
                    if arguments:
                        found.append((arguments, replace(var, init=self._c.exprs.lower(written[-1]))))
        return tuple(found)

    def _outside(self, owner: Node, name: str) -> list[Node]:
        declarations = self._c.declarations
        return declarations.members_outside.get((declarations.qualified(owner), name), [])

    def _enumerators(self, node: Node, constants: dict[str, Var], aliases: dict[str, Type]) -> None:
        name = cursors.spelling(node)
        if name and "(" not in name:
            aliases[name] = self._c.types.enum(node)
        previous: Expr | None = None
        for kid in cursors.children(node):
            if kid.kind == kinds.ENUMERATOR:
                var = self._c.decls.enumerator_constant(kid, previous)
                constants[var.name] = var
                previous = var.init

    def _special_methods(self, node: Node, kids: list[Node], methods: dict[str, list[str]]) -> None:
        """`template <> int *Shared<int>::get() { ... }`: the methods of one instance of a template."""
        declarations = self._c.declarations
        for name in dict.fromkeys(cursors.spelling(kid) for kid in kids if kid.kind in kinds.FUNCTIONS):
            for entry in declarations.functions_named.get(name, ()):
                owner = cursors.semantic_parent(entry.node)
                if owner.kind not in kinds.RECORDS or owner.kind == kinds.CLASS_TEMPLATE:
                    continue
                meant = declarations.record(owner)
                if meant is not None and meant.node.d0 == node.d0:
                    self._c.require_method(entry)
                    methods.setdefault(name, []).append(self._c.decls.function_id(entry))

    def _method(self, kid: Node, found: Definition, methods: dict[str, list[str]]) -> None:
        c = self._c
        entry = c.declarations.functions.get(cursors.location(kid).raw)
        if entry is None and cursors.is_definition(kid):
            if cursors.is_defaulted(kid):
                return
            entry = c.declarations.add_function(kid, found.file, found.node)
        elif entry is None:
            entry = c.declarations.function(kid)
        if entry is None and _makes(kid, found.node):  # what it makes of an object is not known
            entry = c.declarations.add_unread(kid, found.file, found.node)
        if entry is None:
            return
        entry.record = found.node
        c.require_method(entry)
        # clang spells a template's constructor `Tile<S>`; calls look for `Tile`.
        name = entry.name if entry.name.startswith("operator") else entry.name.split("<", 1)[0]
        methods.setdefault(name, []).append(self._c.decls.function_id(entry))

    def _friends(self, kid: Node) -> None:
        """Operators that a class defines as friends: in a template no call names them."""
        for function in cursors.children(kid):
            entry = self._c.declarations.functions.get(cursors.location(function).raw)
            if entry is not None and entry.friend_of is not None and entry.name.startswith("operator"):
                self._c.work.require(entry)

    def _specialisations(self, found: Definition) -> tuple[str, ...]:
        if found.node.kind != kinds.CLASS_TEMPLATE:
            return ()
        result: list[str] = []
        own = self._c.declarations.qualified(found.node)
        for other in self._c.declarations.records_named.get(found.name, ()):
            special = other.node.kind == kinds.PARTIAL or self._arguments(other)
            if special and self._c.declarations.qualified(other.node) == own:
                self.require_record(other)
                result.append(self.stored_name(other))
        return tuple(result)

    # Members by name

    def _known_record(self, name: str) -> Record | None:
        found = self._by_name.get(name)
        if found is not None and found.key not in self._lowered:
            self.lower_record(found)
        return self._c.found.records.get(self.stored_name(found)) if found is not None else None

    def field_names(self, record: str) -> tuple[str, ...]:
        """Return the names of a record's own data members, in order."""
        known = self._known_record(record)
        return () if known is None else tuple(f.name for f in known.fields)

    def member_type(self, record: str, name: str) -> Type | None:
        """The type that a name means in a record, those around it searched too."""
        known = self._known_record(record)
        if known is not None:
            if primary_name(record).rpartition("::")[2] == name:
                return _itself(record, known)
            if name in known.aliases:
                return known.aliases[name]
        around = _enclosing(record)
        return self.member_type(around, name) if around else None

    def member_value(self, record: str, name: str) -> Expr | None:
        """What a name means in a record: of its bases and of those around it the constants."""
        known = self._known_record(record)
        if known is not None:
            if name in known.constants:
                return StaticMember(_itself(record, known), name)
            if any(f.name == name for f in known.fields) or name in known.methods:
                return Member(This(), name, True)
            if self._inherits(known, name):
                return StaticMember(_itself(record, known), name)
        return self._constant_around(_enclosing(record), name)

    def _inherits(self, derived: Record, name: str, depth: int = 4) -> bool:
        """Whether a base has a constant of a name, in any of the base's specialisations."""
        bases = (b.name for b in derived.written_bases if isinstance(b, RecordRef) and depth)
        return any(
            known is not derived and (name in known.constants or self._inherits(known, name, depth - 1))
            for base in bases
            for known in self._all_of(base)
        )

    def _all_of(self, name: str) -> Iterator[Record]:
        """A record and all that specialise the same template."""
        first = self._by_name.get(name)
        own = "" if first is None else self._c.declarations.qualified(first.node)
        for found in () if first is None else self._c.declarations.records_named.get(first.name, ()):
            if self._c.declarations.qualified(found.node) != own:
                continue
            if found.key not in self._lowered:
                self.lower_record(found)
            known = self._c.found.records.get(self.stored_name(found))
            if known is not None:
                yield known

    def _constant_around(self, record: str, name: str) -> Expr | None:
        known = self._known_record(record) if record else None
        if known is not None and name in known.constants:
            return StaticMember(_itself(record, known), name)
        return self._constant_around(_enclosing(record), name) if record else None

    # The library's records

    def require_library_record(self, node: Node, name: str) -> None:
        """Stores the fields of a library record (`float4`, `dim3`); its methods are known by name only."""
        if name in self._library or name in self._c.found.records:
            return
        self._library.add(name)
        c = self._c
        template = cursors.specialized_template(node)
        pattern = template if valid(template) else node
        defined = cursors.definition(pattern)
        if not valid(defined):
            return
        with c.within(Scope()):
            parameters = template_parameters(self._c, defined, None)
            c.scope.templates.append(parameters)
            kids = cursors.children(defined)
            fields = [self._field(k) for k in kids if k.kind == kinds.FIELD]
            if not fields:
                return  # what is in it is not declared here
            vector = vector_named(name)
            of_vector = Literal(vector.alignas) if vector is not None and vector.alignas else None
            align = self._c.decls.alignment(kids) or of_vector
            union = defined.kind == kinds.UNION
            c.found.records[name] = Record(
                name, tuple(fields), self._c.decls.place_of(defined), parameters, union, align
            )
