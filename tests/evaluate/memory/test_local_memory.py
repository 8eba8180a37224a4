"""Locals that differ by lane."""

from __future__ import annotations

import pytest

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


RECORDS = """
struct Part {{ int a, b; int c[3]; short d; }};
__global__ void k(float *out) {{
    __shared__ float s[64 * 32];
    const int t = threadIdx.x;
    Part p[2] = {{{{5, 6, {{7, 8, 9}}, 10}}, {{t, 2, {{3, 4, 11}}, 12}}}};
    Part o = {{1, 2, {{3, 4, 5}}, 6}};
    {body}
    s[{index}] = 1;
    out[t] = s[t];
}}
"""


@pytest.mark.parametrize(
    ("body", "member", "even", "odd"),
    [
        ("p[t & 1] = o;", "p[1].a", "t", "1"),
        ("p[t & 1] = o;", "p[1].c[2]", "11", "5"),
        ("p[t & 1] = o;", "p[1].d", "12", "6"),
        ("p[t & 1] = o;", "p[0].d", "6", "10"),
        ("Part &r = p[t & 1]; r = o;", "p[1].d", "12", "6"),
        ("o = p[t & 1];", "o.a", "5", "t"),
        ("o = p[t & 1];", "o.d", "10", "12"),
        ("o = p[t & 1];", "o.c[2]", "9", "11"),
    ],
)
def test_a_whole_record_goes_to_and_comes_from_the_element_of_each_lane(
    body: str, member: str, even: str, odd: str
) -> None:
    module = load(source_from_bytes("k.cu", RECORDS.format(body=body, index=f"32 * {member}").encode()))[0]
    trace = next(
        t for t in evaluate(module, module.kernels()[0], Launch((32, 1, 1))).traces if t.site.op == "store"
    )
    assert trace.grade is Grade.EXACT
    truth = [128 * eval(odd if t & 1 else even, {"t": t}) for t in range(32)]
    assert trace.offsets.tolist() == [truth]
