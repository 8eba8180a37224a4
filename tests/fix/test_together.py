"""Arrays of the same kernels are proved together, and one that does not hold costs no other its edit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from smemlint.api import Job
from smemlint.fix.proof import proving
from smemlint.frontend import Known
from smemlint.running import pipeline, proofs
from smemlint.running.schedule import FixWork
from smemlint.score.model import KernelAnalysis
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
    # The pitch of `c` is written a second time, behind a pointer: no padding holds, a swizzle does.
    text = KERNEL % "\n    float *p = &c[0][0]; o[x] += p[y * 32 + x];"
    found, _ = of_text(tmp_path, text.encode())
    assert found["a"].edits is not None and found["a"].safe
    assert found["b"].edits is not None and found["b"].safe
    assert found["c"].kind == "swizzle" and not found["c"].safe


def test_the_array_to_blame_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blamed: list[str] = []
    real = proving.blame

    def blame(*args: object, **given: object) -> object:
        found = real(*args, **given)  # type: ignore[arg-type]
        if found is not None:
            blamed.extend(pool.name for pool in found[1])
        return found

    monkeypatch.setattr("smemlint.fix.suggest.blame", blame)
    # The offset of an element that a type of the file gives: only the proof sees that it stays behind.
    text = KERNEL % "\n    if (x < 8) o[x] += ((float *)c)[y * 32 + x];"
    found, _ = of_text(tmp_path, text.encode())
    assert found["a"].edits is not None and found["b"].edits is not None
    assert set(blamed) <= {"c"}


def test_all_arrays_that_do_not_hold_cost_one_proof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = counted(monkeypatch)
    drafts: list[tuple[str, ...]] = []
    real = proving.blame

    def blame(moves: Sequence[proving.Move], *args: object, **given: object) -> object:
        drafts.append(tuple(m.pool.name for m in moves))
        return real(moves, *args, **given)  # type: ignore[arg-type]

    monkeypatch.setattr("smemlint.fix.suggest.blame", blame)
    # The pitch of `b` and `c` is written a second time, in an index of the row before.
    text = (KERNEL % "").replace("+ b[y][x] + c[y][x]", "+ b[0][y * 32 + x] + c[0][y * 32 + x]")
    text = text.replace("__shared__ float c", "__shared__ float d[32][32]; __shared__ float c")
    text = text.replace("c[x][y] = ", "d[x][y] = o[x]; c[x][y] = ").replace(
        "a[y][x] +", "a[y][x] + d[y][x] +"
    )
    found, _ = of_text(tmp_path, text.encode())
    assert found["a"].edits is not None and found["d"].edits is not None
    assert set(drafts[0]) == set("abcd") and set(drafts[1]) == set("ad")
    assert len(drafts) == 2 and asked[:2] == [1, 1]


def test_kernels_that_cost_least_are_proved_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[int]] = []
    real = pipeline.again

    def again(*args: object) -> object:
        analyse = real(*args)  # type: ignore[arg-type]

        def one(path: str, data: bytes, before: Sequence[KernelAnalysis]) -> object:
            asked.append([each.work for each in before])
            return analyse(path, data, before)

        return one

    monkeypatch.setattr(pipeline, "again", again)
    text = (KERNEL % "").replace("__global__", "template <int N> __global__")
    text = text.replace("__syncthreads();", "for (int n = 0; n < N; ++n) o[n] = a[y][n]; __syncthreads();", 1)
    launches = "".join(f"k<{n}><<<1, dim3(32, 32)>>>(o); " for n in (24, 2, 12))
    text = text.replace("k<<<1, dim3(32, 32)>>>(o); ", launches)
    found, _ = of_text(tmp_path, text.encode())
    assert found["a"].edits is not None
    assert len(asked[0]) == 3 and asked[0] == sorted(asked[0]) and asked[0][0] < asked[0][2]


def test_a_kernel_is_proved_with_the_steps_that_it_was_analysed_with(tmp_path: Path) -> None:
    path = tmp_path / "a.cu"
    path.write_text(KERNEL % "")
    found = pipeline.examine(Job(str(path)), str)
    (analysis,) = found.analyses  # type: ignore[union-attr]
    assert analysis.steps is None
    work = FixWork(float("inf"), analysis.work)
    again = proofs.again(found.source, found.modules, Job(str(path)), work)  # type: ignore[union-attr]
    (same,) = again(str(path), path.read_bytes(), [analysis])
    (less,) = again(str(path), path.read_bytes(), [replace(analysis, steps=5)])
    assert same is not None and not same.notes and same.work == analysis.work
    assert less is not None and [n.code for n in less.notes] == ["budget"]


def test_a_file_analysed_with_another_text_takes_its_steps_from_the_fixes(tmp_path: Path) -> None:
    path = tmp_path / "a.cu"
    path.write_text(KERNEL % "")
    work = FixWork(float("inf"))
    whole, left = pipeline._from_nothing(Job(str(path)), work, 0, Known()), work.left
    found = whole(path.read_bytes())
    assert found and left - work.left == sum(a.work for a in found) > 0
    work.take(work.left)
    assert whole(path.read_bytes()) is None
