"""Arrays of the same kernels are proved together, and one that does not hold costs no other its edit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from smemlint.api import Job
from smemlint.fix.proof import proving
from smemlint.running import pipeline
from tests.fix.test_suggest import of_text

KERNEL = """
__global__ void k(float *o) {
    __shared__ float a[32][32]; __shared__ float b[32][32]; __shared__ float c[32][32];
    int x = threadIdx.x, y = threadIdx.y;
    a[x][y] = o[x]; b[x][y] = o[y]; c[x][y] = o[x + y]; __syncthreads();
    o[y * 32 + x] = a[y][x] + b[y][x] + c[y][x];%s
}
void f(float *o) { k<<<1, dim3(32, 32)>>>(o); }
"""


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many kernels each proof asked for."""
    asked: list[int] = []
    real = pipeline.again

    def again(*args: object) -> object:
        analyse = real(*args)  # type: ignore[arg-type]

        def one(path: str, data: bytes, before: list[object]) -> object:
            asked.append(len(before))
            return analyse(path, data, before)  # type: ignore[arg-type]

        return one

    monkeypatch.setattr(pipeline, "again", again)
    return asked


def test_three_arrays_take_one_proof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = counted(monkeypatch)
    found, _ = of_text(tmp_path, (KERNEL % "").encode())
    assert {name: s.code for name, s in found.items()} == {n: f"{n}[32][33]" for n in "abc"}
    assert all(s.safe for s in found.values())
    assert asked == [1]


def test_an_array_that_does_not_hold_leaves_the_others_theirs(tmp_path: Path) -> None:
    # The pitch of `c` is written a second time, behind a pointer.
    text = KERNEL % "\n    float *p = &c[0][0]; o[x] += p[y * 32 + x];"
    found, _ = of_text(tmp_path, text.encode())
    assert found["a"].edits is not None and found["a"].safe
    assert found["b"].edits is not None and found["b"].safe
    assert found["c"].edits is None


def test_the_array_to_blame_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blamed: list[str] = []
    real = proving.blame

    def blame(*args: object) -> object:
        found = real(*args)  # type: ignore[arg-type]
        if found is not None and found[1] is not None:
            blamed.append(found[1].name)
        return found

    monkeypatch.setattr("smemlint.fix.suggest.blame", blame)
    # The offset of an element that a type of the file gives: only the proof sees that it stays behind.
    text = KERNEL % "\n    if (x < 8) o[x] += ((float *)c)[y * 32 + x];"
    found, _ = of_text(tmp_path, text.encode())
    assert found["a"].edits is not None and found["b"].edits is not None
    assert set(blamed) <= {"c"}


def test_a_kernel_is_proved_with_the_steps_that_it_was_analysed_with(tmp_path: Path) -> None:
    path = tmp_path / "a.cu"
    path.write_text(KERNEL % "")
    found = pipeline.examine(Job(str(path)), str)
    (analysis,) = found.analyses  # type: ignore[union-attr]
    assert analysis.steps is None
    work = pipeline.FixWork(float("inf"), analysis.work)
    again = pipeline.again(found.source, found.modules, Job(str(path)), work)  # type: ignore[union-attr]
    (same,) = again(str(path), path.read_bytes(), [analysis])
    (less,) = again(str(path), path.read_bytes(), [replace(analysis, steps=5)])
    assert same is not None and not same.notes and same.work == analysis.work
    assert less is not None and [n.code for n in less.notes] == ["budget"]
