"""Inline PTX: runs the instructions that a text was parsed into."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from smemlint.evaluate.analysis.ptx import (
    COPY_SIZES,
    PtxAccess,
    PtxAddress,
    PtxArgument,
    PtxBranch,
    PtxCompute,
    PtxImmediate,
    PtxOperand,
    PtxOutside,
    PtxPredicate,
    PtxRegister,
    PtxSpecial,
    PtxTarget,
    PtxUnknown,
    PtxUnread,
    parse,
    waits,
)
from smemlint.evaluate.control_flow.masks import decode
from smemlint.evaluate.language.accesses import escape, load, record_access, store
from smemlint.evaluate.language.conversions import coerce
from smemlint.evaluate.library.warp import lane_mask
from smemlint.evaluate.machine.cp_async import CHUNK, Copied
from smemlint.evaluate.machine.dispatch import lvalue, rvalue
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.memory.merging import merge
from smemlint.evaluate.model import Unresolved
from smemlint.evaluate.run.operators import operate
from smemlint.evaluate.run.ptx_integers import computed
from smemlint.evaluate.values import arithmetic as ar
from smemlint.evaluate.values.number import Int
from smemlint.evaluate.values.value import Other, Pointer, Value
from smemlint.ir import Asm
from smemlint.ir.types import BOOL, LONG, UINT, ULONG


def asm_value(m: Machine, e: Asm) -> Value:
    """Accesses and integer results of one asm statement, which has no value itself."""
    inputs = [rvalue(m, x) for x in e.inputs]
    if not m.host:
        m.stop("exchange")
    registers: dict[str, Value] = {}
    count = len(e.outputs)
    written: set[PtxTarget] = set()
    kept = m.must

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
            named = m.threads.specials.get((o.name, o.axis))
            special = named or lane_mask(m, o.name.removeprefix("lanemask_"))
            return special if special is not None else m.unknowns.value(UINT, o.name, low=0)
        return Other()

    def write(target: PtxTarget, v: Value, predicate: PtxPredicate | None = None) -> None:
        if predicate is not None and (target in written or _holds_before(e, target)):
            v = merge(m, _truth(m, predicate, read), v, read(target))
        written.add(target)
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
            result = computed(m, instruction, [read(o) for o in instruction.operands])
            write(instruction.destination, result, instruction.predicate)
        elif isinstance(instruction, PtxBranch):
            m.must = np.zeros_like(m.must)  # what follows may be passed over
        elif isinstance(instruction, PtxUnknown | PtxOutside | PtxUnread):
            if not (m.host or isinstance(instruction, PtxUnread)) and waits(instruction.mnemonic):
                m.barrier()
            for target in _lost(m, e, instruction, inputs):
                write(target, Other())
    m.must = kept
    return Other()


def _lost(
    m: Machine, e: Asm, i: PtxUnknown | PtxOutside | PtxUnread, inputs: Sequence[Value]
) -> tuple[PtxTarget, ...]:
    """Note what is not followed; the targets whose value is unknown after it."""
    targets: tuple[PtxTarget, ...] | None = None
    if not isinstance(i, PtxUnknown):
        for v in inputs:  # a bulk copy lays out rows by itself
            escape(v)
    if isinstance(i, PtxUnread):
        if i.touches:
            m.note("ptx-unread", "inline PTX that mentions shared memory could not be read", e.place)
    else:
        targets = i.destinations
        if isinstance(i, PtxOutside):
            m.note("ptx-outside", f"`{i.mnemonic}`: {i.reason}", e.place)
    return tuple(PtxArgument(n) for n in range(len(e.outputs))) if targets is None else targets


def _holds_before(e: Asm, target: PtxTarget) -> bool:
    """Whether an operand has a value of its own before the text writes it (`"+r"(x)`)."""
    if not isinstance(target, PtxArgument) or target.number >= len(e.constraints):
        return False
    return "+" in e.constraints[target.number]


def _truth(m: Machine, predicate: PtxPredicate, read: Callable[[PtxOperand], Value]) -> Int:
    v = read(predicate.value)
    if isinstance(v, Int):
        c = ar.truth_of(v, m.unknowns)
    else:
        c = m.unknowns.value(
            BOOL, "predicate", low=0, high=1, varying=not (isinstance(v, Other) and v.uniform)
        )
    return ar.logical_not(c, m.unknowns) if predicate.negated else c


def _access(
    m: Machine,
    e: Asm,
    i: PtxAccess,
    read: Callable[[PtxOperand], Value],
    write: Callable[[PtxTarget, Value], None],
) -> None:
    base = _address(m, i.address, read)
    if isinstance(base, Pointer) and base.object.storage == "shared":
        must, may, line = m.must, m.may, m.lines.region
        if i.predicate is not None:
            lanes = decode(m, _truth(m, i.predicate, read), stays=True)
            m.must, m.may = lanes.must, lanes.may
            m.arm(line, ("@", m.lines.made))
        _record(m, e, i, base, read)
        m.must, m.may, m.lines.region = must, may, line
    elif i.space.startswith("shared") or i.op in ("ldmatrix", "stmatrix", "cp.async"):
        reason = base.reason if isinstance(base, Other) and base.reason else None
        text = reason.text if reason else "its address is not followed"
        if not (isinstance(base, Pointer) and base.object.storage == "global"):
            m.note("ptx-address", f"`{i.mnemonic}`: {text}", e.place)
    for target in i.destinations:
        uniform = isinstance(base, Pointer) and base.offset.uniform and i.op == "load"
        write(target, Other(None, uniform, Unresolved("data-dependent", "loaded from memory", e.place)))


def _record(m: Machine, e: Asm, i: PtxAccess, p: Pointer, read: Callable[[PtxOperand], Value]) -> None:
    width = i.width
    if width is None and i.size is not None:
        v = read(i.size)
        known = v.const if isinstance(v, Int) and v.known and isinstance(v.const, int) else None
        width = known if known in COPY_SIZES else None
    if width is None:
        reason = Unresolved("copy-size", f"`{i.mnemonic}` of a size that is not constant", e.place)
        record_access(m, i.op, 4, p, e.place, reason=reason, node=e)
        return
    mask = None
    if i.op in ("ldmatrix", "stmatrix"):
        mask = m.threads.linear % 32 < 8 * i.matrices
    copied = None
    if i.op == "cp.async":
        source = _address(m, i.source, read) if i.source is not None else None
        past_l1 = width == CHUNK and ".cg" in i.mnemonic
        copied = Copied(source.offset if isinstance(source, Pointer) else None, past_l1)
    record_access(m, i.op, width, p, e.place, matrices=i.matrices, mask=mask, node=e, copied=copied)


def _address(m: Machine, a: PtxAddress, read: Callable[[PtxOperand], Value]) -> Value:
    v: Value = read(a.base)
    if a.index is not None:
        other: Value = read(a.index)
        v = operate(m, "+", v, other, None)
    if a.offset and isinstance(v, Pointer):
        p = Pointer(v.object, v.offset, v.pointee, v.integer or ULONG)
        v = operate(m, "+", p, Int(a.offset, LONG), None)
    return v
