"""Where the pointer of a loop with copies starts, behind other loops: in the middle of the copies (pairs), or
as it is written (four at once).

Truth: the PTX of nvcc 13.0 (sm_90) of each body: `[r-8] [r-4] [r] [r+4]`, or `[r] [r+4] [r+8] [r+12]`.
"""

from __future__ import annotations

import pytest

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score_all
from smemlint.source import source_from_bytes

FILL = "for (int i = lane; i < 256; i += 32) s[i / 16][i % 16] = a[i + k];"
LAST = "for (int j = 0; j < n; ++j) m = fmaxf(m, s[lane][j]);"
ROUND = "for (int k = 0; k < n; k += 16) {"
HALVE = "{ int e = n; while (e > 0) { q[i + e] = a[i + e]; e /= 2; } }"
WIDE = {
    f"for (int k = 0; k < n; k += 16) {{ {FILL} __syncwarp();\n{LAST}\n__syncwarp(); }}": True,
    f"int k = 0; {FILL} __syncwarp();\n{LAST}\n": False,
    f"int k = 0; {FILL} __syncwarp(); for (k = 0; k < n; k += 16) {{\n{LAST}\n__syncwarp(); }}": False,
    f"for (int r = 0; r < n; r++) {{ int k = r; {FILL} __syncwarp(); for (k = 0; k < n; k += 16) {{\n{LAST}\n"
    "__syncwarp(); } }": True,
    f"for (int k = 0; k < n; k += 16) {{ for (int i = 0; i < n; i++) m += a[i + k];\n{LAST}\n}}": True,
    f"for (int k = 0; k < n; k += 16) {{ for (int i = 0; i < 8; i++) m += a[i + k];\n{LAST}\n}}": False,
    f"for (int k = 0; k < n; k += 16) {{ while (m > a[k]) m *= 0.5f;\n{LAST}\n}}": False,
    f"for (int k = 0; k < n; k += 16) {{\n{LAST}\n"
    "for (int i = lane; i < n; i += 32) q[i] = a[i + k]; }": False,
    f"for (int r = 0; r < n; r++) for (int k = 0; k < n; k += 16) {{\n{LAST}\n__syncwarp(); }}": False,
    f"{ROUND} for (int i = lane; i < n; i += blockDim.x) q[i] = a[i + k];\n{LAST}\n}}": False,
    f"{ROUND} for (unsigned i = lane; i < n; i += blockDim.x) q[i] = a[i + k];\n{LAST}\n}}": False,
    f"{ROUND} for (long i = lane; i < n; i += blockDim.x) q[i] = a[i + k];\n{LAST}\n}}": True,
    f"{ROUND}\n#pragma unroll 1\nfor (int i = lane; i < n; i += 32) q[i] = a[i + k];\n{LAST}\n}}": True,
    f"{ROUND} for (float f = 0; f < n; f += 1) m += a[(int)f];\n{LAST}\n}}": False,
    f"{ROUND} for (int i = lane; i < n; i += blockDim.x) {HALVE}\n{LAST}\n}}": True,
    f"{ROUND} for (int i = lane; i < n; i += blockDim.x) for (int e = 0; e < 4; e++) "
    f"q[i + e] = a[i * 4 + e];\n{LAST}\n}}": False,
}


@pytest.mark.parametrize("body", WIDE)
def test_behind_a_loop_that_is_counted_or_holds_one_pointers_start_as_they_are_written(body: str) -> None:
    source = (
        "__global__ void k(float *o, const float *a, int n) { __shared__ float s[16][16], q[512]; "
        f"int lane = threadIdx.x; float m = 0; {body}\no[lane] = m + s[lane & 1][0] + q[lane]; }}"
    )
    (module,) = load(source_from_bytes("k.cu", source.encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1), arguments={"n": 64}))
    line = next(n for n, text in enumerate(source.splitlines(), 1) if text == LAST)
    widths = {
        c.joined or c.site.width
        for c in score_all(trace)
        if c.site.place.line == line and c.site.op == "load" and c.trace.weights.any()
    }
    assert (max(widths) == 16) is WIDE[body]
