"""Records that stand where a pointer is meant, and member templates that are called with their arguments."""

from __future__ import annotations

import pytest

from smemlint.evaluate import Grade, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch, Scalar
from smemlint.score import score
from smemlint.source import source_from_bytes

HELPER = """
template <class T> struct SharedMemory {
    __device__ inline operator T *() { extern __shared__ int raw[]; return (T *)raw; }
    __device__ inline operator const T *() const { extern __shared__ int raw[]; return (T *)raw; }
};
template <class T, int N> struct View {
    T *p;
    __device__ View(T *q) : p(q) {}
    __device__ operator int() const { return N; }
    __device__ operator T *() const { return p; }
};
template <class T> __device__ T far(volatile T *p) { return p[4 * threadIdx.x]; }
template <class T> __device__ T through(View<T, 4> v) { return v[4 * threadIdx.x]; }
template <class T> __device__ T own() { SharedMemory<T> s; return s[4 * threadIdx.x]; }
template <class T> __device__ void twice(SharedMemory<T> &s) { s[4 * threadIdx.x] *= 2; }
struct Scan {
    template <int W, class T> static __device__ T step(T *s) { return s[W * threadIdx.x]; }
    template <class T> static __device__ T inclusive(T *s) { return step<4>(s); }
    template <int W> __device__ float mine(float *s) { return s[W * threadIdx.x]; }
};
template <class M, class T> __device__ T by(T *s) { return M::template inclusive<T>(s); }
"""


def ways(statement: str) -> set[float]:
    """Ways of each access of a statement in a template, for T = float."""
    source = (
        HELPER
        + f"""
    template <class T> __global__ void k(T *out) {{
        __shared__ T buffer[1024];
        SharedMemory<T> s;
        View<T, 4> v(buffer);
        {statement}
    }}
    """
    )
    (module,) = load(source_from_bytes("k.cu", source.encode()))
    (kernel,) = module.kernels()
    bound = {kernel.template[0].name: Scalar("float", 4, "float")}
    trace = evaluate(module, kernel, Launch((32, 1, 1), template=bound))
    assert not trace.notes
    assert all(t.grade is Grade.EXACT for t in trace.traces)
    return {score(t).ways for t in trace.traces}


def steps_of(words: int) -> float:
    """Lanes that ask one bank where neighbours are so many words apart."""
    banks = [lane * words % 32 for lane in range(32)]
    return max(banks.count(b) for b in banks)


@pytest.mark.parametrize(
    "statement",
    [
        "s[4 * threadIdx.x] = out[0];",
        "out[0] = s[4 * threadIdx.x];",
        "*(s + 4 * threadIdx.x) = out[0];",
        "T *p = s + 4 * threadIdx.x; *p = out[0];",
        "out[0] = far<T>(s);",
        "out[0] = v[4 * threadIdx.x];",
        "out[0] = *(v + 4 * threadIdx.x);",
        "out[0] = through<T>(v);",
        "out[0] = through<T>(buffer);",
        "out[0] = own<T>();",
        "twice<T>(s);",
    ],
)
def test_a_record_with_a_conversion_is_the_pointer_that_it_gives(statement: str) -> None:
    assert ways(statement) == {steps_of(4)}


@pytest.mark.parametrize(
    "statement",
    [
        "out[0] = Scan::inclusive<T>(buffer);",
        "out[0] = Scan::step<4, T>(buffer);",
        "out[0] = by<Scan>(buffer);",
        "Scan scan; out[0] = scan.mine<4>(buffer);",
        "Scan scan; out[0] = scan.template mine<4>(buffer);",
    ],
)
def test_a_member_template_runs_with_the_arguments_that_are_written(statement: str) -> None:
    assert ways(statement) == {steps_of(4)}
