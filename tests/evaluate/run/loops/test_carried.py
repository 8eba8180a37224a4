"""What loops carry, and how often a loop in loops is tried out."""

from __future__ import annotations

import pytest
from costs import scored, told, traced

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score_all
from smemlint.source import source_from_bytes


def _nest(depth: int) -> str:
    """Loops in loops, each as long as data says, that count in several ways."""
    body = "s[at & 1023] = a0; at += 32; last = at;"
    for i in range(depth):
        body = f"int a{i} = in[{i}]; while (a{i} > 0) {{ sum += a{i}; {body} a{i} -= n; }} at = sum + {i};"
    return f"int at = threadIdx.x, sum = 0, last = 0; {body} out[last] = at;"


def test_loops_in_loops_are_not_tried_out_anew_for_each_trial_around_them() -> None:
    """Each loop more would else cost four times as much: a first trial, two more, the generic iteration."""
    work = [traced(_nest(depth)).work for depth in (3, 5, 7)]
    assert work[2] < 5 * work[0], work


def test_what_an_earlier_visit_says_is_verified() -> None:
    """The inner loop goes by another number on its second visit: by one pitch, then by two."""
    inner = "for (int i = 0; i < n; i++) {{ s[at] = i; at += {}; }}"
    loops = (
        "int at = threadIdx.x, by = 32; for (int j = 0; j < n; j++) { " + inner.format("by") + " by = 33; }"
    )
    (store,) = scored(loops)
    assert (store.ways_low, store.ways) == (1, 1)
    loops = (
        "int by = 1; for (int j = 0; j < 2; j++) { int at = 0;" + inner.format("by") + " by = threadIdx.x; }"
    )
    assert {op for op, *_ in told(loops)} == {"store"}
    first, second = scored(loops, shared="int s[8192]")  # of the first visit STS.128, of the second STS
    assert (first.ways_low, first.ways, second.ways) == (1, 32, 1)


def test_an_unsigned_number_from_memory_may_have_its_top_bit_set() -> None:
    body = (
        "const unsigned *data = (const unsigned *)in; unsigned x = data[threadIdx.x];"
        "if ((int)x < 0) s[threadIdx.x * 32] = 1;"
    )
    assert [c.site.op for c in scored(body)] == ["store"]


@pytest.mark.parametrize(
    "loop",
    [
        "while (c < 100 && in[threadIdx.x + c] == 0) c++;",
        "do { c++; } while (in[threadIdx.x * c] > 1);",
        "int i = (n & 2 ? 100 : threadIdx.x) & 7; while (i < 7) { i += 2; c++; }",
    ],
)
def test_lanes_that_leave_a_loop_after_different_rounds_have_counted_differently(loop: str) -> None:
    """With counts 0, 1, 2 ... in the lanes, all words lie in one bank: any number of ways is possible."""
    for read in ("c * 32", "c * 32 & 1023"):
        (store,) = scored(f"int c = 0; {loop} s[{read}] = 1;", shared="int s[8192]")
        assert store.ways is not None and store.ways_low is not None
        assert store.ways_low == 1 and store.ways >= 4


def test_lanes_that_leave_a_loop_together_have_counted_alike() -> None:
    (store,) = scored("int c = 0; for (int i = 0; i < n; i++) c += 3; s[c * 32 & 1023] = 1;")
    assert (store.ways, store.grade.value) == (1, "exact")


def test_what_the_first_iteration_leaves_alone_by_chance_changes_later() -> None:
    """`at` is 2 in the first two iterations and then goes on: the truth moves by words, not by rows alone."""
    body = "int at = 2; for (int i = 0; i < n; i++) { s[at * (int)threadIdx.x & 1023] = 1; at = at + i % 3; }"
    (store,) = scored(body)
    assert store.ways is not None and store.ways_low is not None
    # n of 4: at is 2, 2, 3, 5; strides of an even number of words cost 2 ways, of an odd one 1.
    assert store.ways_low <= 1.5 <= store.ways


def test_a_helper_that_stores_to_a_shared_array_needs_the_index_that_a_loop_changes() -> None:
    text = b"""__device__ void put(int *p, int i) { p[i & 1023] = 1; }
    __global__ void k(int n) {
    __shared__ int s[1024];
    int at = threadIdx.x;
    for (int i = 0; i < n; i++) { put(s, at * 2); if (i == 0) at = at * 2; }
    }"""
    (module,) = load(source_from_bytes("kernel.cu", text))
    (store,) = score_all(evaluate(module, module.kernels()[0], Launch((32, 1, 1), arguments={"n": 3})))
    # Strides of 2, 4 and 4 words.
    assert (store.wavefronts, store.ideal) == (2 + 4 + 4, 3)


def test_variables_cut_into_parts_in_a_loop_are_not_cut_forever() -> None:
    body = (
        "struct { short lo, hi; } v; v.lo = 2; v.hi = 0;"
        "for (int i = 0; i < n; i++) { s[(v.lo & 7) * 32 + threadIdx.x] = 1; *(int *)&v += v.hi; v.lo ^= 1; }"
    )
    assert [c.ways for c in scored(body)] == [1]


def test_a_method_that_reaches_a_shared_array_needs_the_index_that_a_branch_changes() -> None:
    body = """struct Tile { int *base; __device__ int &at(int i, int j) { return base[i * 33 + j]; } };
    int i = 2;
    for (int k = 0; k < 3; k++) i ^= 1;
    if (threadIdx.x % 32 < 12) i = 5;
    Tile{s}.at(i * 8 % 32, threadIdx.x & 1) = 1;"""
    (store,) = scored(body)
    # Rows 8 (5 * 8 % 32) and 24 (3 * 8) of 33 words begin in banks 8 and 24: two words of each, and no two
    # in one bank.
    assert (store.wavefronts, store.ideal, store.grade.value) == (2, 2, "exact")
    (address,) = {tuple(row) for row in store.trace.offsets.tolist()}
    assert address == tuple(4 * (33 * (8 if t < 12 else 24) + t % 2) for t in range(32))


def test_what_some_lanes_set_of_an_unfollowed_variable_is_not_what_all_hold() -> None:
    """`at` takes part in no address before: a loop that sets it may be passed over, not what it left."""
    body = "int at = in[threadIdx.x]; if (threadIdx.x < 16) at = 5; s[(at & 31) * 32] = 1;"
    (store,) = scored(body, block=(32, 1, 1))
    assert store.ways is not None and store.ways >= 16


def test_a_loop_of_much_work_is_not_gone_through_to_the_end_of_a_line() -> None:
    """Each iteration more would cost a share of its kernel's steps."""
    inner = """
#pragma unroll 1
for (int j = 0; j < 96; j++)
#pragma unroll 1
for (int k = 0; k < 40; k++) { at = (at * 5 + j) & 1023; s[at] = k; }"""

    def work(iterations: int) -> int:
        loop = f"\n#pragma unroll 8\nfor (int i = 0; i < {iterations}; i++) {{ {inner} }}"
        return traced(f"int at = threadIdx.x; {loop} out[at] = at;").work

    assert work(500) < 1.1 * work(4)
