"""Kernels of shapes that were once told wrong, held to what Nsight Compute counted on an H100.

`benchmarks/fixtures_on_gpu.py --fixtures tests/benchmarks/shapes/fixtures` wrote `shapes/measured.json`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

SHAPES = Path(__file__).parent / "shapes"
EXACT = {
    "triangles": 26,
    "tiles": 28,
    "members": 18,
    "skips": 9,
    "endless": 11,
    "guards": 16,
    "triangles_unseen": 19,
    "members_unseen": 18,
    "ways_unseen": 13,
}
"""Lines of each file of which one number is told; the others are ranges."""


@pytest.mark.parametrize("name", EXACT)
def test_every_line_is_told_as_it_was_measured(silicon: ModuleType, name: str) -> None:
    (program,) = [p for p in silicon.load(SHAPES / "measured.json") if p.name == name]
    command = [str(Path(sys.executable).with_name("smemlint"))]
    result = silicon.run(program, SHAPES, command, [], 300.0)
    told = [silicon.describe(v) for v in result.counted() if v.category not in ("exact", "bounded")]
    assert (told, result.problem) == ([], "")
    assert result.count("exact") >= EXACT[name]
