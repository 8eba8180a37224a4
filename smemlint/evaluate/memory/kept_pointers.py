"""Pointers into shared memory that wait in memory which is not followed: `ops[w].out = tile;`.

Who reads a pointer where one may lie gets one of those.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

import numpy as np
from numpy.typing import NDArray

from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.model import Unresolved
from smemlint.evaluate.values.number import Int, form_of, gcd_of
from smemlint.evaluate.values.value import Pointer, same
from smemlint.ir.types import LONG

SIZE = 8
"""Bytes of a pointer."""


def keep(m: Machine, at: Pointer, v: Pointer) -> None:
    """Note where a pointer is written to."""
    kept = m.memory.kept.setdefault(at.object, [])
    m.memory.pointed[at.object] = m.memory.barriers
    if not any(same(v, other) and same(at.offset, offset) for offset, other in kept):
        kept.append((at.offset, v))


def kept_at(m: Machine, p: Pointer) -> Sequence[Pointer]:
    """The pointers of which one may lie at an address, as they were written."""
    found: list[Pointer] = []
    for offset, v in m.memory.kept.get(p.object, ()):
        if not v.offset.uniform and not (same(offset, p.offset) and _differs_by_lane(offset)):
            v = _of_another_lane(m, v, p)
        if not any(same(v, other) for other in found) and not _are_disjoint(offset, p.offset):
            found.append(v)
    return found


def _differs_by_lane(offset: Int) -> bool:
    """Whether no two lanes have the same place."""
    const = np.asarray(offset.const)
    return not offset.terms and const.ndim > 0 and len(np.unique(const)) == const.size


def _of_another_lane(m: Machine, v: Pointer, read: Pointer) -> Pointer:
    """A pointer that differs by lane, read where any of them may have written it."""
    name = read.object.name
    reason = Unresolved("data-dependent", f"depends on values loaded from `{name}`")
    offset = m.unknown(LONG, f"{name}[...]", uniform=read.offset.uniform, reason=reason)
    return Pointer(v.object, offset, v.pointee) if isinstance(offset, Int) else v


def is_reloaded(m: Machine, p: Pointer) -> bool:
    """Whether the compiler knows no more of a pointer that is read than its type: several were written there,
    and it does not see which, or others may have written since."""
    if len(m.memory.kept[p.object]) < 2:
        return False
    seen = not form_of(p.offset).terms and not m.context.loops
    return not seen or m.memory.pointed[p.object] < m.memory.barriers


def _are_disjoint(a: Int, b: Int) -> bool:
    """Whether two pointers in one object lie nowhere in the same bytes, whichever lanes wrote and read them
    and whatever the unknown numbers in their places are."""
    step = gcd(*(gcd_of(c) for v in (a, b) for c in v.terms.values()))
    ours, theirs = _numbers(a, step), _numbers(b, step)
    far = ours[:, None] - theirs[None, :]
    if step:
        far %= step
        return bool(((far >= SIZE) & (far <= step - SIZE)).all())
    return bool((abs(far) >= SIZE).all())


def _numbers(v: Int, step: int) -> NDArray[np.int64]:
    each = np.unique(np.asarray(v.const, np.int64))
    return np.unique(each % step) if step else each
