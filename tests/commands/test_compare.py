"""`smemlint compare`: profiles in the format of Nsight Compute with the numbers that an H100 gave."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import command_line
import pytest
from command_line import Capture

from smemlint.cli import main

ROOT = Path(__file__).resolve().parents[2]
MEASURED = json.loads((ROOT / "fixtures" / "measured.json").read_text())
HEADER = '"Line No","Source","Address","Source","Instructions Executed","L1 Wavefronts Shared"'
SASS = {"load": "LDS R0, [R1]", "store": "STS [R1], R0"}


def export(name: str, *, ideal: bool = True) -> str:
    """What ncu prints for a fixture, from the measured lines."""
    text = (ROOT / "fixtures" / name).read_text().splitlines()
    rows = []
    for launch in MEASURED["fixtures"][name]:
        rows += [f'"File Path","/src/{name}"', f'"Function Name","{launch["kernel"]}"']
        rows.append(HEADER + (',"L1 Wavefronts Shared Ideal"' if ideal else ""))
        for _, line, op, warps, _, waves, best in launch["lines"]:
            source = text[line - 1].replace('"', '""')
            tail = f',"{best}"' if ideal else ""
            rows.append(f'"{line}","{source}","-","-","{warps}","{waves}"{tail}')
            rows.append(f'"","","0x10","{SASS[op]}","{warps}","{waves}"{tail}')
    return "\n".join(rows) + "\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "transpose.cu").write_text((ROOT / "fixtures" / "transpose.cu").read_text())
    (tmp_path / "p.csv").write_text(export("transpose.cu"))
    return tmp_path


def run(capsys: Capture, *arguments: str) -> tuple[int, str, str]:
    return command_line.run(capsys, "compare", *arguments)


def test_a_profile_that_agrees_says_so_first(folder: Path, capfd: Capture) -> None:
    assert run(capfd, "p.csv", "transpose.cu") == (
        0,
        "p.csv: source page, 5 launches\n"
        "10 of 10 lines with shared-memory wavefronts agree; 2 of 2 with conflicts were\n"
        "    told\n",
        "",
    )


def test_the_projects_own_measurements_agree_as_its_evaluation_says(capfd: Capture) -> None:
    status, out, _ = run(
        capfd, str(ROOT / "fixtures" / "measured.json"), str(ROOT / "fixtures"), "--output-format", "json"
    )
    lines = [
        line for line in json.loads(out)["lines"] if not (line["cause"] or "").startswith("library code")
    ]
    counts = {c: sum(line["category"] == c for line in lines) for c in ("agrees", "within range", "not seen")}
    assert status == 0 and len(lines) == 423
    assert counts["agrees"] >= 414 and counts["agrees"] + counts["within range"] == 420
    assert counts["not seen"] == 3


def test_a_profile_of_another_version_is_not_compared(folder: Path, capfd: Capture) -> None:
    path = folder / "transpose.cu"
    path.write_text("// a new first line\n" + path.read_text())
    status, out, _ = run(capfd, "p.csv", "transpose.cu")
    assert status == 0 and "no line with shared-memory wavefronts could be compared" in out
    assert "/src/transpose.cu has changed since the profile was taken, first in line 14:" in out
    assert "other version (10)" in out


def test_a_difference_has_a_likely_cause(folder: Path, capfd: Capture) -> None:
    path = folder / "transpose.cu"
    changed = path.read_text().replace("#define TILE_DIM 32", "#define TILE_DIM 16")
    path.write_text(changed)
    status, out, _ = run(capfd, "p.csv", "transpose.cu")
    assert status == 0 and "differs (" in out and "cause: another launch" in out
    assert "at best = 32-way; told 8-way" in out


def test_wavefronts_of_a_bulk_copy_are_told_apart(folder: Path, capfd: Capture) -> None:
    (folder / "p.csv").write_text(export("transpose.cu").replace("LDS R0, [R1]", "UBLKCP [UR4]"))
    _, out, _ = run(capfd, "p.csv", "transpose.cu")
    assert "counted for `UBLKCP`" in out


def test_wavefronts_alone_are_no_ways(folder: Path, capfd: Capture) -> None:
    (folder / "p.csv").write_text(export("transpose.cu", ideal=False))
    _, out, _ = run(capfd, "p.csv", "transpose.cu")
    assert "the profile lacks `L1 Wavefronts Shared Ideal`" in out and "a perfect" in out


def test_a_kernel_that_is_not_there_is_named(folder: Path, capfd: Capture) -> None:
    (folder / "b.cu").write_text("__global__ void other() {}\n")
    _, out, _ = run(capfd, "p.csv", "b.cu")
    assert "not compared: transposeColumn: no kernel of that name in these files" in out


@pytest.mark.parametrize(
    ("data", "said"),
    [(b"", "p.csv: is empty"), (b"a,b\n", "p.csv: is no export of Nsight Compute"), (None, "p.csv: ")],
)
def test_a_profile_that_cannot_be_read_is_told(
    folder: Path, capfd: Capture, data: bytes | None, said: str
) -> None:
    (folder / "p.csv").unlink()
    if data is not None:
        (folder / "p.csv").write_bytes(data)
    status, out, err = run(capfd, "p.csv", "transpose.cu")
    assert status == 2 and out == "" and said in err and "Traceback" not in err


def test_block_shapes_are_taken_over(folder: Path, capfd: Capture) -> None:
    (folder / "k.cu").write_text(
        "__global__ void k() { __shared__ float t[32][32]; t[threadIdx.x][threadIdx.y] = 0; }\n"
    )
    (folder / "raw.csv").write_text(
        '"ID","Kernel Name","Block Size","Grid Size"\n"0","k()","(16, 4, 1)","(1, 1, 1)"\n'
    )
    assert main(["inspect", "k.cu", "--launches-from", "raw.csv", "--output-format", "json"]) == 0
    (kernel,) = json.loads(capfd.readouterr().out)["kernels"]
    assert kernel["launch"]["block"] == [16, 4, 1]
    assert main(["inspect", "k.cu", "--launches-from", "p.csv"]) == 2
    assert "tells no block shapes" in capfd.readouterr().err


def test_what_ncu_printed_on_a_gpu_agrees_line_by_line_and_as_a_whole(folder: Path, capfd: Capture) -> None:
    gemm = str(ROOT / "fixtures" / "gemm.cu")
    for page in ("cuda_sass", "sass", "raw"):
        data = (ROOT / "tests" / "profile" / "h100" / f"gemm.{page}.csv.gz").read_bytes()
        (folder / f"{page}.csv").write_bytes(gzip.decompress(data))
    _, out, _ = run(capfd, "cuda_sass.csv", gemm)
    assert "15 of 15 lines with shared-memory wavefronts agree; 3 of 3 with conflicts were\n    told\n" in out
    for page in ("sass", "raw"):
        _, out, _ = run(capfd, f"{page}.csv", gemm)
        assert "5 of 5 launches agree, each as a whole\n" in out
        assert "561,152 wavefronts / 102,400 at best = 5.5-way; told 5.5-way" in " ".join(out.split())
    _, out, _ = run(capfd, "raw.csv", gemm, "--output-format", "json")
    assert {k["category"] for k in json.loads(out)["kernels"]} == {"agrees"}
