"""Which accesses of shared memory the text of a function shows."""

from __future__ import annotations

import pytest

from smemlint.api import analyse_file
from smemlint.frontend import load
from smemlint.running.jobs import Job, Options
from smemlint.score.mentions import mentions, shared_globals
from smemlint.source import source_from_bytes

BEFORE = """
struct Cell { int left; float row[4]; __device__ int sum() { return left; } };
struct View { float &at; float n; };
struct Kept { float &at; __device__ Kept(float &x) : at(x) {} };
extern __shared__ int dynamic[];
__device__ void add(float &x, float y) { x += y; }
__device__ void fill(float *p) { p[0] = 0; }
"""
SHARED = "__shared__ float s[32], t[4][8], *rows[2]; __shared__ int count; __shared__ Cell cells[4];"


def told(body: str) -> list[tuple[str, str, int]]:
    """(operation, text, bytes) of each access in a kernel with this body."""
    text = f"{BEFORE}__global__ void k(float *p, int i) {{ {SHARED}\n{body}\n}}"
    (module, *_) = load(source_from_bytes("k.cu", text.encode()))
    (kernel,) = module.kernels()
    found = mentions(module, kernel, shared_globals(module))
    return [(op, text[m.place.offset : m.place.end_offset], m.width) for m in found for op in m.ops]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("p[0] = s[i];", [("load", "s[i]", 4)]),
        ("s[i] = p[0];", [("store", "s[i]", 4)]),
        ("s[i] += t[i][1];", [("load", "s[i]", 4), ("store", "s[i]", 4), ("load", "t[i][1]", 4)]),
        ("count++;", [("load", "count", 4), ("store", "count", 4)]),
        ("*s = *(t[1] + i);", [("store", "*s", 4), ("load", "*(t[1] + i)", 4)]),
        ("s[dynamic[i]] = 0;", [("store", "s[dynamic[i]]", 4), ("load", "dynamic[i]", 4)]),
        ("cells[i].row[1] = cells->left;", [("store", "cells[i].row[1]", 4), ("load", "cells->left", 4)]),
        ("p[i] = cells[i].sum();", [("load", "cells[i]", 20)]),
        ("p[0] = rows[1][i];", [("load", "rows[1]", 8)]),
        ("p[0] = ((float4 *)&s[4 * i])->x;", [("load", "((float4 *)&s[4 * i])->x", 4)]),
        ("float4 v = ((float4 *)s)[i];", [("load", "((float4 *)s)[i]", 16)]),
        ("atomicAdd(&count, 1);", [("atomic", "atomicAdd(&count, 1)", 4)]),
        ("atomicAdd(s + i, 1.0f);", [("atomic", "atomicAdd(s + i, 1.0f)", 4)]),
        ("View v{s[i], t[0][i]};", [("load", "t[0][i]", 4)]),
        ("add(s[i], t[0][i]);", [("load", "s[i]", 4), ("load", "t[0][i]", 4)]),
        ("auto f = [&](int j) { return s[j]; };", [("load", "s[j]", 4)]),
        (
            "auto f = [&](int j) -> float & { auto g = [&] { return t[1][j]; }; g(); return s[j]; };",
            [("load", "t[1][j]", 4)],
        ),
        ("if constexpr (false) s[1] = 2;", [("store", "s[1]", 4)]),
    ],
)  # fmt: skip
def test_what_begins_with_a_shared_name_is_an_access(body: str, expected: list[tuple[str, str, int]]) -> None:
    assert told(body) == expected


@pytest.mark.parametrize(
    "body",
    [
        "float *q = &s[i]; p[0] = q[1];",
        "float *q = t[i];",
        "float &x = s[i];",
        "p[0] = sizeof(s[0]) + sizeof(count);",
        "fill(s); fill(s + i); fill(&s[i]); fill(t[1]);",
        "using T = decltype(s[0]);",
        "{ float s[4]; s[i] = 1; }",
        "cuda::atomic_ref<float> a(s[i]);",
        "View v{s[i], 3}; View w = {t[i][0], 1};",
        "Kept k(s[i]);",
        "auto f = [&](int j) -> float & { return s[j]; };",
        "auto f = [&] { auto g = [&](int j) -> auto & { return s[j]; }; };",
        "__shared__ typename cub::WarpReduce<float>::TempStorage held; cub::WarpReduce<float> sum(held);",
    ],
)
def test_an_address_alone_is_none(body: str) -> None:
    assert told(body) == []


def test_an_argument_by_reference_names_the_call() -> None:
    text = f"{BEFORE}__global__ void k(int i) {{ {SHARED} add(s[i], t[0][i]); }}"
    (module, *_) = load(source_from_bytes("k.cu", text.encode()))
    (kernel,) = module.kernels()
    by_reference, by_value = mentions(module, kernel, shared_globals(module))
    assert by_reference.call is not None and text[by_reference.call.offset :].startswith("add(s[i]")
    assert by_value.call is None


def test_what_another_line_accesses_is_no_access_of_its_own() -> None:
    text = """\
struct View {
    __device__ float &at(int i) {
        extern __shared__ float s[];
        return s[i];
    }
};
__global__ void k(int *out) {
    __shared__ int h[64];
    View v;
    v.at(threadIdx.x) = 1;
    atomicAdd(
        &h[threadIdx.x],
        1);
}
void go(int *p) { k<<<1, 32, 128>>>(p); }
"""
    report = analyse_file(Job("k.cu", Options(suggest=False), text))
    assert [a.line for k in report.kernels for a in k.accesses if not a.reached] == []
