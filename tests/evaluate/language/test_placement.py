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
FILL = "__syncthreads(); p[t] = *(float *)(raw + 4 * t);"


def stores(code: str) -> list[tuple[int, int, int]]:
    """Width, first byte and step from lane to lane of each store."""
    text = (
        f"{HEAD}__global__ void k(float *p) {{ extern __shared__ __align__(16) char raw[];\n"
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
        ("std::construct_at((Sum *)(raw + 20 * t), 4);", [(4, 16, 20)]),
        ("new (raw + sizeof(Begun) * t) Begun;", [(4, 0, 28), (4, 20, 28)]),
    ],
)
def test_what_begins_there_is_stored_there(code: str, wanted: list[tuple[int, int, int]]) -> None:
    assert sorted(stores(code)) == sorted(wanted)


def test_an_object_in_a_variable_of_the_thread_is_followed() -> None:
    code = "alignas(Sum) char room[sizeof(Sum)]; Sum *s = new (room) Sum(8 * t); raw[s->n] = 1;"
    assert stores(code) == [(1, 0, 8)]
