"""References to what is no place: `auto &&row = tile[1]` of an operator that gives a pointer."""

from __future__ import annotations

import pytest

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.ir.types import FLOAT
from smemlint.source import source_from_bytes

SOURCES = (
    "v[1]",
    "v(1)",
    "*v",
    "v - 1",
    "v.at(1)",
    "v.ptr(1)",
    "v.row(1)",
    "v.d[1]",
    "rowof(v, 1)",
    "&v.d[1][0]",
    "v.d[1] + 0",
    "(T *)v.d[1]",
)
BINDINGS = ("auto &&q = ", "const auto &q = ", "auto q = ", "T *const &q = ", "T *&&q = ")


@pytest.mark.parametrize("template", ["template <class T> ", ""])
@pytest.mark.parametrize("binding", BINDINGS)
@pytest.mark.parametrize("source", SOURCES)
def test_a_reference_to_a_pointer_leads_where_the_pointer_does(
    source: str, binding: str, template: str
) -> None:
    if source in ("v.row(1)", "v.d[1]"):  # arrays: const elements otherwise
        binding = binding.replace("const auto", "auto")
    text = f"""template <class E> struct V {{
        E d[4][64];
        __device__ E *operator()(int i) {{ return d[i]; }}
        __device__ E *operator*() {{ return d[1]; }}
        __device__ E *operator[](int i) {{ return d[i]; }}
        __device__ E *operator-(int i) const {{ return const_cast<E *>(d[i]); }}
        __device__ auto at(int i) {{ return d[i]; }}
        __device__ E (&row(int i))[64] {{ return d[i]; }}
        __device__ E *ptr(int i) {{ return d[i]; }}
    }};
    template <class E> __device__ E *rowof(V<E> &v, int i) {{ return v.d[i]; }}
    {template or "using T = float;"} __global__ void k(T *o) {{
        __shared__ V<T> v;
        int t = threadIdx.x;
        {binding}{source};
        q[2 * t] = 1;
        __syncthreads();
        o[t] = q[t];
    }}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    launch = Launch((32, 1, 1), template={"T": FLOAT} if template else {})
    told = [
        (t.site.op, t.offsets.ravel().tolist()) for t in evaluate(module, module.kernels()[0], launch).traces
    ]
    assert told == [
        ("store", [256 + 8 * t for t in range(32)]),
        ("load", [256 + 4 * t for t in range(32)]),
    ]


def test_a_reference_to_what_a_pointer_was_before_its_step_leads_there() -> None:
    text = """__global__ void k(float *o) {
        __shared__ float s[2048];
        int t = threadIdx.x;
        float *p = s + 2 * t;
        auto &&before = p++;
        before[0] = 1;
        p[4] = 2;
        __syncthreads();
        o[t] = s[t];
    }"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    traces = evaluate(module, module.kernels()[0], Launch((32, 1, 1))).traces
    stores = [t.offsets.ravel().tolist() for t in traces if t.site.op == "store"]
    assert stores == [[8 * t for t in range(32)], [8 * t + 20 for t in range(32)]]
