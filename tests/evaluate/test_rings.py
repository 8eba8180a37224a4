"""Ring buffers whose start is not known: their cost is told where it is the same for every start."""

from __future__ import annotations

import pytest

from smemlint.banks import wavefronts
from smemlint.evaluate import evaluate
from smemlint.evaluate.model import Grade
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score_all
from smemlint.score.model import Conflict
from smemlint.source import source_from_bytes

WIDTHS = {"char": 1, "short": 2, "float": 4, "double": 8}


def scored(kind: str, index: str) -> Conflict:
    text = (
        f"__global__ void k(int n) {{ extern __shared__ {kind} s[]; int t = threadIdx.x & 31;"
        f" int w = threadIdx.x / 32; s[{index}] = 1; }}"
    )
    module = load(source_from_bytes("k.cu", text.encode()))[0]
    (conflict,) = score_all(evaluate(module, module.kernels()[0], Launch((64, 1, 1))))
    return conflict


def true_costs(kind: str, index: str) -> set[int]:
    """Of two warps, for each start; C's `/` is Python's `//`."""
    width, text = WIDTHS[kind], index.replace("/", "//")
    return {
        sum(
            wavefronts(
                "store", width, [width * eval(text, {"t": t, "w": w, "n": n}) for t in range(32)]
            ).wavefronts
            for w in range(2)
        )
        for n in (*range(130), 997, 1000, 4093)
    }


@pytest.mark.parametrize(
    ("kind", "index"),
    [
        ("float", "(n + t) & 1023"),
        ("float", "(n + t) % 1024"),
        ("float", "(n + 64 * w + t) % 96"),
        ("float", "(n + t * 33) & 255"),
        ("float", "(n + t / 4) & 31"),
        ("float", "(n * 32 + t * 32) & 1023"),
        ("float", "(n - t * 2) & 511"),
        ("float", "(t / 8) * 128 + ((n + (t & 7) * 4) & 127)"),
        ("float", "w * 1024 + ((n + t * 5) & 1023)"),
        ("short", "(n + t * 2) & 255"),
        ("char", "(n * 4 + t * 17) & 127"),
        ("double", "(n + t * 2) & 63"),
    ],
)
def test_a_ring_of_whole_bank_cycles_is_exact_with_any_start(kind: str, index: str) -> None:
    conflict = scored(kind, index)
    (cost,) = true_costs(kind, index)
    assert conflict.grade is Grade.EXACT
    assert conflict.wavefronts_low == conflict.wavefronts == cost


@pytest.mark.parametrize(
    ("kind", "index"),
    [
        ("float", "(n + t) % 100"),
        ("float", "(t & 1) * 8 + ((n + t) & 31)"),
        ("float", "(t / 16) * 33 + ((n + t) & 63)"),
        ("short", "(n + t) % 32"),
        ("char", "(n + t * 17) & 127"),
    ],
)
def test_of_other_rings_the_range_holds_every_start(kind: str, index: str) -> None:
    conflict, costs = scored(kind, index), true_costs(kind, index)
    assert conflict.wavefronts_low is not None and conflict.wavefronts is not None
    assert conflict.wavefronts_low <= min(costs) and max(costs) <= conflict.wavefronts
