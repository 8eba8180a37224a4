"""Which usual shapes of a block are tried where no launch of a kernel is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from smemlint.api import Job, analyse_file
from smemlint.ir import Launch
from smemlint.running import schedule

CONFLICTED = """
__global__ void columns(float *p) {
    __shared__ float s[32 * 64];
    s[threadIdx.x % 32 * 64] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = s[threadIdx.x % 32 * 64];
}
"""
BY_SHAPE = """
__global__ void columns(float *p) {
    __shared__ float s[16384];
    s[threadIdx.x] = p[threadIdx.x];
    __syncthreads();
    if (blockDim.x == 256)
        p[threadIdx.x] = s[threadIdx.x * 16];
    else
        p[threadIdx.x] = s[threadIdx.x * 8];
}
"""
ALL = {32, 64, 128, 256, 512, 1024}


def shapes(folder: Path, text: str) -> set[int]:
    path = folder / "a.cu"
    path.write_text(text)
    return {kernel.launch.block[0] for kernel in analyse_file(Job(str(path))).kernels}


def test_a_conflict_is_asked_of_every_usual_shape(tmp_path: Path) -> None:
    assert shapes(tmp_path, CONFLICTED) == ALL


def test_a_kernel_that_takes_long_is_tried_under_three_shapes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedule, "HEAVY", 0)
    assert shapes(tmp_path, CONFLICTED) == {256, 32, 128}


def test_a_kernel_that_takes_long_ends_where_two_shapes_share_no_conflict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert shapes(tmp_path, BY_SHAPE) == ALL
    monkeypatch.setattr(schedule, "HEAVY", 0)
    assert shapes(tmp_path, BY_SHAPE) < ALL


def test_a_kernel_without_a_conflict_is_looked_at_once(tmp_path: Path) -> None:
    assert len(shapes(tmp_path, CONFLICTED.replace("* 64", ""))) == 1


def test_a_shape_under_which_an_array_is_left_was_not_meant(tmp_path: Path) -> None:
    tile = CONFLICTED.replace("threadIdx.x % 32 * 64", "threadIdx.x * 8")
    assert shapes(tmp_path, tile) == {32, 64, 128, 256}


def test_shapes_that_all_leave_an_array_are_kept(tmp_path: Path) -> None:
    assert shapes(tmp_path, CONFLICTED.replace("s[threadIdx.x % 32", "s[32 + threadIdx.x % 32")) == ALL


OPEN = """
void host(float *p, int threads) { columns<<<1, threads>>>(p); }
"""


def test_a_launch_whose_shape_is_open_is_looked_at_once_where_one_warp_tells_the_same(
    tmp_path: Path,
) -> None:
    clean = CONFLICTED.replace("* 64", "")
    assert len(shapes(tmp_path, clean + OPEN)) == 1


def test_what_ends_under_one_shape_by_its_steps_is_not_tried_for_any_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, evaluated: list[Launch]
) -> None:
    clean = CONFLICTED.replace("* 64", "")
    shapes(tmp_path, clean + OPEN)
    assert [launch.warp for launch in evaluated] == [False, True]
    evaluated.clear()
    monkeypatch.setattr(schedule, "WORK", 10)
    monkeypatch.setattr(schedule, "SHARE", 10)
    shapes(tmp_path, clean + OPEN)
    assert [launch.warp for launch in evaluated] == [False]


def test_a_sure_conflict_or_another_answer_is_asked_of_every_shape(tmp_path: Path) -> None:
    assert shapes(tmp_path, CONFLICTED + OPEN) == ALL
    by_size = CONFLICTED.replace("threadIdx.x % 32 * 64", "threadIdx.x * (blockDim.x / 256 + 1) % 2048")
    assert shapes(tmp_path, by_size + OPEN) == ALL


WHOLE = "columns<<<1, (threads + 31) / 32 * 32>>>(p)"


@pytest.mark.parametrize("launch", ["columns<<<1, dim3(32, threads)>>>(p)", WHOLE])
def test_a_sure_conflict_of_whole_warps_is_asked_of_one_shape_and_any_block(
    tmp_path: Path, launch: str
) -> None:
    text = CONFLICTED + OPEN.replace("columns<<<1, threads>>>(p)", launch)
    assert len(shapes(tmp_path, text)) == 1
    by_size = text.replace("% 32 * 64", "% 32 * (blockDim.x * blockDim.y / 32) % 2048")
    assert len(shapes(tmp_path, by_size)) > 1 or "dim3" in launch


def test_any_block_is_asked_for_though_the_steps_for_further_shapes_are_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "k.cu"
    source.write_text(CONFLICTED + OPEN.replace("1, threads", "1, dim3(32, threads)"))
    monkeypatch.setattr(schedule, "WORK", 1)
    told = [a for k in analyse_file(Job(str(source))).kernels for a in k.accesses]
    assert {(a.any_block, a.grade) for a in told} == {(True, "exact")}


def test_an_access_that_only_larger_blocks_have_is_not_lost(tmp_path: Path) -> None:
    more = "    if (blockDim.x > 256) s[threadIdx.x % 32 * 32] = 1;\n"
    larger = CONFLICTED.replace("* 64", "").replace("    p[threadIdx.x] =", f"{more}    p[threadIdx.x] =")
    assert shapes(tmp_path, larger + OPEN) == ALL


CONFIGURED = """
template <int N> __global__ void light(float *p) { __shared__ float s[4096]; s[threadIdx.x * N] = p[0]; }
__global__ void heavy(float *p) {
    __shared__ float s[1024];
#ifdef FAST
    s[threadIdx.x] = 2;
#endif
    for (int i = 0; i < 400; i++) s[(threadIdx.x + i * i) % 1024] = p[i];
}
void host(float *p) { light<1><<<1, 64>>>(p); light<2><<<1, 64>>>(p); heavy<<<1, 64>>>(p); }
"""


def test_cheap_launches_come_before_a_costly_kernel_in_another_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`heavy` takes 9,200 steps, with FAST once more, and light<2> was left out behind it."""
    path = tmp_path / "a.cu"
    path.write_text(CONFIGURED)
    monkeypatch.setattr(schedule, "WORK", 10_000)
    kernels = analyse_file(Job(str(path))).kernels
    seen = {k.template_arguments for k in kernels if k.name == "light" and k.accesses}
    assert seen == {(("N", "1"),), (("N", "2"),)}


@pytest.mark.parametrize(("work", "fits"), [(60_000, True), (12_000, False)])
def test_a_launch_that_takes_more_steps_than_are_left_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, evaluated: list[Launch], work: int, fits: bool
) -> None:
    """`heavy` takes 9,200 steps."""
    path = tmp_path / "a.cu"
    path.write_text(CONFIGURED + "void again(float *p) { heavy<<<1, 128>>>(p); }")
    monkeypatch.setattr(schedule, "WORK", work)
    monkeypatch.setattr(schedule, "SHARE", 1000)
    (heavy, *_) = (k for k in analyse_file(Job(str(path))).kernels if k.name == "heavy" and k.accesses)
    assert heavy.accesses[0].grade == "exact"
    assert any(launch.block == (128, 1, 1) for launch in evaluated) == fits


GUESSED = """
template <typename T> __global__ void unasked(const T *p) {
    __shared__ T s[1024];
    for (int i = 0; i < 400; i++) s[(threadIdx.x + i * i) % 1024] = p[i];
}
template <int N> __global__ void light(float *p) {
    __shared__ float s[64];
    s[threadIdx.x] = p[N];
    p[N] = s[threadIdx.x];
}
void host(float *p) { light<1><<<1, 64>>>(p); light<2><<<1, 64>>>(p); }
"""


def test_instances_that_are_known_come_before_those_that_nobody_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`unasked` takes all the steps that there are."""
    path = tmp_path / "a.cu"
    path.write_text(GUESSED)
    monkeypatch.setattr(schedule, "WORK", 4_000)
    monkeypatch.setattr(schedule, "KNOWN_WORK", 2_000)
    monkeypatch.setattr(schedule, "SHARE", 1000)
    kernels = analyse_file(Job(str(path))).kernels
    seen = {k.template_arguments for k in kernels if k.name == "light" and k.accesses}
    assert seen == {(("N", "1"),), (("N", "2"),)}
    assert any(k.name == "unasked" and k.accesses for k in kernels)
