"""Copies by function call: who moves which bytes."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from costs import notes, scored, told

from smemlint.evaluate import Grade, evaluate
from smemlint.evaluate.machine.cp_async import ends
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes

F = "float s[4096]"
PIPE = "auto pipe = cuda::make_pipeline(); auto block = cg::this_thread_block();"


def test_each_thread_copies_for_itself() -> None:
    body = "__pipeline_memcpy_async(&s[threadIdx.x * 8], &in[threadIdx.x], 4);"
    assert told(body, shared=F) == [("cp.async", 4, 8.0)]
    sixteen = "cuda::aligned_size_t<16>(16)"
    body = f"{PIPE} cuda::memcpy_async(&s[threadIdx.x * 4], &in[threadIdx.x * 4], {sixteen}, pipe);"
    assert told(body, shared=F) == [("cp.async", 16, 1.0)]


def test_a_copy_of_unknown_size_is_named() -> None:
    (conflict,) = scored("__pipeline_memcpy_async(&s[threadIdx.x], &in[threadIdx.x], n);", shared=F)
    assert conflict.grade is Grade.UNRESOLVED and conflict.reason is not None
    assert conflict.reason.code == "copy-size"


@pytest.mark.parametrize(
    ("copy", "width", "executions"),
    [
        ("cg::memcpy_async(block, s, in, 4 * 1024);", 4, 32),
        ("cg::memcpy_async(block, s, in, cuda::aligned_size_t<8>(4 * 1024));", 8, 16),
        ("cuda::memcpy_async(block, s, in, cuda::aligned_size_t<16>(4 * 1024), pipe);", 16, 8),
        ("cuda::memcpy_async(block, s, in, 4 * 96, pipe);", 4, 3),
    ],
)
def test_a_group_shares_a_copy(copy: str, width: int, executions: int) -> None:
    (conflict,) = scored(PIPE + copy, shared=F)
    assert (conflict.site.op, conflict.site.width) == ("cp.async", width)
    assert (conflict.executions, conflict.ways) == (executions, 1.0)


def test_a_barrier_in_shared_memory_makes_it_a_bulk_copy() -> None:
    barrier = "__shared__ cuda::barrier<cuda::thread_scope_block> bar;"
    body = f"{PIPE} {barrier} cuda::memcpy_async(block, s, in, cuda::aligned_size_t<16>(4096), bar);"
    assert notes(body, shared=F) == ["ptx-outside"] and told(body, shared=F) == []


CG = (
    'asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: '
    '"r"((unsigned)__cvta_generic_to_shared(&s[{to}])), "l"(&in[{come}]));'
)
MEASURED = Path(__file__).parent / "h100-cp-async-cg.json.gz"
"""[chunk read, chunk written or -1] of 32 lanes, in 16 bytes, and the wavefronts counted."""


@pytest.mark.parametrize(
    ("to", "come", "low", "high"),
    [
        ("4 * threadIdx.x", "4 * threadIdx.x", 1.0, 1.0),
        ("4 * (threadIdx.x ^ 3)", "4 * threadIdx.x", 1.0, 1.0),
        ("4 * threadIdx.x + 8", "4 * threadIdx.x", 2.0, 2.0),
        ("4 * threadIdx.x", "threadIdx.x / 4 * 1024 + threadIdx.x % 4 * 4", 2.0, 2.0),
        ("4 * threadIdx.x", "threadIdx.x / 4 * n + threadIdx.x % 4 * 4", 1.0, 8.0),
        ("8 * threadIdx.x", "4 * threadIdx.x", 4.0, 8.0),
        (
            "threadIdx.x / 4 * 20 + threadIdx.x % 4 * 4",
            "threadIdx.x / 4 * 128 + threadIdx.x % 4 * 4",
            3.75,
            3.75,
        ),
        (
            "threadIdx.x / 8 * 36 + threadIdx.x % 8 * 4",
            "threadIdx.x / 8 * 128 + threadIdx.x % 8 * 4",
            2.625,
            2.625,
        ),
    ],
)
def test_what_a_copy_past_l1_reads_decides_too(to: str, come: str, low: float, high: float) -> None:
    (conflict,) = scored(CG.format(to=to, come=come), shared=F)
    assert (conflict.ways_low, conflict.ways) == (low, high)
    assert conflict.grade is (Grade.EXACT if low == high else Grade.BOUND)


def test_every_measured_copy_past_l1_is_inside_its_ends() -> None:
    patterns = json.loads(gzip.decompress(MEASURED.read_bytes()))
    exact = 0
    for lanes, wavefronts in patterns:
        come, to = (16 * np.array(x).reshape(1, 32) for x in zip(*lanes, strict=True))
        active = to >= 0
        (low,), (high,) = ends(come, to, True, active, active)
        exact += int(low == high)
        if len(set(to[active].tolist())) == active.sum():  # else lanes race for one place
            assert low <= wavefronts <= high
        _, (high,) = ends(None, to, True, active, active)
        assert high >= wavefronts
    assert (len(patterns), exact) == (114, 67)


def test_swap_loads_and_stores_both() -> None:
    found = told("std::swap(s[threadIdx.x * 2], s[threadIdx.x * 2 + 1]);")
    assert sorted(op for op, _, _ in found) == ["load", "store"]


def test_a_byte_copy_is_named() -> None:
    (conflict,) = scored("memset(&s[threadIdx.x], 0, 4);")
    assert conflict.reason is not None and conflict.reason.code == "byte-copy"


@pytest.mark.parametrize(
    ("body", "shared", "access"),
    [
        pytest.param(
            "int r[2]; memcpy(r, &s[2 * threadIdx.x], 8);", "int s[1024]", ("load", 8, 1.0), id="an array"
        ),
        pytest.param(
            "float v = in[0]; memcpy(&s[threadIdx.x * 2], &v, sizeof(v));",
            "float s[1024]",
            ("store", 4, 2.0),
            id="a number",
        ),
        pytest.param(
            "unsigned v; memcpy(&v, &s[4 * threadIdx.x], 4);",
            "unsigned char s[1024]",
            ("load", 1, 1.0),
            id="one byte by byte",
        ),
        pytest.param(
            "unsigned v; memcpy(&v, &s[4 * threadIdx.x], 4);",
            "__align__(4) unsigned char s[1024]",
            ("load", 4, 1.0),
            id="one of bytes that are aligned",
        ),
        pytest.param(
            "long long v; memcpy(&v, &s[(threadIdx.x * 2) & 127], sizeof(v)); out[0] = v;",
            "double s[128]",
            ("load", 8, 2.0),
            id="the bits of a double",
        ),
    ],
)
def test_a_copy_of_a_whole_local_variable_is_a_load_or_store(
    body: str, shared: str, access: tuple[str, int, float]
) -> None:
    """As in nvcc 13's machine code: LDS.64, STS, four LDS.U8, LDS, LDS.64."""
    (conflict,) = scored(body, shared=shared)
    assert (conflict.site.op, conflict.joined or conflict.site.width, conflict.ways) == access


@pytest.mark.parametrize(
    ("to", "come", "low", "high"),
    [
        ("threadIdx.x", "threadIdx.x + n", 1.0, 1.0),
        ("8 * threadIdx.x", "threadIdx.x", 8.0, 8.0),
        ("threadIdx.x", "threadIdx.x * n", 1.0, 32.0),
        ("threadIdx.x", "out[threadIdx.x]", 1.0, 32.0),
    ],
)
def test_a_copy_through_l1_is_exact_where_it_reads_in_order(
    to: str, come: str, low: float, high: float
) -> None:
    (conflict,) = scored(f"__pipeline_memcpy_async(&s[{to}], &in[{come}], 4);", shared=F)
    assert (conflict.ways_low, conflict.ways) == (low, high)


@pytest.mark.parametrize(
    "used",
    [
        "Sort(temporary).descending(v); s[v[0]] = 1;",
        "Sort(temporary).sum(x, x); s[x] = 1;",
        "sort_of_a_library(v); s[v[0]] = 1;",
        "Sort(temporary).descending(v); int w = v[0] & 255; s[w * 32] = 1;",
    ],
)
def test_what_unknown_code_is_handed_is_not_known_afterwards(used: str) -> None:
    before = "typedef cub::BlockRadixSort<unsigned, 32, 1> Sort; __shared__ Sort::TempStorage temporary;"
    body = f"{before} unsigned v[1] = {{threadIdx.x}}; unsigned x = threadIdx.x; {used}"
    assert [c.grade for c in scored(body, shared=F)] == [Grade.BOUND]


def test_a_function_that_is_not_defined_may_set_the_numbers_of_the_record_that_it_is_given() -> None:
    (conflict,) = scored("struct P { int a, b; }; P q = {1, 2}; get(&q); s[threadIdx.x * q.b] = 0;", shared=F)
    assert conflict.grade is not Grade.EXACT


@pytest.mark.parametrize(
    ("statement", "noted"),
    [
        ("lib::put(s[2 * t], 1.f);", True),
        ("lib::at(s[2 * t]) = 1;", True),
        ("lib::at(s[2 * t]).x += 1;", True),
        ("auto r = std::ref(s[2 * t]);", True),
        ("auto &r = lib::at(s[2 * t]); r = 1;", True),
        ("lib::Tile tile; tile.put(s[2 * t]);", True),
        ("float &r = s[2 * t]; p[t] = r;", False),
        ("lib::each(8, [&](int i) { s[i * t] = 1; });", True),
        ("p[t] = lib::most([s = &s[0]](int i) { return s[i]; });", True),
        ("lib::each(8, [&](int i) { p[i] = t; });", False),
        ("cuda::std::invoke([&](int i) { s[i] = 1; }, 4 * t);", False),
        ("p[t] = lib::half_of(s[2 * t]);", False),
        ('printf("%f", s[2 * t]);', False),
        ("*std::addressof(s[2 * t]) = 1;", False),
    ],
)
def test_unknown_code_that_may_take_an_element_by_reference_is_named(statement: str, noted: bool) -> None:
    text = (
        '#include "lib/unread.h"\n__global__ void k(float *p) {\n'
        f"__shared__ float s[256]; int t = threadIdx.x; {statement} __syncthreads(); p[t] += s[t]; }}"
    )
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)))
    assert [n.code for n in trace.notes] == ["unknown-function"] * noted
    if "addressof" in statement:
        assert [t.site.op for t in trace.traces] == ["store", "load"]
