"""`smemlint banks`: the numbers in the pictures are those of the trace."""

from __future__ import annotations

import json
import xml.etree.ElementTree as Tree
from pathlib import Path

import command_line
import pytest
from command_line import Capture

from smemlint.banks import wavefronts

SVG = "{http://www.w3.org/2000/svg}"
KERNEL = """__global__ void k(float *out, int m) {
    __shared__ float t[32][32];
    t[threadIdx.y][threadIdx.x] = 0;
    __syncthreads();
    for (int i = 0; i < 4; i++)
        out[i] += t[threadIdx.x >> i][threadIdx.y];
}
void start(float *out) { k<<<1, dim3(32, 8)>>>(out, 1); }
"""


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("a.cu").write_text(KERNEL)
    return "a.cu"


def run(capsys: Capture, *arguments: str) -> tuple[int, str, str]:
    return command_line.run(capsys, "banks", *arguments)


def test_a_typed_access_is_drawn_now_and_with_its_fix(capfd: Capture) -> None:
    status, out, err = run(capfd, "float t[4][32]", "t[threadIdx.x % 4][k]", "--block", "32")
    assert (status, err) == (0, "")
    assert out == (
        "t[threadIdx.x % 4][k]\n"
        "block (32, 1, 1) from --block\n"
        "float t[4][32], row pitch 128 B\n"
        "load, 4 B a lane\n"
        "one block: 1 request, 4 wavefronts, 1 at best: 4-way (exact)\n"
        "\n"
        "warp 0, 4 wavefronts, 1 at best\n"
        "bank   0   2   4   6   8  10  12  14  16  18  20  22  24  26  28  30\n"
        "w0     0 · · · · · · · · · · · · · · · · · · · · · · · · · · · · · · ·  8 lanes\n"
        "w1     1 · · · · · · · · · · · · · · · · · · · · · · · · · · · · · · ·  8 lanes\n"
        "w2     2 · · · · · · · · · · · · · · · · · · · · · · · · · · · · · · ·  8 lanes\n"
        "w3     3 · · · · · · · · · · · · · · · · · · · · · · · · · · · · · · ·  8 lanes\n"
        "all lanes' addresses share a part that is not known: banks count from there\n"
        "broadcast: 4 words go to several lanes at once, word 0 to lanes 0, 4 .. 28\n"
        "\n"
        "with the fix `t[4][33]`, +16 B\n"
        "block (32, 1, 1) from --block\n"
        "float t[4][33], row pitch 132 B\n"
        "load, 4 B a lane\n"
        "one block: 1 request, 1 wavefront, 1 at best: 1-way (exact)\n"
        "\n"
        "warp 0, 1 wavefront, 1 at best\n"
        "bank   0   2   4   6   8  10  12  14  16  18  20  22  24  26  28  30\n"
        "w0     0 1 2 3 · · · · · · · · · · · · · · · · · · · · · · · · · · · ·  32 lanes\n"
        "all lanes' addresses share a part that is not known: banks count from there\n"
        "broadcast: 4 words go to several lanes at once, word 0 to lanes 0, 4 .. 28\n"
    )


def test_a_map_says_that_its_numbers_touch_and_where_they_would_not(
    capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    access = ("float t[32]", "t[threadIdx.x]", "--block", "32")
    assert (
        "\nnumbers of two digits touch: use 114 columns, or draw it: -o map.svg\n" in run(capfd, *access)[1]
    )
    monkeypatch.setenv("COLUMNS", "114")
    assert "digits touch" not in run(capfd, *access)[1]
    monkeypatch.setenv("COLUMNS", "80")
    assert "digits touch" not in run(capfd, "float t[32]", "t[threadIdx.x % 4]", "--block", "32")[1]


@pytest.mark.parametrize("width", [80, 100, 200])
def test_no_line_is_wider_than_the_terminal(
    capfd: Capture, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    _, out, _ = run(capfd, "double t[32][32]", "t[threadIdx.x][3]", "--block", "32")
    assert max(map(len, out.splitlines())) <= width


def test_the_cells_of_the_svg_are_the_lanes_of_the_trace(file: str, capfd: Capture) -> None:
    status, out, _ = run(capfd, "a.cu:6", "--warp", "3", "--iteration", "1", "-o", "m.svg")
    assert (status, out) == (0, "")
    tree = Tree.fromstring(Path("m.svg").read_text())
    maps = [g for g in tree.iter(f"{SVG}g") if "data-wavefronts" in g.attrib]
    now, after = maps
    offsets = [((lane >> 1) * 32 + 3) * 4 for lane in range(32)]
    cost = wavefronts("load", 4, offsets)
    counted = now.attrib["data-wavefronts"], now.attrib["data-ideal"]
    assert counted == (str(cost.wavefronts), str(cost.ideal))
    assert (now.attrib["data-warp"], now.attrib["data-visit"]) == ("3", "1")
    cells = [g.attrib for g in now.iter(f"{SVG}g") if "data-lanes" in g.attrib]
    drawn = {
        int(lane): (int(c["data-word"]), int(c["data-bank"]))
        for c in cells
        for lane in c["data-lanes"].split()
    }
    assert drawn == {lane: (offset // 4, offset // 4 % 32) for lane, offset in enumerate(offsets)}
    assert {int(c["data-wavefront"]) for c in cells} == set(range(16))
    assert int(after.attrib["data-wavefronts"]) == 1


def test_json_has_every_wavefront(file: str, capfd: Capture) -> None:
    status, out, _ = run(capfd, "a.cu:6", "--output-format", "json")
    (access,) = json.loads(out)["accesses"]
    assert status == 0 and (access["wavefronts"], access["ideal"], access["iterations"]) == (480, 32, 4)
    assert len(access["map"]["wavefronts"]) == access["map"]["high"] == 32
    assert access["fix"]["code"] == "t[32][33]" and len(access["fix"]["access"]["map"]["wavefronts"]) == 1


def test_a_column_chooses_among_the_accesses_of_a_line(tmp_path: Path, capfd: Capture) -> None:
    path = tmp_path / "two.cu"
    path.write_text(
        "__global__ void k() { __shared__ int a[64], b[64];\na[threadIdx.x] = b[threadIdx.x * 2];\n}\n"
    )
    both = json.loads(run(capfd, f"{path}:2", "--block", "32", "--output-format", "json")[1])["accesses"]
    assert {a["array"] for a in both} == {"int a[64]", "int b[64]"}
    right = json.loads(run(capfd, f"{path}:2:20", "--block", "32", "--output-format", "json")[1])["accesses"]
    assert [(a["array"], a["op"]) for a in right] == [("int b[64]", "load")]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["a.cu"], "`a.cu`: expected FILE:LINE or FILE:LINE:COLUMN"),
        (["a.cu:1"], "a.cu:1: no shared-memory access was seen here; the nearest lines with one: 3, 6"),
        (["none.cu:1"], "none.cu:1:1: cannot be read: no such file"),
        (["a.cu:6", "--warp", "9"], "warp 9 makes no request there; these do: 0..7"),
        (["a.cu:6", "--iteration", "9"], "no request in iteration 9; there are 4, from 0"),
        (["float t[4]", "u[0]"], "`u[0]` does not name `t`"),
        (["float t[4]; int x", "t[0]"], "is more than one declaration"),
        (["float", "t[0]"], "`float` declares no variable"),
        (["float t[32]", "t[threadIdx.x"], "no shared-memory access was read from `t[threadIdx.x`"),
        (["a.cu:6", "x", "y"], "expected FILE:LINE, or a declaration and an access"),
        (["a.cu:6", "-o", "none/m.svg"], "none/m.svg: cannot be written"),
    ],
)
def test_what_cannot_be_drawn_is_told(file: str, capfd: Capture, arguments: list[str], said: str) -> None:
    status, out, err = run(capfd, *arguments)
    assert status == 2 and out == "" and said in err and "Traceback" not in err


def test_a_copy_that_its_source_makes_dear_says_that_the_map_has_the_banks_alone(
    tmp_path: Path, capfd: Capture
) -> None:
    """Lanes 64 bytes apart in global memory: 32 wavefronts on an H100, of 4 that the banks ask for."""
    (tmp_path / "c.cu").write_text(
        "#include <cuda_pipeline.h>\n"
        "__global__ void k(const float4 *g, float4 *out) {\n"
        "    __shared__ float4 s[32];\n"
        "    __pipeline_memcpy_async(&s[threadIdx.x], g + 4 * threadIdx.x, 16);\n"
        "    __pipeline_commit(); __pipeline_wait_prior(0); __syncthreads();\n"
        "    out[threadIdx.x] = s[threadIdx.x];\n}\n"
        "void run(float4 *g, float4 *out) { k<<<1, 32>>>(g, out); }\n"
    )
    _, out, _ = run(capfd, f"{tmp_path}/c.cu:4")
    assert "warp 0, 4 wavefronts, 4 at best; it costs 32\n" in out
    said = "what a copy costs depends on where it reads global memory, too; drawn are the banks alone"
    assert said in " ".join(out.split())
    assert "global memory" not in run(capfd, f"{tmp_path}/c.cu:6")[1]
