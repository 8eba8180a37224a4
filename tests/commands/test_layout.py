"""`smemlint layout`: whole outputs."""

from __future__ import annotations

import json
import xml.etree.ElementTree as Tree
from pathlib import Path

import command_line
import pytest
from command_line import Capture

KERNEL = """__global__ void k(float *p) {
    __shared__ char flags[3];
    __shared__ float t[32][33];
    extern __shared__ float d[];
    flags[threadIdx.x % 3] = 1;
    t[threadIdx.y][threadIdx.x] = d[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = t[threadIdx.x][0] + flags[0];
}
void start(float *p) { k<<<1, dim3(32, 8), 65536>>>(p); }
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    Path("a.cu").write_text(KERNEL)
    return "a.cu"


def run(capsys: Capture, *arguments: str) -> tuple[int, str, str]:
    return command_line.run(capsys, "layout", *arguments)


def test_the_table_of_a_kernel(file: str, capfd: Capture) -> None:
    assert run(capfd, file) == (
        0,
        "a.cu:1 k, block (32, 8, 1) from a.cu:10\n"
        "    offset     bytes  align  bank  array\n"
        "         0         3      1     0  char flags[3], widest access 1 B\n"
        "         3         1      -     -  padding\n"
        "         4     4,224      4     1  float t[32][33], row pitch 132 B, widest access 4 B\n"
        "     4,228        12      -     -  padding\n"
        "     4,240    65,536     16     4  extern float d[], widest access 4 B\n"
        "    static 4,240 B (13 B of it padding), dynamic 65,536 B, total 69,776 B\n"
        "    more than 49,152 B: the launch must opt in\n"
        "        (cudaFuncAttributeMaxDynamicSharedMemorySize)\n"
        "    resident blocks: sm_70 to sm_72: 1, sm_75: does not fit, sm_80: 2, sm_86: 1,\n"
        "        sm_87: 2, sm_89: 1, sm_90 to sm_110: 3, sm_120 to sm_121: 1 (registers\n"
        "        left out)\n",
        "",
    )


def test_the_bars_of_the_svg_have_the_numbers_of_the_table(file: str, capfd: Capture) -> None:
    assert run(capfd, file, "-o", "l.svg")[0] == 0
    drawn = [g.attrib for g in Tree.parse("l.svg").iter() if "data-piece" in g.attrib]
    kernel = json.loads(run(capfd, file, "--output-format", "json")[1])["kernels"][0]
    assert [(int(d["data-offset"]), int(d["data-bytes"])) for d in drawn] == [
        (p["offset"], p["bytes"]) for p in kernel["pieces"]
    ]
    assert kernel["resident_blocks"]["sm_90"] == 3 and kernel["padding"] == 13


def test_a_broken_file_is_told_and_the_others_are_laid_out(file: str, capfd: Capture) -> None:
    status, out, err = run(capfd, "none.cu", file)
    assert status == 2 and "none.cu" in err and out.startswith("a.cu:1 k,")


def test_a_kernel_that_is_not_there_is_an_error(file: str, capfd: Capture) -> None:
    assert run(capfd, file, "--kernel", "q") == (
        2,
        "",
        "error: no kernel with shared memory is called `q`\n",
    )
