"""What template parameters stand for, and the unification of patterns with arguments."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import TypeAlias

from smemlint.evaluate.values.number import Int
from smemlint.ir import (
    ArrayOf,
    Cast,
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
    RecordRef,
    Scalar,
    StaticMember,
    TemplateArgument,
    Type,
    TypeParam,
    Unary,
)
from smemlint.ir.walk import walk

Binding: TypeAlias = "Type | Int | tuple[Type | Int, ...]"
Bindings: TypeAlias = Mapping[str, Binding]
TYPES = (
    *(Scalar, Part, PointerTo, ArrayOf, RecordRef, TypeParam),
    *(MemberType, FunctionType, FunctionRef, ObjectRef, OpaqueType),
)
_TYPES = frozenset(TYPES)


def is_type(argument: object) -> bool:
    """Return whether a template argument is a type."""
    return type(argument) in _TYPES


def is_computed(pattern: TemplateArgument) -> bool:
    """Return whether a pattern tells nothing of the parameters in it: what it gives is compared."""
    return isinstance(pattern, MemberType) or not (is_type(pattern) or isinstance(pattern, Name | Literal))


def condition_of(t: Type | None) -> Expr | None:
    """Return the condition of an `enable_if`, None of any other type."""
    if not isinstance(t, RecordRef) or t.name.rsplit("::", 1)[-1] != "enable_if" or not t.arguments:
        return None
    condition = t.arguments[0]
    if isinstance(condition, MemberType):  # `Trait<T>::value` is read like a type
        return StaticMember(condition.owner, condition.name, None, condition.arguments)
    return None if is_type(condition) else condition  # type: ignore[return-value]


def bound(argument: TemplateArgument) -> Binding:
    """Return what a parameter that is given this argument stands for."""
    if isinstance(argument, Literal):
        return Int(argument.value, argument.type)
    if is_type(argument):
        return argument  # type: ignore[return-value]
    return OpaqueType("?")


def expansions(expanded: Expanded, bindings: Bindings) -> list[tuple[Type, Bindings]] | None:
    """Return the pattern with the bindings for each element of the packs that it names; None: not known."""
    names = {n.id for n in walk(expanded.pattern) if isinstance(n, Name | TypeParam)}
    packs = {id: held for id in names if isinstance(held := bindings.get(id), tuple)}
    if len(set(map(len, packs.values()))) != 1:
        return None
    return [
        (expanded.pattern, {**bindings, **dict(zip(packs, held, strict=True))})
        for held in zip(*packs.values(), strict=True)
    ]


def any_argument(a: TemplateArgument) -> TemplateArgument:
    """Return the argument with what stands for any number in it, so that it can be matched itself."""
    if isinstance(a, Name):
        return TypeParam(a.id, a.name)
    if isinstance(a, RecordRef) and a.arguments:
        return RecordRef(a.name, tuple(map(any_argument, a.arguments)))
    if isinstance(a, PointerTo):
        to = any_argument(a.to)
        return PointerTo(to, a.reference, a.volatile) if is_type(to) else a  # type: ignore[arg-type]
    return a


def function_named(module: Module, a: TemplateArgument, bindings: Bindings) -> FunctionRef | None:
    """Return the function that a template argument names (`f`, `&f`), or that a parameter stands for."""
    while isinstance(a, Cast) or (isinstance(a, Unary) and a.op == "&"):
        a = a.operand
    if not isinstance(a, Name):
        return None
    held = bindings.get(a.id)
    if isinstance(held, FunctionRef):
        return held
    ids = tuple(id for id in ((a.id,) if a.id else module.overloaded(a.name)) if id in module.functions)
    return FunctionRef(a.name, ids, a.arguments) if ids else None


def _is_pointed_alike(pattern: TemplateArgument, argument: TemplateArgument) -> bool:
    """False of `T *` beside a reference, and the other way round."""
    both = isinstance(pattern, PointerTo) and isinstance(argument, PointerTo)
    return not both or pattern.reference is argument.reference  # type: ignore[union-attr]


class Patterns:
    """Unifies the patterns of specialisations with arguments. packs: ids of the parameters that are packs.
    functions: ids of functions, which a pattern may name as well as a parameter."""

    def __init__(self, packs: frozenset[str], functions: Container[str] = ()) -> None:
        self.packs = packs
        self.functions = functions

    def arguments(
        self, patterns: tuple[TemplateArgument, ...], arguments: tuple[TemplateArgument, ...]
    ) -> dict[str, Binding] | None:
        """Return the bindings under which the patterns of a specialisation equal the arguments."""
        bindings: dict[str, Binding] = {}
        return bindings if self._match_all(patterns, arguments, bindings) else None

    def _match_all(
        self,
        patterns: tuple[TemplateArgument, ...],
        arguments: tuple[TemplateArgument, ...],
        bindings: dict[str, Binding],
    ) -> bool:
        """Unify one by one; a pack at the end takes all that are left."""
        last = patterns[-1] if patterns else None
        if isinstance(last, TypeParam | Name) and last.id in self.packs:
            patterns, given = patterns[:-1], arguments[len(patterns) - 1 :]
            arguments = arguments[: len(patterns)]
            bindings.setdefault(last.id, tuple(map(bound, given)))  # type: ignore[arg-type]
        return len(patterns) == len(arguments) and all(
            _is_pointed_alike(p, a) and self.match(p, a, bindings)
            for p, a in zip(patterns, arguments, strict=True)
        )

    def match(
        self, pattern: TemplateArgument, argument: TemplateArgument, bindings: dict[str, Binding]
    ) -> bool:
        """Unify one pattern with one resolved argument, and say whether that can be; fills `bindings`."""
        if isinstance(pattern, Name) and not pattern.id and is_type(argument):
            # a type of a library that was not read: `std::complex<T>`
            return self.match(RecordRef(pattern.name, pattern.arguments), argument, bindings)
        if isinstance(pattern, TypeParam | Name):
            value = bound(argument)
            if isinstance(value, OpaqueType) and value.spelling == "?":
                return False
            if pattern.id in self.functions:
                return isinstance(value, FunctionRef) and value.functions == (pattern.id,)
            old = bindings.get(pattern.id)
            if old is None:
                bindings[pattern.id] = value
                return True
            return old == value or (
                isinstance(old, Int) and isinstance(value, Int) and old.key() == value.key()
            )
        if isinstance(pattern, Literal):
            return isinstance(argument, Literal) and pattern.value == argument.value
        if isinstance(pattern, PointerTo):
            return isinstance(argument, PointerTo) and self.match(pattern.to, argument.to, bindings)
        if isinstance(pattern, ArrayOf):
            if not isinstance(argument, ArrayOf) or not self.match(
                pattern.element, argument.element, bindings
            ):
                return False
            if pattern.extent is None or argument.extent is None:
                return pattern.extent is argument.extent
            return self.match(pattern.extent, argument.extent, bindings)
        if isinstance(pattern, RecordRef):
            if not isinstance(argument, RecordRef):
                return False
            if pattern.name.startswith("@"):  # `Op<T>`, where the template itself is a parameter
                given = bindings.setdefault(pattern.name[1:], RecordRef(argument.name))
                if not isinstance(given, RecordRef) or given.name != argument.name:
                    return False
            elif pattern.name != argument.name:
                return False
            return self._match_all(pattern.arguments, argument.arguments, bindings)
        if isinstance(pattern, Scalar):
            return isinstance(argument, Scalar) and argument.name == pattern.name
        return pattern == argument
