"""Members that go back to where they were loaded, as the machine code of nvcc 13.0 for sm_90 has them."""

from __future__ import annotations

import pytest

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes

SOURCE = """
struct Complex { float re, im; }; struct alignas(8) Gap { unsigned key; unsigned short value; };
__device__ Complex real(Complex c) { return {c.re, 0.f}; }
__device__ Complex conj(Complex c) { return {c.re, -c.im}; }
__global__ void k(const TYPE *in, TYPE *out, float scale) {
  __shared__ __align__(16) TYPE a[256]; int t = threadIdx.x; a[t] = in[t]; __syncthreads(); int i = t ^ 1;
  BODY
  __syncthreads(); out[t] = a[t];
}"""


def instructions(type_: str, body: str) -> dict[str, int]:
    """'load 8' -> instructions of a body."""
    text = SOURCE.replace("TYPE", type_).replace("BODY", body)
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (kernel,) = module.kernels()
    found: dict[str, int] = {}
    for t in evaluate(module, kernel, Launch((32, 1, 1))).traces:
        if t.site.place.line == 7 and t.weights.any():
            key = f"{t.site.op} {t.joined or t.site.width}"
            found[key] = found.get(key, 0) + int(t.weights.sum())
    return found


@pytest.mark.parametrize(
    ("type_", "body", "load", "store"),
    [
        ("float2", "a[i] = make_float2(a[i].x * 2, a[i].y);", 4, 4),
        ("int2", "a[i] = make_int2(a[i].x, a[i].y + 1);", 4, 4),
        ("float4", "a[i] = make_float4(a[i].x * 2, a[i].y * 2, a[i].z, a[i].w);", 8, 8),
        ("float2", "float2 &r = a[i]; r = make_float2(r.x + 1, r.y);", 4, 4),
        (
            "float2",
            "float y = a[i].y, x = a[i].x; out[t] = make_float2(y, x); a[i] = make_float2(x + 1, y);",
            8,
            4,
        ),
    ],
)
def test_what_is_stored_back_as_it_was_loaded_is_not_stored(
    type_: str, body: str, load: int, store: int
) -> None:
    assert instructions(type_, body) == {f"load {load}": 1, f"store {store}": 1}


def test_of_a_record_of_which_one_member_is_used_the_other_is_stored() -> None:
    assert instructions("Complex", "a[i] = real(a[i]);")["store 4"] == 1
    assert instructions("float2", "if (t > 3) a[i] = make_float2(a[i].x, 0);") == {"store 4": 1}


@pytest.mark.parametrize(
    ("type_", "body"),
    [
        ("float2", "float2 v = a[i]; v.y = -v.y; a[i] = v;"),
        ("float2", "float2 v = a[i]; out[t] = v; a[i] = make_float2(v.x, v.y + 1);"),
        ("Complex", "a[i] = conj(a[i]);"),
    ],
)
def test_records_that_were_loaded_whole_go_back_whole(type_: str, body: str) -> None:
    assert instructions(type_, body) == {"load 8": 1, "store 8": 1}


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("float2 v = a[i]; v.x = 3; a[i] = v;", {"store 4": 1}),
        ("float2 v = a[i]; v.x = v.y; a[i] = v;", {"load 4": 1, "store 4": 1}),
        ("float2 v = a[i]; v.x = 3; out[t].x = v.y; a[i] = v;", {"load 4": 1, "store 4": 1}),
        ("float2 v = a[i]; v.x = 3; a[i + 64] = v;", {"load 4": 1, "store 8": 1}),
        ("float2 v = a[i]; v.x = 3; __syncthreads(); a[i] = v;", {"load 4": 1, "store 8": 1}),
        (
            "for (int j = 0; j < 4; j++) { float2 v = a[j * 32 + i]; v.x = 3; a[j * 32 + i] = v; }",
            {"store 4": 4},
        ),
        ("float2 v = a[i], u = a[i + 64]; v.x = u.x - v.y; a[i] = v;", {"load 4": 2, "store 4": 1}),
        ("float2 v = a[i], u = a[i + 64]; v.x = u.x - v.y; a[i].x = v.x;", {"load 4": 2, "store 4": 1}),
        ("float4 v = a[i]; v.x = 3; a[i] = v;", {"load 16": 1, "store 16": 1}),
    ],
)
def test_a_copy_of_which_members_are_set_needs_what_is_read(body: str, found: dict[str, int]) -> None:
    assert instructions("float4" if body.startswith("float4") else "float2", body) == found


@pytest.mark.parametrize("between", ["__syncthreads();", "a[i ^ 2].x = 3;"])
def test_what_may_have_changed_since_is_stored(between: str) -> None:
    found = instructions("float2", f"float x = a[i].x; {between} a[i] = make_float2(x, 0);")
    assert found["store 8"] == 1


@pytest.mark.parametrize("body", ["a[i] = Gap{3u, 4};", "Gap g = in[t + 4]; g.value = 5; a[i] = g;"])
def test_a_record_with_gaps_is_stored_member_by_member(body: str) -> None:
    """The bytes behind the last member go with it: nvcc stores a word."""
    assert instructions("Gap", body) == {"store 4": 2}


def test_a_record_with_gaps_is_loaded_member_by_member() -> None:
    body = "Gap g = a[i]; out[t] = Gap{g.key + g.value, 0};"
    assert instructions("Gap", body) == {"load 4": 1, "load 2": 1}
    assert instructions("Gap", "out[t] = a[i];") == {"load 8": 1}


def test_a_member_that_each_lane_sets_otherwise_is_stored() -> None:
    assert instructions("int2", "a[i] = make_int2(a[i].x, t);") == {"store 4": 1}
    assert instructions("int2", "a[i] = make_int2(t > 3 ? a[i].x * t : t * 3, a[i].y);")["store 4"] == 1
