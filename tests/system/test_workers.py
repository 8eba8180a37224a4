"""One bad item never costs the others."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from smemlint.system import workers
from smemlint.system.workers import Failure, OutOfTimeError, run_isolated

MEMORY = 4 * 2**30


HELD: list[bytes] = []
"""What a worker does not give back."""


def work(item: str) -> str:
    if item == "crash":
        os.kill(os.getpid(), signal.SIGKILL)
    if item == "exit":
        os._exit(3)
    if item == "hang":
        time.sleep(60)
    if item == "compute":
        while True:
            pass
    if item == "tell":
        try:
            work("compute")
        except OutOfTimeError:
            return "what it had"
    if item == "raise":
        raise ValueError("no such thing")
    if item == "memory":
        raise MemoryError
    if item == "fill":
        HELD.append(b"x" * (200 * 2**20))
    if item == "use and give back":
        len(b"x" * (200 * 2**20))
    if item in ("fill", "use and give back", "who"):
        return str(os.getpid())
    if item == "deep":
        return work(item)
    return item.upper()


def results(*items: str, jobs: int = 1, seconds: float = 20) -> list[str]:
    found = dict(run_isolated(work, items, jobs=jobs, seconds=seconds, memory=MEMORY))
    assert sorted(found) == list(range(len(items)))
    return [r.message if isinstance(r, Failure) else r for _, r in sorted(found.items())]


@pytest.mark.parametrize("jobs", [1, 3])
def test_a_crash_costs_its_own_item_only(jobs: int) -> None:
    assert results("a", "crash", "b", "exit", "c", jobs=jobs) == [
        "A",
        "the analysis crashed (SIGKILL)",
        "B",
        "the analysis crashed (exit status 3)",
        "C",
    ]


def test_an_item_that_computes_on_and_on_is_interrupted_to_tell_what_it_has() -> None:
    assert results("tell", "b", seconds=0.5) == ["what it had", "B"]


def test_an_item_that_hangs_is_given_up() -> None:
    late = "gave up after 4 s, the time limit of one file"
    assert results("a", "hang", "b", seconds=0.5) == ["A", late, "B"]


def test_an_item_that_computes_for_ever_is_given_up_by_its_computing_time() -> None:
    first, late, last = results("a", "compute", "b", seconds=1)
    assert (first, last) == ("A", "B") and late.startswith("gave up after ")


def test_exceptions_become_sentences() -> None:
    assert results("raise", "memory", "deep", "a") == [
        "internal error: ValueError: no such thing",
        "gave up at 4096 MiB, the memory limit of one file",
        "nested too deeply to be analysed",
        "A",
    ]


def test_nothing_to_do_is_done_at_once() -> None:
    assert results() == []


def test_a_consumer_that_leaves_early_leaves_no_process_behind() -> None:
    running = run_isolated(work, ["a", "hang"], jobs=2, seconds=20, memory=MEMORY)
    next(running)
    started = time.monotonic()
    running.close()  # type: ignore[attr-defined]
    assert time.monotonic() - started < 5


@pytest.mark.skipif(sys.platform == "win32", reason="the system does not tell")
def test_a_worker_that_holds_much_after_an_item_gives_way_to_another() -> None:
    one, same, other = results("who", "fill", "who")
    assert one == same != other


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the system does not tell")
def test_a_worker_that_gave_back_what_it_used_stays() -> None:
    assert len(set(results("who", "use and give back", "who"))) == 1


def test_no_more_workers_are_started_than_there_are_items(monkeypatch: pytest.MonkeyPatch) -> None:
    started = []
    real = workers._Worker

    def counted(*arguments: Any) -> Any:
        started.append(1)
        return real(*arguments)

    monkeypatch.setattr(workers, "_Worker", counted)
    assert results("a", jobs=120) == ["A"] and len(started) == 1
    assert results("a", "b", "c", jobs=120) == ["A", "B", "C"] and len(started) <= 4
    assert results(*"abcdef", jobs=2) == list("ABCDEF") and len(started) <= 6


PARENT = """
import sys, time
sys.path.insert(0, {tests!r})
from smemlint.system import workers
if {watch}:
    workers._told_by_the_system = lambda: False
from test_workers import report_and
items = ["compute", "sleep", "compute"]
for _ in workers.run_isolated(report_and, items, jobs=3, seconds=60, memory=1 << 32):
    pass
"""


def report_and(item: str) -> None:
    os.write(1, f"{os.getpid()}\n".encode())
    while True:
        if item == "sleep":
            time.sleep(60)


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc")
@pytest.mark.parametrize("watch", [False, True], ids=["told by the system", "watching a pipe"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=["SIGKILL", "SIGTERM"])
def test_workers_do_not_outlive_a_parent_that_dies(watch: bool, number: int) -> None:
    code = PARENT.format(tests=str(Path(__file__).parent), watch=watch)
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    processes = [int(parent.stdout.readline()) for _ in range(3)]
    parent.send_signal(number)
    parent.wait(10)
    late = time.monotonic() + 10
    while any(map(is_running, processes)) and time.monotonic() < late:
        time.sleep(0.02)
    assert not any(map(is_running, processes))
