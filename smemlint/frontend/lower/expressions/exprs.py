"""Expressions but calls: names, operators, casts, members, literals, lists."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from smemlint.frontend.clang import cursors, kinds
from smemlint.frontend.clang.cursors import Node
from smemlint.frontend.clang.names import valid
from smemlint.frontend.lower.context import DEPTH_LIMIT, NODE_LIMIT, Context
from smemlint.frontend.lower.expressions.builtin_operators import builtin_operator
from smemlint.frontend.lower.expressions.lambdas import lambda_, launching, statement_expression
from smemlint.frontend.lower.expressions.literals import boolean, character, floating, integer, string
from smemlint.frontend.text.expansion import listed
from smemlint.frontend.text.hidden import fold_of
from smemlint.ir import (
    ArrayOf,
    Assign,
    Binary,
    Call,
    Cast,
    Conditional,
    Construct,
    Expr,
    FloatLiteral,
    Fold,
    Index,
    InitList,
    Literal,
    Name,
    PackSize,
    Place,
    PointerTo,
    RecordRef,
    Scalar,
    SizeOf,
    StringLiteral,
    This,
    Unary,
    UnknownExpr,
)
from smemlint.ir.expr import NOT_UNDERSTOOD, PLACED
from smemlint.ir.types import DOUBLE, INT
from smemlint.patterns import pattern

_OPERATORS = ("=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "^=", "|=")
_SKIPPING = ("&&", "||")
"""Operators whose second operand may not be evaluated."""
_BETWEEN = frozenset((
    *_OPERATORS, *_SKIPPING,
    "+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "<", "<=", ">", ">=", "==", "!=",
))  # fmt: skip
_AT_PLACE = pattern(r"(?:::)?new\s*\(")
_WITHOUT_THROWING = (["std::nothrow"], ["::std::nothrow"], ["nothrow"])
_LISTED = pattern(r"[\w:]+\s*(?:<[^;{}()]*>)?\s*\[")
_NEW = pattern(r"(?:::)?new\s+[A-Za-z_:]")
_WORD = pattern(r"[A-Za-z_]\w*")
_REFERENCE_CAST = pattern(r"_cast\s*<[^;{}&]*&&?\s*>\s*\(|\([\w\s:<>,]*[\w>]\s*&&?\s*\)")
_TEMPLATE_CALL = pattern(r"(?:::|\.|->)\s*[A-Za-z_]\w*\s*<[^;{}]*>\s*\(")


class ExpressionLowering:
    """One method per kind of cursor; `lower` is the entry."""

    def __init__(self, context: Context) -> None:
        self._c = context
        self._handlers: dict[int, Callable[[Node], Expr]] = {
            kinds.UNEXPOSED: self._unexposed,
            kinds.DECL_REF: lambda node: context.names.name(node),
            kinds.MEMBER_REF_EXPR: lambda node: context.names.member(node),
            kinds.CALL: lambda node: context.calls.call(node),
            kinds.INTEGER: partial(integer, context),
            kinds.FLOATING: partial(floating, context),
            kinds.STRING: partial(string, context),
            kinds.CHARACTER: partial(character, context),
            kinds.PAREN: self._paren,
            kinds.UNARY_OPERATOR: self._unary,
            kinds.ARRAY_SUBSCRIPT: self._index,
            kinds.BINARY_OPERATOR: self._binary,
            kinds.COMPOUND_ASSIGNMENT: self._compound,
            kinds.CONDITIONAL: self._conditional,
            kinds.C_CAST: self._cast,
            kinds.COMPOUND_LITERAL: self._compound_literal,
            kinds.INIT_LIST: lambda node: InitList(self._elements(node), context.place(node)),
            kinds.STATEMENT_EXPR: partial(statement_expression, context),
            kinds.GNU_NULL: lambda _node: Literal(0, INT),
            kinds.STATIC_CAST: self._cast,
            kinds.DYNAMIC_CAST: self._cast,
            kinds.REINTERPRET_CAST: partial(self._cast, reinterpret=True),
            kinds.CONST_CAST: self._cast,
            kinds.FUNCTIONAL_CAST: self._functional_cast,
            kinds.BOOLEAN: partial(boolean, context),
            kinds.NULL_POINTER: lambda _node: Literal(0, INT),
            kinds.THIS: lambda node: This(context.place(node)),
            kinds.NEW: self._new,
            kinds.SIZE_OF: self._size_of,
            kinds.PACK_EXPANSION: self._pack_expansion,
            kinds.LAMBDA: partial(lambda_, context),
            kinds.ADDRESS_SPACE_CAST: self._cast,
            kinds.CONCEPT: self._condition,
            kinds.REQUIRES: self._condition,
            kinds.BIT_CAST: self._cast,
            kinds.PACK_SIZE: self._pack_size,
        }
        self._reasons = {
            kinds.IMAGINARY: "imaginary literal",
            kinds.LABEL_ADDRESS: "address of a label",
            kinds.GENERIC: "_Generic",
            kinds.TYPEID: "typeid",
            kinds.THROW: "throw",
            kinds.DELETE: "delete",
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
        parts = cursors.expressions(node)
        return UnknownExpr(reason, self.lower_all(parts), self._c.place(node))

    def _condition(self, node: Node) -> Expr:
        """A concept with its arguments, or what a `requires` expression asks."""
        read = self._c.texts.read_expression(self._c.positions.text(node) or "")
        return UnknownExpr("concept", (), self._c.place(node)) if read is None else read

    # Wrappers

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
        while len(kids) == 1 and kids[0].kind == kinds.UNEXPOSED and not self._folds(node):
            node = kids[0]
            kids = cursors.children(node)
        if self._folds(node):
            return self._fold(node, kids)
        if len(kids) == 1 and kinds.is_expression(kids[0].kind):
            return self.lower(kids[0])
        return self._unexposed_other(node, kids)

    def _folds(self, node: Node) -> bool:
        """Whether a node that clang has no name for is a fold expression."""
        if not any(p.pack for p in self._c.scope.parameters()):
            return False
        return self._fold_of(node) is not None

    def _fold_of(self, node: Node) -> tuple[str, bool] | None:
        """The operator of a fold, also of one that a macro makes, and whether the dots come first."""
        text = self._c.positions.text(node)
        if text is None:
            body = self._c.positions.body_text(node) or ""
            found = listed(body) if body.startswith("(") else None
            text = "" if found is None else body[: found[1]]
        return fold_of(text)

    def _fold(self, node: Node, kids: list[Node]) -> Expr:
        parts = [self._maybe_run(k) for k in kids if kinds.is_expression(k.kind)]
        found = self._fold_of(node)
        place = self._c.place(node)
        if found is None or not 1 <= len(parts) <= 2:
            return UnknownExpr("fold expression", tuple(parts), place)
        op, begins = found
        if len(parts) == 1:
            return Fold(op, parts[0], None, begins, place)
        return Fold(op, parts[1], parts[0], True, place)

    def _unexposed_other(self, node: Node, kids: list[Node]) -> Expr:
        expressions = [k for k in kids if kinds.is_expression(k.kind)]
        text = self._c.positions.text(node) or ""
        place = self._c.place(node)
        if (
            kids
            and kids[0].kind in (kinds.TYPE_REF, kinds.TEMPLATE_REF, kinds.NAMESPACE_REF)
            and len(expressions) == 1
        ):
            return self.lower(expressions[0])
        if not expressions:
            return self._without_parts(node, text, place)
        if text.startswith("__builtin_choose_expr") and len(expressions) == 3:
            return self.lower(expressions[1])
        if len(expressions) == 2:
            operator = self._operator_between(expressions[0], expressions[1])
            if operator is not None:
                lower = self._maybe_run if operator in _SKIPPING else self.lower
                operands = [self.lower(expressions[0]), lower(expressions[1])]
                return builtin_operator(operator, operands, place, False)
        if len(expressions) == 3 and self._text_between(expressions[0], expressions[1]) == "?":
            return self._either(expressions, place)
        if (
            expressions[0].kind in (kinds.DECL_REF, kinds.MEMBER_REF_EXPR)
            and len(text) > 1
            and text.endswith(")")
            and self._is_called(expressions[0], node, text)
        ):
            return self._c.calls.recovered(node, expressions)
        if "?:" in text.replace(" ", "") and len(expressions) >= 2:
            first = self.lower(expressions[0])
            return Conditional(first, first, self.lower(expressions[-1]), place)
        return UnknownExpr(NOT_UNDERSTOOD, self.lower_all(expressions), place)

    def _is_called(self, first: Node, node: Node, text: str) -> bool:
        """Whether what stands behind a name begins its arguments, as far as the text tells."""
        name, whole = self._c.place(first), self._c.place(node)
        if name is None or whole is None or name.path != whole.path:
            return True
        return text[name.end_offset - whole.offset :].lstrip()[:1] not in ("=", "?", *"+-*/%&|^")

    def _operator_between(self, left: Node, right: Node) -> str | None:
        """The operator written between two operands that clang could not combine."""
        text = self._text_between(left, right)
        return text if text in _BETWEEN else None

    def _text_between(self, left: Node, right: Node) -> str:
        first, second = self._c.place(left), self._c.place(right)
        start = self._c.positions.start(left)
        if first is None or second is None or start is None or first.path != second.path:
            return ""
        if not 0 < second.offset - first.end_offset < 40:
            return ""
        return start[0].slice(first.end_offset, second.offset).strip()

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
        if isinstance(found, Name):
            return self._c.names.read(found, place)
        return found if found is not None else UnknownExpr(f"not read: {text[:40]}", (), place)

    # Operators

    def _unary(self, node: Node) -> Expr:
        kids = cursors.children(node)
        op = cursors.unary_operator(node)
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
            op = cursors.binary_operator(node)
            if len(kids) != 2:
                left: Expr = UnknownExpr("binary operator", self.lower_all(kids), self._c.place(node))
                break
            call = self._template_call(node, op, kids)
            if call is not None:
                left = call
                break
            chain.append((node, op, kids[1]))
            inner = kids[0]
            if inner.kind == kinds.UNEXPOSED:
                inner = self.unwrap_implicit(inner)
            if op in _OPERATORS or inner.kind != kinds.BINARY_OPERATOR or len(chain) > 5000:
                left = self.lower(inner)
                break
            node, kids = inner, cursors.children(inner)
        if len(chain) > DEPTH_LIMIT:
            parts = (left, *(self.lower(right) for _, _, right in reversed(chain)))
            return UnknownExpr("nested too deeply", parts, self._c.place(chain[0][0]))
        for item, op, right in reversed(chain):
            value = self._maybe_run(right) if op in _SKIPPING else self.lower(right)
            place = self._c.place(item)
            if op in _OPERATORS:
                left = Assign(op, left, value, place)
            elif op in (".*", "->*"):
                at = left if op == "->*" else Unary("&", left, place)
                left = Unary("*", Binary(".*", at, value, place), place)
            elif op in ("", "<=>"):
                left = UnknownExpr(f"operator {op}", (left, value), place)
            else:
                left = Binary(op, left, value, place)
        return left

    def _template_call(self, node: Node, op: str, kids: Sequence[Node]) -> Expr | None:
        """`Traits::load<4, 8>(p)` in a template: without the word `template` clang reads two comparisons."""
        if op not in (">", ","):
            return None
        first = kids[0]
        while op == "," and self._operator(first) == ",":
            first = cursors.children(self.unwrap_implicit(first))[0]
        if self._operator(first) != "<":
            return None
        text = self._c.positions.text(node) or ""
        if not _TEMPLATE_CALL.search(text):
            return None
        found = self._c.texts.hinted(node).read_expression(text)
        if not isinstance(found, Call | Binary):
            return None
        arguments = self.lower_all(self._in_parentheses(kids[1]))
        if isinstance(found, Call) and len(found.arguments) == len(arguments):
            found = replace(found, arguments=arguments)  # these know where they stand
        return replace(found, place=self._c.place(node))

    def _in_parentheses(self, node: Node) -> list[Node]:
        """The arguments of a call that clang read as `8 > (p, q)`, or as `(p, q)` behind it."""
        node = self.unwrap_implicit(node)
        kids = cursors.children(node)
        if self._operator(node) == ">" and len(kids) == 2:
            node = self.unwrap_implicit(kids[1])
            kids = cursors.children(node)
        if node.kind != kinds.PAREN or not kids:
            return []
        node, parts = self.unwrap_implicit(kids[0]), []
        while self._operator(node) == "," and len(kids := cursors.children(node)) == 2:
            parts.append(kids[1])
            node = self.unwrap_implicit(kids[0])
        return [node, *reversed(parts)]

    def _operator(self, node: Node) -> str:
        """The binary operator of an expression, '' for any other."""
        node = self.unwrap_implicit(node)
        return cursors.binary_operator(node) if node.kind == kinds.BINARY_OPERATOR else ""

    def unwrap_implicit(self, node: Node) -> Node:
        """Return what clang has wrapped in nodes of its own: implicit conversions, temporaries."""
        while node.kind == kinds.UNEXPOSED and not self._folds(node):
            kids = cursors.children(node)
            if len(kids) != 1:
                break
            node = kids[0]
        return node

    def _compound(self, node: Node) -> Expr:
        kids = cursors.children(node)
        if len(kids) != 2:
            return UnknownExpr("assignment", self.lower_all(kids), self._c.place(node))
        op = cursors.binary_operator(node) or "="
        return Assign(op, self.lower(kids[0]), self.lower(kids[1]), self._c.place(node))

    def _conditional(self, node: Node) -> Expr:
        kids = cursors.children(node)
        if len(kids) != 3:
            return UnknownExpr("conditional", self.lower_all(kids), self._c.place(node))
        return self._either(kids, self._c.place(node))

    def _either(self, kids: Sequence[Node], place: Place | None) -> Expr:
        condition = self.lower(kids[0])
        then, otherwise = self._maybe_run(kids[1]), self._maybe_run(kids[2])
        return Conditional(condition, then, otherwise, place)

    def _maybe_run(self, node: Node) -> Expr:
        """An operand that may not be evaluated, or more than once: what it launches stays in it."""
        found = self._c.found
        outer, found.launches = found.launches, []
        value = self.lower(node)
        launches, found.launches = found.launches, outer
        return launching(launches, value, self._c.place(node)) if launches else value

    def _index(self, node: Node) -> Expr:
        kids = cursors.children(node)
        if len(kids) != 2:
            return UnknownExpr("subscript", self.lower_all(kids), self._c.place(node))
        return Index(self.lower(kids[0]), self.lower(kids[1]), self._c.place(node))

    # Casts and construction

    def _cast(self, node: Node, *, reinterpret: bool = False) -> Expr:
        kids = cursors.expressions(node)
        place = self._c.place(node)
        if not kids:
            return UnknownExpr("cast without operand", (), place)
        type_ = self._c.types.of(node)
        # there is no cast to an array: what names one is a reference
        written = self._reference_in(node, kids[-1])
        if isinstance(type_, ArrayOf) or written:
            type_ = PointerTo(type_, reference=True, moves="&&" in written)
        return Cast(type_, self.lower(kids[-1]), reinterpret, place)

    def _reference_in(self, node: Node, operand: Node) -> str:
        """What names a reference in a cast to one, which its type does not show: text before its operand."""
        between = self._c.positions.between(node, operand)
        if between is None:
            return ""
        file, start, end = between
        text = file.slice(start, max(end, start + 40))
        word = _WORD.match(text)
        macro = self._c.positions.macros().get(word.group()) if word else None
        written = macro.body if macro is not None else text[: end - start]
        found = _REFERENCE_CAST.search(written)
        return found.group() if found is not None else ""

    def _functional_cast(self, node: Node) -> Expr:
        kids = cursors.expressions(node)
        place = self._c.place(node)
        type_ = self._c.types.of(node)
        if not kids:
            return Cast(type_, Literal(0), place=place)
        inner = self.unwrap_implicit(kids[-1])
        if inner.kind == kinds.INIT_LIST:
            return Construct(type_, self._elements(inner), place)
        value = self.lower(inner)
        if isinstance(value, Construct):
            return value
        return Cast(type_, value, place=place)

    def _new(self, node: Node) -> Expr:
        """`new T(args)`: the address of an object without a name; `new (p) T(args)`: an object at that place;
        any other is memory."""
        parts = self.lower_all(cursors.expressions(node))
        type_ = self._c.types.of(node)
        text = self._c.positions.text(node) or self._c.positions.body_text(node) or ""
        placed = listed(text, text.index("(")) if _AT_PLACE.match(text) else None
        rest = text[placed[1] :].strip() if placed is not None else ""
        bracketed = listed(rest, 0) if rest.startswith("(") else None
        if bracketed is not None and self._c.texts.operand_type(rest[: bracketed[1]]) is not None:
            rest = rest[1 : bracketed[1] - 1] + rest[bracketed[1] :]  # `new (p) (T)(x)`
        if placed is not None and isinstance(type_, PointerTo) and _WORD.match(rest.lstrip(":")):
            where, parts = parts[: len(placed[0])], parts[len(placed[0]) :]
            if placed[0] not in _WITHOUT_THROWING:
                return self._placed(node, type_, where, parts, rest)
        match parts:
            case (*inner, Construct() as made) if PointerTo(made.type) == type_ and (
                not inner or self._makes_one(node)
            ):
                return Unary("&", made, self._c.place(node))
            case (*inner, InitList(elements)) if (
                isinstance(type_, PointerTo)
                and isinstance(type_.to, RecordRef)
                and (not inner or self._makes_one(node))
            ):
                place = self._c.place(node)
                return Unary("&", Construct(type_.to, elements, place), place)
        if isinstance(type_, PointerTo):
            place = self._c.place(node)
            return Cast(type_, Call(Name("", "malloc", place), parts, place), place=place)
        return UnknownExpr("new", parts, self._c.place(node))

    def _placed(
        self, node: Node, type_: PointerTo, where: tuple[Expr, ...], given: tuple[Expr, ...], text: str
    ) -> Expr:
        """An object that begins at a place, or where the program's function says. text: from its type on."""
        place = self._c.place(node)
        own = self._c.declarations.functions_named.get("operator new", [])
        name = self._c.calls.overload_set("operator new", own, place, ())
        asked = Call(name, (SizeOf(type_.to), *where), place)
        at = Cast(type_, where[0] if len(where) == 1 else asked, place=place)
        empty = text.endswith(("()", "{}"))
        if _LISTED.match(text):
            begun = not isinstance(type_.to, Scalar) or not text.endswith("]")
            return Call(Name("", "new[]", place), (at,), place) if begun else at
        if given and isinstance(given[-1], Construct):
            given = () if not given[-1].arguments and not empty else given[-1:]
        made = given or ((InitList((), place),) if empty else ())
        return Call(Name("", PLACED, place), (at, *made), place)

    def _makes_one(self, node: Node) -> bool:
        """Whether `new Tile<8>(n)` makes one object: clang lists the numbers in its class like
        the length of an array."""
        text = self._c.positions.text(node) or self._c.positions.body_text(node) or ""
        name, depth = _NEW.match(text), 0
        for c in text[name.end() :] if name is not None else "[":
            depth += {"<": 1, ">": -1}.get(c, 0)
            if depth == 0 and c in "[({":
                return c != "["
        return True

    def _compound_literal(self, node: Node) -> Expr:
        kids = cursors.expressions(node)
        elements = (
            self._elements(kids[-1]) if kids and kids[-1].kind == kinds.INIT_LIST else self.lower_all(kids)
        )
        return Construct(self._c.types.of(node), elements, self._c.place(node))

    def _elements(self, node: Node) -> tuple[Expr, ...]:
        """Elements in order; designated ones are put where they belong, gaps are empty lists."""
        kids = cursors.children(node)
        placed: dict[int, Expr] = {}
        position = 0
        fields: list[str] | None = None
        for kid in kids:
            if not kinds.is_expression(kid.kind):
                continue
            parts = cursors.children(kid) if kid.kind == kinds.UNEXPOSED else []
            if len(parts) > 1 and parts[0].kind == kinds.MEMBER_REF:
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
        return tuple(placed.get(i, InitList((), gap=True)) for i in range(last + 1))

    @staticmethod
    def _field_names(node: Node) -> list[str]:
        record = cursors.type_declaration(cursors.canonical_type(cursors.cursor_type(node)))
        if not valid(record):
            return []
        return [cursors.spelling(k) for k in cursors.children(record) if k.kind == kinds.FIELD]

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
        kids = cursors.expressions(node)
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

    def _pack_size(self, node: Node) -> Expr:
        c = self._c
        place = c.place(node)
        kids = cursors.expressions(node)
        if kids:
            return PackSize(self.lower(kids[0]), place)
        text = c.positions.text(node)
        read = c.texts.hinted(node).read_expression(text) if text is not None else None
        return replace(read, place=place) if isinstance(read, PackSize) else self._not_understood(node)

    def _pack_expansion(self, node: Node) -> Expr:
        each = tuple(map(self._maybe_run, cursors.children(node)))
        return UnknownExpr("parameter pack", each, self._c.place(node))


def _balanced(text: str) -> str | None:
    """`sizeof ( ... )` from the start of a longer text."""
    found = listed(text, text.find("(")) if "(" in text else None
    return None if found is None else text[: found[1]]
