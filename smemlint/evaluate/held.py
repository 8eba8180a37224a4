"""What each thread of a kernel keeps in local variables, as far as the source says."""

from __future__ import annotations

from smemlint.evaluate.machine.machine import Machine
from smemlint.ir import Function

_MOST = 1024
"""Bytes of one variable above which it hardly stands in registers (a thread has 255)."""


def held(m: Machine) -> int:
    """Bytes of the arrays, records and floating-point numbers that a thread declared, each once."""
    sizes = (m.types.size_of(t) for t in m.journal.locals.values())
    return sum(size for size in sizes if size is not None and size <= _MOST)


def blocks_asked(m: Machine, kernel: Function) -> int:
    """The resident blocks that `__launch_bounds__(threads, blocks)` asks the compiler for; 0: it does not."""
    if len(kernel.launch_bounds) < 2:
        return 0
    return m.constant(kernel.launch_bounds[1], m.frame.bindings) or 0
