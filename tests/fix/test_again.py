"""What is read again to prove a fix: the kernels that use the array, and nothing else of a large file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from smemlint.api import Job, analyse_file
from smemlint.frontend.clang.names import Definition
from smemlint.frontend.lower.functions import FunctionLowering

KERNEL = """\
__device__ int half_of_@(int i) { return i / 2; }
__global__ void k@(float *out) {
    __shared__ float tile@[32][32];
    tile@[threadIdx.x][threadIdx.y] = half_of_@(threadIdx.x);
    __syncthreads();
    out[0] = tile@[threadIdx.x][threadIdx.y];
}
void start@(float *out) { k@<<<1, dim3(32, 8)>>>(out); }
"""


def file(tmp_path: Path, kernels: int, before: str = "") -> Path:
    path = tmp_path / f"{kernels}.cu"
    path.write_text(before + "".join(KERNEL.replace("@", str(n)) for n in range(kernels)))
    return path


def lowered(path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Counter[str], list[str]]:
    """How often each function is lowered, and the code of each fix."""
    seen: Counter[str] = Counter()
    real = FunctionLowering.lower_function

    def counted(self: FunctionLowering, found: Definition) -> None:
        seen[found.name] += 1
        real(self, found)

    with monkeypatch.context() as patch:
        patch.setattr(FunctionLowering, "lower_function", counted)
        report = analyse_file(Job(str(path)))
    return seen, [s.code for s in report.suggestions if s.edits is not None]


def test_a_proof_lowers_the_kernels_of_its_array_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, fixes = lowered(file(tmp_path, 6), monkeypatch)
    assert fixes == [f"tile{n}[32][33]" for n in range(6)]
    assert {seen[f"k{n}"] for n in range(6)} == {seen[f"half_of_{n}"] for n in range(6)} == {2}
    assert {seen[f"start{n}"] for n in range(6)} == {1}


def test_everything_is_lowered_where_kernels_depend_on_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nvcc puts a shared array outside of functions depends on how many kernels use it."""
    outside = "__shared__ float all[64];\n__global__ void z(float *out) { out[0] = all[threadIdx.x]; }\n"
    seen, fixes = lowered(file(tmp_path, 2, outside), monkeypatch)
    assert fixes == ["tile0[32][33]", "tile1[32][33]"]
    assert seen["z"] == seen["k0"] == seen["start0"] == 3


def test_namesakes_are_lowered_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = "namespace n { __global__ void k0(int *out) { out[0] = 1; } }\n"
    seen, fixes = lowered(file(tmp_path, 2, other), monkeypatch)
    assert fixes == ["tile0[32][33]", "tile1[32][33]"]
    # both kernels named k0 anew for the proof of one, and nothing that starts them
    assert (seen["k0"], seen["k1"], seen["start0"], seen["start1"]) == (4, 2, 1, 1)
