"""Objects that begin in shared memory: `new (p) T(...)`. What is stored where is what nvcc 13 makes of it."""

from __future__ import annotations

from itertools import pairwise

import pytest

from smemlint.evaluate import Grade, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes

HEAD = """
#include <new>
struct Pod { int x, y; };
struct Sum { float part[4]; int n; __device__ Sum() : n(0) {} __device__ explicit Sum(int k) { n = k; } };
struct Named : Sum { int id; __device__ Named(int k) : Sum(k), id(k) {} };
struct Begun { int a = 3; Sum sum; int b; };
template <class T, class... A> __device__ T *make(char *at, A... given) { return new (at) T(given...); }
"""
OWN = """
struct Arena { char *at; int used; __device__ void *take(size_t n); };
__device__ void *Arena::take(size_t n) { used += 32 * n; return at + used + n * threadIdx.x; }
__device__ void *operator new(size_t n, Arena &a) { return a.take(n); }
__device__ void *operator new(size_t n, Arena *a) { return a->take(n); }
__device__ void *operator new(size_t n, Arena &a, int apart) { a.used += apart; return a.take(n); }
struct Managed { void *operator new(size_t n) { void *p; cudaMallocManaged(&p, n); return p; } };
struct Spread { float v; static __device__ void *operator new(size_t, float *p); };
__device__ void *Spread::operator new(size_t, float *p) { return p + 3 * threadIdx.x; }
"""
FILL = "__syncthreads(); p[t] = *(float *)(raw + 4 * t);"


def stores(code: str, head: str = HEAD) -> list[tuple[int, int, int]]:
    """Width, first byte and step from lane to lane of each store."""
    text = (
        f"{head}__global__ void k(float *p) {{ extern __shared__ __align__(16) char raw[];\n"
        f"const int t = threadIdx.x; {code} {FILL} }}"
    )
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (kernel,) = module.kernels()
    trace = evaluate(module, kernel, Launch((32, 1, 1)))
    assert not trace.notes
    found = []
    for t in trace.traces:
        if t.site.op == "store" and len(t.offsets):
            row = t.offsets[0].tolist()
            assert t.grade is Grade.EXACT and len({b - a for a, b in pairwise(row)}) == 1
            found.append((t.joined or t.site.width, row[0], row[1] - row[0]))
    return found


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("new (raw + sizeof(Sum) * t) Sum;", [(4, 16, 20)]),
        ("::new ((void *)(raw + sizeof(Sum) * t)) Sum(t);", [(4, 16, 20)]),
        ("Sum *s = make<Sum>(raw + 20 * t, 7); __syncthreads(); s->part[1] = 1;", [(4, 16, 20), (4, 4, 20)]),
        ("new (raw + sizeof(Named) * t) Named(3);", [(8, 16, 24)]),
        ("new (raw + 8 * t) Pod; new (raw + 4 * t) float[8];", []),
        ("Pod *q = new (raw + 8 * t) Pod; q->y = 2;", [(4, 4, 8)]),
        ("new (raw + 8 * t) Pod();", [(8, 0, 8)]),
        ("new (raw + 8 * t) Pod{t, 1};", [(8, 0, 8)]),
        ("new (raw + 8 * t) float(2.f);", [(4, 0, 8)]),
        ("new (raw + 8 * t) (float)(2.f); new (raw + 4 * t) (float);", [(4, 0, 8)]),
        ("new (raw + 20 * t) (Sum)(7);", [(4, 16, 20)]),
        ("new (raw + 8 * t) (Pod){t, 1};", [(8, 0, 8)]),
        ("std::construct_at((Sum *)(raw + 20 * t), 4);", [(4, 16, 20)]),
        ("new (raw + sizeof(Begun) * t) Begun;", [(4, 0, 28), (4, 20, 28)]),
    ],
)
def test_what_begins_there_is_stored_there(code: str, wanted: list[tuple[int, int, int]]) -> None:
    assert sorted(stores(code)) == sorted(stores(code, HEAD + OWN)) == sorted(wanted)


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("Arena a{raw, 8}; new (a) Pod{t, 1};", [(8, 264, 8)]),
        ("Arena a{raw, 0}; new (&a) Pod{t, 1};", [(8, 256, 8)]),
        ("Arena a{raw, 0}; new (a, 8) Pod{t, 1};", [(8, 264, 8)]),
        ("auto *s = new ((float *)raw) Spread; s->v = 1;", [(4, 0, 12)]),
    ],
)
def test_a_function_of_the_program_says_where_an_object_begins(
    code: str, wanted: list[tuple[int, int, int]]
) -> None:
    assert stores(code, HEAD + OWN) == wanted


@pytest.mark.parametrize("begun", ["()", "{}", "{1, 2, 3}"])
def test_elements_that_begin_as_something_are_named(begun: str) -> None:
    code = f"__shared__ float s[256]; new (s + 4 * threadIdx.x) float[4]{begun}; __syncthreads();"
    text = f"__global__ void k(float *p) {{ {code} p[threadIdx.x] = s[threadIdx.x]; }}"
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (note,) = evaluate(module, module.kernels()[0], Launch((32, 1, 1))).notes
    assert note.code == "unknown-function" and "new[]" in note.text


def test_an_object_in_a_variable_of_the_thread_is_followed() -> None:
    code = "alignas(Sum) char room[sizeof(Sum)]; Sum *s = new (room) Sum(8 * t); raw[s->n] = 1;"
    assert stores(code) == [(1, 0, 8)]
