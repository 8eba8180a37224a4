"""Variables and what they start with."""

from __future__ import annotations

from dataclasses import replace

from oracle import groups
from oracle.frames import OWN, Callee, Flow, Frame, Part, Ref
from oracle.layout import extent
from oracle.types import is_lvalue, type_of_value
from oracle.values import (
    Num,
)
from smemlint.ir import (
    ArrayOf,
    Call,
    Construct,
    Expr,
    Function,
    InitList,
    Lambda,
    Literal,
    Name,
    PointerTo,
    RecordRef,
    Scalar,
    Type,
    Var,
)
from smemlint.ir.types import INT, is_reference


class Initialising(Part):
    """Declarations, braces and constructors."""

    def declare(self, var: Var, frame: Frame) -> Flow:
        machine = self.machine
        if var.storage in ("shared", "extern_shared"):
            frame.env[var.id] = machine.shared(var, frame.scope)
            return
        if isinstance(var.init, Call) and groups.makes_group(getattr(var.init.callee, "name", "")):
            frame.env[var.id] = yield from self.rvalue(var.init, frame)
            return
        written = machine.resolve_or_auto(var.type, frame.scope)
        if isinstance(written, PointerTo) and written.reference:
            assert var.init is not None
            frame.env[var.id] = yield from self.bind(var.init, written.to, frame)
            return
        if written is None:
            assert var.init is not None
            value = yield from self.rvalue(var.init, frame)
            if isinstance(value, Callee):
                frame.env[var.id] = self.copy_of_lambda(value) if isinstance(var.init, Name) else value
                return
            written = type_of_value(value)
            ref = machine.local(var.name, written)
            self.write(ref, value)
        else:
            if isinstance(written, ArrayOf) and written.extent is None and isinstance(var.init, InitList):
                written = ArrayOf(written.element, Literal(len(var.init.elements)))
            ref = machine.local(var.name, written)
            if var.init is not None:
                yield from self.initialise(ref, var.init, frame)
            elif isinstance(written, RecordRef) and machine.constructors(written, 0):
                yield from self.construct_at(ref, (), frame)
        frame.env[var.id] = ref

    def bind(self, expr: Expr, type_: Type, frame: Frame) -> Flow:
        """What a reference refers to."""
        if is_lvalue(expr):
            found = yield from self.lvalue(expr, frame)
            return self.part(found, type_) if isinstance(found, Ref) else found
        value = yield from self.rvalue(expr, frame)
        if isinstance(value, Callee):
            return value
        known = self.machine.resolve_or_auto(type_, frame.scope) or type_of_value(value)
        ref = self.machine.local("temporary", known)
        self.write(ref, self.converted(value, known))
        return ref

    def initialise(self, ref: Ref, init: Expr, frame: Frame) -> Flow:
        if isinstance(ref.type, PointerTo) and ref.type.reference:
            bound = yield from self.bind(init, ref.type.to, frame)
            self.machine.memory.store(ref.address, 8, bound.address)
            return
        if isinstance(init, Construct) and len(init.arguments) == 1 and self.copying(ref.type):
            (only,) = init.arguments
            init = only if is_lvalue(only) and self.type_of(only, frame) == ref.type else init
        if isinstance(init, InitList):
            yield from self.fill(ref, init.elements, frame)
        elif isinstance(init, Construct) and self.made_there(ref.type, init, frame):
            yield from self.fill(ref, init.arguments, frame)
        elif isinstance(ref.type, ArrayOf) and is_lvalue(init):  # what a structured binding copies
            source = yield from self.lvalue(init, frame)
            memory, size = self.machine.memory, self.machine.layout.size(ref.type)
            memory.store(ref.address, size, memory.load(source.address, size))
        elif (named := self.moved_from(init)) is not None and self.copying(ref.type):
            source = yield from self.lvalue(named, frame)
            yield from self.copy(ref, source, named is not init)
        elif (
            isinstance(ref.type, RecordRef)
            and isinstance(self.type_of(init, frame), Scalar | PointerTo | ArrayOf)
            and self.machine.constructors(ref.type, 1)
        ):
            yield from self.construct_at(ref, (init,), frame)
        else:
            value = yield from self.rvalue(init, frame)
            self.write(ref, self.converted(value, ref.type))

    def made_there(self, type_: Type, init: Construct, frame: Frame) -> bool:
        """Whether an object is made where it lies."""
        if isinstance(type_, ArrayOf):
            return True
        made = self.machine.resolve(init.type, frame.scope) == type_ and isinstance(type_, RecordRef)
        if not made or not self.machine.constructors(type_, len(init.arguments)):
            return False
        return len(init.arguments) != 1 or self.type_of(init.arguments[0], frame) != type_

    def copy_of_lambda(self, value: Callee) -> Callee:
        """A lambda with its own of what it captured by value."""
        function, frame = value.function, value.frame
        if not isinstance(function, Lambda) or frame is None:
            return value
        env = dict(frame.env)
        for var in function.captures:
            held = env.get(var.id)
            if isinstance(held, Ref) and not is_reference(var.type):
                env[var.id] = own = self.machine.local(var.name, held.type)
                self.write(own, self.read(held))
        return replace(value, frame=Frame(frame.scope, frame.this, env))

    @staticmethod
    def moved_from(init: Expr) -> Expr | None:
        """The object that is copied (itself), or that `std::move` names; None for a value."""
        if isinstance(init, Call) and isinstance(init.callee, Name) and init.callee.name.endswith("move"):
            return init.arguments[0]
        return init if is_lvalue(init) and not isinstance(init, Call) else None

    def copying(self, type_: Type) -> tuple[Function, ...]:
        """The constructors of a class that copy or move; those of a member stand for it."""
        if not isinstance(type_, RecordRef):
            return ()
        own = tuple(f for f in self.machine.constructors(type_, 1) if is_reference(f.parameters[0].type))
        slots = self.machine.layout.slots(type_)
        return own or next((found for s in slots if (found := self.copying(s.type))), ())

    def copy(self, to: Ref, source: Ref, moved: bool) -> Flow:
        """Make an object of another of its class."""
        own = [f for f in self.machine.constructors(to.type, 1) if is_reference(f.parameters[0].type)]
        if not own:
            for slot in self.machine.layout.slots(to.type):
                mine, other = (Ref(r.address + slot.offset, slot.type, slot.bits) for r in (to, source))
                if self.copying(slot.type):
                    yield from self.copy(mine, other, moved)
                else:
                    self.write(mine, self.read(other))
            return
        function = own[min(int(moved), len(own) - 1)]
        inner = Frame(self.machine.layout.scope_of(to.type), to, {function.parameters[0].id: source})
        for name, init in function.initialisers:
            slot = next(s for s in self.machine.layout.slots(to.type) if s.field.name == name)
            yield from self.initialise(Ref(to.address + slot.offset, slot.type, slot.bits), init, inner)
        yield from self.execute(function.body, inner)

    def fill(self, ref: Ref, elements: tuple[Expr, ...], frame: Frame) -> Flow:
        """Aggregate initialisation: what is not given is zero."""
        layout = self.machine.layout
        if ref.type == RecordRef("dim3"):
            elements += (Literal(1),) * (3 - len(elements))
        if isinstance(ref.type, RecordRef) and self.machine.constructors(ref.type, len(elements)):
            yield from self.construct_at(ref, elements, frame)
            return
        self.machine.memory.store(ref.address, layout.size(ref.type), 0)
        if isinstance(ref.type, ArrayOf):
            step = layout.size(ref.type.element)
            parts = [Ref(ref.address + i * step, ref.type.element) for i in range(extent(ref.type))]
            if isinstance(ref.type.element, RecordRef | ArrayOf):
                for part in parts[len(elements) :]:
                    yield from self.fill(part, (), frame)
        elif isinstance(ref.type, RecordRef):
            slots = layout.slots(ref.type)
            parts = [Ref(ref.address + s.offset, s.type, s.bits) for s in slots]
            gaps = {i for i, e in enumerate(elements) if isinstance(e, InitList) and e.gap}
            left_out = [
                pair
                for i, pair in enumerate(zip(slots, parts, strict=True))
                if i in gaps or i >= len(elements)
            ]
            for slot, part in left_out:
                if slot.field.init is not None:
                    inner = Frame(layout.scope_of(ref.type), ref)
                    yield from self.initialise(part, slot.field.init, inner)
                elif isinstance(part.type, RecordRef | ArrayOf):
                    yield from self.fill(part, (), frame)
        else:
            parts = [ref]
        for i, (part, element) in enumerate(zip(parts, elements, strict=False)):
            if isinstance(element, InitList) and element.gap:
                continue
            yield from self.at(i, self.initialise(part, element, frame))

    def construct(self, type_: Type, arguments: tuple[Expr, ...], frame: Frame) -> Flow:
        if not isinstance(type_, RecordRef):
            if not arguments:
                return self.converted(Num(0, INT), type_)
            return self.converted((yield from self.at(0, self.rvalue(arguments[0], frame))), type_)
        if len(arguments) == 1 and not self.machine.constructors(type_, 1):
            given = self.type_of(arguments[0], frame)
            if given == type_:
                return (yield from self.at(0, self.rvalue(arguments[0], frame)))
        ref = self.machine.local("temporary", type_)
        yield from self.fill(ref, arguments, frame)
        return self.read(ref)

    def construct_at(self, ref: Ref, arguments: tuple[Expr, ...], frame: Frame) -> Flow:
        function = self.machine.constructors(ref.type, len(arguments))[0]
        scope = self.machine.layout.scope_of(ref.type)
        inner = Frame(scope, ref)
        yield from self.pass_arguments(function.parameters, arguments, inner, frame)
        self.path.append(OWN // 2)
        given = dict(function.initialisers)
        for i, slot in enumerate(self.machine.layout.slots(ref.type)):
            init = given.get(slot.field.name, slot.field.init)
            if init is not None:
                yield from self.at(
                    i, self.initialise(Ref(ref.address + slot.offset, slot.type, slot.bits), init, inner)
                )
        yield from self.at(OWN, self.execute(function.body, inner))
        self.path.pop()
