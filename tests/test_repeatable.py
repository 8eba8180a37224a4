"""The same file gives the same report in every run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

KERNEL = """\
#include "missing.h"
constexpr int H = 8, W = 8;
#define RUN(n) column<n><<<blocks(n), dim3(32, n)>>>(out)
template <int N> __global__ void column(real *out)
{
    __shared__ real tile[32 * H * W / 2];
    __shared__ float square[32][32];
    real *first = tile, **second = &first;
    maths::fill(out, square[threadIdx.x][threadIdx.y], HALO);
    tile[threadIdx.y * H * W + threadIdx.x * W] = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = (*second)[threadIdx.x * W * H] + square[threadIdx.x][threadIdx.y % N];
}
static int rows = 4;
void some(real *out) { if (rows == 8) RUN(8); else RUN(4); }
void start(real *out) { for (rows = 4; rows <= 8; rows += 4) some(out); }
"""


@pytest.mark.parametrize("command", ["inspect", "check"])
def test_the_seed_of_hashes_changes_nothing(command: str, tmp_path: Path) -> None:
    (tmp_path / "kernel.cu").write_text(KERNEL, encoding="utf-8")
    arguments = [sys.executable, "-m", "smemlint", command, "kernel.cu", "--output-format", "json"]
    reports = set()
    for seed in ("1", "2", "3"):
        env = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            arguments, capture_output=True, text=True, timeout=60, cwd=tmp_path, env=env, check=False
        )
        assert '"column"' in done.stdout
        reports.add(re.sub(r'"seconds": [\d.]+', "", done.stdout))
    assert len(reports) == 1
