"""Standard streams that are closed, full or narrow: the exit status is true, and nothing is a traceback."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from smemlint.system import streams

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
COMMANDS = ("bad.cu", "inspect bad.cu", "--diff bad.cu", "rules", "explain SMEM101", "--help", "--version")
FULL = "error: standard output cannot be written: no space left on device\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "bad.cu").write_text(KERNEL)
    return tmp_path


def shell(folder: Path, command: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """A line of bash in which `smemlint` is the command."""
    line = f'smemlint() {{ "{sys.executable}" -m smemlint "$@"; }}; set -o pipefail; {command}'
    known = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    return subprocess.run(
        ["bash", "-c", line], capture_output=True, timeout=120, cwd=folder, env={**known, **environment}
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize(
    ("command", "buffered"), [*((c, "") for c in COMMANDS), ("bad.cu", "1"), ("rules", "1")]
)
def test_a_full_disk_is_told_and_makes_status_2(folder: Path, command: str, buffered: str) -> None:
    done = shell(folder, f"smemlint {command} >/dev/full", PYTHONUNBUFFERED=buffered)
    assert done.returncode == 2 and done.stdout == b""
    assert done.stderr.decode().endswith(FULL) and b"Traceback" not in done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_a_closed_standard_output_is_told_and_makes_status_2(folder: Path, command: str) -> None:
    done = shell(folder, f"smemlint {command} >&-")
    assert done.returncode == 2
    assert done.stderr.endswith(b"error: standard output cannot be written: bad file descriptor\n")
    assert shell(folder, f"smemlint {command} >&- 2>&-").returncode == 2


@pytest.mark.parametrize(
    ("arguments", "status"), [("bad.cu", 1), ("missing.cu", 2), ("rules", 0), ("--x", 2)]
)
def test_a_standard_error_that_takes_nothing_changes_nothing(
    folder: Path, arguments: str, status: int
) -> None:
    for where in ("2>&-", "2>/dev/full"):
        done = shell(folder, f"smemlint {arguments} {where}")
        assert done.returncode == status
        assert done.stdout == shell(folder, f"smemlint {arguments}").stdout


def test_what_is_written_with_a_closed_standard_error_is_not_mixed_with_messages(folder: Path) -> None:
    """The report's file must not get the number of the stream that is closed."""
    done = shell(folder, "smemlint bad.cu missing.cu --output json=out.json >&- 2>&- <&-")
    assert done.returncode == 2
    assert json.loads((folder / "out.json").read_text())["summary"]["findings"] == 1


def test_a_reader_that_has_enough_does_not_change_the_status(folder: Path) -> None:
    done = shell(folder, "smemlint bad.cu | true; echo ${PIPESTATUS[0]}")
    assert (done.stdout, done.stderr) == (b"1\n", b"")
    done = shell(folder, "smemlint rules | true; echo ${PIPESTATUS[0]}")
    assert (done.stdout, done.stderr) == (b"0\n", b"")


def test_standard_input_that_is_closed_or_without_end_is_told(folder: Path) -> None:
    done = shell(folder, "smemlint - <&-")
    assert done.returncode == 2 and b"error: stdin.cu: cannot be read" in done.stderr
    done = shell(folder, "smemlint - </dev/zero")
    assert done.returncode == 2 and b"too large" in done.stderr


@pytest.mark.parametrize("environment", [{"PYTHONIOENCODING": "ascii"}, {"LANG": "C", "LC_ALL": "C"}])
def test_names_that_are_not_utf8_are_read_and_shown(folder: Path, environment: dict[str, str]) -> None:
    try:
        Path(os.fsdecode(os.fsencode(folder) + b"/b\xffd\x1b[31m.cu")).write_text(KERNEL)
    except OSError:
        pytest.skip("the file system has no such names")
    (folder / "bad.cu").unlink()
    for arguments in (".", "*.cu", "--output-format concise .", "--output-format github ."):
        done = shell(folder, f"smemlint {arguments}", **environment)
        assert done.returncode == 1, done.stderr
        assert rb"b\xffd\x1b[31m.cu" in done.stdout and b"\x1b" not in done.stdout + done.stderr
    done = shell(folder, "smemlint --output-format sarif .", **environment)
    assert b'"b%FFd%1B%5B31m.cu"' in done.stdout
    done = shell(folder, "smemlint --fix .", **environment)
    assert done.returncode == 0 and b"fixed 1 array" in done.stderr


def test_a_message_shows_what_a_terminal_would_obey(folder: Path) -> None:
    done = shell(folder, r"smemlint $'no\e[2J\n::error::x.cu'")
    assert done.returncode == 2
    assert (
        done.stderr
        == rb"error: no\x1b[2J\n:\x3aerror:\x3ax.cu:1:1: cannot be read: no such file or directory" + b"\n"
    )
    for wrong in (r"$'--\e[2J'", r"--select $'\e[2J'", r"--block $'\e[2J'", r"--config $'\e[2J\n::x::'"):
        done = shell(folder, f"smemlint bad.cu {wrong}")
        assert done.returncode == 2 and b"\x1b" not in done.stderr and done.stderr.count(b"\n") == 1


def test_a_report_is_not_written_through_a_link(folder: Path) -> None:
    """A project may hold a link of the name that its users give their reports."""
    (folder / "precious").write_text("mine")
    (folder / "out.json").symlink_to("precious")
    done = shell(folder, "smemlint bad.cu --output json=out.json")
    assert done.returncode == 2 and b"error: out.json: cannot be written: is a link" in done.stderr
    assert (folder / "precious").read_text() == "mine" and b"SMEM101" in done.stdout
    os.mkfifo(folder / "fifo")
    assert b"is no regular file" in shell(folder, "smemlint bad.cu --output json=fifo").stderr
    assert sorted(p.name for p in folder.iterdir()) == ["bad.cu", "fifo", "out.json", "precious"]


def test_a_report_may_go_to_a_stream_of_the_shell(folder: Path) -> None:
    done = shell(folder, "smemlint bad.cu --output json=/dev/stderr")
    assert done.returncode == 1 and json.loads(done.stderr)["summary"]["findings"] == 1


def test_a_report_keeps_the_mode_of_the_file_that_it_replaces(folder: Path) -> None:
    shell(folder, "umask 022; smemlint bad.cu --output json=out.json")
    assert (folder / "out.json").stat().st_mode & 0o777 == 0o644
    (folder / "out.json").chmod(0o640)
    shell(folder, "smemlint bad.cu --output json=out.json")
    assert (folder / "out.json").stat().st_mode & 0o777 == 0o640


def test_a_name_that_is_too_long_costs_no_other_file(folder: Path) -> None:
    done = shell(folder, f"smemlint {'a' * 5000} bad.cu")
    assert done.returncode == 2 and b"SMEM101" in done.stdout
    assert b"cannot be read: file name too long" in done.stderr and len(done.stderr) < 400


def test_a_working_folder_that_is_gone_is_told(folder: Path) -> None:
    done = shell(folder, "mkdir gone; cd gone; rmdir ../gone; smemlint bad.cu")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"error: the working folder is gone")


def test_few_open_files_are_enough(folder: Path) -> None:
    for number in range(6):
        (folder / f"k{number}.cu").write_text(KERNEL)
    done = shell(folder, "ulimit -n 24; smemlint . -j 4 --output-format concise")
    assert done.returncode == 1 and done.stdout.endswith(
        b"7 findings in 7 of 7 files, 7 fixable by --fix; 14 accesses, 14 resolved; 0 unparsed\n"
    )


@pytest.mark.parametrize(("said", "columns"), [("72", 72), ("9", 40), ("", 100), ("wide", 100)])
def test_columns_are_honoured_in_a_pipe(monkeypatch: pytest.MonkeyPatch, said: str, columns: int) -> None:
    monkeypatch.setattr("sys.stdout", io.StringIO())
    monkeypatch.setenv("COLUMNS", said)
    assert streams.columns() == columns
