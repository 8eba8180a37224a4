"""Where nvcc puts the static shared arrays of a block."""

from __future__ import annotations

from collections.abc import Sequence

from smemlint.evaluate.analysis.owned import owned
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.types.spelling import dims_of
from smemlint.evaluate.values.value import Object, led_to


def layout(arrays: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """Where nvcc puts static shared arrays, given (bytes, alignment) in order of declaration.

    Each starts at the next multiple of its own alignment. Leave out arrays that are never read: they vanish.
    """
    starts = []
    end = 0
    for size, align in arrays:
        start = -(-end // align) * align
        starts.append(start)
        end = start + size
    return tuple(starts)


def starts_of(m: Machine) -> dict[int, int]:
    """Byte offset of each static array in the block's shared memory, by id() of its object: file-scope ones
    first, or last where several kernels use them; without those that are never read."""
    read = {id(o) for s in m.journal.sites.values() if s.op != "store" for o in led_to(s.object)}
    return _placed(m, [o for o in _static(m) if id(o) in read or o.escapes])


def places_of(m: Machine) -> dict[int, int]:
    """starts_of() and, behind all static arrays, where dynamic shared memory begins."""
    starts = starts_of(m)
    dynamic = [o for o in m.memory.shared.values() if o.var is not None and o.var.storage == "extern_shared"]
    ends = [
        starts[id(o)] + (m.types.size_of(o.type) or 0) for o in m.memory.shared.values() if id(o) in starts
    ]
    if ends or not _static(m):
        align = max((declared_alignment(m, o) for o in dynamic), default=16)
        starts.update(dict.fromkeys(map(id, dynamic), -(-max(ends, default=0) // align) * align))
    return starts


def starts_so_far(m: Machine) -> dict[int, int]:
    """starts_of() while the kernel still runs: what is declared later lies behind."""
    return _placed(m, _static(m))


def _static(m: Machine) -> list[Object]:
    static = [o for o in m.memory.shared.values() if o.var is not None and o.var.storage == "shared"]
    return sorted(static, key=lambda o: _declaration_order(m, o))


def _declaration_order(m: Machine, o: Object) -> tuple[int, int]:
    """Where an array comes among the others: file-scope ones in the order of their declarations."""
    if o.id not in m.memory.globals or o.var is None:
        return (1, 0)
    return (0 if o.id in owned(m.module) else 2, o.var.place.offset)


def _placed(m: Machine, arrays: list[Object]) -> dict[int, int]:
    sizes: list[tuple[int, int]] = []
    for o in arrays:
        size = m.types.size_of(o.type)
        if size is None:
            return {}
        sizes.append((size, declared_alignment(m, o)))
    return {id(o): start for o, start in zip(arrays, layout(sizes), strict=True)}


def declared_alignment(m: Machine, o: Object) -> int:
    """Bytes that the declaration of an array promises to divide its start."""
    _, element = dims_of(o.type)
    align = m.types.align_of(element) or 1
    if o.var is not None and o.var.storage == "extern_shared":
        align = 16
    if o.var is not None and o.var.align is not None:
        align = max(align, m.constant(o.var.align, m.bindings) or 1)
    return align
