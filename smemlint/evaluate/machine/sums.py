"""The sums that code has computed so far, as the compiler's strength reduction finds them.

nvcc writes `w * 128 + t * 4` as `(w * 128 + t) + t * 3` where the shorter sum was computed before, and then
knows less of what divides it (docs/dev/joining.md).
"""

from __future__ import annotations

from math import gcd
from typing import TypeAlias

from smemlint.evaluate.machine.state import Mask, SiteLog, Undecided
from smemlint.evaluate.types.spelling import dims_of
from smemlint.evaluate.values.affine import Affine, Terms, cuts, divisor

WIDEST = 16
"""Bytes a lane of the widest access."""
Conditions: TypeAlias = tuple[tuple[Undecided, ...], Mask]
"""The conditions around that nobody can decide, outermost first, and the lanes that run here."""


class Sums:
    """What one evaluation has added up, in order.

    doubtful: id() of the sites whose address a sum before may have been used for.
    """

    def __init__(self) -> None:
        self.doubtful: set[int] = set()
        self._found: dict[Terms, list[tuple[Conditions, int]]] = {}
        """The sums without their constants, the conditions under which they were computed, and where."""
        self._narrow: set[Terms] = set()
        """The way of pointers, in bytes, to which only 32-bit numbers were added."""

    def add(self, form: Affine, under: Conditions, node: int = 0) -> None:
        """Note a sum of at least two unknown values. node: id() of the expression."""
        if len(form.terms) < 2:
            return
        known = self._found.setdefault(form.terms, [])
        if not any(_encloses(before, under) for before, _ in known):
            known.append((under, node))

    def drop(self, form: Affine, node: int) -> None:
        """Forget a sum that is a part of a larger one: the compiler adds these up in an order of its own."""
        known = self._found.get(form.terms)
        if known and known[-1][1] == node:
            known.pop()

    def point(self, before: Affine, after: Affine, size: int, under: Conditions) -> None:
        """Note the element that a pointer leads to, whose way was added to by a 32-bit number."""
        if before.terms and before.terms not in self._narrow:
            return
        self._narrow.add(after.terms)
        if before.terms and size and all(f % size == 0 for _, f in after.terms):
            self.add(Affine(0, tuple((v, f // size) for v, f in after.terms)), under)

    def access(self, site: SiteLog, address: Affine, under: Conditions) -> None:
        """Look whether an address may be written with the help of a sum of which less is known."""
        size = site.width
        if id(site) in self.doubtful or len(address.terms) < 2 or any(f % size for _, f in address.terms):
            return
        own = {v: f // size for v, f in address.terms}
        rows = len(dims_of(site.object.type)[0]) > 1
        for sum_, known in self._found.items():
            if not any(_encloses(before, under) for before, _ in known) or any(v not in own for v, _ in sum_):
                continue
            part = tuple((v, own[v]) for v, _ in sum_)
            if (part in self._found or not rows) and _worse(part, sum_, WIDEST // size):
                self.doubtful.add(id(site))
                return


def _worse(own: Terms, other: Terms, most: int) -> bool:
    """Whether the difference of two sums of the same values is a multiple of one value, and less is known of
    the other sum. Sums that hold this value once are left as they are. most: what never has to be known."""
    apart = [(v, a, b) for (v, a), (_, b) in zip(own, other, strict=True) if a != b]
    if not apart or len(apart) == len(other):
        return False
    _, a, b = apart[0]
    if any(x * b != y * a for _, x, y in apart) or gcd(*(x for _, x, _ in apart)) == 1:
        return False
    left = tuple((v, x - y) for v, x, y in apart)
    return _subtracts(left) or min(divisor(other), divisor(left)) < min(divisor(own), most)


def _subtracts(left: Terms) -> bool:
    """Whether what is added is a power of two times a value, less than zero. A shift is then subtracted, and
    of what `&` cuts out nothing is known any more."""
    (value, factor), *more = left
    return not more and factor < 0 and -factor & (-factor - 1) == 0 and cuts(value, -factor)


def _encloses(outer: Conditions, inner: Conditions) -> bool:
    """Whether what runs under the inner conditions only runs after what runs under the outer."""
    outside, inside = outer[0], inner[0]
    if len(outside) > len(inside) or any(a is not b for a, b in zip(outside, inside, strict=False)):
        return False
    return outer[1] is inner[1] or not (inner[1] & ~outer[1]).any()
