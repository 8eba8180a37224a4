"""Exports of Nsight Compute are read as it prints them; what is no export is refused in words."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from smemlint.profile.model import MeasuredLine, ProfileError
from smemlint.profile.read import op_of, read

COUNTED = '"Instructions Executed","L1 Wavefronts Shared","L1 Wavefronts Shared Ideal"'
HEADER = f'"Line No","Source","Address","Source",{COUNTED}'
SOURCE = f"""==PROF== Connected to process 1
"File Path","/src/a.cu"
"Function Name","k(float *)"
{HEADER}
"5","    t[i] = 0;","-","-","8","1,024","32"
"","","0x7f10","      STS [R2], RZ","8","1,024","32"
"6","    p[0] = t[i];","-","-","16","16","16"
"","","0x7f20","      LDS R0, [R2]","8","16","16"
"","","0x7f30","      STG.E [R4], R0","8","0","0"
"File Path","/src/b.cuh"
"Function Name","k(float *)"
{HEADER}
"2","    atomicAdd(c, 1);","-","-","8","8","8"
"","","0x7f40","      ATOMS.POPC.INC.32 RZ, [R3]","8","8","8"
"""


def test_the_source_page_gives_each_line_by_kind_of_instruction() -> None:
    (kernel,) = read("p.csv", SOURCE.encode()).kernels
    assert kernel.name == "k(float *)" and kernel.block is None
    assert kernel.lines == (
        MeasuredLine("/src/a.cu", 5, "store", 1024, 32, 8),
        MeasuredLine("/src/a.cu", 6, "load", 16, 16, 8),
        MeasuredLine("/src/b.cuh", 2, "atomic", 8, 8, 8),
    )
    assert kernel.sources["/src/a.cu"][5].strip() == "t[i] = 0;"


def test_a_second_launch_of_a_kernel_is_a_launch_of_its_own() -> None:
    assert len(read("p.csv", (SOURCE + SOURCE).encode()).kernels) == 2


def test_lines_without_instructions_are_taken_as_they_are() -> None:
    text = (
        '"File Path","a.cu"\n"Function Name","k()"\n'
        '"Line No","Source","L1 Wavefronts Shared","L1 Wavefronts Shared Ideal"\n"5","t[i] = 0;","64","2"\n'
    )
    (kernel,) = read("p.csv", text.encode()).kernels
    assert kernel.lines == (MeasuredLine("a.cu", 5, "", 64, 2),)


def test_instructions_without_lines_are_added_up() -> None:
    text = (
        '"Kernel Name","k()"\n"Address","Source","L1 Wavefronts Shared","L1 Wavefronts Shared Ideal"\n'
        '"0x10","LDS R0, [R1]","64","2"\n"0x20","STS [R1], R0","4","4"\n'
    )
    (kernel,) = read("p.csv", text.encode()).kernels
    assert kernel.lines == () and kernel.total == (68, 6)


def test_the_raw_page_gives_shapes_and_totals() -> None:
    text = (
        '"ID","Kernel Name","Block Size","Grid Size","memory_l1_wavefronts_shared"\n"","","","",""\n'
        '"0","k(float *)","(32, 8, 1)","(4, 4, 1)","2,048"\n'
    ).replace('"\\"', '""')
    (kernel,) = read("p.csv", text.encode()).kernels
    assert (kernel.block, kernel.grid, kernel.total) == ((32, 8, 1), (4, 4, 1), (2048, None))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "is empty"),
        (b"\n \n", "is empty"),
        (b"\x7fELF\0\0", "is binary"),
        (b"a,b\n1,2\n", "is no export of Nsight Compute"),
        (b'{"a": 1}', "is JSON of something else"),
        (b'{"a": ', "is no JSON"),
        (b'"ID","Kernel Name","Metric Name","Metric Value"\n', "is the details page"),
        (b'"ID","Kernel Name","Block Size"\n', "has a header and no launch"),
        (b'"File Path","a.cu"\n"Function Name","k()"\n', "is cut off"),
        (b'"File Path","a.cu"\n"Function Name","k()"\n"Line No","Source"\n"1","x"\n', "has no column"),
    ],
)
def test_what_is_no_profile_is_refused(data: bytes, said: str) -> None:
    with pytest.raises(ProfileError, match=said):
        read("p.csv", data)


def test_a_report_needs_the_module_that_reads_it() -> None:
    with pytest.raises(ProfileError, match="needs NVIDIA's module `ncu_report`"):
        read("p.ncu-rep", b"x")


def test_a_report_is_read_through_that_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ncu_report", _module())
    (kernel,) = read("p.ncu-rep", b"x").kernels
    assert (kernel.name, kernel.block, kernel.grid) == ("k(float *)", (32, 1, 1), (2, 1, 1))
    assert kernel.lines == (MeasuredLine("a.cu", 5, "load", 64, 2, 2),)


def _module() -> Any:
    """A stand-in with the interface of NVIDIA's module, for one launch of one LDS."""

    def instanced(value: int) -> Any:
        ids = SimpleNamespace(as_uint64=lambda i: 0x10)
        return SimpleNamespace(
            correlation_ids=lambda: ids, as_uint64=lambda i: value, num_instances=lambda: 1
        )

    metrics: dict[str, Any] = {
        "memory_l1_wavefronts_shared": instanced(64),
        "memory_l1_wavefronts_shared_ideal": instanced(2),
        "inst_executed": instanced(2),
    }
    for what, shape in (("block", (32, 1, 1)), ("grid", (2, 1, 1))):
        for axis, size in zip("xyz", shape, strict=True):
            metrics[f"launch__{what}_dim_{axis}"] = SimpleNamespace(as_uint64=lambda size=size: size)
    action = SimpleNamespace(
        NameBase_DEMANGLED=0,
        name=lambda base: "k(float *)",
        metric_by_name=metrics.get,
        sass_by_pc=lambda pc: "LDS R0, [R2]",
        source_info=lambda pc: SimpleNamespace(file_name=lambda: "/src/a.cu", line=lambda: 5),
    )
    part = SimpleNamespace(num_actions=lambda: 1, action_by_idx=lambda a: action)
    context = SimpleNamespace(num_ranges=lambda: 1, range_by_idx=lambda r: part)
    return SimpleNamespace(load_report=lambda path: context)


def test_instructions_are_told_apart() -> None:
    told = [
        op_of(f"@P0 {sass} R0, [R1]") for sass in ("LDS.128", "STS", "LDSM.16.M88.4", "ATOMS.ADD", "LDGSTS.E")
    ]
    assert told == ["load", "store", "ldmatrix", "atomic", "cp.async"]
    assert op_of("@!P0 UBLKCP [UR4]") == "other UBLKCP"


def test_wavefronts_of_other_instructions_are_not_lost() -> None:
    text = SOURCE.replace("STG.E [R4], R0", "UBLKCP [UR4]").replace('"8","0","0"', '"8","12","12"')
    (kernel,) = read("p.csv", text.encode()).kernels
    assert MeasuredLine("/src/a.cu", 6, "other UBLKCP", 12, 12, 8) in kernel.lines


H100 = Path(__file__).parent / "h100"
"""What ncu 2025.3.1 printed for two fixtures on an H100; reports.json: what was read there of its reports."""


def printed(name: str) -> bytes:
    return gzip.decompress((H100 / f"{name}.csv.gz").read_bytes())


@pytest.mark.parametrize("name", ["gemm", "templates"])
def test_the_page_that_ncu_printed_says_what_its_report_says(name: str) -> None:
    read_there = json.loads((H100 / "reports.json").read_text())[f"{name}.ncu-rep"]
    kernels = read("p.csv", printed(f"{name}.cuda_sass")).kernels
    assert [k.name for k in kernels] == [each[0] for each in read_there]
    for kernel, (_, _, _, _, lines) in zip(kernels, read_there, strict=True):
        told = [[Path(x.file).name, x.line, x.op, x.wavefronts, x.ideal, x.warps] for x in kernel.lines]
        assert told == lines


def test_sass_alone_and_the_raw_page_give_the_same_totals() -> None:
    sass, raw = (read("p.csv", printed(f"gemm.{page}")).kernels for page in ("sass", "raw"))
    lines = read("p.csv", printed("gemm.cuda_sass")).kernels
    sums = [(sum(x.wavefronts for x in k.lines), sum(x.ideal or 0 for x in k.lines)) for k in lines]
    assert [k.total for k in sass] == [k.total for k in raw] == sums and len(sums) == 5
    assert [k.block for k in raw] == [(16, 16, 1), (32, 32, 1), (32, 32, 1), (32, 32, 1), (16, 16, 1)]


def test_sources_without_counters_are_refused() -> None:
    with pytest.raises(ProfileError, match="holds sources and no counters"):
        read("p.csv", printed("gemm.cuda"))
