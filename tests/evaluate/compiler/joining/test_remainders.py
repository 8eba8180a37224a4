"""How remainders by a power of two are aligned: of an int that the optimiser does not see not to be negative
(threadIdx, blockIdx, an argument) machine code does not know it, so that neighbours in a plain array stay
apart. Each body was compiled (nvcc 13.0, sm_90); where nvcc is installed this is done again.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from instructions import compiled, needs_nvcc

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes

APART = ["(tid * 4) % 16", "4 * tid % 128 + 64", "tid / 2 * 4 % 16", "(tid >> 1) * 4 % 16", "q[tid] * 8 % 64"]
APART += ["4 * n % 64", "4 * (int)blockIdx.x % 64", "4 * (tid % 16) % 32", "4 * tid * n % 64"]
APART += ["tid / 8 * 32 + tid * 4 % 32"]
JOINED = ["tid * 4 & 15", "tid % 16 * 4", "threadIdx.x * 4 % 128", "(tid & 31) * 4 % 16", "lane * 4 % 16"]
JOINED += ["threadIdx.x / 32 * 4 % 16", "4 * ((const unsigned char *)q)[tid] % 64", "tid * 4 % 12"]
JOINED += ["4 * tid % 4 + 8 * tid"]
JOINED += ["tid * 4u % 12", "4 * tid % 24 + 4 * tid / 24 * 40", "(4 * (tid & 7) + 64 * (tid >> 5 & 3)) % 32"]


def source(index: str, declared: str = "") -> str:
    return f"""extern "C" __global__ void k(float *out, const float *in, const int *q, float w, int n) {{
    __shared__ {declared} float s[4096]; int tid = threadIdx.x, lane = threadIdx.x % 32; float x = 0;
    s[tid] = w; __syncthreads(); int c = {index};
    x += s[c]; x += s[c + 1]; x += s[c + 2]; x += s[c + 3];
    __syncthreads(); out[tid] = x + s[tid]; }}"""


def told(text: str) -> Counter[tuple[str, int]]:
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1), arguments={"n": 16}))
    found: Counter[tuple[str, int]] = Counter()
    for t in trace.traces:
        found[t.site.op, t.joined or t.site.width] += int(t.weights.sum())
    return +found


@pytest.mark.parametrize("index", APART)
def test_a_remainder_of_what_may_be_negative_keeps_neighbours_apart(index: str) -> None:
    assert told(source(index))["load", 4] == 5


@pytest.mark.parametrize("index", JOINED)
def test_a_remainder_of_what_is_plainly_not_negative_is_a_mask(index: str) -> None:
    assert told(source(index)) == {("load", 16): 1, ("load", 4): 1, ("store", 4): 1}


@pytest.mark.parametrize("index", [*APART, *JOINED, "min(4 * tid, 4 * n)", "(4 * tid + 1) % 16 + 3"])
def test_declared_alignment_is_joined_by_the_optimiser_which_sees_it(index: str) -> None:
    found = told(source(index, "__align__(16)"))
    assert found["load", 16] >= 1
    assert found["load", 4] == 1


def test_a_tile_that_is_filled_by_vectors_in_a_loop() -> None:
    """Rows by `/`, columns by `%`, four scalar stores: four STS where i is an int, else one."""
    for type_, width in (("int", 4), ("unsigned", 16)):
        text = tile(type_, "[64][16]", "[r][c", "]")
        assert {w for (op, w), n in told(text).items() if op == "store"} == {width}


def tile(type_: str, extent: str, first: str, last: str) -> str:
    stores = " ".join(f"As{first} + {e}{last} = v.{m};" for e, m in enumerate("xyzw"))
    read = "As[n][0]" if "][" in first else "As[n]"
    return f"""extern "C" __global__ void k(float *out, const float *in, int n) {{
    __shared__ float As{extent}; int tid = threadIdx.x; float x = 0;
    for (int k0 = 0; k0 < n; k0 += 16) {{
      for ({type_} i = tid * 4; i < 1024; i += 128) {{ {type_} r = i / 16, c = i % 16;
        float4 v = *(const float4 *)&in[r * n + k0 + c]; {stores} }}
      __syncthreads(); x += {read}; __syncthreads(); }}
    out[tid] = x; }}"""


def test_a_quotient_and_its_remainder_that_make_the_number_again_may_join() -> None:
    """`r * 16 + c` is i in most copies of the loop, where nothing was made of `i / 16` before."""
    text = tile("int", "[1024]", "[r * 16 + c", "]")
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1), arguments={"n": 16}))
    assert {t.reason.code for t in trace.traces if t.site.op == "store" and t.reason} == {"joined-or-not"}


@needs_nvcc
def test_machine_code_agrees(tmp_path: Path) -> None:
    texts = [source(i, d) for i in (*APART, *JOINED) for d in ("", "__align__(16)")]
    texts += [tile(t, "[64][16]", "[r][c", "]") for t in ("int", "unsigned")]
    names = [text.replace(" k(", f" k{n}(") for n, text in enumerate(texts)]
    found = compiled("\n".join(names), tmp_path)
    for n, text in enumerate(texts):
        ours = {kind for kind, count in told(text).items() if count}
        assert {kind for kind, count in found[f"k{n}"].items() if count} == ours, text
