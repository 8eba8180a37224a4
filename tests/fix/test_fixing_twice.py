"""One run finds all: what shows once another fix is done is fixed as well; a second run finds nothing."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from command_line import Capture

from smemlint import repair
from smemlint.cli import main

KERNEL = """\
__global__ void k(float *out) {
    __shared__ float big[32][32];
    __shared__ float small[32][32];
    small[threadIdx.y][threadIdx.x] = out[threadIdx.x];
    for (int i = 0; i < 64; ++i) {
        big[threadIdx.x][threadIdx.y] = out[i + threadIdx.x];
        __syncthreads();
        out[i] = big[threadIdx.y][threadIdx.x];
        __syncthreads();
    }
    if (threadIdx.y == 0) out[threadIdx.x] = small[threadIdx.x][0];
}
"""
"""Of the kernel's 17 000 wavefronts the last line wastes 31: too few to be worth an edit, until the others
are gone."""
LAUNCH = "void start(float *out) { k<<<1, dim3(32, 8)>>>(out); }\n"
BOTH = KERNEL.replace("[32][32]", "[32][33]")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_pays_once_a_larger_conflict_is_gone_is_fixed_in_the_same_run(capfd: Capture) -> None:
    Path("a.cu").write_text(KERNEL + LAUNCH)
    main(["--fix", "a.cu"])
    assert Path("a.cu").read_text() == BOTH + LAUNCH
    said = capfd.readouterr()
    assert "fixed 2 arrays in 1 file" in said.err and "0 findings" in said.out
    main(["--fix", "a.cu"])
    assert "no fix to apply" in capfd.readouterr().err


def test_one_round_would_leave_it(capfd: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repair, "MOST_ROUNDS", 1)
    Path("a.cu").write_text(KERNEL + LAUNCH)
    main(["--fix", "a.cu"])
    assert Path("a.cu").read_text() == KERNEL.replace("big[32][32]", "big[32][33]") + LAUNCH


def test_the_patch_is_what_fix_writes(capfd: Capture) -> None:
    Path("a.cu").write_text(KERNEL + LAUNCH)
    main(["--diff", "a.cu"])
    said = capfd.readouterr()
    assert "would fix 2 arrays in 1 file" in said.err
    subprocess.run(["patch", "-p1"], input=said.out, text=True, check=True, capture_output=True)
    assert Path("a.cu").read_text() == BOTH + LAUNCH


@pytest.mark.parametrize("paths", [("main.cu",), (".",)])
def test_a_header_is_edited_in_memory_for_all_who_include_it(paths: tuple[str, ...], capfd: Capture) -> None:
    Path("k.cuh").write_text(KERNEL)
    main_file = '#include "./k.cuh"\n' + LAUNCH
    Path("main.cu").write_text(main_file)
    main(["--diff", "--unsafe-fixes", *paths])
    said = capfd.readouterr()
    assert "would fix 2 arrays in 1 file" in said.err and "warning" not in said.err
    main(["--fix", "--unsafe-fixes", *paths])
    assert Path("k.cuh").read_text() == BOTH and Path("main.cu").read_text() == main_file
    assert "0 findings" in capfd.readouterr().out
    subprocess.run(["patch", "-R", "-p1"], input=said.out, text=True, check=True, capture_output=True)
    assert Path("k.cuh").read_text() == KERNEL
