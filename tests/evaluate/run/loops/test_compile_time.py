"""What the compiler knows of constant records and arrays."""

from __future__ import annotations

import pytest
from instructions import instructions

from smemlint.evaluate import Grade, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes

TABLES = """
struct Config { int pitch; int rows; };
constexpr Config configs[] = {{16, 4}, {33, 8}};
constexpr Config one = {16, 4};
__device__ Config changing = {16, 2};
"""


def widths(declared: str, bound: str) -> set[int | None]:
    """Bytes of the accesses that loads of neighbours in a loop are joined to."""
    text = f"""{TABLES} __global__ void k(float *out) {{
        __shared__ float s[512];
        {declared}
        float r = 0;
        for (int k = 0; k < {bound}; ++k) r += s[threadIdx.x * 16 + k];
        out[0] = r;
    }}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (kernel,) = module.kernels()
    return {t.joined for t in evaluate(module, kernel, Launch((32, 1, 1))).traces}


@pytest.mark.parametrize(
    ("declared", "bound"),
    [
        ("", "one.rows"),
        ("", "configs[0].rows"),
        ("constexpr Config c = {16, 4};", "c.rows"),
        ("constexpr Config c = configs[0];", "c.rows"),
    ],
)
def test_a_loop_to_a_member_of_a_constant_is_unrolled(declared: str, bound: str) -> None:
    assert widths(declared, bound) == widths("", "4") == {16}


def test_a_loop_to_a_member_that_may_change_is_not() -> None:
    assert widths("", "4") == {16} != widths("", "changing.rows")


@pytest.mark.parametrize(
    "head",
    ["int u = 0; (1 << u) < 8; u++", "long u = 0; (1 << u) < 8; u++", "int u = 0; u * u < 9; u++"],
)
def test_a_condition_on_what_the_counter_makes_is_counted(head: str) -> None:
    """The step with `u` 0 loads both words at once, as with `u < 3` (LDS.64 in nvcc 13's machine code)."""

    def joined(head: str) -> list[int | None]:
        text = f"""__global__ void k(float *out) {{
            __shared__ float s[512];
            int t = threadIdx.x;
            for ({head}) {{
                __syncthreads();
                if (s[(t * 2) << u] > s[(t * 2 + 1) << u]) out[u] = 1;
            }}
        }}"""
        (module,) = load(source_from_bytes("k.cu", text.encode()))
        (kernel,) = module.kernels()
        return [t.joined for t in evaluate(module, kernel, Launch((32, 1, 1))).traces]

    assert joined(head) == joined("int u = 0; u < 3; u++") and 8 in joined(head)


@pytest.mark.parametrize(
    "loop",
    [
        "int k = 0; do v += s[t * 4 + k]; while (++k < 4);",
        "int k = 4; while (k--) v += s[t * 4 + k];",
        "int k = 3; do v += s[t * 4 + k]; while (k--);",
        "for (unsigned k = 4; k-- > 0;) v += s[t * 4 + k];",
        "int k = 0; for (;;) { if (k >= 4) break; v += s[t * 4 + k]; ++k; }",
        "int k = 0; while (true) { v += s[t * 4 + k]; if (k == 3) break; k += 1; }",
        "int k = 0; for (;;) { v += s[t * 4 + k]; k++; if (k > 3) break; v *= 2; }",
        "int k = 0; do { v += s[t * 4 + k]; ++k; } while (k & 3);",
        "int k = 0; do { v += s[t * 4 + (k & 3)]; } while (++k < 4);",
        "int k = 0; again: v += s[t * 4 + k]; if (++k < 4) goto again;",
        "const float *p = s + t * 4, *e = p + 4; do { v += *p; } while (++p != e);",
        "int k = t * 4; do v += s[k]; while (++k < t * 4 + 4);",
        "float *p = s + t * 4; for (int k = 0; k < 2; k++, p += 2) v += p[0] * p[1];",
        "int k = 0; for (;;) { v += s[t * 4 + k]; if (v > 9) break; if (++k == 4) break; }",
        "int k = 0; for (;;) { v += s[t * 4 + k]; if (n > 9) break; if (++k == 4) break; }",
        "int k = 0; while (k < 2) v += s[t * 4 + k++]; while (k < 4) v += s[t * 4 + k++];",
        "struct { int k = 0; } c; for (; c.k < 4; ++c.k) v += s[t * 4 + c.k];",
        "struct { int k, n; } c = {0, 4}; while (c.k < c.n) v += s[t * 4 + c.k++];",
        "int k = 0, &r = k; while (r < 4) { v += s[t * 4 + r]; r++; }",
        "int k = 0, *r = &k; while (*r < 4) { v += s[t * 4 + *r]; ++*r; }",
        "int k = 0; auto step = [&] { return k++; }; while (k < 4) v += s[t * 4 + step()];",
        "auto loop = [&](int k) { while (k-- > 0) v += s[t * 4 + k]; }; loop(4);",
        "bool go = true; int k = 0; while (go) { v += s[t * 4 + k]; go = ++k < 4; }",
        "unsigned left = 15; while (left) { v += s[t * 4 + __ffs(left) - 1]; left &= left - 1; }",
        "int k = 0; while (k != 3) { v += s[t * 4 + k]; switch (k) { case 0: k = 2; break; "
        "case 2: k = 1; break; default: k = 3; } } v += s[t * 4 + 3];",
        "int k = 0; top: if (k == 4) goto out; v += s[t * 4 + k]; k++; goto top; out:;",
        "struct It { float *p; __device__ bool operator!=(It o) { return p != o.p; } __device__ void "
        "operator++() { ++p; } }; for (It i{s + 4 * t}, e{s + 4 * t + 4}; i != e; ++i) v += *i.p;",
        "for (float k = 0; k < 4; k += 1) v += s[t * 4 + (int)k];",
        "int a = 0, b = 4; while (a != b) { v += s[t * 4 + a] * s[t * 4 + b - 1]; a++; b--; }",
        "int a = 0, b = 0; while (a + b < 8) { v += s[t * 4 + a]; a++; b++; }",
    ],
)
def test_a_loop_is_counted_however_it_is_written(loop: str) -> None:
    """One LDS.128 in nvcc 13's machine code: what was told apart was a 4-way conflict."""
    assert joined_in(loop) == [16]


@pytest.mark.parametrize(
    "loop",
    [
        "int k = 0; do v += s[t * 4 + k]; while (++k < n);",
        "int k = 0; for (;;) { v += s[t * 4 + k]; if (v > 9) k = n; if (++k == 4) break; }",
        "int k = 0; do { v += s[t * 4 + k]; switch (n) { case 1: continue; } ++k; } while (k < 4);",
    ],
)
def test_a_loop_whose_end_data_decide_is_not_counted(loop: str) -> None:
    assert 16 not in joined_in(loop)


@pytest.mark.parametrize(
    "loop",
    [
        "int a = 0, b = 3; while (a < b) { v += s[t * 4 + a] * s[t * 4 + b]; a++; b--; }",
        "int a = 0, b = 1; while (b < 20) { v += s[t * 4 + (b & 3)]; int c = a + b; a = b; b = c; }",
        "int k = 0, sum = 0; while (sum != 10) { v += s[t * 4 + k]; sum += ++k; }",
        "for (int k = 0; k < 64; k++) for (int i = 0; i < (k & 3) + 1; i++) v += s[t * 4 + i];",
        "int e = 4; if (n > 5) e = 3; for (int k = 0; k < e; k++) v += s[t * 4 + k];",
        "int k = 0; while (k != 3) { v += s[t * 4 + k]; k = k == 0 ? 2 : k == 2 ? 1 : 3; }",
        "struct { float r[4]; int k; } f; for (f.k = 0; f.k < 4; ++f.k) f.r[f.k] = s[t * 4 + f.k]; "
        "v = f.r[0] + f.r[1] * f.r[2] - f.r[3];",
    ],
)
def test_a_loop_that_nvcc_cannot_count_is_not_counted(loop: str) -> None:
    """Loops that stay in nvcc 13's machine code."""
    assert 16 not in joined_in(loop)


def test_pointers_into_memory_that_is_handed_over_may_wrap() -> None:
    """nvcc 13 keeps `p < e` a loop and makes `p != e` disappear."""
    loop = "const float *p = out + t * 4, *e = p + 4; float *d = s + t * 4; while (p {op} e) *d++ = *p++;"
    read = "__syncthreads(); v = s[t * 4] + s[t * 4 + 1] + s[t * 4 + 2] + s[t * 4 + 3];"
    assert [16 in joined_in(loop.format(op=op) + read, "store") for op in ("!=", "<")] == [True, False]


@pytest.mark.parametrize(("base", "modulus", "joined"), [(2, 101, True), (5, 103, False)])
def test_the_compiler_goes_round_a_hundred_times(base: int, modulus: int, joined: bool) -> None:
    """Powers of 2 modulo 101 and of 5 modulo 103 come back to 1 after 100 and after 102 steps: nvcc 13 makes
    the first loop disappear and not the second."""
    step = f"k = k * {base} % {modulus};"
    loop = f"unsigned k = 1;\n#pragma unroll\ndo {{ v += s[t * 4 + (k & 3)]; {step} }} while (k != 1);"
    assert (16 in joined_in(loop)) == joined


def joined_in(loop: str, op: str = "load") -> list[int | None]:
    text = f"""__global__ void k(float *out, int n) {{
        __shared__ __align__(16) float s[512];
        int t = threadIdx.x; s[t] = out[t]; __syncthreads();
        float v = 0;
        {loop}
        out[t] = v;
    }}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (kernel,) = module.kernels()
    traces = evaluate(module, kernel, Launch((32, 1, 1))).traces
    return [t.joined for t in traces if t.site.op == op and len(t.offsets) and t.grade is Grade.EXACT]


@pytest.mark.parametrize("before", ["int k; ", "int k; for (k = 0; k < 7; k++) out[k] = 1; ", "int k = 7; "])
@pytest.mark.parametrize("lanes", ["threadIdx.x < 16", "threadIdx.x == 5", "out[threadIdx.x] > 3"])
def test_a_counter_from_outside_of_an_if_begins_as_it_is_set_there(before: str, lanes: str) -> None:
    """nvcc 13 unrolls these loops and stores all four words at once (STS.128)."""
    text = f"""__global__ void k(float *out) {{
        __shared__ float s[512];
        {before}
        if ({lanes}) {{
            for (k = 0; k < 3; k++) out[k + 9] = 2;
            for (k = 0; k < 4; k++) s[threadIdx.x * 16 + k] = out[k];
        }}
        __syncthreads();
        out[0] = s[threadIdx.x];
    }}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (kernel,) = module.kernels()
    stores = [t for t in evaluate(module, kernel, Launch((32, 1, 1))).traces if t.site.op == "store"]
    assert {t.joined for t in stores} == {16}


@pytest.mark.parametrize("declared", ["for (int i = 1; i < 16; i++)", "int i; for (i = 1; i < 16; i++)"])
def test_a_loop_whose_counter_bounds_a_loop_within_it_stays(declared: str) -> None:
    """nvcc 13 keeps the outer loop from four rounds on: every store of the inner one runs (120, not 15)."""
    text = f"""__global__ void k(float *out) {{
        __shared__ float s[1024];
        int t = threadIdx.x;
        s[t] = out[t]; __syncthreads();
        {declared} for (int j = 0; j < i; j++) s[i * 32 + t] -= s[j * 32 + t] * out[j];
    }}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (kernel,) = module.kernels()
    traces = evaluate(module, kernel, Launch((32, 1, 1))).traces
    stores = [t for t in traces if t.site.op == "store" and t.site.place.line == 5]
    assert sum(int(t.weights.sum()) for t in stores) == 120


@pytest.mark.parametrize(
    ("loop", "last"),
    [
        ("for (int i = 0; i < N; i++) for (int j = 0; j < i; j++) v += s[t * 4 + j];", 7),
        ("for (int i = 0; i < N; i++) for (int j = 0; j < i; j++) v += s[t * 4 + j] * s[t * 4 + j + 64];", 4),
    ],
)
def test_a_loop_around_a_triangle_stays_by_its_size(loop: str, last: int) -> None:
    """The most rounds with which nvcc 13 makes the outer loop disappear. With more it makes copies of the
    inner one (LDS.128), and of what these leave over in some kernels: a range."""
    joins = [any(w is not None for w in joined_in(loop.replace("N", str(n)))) for n in (last, last + 1)]
    assert joins == [True, False]


def test_a_loop_within_that_goes_round_as_often_each_time_makes_no_triangle() -> None:
    """One LDS.128 each of two, in nvcc 13: of the butterflies of a transform nothing stays a loop."""
    loop = """for (int i = 0; i < 8; i += 2)
        for (int j = i; j < i + 2; j++) v = v * 2 + s[t * 8 + j];"""
    assert joined_in(loop) == [16]


@pytest.mark.parametrize(
    ("body", "runs"),
    [
        ("const int next[4] = {2, 3, 1, -1}; int k = 0; while (k >= 0) { x += s[4*t+k]; k = next[k]; }", 4),
        ("struct { int n[4]; } p = {{2, 3, 1, -1}}; for (int k = 0; k >= 0; k = p.n[k]) x += s[4*t+k]", 4),
        ("const int go[4] = {1, 1, 1, 0}; int k = 0; do { x += s[4*t+k]; } while (go[k++])", 4),
        ("const int go[4] = {1, 1, 1, 0}; for (int k = 0; ; k++) { x += s[4*t+k]; if (!go[k]) break; }", 4),
        ("const int by[2] = {1, 2}; for (int k = 0, i = 0; k < 4; k += by[i], i ^= 1) x += s[4*t+k]", 3),
    ],
)
def test_a_loop_that_ends_by_a_table_of_the_function_stays(body: str, runs: int) -> None:
    """Truth: machine code of nvcc 13.0 (sm_90): one LDS in a loop."""
    assert instructions(body) == {"load 4": runs}


@pytest.mark.parametrize(
    "body",
    [
        "static const int next[4] = {2, 3, 1, -1}; int k = 0; while (k >= 0) { x += s[4*t+k]; k = next[k]; }",
        "const int e[2] = {3, 4}; for (int g = 0; g < 2; g++) for (int k = 0; k < e[g]; k++) x += s[4*t+k]",
        "const int at[4] = {0, 1, 3, 2}; for (int k = 0; k < 4; k++) x += s[4*t + at[k]] * 2",
    ],
)
def test_a_table_of_the_program_or_at_known_places_keeps_no_loop(body: str) -> None:
    """Truth: machine code of nvcc 13.0 (sm_90): one LDS.128, no loop."""
    assert instructions(body) == {"load 16": 1}
