"""A swizzle is not called safe in a loop that divides integers for its indices."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fix.test_suggest import of_text

SCAN = """__global__ void k(float *out, const float *in, int n) {{
    __shared__ float t[1024];
    t[threadIdx.x] = in[blockIdx.x * 1024 + threadIdx.x];
    __syncthreads();
    {before}
    for (int d = blockDim.x / 2; d > 0; d /= 2) {{
        if (threadIdx.x < d) {{
            {indices}
            t[b] += t[a];
        }}
        {after}
        __syncthreads();
    }}
    out[blockIdx.x * 1024 + threadIdx.x] = t[threadIdx.x];
}}
void start(float *o, const float *i) {{ k<<<64, 1024>>>(o, i, 1 << 14); }}
"""
STEPPED = "int a = step * (2 * threadIdx.x + 1) - 1, b = step * (2 * threadIdx.x + 2) - 1;"
DIVIDED = """int step = blockDim.x / d / 2;
            int a = step * (2 * threadIdx.x + 1) - 1, b = step * (2 * threadIdx.x + 2) - 1;"""


@pytest.mark.parametrize(
    ("indices", "before", "safe"),
    [
        (STEPPED, "int step = 1;", True),
        (DIVIDED, "", False),
        (DIVIDED.replace("blockDim.x / d / 2", "1 * (1024 / 2 / d)"), "", False),
        (STEPPED.replace("- 1;", "- 1 + threadIdx.x / 1024;"), "int step = 1;", True),
        (
            STEPPED.replace("- 1;", "- 1 + threadIdx.x / warps;"),
            "int step = 1; const int warps = 32 * 32;",
            True,
        ),
        (STEPPED.replace("- 1;", "- 1 + threadIdx.x / (n + 1024);"), "int step = 1;", False),
    ],
)
def test_a_swizzle_beside_a_division_in_the_loop_is_unsafe(
    tmp_path: Path, indices: str, before: str, safe: bool
) -> None:
    text = SCAN.format(indices=indices, before=before, after="step *= 2;" if "int step = 1" in before else "")
    fix = of_text(tmp_path, text.encode())[0]["t"]
    assert fix.kind == "swizzle" and fix.edits is not None, fix.refused
    assert fix.safe == safe, fix.unsafe_because
    assert safe or "divides integers" in fix.unsafe_because


def test_a_padding_is_safe_beside_a_division(tmp_path: Path) -> None:
    text = """__global__ void k(float *out, const float *in, int n) {
    __shared__ float t[32][32];
    for (int s = n; s > 0; s /= 2) {
        t[threadIdx.x / 32][threadIdx.x % 32] = in[threadIdx.x / s];
        __syncthreads();
        out[threadIdx.x % s] = t[threadIdx.x % 32][threadIdx.x / 32];
        __syncthreads();
    }
}
void start(float *o, const float *i) { k<<<4, 1024>>>(o, i, 8); }
"""
    fix = of_text(tmp_path, text.encode())[0]["t"]
    assert fix.kind == "padding" and fix.safe, fix.unsafe_because
