"""What is passed over is what no address, mask or loop bound depends on, and nothing else."""

from __future__ import annotations

import pytest
from costs import ways

from smemlint.evaluate import Budget, Grade, evaluate
from smemlint.evaluate.analysis.address_slice import slicer
from smemlint.evaluate.machine.dispatch import ENOUGH
from smemlint.frontend import load
from smemlint.ir import Evaluate, Function, Launch, Loop, Module
from smemlint.ir.walk import walk
from smemlint.source import source_from_bytes


def read(text: str) -> tuple[Module, Function]:
    module = load(source_from_bytes("k.cu", text.encode()))[0]
    return module, module.kernels()[0]


def skipped(text: str) -> list[str]:
    """The statements `name(...)` and `a = b` of a kernel and its lambdas that are passed over, as written."""
    module, kernel = read(text)
    found = slicer(module)(kernel, frozenset(), frozenset()).skippable
    places = [n.expr.place for n in walk(kernel.body) if isinstance(n, Evaluate) and id(n) in found]
    return [text.encode()[p.offset : p.end_offset].decode() for p in places if p is not None]


def test_what_a_function_hands_back_is_known_every_time_it_is_called() -> None:
    found = ways("""
__device__ void coords(int &row, int &column, int i) { row = threadIdx.x % 8 + i; column = threadIdx.x / 8; }
__device__ void place(int *at, int i) { *at = threadIdx.x * 32 + i; }
__global__ void k() {
    __shared__ float t[64][32], u[4096];
    for (int i = 0; i < 4; i++) {
        int r, c, q;
        coords(r, c, i);
        t[r][c] = 1;
        place(&q, i);
        u[q] = 2;
    }
}""")
    assert found["t[r][c]"] == (8, "exact")
    assert found["u[q]"] == (32, "exact")


def test_arithmetic_in_a_lambda_is_passed_over() -> None:
    text = """
struct Pair { float x[2]; };
__device__ void multiply(const Pair &a, float b, Pair &c) { c.x[0] += a.x[0] * b; c.x[1] += a.x[1] * b; }
__global__ void k(float *out) {
    __shared__ float t[1024];
    Pair a, c;
    auto step = [&](int i) {
        a.x[0] = t[threadIdx.x * 2 + i * 64];
        multiply(a, 2.0f, c);
    };
    for (int i = 0; i < 8; i++) step(i);
    out[threadIdx.x] = c.x[0];
}"""
    assert skipped(text) == ["multiply(a, 2.0f, c)", "out[threadIdx.x] = c.x[0]"]
    assert ways(text)["t[threadIdx.x * 2 + i * 64]"] == (2, "exact")


def test_an_index_that_a_lambda_is_given_or_sets_is_kept() -> None:
    found = ways("""
__global__ void k() {
    __shared__ float t[8192];
    int at = 0;
    auto to = [&](int n) { at = threadIdx.x * n; };
    auto set = [&](int &r, int n) { r = threadIdx.x * n; };
    for (int n = 2; n < 9; n *= 2) {
        int other;
        to(n);
        t[at] = 1;
        set(other, 4);
        t[other + 4096] = 2;
    }
}""")
    assert found["t[at]"] == ((2 + 4 + 8) / 3, "exact")
    assert found["t[other + 4096]"] == (4, "exact")


def test_a_lambda_that_is_handed_on_may_be_given_anything() -> None:
    found = ways("""
template <class F> __device__ void both(F f) { 
    f(threadIdx.x * 2);
    __syncthreads();
    f(threadIdx.x * 2 + 512);
}
__global__ void k() {
    __shared__ float t[1024];
    both([&](int i) { int j = i; t[j] = 1; });
}""")
    assert found["t[j]"] == (2, "exact")


def test_a_number_from_another_lane_that_becomes_an_address_is_kept() -> None:
    text = """
__global__ void k(float *out) {
    __shared__ float t[1024];
    int row = threadIdx.x;
    float sum = 0;
    for (int i = 0; i < 4; i++) {
        row = __shfl_sync(0xffffffffu, row, 0) + threadIdx.x * 2;
        sum += __shfl_xor_sync(0xffffffffu, sum, 1);
        t[row % 1024] = sum;
    }
}"""
    assert skipped(text) == ["sum += __shfl_xor_sync(0xffffffffu, sum, 1)"]


def test_matrix_arithmetic_is_passed_over_and_its_copies_are_not() -> None:
    text = """
#include <mma.h>
using namespace nvcuda;
__global__ void k(float *out) {
    __shared__ half a[16 * 16], b[16 * 16];
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(c, 0.0f);
    for (int i = 0; i < 4; i++) {
        wmma::load_matrix_sync(fa, a, 16);
        wmma::load_matrix_sync(fb, b, 16);
        wmma::mma_sync(c, fa, fb, c);
    }
    for (int t = 0; t < c.num_elements; t++) c.x[t] *= 2;
    wmma::store_matrix_sync(out, c, 16, wmma::mem_row_major);
}"""
    assert skipped(text) == [
        "wmma::fill_fragment(c, 0.0f)",
        "wmma::mma_sync(c, fa, fb, c)",
        "c.x[t] *= 2",
    ]


def loops_passed_over(text: str) -> list[int]:
    """Lines of the loops of a kernel that are passed over."""
    module, kernel = read(text)
    found = slicer(module)(kernel, frozenset(), frozenset()).skippable
    return sorted(n.place.line for n in walk(kernel.body) if isinstance(n, Loop) and id(n) in found)


def test_a_search_for_a_value_is_passed_over_with_its_conditions_and_jumps() -> None:
    text = """
__global__ void k(const int *in, float *out, int n) {
    __shared__ float t[256];
    int i, best = 0, flag;
    for (i = 0; i < n; i++) {
        flag = 1;
        for (int j = 0; j < n; j++) {
            if (in[j] == i) { flag = 0; break; }
        }
        if (!flag) continue;
        if (in[i] > best) best = in[i];
    }
    t[threadIdx.x * 2 % 256] = best;
    __syncthreads();
    for (i = 64; i > 0; i /= 2) {
        if (threadIdx.x < i) t[threadIdx.x] += t[threadIdx.x + i];
        __syncthreads();
    }
    out[threadIdx.x] = t[0];
}"""
    assert loops_passed_over(text) == [5, 7]
    assert ways(text)["t[threadIdx.x * 2 % 256]"] == (2, "exact")


def test_a_counter_that_is_asked_after_its_loop_matters() -> None:
    text = """
__global__ void k(const int *in, int n) {
    __shared__ float t[4096];
    int i;
    for (i = 0; i < n; i++) { if (in[i] == 0) break; }
    t[threadIdx.x * 32 + i] = 1;
}"""
    assert loops_passed_over(text) == []


def test_a_condition_on_the_way_to_an_access_matters() -> None:
    found = ways("""
__global__ void k(const int *in) {
    __shared__ float t[4096];
    float x = 0;
    int lanes = 8, stop = 0;
    if (in[0] == 12345) x = 2;
    while (stop < 3) {
        if (threadIdx.x >= lanes) break;
        t[threadIdx.x * 32] = x;
        stop++;
    }
    bool narrow = threadIdx.x < lanes && t[threadIdx.x * 16] > 0;
    x = threadIdx.x < lanes / 2 ? t[threadIdx.x * 64] : 1;
}""")
    assert found["t[threadIdx.x * 32]"] == (8, "exact")
    assert found["t[threadIdx.x * 16]"] == (4, "exact")
    assert found["t[threadIdx.x * 64]"] == (4, "exact")


def test_functions_that_call_each_other_do_arithmetic_together() -> None:
    text = """
__device__ float odd(float x, int n);
__device__ float even(float x, int n) { return n == 0 ? x : odd(x * 2, n - 1); }
__device__ float odd(float x, int n) { return n == 0 ? -x : even(x * 3, n - 1); }
__device__ float waits(float x, int n) { if (n > 0) { __syncthreads(); x = waits(x, n - 1); } return x; }
__global__ void k(float *out) {
    __shared__ float t[256];
    float x;
    x = even(out[0], 5);
    x = waits(x, 2);
    t[threadIdx.x] = x;
}"""
    assert skipped(text) == ["x = even(out[0], 5)"]


def test_what_nothing_depends_on_is_run_only_until_it_is_known_to_be_large() -> None:
    module, kernel = read("""
__global__ void k(float *out) {
    __shared__ float t[2048];
    float x = 0;
    for (int i = 0; i < 1000; i++)
        for (int j = 0; j < 1000; j++)
            x = x * i + j * (i - 3) / (x + 2);
    t[threadIdx.x * 2] = x;
}""")
    trace = evaluate(module, kernel, Launch((64, 1, 1)))
    assert [t.grade for t in trace.traces] == [Grade.EXACT]
    assert trace.work < 2 * ENOUGH


def test_a_kernel_that_never_comes_to_shared_memory_is_left_early() -> None:
    module, kernel = read("""
__global__ void k(int *out, int n) {
    __shared__ float t[256];
    int x = 0;
    for (int i = 0; i < 100; i++) x = x * 3 + out[i];
    t[x & 255] = 1;
}""")
    trace = evaluate(module, kernel, Launch((64, 1, 1)), Budget(idle=100))
    (stopped,) = trace.notes
    assert stopped.code == "budget" and "without an access of shared memory" in stopped.text
    assert evaluate(module, kernel, Launch((64, 1, 1))).traces


def test_a_function_that_calls_itself_in_loops_ends() -> None:
    module, kernel = read("""
__device__ int *again(int *p, int n) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < p[i]; j++) p = again(p + j, n - 1);
    return p;
}
__global__ void k(int *in, int n) {
    __shared__ int t[2048];
    t[threadIdx.x * 2] = *again(in, n);
}""")
    trace = evaluate(module, kernel, Launch((64, 1, 1)))
    assert [t.grade for t in trace.traces] == [Grade.EXACT]
    assert "recursion" in {note.code for note in trace.notes}


def test_an_access_in_an_iteration_that_leaves_no_trace_is_an_access() -> None:
    module, kernel = read("""
__global__ void k(int *out, int n) {
    __shared__ int t[2048];
    int x = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            t[threadIdx.x * 2] = x;
            for (int l = 0; l < 30; l++) x = x * 3 + out[l];
            t[(x & 31) * 32] = 1;
        }
}""")
    trace = evaluate(module, kernel, Launch((64, 1, 1)), Budget(idle=60))
    assert not trace.notes and len(trace.traces) == 2


def test_a_counter_that_others_see_is_no_counter_of_one_loop() -> None:
    found = ways("""
__device__ void find(int &i, const float *g) { for (i = 0; i < 8; i++) { if (g[i] > 100.f) g = g; } }
__global__ void k(const float *g) {
    __shared__ float s[4096], t[4096], u[4096];
    int i = 1, j = 1;
    find(i, g);
    find(j, g);
    s[threadIdx.x * j] = 1;
    int n;
    int &r = n;
    float sum = 0;
    for (int q = 0; q < 2; q++) {
        n = 1;
        for (r = 0; r < 8; r++) sum += g[r];
        t[threadIdx.x * n] = sum;
    }
    int l;
    for (int q = 0; q < 2; q++) {
        for (l = 0; l < 16; l++) sum += g[l];
        for (l = l * 1; l < 17; l++) u[threadIdx.x * l] = sum;
    }
}""")
    assert found["s[threadIdx.x * j]"] == (8, "exact")
    assert found["t[threadIdx.x * n]"] == (8, "exact")
    assert found["u[threadIdx.x * l]"] == (16, "exact")


def test_a_call_that_sets_its_argument_matters_in_a_choice() -> None:
    found = ways("""
__device__ int set(int &x, int v) { x = v; return 0; }
struct To { int *p; };
__global__ void k() {
    __shared__ float s[4096], t[4096];
    int x = 1, y = 1, c = 0;
    for (int i = 0; i < 3; i++) c += 1;
    int u = (c == 4) ? set(x, 8) : 0;
    s[threadIdx.x * x] = u;
    To to;
    to.p = &y;
    if (c == 3) *to.p = 8;
    t[threadIdx.x * y] = u;
}""")
    assert found["s[threadIdx.x * x]"] == (1, "exact")
    assert found["t[threadIdx.x * y]"] == (8, "exact")


def test_recursion_that_ends_is_followed_to_its_end() -> None:
    found = ways("""
template <int N> __device__ void halve(float *s, int t, int b) {
    for (int i = 0; i < 16; i++) { b = (b * 5 + 1) & 255; s[b] = 1; }
    __syncthreads();
    if constexpr (N > 1) halve<N / 2>(s, t, b);
    else s[t * 32] = 1.f;
}
template <class T> __device__ void twice(T f) { f(0); f(1); }
__device__ void inner(float *s) {
    twice([&](int j) { for (int q = 0; q < 20; q++) s[threadIdx.x * 16 + j * 100 + q] = 1.f; });
}
__global__ void k() {
    __shared__ float s[8192];
    halve<256>(s, threadIdx.x, 1);
    twice([&](int i) {
        for (int q = 0; q < 60; q++) s[threadIdx.x + q * 32 + i] = 1.f;
        __syncthreads();
        inner(s);
    });
}""")
    assert found["s[t * 32]"] == (32, "exact")
    assert "s[threadIdx.x * 16 + j * 100 + q]" in found


def test_what_is_cut_short_leaves_nothing_behind() -> None:
    found = ways("""
__device__ float heavy(const float *g) {
    float a = 0;
    for (int i = 0; i < 3000; i++) a = a * g[i] + i / (a + 2);
    return a;
}
__global__ void k(const float *g, const int *n) {
    __shared__ float s[4096];
    float sum = 0;
    for (int i = 0; i < 2; i++) sum += heavy(g) > 5.f ? 1.f : 2.f;
    int limit = n[0];
    if (blockIdx.x * 8 < limit) s[threadIdx.x * 8] = sum;
    else s[threadIdx.x * 16] = sum;
}""")
    assert found["s[threadIdx.x * 8]"] == (8, "exact")
    assert found["s[threadIdx.x * 16]"] == (16, "exact")


def test_a_function_may_access_an_array_of_the_file() -> None:
    found = ways("""
__shared__ unsigned mt[624];
__device__ void next() {
    unsigned y;
    if (threadIdx.x < 200) { y = mt[threadIdx.x * 2]; y = mt[threadIdx.x + 1] ^ (y >> 1); }
    __syncthreads();
    if (threadIdx.x < 200) mt[threadIdx.x * 4] = y;
    __syncthreads();
}
__global__ void k(int *g, int steps) {
    for (int step = 0; step < steps; step += 312) {
        next();
        g[step] = step;
    }
}""")
    assert found == {
        "mt[threadIdx.x * 2]": (2, "exact"),
        "mt[threadIdx.x + 1]": (1, "exact"),
        "mt[threadIdx.x * 4]": (4, "exact"),
    }


SWAPPED = {
    "rows of an array": ("", "__shared__ float s[2][64]; float *a = s[0], *b = s[1];"),
    "rows of an array outside": ("__shared__ float s[2][64];", "float *a = s[0], *b = s[1];"),
    "members of a record": (
        "struct S { float x[64]; float y[64]; };",
        "__shared__ S s; float *a = s.x, *b = s.y;",
    ),
    "rows of an array that is handed on": (
        "",
        "__shared__ float s[2][64]; auto &r = s; float *a = r[0], *b = r[1];",
    ),
}


@pytest.mark.parametrize(("before", "declared"), SWAPPED.values(), ids=SWAPPED)
def test_rows_that_change_places_are_followed(before: str, declared: str) -> None:
    text = (
        f"{before}\n__global__ void k(const float *in, int n) {{ {declared}\n"
        "for (int i = 0; i < n; i++) { b[threadIdx.x] = in[i]; float *c = a; a = b; b = c; } }"
    )
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    found = evaluate(module, module.kernels()[0], Launch((32, 1, 1))).traces
    assert [(t.site.op, t.grade) for t in found] == [("store", Grade.EXACT)]


def test_a_template_parameter_that_is_a_floating_point_type_holds_no_address() -> None:
    module, kernel = read("""
template <typename T> __device__ void add(T *to, T x) { for (int i = 0; i < 4; i++) to[i] += x; }
template <typename T> __global__ void k(T *out, const T *in, int n) {
    __shared__ float t[2048];
    T a[4] = {};
    for (int i = 0; i < n; i++) add(a, in[i]);
    t[threadIdx.x * 2] = 1;
    for (int i = 0; i < 4; i++) out[i] = library(a[i]);
}""")
    (add,) = [f for f in module.functions.values() if f.name == "add"]
    for f in (add, kernel):
        (t,) = [p.id for p in f.template]
        loop = next(id(n) for n in walk(f.body) if isinstance(n, Loop))
        general, real = (slicer(module)(f, frozenset(), frozenset(ids)).skippable for ids in ((), (t,)))
        assert loop not in general and loop in real, f.name


def test_static_functions_of_a_class_that_only_compute_are_passed_over() -> None:
    text = """
struct Field {
    unsigned v[2];
    static __device__ Field add(const Field &a, const Field &b) {
        Field c;
        for (int i = 0; i < 2; i++) c.v[i] = a.v[i] + b.v[i];
        return c;
    }
    static __device__ void twice(Field &a) { a = add(a, a); }
    static __device__ void wait(Field &a) { __syncthreads(); a.v[0]++; }
};
__global__ void k(Field *out) {
    __shared__ Field t[64];
    Field x = t[threadIdx.x], y, z;
    y = Field::add(x, x);
    Field::twice(y);
    Field::wait(z);
    out[0] = y;
}
"""
    assert skipped(text) == ["y = Field::add(x, x)", "Field::twice(y)", "out[0] = y"]


def test_what_a_static_function_hands_back_is_an_address_where_it_is_used_as_one() -> None:
    found = ways("""
struct Rows {
    static __device__ int at(int i) { return i * 32; }
    static __device__ void move(int &i) { i = threadIdx.x * 8; }
};
__global__ void k() {
    __shared__ float t[2048], u[2048];
    t[Rows::at(threadIdx.x)] = 1;
    int i;
    Rows::move(i);
    u[i] = 2;
}""")
    assert found["t[Rows::at(threadIdx.x)]"] == (32, "exact")
    assert found["u[i]"] == (8, "exact")


def test_a_store_through_a_pointer_and_a_number_is_one_of_the_pointer() -> None:
    text = """
__global__ void k(float *out, int n) {
    __shared__ float t[64];
    float f[8];
    float *p = f;
    for (int i = 0; i < 8; i++) *(p + i) = 2 * out[i];
    *(n + (p - 1)) *= 2;
    int at[2];
    int *q = at;
    *(q + 1) = threadIdx.x;
    t[at[1]] = f[3];
}
"""
    assert skipped(text) == ["*(p + i) = 2 * out[i]", "*(n + (p - 1)) *= 2"]


COMPARED = """
typedef bool (*Order)(float, float);
typedef void (*Change)(int &, int);
__device__ bool less(float a, float b) { return a < b; }
__device__ void twice(int &a, int b) { a = 2 * b; }
template <Order order> __device__ void swap(float *a, float *b) {
    if (order(*b, *a)) { float t = *a; *a = *b; *b = t; }
}
"""


def test_a_function_that_is_a_template_argument_only_computes_as_all_that_it_may_be() -> None:
    text = (
        COMPARED
        + """
template <Order order> __global__ void k(float *out) {
    __shared__ float t[64];
    float f[2] = {out[0], out[1]};
    swap<order>(&f[0], &f[1]);
    t[threadIdx.x] = f[0];
}
"""
    )
    assert skipped(text) == ["swap<order>(&f[0], &f[1])"]
    other = "__shared__ int n;\n__device__ bool counts(float a, float b) { return n > 0; }\n"
    assert skipped(other + text) == []


def test_what_a_function_that_is_a_template_argument_sets_is_not_passed_over() -> None:
    found = ways(
        COMPARED
        + """
template <Change change> __global__ void k(float *out) {
    __shared__ float t[512];
    int i = 1, j = 2;
    change(i, threadIdx.x);
    change(j, out[0]);
    t[4 * i] = j;
}
int main() { k<twice><<<1, 64>>>(nullptr); }
"""
    )
    assert found["t[4 * i]"] == (8, "exact")
