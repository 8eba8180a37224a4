"""Kernels of shapes that were once told wrong, held to what Nsight Compute counted on an H100.

`benchmarks/fixtures_on_gpu.py --fixtures tests/benchmarks/shapes/fixtures` wrote `shapes/measured.json`.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import measurements
import pytest

from smemlint.cli import main

SHAPES = Path(__file__).parent / "shapes"
EXACT = {
    "triangles": 26,
    "tiles": 28,
    "members": 18,
    "skips": 9,
    "endless": 10,
    "guards": 16,
    "triangles_unseen": 19,
    "members_unseen": 18,
    "ways_unseen": 10,
    "exits": 16,
    "bytes": 26,
    "pointers": 30,
    "integers": 22,
    "language": 35,
    "compiler": 42,
    "blocks": 71,
    "warps": 36,
    "launches": 21,
    "more": 40,
    "flow": 36,
    "puns": 34,
    "tables": 32,
    "records": 39,
    "widths": 23,
    "idioms": 29,
    "everyday": 65,
    "leaving": 25,
    "halves": 32,
    "aliases": 40,
    "hashes": 30,
    "modern": 37,
    "hardware": 33,
    "decided": 21,
    "objects": 27,
    "mixed": 36,
}
"""Lines of each file of which one number is told; the others are ranges."""
OPEN = {
    ("language", 204): "the first line of an inlined function, counted where it is called",
    ("blocks", 256): "a load of both arms, counted on the line before",
    ("blocks", 264): "a load of both arms, counted on the line after",
    ("puns", 151): "four stores of bytes that run as one, counted on the line of the highest byte",
    ("puns", 57): "one of four loads of a union's other member runs although its value is at hand",
    ("tables", 14): "loads through a table of pointers do not join",
    ("idioms", 47): "a template argument of the measurement that is a pointer to constant characters",
    ("idioms", 49): "a template argument of the measurement that is a pointer to constant characters",
    ("mixed", 49): "a load that is counted on the line of the store after it",
}
"""Lines that are still told wrong, and why."""


@pytest.fixture
def here(silicon: ModuleType, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """Commands of the benchmark run in this process, which has read all modules."""

    def run(call: Sequence[str], cwd: Path, **_: Any) -> subprocess.CompletedProcess[str]:
        monkeypatch.chdir(cwd)
        status = main(call[1:])
        said = capfd.readouterr()
        return subprocess.CompletedProcess(call, status, said.out, said.err)

    monkeypatch.setattr(
        silicon, "subprocess", SimpleNamespace(run=run, TimeoutExpired=subprocess.TimeoutExpired)
    )


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("name", EXACT)
def test_every_line_is_told_as_it_was_measured(
    silicon: ModuleType, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (program,) = [p for p in measurements.load(SHAPES / "measured.json") if p.name == name]
    result = silicon.run(program, SHAPES, ["smemlint"], [], 300.0)
    monkeypatch.chdir(tmp_path)  # the folder of the command is gone
    off = [v for v in result.counted() if v.category not in ("exact", "bounded")]
    told = [silicon.describe(v) for v in off if (name, v.line.line) not in OPEN]
    assert (told, result.problem) == ([], "")
    assert result.count("exact") >= EXACT[name]
