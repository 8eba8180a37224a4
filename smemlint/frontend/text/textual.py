"""Expressions and types read from text, for what clang's cursors do not show.

Dependent names (`Traits<BM, BN>::P`), printed types, `sizeof(T)`, attribute arguments and template
arguments reach lowering as text only. Names are resolved by the scope that asks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from typing import TypeVar

from smemlint.frontend.text.lexed import lex
from smemlint.frontend.text.literals import literal_from_text
from smemlint.frontend.text.requires import Resolver, requirements
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
_CV = {"const", "volatile", "__restrict__", "__restrict", "restrict"} | {
    *("typename", "struct", "class", "union", "enum")
}
_PARTS_OF_BUILTIN = BUILTIN_TYPES | {"const", "volatile"}
_DEPTH = 60
T = TypeVar("T")


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

    def take_one(self, tokens: Container[str]) -> str:
        """Take the next token if it is one of these, and return it; empty if not."""
        token = self.peek()
        self.at += token in tokens
        return token if token in tokens else ""

    def attempt(self, read: Callable[[], T]) -> T | None:
        """What the next tokens are read as; None, and none of them is taken, where the text does not fit."""
        start = self.at, self.clear
        try:
            return read()
        except TextError:
            self.at, self.clear = start
            return None

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

    def _in_macro(self, macro: str, read: Callable[[TextParser], T], depth: int) -> T | None:
        """What the whole body of a macro, in which other macros may stand, is read as."""

        def expand(name: str) -> str | None:
            return None if name == macro else self.expand(name)

        body = self.expand(macro)
        if body is None:
            return None
        inner = TextParser(lex(body), self.resolver, expand, depth=self.depth + depth)
        result = read(inner)
        return result if inner.done() else None

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
        while self.take_one(_CV):
            pass

    def _base_type(self, strict: bool) -> Type:
        start = self.at
        self._skip_qualifiers()
        words: list[str] = []
        while word := self.take_one(_PARTS_OF_BUILTIN):
            words += [word] if word in BUILTIN_TYPES else []
        if words:
            scalar = builtin_scalar(words)
            if scalar is None:
                raise TextError(" ".join(words))
            return scalar
        if word := self.take_one(("decltype", "auto")):
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
        meant = self._in_macro(name, lambda p: p.type(strict=strict), 1) if arguments is None else None
        if meant is not None:
            return meant
        if strict:
            raise TextError(f"{name} is not known as a type")
        return OpaqueType(name)

    def _type_of_expression(self) -> Type:
        of = self.attempt(self._in_parentheses)
        if of is None:
            self._skip_group()
        return OpaqueType("decltype", of)

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
            if self.take_one(_CV):
                continue
            if self.take("*"):
                base = PointerTo(base)
            elif self.take_one(("&", "&&")):
                base = PointerTo(base, reference=True)
            elif self.take("["):
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
        found = self.attempt(self._template_arguments)
        if found is None or (speculative and not (self.peek() in _BEHIND_ARGUMENTS or self.done())):
            self.at = start
            return None
        arguments, self._constant = found
        return tuple(arguments)

    def _template_arguments(self) -> tuple[list[TemplateArgument], list[bool]]:
        """What stands in angle brackets, and which of it are constant types."""
        self.expect("<")
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
        return arguments, constant

    def _marked(self, arguments: tuple[TemplateArgument, ...] | None) -> tuple[TemplateArgument, ...] | None:
        """The template arguments that were read last, those marked that are constant types."""
        if not arguments or len(self._constant) != len(arguments) or not any(self._constant):
            return arguments
        both = zip(arguments, self._constant, strict=True)
        return tuple(RecordRef(CONSTANT, (a,)) if yes else a for a, yes in both)

    def template_argument(self) -> TemplateArgument:
        """Return a type if the text can be one, else an expression."""
        start, ends = self.at, (",", ">", "...", "")
        known = self.attempt(lambda: self.type(strict=True))
        if known is not None and self.peek() in ends and not self._calls_a_member(known, start):
            return known
        self.at = start
        value = self.attempt(lambda: self.assignment(angle=True))
        if value is not None:
            return value
        found = self.type()
        if self.peek() not in ends:
            raise TextError(f"neither a type nor a value before {self.peek()!r}")
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
        if op := self.take_one(_ASSIGN):
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
        if token := self.take_one(("+", "-", "!", "~", "*", "&")):
            return Unary(token, self._deeper(angle))
        if token := self.take_one(("++", "--")):
            return Unary(token + "x", self._deeper(angle))
        if token := self.take_one(("sizeof", "alignof", "_Alignof", "__alignof__", "__alignof")):
            return self._size_of(align=token != "sizeof", angle=angle)
        cast = self.attempt(lambda: self._c_cast(angle)) if self.peek() == "(" else None
        return self._postfix(self._primary()) if cast is None else cast

    def _deeper(self, angle: bool) -> Expr:
        with self._nested():
            return self._unary(angle)

    def _size_of(self, align: bool, angle: bool) -> Expr:
        if self.peek() == "...":
            return self._pack_size()
        of = self.attempt(self._type_in_parentheses)
        return SizeOf(self._deeper(angle) if of is None else of, align)

    def _type_in_parentheses(self) -> Type:
        self.expect("(")
        found = self.type(strict=True)
        self.expect(")")
        return found

    def _pack_size(self) -> Expr:
        """The rest of `sizeof...(pack)`."""
        self.expect("...")
        self.expect("(")
        pack = self.attempt(lambda: self.type(strict=True)) or self._named_value()
        self.expect(")")
        return PackSize(pack)

    def _c_cast(self, angle: bool) -> Expr:
        to = self._type_in_parentheses()
        if not re.match(r"[\w(\"'&*~!+-]", self.peek()) or isinstance(to, FunctionType):
            raise TextError("not a cast")
        return Cast(to, self._deeper(angle))

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
        if self.take_one(("true", "false")):
            return Literal(int(token == "true"), BOOL)
        if self.take_one(("nullptr", "NULL")):
            return Literal(0)
        if self.take("this"):
            return This()
        if self.take_one(_CASTS):
            self.expect("<")
            to = self.type()
            self.expect(">")
            return Cast(to, self._in_parentheses(), reinterpret=token == "reinterpret_cast")
        if token == "decltype":
            return self._member_of_type()
        if self.take("requires"):
            return requirements(self)
        return self._named_value()

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

    def _named_value(self) -> Expr:
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
        meant = self._in_macro(name, TextParser.expression, 5) if arguments is None else None
        return Name("", name, None, arguments or ()) if meant is None else meant

    def _functional(self, to: Type) -> Expr:
        opening = self.peek()
        if opening not in ("(", "{"):
            raise TextError(f"a type before {opening!r}")
        named = opening == "{" and self.peek(1) == "."
        parts = self._designated(to) if named else self.arguments(opening, ")" if opening == "(" else "}")
        return Cast(to, parts[0]) if len(parts) == 1 else Construct(to, parts)

    def _designated(self, to: Type) -> tuple[Expr, ...]:
        """`{.x = 1, .y = 2}`: what is given to the members of a class, in their order."""
        fields, placed = self.resolver.fields(to), {}
        self.expect("{")
        while not self.take("}"):
            self.expect(".")
            name = self.word()
            bare = self.peek() == "{" or not self.take("=")
            if name not in fields:
                raise TextError(f"a member {name!r}")
            placed[fields.index(name)] = self._primary() if bare else self.assignment()
            if not self.take(","):
                self.expect("}")
                break
        return tuple(placed.get(i, InitList((), gap=True)) for i in range(max(placed, default=-1) + 1))

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
            if self.take("["):
                base = Index(base, self.expression())
                self.expect("]")
            elif self.peek() == "(":
                base = Call(base, self.arguments("(", ")"))
            elif token := self.take_one((".", "->")):
                self.take("template")
                word = self.word(r"[A-Za-z_~]")
                arguments = (self._try_arguments(True) if self.peek() == "<" else None) or ()
                base = special_member(base, word) or Member(base, word, token == "->", None, arguments)
            elif token := self.take_one(("++", "--")):
                base = Unary("x" + token, base)
            else:
                return base
