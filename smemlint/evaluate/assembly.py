"""Inline PTX: runs the instructions that a text was parsed into."""

from __future__ import annotations

from smemlint.evaluate import arithmetic as ar
from smemlint.evaluate.accesses import load, record_access, store
from smemlint.evaluate.cells import merge
from smemlint.evaluate.conversions import as_int, coerce
from smemlint.evaluate.copies import CHUNK, Copied
from smemlint.evaluate.dispatch import lvalue, rvalue
from smemlint.evaluate.library_lanes import lane_mask
from smemlint.evaluate.machine import Machine
from smemlint.evaluate.masks import decode
from smemlint.evaluate.model import Unresolved
from smemlint.evaluate.operators import operate
from smemlint.evaluate.ptx import (
    PtxAccess,
    PtxAddress,
    PtxArgument,
    PtxCompute,
    PtxImmediate,
    PtxOperand,
    PtxOutside,
    PtxRegister,
    PtxSpecial,
    PtxTarget,
    PtxUnknown,
    PtxUnread,
    parse,
)
from smemlint.evaluate.values import Int, Other, Pointer, Value
from smemlint.ir import Asm, Scalar
from smemlint.ir.types import BOOL, INT, LONG, UINT, ULONG

_ARITHMETIC = {
    "add": "+", "sub": "-", "mul.lo": "*", "mul.wide": "*", "div": "/", "rem": "%", "and": "&", "or": "|",
    "xor": "^", "shl": "<<", "shr": ">>",
}  # fmt: skip
_COMPARE = {
    "setp.eq": "==",
    "setp.ne": "!=",
    "setp.lt": "<",
    "setp.le": "<=",
    "setp.gt": ">",
    "setp.ge": ">=",
}


def asm_value(m: Machine, e: Asm) -> Value:
    """Accesses and integer results of one asm statement, which has no value itself."""
    inputs = [rvalue(m, x) for x in e.inputs]
    registers: dict[str, Value] = {}
    count = len(e.outputs)

    def read(o: PtxOperand) -> Value:
        if isinstance(o, PtxArgument):
            if o.number >= count:
                return inputs[o.number - count] if o.number - count < len(inputs) else Other()
            p = lvalue(m, e.outputs[o.number])
            return load(m, p, e.place) if isinstance(p, Pointer) and p.object.storage == "local" else Other()
        if isinstance(o, PtxRegister):
            return registers.get(o.name, Other())
        if isinstance(o, PtxImmediate):
            return Int(o.value, LONG)
        if isinstance(o, PtxSpecial):
            special = m.specials.get((o.name, o.axis)) or lane_mask(m, o.name.removeprefix("lanemask_"))
            return special if special is not None else m.unknowns.value(UINT, o.name, low=0)
        return Other()

    def write(target: PtxTarget, v: Value) -> None:
        if isinstance(target, PtxRegister):
            registers[target.name] = v
        elif target.number < count:
            p = lvalue(m, e.outputs[target.number])
            if isinstance(p, Pointer):
                store(m, p, coerce(m, v, p.pointee), e.place)

    for instruction in parse(e.text):
        if isinstance(instruction, PtxAccess):
            _access(m, e, instruction, read, write)
        elif isinstance(instruction, PtxCompute):
            write(instruction.destination, _compute(m, instruction, [read(o) for o in instruction.operands]))
        elif isinstance(instruction, PtxUnknown | PtxOutside):
            if isinstance(instruction, PtxOutside):
                m.note("ptx-outside", f"`{instruction.mnemonic}`: {instruction.reason}", e.place)
            targets = instruction.destinations
            if targets is None:
                targets = tuple(PtxArgument(i) for i in range(count))
            for target in targets:
                write(target, Other())
        elif isinstance(instruction, PtxUnread):
            if instruction.touches:
                m.note("ptx-unread", "inline PTX that mentions shared memory could not be read", e.place)
            for i in range(count):
                write(PtxArgument(i), Other())
    return Other()


def _scalar(type: str) -> Scalar:
    wide = type.endswith("64")
    if type == "pred":
        return BOOL
    if type.startswith("s"):
        return LONG if wide else INT
    return ULONG if wide else UINT


def _compute(m: Machine, i: PtxCompute, values: list[Value]) -> Value:
    first = values[0] if values else Other()
    if i.operator in ("mov", "cvt", "to_shared", "from_shared"):
        if isinstance(first, Pointer):
            return Pointer(first.object, first.offset, first.pointee, _scalar(i.type))
        if i.type.startswith("f"):
            return Other()
        return first
    if i.operator in _ARITHMETIC and len(values) == 2:
        a, b = (v if isinstance(v, Pointer) else as_int(m, v) for v in values)
        return operate(m, _ARITHMETIC[i.operator], a, b, None)
    if i.operator in _COMPARE and len(values) == 2:
        return operate(m, _COMPARE[i.operator], values[0], values[1], None)
    if i.operator in ("mad.lo", "mad.wide") and len(values) == 3:
        product = operate(m, "*", as_int(m, values[0]), as_int(m, values[1]), None)
        return operate(
            m, "+", product, values[2] if isinstance(values[2], Pointer) else as_int(m, values[2]), None
        )
    if i.operator == "neg" and isinstance(first, Int):
        return operate(m, "-", Int(0, first.type), first, None)
    if i.operator == "not" and isinstance(first, Int):
        return operate(m, "^", first, Int(-1, first.type), None)
    if i.operator == "selp" and len(values) == 3 and isinstance(values[2], Int):
        return merge(m, ar.truth_of(values[2], m.unknowns), values[0], values[1])
    uniform = all(isinstance(v, Int | Other) and v.uniform for v in values)
    return Other(None, uniform)


def _access(m: Machine, e: Asm, i: PtxAccess, read: object, write: object) -> None:
    base = _address(m, i.address, read)
    if isinstance(base, Pointer) and base.object.storage == "shared":
        must, may = m.must, m.may
        if i.predicate is not None:
            p = read(i.predicate.value)  # type: ignore[operator]
            c = (
                ar.truth_of(p, m.unknowns)
                if isinstance(p, Int)
                else m.unknowns.value(BOOL, "predicate", low=0, high=1)
            )
            if i.predicate.negated:
                c = ar.logical_not(c, m.unknowns)
            lanes = decode(m, c)
            m.must, m.may = lanes.must, lanes.may
        _record(m, e, i, base, read)
        m.must, m.may = must, may
    elif i.space.startswith("shared") or i.op in ("ldmatrix", "stmatrix", "cp.async"):
        reason = base.reason if isinstance(base, Other) and base.reason else None
        text = reason.text if reason else "its address is not followed"
        if not (isinstance(base, Pointer) and base.object.storage == "global"):
            m.note("ptx-address", f"`{i.mnemonic}`: {text}", e.place)
    for target in i.destinations:
        uniform = isinstance(base, Pointer) and base.offset.uniform and i.op == "load"
        write(target, Other(None, uniform, Unresolved("data-dependent", "loaded from memory", e.place)))  # type: ignore[operator]


def _record(m: Machine, e: Asm, i: PtxAccess, p: Pointer, read: object) -> None:
    width = i.width
    if width is None and i.size is not None:
        v = read(i.size)  # type: ignore[operator]
        width = v.const if isinstance(v, Int) and v.known and isinstance(v.const, int) else None
    if width is None:
        reason = Unresolved("copy-size", f"`{i.mnemonic}` of a size that is not constant", e.place)
        record_access(m, i.op, 4, p, e.place, reason=reason, node=e)
        return
    mask = None
    if i.op in ("ldmatrix", "stmatrix"):
        mask = m.linear % 32 < 8 * i.matrices
    copied = None
    if i.op == "cp.async":
        source = _address(m, i.source, read) if i.source is not None else None
        past_l1 = width == CHUNK and ".cg" in i.mnemonic
        copied = Copied(source.offset if isinstance(source, Pointer) else None, past_l1)
    record_access(m, i.op, width, p, e.place, matrices=i.matrices, mask=mask, node=e, copied=copied)


def _address(m: Machine, a: PtxAddress, read: object) -> Value:
    v: Value = read(a.base)  # type: ignore[operator]
    if a.index is not None:
        other: Value = read(a.index)  # type: ignore[operator]
        v = operate(m, "+", v, other, None)
    if a.offset and isinstance(v, Pointer):
        p = Pointer(v.object, v.offset, v.pointee, v.integer or ULONG)
        v = operate(m, "+", p, Int(a.offset, LONG), None)
    return v
