"""Loops of which the optimiser knows less than their rounds say: neighbours are told as a range. The widths
are those of nvcc 13's machine code."""

from __future__ import annotations

import pytest

from smemlint.evaluate import Grade, Trace, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes


def traces(shared: str, body: str) -> list[Trace]:
    """The loads and stores behind the first barrier."""
    text = f"""__global__ void k(float *out, const float *in, float w, int n) {{
        {shared}
        int t = threadIdx.x;
        float sum = 0;
        for (int e = t; e < 2048; e += 32) S[e] = in[e];
        __syncthreads();
        {body}
        __syncthreads();
        out[t] = sum;
    }}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (kernel,) = module.kernels()
    found = evaluate(module, kernel, Launch((32, 1, 1), arguments={"n": 4})).traces
    return [t for t in found if t.site.place.line > 6]


EXPONENTIALS = (
    "for (int c = 0; c < 64; c++) { float p = expf(S[t * 64 + c] - w); S[t * 64 + c] = p; sum += p; }"
)


def is_open(t: Trace) -> bool:
    """Whether a range from joined to apart is told."""
    return t.grade is not Grade.EXACT and t.reason is not None and t.reason.code == "joined-or-not"


@pytest.mark.parametrize("pool", ["char pool[]", "__align__(16) unsigned char pool[]", "float4 pool[]"])
def test_an_array_of_another_type_may_lose_its_alignment_in_a_loop_that_stays(pool: str) -> None:
    """LDS and STS of 4 bytes, 32 ways; of an array of floats LDS.128 and STS.128."""
    cast = traces(f"extern __shared__ {pool}; float *S = (float *)pool;", EXPONENTIALS)
    assert cast and all(map(is_open, cast))
    own = traces("extern __shared__ float S[];", EXPONENTIALS)
    assert {(t.joined, t.grade) for t in own} == {(16, Grade.EXACT)}


def test_it_keeps_it_in_a_loop_that_disappears() -> None:
    """LDS.128 and STS.128."""
    body = "for (int c = 0; c < 16; c++) S[t * 64 + c] *= w;"
    found = traces("extern __shared__ char pool[]; float *S = (float *)pool;", body)
    assert {(t.joined, t.grade) for t in found} == {(16, Grade.EXACT)}


@pytest.mark.parametrize("condition", ["y >= 4", "y > 3"])
def test_rounds_may_be_peeled_off_a_loop_that_asks_its_counter(condition: str) -> None:
    """Four rounds in front (LDS.128), and a loop of 28 with LDS of 4 bytes, 32 ways."""
    body = f"""for (int y = 0; y < 32; y++) {{
        sum += S[t * 32 + y];
        if ({condition}) sum -= S[t * 32 + y - 4];
        out[y * 32 + t] = sum;
    }}"""
    (first, *_) = traces("__shared__ float S[2048];", body)
    assert is_open(first)


def test_loads_and_stores_of_a_loop_that_machine_code_unrolls_may_stay_apart() -> None:
    """STS of 4 bytes in the second loop: the optimiser has not put values of the first one into registers."""
    body = """for (int c = 1; c < 32; c++)
            S[t * 32 + c] = (S[t * 32 + c] - w * S[t * 32 + c - 1]) * (w - S[1024 + c]);
        for (int c = 30; c >= 0; c--) { sum = S[t * 32 + c] - S[1024 + c] * sum; S[t * 32 + c] = sum; }"""
    stores = [t for t in traces("__shared__ float S[2048];", body) if t.site.op == "store"]
    assert all(is_open(t) or t.joined is None for t in stores)


@pytest.mark.parametrize(("rounds", "again"), [(16, False), (24, False), (28, True), (32, True), (40, True)])
def test_a_row_of_exponentials_disappears_up_to_twenty_four(rounds: int, again: bool) -> None:
    """Behind a loop that reads the row: all in registers and STS.128, or LDS and STS in a loop that stays."""
    body = f"""for (int c = 0; c < {rounds}; c++) sum = fmaxf(sum, S[t * {rounds} + c]);
        for (int c = 0; c < {rounds}; c++) {{
            float p = expf(S[t * {rounds} + c] - sum);
            S[t * {rounds} + c] = p; sum += p; }}"""
    (first, load, store) = traces("__shared__ float S[2048];", body)[:3]
    assert (first.site.op, first.joined) == ("load", 16)
    assert (load.site.op, bool(load.weights.sum())) == ("load", again)
    assert (store.site.op, store.joined) == ("store", None if again else 16)
