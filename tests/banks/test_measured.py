"""The rule against silicon, pattern by pattern. What each file holds: docs/dev/banks.md."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smemlint.banks import cas_loop, cost_of, wavefronts

HERE = Path(__file__).parent

OPERATION = {
    "ATOM4": "atomic",
    "ATOM8": "atomic",
    "REDV4": "atomic",
    "MAX4": "atomic",
    "RED4": "increment",
    "CAS4": "cas",
    "CAS8": "cas",
    "CPA4": "cp.async",
    "CPA8": "cp.async",
    "CPA16": "cp.async",
}
PREFIX = {"LDM": "ldmatrix", "STM": "stmatrix", "LD": "load", "ST": "store"}


@cache
def measured(name: str) -> dict[str, Any]:
    with gzip.open(HERE / f"{name}.json.gz") as file:
        found: dict[str, Any] = json.load(file)
    return found


PROBE = measured("h100-bank-probe")["ops"]
HOLES = measured("h100-bank-holes")["ops"]


def operation(name: str) -> tuple[str, int]:
    """The engine's name for a probe's, and the number of matrices."""
    if name in OPERATION:
        return OPERATION[name], 1
    op = next(PREFIX[prefix] for prefix in PREFIX if name.startswith(prefix))
    return op, int(name[3]) if op in ("ldmatrix", "stmatrix") else 1


def mismatches(name: str, width: int, patterns: list[Any], scale: int = 1) -> list[str]:
    op, matrices = operation(name)
    lanes = np.array([p[1] for p in patterns], dtype=np.int64)
    lanes = np.where(lanes >= 0, lanes * scale, -1)
    fast = cost_of(op, width, lanes, matrices)
    wrong = []
    for row, (pattern, wave, ideal) in enumerate(zip(patterns, *fast, strict=True)):
        offsets = [None if o < 0 else int(o) for o in lanes[row]]
        slow = wavefronts(op, width, offsets, matrices=matrices)
        told = {(slow.wavefronts, slow.ideal), (int(wave), int(ideal))}
        if told != {(pattern[2], pattern[3])}:
            wrong.append(f"{name} {pattern[0]}: measured {pattern[2]}/{pattern[3]}, told {told}")
    return wrong


@cache
def probed(name: str) -> list[str]:
    return mismatches(name, PROBE[name]["width"], PROBE[name]["patterns"])


@pytest.mark.parametrize("name", sorted(PROBE))
def test_every_probed_pattern_costs_what_silicon_counted(name: str) -> None:
    assert probed(name) == []


@pytest.mark.parametrize("name", sorted(HOLES))
def test_every_pattern_with_holes_costs_what_silicon_counted(name: str) -> None:
    width = HOLES[name]["width"]
    assert mismatches(name, width, HOLES[name]["patterns"], scale=width) == []


def test_at_least_999_of_1000_patterns_are_exact() -> None:
    total = sum(len(v["patterns"]) for v in PROBE.values())
    wrong = sum(len(probed(name)) for name in PROBE)
    assert total == 12_928
    assert wrong <= total / 1000


def test_a_float_atomic_loops_once_for_each_lane_of_its_busiest_bank() -> None:
    wrong = []
    for words, rounds, loads, swaps, ideal in measured("h100-bank-holes")["cas_loop"]:
        loop = cas_loop([None if word < 0 else word * 4 for word in words])
        if (loop.rounds, loop.loads, loop.swaps, loop.ideal) != (rounds, loads, swaps, ideal):
            wrong.append((words, loop))
    assert wrong == []


def test_the_hardware_counter_tells_sixteen_byte_loads_more_simply() -> None:
    """The chip's own counter merges both halves or none, and takes a hole for agreement.

    The engine follows the count per instruction; this keeps the difference that docs/dev/banks.md states.
    """
    patterns = measured("h100-bank-holes")["counter"]
    lanes = np.array([p[0] for p in patterns], dtype=np.int64)
    lanes = np.where(lanes >= 0, lanes * 16, -1)
    per_instruction, _ = cost_of("load", 16, lanes)
    assert per_instruction.tolist() == [p[1] for p in patterns]
    assert sum(p[1] != p[2] for p in patterns) == 160
    assert max(abs(p[1] - p[2]) for p in patterns) == 2
