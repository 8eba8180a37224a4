"""From logged accesses to requests."""

from __future__ import annotations

from smemlint.evaluate import evaluate
from smemlint.evaluate.model import Trace
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes


def traced(body: str) -> list[Trace]:
    """Traces of a kernel of one block of 64 threads."""
    text = f"__global__ void k(const int *d, int *out) {{ int t = threadIdx.x; {body} }}"
    module = load(source_from_bytes("k.cu", text.encode()))[0]
    return list(evaluate(module, module.kernels()[0], Launch((64, 1, 1))).traces)


def test_values_that_lanes_read_one_after_the_other_are_one_term() -> None:
    (trace,) = traced("""
        __shared__ int s[256];
        for (int i = 0; i < 8; i++) out[64 * i + t] = s[d[64 * i + t] & 255];""")
    (term,) = trace.data
    assert term.coefficient.shape == trace.offsets.shape == (16, 32)
    assert (term.coefficient == 4).all()


def test_two_values_of_one_request_stay_two_terms() -> None:
    (trace,) = traced("""
        __shared__ int s[512];
        for (int i = 0; i < 8; i++) out[64 * i + t] = s[(d[64 * i + t] & 255) + (d[t + i] & 255)];""")
    assert len(trace.data) == 2
    assert all((term.coefficient == 4).all() for term in trace.data)


def test_an_access_that_wanders_through_an_array_has_one_row_for_each_visit() -> None:
    (trace,) = traced("""
        __shared__ int s[1024];
        #pragma unroll 1
        for (int i = 0; i < 4; i++) out[64 * i + t] = s[64 * (3 - i) + t];""")
    assert trace.iterations == ((0, 2), (2, 2), (4, 2), (6, 2))
    assert trace.offsets[:, 0].tolist() == [768, 896, 512, 640, 256, 384, 0, 128]
