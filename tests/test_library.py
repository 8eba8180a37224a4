"""The Python interface: the same numbers as the command, on any executor."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

import smemlint
from smemlint import api
from smemlint.cli import main
from smemlint.config import ConfigError
from smemlint.diagnose.model import FileReport
from smemlint.running.jobs import Job

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
    for name in ("a", "b"):
        (tmp_path / f"{name}.cu").write_text(KERNEL, encoding="utf-8")
    (tmp_path / "good.cu").write_text(KERNEL.replace("[32][32]", "[32][33]"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def told(report: smemlint.Report) -> list[tuple[str, int, str, float | None]]:
    return [(d.place.path, d.place.line, d.code, d.worst_ways) for d in report.diagnostics]


BOTH = [("a.cu", 6, "SMEM101", 32.0), ("b.cu", 6, "SMEM101", 32.0)]


def test_a_check_gives_what_the_command_gives(capsys: pytest.CaptureFixture[str]) -> None:
    report = smemlint.check(["."])
    assert told(report) == BOTH
    main([".", "--output-format", "json"])
    data = json.loads(capsys.readouterr().out)
    assert [(d["path"], d["line"], d["code"], d["worst_ways"]) for d in data["diagnostics"]] == BOTH
    assert data["summary"]["accesses"] == report.summary.accesses == 6
    assert report.diagnostics[0].fix is not None


def test_a_text_is_analyzed_without_a_file() -> None:
    report = smemlint.analyze(KERNEL, filename="src/none.cu")
    assert told(report) == [("src/none.cu", 6, "SMEM101", 32.0)]
    assert smemlint.analyze(KERNEL.replace("[32][32]", "[32][33]")).diagnostics == ()


def test_options_have_the_names_of_the_configuration(folder: Path) -> None:
    assert told(smemlint.check(["."], min_ways=33)) == []
    assert told(smemlint.check(["."], ignore=["SMEM101"])) == []
    assert told(smemlint.check(["."], exclude=["a.cu"])) == BOTH[1:]
    untold = KERNEL.split("void start")[0]
    assert smemlint.analyze(untold, blocks={"column": (32, 4, 1)}).diagnostics[0].worst_ways == 32
    with pytest.raises(TypeError, match="unknown option 'mean_ways'"):
        smemlint.check(["."], mean_ways=3)
    with pytest.raises(TypeError, match="unknown option 'output'"):
        smemlint.check(["."], output="json=x")
    with pytest.raises(ConfigError, match="expected at most 1024"):
        smemlint.check(["."], min_ways=5000)


def test_what_is_wrong_with_a_file_is_in_the_report() -> None:
    report = smemlint.check(["none.cu", "a.cu"])
    assert told(report) == BOTH[:1]
    assert [str(p) for p in report.problems] == [
        "error: none.cu:1:1: cannot be read: no such file or directory"
    ]


@pytest.fixture(params=["threads", "processes", "dask"])
def executor(request: pytest.FixtureRequest) -> Iterator[Executor]:
    if request.param == "dask":
        distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
        with (
            distributed.LocalCluster(
                n_workers=2, threads_per_worker=1, dashboard_address=None, processes=True
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield client.get_executor()
        return
    kind = ThreadPoolExecutor if request.param == "threads" else ProcessPoolExecutor
    with kind(2) as pool:
        yield pool


def test_threads_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """libclang, and what is remembered of a file, belong to the process: two at once lose findings."""
    inside: list[str] = []
    crowd: list[int] = []
    together = Event()
    plain = api.analyse_file

    def watched(job: Job) -> FileReport:
        inside.append(job.path)
        crowd.append(len(inside))
        if len(inside) > 1:
            together.set()
        together.wait(0.2)  # leaves another one the time to come in
        try:
            return plain(job)
        finally:
            inside.remove(job.path)

    monkeypatch.setattr(api, "analyse_file", watched)
    with ThreadPoolExecutor(3) as pool:
        report = smemlint.check([Path()], executor=pool)
    assert crowd == [1, 1, 1]
    assert told(report) == BOTH


def test_a_run_spreads_over_any_executor(executor: Executor) -> None:
    report = smemlint.check([Path()], executor=executor)
    assert told(report) == BOTH and report.summary.files == 3
