"""A fault of smemlint's own costs what depends on it, and nobody can miss it."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from smemlint.api import Job, analyse, analyse_file
from smemlint.cli import main
from smemlint.diagnose.model import Access, FileReport
from smemlint.evaluate.machine import dispatch
from smemlint.ir import Binary, Call
from smemlint.running import instances, others
from smemlint.score import site as scoring

KERNEL = """\
__device__ int twice(int x) { return 2 * x; }
__global__ void k(float *o) {
    __shared__ float t[64], u[64], v[64];
    int i = threadIdx.x ^ 1;
    t[i] = o[0];
    u[threadIdx.x] = o[1];
    v[twice(threadIdx.x) & 63] = o[2];
}
"""
LAUNCH = "void f(float *o) { k<<<1, 64>>>(o); }\n"


def failing(monkeypatch: pytest.MonkeyPatch, kind: type, error: BaseException, op: str = "") -> None:
    real = dispatch.VALUES[kind]

    def fail(m: Any, e: Any) -> Any:
        if not op or e.op == op:
            raise error
        return real(m, e)

    monkeypatch.setitem(dispatch.VALUES, kind, fail)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "k.cu").write_text(KERNEL + LAUNCH)
    return tmp_path / "k.cu"


def accesses(report: FileReport) -> dict[str, Access]:
    return {a.array: a for kernel in report.kernels for a in kernel.accesses}


def test_a_fault_in_an_expression_costs_the_access_that_hangs_on_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(monkeypatch, Binary, OverflowError("too large"), "^")
    report = analyse_file(Job("k.cu"))
    found = accesses(report)
    assert found["t"].wavefronts is None and found["t"].reason == (
        "internal-error",
        "OverflowError: too large",
    )
    assert (found["u"].grade, found["u"].wavefronts) == ("exact", 2)
    assert (found["v"].grade, found["v"].wavefronts) == ("exact", 4)
    assert [(p.line, p.message.split(";")[0]) for p in report.problems] == [
        (4, "internal error in `k`: OverflowError: too large")
    ]


def test_it_is_told_without_being_asked_and_makes_status_2(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    failing(monkeypatch, Binary, OverflowError("too large"), "^")
    assert main(["k.cu", "--exit-zero"]) == 2
    assert "error: k.cu:4:13: internal error in `k`: OverflowError: too large" in capsys.readouterr().err


def test_a_fault_that_may_leave_something_half_done_costs_the_kernel_and_no_access_is_lost(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(monkeypatch, Call, KeyError("x"))
    report = analyse_file(Job("k.cu"))
    assert {a: x.reason and x.reason[0] for a, x in accesses(report).items()} == dict.fromkeys(
        "tuv", "internal-error"
    )
    assert len(report.problems) == 1


def test_a_fault_in_scoring_costs_its_site(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = scoring.costs

    def fail(access: Any, offsets: Any, maybe: Any) -> Any:
        if offsets.max() > 250 and offsets[0][0] == 4:
            raise ZeroDivisionError("no")
        return real(access, offsets, maybe)

    monkeypatch.setattr(scoring, "costs", fail)
    found = accesses(analyse_file(Job("k.cu")))
    assert found["t"].reason == ("internal-error", "ZeroDivisionError: no")
    assert found["u"].wavefronts == 2


@pytest.mark.parametrize(
    ("error", "code"), [(MemoryError(), "budget"), (RecursionError(), "nesting")], ids=["memory", "nesting"]
)
def test_what_is_used_up_is_no_internal_error(
    path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: str
) -> None:
    failing(monkeypatch, Binary, error, "^")
    report = analyse_file(Job("k.cu"))
    assert {a.reason and a.reason[0] for a in accesses(report).values()} == {code}
    assert report.problems == ()


def test_a_fault_in_host_code_costs_the_launches_and_is_told(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object) -> None:
        raise KeyError("x")

    monkeypatch.setattr(instances, "program_of", fail)
    report = analyse_file(Job("k.cu"))
    assert [k.launch.assumed for k in report.kernels] and all(k.launch.assumed for k in report.kernels)
    assert [p.message for p in report.problems] == [
        "internal error in the search for launches: KeyError: 'x'"
    ]


@pytest.mark.parametrize("end", ["crash", "memory", "time"])
def test_a_file_that_another_one_ends_is_analysed_as_if_alone(
    path: Path, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    path.write_text(KERNEL)
    ((_, alone),) = analyse([Job("k.cu")])
    (path.parent / "other.cu").write_text("#include <x>\nvoid g(float *o) { k<<<1, 32>>>(o); }\n")

    def ended(*arguments: object) -> None:
        if end == "crash":
            os.kill(os.getpid(), signal.SIGKILL)
        if end == "memory":
            raise MemoryError
        while True:
            pass

    monkeypatch.setattr(others, "load_callers", ended)
    ((_, beside),) = analyse([Job("k.cu", seconds=10)])
    assert beside.kernels == alone.kernels and beside.problems == ()


def test_what_was_found_before_the_time_was_over_is_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.write_text(KERNEL + KERNEL.replace("void k(", "void slow(").replace("twice", "thrice") + LAUNCH)
    real = instances.evaluate

    def evaluate(module: Any, kernel: Any, *rest: Any) -> Any:
        if kernel.name == "slow":
            signal.raise_signal(signal.SIGPROF)  # as the timer of the worker does, whatever the clock says
        return real(module, kernel, *rest)

    monkeypatch.setattr(instances, "evaluate", evaluate)
    ((_, report),) = analyse([Job("k.cu", seconds=400)])
    of = {k.name: k for k in report.kernels}
    assert {a.array: a.wavefronts for a in of["k"].accesses} == {"t": 2, "u": 2, "v": 4}
    assert {n.code for n in of["slow"].notes} == {"time"}
    assert {a.reason and a.reason[0] for a in of["slow"].accesses} == {"time"}
