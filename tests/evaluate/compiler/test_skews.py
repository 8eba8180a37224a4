"""Accesses behind a skew `c + (c >> 5) * 4`: a range where nvcc may see what the shift drops.

The machine code of nvcc 13.0 for sm_90, -O3: of `4 * threadIdx.x + i` LDS, LDS.128 for an int, LDS.128 for an
unsigned number and for `threadIdx.x % 32`; STS, STS, STS.64; of an int of which nothing is known 4 x LDS.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from instructions import compiled, instructions, needs_nvcc

from smemlint.evaluate import Trace, evaluate
from smemlint.evaluate.model import Grade
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes

KERNEL = """
__global__ void skewed(float *o, int m)
{
    __shared__ float s[1200];
    TYPE t = INDEX;
    float sum = 0;
    for (int i = 0; i < 4; ++i) {
        TYPE c = 4 * t + i;
        ACCESS
    }
    o[threadIdx.x] = sum;
}
"""
LOAD, STORE = "sum += s[c + (c >> 5) * 4];", "s[c + (c >> 5) * 4] = o[m * c];"


def traces(number: str, index: str, access: str = LOAD) -> list[Trace]:
    text = KERNEL.replace("TYPE", number).replace("INDEX", index).replace("ACCESS", access)
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (kernel,) = module.kernels()
    return [t for t in evaluate(module, kernel, Launch((64, 1, 1))).traces if len(t.offsets)]


@pytest.mark.parametrize(
    ("number", "index", "access"),
    [
        ("int", "threadIdx.x", LOAD),
        ("int", "threadIdx.x % 32", LOAD),
        ("unsigned", "threadIdx.x", LOAD),
        ("int", "threadIdx.x", "sum += s[c + c / 32 * 4];"),
        ("int", "threadIdx.x", "sum += s[(c & 31) + (c >> 5) * 36];"),
        ("int", "threadIdx.x", STORE),
    ],
)
def test_a_skew_that_may_be_seen_through_is_a_range(number: str, index: str, access: str) -> None:
    (trace,) = traces(number, index, access)
    assert trace.joined == 16
    assert trace.grade is Grade.BOUND
    assert trace.reason is not None and trace.reason.code == "joined-or-not"


@pytest.mark.parametrize("index", ["threadIdx.x ^ m", "threadIdx.x * m"])
def test_a_skew_of_a_number_that_may_be_negative_stays_apart(index: str) -> None:
    assert {t.joined for t in traces("int", index)} == {None}


def test_what_is_added_beside_the_skew_joins_for_sure() -> None:
    """`8 * t + (t >> 5) * 4 + i`: LDS.128."""
    (trace,) = traces("int", "threadIdx.x", "sum += s[4 * t + (4 * t >> 5) * 4 + i];")
    assert trace.joined == 16
    assert trace.grade is Grade.EXACT


SPLIT = """
__device__ int swizzled(int c) { return c ^ ((c >> 3) & 4); }
__global__ void split(float *o, int m)
{
    __shared__ float s[1200];
    TYPE t = INDEX;
    float sum = 0;
    for (int i = 0; i < 8; ++i) {
        ACCESS
    }
    o[threadIdx.x] = sum;
}
"""


@pytest.mark.parametrize("number", ["int", "unsigned"])
@pytest.mark.parametrize("index", ["threadIdx.x", "threadIdx.x % 32", "threadIdx.x ^ m"])
@pytest.mark.parametrize("access", ["sum += s[AT];", "s[AT] = o[m * i];"])
def test_what_steps_by_one_behind_a_shift_joins_for_sure(number: str, index: str, access: str) -> None:
    """What the shift drops is the same number in all four: 2 x LDS.128, 2 x STS.128, whatever t is."""
    text = SPLIT.replace("ACCESS", access).replace("AT", "swizzled(8 * t + (i & ~3)) + (i & 3)")
    text = text.replace("TYPE", number).replace("INDEX", index)
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (kernel,) = module.kernels()
    (trace,) = [t for t in evaluate(module, kernel, Launch((64, 1, 1))).traces if len(t.offsets)]
    assert trace.joined == 16
    assert trace.reason is None or trace.reason.code != "joined-or-not"


def test_a_skew_does_not_prove_that_a_store_leaves_a_neighbour_alone() -> None:
    """The steps of a scan: a store of `s[a]` may hit `s[b]` (LDS of lines 10, 9, 11, 9, 11: in the
    second step `s[b]` of line 10 is what was just stored)."""
    text = """
__global__ void steps(char *o)
{
    __shared__ char s[600];
    int a = 2 * threadIdx.x, b = 2 * threadIdx.x + 1;
    a += a >> 4;
    b += b >> 4;
    for (int i = 0; i < 2; ++i) {
        char t = s[a];
        s[a] = s[b];
        s[b] += t;
    }
    __syncthreads();
    o[threadIdx.x] = s[threadIdx.x];
}
"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (kernel,) = module.kernels()
    found = evaluate(module, kernel, Launch((64, 1, 1))).traces
    requests = {t.site.line: len(t.offsets) for t in found if t.site.op == "load"}
    assert requests == {9: 4, 10: 2, 11: 4, 14: 2}


SHORT = "unsigned short"


@pytest.mark.parametrize(
    ("body", "runs"),
    [
        (f"{SHORT} o = 4*t; for (int k = 0; k < 4; k++) x += s[o + k]", {"load 16": 1}),
        (f"for (int k = 0; k < 4; k++) {{ {SHORT} o = 4*t; o += k; x += s[o]; }}", {"load 16": 1}),
        (f"{SHORT} o = 4*t; x += s[o++]; x *= s[o++]; x += s[o++]; x *= s[o++]", {"load 16": 1}),
        ("for (int k = 0; k < 4; k++) x += s[(short)(4*t + k)]", {"load 16": 1}),
        ("for (int k = 0; k < 2; k++) x += s[(unsigned char)(2*t + k)]", {"load 8": 1}),
    ],
)
def test_an_index_of_fewer_bits_joins_where_nvcc_sees_its_low_bits(body: str, runs: dict[str, int]) -> None:
    """Truth: machine code of nvcc 13.0 (sm_90)."""
    assert instructions(body, block=(32, 1, 1)) == runs


@pytest.mark.parametrize("number", ["unsigned char", SHORT])
def test_a_sum_that_is_cut_joins_in_part(number: str) -> None:
    """A range: nvcc 13.0 (sm_90) has LDS for the first, LDS.128 for the others."""
    index = f"({number})(4 * threadIdx.x + i)"
    (trace,) = traces("int", "threadIdx.x", f"sum += s[{index}];")
    assert (trace.joined, trace.grade) == (16, Grade.BOUND)


RING = """
extern "C" __global__ void k(float *out, const float *in, int n)
{
    __shared__ float s[4096];
    int t = threadIdx.x;
    float x = in[t], y = in[t + 1];
    for (int i = 0; i < n; ++i)
        x += in[32 * i + t];
    BODY
    __syncthreads();
    out[t] = s[t ^ 33] + y;
}
"""
ROUNDS = {
    "and": "for (int i = 0; i < 4; ++i) { int k = 4 * t + i; k &= 4095; s[k] = x + i; }",
    "modulo": "for (int i = 0; i < 4; ++i) { unsigned k = 4 * t + i; k %= 512; s[k] = x + i; }",
    "by another": "for (int i = 0; i < 4; ++i) { int k = 4 * t + i, l = k & 4095; k = l; s[k] = x + i; }",
    "two": "int k = 4 * t; k = k & 4095; s[k] = x; int l = 4 * t + 1; l = l & 4095; s[l] = y;",
    "least": "for (int i = 0; i < 4; ++i) { int k = 4 * t + i; k = min(k, 4095); s[k] = x + i; }",
}


@pytest.mark.parametrize("body", ROUNDS.values(), ids=ROUNDS)
def test_a_mask_that_changes_no_number_is_still_one_where_it_is_put_into_its_own_variable(body: str) -> None:
    """Behind a loop. nvcc joins none of them; that is exact, or a range."""
    (module,) = load(source_from_bytes("k.cu", RING.replace("BODY", body).encode()))
    (kernel,) = module.kernels()
    stores = [t for t in evaluate(module, kernel, Launch((32, 1, 1))).traces if t.site.op == "store"]
    apart = all(t.joined in (None, t.site.width) for t in stores)
    assert stores
    assert apart or any(t.grade is Grade.BOUND for t in stores)


@needs_nvcc
def test_nvcc_joins_none_of_them(tmp_path: Path) -> None:
    text = "".join(
        RING.replace("BODY", body).replace("void k(", f"void k{i}(") for i, body in enumerate(ROUNDS.values())
    )
    found = compiled(text, tmp_path)
    assert {width for kinds in found.values() for op, width in kinds if op == "store"} == {4}
