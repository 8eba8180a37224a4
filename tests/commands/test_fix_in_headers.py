"""--diff of a header whose kernels another file starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from smemlint.cli import main

HEADER = """#pragma once
template <int N> __global__ void k(float *out) {
    __shared__ float s[N * N], t[N][N];
    s[threadIdx.y * N + threadIdx.x] = t[threadIdx.y][threadIdx.x] = 0;
    __syncthreads();
    out[threadIdx.y * N + threadIdx.x] = s[threadIdx.x * N + threadIdx.y] + t[threadIdx.x][threadIdx.y];
}
"""
START = '#include "k.h"\nvoid start(float *out) { k<32><<<1, dim3(32, 32)>>>(out); }\n'


def test_the_files_that_start_its_kernels_see_the_edits_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """An edit that adds a line moves everything behind it."""
    monkeypatch.chdir(tmp_path)
    Path("k.h").write_text(HEADER)
    Path("start.cu").write_text(START)
    assert main(["--diff", "--unsafe-fixes", "k.h", "start.cu"]) == 1
    out, err = capfd.readouterr()
    assert "+    constexpr int S_PITCH = N + 1;" in out and "t[N][N + 1]" in out
    assert "do not hold together" not in err
