"""What a fix buys is told on the scale of what the finding costs: an open loop is 32 iterations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from smemlint.api import Job, View, analyse_file, collect
from smemlint.render.json import render

HEAD = """__global__ void k(float *out, const float *in, int n)
{
    __shared__ float t[32][32];
    int tx = threadIdx.x, ty = threadIdx.y;
"""
TAIL = """}
void start(float *o, const float *in, int n) { k<<<4, dim3(32, 8)>>>(o, in, n); }
"""


def told(tmp_path: Path, body: str, tail: str = TAIL) -> list[dict[str, Any]]:
    path = tmp_path / "a.cu"
    path.write_text(HEAD + body + tail)
    return list(json.loads(render(collect([analyse_file(Job(str(path)))], View())))["diagnostics"])


COLUMN = """    float sum = 0;
    for (int i = 0; i < n; ++i) {
        t[ty][tx] = in[i];
        __syncthreads();
        sum += t[tx][ty];
        __syncthreads();
    }
    out[ty] = sum;
"""


def test_the_gain_begins_with_what_the_kernel_costs(tmp_path: Path) -> None:
    (found,) = told(tmp_path, COLUMN)
    # 8 warps, 32 iterations: a store of 1 and a load of 32 wavefronts each.
    assert found["cost"]["kernel"]["wavefronts"] == 8 * 32 * 33
    assert found["fix"]["kernel_wavefronts"] == [8 * 32 * 33, 8 * 32 * 2]
    assert found["fix"]["wavefronts_before"] == 8 * 32 * 33


def test_of_several_launches_the_gain_is_of_the_one_that_cost_speaks_of(tmp_path: Path) -> None:
    more = "void other(float *o, const float *in, int n) { k<<<4, dim3(32, 4)>>>(o, in, n); }\n"
    (found,) = told(tmp_path, COLUMN, TAIL + more)
    assert found["fix"]["kernel_wavefronts"][0] == found["cost"]["kernel"]["wavefronts"] == 8 * 32 * 33
    assert found["fix"]["wavefronts_before"] == (8 + 4) * 32 * 33


def test_beside_a_loop_of_unknown_length_a_single_access_pays_little(tmp_path: Path) -> None:
    body = """    __shared__ float u[32];
    float sum = 0;
    for (int i = 0; i < n; ++i) {
        u[tx] = in[i]; __syncthreads();
        sum += u[tx] + u[(tx + 1) & 31] * u[(tx + 2) & 31] - u[(tx + 3) & 31]; __syncthreads();
    }
    t[tx][ty & 1] = sum;
    __syncthreads();
    out[ty] = t[ty][tx];
"""
    (found,) = told(tmp_path, body)
    before, after = found["fix"]["kernel_wavefronts"]
    # The loop: 32 times 5 accesses of 8 warps; beside it a store of 32 and a load of 1 wavefront each.
    assert before == 8 * (32 * 5 + 33) and before - after == 8 * 31
