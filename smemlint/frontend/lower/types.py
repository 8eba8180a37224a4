"""Types: clang's to the IR's."""

from __future__ import annotations

from smemlint.frontend.clang import cursors, kinds
from smemlint.frontend.clang.cursors import CType, Node
from smemlint.frontend.clang.names import Definition
from smemlint.frontend.lower.context import Context
from smemlint.frontend.lower.templates.parameters import expand_alias
from smemlint.frontend.text.expansion import ANGLES, listed
from smemlint.frontend.text.scalars import BY_KIND, library_scalar
from smemlint.ir import (
    ArrayOf,
    Expr,
    FunctionType,
    Literal,
    Name,
    OpaqueType,
    PointerTo,
    RecordRef,
    Scalar,
    TemplateArgument,
    TemplateParam,
    Type,
    TypeParam,
)
from smemlint.ir.types import BOOL, CONSTANT, INT, SEQUENCE, primary_name
from smemlint.patterns import pattern

POINTER, LVALUE, RVALUE, RECORD, ENUMERATION, TYPEDEF_TYPE = 101, 103, 104, 105, 106, 107
FUNCTION_TYPES = (110, 111)
TO_MEMBER = 117
CONSTANT_ARRAY, INCOMPLETE_ARRAY, VARIABLE_ARRAY, DEPENDENT_ARRAY = 112, 114, 115, 116
ARRAYS = (CONSTANT_ARRAY, INCOMPLETE_ARRAY, VARIABLE_ARRAY, DEPENDENT_ARRAY)
AUTO, ELABORATED, UNEXPOSED, ATTRIBUTED = 118, 119, 1, 163
_WORD = pattern(r"(?:(?:const|volatile|struct|class|typename)\s+)*([A-Za-z_]\w*)\s*(\.\.\.)?$")
_CANONICAL = pattern(r"(?:(?:const|volatile)\s+)*type-parameter-(\d+)-(\d+)")
_CONSTANT = pattern(r"const\s[^*&]*$|.*\*\s*const$")
"""A template argument that is a constant type itself."""
_TYPE_DEPTH = 40


def _constant(argument: TemplateArgument) -> TemplateArgument:
    """A constant type as a template argument, where specialisations tell it from others."""
    return RecordRef(CONSTANT, (argument,))


def _written_arguments(text: str) -> tuple[str, ...]:
    """The template arguments of a specialisation as its name has them."""
    found = listed(text, text.index("<"), ANGLES) if "<" in text else None
    return tuple(found[0]) if found is not None else ()


def plain(arguments: tuple[TemplateArgument, ...]) -> tuple[TemplateArgument, ...]:
    """Return template arguments without what says that they are constant types."""
    if not any(isinstance(a, RecordRef) and a.name == CONSTANT for a in arguments):
        return arguments
    return tuple(a.arguments[0] if isinstance(a, RecordRef) and a.name == CONSTANT else a for a in arguments)


class TypeLowering:
    """Lowers types; results are kept per scope, as the same clang type means the same there."""

    def __init__(self, context: Context) -> None:
        self._c = context
        self._known: dict[tuple[int | None, int | None, int], Type] = {}
        self._depth = 0

    def scope_changed(self) -> None:
        """Forget what types mean: names may now mean others."""
        self._known = {}

    def of(self, node: Node) -> Type:
        """The declared type of a cursor."""
        return self.lower(cursors.cursor_type(node))

    def lower(self, type_: CType) -> Type:
        """Return a type of clang as one of ours, made once while the scope stays."""
        scalar = BY_KIND.get(type_.kind)
        if scalar is not None:
            return scalar
        key = (type_.d0, type_.d1, type_.kind)
        found = self._known.get(key)
        if found is None:
            if self._depth > _TYPE_DEPTH:
                return OpaqueType(cursors.type_spelling(type_)[:120])
            self._depth += 1
            try:
                found = self._lower(type_)
            finally:
                self._depth -= 1
            self._known[key] = found
        return found

    def _lower(self, type_: CType) -> Type:
        kind = type_.kind
        if kind == ELABORATED:
            return self._elaborated(type_)
        if kind in (POINTER, LVALUE, RVALUE):
            return self._pointer(type_, kind)
        if kind == RECORD:
            return self.record(cursors.type_declaration(type_))
        if kind == ENUMERATION:
            return self.enum(cursors.type_declaration(type_))
        if kind == TYPEDEF_TYPE:
            return self._typedef(cursors.type_declaration(type_))
        if kind in ARRAYS:
            return self._array(type_)
        if kind in FUNCTION_TYPES:
            return FunctionType(cursors.type_spelling(type_))
        if kind == TO_MEMBER:
            to = cursors.pointee_type(type_)
            of_function = to.kind in FUNCTION_TYPES
            return FunctionType(cursors.type_spelling(type_)) if of_function else PointerTo(self.lower(to))
        if kind == ATTRIBUTED:
            return self.lower(cursors.modified_type(type_))
        if kind == AUTO:
            deduced = cursors.canonical_type(type_)
            return OpaqueType("auto") if deduced.kind in (AUTO, UNEXPOSED) else self.lower(deduced)
        if kind in (113, 176):
            count = Literal(int(cursors.vector_length(type_)))
            return ArrayOf(self.lower(cursors.vector_element_type(type_)), count)
        return self._unexposed(type_)

    def _elaborated(self, type_: CType) -> Type:
        named = cursors.named_type(type_)
        if named.kind == UNEXPOSED and "::" in (text := cursors.type_spelling(type_)):
            canonical = cursors.canonical_type(type_)
            if canonical.kind == UNEXPOSED and text.startswith("typename"):
                return self._from_text(text)
        return self.lower(named)

    def _pointer(self, type_: CType, kind: int) -> Type:
        reference = kind != POINTER
        pointee = cursors.pointee_type(type_)
        if pointee.kind in FUNCTION_TYPES:
            return FunctionType(cursors.type_spelling(type_))
        to = self.lower(pointee)
        if isinstance(to, FunctionType) and (
            reference or cursors.canonical_type(pointee).kind in FUNCTION_TYPES
        ):
            return to
        return PointerTo(to, reference, bool(cursors.is_volatile(pointee)), kind == RVALUE)

    def _array(self, type_: CType) -> Type:
        element = self.lower(cursors.element_type(type_))
        if type_.kind == CONSTANT_ARRAY:
            return ArrayOf(element, Literal(int(cursors.array_size(type_))))
        if type_.kind == INCOMPLETE_ARRAY:
            return ArrayOf(element, None)
        whole = self._from_text(cursors.type_spelling(type_))
        return whole if isinstance(whole, ArrayOf) else ArrayOf(element, None)

    def _typedef(self, declaration: Node) -> Type:
        name = cursors.spelling(declaration)
        if not self._c.declarations.in_project(declaration):
            scalar = library_scalar(name)
            if scalar is not None:
                return scalar
            if self._c.positions.is_healed(declaration):
                return OpaqueType(name)
        found = self.lower(cursors.typedef_underlying(declaration))
        if isinstance(found, OpaqueType) and self._is_any(found.spelling):
            return OpaqueType(name)
        return found

    def enum(self, declaration: Node) -> Type:
        found = cursors.canonical_type(cursors.enum_integer_type(declaration))
        behind = BY_KIND.get(found.kind, INT) if found.kind else INT
        name = cursors.spelling(declaration)
        if not name or "(" in name or not isinstance(behind, Scalar):
            return behind
        return Scalar(self._c.declarations.qualified(declaration), behind.size, behind.kind, True)

    def _unexposed(self, type_: CType) -> Type:
        text = cursors.type_spelling(type_)
        if "_BitInt(" in text:
            return self._stand_in(text)
        word = _WORD.match(text)
        if word:
            parameter = self._c.scope.template(word.group(1))
            if parameter is not None and parameter.kind == "type":
                return TypeParam(parameter.id, parameter.name)
            if parameter is not None and parameter.kind == "template":
                return RecordRef(f"@{parameter.id}", self._arguments_of(type_, text))
        canonical = cursors.canonical_type(type_)
        if canonical.kind != UNEXPOSED:
            return self.lower(canonical)
        indexed = _CANONICAL.match(text)
        if indexed:
            parameter = self._c.scope.by_index(int(indexed.group(1)), int(indexed.group(2)))
            return TypeParam(parameter.id, parameter.name) if parameter else OpaqueType(text)
        declaration = cursors.type_declaration(type_)
        if declaration.kind == kinds.CLASS_TEMPLATE:
            return self._template_record(declaration, type_, text)
        if declaration.kind == kinds.ALIAS_TEMPLATE:
            return self._alias_template(declaration, self._arguments_of(type_, text))
        if declaration.kind in kinds.RECORDS:
            return self.record(declaration)
        if cursors.spelling(declaration) == SEQUENCE:
            return RecordRef(SEQUENCE, self._arguments_of(type_, text))
        return self._from_text(text)

    def _stand_in(self, text: str) -> Type:
        """The unknown type that a number of an odd width stands for."""
        name = self._c.declarations.stand_in(text)
        return library_scalar(name) or OpaqueType(name)

    def _from_text(self, text: str) -> Type:
        return self._c.texts.read_type(text) or OpaqueType(text)

    def _arguments_of(self, type_: CType, text: str) -> tuple[TemplateArgument, ...]:
        """Arguments of a dependent template-id: clang gives the types, the printed text the values."""
        count = cursors.type_argument_count(type_)
        if count <= 0:
            return self._c.texts.template_arguments(text)
        given = [cursors.type_argument(type_, i) for i in range(count)]
        if all(g.kind != 0 for g in given):
            return tuple(self.lower(g) for g in given)
        read = self._c.texts.template_arguments(text)
        if len(read) != count:
            return read
        return tuple(self.lower(g) if g.kind != 0 else r for g, r in zip(given, read, strict=True))

    def _template_record(self, declaration: Node, type_: CType, text: str) -> Type:
        found = self._c.declarations.record(declaration)
        if "<" not in text:
            if found is not None and found.name == primary_name(self._c.scope.record or ""):
                return self.record(declaration)
            return RecordRef(self._c.decls.record_name(declaration))
        arguments = self._arguments_of(type_, text)
        if self._tells_constants(declaration):
            given = (cursors.type_argument(type_, i) for i in range(len(arguments)))
            arguments = tuple(
                _constant(a) if cursors.is_const(g) and plain((a,)) == (a,) else a
                for a, g in zip(arguments, given, strict=True)
            )
        return self.template_id(declaration, arguments)

    def template_id(self, declaration: Node, arguments: tuple[TemplateArgument, ...]) -> Type:
        """`Template<arguments>` for a class or alias template."""
        if not self._tells_constants(declaration):
            arguments = plain(arguments)
        if declaration.kind == kinds.ALIAS_TEMPLATE:
            return self._alias_template(declaration, arguments)
        found = self._c.declarations.record(declaration)
        if found is not None:
            self._c.decls.require_record(found)
            outer = self._c.decls.outer_parameters(found)
            arguments = (*own_arguments(outer), *arguments)
        name = self._c.decls.record_name(declaration)
        if self._is_any(name):
            return OpaqueType(name)
        return RecordRef(name, arguments)

    def _alias_template(self, declaration: Node, arguments: tuple[TemplateArgument, ...]) -> Type:
        return expand_alias(self._c, declaration, arguments)

    @staticmethod
    def _is_any(name: str) -> bool:
        """Whether a name is that of the type which stands in for what nothing declares."""
        return name.startswith("smemlint::")

    def record(self, declaration: Node) -> Type:
        """A class type: a number for the library's scalars, else a reference to a record."""
        name = self._c.decls.record_name(declaration)
        found = self._c.declarations.record(declaration)
        scalar = library_scalar(name) if found is None else None
        if scalar is not None:
            return scalar
        if found is None and self._is_any(name):
            return OpaqueType(name)
        arguments = self.record_arguments(declaration, found)
        if found is not None:
            self._c.decls.require_record(found)
        else:
            self._c.decls.require_library_record(declaration, name)
        return RecordRef(name, arguments)

    def record_arguments(self, declaration: Node, found: Definition | None) -> tuple[TemplateArgument, ...]:
        """Template arguments of an instance, or a template's own parameters inside its pattern."""
        outer: tuple[TemplateArgument, ...] = ()
        parent = cursors.semantic_parent(declaration)
        if parent.kind in kinds.RECORDS:
            outer = self.record_arguments(parent, self._c.declarations.record(parent))
        elif found is not None and parent.kind in kinds.FUNCTIONS:
            outer = own_arguments(self._c.decls.outer_parameters(found))
        if declaration.kind == kinds.PARTIAL:  # its members mean this specialisation, not the template's own
            return (*outer, *self.pattern_arguments(declaration))
        count = cursors.template_argument_count(declaration)
        if count > 0:
            given = (self._argument(declaration, i) for i in range(count))
            own = tuple(
                _constant(a) if a is not None and self._is_constant(declaration, i) else a
                for i, a in enumerate(given)
            )
            if any(a is None for a in own):
                own = self._c.texts.template_arguments(cursors.display_name(declaration))
            return (*outer, *(a for a in own if a is not None))
        if (
            declaration.kind == kinds.UNION
            and found is not None
            and found.node.kind in (kinds.CLASS_TEMPLATE, kinds.PARTIAL)
        ):
            # libclang counts the arguments of classes only
            return (*outer, *self._c.texts.template_arguments(cursors.display_name(declaration)))
        if found is not None and found.node.kind == kinds.CLASS_TEMPLATE:
            return (*outer, *own_arguments(self._c.decls.own_parameters(found)))
        return outer

    def pattern_arguments(self, partial: Node) -> tuple[TemplateArgument, ...]:
        """The arguments that a partial specialisation is for; `const T` fits nothing but what is constant."""
        text = cursors.display_name(partial)
        found = self._c.texts.template_arguments(text)
        parts = _written_arguments(text)
        if len(parts) != len(found):
            return found
        return tuple(_constant(a) if _CONSTANT.match(p) else a for a, p in zip(found, parts, strict=True))

    def _is_constant(self, instance: Node, index: int) -> bool:
        """Whether an argument is a constant type, and specialisations of its template ask for that."""
        if cursors.template_argument_kind(instance, index) != 1:
            return False
        if not cursors.is_const(cursors.template_argument_type(instance, index)):
            return False
        return self._tells_constants(instance)

    def _tells_constants(self, template: Node) -> bool:
        """Whether a template has specialisations for constant types."""
        named = self._c.declarations.records_named.get(cursors.spelling(template), ())
        partial = (cursors.display_name(n.node) for n in named if n.node.kind == kinds.PARTIAL)
        return any(_CONSTANT.match(part) for text in partial for part in _written_arguments(text))

    def _argument(self, declaration: Node, index: int) -> TemplateArgument | None:
        kind = cursors.template_argument_kind(declaration, index)
        if kind == 1:
            return self.lower(cursors.template_argument_type(declaration, index))
        if kind == 4:
            value = int(cursors.template_argument_value(declaration, index))
            if value == -1 and cursors.template_argument_unsigned(declaration, index) == 1:
                return Literal(1, BOOL)  # one bit, and its sign
            return Literal(value)
        return None

    def specialisation_arguments(self, declaration: Node) -> tuple[TemplateArgument, ...] | None:
        """All arguments of an instance; None where a pack or an expression is among them."""
        count = cursors.template_argument_count(declaration)
        if count < 0:
            return None
        found = [self._argument(declaration, i) for i in range(count)]
        return None if any(a is None for a in found) else tuple(a for a in found if a is not None)

    def decayed(self, type_: Type) -> Type:
        """A parameter's type: arrays become pointers to their element."""
        return PointerTo(type_.element) if isinstance(type_, ArrayOf) else type_

    def with_extents(self, type_: CType, extents: list[Expr]) -> Type | None:
        """An array type with its written extents, innermost first; None when they do not fit."""
        levels: list[CType] = []
        current = type_
        while current.kind in ARRAYS:
            levels.append(current)
            current = cursors.element_type(current)
        written = sum(1 for level in levels if level.kind != INCOMPLETE_ARRAY)
        if len(extents) < written:
            return None
        chosen = extents[len(extents) - written :]
        result = self.lower(current)
        for level in reversed(levels):
            extent: Expr | None = None
            if level.kind != INCOMPLETE_ARRAY:
                extent = chosen.pop(0)
                if level.kind == CONSTANT_ARRAY:
                    place = getattr(extent, "place", None)
                    extent = Literal(int(cursors.array_size(level)), INT, place)
            result = ArrayOf(result, extent)
        return result

    def scalar_of(self, type_: CType) -> Scalar:
        """The type of an integer literal or enumerator; int when it is none."""
        found = self.lower(type_)
        return found if isinstance(found, Scalar) else INT


def innermost(type_: CType) -> CType:
    """The elements of an array, of however many dimensions; any other type as it is."""
    while type_.kind in ARRAYS:
        type_ = cursors.element_type(type_)
    return type_


def is_constant(type_: CType) -> bool:
    """Whether a variable of this type is const; of `const T x[]` clang says so of the elements only."""
    return bool(cursors.is_const(type_) or cursors.is_const(innermost(type_)))


def own_arguments(parameters: tuple[TemplateParam, ...]) -> tuple[TemplateArgument, ...]:
    """A template's parameters as the arguments that name them."""
    return tuple(TypeParam(p.id, p.name) if p.kind == "type" else Name(p.id, p.name) for p in parameters)
