"""Random kernels of ordinary C++: records of odd layout in shared memory, values written in parts, swapped
pointers, jumps out of nested loops, hashes and narrow integers, lambdas and classes with state."""

from __future__ import annotations

from dataclasses import dataclass

from oracle.cxx_programs import CXX_HEAD, KERNEL
from oracle.drawing import Draw, Program
from oracle.modern_programs import MODERN_HEAD
from oracle.ordinary_control import ControlWriter
from oracle.ordinary_head import ORDINARY_HEAD, ORDINARY_SHARED


@dataclass(slots=True)
class OrdinaryWriter(ControlWriter):
    """Draws these forms besides those of production code."""

    def statement(self, depth: int, returns: bool = True) -> None:
        if not self.chance(60):
            super(OrdinaryWriter, self).statement(depth, returns)
            return
        kind = self.number(0, 9)
        if kind <= 3:
            self.value_form()
        elif kind <= 6 or not depth:
            self.memory_form()
        else:
            self.control_form(returns)


def ordinary_program(draw: Draw, data: bool = False, unknown: bool = False) -> Program:
    """As `modern_program`, of these forms."""
    writer = OrdinaryWriter(draw, data=data, unknown=unknown)
    block = writer.statements()
    writer.access()
    head = CXX_HEAD + MODERN_HEAD + ORDINARY_HEAD + KERNEL.format() + ORDINARY_SHARED.format()
    text = writer.kernel().replace("__global__ void k(float *out, int n) {\n", head)
    bm = draw.pick((8, 16, 32))
    type_ = draw.pick(("float", "double", "short"))
    n, at = writer.number(1, 9), writer.number(int(unknown), 5)
    return Program(text, block, n, bm, type_, block_index=at if data or unknown else 0)
