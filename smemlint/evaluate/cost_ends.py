"""Both ends of what requests cost where the plain bank rule does not tell it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from smemlint.banks import wavefront_range
from smemlint.evaluate.machine.cp_async import ends, in_order, lines_of
from smemlint.evaluate.machine.machine import Event, SiteLog
from smemlint.evaluate.memory.spread import cost_ends
from smemlint.evaluate.visits import Requests

Ends = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Wavefronts of each request, at least and at most."""


class CostEnds:
    """The ends of the requests of one site: of a copy they depend on where it reads, of an access that may go
    to several arrays on where these lie. starts: where arrays lie, of such an access."""

    def __init__(self, log: SiteLog, width: int, threads: int, starts: Mapping[int, int] | None) -> None:
        self.starts = starts
        self._log = log
        self._width = width
        self._threads = threads
        self._low: list[NDArray[np.int64]] = []
        self._high: list[NDArray[np.int64]] = []
        self._plain = True
        """Whether the plain bank rule told all so far."""

    def add(self, event: Event, requests: Requests, offsets: NDArray[np.int64]) -> None:
        """An event; offsets: of its requests, shape (requests, 32)."""
        if self.starts is not None:
            found = cost_ends(self.starts, self._log, self._width, event, requests.rows)
            self._plain = False
        elif event.copied is not None:
            copied = self._of_copy(event, offsets, requests)
            if copied is None:
                return
            found = copied
        else:
            return
        self._low.append(found[0])
        self._high.append(found[1])

    def told(self, visits: int) -> Ends | None:
        """The ends of all requests; None where the bank rule tells them, or some are not known."""
        if self._plain or len(self._low) != visits:
            return None
        return np.concatenate(self._low), np.concatenate(self._high)

    def _of_copy(self, event: Event, lanes: NDArray[np.int64], requests: Requests) -> Ends | None:
        copied, rows, active, width = event.copied, requests.rows, requests.active, self._width
        assert copied is not None
        maybe = active & ~event.must.reshape(-1, 32)[rows]
        rest = np.where(active, lanes % width, 0).max(axis=1, keepdims=True)
        try:
            least, most, ideal = wavefront_range("cp.async", width, np.where(active, lanes - rest, -1), maybe)
        except ValueError:
            return None
        if not copied.past_l1:
            ordered = in_order(copied.source, width, self._threads, event.may.reshape(-1, 32))
            in_turn = np.maximum(most, active.sum(axis=1))
            self._plain = self._plain and ordered is not None and bool(ordered[rows].all())
            high = in_turn if ordered is None else np.where(ordered[rows], most, in_turn)
            return np.maximum(least, ideal), high
        source = lines_of(copied.source, self._threads)
        known = lines_of(event.offset, self._threads) is not None
        low, high = ends(
            None if source is None else source.reshape(-1, 32)[rows], lanes, known, active, active & ~maybe
        )
        self._plain = self._plain and bool((low == high).all() and (low == most).all())
        return low, high
