"""What the reasons say of the text and of addresses, held against the lines that they name and the traces.

The numbers of `no-better-layout` and `not-worth-it` are held against all layouts in test_reasons_by_force.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable
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
FILES = [
    "cooperative.cu", "device_functions.cu", "file_arrays.cu", "gemm_registers.cu", "histogram.cu",
    "joined.cu", "loops.cu", "ptx.cu", "structs.cu", "views.cu",
]  # fmt: skip


class Case:
    """A refused array, its accesses, and the lines of its file without comments, counted from 1."""

    def __init__(self, fix: Suggestion, sites: list[Conflict], lines: list[str]) -> None:
        assert fix.refused is not None
        self.fix, self.sites, self.lines = fix, sites, lines
        self.name, self.dims, self.text = fix.array.name, fix.array.dims, fix.refused.text
        self.declared = lines[fix.array.place.line]

    def line(self) -> str:
        return self.lines[int(re.findall(r"on line (\d+)", self.text)[0])]

    def quoted(self) -> list[str]:
        return re.findall(r"`([^`]+)`", self.text)

    def named(self) -> list[Conflict]:
        """The accesses on the line that is named, as they are spelled there."""
        number = int(re.findall(r"on line (\d+)", self.text)[0])
        found = [c for c in self.sites if c.site.place.line == number]
        assert found and any(c.site.expression == self.quoted()[0] for c in found)
        return found


@cache
def cases(file: str) -> dict[tuple[str, int], tuple[str, Case]]:
    path = FIXTURES / file
    found = pipeline.examine(Job(str(path)), str)
    assert isinstance(found, pipeline.Examined)
    lines = ["", *(re.sub(r"//.*", "", each) for each in path.read_text(encoding="utf-8").splitlines())]
    made = {}
    for fix in found.suggestions.values():
        if fix.refused is None:
            continue
        place = fix.array.place
        sites = [
            c
            for analysis in found.analyses
            for a in analysis.arrays.values()
            if a.place.offset == place.offset or a.name == fix.array.name
            for c in analysis.conflicts
            if c.site.array == a.id
        ]
        made[fix.array.name, place.line] = (fix.refused.code, Case(fix, sites, lines))
    return made


def whole(name: str, dims: int, line: str) -> bool:
    """Whether a name stands on a line with fewer subscripts than reach an element."""
    uses = re.finditer(rf"(?<![\w.]){name}\b((?:\s*\[[^\[\]]*\])*)", line)
    return any(use.group(1).count("[") < dims for use in uses)


def passed_on(case: Case) -> bool:
    if "in a way" in case.text:
        return case.quoted()[0] in case.line()
    return whole(case.quoted()[0], len(case.dims), case.line())


def several_kernels(case: Case) -> bool:
    above = "\n".join(case.lines[: case.fix.array.place.line])
    return above.count("{") == above.count("}")


def size_not_rows(case: Case) -> bool:
    extent, pitch = case.quoted()[0], case.quoted()[1]
    used = any(re.search(rf"\b{case.name}\s*\[.*\b{pitch}\b", line) for line in case.lines)
    return f"{case.name}{extent}" in case.declared and pitch not in extent and used


def data_dependent(case: Case) -> bool:
    return any(c.trace.data for c in case.named())


def struct_layout(case: Case) -> bool:
    """No pitch, of any number of elements and padded by any, frees a wavefront."""
    element = case.fix.array.element
    members = [c for c in case.sites if c.trace.offsets.size]
    before = _cost(members, lambda at: at)
    assert all(c.site.width < element for c in members if (c.wavefronts or 0) > (c.ideal or 0))
    return all(
        _cost(members, lambda at, p=pitch, e=extra: at + at // (p * element) * e * element) >= before  # type: ignore[misc]
        for pitch in (1, 2, 4, 8, 16, 32, 64)
        for extra in range(1, 9)
    )


def part_start(case: Case) -> bool:
    """The start of the part has something in it that is no constant of the file."""
    (start,) = (m for line in case.lines for m in re.findall(rf"\b{case.quoted()[0]}\s*=\s*([^;]+);", line))
    names = set(re.findall(r"[A-Za-z_]\w*", start)) - {case.name}
    text = "\n".join(case.lines)
    return any(not re.search(rf"(?:#define|const\w* int)\s+{name}\b", text) for name in names)


def not_proved(case: Case) -> bool:
    """The access that is named shows no subscripts by which the array is declared."""
    expression = case.quoted()[0]
    return (
        expression.split("[")[0] != case.name or expression.count("[") < len(case.dims) or len(case.dims) == 1
    )


CHECKS: dict[str, Callable[[Case], bool]] = {
    "passed-on": passed_on,
    "several-kernels": several_kernels,
    "size-not-rows": size_not_rows,
    "data-dependent": data_dependent,
    "struct-layout": struct_layout,
    "part-start": part_start,
    "not-proved": not_proved,
}
BY_FORCE = ("no-better-layout", "not-worth-it")


def _cost(sites: list[Conflict], moved: Callable[[np.ndarray], np.ndarray]) -> int:
    total = 0
    for conflict in sites:
        trace = conflict.trace
        offsets = np.where(trace.offsets >= 0, moved(np.maximum(trace.offsets, 0)), -1)
        total += int(cost_of(trace.site.op, trace.joined or trace.site.width, offsets)[0] @ trace.weights)
    return total


@pytest.mark.parametrize("file", FILES)
def test_what_a_reason_says_of_the_text_is_so(file: str) -> None:
    assert cases(file)
    for (name, line), (code, case) in cases(file).items():
        assert code in CHECKS or code in BY_FORCE, code
        if code in CHECKS:
            assert CHECKS[code](case), f"{name} on line {line}: {case.text}"


@pytest.mark.parametrize("file", FILES)
def test_a_constant_that_serves_elsewhere_counts_the_rows_of_this_array(file: str) -> None:
    for _, case in cases(file).values():
        for constant, line in re.findall(r"`(\w+)` also serves line (\d+)", case.text):
            word = re.compile(rf"\b{constant}\b")
            assert word.search(case.lines[int(line)])
            inner = re.findall(r"\[([^\[\]]*)\]", case.declared.partition(case.name)[2])[1:]
            product = re.compile(rf"\*\s*\(?{constant}\b|\b{constant}\)?\s*\*")
            indices = (i for each in case.lines for i in re.findall(r"\w\s*\[([^\[\]]*)\]", each))
            assert any(map(word.search, inner)) or any(map(product.search, indices)), case.text
