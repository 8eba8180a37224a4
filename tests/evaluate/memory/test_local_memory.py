"""Locals that differ by lane."""

from __future__ import annotations

from smemlint.evaluate import evaluate
from smemlint.evaluate.model import Grade
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import Conflict, score_all
from smemlint.source import source_from_bytes


def costs(body: str, threads: int = 64) -> list[Conflict]:
    """The costs of a kernel of one block, in the order of the text."""
    text = (
        "namespace cg = cooperative_groups;\n"
        "__global__ void k(float *g, unsigned long long *h) {\n"
        "  __shared__ float s[64][32]; __shared__ unsigned long long wide[512]; int t = threadIdx.x;\n"
        f"  {body}\n}}"
    )
    module = load(source_from_bytes("k.cu", text.encode()))[0]
    return list(score_all(evaluate(module, module.kernels()[0], Launch((threads, 1, 1)))))


def test_each_lane_takes_its_pointer_from_an_array_of_pointers() -> None:
    (store,) = costs("float *row[2]; row[0] = s[0]; row[1] = s[1] + 1;\n row[t % 2][t] = 1;", threads=32)
    # even lanes hit banks 0, 2, ..., odd lanes t + 1: 2, 4, ..., so that two rows meet
    assert (store.ways, store.grade) == (2, Grade.EXACT)


def test_the_last_warp_of_a_group_may_be_short() -> None:
    (store,) = costs(
        "auto tile = cg::tiled_partition<32>(cg::this_thread_block());\n"
        "if (tile.thread_rank() == 31) s[0][tile.meta_group_rank()] = 1;",
        threads=120,
    )
    assert (store.executions, store.ways, store.grade) == (3, 1, Grade.EXACT)


def test_numbers_modulo_a_64_bit_prime_cost_nobody_the_analysis() -> None:
    (store,) = costs(
        "unsigned long long x = h[t], p = 0xffffffff00000001ull;\n"
        "if (x > p) x -= p; if (t & 1) x += p * 3;\n wide[t] = x;"
    )
    assert (store.ways, store.grade) == (1, Grade.EXACT)


def test_stores_with_a_switch_by_lane_between_them_stay_apart() -> None:
    body = """unsigned long long x = h[t];
        #pragma unroll
        for (int i = 0; i < 4; i++) {
          switch ((t & 1) * i) { case 0: x = h[t + i]; break; case 1: x = h[t] / 5; break;
                                  default: x = h[i]; }
          wide[t * 4 | i] = x;
        }"""
    (store,) = costs(body, threads=32)
    assert (store.ways, store.joined) == (4, None)


GATHER = """
__global__ void k(const int *in, int *out, int n, int which) {
    __shared__ int d[1024];
    int index[8];
    for (int i = 0; i < n; i++) index[i] = @;
    for (int i = 0; i < n; i++) out[i] = d[index[i]];
}
"""


def test_indices_that_each_lane_keeps_for_itself_are_a_range_in_a_loop_of_unknown_length() -> None:
    def cost(kept: str) -> tuple[float | None, float | None]:
        module = load(source_from_bytes("k.cu", GATHER.replace("@", kept).encode()))[0]
        (conflict,) = score_all(evaluate(module, module.kernels()[0], Launch((64, 1, 1))))
        return conflict.ways_low, conflict.ways

    assert cost("in[threadIdx.x * n + i]") == (1, 32)
    assert cost("in[which]") == (1, 1)
