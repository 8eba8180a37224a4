"""Lambdas that capture by value, structured bindings, and results that functions hand out by pointer."""

from __future__ import annotations

import pytest
from costs import scored

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes

CASES = [
    pytest.param("int i = t; auto f = [=] { return i; }; i = t * 32;\ns[f()] = 1;", 1, id="all by value"),
    pytest.param(
        "int i = t; auto f = [&] { return i; }; i = t * 32;\ns[f()] = 1;", 32, id="all by reference"
    ),
    pytest.param("int i = t; auto f = [i] { return i; }; i = t * 32;\ns[f()] = 1;", 1, id="one by value"),
    pytest.param(
        "int i = t; auto f = [=, &i] { return i; }; i = t * 2;\ns[f()] = 1;", 2, id="one by reference"
    ),
    pytest.param("int i = t; auto f = [x = i * 2] { return x; }; i = 0;\ns[f()] = 1;", 2, id="a new name"),
    pytest.param(
        "int i = t; auto f = [&x = i] { return x; }; i = t * 4;\ns[f()] = 1;", 4, id="a new reference"
    ),
    pytest.param(
        "int v[2] = {t, t * 8}; auto f = [v] { return v[1]; }; v[1] = 0;\ns[f()] = 1;", 8, id="an array"
    ),
    pytest.param(
        "int i = t; auto f = [i]() mutable { i += t; return i; }; f();\ns[f() - t] = 1;", 2, id="a state"
    ),
    pytest.param(
        "struct T { int n; __device__ int g() { auto f = [*this] { return n; }; n = 1; return f(); } };\n"
        "T x{t * 32}; s[x.g()] = 1;",
        32,
        id="a copy of this",
    ),
    pytest.param(
        "struct T { int n; __device__ int g() { auto f = [this] { return n; }; n = t2(); return f(); }\n"
        "__device__ int t2() { return threadIdx.x * 2; } };\nT x{t * 32}; s[x.g()] = 1;",
        2,
        id="this",
    ),
    pytest.param(
        "struct P { int a, b; }; P p{t, t * 32}; auto [x, y] = p; p.b = 0;\ns[y] = 1;", 32, id="copies"
    ),
    pytest.param(
        "struct P { int a, b; }; P p{t, t}; auto &[x, y] = p; y *= 4;\ns[p.b] = 1;", 4, id="references"
    ),
    pytest.param("int v[2] = {t, t * 2}; auto [x, y] = v; v[1] = 0;\ns[y] = 1;", 2, id="of an array"),
    pytest.param(
        "int v[2] = {t, t * 2}; const auto &[x, y] = v; v[1] = t * 4;\ns[y] = 1;", 4, id="of its elements"
    ),
    pytest.param(
        "float c; sincosf(in[0], (float *)&s[t * 32], &c);", 32, id="the sine goes to shared memory"
    ),
    pytest.param("frexpf(in[t], &s[t * 2]);", 2, id="so does an exponent"),
    pytest.param(
        "float x = __int_as_float(t * 32);\ns[__float_as_int(x)] = 1;", 32, id="an index in a float"
    ),
    pytest.param(
        "int a[2] = {1, t * 4}, b[2]; memcpy(b, a, sizeof(a));\ns[b[1]] = 1;", 4, id="a copy of bytes"
    ),
    pytest.param("int a[2]; memset(a, 0, sizeof(a));\ns[a[1] + t * 2] = 1;", 2, id="bytes that are zero"),
]


@pytest.mark.parametrize(("body", "ways"), CASES)
def test_what_was_captured_bound_or_handed_out_is_what_is_used(body: str, ways: int) -> None:
    stores = [c for c in scored(f"int t = threadIdx.x;\n{body}", block=(32, 1, 1)) if c.site.op == "store"]
    assert [(c.ways_low, c.ways) for c in stores] == [(ways, ways)]


def test_a_number_that_a_function_sets_is_not_known() -> None:
    store = scored("int q = threadIdx.x;\nremquof(in[q], 3.0f, &q); s[q & 1023] = 1;", block=(32, 1, 1))[-1]
    assert (store.ways_low, store.ways) == (1, 32)


def test_elements_of_shared_memory_by_reference_are_accesses_where_the_binding_is_declared() -> None:
    text = """\
struct Pair { int key; float value; };
__global__ void k(float *out) {
    __shared__ Pair p[64];
    const auto &[key, value] = p[threadIdx.x * 2];
    out[0] = value;
    out[1] = key;
}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    traces = evaluate(module, module.kernels()[0], Launch((32, 1, 1))).traces
    assert sorted((t.site.line, t.site.place.line) for t in traces) == [(4, 5), (4, 6)]
