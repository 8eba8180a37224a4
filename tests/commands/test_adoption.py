"""Living with old findings: a baseline, files and kernels left out, comments for blocks and files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Capture

from smemlint.cli import main
from smemlint.configurations import closest_layers

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


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "old.cu").write_text(KERNEL, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(capsys: Capture, *arguments: str) -> tuple[int, str, str]:
    closest_layers.cache_clear()  # a run of its own reads the configuration as it is now
    status = main([*arguments, "--output-format", "concise"])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_a_repository_with_old_findings_gets_a_green_gate(folder: Path, capsys: Capture) -> None:
    assert run(capsys, ".")[0] == 1
    status, _, err = run(capsys, ".", "--write-baseline", "smem.json")
    assert (status, err) == (0, "1 finding accepted in smem.json; check with --baseline smem.json\n")
    status, out, _ = run(capsys, ".", "--baseline", "smem.json")
    assert (
        status == 0 and "no new findings in 1 file; " in out and "1 finding accepted by the baseline" in out
    )
    (folder / "new.cu").write_text(KERNEL, encoding="utf-8")
    status, out, _ = run(capsys, ".", "--baseline", "smem.json")
    assert status == 1 and out.startswith("new.cu:6:24") and "old.cu" not in out


def test_what_is_accepted_is_counted_as_it_was_when_it_was_written(folder: Path, capsys: Capture) -> None:
    again = "    out[1] = tile[threadIdx.x][threadIdx.y + 1];\n}\nvoid"
    (folder / "old.cu").write_text(KERNEL.replace("}\nvoid", again), encoding="utf-8")
    _, _, err = run(capsys, ".", "--write-baseline", "smem.json")
    assert err.startswith("1 finding (2 places) accepted in smem.json")
    assert run(capsys, ".", "--baseline", "smem.json")[1].endswith(
        "; 1 finding (2 places) accepted by the baseline\n"
    )


def test_the_configuration_may_name_a_baseline_to_read_but_none_to_write(
    folder: Path, capsys: Capture
) -> None:
    run(capsys, ".", "--write-baseline", "smem.json")
    (folder / "smemlint.toml").write_text("baseline = 'smem.json'\n")
    assert run(capsys, ".")[0] == 0
    (folder / "old.cu").write_text(KERNEL.replace("[32][32]", "[32][33]"), encoding="utf-8")
    status, _, err = run(capsys, ".")
    assert status == 0 and "is said: " not in err
    assert err.startswith("warning: stale in ") and "SMEM101 `tile[threadIdx.x][threadIdx.y]`" in err
    (folder / "smemlint.toml").write_text("write-baseline = 'smem.json'\n")
    status, _, err = run(capsys, ".")
    assert status == 2 and "`write-baseline` is said on the command line only" in err


def test_a_baseline_that_cannot_be_read_is_an_error(capsys: Capture) -> None:
    status, _, err = run(capsys, ".", "--baseline", "none.json")
    assert status == 2 and err == "error: none.json: cannot be read: no such file or directory\n"


def test_files_are_left_out_by_patterns(folder: Path, capsys: Capture) -> None:
    (folder / "third_party" / "a").mkdir(parents=True)
    (folder / "third_party" / "a" / "k.cu").write_text(KERNEL)
    assert "in 2 of 2 files" in run(capsys, ".")[1]
    (folder / "smemlint.toml").write_text("exclude = ['third_party/', '!keep.cu']\n")
    assert "in 1 of 1 file" in run(capsys, ".")[1]
    _, out, err = run(capsys, "third_party/a/k.cu", "old.cu")
    assert "in 1 of 1 file" in out
    assert err == "skipped: third_party/a/k.cu: excluded by the configuration\n"
    assert "in 0 of 0 files" in run(capsys, ".", "--exclude", "old.*")[1]


def test_sections_hold_for_files_and_kernels(folder: Path, capsys: Capture) -> None:
    (folder / "bench").mkdir()
    (folder / "bench" / "k.cu").write_text(KERNEL.replace("column", "other"))
    (folder / "smemlint.toml").write_text("[[per-file]]\nfiles = ['bench/']\nignore = ['SMEM101']\n")
    _, out, _ = run(capsys, ".")
    assert "bench/k.cu:" not in out and out.startswith("old.cu:6")
    (folder / "smemlint.toml").write_text("[[per-kernel]]\nkernels = ['oth*']\nignore = ['column-access']\n")
    _, out, _ = run(capsys, ".")
    assert "bench/k.cu:" not in out and out.startswith("old.cu:6")


def test_a_section_gives_a_kernel_its_block(folder: Path, capsys: Capture) -> None:
    (folder / "old.cu").write_text(KERNEL.split("void start")[0])
    (folder / "smemlint.toml").write_text("[[per-kernel]]\nkernels = ['column']\nblock = [32, 4]\n")
    assert main(["."]) == 1
    assert "launch: block (32, 4)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[per-file]]\nignore = ['SMEM101']\n", "`per-file`: `files` is missing"),
        ("[[per-file]]\nfiles = ['a']\nsort = 'cost'\n", "`per-file`: `sort` holds for the whole run"),
        (
            "[[per-kernel]]\nkernels = ['k*']\nblock = [32]\n",
            "for whole names, not for `k*`",
        ),
        ("[[per-kernel]]\nignore = ['SMEM101']\n", "`per-kernel`: `kernels` is missing"),
        ("per-file = 3\n", "`per-file`: expected tables, each as [[per-file]]"),
        ("[[per-kernel]]\nkernels = ['k']\nignore = ['SMEM777']\n", "no rule is called `SMEM777`"),
        ("extend = '../outside.toml'\n", "`extend` leads out of the repository"),
        ("extend = 'none.toml'\n", "`extend`: there is no "),
        ("extend = 'smemlint.toml'\n", "`extend` leads back to smemlint.toml"),
        ("exclude = ['']\n", "`exclude`: `` is no pattern"),
    ],
)
def test_mistakes_in_sections_are_named(folder: Path, capsys: Capture, text: str, message: str) -> None:
    (folder / "smemlint.toml").write_text(text)
    status, _, err = run(capsys, ".")
    assert status == 2 and message in err and "smemlint.toml" in err


def test_a_configuration_extends_another_one(folder: Path, capsys: Capture) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "k.cu").write_text(KERNEL)
    (folder / "sub" / "smemlint.toml").write_text("extend = '../base.toml'\nmin-ways = 3\n")
    (folder / "base.toml").write_text("ignore = ['SMEM101']\nmin-ways = 9\n")
    assert "sub/k.cu" not in run(capsys, ".")[1]
    assert main(["config", "sub/k.cu", "--output-format", "json"]) == 0
    settings = json.loads(capsys.readouterr().out)["settings"]
    assert settings["min-ways"] == {"value": 3.0, "from": [str(folder / "sub" / "smemlint.toml")]}
    assert settings["ignore"] == {"value": ["SMEM101"], "from": [str(folder / "base.toml")]}
    assert settings["level"] == {"value": "warning", "from": ["default"]}


def suppressed(folder: Path, capsys: Capture, text: str) -> tuple[int, str]:
    (folder / "old.cu").write_text(text, encoding="utf-8")
    status, out, _ = run(capsys, "old.cu")
    return status, out


def test_a_comment_silences_a_file_a_block_or_an_array(folder: Path, capsys: Capture) -> None:
    whole = f"// smemlint: ignore-file[SMEM101] generated\n{KERNEL}"
    assert suppressed(folder, capsys, whole)[0] == 0
    block = KERNEL.replace("    __sync", "// smemlint: ignore-begin[SMEM101] old\n    __sync")
    block = block.replace("}\nvoid", "// smemlint: ignore-end\n}\nvoid")
    assert suppressed(folder, capsys, block)[0] == 0
    array = KERNEL.replace("[32][32];", "[32][32];  // smemlint: ignore[SMEM101] read once a block")
    status, out = suppressed(folder, capsys, array)
    assert status == 0 and out.endswith("; 1 suppressed\n")


def test_a_block_that_has_no_end_and_an_end_without_a_block_are_told(folder: Path, capsys: Capture) -> None:
    for comment in ("// smemlint: ignore-begin[SMEM101]", "// smemlint: ignore-end"):
        status, out = suppressed(folder, capsys, f"{comment}\n{KERNEL}")
        assert status == 1 and "warning[SMEM905]" in out and "warning[SMEM101]" in out


def test_a_block_or_file_in_which_nothing_is_silenced_is_told(folder: Path, capsys: Capture) -> None:
    clean = KERNEL.replace("[32][32]", "[32][33]")
    _, out = suppressed(folder, capsys, f"// smemlint: ignore-file[SMEM101]\n{clean}")
    assert "suppresses nothing: no SMEM101 on this file" in out
    block = clean.replace("    __sync", "// smemlint: ignore-begin[SMEM101]\n    __sync")
    _, out = suppressed(folder, capsys, block.replace("}\nvoid", "// smemlint: ignore-end\n}\nvoid"))
    assert "suppresses nothing: no SMEM101 on lines 5 to 8" in out


def test_comments_are_added_for_old_findings(folder: Path, capsys: Capture) -> None:
    (folder / "old.cu").write_bytes(KERNEL.replace("\n", "\r\n").encode() + b"// \xe9\r\n")
    before = (folder / "old.cu").read_bytes()
    status, out, err = run(capsys, ".", "--add-ignore", "old, see issue 7", "--diff")
    assert status == 0 and "+    // smemlint: ignore[SMEM101] old, see issue 7" in out
    assert err == "1 finding would be silenced by comments in 1 file\n"
    assert (folder / "old.cu").read_bytes() == before
    status, out, err = run(capsys, ".", "--add-ignore", "old, see issue 7")
    assert (status, out, err) == (0, "", "1 finding silenced by comments in 1 file\n")
    after = (folder / "old.cu").read_bytes()
    assert after.count(b"\r\n") == after.count(b"\n") == before.count(b"\n") + 1 and b"\xe9" in after
    status, out, _ = run(capsys, ".")
    assert status == 0 and out.endswith("1 suppressed\n")
    assert run(capsys, ".", "--add-ignore", "again")[2] == "0 findings silenced by comments in 0 files\n"
    assert (folder / "old.cu").read_bytes() == after


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--add-ignore", "a\nb"), "argument --add-ignore: the reason is one line of printable text"),
        (("--add-ignore", "old", "--fix"), "--add-ignore does not go with --fix"),
        (("--add-ignore", "old", "--write-baseline", "b.json"), "does not go with --write-baseline"),
    ],
)
def test_comments_that_cannot_be_added_are_refused(
    folder: Path, capsys: Capture, arguments: tuple[str, ...], message: str
) -> None:
    status, _, err = run(capsys, ".", *arguments)
    assert status == 2 and message in err
    assert (folder / "old.cu").read_text() == KERNEL


def test_a_file_that_cannot_be_written_is_told(folder: Path, capsys: Capture) -> None:
    (folder / "old.cu").chmod(0o444)
    status, _, err = run(capsys, ".", "--add-ignore", "old")
    assert status == 2 and "left as it is" in err and "0 findings silenced" in err


@pytest.mark.parametrize(
    "narrowed", [("--select", "SMEM2"), ("--ignore", "SMEM101"), ("--min-share", "99.9")]
)
def test_an_entry_whose_finding_is_only_not_shown_is_not_stale(
    capsys: Capture, narrowed: tuple[str, ...]
) -> None:
    run(capsys, ".", "--write-baseline", "smem.json")
    status, _, err = run(capsys, ".", "--baseline", "smem.json", *narrowed)
    assert (status, err) == (0, "")
