"""Rows that are as wide as a launch says get a padding only where it helps at each width that was seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from smemlint.api import Job, analyse_file

KERNEL = """__global__ void k(float *o, int r) {
    extern __shared__ float s[];
    int w = 16 + 2 * r, x = threadIdx.x, y = threadIdx.y;
    for (int i = y; i < w; i += 16) for (int j = x; j < w; j += 16) s[i * w + j] = o[j];
    __syncthreads();
    float v = 0;
    for (int i = 0; i <= 2 * r; ++i) for (int j = 0; j <= 2 * r; ++j) v += s[(y + i) * w + x + j];
    o[x] = v;
}
int main() {
    for (int r : {@R@}) { int w = 16 + 2 * r; k<<<1, dim3(16, 16), w * w * sizeof(float)>>>(0, r); }
}
"""


@pytest.mark.parametrize(("radii", "edited"), [("15", True), ("1, 15", False), ("1, 3, 7, 15", False)])
def test_a_padding_helps_at_each_width_or_is_not_offered(tmp_path: Path, radii: str, edited: bool) -> None:
    path = tmp_path / "a.cu"
    path.write_text(KERNEL.replace("@R@", radii))
    (found,) = analyse_file(Job(str(path))).suggestions
    assert (found.edits is not None) == edited
    if not edited:
        assert found.refused is not None and found.refused.code == "run-time-pitch"
        widths = ", ".join(str(16 + 2 * int(r)) for r in radii.split(","))
        assert f"({widths})" in found.refused.text
