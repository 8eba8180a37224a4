"""The few PTX instructions that test kernels use, read with regular expressions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from oracle.frames import OWN, Flow, Frame, Ref
from oracle.memory import SHARED
from oracle.values import Num, Ptr, UnsupportedError, to_bits
from smemlint.ir import Asm
from smemlint.ir.types import ULONG

if TYPE_CHECKING:
    from oracle.thread import Thread

_BITS = re.compile(r"[a-z](\d+)$")


def execute(thread: Thread, asm: Asm, frame: Frame) -> Flow:
    """Outputs hold what the registers hold at the end; values that come from memory are noise."""
    outputs: list[Ref] = []
    for i, output in enumerate(asm.outputs):
        outputs.append((yield from thread.at(i, thread.lvalue(output, frame))))
    registers: dict[str, int] = {}
    for i, given in enumerate(asm.inputs, len(outputs)):
        value = yield from thread.at(i, thread.rvalue(given, frame))
        registers[f"%{i}"] = value.address if isinstance(value, Ptr) else to_bits(value.value, value.type)
    written: set[str] = set()
    statements = [s.strip() for s in re.split(r"[;{}]", _flat(asm.text)) if s.strip()]
    for i, statement in enumerate(statements):
        if statement.startswith("."):
            continue
        if statement.startswith("@"):
            guard, _, statement = statement.partition(" ")
            if bool(registers[guard.lstrip("@!")]) is guard.startswith("@!"):
                continue
        mnemonic, _, rest = statement.partition(" ")
        parts = mnemonic.split(".")
        address = re.search(r"\[\s*(%?\w+)\s*(?:\+\s*(-?\w+))?\s*\]", rest)
        if parts[0] in ("ld", "st", "ldmatrix", "stmatrix") and "shared" in mnemonic and address:
            at = SHARED + registers[address[1]] + int(address[2] or "0", 0)
            width, matrices = _width(parts), 1
            op = {"ld": "load", "st": "store"}.get(parts[0], parts[0])
            if op.endswith("matrix"):
                width, matrices = 16, int(next(p[1:] for p in parts if re.fullmatch(r"x[124]", p)))
            yield thread.access(op, at, width, asm, OWN + i, matrices)
            for name in re.findall(r"%\d+|\b[a-z]\w*", rest[: address.start()]):
                registers[name] = 0
                written.add(name)
            continue
        names = [n.strip() for n in rest.split(",")]
        a, b = (_value(n, registers, thread) for n in [*names[1:], "0"][:2])
        low = a & 0xFFFFFFFF
        if parts[0] == "setp" and parts[2] == "s32":
            x, y = ((v & 0xFFFFFFFF ^ 1 << 31) - (1 << 31) for v in (a, b))
            registers[names[0]] = int({"ne": x != y, "eq": x == y, "lt": x < y, "ge": x >= y}[parts[1]])
            continue
        simple = {"add": a + b, "mul": a * b, "shl": a << (b & 63), "mov": a, "cvt": a, "cvta": low}
        if parts[0] not in simple:
            raise UnsupportedError(f"PTX {mnemonic}")
        bits = int(_BITS.search(parts[1] if parts[0] == "cvt" else mnemonic)[1])  # type: ignore[index]
        registers[names[0]] = simple[parts[0]] & ((1 << bits) - 1)
        written.add(names[0])
    for i, output in enumerate(outputs):
        if f"%{i}" in written:
            number = Num(registers[f"%{i}"], ULONG)
            thread.write(output, thread.converted(number, output.type))


def _flat(text: str) -> str:
    """Vector operands without their braces, so that braces are only scopes."""
    return re.sub(r"\{([^{};]*)\}(?=\s*[,;])", r"\1", text.replace("%%", "%"))


def _value(name: str, registers: dict[str, int], thread: Thread) -> int:
    if name in registers:
        return registers[name]
    if name == "%laneid":
        x, y, z = thread.index
        bx, by, _ = thread.machine.launch.block
        return (x + bx * (y + by * z)) % 32
    return int(name, 0)


def _width(parts: list[str]) -> int:
    bits = int(_BITS.search(parts[-1])[1])  # type: ignore[index]
    return bits // 8 * next((int(p[1:]) for p in parts if re.fullmatch(r"v[24]", p)), 1)
