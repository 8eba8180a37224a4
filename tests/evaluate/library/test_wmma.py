"""Warp matrices: the instructions, lanes and addresses that were read from machine code and measured."""

from __future__ import annotations

import pytest
from costs import scored, told

from smemlint.api import Job, analyse_file
from smemlint.evaluate import Grade
from smemlint.evaluate.library.wmma import Fragment, moves

HALF, FLOAT = "__half s[8192]", "float s[8192]"
SHAPES = [(16, 16, 16), (32, 8, 16), (8, 32, 16)]
KINDS = [
    *(("__half", 16, s) for s in SHAPES),
    *(("__nv_bfloat16", 16, s) for s in SHAPES),
    *(("signed char", 8, s) for s in SHAPES),
    ("tf32", 32, (16, 16, 8)),
    ("double", 64, (8, 8, 4)),
]


@pytest.mark.parametrize(("kind", "bits", "shape"), KINDS)
@pytest.mark.parametrize("use", ["matrix_a", "matrix_b", "accumulator"])
@pytest.mark.parametrize("row_major", [True, False])
def test_a_fragment_is_moved_whole_and_once(
    kind: str, bits: int, shape: tuple[int, int, int], use: str, row_major: bool
) -> None:
    m, n, k = shape
    if use == "accumulator":
        kind, bits = ("double", 64) if kind == "double" else ("float", 32)
    found = moves(Fragment(use, m, n, k, bits, kind, row_major), row_major, False)
    assert found
    rows, columns = {"matrix_a": (m, k), "matrix_b": (k, n), "accumulator": (m, n)}[use]
    if not row_major:
        rows, columns = columns, rows
    size = bits // 8
    seen: list[tuple[int, int]] = []
    for move in found:
        lanes = 8 * move.matrices if move.op == "ldmatrix" else 32
        for row, start in zip(move.rows[:lanes].tolist(), move.bytes[:lanes].tolist(), strict=True):
            seen += [(row, at // size) for at in range(start, start + move.width, size)]
    assert sorted(seen) == [(r, c) for r in range(rows) for c in range(columns)]


def load(use: str, layout: str, shape: str, element: str, ldm: str, major: str = "") -> str:
    arguments = f"wmma::{use}, {shape}, {element}" + (f", wmma::{layout}" if layout else "")
    return f"wmma::fragment<{arguments}> f; wmma::load_matrix_sync(f, s, {ldm}{major});"


@pytest.mark.parametrize(
    ("body", "shared", "expected"),
    [
        (load("matrix_a", "row_major", "16, 16, 16", "__half", "64"), HALF, ("ldmatrix", 16, 8.0)),
        (load("matrix_a", "row_major", "16, 16, 16", "__half", "72"), HALF, ("ldmatrix", 16, 1.0)),
        (load("matrix_b", "col_major", "16, 16, 16", "__half", "144"), HALF, ("ldmatrix", 16, 2.0)),
        (
            load("accumulator", "", "16, 16, 16", "float", "128", ", wmma::mem_row_major"),
            FLOAT,
            ("load", 8, 4.0),
        ),
        (load("matrix_a", "row_major", "16, 16, 8", "wmma::precision::tf32", "20"), FLOAT, ("load", 4, 1.0)),
        (load("matrix_a", "row_major", "16, 16, 8", "wmma::precision::tf32", "16"), FLOAT, ("load", 4, 4.0)),
    ],
)
def test_loads(body: str, shared: str, expected: tuple[str, int, float]) -> None:
    assert told(body, shared=shared) == [expected]


def test_a_store_is_as_wide_as_its_load() -> None:
    body = (
        "wmma::fragment<wmma::accumulator, 16, 16, 16, float> f; wmma::store_matrix_sync(s, f, {}, wmma::{});"
    )
    assert told(body.format(16, "mem_row_major"), shared=FLOAT) == [("store", 8, 2.0)]
    assert told(body.format(20, "mem_col_major"), shared=FLOAT)[0][:2] == ("store", 4)


def test_a_run_time_pitch_makes_it_parametric() -> None:
    (conflict,) = scored(load("matrix_a", "row_major", "16, 16, 16", "__half", "n"), shared=HALF)
    assert conflict.grade is Grade.PARAMETRIC


def test_an_unknown_layout_is_named() -> None:
    body = load("accumulator", "", "16, 16, 16", "float", "64", ", (wmma::layout_t)n")
    (conflict,) = scored(body, shared=FLOAT)
    assert conflict.reason is not None and conflict.reason.code == "wmma-fragment"


def test_the_shape_of_a_fragment_may_be_a_template_argument() -> None:
    head = "using namespace nvcuda; template <int M, int K, int N>"
    body = f"__shared__ {HALF}; " + load("matrix_b", "row_major", "M, N, K", "half", "72")
    text = f"{head} __global__ void k() {{ {body} }} void go() {{ k<16, 16, 16><<<1, 32>>>(); }}"
    (access,) = analyse_file(Job("k.cu", text=text)).kernels[0].accesses
    assert (access.op, access.width, access.ways, access.grade) == ("ldmatrix", 16, 1.0, "exact")


def test_a_fragment_is_loaded_that_the_same_warp_stored() -> None:
    """Measured (H100): the compiler sees no words of either, so the load runs."""
    text = """#include <mma.h>
    using namespace nvcuda;
    __global__ void k(float *out) {
        __shared__ float s[16 * 32];
        wmma::fragment<wmma::accumulator, 16, 16, 8, float> c;
        wmma::fill_fragment(c, out[0]);
        wmma::store_matrix_sync(s, c, 32, wmma::mem_row_major);
        wmma::load_matrix_sync(c, s, 32, wmma::mem_row_major);
        wmma::store_matrix_sync(out, c, 32, wmma::mem_row_major);
    }
    void go(float *out) { k<<<1, 32>>>(out); }"""
    (kernel,) = analyse_file(Job("k.cu", text=text)).kernels
    assert [(a.op, a.wavefronts, a.grade) for a in kernel.accesses] == [
        ("store", 32, "exact"),
        ("load", 32, "exact"),
    ]
