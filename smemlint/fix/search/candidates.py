"""Layouts that an array could have instead, as functions from today's addresses to new ones.

Pure integer work on the traces: nothing is parsed or evaluated again to try one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import gcd, prod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from smemlint.records import record

Offsets: TypeAlias = NDArray[np.int64]

CYCLE = 128
"""Bytes after which the banks repeat."""


@record(frozen=True, slots=True)
class Shape:
    """How an array is laid out today. dims: elements per dimension, outermost first; element: bytes.

    flat: the last two of `dims` are rows and their pitch as an index has them; the source declares one
    dimension for both.
    """

    dims: tuple[int, ...]
    element: int
    flat: bool = False

    @property
    def bytes(self) -> int:
        return prod(self.dims) * self.element

    def strides(self) -> tuple[int, ...]:
        """Elements from one index to the next, per dimension."""
        return tuple(prod(self.dims[d + 1 :]) for d in range(len(self.dims)))


@record(frozen=True, slots=True)
class Addresses:
    """Where the lanes of one site's requests go.

    offsets: bytes, shape (requests, 32), -1: inactive. indices: shape (requests, dims, 32).
    alignment: what divides the part of the address that is the same for all lanes and not in
    offsets, in bytes; 0: nothing was left out.
    """

    offsets: Offsets
    indices: NDArray[np.int64]
    alignment: int = 0

    @property
    def active(self) -> NDArray[np.bool_]:
        return self.offsets >= 0


def addresses(offsets: Offsets, alignment: int, shape: Shape) -> Addresses:
    """Addresses of a site in terms of a shape.

    Where a part is left out, the indices are those of the rest: right as long as the left-out part does not
    carry a column into the next row, which no program that stays inside its rows does. The proof tells.
    """
    elements = np.where(offsets >= 0, offsets, 0) // shape.element
    parts = []
    for d, stride in enumerate(shape.strides()):
        part = elements // stride
        parts.append(part if d == 0 else part % shape.dims[d])
    return Addresses(offsets, np.stack(parts, axis=1), alignment)


@record(frozen=True, slots=True)
class Padding:
    """`extra` elements more in dimension `dim` (at least 1: the outermost has no pitch); less when negative,
    where no access reaches the last ones."""

    dim: int
    extra: int

    def shape(self, shape: Shape) -> Shape:
        dims = list(shape.dims)
        dims[self.dim] += self.extra
        return Shape(tuple(dims), shape.element, shape.flat)

    def alignment(self, at: Addresses, shape: Shape) -> int:
        """What divides the left-out part afterwards: it may be a number of rows."""
        if not at.alignment:
            return 0
        if self._whole_rows(at, shape):
            rows = at.alignment // (shape.strides()[self.dim - 1] * shape.element)
            return rows * self.shape(shape).strides()[self.dim - 1] * shape.element
        return gcd(at.alignment, self.extra * shape.strides()[self.dim] * shape.element)

    def _whole_rows(self, at: Addresses, shape: Shape) -> bool:
        """Whether the left-out part is a number of rows, so that it reaches no column."""
        return self.dim > 0 and at.alignment % (shape.strides()[self.dim - 1] * shape.element) == 0

    def apply(self, at: Addresses, shape: Shape) -> Offsets | None:
        if self.extra < 0:
            narrower = shape.dims[self.dim] + self.extra
            if not self._whole_rows(at, shape) or (at.indices[:, self.dim, :] >= narrower)[at.active].any():
                return None
        before, after = shape.strides(), self.shape(shape).strides()
        return _moved(at, shape.element, before, after)


def _moved(at: Addresses, element: int, before: Sequence[int], after: Sequence[int]) -> Offsets:
    """The offsets under other strides of the dimensions."""
    moved = sum(at.indices[:, d, :] * ((after[d] - before[d]) * element) for d in range(len(before)))
    return np.where(at.active, at.offsets + moved, -1)


@record(frozen=True, slots=True)
class Exchange:
    """Dimensions `dim` and `dim + 1` change places."""

    dim: int

    def shape(self, shape: Shape) -> Shape:
        dims = list(shape.dims)
        dims[self.dim], dims[self.dim + 1] = dims[self.dim + 1], dims[self.dim]
        return Shape(tuple(dims), shape.element, shape.flat)

    def alignment(self, at: Addresses, shape: Shape) -> int:
        return at.alignment

    def apply(self, at: Addresses, shape: Shape) -> Offsets | None:
        before, after = list(shape.strides()), list(self.shape(shape).strides())
        after[self.dim], after[self.dim + 1] = after[self.dim + 1], after[self.dim]
        if at.alignment:
            return None
        return _moved(at, shape.element, before, after)


@record(frozen=True, slots=True)
class Swizzle:
    """The column is xored with `bits` bits of the row: `col ^ (((row >> shift) & (2**bits - 1)) << base)`.

    Row and column are the last two indices. With `linear` (always in an array of one dimension) both are
    parts of the last index: `i ^ (((i >> shift) & (2**bits - 1)) << base)` with shift >= base + bits.
    Involutive, and inside the array when the columns (the length) are a multiple of 2**(base + bits).
    kept: elements that an access reaches as one although they are written one by one; the text has to say
    that they stay neighbours.
    """

    bits: int
    base: int
    shift: int
    linear: bool = False
    kept: int = 1

    def shape(self, shape: Shape) -> Shape:
        return shape

    def fits(self, shape: Shape) -> bool:
        columns = shape.dims[-1]
        if self.linear and self.shift < self.base + self.bits:
            return False
        return columns % (1 << (self.base + self.bits)) == 0

    def apply(self, at: Addresses, shape: Shape) -> Offsets | None:
        column = at.indices[:, -1, :]
        row = column if self.linear else at.indices[:, -2, :]
        if at.alignment and not self._unmoved(at.alignment, shape):
            return None
        swizzled = column ^ (((row >> self.shift) & ((1 << self.bits) - 1)) << self.base)
        return np.where(at.active, at.offsets + (swizzled - column) * shape.element, -1)

    def alignment(self, at: Addresses, shape: Shape) -> int:
        return at.alignment

    def _unmoved(self, alignment: int, shape: Shape) -> bool:
        """Whether a part that is a multiple of `alignment` bytes changes none of the bits involved."""
        top = 1 << (self.shift + self.bits)
        period = top if self.linear else top * shape.dims[-1]
        return alignment % (period * shape.element) == 0


@record(frozen=True, slots=True)
class Trimmed:
    """A row padding that did not help is taken back (`padding.extra` below 0), and the columns swizzled."""

    padding: Padding
    swizzle: Swizzle

    def shape(self, shape: Shape) -> Shape:
        return self.padding.shape(shape)

    def alignment(self, at: Addresses, shape: Shape) -> int:
        return self.padding.alignment(at, shape)

    def apply(self, at: Addresses, shape: Shape) -> Offsets | None:
        trimmed = self.padding.apply(at, shape)
        if trimmed is None:
            return None
        narrower = Addresses(trimmed, at.indices, self.alignment(at, shape))
        return self.swizzle.apply(narrower, self.shape(shape))


@record(frozen=True, slots=True)
class Skew:
    """`extra` elements are left free after every 2**shift of the last index: `col + (col >> shift) * extra`.

    What a row padding does for rows, for lanes that step within one row.
    """

    shift: int
    extra: int

    def shape(self, shape: Shape) -> Shape:
        last = shape.dims[-1]
        return Shape((*shape.dims[:-1], last + (last >> self.shift) * self.extra), shape.element, shape.flat)

    def alignment(self, at: Addresses, shape: Shape) -> int:
        return gcd(at.alignment, self.extra * shape.element) if at.alignment else 0

    def apply(self, at: Addresses, shape: Shape) -> Offsets | None:
        if at.alignment % ((1 << self.shift) * shape.element):
            return None
        before, after = shape.strides(), self.shape(shape).strides()
        moved = (at.indices[:, -1, :] >> self.shift) * (self.extra * shape.element)
        for d in range(len(before) - 1):
            moved = moved + at.indices[:, d, :] * ((after[d] - before[d]) * shape.element)
        return np.where(at.active, at.offsets + moved, -1)


def moved_step(layout: Layout, step: int, shape: Shape) -> int | None:
    """How far an unknown part moves a request under a layout, where it moves it by `step` bytes today: by as
    many rows and columns. None where the layout cannot be."""
    if isinstance(layout, Trimmed):
        return moved_step(layout.padding, step, shape)
    if isinstance(layout, Swizzle):
        return step
    moved = layout.apply(addresses(np.array([[abs(step)]], dtype=np.int64), 0, shape), shape)
    return None if moved is None else int(moved[0, 0]) * (1 if step > 0 else -1)


Layout: TypeAlias = "Padding | Exchange | Swizzle | Trimmed | Skew"


def paddings(shape: Shape, granule: int) -> Iterator[Padding]:
    """Row paddings, narrowest first: pitches of up to one bank cycle more, multiples of `granule` bytes."""
    for dim in range(len(shape.dims) - 1, 0, -1):
        inner = prod(shape.dims[dim + 1 :]) * shape.element
        for extra in range(1, CYCLE // shape.element + 1):
            if extra * inner > max(CYCLE, inner):
                break
            if (shape.dims[dim] + extra) * inner % granule == 0:
                yield Padding(dim, extra)


def swizzles(shape: Shape, granule: int) -> Iterator[Swizzle]:
    """Xor swizzles that keep `granule` bytes together, simplest first."""
    unit = max(granule // shape.element, 1)
    if unit & (unit - 1) or shape.element & (shape.element - 1):
        return
    base_low = unit.bit_length() - 1
    columns = max((CYCLE // shape.element).bit_length() - 1, 0)
    found = []
    for bits in range(1, 6):
        for base in range(base_low, columns):
            if base + bits > columns:
                continue
            # Bits above the last row (the last element) are always 0.
            for linear in (False, True) if len(shape.dims) > 1 else (True,):
                top = (shape.dims[-1] if linear else shape.dims[-2]) - 1
                for shift in range(top.bit_length() - bits + 1 if linear else min(top.bit_length(), 6)):
                    candidate = Swizzle(bits, base, shift, linear)
                    if candidate.fits(shape):
                        found.append(candidate)
    yield from sorted(found, key=lambda s: (s.linear, s.shift != s.base, s.bits, s.base, s.shift))


def skews(shape: Shape, granule: int) -> Iterator[Skew]:
    """Gaps within a row that keep `granule` bytes together and aligned, narrowest first."""
    unit = max(granule // shape.element, 1)
    if shape.element & (shape.element - 1) or shape.flat:
        return
    cycle = max((CYCLE // shape.element).bit_length() - 1, 1)
    extra = unit
    while extra * shape.element <= CYCLE // 4:
        for shift in (cycle, cycle - 1, cycle + 1, cycle + 2):
            skew = Skew(shift, extra)
            wide = skew.shape(shape).dims[-1]
            fits = unit <= 1 << shift < shape.dims[-1] and extra <= 1 << (shift - 1)
            if fits and wide * shape.element % granule == 0:
                yield skew
        extra *= 2


def unpadding(shape: Shape, reached: int | None = None) -> Padding | None:
    """The last dimension back to what is reached of it, where the rest is a narrow padding.

    reached: columns; None: the power of two below. A row of a power of two was not padded, and no padding is
    wider than what it pads: where a launch reaches less, the rest is for other launches.
    """
    wide = shape.dims[-1] if shape.dims else 0
    if len(shape.dims) < 2 or shape.flat or not wide & (wide - 1):
        return None
    less = wide - (reached or 1 << (wide.bit_length() - 1))
    narrow = 0 < less * shape.element <= CYCLE // 4 and 2 * less <= wide
    return Padding(len(shape.dims) - 1, -less) if narrow else None


def trims(shape: Shape, granule: int) -> Iterator[Trimmed]:
    """Swizzles of a padded array after its padding was taken back."""
    padding = unpadding(shape)
    if padding is not None:
        for swizzle in swizzles(padding.shape(shape), granule):
            yield Trimmed(padding, swizzle)


def exchanges(shape: Shape) -> Iterator[Exchange]:
    if len(shape.dims) >= 2 and not shape.flat:
        yield Exchange(len(shape.dims) - 2)
