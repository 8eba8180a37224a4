"""What nvcc 13 promises of dynamic shared memory: PTX says `.align 16` for every type and declaration."""

from __future__ import annotations

from pathlib import Path

import pytest
from smemlint.rules import Severity

from smemlint.api import Job, View, analyse_file, collect


@pytest.mark.parametrize("before", ["", "__shared__ char flag[3]; if (t == 0) flag[0] = 1;"])
def test_a_weakly_aligned_dynamic_array_is_no_warning(tmp_path: Path, before: str) -> None:
    path = tmp_path / "a.cu"
    path.write_text(
        "__global__ void k(float4 *out) { extern __shared__ char s[]; int t = threadIdx.x;\n"
        f"{before} ((float4 *)s)[t] = out[t]; __syncthreads(); out[t] = ((float4 *)s)[63 - t]; }}\n"
        "void start(float4 *o) { k<<<1, 64, 1024>>>(o); }\n"
    )
    report = analyse_file(Job(str(path)))
    told = collect([report], View(level=Severity.NOTE)).diagnostics
    assert [d.severity for d in told if d.code == "SMEM203"] == [Severity.NOTE]
