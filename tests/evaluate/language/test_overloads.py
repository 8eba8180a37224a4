"""Which function a call means, where the library has one of its name."""

from __future__ import annotations

from smemlint.evaluate import Grade, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes

ROOT = """
inline __device__ float4 sqrtf(float4 v) {
    return make_float4(sqrtf(v.x), sqrtf(v.y), sqrtf(v.z), sqrtf(v.w));
}
"""


def test_a_function_of_vectors_that_calls_the_librarys_of_numbers_does_not_call_itself() -> None:
    source = (
        ROOT
        + """
    __global__ void far(const float4 *in, float4 *out) {
        __shared__ float4 s[64];
        s[threadIdx.x] = sqrtf(in[threadIdx.x]);
        __syncthreads();
        out[threadIdx.x] = sqrtf(s[threadIdx.x ^ 1]);
    }
    """
    )
    (module,) = load(source_from_bytes("k.cu", source.encode()))
    (kernel,) = module.kernels()
    trace = evaluate(module, kernel, Launch((64, 1, 1)))
    assert not trace.notes
    assert [(t.site.op, t.grade) for t in trace.traces] == [("store", Grade.EXACT), ("load", Grade.EXACT)]


def test_a_function_that_takes_another_as_template_argument_is_followed() -> None:
    source = """
    __device__ float most(float v) { return v; }
    template <float (*REDUCE)(float)> __device__ float block(float v, float rest) {
        __shared__ float part[32];
        part[threadIdx.x % 32] = REDUCE(v);
        __syncthreads();
        return REDUCE(threadIdx.x < 2 ? part[threadIdx.x] : rest);
    }
    template <float (*REDUCE)(float)> __device__ float block(float v) { return block<REDUCE>(v, 0.0f); }
    __global__ void k(float *p) { *p = block<most>(p[threadIdx.x]); }
    """
    (module,) = load(source_from_bytes("k.cu", source.encode()))
    (kernel,) = module.kernels()
    trace = evaluate(module, kernel, Launch((64, 1, 1)))
    assert [(t.site.op, t.grade) for t in trace.traces] == [("store", Grade.EXACT), ("load", Grade.EXACT)]
