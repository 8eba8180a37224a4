"""Objects in memory: reading, writing and converting them, and telling of accesses."""

from __future__ import annotations

from oracle.frames import OWN, Access, Callee, Flow, Frame, Part, Ref, Value
from oracle.memory import SHARED
from oracle.types import type_of_value
from oracle.values import (
    Num,
    Ptr,
    Rec,
    UnsupportedError,
    convert,
    from_bits,
    to_bits,
)
from smemlint.ir import (
    ArrayOf,
    Expr,
    Lambda,
    Name,
    OpaqueType,
    PointerTo,
    RecordRef,
    Scalar,
    Type,
)
from smemlint.ir.types import INT, ULONG
from smemlint.ir.walk import walk


class Objects(Part):
    """Loads and stores of whole values."""

    def load(self, ref: Ref | Callee, node: Expr) -> Flow:
        if isinstance(ref, Callee):
            return ref
        if isinstance(ref.type, ArrayOf):
            return Ptr(ref.address, ref.type.element)
        yield from self.touch("load", ref, node)
        return self.read(ref)

    def store(self, ref: Ref, value: Value, node: Expr) -> Flow:
        yield from self.touch("store", ref, node)
        self.write(ref, self.converted(value, ref.type))

    def kept(self, e: Lambda, frame: Frame) -> Frame:
        """The frame of a lambda that copies what it uses: it has its own of each."""
        used = {n.id for n in walk(e.body) if isinstance(n, Name)} - {n.id for n in e.references}
        copied = used if e.copies_all else used & {n.id for n in e.copies}
        env = dict(frame.env)
        for id in copied & env.keys():
            ref = env[id]
            if isinstance(ref, Ref) and ref.address < SHARED:
                env[id] = own = self.machine.local("copy", ref.type)
                self.write(own, self.read(ref))
        return Frame(frame.scope, frame.this, env)

    def touch(self, op: str, ref: Ref, node: Expr) -> Flow:
        """Tells of an access; a record that is no vector type goes member by member."""
        if ref.address < SHARED:
            return
        position = OWN + (500 if op == "store" else 0)
        if ref.bits is not None:
            yield from self.touch_bits(op, ref, ref.bits, node)
            return
        pieces = [
            (offset + at, min(width, ref.align))
            for offset, width in self.pieces(ref.type)
            for at in range(0, width, ref.align)
        ]
        for i, (offset, width) in enumerate(pieces):
            yield self.access(op, ref.address + offset, width, node, position + i)

    def touch_bits(self, op: str, ref: Ref, bits: tuple[int, int], node: Expr) -> Flow:
        """Of unsigned fields in units of four bytes: a whole byte or half is an access of its own, what is
        above all others is read by itself, and others are stored with their neighbours."""
        first, count = bits
        assert isinstance(ref.type, Scalar)
        if ref.type.kind != "uint" or ref.type.size != 4:
            raise UnsupportedError("a bit-field in shared memory of another type than unsigned")
        if count in (8, 16, 32) and first % count == 0:
            yield self.access(op, ref.address + first // 8, count // 8, node, OWN)
        elif op == "load" and first in (8, 16, 24):
            yield self.access(op, ref.address + first // 8, 4 - first // 8, node, OWN)
        else:
            yield self.access("load", ref.address, 4, node, OWN)
            if op == "store":
                yield self.access(op, ref.address, 4, node, OWN + 500)

    def access(
        self, op: str, address: int, width: int, node: Expr, position: int, matrices: int = 1
    ) -> Access:
        return Access((*self.path, position), node, op, width, address, matrices, tuple(reversed(self.via)))

    def pieces(self, type_: Type) -> list[tuple[int, int]]:
        layout = self.machine.layout
        if isinstance(type_, ArrayOf):
            step = layout.size(type_.element)
            count = layout.size(type_) // step
            inner = self.pieces(type_.element)
            return [(i * step + o, w) for i in range(count) for o, w in inner]
        size, align = layout.size_and_align(type_)
        if not isinstance(type_, RecordRef) or (size == align and size in (1, 2, 4, 8, 16)):
            return [(0, size)]
        return [(s.offset + o, w) for s in layout.slots(type_) for o, w in self.pieces(s.type)]

    def read(self, ref: Ref) -> Value:
        memory = self.machine.memory
        if isinstance(ref.type, ArrayOf):
            return Ptr(ref.address, ref.type.element)
        if isinstance(ref.type, RecordRef):
            size = self.machine.layout.size(ref.type)
            data = bytearray(size)
            for offset, width in self.bytes_of(ref.type):
                bits = memory.load(ref.address + offset, width)
                data[offset : offset + width] = bits.to_bytes(width, "little")
            return Rec(ref.type, bytes(data))
        if isinstance(ref.type, PointerTo):
            return Ptr(memory.load(ref.address, 8), ref.type.to)
        assert isinstance(ref.type, Scalar)
        if ref.bits is not None:
            first, count = ref.bits
            bits = memory.load(ref.address, ref.type.size) >> first & ((1 << count) - 1)
            signed = ref.type.kind == "int" and bits >> (count - 1)
            # What fits an int is promoted to one.
            type_ = INT if count < 32 and ref.type.size <= 4 else ref.type
            return Num(bits - (1 << count) if signed else bits, type_)
        return Num(from_bits(memory.load(ref.address, ref.type.size), ref.type), ref.type)

    def bytes_of(self, type_: Type) -> list[tuple[int, int]]:
        """The scalars of a type, so that padding is never read."""
        layout = self.machine.layout
        if isinstance(type_, ArrayOf):
            step = layout.size(type_.element)
            inner = self.bytes_of(type_.element)
            return [(i * step + o, w) for i in range(layout.size(type_) // step) for o, w in inner]
        if isinstance(type_, RecordRef):
            found = [(s.offset + o, w) for s in layout.slots(type_) for o, w in self.bytes_of(s.type)]
            return found[:1] if layout.record(type_).union else found
        return [(0, layout.size(type_))]

    def write(self, ref: Ref, value: Value) -> None:
        memory = self.machine.memory
        if ref.bits is not None and isinstance(value, Num) and isinstance(ref.type, Scalar):
            first, count = ref.bits
            mask = (1 << count) - 1
            old = memory.load(ref.address, ref.type.size)
            new = old & ~(mask << first) | (to_bits(value.value, ref.type) & mask) << first
            memory.store(ref.address, ref.type.size, new)
        elif isinstance(value, Num) and isinstance(ref.type, Scalar):
            memory.store(ref.address, ref.type.size, to_bits(value.value, ref.type))
        elif isinstance(value, Ptr):
            memory.store(ref.address, 8, value.address)
        elif isinstance(value, Rec):
            for offset, width in self.bytes_of(value.type):
                bits = int.from_bytes(value.data[offset : offset + width], "little")
                memory.store(ref.address + offset, width, bits)
        else:
            raise UnsupportedError(f"store of {value} as {ref.type}")

    def temporary(self, value: Value) -> Ref:
        ref = self.machine.local("temporary", type_of_value(value))
        self.write(ref, value)
        return ref

    def part(self, ref: Ref, type_: Type) -> Ref:
        """What a reference to a class leads to, of an object of a class that has it as a base."""
        at = self.machine.layout.distance(ref.type, type_)
        derived = isinstance(ref.type, RecordRef) and isinstance(type_, RecordRef) and ref.type != type_
        return Ref(ref.address + at, type_, None, ref.align) if derived else ref

    def converted(self, value: Value, type_: Type | None) -> Value:
        """A value as another type; pointers and integers keep their bits."""
        if type_ is None or isinstance(type_, OpaqueType):
            return value
        if isinstance(type_, Scalar) and type_.kind == "void":
            return None
        if isinstance(type_, Scalar):
            if isinstance(value, Num):
                return convert(value, type_)
            if isinstance(value, Ptr):
                return (
                    Num(int(value.address != 0), type_)
                    if type_.kind == "bool"
                    else convert(Num(value.address, ULONG), type_)
                )
        if isinstance(type_, PointerTo) and isinstance(value, Num | Ptr):
            if isinstance(value, Ptr):
                return Ptr(value.address + self.machine.layout.distance(value.to, type_.to), type_.to)
            return Ptr(int(value.value), type_.to)
        if isinstance(type_, RecordRef) and isinstance(value, Rec):
            return self.read(self.part(self.temporary(value), type_)) if value.type != type_ else value
        if isinstance(type_, RecordRef) and isinstance(value, Num | Ptr):
            raise UnsupportedError(f"conversion to {type_.name}")
        return value
