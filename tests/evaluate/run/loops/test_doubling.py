"""Loops of unknown length in which a number doubles, held against a count over every size that fits."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from smemlint.banks import wavefronts
from smemlint.evaluate import evaluate
from smemlint.evaluate.model import Grade
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score_all
from smemlint.score.model import Conflict
from smemlint.source import source_from_bytes

THREADS = 256
WORDS = 227 * 1024 // 4


def told(loop: str, threads: int = THREADS, op: str = "store") -> Conflict:
    """What is told of the one store (or load) of a kernel with this loop. t: the thread, n: the size."""
    text = f"__global__ void k(int n) {{ extern __shared__ float s[]; int t = threadIdx.x; {loop} }}"
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    trace = evaluate(module, module.kernels()[0], Launch((threads, 1, 1)))
    (only,) = [c for c in score_all(trace) if c.site.op == op]
    return only


def mean(rounds: list[int], at: Callable[[int, int], int], threads: int = THREADS) -> float:
    """Wavefronts of all warps over all rounds, divided by how many requests there are."""
    cost = [
        wavefronts("load", 4, tuple(4 * at(t, k) for t in range(warp, warp + 32))).wavefronts
        for k in rounds
        for warp in range(0, threads, 32)
    ]
    return sum(cost) / len(cost)


def powers(first: int, last: int, by: int = 2) -> list[int]:
    """first, first * by, ... up to last."""
    found = []
    while first <= last:
        found.append(first)
        first *= by
    return found


def butterfly(t: int, k: int) -> int:
    return ((t - t % k) << 2) + t % k


def pair(t: int, k: int) -> int:
    return 2 * t - (t & (k - 1))


@pytest.mark.parametrize("threads", [64, 256, 1024])
def test_the_rounds_of_a_transform_are_between_those_of_a_block_and_those_that_fit(threads: int) -> None:
    loop = """for (int k = 1; k <= n >> 2; k <<= 2) {
        int lo = t & (k - 1), i = ((t - lo) << 2) + lo; s[i + 3 * k] = s[i]; __syncthreads(); }"""
    of = told(loop, threads, "load")
    assert of.grade is Grade.BOUND
    assert of.ways_low is not None
    assert of.ways is not None
    truths = []
    size = 4 * threads
    while size <= WORDS:  # a thread has four elements: smaller sizes leave threads without any
        truths.append(mean(powers(1, size // 4, 4), butterfly, threads))
        size *= 4
    assert len(truths) >= 2
    assert all(of.ways_low - 1e-9 <= truth <= of.ways + 1e-9 for truth in truths)
    assert of.ways < 4  # and not the 28 ways that some stride would have


def test_the_stages_of_a_bitonic_sort_are_counted_each() -> None:
    loop = """for (int k = 2; k <= n; k <<= 1) for (int j = k >> 1; j > 0; j >>= 1) {
        int p = 2 * t - (t & (j - 1)); s[p] = s[p + j]; __syncthreads(); }"""
    of = told(loop, op="load")
    sizes = powers(2 * THREADS, WORDS)
    truths = [
        mean([j for k in powers(2, size) for j in powers(1, k // 2)], lambda t, j: pair(t, j) + j)
        for size in sizes
    ]
    assert of.ways_low is not None
    assert of.ways is not None
    assert all(of.ways_low <= truth <= of.ways for truth in truths)
    assert 1.3 < of.ways_low < of.ways < 2


def test_the_first_rounds_surely_run() -> None:
    of = told("for (int k = 1; k < n; k *= 2) s[t * k] = 0;")
    assert of.surely == 32
    assert any(a.kind == "large-size" for a in of.trace.assumptions)


@pytest.mark.parametrize("end", ["n / 256", "n >> 10"])
def test_of_a_part_of_a_size_no_round_surely_runs(end: str) -> None:
    """A size of 1,024 ends the loop behind k = 2: its rounds have 1 and 2 ways."""
    of = told(f"for (int k = 1; k < {end}; k *= 2) s[t * k] = 0;")
    assert of.surely == 0
    assert of.ways_low is not None
    assert of.ways_low <= mean([1, 2], lambda t, k: t * k)


def test_rounds_that_leave_shared_memory_do_not_run() -> None:
    of = told("for (int k = 1; k < n; k *= 2) s[t * k] = 0;")
    fits = [k for k in powers(1, 1 << 20) if (THREADS - 1) * k < WORDS]
    assert of.executions == len(fits) * THREADS // 32


def test_an_index_that_is_masked_stays_within_memory_in_every_round() -> None:
    of = told("for (int k = 1; k < n; k *= 2) s[(t * k) & 1023] = 0;")  # no size is as large as 2 ** 30
    assert of.executions == len(powers(1, 1 << 29)) * THREADS // 32


def test_what_a_size_guards_in_a_round_need_not_run() -> None:
    of = told("for (int k = 1; k < n; k *= 2) if (2 * k * t < n) s[2 * k * t] = 0;")
    assert of.surely == 0
    assert (of.ways_low, of.ways) == (1, 32)


@pytest.mark.parametrize("end", ["s[0] > 0 && k < 512", "k < int(s[0])", "k < g[0]"])
def test_a_loop_that_data_ends_surely_runs_no_round(end: str) -> None:
    text = f"""__global__ void k(const int *g) {{ __shared__ float s[16384]; int t = threadIdx.x;
        for (int k = 1; {end}; k *= 2) s[t * k & 16383] = 0; }}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    found = score_all(evaluate(module, module.kernels()[0], Launch((32, 1, 1))))
    (of,) = [c for c in found if c.site.op == "store"]
    assert of.surely == 0
    assert of.ways_low == 1


@pytest.mark.parametrize("step", ["k *= 2", "k <<= 1", "k = k * 2", "k = 2 * k"])
def test_a_number_doubles_however_it_is_written(step: str) -> None:
    of = told(f"for (int k = 1; k < n; {step}) s[(t / k) * 2 * k + t % k] = 0;")
    expected = [k for k in powers(1, WORDS) if (THREADS - 1) // k * 2 * k + (THREADS - 1) % k < WORDS]
    high = mean([k for k in expected if k < THREADS], lambda t, k: t // k * 2 * k + t % k)
    assert of.ways == pytest.approx(high)


def test_a_loop_that_the_compiler_makes_copies_of_keeps_them() -> None:
    """It counts the rounds, whatever else doubles in them."""
    of = told("int k = 1; for (int i = 0; i < n; i++) { s[t * k] = 0; k *= 2; }")
    assert (of.ways_low, of.ways) == (1, 32)
    assert of.surely == 0


def test_behind_the_loop_the_number_is_any_that_it_may_be() -> None:
    of = told("int k = 1; for (; k < n; k *= 2) __syncthreads(); s[t * k] = 1;")
    assert (of.ways_low, of.ways) == (1, 32)


@pytest.mark.parametrize(
    ("end", "ways"), [("k < n % 7", 0), ("k < n - 250", 0), ("k < (n & 15)", 0), ("k * 64 < n", 2)]
)
def test_what_a_size_leaves_may_be_less_than_the_block(end: str, ways: int) -> None:
    """Of `k * 64 < n` the rounds with k = 1 and 2 surely run in a block of 256."""
    assert told(f"for (int k = 1; {end}; k *= 2) s[t * k & 8191] = 0;").surely == ways
