"""Loads that the compiler leaves out and reads again behind an edit: what is promised holds either way.

Truth: on an H200 the scan below takes 650 wavefronts, and 189 with the skew that is offered: nvcc reads
`temp[index]` of the last line again in five of the nine rounds.
"""

from __future__ import annotations

from pathlib import Path

from smemlint.api import Job
from smemlint.running import pipeline

SCAN = """
__global__ void scan(const int *input, int *output) {
    __shared__ int temp[512];
    int tid = threadIdx.x, ai = 2 * tid, bi = 2 * tid + 1;
    temp[ai] = input[ai];
    temp[bi] = input[bi];
    __syncthreads();
    for (int offset = 1; offset < 512; offset <<= 1) {
        int index = (tid + 1) * offset * 2 - 1;
        if (index < 512)
            temp[index] += temp[index - offset];
        __syncthreads();
    }
    if (tid == 0)
        temp[511] = 0;
    __syncthreads();
    for (int offset = 256; offset > 0; offset >>= 1) {
        int index = (tid + 1) * offset * 2 - 1;
        if (index < 512) {
            int left = temp[index - offset];
            temp[index - offset] = temp[index];
            temp[index] += left;
        }
        __syncthreads();
    }
    output[ai] = temp[ai];
    output[bi] = temp[bi];
}
void start(int *a, int *b) { scan<<<1, 256>>>(a, b); }
"""
BEFORE, MEASURED = 650, 189


def test_a_load_that_may_run_again_is_part_of_the_promise(tmp_path: Path) -> None:
    path = tmp_path / "scan.cu"
    path.write_text(SCAN, encoding="utf-8")
    found = pipeline.examine(Job(str(path)), str)
    assert isinstance(found, pipeline.Examined)
    (fix,) = found.suggestions.values()
    assert fix.edits is not None and fix.kernel is not None
    again = [c for c in fix.sites if not c.before and c.after]
    assert [c.site.place.line for c in again] == [
        SCAN.splitlines().index("            temp[index] += left;") + 1
    ]
    most, least = fix.after, fix.after - again[0].after
    assert fix.before == BEFORE and least <= MEASURED <= most
    assert fix.kernel == (BEFORE, most)
    assert f"with {again[0].after} more at most, where nvcc reads line" in fix.words
