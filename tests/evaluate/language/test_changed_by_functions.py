"""Records that functions change before they are stored back, numbers that go back as they are, and elements
that nothing reads, as the machine code of nvcc 13.0 (sm_90) has them."""

from __future__ import annotations

from collections import Counter

import pytest

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score_all
from smemlint.source import source_from_bytes

SOURCE = """struct Vec {{ float a, b, c, d; }};
__device__ Vec scaled(Vec v, float k) {{ v.a *= k; v.b *= k; return v; }}
__device__ void scale(Vec &v, float k) {{ v.a *= k; v.b *= k; }}
__device__ Vec kicked(Vec v, float k) {{ v.c += k; return v; }}
__device__ Vec moved(Vec v, float k) {{ v.a += v.c * k; v.b += v.d * k; return v; }}
__global__ void k(float *o, float w) {{ {} int t = threadIdx.x;
{}
o[t + 99] = w; }}"""


def told(array: str, body: str) -> tuple[dict[str, int], bool]:
    """'load 4' -> instructions of one warp in the body, and whether a range is told."""
    (module,) = load(source_from_bytes("k.cu", SOURCE.format(array, body).encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)))
    found: Counter[str] = Counter()
    for t in trace.traces:
        found[f"{t.site.op} {t.joined or t.site.width}"] += int(t.weights.sum())
    ranges = any(c.wavefronts != c.wavefronts_low for c in score_all(trace))
    return {key: n for key, n in found.items() if n}, ranges


@pytest.mark.parametrize(
    ("body", "loads", "stores"),
    [
        ("Vec v = s[t]; v = scaled(v, w); s[t] = v;", "load 8", "store 8"),
        ("s[t] = scaled(s[t], w);", "load 8", "store 8"),
        ("Vec v = s[t]; scale(v, w); s[t] = v;", "load 8", "store 8"),
        ("Vec v = s[t]; v = kicked(v, w); s[t] = v;", "load 4", "store 4"),
        ("Vec v = s[t]; v = moved(v, w); s[t] = v;", "load 16", "store 8"),
    ],
)
def test_of_a_record_that_a_function_changes_the_members_that_stay_are_not_loaded(
    body: str, loads: str, stores: str
) -> None:
    assert told("__shared__ Vec s[64];", body) == ({loads: 1, stores: 1}, False)


IN_PLACE = """float v[4]; for (int c = 0; c < 4; c++) v[c] = s[4 * t + c];
v[1] += v[0]; v[2] += v[1]; v[3] += v[2]; for (int c = 0; c < 4; c++) s[4 * t + c] = v[c];"""


def test_an_element_that_goes_back_as_it_is_is_not_stored() -> None:
    found = {"load 16": 1, "store 4": 1, "store 8": 1}
    assert told("__shared__ __align__(16) float s[256];", IN_PLACE) == (found, False)


def test_an_element_that_may_have_changed_is_stored() -> None:
    body = "float v = s[t]; {} s[t] = v;"
    assert told("__shared__ float s[256];", body.format("")) == ({"load 4": 1}, False)
    for between in ("__syncthreads();", "s[t ^ 1] = 3;"):
        found, _ = told("__shared__ float s[256];", body.format(between))
        assert found["store 4"] == between.count("=") + 1


@pytest.mark.parametrize(
    ("use", "found"),
    [
        ("v[0] + v[2]", {"load 4": 2}),
        ("v[1]", {"load 4": 1}),
        ("v[0] + v[1] + v[2] + v[3]", {"load 16": 1}),
        ("v[t & 3]", {"load 16": 1}),
    ],
)
def test_elements_that_nothing_reads_are_not_loaded(use: str, found: dict[str, int]) -> None:
    body = f"float v[4]; for (int c = 0; c < 4; c++) v[c] = s[4 * t + c]; o[t] = {use};"
    assert told("__shared__ float s[256];", body) == (found, False)
