"""The command line's contract, over the whole pipeline."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import Capture, run

from smemlint import __version__
from smemlint.cli import main
from smemlint.commands import COMMANDS, command

KERNEL = """\
__global__ void column(float *out)
{
    __shared__ float tile[32][32];
    tile[threadIdx.y][threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
void start(float *out) { column<<<1, dim3(32, 8)>>>(out); }
"""
CLEAN = KERNEL.replace("[32][32]", "[32][33]")
UNTOLD = KERNEL.replace("void start(float *out) { column<<<1, dim3(32, 8)>>>(out); }\n", "")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "bad.cu").write_text(KERNEL, encoding="utf-8")
    (tmp_path / "good.cu").write_text(CLEAN, encoding="utf-8")
    return tmp_path


def test_a_conflict_is_told_and_makes_status_1(folder: Path, capsys: Capture) -> None:
    status, out, err = run(capsys, "bad.cu")
    assert (status, err) == (1, "")
    assert out.startswith("warning[SMEM101] column-access: 32-way bank conflict\n --> bad.cu:6:24\n")
    assert "lanes 0..31 meet in bank 0; 32 wavefronts, 1 would do" in out
    assert "= launch: block (32, 8) from bad.cu:8" in out
    assert "= cost: 97% of the kernel's shared-memory wavefronts (256 of 264 a block), 248 excess\n" in out
    assert out.endswith("1 finding in 1 of 1 file, 1 fixable by --fix; 2 accesses, 2 resolved; 0 unparsed\n")


def test_clean_source_makes_status_0(folder: Path, capsys: Capture) -> None:
    status, out, _ = run(capsys, "check", "good.cu")
    assert (status, out) == (0, "0 findings in 0 of 1 file; 2 accesses, 2 resolved; 0 unparsed\n")


def test_a_folder_is_searched(folder: Path, capsys: Capture) -> None:
    status, out, _ = run(capsys, ".", "--output-format", "concise", "-j", "2")
    assert status == 1 and "1 finding in 1 of 2 files, 1 fixable by --fix; 4 accesses" in out


def test_the_gate_can_be_moved(folder: Path, capsys: Capture) -> None:
    assert run(capsys, "bad.cu", "--exit-zero")[0] == 0
    assert run(capsys, "bad.cu", "--fail-on", "error")[0] == 0
    assert run(capsys, "bad.cu", "--fail-on", "note")[0] == 1
    assert run(capsys, "bad.cu", "--min-ways", "33")[0] == 0
    assert run(capsys, "bad.cu", "--ignore", "SMEM101")[0] == 0
    assert run(capsys, "bad.cu", "--select", "SMEM2,narrow-block-rows")[0] == 0
    assert run(capsys, "bad.cu", "--select", "column-access")[0] == 1


def test_a_file_that_fails_makes_status_2_and_costs_no_finding(folder: Path, capsys: Capture) -> None:
    (folder / "binary.cu").write_bytes(b"\x7fELF\0\1\2\3" * 100)
    status, out, err = run(capsys, "missing.cu", "binary.cu", "bad.cu")
    assert status == 2 and "SMEM101" in out
    assert "error: missing.cu:1:1: cannot be read: no such file or directory\n" in err
    assert "error: binary.cu:1:5: is not text" in err


def test_a_folder_without_cuda_is_an_error(folder: Path, capsys: Capture) -> None:
    (folder / "docs").mkdir()
    status, _, err = run(capsys, "docs")
    assert (status, err) == (2, "error: docs: no CUDA source in this folder\n")


def test_a_folder_whose_files_are_all_excluded_is_named(folder: Path, capsys: Capture) -> None:
    status, out, err = run(capsys, ".", "--exclude", "*")
    assert status == 0 and "in 0 of 0 files" in out
    assert err == "warning: .: all 2 files are excluded: nothing was analysed there\n"
    assert run(capsys, ".", "--exclude", "bad.cu")[2] == ""
    assert run(capsys, "good.cu", ".", "--exclude", "bad.cu")[2] == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "usage: smemlint"),
        (("bad.cu", "--fix", "--write-baseline", "x"), "--fix does not go with --write-baseline"),
        (("bad.cu", "--diff", "--budget", "x"), "--diff does not go with --budget"),
        (("bad.cu", "--write-baseline", "x", "--write-budget", "y"), "--write-baseline does not go with"),
        (("check",), "the following arguments are required: PATH"),
        (("bad.cu", "--frobnicate"), "unrecognized arguments: --frobnicate"),
        (("bad.cu", "--output-format", "xml"), "invalid choice: 'xml'"),
        (("bad.cu", "--output", "sarif"), "--output sarif: expected FORMAT=FILE"),
        (("bad.cu", "--output", "xml=x"), "the formats are full, concise, json"),
        (("bad.cu", "--block", "32,x"), "block shape `32,x`"),
        (("bad.cu", "--arch", "volta"), "architecture `volta`"),
        (("bad.cu", "--arch", "sm_99"), "architecture `sm_99`: is not known; known are sm_70, sm_72, sm_75"),
        (("bad.cu", "--std", "c17"), "argument --std: C++ standard `c17`: expected one such as c++17"),
        (("bad.cu", "-I", "nonexist"), "argument -I: no folder is called `nonexist`"),
        (("chek", "."), "no command and no path is called `chek`; the nearest command is `check`"),
        (("inspct", "bad.cu"), "the nearest command is `inspect`"),
        (("bad.cu", "--select", "SMEM777"), "no rule is called `SMEM777`"),
        (("bad.cu", "-j", "0"), "at least 1 process"),
        (("bad.cu", "--min-ways", "0"), "expected 1 or more"),
        (("bad.cu", "--config", "none.toml"), "none.toml"),
        (("bad.cu", "-j", "1e12"), "argument -j: expected a whole number"),
        (("bad.cu", "-j", "9" * 5000), "argument -j"),
        (("bad.cu", "-j", "1000000000000"), "argument -j: expected 1024 or less"),
        (("bad.cu", "-j", "-1"), "argument -j"),
        (("bad.cu", "-j", "nan"), "argument -j"),
        (("bad.cu", "--timeout", "inf"), "argument --timeout: expected a finite number"),
        (("bad.cu", "--timeout", "-inf"), "argument --timeout"),
        (("bad.cu", "--timeout", "nan"), "argument --timeout: expected a finite number"),
        (("bad.cu", "--timeout", "1e12"), "argument --timeout: expected 86400 or less"),
        (("bad.cu", "--timeout", "1e999"), "argument --timeout: expected a finite number"),
        (("bad.cu", "--timeout", "0"), "argument --timeout: expected 0.1 or more"),
        (("bad.cu", "--timeout", "-1"), "argument --timeout: expected 0.1 or more"),
        (("bad.cu", "--timeout", "ten"), "argument --timeout: expected a number"),
        (("bad.cu", "--min-ways", "inf"), "argument --min-ways: expected a finite number"),
        (("bad.cu", "--min-ways", "nan"), "argument --min-ways: expected a finite number"),
        (("bad.cu", "--min-ways", "1e12"), "argument --min-ways: expected 1024 or less"),
        (("bad.cu", "--block", "1,1,65"), "argument --block: block shape `1,1,65`"),
        (("bad.cu", "--block", "2000"), "argument --block"),
        (("bad.cu", "--block", "k=" + "9" * 5000), "argument --block"),
        (("bad.cu", "-D", "1=2"), "argument -D: macro `1=2`"),
        (("bad.cu", "-D", ""), "argument -D"),
        (("bad.cu", "--fix", "--verify", ""), "argument --verify: expected a command"),
        (("bad.cu", "--fix", "--verify", "{}"), "argument --verify: expected a command"),
        (("bad.cu", "--fix", "--verify", "sh -c '"), "argument --verify: no closing quotation"),
        (("explain", "colum-access"), "the nearest one is `column-access`"),
    ],
)
def test_usage_errors_make_status_2(
    folder: Path, capsys: Capture, arguments: tuple[str, ...], message: str
) -> None:
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (2, "")
    assert message in err and "Traceback" not in err


def test_several_formats_at_once(folder: Path, capsys: Capture) -> None:
    status, out, _ = run(
        capsys, "bad.cu", "--output-format", "json", "--output", "sarif=o.sarif", "--output", "github=o.txt"
    )
    assert status == 1
    assert json.loads(out)["diagnostics"][0]["code"] == "SMEM101"
    sarif = json.loads((folder / "o.sarif").read_text())
    assert sarif["runs"][0]["results"][0]["ruleId"] == "SMEM101"
    assert (folder / "o.txt").read_text().startswith("::warning file=bad.cu,line=6")


def test_an_output_that_cannot_be_written_is_an_error(folder: Path, capsys: Capture) -> None:
    status, out, err = run(capsys, "good.cu", "--output", "json=no/such/folder.json")
    assert status == 2 and "cannot be written: no such file" in err and "0 findings" in out


def test_a_path_may_have_a_name_that_is_nearly_a_command(folder: Path, capsys: Capture) -> None:
    (folder / "rule").mkdir()
    (folder / "rule" / "bad.cu").write_text(KERNEL, encoding="utf-8")
    status, out, _ = run(capsys, "rule", "--output-format", "concise")
    assert status == 1 and out.startswith("rule/bad.cu:6:24: warning[SMEM101]")


@pytest.mark.parametrize("arguments", [("check", "good.cu"), ("inspect", "good.cu"), ("rules",)])
def test_json_names_the_version_that_wrote_it(
    folder: Path, capsys: Capture, arguments: tuple[str, ...]
) -> None:
    _, out, _ = run(capsys, *arguments, "--output-format", "json")
    data = json.loads(out)
    assert data["version"] == 1 and data["tool"] == {"name": "smemlint", "version": __version__}


def test_every_command_has_a_module_with_options_and_a_first_sentence() -> None:
    for name, text in COMMANDS.items():
        module = command(name)
        assert callable(module.options) and callable(module.run) and text
        assert (module.__doc__ or "").startswith(f"`smemlint {name}`")


def test_standard_input_has_a_name(folder: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(KERNEL.encode())))
    status, out, _ = run(capsys, "-", "--stdin-filename", "src/new.cu")
    assert status == 1 and " --> src/new.cu:6:24\n" in out
    assert "    out[threadIdx.x] = tile[threadIdx.x][threadIdx.y];" in out


def test_a_block_shape_can_be_told(folder: Path, capsys: Capture) -> None:
    (folder / "untold.cu").write_text(UNTOLD, encoding="utf-8")
    status, out, _ = run(capsys, "untold.cu", "--block", "column=32,4")
    assert status == 1 and "launch: block (32, 4) from --block" in out
    _, out, _ = run(capsys, "untold.cu", "--block", "4,32", "--output-format", "json")
    assert json.loads(out)["diagnostics"][0]["worst_ways"] < 32


def test_a_block_for_a_kernel_that_does_not_exist_is_an_error(folder: Path, capsys: Capture) -> None:
    status, out, err = run(capsys, "bad.cu", "--block", "colum=32,4")
    assert status == 2 and "SMEM101" in out
    said = (
        "error: argument --block: no kernel of these files is called `colum`; the nearest one is `column`\n"
    )
    assert err == said


def test_the_closest_configuration_holds_for_a_file(folder: Path, capsys: Capture) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "untold.cu").write_text(UNTOLD, encoding="utf-8")
    (folder / "sub" / "smemlint.toml").write_text("[blocks]\ncolumn = [32, 2]\n")
    (folder / "smemlint.toml").write_text("ignore = ['SMEM101']\n")
    status, out, _ = run(capsys, "bad.cu", "sub", "--output-format", "concise")
    assert status == 1
    assert "sub/untold.cu:6:24" in out and "bad.cu:6:24" not in out


def test_a_mistake_in_the_configuration_names_the_nearest_key(folder: Path, capsys: Capture) -> None:
    (folder / "pyproject.toml").write_text("[tool.smemlint]\nmin-way = 4\n")
    status, _, err = run(capsys, "bad.cu")
    assert status == 2
    assert "pyproject.toml: unknown key `min-way`; the nearest one is `min-ways`" in err


def test_a_broken_configuration_costs_the_files_below_it_and_is_told_once(
    folder: Path, capsys: Capture
) -> None:
    for name in ("a", "b/deep", "c"):
        (folder / name).mkdir(parents=True)
        (folder / name / "k.cu").write_text(KERNEL)
    (folder / "b" / "k.cu").write_text(KERNEL)
    (folder / "b" / "smemlint.toml").write_text("output = ['json=../bad.cu']\n")
    (folder / "c" / "smemlint.toml").write_text("ignore = ['SMEM101']\n")
    status, out, err = run(capsys, ".", "--output-format", "json")
    assert status == 2
    assert [d["path"] for d in json.loads(out)["diagnostics"]] == ["a/k.cu", "bad.cu"]
    said = "b/smemlint.toml: `output` is said on the command line only"
    assert (
        err.startswith(f"error: {said}")
        and err.endswith("; 2 files below it not analysed\n")
        and err.count("\n") == 1
    )
    assert json.loads(out)["errors"][0]["path"] == "b/smemlint.toml"
    assert (folder / "bad.cu").read_text() == KERNEL


def test_files_that_another_configuration_governs_are_analysed_beside_a_broken_one(
    folder: Path, capsys: Capture
) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "k.cu").write_text(KERNEL)
    (folder / "sub" / "smemlint.toml").write_text("")
    (folder / "smemlint.toml").write_text("jobs = 100000\n")
    status, out, err = run(capsys, ".", "--output-format", "concise")
    assert status == 2 and out.startswith("sub/k.cu:6:24: warning[SMEM101]")
    assert (
        "error: smemlint.toml: `jobs` is said on the command line only" in err and "2 files below it" in err
    )


def test_a_header_below_a_broken_configuration_does_not_end_the_run(folder: Path, capsys: Capture) -> None:
    (folder / "sub").mkdir()
    head, launch = KERNEL.split("void start")
    (folder / "sub" / "k.cuh").write_text(head)
    (folder / "sub" / "smemlint.toml").write_text("x = [")
    (folder / "bad.cu").write_text(f'#include "sub/k.cuh"\nvoid start{launch}')
    status, out, err = run(capsys, "bad.cu", "--output-format", "concise")
    assert status == 2 and "sub/k.cuh:6:24: warning[SMEM101]" in out and "sub/smemlint.toml" in err


def test_a_suppression_silences_and_an_unused_one_is_told(folder: Path, capsys: Capture) -> None:
    line = "tile[threadIdx.x][threadIdx.y];"
    (folder / "s.cu").write_text(KERNEL.replace(line, f"{line} // smemlint: ignore[SMEM101] once"))
    status, out, _ = run(capsys, "s.cu")
    assert status == 0 and out.endswith("; 1 suppressed\n")
    (folder / "s.cu").write_text(CLEAN.replace(line, f"{line} // smemlint: ignore[SMEM101] once"))
    status, out, _ = run(capsys, "s.cu")
    assert status == 1 and "warning[SMEM904] unused-suppression: `ignore[SMEM101]` suppresses nothing" in out


def test_statistics_count_by_rule(folder: Path, capsys: Capture) -> None:
    _, out, _ = run(capsys, "bad.cu", "--statistics")
    assert "     1  SMEM101  column-access\n" in out and "     1  kernels\n" in out


def test_inspect_lists_every_access(folder: Path, capsys: Capture) -> None:
    status, out, _ = run(capsys, "inspect", "bad.cu", "--output-format", "json")
    data = json.loads(out)
    assert status == 0 and data["version"] == 1 and data["unparsed"] == []
    (kernel,) = data["kernels"]
    assert (kernel["name"], kernel["path"], kernel["template_arguments"]) == ("column", "bad.cu", {})
    assert kernel["launch"]["block"] == [32, 8, 1] and kernel["launch"]["origin"] == "bad.cu:8"
    assert kernel["shared"] == [{"name": "tile", "type": "float", "dims": [32, 32], "bytes": 4096, "line": 3}]
    store, load = kernel["accesses"]
    assert load == {
        "path": "bad.cu",
        "line": 6,
        "column": 24,
        "calls": [],
        "op": "load",
        "width": 4,
        "array": "tile",
        "expression": "tile[threadIdx.x][threadIdx.y]",
        "executions": 8,
        "wavefronts": 256,
        "wavefronts_low": 256,
        "ideal": 8,
        "ways": 32.0,
        "ways_by_visit": [32.0, 32.0],
        "grade": "exact",
        "reason": None,
        "assumptions": [],
        "any_block": False,
    }
    assert (store["op"], store["wavefronts"], store["ideal"], store["ways"]) == ("store", 8, 8, 1.0)
    assert data["summary"]["accesses"] == 2


def test_inspect_prints_a_table(folder: Path, capsys: Capture) -> None:
    status, out, _ = run(capsys, "inspect", "bad.cu")
    assert status == 0
    assert "bad.cu:1 column, block (32, 8, 1) from bad.cu:8\n    float tile[32][32]: 4096 B\n" in out
    row = next(line for line in out.splitlines() if "load" in line)
    expected = ["6", "load", "4", "tile[threadIdx.x][threadIdx.y]", "8", "256", "8", "32", "exact"]
    assert row.split() == expected


def test_inspect_prints_the_size_that_a_launch_gives_a_dynamic_array(folder: Path, capsys: Capture) -> None:
    text = "__global__ void k(float *o) { extern __shared__ float s[]; s[threadIdx.x] = 1; o[0] = s[0]; }\n"
    launches = {"told.cu": "void go(float *o) { k<<<1, 64, 4608>>>(o); }\n", "untold.cu": ""}
    for name, launch in launches.items():
        (folder / name).write_text(text + launch, encoding="utf-8")
    assert "    float s[]: 4608 B of dynamic shared memory\n" in run(capsys, "inspect", "told.cu")[1]
    assert "    float s[]: size not known\n" in run(capsys, "inspect", "untold.cu")[1]


def test_rules_and_explain(capsys: Capture) -> None:
    status, out, _ = run(capsys, "rules")
    assert status == 0 and out.splitlines()[0].startswith("SMEM101  column-access")
    _, out, _ = run(capsys, "rules", "--output-format", "json")
    assert json.loads(out)["rules"][0]["name"] == "column-access"
    for name in ("SMEM101", "column-access"):
        status, out, _ = run(capsys, "explain", name)
        assert status == 0 and out.startswith("# SMEM101: column-access\n") and "## Use instead" in out


def test_no_colour_where_it_is_not_wanted(folder: Path, capsys: Capture) -> None:
    assert "\x1b" not in run(capsys, "bad.cu")[1]


def smemlint(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "smemlint", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, **options)  # type: ignore[call-overload,no-any-return]


def test_help_and_version_import_nothing_heavy(tmp_path: Path) -> None:
    for option in ("--help", "--version"):
        code = (
            "import sys\nfrom smemlint.cli import main\ntry:\n"
            f"    main(['{option}'])\nexcept SystemExit as e:\n    assert not e.code\n"
            "print([m for m in ('numpy', 'clang', 'lark', 'rich') if m in sys.modules], file=sys.stderr)"
        )
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=tmp_path)
        assert done.stderr.strip() == "[]" and done.stdout


def test_unchanged_files_and_clean_ones_import_nothing_that_they_do_not_need(tmp_path: Path) -> None:
    (tmp_path / "clean.cu").write_text(CLEAN)
    check = "import sys\nfrom smemlint.cli import main\nmain(['check', 'clean.cu'])"
    alone = "import sys\nfrom smemlint.api import Job, analyse_file\nanalyse_file(Job('clean.cu'))"
    for code, heavy in (
        (alone, ("smemlint.fix.suggest", "lark", "rich", "pycparser", "tomllib")),
        (check, ()),
        (check, ("numpy", "clang", "multiprocessing", "smemlint.running.reports", "smemlint.fix.suggest")),
    ):
        code += f"\nprint([m for m in {heavy} if m in sys.modules], file=sys.stderr)"
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=tmp_path)
        assert done.stderr.strip() == "[]"


def test_a_reader_that_stops_early_is_no_error_message(folder: Path) -> None:
    for n in range(40):
        (folder / f"k{n}.cu").write_text(KERNEL * 1)
    command = f"{sys.executable} -m smemlint . | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120, cwd=folder)
    assert done.stdout.startswith("warning[SMEM101]") and done.stderr == ""


@pytest.mark.parametrize(("name", "status"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_signal_ends_quietly_with_the_status_of_shells(folder: Path, name: str, status: int) -> None:
    code = "import os, signal, sys, time; from smemlint import api, cli\n"
    code += f"signal.signal(signal.{name}, signal.default_int_handler)\n"  # here it may be ignored
    code += (
        f"def interrupted(*a, **k):\n    os.kill(os.getpid(), signal.{name})\n    time.sleep(9)\n    yield\n"
    )
    code += (
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell's background jobs ignore it
    )
    code += "api.analyse = interrupted\nsys.exit(cli.main(['bad.cu']))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=folder
    )
    assert (done.returncode, done.stderr) == (status, f"error: ended by {name}\n")


def test_output_in_a_narrow_encoding_does_not_fail(folder: Path) -> None:
    (folder / "bad.cu").write_text(
        KERNEL.replace("threadIdx.y];", "threadIdx.y]; // \u884c"), encoding="utf-8"
    )
    done = smemlint("bad.cu", cwd=folder, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 1 and "// ?" in done.stdout


def test_deep_nesting_a_huge_file_and_endless_loops_end_with_an_answer(folder: Path, capsys: Capture) -> None:
    (folder / "parens.cu").write_text("int x = " + "(" * 100_000 + "1" + ")" * 100_000 + ";\n")
    (folder / "big.cu").write_text("// big\n" * 3_000_000)
    loop = "for (int i = 0; i < 1000000000; i++) "
    (folder / "loop.cu").write_text(KERNEL.replace("    out[", f"    {loop}out["))
    (folder / "a.cuh").write_text('#include "b.cuh"\n')
    (folder / "b.cuh").write_text('#include "a.cuh"\n')
    (folder / "cycle.cu").write_text('#include "a.cuh"\n' + KERNEL)
    (folder / "braces.cu").write_text(KERNEL + "{ { (\n")
    (folder / "empty.cu").write_text("")
    recursion = "template <int N> struct A { static const int v = A<N + 1>::v; };\n"
    (folder / "recursion.cu").write_text(recursion + KERNEL.replace("[32][32]", "[32][A<0>::v]"))
    names = ("parens", "big", "loop", "cycle", "braces", "empty", "recursion", "bad")
    status, out, err = run(capsys, *(f"{n}.cu" for n in names), "--output-format", "concise")
    assert status == 2 and "Traceback" not in err and "internal" not in err
    assert "error: parens.cu:1:" in err and "error: big.cu:1:1: is too large to analyse" in err
    assert len(err.splitlines()) == 2
    for name in ("loop", "cycle", "braces", "bad"):
        assert f"{name}.cu:" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--slect", "SMEM1", "."),
            "--slect; the nearest option is `--select` (see `smemlint check --help`)",
        ),
        (("banks", "a.cu:3", "--maponly"), "--maponly; the nearest option is `--map-only`"),
        (
            ("explain", "SMEM101", "SMEM102"),
            "unrecognized arguments: SMEM102 (see `smemlint explain",
        ),
        (("-o", "report.foo", "."), "--output report.foo: expected FORMAT=FILE"),
    ],
)
def test_a_mistyped_option_is_told_with_the_nearest(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    assert main(arguments) == 2
    assert message in capsys.readouterr().err


def test_a_start_of_codes_is_explained_by_its_rules(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "smem20"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == [
        f"SMEM20{n}" for n in range(1, 7)
    ]


def test_the_files_of_a_run_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.cu", "b.cuh", "c.cpp", "old.cu"):
        (tmp_path / name).write_text("__global__ void k() {}\n" if name != "c.cpp" else "int x;\n")
    assert main(["--show-files", ".", "--exclude", "old.*"]) == 0
    assert capsys.readouterr().out == "a.cu\nb.cuh\n"
    (tmp_path / "empty").mkdir()
    assert main(["--show-files", "empty"]) == 2 and "no CUDA source" in capsys.readouterr().err


def test_the_ending_of_a_file_tells_its_format_and_colours_can_be_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NO_COLOR", raising=False)
    (tmp_path / "a.cu").write_text(
        "__global__ void k() { __shared__ int t[32][32]; t[threadIdx.x][0] = 1; }\n"
        "void start() { k<<<1, 32>>>(); }\n"
    )
    assert main(["a.cu", "-o", "x.sarif", "-o", "x.json", "--color", "always"]) == 1
    assert "\x1b[" in capsys.readouterr().out
    assert json.loads((tmp_path / "x.sarif").read_text())["version"] == "2.1.0"
    assert json.loads((tmp_path / "x.json").read_text())["diagnostics"]
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert main(["a.cu"]) == 1 and "\x1b[" in capsys.readouterr().out
    assert main(["a.cu", "--color", "never"]) == 1 and "\x1b[" not in capsys.readouterr().out
