"""Another row pitch of flattened arrays of which not every index shows its rows."""

from __future__ import annotations

from pathlib import Path

import pytest
from fix import emulated
from fix.edits.test_through import fixed

KERNEL = """
__global__ void k(float *out, const float *in, int n)
{
    __shared__ float tile[32 * P];
    int t = threadIdx.x, own = t %% 32 * 2;
    for (int i = t; i < 32 * P; i += 128) { int r = i / P, c = i %% P; tile[%(at)s] = in[r * 128 + c]; }
    __syncthreads();
    float sum = 0;
    for (int c = 0; c < P; ++c) sum += tile[t %% 32 * P + c];
    out[t] = sum + in[own];
}
void start(float *out, const float *in) { k<<<1, 128>>>(out, in, 32); }
"""


def program(at: str = "i", pitch: int = 64) -> str:
    return f"#define P {pitch}\n" + KERNEL % {"at": at}


def test_an_index_without_rows_is_written_in_rows(tmp_path: Path) -> None:
    found, after = fixed(program(), tmp_path)
    assert "tile[i / P * TILE_PITCH + i % P] = " in after
    assert found.code == "TILE_PITCH = P + 4" and found.safe


def test_rows_that_are_seen_stay_as_they_are_written(tmp_path: Path) -> None:
    _, after = fixed(program("r * P + c"), tmp_path)
    assert "tile[r * TILE_PITCH + c] = " in after and "/ P *" not in after


def test_rows_of_another_width_are_not_divided_out(tmp_path: Path) -> None:
    found, after = fixed(program(pitch=96), tmp_path)
    assert "TILE_PITCH" not in after and (found.edits is None or "^" in after)


def test_a_local_without_the_pitch_may_serve_elsewhere(tmp_path: Path) -> None:
    text = program("r * P + c").replace("tile[t % 32 * P + c]", "tile[t % 32 * P + c] + tile[c * P + own]")
    found, after = fixed(text, tmp_path)
    assert "tile[c * TILE_PITCH + own]" in after and found.edits is not None


@emulated.needs_compiler
@pytest.mark.parametrize("at", ["i", "r * P + c", "i ^ 0", "(r << 6) + c"])
def test_the_fixed_kernel_computes_the_same(at: str, tmp_path: Path) -> None:
    text = program(at)
    found, after = fixed(text, tmp_path)
    assert found.edits is not None
    assert emulated.run(after, tmp_path) == emulated.run(text, tmp_path)
