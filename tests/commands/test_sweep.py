"""`smemlint sweep`: a stride, a padding, a constant, a block width; checked against the rule."""

from __future__ import annotations

import json
import xml.etree.ElementTree as Tree
from math import gcd
from pathlib import Path

import command_line
import pytest
from command_line import Capture

from smemlint.banks import wavefronts

KERNEL = """#define N 16
__global__ void k(float *p) {
    __shared__ float t[N][32];
    t[threadIdx.y][threadIdx.x] = 0;
    __syncthreads();
    p[0] = t[threadIdx.x % N][3];
}
void start(float *p) { k<<<1, dim3(32, 2)>>>(p); }
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("a.cu").write_text(KERNEL)
    return "a.cu"


def run(capsys: Capture, *arguments: str) -> tuple[int, str, str]:
    return command_line.run(capsys, "sweep", *arguments)


def points(capsys: Capture, *arguments: str) -> dict[int, float | None]:
    status, out, err = run(capsys, *arguments, "--output-format", "json")
    assert (status, err) == (0, "")
    (access,) = json.loads(out)["accesses"]
    return {p["value"]: p["ways"] for p in access["points"]}


def test_a_stride_of_words_costs_its_common_divisor_with_32(capfd: Capture) -> None:
    found = points(capfd, "float s[4096]", "s[threadIdx.x * n]", "--over", "n=1..64", "--block", "32")
    assert found == {n: gcd(n, 32) for n in range(1, 65)}


def test_the_rows_of_a_real_array_are_padded(file: str, capfd: Capture) -> None:
    found = points(capfd, "a.cu:6", "--over", "pad=0..8")
    told = {
        pad: wavefronts("load", 4, [(lane % 16 * (32 + pad) + 3) * 4 for lane in range(32)]).ways
        for pad in range(9)
    }
    assert found == told and found[0] == 16


def test_a_constant_of_the_file_is_varied(file: str, capfd: Capture) -> None:
    assert points(capfd, "a.cu:6", "--over", "N=1..32:31") == {1: 1, 32: 32}


def test_the_width_of_the_block_is_varied(file: str, capfd: Capture) -> None:
    found = points(capfd, "a.cu:6", "--over", "block=8..1024:504")
    assert found == {8: 8, 512: 16, 1016: None}


def test_the_table_names_the_best_values(file: str, capfd: Capture) -> None:
    status, out, _ = run(capfd, "a.cu:6", "--over", "pad=0..2")
    assert status == 0 and out == (
        "a.cu:6:12  t[threadIdx.x % N][3]\n"
        "k, block (32, 2, 1) from a.cu:8\n"
        "float t[16][32], row pitch 128 B\n"
        "load, 4 B a lane\n"
        "\n"
        "     pad  wavefronts   at best   ways\n"
        "       0          32         2     16  ████████████████\n"
        "       1           2         2      1  █\n"
        "       2           2         2      1  █\n"
        "1-way at 2 of 3 values: pad = 1, 2\n"
    )


def test_the_bars_of_the_svg_have_the_numbers_of_the_table(file: str, capfd: Capture) -> None:
    assert run(capfd, "a.cu:6", "--over", "pad=0..8", "-o", "s.svg")[0] == 0
    drawn = {
        int(g.attrib["data-value"]): float(g.attrib["data-ways"])
        for g in Tree.parse("s.svg").iter()
        if "data-value" in g.attrib
    }
    assert drawn == points(capfd, "a.cu:6", "--over", "pad=0..8")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["a.cu:6", "--over", "pad"], "argument --over: `pad`: expected NAME=FIRST..LAST"),
        (["a.cu:6", "--over", "pad=4..1"], "argument --over: `pad=4..1` has no value"),
        (["a.cu:6", "--over", "pad=0..9999"], "at most 512 are looked at"),
        (["a.cu:6", "--over", "M=1..4"], "`M` is not one constant of this file"),
        (["a.cu:1", "--over", "N=1..4"], "a.cu:1: no shared-memory access was seen here"),
        (["float s[64]", "s[threadIdx.x]", "--over", "pad=0..4"], "`s` has no rows to pad"),
        (["float s[64]", "s[threadIdx.x]", "--over", "n=0..4"], "`n` is not one constant"),
    ],
)
def test_what_cannot_be_swept_is_told(file: str, capfd: Capture, arguments: list[str], said: str) -> None:
    status, out, err = run(capfd, *arguments)
    assert status == 2 and out == "" and said in err and "Traceback" not in err
