"""Expressions and types read from text, for what clang's cursors do not show.

Dependent names (`Traits<BM, BN>::P`), printed types, `sizeof(T)`, attribute arguments and template
arguments reach lowering as text only. Names are resolved by the scope that asks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field, replace

from smemlint.frontend.text.lexed import lex
from smemlint.frontend.text.literals import literal_from_text
from smemlint.frontend.text.requirements import Resolver, requirements
from smemlint.frontend.text.scalars import (
    BUILTIN_TYPES,
    SPECIAL_NAMES,
    builtin_scalar,
    special_member,
    special_value,
)
from smemlint.ir import (
    ArrayOf,
    Assign,
    Binary,
    Call,
    Cast,
    Conditional,
    Construct,
    Expr,
    Fold,
    FunctionType,
    Index,
    InitList,
    Literal,
    Member,
    MemberType,
    Name,
    OpaqueType,
    PackSize,
    PointerTo,
    RecordRef,
    Scalar,
    SizeOf,
    StaticMember,
    StringLiteral,
    TemplateArgument,
    This,
    Type,
    Unary,
)
from smemlint.ir.types import BOOL, CONSTANT
from smemlint.records import record

_BINARY_LEVEL = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7, ">=": 7,
    "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}  # fmt: skip
_BEHIND_ARGUMENTS = {
    "", "(", "{", ")", "]", "}", ",", ";", "::", ">", "<<", "||", "&&", "?", ":", "==", "!=", "<=", ">=",
    "/", "%", "|", "^",
}  # fmt: skip
"""What may stand behind `name<...>`, and not behind the right side of `name < ... >`."""
_ASSIGN = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
_CASTS = {"static_cast", "reinterpret_cast", "const_cast", "dynamic_cast"}
_CV = {
    "const",
    "volatile",
    "__restrict__",
    "__restrict",
    "restrict",
    "typename",
    "struct",
    "class",
    "union",
    "enum",
}
_DEPTH = 60


class TextError(Exception):
    """The text is not an expression or type of the kind that is read here."""


def _is_constant(tokens: Sequence[str]) -> bool:
    """Whether a template argument is a constant type itself: `const T`, `T *const`, not `const T *`."""
    if tokens[-1:] == ["const"]:
        return True
    return tokens[:1] == ["const"] and not any(t in ("*", "&", "&&", "(") for t in tokens)


@record(slots=True)
class TextParser:
    """Recursive descent over tokens; every method raises TextError when the text does not fit."""

    tokens: Sequence[str]
    resolver: Resolver
    expand: Callable[[str], str | None] = field(default=lambda _name: None)
    """Body of an object-like macro, for names that the scope does not know."""
    at: int = 0
    depth: int = 0
    clear: bool = False
    """Whether `<` behind a name begins arguments, as in a clause outside of parentheses."""
    _constant: Sequence[bool] = ()
    """Of the template arguments that were read last: which are constant types."""

    def peek(self, ahead: int = 0) -> str:
        """Return the next token, or one further on; empty at the end."""
        index = self.at + ahead
        return self.tokens[index] if index < len(self.tokens) else ""

    def take(self, token: str) -> bool:
        """Take the next token if it is this one, and say whether."""
        if self.peek() == token:
            self.at += 1
            return True
        return False

    def expect(self, token: str) -> None:
        """Take the next token, which must be this one."""
        if not self.take(token):
            raise TextError(f"expected {token!r} before {self.peek()!r}")

    def word(self, letters: str = r"[A-Za-z_]") -> str:
        """Take the next token, which must be a name. letters: what it may begin with."""
        word = self.peek()
        if not re.match(letters, word):
            raise TextError(f"expected a name before {word!r}")
        self.at += 1
        return word

    def _within(self, macro: str, body: str, depth: int) -> TextParser:
        """A parser of a macro's body, in which other macros may stand."""

        def expand(name: str) -> str | None:
            return None if name == macro else self.expand(name)

        return TextParser(lex(body), self.resolver, expand, depth=self.depth + depth)

    @contextmanager
    def _nested(self) -> Iterator[None]:
        self.depth += 1
        try:
            if self.depth > _DEPTH:
                raise TextError("nested too deeply")
            yield
        finally:
            self.depth -= 1

    def done(self) -> bool:
        return self.at >= len(self.tokens)

    # Types

    def type(self, *, strict: bool = False) -> Type:
        """A type with its declarators. strict: every name must be known as a type."""
        base = self._base_type(strict)
        return self._declarators(base)

    def _skip_qualifiers(self) -> None:
        while self.peek() in _CV:
            self.at += 1

    def _base_type(self, strict: bool) -> Type:
        start = self.at
        self._skip_qualifiers()
        words: list[str] = []
        while self.peek() in BUILTIN_TYPES or self.peek() in ("const", "volatile"):
            if self.peek() in BUILTIN_TYPES:
                words.append(self.peek())
            self.at += 1
        if words:
            scalar = builtin_scalar(words)
            if scalar is None:
                raise TextError(" ".join(words))
            return scalar
        if self.peek() in ("decltype", "auto"):
            word = self.tokens[self.at]
            self.at += 1
            of = self._type_of_expression() if word == "decltype" else OpaqueType(word)
            if self.peek() != "::" or (strict and "typename" not in self.tokens[start : self.at]):
                return of
            self.at += 1
            owner, name, arguments = self._qualified(value_wanted=False, owner=of)
        else:
            owner, name, arguments = self._qualified(value_wanted=False)
        if owner is not None:
            return MemberType(owner, name, arguments or ()) if name else owner
        found = self.resolver.type(name, self._marked(arguments))
        if found is not None:
            return found
        body = self.expand(name) if arguments is None else None
        if body is not None:
            inner = self._within(name, body, 1)
            result = inner.type(strict=strict)
            if inner.done():
                return result
        if strict:
            raise TextError(f"{name} is not known as a type")
        return OpaqueType(name)

    def _type_of_expression(self) -> Type:
        start = self.at
        try:
            return OpaqueType("decltype", self._in_parentheses())
        except TextError:
            self.at = start
            self._skip_group()
            return OpaqueType("decltype")

    def _skip_group(self) -> None:
        self.expect("(")
        depth = 1
        while depth and not self.done():
            depth += {"(": 1, ")": -1}.get(self.peek(), 0)
            self.at += 1

    def _declarators(self, base: Type) -> Type:
        extents: list[Expr | None] = []
        while not self.done():
            token = self.peek()
            if token in _CV:
                self.at += 1
            elif token == "*":
                self.at += 1
                base = PointerTo(base)
            elif token in ("&", "&&"):
                self.at += 1
                base = PointerTo(base, reference=True)
            elif token == "[":
                self.at += 1
                extents.append(None if self.peek() == "]" else self.expression())
                self.expect("]")
            elif token == "(" and self.peek(1) in ("*", "&", "^"):
                pointer_to_array = self._pointer_to_array(base)
                if pointer_to_array is not None:
                    return pointer_to_array
                return FunctionType(" ".join(self.tokens))
            elif token == "(" and not extents and (self.peek(1) == ")" or self._parameters_follow()):
                self._skip_group()
                return FunctionType(" ".join(self.tokens))
            else:
                break
        for extent in reversed(extents):
            base = ArrayOf(base, extent)
        return base

    def _pointer_to_array(self, base: Type) -> Type | None:
        """`(*)[N]` and `(&)[N]`."""
        start = self.at
        reference = self.peek(1) == "&"
        self.at += 2
        self._skip_qualifiers()
        if self.take(")") and self.peek() == "[":
            return PointerTo(self._declarators(base), reference)
        self.at = start
        while self.peek() == "(":
            self._skip_group()
        return None

    def _parameters_follow(self) -> bool:
        """A parameter list (`float (int, int)`): a type stands after the parenthesis."""
        start = self.at
        self.at += 1
        try:
            self.type(strict=True)
            return self.peek() in (",", ")")
        except TextError:
            return False
        finally:
            self.at = start

    def _qualified(
        self, *, value_wanted: bool, owner: Type | None = None
    ) -> tuple[Type | None, str, tuple[TemplateArgument, ...] | None]:
        """`a::B<c>::d` as (owner type or None, last name, its template arguments or None).

        Leading segments that are no types are namespaces and stay in the name. For a type whose last
        segment is itself a known type, the owner is that type and the name ''.
        """
        self.take("::")
        name = ""
        while True:
            self.take("template")
            word = self.word(r"[A-Za-z_~]")
            if word == "operator":
                word += self._operator_name()
            name = f"{name}::{word}" if name and owner is None else word
            arguments = None
            if self.peek() == "<":
                unsure = value_wanted and owner is None and not self.clear
                unsure = unsure and not self.resolver.is_variable_template(name)
                arguments = self._try_arguments(unsure)
            if self.peek() != "::":
                return owner, name, arguments
            self.at += 1
            if owner is not None:
                owner = MemberType(owner, name, arguments or ())
                continue
            found = self.resolver.type(name, self._marked(arguments))
            if isinstance(found, Scalar):
                continue  # an enum's name before an enumerator, like a namespace
            if found is not None:
                owner = found
            elif arguments is not None:
                owner = OpaqueType(name)

    def _operator_name(self) -> str:
        if self.peek() in ("(", "["):
            text = self.peek() + self.peek(1)
            self.at += 2
            return text
        self.at += 1
        return self.tokens[self.at - 1] if self.at <= len(self.tokens) else ""

    def _try_arguments(self, speculative: bool) -> tuple[TemplateArgument, ...] | None:
        """Template arguments at `<`; None (nothing taken) when it is a comparison."""
        start = self.at
        try:
            self.at += 1
            arguments: list[TemplateArgument] = []
            constant: list[bool] = []
            while not self.take(">"):
                begins = self.at
                arguments.append(self.template_argument())
                constant.append(_is_constant(self.tokens[begins : self.at]))
                self.take("...")
                if not self.take(","):
                    self.expect(">")
                    break
        except TextError:
            self.at = start
            return None
        if speculative and not (self.peek() in _BEHIND_ARGUMENTS or self.done()):
            self.at = start
            return None
        self._constant = constant
        return tuple(arguments)

    def _marked(self, arguments: tuple[TemplateArgument, ...] | None) -> tuple[TemplateArgument, ...] | None:
        """The template arguments that were read last, those marked that are constant types."""
        if not arguments or len(self._constant) != len(arguments) or not any(self._constant):
            return arguments
        both = zip(arguments, self._constant, strict=True)
        return tuple(RecordRef(CONSTANT, (a,)) if yes else a for a, yes in both)

    def template_argument(self) -> TemplateArgument:
        """Return a type if the text can be one, else an expression."""
        start = self.at
        try:
            found = self.type(strict=True)
            if self.peek() in (",", ">", "...", "") and not self._calls_a_member(found, start):
                return found
        except TextError:
            pass
        self.at = start
        try:
            return self.assignment(angle=True)
        except TextError:
            self.at = start
            found = self.type()
            if self.peek() not in (",", ">", "...", ""):
                raise
            return found

    def _calls_a_member(self, read: Type, start: int) -> bool:
        """Whether what was read as a function's type is a call, `Policy<T>::items()`: the type that a member
        of a class names is said with `typename`."""
        if not isinstance(read, FunctionType) or self.tokens[start] == "typename":
            return False
        end, self.at = self.at, start
        named = isinstance(self._base_type(strict=True), MemberType)
        self.at = end
        return named

    # Expressions

    def expression(self) -> Expr:
        """With commas."""
        left = self.assignment()
        while self.take(","):
            left = Binary(",", left, self.assignment())
        return left

    def _in_parentheses(self) -> Expr:
        self.expect("(")
        sure, self.clear = self.clear, False
        inner = self.expression()
        if self.peek(1) == "...":  # a fold
            inner = Fold(self.peek(), inner)
            self.at += 2
        self.expect(")")
        self.clear = sure
        return inner

    def assignment(self, angle: bool = False) -> Expr:
        condition = self._binary(1, angle)
        if self.take("?"):
            then = self.expression()
            self.expect(":")
            return Conditional(condition, then, self.assignment(angle))
        if self.peek() in _ASSIGN:
            op = self.peek()
            self.at += 1
            return Assign(op, condition, self.assignment(angle))
        return condition

    def _operator(self, angle: bool) -> str:
        token = self.peek()
        if token == ">":
            if angle:
                return ""
            if self.peek(1) == ">":
                return ">>"
        return token

    def _binary(self, level: int, angle: bool = False) -> Expr:
        with self._nested():
            left = self._unary(angle)
            while True:
                op = self._operator(angle)
                own = _BINARY_LEVEL.get(op, 0)
                if own < level or self.peek(1) == "...":
                    return left
                self.at += 2 if op == ">>" else 1
                left = Binary(op, left, self._binary(own + 1, angle))

    def _unary(self, angle: bool = False) -> Expr:
        token = self.peek()
        if token in ("+", "-", "!", "~", "*", "&"):
            self.at += 1
            return Unary(token, self._deeper(angle))
        if token in ("++", "--"):
            self.at += 1
            return Unary(token + "x", self._deeper(angle))
        if token in ("sizeof", "alignof", "_Alignof", "__alignof__", "__alignof"):
            self.at += 1
            return self._size_of(align=token != "sizeof", angle=angle)
        if token == "(":
            cast = self._c_cast(angle)
            if cast is not None:
                return cast
        return self._postfix(self._primary())

    def _deeper(self, angle: bool) -> Expr:
        with self._nested():
            return self._unary(angle)

    def _size_of(self, align: bool, angle: bool) -> Expr:
        if self.peek() == "...":
            return self._pack_size()
        if self.peek() != "(":
            return SizeOf(self._deeper(angle), align)
        start = self.at
        try:
            self.at += 1
            of = self.type(strict=True)
            self.expect(")")
            return SizeOf(of, align)
        except TextError:
            self.at = start
        return SizeOf(self._deeper(angle), align)

    def _pack_size(self) -> Expr:
        """The rest of `sizeof...(pack)`."""
        self.expect("...")
        self.expect("(")
        start = self.at
        pack: Type | Expr
        try:
            pack = self.type(strict=True)
        except TextError:
            self.at = start
            pack = self._named()
        self.expect(")")
        return PackSize(pack)

    def _c_cast(self, angle: bool) -> Expr | None:
        start = self.at
        try:
            self.at += 1
            to = self.type(strict=True)
            self.expect(")")
            if not re.match(r"[\w(\"'&*~!+-]", self.peek()) or isinstance(to, FunctionType):
                raise TextError("not a cast")
            if self.peek() == "{":
                raise TextError("compound literal")
            return Cast(to, self._deeper(angle))
        except TextError:
            self.at = start
            return None

    def _primary(self) -> Expr:
        token = self.peek()
        if token == "(":
            return self._in_parentheses()
        if token == "{":
            return InitList(self.arguments("{", "}"))
        if token[:1].isdigit() or token[:1] == "." or token[:1] == "'" or token[-1:] == "'":
            self.at += 1
            literal = literal_from_text(token)
            if literal is None:
                raise TextError(token)
            return literal
        if token[-1:] == '"':
            self.at += 1
            return StringLiteral(token)
        if token in ("true", "false", "nullptr", "NULL"):
            self.at += 1
            return Literal(int(token == "true"), BOOL) if token in ("true", "false") else Literal(0)
        if token == "this":
            self.at += 1
            return This()
        if token in _CASTS:
            self.at += 1
            self.expect("<")
            to = self.type()
            self.expect(">")
            return Cast(to, self._in_parentheses(), reinterpret=token == "reinterpret_cast")
        if token == "decltype":
            return self._member_of_type()
        if self.take("requires"):
            return requirements(self)
        return self._named()

    def clause(self) -> Expr:
        """Return the condition behind `requires`, which may end before the text does."""
        self.clear = True
        found = self._binary(1, angle=True)
        self.clear = False
        return found

    def _member_of_type(self) -> Expr:
        """`decltype(n)::value`: a member of what an expression is."""
        self.at += 1
        of = self._in_parentheses()
        self.expect("::")
        self.take("template")
        return Member(of, self.word(), arrow=False)

    def _named(self) -> Expr:
        token = self.peek()
        if token in BUILTIN_TYPES or token == "typename":
            to = self._base_type(strict=True)
            return self._functional(to)
        rooted = self.peek() == "::"
        owner, name, arguments = self._qualified(value_wanted=True)
        if owner is not None:
            return StaticMember(owner, name, None, arguments or ())
        value = self.resolver.value(f"::{name}") if rooted else None
        value = self.resolver.value(name) if value is None else value
        if value is not None:
            if isinstance(value, Name) and arguments:
                return replace(value, arguments=arguments)
            return value
        if self.peek() in ("(", "{"):
            to_type = self.resolver.type(name, self._marked(arguments))
            if to_type is not None:
                return self._functional(to_type)
        if name in SPECIAL_NAMES:
            return special_value(name)
        body = self.expand(name) if arguments is None else None
        if body is not None:
            inner = self._within(name, body, 5)
            result = inner.expression()
            if inner.done():
                return result
        return Name("", name, None, arguments or ())

    def _functional(self, to: Type) -> Expr:
        opening = self.peek()
        if opening not in ("(", "{"):
            raise TextError(f"a type before {opening!r}")
        parts = self.arguments(opening, ")" if opening == "(" else "}")
        return Cast(to, parts[0]) if len(parts) == 1 else Construct(to, parts)

    def arguments(self, opening: str, closing: str) -> tuple[Expr, ...]:
        self.expect(opening)
        parts: list[Expr] = []
        while not self.take(closing):
            parts.append(InitList(self.arguments("{", "}")) if self.peek() == "{" else self.assignment())
            if not self.take(","):
                self.expect(closing)
                break
        return tuple(parts)

    def _postfix(self, base: Expr) -> Expr:
        while True:
            token = self.peek()
            if token == "[":
                self.at += 1
                base = Index(base, self.expression())
                self.expect("]")
            elif token == "(":
                base = Call(base, self.arguments("(", ")"))
            elif token in (".", "->"):
                self.at += 1
                self.take("template")
                word = self.word(r"[A-Za-z_~]")
                arguments = (self._try_arguments(True) if self.peek() == "<" else None) or ()
                base = special_member(base, word) or Member(base, word, token == "->", None, arguments)
            elif token in ("++", "--"):
                self.at += 1
                base = Unary("x" + token, base)
            else:
                return base
