"""What only blocks at the edge of the grid run is in the way of no padding: it falls with the rest."""

from __future__ import annotations

from pathlib import Path

from smemlint.api import Job, analyse_file

KERNEL = """__global__ void k(float *out, const float *in, int h, int w) {
    __shared__ float s[18][18][4];
    int y = blockIdx.y * 16, x = blockIdx.x * 16;
    for (int c = threadIdx.z; c < 4; c += 4)
        for (int i = threadIdx.y; i < 18; i += 16)
            for (int j = threadIdx.x; j < 18; j += 16)
                if (y + i < h && x + j < w) s[i][j][c] = in[(c * h + y + i) * w + x + j];
                else s[i][j][c] = 0;
    __syncthreads();
    out[y * w + x] = s[threadIdx.y][threadIdx.x][threadIdx.z];
}
void run(float *o, const float *i, int h, int w) { k<<<dim3(9, 9), dim3(16, 16, 4)>>>(o, i, h, w); }
"""


def test_a_store_that_all_lanes_of_an_edge_block_run_is_one_for_both_arms(tmp_path: Path) -> None:
    """Machine code loads under the condition and stores behind it (nvcc 13.0, sm_90)."""
    path = tmp_path / "a.cu"
    path.write_text(KERNEL)
    (found,) = analyse_file(Job(str(path))).suggestions
    assert found.edits is not None and found.code == "s[18][18][5]"
    assert found.safe


def test_a_store_that_only_some_lanes_of_an_edge_block_run_falls_by_the_share_of_all_lanes(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.cu"
    path.write_text(KERNEL.replace("else s[i][j][c] = 0;", "else { s[i][j][c] = 0; out[j] = 0; }"))
    (found,) = analyse_file(Job(str(path))).suggestions
    assert found.edits is not None and found.code == "s[18][18][5]"
    assert not found.safe and "which lanes run" in found.unsafe_because
