"""Kernels that are given their code: lambdas, functors and packs through launchers."""

from __future__ import annotations

import pytest

from smemlint.api import Job, analyse_file

LAUNCHER = """
template <int NT, typename F, typename... A> __global__ void run(F f, int n, A... a) {
    if (blockIdx.x < n) f(threadIdx.x, a...);
}
template <int NT, typename F, typename... A> void start(F f, int n, A... a) {
    run<NT, F><<<n, NT>>>(f, n, a...);
}
"""


def seen(text: str) -> dict[str, tuple[int, float | None, str]]:
    """Block, ways and grade of each access by its text."""
    report = analyse_file(Job("k.cu", text=LAUNCHER + text))
    return {a.expression: (k.launch.block[0], a.ways, a.grade) for k in report.kernels for a in k.accesses}


def test_a_lambda_runs_in_the_kernel_that_its_launcher_starts() -> None:
    text = """
void go(float *p, int n) {
    start<64>([=] __device__ (int t) { __shared__ float s[2048]; s[t * 8] = p[t]; }, n);
}
"""
    assert seen(text) == {"s[t * 8]": (64, 8, "exact")}


def test_what_a_lambda_captures_has_the_value_that_host_code_gave_it() -> None:
    text = """
void go(float *p, int unknown) {
    int w = 4;
    auto f = [=] __device__ (int t) {
        __shared__ float s[2048];
        s[t * w] = 1;
        s[t * unknown] = 2;
    };
    start<32>(f, 1);
}
"""
    assert seen(text) == {"s[t * w]": (32, 4, "exact"), "s[t * unknown]": (32, 32, "parametric")}


def test_packs_are_handed_on_one_by_one() -> None:
    text = """
void go(float *p, int n) {
    start<32>([=] __device__ (int t, float *q, int w) { __shared__ float s[999]; s[t * w] = *q; }, n, p, 2);
    start<64>([=] __device__ (int t) { __shared__ float u[999]; u[t * 16] = 0; }, n);
}
"""
    assert seen(text) == {"s[t * w]": (32, 2, "exact"), "u[t * 16]": (64, 16, "exact")}


def test_storage_in_a_host_template_has_the_types_of_its_instance() -> None:
    text = """
template <int nt, typename T> struct cta { struct storage { T data[nt * 3]; };
    __device__ void go(int t, storage &s) { s.data[t * 2] = T(); } };
template <typename T> void fill(T *p, int n) {
    enum { nt = 32 * sizeof(T) / 4 };
    auto k = [=] __device__ (int t) {
        typedef cta<nt, T> cta_t;
        __shared__ union { typename cta_t::storage storage; T values[nt * 3]; } shared;
        cta_t().go(t, shared.storage);
        shared.values[t * 3] = p[t];
    };
    start<nt>(k, n);
}
void go(double *p, int n) { fill(p, n); }
"""
    assert seen(text) == {"s.data[t * 2]": (64, 2, "exact"), "shared.values[t * 3]": (64, 1, "exact")}


def test_a_functor_may_hold_a_lambda() -> None:
    text = """
template <class G> struct Twice { G g; __device__ void operator()(int t) const {
    __shared__ float s[2048]; s[t] = 0; g(s, t); } };
template <class G> Twice<G> twice(G g) { return Twice<G>{g}; }
void go(int n) { start<32>(twice([=] __device__ (float *s, int t) { s[t * 32] = 1; }), n); }
"""
    assert seen(text) == {"s[t]": (32, 1, "exact"), "s[t * 32]": (32, 32, "exact")}


DISPATCH = """
template <class T> __global__ void twice(T *p) { __shared__ T s[64]; s[threadIdx.x * 2 % 64] = p[0]; }
template <class F> auto typed(int type, F &&f) {
    switch (type) {
    case 0: return f.template operator()<float>();
    case 1: return f.template operator()<double>();
    default: throw type;
    }
}
"""
WRITTEN = "typed(type, [&]<typename scalar_t>() { twice<scalar_t><<<1, 32>>>((scalar_t *)p); });"
BY_MACRO = "DISPATCH(type, [&] { twice<scalar_t><<<1, 32>>>((scalar_t *)p); });"


@pytest.mark.parametrize("call", [WRITTEN, BY_MACRO])
def test_a_lambda_template_gets_its_types_from_the_function_that_calls_it(call: str) -> None:
    macro = "#define DISPATCH(TYPE, ...) typed(TYPE, [&]<typename scalar_t>() { __VA_ARGS__(); })\n"
    text = f"{macro}{DISPATCH}void go(void *p, int type) {{ {call} }}\n"
    report = analyse_file(Job("k.cu", text=text))
    found = [(k.template_arguments, k.launch.assumed) for k in report.kernels]
    assert found == [((("T", "float"),), False), ((("T", "double"),), False)]
