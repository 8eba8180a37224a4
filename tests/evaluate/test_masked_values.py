"""What lanes outside the mask hold is nothing to those inside."""

from __future__ import annotations

from smemlint.evaluate import Grade, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes


def grades(body: str) -> set[Grade]:
    """Grades of the loads on s in a kernel of two warps."""
    source = (
        "__global__ void k(float *in, float *out, int n) {\n"
        "__shared__ float s[256]; int t = threadIdx.x; s[t] = in[t]; __syncthreads(); float x = 0;\n"
        f"{body}\n__syncthreads(); out[t] = x; }}"
    )
    (module,) = load(source_from_bytes("k.cu", source.encode()))
    trace = evaluate(module, module.kernels()[0], Launch((64, 1, 1)))
    return {t.grade for t in trace.traces if t.site.op == "load"}


def test_a_counter_that_some_lanes_left_unset_counts_in_the_others() -> None:
    body = """int i = t, j;
    for (int k = 0; k < n; k++) {
        while (i < 20) {
            for (j = 0; j < 100; j++) x += s[j] * in[k];
            i += 64;
        }
        i = t;
        __syncthreads();
    }"""
    assert grades(body) == {Grade.EXACT}


def test_a_number_from_memory_in_other_lanes_does_not_blur_the_address() -> None:
    assert grades("int i = in[t]; if (t < 16) { i = 2 * t; x = s[i]; }") == {Grade.EXACT}
    assert grades("int i = in[t]; if (t < 16) i = 2 * t; if (t < 20) x = s[i];") == {Grade.BOUND}
