"""Block shapes that are tried for kernels that nothing starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from smemlint import check

BODY = "__global__ void k(float *p, int n) {{ extern __shared__ float s[]; s[{}] = p[0]; }}"


def severities(tmp_path: Path, index: str) -> list[str]:
    (tmp_path / "k.cu").write_text(BODY.format(index), encoding="utf-8")
    found = check([str(tmp_path / "k.cu")], level="note").diagnostics
    return [d.severity.value for d in found if d.code.startswith("SMEM1")]


@pytest.mark.parametrize(
    "index", ["threadIdx.x * blockDim.y + threadIdx.y", "threadIdx.y + (threadIdx.x + 8) * blockDim.y"]
)
def test_a_row_as_long_as_the_block_is_high_may_be_odd(tmp_path: Path, index: str) -> None:
    """It was a warning of 32 ways: with (n, 3) threads there is no conflict."""
    assert severities(tmp_path, index) == ["note"]


def test_a_conflict_under_any_height_is_a_warning(tmp_path: Path) -> None:
    assert severities(tmp_path, "threadIdx.x * 32 + threadIdx.y + 0 * blockDim.y * n") == ["warning"]
