"""What is loaded of a value that goes into a local variable in another type, of which parts are read.

The words are those of the loads in the machine code of nvcc 13.0 (-arch=sm_90 -O3).
"""

from __future__ import annotations

import pytest

from smemlint.evaluate import Grade, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score_all
from smemlint.source import source_from_bytes

FORMS = {
    "uint32_t l[4]; *(uint4 *)l = s[t]; o[t] = l[3];": [3],
    "uint32_t l[4]; *(uint4 *)l = s[t]; o[t] = l[2] + l[3];": [2, 3],
    "uint32_t l[4]; *(uint4 *)l = s[t]; o[t] = l[0] + l[3];": [0, 3],
    "uint16_t l[8]; reinterpret_cast<uint4 &>(l) = s[t]; for (int i = 2; i < 4; ++i) o[i] = l[i];": [1],
    "uint8_t l[16]; *(uint4 *)l = s[t]; for (int i = 0; i < N; i++) o[i] = l[15 - i];": [2, 3],
    "union { uint4 q; uint8_t b[16]; } u; u.q = s[t]; o[t] = u.b[4] + u.b[5];": [1],
    "uint4 v = s[t]; o[t] = ((uint32_t *)&v)[1];": [1],
    "uint4 v = s[t]; const uint8_t *p = (const uint8_t *)&v; o[t] = p[12] + p[15];": [3],
    "uint4 v = s[t]; uint8_t l[16]; memcpy(l, &v, 16); o[t] = l[12] + l[15];": [3],
    "uint8_t l[16]; *(uint4 *)l = s[t]; uint32_t x; memcpy(&x, l + 8, 4); o[t] = x;": [2],
    "float4 f = s4[t]; float g[4]; *(float4 *)g = f; o[t] = g[1];": [1],
    "uint32_t l[8]; *(uint4 *)l = s[t]; *(uint4 *)&l[4] = s[t]; o[t] = l[5];": [1],
    "uint4 v = s[t]; o[t] = twice(&v.y);": [1],
    "uint4 v = s[t]; o[t] = pair(&v.z);": [2, 3],
    "uint4 v[2]; v[0] = s[t]; v[1] = s[32 + t]; o[t] = twice(&v[0].w) + twice(&v[1].w);": [3, 131],
    "uint4 v = s[t]; grow(&v.z); o[t] = v.z;": [2],
    # all of it: read as a whole, at an index that is not known, by a function, through a pointer to a part
    "uint32_t l[4]; *(uint4 *)l = s[t]; for (int i = 0; i < 4; ++i) o[i] = l[i];": [0, 1, 2, 3],
    "uint32_t l[4]; *(uint4 *)l = s[t]; o[t] = l[n];": [0, 1, 2, 3],
    "uint32_t l[4]; *(uint4 *)l = s[t]; for (int i = 0; i < n; ++i) o[i] = l[i];": [0, 1, 2, 3],
    "uint32_t l[4]; *(uint4 *)l = s[t]; o[t] = sum(l);": [0, 1, 2, 3],
    "uint32_t l[4]; *(uint4 *)&l[0] = s[t]; o[t] = sum(&l[0]);": [0, 1, 2, 3],
    "uint4 v = s[t]; o[t] = sum(&v.x);": [0, 1, 2, 3],
    "uint4 v[2]; v[0] = s[t]; v[1] = s[32 + t]; o[t] = of_two(&v[0]);": [0, 1, 2, 3, 128, 129, 130, 131],
    "uint4 v = s[t]; const uint32_t *p = &v.x; for (int i = 0; i < 4; ++i) o[i] = *p++;": [0, 1, 2, 3],
    "uint32_t l[4]; *(uint4 *)l = s[t]; const uint32_t *p = &l[0]; while (n--) o[n] = *p++;": [0, 1, 2, 3],
    "uint32_t l[4]; *(uint4 *)l = s[t]; uint4 w = *(uint4 *)l; o[t] = w.x + w.y + w.z + w.w;": [0, 1, 2, 3],
}


@pytest.mark.parametrize(("body", "words"), FORMS.items())
def test_words_that_nobody_reads_are_not_loaded(body: str, words: list[int]) -> None:
    text = f"""#include <stdint.h>
    #include <string.h>
    __device__ uint32_t sum(const uint32_t *l) {{ return l[0] + l[1] + l[2] + l[3]; }}
    __device__ uint32_t twice(const uint32_t *p) {{ return *p * 2; }}
    __device__ uint32_t pair(const uint32_t *p) {{ return p[0] + p[1]; }}
    __device__ void grow(uint32_t *p) {{ *p += 3; }}
    __device__ uint32_t of_two(const uint4 *v) {{ return sum(&v[0].x) + sum(&v[1].x); }}
    template <int N> __global__ void k(uint32_t *o, int n) {{
        __shared__ uint4 s[64];
        float4 *s4 = (float4 *)s;
        int t = threadIdx.x;
        {body}
    }}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    launch = Launch((32, 1, 1), template={"N": 6})
    traces = [t for t in evaluate(module, module.kernels()[0], launch).traces if t.site.op == "load"]
    assert all(t.grade is Grade.EXACT for t in traces)
    loaded = {
        int(row[0]) // 4 + i
        for t in traces
        for row, weight in zip(t.offsets, t.weights, strict=True)
        for i in range((t.joined or t.site.width) // 4)
        if weight
    }
    assert sorted(loaded) == words


MOVED = (
    # What nvcc loads of each (sm_90): two words, two words, one pair, the words of one pair.
    "uint32_t l[4]; *(uint4 *)l = s[t]; uint32_t x = l[0]; l[0] = l[3]; l[3] = x; o[t] = l[0] + l[1];",
    "uint4 v = s[t]; uint32_t x = v.x; v.x = v.w; v.w = x; o[t] = v.x + v.y;",
    "uint32_t l[4]; *(uint4 *)l = s[t]; for (int i = 0; i < 2; ++i) {"
    " uint32_t x = l[i]; l[i] = l[3 - i]; l[3 - i] = x; } o[t] = l[0] + l[1];",
    "uint2 a[2]; *(uint4 *)a = s[t]; uint2 x = a[0]; a[0] = a[1]; a[1] = x; o[t] = a[0].x + a[0].y * 3;",
)


@pytest.mark.parametrize("body", MOVED)
def test_of_parts_that_change_places_it_is_open_which_are_loaded(body: str) -> None:
    text = f"""#include <stdint.h>
    __global__ void k(uint32_t *o) {{ __shared__ uint4 s[64]; int t = threadIdx.x; {body} }}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (cost,) = score_all(evaluate(module, module.kernels()[0], Launch((32, 1, 1))))
    assert (cost.grade, cost.wavefronts_low, cost.wavefronts) == (Grade.BOUND, 4, 16)


def test_parts_that_change_places_and_are_all_read_are_loaded() -> None:
    text = """__global__ void k(float *o) { __shared__ float4 s[64]; int t = threadIdx.x;
    float4 v = s[t]; if (v.x > v.y) { float x = v.x; v.x = v.y; v.y = x; } o[t] = v.x + v.y * v.z - v.w; }"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (cost,) = score_all(evaluate(module, module.kernels()[0], Launch((32, 1, 1))))
    assert (cost.grade, cost.wavefronts) == (Grade.EXACT, 4)
