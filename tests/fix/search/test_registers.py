"""Where registers may cost a kernel one of two blocks, an edit must free more and is not safe."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from smemlint.api import Job, analyse_file
from smemlint.banks import architecture
from smemlint.fix.model import Suggestion
from smemlint.fix.proof.safety import rescheduled
from smemlint.fix.search.candidates import Padding, Swizzle
from smemlint.fix.search.judge import Option, worth
from smemlint.fix.search.members import Instance, member
from smemlint.fix.search.registers import Step, first_step, step_near
from smemlint.score.model import KernelAnalysis
from tests.fix.cases import access, array, kernel

ARCH = architecture("sm_90")
TILE = array(32, 32)
PRODUCT = """__global__ void %(bounds)s k(float *out, const float *in)
{
    __shared__ float tile[32][32];
    float sum[8][8] = {}, a[8], b[8];
    for (int i = 0; i < 32; i += 8) tile[threadIdx.x][threadIdx.y + i] = in[threadIdx.y + i];
    __syncthreads();
    for (int i = 0; i < 8; ++i) a[i] = b[i] = tile[threadIdx.x][i];
    for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j) sum[i][j] += a[i] * b[j];
    for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j) out[i * 8 + j] = sum[i][j];
}
void start(float *out, const float *in) { k<<<1, dim3(32, %(rows)d)>>>(out, in); }
"""


def holding(words: int, threads: int = 256) -> KernelAnalysis:
    return replace(kernel((32, threads // 32), [TILE], []), held=4 * words)


@pytest.mark.parametrize(
    ("words", "threads", "registers"),
    [(88, 256, 128), (64, 256, 128), (144, 256, 128), (56, 256, 0), (183, 256, 0), (40, 512, 64)],
)
def test_a_tile_may_come_near_the_registers_that_two_blocks_have(
    words: int, threads: int, registers: int
) -> None:
    found = step_near(holding(words, threads), ARCH)
    assert found == (Step(registers, threads) if registers else None)


def test_blocks_that_are_small_stay_several() -> None:
    assert step_near(holding(88, 128), ARCH) is None


def test_a_kernel_without_a_tile_is_not_near() -> None:
    assert step_near(holding(20, 1024), ARCH) is None


def test_one_block_cannot_become_fewer() -> None:
    large = replace(array(160, 32, 8), bytes=160 * 1024, dynamic=False)
    assert step_near(replace(holding(88), arrays={large.id: large}), ARCH) is None


def test_the_compiler_keeps_the_blocks_that_launch_bounds_ask_for() -> None:
    assert step_near(replace(holding(88), blocks_asked=2), ARCH) is None
    assert step_near(replace(holding(88), blocks_asked=1), ARCH) is not None


def test_one_instance_that_is_near_is_enough() -> None:
    assert first_step([holding(4), holding(88)], ARCH) == Step(128, 256)
    assert first_step([holding(4)], ARCH) is None


def test_near_a_step_a_layout_must_free_a_twentieth() -> None:
    conflict = access(TILE, (32, 1), lambda x, y: (x, y))
    rows = [access(TILE, (32, 1), lambda x, y: (y, x)) for _ in range(600)]
    members = tuple(m for c in [conflict] if (m := member(c)) is not None)
    instance = Instance(kernel((32, 1), [TILE], [conflict, *rows]), TILE, members)
    freed = Option(Padding(1, 1), ((1,),), 128, (8, 8), (0,))
    assert worth(freed, [instance])
    assert not worth(replace(freed, step=Step(128, 256)), [instance])


def suggested(folder: Path, bounds: str = "", rows: int = 8) -> Suggestion:
    path = folder / "a.cu"
    path.write_text(PRODUCT % {"bounds": bounds, "rows": rows}, encoding="utf-8")
    (found,) = analyse_file(Job(str(path))).suggestions
    return found


def test_the_edit_of_a_product_with_a_tile_is_not_safe_and_says_why(tmp_path: Path) -> None:
    found = suggested(tmp_path)
    assert found.edits and not found.safe
    assert "more than 128 registers" in found.unsafe_because
    assert "`__launch_bounds__(256, 2)` keeps both" in found.unsafe_because
    assert "registers" not in found.words


def test_it_is_safe_where_two_blocks_are_asked_for_or_never_were(tmp_path: Path) -> None:
    assert suggested(tmp_path, "__launch_bounds__(256, 2)").safe
    assert suggested(tmp_path, rows=4).safe


def test_a_swizzle_beside_a_tile_in_registers_is_not_safe() -> None:
    tile = array(32, 32)
    conflict = access(tile, (32, 8), lambda x, y: (x, y), "store")
    inside = member(conflict)
    assert inside is not None
    bare = kernel((32, 8), [tile], [conflict])

    def said(layout: object, words: int) -> str:
        analysis = replace(bare, held=4 * words)
        option = Option(layout, ((8,),), 0, (1, 1))  # type: ignore[arg-type]
        return rescheduled(option, [Instance(analysis, tile, (inside,))])

    assert "keeps a tile in registers" in said(Swizzle(5, 0, 0), 64)
    assert said(Swizzle(5, 0, 0), 16) == "" and said(Padding(1, 1), 64) == ""
