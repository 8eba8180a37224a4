"""The expectations in the fixtures are true on silicon: compared with wavefronts measured on a GPU."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

FIXTURES = Path(__file__).parents[2] / "fixtures"
MEASURED: dict[str, Any] = json.loads((FIXTURES / "measured.json").read_text())
EXPECT = re.compile(r"// expect: SMEM1\d\d (\d+)-way")
KERNEL = re.compile(r"__global__\s+void\s+(?:__launch_bounds__\([^)]*\)\s*)?(\w+)")
CONFLICT = 1.05
VARYING = {
    "bitonicByPair": "the distance halves",
    "matmulTransposedB": "its line reads the clean operand as well",
    "triangle": "fewer lanes take part from step to step",
    "oddBlock": "the last warp is half empty",
    "reduceInterleaved": "the stride doubles",
    "reduceInterleavedDouble": "the stride doubles",
    "scanTree": "the stride doubles and halves",
    "sweep": "the stride doubles",
    "scanTreePaddedDouble": "the stride doubles",
}
"""Kernels whose requests at one line differ: what is measured is their mean, what is expected the worst."""

DATA = {"bytesOfData"}
"""Kernels whose conflicts depend on the data: bounded, so not expected."""


def expectations(name: str) -> dict[int, tuple[float, str]]:
    """Line → ways and the kernel (or the first one after a device function) that it stands in."""
    found = {}
    text = (FIXTURES / name).read_text().splitlines()
    kernel = ""
    for number, line in enumerate(text, 1):
        if match := KERNEL.search(line):
            kernel = match.group(1)
        if match := EXPECT.search(line):
            found[number] = (float(match.group(1)), kernel)
    return found


def measurements(name: str) -> Iterator[tuple[str, str, int, str, float]]:
    """(kernel, file, line, op, ways) of each line of each launch."""
    for launch in MEASURED["fixtures"][name]:
        head = (
            launch["kernel"].split("(")[0] if "<" not in launch["kernel"] else launch["kernel"].split("<")[0]
        )
        for file, line, op, _, _, wavefronts, ideal in launch["lines"]:
            yield head.split()[-1], file, line, op, wavefronts / ideal


NAMES = sorted(p.name for p in FIXTURES.glob("*.cu"))


def test_every_fixture_is_measured() -> None:
    assert sorted(MEASURED["fixtures"]) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_the_measurement_is_of_the_code_that_stands_there(name: str, fixtures_on_gpu: ModuleType) -> None:
    assert MEASURED["code"][name] == fixtures_on_gpu.fingerprint(FIXTURES / name)


@pytest.mark.parametrize("name", NAMES)
def test_expected_ways_are_those_of_the_gpu(name: str) -> None:
    worst: dict[int, float] = {}
    library: dict[str, float] = {}
    for kernel, file, line, _, ways in measurements(name):
        if file == name:
            worst[line] = max(ways, worst.get(line, 0.0))
        else:
            library[kernel] = max(ways, library.get(kernel, 0.0))
    for line, (ways, kernel) in expectations(name).items():
        measured = worst.get(line) or library.get(kernel, 0.0)
        if kernel in VARYING:
            assert CONFLICT < measured < ways, f"{name}:{line}"
        else:
            assert measured == ways, f"{name}:{line}"


@pytest.mark.parametrize("name", NAMES)
def test_every_conflict_of_the_gpu_is_expected(name: str) -> None:
    expected = expectations(name)
    expected_kernels = {kernel for _, kernel in expected.values()}
    for kernel, file, line, op, ways in measurements(name):
        if ways > CONFLICT and kernel not in DATA:
            known = line in expected if file == name else kernel in expected_kernels
            assert known, f"{name}:{line} {op} in {kernel}: {ways:.2f} ways"
