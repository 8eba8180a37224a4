"""Kernels in the style of production code: addresses by a few lines of Python, the rest by the bank rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import pytest

from smemlint.banks import wavefronts
from smemlint.evaluate import evaluate
from smemlint.evaluate.model import Grade
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score_all
from smemlint.source import source_from_bytes

LANES = range(32)
Row = list[int | None]

HELPERS = """#include <cstdint>
struct block_q8 { short d; int8_t qs[32]; };
union Pack { uint32_t u; uint16_t h[2]; uint8_t b[4]; };
template <class T> struct View {
  T *p; int pitch;
  struct Row { T *p; __device__ T &operator[](int c) const { return p[c]; } };
  __device__ Row operator[](int r) const { return Row{p + r * pitch}; }
};
template <class T> struct Step { static __device__ int of(int t) { return t; } };
template <> __device__ inline int Step<double>::of(int t) { return t * 4; }
template <class T> __device__ void fill(T *p, int t) { View<T> v{p, 36}; v[t & 15][t >> 4] = t; }
struct Sm { float a[16][32]; float b[32][17]; int flags[32]; };
__device__ int get_int(const int8_t *p, int i) {
  const uint16_t *x = (const uint16_t *)p;
  return x[2 * i] | x[2 * i + 1] << 16;
}
__device__ bool locate(int i, int n, int &r, int &c) {
  if (i >= n) { r = 0; c = i; return false; }
  r = i / 8; c = (i % 8) * 4;
  if (r & 1) return true;
  c ^= 16;
  return true;
}
"""


def total(op: str, width: int, rows: Iterable[Row]) -> tuple[int, int]:
    costs = [wavefronts(op, width, tuple(row)) for row in rows if any(at is not None for at in row)]
    return sum(c.wavefronts for c in costs), sum(c.ideal for c in costs)


def quantised() -> Iterator[Row]:
    for i in range(8):
        for half in range(2):
            yield [34 * t + 2 + 4 * i + 2 * half for t in LANES]


def located() -> Iterator[Row]:
    places = {t: (t // 8, t % 8 * 4 if t // 8 & 1 else t % 8 * 4 ^ 16) for t in range(24)}
    yield [4 * (33 * places[t][0] + places[t][1]) if t in places else None for t in LANES]
    yield [None if t in places else 4 * 33 * t for t in LANES]


def doubled() -> Iterator[Row]:
    for stride in (1, 2, 4, 8):
        yield [4 * (t * stride % 1024) for t in LANES]


def triangle() -> Iterator[Row]:
    places = [(row, column) for row in range(8) for column in range(row + 1)]
    yield [4 * (32 * row + column) for row, column in places[:32]]


def signed_char(v: int) -> int:
    return (v + 128) % 256 - 128


def by_bits() -> Iterator[Row]:
    words = [1 << t for t in LANES]
    while any(words):
        yield [4 * 33 * (w.bit_length() - 1) if w else None for w in words]
        words = [w >> 8 for w in words]


CASES: dict[str, tuple[str, str, int, Callable[[], Iterable[Row]]]] = {
    "a quantised block is read in halves": (
        "__shared__ block_q8 s[32]; for (int i = 0; i < 8; i++) out[i] = get_int(s[t].qs, i);",
        "load",
        2,
        quantised,
    ),
    "a helper returns early with two places": (
        "__shared__ float s[32][33]; int r, c; if (locate(t, 24, r, c)) s[r][c] = 1; else s[c][r] = 2;",
        "store",
        4,
        located,
    ),
    "a jump back doubles the stride": (
        "__shared__ float s[1024]; int stride = 1; again: s[t * stride & 1023] = 1; stride *= 2;"
        "if (stride < 16) goto again;",
        "store",
        4,
        doubled,
    ),
    "the upper half of a pun": (
        "__shared__ float s[4096]; Pack p; p.u = t * 0x01010101u; p.b[1] = 0; p.h[1] = 32 * t;"
        "s[p.u >> 16] = 3;",
        "store",
        4,
        lambda: [[4 * 32 * t for t in LANES]],
    ),
    "lanes choose one of two members": (
        "__shared__ Sm sm; float *p = t < 16 ? &sm.a[t][0] : &sm.b[t][0]; p[1] = 3;",
        "store",
        4,
        lambda: [[128 * t + 4 if t < 16 else 2048 + 68 * t + 4 for t in LANES]],
    ),
    "a triangular index comes from a square root": (
        "__shared__ float s[256]; int row = (int)((sqrtf(8.f * t + 1.f) - 1.f) * 0.5f);"
        "s[row * 32 + t - row * (row + 1) / 2] = 1;",
        "store",
        4,
        triangle,
    ),
    "rows of a view are objects of their own": (
        "__shared__ float s[576]; fill<float>(s, t);",
        "store",
        4,
        lambda: [[4 * (36 * (t & 15) + (t >> 4)) for t in LANES]],
    ),
    "a signed char wraps": (
        "__shared__ float s[256]; signed char c = t * 8; s[c + 128] = 1;",
        "store",
        4,
        lambda: [[4 * (signed_char(8 * t) + 128) for t in LANES]],
    ),
    "lanes walk over the bits of 64": (
        "__shared__ float s[4096]; float a = 0;"
        "for (uint64_t q = 1ull << t; q; q >>= 8) a += s[(int)(__ffsll(q) - 1) * 33]; out[t] = a;",
        "load",
        4,
        by_bits,
    ),
    "one instance of a class has a method of its own": (
        "__shared__ float s[256]; s[Step<float>::of(t)] = 1; s[Step<double>::of(t)] = 2;",
        "store",
        4,
        lambda: [[4 * t for t in LANES], [16 * t for t in LANES]],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_an_everyday_kernel_costs_what_its_addresses_do(name: str) -> None:
    body, op, width, rows = CASES[name]
    text = f"{HELPERS}__global__ void k(float *out) {{ const int t = threadIdx.x;\n{body}\n}}"
    (module,) = load(source_from_bytes("kernel.cu", text.encode()))
    found = score_all(evaluate(module, module.kernels()[0], Launch((32, 1, 1))))
    told = [c for c in found if c.site.op == op and c.ideal]
    assert {c.site.width for c in told} == {width}
    assert {c.grade.value for c in told} == {"exact"}
    assert (sum(c.wavefronts or 0 for c in told), sum(c.ideal or 0 for c in told)) == total(op, width, rows())


def test_an_array_behind_narrower_ones_of_unknown_sizes_may_be_out_of_line() -> None:
    text = """
    __global__ void k(const float *p, float *q, int n, int m) {
        extern __shared__ char pool[];
        float *s = (float *)(pool + (2 * n + m) * 2);
        for (int d = threadIdx.x; d < n; d += 128)
            for (int e = 0; e < m; ++e) s[d * (m + 1) + e] = p[d * m + e];
    }
    void go(const float *p, float *q, int n, int m) { k<<<1, 128, 4096>>>(p, q, n, m); }
    """
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (store,) = score_all(evaluate(module, module.kernels()[0], Launch((128, 1, 1))))
    assert (store.grade, store.wavefronts_low) == (Grade.PARAMETRIC, store.ideal)


@pytest.mark.parametrize(
    ("index", "place"),
    [
        ("q / 4 * 8 + q % 4", lambda q: q // 4 * 8 + q % 4),
        ("(q >> 3) * 33 + (q & 7)", lambda q: (q >> 3) * 33 + (q & 7)),
        ("q / 8", lambda q: q // 8),
    ],
)
def test_what_a_remainder_by_a_multiple_of_the_block_is_cut_into_is_known(
    index: str, place: Callable[[int], int]
) -> None:
    """`(128 * block + t) % 512` is a multiple of 128, the same for all lanes, and t."""
    text = f"""__global__ void k(int n) {{
        __shared__ int s[4096];
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {{
            int q = i % 512;
            s[{index}] = i;
        }}
    }}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (store,) = score_all(evaluate(module, module.kernels()[0], Launch((128, 1, 1))))
    for block in range(4):
        rows: list[Row] = [
            [4 * place((128 * block + 32 * warp + t) % 512) for t in LANES] for warp in range(4)
        ]
        ways = total("store", 4, rows)
        assert store.wavefronts_low * ways[1] == store.ideal * ways[0]
    assert store.grade is Grade.EXACT


@pytest.mark.parametrize(
    "condition", ["i < 4096", "i <= 4095", "4095 >= i", "4096 > i", "i < 4000", "i <= 4096", "4097 > i"]
)
def test_a_loop_to_a_multiple_of_the_block_takes_all_of_its_lanes(condition: str) -> None:
    """Elements of 8 bytes cost two wavefronts for all lanes, and one for few of them."""
    text = f"""__global__ void k() {{
        __shared__ double s[128];
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; {condition}; i += blockDim.x * gridDim.x)
            s[threadIdx.x] = i;
    }}"""
    inside = [eval(condition, {"i": i}) for i in range(8192)]
    alike = all(len(set(inside[first : first + 128])) == 1 for first in range(0, 8192, 128))
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (store,) = score_all(evaluate(module, module.kernels()[0], Launch((128, 1, 1))))
    assert (store.grade is Grade.EXACT) is alike
