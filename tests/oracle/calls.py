"""Calls of functions, methods and lambdas."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from oracle import builtins, groups
from oracle.frames import OWN, Callee, Flow, Frame, Group, Part, Ref
from oracle.layout import TYPES, Scope
from oracle.types import is_lvalue, type_of_value
from oracle.values import (
    Rec,
    UndefinedError,
    UnsupportedError,
)
from smemlint.ir import (
    Call,
    Expr,
    Function,
    InitList,
    Lambda,
    Literal,
    Member,
    Name,
    PointerTo,
    StaticMember,
    Var,
)
from smemlint.ir.types import INT, is_reference


class Calls(Part):
    """Calls and the passing of arguments."""

    def call(self, expr: Call, frame: Frame, used: bool = True) -> Flow:
        expr = replace(expr, arguments=self.handed_on(expr.arguments, frame))
        callee, this = expr.callee, None
        if isinstance(callee, Member):
            if callee.arrow:
                pointer = yield from self.at(0, self.rvalue(callee.base, frame))
                this = Ref(pointer.address, pointer.to)
            else:
                this = yield from self.at(0, self.lvalue(callee.base, frame))
            if isinstance(this, Group):
                return (yield from groups.call(self, this, callee.name, expr, frame))
            if isinstance(this, Callee):
                return (yield from self.enter(this, None, expr, frame))
            methods = self.machine.methods(this.type, callee.name)
            if not methods and self.machine.layout.holds(this.type, callee.name):
                functor = Member(callee, "operator()")
                return (yield from self.call(replace(expr, callee=functor), frame, used))
            if not methods:
                return (yield from self.implicit(expr, callee, this, frame))
            meant = [f for f in methods if f.id == expr.chosen] or methods
            function = self.machine.choose(meant, len(expr.arguments))
            target = Callee(function, callee.arguments, self.owner_scope(function, this))
            return (yield from self.enter(target, this, expr, frame))
        if isinstance(callee, Name) and callee.id not in frame.env:
            types = [self.type_of(a, frame) for a in expr.arguments] if not callee.id else []
            found = self.machine.function(callee, len(expr.arguments), frame.this, types)
            if found is None:
                return (yield from builtins.call(self, callee.name, expr, frame, used))
            scope = self.owner_scope(found, frame.this) if found.record and frame.this else {}
            target = Callee(found, tuple(callee.arguments), scope)
            return (yield from self.enter(target, frame.this if found.record else None, expr, frame))
        if isinstance(callee, StaticMember):
            owner = self.machine.resolve(callee.owner, frame.scope)
            function = self.machine.choose(self.machine.methods(owner, callee.name), len(expr.arguments))
            target = Callee(function, tuple(callee.arguments), self.machine.layout.scope_of(owner))
            this = None if function.static else frame.this
            return (yield from self.enter(target, this, expr, frame))
        value = yield from self.at(0, self.rvalue(callee, frame))
        if isinstance(value, Rec):
            return (
                yield from self.call(Call(Member(callee, "operator()"), expr.arguments, expr.place), frame)
            )
        if not isinstance(value, Callee):
            raise UnsupportedError(f"call of {value}")
        return (yield from self.enter(value, None, expr, frame))

    def owner_scope(self, function: Function, this: Ref) -> Scope:
        """What the template parameters of the class stand for to which a method belongs, perhaps a base."""
        layout = self.machine.layout
        return layout.scope_of(layout.owner(this.type, function.record) if function.record else this.type)

    def implicit(self, expr: Call, callee: Member, this: Ref, frame: Frame) -> Flow:
        """operator= that nobody wrote."""
        if callee.name != "operator=" or len(expr.arguments) != 1:
            raise UnsupportedError(f"no method {callee.name}")
        value = yield from self.at(1, self.rvalue(expr.arguments[0], frame))
        yield from self.store(this, value, callee.base)
        return this

    def enter(self, callee: Callee, this: Ref | None, expr: Call, frame: Frame) -> Flow:
        function = callee.function
        if this is not None and isinstance(function, Function) and function.record:
            owner = self.machine.layout.owner(this.type, function.record)
            this = self.part(this, owner)
        if isinstance(function, Lambda):
            assert callee.frame is not None
            inner = Frame(callee.frame.scope, callee.frame.this, callee.frame.env)
            if function.returns is not None:
                inner.returns = self.machine.resolve_or_auto(function.returns, callee.frame.scope)
            yield from self.pass_arguments(function.parameters, expr.arguments, inner, frame)
        else:
            scope = self.machine.layout.bind(
                function.template[: len(callee.arguments)],
                tuple(
                    a
                    if isinstance(a, TYPES)
                    else Literal(self.machine.constant(a, frame.scope))
                    if not isinstance(a, int)
                    else Literal(a)
                    for a in (self.resolved_argument(a, frame) for a in callee.arguments)
                ),
                callee.scope,
            )
            given = [self.type_of(a, frame) for a in expr.arguments]
            self.machine.layout.deduce(function, given, scope)
            for parameter in function.template:
                if parameter.id not in scope:
                    scope.update(self.machine.layout.bind((parameter,), (), scope))
            inner = Frame(scope, this)
            inner.packs.update(self.values_of_pack(function, callee.arguments, frame))
            inner.returns = self.machine.resolve_or_auto(function.returns, scope)
            yield from self.pass_arguments(function.parameters, expr.arguments, inner, frame)
        if len(self.via) > 60:
            raise UndefinedError("recursion without end")
        self.via.append(expr.place)
        yield from self.at(OWN // 2, self.execute(function.body, inner))
        self.via.pop()
        return inner.result

    def resolved_argument(self, argument: Any, frame: Frame) -> Any:
        return self.machine.resolve(argument, frame.scope) if isinstance(argument, TYPES) else argument

    def values_of_pack(
        self, function: Function, arguments: tuple[Any, ...], frame: Frame
    ) -> dict[str, list[int]]:
        """What the call gives for a pack of numbers in a function's template (`f<1, 2>(x)`)."""
        for i, parameter in enumerate(function.template):
            given = arguments[i:]
            if parameter.pack and given and not any(isinstance(a, TYPES) for a in given):
                numbers = [a if isinstance(a, int) else self.machine.constant(a, frame.scope) for a in given]
                return {parameter.id: numbers}
        return {}

    def pass_arguments(
        self, parameters: tuple[Var, ...], arguments: tuple[Expr, ...], inner: Frame, outer: Frame
    ) -> Flow:
        passed: list[tuple[str, Ref | Callee | Group]] = []
        for i, parameter in enumerate(parameters):
            if self.machine.is_pack(parameter.type):
                held = inner.packs[parameter.id] = []
                for k, argument in enumerate(arguments[i:], i):
                    if is_reference(parameter.type) and is_lvalue(argument):
                        held.append((yield from self.at(k + 1, self.lvalue(argument, outer))))
                        continue
                    value = yield from self.at(k + 1, self.rvalue(argument, outer))
                    held.append(self.temporary(value))
                break
            source, where = (arguments[i], outer) if i < len(arguments) else (parameter.init, inner)
            if source is None:
                raise UnsupportedError(f"no argument for {parameter.name}")
            type_ = self.machine.resolve_or_auto(parameter.type, inner.scope)
            self.path.append(i + 1)
            if isinstance(type_, PointerTo) and type_.reference:
                found = yield from self.bind(source, type_.to, where)
                passed.append((parameter.id, found))
            elif isinstance(source, InitList):
                ref = self.machine.local(parameter.name, type_ or INT)
                yield from self.fill(ref, source.elements, where)
                passed.append((parameter.id, ref))
            elif type_ is not None and self.copying(type_) and self.moved_from(source) is not None:
                ref = self.machine.local(parameter.name, type_)
                yield from self.initialise(ref, source, where)
                passed.append((parameter.id, ref))
            else:
                value = yield from self.rvalue(source, where)
                if isinstance(value, Callee | Group):
                    passed.append((parameter.id, value))
                else:
                    ref = self.machine.local(parameter.name, type_ or type_of_value(value))
                    self.write(ref, self.converted(value, ref.type))
                    passed.append((parameter.id, ref))
            self.path.pop()
        inner.env.update(passed)
