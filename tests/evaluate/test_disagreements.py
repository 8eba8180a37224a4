"""Small kernels on which the evaluator once differed from the interpreter."""

from __future__ import annotations

import pytest
from oracle import run
from oracle.compare import compare, evaluate_as_written, outside, uncovered
from oracle.totals import beyond

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes

HEAD = """struct P { int a; int b; };
template <int S> struct Tile {
  static constexpr int kStride = S + 1;
  float *base; int off; int more = 4;
  __device__ Tile(float *b, int e = 1) : base(b + 7 + e), off(3) { more += e; }
  __device__ float *row(int i) const { return base + i * S + off + more; }
  static __device__ int flat(int i, int j) { return i * kStride + j; }
};
template <int BM> __global__ void k(float *out) {
__shared__ float t[4096];
"""

BODIES = [
    # narrow types wrap
    "unsigned char i = threadIdx.x; --i; t[i + 1] = 0;",
    "short s = 32767; unsigned char c = s; c++; t[c + threadIdx.x] = 0;",
    "long i = out == nullptr ? ((threadIdx.y % 2 == 2 || 100 < threadIdx.z + 3 * 4 - 7 + 2 + 5) ?"
    "  threadIdx.y % 8 : (100 << 2)) : -1; t[threadIdx.x < i ? 3 : 2] = 0;",
    # a byte of a bit-field's unit
    "union { unsigned u; struct { unsigned a : 8, b : 4; } f; unsigned char c[4]; } m; m.u = 0; m.f.b = 1;"
    "  m.c[1] ^= 3; t[m.f.b] = 0; m.c[0] = threadIdx.x; t[m.f.a + m.f.b] = 0;",
    # a product of floats is rounded in one way
    "int m = (int)(250 * 0.1f); t[m * threadIdx.x] = 0; if (m / 32 == 0) t[m] = 1;",
    # the arm that no lane takes has a say in the type
    "long i = ~((32 >= threadIdx.x ? 3 : threadIdx.z) % 1); t[(8 >= i) * 32 + threadIdx.x] = 0;",
    # what a reference or a pointer to a local changes
    "for (int i = 0; i < 3; i++) { float &f = t[i]; f = 2; }",
    "int m = 1; for (int i = 0; i < 4; i++) { int &r = m; r += 5; t[m] = 1; }",
    "int m = 1; int *r = &m; for (int i = 0; i < 4; i++) { *r += 5; t[m] = 1; }",
    "int m[2] = {1, 2}; int *r = m; for (int i = 0; i < 4; i++) { r[1] += 5; t[m[1]] = 1; }",
    "int m[2] = {1, 2}; for (int i = 0; i < 4; i++) { auto *r = &m[1]; if (i > 1) *r += 5; t[m[1]] = 1; }",
    "P m = {1, 2}; for (int i = 0; i < 4; i++) { m.a += 3; P *r = &m; r->b += m.a; t[m.b] = 1; }",
    "int m = 0; for (int i = 0; i < 4; i++) { auto l = [&](int a) { m += a; }; l(2); t[m] = 1; }",
    # what is set through a reference of an inner loop, in each round of the outer one
    "for (int i = 0; i < 3; i++) { int m = 52; for (int j = 0; j < 3; ++j) { int &r = m; r++; } t[m] = 1; }",
    "for (int i = 0; i < 3; i++) { P m[2] = {{9}, {2}}; for (auto &p : m) p.a ^= 1; t[m[0].a] = 1; }",
    "for (int i = 0; i < 3; i++) { int m = 7; for (int j = 0; j < 3; ++j) { int *r = &m; ++*r; } t[m] = 1; }",
    # vectors made by the library's functions
    "for (int i = 0; i < 3; i++) { int2 d = make_int2(2, i); t[d.x + d.y] = 1; }",
    # members of class templates
    "t[Tile<32>::flat(threadIdx.x, 1)] = 1;",
    "Tile<BM> tile(t); out[0] = tile.row(threadIdx.x)[0];",
    "Tile<BM> tile(t, 5); out[0] = tile.row(threadIdx.x)[0];",
    "Tile<4> tile{t}; out[0] = tile.row(threadIdx.x)[0];",
]


@pytest.mark.parametrize("body", BODIES)
def test_addresses_are_those_of_the_interpreter(body: str) -> None:
    module = load(source_from_bytes("kernel.cu", f"{HEAD}{body}\n}}\n".encode()))[0]
    kernel = module.kernels()[0]
    launch = Launch((32, 1, 1), grid=(1, 1, 1), template={"BM": 4})
    outcome = compare(run(module, kernel, launch), evaluate_as_written(module, kernel, launch))
    assert not outcome.wrong
    assert not outcome.open
    assert outcome.exact


JOINED = [
    # what does not go by the same number each time, in a loop of as many iterations as each lane has
    "int m = 5; for (int i = threadIdx.x & 7; i < 9; i += 2) { m ^= 1; t[i] = 1; } t[m * 8] = 1;",
    "int m = 0; for (int i = 0; i < (int)threadIdx.x; i++) m = m + 16 + i % 3; t[m & 4095] = 1;",
    # a number that an exclusive or makes -1 or -2
    "int m = 0; for (int i = 0; i < 4; i++) {"
    "  m ^= 1; ((float4 *)t)[(m - 2 + (int)threadIdx.z) & 1023].w += 1; }",
    "for (int i = 0; i < 2; i++) t[(unsigned char)(threadIdx.x - 1 - i)] = 1;",
    # a load holds its value for the lanes alone that made it
    "int m = 205 + 2 * threadIdx.x; for (int i = 0; i <= 3 - (int)threadIdx.x % 4; i++)"
    "  for (int j = i; j < 3; j++) { if ((m % 7 & 4) == 0) { m ^= 1; break; }"
    "  out[0] += t[j * 32 + threadIdx.x]; m = threadIdx.x; }",
    # lanes that leave a loop between two rounds that one wider store makes
    "auto f = [](int x, int m) { return x & m & 8; };"
    " for (int i = 0; i < (int)threadIdx.x & 3; i++) ((double *)t)[(f((int)threadIdx.z, 5) + i) & 255] = 1;",
    # who leaves an inner loop by goto is not there in the next round of the outer one
    "for (int i = 0; i < 2; i++) { for (int j = 0; j <= (int)(threadIdx.x & 1) + i; j++) {"
    "  t[j * 2 + threadIdx.x * 8] = 1; if (j == 1) goto past; } } past: t[5] = 1;",
    # a load that nobody uses moves nowhere
    "for (int i = 0; i < 2; i++) { float4 v = *(float4 *)t; if (threadIdx.x & 1) continue; int j = 0;"
    "  while (j < 5) j++; }",
]


@pytest.mark.parametrize("body", JOINED)
@pytest.mark.parametrize("block", [(32, 1, 1), (8, 2, 3)])
def test_joined_accesses_cover_the_bytes_of_the_interpreter(body: str, block: tuple[int, int, int]) -> None:
    module = load(source_from_bytes("kernel.cu", f"{HEAD}{body}\n}}\n".encode()))[0]
    kernel = module.kernels()[0]
    launch = Launch(block, grid=(1, 1, 1), template={"BM": 4})
    assert not uncovered(run(module, kernel, launch), evaluate(module, kernel, launch))


OPEN = [
    # after a loop, any number of iterations has run, also where the compiler puts four into one line
    "int i; for (i = 0; i < n; i++) out[i] = 0; t[threadIdx.x * (i & 3)] = 1;",
    "int m = 16; for (int i = 0; i < n; i++) m >>= 1; t[threadIdx.x * (m & 3)] = 1;",
    "int m = 1, i; for (i = 0; i < n; i++) { m ^= 3; out[i] = 0; } t[threadIdx.x * (i & 3) + m] = 1;",
    "int m = 1; for (int i = threadIdx.x & 15; i < 98; i += 40) { m *= 2; if (blockIdx.x) continue; }"
    "  t[m] = 1;",
    "int m = 0; for (int i = 0; i < n; i++) m = 4 * i; t[threadIdx.x * (m & 15)] = 1;",
    # a condition that sets something, asked once before the loop and once before each iteration
    "for (unsigned i = 3; i-- > 0;) { t[(i * threadIdx.x) & 4095] = 1; if (n & 1) break; }",
    "int i = n; while (i-- > 0) t[(threadIdx.x * i) & 4095] = 1; t[threadIdx.x * (i & 3)] = 1;",
    "int i = 0; while (++i < n) t[(threadIdx.x * i) & 4095] = 1; t[threadIdx.x * (i & 3)] = 1;",
    "int i = 3; do { t[(i * threadIdx.x) & 4095] = 1; if (n & 1) break; } while (i-- > 0);",
    "int i = n; do t[(threadIdx.x * i) & 4095] = 1; while (--i > 0); t[threadIdx.x * (i & 3)] = 1;",
    # lanes that left do not ask the condition of later iterations
    "int i = 0; while (i < 40 && t[i * 32 + threadIdx.x] < 1e30f) i += 11;",
    # lanes that always leave run the first iteration only
    "for (int i = 0; i < n; i++) { t[threadIdx.x * 32] = 1; if (threadIdx.x <= 5) break; t[i] = 1; }",
    # half of an `int` is no `int` where two ways out of an iteration meet
    "P p = {1, 2}; short *h = (short *)&p; for (int i = 0; i < 3; i++) { if (n > 4) { h[0] ^= 1; continue; }"
    "  h[1] ^= 1; } t[threadIdx.x * h[1]] = 1;",
    # some lanes leave a switch at one label, and others come in at the next
    "switch (threadIdx.x) { case 3: if (n) break; case 0: t[threadIdx.x] = 1; }",
    "switch (threadIdx.x) { default: if (blockIdx.x) break; case 2: t[threadIdx.x * 32] = 1; }",
    # an unsigned sum wraps before it is widened, divided, compared or chosen from
    "long i = ~(threadIdx.x + !(n & 4)); t[(i > threadIdx.x) * 32 + threadIdx.x] = 1;",
    "long i = 1l + ((n & 3) - threadIdx.x); t[(i >> 30) * 33 + threadIdx.x] = 1;",
    "if ((n & 3) - threadIdx.x > (n & 3)) t[threadIdx.x * 32] = 1;",
    "if ((unsigned long)(n & 3) - threadIdx.x > (n & 3)) t[threadIdx.x * 32] = 1;",
    "unsigned x = !(n & 4); t[max(x - 1, 2u) / 1073741824 * 33 + threadIdx.x] = 1;",
    # who goes on with the next iteration may have left the loop instead
    "for (int i = 0; i < 3; i++) { t[threadIdx.x] = 1; if (threadIdx.x % 4 ? out[0] > 0 : i) break;"
    "  continue; }",
]


@pytest.mark.parametrize("body", OPEN)
@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_what_is_left_open_holds_what_the_interpreter_does(body: str, n: int) -> None:
    text = HEAD.replace("float *out", "float *out, int n")
    module = load(source_from_bytes("kernel.cu", f"{text}{body}\n}}\n".encode()))[0]
    kernel = module.kernels()[0]
    launch = Launch((32, 1, 1), grid=(8, 1, 1), template={"BM": 4})
    requests = run(module, kernel, launch, block_index=(n, 0, 0), arguments={"n": n})
    assert not outside(requests, evaluate_as_written(module, kernel, Launch((32, 1, 1), template={"BM": 4})))


RANGES = [
    # a number of two bytes without a sign, made of one below zero
    "int m = 5; *(short *)&m = (n & 15) - threadIdx.x; float *p = m < 33 ? t : &q[0][0]; p[3] = 1;",
    "int m = (unsigned short)(short)((n & 15) - threadIdx.x); if (m < 33) t[threadIdx.x * 2] = 1;",
    # a number of 64 bits that reaches further than any address
    "long m = n | (unsigned long)threadIdx.x; ((float4 *)t)[m << 1].y = 1; t[m * 8] = 1;",
    # each of any number of iterations may cost less than the first ones
    "for (int i = 0; i < 20; i++) { t[i < 2 ? threadIdx.x * 4 : threadIdx.x] = 1; if (n == i + 9) break; }",
    # all lanes share a condition, although a part of it was worked out lane by lane
    "for (int i = 0; i < (threadIdx.x & 3); i++) { t[threadIdx.x % 4 * 16] = 1;"
    " if (n & 2 && 64 > threadIdx.x) break; }",
    "for (int i = 0; i < (threadIdx.x & 3); i++) { t[threadIdx.x % 4 * 16] = 1;"
    " if (64 > threadIdx.x && n & 2) break; }",
    # who falls through a switch left others behind, or none, as the way in decides
    "int r = 0, x = threadIdx.x; switch (n & 3) { case 3: r += x; case 2: r += 2; if (x & 4) break;"
    " case 1: r *= 3; t[r * 2] = 1; r += 40; break; default: r = x >> 1; } t[r & 127] = 1;",
    "int s = threadIdx.x & 1, m = threadIdx.x; for (int i = 0; i < 5; i++) { switch (s) {"
    " case 0: m += 33; s = n > 4 ? 2 : 1; break; case 1: t[m * 2 & 4095] = 1; s = 0; continue;"
    " case 2: m ^= 3; s = 1; } t[m * 8 & 4095] = 1; }",
    # what a break tells those who stay is not known to those who jump to the next case
    "int m = 8; for (int i = 0; i < 2; i++) { switch ((i + threadIdx.x) & 3) { case 2: m += 11;"
    " case 0: m += 8; if ((n & 1) == 0) break; case 1: m ^= 14; } t[(m + i * 64) & 4095] = 1; }",
    # two pointers that change places, or do not: what decides is forgotten before it grows too long
    "float *a = t, *b = &q[0][0]; for (int i = 0; i < n; i++) { a[5] = 1; if (n & 2) continue;"
    " float *x = a; a = b; b = x; } a[threadIdx.x] = 1; t[threadIdx.x * 2] = 1;",
    # an unsigned difference that is 0 in one lane and below 0 in others
    "int i = ((int *)out)[threadIdx.x] & 1; t[i + threadIdx.x - (threadIdx.z - threadIdx.x)] = n;",
    # a float that changes in a loop is not the one of its first iteration, nor are its bytes
    "float f = 1; for (int i = 0; i < n; i++) { t[(int)(f * threadIdx.x) & 4095] = 1; f *= 2; }",
    "int u = threadIdx.x; float f = *(float *)&u; for (int i = 0; i < n; i++) { t[4 + *(int *)&f] = 1;"
    " if (threadIdx.x > 15) break; *(int *)&f = threadIdx.x; *(int *)&f += threadIdx.x; }",
    # lanes that surely have left by a flag are in none of the rounds that follow
    "bool found = false; int m = threadIdx.x; for (int i = 0; i < 4 && !found; i++) {"
    " if (n == 3 || threadIdx.x % 4 == 0) { found = true; m += 31; } t[(m + i * 32) & 4095] = 1; m ^= i; }",
    # lanes that may have left are perhaps in none of the rounds that follow
    "for (int i = 0; i < n; i++) { t[threadIdx.x * 32] = 1; if (n == 3) continue;"
    " if (threadIdx.x % 4 == 2) break; }",
    "for (int i = 0; i < n; i++) { t[threadIdx.x * 32] = 1; if (n & 2 && threadIdx.x > 7) break; }",
    "for (int i = 0; i < n; i++) { t[threadIdx.x * 32] = 1; if (out[threadIdx.x] > 3) return; }",
    # one of two pointers, of which one goes by lane
    "float *p = threadIdx.x % 2 ? t : &q[0][0]; float *u = n > 4 ? p : t; u[3] = 1;",
    # a number between two known ends, less more than the lower one, is divided towards zero
    "int i = ((int *)t)[33] & 3; t[(~i / 8 & 63) * threadIdx.x] = 1; t[(i - 4) / 8 + 64] = 1;",
    # nothing less what has no upper end is a large number, if it is unsigned
    "int i = threadIdx.x; while (i < 40 && t[i] < 0.5f) i += 11;"
    " if (threadIdx.z - i >= 3) t[threadIdx.x * 2] = 1;",
    # lanes that a shift cuts into steps
    "t[(16 * (int)threadIdx.x + n + 17) >> 3] = 1; t[((int)threadIdx.x * 96 + n) >> 5] = 1;",
    # a condition that sets something is no limit, whatever it chooses
    "int m = 5; int j = (n > 4 && (m += 3) > 7) ? 64 : 1; t[m * threadIdx.x] = 1; t[j * threadIdx.x] = 1;",
    # those who left if a condition holds are not among those who leave elsewhere if it does
    "int m = 21; for (int i = 0; i < 3; i++) { switch (threadIdx.x & 3) { case 2: m ^= 10; if (n & 1) break;"
    " case 0: m ^= 1; if (n & 1) continue; case 1: m ^= 30; } t[m] = 1; } t[m * 32 + threadIdx.x] = 1;",
    # accesses of one line that run under contrary conditions do not run together
    "int s = threadIdx.x & 1, m = threadIdx.x; for (int i = 0; i < 4; i++) { switch (s) {"
    " case 0: m += 27; s = n & 2 ? 2 : 1; break; case 1: t[m * 32] = 1; s = 2; continue;"
    " case 2: m ^= 14; s = 1; } t[m + 512] = 1; }",
    # lanes that leave a loop of unknown length one after the other do so with numbers of their own
    "int i = 0, m = 7; do { m += 3; if (n == 3) continue; t[m] = 1; } while (++i < (int)threadIdx.x % 4 + 2);"
    " q[i][8] = 1;",
    "int i = 0; for (;;) { if (i > (int)threadIdx.x % 4 + (n & 1)) break; if (n & 2) { t[i] = 1; } i++; }"
    " q[i][8] = 1;",
    # what a function or a lambda changes from the second round on
    "auto skip = [](int &m, int i) { if (i == 1) return; m += 3; }; int m = 17;"
    " for (int i = 1; i < (((int *)t)[threadIdx.x] & 3) + 1; ++i) skip(m, i); t[m * 32] = 1;",
    "int m = 17; auto on = [&](int i) { if (i > 1) m += 3; };"
    " for (int i = 1; i < n; ++i) on(i); t[m * 32] = 1;",
    "int m = 17; for (int i = 1; i < n; i++) { int &r = m; if (i > 1) r += 3; } t[m * 32 + threadIdx.x] = 1;",
    # a `continue` leaves no loop: how many rounds are left is known where it is the same for all lanes
    "for (int i = 0; i <= 3 - (int)threadIdx.x % 4; i++) { if (n == 3) continue; t[i * 5] += 1; }",
    # rounds of different cost of which the first ones are run, and one stands for the others
    "for (int i = 0, j = 15; i < 6; i++, j += 3) { t[j * 8] = 1; j = threadIdx.x; if (n & 2) continue; }",
    # the first seven iterations may be all there are
    "for (int i = 0; i < n; i++) ((float2 *)t)[(threadIdx.x % 4 == 2 ? 3 : i) + threadIdx.x].x += 1;",
]


@pytest.mark.parametrize("body", RANGES)
@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_what_an_open_access_costs_lies_in_its_range(body: str, n: int) -> None:
    text = HEAD.replace("float *out", "float *out, int n") + "__shared__ float q[32][33];\n"
    module = load(source_from_bytes("kernel.cu", f"{text}{body}\n}}\n".encode()))[0]
    kernel = module.kernels()[0]
    launch = Launch((32, 1, 1), grid=(8, 1, 1), template={"BM": 4})
    requests = run(module, kernel, launch, arguments={"n": n})
    told = evaluate_as_written(module, kernel, Launch((32, 1, 1), template={"BM": 4}))
    assert not outside(requests, told)
    assert not beyond(requests, told)
