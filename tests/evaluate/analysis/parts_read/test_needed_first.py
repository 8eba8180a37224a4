"""Records of which a condition reads one member and needs the rest where it holds. nvcc 13.0 (sm_90) loads
the rest in the lanes of that branch, or of one record in the end, where it does not join the member."""

from __future__ import annotations

import pytest

from smemlint.evaluate import Grade, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score_all
from smemlint.source import source_from_bytes

HEAD = """struct Wide { double v; int i; }; struct Pair { float v; int i; };
struct Short { float v; short i, j; };"""
KEPT = "{of} x = s[t ^ 1], y = s[t ^ 2]; if (x.v > y.v) s[t] = x; __syncthreads(); out[t] = s[t];"
REPLACED = """{of} m = s[t ^ 1];
for (int k = 1; k < 4; ++k) {{ {of} x = s[t + 32 * k]; if (x.v > m.v) m = x; }} out[t] = m;"""


def ranges(of: str, body: str) -> set[tuple[int, float, float]]:
    """(column, least and most wavefronts) of the loads that are told as a range."""
    kernel = f"__global__ void k(const {of} *in, {of} *out) {{ __shared__ {of} s[128]; int t = threadIdx.x;\n"
    text = f"{HEAD}\n{kernel}s[t] = in[t]; __syncthreads();\n{body.format(of=of)} }}"
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    costs = score_all(evaluate(module, module.kernels()[0], Launch((32, 1, 1))))
    assert costs and all(c.wavefronts is not None and c.wavefronts_low is not None for c in costs)
    return {
        (c.site.place.column, c.wavefronts_low or 0, c.wavefronts or 0)
        for c in costs
        if c.site.op == "load" and c.grade is not Grade.EXACT
    }


def test_the_rest_of_a_record_that_does_not_join_what_is_read_first_may_be_loaded_by_fewer_lanes() -> None:
    assert len(ranges("Wide", KEPT)) == 1
    assert ranges("Pair", KEPT) == set()


@pytest.mark.parametrize(("of", "sites", "runs"), [("Short", 2, 10), ("Wide", 2, 4)])
def test_of_records_that_replace_one_the_rest_may_be_loaded_once(of: str, sites: int, runs: int) -> None:
    """Short: nvcc loads five words, 8 bytes apart, in 2 wavefronts each. Wide: the rest is one pair of words,
    16 bytes apart, in 4; 16 wavefronts of the members that are read first are told as exact."""
    found = ranges(of, REPLACED)
    assert len(found) == sites
    assert sum(low for _, low, _ in found) <= runs <= sum(high for _, _, high in found)


def test_pairs_of_words_are_loaded_whole() -> None:
    assert ranges("Pair", REPLACED) == set()
