"""Shards and their merge: the parts of a run give, joined, the bytes of one run over all files."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from command_line import Capture, run

from smemlint import shards
from smemlint.running.jobs import Job

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
SHARED = """\
template <int N> __global__ void column(float *out) {
    __shared__ float tile[32][N];
    tile[threadIdx.y][threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
"""
START = '#include "shared.cuh"\nvoid start{0}(float *out) {{ column<{0}><<<1, dim3(32, 8)>>>(out); }}\n'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Files that hang together: a header whose kernel several files start, one that starts what no other has,
    a comment that silences, one of the fixtures, and a file that cannot be read."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    src = tmp_path / "src"
    src.mkdir()
    (src / "shared.cuh").write_text(SHARED)
    for n in (32, 33, 64):
        (src / f"start{n}.cu").write_text(START.format(n))
    (src / "own.cu").write_text(
        SHARED.replace("column", "own").replace(
            "threadIdx.y];\n", "threadIdx.y]; // smemlint: ignore[SMEM101] ok\n"
        )
        + "void go(float *out) { own<32><<<1, dim3(32, 8)>>>(out); gone<<<1, 32>>>(out); }\n"
    )
    (src / "odd.cu").write_text(SHARED.replace("column", "odd") + "// smemlint: ignore[SMEM101] nothing\n")
    shutil.copy(FIXTURES / "histogram.cu", src)
    return src


def in_shards(capsys: Capture, count: int, *arguments: str) -> list[str]:
    """The reports of all shards, the last one first, each made with another number of processes."""
    names = []
    for number in range(count, 0, -1):
        status, out, _ = run(
            capsys, "--no-cache", "--shard", f"{number}/{count}", "-j", str(number % 2 + 1), *arguments
        )
        assert status in (0, 2)
        Path(f"{number}.json").write_text(out)
        names.append(f"{number}.json")
    return names


@pytest.mark.parametrize(("form", "count"), [("sarif", 1), ("json", 3)])
def test_merged_shards_are_the_bytes_of_one_run(
    project: Path, capsys: Capture, form: str, count: int
) -> None:
    said = ["--output-format", form, "--level", "note", "src", "missing.cu"]
    whole = run(capsys, *said)
    assert whole[0] == 2 and "missing.cu" in whole[2]
    assert run(capsys, "merge", *in_shards(capsys, count, *said)) == whole


def test_shards_merge_into_any_other_format_and_gate_there(project: Path, capsys: Capture) -> None:
    said = ["--min-share", "1", "src"]
    status, text, _ = run(capsys, *said, "--output-format", "concise")
    assert status == 1 and "shared.cuh:5" in text
    names = in_shards(capsys, 2, *said, "--output-format", "sarif")
    assert run(capsys, "merge", "--output-format", "concise", *names) == (1, text, "")
    assert run(capsys, "merge", "--output-format", "concise", "--exit-zero", *names)[0] == 0


def test_configuration_baseline_and_suppressions_hold_over_all_shards(project: Path, capsys: Capture) -> None:
    Path("smemlint.toml").write_text(
        'ignore = ["SMEM904"]\n[[per-kernel]]\nkernels = ["odd"]\nignore = ["SMEM101"]\n'
    )
    assert run(capsys, "src/histogram.cu", "--write-baseline", "known.json")[0] == 0
    said = ["--baseline", "known.json", "--output-format", "json", "src"]
    whole = run(capsys, *said)
    summary = json.loads(whole[1])["summary"]
    assert summary["accepted"] > 0 and summary["suppressed"] == 1
    assert run(capsys, "merge", *in_shards(capsys, 2, *said)) == whole


def test_a_file_belongs_to_the_shard_of_its_content(tmp_path: Path) -> None:
    texts = [f"// {n}\n" for n in range(40)]
    jobs = [Job(f"{n}.cu", text=text) for n, text in enumerate(texts)]
    parts = [shards.of(jobs, number, 4) for number in range(1, 5)]
    assert sorted(n for part in parts for n in part) == list(range(40))
    assert all(len(part) > 3 for part in parts)
    renamed = [Job(f"other/{n}.cu", text=text) for n, text in enumerate(texts)]
    assert [shards.of(renamed, number, 4) for number in range(1, 5)] == parts


def test_shards_that_do_not_belong_together_are_refused_in_words(project: Path, capsys: Capture) -> None:
    one, two = sorted(in_shards(capsys, 2, "--output-format", "json", "src"))
    assert run(capsys, "merge", one)[::2] == (2, "error: shard 2 of 2 missing\n")
    shutil.copy(one, "copy.json")
    assert run(capsys, "merge", one, two, "copy.json")[2].endswith("are both shard 1\n")
    data = json.loads(Path(two).read_text())
    data["shard"]["data"] = data["shard"]["data"][:-40]
    Path("cut.json").write_text(json.dumps(data))
    assert "cut.json: holds a damaged shard" in run(capsys, "merge", one, "cut.json")[2]
    data["shard"]["version"] = "0.0"
    Path("old.json").write_text(json.dumps(data))
    assert "old.json: was made by smemlint 0.0" in run(capsys, "merge", one, "old.json")[2]
    Path("plain.json").write_text("{}")
    assert "plain.json: is no report of a shard" in run(capsys, "merge", "plain.json")[2]
    assert run(capsys, "--shard", "2/2", "--output-format", "json", "--level", "note", "src")[0] == 0
    status, _, said = run(capsys, "merge", one, "gone.json")
    assert status == 2 and "gone.json" in said
    (project / "start33.cu").write_text(START.format(34))
    assert "start33.cu: is not the file that shard" in run(capsys, "merge", one, two)[2]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--shard", "3/2", "--output-format", "json"], "argument --shard: expected I/N with I from 1 to N"),
        (["--shard", "x", "--output-format", "json"], "argument --shard: expected I/N, such as 2/4, got `x`"),
        (["--shard", "1/2"], "--shard needs a report that merge reads"),
        (["--shard", "1/2", "--fix", "--output-format", "json"], "--fix needs all files"),
        (["--shard", "1/2", "--output-format", "json", "--output", "html=a.html"], "--shard has no html"),
    ],
)
def test_a_shard_that_could_not_be_merged_is_refused(
    project: Path, capsys: Capture, arguments: list[str], text: str
) -> None:
    status, out, said = run(capsys, *arguments, "src")
    assert (status, out) == (2, "") and text in said
