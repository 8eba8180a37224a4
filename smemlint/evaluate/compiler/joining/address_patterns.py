"""What addresses that differ by one number have in common: the same for all of them, and found once.

A kernel logs one access many times: at every turn of a loop, for every word of a struct. Most of these
addresses are one of a few forms (`4 * threadIdx.x`) and a number.
"""

from __future__ import annotations

from functools import cached_property
from hashlib import sha1

import numpy as np
from numpy.typing import NDArray

from smemlint.evaluate.values.number import Lanes
from smemlint.records import record

_INACTIVE = np.iinfo(np.int64).min


@record(frozen=True, eq=False, slots=True)
class Form:
    """The lanes of an address but for one number. steps: bytes from thread 0's, shape (threads,).

    vector: whether the address was worked out lane by lane, even if all lanes agree.
    """

    steps: NDArray[np.int64]
    vector: bool


class Pattern:
    """A form as the lanes of one mask have it: their addresses are `at(lead)`, for some number."""

    def __init__(self, form: Form, active: NDArray[np.bool_]) -> None:
        self.form = form
        self.active = active
        self.first = int(active.argmax())
        """The first active thread, whose address is the lead."""
        self._steps = form.steps - form.steps[self.first] if self.first else form.steps

    def at(self, lead: int) -> NDArray[np.int64]:
        """Byte offsets of all threads, -1 inactive."""
        return np.where(self.active, self._steps + lead, -1)

    @cached_property
    def steps(self) -> NDArray[np.int64]:
        """Bytes from the lead to each active lane, shape (active threads,)."""
        return self._steps[self.active]

    @cached_property
    def low(self) -> int:
        """The lowest address less the lead."""
        return int(self.steps.min(initial=0))

    @cached_property
    def divides(self) -> int:
        """Greatest common divisor of the distances of all active lanes, 0: they have one address."""
        return int(np.gcd.reduce(self.steps))

    @cached_property
    def digest(self) -> int:
        """Tells apart masks and distances."""
        return hash(np.where(self.active, self._steps, _INACTIVE).tobytes())


class Forms:
    """The forms and patterns of one evaluation. Arrays are known by identity while this lives, and kept."""

    def __init__(self, threads: int) -> None:
        self._uniform = Form(np.zeros(threads, dtype=np.int64), False)
        self._forms: dict[int, Form] = {}
        self._seen: dict[int, tuple[NDArray[np.int64], Form]] = {}
        self._patterns: dict[tuple[int, bytes], Pattern] = {}
        self._same: dict[bytes, NDArray[np.int64]] = {}

    def form(self, lanes: Lanes) -> Form:
        """Return the differences between lanes, one object for all equal ones."""
        if isinstance(lanes, int):
            return self._uniform
        seen = self._seen.get(id(lanes))
        if seen is None:
            steps = lanes - lanes[0]
            form = self._forms.setdefault(hash(steps.tobytes()), Form(steps, True))
            seen = self._seen[id(lanes)] = (lanes, form)
        return seen[1]

    def pattern(self, lanes: Lanes, active: NDArray[np.bool_]) -> Pattern:
        """Return the form together with the lanes that take part, one object for all equal ones."""
        form = self.form(lanes)
        key = (id(form), active.tobytes())
        found = self._patterns.get(key)
        if found is None:
            found = self._patterns[key] = Pattern(form, active)
        return found

    def one_of(self, requests: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return one array for all equal ones, which may be large: what is loaded is often stored again."""
        return self._same.setdefault(sha1(requests.data, usedforsecurity=False).digest(), requests)


def lead(lanes: Lanes, pattern: Pattern) -> int:
    """The address in the first active lane."""
    return lanes if isinstance(lanes, int) else int(lanes[pattern.first])


def pattern_of(offsets: NDArray[np.int64]) -> tuple[Pattern, int]:
    """The pattern and lead of byte offsets, -1 inactive."""
    pattern = Pattern(Form(offsets - offsets[0], True), offsets >= 0)
    return pattern, int(offsets[pattern.first])
