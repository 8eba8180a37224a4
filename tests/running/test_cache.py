"""Reports that are kept: the same text as a fresh run, and none that the disk has outdated."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from smemlint.api import analyse
from smemlint.running import cache as kept
from smemlint.running.cache import Cache
from smemlint.running.jobs import Job, Options

KERNEL = """\
#include "sizes.h"
__global__ void k(float *out) {
    __shared__ float tile[32][PITCH];
    tile[threadIdx.x][threadIdx.y] = 0;
    out[0] = tile[0][0];
}
void start(float *out) { k<<<1, dim3(32, 32)>>>(out); }
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pyproject.toml").write_text("")
    (folder / "k.cu").write_text(KERNEL)
    (folder / "sizes.h").write_text("#define PITCH 32\n")
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


def job(project: Path, **options: object) -> Job:
    return Job(str(project / "k.cu"), Options(**options))  # type: ignore[arg-type]


def worst(cache: Cache, job: Job) -> tuple[bool, float | None]:
    """Whether a fresh look finds the report kept, and the most ways in it, kept or made now."""
    found = Cache(cache.folder).find(job)
    ((_, report),) = analyse([job], cache=Cache(cache.folder))  # in a process of its own, as always
    return found is not None, max((a.ways or 0 for k in report.kernels for a in k.accesses), default=None)


def test_a_file_is_analysed_once(project: Path, cache: Cache) -> None:
    assert worst(cache, job(project)) == (False, 32)
    assert worst(cache, job(project)) == (True, 32)


@pytest.mark.parametrize(
    "change",
    [
        lambda p: (p / "sizes.h").write_text("#define PITCH 33\n"),
        lambda p: (p / "k.cu").write_text(KERNEL.replace("PITCH", "33")),
    ],
    ids=["an included file", "the file"],
)
def test_what_was_read_has_changed(project: Path, cache: Cache, change: Callable[[Path], object]) -> None:
    worst(cache, job(project))
    change(project)
    assert worst(cache, job(project)) == (False, 1)


def test_an_included_file_is_gone(project: Path, cache: Cache) -> None:
    worst(cache, job(project))
    (project / "sizes.h").unlink()
    assert worst(cache, job(project))[0] is False


def test_a_header_that_was_looked_for_in_vain_appears(project: Path, cache: Cache) -> None:
    (project / "sizes.h").rename(project / "other.h")
    worst(cache, job(project))
    (project / "sizes.h").write_text("#define PITCH 33\n")
    assert worst(cache, job(project)) == (False, 1)


def test_another_file_starts_to_launch_the_kernel(project: Path, cache: Cache) -> None:
    text = KERNEL[: KERNEL.index("void start")]
    (project / "k.cu").write_text(text)
    worst(cache, job(project))
    start = "__global__ void k(float *out);\nvoid start(float *out) { k<<<1, dim3(2, 32)>>>(out); }\n"
    (project / "start.cu").write_text(start)
    assert worst(cache, job(project)) == (False, 2)


def test_a_file_that_is_written_again_as_it_was_is_known(project: Path, cache: Cache) -> None:
    worst(cache, job(project))
    (project / "k.cu").unlink()
    (project / "k.cu").write_text(KERNEL)
    assert worst(cache, job(project)) == (True, 32)


def test_a_change_that_size_and_times_hide_is_seen_in_a_young_file(project: Path, cache: Cache) -> None:
    worst(cache, job(project))
    before = (project / "sizes.h").stat()
    (project / "sizes.h").write_text("#define PITCH 33\n")
    os.utime(project / "sizes.h", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert worst(cache, job(project)) == (False, 1)


@pytest.mark.parametrize("module", ["banks/rule.py", "evaluate/kernel.py", "running/pipeline.py"])
def test_another_program_knows_nothing(monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    """A changed module anywhere in the package is another program."""
    stat = os.stat

    def grown(path: Any, **how: Any) -> Any:
        found = stat(path, **how)
        if not str(path).endswith(f"smemlint/{module}"):
            return found
        return SimpleNamespace(st_size=found.st_size + 1, st_mtime_ns=found.st_mtime_ns)

    told = kept._version.__wrapped__
    before = told()
    monkeypatch.setattr(os, "stat", grown)
    assert told() != before


def test_other_options_are_another_question(project: Path, cache: Cache) -> None:
    worst(cache, job(project))
    assert worst(cache, job(project, blocks={"": (16, 2, 1)}))[0] is False
    assert worst(cache, job(project, defines=("X",)))[0] is False


def test_what_time_has_ended_or_what_went_wrong_is_not_kept(
    project: Path, cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("smemlint.system.clock.ended", lambda: True)
    worst(cache, job(project))
    assert worst(cache, job(project))[0] is False
    monkeypatch.undo()
    missing = Job(str(project / "missing.cu"))
    assert dict(analyse([missing], cache=cache))[0].problems
    assert Cache(cache.folder).find(missing) is None


@pytest.mark.parametrize("damage", [b"", b"\x80", b"not a pickle", pickle.dumps({"facts": {}})])
def test_a_damaged_entry_is_a_missing_one_and_goes(project: Path, cache: Cache, damage: bytes) -> None:
    worst(cache, job(project))
    (entry,) = cache.folder.iterdir()
    entry.write_bytes(damage)
    assert worst(cache, job(project)) == (False, 32)
    assert worst(cache, job(project)) == (True, 32)


def test_an_entry_makes_no_objects_but_those_of_reports(project: Path, cache: Cache, tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.system, (f"touch {tmp_path}/evil",)

    worst(cache, job(project))
    (entry,) = cache.folder.iterdir()
    entry.write_bytes(pickle.dumps(Evil()))
    assert worst(cache, job(project))[0] is False
    assert not (tmp_path / "evil").exists()


def test_the_longest_unused_entries_go_first(
    project: Path, cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.folder.mkdir()
    for number in range(10):
        path = cache.folder / f"{number}"
        path.write_bytes(b"x" * 100)
        os.utime(path, (number, number))
    monkeypatch.setattr(kept, "MOST_BYTES", 500)
    cache.trim()
    assert sorted(p.name for p in cache.folder.iterdir()) == ["6", "7", "8", "9"]


def test_runs_may_share_a_folder(project: Path, cache: Cache) -> None:
    jobs = [job(project) for _ in range(4)]
    fresh = dict(analyse(jobs, processes=2, cache=cache))
    known = dict(analyse(jobs, processes=2, cache=Cache(cache.folder)))
    assert {i: r.kernels for i, r in fresh.items()} == {i: r.kernels for i, r in known.items()}


def smemlint(*words: str, place: Path, folder: Path) -> tuple[int, bytes]:
    command: Sequence[str] = [sys.executable, "-m", "smemlint", *words]
    environment = {**os.environ, "SMEMLINT_CACHE_DIR": str(place)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    return done.returncode, done.stdout


@pytest.mark.parametrize("form", ["full", "json", "sarif"])
def test_a_known_report_is_told_in_the_same_bytes(project: Path, tmp_path: Path, form: str) -> None:
    place = tmp_path / "kept"
    fresh = smemlint("--no-cache", "--output-format", form, ".", place=place, folder=project)
    assert not place.exists()
    first = smemlint("--output-format", form, ".", place=place, folder=project)
    assert len(list(place.iterdir())) == 1
    assert smemlint("--output-format", form, ".", place=place, folder=project) == first == fresh


def test_clean_removes_what_was_kept(project: Path, tmp_path: Path) -> None:
    place = tmp_path / "kept"
    smemlint(".", place=place, folder=project)
    assert smemlint("clean", place=place, folder=project)[1].startswith(b"removed 1 report, ")
    assert not list(place.iterdir())


def test_a_file_that_was_fixed_in_the_same_run_is_looked_at_again(project: Path, tmp_path: Path) -> None:
    text = (
        "__global__ void k(float *out) {\n__shared__ float tile[32][32];\n"
        "tile[threadIdx.x][threadIdx.y] = out[0];\n__syncthreads();\n"
        "out[threadIdx.x] = tile[threadIdx.y][threadIdx.x];\n}\n"
        "void start(float *out) { k<<<1, dim3(32, 32)>>>(out); }\n"
    )
    (project / "k.cu").write_text(text)
    place = tmp_path / "kept"
    assert smemlint("k.cu", place=place, folder=project)[0] == 1
    assert smemlint("--fix", "k.cu", place=place, folder=project)[0] == 0
    assert "[33]" in (project / "k.cu").read_text()
