"""Pools cut into parts, through every stage: what is edited, what moves with it, what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from smemlint.api import Job, analyse_file
from smemlint.fix.edits.apply import apply
from smemlint.fix.model import Suggestion

HEAD = (
    "__global__ void k(float *out, const float *in, int w) {\n    int tx = threadIdx.x, ty = threadIdx.y;\n"
)


def fix(
    tmp_path: Path, body: str, launches: str, *, main: str = "int main()", array: str = "pool"
) -> tuple[Suggestion, str]:
    """The suggestion for an array and the text with its edits."""
    text = f"{HEAD}    {body}\n}}\n{main} {{ float *o = 0; const float *in = 0; {launches} }}\n"
    path = tmp_path / "a.cu"
    path.write_text(text)
    report = analyse_file(Job(str(path)))
    assert not report.problems
    found = {s.array.name: s for s in report.suggestions}[array]
    return found, apply(found.edits or (), text.encode()).decode()


POOL = """extern __shared__ float pool[];
    float *a = pool;
    float *b = pool + 32 * 32;
    a[ty * 32 + tx] = in[tx]; b[tx] = in[ty];
    __syncthreads();
    out[ty] = a[tx * 32 + ty] + b[tx];"""
LAUNCH = "k<<<1, dim3(32, 32), (32 * 32 + 32) * sizeof(float)>>>(o, in, 32);"


def test_a_wider_part_moves_what_is_behind_it_and_the_launch_gives_more(tmp_path: Path) -> None:
    found, text = fix(tmp_path, POOL, LAUNCH)
    assert found.kind == "pitch" and found.safe, found.unsafe_because
    assert "const int A_PITCH = 33;" in text and "a[tx * A_PITCH + ty]" in text
    assert "float *b = pool + 32 * A_PITCH;" in text
    assert "(32 * 32 + 32) * sizeof(float) + 128>>>" in text


def test_the_edited_launch_gives_enough_bytes_for_every_access(tmp_path: Path) -> None:
    _, text = fix(tmp_path, POOL, LAUNCH)
    path = tmp_path / "b.cu"
    path.write_text(text)
    again = analyse_file(Job(str(path)))
    assert not again.suggestions
    assert again.kernels[0].dynamic == (32 * 33 + 32) * 4


def test_launches_that_are_not_all_known_make_it_unsafe(tmp_path: Path) -> None:
    found, _ = fix(tmp_path, POOL, LAUNCH, main="void start()")
    assert found.edits is not None and not found.safe
    assert found.unsafe_because == "`k` may be launched by other files"


def test_every_launch_gets_its_bytes(tmp_path: Path) -> None:
    other = "size_t bytes = 8192; k<<<2, dim3(32, 16), bytes>>>(o, in, 32);"
    found, text = fix(tmp_path, POOL, LAUNCH + other)
    assert found.edits is not None and "bytes + 128>>>" in text and "sizeof(float) + 128>>>" in text


DIRECT = "extern __shared__ float pool[]; pool[{0}] = in[tx]; __syncthreads(); out[tx] = pool[{1}];"


def test_launches_that_need_different_sizes_get_a_swizzle(tmp_path: Path) -> None:
    body = DIRECT.format("ty * w + tx", "tx * w + ty")
    launches = "k<<<1, dim3(32, 32), 4096>>>(o, in, 32); k<<<1, dim3(16, 16), 1024>>>(o, in, 16);"
    found, text = fix(tmp_path, body, launches)
    if found.edits is None:
        assert found.refused is not None and found.refused.code in ("no-better-layout", "launches-differ")
    else:
        assert found.kind == "swizzle" and "<<<1, dim3(32, 32), 4096>>>" in text


def test_a_pitch_that_an_argument_gives_may_be_padded(tmp_path: Path) -> None:
    found, text = fix(
        tmp_path, DIRECT.format("ty * w + tx", "tx * w + ty"), "k<<<1, dim3(32, 32), 4096>>>(o, in, 32);"
    )
    assert found.edits is not None
    assert found.kind == "swizzle" or "const int POOL_PITCH = w + 1;" in text


REFUSED = [
    (
        "a part that starts where each thread is",
        "extern __shared__ float pool[]; float *mine = pool + tx * 32; mine[ty] = 0; out[tx] = mine[ty];",
        "k<<<1, dim3(32, 32), 4096>>>(o, in, 32);",
        "part-start",
    ),
    (
        "a size that the launch does not tell",
        DIRECT.format("tx * 32", "tx * 32"),
        "extern int bytes; k<<<1, 32, bytes>>>(o, in, 32);",
        "size-elsewhere",
    ),
    (
        "a part that is left",
        "extern __shared__ float pool[]; float *a = pool, *b = pool + 16;"
        " a[tx * 32] = in[tx]; b[tx & 15] = 0; out[tx] = a[tx * 32];",
        "k<<<1, 32, 4096>>>(o, in, 32);",
        "part-overlaps",
    ),
]


@pytest.mark.parametrize(("body", "launches", "code"), [r[1:] for r in REFUSED], ids=[r[0] for r in REFUSED])
def test_a_part_that_may_not_move_is_refused_by_name(
    tmp_path: Path, body: str, launches: str, code: str
) -> None:
    found, _ = fix(tmp_path, body, launches)
    assert found.edits is None and found.refused is not None
    assert found.refused.code == code, found.refused
