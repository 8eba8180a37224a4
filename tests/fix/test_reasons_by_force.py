"""What the reasons say of the fixtures, held against all pitches and swizzles, by the rule of banks alone.

Nothing of the search takes part: the layouts are enumerated here, and each address is moved by a formula. The
layout that a reason names is read from its text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from smemlint.api import Job
from smemlint.banks import cost_of
from smemlint.fix.model import Suggestion
from smemlint.running import pipeline
from smemlint.score.model import Conflict

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
WORD, MOST = 4, 32
ASKED = [
    ("bitonic.cu", "s"),
    ("device_functions.cu", "data"),
    ("element_sizes.cu", "row"),
    ("file_arrays.cu", "cells"),
    ("fft.cu", "z"),
    ("transpose_narrow.cu", "tile"),
    ("views.cu", "box"),
]
FREE = 0.02
"""The share of a kernel's wavefronts from which a layout that costs no work is worth an edit."""
Moved = Callable[[np.ndarray], np.ndarray]
"""From byte offsets of one access to others, negative ones left as they are."""


@cache
def refused(name: str, array: str) -> tuple[Suggestion, tuple[Conflict, ...], tuple[int, ...], int, int]:
    """The suggestion, its accesses as they run, extents, bytes of an element, wavefronts of the kernels."""
    found = pipeline.examine(Job(str(FIXTURES / name)), str)
    assert isinstance(found, pipeline.Examined)
    (fix,) = (s for s in found.suggestions.values() if s.array.name == array and s.refused is not None)
    sites, whole = [], 0
    for analysis in found.analyses:
        mine = [a for a in analysis.arrays.values() if a.place == fix.array.place]
        sites += [
            c for a in mine for c in analysis.conflicts if c.site.array == a.id and c.trace.offsets.size
        ]
        whole += sum(c.wavefronts or 0 for c in analysis.conflicts) if mine else 0
    assert all(c.trace.alignment == 0 and c.trace.maybe is None and not c.trace.data for c in sites)
    dims = tuple(d for d in fix.array.dims if d is not None)
    return fix, tuple(sites), dims, fix.array.element, whole


def cost(sites: Sequence[Conflict], moved: Moved) -> list[int] | None:
    """Wavefronts of each access under a layout, None where one would be misaligned."""
    result = []
    for conflict in sites:
        trace = conflict.trace
        width = trace.joined or trace.site.width
        offsets = np.where(trace.offsets >= 0, moved(np.maximum(trace.offsets, 0)), -1)
        if ((offsets >= 0) & (offsets % width != 0)).any():
            return None
        result.append(int(cost_of(trace.site.op, width, offsets)[0] @ trace.weights))
    return result


def pitches(dims: tuple[int, ...], element: int) -> Iterator[Moved]:
    """Each row longer by up to 32 words."""
    if len(dims) < 2:
        return
    for extra in range(1, MOST * WORD // element + 1):
        row = dims[-1] * element
        yield lambda at, extra=extra, row=row: at + at // row * extra * element  # type: ignore[misc]


def formula(text: str, dims: tuple[int, ...], element: int) -> Moved:
    """A layout as a reason spells it: of `i` in an array of one dimension, else of `col` and `row`."""
    code = compile(text, "layout", "eval")

    def moved(at: np.ndarray) -> np.ndarray:
        unit, rest = at // element, at % element
        last = unit % dims[-1] if len(dims) > 1 else unit
        row = unit // dims[-1] % dims[-2] if len(dims) > 1 else unit * 0
        new = eval(code, {"i": last, "col": last, "row": row})
        return (unit - last + new) * element + rest

    return moved


def swizzles(dims: tuple[int, ...]) -> Iterator[str]:
    """Each xor of up to five bits of the index, or of the row, within the 32 banks and the row."""
    name = "col" if len(dims) > 1 else "i"
    for source in {name, "row" if len(dims) > 1 else name}:
        for bits in range(1, 6):
            for base in range(6 - bits):
                for shift in range(base + bits if source == name else 0, 10):
                    if dims[-1] % (1 << (base + bits)) == 0:
                        yield f"{name} ^ ((({source} >> {shift}) & {(1 << bits) - 1}) << {base})"


def said(text: str) -> str:
    """The layout that a reason names."""
    return re.findall(r"`([^`]+)`", text)[0]


@pytest.mark.parametrize(("name", "array"), ASKED)
def test_no_pitch_that_costs_no_work_is_worth_it(name: str, array: str) -> None:
    fix, sites, dims, element, whole = refused(name, array)
    before = cost(sites, lambda at: at)
    assert before is not None and sum(before) == fix.before
    for moved in pitches(dims, element):
        after = cost(sites, moved)
        assert after is None or sum(before) - sum(after) < FREE * whole


@pytest.mark.parametrize(("name", "array"), ASKED)
def test_no_layout_is_better_than_the_reason_allows(name: str, array: str) -> None:
    fix, sites, dims, element, _ = refused(name, array)
    assert fix.refused is not None
    joined = any(c.trace.joined for c in sites)
    found = [] if joined else [cost(sites, formula(f, dims, element)) for f in swizzles(dims)]
    found += [cost(sites, moved) for moved in pitches(dims, element)]
    best = min((sum(each) for each in found if each is not None), default=fix.before)
    if fix.refused.code == "no-better-layout":
        assert best >= fix.before
        return
    told = re.search(
        r"saves (\d+) (?:of the kernel's \d+ )?wavefronts for integer work of about (\d+)", fix.refused.text
    )
    assert told is not None
    # What the best of all saves is less than two wavefronts a request.
    requests = sum(int(c.trace.weights.sum()) for c in sites)
    assert fix.before - best <= 2 * requests and int(told[2]) <= 2 * requests


@pytest.mark.parametrize(("name", "array"), ASKED)
def test_the_layout_that_is_named_costs_what_is_said(name: str, array: str) -> None:
    fix, sites, dims, element, _ = refused(name, array)
    assert fix.refused is not None
    text = fix.refused.text
    if "^" not in said(text):
        return
    before, after = cost(sites, lambda at: at), cost(sites, formula(said(text), dims, element))
    assert before is not None and after is not None
    saves = re.search(r"saves (\d+) ", text)
    assert sum(before) - sum(after) == (int(saves[1]) if saves else 0)
    worse: dict[int, tuple[int, int]] = {}
    for conflict, old, new in zip(sites, before, after, strict=True):
        if new > old:
            line = conflict.site.place.line
            worse[line] = (worse.get(line, (0, 0))[0] + old, worse.get(line, (0, 0))[1] + new)
    for line, old, new in re.findall(r"line (\d+) from (\d+) to (\d+)", text):
        assert worse[int(line)] == (int(old), int(new))
    assert bool(worse) == (" from " in text)
