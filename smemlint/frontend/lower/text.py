"""Names in text, resolved in the scope that is being lowered."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

from smemlint.frontend.clang import cursors, kinds
from smemlint.frontend.clang.cursors import Node
from smemlint.frontend.clang.names import nearest
from smemlint.frontend.lower.context import Context
from smemlint.frontend.lower.templates.parameters import named_alias
from smemlint.frontend.lower.templates.variables import written
from smemlint.frontend.lower.types import plain
from smemlint.frontend.prelude.precompiled import library_typedef
from smemlint.frontend.text.expansion import expanded
from smemlint.frontend.text.lexed import lex
from smemlint.frontend.text.requires import both, clauses
from smemlint.frontend.text.scalars import SPECIAL_NAMES, library_scalar
from smemlint.frontend.text.textual import TextError, TextParser
from smemlint.ir import (
    Expr,
    Field,
    Literal,
    MemberType,
    Name,
    Place,
    Record,
    RecordRef,
    TemplateArgument,
    Type,
    TypeParam,
    UnknownExpr,
)
from smemlint.ir.vectors import vector_named
from smemlint.patterns import pattern

_TEXT_LIMIT = 4000


class TextLowering:
    """Reads types and expressions from text; implements `requires.Resolver`."""

    def __init__(self, context: Context) -> None:
        self._c = context
        self._hints: dict[str, Node] = {}

    @cached_property
    def _variable_templates(self) -> dict[str, list[str]]:
        """Qualified names of variable templates by their last part."""
        found: dict[str, list[str]] = {}
        for name in dict.fromkeys(name for name, _ in written(self._c)):
            found.setdefault(name.rpartition("::")[2], []).append(name)
        return found

    def hinted(self, node: Node) -> TextLowering:
        """Takes the types that a cursor's children refer to as known by name, until the next call."""
        self._hints = {}
        self._collect_hints(node, 0)
        return self

    def _collect_hints(self, node: Node, depth: int) -> None:
        for kid in cursors.children(node):
            if kid.kind in (kinds.TYPE_REF, kinds.TEMPLATE_REF):
                target = cursors.referenced(kid)
                self._hints[cursors.spelling(target)] = target
            elif depth < 2 and kinds.is_expression(kid.kind):
                self._collect_hints(kid, depth + 1)

    def _parser(self, tokens: Sequence[str]) -> TextParser:
        calls = (self._c.positions.macro(a) for a, b in pairwise(tokens) if b == "(")
        here = {m.name: m for m in calls if m is not None and m.parameters is not None}
        if here:
            tokens = lex(expanded(" ".join(tokens), {**self._c.positions.macros(), **here})[:_TEXT_LIMIT])
        for token in tokens:
            self._c.work.mention(token)
        return TextParser(tokens, self, self._macro_body)

    def _macro_body(self, name: str) -> str | None:
        macro = self._c.positions.macro(name)
        return macro.body if macro is not None and macro.parameters is None else None

    def type(self, name: str, arguments: tuple[TemplateArgument, ...] | None = None) -> Type | None:
        """A type by name (as `Resolver`); see `read_type` for text of any form."""
        scope = self._c.scope
        parameter = scope.template(name)
        if parameter is not None:
            if parameter.kind == "type":
                return TypeParam(parameter.id, parameter.name)
            found = RecordRef(f"@{parameter.id}", plain(arguments or ()))
            return found if parameter.kind == "template" else None
        if name in scope.locals or name in SPECIAL_NAMES:
            return None
        if name in scope.types and arguments is None:
            return scope.types[name]
        if scope.record is not None and arguments is None:
            member = self._c.decls.member_type(scope.record, name)
            if member is not None:
                return member
        return self._declared_type(name, arguments)

    def _vector(self, name: str) -> Type | None:
        """`float4`, `__half2`, `dim3` and their like by name alone."""
        vector = vector_named("uint3" if name == "dim3" else name)
        if vector is None:
            return None
        if name not in self._c.found.records:
            nowhere = Place("", 1, 1, 1, 1, 0, 0)
            fields = tuple(Field(axis, vector.element, nowhere) for axis in vector.axes)
            align = Literal(vector.alignas) if vector.alignas else None
            self._c.found.records[name] = Record(name, fields, nowhere, align=align)
        return RecordRef(name)

    def _declared_type(self, name: str, arguments: tuple[TemplateArgument, ...] | None) -> Type | None:
        declarations = self._c.declarations
        scope, _, last = name.rpartition("::")
        if scope and arguments is None and self._is_of_enumeration(name, scope):
            return None
        candidates = declarations.records_named.get(last)
        if candidates:
            chosen = self._hints.get(last) if len(candidates) > 1 else None
            if chosen is None or chosen.kind not in kinds.RECORDS:
                nodes = [candidate.node for candidate in candidates]
                chosen = declarations.among(nodes, name, self._c.scope.around) or nodes[0]
            if arguments is None:
                return self._c.types.record(chosen)
            return self._c.types.template_id(chosen, arguments)
        arguments = arguments and plain(arguments)
        node = self._hints.get(last) or self._nearest(name, declarations.types_named)
        scalar = library_scalar(last) if node is None else None
        if scalar is not None:
            return scalar
        if node is None and arguments is None and declarations.enumerator(name) is not None:
            return None  # a name that was healed elsewhere may be known as a type as well
        if node is None and (name.startswith("std::") or "::" not in name or arguments is not None):
            node = declarations.library_type(last)
            if node is None and arguments is None:
                meant = library_typedef(last)
                return self._vector(last) if meant is None else self.read_type(meant)
        if node is None and arguments is not None:
            trait = _trait(last, arguments) if name.removesuffix(last) in TRAIT_SCOPES else None
            return trait or (RecordRef(name, arguments) if _CLASS.fullmatch(name) else None)
        if node is None or node.kind == kinds.ENUMERATOR:
            return None
        if node.kind == kinds.ENUM:
            return self._c.types.enum(node)
        if node.kind in kinds.TEMPLATE_PARAMETERS:
            return None
        if arguments is not None:
            return self._c.types.template_id(node, arguments)
        return named_alias(self._c, node) if node.kind == kinds.ALIAS_TEMPLATE else self._c.types.of(node)

    def _nearest(self, name: str, named: dict[str, Node]) -> Node | None:
        """What a name means of several that are called so in different namespaces."""
        last = name.rpartition("::")[2]
        known = self._c.declarations
        nodes = known.namesakes.get(last, ()) if last in named else ()
        found = known.among(nodes, name, self._c.scope.around) if len(nodes) > 1 else None
        return found or named.get(last)

    def _is_of_enumeration(self, name: str, scope: str) -> bool:
        """Whether a qualified name is an enumerator's, though a type may be called so as well."""
        found = self._c.declarations.enumerator(name)
        enum = None if found is None else cursors.semantic_parent(found)
        return enum is not None and cursors.spelling(enum) == scope.rpartition("::")[2]

    def is_variable_template(self, name: str) -> bool:
        """Whether `<` behind a name begins arguments, though the name is that of a number."""
        known = self._variable_templates.get(name.rpartition("::")[2], ())
        return bool(known) and name not in self._c.scope.locals and self._c.scope.template(name) is None

    def fields(self, t: Type) -> tuple[str, ...]:
        """Return the names of a class's data members (as `Resolver`)."""
        return self._c.decls.field_names(t.name) if isinstance(t, RecordRef) else ()

    def value(self, name: str) -> Expr | None:
        """Return what a name means in text that clang left unresolved: the nearest variable, parameter,
        member or function. None: nothing known."""
        scope = self._c.scope
        if name in scope.locals:
            return scope.locals[name]
        parameter = scope.template(name)
        if parameter is not None:
            return Name(parameter.id, parameter.name) if parameter.kind == "value" else None
        if scope.record is not None:
            member = self._c.decls.member_value(scope.record, name)
            if member is not None:
                return member
        declarations = self._c.declarations
        last = name.rpartition("::")[2]
        if name in SPECIAL_NAMES:
            return None
        variable = self._nearest(name, declarations.variables_named)
        if variable is not None:
            return self._c.names.use(variable)
        enumerator = declarations.enumerator(name, scope.around)
        if enumerator is not None:
            return self._c.names.enumerator(enumerator, None)
        if last in self._variable_templates:
            known = self._variable_templates[last]
            return Name("", nearest(known, name, scope.around) or known[0])
        functions = declarations.functions_named.get(last)
        if functions and functions[0].record is None:
            return self._c.calls.overload_set(name, functions, None, ())
        return None

    def read_type(self, text: str) -> Type | None:
        """A whole text as a type; None when it is none or too long."""
        if len(text) > _TEXT_LIMIT:
            return None
        parser = self._parser(lex(text))
        try:
            found = parser.type()
        except (TextError, RecursionError):
            return None
        return found if parser.done() or parser.peek() == "..." else None

    def read_expression(self, text: str, *, prefix: bool = False) -> Expr | None:
        """A text as an expression; prefix: only its beginning, as a name with what follows it."""
        if len(text) > _TEXT_LIMIT:
            return None
        parser = self._parser(lex(text))
        try:
            found = parser._named_value() if prefix else parser.expression()
        except (TextError, RecursionError):
            return None
        return found if prefix or parser.done() else None

    def read_clauses(self, head: str) -> Expr | None:
        """What the `requires` clauses ask in the text of a function or class, which begins with its head.
        None: nothing."""
        if "requires" not in head:
            return None
        try:
            return both(clauses(self._parser(lex(head[:_TEXT_LIMIT]))))
        except (TextError, RecursionError):
            return UnknownExpr("requires")

    def read_in_macro(self, node: Node) -> Expr | None:
        """The name at which a cursor begins that stands in a macro's body."""
        body = self._c.positions.body_text(node)
        return self.read_expression(body, prefix=True) if body else None

    def operand_type(self, text: str) -> Type | None:
        """The operand of `sizeof (...)`, parentheses included, when it is a type."""
        parser = self._parser(lex(text))
        try:
            parser.expect("(")
            found = parser.type(strict=True)
            parser.expect(")")
        except (TextError, RecursionError):
            return None
        return found if parser.done() else None

    def template_arguments(self, text: str) -> tuple[TemplateArgument, ...]:
        """The arguments in the text's last template-argument list (`a::B<c, d>` gives c and d)."""
        start = _last_list(text)
        if start is None:
            return ()
        parser = self._parser(lex(text[start:]))
        try:
            return parser._try_arguments(False) or ()
        except (TextError, RecursionError):
            return ()

    def call_arguments(self, text: str) -> tuple[Expr, ...] | None:
        """The expressions of `(a, b)` at the text's first parenthesis."""
        at = text.find("(")
        if at < 0:
            return None
        parser = self._parser(lex(text[at:]))
        try:
            return parser.arguments("(", ")")
        except (TextError, RecursionError):
            return None


TRAITS = frozenset(
    (
        "conditional", "enable_if", "remove_const", "remove_cv", "remove_reference", "remove_cvref", "decay",
        "is_same", "is_integral", "is_floating_point", "is_arithmetic", "is_unsigned", "is_signed",
        "is_pointer", "is_array", "is_void", "is_class", "void", "integral_constant", "bool_constant",
        "remove_pointer", "OpMathType", "AccumulateType",
    )
)  # fmt: skip
"""Templates of the standard library and of PyTorch that sizes and instances depend on."""
_CLASS = pattern(
    r"(?:std|cuda::std|thrust)::(?:complex|pair|tuple|array|vector|plus|multiplies|maximum|minimum|less|greater)"
)
"""Classes of libraries that are known by name alone."""
TRAIT_SCOPES = ("", "std::", "cuda::std::", "at::")


def _trait(name: str, arguments: tuple[TemplateArgument, ...]) -> Type | None:
    if name in TRAITS:
        return RecordRef(f"std::{name}", arguments)
    plain = name.removesuffix("_t")
    return MemberType(RecordRef(f"std::{plain}", arguments), "type") if plain in TRAITS else None


def _compares(text: str, at: int) -> bool:
    """Whether `<` is an operator: `sizeof(T) <= 4`, `N < 4`."""
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    return after == "=" or "<" in (before, after) or (before == after == " ")


def _last_list(text: str) -> int | None:
    """Where the last `<...>` that closes at the end of the name begins."""
    end = text.rstrip().rfind(">")
    if end < 0:
        return None
    depth = paren = 0
    for at in range(end, -1, -1):
        char = text[at]
        if char in ")]":
            paren += 1
        elif char in "([":
            paren -= 1
        elif paren == 0 and char == ">" and text[at - 1 : at] != "-":
            depth += 1
        elif paren == 0 and char == "<" and not _compares(text, at):
            depth -= 1
            if depth == 0:
                return at
    return None
