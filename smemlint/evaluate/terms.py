"""The unknown terms of one site's addresses: which move whole requests, and which each lane by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import gcd
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from smemlint.evaluate.model import DataTerm, Parameter, Unresolved
from smemlint.evaluate.values.choices import bits_of, on_way, ways_of
from smemlint.evaluate.values.number import (
    Int,
    Lanes,
    Monomial,
    gcd_of,
    in_words,
    multiple_of,
    symbol_range,
)
from smemlint.evaluate.visits import Requests
from smemlint.ir.types import LONG

Rows: TypeAlias = tuple[int, NDArray[np.int64]]
"""Coefficients of some requests, and the number of the first."""
FARTHEST = 1 << 60
"""Bytes from the start of an array that 64 bits hold beside all else that is added."""
MOST_OWN = 32
"""Ways of choices of each lane that are looked at one by one."""


class Terms:
    """What is not known of the addresses of a site.

    loose: whether choices that all lanes share are too many, and are taken as if each lane had its own.
    alignment: what divides the terms that move whole requests, in bytes; 0 without any. left_out: the names
    of these; steps: by how many bytes each of them moves a request.
    """

    def __init__(self, threads: int, width: int) -> None:
        self.loose = False
        self.alignment = 0
        self.left_out: dict[str, None] = {}
        self.steps: dict[int, None] = {}
        self._threads = threads
        self._width = width
        self._options: list[tuple[int, list[NDArray[np.int64]], Unresolved | None]] = []
        """First request, what each way of its own adds to the address of a lane, and why."""
        self._parameters: dict[Monomial, list[Rows]] = {}
        self._data: dict[Monomial, list[Rows]] = {}
        self._several: Unresolved | None = None
        """Why run-time values are taken as data."""

    def add(self, first: int, offset: Int, requests: Requests) -> None:
        """The terms of an event whose requests are counted from `first`."""
        for mono, coefficient in self._without_own(first, offset, requests).items():
            self._term(first, mono, coefficient, requests)

    def settle(self) -> None:
        """Take several run-time values that lanes are multiplied by, or one beside data, as values that each
        lane has of its own: the range of these holds the truth."""
        if len(self._parameters) < 2 and not (self._parameters and (self._data or self._options)):
            return
        text = f"the index multiplies lanes by {values_text(map(name_of, self._parameters))}"
        self._several = Unresolved("several-parameters", text)
        for mono, parts in self._parameters.items():
            self._data.setdefault(mono, []).extend(parts)
            self._data[mono].sort(key=lambda rows: rows[0])
        self._parameters = {}

    def parameter(self, count: int) -> Parameter | None:
        """The one run-time value that lane terms are multiplied by; None without any."""
        for mono, parts in self._parameters.items():
            data = any(not s.rank and (s.low is None or s.low <= 0) for s in mono)
            return Parameter(name_of(mono), _all_rows(parts, count), multiple_of(mono), data)
        return None

    def data(self, count: int) -> tuple[DataTerm, ...]:
        """Terms that each lane has its own value of. Those of one range of which no request has two are one:
        the value of a lane is its own anyway."""
        kinds: list[tuple[Monomial, list[Rows]]] = []
        alike: dict[tuple[object, ...], list[list[Rows]]] = {}
        for mono, parts in self._data.items():
            same = alike.setdefault((*_range(mono), multiple_of(mono), mono[0].reason), [])
            free = next((rows for rows in same if rows[-1][0] + len(rows[-1][1]) <= parts[0][0]), None)
            if free is not None:
                free.extend(parts)
            else:
                same.append(list(parts))
                kinds.append((mono, same[-1]))
        terms = [_data_term(mono, _all_rows(rows, count)) for mono, rows in kinds]
        return (*terms, *self._option_terms(count))

    def reason(self) -> Unresolved | None:
        """Why a lane's own term is not known."""
        found = _reason_of(self._data) or next((r for *_, r in self._options if r is not None), None)
        return found or self._several

    def _without_own(self, first: int, offset: Int, requests: Requests) -> dict[Monomial, Lanes]:
        """Note the ways that each lane may take by itself; the terms that are left."""
        own = {
            mono: c
            for mono, c in offset.terms.items()
            if all(s.bit for s in mono) and (any(s.varying for s in mono) or self._splits_lanes(mono, c))
        }
        if not own:
            return offset.terms
        ways = ways_of(bits_of([Int(0, LONG, own)]), MOST_OWN)
        if ways is None:
            return offset.terms
        added = [on_way(Int(0, LONG, own), way).const for way in ways]
        full = [_lanes(c, self._threads)[requests.rows] for c in added]
        self._options.append((first, full, _reason_of(own)))
        return {mono: c for mono, c in offset.terms.items() if mono not in own}

    def _splits_lanes(self, mono: Monomial, c: Lanes) -> bool:
        """Whether a choice that all lanes share is taken as if each lane had its own."""
        return self.loose and not isinstance(c, int) and any(s.bit for s in mono)

    def _term(self, first: int, mono: Monomial, coefficient: Lanes, requests: Requests) -> None:
        varying = any(s.varying for s in mono)
        by_warp = varying and self._same_in_warps(mono, coefficient, requests)
        if (varying and not by_warp) or self._splits_lanes(mono, coefficient):
            full = _lanes(coefficient, self._threads)[requests.rows]
            self._data.setdefault(mono, []).append((first, full))
            return
        if isinstance(coefficient, int):
            self._aside(mono, coefficient)
            return
        full = coefficient.reshape(-1, 32)[requests.rows]
        led, alike = _led(full, requests.active)
        if alike:
            self._aside(mono, gcd_of(led))
        else:
            self._parameters.setdefault(mono, []).append((first, full))

    def _aside(self, mono: Monomial, coefficient: int) -> None:
        """Leave out a term that moves whole requests."""
        step = coefficient * multiple_of(mono)
        self.left_out[name_of(mono)] = None
        self.steps[step] = None
        self.alignment = gcd(self.alignment, step)

    def _same_in_warps(self, mono: Monomial, c: Lanes, requests: Requests) -> bool:
        """Whether a term moves the active lanes of each request together, and leaves its cost alone."""
        if not all(s.shared or not s.varying for s in mono):
            return False
        led, alike = _led(_lanes(c, self._threads)[requests.rows], requests.active)
        return alike and gcd_of(led) * multiple_of(mono) % max(self._width, 4) == 0

    def _option_terms(self, count: int) -> list[DataTerm]:
        """The ways that lanes take by themselves, as one term: no request has two."""
        if not self._options:
            return []
        options = np.zeros((max(len(full) for _, full, _ in self._options), count, 32), dtype=np.int64)
        for first, full, _ in self._options:
            options[: len(full), first : first + len(full[0])] = full
        reason = next((r for *_, r in self._options if r is not None), None)
        return [DataTerm(np.zeros_like(options[0]), 0, 0, 1, reason, options)]


def name_of(mono: Monomial) -> str:
    return " * ".join(s.name for s in mono)


def _data_term(mono: Monomial, coefficient: NDArray[np.int64]) -> DataTerm:
    low, high = _range(mono)
    widest = int(np.abs(coefficient).max(initial=1))
    # A range that reaches so far that addresses overflow tells nothing.
    if any(end is not None and abs(end) * widest >= FARTHEST for end in (low, high)):
        low = high = None
    return DataTerm(coefficient, low, high, multiple_of(mono), mono[0].reason)


def _all_rows(parts: list[Rows], count: int) -> NDArray[np.int64]:
    full: NDArray[np.int64] = np.zeros((count, 32), dtype=np.int64)
    for first, rows in parts:
        full[first : first + len(rows)] = rows
    return full


def _led(full: NDArray[np.int64], active: NDArray[np.bool_]) -> tuple[NDArray[np.int64], bool]:
    """The coefficient of each request's first active lane, and whether all its active lanes have the same."""
    led = full[np.arange(len(full)), active.argmax(axis=1)]
    return led, bool((~active | (full == led[:, None])).all())


def _range(mono: Monomial) -> tuple[int | None, int | None]:
    if len(mono) == 1 or all(s.bit for s in mono):
        return symbol_range(mono)
    return None, None


def in_step(c: Lanes) -> bool:
    """Whether a term moves the lanes of each warp by the same number of bytes."""
    if isinstance(c, int):
        return True
    rows = c.reshape(-1, 32)
    return bool((rows == rows[:, :1]).all())


def _lanes(c: Lanes, size: int) -> NDArray[np.int64]:
    """A coefficient by warp and lane."""
    return np.broadcast_to(np.asarray(in_words(c), dtype=np.int64), (size,)).reshape(-1, 32)


def _reason_of(terms: Iterable[Monomial]) -> Unresolved | None:
    return next((s.reason for mono in terms for s in mono if s.reason is not None), None)


def values_text(names: Iterable[str]) -> str:
    """Return run-time values in words; a variable that loops set has a value behind each."""
    said = Counter(f"`{name}`" for name in names)
    return " and ".join(f"several values of {name}" if n > 1 else name for name, n in said.items())
