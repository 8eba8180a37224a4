"""--diff, --fix, --unsafe-fixes and --verify: what the user sees, and what becomes of the files."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from command_line import Capture, run

from smemlint.api import Job, analyse_file
from smemlint.cli import main

KERNEL = """__global__ void k(float *out) {
    __shared__ float t[32][32];
    t[threadIdx.y][threadIdx.x] = 0;
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = t[threadIdx.x][threadIdx.y];
}
"""
LAUNCH = "void start(float *out) { k<<<1, dim3(32, 32)>>>(out); }\n"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("a.cu")
    path.write_text(KERNEL + LAUNCH)
    return path


def test_a_diff_is_a_patch_and_changes_nothing(file: Path, capfd: Capture) -> None:
    before = file.read_bytes()
    status, out, err = run(capfd, "--diff", "a.cu")
    assert status == 1 and file.read_bytes() == before
    assert "-    __shared__ float t[32][32];\n+    __shared__ float t[32][33];\n" in out
    assert "would fix 1 array in 1 file: 1056 wavefronts a block become 64" in err
    subprocess.run(["patch", "-p1"], input=out, text=True, check=True, capture_output=True)
    assert file.read_text() == (KERNEL + LAUNCH).replace("[32][32]", "[32][33]")


def test_fix_writes_the_file_and_reports_what_is_left(file: Path, capfd: Capture) -> None:
    status, out, err = run(capfd, "--fix", "a.cu")
    assert status == 0
    assert file.read_text() == (KERNEL + LAUNCH).replace("[32][32]", "[32][33]")
    assert "fixed 1 array in 1 file" in err and "0 findings" in out
    assert [p.name for p in Path().iterdir()] == ["a.cu"]


def test_an_unsafe_fix_waits_to_be_asked_for(file: Path, capfd: Capture) -> None:
    file.write_text(KERNEL)
    run(capfd, "--fix", "a.cu")
    assert file.read_text() == KERNEL


def test_a_read_only_file_is_left_and_makes_status_2(file: Path, capfd: Capture) -> None:
    file.chmod(0o444)
    status, _, err = run(capfd, "--fix", "a.cu")
    assert status == 2 and "a.cu: the file is read-only, left as it is" in err
    assert file.read_text() == KERNEL + LAUNCH


def test_a_file_that_does_not_compile_is_left(file: Path, capfd: Capture) -> None:
    _, _, err = run(capfd, "--fix", "--verify", "sh -c 'echo cannot; exit 1'", "a.cu")
    assert "does not compile, left as it is" in err and "cannot" in err
    assert file.read_text() == KERNEL + LAUNCH


def test_a_finding_that_is_not_selected_is_not_fixed(file: Path, capfd: Capture) -> None:
    run(capfd, "--fix", "--select", "SMEM2", "a.cu")
    assert file.read_text() == KERNEL + LAUNCH


def test_a_suppressed_finding_is_not_fixed(file: Path, capfd: Capture) -> None:
    text = (KERNEL + LAUNCH).replace("[threadIdx.y];", "[threadIdx.y];  // smemlint: ignore[SMEM101] known")
    file.write_text(text)
    run(capfd, "--fix", "a.cu")
    assert file.read_text() == text


@pytest.mark.parametrize(
    "arguments",
    [
        ("--unsafe-fixes", "a.cu"),
        ("--verify", "nvcc", "a.cu"),
        ("--fix", "-"),
        ("--fix", "--diff", "a.cu"),
    ],
)
def test_options_that_do_not_go_together_are_told(
    file: Path, capfd: Capture, arguments: tuple[str, ...]
) -> None:
    status, _, err = run(capfd, *arguments)
    assert status == 2 and err.startswith("error: ")


def test_an_array_that_a_macro_of_another_file_uses_is_right_or_refused(file: Path, capfd: Capture) -> None:
    Path("access.h").write_text("#define AT(i) t[(i) * 32]\n")
    text = (
        '#include "access.h"\n__global__ void k(float *out) {\n    __shared__ float t[1024];\n'
        "    AT(threadIdx.x) = 0;\n    out[threadIdx.x] = t[threadIdx.x * 32 + 1];\n}\n"
        "void start(float *out) { k<<<1, 32>>>(out); }\n"
    )
    file.write_text(text)
    run(capfd, "--fix", "--unsafe-fixes", "a.cu")
    assert file.read_text() == text


def test_bytes_that_are_not_utf8_reach_the_patch(
    file: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    text = (KERNEL + LAUNCH).encode().replace(b"[32][32];", b"[32][32];  // \xe9\xff")
    file.write_bytes(text)
    main(["--diff", "a.cu"])
    out = capfdbinary.readouterr().out
    assert b"+    __shared__ float t[32][33];  // \xe9\xff\n" in out
    main(["--fix", "a.cu"])
    assert file.read_bytes() == text.replace(b"[32][32]", b"[32][33]")


def test_the_working_directory_may_be_another(
    file: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = file.absolute()
    monkeypatch.chdir(os.sep)
    assert run(capfd, "--fix", str(path))[0] == 0
    assert "t[32][33]" in path.read_text()


@pytest.mark.parametrize("paths", [("main.cu",), (".",)])
def test_a_kernel_in_a_header_is_fixed_where_it_is_started(
    file: Path, capfd: Capture, paths: tuple[str, ...]
) -> None:
    file.unlink()
    Path("k.cuh").write_text(KERNEL)
    Path("main.cu").write_text('#include "k.cuh"\n' + LAUNCH)
    assert run(capfd, "--fix", *paths)[0] == 1
    assert Path("k.cuh").read_text() == KERNEL
    _, _, err = run(capfd, "--fix", "--unsafe-fixes", *paths)
    assert Path("k.cuh").read_text() == KERNEL.replace("[32][32]", "[32][33]"), err
    assert Path("main.cu").read_text() == '#include "k.cuh"\n' + LAUNCH


@pytest.mark.parametrize("name", ["scan", "reduce", "pool", "joined"])
def test_all_that_is_offered_for_a_file_is_written_together(name: str, capfd: Capture) -> None:
    path = Path(__file__).resolve().parents[2] / "fixtures" / f"{name}.cu"
    report = analyse_file(Job(str(path)))
    offered = [s for s in report.suggestions if s.edits is not None]
    _, _, err = run(capfd, "--diff", "--unsafe-fixes", str(path))
    assert f"would fix {len(offered)} array" in err
