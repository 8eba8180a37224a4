"""`smemlint why`: whole derivations."""

from __future__ import annotations

import re
from pathlib import Path

import command_line
import pytest
from command_line import Capture

from smemlint.view.help import HELP

ROOT = Path(__file__).resolve().parents[2]
KERNEL = """#define ROWS 8
template <int N> __global__ void k(float *p, const int *q, int n) {
    __shared__ float t[N][N];
    __shared__ int h[64];
    int row = threadIdx.x;
    for (int j = 0; j < N; j += ROWS) {
        t[row][threadIdx.y + j] = p[n];
    }
    h[q[threadIdx.x]] = 1;
    p[0] = t[0][threadIdx.x] + h[n];
}
void start(float *p) { k<32><<<1, dim3(32, ROWS)>>>(p, 0, 5); }
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    Path("a.cu").write_text(KERNEL)
    return "a.cu"


def run(capsys: Capture, *arguments: str) -> tuple[int, str, str]:
    return command_line.run(capsys, "why", *arguments)


def test_a_number_is_derived_from_the_index_as_written(file: str, capfd: Capture) -> None:
    assert run(capfd, "a.cu:7") == (
        0,
        "a.cu:7:9  t[row][threadIdx.y + j]\n"
        "k<N = 32>, block (32, 8, 1) from a.cu:12\n"
        "float t[32][32], row pitch 128 B\n"
        "store, 4 B a lane\n"
        "\n"
        "What it is made of\n"
        "  in the loop of line 6: for (int j = 0; j < N; j += ROWS) {\n"
        "  t            shared memory  a.cu:3\n"
        "                 __shared__ float t[N][N];\n"
        "  row          variable  a.cu:5\n"
        "                 int row = threadIdx.x;\n"
        "  threadIdx.y  0..7, block (32, 8, 1) from a.cu:12\n"
        "  j            variable  a.cu:6\n"
        "                 for (int j = 0; j < N; j += ROWS) {\n"
        "  ROWS         8, macro  a.cu:1\n"
        "                 #define ROWS 8\n"
        "  N            32, template argument  a.cu:12\n"
        "                 void start(float *p) { k<32><<<1, dim3(32, ROWS)>>>(p, 0, 5); }\n"
        "  threadIdx.x  0..31, block (32, 8, 1) from a.cu:12\n"
        "\n"
        "What each lane asks (warp 0, iteration 0 of 0..3, 32 wavefronts, 1 at best)\n"
        "  bytes from the array's start: 128 * threadIdx.x + 4 * threadIdx.y\n"
        "  from one iteration to the next: +32 B\n"
        "   lane      0      1      2      3      4      5      6      7\n"
        "   byte      0    128    256    384    512    640    768    896\n"
        "   bank      0      0      0      0      0      0      0      0\n"
        "   lane      8      9     10     11     12     13     14     15\n"
        "   byte   1024   1152   1280   1408   1536   1664   1792   1920\n"
        "   bank      0      0      0      0      0      0      0      0\n"
        "   lane     16     17     18     19     20     21     22     23\n"
        "   byte   2048   2176   2304   2432   2560   2688   2816   2944\n"
        "   bank      0      0      0      0      0      0      0      0\n"
        "   lane     24     25     26     27     28     29     30     31\n"
        "   byte   3072   3200   3328   3456   3584   3712   3840   3968\n"
        "   bank      0      0      0      0      0      0      0      0\n"
        "\n"
        "What it costs\n"
        "  bank 0 is asked for 32 words (and no bank for more): 32 wavefronts\n"
        "  together 32 wavefronts; 32 lanes of 4 B fill 1 at best: 32-way\n"
        "  one block: 32 requests, 1,024 wavefronts, 32 at best: 32-way (exact)\n",
        "",
    )


def test_where_certainty_was_lost_is_told_with_its_place(file: str, capfd: Capture) -> None:
    status, out, _ = run(capfd, "a.cu:9")
    assert (
        status == 0
        and (
            "Why it is a range\n"
            "  a.cu:9: h[q[threadIdx.x]] = 1;\n"
            "  data-dependent: depends on values loaded from `q`\n"
            "  what helps: nothing: it depends on the data\n"
        )
        in out
    )


def test_a_joined_access_names_its_partners(tmp_path: Path, capfd: Capture) -> None:
    path = tmp_path / "j.cu"
    path.write_text(
        "__global__ void k(float *p) { __shared__ float t[256];\n"
        "float *q = t + 2 * threadIdx.x;\nfloat a = q[0];\nfloat b = q[1];\np[threadIdx.x] = a + b; }\n"
    )
    _, out, _ = run(capfd, f"{path}:3", "--block", "64")
    said = " ".join(out.split())
    assert "the compiler joins it with `q[1]` (line 4) into one access of 8 B, which is what runs" in said
    assert "8 B a lane: the request runs in phases of 16 lanes" in said
    assert "bytes from the array's start: 8 * threadIdx.x" in said


def test_what_all_lanes_share_is_named(capfd: Capture) -> None:
    _, out, _ = run(capfd, "float t[32][33]", "t[threadIdx.x][k]", "--block", "32")
    assert "left out: `k`, the same for all lanes: it turns the banks and costs nothing" in out


def test_what_helps_stands_in_the_docs() -> None:
    text = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")
    rows = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("| `")]
    told = {
        code: cells[2].strip()
        for cells in rows
        if len(cells) == 3
        for code in re.findall("`([^`]+)`", cells[0])
        if cells[2].strip()
    }
    assert told == HELP
