"""Hand-made costs, findings and reports for tests that need no CUDA source."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from smemlint.rules import Label, Severity

from smemlint.diagnose.model import Diagnostic, Measure, Problem, Report, Summary
from smemlint.evaluate.model import Grade, SharedArray, Site, Trace, Unresolved
from smemlint.ir import Block, Function, Launch, Place
from smemlint.ir.types import VOID
from smemlint.score.model import Conflict, KernelAnalysis, Request

TRANSPOSE = """\
#define TILE_DIM 32

__global__ void transpose(float *odata, const float *idata, int width)
{
    __shared__ float tile[TILE_DIM][TILE_DIM];
    int x = threadIdx.x, y = threadIdx.y;

    tile[y][x] = idata[y * width + x];
    __syncthreads();
\todata[y * width + x] = tile[threadIdx.x][threadIdx.y];
}
"""


def place(needle: str, text: str = TRANSPOSE, path: str = "src/transpose.cu", nth: int = 0) -> Place:
    """Where a text stands in another."""
    at = -1
    for _ in range(nth + 1):
        at = text.index(needle, at + 1)
    start = text.rfind("\n", 0, at) + 1
    line = text.count("\n", 0, at) + 1
    column = len(text[start:at].encode()) + 1
    offset = len(text[:at].encode())
    size = len(needle.encode())
    return Place(path, line, column, line, column + size, offset, offset + size)


def diagnostic(**changes: object) -> Diagnostic:
    """The column read of TRANSPOSE."""
    values: dict[str, object] = {
        "code": "SMEM101",
        "name": "column-access",
        "severity": Severity.WARNING,
        "place": place("tile[threadIdx.x][threadIdx.y]"),
        "title": "32-way bank conflict",
        "here": "lanes 0..31 meet in bank 0; 32 wavefronts, 1 would do",
        "also": (Label(place("tile"), "row pitch 128 B: every row starts in the same bank"),),
        "notes": ("launch: block (32, 8) from transpose.cu:108",),
        "kernel": "transpose",
        "array": "tile",
        "grade": "exact",
        "measure": Measure(32.0, 32.0, 32.0, 256, 256, 8),
    }
    return Diagnostic(**{**values, **changes})  # type: ignore[arg-type]


def report(
    diagnostics: Sequence[Diagnostic] = (), problems: Sequence[Problem] = (), text: str = TRANSPOSE
) -> Report:
    summary = Summary(
        files=1,
        files_with_findings=len({d.place.path for d in diagnostics}),
        findings=len(diagnostics),
        kernels=1,
        accesses=2,
        resolved=2,
    )
    return Report(tuple(diagnostics), (), (), tuple(problems), summary, {"src/transpose.cu": text})


def array(dims: tuple[int | None, ...] = (32, 32), element: int = 4, **changes: object) -> SharedArray:
    """`float tile[32][32]` of TRANSPOSE, or another shape of it."""
    size: int | None = element
    for dim in dims:
        size = size * dim if size is not None and dim is not None else None
    values: dict[str, object] = {
        "id": "a",
        "name": "tile",
        "type": "float",
        "dims": dims,
        "element": element,
        "bytes": size,
        "place": place("tile"),
        "dynamic": False,
        "align": element,
    }
    return SharedArray(**{**values, **changes})  # type: ignore[arg-type]


def conflict(
    offsets: Sequence[int | None],
    wavefronts: int,
    ideal: int = 1,
    *,
    op: str = "load",
    width: int = 4,
    expression: str = "tile[threadIdx.x][threadIdx.y]",
    grade: Grade = Grade.EXACT,
    low: int | None = None,
    alignment: int = 0,
    at: Place | None = None,
    **changes: object,
) -> Conflict:
    """The cost of one request of 32 lanes."""
    lanes = [*offsets, *[None] * (32 - len(offsets))]
    site = Site(at or place("tile[threadIdx.x][threadIdx.y]"), op, width, "a", expression)
    addresses = np.array([[-1 if o is None else o for o in lanes]], dtype=np.int64)
    trace = Trace(site, addresses, np.array([1], dtype=np.int64), grade, alignment)
    active = [o for o in lanes if o is not None]
    steps = {b - a for a, b in itertools.pairwise(active)}
    values: dict[str, object] = {
        "site": site,
        "trace": trace,
        "executions": 1,
        "wavefronts": wavefronts,
        "wavefronts_low": wavefronts if low is None else low,
        "ideal": ideal,
        "grade": grade,
        "worst": Request(tuple(lanes), wavefronts, ideal, (0,)),
        "lane_stride": steps.pop() if len(steps) == 1 else None,
    }
    return Conflict(**{**values, **changes})  # type: ignore[arg-type]


def unresolved(code: str = "data-dependent-index", text: str = "the index is read from memory") -> Conflict:
    return replace(
        conflict([], 0),
        grade=Grade.UNRESOLVED,
        wavefronts=None,
        wavefronts_low=None,
        ideal=None,
        worst=None,
        reason=Unresolved(code, text),
    )


def analysis(
    *conflicts: Conflict,
    block: tuple[int, int, int] = (32, 8, 1),
    arrays: Sequence[SharedArray] | None = None,
    assumed: bool = False,
    template: dict[str, str] | None = None,
    origin: str = "transpose.cu:108",
    configuration: str = "",
    filled: bool = False,
    guessed: bool = False,
    line: int | None = None,
) -> KernelAnalysis:
    """The analysis of `transpose` under one launch. line: where that stands."""
    start = TRANSPOSE.index("__global__")
    where = Place("src/transpose.cu", 3, 1, 11, 2, start, len(TRANSPOSE) - 1)
    kernel = Function("k", "transpose", (), Block(()), "kernel", where, VOID)
    at = Place("src/transpose.cu", line, 1, line, 2, 0, 1) if line is not None else None
    launch = Launch(block, origin=origin, place=at, assumed=assumed, filled=filled, guessed=guessed)
    declared = {a.id: a for a in (arrays if arrays is not None else [array()])}
    return KernelAnalysis(kernel, launch, configuration, template or {}, declared, conflicts)
