"""Expressions but calls: names, operators, casts, members, literals, lists."""

from __future__ import annotations

import re
from collections.abc import Callable

from smemlint.frontend import cursors
from smemlint.frontend.lowering import DEPTH_LIMIT, NODE_LIMIT, Context
from smemlint.frontend.cursors import Node
from smemlint.frontend.builtin_operators import builtin_operator
from smemlint.frontend.literals import integer_literal, literal_from_text
from smemlint.frontend.lower_types import ARRAYS, POINTER, own_arguments
from smemlint.frontend.names import (
    CLASS_TEMPLATE,
    ENUMERATOR,
    FIELD,
    FUNCTIONS,
    PARAMETER,
    PARTIAL,
    RECORDS,
    TYPE_PARAMETER,
    UNEXPOSED_DECL,
    VALUE_PARAMETER,
    VARIABLE,
    valid,
)
from smemlint.frontend.opcodes import binary_operator, unary_operator
from smemlint.frontend.scalars import SPECIAL_AXES, SPECIAL_NAMES
from smemlint.frontend.textual import special_member, special_triple
from smemlint.ir import (
    Assign,
    Binary,
    Call,
    Cast,
    Conditional,
    Construct,
    Evaluate,
    Expr,
    FloatLiteral,
    Index,
    InitList,
    Lambda,
    Literal,
    Member,
    Name,
    Place,
    RecordRef,
    Return,
    SizeOf,
    Special,
    StaticMember,
    StringLiteral,
    TemplateArgument,
    This,
    Unary,
    UnknownExpr,
    Var,
)
from smemlint.ir.types import BOOL, DOUBLE, INT

DECL_REF, MEMBER_REF_EXPR, CALL, PAREN, UNEXPOSED = 101, 102, 103, 111, 100
OVERLOADED, MEMBER_REF = 49, 47
TYPE_REF, TEMPLATE_REF, NAMESPACE_REF = 43, 45, 46
INIT_LIST = 119
_OPERATORS = ("=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "^=", "|=")
_BETWEEN = frozenset(
    (*_OPERATORS, "+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "<", "<=", ">", ">=", "==", "!=", "&&", "||")
)
_DEPENDENT_MEMBER = re.compile(r"\s*(->|\.)\s*(template\b)?\s*(~?[A-Za-z_]\w*(?:\s*::\s*[A-Za-z_]\w*)*|operator\b.*)")


def is_expression(kind: int) -> bool:
    return 100 <= kind < 200 or kind == 280


class ExpressionLowering:
    """One method per kind of cursor; `lower` is the entry."""

    def __init__(self, context: Context) -> None:
        self._c = context
        self._handlers: dict[int, Callable[[Node], Expr]] = {
            100: self._unexposed,
            101: self._name,
            102: self._member,
            103: self._call,
            106: self._integer,
            107: self._floating,
            109: self._string,
            110: self._character,
            111: self._paren,
            112: self._unary,
            113: self._index,
            114: self._binary,
            115: self._compound,
            116: self._conditional,
            117: self._cast,
            118: self._compound_literal,
            119: self._init_list,
            121: self._statement_expression,
            123: self._null,
            124: self._cast,
            125: self._cast,
            126: self._reinterpret,
            127: self._cast,
            128: self._functional_cast,
            130: self._bool,
            131: self._null,
            132: self._this,
            136: self._size_of,
            142: self._pack_expansion,
            144: self._lambda,
            152: self._cast,
            280: self._cast,
        }
        self._reasons = {
            108: "imaginary literal",
            120: "address of a label",
            122: "_Generic",
            129: "typeid",
            133: "throw",
            134: "new",
            135: "delete",
            143: "sizeof...",
            153: "concept",
            154: "requires",
        }

    def lower(self, node: Node) -> Expr:
        """Any expression; never raises, what is not understood becomes UnknownExpr with its parts."""
        c = self._c
        handler = self._handlers.get(node.kind)
        if handler is None:
            return self._not_understood(node)
        if c.depth > DEPTH_LIMIT or c.nodes > NODE_LIMIT:
            reason = "nested too deeply" if c.depth > DEPTH_LIMIT else "too much code in one file"
            return UnknownExpr(reason, (), c.place(node))
        c.depth += 1
        c.nodes += 1
        try:
            return handler(node)
        finally:
            c.depth -= 1

    def lower_all(self, nodes: list[Node]) -> tuple[Expr, ...]:
        return tuple(self.lower(node) for node in nodes)

    def _not_understood(self, node: Node) -> Expr:
        reason = self._reasons.get(node.kind, f"expression of kind {node.kind}")
        parts = [k for k in cursors.children(node) if is_expression(k.kind)]
        return UnknownExpr(reason, self.lower_all(parts), self._c.place(node))

    # Wrappers

    def unwrap(self, node: Node) -> Node:
        """Without parentheses and implicit casts around it."""
        while node.kind in (UNEXPOSED, PAREN):
            kids = cursors.children(node)
            if len(kids) != 1:
                break
            node = kids[0]
        return node

    def _paren(self, node: Node) -> Expr:
        kids = cursors.children(node)
        if len(kids) == 1:
            return self.lower(kids[0])
        if not kids:
            return UnknownExpr("empty parentheses", (), self._c.place(node))
        parts = self.lower_all(kids)
        return UnknownExpr("expression list", parts, self._c.place(node))

    def _unexposed(self, node: Node) -> Expr:
        kids = cursors.children(node)
        while len(kids) == 1 and kids[0].kind == UNEXPOSED:
            kids = cursors.children(kids[0])
        if len(kids) == 1 and is_expression(kids[0].kind):
            return self.lower(kids[0])
        return self._unexposed_other(node, kids)

    def _unexposed_other(self, node: Node, kids: list[Node]) -> Expr:
        expressions = [k for k in kids if is_expression(k.kind)]
        text = self._c.positions.text(node) or ""
        place = self._c.place(node)
        if kids and kids[0].kind in (TYPE_REF, TEMPLATE_REF, NAMESPACE_REF) and len(expressions) == 1:
            return self.lower(expressions[0])
        if not expressions:
            return self._without_parts(node, text, place)
        if text.startswith("__builtin_choose_expr") and len(expressions) == 3:
            return self.lower(expressions[1])
        if re.match(r"\(.*\.\.\.", text, re.DOTALL) or text.rstrip(" )").endswith("..."):
            return UnknownExpr("fold expression", self.lower_all(expressions), place)
        if expressions[0].kind in (DECL_REF, MEMBER_REF_EXPR) and len(text) > 1 and text.endswith(")"):
            return self._c.calls.recovered(node, expressions)
        if len(expressions) == 2:
            operator = self._between(expressions[0], expressions[1])
            if operator is not None:
                return builtin_operator(operator, list(self.lower_all(expressions)), place, False)
        if "?:" in text.replace(" ", "") and len(expressions) >= 2:
            first = self.lower(expressions[0])
            return Conditional(first, first, self.lower(expressions[-1]), place)
        return UnknownExpr("not understood by clang", self.lower_all(expressions), place)

    def _between(self, left: Node, right: Node) -> str | None:
        """The operator written between two operands that clang could not combine."""
        first, second = self._c.place(left), self._c.place(right)
        if first is None or second is None or first.path != second.path:
            return None
        start = self._c.positions.start(left)
        if start is None or not 0 < second.offset - first.end_offset < 40:
            return None
        text = start[0].slice(first.end_offset, second.offset).strip()
        return text if text in _BETWEEN else None

    def _without_parts(self, node: Node, text: str, place: Place | None) -> Expr:
        type_ = self._c.types.of(node)
        if text.endswith(("()", "{}")):
            return Cast(type_, Literal(0), place=place)
        if text.startswith("__") and text.endswith("__"):
            return StringLiteral(text, place)
        value = cursors.evaluate(node)
        if isinstance(value, int):
            return Literal(value, self._c.types.scalar_of(cursors.cursor_type(node)), place)
        if isinstance(value, float):
            return FloatLiteral(value, DOUBLE, place)
        found = self._c.texts.read_expression(text) if text else None
        return found if found is not None else UnknownExpr(f"not read: {text[:40]}", (), place)

    # Literals

    def _integer(self, node: Node) -> Expr:
        positions = self._c.positions
        text = None if positions.in_macro(node) else positions.text(node)
        found = integer_literal(text) if text else None
        if found is not None:
            return found
        value = cursors.evaluate(node)
        scalar = self._c.types.scalar_of(cursors.cursor_type(node))
        if isinstance(value, int):
            return Literal(value, scalar, self._c.place(node))
        return UnknownExpr("integer literal", (), self._c.place(node))

    def _floating(self, node: Node) -> Expr:
        text = None if self._c.positions.in_macro(node) else self._c.positions.text(node)
        found = literal_from_text(text) if text else None
        if isinstance(found, FloatLiteral):
            return found
        value = cursors.evaluate(node)
        scalar = self._c.types.scalar_of(cursors.cursor_type(node))
        return FloatLiteral(float(value) if value is not None else 0.0, scalar)

    def _character(self, node: Node) -> Expr:
        value = cursors.evaluate(node)
        scalar = self._c.types.scalar_of(cursors.cursor_type(node))
        return Literal(int(value) if value is not None else 0, scalar)

    def _string(self, node: Node) -> Expr:
        return StringLiteral(cursors.spelling(node), self._c.place(node))

    def _bool(self, node: Node) -> Expr:
        text = self._c.positions.text(node)
        if text in ("true", "false"):
            return Literal(int(text == "true"), BOOL)
        value = cursors.evaluate(node)
        return Literal(int(value) if value is not None else 0, BOOL)

    def _null(self, node: Node) -> Expr:
        return Literal(0, INT)

    def _this(self, node: Node) -> Expr:
        return This(self._c.place(node))

    # Names

    def _name(self, node: Node) -> Expr:
        target = cursors.referenced(node)
        kind = target.kind
        if kind in (VARIABLE, PARAMETER, VALUE_PARAMETER):
            return self._variable(node, target)
        if kind == ENUMERATOR:
            return self.enumerator(target, self._c.place(node))
        if kind in FUNCTIONS or kind == OVERLOADED:
            return self._c.calls.function_name(node, target)
        if kind == UNEXPOSED_DECL:
            return self.use(target, self._c.place(node))
        if kind == FIELD:
            return StaticMember(
                self._c.types.record(cursors.semantic_parent(target)),
                cursors.spelling(target),
                self._c.place(node),
            )
        return self.dependent_name(node)

    def _variable(self, node: Node, target: Node) -> Expr:
        c = self._c
        key = target.d0 or 0
        known = c.variables.get(key)
        if known is None:
            known = self.use(target, None)
        place = c.place(node)
        if key in c.shared and place is not None:
            c.shared_refs.add((place.path, place.offset))
        if isinstance(known, Name):
            return Name(known.id, known.name, place, known.arguments)
        if isinstance(known, StaticMember):
            return StaticMember(known.owner, known.name, place, known.arguments)
        if isinstance(known, Special):
            return Special(known.name, known.axis, place)
        if isinstance(known, Construct) and place is not None:
            axes = tuple(Special(a.name, a.axis, place) for a in known.arguments if isinstance(a, Special))
            return Construct(known.type, axes or known.arguments, place)
        return known

    def use(self, target: Node, place: Place | None) -> Expr:
        """What a use of a declared variable, parameter or value parameter is, without its place."""
        c = self._c
        key = target.d0 or 0
        known = c.variables.get(key)
        if known is not None:
            return known
        found = self._first_use(target)
        c.variables[key] = found
        return found

    def _first_use(self, target: Node) -> Expr:
        c = self._c
        name = cursors.spelling(target)
        if target.kind == VALUE_PARAMETER:
            parameter = c.scope.template(name)
            return Name(parameter.id if parameter else f"{name}@?", name)
        parent = cursors.semantic_parent(target)
        if parent.kind in RECORDS:
            owner = c.types.record(parent)
            return StaticMember(owner, name)
        project = c.declarations.in_project(target)
        if not project and name in SPECIAL_NAMES:
            return special_triple(name) if name in SPECIAL_AXES else Special(name)
        if target.kind == VARIABLE and parent.kind not in FUNCTIONS:
            return c.decls.require_global(target, name, project)
        point = c.positions.point(target)
        return Name(c.local_id(name, point[1] if point else 0), name)

    def enumerator(self, target: Node, place: Place | None) -> Expr:
        """An enumerator's value; by name where it depends on template arguments."""
        c = self._c
        enum = cursors.semantic_parent(target)
        owner = cursors.semantic_parent(enum)
        if owner.kind in RECORDS:
            found = c.declarations.record(owner)
            if found is not None and cursors.template_argument_count(owner) <= 0 and c.decls.is_pattern(found):
                return StaticMember(c.types.record(owner), cursors.spelling(target), place)
        key = target.d0 or 0
        if key in c.variables:
            known = c.variables[key]
            return Name(known.id, known.name, place) if isinstance(known, Name) else known
        scalar = c.types.enum(enum)
        return Literal(int(cursors.enum_value(target)), scalar if hasattr(scalar, "kind") else INT, place)  # type: ignore[arg-type]

    def dependent_name(self, node: Node) -> Expr:
        """`Traits<BM, BN>::P` and other names that clang leaves to instantiation: read from the text."""
        c = self._c
        text = c.positions.text(node)
        texts = c.texts.hinted(node)
        found = texts.read_expression(text) if text else None
        if found is None:
            body = c.positions.body_text(node)
            found = texts.read_expression(body, prefix=True) if body else None
        place = c.place(node)
        if isinstance(found, StaticMember):
            return StaticMember(found.owner, found.name, place, found.arguments)
        if isinstance(found, Name):
            return Name(found.id, found.name, place, found.arguments)
        if found is not None:
            return found
        return UnknownExpr(f"dependent name {text or ''}".strip(), (), place)

    # Operators

    def _unary(self, node: Node) -> Expr:
        kids = cursors.children(node)
        op = unary_operator(node)
        if not kids:
            return UnknownExpr("operator without operand", (), self._c.place(node))
        operand = self.lower(kids[-1])
        if op == "__extension__":
            return operand
        if op == "":
            return UnknownExpr("unary operator", (operand,), self._c.place(node))
        if op == "-" and isinstance(operand, Literal) and operand.value == 0:
            return operand
        return Unary(op, operand, self._c.place(node))

    def _binary(self, node: Node) -> Expr:
        """Left-leaning chains (`a + b + c ...`) are walked in a loop: generated code makes long ones."""
        chain: list[tuple[Node, str, Node]] = []
        kids = cursors.children(node)
        while True:
            op = binary_operator(node)
            if len(kids) != 2:
                left: Expr = UnknownExpr("binary operator", self.lower_all(kids), self._c.place(node))
                break
            chain.append((node, op, kids[1]))
            inner = kids[0]
            if inner.kind == UNEXPOSED:
                inner = self.unwrap_implicit(inner)
            if op in _OPERATORS or inner.kind != 114 or len(chain) > 5000:
                left = self.lower(inner)
                break
            node, kids = inner, cursors.children(inner)
        if len(chain) > DEPTH_LIMIT:
            parts = (left, *(self.lower(right) for _, _, right in reversed(chain)))
            return UnknownExpr("nested too deeply", parts, self._c.place(chain[0][0]))
        for item, op, right in reversed(chain):
            value = self.lower(right)
            place = self._c.place(item)
            if op in _OPERATORS:
                left = Assign(op, left, value, place)
            elif op in ("", ".*", "->*", "<=>"):
                left = UnknownExpr(f"operator {op}", (left, value), place)
            else:
                left = Binary(op, left, value, place)
        return left

    def unwrap_implicit(self, node: Node) -> Node:
        while node.kind == UNEXPOSED:
            kids = cursors.children(node)
            if len(kids) != 1:
                break
            node = kids[0]
        return node

    def _compound(self, node: Node) -> Expr:
        kids = cursors.children(node)
        if len(kids) != 2:
            return UnknownExpr("assignment", self.lower_all(kids), self._c.place(node))
        op = binary_operator(node) or "="
        return Assign(op, self.lower(kids[0]), self.lower(kids[1]), self._c.place(node))

    def _conditional(self, node: Node) -> Expr:
        kids = cursors.children(node)
        if len(kids) != 3:
            return UnknownExpr("conditional", self.lower_all(kids), self._c.place(node))
        first, second, third = self.lower_all(kids)
        return Conditional(first, second, third, self._c.place(node))

    def _index(self, node: Node) -> Expr:
        kids = cursors.children(node)
        if len(kids) != 2:
            return UnknownExpr("subscript", self.lower_all(kids), self._c.place(node))
        return Index(self.lower(kids[0]), self.lower(kids[1]), self._c.place(node))

    # Members

    def _member(self, node: Node) -> Expr:
        kids = cursors.children(node)
        base_node = next((k for k in kids if is_expression(k.kind)), None)
        name = cursors.spelling(node)
        if not name:
            return self._dependent_member(node, kids, base_node)
        self._c.mention(name)
        target = cursors.referenced(node)
        if target.kind == VARIABLE:
            return self._variable(node, target)
        if target.kind == ENUMERATOR:
            return self.enumerator(target, self._c.place(node))
        place = self._c.place(node)
        if base_node is None:
            return Member(This(place), name, True, place)
        base = self.lower(base_node)
        special = special_member(base, name)
        if isinstance(special, Special):
            return Special(special.name, special.axis, place)
        arrow = cursors.cursor_type(base_node).kind == POINTER or self._is_array(base_node)
        if not arrow and base_node.kind == 132:
            arrow = True
        return Member(base, name, arrow, place, self._member_arguments(node, target))

    @staticmethod
    def _is_array(node: Node) -> bool:
        return cursors.cursor_type(node).kind in ARRAYS

    def _member_arguments(self, node: Node, target: Node) -> tuple[TemplateArgument, ...]:
        if target.kind not in FUNCTIONS:
            return ()
        if cursors.template_argument_count(target) > 0:
            return self._c.types.specialisation_arguments(target) or ()
        text = self._c.positions.text(node)
        return self._c.texts.template_arguments(text) if text and text.endswith(">") else ()

    def _dependent_member(self, node: Node, kids: list[Node], base_node: Node | None) -> Expr:
        c = self._c
        place = c.place(node)
        overloaded = next((k for k in kids if k.kind == OVERLOADED), None)
        tail = self._member_tail(node, base_node)
        if tail is None:
            body = c.positions.body_text(node)
            found = c.texts.read_expression(body, prefix=True) if body else None
            parts = (self.lower(base_node),) if base_node is not None else ()
            if isinstance(found, Member) and parts:
                return Member(parts[0], found.name, found.arrow, place)
            if overloaded is not None:
                name = cursors.spelling(overloaded)
                c.mention(name)
                base = parts[0] if parts else This(place)
                arrow = base_node is None or cursors.cursor_type(base_node).kind == POINTER
                return Member(base, name, arrow, place)
            return UnknownExpr("dependent member in a macro", parts, place)
        arrow, name, rest = tail
        c.mention(name)
        arguments = c.texts.template_arguments(rest) if rest.startswith("<") else ()
        if base_node is None:
            return Member(This(place), name, True, place, arguments)
        base = self.lower(base_node)
        special = special_member(base, name)
        return special if special is not None else Member(base, name, arrow, place, arguments)

    def _member_tail(self, node: Node, base_node: Node | None) -> tuple[bool, str, str] | None:
        """(arrow, name, text after the name) of a member expression, from its text."""
        positions = self._c.positions
        text = positions.text(node)
        if text is None:
            return None
        if base_node is not None and is_expression(base_node.kind):
            base_text = positions.text(base_node)
            if base_text is not None and text.startswith(base_text):
                text = text[len(base_text) :]
                found = _DEPENDENT_MEMBER.match(text)
                if found:
                    name = found.group(3).rpartition("::")[2].strip()
                    return found.group(1) == "->", name, text[found.end() :].lstrip()
        found_all = list(re.finditer(r"(->|\.)?\s*(?:template\s+)?([A-Za-z_]\w*)\s*(<.*>)?\s*$", text, re.DOTALL))
        if found_all:
            last = found_all[-1]
            return last.group(1) == "->", last.group(2), last.group(3) or ""
        return None

    # Casts and construction

    def _cast(self, node: Node) -> Expr:
        return self._cast_to(node, reinterpret=False)

    def _reinterpret(self, node: Node) -> Expr:
        return self._cast_to(node, reinterpret=True)

    def _cast_to(self, node: Node, reinterpret: bool) -> Expr:
        kids = [k for k in cursors.children(node) if is_expression(k.kind)]
        place = self._c.place(node)
        if not kids:
            return UnknownExpr("cast without operand", (), place)
        return Cast(self._c.types.of(node), self.lower(kids[-1]), reinterpret, place)

    def _functional_cast(self, node: Node) -> Expr:
        kids = [k for k in cursors.children(node) if is_expression(k.kind)]
        place = self._c.place(node)
        type_ = self._c.types.of(node)
        if not kids:
            return Cast(type_, Literal(0), place=place)
        inner = self.unwrap_implicit(kids[-1])
        if inner.kind == INIT_LIST:
            return Construct(type_, self._elements(inner), place)
        value = self.lower(inner)
        if isinstance(value, Construct):
            return value
        return Cast(type_, value, place=place)

    def _compound_literal(self, node: Node) -> Expr:
        kids = [k for k in cursors.children(node) if is_expression(k.kind)]
        elements = self._elements(kids[-1]) if kids and kids[-1].kind == INIT_LIST else self.lower_all(kids)
        return Construct(self._c.types.of(node), elements, self._c.place(node))

    def _init_list(self, node: Node) -> Expr:
        return InitList(self._elements(node), self._c.place(node))

    def _elements(self, node: Node) -> tuple[Expr, ...]:
        """Elements in order; designated ones are put where they belong, gaps are empty lists."""
        kids = cursors.children(node)
        placed: dict[int, Expr] = {}
        position = 0
        fields: list[str] | None = None
        for kid in kids:
            if not is_expression(kid.kind):
                continue
            parts = cursors.children(kid) if kid.kind == UNEXPOSED else []
            if len(parts) > 1 and parts[0].kind == MEMBER_REF:
                if fields is None:
                    fields = self._field_names(node)
                name = cursors.spelling(parts[0])
                position = fields.index(name) if name in fields else position
                placed[position] = self.lower(parts[-1])
            elif len(parts) > 1 and (self._c.positions.text(kid) or "").startswith("["):
                index = self.lower(parts[0])
                position = index.value if isinstance(index, Literal) else position
                placed[position] = self.lower(parts[-1])
            else:
                placed[position] = self.lower(kid)
            position += 1
        last = max(placed, default=-1)
        if last > 100_000:
            return tuple(placed.values())
        return tuple(placed.get(i, InitList(())) for i in range(last + 1))

    @staticmethod
    def _field_names(node: Node) -> list[str]:
        record = cursors.type_declaration(cursors.canonical_type(cursors.cursor_type(node)))
        if not valid(record):
            return []
        return [cursors.spelling(k) for k in cursors.children(record) if k.kind == FIELD]

    # The rest

    def _size_of(self, node: Node) -> Expr:
        c = self._c
        place = c.place(node)
        text = c.positions.text(node)
        if text is None:
            body = c.positions.body_text(node)
            text = _balanced(body) if body else None
        word = re.match(r"\w+", text) if text is not None else None
        align = word is not None and "align" in word.group()
        kids = [k for k in cursors.children(node) if is_expression(k.kind)]
        of = None
        if word is not None and text is not None:
            of = c.texts.hinted(node).operand_type(text[word.end() :])
        if of is None and kids:
            return SizeOf(self.lower(kids[-1]), align, place)
        if of is not None:
            return SizeOf(of, align, place)
        value = cursors.evaluate(node)
        if isinstance(value, int):
            return Literal(value, c.types.scalar_of(cursors.cursor_type(node)), place)
        return UnknownExpr("sizeof", (), place)

    def _pack_expansion(self, node: Node) -> Expr:
        return UnknownExpr("parameter pack", self.lower_all(cursors.children(node)), self._c.place(node))

    def _lambda(self, node: Node) -> Expr:
        c = self._c
        parameters: list[Var] = []
        body: Node | None = None
        captures: list[Node] = []
        for kid in cursors.children(node):
            if kid.kind == PARAMETER:
                parameters.append(c.decls.parameter(kid))
            elif kid.kind == 202:
                body = kid
            elif kid.kind == VARIABLE:
                captures.append(kid)
        place = c.place(node)
        if body is None:
            return UnknownExpr("lambda without a body", (), place)
        lowered = c.stmts.lower(body)
        if captures:
            lowered = c.stmts.block([*(s for k in captures for s in c.decls.local(k)), lowered])
        return Lambda(tuple(parameters), lowered, place)

    def _statement_expression(self, node: Node) -> Expr:
        """`({ ...; value; })` is a lambda that is called at once."""
        c = self._c
        kids = cursors.children(node)
        place = c.place(node)
        if len(kids) != 1:
            return UnknownExpr("statement expression", (), place)
        body = list(c.stmts.statements(cursors.children(kids[0])))
        if body and isinstance(body[-1], Evaluate):
            body[-1] = Return(body[-1].expr)
        return Call(Lambda((), c.stmts.block(body), place), (), place)

    def _call(self, node: Node) -> Expr:
        return self._c.calls.call(node)


def _balanced(text: str) -> str | None:
    """`sizeof ( ... )` from the start of a longer text."""
    depth = 0
    for at, char in enumerate(text):
        if char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
            if depth == 0:
                return text[: at + 1]
    return None
