"""Every access of a file with the maps of its requests, warp by warp and visit by visit, for a report."""

from __future__ import annotations

import numpy as np

from smemlint.evaluate.model import Unresolved
from smemlint.records import record
from smemlint.score.model import Conflict, KernelAnalysis
from smemlint.view.bankmap import BankMap
from smemlint.view.requests import map_of, pick, requests_of
from smemlint.view.site import SiteView, leader_of, site_view

MOST_MAPS = 32
"""Different maps of one access that are kept."""
MOST_FRAMES = 2048
"""Requests of one access that are told apart."""


@record(frozen=True, slots=True)
class Frame:
    """The request of one warp at one visit. map: its number among the maps of the strip, -1: not kept."""

    warp: int
    visit: int
    map: int


@record(frozen=True, slots=True)
class Strip:
    """The requests of one access. maps: the different ones, the costliest first. left_out: requests that have
    no frame."""

    view: SiteView
    maps: tuple[BankMap, ...]
    frames: tuple[Frame, ...]
    left_out: int


@record(frozen=True, slots=True)
class Exhibit:
    """An access under one launch, now and with the fix of its array. fix: the new declaration or expression;
    words: the advice; bytes_added: of shared memory."""

    now: Strip
    after: Strip | None = None
    fix: str = ""
    words: str = ""
    bytes_added: int = 0


def strip(conflict: Conflict, analysis: KernelAnalysis, path: str, others: tuple[str, ...] = ()) -> Strip:
    """All requests of an access, as far as they are kept."""
    view = site_view(conflict, analysis, path, others=others)
    found = requests_of(leader_of(conflict, analysis).trace)
    if isinstance(found, Unresolved) or not found.drawn or view.map is None:
        return Strip(view, (), (), 0)
    first = pick(found)
    order = [] if first is None else [first]
    order += [int(at) for at in np.flatnonzero(found.executed()) if at != first]
    numbers: dict[tuple[bytes, int], int] = {}
    maps: list[BankMap] = []
    frames: list[Frame] = []
    for at in order[:MOST_FRAMES]:
        key = (found.offsets[at].tobytes(), int(found.high[at]))
        number = numbers.get(key, -1)
        if number < 0 and len(maps) < MOST_MAPS:
            number = numbers[key] = len(maps)
            maps.append(map_of(found, at))
        warp = int(found.warps[at]) if found.warps is not None else 0
        frames.append(Frame(warp, int(found.visit[at]), number))
    return Strip(view, tuple(maps), tuple(frames), max(0, len(order) - MOST_FRAMES))
