"""The harness itself: what counts as which kernel, which line and which verdict."""

from __future__ import annotations

import gzip
import json
import stat
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import comparison
import measurements
import pytest


def kernel(
    name: str = "f",
    block: tuple[int, int, int] = (32, 1, 1),
    accesses: list[dict[str, Any]] | None = None,
    template: dict[str, str] | None = None,
    **launch: object,
) -> dict[str, Any]:
    return {
        "name": name,
        "template_arguments": template or {},
        "launch": {"block": list(block), "grid": None, "dynamic_shared_bytes": None, **launch},
        "accesses": accesses or [],
    }


def access(
    line: int, wavefronts: int | None, ideal: int | None, low: int | None = None, **more: object
) -> dict[str, Any]:
    return {
        "path": "src/k.cu",
        "line": line,
        "op": "load",
        "expression": "s[i]",
        "wavefronts": wavefronts,
        "wavefronts_low": wavefronts if low is None else low,
        "ideal": ideal,
        "grade": "exact",
        "reason": None,
        **more,
    }


def program(lines: list[list[Any]], kernel: str = "f(float *)", **more: Any) -> Any:
    launch = measurements.MeasuredLaunch(
        kernel=kernel,
        grid=(1, 1, 1),
        block=(32, 1, 1),
        dynamic=0,
        lines=tuple(measurements.Line(*x) for x in lines),
    )
    facts: dict[str, Any] = {
        "name": "p",
        "repo": "owner/repo",
        "folder": "src",
        "only": None,
        "defines": (),
        "edits": (),
        "driver_is_ours": False,
    }
    return measurements.Program(**{**facts, **more}, launches=(launch,))


@pytest.mark.parametrize(
    ("demangled", "name", "arguments"),
    [
        ("f(int *, unsigned int)", "f", []),
        ("void scan<char, (int)128>(long, T1 *, const T1 *)", "scan", ["char", "128"]),
        ("void a::b::g<(bool)1, x<(int)2, float>>(int)", "g", ["1", "x<2, float>"]),
        ("h(const double (*)[41][4][2])", "h", []),
        (
            "void cub::k<cub::policy<unsigned int>::P, (cub::Order)0>(T4 *)",
            "k",
            ["cub::policy<unsigned int>::P", "0"],
        ),
    ],
)
def test_demangled_names_are_read(demangled: str, name: str, arguments: list[str]) -> None:
    assert comparison.base_name(demangled) == name
    assert comparison.template_arguments(demangled) == arguments


def test_template_arguments_agree_however_they_are_spelled() -> None:
    assert comparison.agrees(["__half", "1", "128"], ["half", "true", "128"])
    assert comparison.agrees(
        comparison.template_arguments("void f<c10::Half, c10::BFloat16>(int)"), ["__half"]
    )
    assert comparison.agrees(["__nv_bfloat16"], ["at::BFloat16"])
    assert comparison.agrees(["char", "128"], ["char"])
    assert not comparison.agrees(["char", "128"], ["char", "256"])


def test_the_instance_with_the_measured_arguments_is_chosen() -> None:
    report = {"kernels": [kernel(template={"N": "16"}), kernel(template={"N": "32"})]}
    launch = program([], kernel="void f<(int)32>(float *)").launches[0]
    chosen, problem = comparison.instances(launch, report)
    assert [k["template_arguments"] for k in chosen] == [{"N": "32"}]
    assert problem == ""


@pytest.mark.parametrize(
    ("told", "problem"),
    [
        (kernel("g"), "kernel not found"),
        (kernel(block=(64, 1, 1)), "launch not found"),
        (kernel(template={"N": "8"}), "instance not found"),
    ],
)
def test_a_launch_that_is_not_told_says_why(told: dict[str, Any], problem: str) -> None:
    lines = [["k.cu", 3, "load", 1, 32, 32, 1]]
    result = comparison.judge(program(lines, "void f<(int)32>(float *)"), {"kernels": [told]}, {"k.cu"})
    (verdict,) = result.verdicts
    assert verdict.category == "unresolved"
    assert verdict.told.reason == problem


def test_the_entry_with_the_measured_dynamic_size_is_preferred() -> None:
    report = {"kernels": [kernel(dynamic_shared_bytes=64), kernel(dynamic_shared_bytes=0)]}
    chosen, _ = comparison.instances(program([]).launches[0], report)
    assert [k["launch"]["dynamic_shared_bytes"] for k in chosen] == [0]


def test_an_instance_is_preferred_to_the_bare_template() -> None:
    report = {"kernels": [kernel(), kernel(template={"N": "32"})]}
    launch = program([], kernel="void f<(int)32>(float *)").launches[0]
    assert [k["template_arguments"] for k in comparison.instances(launch, report)[0]] == [{"N": "32"}]


def test_another_template_of_that_name_with_more_parameters_is_not_chosen() -> None:
    report = {"kernels": [kernel(template={"N": "1"}), kernel(template={"N": "1", "M": "1"})]}
    launch = program([], kernel="void f<(bool)1>(float *)").launches[0]
    assert [k["template_arguments"] for k in comparison.instances(launch, report)[0]] == [{"N": "1"}]


def test_sites_of_one_line_and_op_add_up() -> None:
    sites = [access(3, 32, 1), access(3, 1, 1), access(4, 7, 1)]
    result = comparison.judge(
        program([["k.cu", 3, "load", 2, 64, 33, 2]]),
        {"kernels": [kernel(accesses=sites)]},
        {"k.cu"},
    )
    (verdict,) = result.verdicts
    assert verdict.told.low == verdict.told.high == 16.5
    assert verdict.category == "exact"
    assert verdict.found


@pytest.mark.parametrize(
    ("low", "high", "measured", "category"),
    [
        (2.0, 2.0, 2.0, "exact"),
        (2.0, 2.0, 2.09, "exact"),
        (2.0, 2.0, 2.2, "wrong"),
        (1.0, 4.0, 2.0, "bounded"),
        (1.0, 4.0, 1.0, "bounded"),
        (1.0, 4.0, 5.0, "wrong"),
        (None, None, 2.0, "unresolved"),
    ],
)
def test_categories(low: float | None, high: float | None, measured: float, category: str) -> None:
    assert comparison.category(measured, comparison.Told(low, high, "exact")) == category


def test_a_line_without_accesses_is_not_seen() -> None:
    result = comparison.judge(
        program([["k.cu", 9, "load", 1, 32, 1, 1]]),
        {"kernels": [kernel(accesses=[access(3, 1, 1)])]},
        {"k.cu"},
    )
    assert result.count("not seen") == 1


def test_a_part_of_a_functions_accesses_may_be_counted_at_its_call() -> None:
    inside = access(3, 12, 8, calls=[{"path": "src/k.cu", "line": 9}], ways_by_visit=[1.0, 2.0])
    lines = [["k.cu", 9, "load", 1, 32, 7, 4], ["k.cu", 9, "store", 1, 32, 1, 1]]
    result = comparison.judge(program(lines), {"kernels": [kernel(accesses=[inside])]}, {"k.cu"})
    assert [v.category for v in result.verdicts] == ["bounded", "not seen"]
    assert (result.verdicts[0].told.low, result.verdicts[0].told.high) == (1.0, 2.0)


def test_a_null_site_makes_its_line_unresolved() -> None:
    sites = [access(3, 1, 1), access(3, None, None, grade="unresolved", reason={"code": "x", "text": "why"})]
    result = comparison.judge(
        program([["k.cu", 3, "load", 1, 32, 1, 1]]),
        {"kernels": [kernel(accesses=sites)]},
        {"k.cu"},
    )
    assert result.count("unresolved") == 1
    assert result.verdicts[0].told.reason == "x: why"


def test_predicated_off_lines_are_left_out() -> None:
    result = comparison.judge(program([["k.cu", 3, "load", 8, 256, 0, 0]]), {"kernels": []}, {"k.cu"})
    assert not result.verdicts
    assert result.skipped == 1


def test_false_positives_and_false_cleans_are_told_apart() -> None:
    sites = [access(3, 2, 1), access(4, 1, 1)]
    lines = [["k.cu", 3, "load", 1, 32, 1, 1], ["k.cu", 4, "load", 1, 32, 2, 1]]
    result = comparison.judge(program(lines), {"kernels": [kernel(accesses=sites)]}, {"k.cu"})
    assert [v.false_positive for v in result.verdicts] == [True, False]
    assert [v.false_clean for v in result.verdicts] == [False, True]


def test_library_lines_are_compared_with_the_callers_sites_and_not_counted() -> None:
    sites = [access(3, 4, 2, op="cp.async"), access(4, 1, 1, op="cp.async")]
    lines = [["cp_async_shared_global.h", 46, "cp.async", 1, 32, 2, 1], ["k.cu", 4, "cp.async", 1, 32, 1, 1]]
    result = comparison.judge(program(lines), {"kernels": [kernel(accesses=sites)]}, {"k.cu"})
    (library,) = result.library()
    assert library.category == "exact"
    assert len(result.counted()) == 1


def test_a_librarys_line_is_of_the_calls_also_of_one_whose_own_line_was_measured() -> None:
    sites = [
        access(3, 2, 1, op="store", expression="tile[y][x]"),
        access(4, 1, 1, op="store", expression="nvcuda::wmma::store_matrix_sync(&tile[0][0], c, 40)"),
    ]
    lines = [["mma.hpp", 467, "store", 1, 32, 1, 1], ["k.cu", 4, "store", 1, 32, 1, 1]]
    result = comparison.judge(program(lines), {"kernels": [kernel(accesses=sites)]}, {"k.cu"})
    assert [v.category for v in result.verdicts] == ["exact", "exact"]


def test_two_possible_launches_give_the_range_of_both() -> None:
    report = {"kernels": [kernel(accesses=[access(3, 1, 1)]), kernel(accesses=[access(3, 4, 1)])]}
    result = comparison.judge(program([["k.cu", 3, "load", 1, 32, 2, 1]]), report, {"k.cu"})
    assert result.count("bounded") == 1


def test_a_program_is_copied_with_its_includes_and_edited(tmp_path: Path) -> None:
    repo = tmp_path / "owner+repo"
    (repo / "src").mkdir(parents=True)
    (repo / "common" / "inc").mkdir(parents=True)
    (repo / "src" / "k.cu").write_text('#include "helper.h"\n#include <cstdio>\nconst int reps = 100;\n')
    (repo / "common" / "inc" / "helper.h").write_text('#include "deep.h"\n')
    (repo / "common" / "inc" / "deep.h").write_text("// end\n")
    (repo / "common" / "inc" / "unrelated.h").write_text("// not needed\n")
    work = tmp_path / "work"
    work.mkdir()
    edited = program([], edits=(("k.cu", "reps = 100", "reps = 1"),))
    assert measurements.stage(edited, measurements.Checkout(repo), work) == [work / "src"]
    assert "reps = 1;" in (work / "src" / "k.cu").read_text()
    assert sorted(p.name for p in work.rglob("*.h")) == ["deep.h", "helper.h"]


def test_an_edit_that_finds_nothing_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "repo" / "src").mkdir(parents=True)
    (tmp_path / "repo" / "src" / "k.cu").write_text("int n;\n")
    edited = program([], edits=(("k.cu", "nothing", ""),))
    with pytest.raises(ValueError, match="nothing"):
        measurements.stage(edited, measurements.Checkout(tmp_path / "repo"), tmp_path / "work")


def test_the_whole_harness_runs_over_a_stand_in_for_the_linter(
    silicon: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "sources" / "owner+repo" / "src").mkdir(parents=True)
    (tmp_path / "sources" / "owner+repo" / "src" / "k.cu").write_text("__global__ void f(float *);\n")
    report = {"version": 1, "kernels": [kernel(accesses=[access(3, 32, 1)])]}
    linter = tmp_path / "linter"
    linter.write_text(
        f"#!{sys.executable}\nimport sys\n"
        "call = 'inspect src --output-format json -DN=2 --block f=32,1,1'\n"
        "assert sys.argv[1:] == call.split(), sys.argv\n"
        f"print({json.dumps(report)!r})\n"
    )
    linter.chmod(linter.stat().st_mode | stat.S_IXUSR)
    saved = tmp_path / "m.json.gz"
    with gzip.open(saved, "wt") as stream:
        json.dump(
            {
                "programs": {
                    "p": {
                        "repo": "owner/repo",
                        "dir": "src",
                        "only": None,
                        "defines": ["-DN=2"],
                        "args": "",
                        "edits": [],
                        "driver_is_ours": True,
                        "launches": [
                            {
                                "kernel": "f(float *)",
                                "grid": [1, 1, 1],
                                "block": [32, 1, 1],
                                "dynamic": 0,
                                "lines": [["k.cu", 3, "load", 1, 32, 32, 1]],
                            }
                        ],
                    }
                }
            },
            stream,
        )
    call = [
        "--measurements",
        str(saved),
        "--sources",
        str(tmp_path / "sources"),
        "--command",
        str(linter),
    ]
    assert silicon.main([*call, "--json", str(tmp_path / "out.json"), "--verbose"]) == 0
    assert "exact 1 of 1 (100.0 %)" in capsys.readouterr().out
    assert json.loads((tmp_path / "out.json").read_text())[0]["category"] == "exact"


def test_a_linter_that_fails_leaves_every_line_unresolved(
    silicon: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "owner+repo" / "src").mkdir(parents=True)
    (tmp_path / "owner+repo" / "src" / "k.cu").write_text("__global__ void f(float *);\n")
    one = program([["k.cu", 3, "load", 1, 32, 32, 1]])
    result = silicon.run(one, tmp_path, [sys.executable, "-c", "raise SystemExit(2)"], [], 30.0)
    assert result.problem.startswith("exit 2")
    assert result.count("unresolved") == 1


def test_what_any_block_gives_is_compared_under_a_shape_that_was_not_tried() -> None:
    told = [access(7, 8, 4, any_block=True), access(8, 8, 8, any_block=False)]
    tried = {"kernels": [kernel(block=(256, 1, 1), accesses=told)]}
    measured = program([["k.cu", n, "load", 1, 32, w, 4] for n, w in ((7, 8), (8, 4))])
    result = comparison.judge(measured, tried, {"k.cu"})
    assert [(v.category, v.other_block) for v in result.verdicts] == [("exact", True), ("unresolved", True)]


@pytest.mark.parametrize(
    ("tried", "ran", "grade", "told"),
    [
        ((256, 1, 1), (96, 1, 1), "assumed", True),
        ((256, 1, 1), (100, 1, 1), "assumed", False),
        ((256, 1, 1), (100, 1, 1), "exact", True),
        ((256, 1, 1), (32, 3, 1), "exact", False),
        ((32, 4, 4), (32, 3, 1), "exact", True),
        ((32, 4, 4), (64, 3, 1), "exact", False),
    ],
)
def test_any_block_is_one_of_the_same_family(
    tried: tuple[int, int, int], ran: tuple[int, ...], grade: str, told: bool
) -> None:
    """What is assumed of whole warps is not told of a block that has others."""
    entry = kernel(block=tried, accesses=[access(7, 4, 4, any_block=True, grade=grade)])
    assert (comparison.of_any_block(entry, ran) is not None) == told
