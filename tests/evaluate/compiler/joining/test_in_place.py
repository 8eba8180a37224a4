"""Loads of elements that are stored in place: past the stores of others they do not join.

Read from machine code (nvcc 13.0, sm_90) of each body below: `apart` means that nvcc joins neither all loads
nor all stores.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from instructions import compiled, needs_nvcc

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score_all
from smemlint.source import source_from_bytes

FOUR = "float v[4]; for (int c = 0; c < 4; c++) v[c] = s[4 * t + c]; "
STORED = "for (int c = 0; c < 4; c++) s[4 * t + c] = "
SCALARS = "float a = s[4 * t], b = s[4 * t + 1], c = s[4 * t + 2], d = s[4 * t + 3]; "
BODIES = [
    # body, apart
    (FOUR + STORED + "v[c] * w;", True),
    (FOUR + STORED + "v[3 - c];", True),
    (FOUR + STORED + "expf(v[c]);", True),
    (FOUR + STORED + "v[c] / w;", True),
    (FOUR + "if (n > 3) w += v[0]; " + STORED + "v[c] * w;", True),
    (SCALARS + "s[4*t] = a + b; s[4*t+1] = a - b; s[4*t+2] = c + d; s[4*t+3] = c - d;", True),
    (SCALARS + "s[4*t] = w; s[4*t+1] = a * b; s[4*t+2] = c; s[4*t+3] = d * c;", True),
    # calculated with before the first store
    (FOUR + "for (int c = 0; c < 4; c++) v[c] *= w; " + STORED + "v[c];", False),
    (FOUR + "float z = v[0] + v[1] + v[2] + v[3]; " + STORED + "v[c] * z;", False),
    (SCALARS + "s[4*t] = a+b+c+d; s[4*t+1] = a-b+c-d; s[4*t+2] = a+b-c-d; s[4*t+3] = a-b-c+d;", False),
    (
        SCALARS + "float e = a + b, f = c + d; s[4*t] = e; s[4*t+1] = f; s[4*t+2] = c*w; s[4*t+3] = d*w;",
        False,
    ),
    ("float m = 0; for (int c = 0; c < 4; c++) m += s[4 * t + c]; " + STORED + "m * c;", False),
    # calculated further when it is stored
    (
        SCALARS + "d *= 3; c *= 3; s[4*t] = a + b; s[4*t+1] = a - b; s[4*t+2] = c + d; s[4*t+3] = d - 2*d;",
        True,
    ),
    # another access of memory between
    (FOUR + "out[t] = w; " + STORED + "v[c] * w;", False),
    (FOUR + "w = in[t + 64]; " + STORED + "v[c] * w;", False),
    (FOUR + "w = __shfl_xor_sync(~0u, w, 1); " + STORED + "v[c] * w;", False),
    (FOUR + "__syncthreads(); " + STORED + "v[c] * w;", False),
    # stored elsewhere
    (FOUR + "for (int c = 0; c < 4; c++) s[512 + 4 * t + c] = v[c] * w;", False),
]


def source(body: str, declared: str = "", type_: str = "float") -> str:
    return f"""extern "C" __global__ void k(float *out, const float *in, int n) {{
    __shared__ {declared} {type_} s[1024]; int t = threadIdx.x; float w = in[t]; s[t + 1] = {type_}();
    __syncthreads(); {body}
    __syncthreads(); out[t + n] = *(float *)&s[t ^ 1]; }}"""


def is_sure(text: str) -> bool:
    """Whether the ways of line 3 are told as numbers."""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1), arguments={"n": 16}))
    found = [c for c in score_all(trace) if c.site.place.line == 3 and c.wavefronts]
    assert {c.site.op for c in found} == {"load", "store"}
    return all(c.wavefronts == c.wavefronts_low for c in found)


@pytest.mark.parametrize(("body", "apart"), BODIES)
def test_the_order_of_loads_and_stores_in_place(body: str, apart: bool) -> None:
    assert is_sure(source(body)) is not apart


def test_a_declared_alignment_joins_before_there_is_an_order() -> None:
    assert is_sure(source(FOUR + STORED + "v[c] * w;", declared="__align__(16)"))


def test_what_a_running_sum_leaves_as_it_was_is_not_stored() -> None:
    """nvcc 13.0: LDS.128, then STS and STS.64 of the last three."""
    assert not is_sure(source(FOUR + "for (int c = 1; c < 4; c++) v[c] += v[c - 1]; " + STORED + "v[c];"))


def test_integers_may_be_added_in_another_order() -> None:
    """nvcc 13.0: four LDS and four STS."""
    body = (
        FOUR.replace("float", "int") + "for (int c = 1; c < 4; c++) v[c] += v[c - 1]; " + STORED + "v[c] + n;"
    )
    assert not is_sure(source(body, type_="int"))


def test_vectors_are_loaded_where_it_is_written() -> None:
    """nvcc 13.0: LDS.128, STS.128; where `b.x` goes back as it is LDS.64, STS.64 and STS."""
    body = "float2 a = s[2 * t], b = s[2 * t + 1]; s[2 * t] = make_float2(a.x * w, a.y); s[2 * t + 1] = "
    assert is_sure(source(body + "make_float2(b.x * w, b.y);", type_="float2"))
    assert not is_sure(source(body + "make_float2(b.x, w);", type_="float2"))


def test_records_of_which_each_member_is_stored_after_the_others() -> None:
    text = "struct Four { float x, y, z, w; };"
    body = "Four v = s[t]; s[t].x = v.x * w; s[t].y = v.y * w; s[t].z = v.z * w; s[t].w = v.w * w;"
    assert not is_sure(text + source(body, type_="Four"))
    body = "Four v = s[t]; v.x *= w; v.y *= w; v.z *= w; v.w *= w; s[t] = v;"
    assert is_sure(text + source(body, type_="Four"))


@needs_nvcc
def test_nvcc_joins_so(tmp_path: Path) -> None:
    kernels = [source(body).replace(" k(", f" k{n}(") for n, (body, _) in enumerate(BODIES)]
    found = compiled("".join(kernels), tmp_path)
    for n, (_, apart) in enumerate(BODIES):
        assert (("load", 16) in found[f"k{n}"] and ("store", 16) in found[f"k{n}"]) is not apart, n
