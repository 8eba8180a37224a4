"""Operators of classes in templates, where clang leaves them open."""

from __future__ import annotations

import pytest

from smemlint.evaluate import Grade, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.ir.types import FLOAT, INT
from smemlint.launch import infer, started_kernels
from smemlint.source import source_from_bytes

IN_TEMPLATES = {
    "struct Q { float x, y; }; Op<Q> q{(Q *)s + t}; q->y = 3;": [8 * i + 4 for i in range(32)],
    "Op<Pair> q{(Pair *)s + t}; q->put(3);": [8 * i + 4 for i in range(32)],
    "Place i{t}; s[i] = 1;": [4 * i for i in range(32)],
    "Place i{t}; s[i + 3] = 1;": [4 * (i + 6) for i in range(32)],
}


@pytest.mark.parametrize(("body", "bytes"), IN_TEMPLATES.items())
def test_operators_that_a_template_leaves_open_are_those_of_the_class(body: str, bytes: list[int]) -> None:
    text = f"""template <class T> struct Op {{ T *p; __device__ T *operator->() {{ return p; }} }};
    struct Pair {{ float x, y; __device__ void put(int v) {{ y = v; }} }};
    struct Place {{
        int v; __device__ Place operator+(int o) const {{ return {{v + 2 * o}}; }}
        __device__ operator int() const {{ return v; }}
    }};
    template <class T, class F> __global__ void k(F *out) {{ __shared__ F s[256]; T t = threadIdx.x;
    {body} }}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    launch = Launch((32, 1, 1), template={"T": INT, "F": FLOAT})
    (trace,) = evaluate(module, module.kernels()[0], launch).traces
    assert trace.offsets.ravel().tolist() == bytes


ROW = [8 * i for i in range(32)]
FOR_CLASSES = {
    "o[t] = (p[T(5)] * p[t]).x;": [("load", [40] * 32), ("load", ROW)],
    "p[t] += T(3);": [("load", ROW), ("store", ROW)],
    "c[t] += c[T(1)];": [("load", ROW), ("load", [8] * 32), ("store", ROW)],
    "o[t] = (v[t] - v[T(1)]).d[0];": [("load", ROW), ("load", [8] * 32)],
}


@pytest.mark.parametrize(("body", "told"), FOR_CLASSES.items())
def test_functions_that_are_operators_for_classes_run_in_templates_too(
    body: str, told: list[tuple[str, list[int]]]
) -> None:
    """What stands behind a reference is read member by member, what nobody uses of a result not at all."""
    text = f"""struct Pair {{ float x, y; }};
    struct Count {{ float n, m; __device__ Count &operator+=(const Count &o) {{ n += o.n; return *this; }} }};
    __device__ Pair operator*(const Pair &a, const Pair &b) {{ return Pair{{a.x * b.x, 0}}; }}
    __device__ Pair &operator+=(Pair &a, int k) {{ a.x += k; return a; }}
    template <class E> struct V {{ E d[2]; }};
    template <class E> __device__ V<E> operator-(const V<E> &a, const V<E> &b) {{
        return V<E>{{a.d[0] - b.d[0], 0}};
    }}
    template <class T> __global__ void k(float *o) {{
        __shared__ Pair p[64]; __shared__ Count c[64]; __shared__ V<float> v[64]; T t = threadIdx.x;
        {body}
    }}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    traces = evaluate(
        module, module.kernels()[0], Launch((32, 1, 1), template={"T": INT}), as_written=True
    ).traces
    assert all(t.site.width == 4 and t.grade is Grade.EXACT for t in traces)
    assert sorted((t.site.op, t.offsets.ravel().tolist()) for t in traces) == sorted(told)


def test_asking_what_an_operator_in_a_template_means_is_no_step_of_the_program() -> None:
    """Files with classes of numbers would end earlier than those without, at the same kernels."""
    kernel = """template <class T> struct Add {
        T one; __device__ T operator()(T a, T b) { return a + b + one; }
    };
    template <class T> __global__ void k(T *o) {
        __shared__ T s[32]; T t = threadIdx.x; Add<T> add{1}; T &u = t; s[add(t, u) & 31] = t + u + 1;
    }"""
    declared = (
        "struct Q { int x; }; __device__ Q operator+(const Q &a, const Q &b) { return Q{a.x + b.x}; }\n"
    )
    launch = Launch((32, 1, 1), template={"T": INT})
    modules = [load(source_from_bytes("k.cu", (d + kernel).encode()))[0] for d in ("", declared)]
    without, beside = (evaluate(m, m.kernels()[0], launch).work for m in modules)
    assert without == beside


ROWS = """
template <class T> struct Tile {
    T d[4][64];
    __device__ RETURNS operator[](int r) { return d[r]; }
    __device__ void put() { (*this)[1][2 * threadIdx.x] = 7; }
};
template <class T> __device__ void set(T *row) { row[2 * threadIdx.x] = 7; }
template <class T> __global__ void k() { __shared__ Tile<T> v; BODY }
int main() { k<float><<<1, 32>>>(); }"""


@pytest.mark.parametrize("returns", ["T *", "auto", "auto *", "auto &"])
@pytest.mark.parametrize(
    "body",
    [
        "v[1][2 * threadIdx.x] = 7;",
        "T *q = v[1]; q[2 * threadIdx.x] = 7;",
        "*(v[1] + 2 * threadIdx.x) = 7;",
        "set(v[1]);",
        "v.put();",
        "auto *q = &v[1][0]; q[2 * threadIdx.x] = 7;",
    ],
)
def test_an_operator_that_gives_a_row_gives_a_pointer_into_it(returns: str, body: str) -> None:
    (module,) = load(
        source_from_bytes("k.cu", ROWS.replace("RETURNS", returns).replace("BODY", body).encode())
    )
    kernel = module.kernels()[0]
    (launch,) = infer(kernel, module, started_kernels(module))
    (trace,) = evaluate(module, kernel, launch).traces
    assert (trace.site.op, trace.site.width, trace.grade) == ("store", 4, Grade.EXACT)
    assert trace.offsets.tolist() == [[256 + 8 * t for t in range(32)]]
