"""Guards that only the first block of a grid of unknown extent gets past.

`if (25 * blockIdx.x + threadIdx.x > 22) return;` in blocks of 25 threads is one. No block in the middle of
such a grid is worth looking at.
"""

from __future__ import annotations

import numpy as np

from smemlint.evaluate.machine.machine import EndedError, Machine
from smemlint.evaluate.values.comparison import COMPARISONS
from smemlint.evaluate.values.number import Int, subtract
from smemlint.evaluate.values.value import Value
from smemlint.ir import Block, If, Return
from smemlint.ir.types import LONG

_AXES = {f"blockIdx.{axis}": axis for axis in "xyz"}
_FAR = 1 << 20
"""The index of a block that is far behind any such guard."""


class FirstBlockError(EndedError):
    """The kernel has to be run for the first block along an axis, `x`, `y` or `z`."""

    def __init__(self, axis: str) -> None:
        super().__init__(axis)
        self.axis = axis


def keeps_out(m: Machine, s: If) -> bool | None:
    """What comparisons in the condition of a kernel's `if` give where a block has nothing to do.

    True before a `return`, false before anything else; None where both ways do something.
    """
    if not m.context.first_block or len(m.frames) > 1 or s.otherwise is not None:
        return None
    then = s.then.body[0] if isinstance(s.then, Block) and len(s.then.body) == 1 else s.then
    return isinstance(then, Return)


def look(m: Machine, op: str, a: Value, b: Value) -> None:
    """End the evaluation where the comparison `a op b` of a guard keeps all blocks but the first out.

    It does so in block 1 and far behind it, and lets most lanes of block 0 pass.
    Raises: FirstBlockError.
    """
    out = m.context.keeps_out
    if out is None or len(m.frames) > 1 or not (isinstance(a, Int) and isinstance(b, Int)):
        return
    d = subtract(a, b, LONG)
    if len(d.terms) != 1 or isinstance(d.const, int):
        return
    ((symbols, step),) = d.terms.items()
    axis = _AXES.get(symbols[0].name) if len(symbols) == 1 else None
    if axis is None or symbols[0].high is not None or not isinstance(step, int):
        return
    first, second, far = (
        np.asarray(COMPARISONS[op](d.const[m.threads.present] + step * block, 0)) for block in (0, 1, _FAR)
    )
    if (second != out).any() or (far != out).any():
        return
    if 2 * np.count_nonzero(first != second) > len(first):
        raise FirstBlockError(axis)
