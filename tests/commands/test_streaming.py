"""Findings go out as they become final, and what was written is the beginning of the whole report."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_line import Capture

from smemlint import api
from smemlint.cli import main
from smemlint.diagnose.model import FileReport
from smemlint.running.jobs import Job

KERNEL = """\
__global__ void k{0}(float *out) {{
    __shared__ float tile[32][32];
    tile[threadIdx.y][threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}}
void start{0}(float *out) {{ k{0}<<<1, dim3(32, 8)>>>(out); }}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for n in range(4):
        (tmp_path / f"k{n}.cu").write_text(KERNEL.format(n))
    return tmp_path


class Outlook:
    """What had been written to standard output when each file was done."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: Capture, order: list[int]) -> None:
        self.seen: list[str] = []
        analyse = api.analyse

        def ordered(jobs: list[Job], **_: object):  # type: ignore[no-untyped-def]
            reports = dict(analyse(jobs))
            for index in order:
                yield index, reports[index]
                self.seen.append(capsys.readouterr().out)

        monkeypatch.setattr(api, "analyse", ordered)

    def lines(self) -> list[int]:
        return [text.count("\n") for text in self.seen]


FORMS = [
    ["--output-format", "concise"],
    ["--output-format", "jsonl"],
    ["--output-format", "github", "--sort", "path"],
]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form[1])
def test_a_finding_is_written_when_no_file_to_come_stands_before_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture, form: list[str]
) -> None:
    main([*form, "."])
    whole = capsys.readouterr().out
    outlook = Outlook(monkeypatch, capsys, [1, 0, 3, 2])
    assert main([*form, "."]) == 1
    rest = capsys.readouterr().out
    assert outlook.lines() == [0, 2, 0, 0]
    assert "".join(outlook.seen) + rest == whole


def test_text_streams_by_path_and_not_by_cost(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    outlook = Outlook(monkeypatch, capsys, [0, 1, 2, 3])
    main(["--sort", "path", "--top", "2", "."])
    rest = capsys.readouterr().out
    assert [text.count("warning[SMEM101]") for text in outlook.seen] == [1, 1, 0, 0]
    assert rest.startswith("2 more findings not shown (--top)\n")
    outlook.seen.clear()
    main(["--sort", "cost", "."])
    assert outlook.lines() == [0, 0, 0, 0] and capsys.readouterr().out.count("warning[SMEM101]") == 4


def test_what_a_file_to_come_includes_waits_for_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    (folder / "k0.cu").rename(folder / "k0.cuh")
    (folder / "deep.h").write_text('#include "k0.cuh"\n')
    (folder / "k3.cu").write_text('#include "deep.h"\n' + KERNEL.format(3))
    main(["--output-format", "concise", "."])
    whole = capsys.readouterr().out
    assert whole.startswith("k0.cuh:5")
    outlook = Outlook(monkeypatch, capsys, [0, 1, 2, 3])
    main(["--output-format", "concise", "."])
    assert outlook.lines() == [0, 0, 0, 0]
    assert capsys.readouterr().out == whole


def test_a_finding_that_changed_all_the_same_is_said_and_the_whole_report_follows(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    main(["--output-format", "concise", "."])
    whole = capsys.readouterr().out
    outlook = Outlook(monkeypatch, capsys, [0, 1, 2, 3])
    from smemlint.commands.common import streaming

    monkeypatch.setattr(streaming, "render_findings", lambda *_: ["another text\n"])
    main(["--output-format", "concise", "."])
    after = capsys.readouterr()
    assert "another text" in "".join(outlook.seen)
    assert after.out == whole and "warning: a later file changed a finding" in after.err


@pytest.mark.parametrize("form", ["full", "json", "sarif"])
def test_an_interrupted_run_writes_what_it_has_and_says_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture, form: str
) -> None:
    analyse = api.analyse

    def interrupted(jobs: list[Job], **_: object):  # type: ignore[no-untyped-def]
        yield from analyse(jobs[:2])
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(9)
        yield 2, FileReport("never")

    monkeypatch.setattr(api, "analyse", interrupted)
    assert main([".", "--output-format", form, "--output", "sarif=out.sarif"]) == 143
    out, said = capsys.readouterr()
    assert "k0.cu" in out and "k1.cu" in out and "k2.cu" not in out
    assert said.splitlines() == [
        "error: ended by SIGTERM: 2 of 4 files are in this report",
        "warning: out.sarif: not written, the report is not whole",
    ]
    assert not Path("out.sarif").exists()
    if form != "full":
        assert "ended by SIGTERM" in out
        assert main([".", "--output-format", form, "--shard", "1/1"]) == 143
        Path("part.json").write_text(capsys.readouterr().out)
        assert main(["merge", "part.json"]) == 2
        assert "part.json: is no report of a shard" in capsys.readouterr().err


def on_a_terminal(folder: Path, *arguments: str, **environment: str) -> str:
    """What a run writes to standard error where that is a terminal."""
    ours, theirs = pty.openpty()
    env = (
        {k: v for k, v in os.environ.items() if k != "CI"} | {"TERM": "xterm", "COLUMNS": "100"} | environment
    )
    at_once = "from smemlint.running import progress; progress.AFTER = progress._REDRAWN = 0; "
    main = "from smemlint.cli import main; raise SystemExit(main())"
    command = [sys.executable, "-c", at_once + main, "--no-cache", *arguments]
    running = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=theirs, env=env)
    os.close(theirs)
    found = b""
    while True:
        if select.select([ours], [], [], 60)[0]:
            try:
                part = os.read(ours, 4096)
            except OSError:
                part = b""
            if part:
                found += part
                continue
        break
    running.wait(60)
    os.close(ours)
    return found.decode()


def test_a_terminal_shows_the_file_in_work_and_a_build_server_nothing(folder: Path) -> None:
    said = on_a_terminal(folder, "-j", "1", ".")
    assert "/4" in said and any(f"k{n}.cu" in said for n in range(4))
    assert on_a_terminal(folder, "-j", "1", "k0.cu", CI="true") == ""
