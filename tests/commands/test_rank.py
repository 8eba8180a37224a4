"""Findings and kernels by what they cost, as the command says them on eighty columns."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import re
import struct
import sys
import termios
from pathlib import Path

import pytest
from command_line import Capture, run

from smemlint.system import streams

GEMM = """\
__global__ void gemm(const float *a, float *c, int K, int n)
{
    __shared__ float t[32][32];
    __shared__ float u[32][32];
    float acc = 0;
    u[threadIdx.y][threadIdx.x] = c[threadIdx.x];
    for (int k = 0; k < K; k += 32) {
        t[threadIdx.x][threadIdx.y] = a[k];
        __syncthreads();
        for (int i = 0; i < 32; i++) acc += t[i][threadIdx.x] * t[threadIdx.x][i];
        __syncthreads();
    }
    for (int j = 0; j < n; j++) acc += u[threadIdx.x][j * j % 32];
    c[threadIdx.x] = acc;
}
void start(float *a, float *c, int n) { gemm<<<dim3(8, 8), dim3(32, 8)>>>(a, c, 320, n); }
"""
COPY = """\
__global__ void copy(const float *a, float *c)
{
    __shared__ float s[32][32];
    s[threadIdx.x][0] = a[threadIdx.x];
    for (int i = 0; i < 100; i++) c[i] = s[0][(threadIdx.x + i) % 32];
}
void start(float *a, float *c) { copy<<<1, 32>>>(a, c); }
"""
RANKED = """\
      excess           of  share  wavefronts a block; share: excess, % of kernel
     ~28,336      ~33,800    84%  gemm gemm.cu:1, block (32, 8), 64 blocks
      17,920       23,040    53%    :10 t[threadIdx.x][i] and 1 more, 8-way
      ~7,936       ~8,192    23%    :13 u[threadIdx.x][j * j % 32], 32-way
       2,480        2,560     7%    :8 t[threadIdx.x][threadIdx.y], 32-way
          31          132    23%  copy copy.cu:1, block (32), 1 block
          31           32    23%    :4 s[threadIdx.x][0], 32-way
~: a loop of unknown length is counted as 32 iterations
3 findings (4 places) in 2 of 2 files; 7 accesses, 7 resolved; 0 unparsed
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "gemm.cu").write_text(GEMM, encoding="utf-8")
    (tmp_path / "copy.cu").write_text(COPY, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(streams, "columns", lambda: 80)
    return tmp_path


def test_kernels_and_lines_are_listed_by_what_they_waste(capsys: Capture) -> None:
    assert run(capsys, "rank", ".") == (0, RANKED, "")


def test_the_list_can_be_cut(capsys: Capture) -> None:
    _, out, _ = run(capsys, "rank", ".", "--top", "1", "--min-share", "40")
    assert ":10 t[threadIdx.x][i]" in out and ":13 " not in out and "1 more kernel not shown (--top)" in out


def test_the_ranking_as_json_has_the_numbers_behind_the_estimate(capsys: Capture) -> None:
    _, out, _ = run(capsys, "rank", ".", "--output-format", "json")
    data = json.loads(out)
    assert [k["name"] for k in data["kernels"]] == ["gemm", "copy"] and data["iterations_assumed"] == 32
    gemm, copy = data["kernels"]
    assert (gemm["blocks"], gemm["block"], copy["blocks"]) == (64, [32, 8, 1], 1)
    assert [d["wavefronts"] for d in copy["by_depth"]] == [132] and copy["floor"] == 101
    inside = next(x for x in gemm["lines"] if x["line"] == 13)
    assert inside["by_depth"][0]["wavefronts"] == 0 and inside["by_depth"][1]["requests"] > 0


def test_the_costliest_finding_comes_first_where_that_is_asked_for(capsys: Capture) -> None:
    _, by_path, _ = run(capsys, ".", "--output-format", "concise")
    _, by_cost, _ = run(capsys, ".", "--output-format", "concise", "--sort", "cost")
    assert [line.split(":")[0] for line in by_path.splitlines()[:3]] == ["copy.cu", "gemm.cu", "gemm.cu"]
    assert [line.split(":")[:2] for line in by_cost.splitlines()[:3]] == [
        ["gemm.cu", "10"],
        ["gemm.cu", "13"],
        ["copy.cu", "4"],
    ]
    _, out, _ = run(capsys, ".", "--output-format", "concise", "--top", "1")
    assert out.startswith("gemm.cu:10") and out.splitlines()[1] == "2 more findings not shown (--top)"
    assert run(capsys, ".", "--output-format", "concise", "--top", "1", "--sort", "path")[1].startswith(
        "copy"
    )


def test_findings_that_waste_little_can_be_left_out(capsys: Capture) -> None:
    status, out, _ = run(capsys, ".", "--min-share", "30", "--output-format", "concise")
    assert status == 1 and "copy.cu:" not in out and "2 findings below --min-share" in out
    status, out, _ = run(capsys, "copy.cu", "--min-share", "30", "--output-format", "concise")
    assert status == 0 and "1 finding below --min-share" in out


def test_no_line_is_wider_than_the_terminal(capsys: Capture) -> None:
    _, out, _ = run(capsys, ".", "--level", "note")
    assert max(map(len, out.splitlines())) <= 80
    assert "= also: line 8 (32-way)\n" in out and "= cost: about 68% of" in out


def test_github_gets_a_notice_for_what_hardly_matters(capsys: Capture, folder: Path) -> None:
    (folder / "copy.cu").write_text(COPY.replace("i < 100", "i < 5000"), encoding="utf-8")
    _, out, _ = run(capsys, ".", "--output-format", "github", "--level", "note")
    told = [line for line in out.splitlines() if "title=SMEM1" in line]
    levels = {(line.split(" ", 1)[0], "copy.cu" in line) for line in told}
    assert levels == {("::warning", False), ("::notice", True)}


def test_sarif_ranks_results_and_names_their_cause(capsys: Capture) -> None:
    _, out, _ = run(capsys, "gemm.cu", "--output-format", "sarif")
    results = json.loads(out)["runs"][0]["results"]
    assert len(results) == 3 and len({r["properties"]["group"] for r in results}) == 2
    assert all(0 < r["rank"] <= 100 for r in results)


def test_json_has_one_finding_for_each_cause_and_one_diagnostic_for_each_place(capsys: Capture) -> None:
    _, out, _ = run(capsys, "gemm.cu", "--output-format", "json")
    data = json.loads(out)
    assert [f["lines"] for f in data["findings"]] == [[8, 10], [13]]
    assert {d["group"] for d in data["diagnostics"]} == {f["group"] for f in data["findings"]}
    assert data["findings"][0]["cost"]["share"] > data["diagnostics"][0]["cost"]["share"] > 0
    assert data["summary"]["findings"] == 2 and data["summary"]["lines"] == 3


def test_on_a_terminal_the_costliest_comes_first_and_fits(folder: Path) -> None:
    pid, terminal = pty.fork()
    if pid == 0:  # pragma: no cover - the child
        environment = {**os.environ, "CI": "1", "TERM": "xterm", "COLUMNS": "", "LINES": ""}
        os.execve(sys.executable, [sys.executable, "-m", "smemlint", ".", "-j", "1"], environment)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    output = b""
    with contextlib.suppress(OSError):  # the end of a terminal
        while data := os.read(terminal, 65536):
            output += data
    os.waitpid(pid, 0)
    text = re.sub(r"\x1b\[[\d;]*[A-Za-z]", "", output.decode().replace("\r", ""))
    assert text != output.decode().replace("\r", "")  # it has colours
    assert max(map(len, text.splitlines())) <= 80
    assert re.findall(r"--> (\S+):\d+\n", text) == ["gemm.cu:10", "gemm.cu:13", "copy.cu:4"]
